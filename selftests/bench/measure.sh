# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # array, run and out are set by who sources it
#
# Measuring inside the test machine: jobs for fio, what they cost the members, and that as
# one JSON object for each in the file $out. To be sourced after ../vm/rig.sh.

result=/run/bench.fio
stretch=() edges=0

fail() {
	rig_error "$*"
	exit 1
}

# Which source the module that is loaded was built from.
its_module() {
	cat /sys/module/dm_fullstripe/srcversion
}

# In hundredths of a CPU-second: what was not idle.
busy() {
	local cpu
	read -ra cpu </proc/stat
	echo $((cpu[1] + cpu[2] + cpu[3] + cpu[6] + cpu[7]))
}

# The target's counters as members of a JSON object.
stats() {
	local file
	for file in "$(rig_sysfs fs0)"/stats/*; do
		echo -n ",\"${file##*/}\":$(<"$file")"
	done
}

# add_stretch START BYTES: somebody writes these in order. To $stretch go the stripes that lie wholly in
# them, and to $edges how many do in part.
add_stretch() {
	local end=$(($1 + $2))
	local first=$((($1 + RIG_W - 1) / RIG_W)) last=$((end / RIG_W - 1))
	((last < first)) || stretch+=("$first-$last")
	# Which may be one, with both ends in it.
	edges=$((edges + (last < first - 1 ? 1 : ($1 % RIG_W > 0) + (end % RIG_W > 0))))
}

# read_rows FIRST-LAST...: of how many rows of these stripes md says that it read before it wrote. While
# the trace is on.
read_rows() {
	awk -v stretch="$*" -v chunk=$((RIG_CHUNK / 512)) '
		BEGIN {
			split(stretch, list)
			for (i in list) {
				split(list[i], ends, "-")
				for (stripe = ends[1]; stripe <= ends[2]; stripe++)
					inside[stripe]
			}
		}
		match($0, /raid5 r[mc]w [0-9]+/) {
			split(substr($0, RSTART, RLENGTH), word)
			n += int(word[3] / chunk) in inside
		}
		END { print n + 0 }' "$RIG_TRACING/trace"
}

# measure ROW CASE DEVICE COMMAND...: run COMMAND, which leaves fio's result in
# $result, and write down what it took. Where md's reads before writes are to be counted in what somebody
# writes in order, add_stretch() says where that is, before COMMAND or in it; it is forgotten afterwards.
# $also is what COMMAND adds to the object. Where CPU time is what counts, $untraced is set: no reads
# before writes are counted at all.
measure() {
	local row=$1 case=$2 device=$3 cpu inside=null more='' also=''
	shift 3
	[[ ${untraced-} ]] || rig_trace_begin || fail "no trace"
	rig_count_begin
	cpu=$(busy)
	"$@" || fail "$row $case on $device: $(head -c 300 "$result")"
	cpu=$(($(busy) - cpu))
	rig_count_end
	RIG_RMW=null RIG_RCW=null RIG_TRACE_DROPPED=0
	if [[ ! ${untraced-} ]]; then
		((!${#stretch[@]})) || inside=$(read_rows "${stretch[@]}")
		rig_trace_end || fail "no trace"
		# What was read before it was written may be among them.
		((!${#stretch[@]} || !RIG_TRACE_DROPPED)) || fail "$row $case: $RIG_TRACE_DROPPED events are lost"
	fi
	[[ $device != target ]] || more=$(stats)
	cat >>"$out" <<-JSON
	{"array":"$array","n":$RIG_N,"width":$RIG_W,"module":"$(its_module)",
	"linux":"$(uname -r)","emulator":"${EMULATOR-}","row":"$row","case":"$case","device":"$device","run":$run,
	"reads":$RIG_READS,"read_kib":$RIG_READ_KIB,"writes":$RIG_WRITES,"write_kib":$RIG_WRITE_KIB,
	"rmw":$RIG_RMW,"rcw":$RIG_RCW,"dropped":$RIG_TRACE_DROPPED,"inside":$inside,"edges":$edges,"busy":$cpu$more$also,
	"fio":$(<"$result")}
	JSON
	stretch=() edges=0
}

# empty_stripe_cache MD [SIZE]: of the array with that folder in sysfs; it has so many rows (256). Blocks that lie
# there from the work before are not read again, and would make this one look better.
empty_stripe_cache() {
	{ rig_set "$1/stripe_cache_size" 17 && rig_set "$1/stripe_cache_size" "${2-256}"; } || fail "no stripe cache"
}

# make_fs FS NODE: as on an array of usual size, and not busy with what mkfs left for later.
make_fs() {
	local -A options=([ext4]='-b 4096 -E lazy_itable_init=0,lazy_journal_init=0' [xfs]='-f')
	# shellcheck disable=SC2086 # several words
	mkfs -t "$1" -q ${options[$1]} "$2" >/dev/null || fail "no $1 on $2"
}

# job BS DEPTH BYTES [OPTION]...: one fio job on $dev, and its fsync; where that is a directory, each
# process of it has a file there. A file grows as it is written, as most do: fio would allocate it before.
job() {
	local engine=psync where=(--filename="$dev")
	[[ ! -d $dev ]] || where=(--directory="$dev" --filename_format='file.$jobnum')
	(($2 == 1)) || engine=libaio
	fio --output="$result" --output-format=json --name=bench "${where[@]}" --direct=1 \
		--end_fsync=1 --fallocate=none --rw=write --bs="$1" --ioengine="$engine" --iodepth="$2" --size="$3" \
		--thread --group_reporting "${@:4}"
}

# write_once DEV MIB: the first of it. What was never written takes memory first, which would be time of the first to
# write it.
write_once() {
	local dev=$1
	job 1M 4 "$2M" || fail "cannot write $1"
}

# readers BS DEPTH BYTES [OPTION]...: one fio job that reads $dev, or what OPTION says.
readers() {
	local engine=psync
	(($2 == 1)) || engine=libaio
	fio --output="$result" --output-format=json --name=bench --filename="$dev" --direct=1 \
		--rw=read --bs="$1" --ioengine="$engine" --iodepth="$2" --size="$3" --thread "${@:4}"
}

# beside_writer SECONDS: write a small file and call fsync, beside who writes a large one, $dev, as fast as
# he can. At most twice a second, which is what md alone gets done: else who waits less
# would take more of the members, and who writes less.
beside_writer() {
	fio --output="$result" --output-format=json --thread --fallocate=none --rw=write --time_based --runtime="$1" \
		--name=writer --filename="$dev" --bs=1M --size=280M --end_fsync=1 \
		--name=small --filename="$dev.small" --bs=4k --size=4k --fsync=1 --thinktime=500ms
}

# stripes MIB: how many make that much.
stripes() {
	echo $((($1 * 1048576 + RIG_W - 1) / RIG_W))
}

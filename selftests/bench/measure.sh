# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # array, run and out are set by who sources it
#
# Measuring inside the test machine: jobs for fio, what they cost the members, and that as
# one JSON object for each in the file $out. To be sourced after ../vm/rig.sh.

result=/run/bench.fio

fail() {
	rig_error "$*"
	exit 1
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

# read_rows LAST EDGE...: of how many rows of the stripes 0 to LAST md says that it read
# before it wrote, but for the stripes EDGE, which are -1 where there is none. While the
# trace is on.
read_rows() {
	awk -v last="$1" -v edges="${*:2}" -v chunk=$((RIG_CHUNK / 512)) '
		BEGIN { split(edges, list); for (i in list) edge[list[i]] }
		match($0, /raid5 r[mc]w [0-9]+/) {
			split(substr($0, RSTART, RLENGTH), word)
			stripe = int(word[3] / chunk)
			n += stripe <= last && !(stripe in edge)
		}
		END { print n + 0 }' "$RIG_TRACING/trace"
}

# measure ROW CASE DEVICE COMMAND...: run COMMAND, which leaves fio's result in
# $result, and write down what it took. What read_rows() takes is in $stretch; $also is
# what COMMAND adds to the object. Where CPU time is what counts, $untraced is set: md's reads
# before writes are not counted.
measure() {
	local row=$1 case=$2 device=$3 cpu inside=null edge edges=null more='' also=''
	shift 3
	[[ ${untraced-} ]] || rig_trace_begin || fail "no trace"
	rig_count_begin
	cpu=$(busy)
	"$@" || fail "$row $case on $device: $(head -c 300 "$result")"
	cpu=$(($(busy) - cpu))
	rig_count_end
	RIG_RMW=null RIG_RCW=null RIG_TRACE_DROPPED=0
	if [[ ! ${untraced-} ]]; then
		# shellcheck disable=SC2086 # several words
		if [[ ${stretch-} ]]; then
			inside=$(read_rows $stretch)
			edges=0
			for edge in ${stretch#* }; do
				edges=$((edges + (edge >= 0)))
			done
		fi
		rig_trace_end || fail "no trace"
		# What was read before it was written may be among them.
		[[ ! ${stretch-} ]] || ((!RIG_TRACE_DROPPED)) || fail "$row $case: $RIG_TRACE_DROPPED events are lost"
	fi
	[[ $device != target ]] || more=$(stats)
	cat >>"$out" <<-JSON
	{"array":"$array","n":$RIG_N,"width":$RIG_W,"module":"$(</sys/module/dm_fullstripe/srcversion)",
	"row":"$row","case":"$case","device":"$device","run":$run,
	"reads":$RIG_READS,"read_kib":$RIG_READ_KIB,"writes":$RIG_WRITES,"write_kib":$RIG_WRITE_KIB,
	"rmw":$RIG_RMW,"rcw":$RIG_RCW,"dropped":$RIG_TRACE_DROPPED,"inside":$inside,"edges":$edges,"busy":$cpu$more$also,
	"fio":$(<"$result")}
	JSON
}

# job BS DEPTH BYTES [OPTION]...: one fio job on $dev, and its fsync.
job() {
	local engine=psync
	(($2 == 1)) || engine=libaio
	fio --output="$result" --output-format=json --name=bench --filename="$dev" --direct=1 \
		--end_fsync=1 --rw=write --bs="$1" --ioengine="$engine" --iodepth="$2" --size="$3" \
		--thread --group_reporting "${@:4}"
}

# readers BS DEPTH BYTES [OPTION]...: one fio job that reads $dev, or what OPTION says.
readers() {
	local engine=psync
	(($2 == 1)) || engine=libaio
	fio --output="$result" --output-format=json --name=bench --filename="$dev" --direct=1 \
		--rw=read --bs="$1" --ioengine="$engine" --iodepth="$2" --size="$3" --thread "${@:4}"
}

# stripes MIB: how many make that much.
stripes() {
	echo $((($1 * 1048576 + RIG_W - 1) / RIG_W))
}

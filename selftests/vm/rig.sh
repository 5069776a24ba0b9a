# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # what is set here is used by who sources it
#
# The rig: members, arrays, counters and the target, for scripts that run inside
# the test machine (selftests/vm/run). To be sourced. Every function returns 0,
# or says on stderr what was wrong and returns 1.
#
#	. "${BASH_SOURCE[0]%/*}/../vm/rig.sh"
#	trap rig_teardown EXIT
#	rig_preset R5 spindle
#	rig_calibrate "$RIG_MD" "$RIG_W" "$RIG_N"

# What follows takes down every dm, md and null_blk device that it finds. 4 is
# kselftest's exit status for "skipped".
if [[ ! -e /run/fullstripe-rig ]]; then
	echo "rig: this is not the test machine: use selftests/vm/run -- $0, or make the file" \
		"/run/fullstripe-rig on a machine that may lose all of its arrays" >&2
	exit 4
fi

RIG_TOP=$(realpath "${BASH_SOURCE[0]%/*}/../..")
RIG_MEMBERS=()
RIG_TRACING=/sys/kernel/tracing
# mdadm must make its nodes by itself: there is no udev.
export MDADM_NO_UDEV=1

rig_error() {
	echo "rig: $*" >&2
	return 1
}

# rig_set FILE VALUE: write an attribute, and see that it took effect.
rig_set() {
	local now
	{ echo "$2" >"$1"; } 2>/dev/null || rig_error "$1 does not take '$2'" || return
	now=$(<"$1")
	[[ $now == "$2" ]] || rig_error "$1 is '$now' after writing '$2'"
}

# rig_disk SIZE_MIB spindle|ram|fast [BLOCKSIZE [CACHE_MIB]]: a disk in memory. A spindle does about
# 200 I/Os a second, one at a time, whatever their size, or takes RIG_NSEC for each; ram has no
# delay, but on 6.1 a request waits 150 us for a worker there, as memory may sleep; fast has no
# queue, and a linear target for its counters: 20 us, emulated. With CACHE_MIB it has a volatile
# write cache, and sees flushes. Sets RIG_DISK, the node.
rig_disk() {
	local size=$1 kind=$2 blocksize=${3-512} cache=${4-0} dir i=0 pair pairs

	# The default limit of 124 KiB a request makes md cut its writes up.
	pairs="size=$size blocksize=$blocksize cache_size=$cache memory_backed=1 discard=1
		queue_mode=2 submit_queues=1 max_sectors=2560"
	case $kind in
	spindle) pairs+=" irqmode=2 completion_nsec=${RIG_NSEC-5000000} hw_queue_depth=1" ;;
	ram)	pairs+=" irqmode=0" ;;
	# 6.12 takes that for 2, and has no worker there.
	fast)	pairs+=" irqmode=0 queue_mode=0" ;;
	*)	rig_error "a disk is a spindle, ram or fast, not '$kind'" || return ;;
	esac

	modprobe null_blk nr_devices=0 || return
	# 6.12 calls the disk as its folder is called, 6.1 by the first free number.
	while dir=/sys/kernel/config/nullb/nullb$i; [[ -e $dir ]]; do
		((++i))
	done
	mkdir "$dir" || return
	for pair in $pairs; do
		rig_set "$dir/${pair%=*}" "${pair#*=}" || return
	done
	rig_set "$dir/power" 1 || return
	RIG_DISK=/dev/nullb$(<"$dir/index")
	if [[ $kind == spindle ]]; then
		rig_set "/sys/block/${RIG_DISK#/dev/}/queue/rotational" 1 || return
	fi
	# What the disk says counts, not what it was asked.
	[[ $(<"/sys/block/${RIG_DISK#/dev/}/queue/max_hw_sectors_kb") == 1280 ]] ||
		rig_error "$RIG_DISK does not have the limit of 1280 KiB a request" || return
	[[ $kind == fast ]] || return 0
	dmsetup create "fast$i" --table "0 $((size * 2048)) linear $RIG_DISK 0" || return
	RIG_DISK=/dev/$(dmsetup info -c --noheadings -o blkdevname "fast$i")
}

# rig_members COUNT SIZE_MIB spindle|ram [BLOCKSIZE [CACHE_MIB]]: so many such disks. Sets
# RIG_MEMBERS, the nodes.
rig_members() {
	local i

	[[ ! -e /sys/kernel/config/nullb/nullb0 ]] ||
		rig_error "there are disks already: rig_teardown comes first" || return
	RIG_MEMBERS=()
	for ((i = 0; i < $1; i++)); do
		rig_disk "${@:2}" || return
		RIG_MEMBERS+=("$RIG_DISK")
	done
}

# rig_array LEVEL CHUNK_KIB [NAME [OPTION]...]: an array of RIG_MEMBERS, of level 5 or 6;
# OPTION is for mdadm. Sets RIG_MD, the node; RIG_N members, of which RIG_D hold data;
# RIG_CHUNK and RIG_W, chunk and stripe in bytes.
rig_array() {
	local level=$1 chunk=$2 name=${3-md0} log

	RIG_MD=/dev/$name
	RIG_N=${#RIG_MEMBERS[@]}
	RIG_D=$((RIG_N - (level == 6 ? 2 : 1)))
	RIG_CHUNK=$((chunk * 1024))
	RIG_W=$((RIG_D * RIG_CHUNK))

	log=$(mdadm --create "$RIG_MD" --run --level="$level" --chunk="$chunk" --raid-devices="$RIG_N" \
		--metadata=1.2 --data-offset=1M --assume-clean --bitmap=none --homehost=rig \
		"${RIG_MEMBERS[@]}" "${@:4}" 2>&1) || rig_error "mdadm: $log" || return

	# md writes its superblocks when an array turns dirty at a write, and when it
	# turns clean again in a pause. Without the delay it stays dirty after one
	# write: from here on what the members see is data, parity and pre-reads.
	rig_set "/sys/block/$name/md/safe_mode_delay" 0.000 || return
	rig_rewrite "$RIG_MD" 4096 || return
	log=$(<"/sys/block/$name/md/array_state")
	[[ $log == active ]] || rig_error "$RIG_MD should be active after a write, and is $log"
}

# rig_preset R5|R8|R6 spindle|ram [SIZE_MIB]: members and array in one; 64 MiB
# a member unless told. Sets what rig_members and rig_array set.
rig_preset() {
	local kind=$2 size=${3-64}
	case $1 in
	R5)	rig_members 5 "$size" "$kind" && rig_array 5 64 ;;
	R8)	rig_members 8 "$size" "$kind" && rig_array 5 128 ;;
	R6)	rig_members 6 "$size" "$kind" && rig_array 6 64 ;;
	*)	rig_error "a preset is R5, R8 or R6, not '$1'" ;;
	esac
}

# rig_stat: the sum over all members of reads, KiB read, writes, KiB written and
# flushes, on one line.
rig_stat() {
	local member files=()
	for member in "${RIG_MEMBERS[@]}"; do
		files+=("/sys/block/${member##*/}/stat")
	done
	awk '{ r += $1; rs += $3; w += $5; ws += $7; f += $16 }
		END { printf "%d %d %d %d %d\n", r, rs / 2, w, ws / 2, f }' "${files[@]}"
}

# rig_count_begin, rig_count_end: what the members did in between. Sets RIG_READS,
# RIG_READ_KIB, RIG_WRITES, RIG_WRITE_KIB and RIG_FLUSHES; a request counts when
# it has completed, and rig_array has seen to it that no superblock is written.
rig_count_begin() {
	RIG_STAT=$(rig_stat)
}

rig_count_end() {
	local before now
	read -ra before <<<"$RIG_STAT"
	read -ra now <<<"$(rig_stat)"
	RIG_READS=$((now[0] - before[0]))
	RIG_READ_KIB=$((now[1] - before[1]))
	RIG_WRITES=$((now[2] - before[2]))
	RIG_WRITE_KIB=$((now[3] - before[3]))
	RIG_FLUSHES=$((now[4] - before[4]))
}

# rig_rewrite DEV BYTES [OFFSET]: write BYTES of DEV at OFFSET (a multiple of 512)
# with one direct write, as they are. Sets what rig_count_end sets, for the write.
rig_rewrite() {
	local dev=$1 bytes=$2 at=${3-0} file log status=0
	file=$(mktemp)
	{
		log=$(dd if="$dev" of="$file" bs="$bytes" skip="${at}B" count=1 iflag=direct,fullblock 2>&1) &&
		rig_count_begin &&
		log=$(dd if="$file" of="$dev" bs="$bytes" seek="${at}B" oflag=direct conv=notrunc 2>&1) &&
		rig_count_end
	} || rig_error "rewriting $bytes bytes of $dev at $at: $log" || status=1
	rm -f "$file"
	return "$status"
}

# rig_calibrate DEV W N: one aligned write of W must cost one write of a chunk on
# each of N members, and no read; if not, whatever else is counted means nothing.
# DEV's first W bytes are rewritten as they are.
rig_calibrate() {
	local kib=$(($3 * RIG_CHUNK / 1024))
	rig_rewrite "$1" "$2" || return
	[[ "$RIG_READS $RIG_WRITES $RIG_WRITE_KIB" == "0 $3 $kib" ]] ||
		rig_error "calibration failed: a write of $2 bytes to $1 should cost 0 reads and" \
			"$3 writes ($kib KiB), and cost $RIG_READS reads and $RIG_WRITES writes" \
			"($RIG_WRITE_KIB KiB): no figure of this run would be right"
}

# rig_trace_begin, rig_trace_end: how many rows of RIG_MD were read before they
# were written in between. md says so in its block trace, once for a row: "raid5
# rmw" or "raid5 rcw". Sets RIG_RMW, RIG_RCW and RIG_TRACE_DROPPED, the events
# lost. A queue has one trace only: blktrace and this exclude each other.
rig_trace_begin() {
	local trace=/sys/block/${RIG_MD#/dev/}/trace
	[[ $(<"$trace/enable") == 0 ]] || rig_error "$RIG_MD is being traced already" || return
	# The kernel's own tracer takes the same events as blktrace(8), but starts at
	# once, and passes on nothing but messages when told so: none gets lost.
	echo 8192 >"$RIG_TRACING/buffer_size_kb" &&
	rig_set "$RIG_TRACING/current_tracer" blk &&
	echo >"$RIG_TRACING/trace" &&
	rig_set "$trace/enable" 1 &&
	rig_set "$trace/act_mask" notify
}

rig_trace_end() {
	local file
	file=$(mktemp)
	rig_set "/sys/block/${RIG_MD#/dev/}/trace/enable" 0 || return
	cat "$RIG_TRACING/trace" >"$file"
	RIG_RMW=$(grep -c 'raid5 rmw' "$file")
	RIG_RCW=$(grep -c 'raid5 rcw' "$file")
	rm -f "$file"
	RIG_TRACE_DROPPED=$(awk '/^(overrun|dropped events):/ { n += $NF } END { print n + 0 }' \
		"$RIG_TRACING"/per_cpu/cpu*/stats)
	rig_set "$RIG_TRACING/current_tracer" nop
}

# rig_load_module, rig_unload_module: the one built for the kernel that runs.
rig_load_module() {
	local ko=$RIG_TOP/build/kmod/$KVER/dm-fullstripe.ko
	[[ -e $ko ]] || rig_error "$ko is not there: build it with 'make KVER=$KVER'" || return
	modprobe dm-mod && insmod "$ko"
}

rig_unload_module() {
	rmmod dm_fullstripe
}

# rig_target NAME DEV [KEY VALUE]...: /dev/mapper/NAME, a fullstripe over all of DEV.
rig_target() {
	local name=$1 dev=$2 sectors
	shift 2
	sectors=$(blockdev --getsz "$dev") || return
	dmsetup create "$name" --table "0 $sectors fullstripe $dev 0 $# $*"
}

# rig_target_remove NAME: waits while something still has it open for a moment.
rig_target_remove() {
	dmsetup remove --retry "$1"
}

# rig_sysfs NAME: prints the folder of the target's attributes.
rig_sysfs() {
	local node
	node=$(dmsetup info -c --noheadings -o blkdevname "$1") &&
	echo "/sys/block/$node/fullstripe"
}

# rig_settle: waits until udev, if there is one, has looked at what is new: what it has open can
# neither be removed nor stopped.
rig_settle() {
	[[ ! -e /run/udev/control ]] || udevadm settle
}

# rig_teardown: takes away mounts, dm devices, arrays and members, whoever made
# them and however far that got. What will not go is named.
rig_teardown() {
	local dir dev left status=0

	echo nop >"$RIG_TRACING/current_tracer"
	for dir in $(awk '$1 ~ "^/dev/(mapper/|dm-|md|nullb)" { print $2 }' /proc/mounts | tac); do
		umount "$dir" || status=1
	done
	# Those on arrays, and then those under them. What goes has udev look at what was below.
	rig_settle || status=1
	[[ ! -e /dev/mapper/control ]] || dmsetup remove_all || status=1
	rig_settle || status=1
	for dev in /sys/block/md*; do
		[[ ! -e $dev ]] || mdadm --quiet --stop "/dev/${dev##*/}" || status=1
	done
	[[ ! -e /dev/mapper/control ]] || dmsetup remove_all || status=1
	for dir in /sys/kernel/config/nullb/nullb*; do
		[[ ! -e $dir ]] || rmdir "$dir" || status=1
	done
	RIG_MEMBERS=()

	# Whoever opens the node of an array that was just stopped makes an empty one for a moment.
	rig_settle || status=1
	for _ in {1..50}; do
		left=$(cd /sys/block && echo dm-* md* nullb*)
		[[ $left != 'dm-* md* nullb*' ]] || return "$status"
		sleep 0.1
	done
	rig_error "still there after the teardown: $left"
}

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 400
# once: 6.1 what is simulated is the module, which does the same on both
# What "fullstripectl simulate" makes of a recording is what the module made of the workload
# that was recorded, within a tenth: stripes, and rows that md read before it wrote them.
. "${BASH_SOURCE[0]%/*}/common.sh"

CTL=$RIG_TOP/build/daemon/fullstripectl
folder=/run/recording

# shellcheck disable=SC2317 # until_true calls it
recording() {
	[[ -e /sys/kernel/debug/block/dm-0/dropped && -e /sys/kernel/debug/block/md0/dropped ]]
}

# record COMMAND...: has it recorded, until what it wrote has left; nobody but time makes it leave.
record() {
	local tracer
	rm -rf "$folder"
	mkdir "$folder"
	dmsetup message fs0 0 reset_stats
	blktrace -d /dev/mapper/fs0 -d "$RIG_MD" -b 1024 -D "$folder" >/run/blktrace.log 2>&1 &
	tracer=$!
	until_true recording || return
	rig_count_begin
	"$@" >/run/load.log 2>&1
	until_true is staged_bytes 0 || return
	rig_count_end
	kill -TERM "$tracer"
	wait "$tracer"
	rows=$("$CTL" profile --json "$folder"/md0.blktrace.* | jq '.devices[0] | .raid5_rmw + .raid5_rcw')
}

# near WHAT SIMULATED COUNTED [MORE]: to a tenth; or two, and so many more.
near() {
	local gap=$(($2 - $3)) most=$(($2 > $3 ? $2 : $3))
	((gap >= 0)) || gap=$((-gap))
	((10 * gap <= most || gap <= 2 + ${4-0}))
	tap_is $? 0 "$name: $1"
	tap_diag "$1: $2 expected, $3 counted"
}

# compare TIMES rush|keeping-up: md says of a row so often that it reads before it writes; and how the
# members are doing.
compare() {
	if [[ $(grep -c 'dropped 0)' /run/blktrace.log) != 2 ]]; then
		tap_diag "$name: $(</run/blktrace.log)"
		return 1
	fi
	local whole filled partial rmw rcw reads writes pieces
	read -r whole filled partial rmw rcw reads writes < <("$CTL" simulate --from fs0 --queue "$queue" --json \
		"$folder"/dm-0.blktrace.* | jq -r '.combinations[] | select(.raw_md | not) |
		[.whole_stripes, .filled_stripes, .partial_stripes, .rmw, .rcw, .member_reads,
		 .member_writes] | join(" ")')
	near "stripes written whole" "$whole" "$(stat whole_stripes)"
	near "stripes filled" "$filled" "$(stat filled_stripes)"
	near "pieces" "$partial" "$(stat partial_stripes)"
	# md says it when it puts a row off that nobody waits for, and again when it takes it up. A
	# stripe that is a piece by chance, as nothing else is under way, has 16.
	pieces=$(($(stat partial_stripes) - partial))
	near "rows read before" $(($1 * (rmw + rcw))) "$rows" $(($1 * 16 * ${pieces#-}))
	# In a rush it hangs on microseconds what the members have at one time.
	if [[ $2 == keeping-up ]]; then
		near "requests of members" $((reads + writes)) $((RIG_READS + RIG_WRITES))
	fi
	tap_diag "requests of members: $reads reads and $writes writes expected, $RIG_READS and $RIG_WRITES counted"
}

# load KEY=VALUE...: a direct writer.
load() {
	fio --name=w --filename=/dev/mapper/fs0 --direct=1 --ioengine=libaio --randseed=7 "$@"
}

# with KEY VALUE...: an array of disks that seek, and the target on it.
with() {
	rig_preset R5 spindle
	rig_target fs0 "$RIG_MD" "$@"
}

tap_plan 21
rig_load_module

with hold_ms 2000
queue=$(<"/sys/block/${RIG_MEMBERS[0]##*/}/queue/nr_requests")
name="in order"
record load --rw=write --bs=8k --size=8M --iodepth=8
compare 2 rush
name="in order, slowly"
record load --rw=write --bs=16k --size=8M --rate_iops=100
compare 2 keeping-up
name="at random, close together"
record load --rw=randwrite --bs=16k --size=8M --io_size=6M --norandommap --iodepth=4
compare 2 rush
rig_target_remove fs0
rig_teardown

with hold_ms 1000 high_water_bytes 2097152
name="of all sizes, far apart"
record load --rw=randwrite --bssplit=4k/40:16k/30:64k/20:300k/10 --size=64M --io_size=5M --rate_iops=60
compare 2 rush
name="with flushes"
record load --rw=randwrite --bs=16k --size=8M --io_size=6M --norandommap --rate_iops=60 --fsync=20
compare 1 rush
rig_target_remove fs0
rm -rf "$folder"
tap_done

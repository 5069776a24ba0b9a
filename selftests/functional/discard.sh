#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Discards pass, are ordered against what is staged, and are offered where the lower
# device has them. Zeroing is not: the kernel writes zeroes, which is checked as well.
. "${BASH_SOURCE[0]%/*}/common.sh"

# put BYTE OFFSET LENGTH: of the target.
put() {
	tr '\0' "$1" </dev/zero | dd of=/dev/mapper/fs0 bs="$3" count=1 seek="${2}B" iflag=fullblock \
		oflag=direct conv=notrunc status=none
}

# has DEV OFFSET LENGTH: each byte that is there, once.
has() {
	dd if="$1" bs="$3" count=1 skip="${2}B" iflag=direct status=none | tr '\0' 0 | fold -w 1 |
		sort -u | tr -d '\n'
}

# queue FILE: of the target.
queue() {
	cat "/sys/block/$(dmsetup info -c --noheadings -o blkdevname fs0)/queue/$1"
}

tap_plan 26
rig_load_module
rig_members 1 64 ram
lower=${RIG_MEMBERS[0]}
geometry=(chunk_bytes 65536 data_members 3)
width=196608
rig_target fs0 "$lower" "${geometry[@]}" hold_ms 3600000
stats=$(rig_sysfs fs0)/stats

(($(queue discard_max_bytes) > 0))
tap_is $? 0 "discard is offered where the lower device has it"
tap_is "$(queue write_zeroes_max_bytes)" 0 "zeroing is not"

put a 0 $((8 * width))
put b $((2 * width + 4096)) 4096
tap_check "a discard over staged data" blkdiscard /dev/mapper/fs0
tap_is "$(has /dev/mapper/fs0 0 $((2 * width)))" 0 "what lies before it is discarded"
tap_is "$(has /dev/mapper/fs0 $((2 * width + 4096)) 4096)" b "what is staged is as it was"
tap_is "$(has /dev/mapper/fs0 $((3 * width)) $((5 * width)))" 0 "what lies behind it is discarded"
tap_is "$(has "$lower" 0 $((2 * width)))$(has "$lower" $((3 * width)) $((5 * width)))" 00 \
	"down to the lower device"
dmsetup message fs0 0 flush
tap_is "$(has "$lower" $((2 * width + 4096)) 4096)" b "what was staged is destaged"

put c 0 $((3 * width))
blkdiscard -o 4096 -l $((2 * width)) /dev/mapper/fs0
tap_is "$(has /dev/mapper/fs0 0 4096)$(has /dev/mapper/fs0 4096 $((2 * width)))$(
	has /dev/mapper/fs0 $((2 * width + 4096)) 4096)" c0c "not more than was said is discarded"
put d 8192 4096
tap_is "$(has /dev/mapper/fs0 8192 4096)" d "a write behind a discard is read"
dmsetup message fs0 0 flush
tap_is "$(has "$lower" 8192 4096)" d "and destaged"

put e $((4 * width)) 8192
tap_check "zeroing over staged data" blkdiscard -z -o $((4 * width)) -l 4096 /dev/mapper/fs0
tap_is "$(has /dev/mapper/fs0 $((4 * width)) 4096)$(
	has /dev/mapper/fs0 $((4 * width + 4096)) 4096)" 0e "zeroes are read, and what was beside them"
dmsetup message fs0 0 flush
tap_is "$(has "$lower" $((4 * width)) 8192)" 0e "and are below"
tap_is "$(<"$stats/staged_bytes")" 0 "nothing is left in staging"
rig_target_remove fs0
rig_teardown

rig_members 1 64 ram
lower=${RIG_MEMBERS[0]}
rig_target fs0 "$lower" "${geometry[@]}" hold_ms 20 high_water_bytes $((8 * width))
tap_check "discards among writes and reads, against a model" "$STRESS" --discard --ops 8000 \
	--lower "$lower" /dev/mapper/fs0
rig_target_remove fs0
# Its first stripe and its last are cut.
blkdiscard "$lower"
dmsetup create fs0 --table "0 65000 fullstripe $lower 24 4 ${geometry[*]}"
stats=$(rig_sysfs fs0)/stats
# shellcheck disable=SC2016 # expanded by the inner shell
tap_check "and while the stripes change" bash -c '
	"$0" --discard --ops 8000 --seed 3 --size $((65000 * 512 / 4096 * 4096)) /dev/mapper/fs0 &
	while kill -0 $! 2>/dev/null; do
		dmsetup message fs0 0 set stripe_bytes 131072 || exit
		dmsetup message fs0 0 set stripe_bytes 196608 || exit
	done
	wait $!' "$STRESS"
rig_target_remove fs0
rig_teardown

slow_lower
rig_target fs0 /dev/mapper/low "${geometry[@]}" hold_ms 1
# The kernel locks the node that it discards on.
dmsetup create other --table "0 $sectors linear /dev/mapper/fs0 0"
dmsetup suspend --nolockfs slow
# -f: without a look at what is there, which would be kept below too.
blkdiscard -f -l "$width" /dev/mapper/other 2>/dev/null &
until (($(under_way) == 1)); do sleep 0.1; done
put g 4096 4096
tap_is "$(has /dev/mapper/fs0 4096 4096)" g "a write beside a discard of its stripe completes, and is read"
sleep 1	# a thousand holds
tap_is "$(under_way)" 1 "but is not destaged while the discard is under way"
dmsetup resume slow
wait $!
tap_check "then a flush brings it below" dmsetup message fs0 0 flush
tap_is "$(has "$lower" 4096 4096)" g "where the discard does not take it"
dmsetup remove --retry other
rig_target_remove fs0
rig_teardown

# md discards on RAID5 where it is told that members return zeroes.
modprobe raid456
echo Y >/sys/module/raid456/parameters/devices_handle_discard_safely
rig_preset R5 ram
rig_target fs0 "$RIG_MD"
(($(queue discard_max_bytes) > 0))
tap_is $? 0 "RAID5 that discards: it is offered"
put f 0 $((4 * RIG_W))
dmsetup message fs0 0 flush
tap_check "a discard of half of it" blkdiscard -o $((2 * RIG_W)) -l $((2 * RIG_W)) /dev/mapper/fs0
tap_is "$(has /dev/mapper/fs0 0 $((2 * RIG_W)))$(has /dev/mapper/fs0 $((2 * RIG_W)) $((2 * RIG_W)))" \
	f0 "that half is gone"
rig_target_remove fs0
rig_teardown
echo N >/sys/module/raid456/parameters/devices_handle_discard_safely
rig_preset R5 ram
rig_target fs0 "$RIG_MD"
tap_is "$(queue discard_max_bytes)" 0 "RAID5 that does not: it is not offered"
blkdiscard /dev/mapper/fs0 2>/dev/null
tap_is $? 1 "and refused"
tap_done

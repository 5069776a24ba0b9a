#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A stripe that is written to while what it held before, or what passes by it, is on its way: each
# sector reads as it was written last, and the older data does not come out on top below.
. "${BASH_SOURCE[0]%/*}/common.sh"

# put BYTE SECTOR COUNT: to the target, by one write.
put() {
	tr '\0' "$1" </dev/zero | dd of=/dev/mapper/fs0 bs=$(($3 * 512)) count=1 seek=$(($2 * 512))B \
		iflag=fullblock oflag=direct conv=notrunc status=none
}

# map DEV SECTOR COUNT: what one read finds: a letter for each sector, "?" for one of several.
map() {
	dd if="$1" bs=$(($3 * 512)) count=1 skip=$(($2 * 512))B iflag=direct status=none |
		tr '\0' 0 | fold -w 512 | sed -E 's/^(.)\1*$/\1/; s/^..+$/?/' | tr -d '\n'
}

# thinly BYTE SECTOR END: every other 4 KiB from there on. By one process, as the debug kernel takes a second
# to begin one.
thinly() {
	python3 -c '
import mmap, os, sys
block = mmap.mmap(-1, 4096)
block.write(sys.argv[1].encode() * 4096)
fd = os.open("/dev/mapper/fs0", os.O_WRONLY | os.O_DIRECT)
for at in range(int(sys.argv[2]), int(sys.argv[3]), 16):
    os.pwrite(fd, block, at * 512)' "$@"
}

# is_staged SECTOR: whether what is written there is in memory when the write has completed.
# shellcheck disable=SC2317 # until_true calls it
is_staged() {
	put i "$1" 8 && is_above staged_bytes 0
}

# lets_pass PID: whether that process changes the stripes, and sleeps until what was under way before is over: not in
# what it calls, as when it allocates, or drains.
# shellcheck disable=SC2317 # until_true calls it
lets_pass() {
	local innermost
	read -r innermost <"/proc/$1/stack"
	[[ $innermost == *staging_set_geometry* || $innermost == *drain_and_pass* ]]
}

tap_plan 17
rig_load_module
slow_lower
rig_target fs0 /dev/mapper/low chunk_bytes 65536 data_members 3 seek_bytes 0 hold_ms 1
stats=$(rig_sysfs fs0)/stats
dmsetup suspend --nolockfs slow
# A read that is sent there, and should not be, waits too; but not for ever.
(for ((i = 0; i < 120 * ${TIME_SCALE:-1}; i++)); do sleep 1; done; dmsetup resume slow; dmsetup resume late) &
watchdog=$!

put a 0 16
until (($(under_way) == 1)); do sleep 0.1; done
tap_is "$(map /dev/mapper/fs0 0 16)" aaaaaaaaaaaaaaaa "what is being written is read"
put b 4 4
put b 12 8
tap_is "$(map /dev/mapper/fs0 0 20)" aaaabbbbaaaabbbbbbbb "newer data is read over it, and it beside that"
tap_is "$(map /dev/mapper/fs0 6 4)$(map /dev/mapper/fs0 11 2)" bbaaab "also in reads that begin within either"
sleep 1	# a thousand holds
tap_is "$(under_way)" 1 "newer data is not sent past what is being written"
put c 6 4
tap_is "$(map /dev/mapper/fs0 0 20)" aaaabbccccaabbbbbbbb "what comes then is read over both"
sync /dev/mapper/fs0 &
flush=$!
until_true is flushes 1	# before the older data is below
dmsetup resume slow
wait "$flush"
tap_is $? 0 "a flush of both succeeds"
tap_is "$(map "$lower" 0 20)" aaaabbccccaabbbbbbbb "all of it is below then, as it was read"
tap_is "$(map /dev/mapper/fs0 0 20), $(<"$stats/staged_bytes")" "aaaabbccccaabbbbbbbb, 0" \
	"and read from there"
rig_target_remove fs0

# What passes by a stripe is not in it: were that filled before, old data would come out on top.
rig_target fs0 /dev/mapper/low chunk_bytes 65536 data_members 3 hold_ms 1 seek_bytes 1048576
dmsetup suspend --nolockfs slow
put d 0 384 &
writer=$!
until_true is_under_way 1
thinly e 8 384
tap_check "while a write passes by its stripe is neither destaged nor read" stays is_under_way 1
dmsetup resume slow
wait "$writer"
tap_check "a flush of both succeeds" fsync
tap_is "$(stat filled_stripes)" 1 "the stripe is filled then"
tap_is "$(map "$lower" 0 32)" ddddddddeeeeeeeeddddddddeeeeeeee "and what it was filled with is what passed by"

# While the stripes change no stripe knows of what passes by: what is staged then has to wait for
# all of it. The first write keeps the change waiting, in another device than the second one.
dmsetup create late --table "0 $sectors linear $lower 0"
dmsetup load low <<-TABLE
	0 384 linear /dev/mapper/slow 0
	384 $((sectors - 384)) linear /dev/mapper/late 384
TABLE
dmsetup suspend --nolockfs low
dmsetup resume low
dmsetup suspend --nolockfs slow
dmsetup suspend --nolockfs late
put f 0 384 &
writer=$!
until_true is_under_way 1
dmsetup message fs0 0 set stripe_bytes 131072 &
change=$!
until_true lets_pass "$change"
put g 768 8 &
until_true is_under_way 2
dmsetup resume slow
wait "$writer"
tap_check "writes are staged again" until_true is_staged 0
thinly h 776 1024
tap_check "but not destaged, nor anything read for it, while one passes by" stays is_under_way 1
dmsetup resume late
tap_check "the stripes change" wait "$change"
tap_check "a flush of both succeeds" fsync
tap_is "$(map "$lower" 768 32)" gggggggghhhhhhhh00000000hhhhhhhh "and both are below"
kill "$watchdog"
tap_done

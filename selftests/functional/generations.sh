#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A stripe that is written to while what it held before is on its way: each sector reads
# as it was written last, and the older data does not come out on top below.
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

tap_plan 8
rig_load_module
slow_lower
rig_target fs0 /dev/mapper/low chunk_bytes 65536 data_members 3 seek_bytes 0 hold_ms 1
stats=$(rig_sysfs fs0)/stats
dmsetup suspend --nolockfs slow
# A read that is sent there, and should not be, waits too; but not for ever.
(for ((i = 0; i < 60; i++)); do sleep 1; done; dmsetup resume slow) &
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
sleep 0.5	# it may come before the older data is below
dmsetup resume slow
kill "$watchdog"
wait "$flush"
tap_is $? 0 "a flush of both succeeds"
tap_is "$(map "$lower" 0 20)" aaaabbccccaabbbbbbbb "all of it is below then, as it was read"
tap_is "$(map /dev/mapper/fs0 0 20), $(<"$stats/staged_bytes")" "aaaabbccccaabbbbbbbb, 0" \
	"and read from there"
tap_done

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A destage that fails loses nothing silently: what is staged stays readable, flushes
# fail, writes go through meanwhile, and after the repair all is as it should be.
. "${BASH_SOURCE[0]%/*}/common.sh"

sum_of() {
	dd if="$1" bs=4k count=100 skip=3 iflag=direct status=none | md5sum
}

# writes_below: how many the device under the target was sent.
writes_below() {
	awk '{ print $5 }' "/sys/block/$(dmsetup info -c --noheadings -o blkdevname low)/stat"
}

# states: what uevents have told so far, once at least COUNT of them are there.
states() {
	local i
	for ((i = 0; i < 100; i++)); do
		(($(grep -c '^FULLSTRIPE_STATE=' /run/uevents) >= $1)) && break
		sleep 0.1
	done
	sed -n 's/^FULLSTRIPE_STATE=//p' /run/uevents | paste -sd ' '
}

tap_plan 31
rig_load_module
python3 - >/run/uevents <<'LISTENER' &
import socket, sys
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15)	# NETLINK_KOBJECT_UEVENT
s.bind((0, 1))
print("LISTENING", flush=True)
while True:
    for line in s.recv(65536).split(b"\0"):
        print(line.decode(), flush=True)
LISTENER
listener=$!
until grep -q LISTENING /run/uevents; do sleep 0.1; done
modprobe dm-flakey
rig_preset R5 ram
sectors=$(blockdev --getsz "$RIG_MD")
dmsetup create low --table "0 $sectors linear $RIG_MD 0"
rig_target fs0 /dev/mapper/low chunk_bytes 65536 data_members 4 hold_ms 3600000
stats=$(rig_sysfs fs0)/stats

dd if=/dev/urandom of=/dev/mapper/fs0 bs=4k count=100 seek=3 oflag=direct conv=notrunc status=none
sum=$(sum_of /dev/mapper/fs0)
lower "0 $sectors flakey $RIG_MD 0 0 60 1 error_writes"
fsync
tap_is $? 1 "a flush fails when its data cannot be written"
tap_is "$(target_state)" failing "status says so"
(($(<"$stats/failing_stripes") == 2))
tap_is $? 0 "the stripes are counted"
tap_is "$(dmesg | grep -c 'cannot be written to')" 1 "the log says so once"
tap_is "$(sum_of /dev/mapper/fs0)" "$sum" "what is staged stays readable"
tap_is "$(states 1)" failing "and a uevent says so"
grep -A20 "^change@.*/$(dmsetup info -c --noheadings -o blkdevname fs0)$" /run/uevents |
	grep -q '^FULLSTRIPE_STATE=failing'
tap_is $? 0 "of this disk"
fsync
tap_is $? 1 "the next flush fails too"
dd if=/dev/zero of=/dev/mapper/fs0 bs=4k count=1 seek=4096 oflag=direct conv=notrunc status=none \
	2>/dev/null
tap_is $? 1 "a write elsewhere goes through, so its writer learns"
dd if=/dev/zero of=/dev/mapper/fs0 bs=4k count=1 seek=110 oflag=direct conv=notrunc status=none \
	2>/dev/null
tap_is $? 1 "and so does a writer to a failing stripe"
tap_is "$(sum_of /dev/mapper/fs0)" "$sum" "which harms nothing that was accepted before"
fsync
tap_is $? 1 "and a flush with newer data above the failing stripe fails too"
tried=$(writes_below)
tap_check "what failed is tried again by itself" eventually 20 eval '(($(writes_below) > tried))'
tap_check "a suspend ends" timeout 60 dmsetup suspend --noflush fs0
tried=$(writes_below)
sleep 6	# longer than failed stripes wait for their next try
tap_is "$(target_state) $(writes_below)" "failing $tried" \
	"what could not be written is kept, and not tried again"
tap_check "a resume too" dmsetup resume fs0
tap_is "$(sum_of /dev/mapper/fs0)" "$sum" "and is readable then"
tap_is "$(dmesg | grep -c 'cannot be written to')" 1 "all this was one event in the log"

lower "0 $sectors linear $RIG_MD 0"
dmsetup message fs0 0 retry
tap_check "after the repair a flush succeeds" fsync
tap_is "$(target_state)" ok "status says so"
tap_is "$(states 2)" "failing ok" "and uevents have told both, once each"
tap_is "$(sum_of "$RIG_MD")" "$sum" "what was staged is below"
kill "$listener"

# written_by_message: they fail, and the message has them written before they are tried again by themselves, which is
# five seconds after that.
written_by_message() {
	local from=${EPOCHREALTIME/./}
	fsync
	lower "0 $sectors linear $RIG_MD 0"
	dmsetup message fs0 0 retry
	until_true is failing_stripes 0 && ((${EPOCHREALTIME/./} - from < 5000000))
}
for ((i = 0; i < 5; i++)); do
	xfs_io -d -c "pwrite -q 0 4k" /dev/mapper/fs0
	lower "0 $sectors flakey $RIG_MD 0 0 60 1 error_writes"
	! written_by_message || break
done
((i < 5))
tap_is $? 0 "what failed is tried again by message"
dd if=/dev/urandom of=/dev/mapper/fs0 bs=4k count=100 seek=3 oflag=direct conv=notrunc status=none
tap_is "$(<"$stats/staged_bytes")" 409600 "writes are staged again"

lower "0 $sectors flakey $RIG_MD 0 0 60 1 error_writes"
dmesg -C
dmsetup suspend --noflush fs0
tap_check "remove ends all the same, also of a suspended device" rig_target_remove fs0
lost='409600 bytes in 2 stripes could not be written and are lost'
log=$(dmesg)
tap_is "$(grep -o "$lost" <<<"$log" || echo "$log")" "$lost" "and what is lost is said"
rig_teardown

# Many that failed are tried again, no more of them at a time than others: 12 of this size.
slow_lower
dmsetup create fs0 --table "0 $sectors fullstripe /dev/mapper/low 0 8 chunk_bytes 65536 data_members 4 hold_ms 3600000 seek_bytes 0"
blocks 0 29 | xfs_io -d /dev/mapper/fs0 >/dev/null
lower "0 $sectors error"
# A flush would end with the first that fails.
dmsetup message fs0 0 set hold_ms 500
until_true is failing_stripes 30
tap_is $? 0 "many stripes fail"
# All thirty may be tried again by themselves meanwhile.
errors=$(stat destage_errors)
xfs_io -d -c "pwrite -q 4k 4k" /dev/mapper/fs0 2>/dev/null
tap_is $((($(stat destage_errors) - errors) % 30)) 1 "who writes to one of them waits for that one to be tried"
dmsetup suspend --noflush --nolockfs slow
lower "0 $sectors linear /dev/mapper/slow 0"
dmsetup message fs0 0 retry
until_true is_under_way 12
for ((i = 0; i < 5; i++)); do
	is_under_way 12 || break
	sleep 0.2	# so that what must not come has the time to
done
tap_is "$i" 5 "no more are tried again at a time than may be in flight"
flushes=$(stat flushes)
fsync &
job=$!
until_true is flushes $((flushes + 1))
dmsetup resume slow
tap_check "a flush waits for all of them" wait "$job"
tap_is "$(stat failing_stripes) $(stat staged_bytes)" "0 0" "and nothing is left"
rig_target_remove fs0
rig_teardown
tap_done

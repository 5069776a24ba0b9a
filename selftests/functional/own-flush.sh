#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A flush that the target sends by itself is heard of by nobody above. If it fails, what it was for may be lost, and
# the next one that somebody waits for fails in its place.
. "${BASH_SOURCE[0]%/*}/common.sh"

CTL=$RIG_TOP/build/daemon/fullstripectl

# break_flushes, mend: whether the device low takes flushes from now on. They go to all its parts, and fail if one fails;
# to its last sectors nothing is written.
break_flushes() {
	lower "0 $((sectors - 8)) linear $RIG_MD 0
		$((sectors - 8)) 8 flakey $RIG_MD $((sectors - 8)) 0 60 1 error_writes"
}
mend() {
	lower "0 $sectors linear $RIG_MD 0"
}

# put FIRST KIB: written below, and not flushed.
put() {
	xfs_io -d -c "pwrite -q $1 ${2}k" /dev/mapper/fs0 && until_true is staged_bytes 0
}

# write_block NAME [,dsync]: the first one, with FUA if so.
write_block() {
	dd if=/dev/zero of="/dev/mapper/$1" bs=4k count=1 oflag="direct${2-}" conv=notrunc status=none 2>/dev/null
}

# start_fua: of a device that is suspended. Sets job, which waits for the resume.
start_fua() {
	dd if=/dev/zero of=/dev/mapper/fs0 bs=4k count=1 oflag=direct,dsync conv=notrunc status=none 2>/dev/null &
	job=$!
	until_true grep -qs blkdev_direct_IO "/proc/$job/stack"
}

# another_table: suspends fs0, with the device low as it is, mends that, and loads a table that the next resume takes.
another_table() {
	dmsetup suspend fs0
	mend
	dmsetup load fs0 --table "$table"
}

# told WHAT: the flush that follows fails, and the next one does not, and one later makes good that it failed.
told() {
	tap_is "$(target_state)" failing "$1: the status says so"
	mend
	fsync
	tap_is $? 1 "$1: the next flush fails"
	tap_is "$(target_state)" ok "$1: and the status says that all is well"
	tap_check "$1: as it is with the one after it" fsync
	sleep 1.5
	fsync
}

tap_plan 60
rig_load_module
insmod "$RIG_TOP/build/selftests/modules/$(uname -r)/dm-preflush.ko"
modprobe -a dm-flakey dm-delay
rig_preset R5 ram
sectors=$(blockdev --getsz "$RIG_MD")
dmsetup create low --table "0 $sectors linear $RIG_MD 0"
rig_target fs0 /dev/mapper/low chunk_bytes 65536 data_members 4 hold_ms 1 seek_bytes 0

table=$(dmsetup table fs0)
put 0 4
break_flushes
dmsetup message fs0 0 flush 2>/dev/null
tap_is $? 1 "a flush by message fails"
told "what was staged"
tap_is "$(dmesg | grep -c 'something may be lost, unheard of above: the next flush fails')" 1 "it was said"

put 1m 1024
break_flushes
dmsetup message fs0 0 flush 2>/dev/null
told "what went through"

break_flushes
dmsetup message fs0 0 flush 2>/dev/null
tap_is "$? $(target_state)" "1 ok" "where nothing was written nothing is lost"
mend
tap_check "and no flush fails for it" fsync

put 0 4
break_flushes
dmsetup suspend fs0
tap_is "$(target_state)" failing "a suspend: the status says so"
mend
dmsetup resume fs0
told "a suspend, and resumed"

# What one table has lost the next one tells.
put 0 4
break_flushes
another_table
dmsetup resume fs0
told "a suspend, and another table"

dmsetup message fs0 0 set hold_ms 3600000
xfs_io -d -c "pwrite -q 0 4k" /dev/mapper/fs0
lower "0 $sectors flakey $RIG_MD 0 0 60 1 error_writes"
another_table
dmsetup resume fs0
told "what could not be written, and another table"

put 0 4
break_flushes
fsync
another_table
start_fua
dmsetup resume fs0
wait "$job"
tap_is "$? $(target_state)" "1 ok" "a flush failed, and with another table a write with FUA does, too"
sleep 1.5
tap_check "until one has succeeded" eventually 10 write_block fs0 ,dsync

# What a flush was answered for is not at risk any more, whether it was the device's only work or not.
for held in 1 3600000; do
	dmsetup message fs0 0 set hold_ms "$held"
	xfs_io -d -c "pwrite -q 0 4k" /dev/mapper/fs0
	((held > 1)) || until_true is staged_bytes 0
	fsync
	break_flushes
	dmsetup message fs0 0 flush 2>/dev/null
	tap_is "$? $(target_state)" "1 ok" "held for $held ms: what was flushed is not lost"
	mend
	tap_check "and no flush fails for it" fsync
done
dmsetup message fs0 0 set hold_ms 1

# After a flush that failed one of the target's own shall make that good, and fails as well.
break_flushes
fsync
tap_is $? 1 "a flush fails"
mend
put 2m 4
dmesg -C
break_flushes
write_block fs0 ,dsync
tap_is $? 1 "so does a write with FUA"
tap_check "what should make that good fails" until_true eval 'dmesg | grep -q "something may be lost, unheard of above: the next flush fails"'
write_block fs0 ,dsync
tap_is $? 1 "and whose write with FUA fails is not told of what others have lost"
told "that"

# dm core may be about to send what a flush was to go before, with FUA: one that follows at once is no help.
put 0 4
break_flushes
dmsetup message fs0 0 flush 2>/dev/null
mend
sleep 1.5	# that one's own second
python3 - >/run/tries <<'PYTHON'
import mmap, os, time
fd = os.open("/dev/mapper/fs0", os.O_RDWR | os.O_DIRECT)
data = mmap.mmap(-1, 4096)

def fua():
    os.pwritev(fd, [data], 0, os.RWF_DSYNC)

for wait, what in (0, lambda: os.fsync(fd)), (0.1, lambda: os.fsync(fd)), (0, fua), (1.5, lambda: os.fsync(fd)), (0, fua):
    time.sleep(wait)
    try:
        what()
        print("ok")
    except OSError:
        print("failed")
PYTHON
tap_is "$(paste -sd ' ' /run/tries)" "failed ok failed ok ok" "a write with FUA fails until a flush a second later"

# The same where dm core keeps that data until a resume: none that is sent meanwhile helps, however late.
put 0 4
break_flushes
fsync
tap_is $? 1 "a flush fails before a suspend"
mend
dmsetup suspend fs0
sleep 1.5
tap_check "one while it is suspended does not" dmsetup message fs0 0 flush
start_fua
dmsetup resume fs0
wait "$job"
tap_is $? 1 "a write with FUA that waited for the resume fails"
sleep 1.5
fsync

# Of a flush with data dm core forgets that it failed, and sends the data.
dmsetup create pre --table "0 $sectors preflush /dev/mapper/fs0"
forgotten() {
	put 0 4
	break_flushes
	write_block pre
	tap_is "$? $(target_state)" "0 failing" "a write succeeds whose flush failed: the status says so"
	mend
	sleep 1.5
}
told_before=$(events)
forgotten
tap_is "$(events) $(stat failing)" "$((told_before + 1)) 1" "and an event"
write_block pre
tap_is "$? $(target_state)" "0 failing" "another one is no help"
dmsetup message fs0 0 flush 2>/dev/null
tap_is "$? $(target_state)" "1 failing" "a message fails, but whose data it was is not told by that"
write_block pre ,dsync
tap_is "$? $(target_state) $(stat failing)" "1 ok 0" "a write with FUA fails"
sleep 1.5
tap_check "and that made good the next does not" eventually 10 write_block pre ,dsync
forgotten
told "what dm core forgets"

# Those that are answered with it were not told of it. All wait for one whose write hangs in the lower device.
dmsetup message fs0 0 set hold_ms 3600000
xfs_io -d -c "pwrite -q 0 4k" /dev/mapper/fs0
dmsetup suspend --noflush --nolockfs low
flushes=$(stat flushes)
fsync &
until_true is flushes $((flushes + 1))
write_block pre &
until_true is flushes $((flushes + 2))
fsync &
until_true is flushes $((flushes + 3))
break_flushes
wait
tap_is "$(target_state)" failing "another flush that fails beside it is no help"
mend
sleep 1.5
write_block pre ,dsync
tap_is "$? $(target_state)" "1 ok" "and a write with FUA fails"
sleep 1.5
fsync
dmsetup message fs0 0 set hold_ms 1
dmsetup remove pre

# Else a file system would not live through being frozen, which flushes, and then writes with FUA.
mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 /dev/mapper/fs0
mkdir -p /run/mnt
mount /dev/mapper/fs0 /run/mnt
sync -f /run/mnt
break_flushes
fsync
tap_is $? 1 "a flush fails beside a file system that is idle"
mend
sleep 1.5
touch /run/mnt/file
dmsetup suspend fs0
tap_is "$? $(dmesg | grep -c 'EXT4-fs error\|Aborting journal')" "0 0" "a second later it can be frozen"
dmsetup resume fs0
umount /run/mnt

# All that came while the target's own was under way may be too late. That one hangs in a device that is suspended
# until they wait behind it; theirs are delayed until the device takes flushes again.
dmsetup create bad --table "0 $sectors linear $RIG_MD 0"
lower "0 $sectors delay /dev/mapper/bad 0 0 /dev/mapper/bad 0 0 /dev/mapper/bad 0 3000"
put 0 4
dmsetup suspend --noflush --nolockfs bad
dmsetup message fs0 0 flush 2>/dev/null &
own=$!
until_true grep -q '[1-9]' "/sys/block/$(dmsetup info -c --noheadings -o blkdevname low)/inflight"
xfs_io -c fsync /dev/mapper/fs0 2>/dev/null &
first=$!
xfs_io -c fsync /dev/mapper/fs0 2>/dev/null &
second=$!
until_true grep -qs blkdev_issue_flush "/proc/$first/stack"
until_true grep -qs blkdev_issue_flush "/proc/$second/stack"
slow_table "0 $sectors flakey $RIG_MD 0 0 60 1 error_writes" bad
wait "$own"
slow_table "0 $sectors linear $RIG_MD 0" bad
wait "$first"
first=$?
wait "$second"
tap_is "$first $?" "1 1" "all that waited behind it fail"
sleep 1.5
fsync
mend

put 0 4
break_flushes
"$CTL" remove fs0 2>/run/said
tap_is "$? $(grep -c 'nothing is left to write, but something written before may be lost' /run/said)" "0 1" \
	"fullstripectl removes what holds nothing, and says that its flush failed"
rig_teardown
tap_done

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Writes that never stop keep nobody from his turn: a partial stripe beside whole ones, whole ones
# and a flush beside those that somebody waits for, who waits for a stripe group beside who would
# take each that comes free, those that are parked beside wide stripes, a change of the stripes.
# once: 6.12 whose turn it is the module decides by itself
. "${BASH_SOURCE[0]%/*}/common.sh"

# slow_target KEYS...: fs0 on one disk that takes a request at a time, each for so long.
# shellcheck disable=SC2317 # tap_check calls it
slow_target() {
	rig_members 1 128 spindle && lower=${RIG_MEMBERS[0]} && rig_target fs0 "$lower" "$@"
}

# writes NAME OPTION...: fio beside what follows, until halt. To the target, or to $file.
writes() {
	fio --name="$1" --filename="${file-/dev/mapper/fs0}" --direct=1 --ioengine=libaio --time_based --runtime=600 \
		--thread "${@:2}" >"/tmp/$1.log" 2>&1 &
	writers+=("$!")
}

# halt: end it. Fails if it ended before: then it kept nobody from anything.
# shellcheck disable=SC2317 # tap_check calls it
halt() {
	local failed=0 writer
	for writer in "${writers[@]}"; do
		kill "$writer" 2>/dev/null || failed=1
		wait "$writer"
	done
	writers=()
	((!failed)) || { cat /tmp/*.log; false; }
}
writers=()

# shellcheck disable=SC2317 # the trap calls it
give_up() {
	halt
	dmsetup resume slow 2>/dev/null
	dmsetup resume slow2 2>/dev/null
	leave
}
trap give_up EXIT

# is_below BYTE SECTOR: whether the device below has it there.
# shellcheck disable=SC2317 # eventually calls it
is_below() {
	[[ $(dd if="$lower" bs=512 count=1 skip="$2" iflag=direct status=none | tr -d "$1" | wc -c) == 0 ]]
}

# put BYTE SECTOR: one of 4 KiB.
put() {
	tr '\0' "$1" </dev/zero | dd of=/dev/mapper/fs0 bs=4096 count=1 seek=$(($2 * 512))B iflag=fullblock \
		oflag=direct conv=notrunc status=none
}

tap_plan 30
rig_load_module

# A stripe has as many rows as may be in flight: one whole one is.
name="writebehind"
RIG_NSEC=20000000
tap_check "$name: a target whose stripes are written one at a time" slow_target chunk_bytes 1048576 data_members 2 \
	seek_bytes 0 hold_ms 200 high_water_bytes 16777216 low_water_bytes 4194304 file_high_water_bytes 0
writes stream --rw=write --bs=1M --iodepth=4 --offset=16M --size=64M
until_true is_above parked 0
put p 8
tap_check "$name: a partial stripe is written while there are always whole ones" eventually $((10 * ${TIME_SCALE:-1})) is_below p 8
tap_check "$name: which there were until then" halt
rig_target_remove fs0
rig_teardown

name="writethrough"
slow_target chunk_bytes 1048576 data_members 2 hold_ms 200 mode writethrough
writes stream --rw=write --bs=1M --iodepth=16 --offset=16M --size=64M
until_true is_above whole_stripes 2
put q 8 &
partial=$!
tap_check "$name: a write of a part is not kept by whole stripes" eventually $((10 * ${TIME_SCALE:-1})) is_gone "$partial"
tap_check "$name: which there were until then" halt
wait "$partial"
tap_is $? 0 "$name: it succeeded"
rig_target_remove fs0
rig_teardown

# What fsync sends comes without end, and all that can be in flight is that.
slow_target chunk_bytes 1048576 data_members 2 hold_ms 200 mode writethrough
writes fsyncs --direct=0 --ioengine=psync --rw=write --bs=4k --fsync=1 --numjobs=8 --size=2M \
	--offset=32M --offset_increment=2M
until_true is_above partial_stripes 16
fio --name=whole --filename=/dev/mapper/fs0 --direct=1 --ioengine=libaio --rw=write --bs=64k --iodepth=32 \
	--size=2M --output=/dev/null &
whole=$!
tap_check "$name: a whole stripe is not kept by who waits for others" eventually $((10 * ${TIME_SCALE:-1})) is_gone "$whole"
tap_check "$name: who were there until then" halt
wait "$whole"
tap_is "$? $(stat whole_stripes)" "0 1" "$name: it was one, and succeeded"
rig_target_remove fs0
rig_teardown

# The same with a flush, beside writes with FUA to stripes that are always staged; their file has
# all that it needs, so that no flush is theirs.
name="flush"
slow_target chunk_bytes 1048576 data_members 2 hold_ms 3600000 seek_bytes 0
mkfs.ext4 -q -b 4096 -O ^has_journal -E lazy_itable_init=0 /dev/mapper/fs0 32M >/dev/null
mkdir -p /run/starve
mount -o noatime /dev/mapper/fs0 /run/starve
dd if=/dev/zero of=/run/starve/file bs=1M count=8 oflag=direct conv=fsync status=none
blocks=(--ioengine=psync --rw=randwrite --bs=4k --size=8k --numjobs=4 --offset_increment=2M
	--overwrite=1 --allow_file_create=0)
file=/run/starve/file writes stage "${blocks[@]}" --thinktime=500us
file=/run/starve/file writes fua "${blocks[@]}" --sync=dsync
until_true is_above partial_stripes 16
put r 131072
flushes=$(stat flushes)
sleep 1
tap_is "$(stat flushes)" "$flushes" "$name: those who write send none"
dd if=/dev/zero of=/dev/mapper/fs0 bs=2M count=1 seek=40 oflag=direct conv=notrunc status=none &
whole=$!
tap_check "$name: beside them a whole stripe is written" eventually $((10 * ${TIME_SCALE:-1})) is_gone "$whole"
dmsetup message fs0 0 flush &
flush=$!
tap_check "$name: it ends beside them" eventually $((10 * ${TIME_SCALE:-1})) is_gone "$flush"
tap_check "$name: who were there until then" halt
wait "$flush"
tap_is $? 0 "$name: it succeeded"
tap_check "$name: what it was for is below" is_below r 131072
umount /run/starve
rig_target_remove fs0
rig_teardown

# All 64 groups are in use, 12 of them in flight: the first one, those of the second half of the
# device, and then others. Who comes once more to the first one's stripe waits for a group.
name="groups"
slow_lower
dmsetup create slow2 --table "0 65536 linear $lower 65536"
dmsetup load low <<-TABLE
	0 65536 linear /dev/mapper/slow 0
	65536 65536 linear /dev/mapper/slow2 0
TABLE
dmsetup suspend --nolockfs low
dmsetup resume low
rig_target fs0 /dev/mapper/low chunk_bytes 65536 data_members 2 hold_ms 1 seek_bytes 0 mode writethrough \
	high_water_bytes 524288 low_water_bytes 4096 file_high_water_bytes 0
dmsetup suspend --nolockfs slow
dmsetup suspend --nolockfs slow2
# writer: 4 KiB to each stripe that it is told, and it does not wait for one before the next.
coproc WRITER { exec python3 -c '
import mmap, os, sys, threading
fd = os.open("/dev/mapper/fs0", os.O_RDWR | os.O_DIRECT)
data = mmap.mmap(-1, 4096)
threads = []
for line in sys.stdin:
    threads.append(threading.Thread(target=os.pwritev, args=(fd, [data], int(line) << 17)))
    threads[-1].start()
for thread in threads:
    thread.join()
'; }
writer=$WRITER_PID to_writer=${WRITER[1]}
# tell COUNT FIRST: it is told so many from that one on.
held=0
tell() {
	seq "$2" $(($2 + $1 - 1)) >&"$to_writer"
	((held += $1 * 4096))
	until_true is held_bytes $held
}
tell 1 0
until_true is_under_way 1
tell 11 300
until_true is_under_way 12
tell 52 1
echo 0 >&"$to_writer"
until_true is parked 1
tap_is $? 0 "$name: who finds none waits"
dmsetup resume slow2
until_true is partial_stripes 11
echo 400 >&"$to_writer"
until_true is bypassed_bytes 4096
tap_is "$? $(stat held_bytes)" "0 $held" "$name: of those that come free who comes takes none"
dmsetup resume slow
exec {to_writer}>&-
tap_check "$name: all end" wait "$writer"
tap_is "$(stat held_bytes) $(stat partial_stripes)" "$((held + 4096)) 65" "$name: who waited had one"
rig_target_remove fs0
rig_teardown

# A stripe is on its way while the stripes change. If it were staged anew what comes to it then,
# and so on, the change would wait as long as somebody writes.
name="stripe_bytes"
slow_lower
rig_target fs0 /dev/mapper/low chunk_bytes 65536 data_members 2 hold_ms 1
dmsetup suspend --nolockfs slow
put r 0
until_true is_under_way 1
dmsetup message fs0 0 set stripe_bytes 262144 &
partial=$!
until_true grep -q destager_drain "/proc/$partial/stack"
tap_is $? 0 "$name: they change when what is staged is written"
put s 8 &
writer=$!
until_true is parked 1
tap_is "$? $(stat accepted_bytes)" "0 4096" "$name: a stripe that is on its way is not staged again"
dmsetup resume slow
tap_check "$name: they have changed" wait "$partial"
tap_check "$name: the write ends" wait "$writer"
tap_is "$(<"$(rig_sysfs fs0)/stripe_bytes")" 262144 "$name: they are the new ones"
is_below r 0 && is_below s 8
tap_is $? 0 "$name: both are below"
rig_target_remove fs0
rig_teardown

# Those that are parked go on when no group is in use any more, which wide stripes always have some of.
name="wide"
slow_target chunk_bytes 1048576 data_members 2 seek_bytes 0 high_water_bytes 16777216 low_water_bytes 0 \
	file_high_water_bytes 0
writes stream --rw=write --bs=2M --iodepth=8 --offset=64M --size=64M
until_true is_above held_bytes 16777216
tap_is $? 0 "$name: they are held"
fio --name=parts --filename=/dev/mapper/fs0 --direct=1 --ioengine=libaio --rw=randwrite --bs=64k --iodepth=32 --size=48M \
	--io_size=24M --output=/dev/null &
parts=$!
until_true is_above parked 0
tap_is $? 0 "$name: others are parked"
tap_check "$name: who go on beside them" eventually $((30 * ${TIME_SCALE:-1})) is_gone "$parts"
tap_check "$name: who were there until then" halt
wait "$parts"
tap_is $? 0 "$name: they succeeded"
rig_target_remove fs0
tap_done

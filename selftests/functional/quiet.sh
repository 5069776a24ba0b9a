#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Flushes: what others write stands back before them, and is not what they wait for.
. "${BASH_SOURCE[0]%/*}/common.sh"

# flushes N SECONDS: a small write and fsync, so often, with so long a pause before the next;
# for an xfs_io -d, as a process for each is slow to come. Ends when that has ended.
flushes() {
	local i
	for ((i = 0; i < $1; i++)); do
		echo "pwrite -q $((163840000 + 409600 * (i % 200))) 4k" || return
		echo fsync || return
		sleep "$2"
	done 2>/dev/null
}

# hung_flush: one that waits for something staged that what is below does not answer: as long as
# that is suspended a flush is near. Sets hung, who waits for it.
hung_flush() {
	dmsetup suspend --noflush --nolockfs slow
	xfs_io -c fsync /dev/mapper/fs0 &
	hung=$!
	until_true is flushes 1
}

# stage: a block, far behind.
stage() {
	xfs_io -d -c "pwrite -q 60m 4k" /dev/mapper/fs0
}

# look AWK: what it says of the trace; t is the time, name the event, and dev, op, sector and
# sectors are what a bio has. fs0 and md are devices.
look() {
	awk -v fs0="${fs0[0]},${fs0[1]}" -v md="${md[0]},${md[1]}" '
	match($0, /[0-9]+\.[0-9]+: /) {
		t = substr($0, RSTART, RLENGTH - 2) + 0
		$0 = substr($0, RSTART + RLENGTH)
		name = $1; dev = $2; op = $3; sector = $4; sectors = $6
	}'"$1" "$RIG_TRACING/trace"
}

# in_flight ANY: the most whole stripes of the writer that were in flight at a time when one more
# came near a flush; with ANY 0 once those that were on their way before it had ended. (What the flushes write
# is filled, and whole as well, but lies behind.)
in_flight() {
	look '
	dev == fs0 && op ~ /^F/ {
		if (!last || t > last + 0.7) {
			few = '"$1"'
			first = t
		}
		last = t
		on_flush += name == "block_bio_queue:" ? 1 : -1
	}
	dev != md || sectors != '$((RIG_W / 512))' || sector >= 262144 { next }
	name == "block_bio_queue:" {
		n += !(sector in on)
		on[sector] = 1
		if (few && (on_flush > 0 || t < last + 0.7) && n > most)
			most = n
	}
	name == "block_bio_complete:" { n -= sector in on; delete on[sector] }
	last && n <= 4 && t > first + 0.3 { few = 1 }
	END { print most + 0 }'
}

# tracing 1|0: of bios of these two, as those of the members would push the others out. Nobody
# may write meanwhile: not every emulator bears that code changes under it.
tracing() {
	local event filter="dev == $((fs0[0] << 20 | fs0[1])) || dev == $((md[0] << 20 | md[1]))"
	for event in block_bio_queue block_bio_complete; do
		echo "$filter" >"$RIG_TRACING/events/block/$event/filter"
		rig_set "$RIG_TRACING/events/block/$event/enable" "$1"
		(($1)) || echo 0 >"$RIG_TRACING/events/block/$event/filter"
	done
	rig_set "$RIG_TRACING/events/fullstripe/enable" "$1"
}

tap_plan 42
rig_load_module
rig_preset R5 spindle
rig_target fs0 "$RIG_MD" hold_ms 3600000
read -ra fs0 < <(devno /dev/mapper/fs0)
read -ra md < <(devno "$RIG_MD")

rig_set "$RIG_TRACING/tracing_on" 0
tracing 1
# Somebody who writes whole stripes as fast as he can.
fio --name=w --filename=/dev/mapper/fs0 --direct=1 --rw=write --bs="$RIG_W" --ioengine=libaio \
	--iodepth=32 --size=128M --time_based --runtime=120 --output=/dev/null &
job=$!
until_true is_above bypassed_bytes $((8 << 20))
tap_is "$(stat throttled)" 0 "without flushes nobody waits"
for high in $(cat "$(rig_sysfs fs0)/file_high_water_bytes") 0; do
	dmsetup message fs0 0 set file_high_water_bytes "$high"
	dmsetup message fs0 0 reset_stats
	echo >"$RIG_TRACING/trace"
	rig_set "$RIG_TRACING/tracing_on" 1
	flushes 8 0.5 | xfs_io -d /dev/mapper/fs0 >/dev/null
	rig_set "$RIG_TRACING/tracing_on" 0
	waited=$(stat throttled) most=$(in_flight $((high == 0)))
	tap_diag "mark $high: $waited waited, at most $most in flight"
	tap_is "$(stat flushes)" 8 "mark $high: flushes"
	if ((high)); then
		((waited > 0))
		tap_is $? 0 "near flushes whole stripes wait"
		((most > 0 && most <= 4))
		tap_is $? 0 "and few are in flight at a time"
	else
		tap_is "$waited" 0 "without a mark nobody waits"
		((most > 4))
		tap_is $? 0 "and many are in flight"
	fi
done
kill "$job"
wait "$job" 2>/dev/null
tracing 0
rig_set "$RIG_TRACING/tracing_on" 1
rig_target_remove fs0

# Pages that are written back without anybody who waits for them.
dd if=/dev/urandom of=/run/data bs=4k count=2 status=none
rig_target fs0 "$RIG_MD" hold_ms 3600000
sleep 1.5
xfs_io -c "pwrite -q -i /run/data 1m 4k" -c "sync_range -w 1m 4k" /dev/mapper/fs0
tap_is "$(stat held_bytes) $(stat accepted_bytes) $(stat staged_bytes)" "0 4096 4096" \
	"no flush is near: what is written back is staged"
dmsetup message fs0 0 flush
dmsetup message fs0 0 reset_stats
echo >"$RIG_TRACING/trace"
tracing 1
xfs_io -c "pwrite -q 0 4k" -c fsync -c "pwrite -q -i /run/data 2m 4k" -c "sync_range -w 2m 4k" /dev/mapper/fs0
tap_is "$(stat held_bytes) $(stat accepted_bytes)" "4096 4096" "near a flush it is held, but not what fsync sends"
until_true is partial_stripes 2
tap_is $? 0 "and not for hold_ms"
tracing 0
# It came without REQ_SYNC. fsync may wait for it by now, and md shall not put it off.
tap_is "$(look 'name == "block_bio_queue:" && dev == md && sector == 4096 { print op }')" WS "md has it at once"
cmp -n 4096 <(dd if="$RIG_MD" bs=4k skip=512 count=1 iflag=direct status=none) /run/data
tap_is $? 0 "then it is below"
rig_target_remove fs0
rig_target fs0 "$RIG_MD" hold_ms 3600000 mode writethrough
xfs_io -c "pwrite -q 1m 4k" -c "sync_range -w 1m 4k" /dev/mapper/fs0 &
job=$!
until_true is held_bytes 4096
sleep 0.5
tap_is "$(stat partial_stripes)" 0 "writethrough: it is held for hold_ms"
dmsetup message fs0 0 set mode writebehind
until_true is partial_stripes 1
tap_is $? 0 "writebehind from now on: no longer"
dmsetup message fs0 0 flush
wait "$job"
rig_target_remove fs0
rig_teardown

# What it is quiet for are whole stripes themselves, and there is always one under way.
rig_preset R5 spindle
rig_target fs0 "$RIG_MD"
fio --name=w --filename=/dev/mapper/fs0 --direct=1 --sync=dsync --rw=write --bs="$RIG_W" \
	--ioengine=libaio --iodepth=16 --size=32M --time_based --runtime=120 --output=/dev/null &
job=$!
until_true is_above fua_writes 32
fua_before=$(stat fua_writes)
tap_check "who writes many with O_DSYNC lets others go on" timeout 40 \
	dd if=/dev/zero of=/dev/mapper/fs0 bs="$RIG_W" count=16 seek=400 oflag=direct conv=notrunc status=none
# He writes 16 at a time. If his took their places it would be 140 to 200 for each of theirs.
(($(stat fua_writes) - fua_before <= 16 * 90))
tap_is $? 0 "in their turn"
kill "$job"
wait "$job" 2>/dev/null
rig_target_remove fs0
rig_teardown

# Flushes that are answered at once, one after the other.
slow_lower
dmsetup create fs0 --table "0 $sectors fullstripe /dev/mapper/low 0 4 chunk_bytes 65536 data_members 4"
dd if=/dev/zero of=/dev/mapper/fs0 bs=256k count=16 oflag=direct,dsync conv=notrunc status=none
tap_is "$(stat throttled)" 0 "who writes whole stripes with O_DSYNC does not wait for himself"
yes fdatasync | xfs_io /dev/mapper/fs0 >/dev/null &
loop=$!
# The longest that somebody else waited within three seconds, in ms. Of three tries the one in the
# middle: the machine may have waited itself, and also who flushes.
waits=$(python3 -c '
import mmap, os, time
fd = os.open("/dev/mapper/fs0", os.O_RDWR | os.O_DIRECT)
data = mmap.mmap(-1, 262144)
def longest():
    most = 0
    end = time.monotonic() + 3
    while (begun := time.monotonic()) < end:
        os.pwritev(fd, [data], 1 << 20)
        most = max(most, time.monotonic() - begun)
    return int(most * 1000)
print(*sorted(longest() for i in range(3)))')
read -r _ middle _ <<<"$waits"
tap_diag "$waits ms"
((middle < 400))
tap_is $? 0 "however many there are, others go on"
kill "$loop"
wait "$loop" 2>/dev/null
rig_target_remove fs0
rig_teardown

# A flush that what is below does not answer.
slow_lower
dmsetup create fs0 --table "0 $sectors fullstripe /dev/mapper/low 0 6 chunk_bytes 65536 data_members 4 hold_ms 3600000"
dmsetup suspend --noflush --nolockfs slow
dd if=/dev/zero of=/dev/mapper/fs0 bs=4k count=1 oflag=direct conv=fsync,notrunc status=none &
flush=$!
until_true is flushes 1
tap_is $? 0 "a flush is under way"
dd if=/dev/zero of=/dev/mapper/fs0 bs=256k count=1 seek=4 oflag=direct conv=notrunc status=none &
job=$!
until_true is bypassed_bytes 262144
tap_is $? 0 "and is not answered: others go on"
dmsetup resume slow
tap_check "both end" wait "$flush" "$job"
tap_is "$(stat held_files) $(stat dirty_files)" "0 0" "and nothing is left"

# A whole stripe that comes while a flush is under way has to wait, though nothing is in flight. It is
# quiet for 200 ms only, so it may take more than one try to be within.
waited=$(stat throttled)
python3 - "$(rig_sysfs fs0)/stats" <<'PYTHON'
import mmap, os, subprocess, sys, threading, time
fd = os.open("/dev/mapper/fs0", os.O_RDWR | os.O_DIRECT)
data = mmap.mmap(-1, 262144)
def number(name):
    with open(f"{sys.argv[1]}/{name}") as f:
        return int(f.read())
before = number("throttled")
for i in range(20):
    subprocess.run(["dmsetup", "suspend", "--noflush", "--nolockfs", "slow"], check=True)
    flushes = number("flushes")
    threads = [threading.Thread(target=os.fsync, args=(fd,)), threading.Thread(target=os.pwritev, args=(fd, [data], 1 << 20))]
    threads[0].start()
    while number("flushes") == flushes:
        pass
    threads[1].start()
    subprocess.run(["dmsetup", "resume", "slow"], check=True)
    for thread in threads:
        thread.join()
    if number("throttled") > before:
        break
    time.sleep(0.5)
PYTHON
(($(stat throttled) > waited))
tap_is $? 0 "while a flush is under way none begins"
rig_target_remove fs0

# A flush is under way. Of the whole stripes of a process four are in flight, the others wait; what it writes
# with FUA does not, but for the mark: and then it goes on first.
dmsetup create fs0 --table "0 $sectors fullstripe /dev/mapper/low 0 6 chunk_bytes 65536 data_members 4 hold_ms 3600000"
stage
hung_flush
coproc WRITER { exec python3 -c '
import mmap, os, sys, threading
fd = os.open("/dev/mapper/fs0", os.O_RDWR | os.O_DIRECT)
data = mmap.mmap(-1, 262144)
threads = []
def write(length, at, flags):
    thread = threading.Thread(target=os.pwritev, args=(fd, [memoryview(data)[:length]], at, flags))
    thread.start()
    threads.append(thread)
for i in range(8):
    write(262144, 262144 * i, 0)
for line in sys.stdin:
    write(4096, int(line), os.RWF_DSYNC)
for thread in threads:
    thread.join()
'; }
writer=$WRITER_PID to_writer=${WRITER[1]}
until_true is_above throttled 3 && until_true is bypassed_bytes $((4 * 262144)) && stays is bypassed_bytes $((4 * 262144))
tap_is $? 0 "whole stripes of a process wait"
# All eight, if it was still quiet when they came.
waited=$(stat throttled)
echo $((32 << 20)) >&"$to_writer"
until_true is bypassed_bytes $((4 * 262144 + 4096)) && is throttled "$waited"
tap_is $? 0 "what it writes with FUA does not"
dmsetup message fs0 0 set file_high_water_bytes 524288
echo >"$RIG_TRACING/trace"
rig_set "$RIG_TRACING/events/fullstripe/enable" 1
echo $((33 << 20)) >&"$to_writer"
until_true is throttled $((waited + 1))
tap_is $? 0 "but at its mark"
exec {to_writer}>&-
dmsetup resume slow
tap_check "all end" wait "$hung" "$writer"
rig_set "$RIG_TRACING/events/fullstripe/enable" 0
tap_is "$(grep 'fullstripe_unpark: ' "$RIG_TRACING/trace" | head -n 1 | grep -c " $((33 << 11)) ")" 1 "and it goes on first"
tap_is "$(stat held_files) $(stat dirty_files)" "0 0" "nothing is left"
rig_target_remove fs0

# One more writes whole stripes than may be in flight, while a flush is under way that takes long. Each comes
# again as soon as he can.
modprobe dm-delay
split=$((50 << 11))
slow_table "0 $split delay $lower 0 0 $lower 0 20
$split $((sectors - split)) delay $lower $split 0 $lower $split 3000"
dmsetup create fs0 --table "0 $sectors fullstripe /dev/mapper/low 0 6 chunk_bytes 65536 data_members 4 hold_ms 3600000"
stage
written=$(python3 -c '
import mmap, os, threading, time
fd = os.open("/dev/mapper/fs0", os.O_RDWR | os.O_DIRECT)
data = mmap.mmap(-1, 262144)
flush = threading.Thread(target=os.fsync, args=(fd,))
flush.start()
# It is quiet for 200 ms at most.
time.sleep(0.3)
end = time.monotonic() + 1.5
for writer in range(5):
    if not os.fork():
        n = 0
        while time.monotonic() < end:
            os.pwritev(fd, [data], writer << 18)
            n += 1
        os._exit(n)
print(*sorted(os.waitstatus_to_exitcode(os.wait()[1]) for writer in range(5)))
print(int(flush.is_alive()))')
tap_diag "$written"
read -r least _ _ _ most under_way <<<"${written//$'\n'/ }"
((under_way && least * 2 >= most))
tap_is $? 0 "each of five has his turn"
rig_target_remove fs0
slow_table "0 $sectors linear $lower 0"

# A process has as much staged as it may, in partial stripes that somebody has to ask for. What it writes with FUA
# waits for them, and they must not stand back for it: that would be for 200 ms.
dmsetup create fs0 --table "0 $sectors fullstripe /dev/mapper/low 0 8 chunk_bytes 65536 data_members 4 hold_ms 3600000 file_high_water_bytes 524288"
best=$(python3 -c '
import mmap, os, subprocess, time
fd = os.open("/dev/mapper/fs0", os.O_RDWR | os.O_DIRECT)
data = mmap.mmap(-1, 4096)
took = []
for i in range(5):
    for stripe in range(128):
        os.pwritev(fd, [data], stripe << 18)
    begun = time.monotonic()
    os.pwritev(fd, [data], 200 << 18, os.RWF_DSYNC)
    took.append(int((time.monotonic() - begun) * 1000))
    subprocess.run(["dmsetup", "message", "fs0", "0", "flush"], check=True)
    # Until it may be quiet again.
    time.sleep(1)
print(min(took))')
tap_diag "$best ms"
tap_is "$(stat throttled)" 5 "what is written with FUA waits for its mark"
((best < 100))
tap_is $? 0 "and not for the quiet that it would begin"
rig_target_remove fs0

# More whole stripes with FUA are under way than may be of others: these have places of their own.
dmsetup create fs0 --table "0 $sectors fullstripe /dev/mapper/low 0 6 chunk_bytes 65536 data_members 4 hold_ms 3600000"
dmsetup suspend --noflush --nolockfs slow
pids=()
for i in 0 1 2 3 4; do
	dd if=/dev/zero of=/dev/mapper/fs0 bs=256k count=1 seek="$i" oflag=direct,dsync conv=notrunc status=none &
	pids+=($!)
done
until_true is_under_way 5
dd if=/dev/zero of=/dev/mapper/fs0 bs=256k count=1 seek=100 oflag=direct conv=notrunc status=none &
pids+=($!)
until_true is_under_way 6
tap_is $? 0 "what it is quiet for takes no place of what stands back"
dmsetup resume slow
wait "${pids[@]}"
rig_target_remove fs0

# Only one stripe of this size is in flight at a time, and a flush waits for that.
dmsetup create fs0 --table "0 $sectors fullstripe /dev/mapper/low 0 6 chunk_bytes 524288 data_members 4 hold_ms 3600000"
stage
hung_flush
until_true is_under_way 1
tap_is $? 0 "as much is in flight as may be"
xfs_io -c "pwrite -q 8m 4k" -c "sync_range -w 8m 4k" /dev/mapper/fs0 &
job=$!
until_true is_under_way 2 && is held_bytes 4096
tap_is $? 0 "a page that is written back gets its turn"
dmsetup resume slow
wait "$hung" "$job"
rig_target_remove fs0

# What is held for a moment and what a flush waits for, more than can be in flight: 12 stripes, and one.
dmsetup create fs0 --table "0 $sectors fullstripe /dev/mapper/low 0 8 chunk_bytes 65536 data_members 4 hold_ms 3600000 seek_bytes 0"
stage
hung_flush
pids=("$hung")
for i in 0 1 2 3 4 5; do
	xfs_io -c "pwrite -q $((i << 20)) 4k" -c "sync_range -w $((i << 20)) 4k" /dev/mapper/fs0 &
	pids+=($!)
done
until_true is_under_way 5 && stays is_under_way 5
tap_is $? 0 "near a flush four are held for a moment and written"
xfs_io -c "pwrite -q 6m 4k" -c "sync_range -w 6m 4k" /dev/mapper/fs0 &
pids+=($!)
blocks 20 39 | xfs_io -d /dev/mapper/fs0 >/dev/null
until_true is held_bytes 28672
tap_is $? 0 "others are held, however long the flush takes"
dmsetup message fs0 0 flush &
pids+=($!)
until_true is_under_way 13 && stays is_under_way 13
tap_is $? 0 "with what a flush waits for, no more than may be and one are written"
dmsetup resume slow
wait "${pids[@]}"
rig_target_remove fs0

# Soon after a flush whole stripes are held for a moment, in two halves each, and then a page: that is what fsync
# may come to wait for. One is in flight at a time: after the first stripe the page, and not the second. It may
# take more than one try for all to come in time.
dmsetup create fs0 --table "0 $sectors fullstripe /dev/mapper/low 0 8 chunk_bytes 65536 data_members 4 hold_ms 3600000 cluster_bytes 4194304"
read -ra fs0 < <(devno /dev/mapper/fs0)
read -ra md < <(devno /dev/mapper/low)
rig_set "$RIG_TRACING/events/fullstripe/enable" 0
tracing 1
page=$((40 << 11))
for ((try = 0; try < 20; try++)); do
	# What an earlier one staged.
	dmsetup message fs0 0 flush
	dmsetup message fs0 0 reset_stats
	echo >"$RIG_TRACING/trace"
	# By one process and without dmsetup: by the time a slow kernel has started a program no flush is expected any
	# more. A flush would hang in what is suspended.
	python3 - "$(rig_sysfs fs0)/stats/held_bytes" <<'PYTHON'
import ctypes, fcntl, os, struct, sys, time
DM_DEV_SUSPEND = 0xc138fd06
DM_SUSPEND_FLAG, DM_SKIP_LOCKFS_FLAG, DM_NOFLUSH_FLAG = 1 << 1, 1 << 10, 1 << 11

def suspend(flags):
    fcntl.ioctl(control, DM_DEV_SUSPEND, struct.pack("3I 7I Q 128s 136x", 4, 0, 0, 312, 312, 0, 0, flags, 0, 0, 0, b"slow"))

control = os.open("/dev/mapper/control", os.O_RDWR)
fd = os.open("/dev/mapper/fs0", os.O_RDWR)
libc = ctypes.CDLL(None)
parts = [(i << 17, 1 << 17) for i in range(4)] + [(40 << 20, 4096)]
os.fsync(fd)
suspend(DM_SUSPEND_FLAG | DM_SKIP_LOCKFS_FLAG | DM_NOFLUSH_FLAG)
# It is quiet for 200 ms at most.
time.sleep(0.3)
for at, length in parts:
    os.pwrite(fd, bytes(length), at)
for at, length in parts:
    libc.sync_file_range(fd, ctypes.c_longlong(at), ctypes.c_longlong(length), 2)
end = time.monotonic() + 2
while int(open(sys.argv[1]).read()) < 516 << 10 and time.monotonic() < end:
    pass
suspend(0)
PYTHON
	# Where the second stripe begins, and the page, in the order in which they are written.
	order=$(look 'name == "block_bio_queue:" && dev == md && (sector == 512 || sector == '$page') { print sector }' |
		uniq | paste -sd ' ')
	[[ $order != "$page 512" ]] || break
done
tap_is "$order" "$page 512" "of what was held for a moment a page is written before whole stripes"
tracing 0
rig_target_remove fs0

# Whole stripes that wait for memory are not in flight.
dmsetup create fs0 --table "0 $sectors fullstripe /dev/mapper/low 0 8 chunk_bytes 65536 data_members 4 hold_ms 3600000 high_water_bytes 1048576"
for i in 0 1 2 3; do
	echo "pwrite -q $((i << 18)) 4k"
done | xfs_io -d /dev/mapper/fs0 >/dev/null
dmsetup suspend --noflush --nolockfs slow
dd if=/dev/zero of=/dev/mapper/fs0 bs=64k count=20 seek=160 oflag=direct conv=notrunc status=none &
pids=($!)
until_true is parked 1
hung_flush
pids+=("$hung")
for i in 0 1 2 3; do
	dd if=/dev/zero of=/dev/mapper/fs0 bs=256k count=1 seek="$i" oflag=direct conv=notrunc status=none &
	pids+=($!)
done
until_true is parked 5
tap_is $? 0 "whole stripes wait for memory"
dd if=/dev/zero of=/dev/mapper/fs0 bs=256k count=1 seek=100 oflag=direct conv=notrunc status=none &
pids+=($!)
until_true is bypassed_bytes 262144
tap_is $? 0 "another one does not wait for them"
dmsetup resume slow
wait "${pids[@]}"
rig_target_remove fs0

# Near a flush, and much is staged that cannot be written.
dmsetup create fs0 --table "0 $sectors fullstripe /dev/mapper/low 0 8 chunk_bytes 65536 data_members 4 high_water_bytes 8388608 low_water_bytes 1048576"
dmsetup suspend --noflush --nolockfs slow
dd if=/dev/zero of=/dev/mapper/fs0 bs=128k count=16 oflag=direct conv=notrunc status=none
dd if=/dev/zero of=/dev/mapper/fs0 bs=4k count=1 oflag=direct conv=fsync,notrunc status=none &
flush=$!
until_true is flushes 1
accepted=$(stat accepted_bytes)
xfs_io -c "pwrite -q 20m 4k" -c "sync_range -w 20m 4k" /dev/mapper/fs0
tap_is "$(stat held_bytes) $(($(stat accepted_bytes) - accepted)) $(stat bypassed_bytes)" "0 4096 0" \
	"above the low water mark nothing is held for a moment"
dmsetup resume slow
wait "$flush"
rig_target_remove fs0
rig_teardown
tap_done

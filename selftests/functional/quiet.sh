#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Flushes: what others write stands back before them, and is not what they wait for.
. "${BASH_SOURCE[0]%/*}/common.sh"

# flushes N SECONDS: a small write and fsync, again and again, with so long a pause.
flushes() {
	local i
	for ((i = 0; i < $1; i++)); do
		dd if=/dev/zero of=/dev/mapper/fs0 bs=4k count=1 seek=$((40000 + 100 * i)) \
			oflag=direct conv=fsync,notrunc status=none
		sleep "$2"
	done
}

# devno NODE: MAJOR MINOR.
devno() {
	lsblk -dno MAJ:MIN "$1" | tr -d ' ' | tr : ' '
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

# Writes of files that go on while a flush is under way: it is quiet for 100 ms.
going_on() {
	look '
	name == "block_bio_queue:" && dev == fs0 && op ~ /^F/ { since = t }
	name == "block_bio_complete:" && dev == fs0 && op ~ /^F/ { since = 0 }
	name == "fullstripe_unpark:" && since && t < since + 0.08 { n++ }
	END { print n + 0 }'
}

# The most whole stripes that were in flight at a time when one more came near a flush.
in_flight() {
	look '
	dev == fs0 && op ~ /^F/ {
		if (!first || t > last + 0.9)
			first = t
		last = t
	}
	dev != md || sectors != '$((RIG_W / 512))' { next }
	name == "block_bio_queue:" {
		n += !(sector in on)
		on[sector] = 1
		if (first && t > first + 0.3 && t < last + 0.9 && n > most)
			most = n
	}
	name == "block_bio_complete:" { n -= sector in on; delete on[sector] }
	END { print most + 0 }'
}

# is_above STATISTIC NUMBER: whether it is.
is_above() {
	(($(stat "$1") > $2))
}

# tracing 1|0: of bios of these two, as those of the members would push the others out. Nobody
# may write meanwhile: the emulator does not always bear that code changes under it.
tracing() {
	local event filter="dev == $((fs0[0] << 20 | fs0[1])) || dev == $((md[0] << 20 | md[1]))"
	for event in block_bio_queue block_bio_complete; do
		echo "$filter" >"$RIG_TRACING/events/block/$event/filter"
		rig_set "$RIG_TRACING/events/block/$event/enable" "$1"
		(($1)) || echo 0 >"$RIG_TRACING/events/block/$event/filter"
	done
	rig_set "$RIG_TRACING/events/fullstripe/enable" "$1"
}

tap_plan 23
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
	flushes 8 0.5
	rig_set "$RIG_TRACING/tracing_on" 0
	waited=$(stat throttled) most=$(in_flight) going=$(going_on)
	tap_diag "mark $high: $waited waited, at most $most in flight, $going went on before flushes"
	tap_is "$(stat flushes)" 8 "mark $high: flushes"
	if ((high)); then
		((waited > 100))
		tap_is $? 0 "near flushes whole stripes wait"
		((most > 0 && most <= 4))
		tap_is $? 0 "and few are in flight at a time"
		# One that was about to.
		((going <= 8))
		tap_is $? 0 "while a flush is under way none goes on"
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
xfs_io -c "pwrite -q 0 4k" -c fsync -c "pwrite -q -i /run/data 2m 4k" -c "sync_range -w 2m 4k" /dev/mapper/fs0
tap_is "$(stat held_bytes) $(stat accepted_bytes)" "4096 4096" "near a flush it is held, but not what fsync sends"
until_true is partial_stripes 2
tap_is $? 0 "and not for hold_ms"
cmp -n 4096 <(dd if="$RIG_MD" bs=4k skip=512 count=1 iflag=direct status=none) /run/data
tap_is $? 0 "then it is below"
rig_target_remove fs0
rig_target fs0 "$RIG_MD" hold_ms 3600000 mode writethrough
xfs_io -c "pwrite -q 1m 4k" -c "sync_range -w 1m 4k" /dev/mapper/fs0 &
job=$!
until_true is held_bytes 4096
sleep 0.5
tap_is "$(stat partial_stripes)" 0 "writethrough: it is held for hold_ms"
dmsetup message fs0 0 flush
wait "$job"
rig_target_remove fs0
rig_teardown

# Whole stripes that are staged, as many as can be, and a page that nobody waits for; near
# flushes. Only one stripe of this size is in flight at a time.
rig_preset R5 spindle
rig_target fs0 "$RIG_MD" chunk_bytes 524288 data_members 4 hold_ms 3600000 \
	file_high_water_bytes 16777216 file_low_water_bytes 8388608
fio --name=w --filename=/dev/mapper/fs0 --direct=1 --rw=write --bs=1M --ioengine=libaio \
	--iodepth=16 --size=128M --time_based --runtime=120 --output=/dev/null &
job=$!
flushes 1000 0.1 &
loop=$!
until_true is flushes 2
tap_check "a page that is written back gets its turn" timeout 10 \
	xfs_io -c "pwrite -q 150m 4k" -c "sync_range -w 150m 4k" -c "sync_range -a 150m 4k" /dev/mapper/fs0
(($(stat held_bytes)))
tap_is $? 0 "it was held"
kill "$job" "$loop"
wait "$job" "$loop" 2>/dev/null
rig_target_remove fs0
rig_teardown

# What it is quiet for are whole stripes themselves, and there is always one under way.
rig_preset R5 spindle
rig_target fs0 "$RIG_MD"
fio --name=w --filename=/dev/mapper/fs0 --direct=1 --sync=dsync --rw=write --bs="$RIG_W" \
	--ioengine=libaio --iodepth=16 --size=32M --time_based --runtime=120 --output=/dev/null &
job=$!
until_true is_above fua_writes 32
tap_check "who writes many with O_DSYNC lets others go on" timeout 20 \
	dd if=/dev/zero of=/dev/mapper/fs0 bs="$RIG_W" count=16 seek=400 oflag=direct conv=notrunc status=none
kill "$job"
wait "$job" 2>/dev/null
rig_target_remove fs0
rig_teardown

# Flushes that are answered at once, one after the other.
slow_lower
dmsetup create fs0 --table "0 $sectors fullstripe /dev/mapper/low 0 4 chunk_bytes 65536 data_members 4"
dd if=/dev/zero of=/dev/mapper/fs0 bs=256k count=16 oflag=direct,dsync conv=notrunc status=none
tap_is "$(stat throttled)" 0 "who writes whole stripes with O_DSYNC does not wait for himself"
fio --name=w --filename=/dev/mapper/fs0 --direct=1 --rw=write --bs=256k --ioengine=libaio \
	--iodepth=4 --size=32M --time_based --runtime=60 --output=/dev/null &
job=$!
yes fdatasync | xfs_io /dev/mapper/fs0 >/dev/null &
loop=$!
until_true is_above bypassed_bytes $((8 << 20))
sleep 2
dmsetup message fs0 0 reset_stats
until_true is_above bypassed_bytes $((8 << 20))
tap_is $? 0 "however many there are, others go on"
kill "$job" "$loop"
wait "$job" "$loop" 2>/dev/null
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

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# In writethrough who writes waits for what others may add to his stripe; but not if nobody does, time after time.
. "${BASH_SOURCE[0]%/*}/common.sh"

IDLE_MS=400	# a fifth of hold_ms: then nothing is held any more

set_idle_ms() {
	dmsetup message fs0 0 set hold_ms $((5 * $1))
}

# put OFFSET BYTES: write it below, with a byte that hangs on where it is, and where it is compared.
put() {
	local write="pwrite -q -b $2 -S $(($1 / 8192 + 1)) $1 $2"
	xfs_io -d -c "$write" /dev/mapper/fs0
	xfs_io -c "$write" /run/data
}

# ms_of FIRST COUNT: how long it takes to write so many blocks from that one on, one at a time.
ms_of() {
	local begin i
	for ((i = $1; i < $1 + $2; i++)); do
		echo "pwrite -q -S $((i + 1)) $((i * 8192)) 4k"
	done >/run/writes
	begin=${EPOCHREALTIME/./}
	xfs_io -d /dev/mapper/fs0 </run/writes >/dev/null
	echo $(((${EPOCHREALTIME/./} - begin) / 1000))
	xfs_io /run/data </run/writes >/dev/null
}

# is_one_held BLOCK: whether it waits for as long as one lets it.
is_one_held() {
	local partial held job rc
	partial=$(stat partial_stripes)
	held=$(stat held_bytes)
	set_idle_ms 720000
	put $(($1 * 8192)) 4096 &
	job=$!
	until_true is held_bytes $((held + 4096))
	sleep 0.5
	[[ $(stat partial_stripes) == "$partial" ]]
	rc=$?
	set_idle_ms $IDLE_MS
	wait "$job"
	return "$rc"
}

# join KIB: write the stripe from there on, the first half, and while that is held the second.
join() {
	local held job
	held=$(stat held_bytes)
	set_idle_ms 720000
	put $(($1 * 1024)) $((RIG_W / 2)) &
	job=$!
	until_true is held_bytes $((held + RIG_W / 2))
	put $(($1 * 1024 + RIG_W / 2)) $((RIG_W / 2))
	wait "$job"
}

tap_plan 13
rig_load_module
rig_preset R5 spindle
dd if=/dev/urandom of=/run/data bs=1M count=3 status=none
dd if=/run/data of="$RIG_MD" bs=1M oflag=direct status=none
rig_target fs0 "$RIG_MD" mode writethrough
set_idle_ms $IDLE_MS

held=$(ms_of 0 16)
((held >= 16 * IDLE_MS / 2))
tap_is $? 0 "one block at a time is held"
passed=$(ms_of 16 64)
((passed < held))
tap_is $? 0 "but when nobody joined any of sixteen, not the next 64"
tap_diag "$held ms for 16, $passed ms for 64"
is_one_held 80
tap_is $? 0 "then it looks whether somebody does"
passed=$(ms_of 81 32)
((passed < held))
tap_is $? 0 "and not again when nobody did"
tap_diag "$passed ms for 32"

dmsetup message fs0 0 reset_stats
fio --name=w --filename=/dev/mapper/fs0 --rw=write --bs=4k --size=256k --offset=2m --direct=1 --ioengine=libaio --iodepth=16 \
	--output=/dev/null
(($(stat partial_stripes) + $(stat whole_stripes) < 16))
tap_is $? 0 "of sixteen blocks at a time those join that come while one is written"
is_one_held 128
tap_is $? 0 "from then on one block is held, too"

join 2304
set_idle_ms 20
ms_of 129 15 >/dev/null
join 2560
set_idle_ms 20
ms_of 144 1 >/dev/null
is_one_held 145
tap_is $? 0 "a stripe of two writes was not held in vain"

dmsetup message fs0 0 flush
rig_target_remove fs0
cmp <(head -c 2M "$RIG_MD") <(head -c 2M /run/data) && cmp -i $((2304 * 1024)) -n $((512 * 1024)) "$RIG_MD" /run/data
tap_is $? 0 "all of it is below"
rig_teardown

# What is staged already is a copy; what is written to it now must not be told to be below before it is.
slow_lower
rig_target fs0 /dev/mapper/low chunk_bytes 65536 data_members 4 hold_ms 3600000
# And it is written: more than can be under way at a time, so that the last one waits for its turn.
blocks 0 29 -S 1 | xfs_io -d /dev/mapper/fs0 >/dev/null
dmsetup suspend --noflush --nolockfs slow
dmsetup message fs0 0 set mode writethrough
xfs_io -d -c "pwrite -q -S 2 $(((29 << 20) + 4096)) 4k" /dev/mapper/fs0 &
job=$!
until_true is accepted_bytes $((31 * 4096)) && stays kill -0 "$job"
waits=$?
dmsetup resume slow
tap_is "$waits" 0 "writethrough from now on: who writes to a stripe that is staged waits"
wait "$job"
tap_is $? 0 "and succeeds"
tap_is "$(dd if="$lower" bs=4k count=1 skip=$(((29 << 8) + 1)) iflag=direct status=none | tr -d '\2' | wc -c)" 0 "with what he wrote below"
tap_check "all that was staged is written, long before hold_ms, and with no flush" until_true is staged_bytes 0

# Also what came after pages that the kernel wrote back just when somebody flushed, which are held for hold_ms now.
dmsetup message fs0 0 set mode writebehind
xfs_io -d -c "pwrite -q 0 4k" /dev/mapper/fs0
dmsetup suspend --noflush --nolockfs slow
dmsetup message fs0 0 reset_stats
exec 3</dev/mapper/fs0	# who closes it last waits for such pages
fsync &
job=$!
until_true is flushes 1
# More than can be under way at a time.
{ blocks 1 30; echo "sync_range -w 0 31m"; } | xfs_io /dev/mapper/fs0 >/dev/null
until_true is held_bytes $((30 * 4096)) || tap_diag "$(stat held_bytes) bytes are held"
xfs_io -d -c "pwrite -q 31m 4k" /dev/mapper/fs0
dmsetup message fs0 0 set mode writethrough
dmsetup resume slow
wait "$job"
until_true is staged_bytes 0
written=$?
dmsetup message fs0 0 flush
exec 3<&-
tap_is "$written" 0 "so it is behind what is held"
tap_done

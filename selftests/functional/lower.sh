#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What is below fails in a place, or goes away for good: what was accepted stays
# readable, nobody hangs, and nobody is told that it is safe.
. "${BASH_SOURCE[0]%/*}/common.sh"

# put BLOCK COUNT, sum DEV BLOCK COUNT: in blocks of 4 KiB.
put() {
	dd if=/dev/urandom of=/dev/mapper/fs0 bs=4k seek="$1" count="$2" oflag=direct conv=notrunc status=none
}

sum() {
	dd if="$1" bs=4k skip="$2" count="$3" iflag=direct status=none 2>/dev/null | md5sum
}

# thinly BLOCK, sums DEV BLOCK: write, or read, every other block of a stripe.
thinly() {
	local i
	for ((i = $1; i < $1 + 64; i += 2)); do
		put "$i" 1
	done
}

sums() {
	local i
	for ((i = $2; i < $2 + 64; i += 2)); do
		sum "$1" "$i" 1
	done | md5sum
}

# are_events NUMBER: so many were there.
are_events() {
	[[ $(events) == "$1" ]]
}

# Stripes of 256 KiB = 64 blocks; nothing is written before somebody asks for it.
target() {
	rig_target fs0 "$1" chunk_bytes 65536 data_members 4 hold_ms 3600000
	stats=$(rig_sysfs fs0)/stats
}

tap_plan 60
CTL=$RIG_TOP/build/daemon/fullstripectl
rig_load_module

rig_members 1 64 ram
bad=/sys/kernel/config/nullb/nullb0/badblocks
target "${RIG_MEMBERS[0]}"
put 3 20	# stripe 0
put 323 20	# stripe 5
first=$(sum /dev/mapper/fs0 3 20) fifth=$(sum /dev/mapper/fs0 323 20)
echo +80-87 >"$bad"	# block 10
fsync
tap_is $? 1 "a bad block: a flush fails"
tap_is "$(target_state), $(<"$stats/failing_stripes")" "failing, 1" "its stripe alone is failing"
tap_is "$(sum "${RIG_MEMBERS[0]}" 323 20)" "$fifth" "the other is below"
tap_is "$(sum /dev/mapper/fs0 3 20)" "$first" "what could not be written is readable"
tap_check "it is one event" until_true are_events 1
fsync
fsync
tap_is "$?, $(stays are_events 1; echo $?)" "1, 0" "and stays one while flushes fail"
put 1280 1
tap_is "$(sum /dev/mapper/fs0 1280 1)" "$(sum "${RIG_MEMBERS[0]}" 1280 1)" "a write elsewhere is below at once"
echo -80-87 >"$bad"
dmsetup message fs0 0 retry
tap_check "after the repair a flush succeeds" fsync
tap_is "$(target_state), $(<"$stats/failing_stripes")" "ok, 0" "nothing is failing"
tap_is "$(sum "${RIG_MEMBERS[0]}" 3 20)" "$first" "what had failed is below"

# Nobody asks for what a read would find there: it must not be in the way.
echo +5288-5295 >"$bad"	# block 661
dd if=/dev/mapper/fs0 of=/dev/null bs=4k skip=661 count=1 iflag=direct status=none 2>/dev/null
tap_is $? 1 "a bad block that is read is an error"
# So thinly staged that its holes are read to write it whole, where they can be.
thinly 704
fsync
filled=$(<"$stats/filled_stripes")
((filled))
tap_is $? 0 "a stripe that is thinly staged is filled"
thinly 640
staged=$(sums /dev/mapper/fs0 640)
tap_check "what is staged beside a bad block can be written" fsync
tap_is "$(target_state), $(<"$stats/filled_stripes")" "ok, $filled" "it is not filled, and nothing is failing"
tap_is "$(sums "${RIG_MEMBERS[0]}" 640)" "$staged" "it is below"
put 661 1
dd if=/dev/mapper/fs0 of=/dev/null bs=4k skip=661 count=1 iflag=direct status=none 2>/dev/null
tap_is $? 0 "what is staged over a bad block can be read"
fsync
tap_is "$?, $(target_state)" "1, failing" "but not flushed"
echo -5288-5295 >"$bad"
tap_check "a flush alone tries again" fsync
tap_is "$(target_state)" ok "and brings it back"
tap_check "the target can be removed" rig_target_remove fs0
rig_teardown

# What a suspend writes is to last, also beside what cannot be written: there is a cache below.
rig_members 1 64 ram 512 16
target "${RIG_MEMBERS[0]}"
put 3 20	# stripe 0
put 323 20	# stripe 5
echo +80-87 >"$bad"	# block 10
rig_count_begin
dmsetup suspend --noflush --nolockfs fs0
rig_count_end
tap_is "$(target_state), $RIG_FLUSHES" "failing, 1" "a suspend that cannot write one stripe flushes the others"
echo -80-87 >"$bad"
dmsetup resume fs0
tap_check "and after the repair a flush succeeds" fsync
rig_target_remove fs0
rig_teardown

# Two stripes are refused, one after the other, while the memory is full of others, which the
# device below has only to finish: stripe 0 is in the device "slow", 1 in "second".
rig_members 1 64 ram
lower=${RIG_MEMBERS[0]}
dmsetup create slow --table "0 512 linear $lower 0"
dmsetup create second --table "0 512 linear $lower 512"
dmsetup create others --table "0 $((64 * 2048 - 1024)) linear $lower 1024"
dmsetup create low <<-TABLE
	0 512 linear /dev/mapper/slow 0
	512 512 linear /dev/mapper/second 0
	1024 $((64 * 2048 - 1024)) linear /dev/mapper/others 0
TABLE
rig_target fs0 /dev/mapper/low chunk_bytes 65536 data_members 4 hold_ms 1 seek_bytes 0 \
	high_water_bytes 4194304 low_water_bytes 2097152 file_high_water_bytes 0
stats=$(rig_sysfs fs0)/stats
for name in slow second others; do
	dmsetup suspend --nolockfs $name
done
for ((i = 0; i < 16; i++)); do
	put $((i * 64)) 63
done
put 1024 16
tap_is "$(<"$stats/staged_bytes")" 4194304 "a part fails: all of the memory is in use"
writers=()
# Of what is on its way, and of what is not.
for i in 639 1040; do
	put $i 1 &
	writers+=($!)
	until_true is parked ${#writers[@]}
done
refused=()
for i in 63 127; do
	put $i 1 2>/dev/null &
	refused+=($!)
	until_true is parked $((${#writers[@]} + ${#refused[@]}))
done
slow_table "0 512 error"
until_true is failing_stripes 1
tap_is $? 0 "a part fails: and one stripe is refused"
tap_check "a part fails: who waits for that is told" eventually $((10 * ${TIME_SCALE:-1})) is_gone "${refused[0]}"
slow_table "0 512 error" second
until_true is failing_stripes 2
tap_is $? 0 "a part fails: and another one later"
tap_check "a part fails: and who waits for that" eventually $((10 * ${TIME_SCALE:-1})) is_gone "${refused[1]}"
put 1280 1 &
writers+=($!)
until_true is bypassed_bytes 4096
tap_is $? 0 "a part fails: what is not staged needs no memory"
dmsetup resume others
failed=0
for writer in "${writers[@]}"; do
	wait "$writer" || ((++failed))
done
tap_is "$failed" 0 "a part fails: writes to other stripes wait, and succeed"
for i in 0 1; do
	wait "${refused[i]}"
	tap_is $? 1 "a part fails: the one to stripe $i is an error"
done
staged=$(sum /dev/mapper/fs0 64 63)$(sum /dev/mapper/fs0 128 1153)
slow_table "0 512 linear $lower 0"
slow_table "0 512 linear $lower 512" second
tap_check "a part fails: after the repair a flush succeeds" fsync
tap_is "$(sum "$lower" 64 63)$(sum "$lower" 128 1153)" "$staged" "a part fails: and all is below"
tap_check "a part fails: the target can be removed" rig_target_remove fs0
rig_teardown

# gone NAME NODE COMMAND: the device right below goes away by COMMAND.
gone() {
	local name=$1 below=$2 kept
	target "$below"
	put 3 20
	kept=$(sum /dev/mapper/fs0 3 20)
	eval "$3"
	fsync
	tap_is $? 1 "$name: a flush fails"
	tap_is "$(target_state), $(until_true are_events 1; echo $?)" "failing, 0" "$name: the state says so, and one event"
	tap_is "$(sum /dev/mapper/fs0 3 20)" "$kept" "$name: what is staged is readable"
	put 640 1 2>/dev/null
	tap_is $? 1 "$name: no more is accepted"
	dmesg -C
	tap_check "$name: the target can be removed" timeout 120 dmsetup remove --retry fs0
	tap_is "$(dmesg | grep -c 'are lost')" 1 "$name: what is lost is said"
}

rig_members 1 64 ram
gone "power off" "${RIG_MEMBERS[0]}" "echo 0 >/sys/kernel/config/nullb/nullb0/power"
rig_teardown

# There is no udev to load the disk driver, and it looks for disks in its own time.
modprobe sd_mod
modprobe scsi_debug dev_size_mb=64 max_luns=1
until compgen -G '/sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*:*/block/sd*' >/dev/null; do
	sleep 0.1
done
disk=/sys/block/$(basename /sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*:*/block/sd*)
gone "disk deleted" "/dev/${disk##*/}" "echo 1 >$disk/device/delete"
rmmod scsi_debug

# An array that lost more than it can: md gives up, in its own time.
rig_preset R5 ram
target "$RIG_MD"
put 3 20
kept=$(sum /dev/mapper/fs0 3 20)
echo 0 >/sys/kernel/config/nullb/nullb0/power
tap_check "array: one member gone is no error" fsync
tap_is "$(sum "$RIG_MD" 3 20)" "$kept" "array: what was staged is there"
put 3 20
kept=$(sum /dev/mapper/fs0 3 20)
echo 0 >/sys/kernel/config/nullb/nullb1/power
fsync
tap_is $? 1 "array: two members gone: a flush fails"
tap_is "$(target_state)" failing "array: the state says so"
tap_is "$(sum /dev/mapper/fs0 3 20)" "$kept" "array: what is staged is readable"
tap_check "array: suspend ends" timeout 120 dmsetup suspend fs0
tap_check "array: resume too" timeout 120 dmsetup resume fs0
tap_is "$(sum /dev/mapper/fs0 3 20)" "$kept" "array: it is still readable"
dmesg -C
said=$("$CTL" remove fs0 2>&1)
tap_is "$? $(target_state)" "1 failing" "array: fullstripectl does not remove it"
tap_is "${said##*$'\n'}" "fullstripectl: fs0 was not removed: only memory has some of its data, as the device below does not take that; repair that one and send 'dmsetup message fs0 0 retry', or lose the data with --force: Input/output error" \
	"array: and says why, and what to do"
dmsetup suspend fs0
"$CTL" remove fs0 2>/dev/null
tap_is "$? $(target_state)" "1 failing" "array: nor when it is suspended"
dmsetup resume fs0
tap_check "array: but with --force" timeout 120 "$CTL" remove --force --keep-layers fs0
tap_is "$(dmesg | grep -c 'are lost')" 1 "array: what is lost is said"
tap_check "array: and the array" mdadm --quiet --stop "$RIG_MD"
tap_done

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Filling: a stripe with many small pieces is written whole after what it lacks was
# read, when that costs less; and an error while doing so is nobody's but its own.
. "${BASH_SOURCE[0]%/*}/common.sh"

# every_other DEV STRIPE BS STRIPES [fio option]...: of the blocks of these stripes.
every_other() {
	local size=$(($4 * RIG_W))
	fio --name=p --filename="$1" --direct=1 --rw=write:"$3" --bs="$3" --offset=$(($2 * RIG_W)) \
		--size=$size --io_size=$((size / 2)) --verify=crc32c --output=/dev/null "${@:5}"
}

# pieces STRIPE [BS [STRIPES]]: rewrite every other block of a stripe of the target.
pieces() {
	every_other /dev/mapper/fs0 "$1" "${2-4k}" "${3-1}" --do_verify=0
}

# reads_back STRIPE [BS [STRIPES]]
reads_back() {
	every_other "$RIG_MD" "$1" "${2-4k}" "${3-1}" --verify_only
}

# holes STRIPE [BLOCK]: what lies between them, as the array has it.
holes() {
	local block=${2-4096}
	dd if="$RIG_MD" bs="$RIG_W" count=1 skip="$1" iflag=direct status=none | BLOCK=$block python3 -c '
import hashlib, os, sys
block = int(os.environ["BLOCK"])
data = sys.stdin.buffer.read()
print(hashlib.md5(b"".join(data[i:i + block]
	for i in range(block, len(data), 2 * block))).hexdigest())'
}

flush() {
	dmsetup message fs0 0 flush
}

# write_back AT LENGTH...: a flush, and pages of the target that are written back after it, all at
# once and without anybody who waits for them: they are held for a moment. What xfs_io says, but
# of the flush.
write_back() {
	local at=$1 end=$1 commands=(-c fsync)
	while (($#)); do
		commands+=(-c "pwrite -q -i /run/data -s $(($1 - at)) $1 $2")
		end=$(($1 + $2))
		shift 2
	done
	xfs_io "${commands[@]}" -c "sync_range -w $at $((end - at))" -c "sync_range -a $at $((end - at))" \
		/dev/mapper/fs0 2>&1 | grep -v ^fsync
}

# hold STRIPE: that of every other page of a stripe; what pieces() writes, but for the contents.
hold() {
	local i pages=()
	for ((i = 0; i < RIG_W / 4096; i += 2)); do
		pages+=($(($1 * RIG_W + 4096 * i)) 4096)
	done
	write_back "${pages[@]}"
}

# held_is_below STRIPE
held_is_below() {
	dd if="$RIG_MD" bs="$RIG_W" count=1 skip="$1" iflag=direct status=none | python3 -c '
import sys
data = sys.stdin.buffer.read()
want = open("/run/data", "rb").read()
for i in range(0, len(data), 8192):
	if data[i:i + 4096] != want[i:i + 4096]:
		sys.exit(f"page {i // 4096} is not what was written")'
}

# age: what is staged is written for its age; no flush, which the lower device would refuse.
age() {
	local tries=600
	dmsetup message fs0 0 set hold_ms 1
	while (($(stat staged_bytes) && --tries)); do sleep 0.1; done
	dmsetup message fs0 0 set hold_ms 3600000
	((tries))
}

# write_halves STRIPE...: the first half of each.
write_halves() {
	local stripe
	for stripe; do
		dd if=/dev/urandom of=/dev/mapper/fs0 bs=$((RIG_W / 2)) count=1 seek=$((2 * stripe)) oflag=direct \
			conv=notrunc status=none || return
	done
}

# mismatches: rows of the array in which the parity is wrong.
mismatches() {
	local md=/sys/block/${RIG_MD#/dev/}/md
	echo check >"$md/sync_action"
	mdadm --wait "$RIG_MD" >/dev/null
	cat "$md/mismatch_cnt"
}

tap_plan 49
rig_load_module
modprobe -a dm-flakey dm-delay
rig_preset R5 spindle
dd if=/dev/urandom of="$RIG_MD" bs=1M count=8 oflag=direct status=none
rig_target fs0 "$RIG_MD" hold_ms 3600000

old=$(holes 1)
pieces 1
rig_count_begin
flush
rig_count_end
tap_is "$(stat filled_stripes) $(stat partial_stripes)" "1 0" "many pieces: the stripe is filled"
tap_is "$RIG_READS $RIG_WRITES" "$((RIG_N - 1)) $RIG_N" "one read for each data member, one write for each"
tap_check "what was written is below" reads_back 1
tap_is "$(holes 1)" "$old" "and the rest is as it was"
tap_is "$(stat destaged_bytes)" $((RIG_W / 2)) "what was read is not counted as destaged"

dd if=/dev/urandom of=/dev/mapper/fs0 bs=4k count=1 seek=$((2 * RIG_W / 4096)) oflag=direct \
	conv=notrunc status=none
flush
tap_is "$(stat filled_stripes) $(stat partial_stripes)" "1 1" "one piece: it is written as it is"

old=$(holes 3 512)
pieces 3 512
rig_count_begin
flush
rig_count_end
tap_is "$(stat filled_stripes) $RIG_READS $RIG_WRITES" "2 $((RIG_N - 1)) $RIG_N" \
	"pieces smaller than a page: filled"
tap_check "what was written is below" reads_back 3 512
tap_is "$(holes 3 512)" "$old" "and the rest is as it was"

pieces 8 4k 20
flush
tap_is "$(stat filled_stripes)" 22 "more stripes than are filled at a time"
tap_check "and what was written is below" reads_back 8 4k 20

dd if=/dev/urandom of=/run/data bs="$RIG_W" count=1 status=none
old=$(holes 6)
rig_count_begin
hold 6
rig_count_end
tap_is "$(stat held_bytes) $(stat filled_stripes) $(stat partial_stripes)" "131072 23 1" \
	"near a flush many pieces are held for a moment: the stripe is filled"
tap_is "$RIG_READS $RIG_WRITES" "$((RIG_N - 1)) $RIG_N" "one read for each data member, one write for each"
tap_check "what was written is below" held_is_below 6
tap_is "$(holes 6)" "$old" "and the rest is as it was"
write_back $((7 * RIG_W)) 131072
tap_is "$(stat held_bytes) $(stat filled_stripes) $(stat partial_stripes)" "262144 23 2" \
	"half a stripe, and nothing else is under way: it is written as it is"

write_halves 20
flush
tap_is "$(stat filled_stripes) $(stat partial_stripes)" "23 3" "half a stripe, and a flush: it is written as it is"
write_halves 21 22
flush
tap_is "$(stat filled_stripes) $(stat partial_stripes)" "25 3" "halves of two: they are beside each other, and filled"

dmsetup message fs0 0 set seek_bytes 0
pieces 4
flush
hold 6
write_halves 21 22
flush
tap_is "$(stat filled_stripes) $(stat partial_stripes)" "25 7" "seek_bytes 0: none is filled"
dmsetup message fs0 0 set seek_bytes 1048576
dmsetup message fs0 0 set stripe_bytes $((RIG_W / 4 * 3))
dmsetup message fs0 0 set stripe_bytes "$RIG_W"
pieces 4
flush
tap_is "$(stat filled_stripes)" 26 "after a change of the width and back: filled"
tap_check "what was written is below" reads_back 4
dmsetup message fs0 0 set mode writethrough
dmsetup message fs0 0 set hold_ms 1
pieces 4
flush
hold 6
tap_is "$(stat filled_stripes)" 26 "in writethrough none is filled"

dmsetup message fs0 0 set hold_ms 3600000
dmsetup message fs0 0 set mode writebehind
mdadm --quiet --fail "$RIG_MD" "${RIG_MEMBERS[1]}"
old=$(holes 5)
pieces 5
flush
tap_is "$(stat filled_stripes)" 27 "with a member gone: filled"
tap_check "what was written is below" reads_back 5
tap_is "$(holes 5)" "$old" "and the rest is as it was"
for stripe in 12 13 14 15 16; do
	old=$(holes "$stripe")
	hold "$stripe"
	held_is_below "$stripe" && [[ $(holes "$stripe") == "$old" ]] || break
done
tap_is "$(stat filled_stripes)" 32 "also what was held for a moment, whatever the member had of it"
mdadm --quiet --remove "$RIG_MD" "${RIG_MEMBERS[1]}"
mdadm --quiet --zero-superblock "${RIG_MEMBERS[1]}"
mdadm --quiet --add "$RIG_MD" "${RIG_MEMBERS[1]}"
mdadm --wait "$RIG_MD" >/dev/null
tap_is "$(mismatches)" 0 "the parity is right everywhere"
rig_target_remove fs0

# A hole of stripe 6 that cannot be read; a hole of stripe 7, and a piece of 8, that cannot be written;
# and stripe 100 is being written for as long as that is to be.
sectors=$(blockdev --getsz "$RIG_MD")
width=$((RIG_W / 512))
bad_read=$((6 * width + 8)) bad_write=$((7 * width + 8)) bad_held=$((8 * width + 16))
slow=$((100 * width))
dmsetup create low <<-TABLE
0 $bad_read linear $RIG_MD 0
$bad_read 8 error
$((bad_read + 8)) $((bad_write - bad_read - 8)) linear $RIG_MD $((bad_read + 8))
$bad_write 8 flakey $RIG_MD $bad_write 0 60 1 error_writes
$((bad_write + 8)) $((bad_held - bad_write - 8)) linear $RIG_MD $((bad_write + 8))
$bad_held 8 flakey $RIG_MD $bad_held 0 60 1 error_writes
$((bad_held + 8)) $((slow - bad_held - 8)) linear $RIG_MD $((bad_held + 8))
$slow $width delay $RIG_MD $slow 0 $RIG_MD $slow 3600000 $RIG_MD $slow 0
$((slow + width)) $((sectors - slow - width)) linear $RIG_MD $((slow + width))
TABLE
rig_target fs0 /dev/mapper/low chunk_bytes 65536 data_members 4 hold_ms 3600000 seek_bytes 1048576
old=$(holes 6)
pieces 6
tap_check "a hole that cannot be read: the stripe is destaged" age
tap_is "$(stat filled_stripes) $(stat partial_stripes) $(stat failing_stripes)" "0 1 0" \
	"written as it is"
tap_check "what was written is below" reads_back 6
tap_is "$(holes 6)" "$old" "and the rest is as it was"
old=$(holes 7)
pieces 7
tap_check "a hole that cannot be written: the stripe is destaged" age
tap_is "$(stat filled_stripes) $(stat partial_stripes) $(stat failing_stripes)" "0 2 0" \
	"written as it is"
tap_check "what was written is below" reads_back 7
tap_is "$(holes 7)" "$old" "and the rest is as it was"

# The same of pieces that are held; and one of them of stripe 8 cannot be written.
for stripe in 6 7; do
	old=$(holes "$stripe")
	tap_is "$(hold "$stripe")" "" "a hole of what is held is bad: its writer is not told"
	tap_is "$(stat filled_stripes) $(stat partial_stripes) $(stat staged_bytes)" "0 $((stripe - 3)) 0" "it is written as it is"
	tap_check "what was written is below" held_is_below "$stripe"
	tap_is "$(holes "$stripe")" "$old" "and the rest is as it was"
done
tap_is "$(stat destage_errors)" 2 "holes that cannot be written are counted"
old=$(holes 8)
tap_is "$(hold 8)" "sync_file_range: Input/output error" "what is held cannot be written: its writer is told"
tap_is "$(stat destage_errors) $(stat failing_stripes) $(stat staged_bytes)" "2 0 0" "and nothing is kept"
tap_is "$(holes 8)" "$old" "and the rest is as it was"

dd if=/run/data of=/dev/mapper/fs0 bs="$RIG_W" count=1 seek=100 oflag=direct conv=notrunc status=none &
job=$!
until_true is_above bypassed_bytes 0
write_back $((10 * RIG_W)) 131072
write_back $((15 * RIG_W)) 4096
tap_is "$(stat filled_stripes) $(stat partial_stripes)" "2 5" \
	"half a stripe of what is held, beside others: it is filled, and one page is not"
dmsetup suspend low
dmsetup resume low
wait "$job"
tap_is "$(dmesg | grep -c 'cannot be written to')" 0 "nobody was told of an error that is none of theirs"
tap_done

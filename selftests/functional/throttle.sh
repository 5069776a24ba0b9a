#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What one file has outstanding is bounded; who is over it waits, goes on when it should,
# and nobody waits with it.
# timeout: 420
. "${BASH_SOURCE[0]%/*}/common.sh"

MIB=1048576
ctl=$RIG_TOP/build/daemon/fullstripectl

set_key() {
	dmsetup message fs0 0 set "$1" "$2"
}

# at_most NAME BYTES: no file had more outstanding, and something had.
at_most() {
	local peak
	peak=$(stat file_peak_bytes)
	((peak > 0 && peak <= $2))
	tap_is $? 0 "$1"
	tap_diag "at most $peak of $2 bytes, $(stat throttled) writes waited"
}

# waits_for MS: a file has waited for so long.
waits_for() {
	"$ctl" files --json fs0 | jq -e "any(.files[]; .wait_us > ${1}000)" >/dev/null
}

# A process that writes with O_DIRECT; so many of them at a time.
writer=(fio --name=w --filename=/dev/mapper/fs0 --direct=1 --rw=write --output=/dev/null)
deep=(--bs=64k --ioengine=libaio --iodepth=64)

tap_plan 65
rig_load_module

partial=0
# One process, of whole stripes and of pieces; nothing else makes the destager write.
rig_preset R5 spindle
rig_target fs0 "$RIG_MD" hold_ms 3600000 high_water_bytes $((64 * MIB)) \
	file_high_water_bytes $((2 * MIB)) file_low_water_bytes $MIB
for case in "4k 4096 psync 1" "64k 16384 libaio 32" "1M 32768 libaio 8" "4M 32768 libaio 4" "900k 27000 libaio 4"; do
	read -r bs kib engine depth <<<"$case"
	dmsetup message fs0 0 reset_stats
	tap_check "writes of $bs, $depth deep" \
		"${writer[@]}" --bs="$bs" --size="${kib}k" --ioengine="$engine" --iodepth="$depth"
	# What is taken of a write at a time is four stripes at the most.
	at_most "no more than the mark and one write" $((2 * MIB + (${bs%[kM]} > 4 ? 4 * RIG_W : 4096)))
	# One at a time may be slower than the members.
	((depth == 1 || $(stat throttled) > 0))
	tap_is $? 0 "it had to wait"
	((partial += $(stat partial_stripes) + $(stat filled_stripes)))
done
tap_is "$partial" 0 "what a sequential writer waits for are whole stripes"

# The stripes that its threads have begun are more than its low mark, and leave room below the
# high one: there they become whole.
set_key file_high_water_bytes $((4 * MIB))
dmsetup message fs0 0 reset_stats
tap_check "twelve threads of one process, each in stripes of its own" "${writer[@]}" --thread \
	--numjobs=12 --bs=16k --size=2M --offset_increment=2M --ioengine=psync
at_most "no more than the mark and a write each" $((4 * MIB + 12 * 16384))
(($(stat throttled) > 0))
tap_is $? 0 "it had to wait"
tap_is "$(($(stat partial_stripes) + $(stat filled_stripes)))" 0 "for whole stripes, with many begun, too"
set_key file_high_water_bytes $((2 * MIB))
dmsetup message fs0 0 flush
dmsetup message fs0 0 reset_stats
{
	for stripe in {0..9}; do
		echo "pwrite -q -b 16k $((stripe * RIG_W)) $((RIG_W / 2))"
	done
	echo "pwrite -q -b 16k $((10 * RIG_W)) $((20 * RIG_W))"
	for stripe in {0..9}; do
		echo "pwrite -q -b 16k $((stripe * RIG_W + RIG_W / 2)) $((RIG_W / 2))"
	done
} | xfs_io -d /dev/mapper/fs0 >/dev/null
dmsetup message fs0 0 flush
(($(stat throttled) > 0))
tap_is $? 0 "who has ten half stripes waits beside them, too"
tap_is "$(stat partial_stripes) $(stat filled_stripes) $(stat whole_stripes)" "0 0 30" "and makes them whole later"

# Each that waits is seen to wait and to go on.
events=$RIG_TRACING/events/fullstripe
echo >"$RIG_TRACING/trace"
rig_set "$events/enable" 1
dmsetup message fs0 0 reset_stats
"${writer[@]}" "${deep[@]}" --size=8M
rig_set "$events/enable" 0
tap_is "$(grep -c 'fullstripe_park: .*process' "$RIG_TRACING/trace") $(grep -c 'fullstripe_unpark: ' "$RIG_TRACING/trace")" \
	"$(stat throttled) $(stat throttled)" "tracepoints tell of each write that waits"
(($(stat throttled) > 0))
tap_is $? 0 "and there were some"

# Random blocks are no whole stripes: they have to be written all the same.
dmsetup message fs0 0 reset_stats
tap_check "random blocks" \
	"${writer[@]}" --rw=randwrite --bs=4k --size=32M --io_size=8M --ioengine=libaio --iodepth=32
at_most "no more than the mark and one write" $((2 * MIB + 4096))
tap_is "$(stat held_files)" 0 "nobody waits any more"

# The marks change while somebody waits.
"${writer[@]}" "${deep[@]}" --size=32M --time_based --runtime=60 &
job=$!
until_true is held_files 1
tap_is $? 0 "one process waits"
dmsetup message fs0 0 reset_stats
set_key file_high_water_bytes $((4 * MIB))
sleep 2
at_most "a higher mark" $((4 * MIB + RIG_W))
(($(stat file_peak_bytes) > 3 * MIB))
tap_is $? 0 "and it is reached"
set_key file_low_water_bytes 131072
set_key file_high_water_bytes $MIB
sleep 1
dmsetup message fs0 0 reset_stats
sleep 1
at_most "a lower mark" $((MIB + RIG_W))
tap_check "the width of the stripes changes meanwhile" set_key stripe_bytes 196608
tap_check "and back" set_key stripe_bytes "$RIG_W"
tap_check "suspend ends" timeout 20 dmsetup suspend fs0
tap_check "resume" dmsetup resume fs0
tap_check "suspend without a flush ends" timeout 20 dmsetup suspend --nolockfs --noflush fs0
tap_check "resume" dmsetup resume fs0
until_true is held_files 1
tap_is $? 0 "it waits again"
set_key file_high_water_bytes 0
until_true is held_files 0
tap_is $? 0 "without a mark nobody waits"
dmsetup message fs0 0 reset_stats
sleep 1
tap_is "$(stat throttled)" 0 "nor later"
kill "$job"
wait "$job" 2>/dev/null
dmsetup message fs0 0 flush
until_true is dirty_files 0
tap_is $? 0 "nothing is counted when all is written"
rig_target_remove fs0
rig_teardown

# Below is somebody who keeps what he is sent.
slow_lower
dmsetup create fs0 --table "0 $sectors fullstripe /dev/mapper/low 0 10 chunk_bytes 65536 data_members 4 \
hold_ms 3600000 file_high_water_bytes $MIB file_low_water_bytes 524288"
dmsetup suspend --noflush --nolockfs slow
"${writer[@]}" "${deep[@]}" --size=16M &
job=$!
until_true is held_files 1
tap_is $? 0 "what is below does not answer: a process waits"
for part in 1 2 3; do
	tap_check "another one does not, $part" timeout 10 \
		dd if=/dev/zero of=/dev/mapper/fs0 bs=128k count=4 seek=$((200 + 8 * part)) oflag=direct conv=notrunc status=none
done
tap_is "$(stat dirty_files)" 4 "each is counted for itself"
tap_is "$(stat held_files)" 1 "one waits"
at_most "and has no more than the mark and one write" $((MIB + 65536))
dmsetup resume slow
tap_check "it goes on when what is below does" wait "$job"
dmsetup message fs0 0 flush
until_true is dirty_files 0
tap_is $? 0 "nothing is counted when all is written"

# What is below fails while somebody waits: they learn of it.
dmsetup suspend --noflush --nolockfs slow
"${writer[@]}" "${deep[@]}" --size=16M 2>/dev/null &
job=$!
until_true is held_files 1
dmsetup load slow --table "0 $sectors error"
dmsetup resume slow
tap_check "nobody waits for a repair" timeout 20 tail --pid="$job" -f /dev/null
tap_is "$(stat held_files)" 0 "no file is held while stripes fail"
slow_table "0 $sectors linear $lower 0"
tap_check "after the repair all is written" dmsetup message fs0 0 flush
until_true is dirty_files 0
tap_is $? 0 "and nothing is counted"
rig_target_remove fs0
rig_teardown

# The partial stripes of a file that waits get their turn beside whole ones, of which there are
# always more than can be in flight: one of this size.
slow_lower
dmsetup create fs0 --table "0 $sectors fullstripe /dev/mapper/low 0 12 chunk_bytes 524288 data_members 4 \
hold_ms 3600000 seek_bytes 0 high_water_bytes $((48 * MIB)) file_high_water_bytes $((4 * MIB))"
dmsetup suspend --noflush --nolockfs slow
for i in 0 1 2 3 4 5 6 7; do
	dd if=/dev/zero of=/dev/mapper/fs0 bs=1M count=2 seek=$((2 * i)) oflag=direct conv=notrunc status=none
done
for i in 20 21 22 23 24; do
	echo "pwrite -q -b 1m $((2 * i))m 1m"
done | xfs_io -d /dev/mapper/fs0 >/dev/null &
job=$!
until_true waits_for 1000
tap_is $? 0 "a process waits for its partial stripes, longer than for whole ones"
bios_begin /dev/mapper/low
dmsetup resume slow
wait "$job"
dmsetup message fs0 0 flush
bios_end
order=$(bios | awk '$1 ~ /^W/ && !seen[stripe = int($2 / 4096)]++ { printf "%d ", stripe }')
[[ $order == 2?" "[1-7]" "2?" "[1-7]* ]]
tap_is $? 0 "they are written by turns with whole ones of others"
tap_diag "in this order: $order"
rig_target_remove fs0
rig_teardown

# Files: many of them, each with what is due to it; the file system's own writes never wait.
mount_point=/run/throttle
mkdir -p "$mount_point"
for fs in ext4 xfs; do
	rig_preset R5 ram 128
	rig_target fs0 "$RIG_MD" hold_ms 3600000 file_high_water_bytes $MIB
	mkfs -t "$fs" -q /dev/mapper/fs0
	mount /dev/mapper/fs0 "$mount_point"
	for files in 1 8 64; do
		dmsetup message fs0 0 reset_stats
		fio --name=w --directory="$mount_point" --rw=write --bs=64k --size=$((128 / files))M \
			--numjobs="$files" --end_fsync=1 --output=/dev/null
		at_most "$fs, $files files" $((MIB + 4 * RIG_W))
		rm "$mount_point"/w.*
	done
	umount "$mount_point"
	rig_target_remove fs0
	rig_teardown
done

# A file that is written as fast as it goes is held, and those beside it, that want little, are not:
# they get all that they want. Where the kernel can be strict about it (6.2), it keeps 1 % of its memory for
# this device: then it takes the file's pages as fast as the array does, not as fast as memory.
rig_preset R5 spindle 256
rig_target fs0 "$RIG_MD" high_water_bytes $((32 * MIB)) file_high_water_bytes $((2 * MIB))
mkfs.ext4 -q -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 /dev/mapper/fs0
mount /dev/mapper/fs0 "$mount_point"
bdi=/sys/class/bdi/$(<"$(rig_sysfs fs0)/../dev")
[[ ! -e $bdi/strict_limit ]] || rig_set "$bdi/strict_limit" 1
rig_set "$bdi/max_ratio" 1
# Where the machine itself stands still for a while nobody gets what he wants: that says nothing.
for ((try = 1; try <= 3; try++)); do
	dmsetup message fs0 0 reset_stats
	fio --directory="$mount_point" --time_based --runtime=12 --rw=write --output=/run/rates --output-format=json \
		--name=greedy --bs=1M --size=850M \
		--name=modest --bs=16k --size=16M --rate=512k --numjobs=4 &
	job=$!
	until_true is held_files 1
	held=$?
	wait "$job"
	taken=$(($(stat destaged_bytes) + $(stat bypassed_bytes)))
	content=$(jq -c '[.jobs[] | select(.jobname == "modest") | .write.bw_bytes >= 0.9 * 524288]' /run/rates)
	[[ $content != '[true,true,true,true]' ]] || break
	tap_diag "try $try: $(jq -c '[.jobs[] | .write.bw_bytes]' /run/rates) bytes/s"
done
tap_is "$held" 0 "a greedy file is held"
tap_is "$content" '[true,true,true,true]' "modest ones beside it get what they want"
greedy=$(jq '[.jobs[] | select(.jobname == "greedy") | .write.io_bytes] | add' /run/rates)
name="the greedy one is taken from as fast as the array takes it"
if [[ -e $bdi/strict_limit ]]; then
	((greedy <= taken + taken / 4))
	tap_is $? 0 "$name"
else
	tap_skip "$name" "this kernel has no strict_limit"
fi
tap_diag "greedy: $greedy bytes in 12 s, the array $taken;" \
	"modest, bytes/s: $(jq -c '[.jobs[] | select(.jobname == "modest") | .write.bw_bytes]' /run/rates)"
umount "$mount_point"
rig_target_remove fs0
tap_done

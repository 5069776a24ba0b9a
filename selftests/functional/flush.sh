#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A flush returns when what completed before is below and the members were flushed;
# a FUA write when it is; and neither has to wait for a hold.
. "${BASH_SOURCE[0]%/*}/common.sh"

# put BYTE OFFSET [DD ARGUMENT]...: 4 KiB of BYTE at OFFSET of the target.
put() {
	local byte=$1 at=$2
	shift 2
	tr '\0' "$byte" </dev/zero | dd of=/dev/mapper/fs0 bs=4k count=1 seek="${at}B" iflag=fullblock \
		oflag=direct"${1:+,$1}" conv=notrunc"${2:+,$2}" status=none
}

# below OFFSET: the byte that the array holds there.
below() {
	dd if="$RIG_MD" bs=4k count=1 skip="${1}B" iflag=direct status=none | head -c 1 | tr '\0' 0
}

tap_plan 32
rig_load_module
rig_members 5 64 ram 512 16	# with a volatile cache, so that flushes arrive
rig_array 5 64
rig_target fs0 "$RIG_MD" hold_ms 3600000
stats=$(rig_sysfs fs0)/stats

put a 0
tap_is "$(below 0)" 0 "a write stays in staging"
rig_count_begin
put b 8192 "" fdatasync
rig_count_end
tap_is "$(below 0)$(below 8192)" ab "a flush brings all that completed before below"
((RIG_FLUSHES >= RIG_N))
tap_is $? 0 "and flushes every member"
tap_is "$(<"$stats/staged_bytes")" 0 "nothing is staged then"

rig_count_begin
put c 1048576 dsync
rig_count_end
tap_is "$(below 1048576)" c "a FUA write is below when it completes"
((RIG_FLUSHES >= 1))
tap_is $? 0 "and stable: its members were flushed"

put d 2097152
put e 2101248 dsync
tap_is "$(below 2101248)" e "a FUA write into a staged stripe is below too"
put f 3145728
put g 3145728 dsync
tap_is "$(below 3145728)" g "a FUA write over staged data is what is below"
dmsetup message fs0 0 flush
tap_is "$(below 3145728)" g "and stays what is below"

put h 4194304
rig_count_begin
blockdev --flushbufs /dev/mapper/fs0
fsync
rig_count_end
tap_is "$(below 4194304)" h "fsync of the node is a flush"
((RIG_FLUSHES >= RIG_N))
tap_is $? 0 "and flushes every member"
rig_count_begin
fsync
rig_count_end
((RIG_FLUSHES >= RIG_N))
tap_is $? 0 "with nothing staged too: what went past staging must be stable"

# md puts off a row that it has to read for, unless somebody waits for it.
dmsetup message fs0 0 set seek_bytes 0
rig_count_begin
dd if=/dev/zero of=/dev/mapper/fs0 bs=$((RIG_W / 2)) count=1 seek=100 oflag=direct conv=notrunc,fdatasync status=none
rig_count_end
tap_is "$RIG_READS" 2 "half a stripe that a flush waits for is read for at once"

# A stream that never stops does not hold a flush for ever.
fio --name=w --filename=/dev/mapper/fs0 --rw=randwrite --bs=4k --direct=1 --ioengine=libaio \
	--iodepth=32 --size=64m --time_based --runtime=600 --output=/dev/null &
stream=$!
until (($(<"$stats/accepted_bytes") > 1 << 20)); do sleep 0.1; done
tap_check "a flush ends beside a stream that does not" fsync 60
kill "$stream"
wait "$stream"
rig_target_remove fs0
rig_teardown

# who_seeks 0|1 [KEY VALUE]...: fs0 on members that take no time, and seek, or do not. Did they take
# some, on a busy machine they would hold back who fills a stripe.
who_seeks() {
	rig_set "/sys/block/${RIG_MD#/dev/}/queue/rotational" "$1"
	rig_target fs0 "$RIG_MD" hold_ms 3600000 seek_bytes 1048576 "${@:2}"
}

# What is whole waits for its cluster, and so a flush has whole stripes to wait for.
rig_preset R5 ram
who_seeks 1 cluster_bytes $((4 * RIG_W))
xfs_io -d -c "pwrite -q -b $((RIG_W / 2)) 80m $RIG_W" /dev/mapper/fs0
tap_is "$(stat staged_bytes)" "$RIG_W" "a whole stripe is staged"
xfs_io -d -c "pwrite -q -b $((RIG_W / 2)) 96m $((RIG_W / 2))" -c fsync /dev/mapper/fs0 &
job=$!
eventually $((20 * ${TIME_SCALE:-1})) is_gone "$job"
waits=$?
tap_is "$waits" 0 "a flush does not wait for one that does not grow"
tap_is "$(stat whole_stripes) $(($(stat filled_stripes) + $(stat partial_stripes)))" "1 1" "but writes what there is"
# Else nothing would end it.
xfs_io -d -c "pwrite -q -b $((RIG_W / 2)) $(((96 << 20) + RIG_W / 2)) $((RIG_W / 2))" /dev/mapper/fs0
wait "$job"
rig_target_remove fs0

# parts 0|1: a flush comes while somebody else is within a stripe nearly each time. Prints how
# many stripes were not written whole. Status 1: that did not run to its end.
parts() {
	local parts flushes status=0
	who_seeks "$1"
	fio --output=/dev/null --filename=/dev/mapper/fs0 --rw=write --direct=1 --thread --exitall \
		--name=filler --bs=16k --size=120m --rate_iops=1000 --time_based --runtime=120 \
		--name=flusher --bs=16k --offset=128m --size=10m --fsync=16 || status=1
	flushes=$(stat flushes) parts=$(($(stat filled_stripes) + $(stat partial_stripes)))
	tap_diag "$flushes flushes; stripes: $(stat whole_stripes) whole, $parts not" >&3
	rig_target_remove fs0
	echo "$parts"
	((!status && flushes >= 39))
}

# A busy machine does not always let anybody fill a stripe in time.
exec 3>&1
apart=0 together=0 ran=$((waits == 0))
for ((tries = 0; ran && tries < 4 && (apart < 20 || together > apart / 2); tries++)); do
	{ apart=$(parts 0) && together=$(parts 1); } || ran=0
done
tap_is "$ran" 1 "one fills stripes, and another one flushes"
tap_is "$((ran && apart >= 20 && together <= apart / 2))" 1 \
	"a flush lets a stripe become whole that somebody else fills"
rig_teardown

# member_flushes: how often the member was flushed.
member_flushes() {
	awk '{ print $16 }' "/sys/block/${lower#/dev/}/stat"
}

# One disk with a cache, below what can be suspended.
slow_lower 512 16
rig_target fs0 /dev/mapper/low chunk_bytes 65536 data_members 2 hold_ms 3600000 seek_bytes 0
put i 0
dmsetup suspend --nolockfs slow
fsync 60 &
waiting=$!
until_true is_under_way 1
put j 1310720
dmsetup resume slow
wait "$waiting"
tap_is "$? $(stat staged_bytes)" "0 4096" "what comes after a flush is not written for it"
dmsetup message fs0 0 flush
dmsetup message fs0 0 reset_stats
put i 0
dmsetup suspend --nolockfs slow
fsync 60 &
waiting=($!)
until_true is flushes 1
flushed=$(member_flushes)
for i in {1..9}; do
	fsync 60 &
	waiting+=($!)
done
until_true is flushes 10
tap_is "$(stat answered_flushes)" 0 "ten flushes wait for what is staged"
dmsetup resume slow
failed=0
for i in "${waiting[@]}"; do
	wait "$i" || ((++failed))
done
tap_is "$failed $(($(member_flushes) - flushed))" "0 2" "the nine that came meanwhile are one below"

# What is below takes writes to its first half; a flush is for the other one, too.
slow_table "0 65536 linear $lower 0
	65536 $((sectors - 65536)) flakey $lower 65536 0 3600 1 error_writes"
fsync 60
tap_is $? 1 "a flush fails if that below does, though nothing is staged"
put k 0
fsync 60
tap_is $? 1 "and if something is, that can be written"
tap_is "$(stat destage_errors) $(stat partial_stripes)" "0 2" "which it is"
slow_table "0 $sectors linear $lower 0"
tap_check "the next one succeeds when that below does" fsync 60

dmsetup message fs0 0 set mode writethrough
xfs_io -c "pwrite -q -S 106 1m 4k" -c fsync /dev/mapper/fs0 &
job=$!
tap_check "writethrough: what fsync sends is not held" eventually 20 is_gone "$job"
dmsetup message fs0 0 set hold_ms 1
wait "$job"
tap_is "$(dd if="$lower" bs=4k count=1 skip=256 iflag=direct status=none | tr -d j | wc -c) $(stat held_bytes)" "0 4096" \
	"and below"
rig_target_remove fs0
rig_teardown

# What a journal writes is not called what fsync sends, and is what it waits for.
rig_members 1 320 ram
lower=${RIG_MEMBERS[0]}
mkdir -p /run/flush
for fs in ext4 xfs; do
	mkfs -t "$fs" -q "$lower" >/dev/null
	rig_target fs0 "$lower" chunk_bytes 65536 data_members 2 hold_ms 3600000 mode writethrough
	mount /dev/mapper/fs0 /run/flush
	xfs_io -f -c "pwrite -q 0 64k" -c fsync /run/flush/file &
	job=$!
	tap_check "writethrough: fsync on $fs waits for no hold" eventually $((20 * ${TIME_SCALE:-1})) is_gone "$job"
	dmsetup message fs0 0 set hold_ms 1
	wait "$job"
	tap_is "$? $(findmnt -no FSTYPE /run/flush)" "0 $fs" "writethrough: and succeeds there"
	umount /run/flush
	rig_target_remove fs0
	wipefs -qa "$lower"
done
tap_done

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# A sequential writer, whatever its block size and start, costs no read: md says of
# no row that it read before it wrote, and the members see n writes for a stripe.
. "${BASH_SOURCE[0]%/*}/common.sh"

# measure NAME COMMAND...: run COMMAND on the target, drain it, and count.
measure() {
	rig_trace_begin
	rig_count_begin
	"$@" || return
	dmsetup message fs0 0 flush
	rig_count_end
	rig_trace_end
}

# write BS BYTES OFFSET: one direct writer.
write() {
	dd if=/dev/zero of=/dev/mapper/fs0 bs="$1" count=$(($2 / $1)) seek="${3}B" \
		oflag=direct conv=notrunc status=none
}

# Two writers of blocks of a chunk, each in its own half of the same stretch.
two_writers() {
	write "$RIG_CHUNK" "$((bytes / 2))" 0 &
	write "$RIG_CHUNK" "$((bytes / 2))" "$((bytes / 2))"
	wait $!
}

no_reads() {
	tap_is "$RIG_READS reads, $RIG_RMW rmw, $RIG_RCW rcw, $RIG_TRACE_DROPPED dropped" \
		"0 reads, 0 rmw, 0 rcw, 0 dropped" "$1: nothing is read"
}

# partly STRIPE BLOCK: a part of a stripe.
partly() {
	dd if=/dev/zero of=/dev/mapper/fs0 bs=4k count=1 seek=$(($1 * 64 + $2)) oflag=direct \
		conv=notrunc status=none
}

tap_plan 30
rig_load_module
for preset in R5 R8; do
	rig_preset "$preset" ram
	rig_calibrate "$RIG_MD" "$RIG_W" "$RIG_N" || exit
	# A pause of the machine must not look like a pause of the writer.
	rig_target fs0 "$RIG_MD" hold_ms 60000
	stripes=16
	bytes=$((stripes * RIG_W))

	for bs in 4096 8192 65536 "$RIG_W" $((2 * RIG_W)); do
		measure write "$bs" "$bytes" 0
		no_reads "$preset: blocks of $bs"
		if ((bs == 8192)); then
			# Where md's thread is interrupted it sends a chunk in two requests.
			for ((try = 1; try < 4 && RIG_WRITES > stripes * RIG_N; try++)); do
				tap_diag "$RIG_WRITES writes of members: tried again"
				measure write "$bs" "$bytes" 0
			done
			((RIG_WRITE_KIB * 1024 == stripes * RIG_N * RIG_CHUNK))
			tap_is $? 0 "$preset: blocks of 8192: n chunks are written for a stripe"
			((RIG_WRITES <= stripes * RIG_N))
			tap_is $? 0 "$preset: blocks of 8192: at most n writes for a stripe"
		fi
	done
	# A start inside a stripe leaves two edges, each a partial stripe; within, nothing.
	measure write "$RIG_W" "$bytes" $((RIG_W / 2))
	stats=$(rig_sysfs fs0)/stats
	tap_is "$(<"$stats/partial_stripes")" 2 "$preset: half a stripe off: two edges, no more"
	dmsetup message fs0 0 reset_stats
	measure two_writers
	no_reads "$preset: two writers at once"
	measure fio --name=w --filename=/dev/mapper/fs0 --rw=write --bs=8k --size=$bytes --direct=1 \
		--ioengine=libaio --iodepth=32 --output=/dev/null
	no_reads "$preset: 32 deep"
	dmsetup message fs0 0 set hold_ms 60000
	dmsetup message fs0 0 set mode writethrough
	measure fio --name=w --filename=/dev/mapper/fs0 --rw=write --bs=16k --size=$bytes --direct=1 \
		--ioengine=libaio --iodepth=128 --output=/dev/null
	no_reads "$preset: writethrough, 128 deep"
	rig_target_remove fs0
	rig_teardown
done

# A stripe wider than the 1 MiB that md takes in one bio: only a plug keeps it together, be it
# copied or held.
rig_members 5 64 ram
rig_array 5 512
rig_target fs0 "$RIG_MD" hold_ms 60000
for bs in 65536 "$RIG_W"; do
	measure write "$bs" $((16 * RIG_W)) 0
	no_reads "chunks of 512 KiB: blocks of $bs"
	tap_is "$RIG_WRITE_KIB" $((16 * RIG_N * RIG_CHUNK / 1024)) "chunks of 512 KiB: blocks of $bs: n chunks are written for a stripe"
done
rig_target_remove fs0
rig_teardown

# More than the low water mark is in use, but the whole stripes that make it so are being
# written: what is not whole yet can wait.
slow_lower
dmsetup create fs0 --table "0 $sectors fullstripe /dev/mapper/low 0 10 chunk_bytes 65536 data_members 4 \
	hold_ms 60000 high_water_bytes 2097152 low_water_bytes 1048576"
dmsetup suspend slow
write 16384 $((7 * 262144)) 0
tap_check "whole stripes are on their way" until_true eval '(($(under_way) >= 7))'
for block in 0 1 2 3 4 5 6 7; do
	partly 8 "$block"
	partly 10 "$block"
done
sleep 0.3
tap_is "$(under_way)" 7 "and nothing else is"
dmsetup resume slow
tap_check "they are written" until_true is whole_stripes 7
dmsetup message fs0 0 set hold_ms 60000
tap_is "$(stat partial_stripes)" 0 "what is not whole yet waits meanwhile"
rig_target_remove fs0
tap_done

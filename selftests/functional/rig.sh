#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The rig itself: whether members, calibration and counters tell the truth.

here=$(realpath "${BASH_SOURCE[0]%/*}")
# shellcheck source-path=SCRIPTDIR
. "$here/../lib/tap.sh"
# shellcheck source-path=SCRIPTDIR
. "$here/../vm/rig.sh"
trap rig_teardown EXIT

# Each works on stripes of its own: md keeps the rows it has seen, and reads
# nothing to write to those again.
cost() {
	rig_trace_begin && rig_rewrite "$RIG_MD" "$1" "$2" && rig_trace_end || return
	GOT="$RIG_READS reads of $RIG_READ_KIB KiB, $RIG_WRITES writes of $RIG_WRITE_KIB KiB,"
	GOT+=" $RIG_RMW rmw, $RIG_RCW rcw, $RIG_TRACE_DROPPED lost"
}

# shellcheck disable=SC2317 # tap_check calls it
refuses() {
	! rig_calibrate "$@"
}

# switch_events ROUNDS: trace events on and off, each of which is a static key, for which the
# kernel changes its text, while both CPUs read the array and run through that text.
# shellcheck disable=SC2317 # tap_check calls it
switch_events() {
	local i group reader readers=() failed=0

	for i in 1 2; do
		while dd if="$RIG_MD" of=/dev/null bs=4k count=500 iflag=direct status=none; do :; done &
		readers+=($!)
	done
	for ((i = 0; i < $1; i++)); do
		for group in block raw_syscalls sched irq; do
			echo $((i % 2 == 0)) >"$RIG_TRACING/events/$group/enable" || ((++failed))
		done
	done
	for reader in "${readers[@]}"; do
		# It goes on for as long as it can read.
		kill "$reader" || ((++failed))
		wait "$reader" 2>/dev/null
	done
	((!failed))
}

tap_plan 27

for preset in R5 R8 R6; do
	tap_check "$preset of spindles can be made" rig_preset "$preset" spindle
	tap_check "$preset calibrates" rig_calibrate "$RIG_MD" "$RIG_W" "$RIG_N"
	tap_check "$preset can be taken down" rig_teardown
done

tap_check "R5 of ram can be made after it" rig_preset R5 ram
tap_is "$RIG_W $RIG_N $RIG_D $RIG_CHUNK" "262144 5 4 65536" "its stripe is four chunks of 64 KiB"
tap_check "it calibrates" rig_calibrate "$RIG_MD" "$RIG_W" "$RIG_N"

tap_check "calibration refuses a wrong number of members" refuses "$RIG_MD" "$RIG_W" $((RIG_N - 1))
tap_check "calibration refuses half a stripe" refuses "$RIG_MD" $((RIG_W / 2)) "$RIG_N"
dmsetup create shifted --table "0 $((RIG_W / 512)) linear $RIG_MD $((10 * RIG_W / 512 + 8))"
tap_check "calibration refuses a stripe that is not aligned" refuses /dev/mapper/shifted "$RIG_W" "$RIG_N"

cost "$RIG_W" $((2 * RIG_W))
tap_is "$GOT" "0 reads of 0 KiB, 5 writes of 320 KiB, 0 rmw, 0 rcw, 0 lost" "a stripe is written without a pre-read"
cost 4096 $((3 * RIG_W))
tap_is "$GOT" "2 reads of 8 KiB, 2 writes of 8 KiB, 1 rmw, 0 rcw, 0 lost" "a block costs one read-modify-write"
cost $((RIG_W / 2)) $((4 * RIG_W))
tap_is "$GOT" "2 reads of 128 KiB, 3 writes of 192 KiB, 0 rmw, 16 rcw, 0 lost" "half a stripe is reconstructed row by row"

rig_count_begin
dd if="$RIG_MD" of=/dev/null bs=64k count=8 iflag=direct status=none
rig_count_end
tap_is "$RIG_READS $RIG_READ_KIB $RIG_WRITES" "8 512 0" "eight chunks read are eight member reads"

name="the machine stands a kernel that changes its text under load"
if [[ ${EMULATOR-} == *" version "[1-7].* ]]; then
	tap_skip "$name" "this emulator does not, see selftests/vm/fetch-qemu"
else
	tap_check "$name" switch_events 40
fi

rig_count_begin
tap_check "a disk besides the members can be made" rig_disk 16 ram
dd if=/dev/zero of="$RIG_DISK" bs=4k count=4 oflag=direct status=none
rig_count_end
tap_is "$(<"/sys/block/${RIG_DISK#/dev/}/size") $RIG_WRITES" "32768 0" "it has its size, and does not count as one of them"
tap_check "a fast one can be made" rig_disk 16 fast
dd if=/dev/zero of="$RIG_DISK" bs=4k count=4 oflag=direct status=none
tap_is "$(awk '{ print $5 }' "/sys/block/${RIG_DISK#/dev/}/stat")" 4 "it counts what it writes"
tap_check "members are refused while there are disks" eval "! rig_members 1 64 ram"

tap_check "members with a cache can be made" eval "rig_teardown && rig_members 5 64 ram 4096 8 && rig_array 5 64"
rig_count_begin
dd if=/dev/zero of="$RIG_MD" bs=256k count=1 oflag=direct conv=fsync status=none
rig_count_end
tap_is "$RIG_FLUSHES" 5 "a flush of the array is a flush of each member"

tap_done

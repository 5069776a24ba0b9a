#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What is written next, and how: whole neighbours of a cluster together and ascending, none of
# them as if somebody waited; more of them, to disks that turn, when half of what is in flight is
# written; what a flush waits for by address; the more at a time the fuller the memory is; and what
# was written to lately last.
# once: 6.12 what is written next the module decides by itself
. "${BASH_SOURCE[0]%/*}/common.sh"

MIB=$((1 << 20))

# half STRIPE 0|1 [STRIPE_BYTES]: one half of a stripe.
half() {
	local bytes=$((${3-W} / 2))
	dd if=/dev/zero of=/dev/mapper/fs0 bs="$bytes" count=1 seek=$((2 * $1 + $2)) oflag=direct \
		conv=notrunc status=none
}

# writes_seen NUMBER: whether it was sent so many.
# shellcheck disable=SC2317 # until_true calls it
writes_seen() {
	(($(bios | wc -l) >= $1))
}

# shellcheck disable=SC2317 # the trap calls it
give_up() {
	dmsetup resume slow
	leave
}
trap give_up EXIT

tap_plan 17
rig_load_module
slow_lower
W=$((4 * 65536))
keys="chunk_bytes 65536 data_members 4 seek_bytes 0 hold_ms 3600000 file_high_water_bytes 0"

# shellcheck disable=SC2086 # a list of words
rig_target fs0 /dev/mapper/low $keys cluster_bytes $((3 * W))
bios_begin /dev/mapper/low
for stripe in 5 3 4; do
	half $stripe 1
	half $stripe 0
done
until_true writes_seen 3
sleep 0.5
tap_is "$(bios | paste -sd,)" "W 1536 512,W 2048 512,W 2560 512" \
	"a cluster that is whole leaves ascending, a request a stripe, without REQ_SYNC"
for stripe in 9 10 7 6 8; do
	half $stripe 1
	half $stripe 0
done
until_true writes_seen 6
sleep 0.5
tap_is "$(bios | tail -n +4 | paste -sd,)" "W 3072 512,W 3584 512,W 4096 512" "it takes no whole neighbour of another cluster along"
bios_end
rig_target_remove fs0

# Stripes that become whole one after the other, while none is answered.
for case in "1 7" "0 12"; do
	rig_set "${slow_inflight%/*}/queue/rotational" "${case% *}"
	# shellcheck disable=SC2086 # a list of words
	rig_target fs0 /dev/mapper/low $keys
	dmsetup suspend --nolockfs slow
	for stripe in {0..19}; do
		half "$stripe" 0
		half "$stripe" 1
	done
	until_true is_under_way "${case#* }"
	tap_check "rotational ${case% *}: ${case#* } of 20 whole stripes are in flight" stays is_under_way "${case#* }"
	dmsetup message fs0 0 set hold_ms 1
	tap_check "however old the others are" stays is_under_way "${case#* }"
	dmsetup resume slow
	tap_check "all are written in the end" until_true is whole_stripes 20
	rig_target_remove fs0
done

# A stripe has as many rows as may be in flight: one is.
rig_target fs0 /dev/mapper/low chunk_bytes $MIB data_members 2 seek_bytes 0 hold_ms 3600000 \
	file_high_water_bytes 0 high_water_bytes $((32 * MIB)) low_water_bytes $((16 * MIB))
# It begins with the first, wherever it was.
half 4 0 $((2 * MIB))
sync /dev/mapper/fs0
bios_begin /dev/mapper/low
for stripe in 9 2 7 0 5; do
	half $stripe 0 $((2 * MIB))
done
sync /dev/mapper/fs0
tap_is "$(bios | awk '$3 { print $1, $2 }' | paste -sd,)" "WS 0,WS 8192,WS 20480,WS 28672,WS 36864" \
	"what a flush waits for is written by address, and at once"
bios_end
rig_target_remove fs0

# Half of the memory is full of half stripes.
# shellcheck disable=SC2086 # a list of words
rig_target fs0 /dev/mapper/low $keys high_water_bytes $((16 * MIB)) low_water_bytes $((8 * MIB))
dmsetup suspend --nolockfs slow
for ((stripe = 0; stripe < 64; stripe++)); do
	half $stripe 0
done
tap_check "up to the low water mark nothing is written" stays is_under_way 0
for at_most in "80 3" "112 9"; do
	for ((; stripe < ${at_most% *}; stripe++)); do
		half $stripe 0
	done
	until_true is_under_way "${at_most#* }"
	tap_check "at $((stripe / 8)) of 16 MiB, of 12 stripes that may be in flight, ${at_most#* } are" \
		stays is_under_way "${at_most#* }"
done
dmsetup resume slow
until_true is_under_way 0
# Down to the mark, and no further.
until_true is partial_stripes 48
tap_check "down to the mark they are written" stays is partial_stripes 48
tap_is "$(stat staged_bytes)" $((8 * MIB)) "and no further"

# driven_out STRIPE: the stripe that is written as one more is staged.
driven_out() {
	bios_begin /dev/mapper/low
	half "$1" 0
	until_true writes_seen 1
	stays is_under_way 0
	bios | awk '{ print $2 / 512 }' | paste -sd,
	bios_end
}

first=$(driven_out 200)
second=$(driven_out 201)
tap_is "$second" $((first + 1)) "one more drives out the next one by address"
for ((stripe = first + 2; stripe < first + 5; stripe++)); do
	half $stripe 0
done
tap_is "$(driven_out 202)" $((first + 5)) "but not those that were written to since the sweep passed"
tap_is "$(driven_out 203)" $((first + 6)) "once"
rig_target_remove fs0
tap_done

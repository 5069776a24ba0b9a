#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# What was written is what is read: fio's verify in both modes, direct and buffered,
# on widths that are (R5) and are not (R8) a power of two; and random overlap against a model.
. "${BASH_SOURCE[0]%/*}/common.sh"

# R5 on one kernel, R8 on the other: what differs between them has nothing to do with the width.
SIZE=$((8 << 20))
case ${LONG:+long},$(uname -r) in
long,*)	presets=(R5 R8) SIZE=$((64 << 20)) ;;
,6.1.*)	presets=(R8) ;;
*)	presets=(R5) ;;
esac

verify() {
	fio_verify /dev/mapper/fs0 $SIZE "$@"
}

tap_plan $((20 * ${#presets[@]} + 4))
rig_load_module
for preset in "${presets[@]}"; do
	for mode in writebehind writethrough; do
		rig_preset "$preset" ram
		rig_target fs0 "$RIG_MD" mode "$mode"
		name="$preset, $mode"
		tap_check "$name: whole stripes" verify --direct=1 --rw=write --bs="$RIG_W"
		tap_check "$name: random 4 KiB" verify --direct=1 --rw=randwrite --bs=4k \
			--iodepth=16
		tap_check "$name: random mixed sizes" verify --direct=1 --rw=randwrite \
			--bsrange=4k-$((2 * RIG_W)) --blockalign=4k --iodepth=8 --verify_backlog=64
		tap_check "$name: below 4 KiB" verify --direct=1 --rw=randwrite --bsrange=512-72k \
			--blockalign=512 --iodepth=8
		tap_check "$name: reads among writes" verify --direct=1 --rw=randrw --bs=16k \
			--verify_backlog=1 --iodepth=1
		tap_check "$name: fsync now and then" verify --direct=1 --rw=randwrite --bs=4k --fsync=8 \
			--size=$((SIZE / 4))
		tap_check "$name: eight jobs" verify --direct=1 --rw=randwrite --bsrange=4k-128k --iodepth=4 --thread \
			--numjobs=8 --size=$((SIZE / 8)) --offset_increment=$((SIZE / 8))
		tap_check "$name: buffered" verify --direct=0 --rw=randwrite --bsrange=4k-256k \
			--ioengine=psync
		rig_target_remove fs0
		rig_teardown
		# On members that are all zero again, as the model begins.
		rig_preset "$preset" ram
		rig_target fs0 "$RIG_MD" mode "$mode" hold_ms 20
		tap_check "$name: eight threads against a model" "$STRESS" --ops 6000 \
			--lower "$RIG_MD" /dev/mapper/fs0
		rig_target_remove fs0
		rig_teardown
		rig_preset "$preset" ram
		rig_target fs0 "$RIG_MD" mode "$mode" hold_ms 50 high_water_bytes $((2 * RIG_W)) \
			low_water_bytes $((RIG_W / 2))
		tap_check "$name: with the least memory" "$STRESS" --ops 3000 --seed 2 \
			--lower "$RIG_MD" /dev/mapper/fs0
		rig_target_remove fs0
		rig_teardown
	done
done

# What the members take is a multiple of 4096 bytes, and so is what the target is given and sends.
rig_members 5 64 ram 4096
rig_array 5 64
rig_target fs0 "$RIG_MD" hold_ms 20
tap_is "$(blockdev --getss /dev/mapper/fs0)" 4096 "blocks of 4096 bytes: it has them"
tap_check "blocks of 4096 bytes: eight threads against a model" "$STRESS" --ops 6000 --block 4096 \
	--lower "$RIG_MD" /dev/mapper/fs0
tap_check "blocks of 4096 bytes: random mixed sizes" verify --direct=1 --rw=randwrite \
	--bsrange=4k-$((2 * RIG_W)) --blockalign=4k --iodepth=8 --verify_backlog=64
dd if=/dev/zero of=/dev/mapper/fs0 bs=512 count=1 oflag=direct conv=notrunc status=none 2>/dev/null
tap_is $? 1 "blocks of 4096 bytes: nothing less is taken"
rig_target_remove fs0
rig_teardown
tap_done

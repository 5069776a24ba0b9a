#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Reads are served while a flush keeps the destager, and the members, as busy as they
# can be: a read waits for the few stripes that are in flight, not for all that are staged.
. "${BASH_SOURCE[0]%/*}/common.sh"

stripes=192
# What fits into three quarters of md's stripe cache of 256 rows.
inflight=$((256 * 4096 * 3 / 4 / 65536))

tap_plan 5
rig_load_module
rig_preset R5 spindle
# Then it is not md that lets no more of them in.
rig_set "/sys/block/${RIG_MD#/dev/}/md/stripe_cache_size" 4096
rig_target fs0 "$RIG_MD" hold_ms 3600000 file_high_water_bytes 0 cluster_bytes $((2 * RIG_W)) \
	high_water_bytes $((2 * stripes * RIG_W)) low_water_bytes $(((stripes + 1) * RIG_W))
stats=$(rig_sysfs fs0)/stats

# Every other stripe: no cluster is whole, and all waits for the flush.
fio --name=w --filename=/dev/mapper/fs0 --direct=1 --rw=write --bs=$((RIG_W / 2)) --output=/dev/null \
	--zonemode=strided --zonesize="$RIG_W" --zonerange="$RIG_W" --zoneskip="$RIG_W" \
	--size=$((2 * stripes * RIG_W)) --io_size=$((stripes * RIG_W))
tap_is "$(<"$stats/staged_bytes")" $((stripes * RIG_W)) "all of it is staged"
rig_count_begin
dmsetup message fs0 0 flush &
until (($(<"$stats/whole_stripes"))); do :; done
reads=0 at=0
while (($(<"$stats/staged_bytes"))); do
	dd if=/dev/mapper/fs0 of=/dev/null bs=4k count=1 iflag=direct status=none \
		skip=$((32768 - 19 * ++at))
	((!$(<"$stats/staged_bytes"))) || ((++reads))
done
wait $!
tap_is $? 0 "it is flushed"
rig_count_end
tap_is "$(<"$stats/whole_stripes")" "$stripes" "in whole stripes"
tap_diag "$reads reads were served meanwhile"
# A read for each two times that what is in flight is renewed, as starting dd takes time.
((reads >= stripes / inflight / 2))
tap_is $? 0 "they did not wait for more than what is in flight"
tap_is "$RIG_READS" "$at" "and no other read of the members"
rig_target_remove fs0
tap_done

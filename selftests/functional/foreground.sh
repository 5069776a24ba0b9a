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
# How many reads there were, and how many ended with something still staged.
read -r at reads < <(python3 - "$stats" <<-'PYTHON'
	import mmap, os, sys
	fd = os.open("/dev/mapper/fs0", os.O_RDONLY | os.O_DIRECT)
	data = mmap.mmap(-1, 4096)
	def number(name):
	    with open(f"{sys.argv[1]}/{name}") as f:
	        return int(f.read())
	while not number("whole_stripes"):
	    pass
	at = reads = 0
	while number("staged_bytes"):
	    at += 1
	    os.preadv(fd, [data], 4096 * (32768 - 13 * at))
	    if number("staged_bytes"):
	        reads += 1
	print(at, reads)
PYTHON
)
wait $!
tap_is $? 0 "it is flushed"
rig_count_end
tap_is "$(<"$stats/whole_stripes")" "$stripes" "in whole stripes"
tap_diag "$reads reads were served meanwhile"
# A read for each two times that what is in flight is renewed, as a slow machine takes its time for one.
((reads >= stripes / inflight / 2))
tap_is $? 0 "they did not wait for more than what is in flight"
tap_is "$RIG_READS" "$at" "and no other read of the members"
rig_target_remove fs0
tap_done

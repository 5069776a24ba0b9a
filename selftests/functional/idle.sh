#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What nobody flushes is written all the same: when the device is idle, and while it is
# not when it is old.
. "${BASH_SOURCE[0]%/*}/common.sh"

write() {
	dd if=/dev/zero of=/dev/mapper/fs0 bs=4k count=1 seek="$1" oflag=direct conv=notrunc \
		status=none
}

# drained: waits until nothing is staged; prints for how many seconds that took.
drained() {
	local begin=$SECONDS
	while (($(<"$stats/staged_bytes"))); do
		sleep 0.1
	done
	echo $((SECONDS - begin))
}

tap_plan 6
rig_load_module
rig_preset R5 ram
rig_target fs0 "$RIG_MD" hold_ms 40000
stats=$(rig_sysfs fs0)/stats
write 0
(($(<"$stats/staged_bytes")))
tap_is $? 0 "a write is staged"
took=$(drained)
tap_diag "idle after $took s of the 40 s that it may be held"
((took < 35))
tap_is $? 0 "an idle device drains before the hold is over"
tap_is "$(<"$stats/partial_stripes")" 1 "by writing the part that is there"
rig_target_remove fs0

# Reads keep it from being idle, so what ends the hold is the hold.
rig_target fs0 "$RIG_MD" hold_ms 5000
stats=$(rig_sysfs fs0)/stats
fio --name=r --filename=/dev/mapper/fs0 --rw=randread --bs=4k --direct=1 --time_based \
	--runtime=600 --offset=1m --size=8m --output=/dev/null &
until (($(awk '{ print $1 }' "/sys/block/$(basename "$(dirname "$(rig_sysfs fs0)")")/stat") > 100)); do
	sleep 0.1
done
write 0
took=$(drained)
((took >= 3))
tap_is $? 0 "beside reads it is held longer than until idle"
((took <= 5 + 10 * ${TIME_SCALE:-1}))
tap_is $? 0 "and not much longer than it may be"
tap_is "$(<"$stats/partial_stripes")" 1 "and written when its hold is over"
pkill -x fio
wait
tap_done

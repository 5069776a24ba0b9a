#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 400
# long timeout: 1800
# An array that loses a member under load, runs without it, and is rebuilt, all while
# the load goes on: contents hold, and in the end parity is right everywhere.
. "${BASH_SOURCE[0]%/*}/common.sh"

md=/sys/block/md0/md

# until_true COMMAND...: wait for it, but not for ever.
until_true() {
	local i
	for ((i = 0; i < 1200; i++)); do
		"$@" && return 0
		sleep 0.1
	done
	return 1
}

is() {
	[[ $(<"$1") == "$2" ]]
}

# md can say idle before it begins: only when nothing is degraded is it over.
rebuilt() {
	is "$md/degraded" 0 && is "$md/sync_action" idle
}

written() {
	(($(<"$stats/destaged_bytes") + $(<"$stats/bypassed_bytes") > $1))
}

# load_goes_on: whether so much more reaches the array as proves it.
load_goes_on() {
	until_true written $(($(<"$stats/destaged_bytes") + $(<"$stats/bypassed_bytes") + (4 << 20)))
}

rounds=1
[[ ! ${LONG-} ]] || rounds=10
tap_plan $((rounds * 6 + 4))
rig_load_module
rig_preset R5 ram
echo 100000 >$md/sync_speed_max
rig_target fs0 "$RIG_MD" hold_ms 50 high_water_bytes 2097152
stats=$(rig_sysfs fs0)/stats
"$STRESS" --ops 100000000 --lower "$RIG_MD" /dev/mapper/fs0 >/run/stress 2>&1 &
stress=$!
for ((round = 0; round < rounds; round++)); do
	member=${RIG_MEMBERS[round % RIG_N]}
	tap_check "$round: the load runs" load_goes_on
	tap_check "$round: a member fails" mdadm --quiet "$RIG_MD" --fail "$member"
	tap_check "$round: the load goes on without it" load_goes_on
	until_true mdadm --quiet "$RIG_MD" --remove "$member" 2>/dev/null
	mdadm --quiet --zero-superblock "$member"
	# What it held must not be what makes the rebuilt array right.
	dd if=/dev/urandom of="$member" bs=1M count=63 seek=1 oflag=direct status=none
	tap_check "$round: a new one is added" mdadm --quiet "$RIG_MD" --add "$member"
	tap_check "$round: it is rebuilt" until_true rebuilt
	tap_check "$round: the load went on with that" load_goes_on
done
kill -TERM "$stress"
wait "$stress"
tap_is $? 0 "contents hold"
tap_diag "$(</run/stress)"
tap_is "$(target_state), $(<"$stats/destage_errors")" "ok, 0" "the target saw no error"
rig_target_remove fs0
echo check >$md/sync_action
until_true is $md/sync_action idle
tap_is $? 0 "parity is checked"
tap_is "$(<$md/mismatch_cnt)" 0 "and right everywhere"
tap_done

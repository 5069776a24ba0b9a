#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 400
# long timeout: 1800
# A lower device that fails again and again, under load: who is told of an error tries
# again, and in the end all is as the last who succeeded left it.
. "${BASH_SOURCE[0]%/*}/common.sh"

# windows COUNT: while the load runs, fail until stripes failed COUNT times.
windows() {
	local failed=0 before
	while ((failed < $1)) && kill -0 "$stress" 2>/dev/null; do
		before=$(<"$stats/destage_errors")
		lower "0 $sectors flakey $RIG_MD 0 0 60 1 error_writes"
		# Not for ever: a device that had nothing to write has no errors.
		for _ in {1..50}; do
			(($(<"$stats/destage_errors") > before)) && break
			sleep 0.1
		done
		(($(<"$stats/destage_errors") > before)) && ((++failed))
		lower "0 $sectors linear $RIG_MD 0"
		dmsetup message fs0 0 retry
		sleep 0.3
	done
	echo "$failed"
}

tap_plan 12
rig_load_module
modprobe dm-flakey
count=5
[[ ! ${LONG-} ]] || count=50
for mode in writebehind writethrough; do
	rig_preset R5 ram
	sectors=$(blockdev --getsz "$RIG_MD")
	dmsetup create low --table "0 $sectors linear $RIG_MD 0"
	rig_target fs0 /dev/mapper/low chunk_bytes 65536 data_members 4 hold_ms 50 \
		high_water_bytes 2097152 mode "$mode"
	stats=$(rig_sysfs fs0)/stats
	"$STRESS" --ops 100000000 --insist 120 --lower "$RIG_MD" /dev/mapper/fs0 >/run/stress 2>&1 &
	stress=$!
	# Held writes fail to their writers, and not in destage: what counts there is time.
	if [[ $mode == writebehind ]]; then
		failed=$(windows "$count")
		((failed >= count))
		tap_is $? 0 "$mode: it failed often enough"
	else
		for ((i = 0; i < count; i++)); do
			lower "0 $sectors flakey $RIG_MD 0 0 60 1 error_writes"
			sleep 0.5
			lower "0 $sectors linear $RIG_MD 0"
			sleep 0.5
		done
		kill -0 "$stress"
		tap_is $? 0 "$mode: the load goes on"
	fi
	kill -TERM "$stress"
	wait "$stress"
	tap_is $? 0 "$mode: contents hold"
	tap_diag "$(</run/stress)"
	grep -q '^[1-9][0-9]* operations were done again' /run/stress
	tap_is $? 0 "$mode: there were errors, and they were told"
	dmsetup message fs0 0 flush
	tap_is "$(target_state), $(<"$stats/staged_bytes")" "ok, 0" \
		"$mode: nothing is failing or staged then"
	before=$(<"$stats/accepted_bytes")
	dd if=/dev/zero of=/dev/mapper/fs0 bs=4k count=1 oflag=direct conv=notrunc status=none
	accepted=$(($(<"$stats/accepted_bytes") - before))
	tap_is "$accepted" "$([[ $mode == writebehind ]] && echo 4096 || echo 0)" \
		"$mode: writes are staged again as the mode has it"
	tap_check "$mode: the target can be removed" rig_target_remove fs0
	rig_teardown
done
tap_done

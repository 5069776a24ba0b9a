#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# stock: it has neither dm-dust nor requests that can be made to fail
#
# Errors that only a debug kernel can make below the target: blocks that are bad for reads
# until they are written (dm-dust), and requests that fail at random.
. "${BASH_SOURCE[0]%/*}/common.sh"

fault=/sys/kernel/debug/fail_make_request
[[ -d $fault ]] || tap_skip_all "this kernel has no fail_make_request"
modprobe -q dm-dust || tap_skip_all "this kernel has no dm-dust"

put() {
	dd if=/dev/urandom of=/dev/mapper/fs0 bs=4k seek="$1" count="$2" oflag=direct conv=notrunc status=none
}

sum() {
	dd if="$1" bs=4k skip="$2" count="$3" iflag=direct status=none 2>/dev/null | md5sum
}

# thinly BLOCK: write so little of a stripe, here and there, that its holes are read to
# write it whole, where they can be.
thinly() {
	local i
	for ((i = $1; i < $1 + 16; i += 2)); do
		put "$i" 1
	done
}

reads() {
	dd if="$1" of=/dev/null bs=4k skip="$2" count="$3" iflag=direct status=none 2>/dev/null
}

# shellcheck disable=SC2317 # the trap calls it
heal() {
	echo 0 >"$fault/probability"
	leave
}

tap_plan 20
trap heal EXIT
rig_load_module

rig_members 1 64 ram
sectors=$(blockdev --getsz "${RIG_MEMBERS[0]}")
dmsetup create low --table "0 $sectors dust ${RIG_MEMBERS[0]} 0 4096"
rig_target fs0 /dev/mapper/low chunk_bytes 65536 data_members 4 hold_ms 3600000 seek_bytes 1048576
stats=$(rig_sysfs fs0)/stats
for block in 10 20 700 1285; do
	dmsetup message low 0 addbadblock "$block" >/dev/null 2>&1
done
dmsetup message low 0 enable
reads /dev/mapper/fs0 10 1
tap_is $? 1 "a bad block cannot be read"
put 3 5
put 12 4
around=$(sum /dev/mapper/fs0 3 5)$(sum /dev/mapper/fs0 12 4)
tap_check "what is staged around bad blocks can be written" fsync
tap_is "$(sum "${RIG_MEMBERS[0]}" 3 5)$(sum "${RIG_MEMBERS[0]}" 12 4)" "$around" "it is below"
reads /dev/mapper/fs0 10 1
tap_is $? 1 "the bad block between is as bad as before"
put 10 1
reads /dev/mapper/fs0 8 4
tap_is $? 0 "staged over, it can be read"
tap_check "and written, which mends it" fsync
reads /dev/mapper/low 10 1
tap_is $? 0 "as a disk does"
put 640 64	# a whole stripe
tap_check "a whole stripe over a bad block is written" fsync
reads /dev/mapper/low 640 64
tap_is $? 0 "and can be read below"
thinly 1344
tap_check "a thinly staged stripe is written" fsync
tap_is "$(<"$stats/filled_stripes")" 1 "filled"
thinly 1280
tap_check "one with a bad block in its holes too" fsync
tap_is "$(<"$stats/filled_stripes")" 1 "but not filled"
# A write would mend it, with what nobody wrote.
reads /dev/mapper/low 1285 1
tap_is $? 1 "the bad block is as bad as before"
tap_is "$(target_state)" ok "nothing of this is a failure of the target"
tap_check "the target can be removed" rig_target_remove fs0
rig_teardown

# One request in twenty.
rig_members 1 64 ram
below=${RIG_MEMBERS[0]}
rig_target fs0 "$below" chunk_bytes 65536 data_members 4 hold_ms 50 high_water_bytes 2097152
stats=$(rig_sysfs fs0)/stats
echo 0 >"$fault/verbose"
echo -1 >"$fault/times"
echo 1 >"$fault/interval"
echo N >"$fault/task-filter"
echo 5 >"$fault/probability"
echo 1 >"/sys/block/${below#/dev/}/make-it-fail"
"$STRESS" --ops 100000000 --insist 120 --lower "$below" /dev/mapper/fs0 >/run/stress 2>&1 &
stress=$!
until (($(<"$stats/destage_errors") >= 20)) || ! kill -0 "$stress"; do
	dmsetup message fs0 0 retry
	sleep 0.5
done
echo 0 >"/sys/block/${below#/dev/}/make-it-fail"
dmsetup message fs0 0 retry
kill -TERM "$stress"
wait "$stress"
tap_is $? 0 "contents hold where requests fail at random"
tap_diag "$(<"$stats/destage_errors") errors of destage; $(</run/stress)"
(($(<"$stats/destage_errors") >= 20))
tap_is $? 0 "there were such requests"
dmsetup message fs0 0 flush
tap_is "$(target_state), $(<"$stats/staged_bytes")" "ok, 0" "nothing is failing or staged then"
tap_check "the target can be removed then" rig_target_remove fs0
tap_done

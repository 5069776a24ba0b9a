#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Who goes on writing to a stripe that cannot be written keeps nobody else waiting: no flush, no change of the stripes,
# nor another stripe's next try. And who was never tried does not fail because the one before him did, once.
# once: 6.12 what is tried again and when the module decides by itself
. "${BASH_SOURCE[0]%/*}/common.sh"

# table FIRST...: of the device low: those stripes of 512 sectors cannot be written.
table() {
	local first at=0
	for first; do
		((first == at)) || echo "$at $((first - at)) linear $RIG_MD $at"
		echo "$first 512 flakey $RIG_MD $first 0 60 1 error_writes"
		at=$((first + 512))
	done
	echo "$at $((sectors - at)) linear $RIG_MD $at"
}

# put BLOCK [FLAG [BYTE]]: of 4 KiB.
put() {
	tr '\0' "${3-a}" </dev/zero | dd of=/dev/mapper/fs0 bs=4k count=1 seek="$1" iflag=fullblock \
		oflag=direct"${2:+,$2}" conv=notrunc status=none 2>/dev/null
}

# write_on: somebody, WRITER, always writes to the first stripe, until it was tried often.
write_on() {
	local errors
	errors=$(stat destage_errors)
	fio --name=on --filename=/dev/mapper/fs0 --direct=1 --ioengine=libaio --iodepth=32 --rw=randwrite --bs=4k \
		--size=256k --time_based --runtime=600 --continue_on_error=write --thread >/run/fio 2>&1 &
	WRITER=$!
	until_true is_above destage_errors $((errors + 20))
}

# write_no_more: but was there until now.
write_no_more() {
	local status=0
	kill "$WRITER" || status=$?
	wait "$WRITER"
	return "$status"
}

# destage_soon: what is staged is written without somebody who asks for it.
destage_soon() {
	dmsetup message fs0 0 set hold_ms 1
	"$@"
	local r=$?
	dmsetup message fs0 0 set hold_ms 3600000
	return "$r"
}

# is_late: a write is on its way to the device low.
# shellcheck disable=SC2317 # destage_soon calls it
is_late() {
	[[ $(dmsetup status late | cut -d' ' -f5) != 0 ]]
}

tap_plan 17
rig_load_module
modprobe dm-flakey
modprobe dm-delay
rig_preset R5 ram
sectors=$(blockdev --getsz "$RIG_MD")
dmsetup create low --table "$(table)"
rig_target fs0 /dev/mapper/low chunk_bytes 65536 data_members 4 hold_ms 3600000 seek_bytes 0

# He has always some under way, so that the stripe is tried again as soon as it has failed.
put 0
lower "$(table 0)"
fsync
tap_is "$? $(stat failing_stripes)" "1 1" "a stripe cannot be written"
write_on
tap_is $? 0 "somebody goes on writing there, and it is tried each time"
for ((i = 0; i < 10; i++)); do
	dmsetup message fs0 0 flush 2>/dev/null &
	flush=$!
	eventually $((20 * ${TIME_SCALE:-1})) is_gone "$flush" || break
	wait "$flush" && break
done
tap_is "$i" 10 "beside him flushes fail, and do not wait"
dmsetup message fs0 0 set stripe_bytes 131072 2>/dev/null &
change=$!
tap_check "nor does a change of the stripes wait" eventually $((20 * ${TIME_SCALE:-1})) is_gone "$change"
tap_check "who was there until then" write_no_more
wait "$change"
tap_is "$? $(<"$(rig_sysfs fs0)/stripe_bytes")" "1 262144" "but it is refused"
lower "$(table)"
tap_check "after the repair a flush succeeds" fsync

# What failed is tried again by itself, beside what is tried all the time.
put 0
put 320
lower "$(table 0 2560)"
destage_soon until_true is failing_stripes 2
tap_is $? 0 "two cannot be written"
write_on
lower "$(table 0)"
tap_check "the one that is repaired is written, whoever writes to the other" \
	eventually $((20 * ${TIME_SCALE:-1})) is failing_stripes 1
tap_check "who was there until then" write_no_more
lower "$(table)"
fsync
rig_target_remove fs0

# What is written is under way for three seconds, and may fail then; the next try as well.
dmsetup create late --table "0 $sectors delay /dev/mapper/low 0 0 /dev/mapper/low 0 $((3000 * ${TIME_SCALE:-1}))"
rig_target fs0 /dev/mapper/late chunk_bytes 65536 data_members 4 hold_ms 3600000 seek_bytes 0
put 0 '' b
destage_soon until_true is_late
tap_is $? 0 "a stripe is under way"
fuas=$(stat fua_writes)
put 1 dsync c &
job=$!
until_true is fua_writes $((fuas + 1))
tap_is $? 0 "somebody waits for the one above it, with FUA"
lower "$(table 0)"
until_true is failing_stripes 1
tap_is $? 0 "it fails"
lower "$(table)"
wait "$job"
tap_is "$? $(stat failing_stripes)" "0 0" "but not the one above it, as it is tried again first"
tap_is "$(dd if="$RIG_MD" bs=4k count=2 iflag=direct status=none | tr -d '\0' | tr -s bc)" "bc" "both are below"

# If it fails again he is told.
put 0 '' b
destage_soon until_true is_late
lower "$(table 0)"
put 1 dsync c
tap_is "$? $(stat failing_stripes)" "1 1" "if that fails, too, who waits is told"
lower "$(table)"
tap_check "after the repair a flush succeeds" fsync
rig_target_remove fs0
dmsetup remove late
rig_teardown
tap_done

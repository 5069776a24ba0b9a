#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module comes and goes, and stays while it is in use; also after removals that do not ask
# who has the device open, with writes under way and others in memory.
. "${BASH_SOURCE[0]%/*}/common.sh"

# put BLOCK, sum DEV BLOCK: a block of 4 KiB that is staged.
put() {
	dd if=/dev/urandom of=/dev/mapper/fs0 bs=4k count=1 seek="$1" oflag=direct conv=notrunc,nocreat status=none
}

sum() {
	dd if="$1" bs=4k count=1 skip="$2" iflag=direct status=none | md5sum
}

# A deferred removal drops the name first, then the table, which is what holds the module.
# shellcheck disable=SC2317 # until_true calls it
is_unused() {
	[[ $(</sys/module/dm_fullstripe/refcnt) == 0 ]]
}

# by_force: a target with a writer and with data in memory gets a table of errors, and the module goes at
# once. Sets writer; what was staged is below.
# shellcheck disable=SC2317 # tap_check calls it
by_force() {
	local staged
	rig_load_module && rig_target fs0 "$RIG_MD" hold_ms 3600000 && put 0 && is_above staged_bytes 0 || return
	staged=$(sum /dev/mapper/fs0 0)
	fio --name=w --filename=/dev/mapper/fs0 --direct=1 --rw=randwrite --bsrange=4k-"$RIG_W" --blockalign=4k \
		--offset="$RIG_W" --size=16m --ioengine=libaio --iodepth=16 --time_based --runtime=60 --output=/dev/null 2>&1 &
	writer=$!
	until_true is_above destaged_bytes 0
	# It has two parts; the second one fails as long as the writer has it open.
	dmsetup remove --force fs0 2>/dev/null
	rig_unload_module && [[ $(sum "$RIG_MD" 0) == "$staged" ]]
}

# How often that is done.
TIMES=5

tap_plan 13
tap_check "loads" rig_load_module
tap_check "dm knows the target" grep -q '^fullstripe ' <(dmsetup targets)
rig_preset R5 ram
tap_check "a target is made" rig_target fs0 "$RIG_MD"
rmmod dm_fullstripe 2>/dev/null
tap_is $? 1 "unload is refused while the target exists"
tap_check "the target is removed" rig_target_remove fs0
tap_check "unloads" rig_unload_module

for ((i = 0; i < TIMES; i++)); do
	tap_check "removed by force under load, and unloaded at once, it has written all that was staged" by_force
	# It ends when its writes fail.
	wait "$writer"
	dmsetup remove --retry fs0 2>/dev/null
done
tap_check "it is there again" eval 'rig_load_module && rig_target fs0 "$RIG_MD" hold_ms 3600000'
put 0
staged=$(sum /dev/mapper/fs0 0)
exec {fd}</dev/mapper/fs0
dmsetup remove --deferred fs0
exec {fd}<&-
until_true is_unused && rig_unload_module
tap_is "$? $(sum "$RIG_MD" 0)" "0 $staged" "removed with who closed it last, it has, too"
tap_done

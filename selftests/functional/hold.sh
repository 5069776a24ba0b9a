#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# In writethrough who writes waits for what others may add to his stripe; but not if nobody does, time after time.
. "${BASH_SOURCE[0]%/*}/common.sh"

IDLE_MS=400	# a fifth of hold_ms: then nothing is held any more

# ms_of FIRST COUNT: how long it takes to write so many blocks from that one on, one at a time.
ms_of() {
	local begin i
	for ((i = $1; i < $1 + $2; i++)); do
		echo "pwrite -q -S $((i + 1)) $((i * 8192)) 4k"
	done >/run/writes
	begin=${EPOCHREALTIME/./}
	xfs_io -d /dev/mapper/fs0 </run/writes >/dev/null
	echo $(((${EPOCHREALTIME/./} - begin) / 1000))
	xfs_io /run/data </run/writes >/dev/null
}

tap_plan 8
rig_load_module
rig_preset R5 ram
dd if=/dev/urandom of=/run/data bs=1M count=2 status=none
dd if=/run/data of="$RIG_MD" bs=1M oflag=direct status=none
rig_target fs0 "$RIG_MD" mode writethrough hold_ms $((5 * IDLE_MS))

held=$(ms_of 0 16)
((held >= 16 * IDLE_MS / 2))
tap_is $? 0 "one block at a time is held"
passed=$(ms_of 16 64)
((passed < held))
tap_is $? 0 "but when nobody joined any of sixteen, not the next 64"
tap_diag "$held ms for 16, $passed ms for 64"
again=$(ms_of 80 1)
((again >= IDLE_MS / 2))
tap_is $? 0 "then it looks whether somebody does"
passed=$(ms_of 81 32)
((passed < held))
tap_is $? 0 "and not again when nobody did"
tap_diag "$again ms for one, $passed ms for 32"

dmsetup message fs0 0 reset_stats
fio --name=w --filename=/dev/mapper/fs0 --rw=write --bs=4k --size=256k --offset=1m --direct=1 --ioengine=libaio --iodepth=16 \
	--output=/dev/null
tap_is "$(stat held_bytes)" 262144 "sixteen blocks at a time are held"
(($(stat partial_stripes) + $(stat whole_stripes) < 16))
tap_is $? 0 "and joined"
again=$(ms_of 192 1)
((again >= IDLE_MS / 2))
tap_is $? 0 "from then on one block is held, too"
dmsetup message fs0 0 flush
rig_target_remove fs0
cmp -n $((1024 * 1024)) "$RIG_MD" /run/data
tap_is $? 0 "all of it is below"
tap_done

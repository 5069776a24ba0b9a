#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Writes to the same sectors that are under way at one time, which have no order: what is read
# meanwhile, and what is below in the end, is of either of them, sector by sector.
# once: 6.12 it is the module that copies
. "${BASH_SOURCE[0]%/*}/common.sh"

OVERLAP=$RIG_TOP/build/selftests/functional/overlap

# of_one DEVICE: whether each sector of the extent is.
# shellcheck disable=SC2317 # tap_check calls it
of_one() {
	! dd if="$1" bs=64k count=1 iflag=direct status=none | fold -w 512 | grep -qvE '^(a+|b+)$'
}

tap_plan 6
rig_load_module
rig_preset R5 ram
for mode in writebehind writethrough; do
	writes=20000
	# Each waits for the members.
	[[ $mode == writebehind ]] || writes=500
	rig_target fs0 "$RIG_MD" mode "$mode" hold_ms 10
	tap_check "$mode: what is read is of one of two writers" "$OVERLAP" /dev/mapper/fs0 $writes
	dmsetup message fs0 0 flush
	tap_check "$mode: so is what is below" of_one "$RIG_MD"
	tap_check "$mode: which is what is read then" cmp -n 65536 "$RIG_MD" /dev/mapper/fs0
	rig_target_remove fs0
done
tap_done

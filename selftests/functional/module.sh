#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module comes and goes, and stays while it is in use.
. "${BASH_SOURCE[0]%/*}/common.sh"

tap_plan 6
tap_check "loads" rig_load_module
tap_check "dm knows the target" grep -q '^fullstripe ' <(dmsetup targets)
rig_preset R5 ram
tap_check "a target is made" rig_target fs0 "$RIG_MD"
rmmod dm_fullstripe 2>/dev/null
tap_is $? 1 "unload is refused while the target exists"
tap_check "the target is removed" rig_target_remove fs0
tap_check "unloads" rig_unload_module
tap_done

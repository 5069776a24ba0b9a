#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# timeout: 600
# long timeout: 7200
#
# Machines that reboot with data staged, which nobody asked to be flushed.
set -uo pipefail

usage() {
	cat <<-USAGE
	Usage: reboot.sh [OPTION]...

	Writes to the target in the test machine, reboots that as reboot(2) does, without a
	sync, boots again and judges what is on the disks: all that had completed must be. The last
	but one time beside a stripe that cannot be written, and the last one while the target is
	being removed.
	Then the same with the negative control, a target that does not hear of the reboot.
	At last, if it is for long, reboots that cannot write all: of a suspended target, and while
	the device below takes nothing. They must not hang, and say what is lost.

	  --stuck            only these; it takes eight minutes
	USAGE
	boot_usage
}

stuck=''
if [[ ${1-} == --stuck ]]; then
	stuck=only
	shift
fi
# shellcheck source-path=SCRIPTDIR
. "${BASH_SOURCE[0]%/*}/boot.sh"
: "${times:=$((${#long} ? 7 : 3))}"
: "${stuck:=$long}"

# rebooted MODULE BEGIN END: boot, write and reboot, with something staged.
rebooted() {
	boot "$1" "$2" "$3"
	cat "$out/vm/output" "$out/staged"
	grep 'reboot: Restarting system' "$out/vm/console" && (($(<"$out/staged") > 1 << 20))
}

# says_lost: how many bytes the target says are lost, as the machine of the last boot went down.
says_lost() {
	sed -n 's/.*the machine goes down, \([0-9]*\) bytes in [0-9]* stripes are lost.*/\1/p' "$out/vm/console"
}

# not_all_written: reboots where something, or nothing, of what is staged can be written.
not_all_written() {
	local limit=600
	tap_check "kernel $kernel: a machine reboots with a suspended target that could not write all" \
		rebooted "$module" create suspended
	# Of the one who was told, too.
	tap_is "$(says_lost)" 8192 "and what is lost is said"
	tap_check "kernel $kernel: another reboots while the device below takes nothing" rebooted "$module" judge-all stuck
	verdict
	tap_is "$VERDICT" "nothing lost" "nothing is lost that the suspend could write"
	tap_is "$(says_lost)" "$(<"$out/staged")" "and all that was staged is said to be lost"
}

if [[ $stuck == only ]]; then
	tap_plan 5
	not_all_written
	boot_done
	exit
fi
control=''
[[ $module ]] || control=$("$here/mutant" reboot-ignored "$kver") ||
	die "the negative control cannot be built"

# Each boot judges what the one before left.
tap_plan $((2 + 2 * times + (times > 2) + (${#control} ? 1 : 0) + (${#stuck} ? 5 : 0)))
tap_diag "seed $seed"
tap_check "kernel $kernel: a machine reboots with data staged" rebooted "$module" create reboot
for ((i = 1; i <= times; i++)); do
	staged=$(<"$out/staged")
	if ((i < times - 2)); then
		tap_check "kernel $kernel: another reboots with data staged" rebooted "$module" judge-all reboot
	elif ((i < times - 1)); then
		tap_check "kernel $kernel: another reboots beside a stripe that cannot be written" \
			rebooted "$module" judge-all faulty
		# Of the one who was told, too.
		tap_is "$(says_lost)" 8192 "and what is lost is said"
	elif ((i < times)); then
		tap_check "kernel $kernel: another reboots while the target is being removed" rebooted "$module" judge-all remove
	elif [[ $control ]]; then
		tap_check "a machine with the control reboots with data staged" rebooted "$control" judge-all reboot
	else
		tap_check "the disks can be judged" boot "$module" judge-all stay
	fi
	verdict
	tap_is "$VERDICT" "nothing lost" "reboot $i: nothing of $staged staged bytes is lost"
	# A resync is left frozen, so what comes up after later ones is not clean anyway.
	((i > 1)) || tap_is "$(grep -c 'not clean' "$out/dmesg")" 0 "and the array is clean"
done
if [[ $control ]]; then
	boot '' judge-all stay
	verdict
	tap_is "$VERDICT" LOST "a target that does not hear of the reboot is found"
fi
[[ ! $stuck ]] || not_all_written
boot_done

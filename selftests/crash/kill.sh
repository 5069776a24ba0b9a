#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# timeout: 600
# long timeout: 7200
#
# Machines that are killed while they write; what they were told is stable is there.
set -uo pipefail

usage() {
	cat <<-USAGE
	Usage: kill.sh [OPTION]...

	Kills the emulator with SIGKILL, while the target is under load in it, boots again
	and judges what is on the disks: all that was in the target's memory is gone, and
	nothing of what it had answered a flush for may be. Disks and journal are files of
	this machine. The last one is the negative control: a target that lets flushes pass
	by what it has staged must be seen to lose data.

	USAGE
	boot_usage
}

# shellcheck source-path=SCRIPTDIR
. "${BASH_SOURCE[0]%/*}/boot.sh"
: "${times:=$((${#long} ? 20 : 3))}"
RANDOM=$((seed % 32768))

# How many events the journal has.
events() {
	local bytes
	bytes=$(stat -c %s "$out/journal" 2>/dev/null) || bytes=0
	echo $((bytes / 24))
}

# killed MODULE BEGIN [END]: boot, and kill the machine some time after it began to write.
killed() {
	local machine until=$((300 + RANDOM % 1500))
	# Before the machine is in the background, for what is found there to be its own.
	boot_clean
	# An emulator that is killed has not failed.
	VM_FAILED=$out/failed boot "$1" "$2" "${3-kill}" &
	machine=$!
	until [[ $2 == create || -e $out/verdict ]] && (($(events) >= until)); do
		if [[ ! -d /proc/$machine ]]; then
			[[ ! -e $out/failed || ! ${VM_FAILED-} ]] || touch "$VM_FAILED"
			tail -n 20 "$out/vm/output"
			return 1
		fi
		sleep 0.05
	done
	kill -KILL "$(<"$out/pid")" || return
	wait "$machine"
	echo "killed after $(events) events"
}

control=''
[[ $module ]] || control=$("$here/mutant" flush-passes-staging "$kver") ||
	die "the negative control cannot be built"

# Each boot judges what the one before left.
tap_plan $((2 * times + (${#control} ? 2 : 0)))
tap_diag "seed $seed"
end=through
tap_check "kernel $kernel: a machine is killed under load" killed "$module" create "$end"
for ((i = 1; i <= times; i++)); do
	owed=flushed begin=judge
	[[ $end != through ]] || owed='completed in writethrough' begin=judge-all
	end='kill'
	# In the long form each second one writes so.
	((!${#long} || i % 2)) || end=through
	if ((i < times)); then
		tap_check "kernel $kernel: another is killed under load" killed "$module" "$begin" "$end"
	elif [[ $control ]]; then
		tap_check "a machine with the control is killed under load" killed "$control" "$begin"
	else
		boot "$module" "$begin" stay
	fi
	verdict
	tap_is "$VERDICT" "nothing lost" "kill $i: nothing that was $owed is lost"
done
if [[ $control ]]; then
	# Not every moment is one at which it had told a lie; each kill is judged by the next
	# boot, which finds its journal.
	for ((i = 0; i < 6; i++)); do
		killed "$control" judge || break
		verdict
		[[ $VERDICT == 'nothing lost' ]] || break
	done
	tap_is "$VERDICT" LOST "a target that lets flushes pass by staged data is found"
fi
boot_done

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# timeout: 300
# debug: a boot of systemd takes too long there
# long timeout: 3600
#
# Machines that boot a real systemd, with the devices of fullstripetab(5).
set -uo pipefail

usage() {
	cat <<-USAGE
	Usage: systemd.sh [OPTION]...

	Boots machines with systemd as first process, which assembles an array, makes the
	devices of a fullstripetab, mounts ext4 and xfs from them, and takes all of it down
	when it reboots. With --long several times, and one of them ends by a power cut.

	USAGE
	boot_usage
}

# shellcheck source-path=SCRIPTDIR
. "${BASH_SOURCE[0]%/*}/boot.sh"

# up N BEGIN END: the Nth boot, until the machine has ended. Leaves in OUT what it said.
up() {
	mkdir -p "$out/vm"
	timeout -k 10 200 "$top/selftests/vm/run" --kernel "$kernel" --memory 1024 --timeout 180 --init \
		--log "$out/vm" "${drives[@]}" -- "$here/boot-systemd" init "$out" "$@" >"$out/vm/output" 2>&1
	local status=$?
	cat "$out/vm/output"
	tr -d '\r' <"$out/vm/console" >"$out/console.$1"
	sed -n 's/.*probe: //p' "$out/console.$1" >"$out/left.$1"
	return "$status"
}

# said FILE WORD...: what that line of the machine's report has.
said() {
	local file=$out/$1
	shift
	sed -n "s/^$* //p" "$file" 2>/dev/null
}

# line TEXT: the number of the last line of the console with it.
line() {
	grep -n -- "$1" "$out/console.$n" | tail -n 1 | cut -d: -f1
}

# came_up: the devices were there before the file systems, and those before local-fs.target.
came_up() {
	tap_is "$(said "up.$n" mount a) $(said "up.$n" mount b)" "/dev/mapper/fast /dev/mapper/safe" \
		"boot $n: both file systems are mounted from the fullstripe devices"
	tap_is "$(said "up.$n" order fast) $(said "up.$n" order safe) $(said "up.$n" target)" "1 1 active" \
		"boot $n: which came before the mounts, and those before local-fs.target"
	tap_is "$(said "up.$n" uuid) $(said "up.$n" mode) $(said "up.$n" daemon)" "fast writethrough active" \
		"boot $n: the UUID is theirs, the options count, and the daemon runs"
}

# went_down: they were gone, and all was on the array, before that stopped.
went_down() {
	tap_is "$(said "left.$n" dm) $(said "left.$n" array)" "0 raid5" \
		"boot $n: they are gone while the array is still there"
	tap_is "$(grep -c '^right' "$out/left.$n") $(said "left.$n" uuid)" "2 /dev/md127p1" \
		"boot $n: on which is all that was written"
	local gone stopped
	gone=$(line 'Stopped fullstripe@fast.service') stopped=$(line 'md: md127 stopped')
	tap_check "boot $n: and which md stops after that" test "${gone:-0}" -gt 0 -a "${stopped:-0}" -gt "${gone:-0}"
	tap_is "$(grep -c -e 'Detaching DM /' -e 'Failed to finalize' -e 'was not removed' "$out/console.$n")" 0 \
		"boot $n: nothing is left for systemd-shutdown to force"
}

ends=(reboot)
((!${#long})) || ends=(reboot reboot cut reboot reboot)
if [[ $times ]]; then
	ends=()
	for ((i = 0; i < times; i++)); do
		ends+=(reboot)
	done
fi
results=0
for end in "${ends[@]}"; do
	results=$((results + 5))
	[[ $end == cut ]] || results=$((results + 4))
done
tap_plan $((results - 1))
# Unit and generator have the programs' folder in them, and other tests have others.
make -s -C "$top/daemon" SBINDIR=/usr/local/sbin >&2 || exit
begin=create n=0
for end in "${ends[@]}"; do
	((++n))
	tap_check "kernel $kernel, boot $n: a machine boots systemd, and ends by $end" up "$n" "$begin" "$end"
	came_up
	((n == 1)) || tap_is "$(cat "$out/lost.$n" 2>&1)" '' "boot $n: what was written before is as it was"
	[[ $end == cut ]] || went_down
	begin=boot
done
tap_diag "$SECONDS s in all"
boot_done

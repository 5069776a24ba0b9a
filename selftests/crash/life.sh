#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# timeout: 1800
# long timeout: 3600
# debug: a boot of systemd takes too long there
# once: 6.12 systemd does the same on both
#
# The life of two fullstripe devices on one machine, with systemd: from installation to removal.
set -uo pipefail

usage() {
	cat <<-USAGE
	Usage: life.sh [OPTION]...

	Boots a machine with systemd as first process, and a disk for its root, again and again:

	  install  make install, fullstripetab(5), mkfs.ext4 and mkfs.xfs, fstab(5); reboot
	  tune     fullstriped sets a device for its workload; the power is cut
	  upgrade  a newer version is installed while the old module is in use; reboot
	  remove   the devices, then make uninstall; the array is mounted without them

	At each step all that was written before must be right; at each boot the devices must
	be there before what is mounted from them, and be gone before md stops. With --long, or
	--times, there are more boots between these.

	USAGE
	boot_usage
}

disks=5
# shellcheck source-path=SCRIPTDIR
. "${BASH_SOURCE[0]%/*}/boot.sh"
. "$here/../lib/tree.sh"

: "${times:=$((${#long} ? 3 : 0))}"
old=$(version_of_tree) new=$(next_version)
truncate -s 256M "$out/root"
mkfs.ext4 -q "$out/root" || die "there is no file system for the root"
drives+=(--drive "$out/root")

# stage TREE DIR: what is installed, of the version of that tree.
stage() {
	make -s -j2 -C "$1" install DESTDIR="$2" KVER="$kver"
}

# up STEP END: the next boot, until the machine has ended.
up() {
	mkdir -p "$out/vm"
	timeout -k 10 420 "$top/selftests/vm/run" --kernel "$kernel" --memory 1024 --timeout 400 --init \
		--log "$out/vm" "${drives[@]}" -- "$here/boot-systemd" init "$out" "$n" "$@" \
		>"$out/vm/output" 2>&1
	local status=$?
	cat "$out/vm/output"
	tr -d '\r' <"$out/vm/console" >"$out/console.$n"
	sed -n 's/.*probe: //p' "$out/console.$n" >"$out/left.$n"
	return "$status"
}

# said FILE WORD...: what that line of this boot's report has.
said() {
	local file=$out/$1.$n
	shift
	sed -n "s/^$* //p" "$file" 2>/dev/null
}

# line TEXT: the number of the last line of the console with it.
line() {
	grep -n -- "$1" "$out/console.$n" | tail -n 1 | cut -d: -f1
}

# came_up VERSION: the devices were there before the file systems, and those before local-fs.target.
came_up() {
	tap_is "$(said up mounted)" "/dev/mapper/fast /dev/mapper/safe" \
		"boot $n: both file systems are mounted from the fullstripe devices"
	tap_is "$(said up order fast) $(said up order safe) $(said up target)" "1 1 active" \
		"which came before the mounts, and those before local-fs.target"
	tap_is "$(said up uuid) $(said up mode) $(said up daemon)" "fast writethrough active" \
		"the UUID is theirs, the options count, and the daemon runs"
	tap_is "$(said up version)" "$1" "the module is of version $1"
}

# went_down: they were gone, and all was on the array, before that stopped.
went_down() {
	tap_is "$(said left dm) $(said left array)" "0 raid5" \
		"boot $n ends: they are gone while the array is still there"
	tap_is "$(grep -c '^right' "$out/left.$n") $(said left uuid)" "2 /dev/md127p1" \
		"on which is all that was written"
	local gone stopped
	gone=$(line 'Stopped fullstripe@fast.service') stopped=$(line 'md: md127 stopped')
	tap_check "and which md stops after that" test "${gone:-0}" -gt 0 -a "${stopped:-0}" -gt "${gone:-0}"
	tap_is "$(grep -c -e 'Detaching DM /' -e 'Failed to finalize' -e 'was not removed' "$out/console.$n")" 0 \
		"nothing is left for systemd-shutdown to force"
}

# right WHEN...: that all was so each time that it was judged.
right() {
	tap_is "$(said up right | paste -sd' ')" "$*" "all that was written before is right: $*"
}

# Each step's own results.

after_install() {
	tap_is "$(said up installed)" "fullstripectl $old $old" "programs and module are installed"
	tap_is "$(said up created)" "/dev/mapper/fast /dev/mapper/safe" "file systems are made and mounted"
}

after_tune() {
	tap_is "$(said up tuned)" "262144 0" "fullstriped sets the stripe width that the array has"
	right boot tuned
}

after_boot() {
	right boot
}

after_upgrade() {
	tap_is "$(said up again)" "131072 4" "after the power cut the device has its table's"
	tap_is "$(said up history)" "apply void" "and history knows that it was another"
	tap_is "$(said up insmod | sed 's/.*: //')" "File exists" "the newer module is refused while the old one is in use"
	tap_is "$(said up package)" "dm-fullstripe $old is in use and stays loaded; dm-fullstripe $new is installed." \
		"which the package says"
	tap_is "$(said up programs)" "fullstripectl $new active" "the newer programs run with it"
	right boot upgraded
}

after_remove() {
	tap_is "$(said up table)" same "the newer module has the tables of the old one"
	tap_is "$(said up removed)" "0 0" "the devices are removed, and all that was installed is"
	tap_is "$(said up directly)" "/dev/md127p1 /dev/md127p2" "the array is mounted without them"
	right boot removed
}

steps=(install:reboot tune:cut)
plan=$((1 + 1 + 2 + 4 + 1 + 4 + 2))
for ((i = 0; i < times; i++)); do
	steps+=(boot:reboot)
	plan=$((plan + 1 + 4 + 1 + 4))
done
steps+=(upgrade:reboot remove:reboot)
plan=$((plan + 1 + 4 + 6 + 4 + 1 + 4 + 4))
tap_plan "$plan"

tap_check "this version and a newer one are built" \
	eval 'stage "$top" "$out/old" && tree_of "$new" "$out/tree" && stage "$out/tree" "$out/new"'
tap_diag "$SECONDS s"
n=0 loaded=$old
for step in "${steps[@]}"; do
	((++n))
	end=${step#*:} step=${step%:*}
	tap_check "kernel $kernel, boot $n: a machine boots systemd, and ends by $end: $step" up "$step" "$end"
	[[ $step != remove ]] || loaded=$new
	[[ $step == install ]] || came_up "$loaded"
	"after_$step"
	[[ $end == cut || $step == remove ]] || went_down
	tap_diag "$SECONDS s"
done
if ((tap_failed)); then
	tap_diag "$(tail -n 100 "$out"/up.*)"
fi
boot_done

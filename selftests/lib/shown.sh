# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # what is set here is used by who sources it
#
# The commands that the documentation shows: in literal blocks, behind a prompt. To be sourced.

shown_top=$(realpath "${BASH_SOURCE[0]%/*}/../..")

# What is run neither by functional/docs.sh nor by the tests of what builds the tree: as
# patterns, and why. Each must fit a command.
shown_exempt=(
	'systemctl *|it needs a systemd: crash/life.sh boots one with the units of fullstripetab'
	'journalctl *|it needs a journal'
	'udevadm *|it needs udev: functional/udev.sh'
	'apt *|it changes the machine: packaging/deb.sh builds the packages and installs them'
	'busctl *|it needs a bus: functional/bus.sh'
	'fullstripectl daemon *|it needs the daemon and a bus: functional/bus.sh'
	'mokutil *|it needs the firmware of a machine'
	'/lib/modules/KVER/build/scripts/sign-file *|it needs a key that is enrolled'
	'mod*dm-fullstripe|it needs the module to be installed: packaging/deb.sh'
)

# shown_pages: all of them, from the top of the tree.
shown_pages() {
	(cd "$shown_top" && git ls-files 'Documentation/*.rst' README.md 2>/dev/null ||
		find Documentation README.md -name '*.rst' -o -name README.md) | sort
}

# shown PAGE: its commands, a line each, without prompt. The README has none, as it is read
# where a block is copied whole: there a command begins with one of these words.
shown() {
	if [[ $1 == *.md ]]; then
		sed -nE '/^ {4}(sudo|fullstripectl|journalctl|echo) /{s/^ +//;s/\bsudo //g;s/ +# .*//;p}' "$shown_top/$1"
	else
		sed -nE 's/^ +[#$] (.*)/\1/p' "$shown_top/$1"
	fi
}

# shown_exemption COMMAND: sets exemption to the pattern that exempts it, if one does.
shown_exemption() {
	local line
	for line in "${shown_exempt[@]}"; do
		exemption=${line%%|*}
		# shellcheck disable=SC2053 # it is a pattern
		[[ $1 != $exemption ]] || return 0
	done
	return 1
}

# shown_without_device COMMAND: whether unit/docs.sh has it: what builds and tests the tree, and
# sums.
shown_without_device() {
	[[ $1 == make || $1 == make\ * || $1 == selftests/* || $1 == build/* || $1 == 'fullstripectl rule '* ]]
}

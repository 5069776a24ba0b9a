# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# To be sourced, by who has the kernel's release in $KVER.

# copy_modules ROOT MODULE...: that root has these modules, and what they need, and no others:
# depmod(8) reads all that there are, and of a whole kernel that takes minutes in an emulator.
copy_modules() {
	local needed
	mkdir -p "$1" && needed=$(modprobe --all --show-depends "${@:2}") || return
	{
		printf '%s\n' "/lib/modules/$KVER"/modules.{order,builtin,builtin.modinfo}
		sed -n 's/^insmod \([^ ]*\).*/\1/p' <<<"$needed" | sort -u
	} | xargs cp --parents -t "$1"
}

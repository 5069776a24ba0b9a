# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # kver is for who sources this, who has set top
#
# Which kernel the test machine has. To be sourced by who has a function die.

# find_kernel 6.1|6.12|debug: sets kver, its release. Modules that are built from here on are
# built against its headers, if they are built for that release.
find_kernel() {
	local dir
	if [[ $1 == debug ]]; then
		dir=$("$top/selftests/vm/debug-kernel" --module) || die "there is no debug kernel"
		KDIR=$(realpath "$dir"/headers-*)
		kver=${KDIR##*/headers-}
		export KDIR
	else
		dir=$("$top/selftests/vm/fetch-kernel" "$1") || die "there is no kernel $1"
		kver=${dir##*/}
	fi
}

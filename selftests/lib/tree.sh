# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# This tree as another version of it, for tests of upgrades. To be sourced, by who has the
# tree in $top.

# tree_of VERSION DIR: what git knows of the tree, as it is, but with this version, in DIR.
# shellcheck disable=SC2154 # who sources this has set top
tree_of() {
	local major minor patch
	IFS=. read -r major minor patch <<<"$1"
	mkdir -p "$2"
	(cd "$top" && git ls-files -z | tar -c --null -T - | tar -x -C "$2") || return
	sed -i "s/\(FULLSTRIPE_MAJOR\t\).*/\1$major/; s/\(FULLSTRIPE_MINOR\t\).*/\1$minor/
		s/\(FULLSTRIPE_PATCH\t\).*/\1$patch/" "$2/kmod/version.h"
	sed -i "1s/(.*)/($1)/" "$2/debian/changelog"
}

# version_of_tree, next_version: as the packages have it.
version_of_tree() {
	sed -n '1s/.*(\(.*\)).*/\1/p' "$top/debian/changelog"
}

next_version() {
	local version
	version=$(version_of_tree)
	echo "${version%.*}.$((${version##*.} + 1))"
}

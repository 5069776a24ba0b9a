#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# long timeout: 1800
#
# kmod/ as a folder of a kernel's own drivers/md: Kconfig offers it, and kbuild builds it.
# shellcheck source-path=SCRIPTDIR

here=$(realpath "${BASH_SOURCE[0]%/*}")
top=$(realpath "$here/../..")
. "$here/../lib/tap.sh"

[[ ${LONG-} ]] || tap_skip_all "a kernel's source is unpacked and prepared, minutes of work: selftests/run --long"
"$here/../setup" --kernel-build >&2 || tap_skip_all "the kernel's source cannot be had"
unset MAKEFLAGS MFLAGS
work=$(mktemp -d "$top/build/in-tree.XXXXXX")
trap 'rm -rf "$work"' EXIT

# unpack VERSION: without most of what is not built, but with every Kconfig.
unpack() {
	local part skip=()
	for part in drivers/gpu drivers/net drivers/media drivers/staging sound; do
		skip+=(--exclude="*/$part/*.[chS]")
	done
	rm -rf "$work/linux"
	mkdir "$work/linux"
	tar -C "$work/linux" --strip-components=1 "${skip[@]}" -xf "/usr/src/linux-source-$1.tar.xz"
}

# drop_in: as the head of kmod/Makefile says it is done.
drop_in() {
	cp -r "$top/kmod" drivers/md/dm-fullstripe &&
		sed -i 's,^endif # MD,source "drivers/md/dm-fullstripe/Kconfig"\n\n&,' drivers/md/Kconfig &&
		echo 'obj-$(CONFIG_DM_FULLSTRIPE) += dm-fullstripe/' >>drivers/md/Makefile
}

# choose DM FULLSTRIPE: prints what the kernel's rules make of it.
choose() {
	make -s allnoconfig >&2 || return
	printf 'CONFIG_%s=y\n' 64BIT MODULES BLOCK MD PRINTK SYSFS NET DEBUG_FS FTRACE BLK_DEV_IO_TRACE \
		>fragment
	printf 'CONFIG_%s\n' "BLK_DEV_DM=$1" "DM_FULLSTRIPE=$2" >>fragment
	scripts/kconfig/merge_config.sh -m .config fragment >&2 && make -s olddefconfig >&2 &&
		sed -n 's/^CONFIG_DM_FULLSTRIPE=//p' .config
}

# built: without a warning, by the folder's own makefile below that of drivers/md. What is not
# built cannot be linked against, which is all that modpost has to say.
built() {
	make -s -j "$(nproc)" modules_prepare &&
		make -s -j "$(nproc)" M=drivers/md KBUILD_MODPOST_WARN=1 W=1 modules 2>log || return
	cat log
	! grep -E 'dm-fullstripe/.*(warning|error):' log
}

tap_plan 12
for version in 6.12 6.1; do
	tap_check "$version: the source is unpacked" unpack "$version"
	cd "$work/linux" || exit
	tap_check "$version: kmod/ is dropped in" drop_in
	tap_is "$(choose y y 2>/dev/null)" y "$version: it can be built in"
	tap_is "$(choose n m 2>/dev/null)" '' "$version: it cannot be had without device-mapper"
	tap_is "$(choose m m 2>/dev/null)" m "$version: it can be a module"
	tap_check "$version: it is built without a warning" built
	cd "$top" || exit
done
tap_done

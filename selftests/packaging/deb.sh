#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# long timeout: 1800
#
# The Debian packages: built, checked by lintian, installed, upgraded and removed, with dkms
# building the module for real; in a copy of this machine's root that is lost at the end, or,
# in the long form, in a root that has nothing but what the packages ask for.
# shellcheck source-path=SCRIPTDIR

here=$(realpath "${BASH_SOURCE[0]%/*}")
top=$(realpath "$here/../..")
. "$here/../lib/tap.sh"
. "$here/../lib/tree.sh"

((EUID == 0)) || tap_skip_all "only root can install packages"
if [[ ! ${ROOT_IS_PRIVATE-} ]]; then
	# Mounts and all that is in them go away with the last process.
	ROOT_IS_PRIVATE=yes exec unshare --mount --pid --fork --kill-child "$0" "$@"
fi
unset MAKEFLAGS MFLAGS
export LC_ALL=C DEBIAN_FRONTEND=noninteractive

work=$(mktemp -d "$top/build/packaging.XXXXXX")
# shellcheck disable=SC2317 # the trap calls it
clean_up() {
	umount -R -l "$work/root" 2>/dev/null
	umount -l "$work/upper" 2>/dev/null
	# /dev is this machine's, should it still be mounted there.
	rm -rf --one-file-system "$work"
}
trap clean_up EXIT
root=$work/root

# build_packages VERSION: by make deb, which takes what git knows.
build_packages() {
	tree_of "$1" "$work/$1/tree" && (cd "$work/$1/tree" && git init -q && git add . && make -s deb) &&
		mv "$work/$1/tree/build/deb"/fullstripe* "$work/$1/"
}

# build_module_package VERSION: the one of the two packages whose version matters to dkms.
build_module_package() {
	tree_of "$1" "$work/$1/tree" && (cd "$work/$1/tree" && dpkg-buildpackage -A -us -uc)
}

# copy_of_this_root: what is written there is kept in memory. One kernel will do.
copy_of_this_root() {
	local kernels
	mkdir -p "$root" "$work/upper"
	mount -t tmpfs tmpfs "$work/upper"
	mkdir "$work/upper/upper" "$work/upper/work"
	mount -t overlay -o "lowerdir=/,upperdir=$work/upper/upper,workdir=$work/upper/work" overlay "$root" || return
	mount_devices || return
	kernels=("$root"/lib/modules/*/build)
	unset 'kernels[-1]'
	rm -rf "${kernels[@]%/build}"
}

# bare_root: Debian's essential packages, what apt can add to them, and one kernel's headers.
bare_root() {
	mkdir "$root"
	debootstrap --variant=minbase bookworm "$root" http://deb.debian.org/debian || return
	cp /etc/apt/sources.list.d/debian.sources "$root/etc/apt/sources.list.d/" 2>/dev/null ||
		cp /etc/apt/sources.list "$root/etc/apt/"
	mount_devices
	inside apt-get -qq update && inside apt-get -qq install --no-install-recommends linux-headers-amd64
}

mount_devices() {
	mount -t proc proc "$root/proc" && mount --bind /dev "$root/dev"
}

# inside COMMAND...: in that root. Without /sys: nothing there sees this machine's modules.
inside() {
	chroot "$root" "$@"
}

# install_packages VERSION: of the module's package, and the programs' as they are.
install_packages() {
	local install=(dpkg -i)
	[[ ! ${LONG-} ]] || install=(apt-get -qq --reinstall install)
	rm -rf "$root/packages"
	mkdir "$root/packages"
	cp "$work/$old/fullstripe_${old}_"*.deb "$root/packages/fullstripe.deb"
	cp "$work/$1/fullstripe-dkms_${1}_all.deb" "$root/packages/fullstripe-dkms.deb"
	inside "${install[@]}" /packages/fullstripe.deb /packages/fullstripe-dkms.deb
}

# modules: the version of each kernel's module there, a line each.
modules() {
	local file
	for file in "$root"/lib/modules/*/updates/dkms/dm-fullstripe.ko*; do
		[[ ! -e $file ]] || modinfo -F version "$file"
	done
}

# contents PACKAGE: its files, without those that are about the package.
contents() {
	dpkg-deb --fsys-tarfile "$work/$old/${1}_"*.deb | tar -t |
		grep -v -e '/$' -e ^./usr/share/doc/ -e ^./usr/share/lintian/ | sort
}

old=$(version_of_tree)
new=$(next_version)

tap_plan 18
tap_check "the packages are built" build_packages "$old"
tap_is "$(cd "$work/$old" && lintian -I --pedantic --allow-root --fail-on none ./*.changes 2>&1)" '' \
	"lintian finds nothing"
make -s -C "$top" install-programs DESTDIR="$work/made" PREFIX=/usr
make -s -C "$top" dkms-source DESTDIR="$work/made-dkms"
tap_is "$(contents fullstripe | sed '/\/man\//s/\.gz$//; s,^\./lib/,./usr/lib/,' | sort)" \
	"$(cd "$work/made" && find . ! -type d | sort)" \
	"fullstripe has what make install-programs installs"
tap_is "$(contents fullstripe-dkms)" "$(cd "$work/made-dkms" && find . ! -type d | sort)" \
	"fullstripe-dkms has what dkms builds from"

if [[ ${LONG-} ]]; then
	tap_check "there is a root to install into" bare_root
else
	tap_check "there is a root to install into" copy_of_this_root
fi
kernels=("$root"/lib/modules/*/build)
kver=$(basename "${kernels[0]%/build}")

tap_check "they are installed" install_packages "$old"
tap_is "$(modules)" "$old" "dkms built and installed the module"
tap_is "$(inside dkms status 2>&1 | grep -c "^fullstripe/$old, $kver, .*: installed$")" 1 "and says so"
tap_is "$(readlink "$root/etc/systemd/system/multi-user.target.wants/fullstriped.service")" \
	/lib/systemd/system/fullstriped.service "the service is enabled"
tap_is "$(inside fullstripectl --version)" "fullstripectl $old" "the command runs"
tap_check "the man page is found" inside test -e /usr/share/man/man8/fullstriped.8.gz

echo 'mode = auto' >>"$root/etc/fullstripe/fullstriped.conf"
tap_check "a newer version is built" build_module_package "$new"
tap_check "and installed over the old one" install_packages "$new"
tap_is "$(modules) $(inside dkms status 2>&1 | grep -c "^fullstripe/$old")" "$new 0" \
	"the module is the new one, and the old one is gone"
tap_is "$(tail -n 1 "$root/etc/fullstripe/fullstriped.conf")" 'mode = auto' "the configuration is kept"

name="another kernel gets its module when its headers are installed"
if [[ ${LONG-} ]]; then
	inside apt-get -qq install --no-install-recommends linux-headers-6.12-amd64 >"$work/update.log" 2>&1
	tap_is "$(modules | paste -sd' ')" "$new $new" "$name"
else
	tap_skip "$name" "it takes another build: selftests/run --long"
fi

inside dpkg -r fullstripe fullstripe-dkms >"$work/remove.log" 2>&1
tap_is "$? $(modules) $(cd "$root" && ls -d usr/src/fullstripe* var/lib/dkms/fullstripe usr/sbin/fullstripe* \
	2>/dev/null)" '0  ' "they are removed, and the module with them"
mkdir -p "$root/var/lib/fullstripe"
inside dpkg -P fullstripe fullstripe-dkms >"$work/purge.log" 2>&1
tap_is "$? $(cd "$root" && ls -d etc/fullstripe var/lib/fullstripe 2>/dev/null)" '0 ' \
	"purged, the configuration and what was known of devices too"
tap_diag "$SECONDS s in all"
tap_done

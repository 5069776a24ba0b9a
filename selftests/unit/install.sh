#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make install and uninstall: the files that the documentation names, below DESTDIR, and
# nothing anywhere else.
# shellcheck source-path=SCRIPTDIR

here=$(realpath "${BASH_SOURCE[0]%/*}")
top=$(realpath "$here/../..")
. "$here/../lib/tap.sh"

rst=$top/Documentation/admin-guide/installation.rst
[[ -x $top/build/daemon/fullstripectl ]] || tap_skip_all "the programs are not built"
builds=("$top"/build/kmod/*/dm-fullstripe.ko)
[[ -e ${builds[0]} ]] || tap_skip_all "the module is not built"
kver=$(basename "${builds[0]%/*}")

# confined COMMAND...: it can write nothing but what is in build/.
confined() {
	# shellcheck disable=SC2016 # that shell expands it
	unshare ${user_namespace:+--map-root-user} --mount bash -ec '
		mount --bind "$1/build" "$1/build"
		mount -o remount,bind,ro /
		cd "$1"
		shift
		exec "$@"' - "$top" "$@"
}

user_namespace=''
((EUID == 0)) || user_namespace=yes
confined true || tap_skip_all "nothing can be mounted here"
scratch=$(mktemp -d "$top/build/install.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
dest=$scratch/root
mkdir "$dest" "$scratch/tmp"
# For the compiler.
export TMPDIR=$scratch/tmp
# What make says of its jobs to those below it is not for a make of our own.
unset MAKEFLAGS MFLAGS

# run_make TARGET VARIABLE=VALUE...: the one kernel is enough. depmod's status is 0 whatever it says.
run_make() {
	local said
	said=$(confined make -s "$@" DESTDIR="$dest" KVER="$kver" 2>&1) || { echo "$said"; return 1; }
	echo "$said"
	[[ $said != *'Read-only file system'* ]]
}

# documented: the list of the documentation, for the kernel that is installed.
documented() {
	sed -n '/^Files$/,/^A \*/s/^    //p' "$rst" | sed "s/KVER/$kver/"
}

# installed: files, and folders that hold nothing, as documented() prints them.
installed() {
	(cd "$dest" && find . -type d -empty -printf '/%P/\n' -o ! -type d -printf '/%P\n') |
		sed 's/\.ko\.[gxz][zs]t\?$/.ko/' | LC_ALL=C sort
}

# default_of KEY: what daemon/lib/config.c has it at.
default_of() {
	sed -n "/config_default = {/,/};/s/^\t\.$1 = \(.*\),\$/\1/p" "$top/daemon/lib/config.c"
}

version=$(awk '/define FULLSTRIPE_/ && NF == 3 { v = v dot $3; dot = "." } END { print v }' "$top/kmod/version.h")

tap_plan 18
tap_is "$(confined touch "$top/Makefile" 2>&1 | grep -c 'Read-only')" 1 "what is written elsewhere fails"
tap_check "make install" run_make install
tap_is "$(installed)" "$(documented)" "installs the files that are documented, below DESTDIR"
tap_is "$("$dest/usr/local/sbin/fullstripectl" --version | cut -d- -f1)" "fullstripectl $version" \
	"the programs have the version"
tap_is "$(modinfo -F version "$dest/lib/modules/$kver/updates"/dm-fullstripe.ko*)" "$version" "the module has it"
tap_is "$(sed -n 's/^ExecStart=//p' "$dest/usr/local/lib/systemd/system/fullstriped.service")" \
	/usr/local/sbin/fullstriped "the service starts what is installed"

conf=$dest/etc/fullstripe/fullstriped.conf
keys=$(sed -n 's/^#\([a-z_]*\) = .*/\1/p' "$conf")
tap_is "$(sort <<<"$keys")" "$(sed -n '/config_default = {/,/};/s/^\t\.\([a-z_]*\) = .*/\1/p' \
	"$top/daemon/lib/config.c" | sed 's/^apply$/mode/' | sort)" "the configuration names all keys"
wrong=''
for key in $keys; do
	value=$(sed -n "s/^#$key = //p" "$conf")
	case $key in
	mode)	[[ $value == advise && $(default_of apply) == false ]] || wrong+=" $key" ;;
	layers)	[[ $value == yes && $(default_of layers) == true ]] || wrong+=" $key" ;;
	*)	[[ $value == "$(default_of "$key")" ]] || wrong+=" $key" ;;
	esac
done
tap_is "$wrong" '' "and their defaults"

echo 'mode = auto' >>"$conf"
tap_check "make install once more" run_make install
tap_is "$(tail -n 1 "$conf")" 'mode = auto' "a configuration that is there is kept"
tap_check "make uninstall" run_make uninstall
tap_is "$(installed | grep -v '/$')" /etc/fullstripe/fullstriped.conf "leaves the configuration and no other file"
# Of a kernel whose headers are gone.
mkdir -p "$dest/lib/modules/6.1.0-none/updates"
touch "$dest/lib/modules/6.1.0-none/updates"/{dm-fullstripe.ko.xz,other.ko}
confined make -s uninstall-modules DESTDIR="$dest"
tap_is "$(installed | grep '^/lib/.*[^/]$')" /lib/modules/6.1.0-none/updates/other.ko \
	"without KVER it takes the module from all kernels that have it, and needs no headers"
rm -rf "${dest:?}"/*

tap_check "make install-programs with another PREFIX" run_make install-programs PREFIX=/opt/fs
tap_is "$(installed)" "$(documented | grep -v '^/lib/modules' | sed 's,/usr/local,/opt/fs,')" \
	"has all but the module there"
rm -rf "${dest:?}"/*
run_make dkms-source >/dev/null
# shellcheck source=/dev/null
tap_is "$(. "$dest/usr/src/fullstripe-$version/dkms.conf" && echo "$PACKAGE_NAME/$PACKAGE_VERSION")" \
	"fullstripe/$version" "dkms is told the version"
# shellcheck source=/dev/null
tap_is "$(. "$dest/usr/src/fullstripe-$version/dkms.conf" && for release in 5.10.1 6.0.1 6.1.0-56 6.12.117 7.0.0 10.2; do
		[[ ! $release =~ $BUILD_EXCLUSIVE_KERNEL ]] || echo "$release"
	done | paste -sd' ')" "6.1.0-56 6.12.117 7.0.0 10.2" "and for which kernels it builds"
tap_is "$(sed -n '1s/.*(\(.*\)).*/\1/p' "$top/debian/changelog")" "$version" "and so are the packages"
tap_done

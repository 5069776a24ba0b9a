#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# fullstripe-generator without a device: the units it makes, as systemd sees them, what it says
# of lines that are wrong, and what its man pages say of it.
# shellcheck source-path=SCRIPTDIR

here=$(realpath "${BASH_SOURCE[0]%/*}")
top=$(realpath "$here/../..")
. "$here/../lib/tap.sh"

generator=$top/build/daemon/fullstripe-generator
man=$top/Documentation/man
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
[[ -x $generator ]] || tap_skip_all "the programs are not built"

# generate LINE...: of a fullstripetab of these lines. Sets status; units are in $dir/units.
generate() {
	rm -rf "$dir/units" "$dir/root"
	mkdir -p "$dir/units" "$dir/root/etc"
	printf '%s\n' "$@" >"$dir/root/etc/fullstripetab"
	"$generator" --root "$dir/root" "$dir/units" "$dir/early" "$dir/late" >"$dir/said" 2>&1
	status=$?
}

# files: what was made.
files() {
	(cd "$dir/units" && find . -type f -o -type l) | sort
}

# right: whether systemd finds nothing wrong in the service. The command is not installed here.
# shellcheck disable=SC2317 # tap_check calls it
right() {
	local unit
	for unit in "$dir"/units/*.service; do
		sed -i "s,/usr/local/sbin/fullstripectl,$top/build/daemon/fullstripectl," "$unit"
	done
	SYSTEMD_UNIT_PATH=$dir/units: systemd-analyze verify --man=no --recursive-errors=one \
		"$dir"/units/*.service >"$dir/verify" 2>&1 && [[ ! -s $dir/verify ]]
	local bad=$?
	cat "$dir/verify"
	return "$bad"
}

# property UNIT NAME: its values, with blanks between them.
property() {
	grep -hoP "^$2=\K.*" "$dir/units/$1" | tr '\n' ' '
}

tap_plan 21
generate '# nothing' ''
tap_is "$status $(files)" "0 " "of nothing it makes nothing"
generate 'fast /dev/md0' 'a-b /dev/md/a-b mode=writethrough,cluster_bytes=1M,nofail' \
	'n PARTUUID=1-2 noauto,x-systemd.device-timeout=5min' 'r /dev/sdz _netdev,x-initrd.attach'
tap_is "$status $(<"$dir/said")" "0 " "all kinds of lines are taken"
if command -v systemd-analyze >/dev/null; then
	tap_check "systemd finds nothing wrong in their units" right
	sed -i 's/^Type=/Tpye=/' "$dir/units/fullstripe@fast.service"
	right >/dev/null
	tap_is $? 1 "it would have"
else
	tap_skip "systemd finds nothing wrong in their units" "systemd-analyze is not installed"
	tap_skip "it would have" "systemd-analyze is not installed"
fi
tap_is "$(cd "$dir/units" && echo *.service)" \
	"fullstripe@a$(systemd-escape -- -)b.service fullstripe@fast.service fullstripe@n.service fullstripe@r.service" \
	"each has a service, whose name is escaped as systemd does it"
tap_is "$(cd "$dir/units" && echo *.device.requires/*)" \
	'dev-mapper-a\x2db.device.requires/fullstripe@a\x2db.service dev-mapper-fast.device.requires/fullstripe@fast.service dev-mapper-n.device.requires/fullstripe@n.service dev-mapper-r.device.requires/fullstripe@r.service' \
	"which the device requires"
tap_is "$(cd "$dir/units" && echo *.target.wants/*)" \
	'local-fs.target.wants/fullstripe@a\x2db.service local-fs.target.wants/fullstripe@fast.service remote-fs.target.wants/fullstripe@r.service' \
	"and which boot wants, but for noauto"
tap_is "$(find "$dir/units" -xtype l)" '' "no link leads nowhere"
tap_is "$(property fullstripe@fast.service BindsTo)" "$(systemd-escape -p --suffix=device /dev/md0) " \
	"it is bound to the device below"
tap_is "$(property 'fullstripe@a\x2db.service' BindsTo)" "$(systemd-escape -p --suffix=device /dev/md/a-b) " \
	"whatever its name is"
tap_is "$(property 'dev-disk-by\x2dpartuuid-1\x2d2.device.d/40-fullstripe.conf' JobRunningTimeoutSec)" "5min " \
	"for which it waits as long as is said"
tap_is "$(grep -c -e md0 -e md/a-b -e by-partuuid/1-2 -e sdz "$dir/root/run/udev/rules.d/64-fullstripe-tab.rules")" 8 \
	"udev hears of the devices below, by node and by link"
generate 'fast /dev/md0'
first=$(cd "$dir" && find units root/run -type f -exec cat {} + | sha256sum)
tap_is "$(property fullstripe@fast.service ExecStop)" '/usr/local/sbin/fullstripectl remove --keep-layers -- "fast" ' "it is removed when it stops"
generate
tap_is "$status $(files) $(find "$dir/root/run" -type f 2>/dev/null)" "0  " "without lines nothing is left"

generate 'fast /dev/md0' 'slow /dev/md1 colour=red' 'other UUID=1-2' 'fast /dev/md3' 'more /dev/md4 a b'
tap_is "$status $(grep -c "fullstripetab:[2-5]: .*; the line is ignored" "$dir/said")" "1 4" \
	"each wrong line is told with its number"
tap_is "$(cd "$dir" && find units root/run -type f -exec cat {} + | sha256sum)" "$first" "and is as if it were not there"
rm -r "$dir/units"
"$generator" --root "$dir/root" --check >"$dir/said" 2>&1
tap_is "$? $(wc -l <"$dir/said") $(ls -d "$dir/units" 2>/dev/null)" "1 4 " "--check tells the same, and writes nothing"
"$generator" >/dev/null 2>&1
tap_is $? 2 "no folder is exit status 2"
"$generator" a b c d >/dev/null 2>&1
tap_is $? 2 "and a fourth one, too"

# With their numbers: of none, none is missing.
mapfile -t options < <(grep -oP '^\t\t\{ "\K[a-z_.-]+(?=", &e->)' "$top/daemon/lib/tab.c")
missing=''
for option in "${options[@]}" x-systemd.device-timeout=TIME KEY=VALUE; do
	grep -qxF -- "$option" "$man/fullstripetab.5.rst" || missing+=" $option"
done
tap_is "${#options[@]}$missing" 5 "the man page has each option of the file"
mapfile -t options < <("$generator" --help | grep -oP '(?<![\w-])--[a-z]+')
missing=''
for option in "${options[@]}"; do
	grep -q -- "^--.*${option#--}" "$man/fullstripe-generator.8.rst" || missing+=" $option"
done
tap_is "${#options[@]}$missing" 5 "and each of the program"
tap_done

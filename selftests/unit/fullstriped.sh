#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The daemon without a device: its unit, its exit codes, and what its man page says of both.
# shellcheck source-path=SCRIPTDIR

here=$(realpath "${BASH_SOURCE[0]%/*}")
top=$(realpath "$here/../..")
. "$here/../lib/tap.sh"

daemon=$top/build/daemon/fullstriped
man=$top/Documentation/man/fullstriped.8.rst
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

[[ -x $daemon ]] || tap_skip_all "the programs are not built"

# The program must be where the unit says.
sed "s,@SBINDIR@,$top/build/daemon," "$top/daemon/systemd/fullstriped.service.in" >"$dir/fullstriped.service"

# configured TEXT: run the daemon with it. Sets status; leaves what it said in $dir/said.
configured() {
	mkdir -p "$dir/etc/fullstripe/fullstriped.conf.d"
	printf '%s\n' "$@" >"$dir/etc/fullstripe/fullstriped.conf.d/a.conf"
	timeout -s TERM 2 "$daemon" --root "$dir" --state-dir "$dir/state" >"$dir/said" 2>&1
	status=$?
}

tap_plan 9
if command -v systemd-analyze >/dev/null; then
	tap_check "the unit is right" systemd-analyze verify --man=no --recursive-errors=no "$dir/fullstriped.service"
	tap_check "its exposure is 2.5 or less" systemd-analyze security --offline=yes --threshold=25 \
		"$dir/fullstriped.service"
else
	tap_skip "the unit is right" "systemd-analyze is not installed"
	tap_skip "its exposure is 2.5 or less" "systemd-analyze is not installed"
fi
tap_is "$(grep -c -e ProtectKernelTunables=yes -e PrivateNetwork=yes -e PrivateDevices=yes "$dir/fullstriped.service")" 0 \
	"it can write /sys, hears of devices and reaches them"

configured '[fullstriped]' 'mode = always'
tap_is "$status" 78 "a value that cannot be is exit status 78"
tap_is "$(grep -c "a.conf:2: mode 'always': must be advise or auto" "$dir/said")" 1 "file, line and key are said"
configured '[fullstriped]' 'colour = red' 'record_seconds = 0'
tap_is "$status $(grep -c 'a.conf:2: \[fullstriped\] colour' "$dir/said")" "78 1" "with all else that is wrong"
"$daemon" --root "$dir" extra >/dev/null 2>&1
tap_is $? 2 "an argument is exit status 2"

ids=$(grep -oP 'EVENT_\w+\t"\K\w+' "$top/daemon/src/log.h")
missing=''
for id in $ids; do
	grep -qx "MESSAGE_ID=$id" "$man" || missing+=" $id"
done
tap_is "${ids:+found}$missing" found "the man page has each MESSAGE_ID"
keys=$(grep -oP '^\t\{ "\K[a-z_]+' "$top/daemon/lib/config.c")
missing=''
for key in $keys mode; do
	grep -qx "$key" "$man" || missing+=" $key"
done
tap_is "${keys:+found}$missing" found "and each key"
tap_done

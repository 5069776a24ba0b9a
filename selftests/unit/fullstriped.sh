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

# Not this machine's.
export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$dir/bus

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

# eventually COMMAND...: whether it succeeds within five seconds.
eventually() {
	local tries
	for ((tries = 0; tries < 50; tries++)); do
		"$@" && return
		sleep 0.1
	done
	return 1
}

# not_in WANTED HAVE: what of the first list, a word a line, is not in the second.
not_in() {
	comm -23 <(sort -u <<<"$1") <(sort -u <<<"$2")
}

tap_plan 24
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

# Without a device there are metrics of the daemon itself.
prom=$dir/fullstripe.prom
printf '%s\n' '[fullstriped]' "metrics_file = $prom" >"$dir/etc/fullstripe/fullstriped.conf.d/a.conf"
"$daemon" --root "$dir" --state-dir "$dir/state" >"$dir/said" 2>&1 &
tap_check "metrics are written" eventually test -e "$prom"
tap_is "$(grep -c '^fullstripe_daemon_info{version="[^"]*",mode="advise"} 1$' "$prom") $(stat -c %a "$prom")" "1 644" \
	"all may read them"
sed -i "s,$prom,$dir/other.prom," "$dir/etc/fullstripe/fullstriped.conf.d/a.conf"
kill -HUP $!
tap_check "a reload moves them" eventually test -e "$dir/other.prom" -a ! -e "$prom"
kill -TERM $!
wait $!
tap_is "$? $(ls "$dir"/*.prom* 2>/dev/null)" "0 " "and they go with the daemon"

# As long as to try it twice.
timeout -s TERM 2.5 "$daemon" --root "$dir" --state-dir "$dir/state" >"$dir/said" 2>&1
tap_is "$(grep -c 'no control by D-Bus for now: the system bus' "$dir/said")" 1 "that there is no bus is said once"

# ctl ARGUMENT...: exit status, and what it says.
ctl() {
	"$top/build/daemon/fullstripectl" daemon "$@" >"$dir/said" 2>&1
	echo "$? $(head -n 1 "$dir/said")"
}

for arguments in '' status reload 'mode auto' 'record fs0'; do
	# shellcheck disable=SC2086 # words
	tap_is "$(ctl $arguments | cut -d: -f1-2)" \
		"6 fullstripectl: fullstriped cannot be asked, as there is no D-Bus" "daemon $arguments: no bus is exit status 6"
done
tap_is "$(ctl mode)" "2 fullstripectl daemon: mode: advise or auto?" "it asks for what is missing"
tap_is "$(ctl stop)" "2 fullstripectl daemon: 'stop': status, reload, mode or record" "and says what it knows"
tap_is "$(ctl record fs0 --json)" "2 fullstripectl daemon: --json is for status" "and what goes together"

metrics=$(grep -oP '"\Kfullstripe_\w+(?=",)' "$top/daemon/lib/metrics.c")
documented=$(grep ^fullstripe_ "$man" | grep -oP 'fullstripe_\w+')
tap_is "$(not_in "${metrics:-none}" "$documented")" '' "the man page has each metric"
tap_is "$(not_in "$documented" "$metrics")" '' "and no other"
stats=$(grep -oP '^(STAT\(|static struct kobj_attribute stat_)\K\w+' "$top/kmod/sysfs.c" | sed 's,^,stats/,')
keys=$(grep -oP '^\t\t"\K[a-z_]+(?=",$)' "$top/kmod/settings.c")
tap_is "$(not_in "${stats:-none}"$'\n'"${keys:-none}" "$(grep -oP '^\t\{ "\K[a-z_/]+(?=")' "$top/daemon/lib/metrics.c")"$'\nmode')" '' \
	"each counter and each setting of a device is a metric"

ids=$(grep -oP 'EVENT_\w+\t"\K\w+' "$top/daemon/src/log.h")
missing=''
for id in $ids; do
	grep -qx "MESSAGE_ID=$id" "$man" || missing+=" $id"
done
tap_is "${ids:+found}$missing" found "the man page has each MESSAGE_ID"
tap_done

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# With udev at work fullstriped watches devices as they come and go: by their events, as it
# looks by itself but once an hour here. A device stays the one that it is when it is renamed
# or gets another size; and when the array below has become another, the plan is another.
# once: 6.1 the daemon hears of devices in the same way on both
. "${BASH_SOURCE[0]%/*}/common.sh"

CTL=$RIG_TOP/build/daemon/fullstripectl
CONFIG=/run/devices/etc/fullstripe/fullstriped.conf.d/test.conf
SAID=/run/devices/said
PROM=/run/devices/fullstripe.prom
unset DM_DISABLE_UDEV

# start_daemon INTERVAL: it looks for devices by itself so often, and records them.
start_daemon() {
	printf '%s\n' '[fullstriped]' 'record_seconds = 1' "interval_seconds = $1" \
		"metrics_file = $PROM" >"$CONFIG"
	env -u JOURNAL_STREAM "$RIG_TOP/build/daemon/fullstriped" --root /run/devices \
		--state-dir /run/devices/state >>"$SAID" 2>&1 &
	daemon=$!
	# Until then it does not know the signal.
	eventually 20 test -e "$PROM"
}

# watched: the names of the devices that it watches. To be told to read its configuration
# again makes it write its metrics, and does not make it look for devices.
watched() {
	local inode
	inode=$(command stat -c %i "$PROM" 2>/dev/null)
	kill -HUP "$daemon"
	eventually 10 is_another_file "$inode" || { echo nobody; return; }
	sed -n 's/^fullstripe_device_info{device="\([^"]*\)".*/\1/p' "$PROM" | sort | paste -sd ' '
}

# shellcheck disable=SC2317 # eventually calls these
is_another_file() {
	[[ $(command stat -c %i "$PROM") != "$1" ]]
}

# shellcheck disable=SC2317
watches() {
	[[ $(watched) == "$1" ]]
}

# shellcheck disable=SC2317
plans() {
	watched >/run/watched
	grep -qxF "fullstripe_planned_setting{device=\"$1\",setting=\"stripe_bytes\"} $2" "$PROM"
}

# shellcheck disable=SC2317
is_reshaped() {
	[[ $(<"/sys/block/$md/md/raid_disks") == "$1" && $(<"/sys/block/$md/md/reshape_position") == none ]]
}

# polls: how often the daemon reads the trace in four seconds, in recordings of a second that
# follow each other: those reads of it that are the first in 50 ms. What else it reads is less at a time.
polls() {
	local event=$RIG_TRACING/events/syscalls/sys_enter_read
	echo >"$RIG_TRACING/trace"
	echo "common_pid == $daemon && count > 4096" >"$event/filter"
	rig_set "$event/enable" 1
	sleep 4
	rig_set "$event/enable" 0
	echo 0 >"$event/filter"
	awk '/sys_read\(/ && match($0, / [0-9]+\.[0-9]+: /) {
		now = substr($0, RSTART, RLENGTH) + 0
		n += now > last + 0.05
		last = now
	} END { print n + 0 }' "$RIG_TRACING/trace"
}

# resize SECTORS: of the device.
# shellcheck disable=SC2317 # tap_check calls it
resize() {
	local table
	table=$(dmsetup table renamed) && dmsetup reload renamed --table "0 $1 ${table#* * }" &&
		dmsetup suspend renamed && dmsetup resume renamed &&
		(($(blockdev --getsz /dev/mapper/renamed) == $1))
}

tap_plan 17
rig_load_module
rig_members 8 64 ram
spare=${RIG_MEMBERS[5]}
lone=${RIG_MEMBERS[6]}
RIG_MEMBERS=("${RIG_MEMBERS[@]:0:5}")
rig_array 5 64
md=$(basename "$(realpath "$RIG_MD")")
mkdir -p "${CONFIG%/*}"
tap_check "udev starts" start_udev
trap 'stop_udev; exit' EXIT

start_daemon 3600
tap_check "there is nothing to watch" eventually 10 watches ''
"$CTL" create fs0 "$RIG_MD" >/dev/null
tap_check "a device that is made is watched" eventually 10 watches fs0
"$CTL" create fs1 "$lone" --set data_members=4 --set chunk_bytes=64KiB >/dev/null
tap_check "and one more" eventually 10 watches 'fs0 fs1'
dmsetup rename fs0 renamed
tap_check "one that is renamed is watched by its new name" eventually 10 watches 'fs1 renamed'
tap_check "it gets another size" resize "$(($(blockdev --getsz /dev/mapper/renamed) - 4096))"
udevadm settle
tap_check "and is watched" eventually 10 watches 'fs1 renamed'
tap_is "$(grep -c '^fullstripe_stripe_bytes{device="renamed"} 262144$' "$PROM")" 1 "with all that it is set to"
"$CTL" remove fs1
tap_check "one that is removed is not watched any more" eventually 10 watches renamed
kill -TERM "$daemon"
wait "$daemon"
tap_is $? 0 "it stops"

fio --name=w --filename=/dev/mapper/renamed --rw=write --bs=64k --direct=1 --size=16m --time_based \
	--runtime=600 --thinktime=20000 --output=/dev/null &
load=$!
start_daemon 1
tap_check "the plan is that of the array" eventually 20 plans renamed 262144
# Else the kernel has no room for what a busy device does meanwhile.
polls=$(polls)
tap_check "a trace is read ten times a second: $polls times in 4 s" test "$polls" -ge 24
mdadm --quiet --add "$RIG_MD" "$spare"
pkill -STOP -x fio
dmsetup suspend renamed
mdadm --quiet --grow "$RIG_MD" --raid-devices=6
dmsetup resume renamed
pkill -CONT -x fio
tap_check "the array is reshaped below it" eventually 60 is_reshaped 6
tap_check "and the plan is that of the new one" eventually 20 plans renamed 327680
pkill -x fio
wait "$load" 2>/dev/null
"$CTL" remove renamed
tap_check "it is removed, and not watched any more" eventually 10 watches ''
mdadm --quiet --stop "$RIG_MD"
kill -0 "$daemon"
tap_is "$? $(watched)" "0 " "nothing is left to watch, and it goes on"
kill -TERM "$daemon"
wait "$daemon"
tap_is $? 0 "it stops"
tap_diag "$SECONDS s in all"
tap_diag "$(tail -n 12 "$SAID")"
tap_done

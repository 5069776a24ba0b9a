#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# fullstriped as a service of a real systemd, in its hardened unit: it gives advice, applies
# when it may, is reloaded, killed, given a wrong configuration, and stopped.
# once: 6.1 systemd is the same on both
. "${BASH_SOURCE[0]%/*}/common.sh"

CTL=$RIG_TOP/build/daemon/fullstripectl
CONFIG=/etc/fullstripe/fullstriped.conf.d/test.conf
ADVICE=76f31da9769744038ff28821200a3a6e
CHANGE=6a362daa733a4812b6feb53fa11e25bb
HANDS_OFF=78d502b7064b4f26a1233014b34c7396

# configure MODE
configure() {
	mkdir -p "${CONFIG%/*}"
	printf '%s\n' '[fullstriped]' "mode = $1" 'record_seconds = 1' 'interval_seconds = 1' \
		'dwell_seconds = 0' 'changes_per_hour = 3600' >"$CONFIG"
}

# A systemd of its own process numbers, as in a container, that starts nothing but the
# journal and the unit as it is installed.
start_systemd() {
	local dir=/run/systemd/system
	mkdir -p "$dir/fullstriped.service.d"
	# Not from the tree: the unit sees no /tmp and no home.
	make -s -C "$RIG_TOP/daemon" O=/run/fullstripe-build SBINDIR=/run/fullstripe-bin \
		/run/fullstripe-build/fullstriped.service || return
	install -D "$RIG_TOP/build/daemon/fullstriped" /run/fullstripe-bin/fullstriped
	cp /run/fullstripe-build/fullstriped.service "$dir/fullstriped.service"
	printf '%s\n' '[Unit]' 'DefaultDependencies=no' '[Service]' 'WatchdogSec=10' \
		>"$dir/fullstriped.service.d/test.conf"
	printf '%s\n' '[Unit]' 'DefaultDependencies=no' 'Wants=systemd-journald.service fullstriped.service' \
		>"$dir/test.target"
	env -i container=test PATH="$PATH" unshare --mount --pid --fork --mount-proc \
		/lib/systemd/systemd --system --unit=test.target --show-status=no --log-target=journal-or-kmsg \
		</dev/null >/run/systemd.log 2>&1 &
	unshare=$!
}

# shellcheck disable=SC2317 # the trap calls it
stop_systemd() {
	pkill -KILL -P "$unshare"
	wait "$unshare" 2>/dev/null
}

# control COMMAND...: systemctl, from where that systemd can see who asks.
control() {
	nsenter -t "$(pgrep -P "$unshare")" -m -p systemctl "$@"
}

property() {
	control show -P "$1" fullstriped
}

is_property() {
	[[ $(property "$1") == "$2" ]]
}

# event ID SETTING: what the journal has of it: from and to, of the newest.
event() {
	journalctl -q -b -o json MESSAGE_ID="$1" FULLSTRIPE_SETTING="$2" 2>/dev/null |
		jq -r '.FULLSTRIPE_DEVICE + " " + .FULLSTRIPE_OLD + " " + .FULLSTRIPE_NEW' | tail -n 1
}

is_event() {
	[[ $(event "$1" "$2") == "$3" ]]
}

# hands_off: whether it said that it leaves alone what was set by hand.
# shellcheck disable=SC2317
hands_off() {
	[[ $(event $HANDS_OFF cluster_bytes) == "fs0 $cluster "* ]]
}

# shellcheck disable=SC2317
started_again() {
	is_property ActiveState active && ! is_property MainPID "$pid"
}

# shellcheck disable=SC2317
refused() {
	journalctl -q -b -u fullstriped | grep -qF "$CONFIG:2: mode 'maybe': must be advise or auto"
}

# shellcheck disable=SC2317 # this and others are called by eventually
is_traced() {
	[[ -e $trace ]]
}

# says TEXT: whether the daemon that runs now has said so.
says() {
	[[ $(journalctl -q -b _PID="$(property MainPID)") == *"$1"* ]]
}

is_setting() {
	[[ $(<"$folder/$1") == "$2" ]]
}

unshare --mount --pid --fork --mount-proc true ||
	tap_skip_all "this kernel has no namespaces for a systemd of its own"
tap_plan 24
rig_load_module
rig_preset R5 ram
"$CTL" create fs0 "$RIG_MD" --set data_members=2
# A stripe is 64 KiB of each member.
echo 32 >/sys/block/nullb0/queue/max_sectors_kb
folder=$(rig_sysfs fs0)
trace=/sys/kernel/debug/block/$(basename "${folder%/*}")/dropped
fio --name=w --filename=/dev/mapper/fs0 --rw=write --bs=64k --direct=1 --size=16m --time_based \
	--runtime=600 --thinktime=20000 --output=/dev/null &

configure advise
tap_check "systemd starts" start_systemd
trap 'stop_systemd; leave' EXIT
tap_check "the service says that it is ready" eventually 30 is_property ActiveState active
tap_check "it gives advice, with fields" eventually 20 is_event $ADVICE stripe_bytes "fs0 131072 262144"
tap_is "$(<"$folder/stripe_bytes")" 131072 "and changes nothing"
tap_is "$(property StatusText)" "1 device watched, mode advise" "its status says what it does"

configure auto
tap_check "it is reloaded" control reload fullstriped
tap_check "it sets the device after five recordings, from inside of its unit" eventually 40 is_setting stripe_bytes 262144
(($(</sys/block/nullb0/queue/max_sectors_kb) >= 64))
tap_is $? 0 "and a layer below"
tap_check "and says so" eventually 10 is_event $CHANGE stripe_bytes "fs0 131072 262144"

# Nothing under way, or what is set here would be part of it.
eventually 10 "$CTL" verify fs0 >/run/verify
cluster=$(($(<"$folder/cluster_bytes") + 10 * 262144))
echo "$cluster" >"$folder/cluster_bytes"
tap_check "it notices what somebody else set" eventually 20 hands_off
tap_is "$(<"$folder/cluster_bytes")" "$cluster" "and leaves it alone"

pid=$(property MainPID)
eventually 30 kill_daemon_while is_traced
tap_check "it is started again when it is killed" eventually 30 started_again
tap_check "it takes down the trace that it had left" \
	eventually 20 says "the trace that an earlier process left is taken down"
tap_check "and has its own" eventually 20 is_traced
says "traced by somebody else"
tap_is $? 1 "as nobody else was in its way"
tap_is "$(<"$folder/stripe_bytes") $(<"$folder/cluster_bytes")" "262144 $cluster" "the settings stay"

configure maybe
control reload fullstriped
tap_check "a wrong configuration is refused when it is reloaded" eventually 10 refused
tap_is "$(property ActiveState)" active "and the service goes on"
control restart fullstriped 2>/dev/null
tap_check "with it the service does not start" eventually 10 is_property ActiveState failed
tap_is "$(property ExecMainStatus)" 78 "its status says why"

configure auto
control reset-failed fullstriped
tap_check "with a right one it does" control start fullstriped
pkill -x fio
wait %1 2>/dev/null
tap_check "a device that is recorded can be taken away" "$CTL" remove fs0
tap_check "and is no longer watched" eventually 10 is_property StatusText "0 devices watched, mode auto"
control stop fullstriped
tap_is "$(property ActiveState) $(property ExecMainStatus) $(property Result)" "inactive 0 success" "it stops"
tap_diag "$SECONDS s in all"
tap_done

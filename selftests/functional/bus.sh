#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# fullstriped by D-Bus, with the bus and the polkit of this machine: without a bus, reading and
# changing it as root and as others, what cannot be asked, and a bus that is killed.
# timeout: 600
# once: 6.1 the bus knows no kernel
. "${BASH_SOURCE[0]%/*}/common.sh"

CTL=$RIG_TOP/build/daemon/fullstripectl
CALLS=$RIG_TOP/build/selftests/functional/bus
ROOT=/run/bus
CONFIG=$ROOT/etc/fullstripe/fullstriped.conf.d/test.conf
STATE=$ROOT/state
SAID=$ROOT/said
SIGNALS=$ROOT/signals
DEVICE=/org/fullstripe1/device/fs_2d0
MAN=$RIG_TOP/Documentation/man/org.fullstripe1.5.rst

# configure MODE [SECONDS [INTERVAL]]: how long a recording takes; none comes by itself for long.
configure() {
	mkdir -p "${CONFIG%/*}"
	printf '%s\n' '[fullstriped]' "mode = $1" 'layers = no' "record_seconds = ${2-2}" \
		"interval_seconds = ${3-3600}" >"$CONFIG"
}

# install_policies: to where a package would. polkit is started by who needs it here.
install_policies() {
	rm -f /usr/share/dbus-1/system-services/org.freedesktop.PolicyKit1.service
	install -D -m 0644 "$RIG_TOP/daemon/dbus/org.fullstripe1.conf" -t /usr/share/dbus-1/system.d &&
		install -D -m 0644 "$RIG_TOP/daemon/dbus/org.fullstripe1.policy" -t /usr/share/polkit-1/actions
}

start_bus() {
	mkdir -p /run/dbus
	dbus-daemon --system --nofork --nopidfile >>$ROOT/bus.log 2>&1 &
	bus=$!
}

start_polkit() {
	mkdir -p /etc/polkit-1/rules.d
	cat >/etc/polkit-1/rules.d/50-test.rules <<-RULE
		polkit.addRule(function(action, subject) {
			if (action.id == "org.fullstripe1.control" && subject.user == "games")
				return polkit.Result.YES;
		});
	RULE
	/usr/lib/polkit-1/polkitd --no-debug >$ROOT/polkit.log 2>&1 &
	polkit=$!
}

# as USER COMMAND...
as() {
	local user=$1
	shift
	setpriv --reuid="$user" --regid=nogroup --clear-groups "$@"
}

has_name() {
	busctl status org.fullstripe1
}

# polkit_answers: it has read its rules by then.
# shellcheck disable=SC2317
polkit_answers() {
	busctl status org.freedesktop.PolicyKit1 && pkaction --action-id org.fullstripe1.control
}

# get OBJECT INTERFACE PROPERTY
get() {
	busctl get-property org.fullstripe1 "$1" "org.fullstripe1.$2" "$3"
}

of_device() {
	get $DEVICE Device "$1"
}

mode() {
	get /org/fullstripe1 Manager Mode
}

# call METHOD [ARGUMENT]: of the device, or of the daemon, in dbus-send's words: the answer,
# or the error.
call() {
	local path=$DEVICE interface=Device
	case $1 in
	Reload|SetMode) path=/org/fullstripe1 interface=Manager ;;
	esac
	dbus-send --system --print-reply=literal --reply-timeout=60000 --dest=org.fullstripe1 "$path" \
		"org.fullstripe1.$interface.$1" "${@:2}" 2>&1 | sed 's/^ *//'
}

# error METHOD [ARGUMENT]: the name of the error.
error() {
	call "$@" | sed -n 's/^Error \([^:]*\):.*/\1/p'
}

# errors_as USER: of all that changes something, each once.
errors_as() {
	export -f call error
	export DEVICE
	as "$1" bash -c 'for method in Reload "SetMode string:auto" RecordNow Apply TakeBack; do
		error $method
	done' | sort | uniq -c | sed 's/^ *//'
}

# state: all that could have been changed.
state() {
	echo "$(mode) $(of_device State) $(of_device Recordings) $(two) $(of_device Verdict)"
}

two() {
	echo "$(<"$folder/stripe_bytes") $(<"$folder/cluster_bytes")"
}

# shellcheck disable=SC2317
has_recorded() {
	[[ $(of_device Recordings) == "t $1" && $(of_device State) == 's "waiting"' ]]
}

# record COUNT: recordings more, one after the other.
record() {
	local i n
	for ((i = 0; i < $1; i++)); do
		n=$(of_device Recordings)
		"$CTL" daemon record fs-0 && eventually 20 has_recorded "$((${n#t } + 1))" || return
	done
}

# plan JQ: of what fullstripectl says.
plan() {
	"$CTL" daemon status --json | jq -c ".devices[0] | $1"
}

# interface OBJECT NAME: as the bus has it.
interface() {
	busctl introspect --xml-interface org.fullstripe1 "$1" | sed -n "/<interface name=\"$2\">/,/<\/interface>/p"
}

# shown_interfaces: as the man page has them.
shown_interfaces() {
	sed -n '/^    <interface/,/^$/p' "$MAN"
}

# shellcheck disable=SC2317
is_gone() {
	local tree
	tree=$(busctl tree --list org.fullstripe1)
	[[ $tree == */org/fullstripe1* && $tree != */device/* ]]
}

# lock, unlock: the settings, as fullstripectl does while it changes them.
lock() {
	mkdir -p $STATE
	exec 9>>$STATE/lock
	flock -n 9
}

unlock() {
	exec 9>&-
}

# profile: of the newest workload, which is a new file each time.
profile() {
	ls -i $STATE/profile-*
}

# shellcheck disable=SC2317
is_other_profile() {
	[[ $(profile) != "$1" ]]
}

# has_written COUNT
# shellcheck disable=SC2317
has_written() {
	local stat
	read -ra stat <"$folder/../stat"
	((stat[4] >= $1))
}

tap_plan 50
rig_load_module
rig_preset R5 ram
# A name that cannot stand in a path as it is.
"$CTL" create fs-0 "$RIG_MD" --set data_members=2 --set cluster_bytes=128KiB
folder=$(rig_sysfs fs-0)
fio --name=w --filename=/dev/mapper/fs-0 --rw=write --bs=256k --direct=1 --size=64m --time_based \
	--runtime=600 --thinktime=10000 --output=/dev/null &
mkdir -p $ROOT
# There is something to record, of which there has to be enough.
eventually 30 has_written 64
configure advise
install_policies

"$CTL" daemon >$ROOT/ctl 2>&1
tap_is "$? $(grep -c 'there is no D-Bus' $ROOT/ctl)" "6 1" "without a bus the command says so"
lock
env -u JOURNAL_STREAM "$RIG_TOP/build/daemon/fullstriped" --root $ROOT --state-dir $STATE >"$SAID" 2>&1 9>&- &
daemon=$!
tap_check "while somebody else changes settings it records, and does not decide" \
	eventually 30 said "fs-0: another process changes settings; what was recorded is decided on when it is done"
unlock
tap_check "without a bus the daemon gives advice" eventually 30 said "fs-0: stripe_bytes 131072 -> 262144: "
tap_is "$(grep -c 'no control by D-Bus for now' "$SAID")" 1 "and says once that there is none"
start_bus
tap_check "when there is a bus the daemon has its name" eventually 90 has_name
busctl monitor org.fullstripe1 >$SIGNALS 2>&1 &
monitor=$!

tap_is "$(busctl tree --list org.fullstripe1 | tail -n 1)" $DEVICE "its device is an object"
tap_is "$(as nobody busctl get-property org.fullstripe1 $DEVICE org.fullstripe1.Device Name Node State Recordings | paste -sd ' ')" \
	"s \"fs-0\" s \"/dev/$(basename "${folder%/*}")\" s \"waiting\" t 1" "everybody can read what it is"
tap_is "$(as nobody "$CTL" daemon status --json |
	jq -c '[.mode, .devices[0].name, (.devices[0].plan[] | select(.setting == "stripe_bytes") | .old, .new, .left_alone)]')" \
	'["advise","fs-0",131072,262144,false]' "and the plan"
tap_is "$(as nobody "$CTL" daemon | awk '/^fs-0/ { print $1, $3 }')" "fs-0 waiting" "as a table, too"
tap_is "$({ interface /org/fullstripe1 org.fullstripe1.Manager; interface $DEVICE org.fullstripe1.Device; } | sed 's/^ *//')" \
	"$(shown_interfaces | sed 's/^ *//;/^$/d')" "the man page has its interfaces"

# Were it reloaded, it would be seen.
configure auto
unchanged=$(state)
tap_is "$(errors_as nobody)" "5 org.freedesktop.DBus.Error.AccessDenied" "nobody else may change anything"
tap_is "$(state)" "$unchanged" "and has not"
as nobody "$CTL" daemon mode auto 2>$ROOT/ctl
tap_is "$? $(grep -c 'for root, and for whom polkit lets' $ROOT/ctl)" "1 1" "the command says who may"
start_polkit
tap_check "polkit starts" eventually 60 polkit_answers
tap_is "$(errors_as nobody)" "5 org.freedesktop.DBus.Error.InteractiveAuthorizationRequired" \
	"polkit wants a password of others"
tap_is "$(state)" "$unchanged" "so nothing is changed"
tap_is "$(as games "$CTL" daemon mode auto 2>&1; mode)" 's "auto"' "whom polkit lets may"
kill "$polkit"
wait "$polkit" 2>/dev/null

configure advise
tap_is "$("$CTL" daemon reload 2>&1; mode)" 's "advise"' "a reload returns to the configuration"
tap_is "$("$CTL" daemon mode auto 2>&1; mode)" 's "auto"' "root may set the mode"
"$CTL" daemon mode advise
said=$("$CTL" daemon mode foo 2>&1)
tap_is "$? ${said%%$'\n'*}" "2 fullstripectl daemon: the mode 'foo': must be advise or auto" "which is one of two"

# For so long that all of this is while it lasts.
configure advise 10
"$CTL" daemon reload
n=$(of_device Recordings)
call RecordNow
tap_is "$(of_device State) $(error RecordNow)" 's "recording" org.fullstripe1.Error.Recording' "it records when it is told to"
tap_check "to the end" eventually 60 has_recorded "$((${n#t } + 1))"
configure advise
"$CTL" daemon reload
# With the one before that makes five; the first one, beside which settings were locked, is no sample.
tap_check "again and again" record 4
tap_is "$(call Apply) $(two)" "uint32 3 262144 262144" "it applies its plan when it is told to, in any mode"
tap_is "$("$CTL" history fs-0 --state-dir $STATE --json | jq -r '.history[-1] | .kind + " " + .outcome')" "apply done" \
	"as a change that is in the history"
tap_is "$(plan '.plan | map(select(.old != .new)) | length')" 0 "the plan says that it is set"
tap_is "$(call Apply)" "uint32 0" "told again it changes nothing"
tap_check "it looks at what the change did" record 5
tap_is "$(plan '.verdict | .change, (.verdict | IN("unharmed", "harmed"))' | paste -sd ' ')" "1 true" "and judges it"
tap_is "$(call TakeBack) $(two)" "uint32 3 131072 131072" "it takes it back when it is told to"
tap_is "$(error TakeBack) $(error Apply)" "org.fullstripe1.Error.NothingToDo org.fullstripe1.Error.NothingToDo" \
	"once, and has no plan then"
record 1
tap_is "$(call Apply) $(two); $(record 1; plan .verdict.verdict)" 'uint32 3 262144 262144; "not-comparable"' \
	"what there are too few recordings before is not judged"

lock
unchanged=$(state)
saved=$(profile)
tap_is "$(call Apply)" "Error System.Error.EBUSY: fs-0: fullstripectl is changing settings now; try again" \
	"while somebody else changes settings it does not wait for him"
tap_is "$(error TakeBack) $(state)" "System.Error.EBUSY $unchanged" "nor to take back, and changes nothing"
tap_check "it records meanwhile" record 1
tap_is "$(profile)" "$saved" "and keeps nothing"
unlock
tap_check "until that is done" eventually 10 is_other_profile "$saved"

tap_is "$(error SetMode string:maybe) $(call SetMode string:maybe | grep -c "mode 'maybe': must be advise or auto")" \
	"org.freedesktop.DBus.Error.InvalidArgs 1" "a mode that there is not is refused"
tap_is "$(DEVICE=/org/fullstripe1/device/none error RecordNow)" org.freedesktop.DBus.Error.UnknownObject "and so is a device"
"$CTL" daemon record none 2>$ROOT/ctl
tap_is "$? $(grep -c "'none' is no device that fullstriped watches" $ROOT/ctl)" "1 1" "as the command says"
unchanged=$(state)
tap_is "$("$CALLS" "${SEED:-1}" 1000 $DEVICE 2>&1)" "1000 errors" "1000 random calls are answered by errors"
tap_is "$(state)" "$unchanged" "and change nothing"
configure maybe
tap_is "$(error Reload) $(mode)" 'org.fullstripe1.Error.ConfigurationWrong s "advise"' "a wrong configuration is said"

configure advise 2 2
kill "$monitor"
(($(grep -c Member=PropertiesChanged $SIGNALS) > 20))
tap_is $? 0 "changes are told"
kill -KILL "$bus"
wait "$bus" 2>/dev/null
sleep 2
start_bus
tap_check "when the bus was killed and is back, so is the name" eventually 90 has_name
tap_is "$(of_device Name)" 's "fs-0"' "and the device"
busctl monitor org.fullstripe1 >$SIGNALS 2>&1 &
monitor=$!
"$CTL" daemon reload
pkill -x fio
wait %1 2>/dev/null
"$CTL" remove fs-0
tap_check "a device that is removed is no object any more" eventually 20 is_gone
tap_check "which is told" eventually 10 grep -q Member=InterfacesRemoved $SIGNALS
kill "$monitor"
kill -TERM "$daemon"
wait "$daemon"
tap_is "$?" 0 "it stops"
"$CTL" daemon reload 2>$ROOT/ctl
tap_is "$? $(grep -c 'fullstriped does not run, or is not on D-Bus' $ROOT/ctl)" "6 1" \
	"without a daemon on the bus the command says so"
kill "$bus"
wait
tap_diag "$SECONDS s in all"
tap_diag "$(<"$SAID")"
tap_done

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Setting a device for its workload is all or nothing: applied, verified, taken back; what
# somebody else sets is left alone; and kill -9 at any write leaves what the next start
# completes or takes back.
. "${BASH_SOURCE[0]%/*}/common.sh"

CTL=$RIG_TOP/build/daemon/fullstripectl
TRACES=$RIG_TOP/selftests/unit/traces/linux-6.12-v1
STATE=/run/fullstripe-state
PROFILE=/run/fullstripe-profile

# ctl VERB [OPTION]...: with the state of this test. Sets status; leaves the output in $out.
ctl() {
	local verb=$1
	shift
	status=0
	out=$("$CTL" "$verb" --state-dir "$STATE" "$@" 2>/run/ctl-errors) || status=$?
}

# settings: all keys of the device, a line each.
settings() {
	(cd "$folder" && grep -H . -- *_bytes *_ms *_io *_nstream streams mode)
}

two() {
	echo "$(<"$folder/stripe_bytes") $(<"$folder/cluster_bytes")"
}

# history JQ: of the device.
history_says() {
	ctl history fs0 --json
	jq -r "$1" <<<"$out"
}

# The workload that was recorded, at 150 MiB/s: 768 KiB is three stripes.
make_profile() {
	"$CTL" profile --json "$TRACES"/vda.blktrace.* |
		jq '.devices[0].bandwidth.peak = 157286400' >"$PROFILE"
}

# killed SYSCALL N VERB [OPTION]...: kill it before its Nth such call. Return: 0 if it was,
# 1 if it got through before, or failed.
killed() {
	local call=$1 n=$2 verb=$3 got=0
	shift 3
	{ strace -qq -o /dev/null -e trace="$call" -e inject="$call:signal=KILL:when=$n" \
		"$CTL" "$verb" --state-dir "$STATE" "$@" >/run/killed 2>&1; } 2>/dev/null || got=$?
	((got != 0 && got != 137)) && wrong+=" $verb ended with $got: $(</run/killed)"
	((got == 137))
}

# is_old, is_new: the settings, and how often the state says so of a change.
is_old() {
	[[ $(settings) == "$as_made" ]]
}

is_new() {
	[[ $(two) == "262144 786432" ]]
}

says() {
	local n
	n=$(cat "$STATE"/dm-*.json | grep -cF "\"outcome\": \"$2\"")
	((n == $1))
}

# kill_all VERB [OPTION]...: at each write and rename of it, from the state that prepare_VERB
# makes; after_VERB checks what the next start makes of it, and returns to the beginning. Sets
# kills, and wrong, which says where it went wrong.
kill_all() {
	local call n calls=(write renameat)
	[[ ! ${LONG-} ]] || calls+=(fsync openat)
	kills=0 wrong=
	for call in "${calls[@]}"; do
		for ((n = 1; n < 100; n++)); do
			rm -rf "$STATE"
			"prepare_$1" || wrong+=" no beginning for $call:$n"
			killed "$call" "$n" "$@" || break
			((++kills))
			"after_$1" || wrong+=" $call:$n($(two))"
			[[ ! $wrong ]] || return
		done
		"after_$1" || wrong+=" $call:end($(two))"
	done
}

# shellcheck disable=SC2317 # kill_all calls these four
prepare_apply() {
	is_old
}

# What an apply that was killed left is completed by the next one, as one change.
# shellcheck disable=SC2317
after_apply() {
	ctl apply fs0 --profile "$PROFILE"
	((!status)) && is_new && says 1 'done' || return
	ctl rollback fs0
	((!status)) && is_old
}

# shellcheck disable=SC2317
prepare_rollback() {
	ctl apply fs0 --profile "$PROFILE"
	((!status)) && is_new
}

# What a rollback that was killed left is completed by the next one, which may find nothing more to do.
# shellcheck disable=SC2317
after_rollback() {
	ctl rollback fs0
	((status == 0 || status == 4)) && is_old && says 1 'done' && says 1 taken-back
}

tap_plan 30
rig_load_module
rig_preset R5 ram
"$CTL" create fs0 "$RIG_MD" --set data_members=2 --set cluster_bytes=128KiB
folder=$(rig_sysfs fs0)
as_made=$(settings)
make_profile

ctl plan fs0
tap_is "$status" 4 "without a workload there is no plan"
ctl plan fs0 --profile "$PROFILE" --json
tap_is "$status $(jq -c '[.plan[] | [.attribute, .old, .new]]' <<<"$out")" \
	'0 [["stripe_bytes",131072,262144],["cluster_bytes",131072,786432]]' "a plan is made from a saved profile"
ctl plan fs0 "$TRACES"/vda.blktrace.* --device "$(jq -r '.devices[0].device' "$PROFILE")"
tap_is "$status $(two)" "0 131072 131072" "and from recordings, and changes nothing"
tap_check "nor does it keep anything" test ! -e "$STATE"
ctl explain fs0 --profile "$PROFILE"
[[ $out == *"RAID5 of 5 members"* && $out == *"150 MiB/s / 200 I/Os per second = 768 KiB"* &&
	$out == *"tightest layer: "* && $out == *"max_sectors_kb"* ]]
tap_is "$status $?" "0 0" "explain shows array, sum and limits"

echo '{ "devices": [' >/run/bad
ctl apply fs0 --profile /run/bad
tap_is "$status $(two)" "3 131072 131072" "a damaged profile changes nothing"
ctl verify fs0
tap_is "$status" 4 "nothing was set, and verify says so"

ctl apply fs0 --profile "$PROFILE"
tap_is "$status $(two)" "0 262144 786432" "apply sets it"
ctl verify fs0
tap_is "$status" 0 "verify finds it so"
tap_is "$(history_says '.history[] | .kind + " " + .outcome')" "apply done" "history has it"
ctl apply fs0 --profile "$PROFILE"
tap_is "$status $(history_says '.history | length')" "0 1" "what is right is not changed again"

dmsetup rename fs0 other
ctl verify other
tap_is "$status" 0 "a device is known by its uuid, whatever its name"
dmsetup rename other fs0

echo 1048576 >"$folder/cluster_bytes"
ctl verify fs0 --json
tap_is "$status $(jq -c '[.values[] | select(.as_set | not) | [.name, .set, .now]]' <<<"$out")" \
	'5 [["cluster_bytes",786432,1048576]]' "verify tells of what somebody else set"
ctl apply fs0 --profile "$PROFILE" --json
tap_is "$status $(two) $(jq -c '[.plan[] | select(.left_alone) | .attribute]' <<<"$out")" \
	'0 262144 1048576 ["cluster_bytes"]' "apply leaves it alone"
ctl apply fs0 --profile "$PROFILE" --force
tap_is "$status $(two)" "0 262144 786432" "and with --force takes it over"
ctl rollback fs0
tap_is "$status $(two)" "0 262144 1048576" "rollback brings back what somebody else had set"
ctl rollback fs0
tap_is "$status $(two)" "0 131072 1048576" "and leaves that alone when it takes back what was before"
echo 131072 >"$folder/cluster_bytes"
tap_is "$(settings)" "$as_made" "all else is as it was"
ctl rollback fs0
tap_is "$status" 4 "and nothing is left to take back"

echo "not ours" >"$STATE/$(basename "$STATE"/dm-uuid-*.json)"
ctl verify fs0
tap_is "$status" 1 "a damaged state is not trusted"
ctl apply fs0 --profile "$PROFILE"
tap_is "$status $(two)" "0 262144 786432" "apply sets it aside and begins anew"
tap_check "what it was is kept" test -e "$STATE"/dm-uuid-FULLSTRIPE-fs0.json.corrupt
ctl rollback fs0

# Followers that were set by hand: their product is no multiple of the new width.
echo 131072 >"$folder/read_pref_io"
echo 3 >"$folder/read_nstream"
odd=$(settings)
ctl apply fs0 --profile "$PROFILE"
tap_is "$(two)" "262144 786432" "a new stripe width may move other settings"
[[ "$(<"$folder/read_pref_io") $(<"$folder/read_nstream")" != "131072 3" ]]
tap_is $? 0 "and has moved them"
ctl rollback fs0
tap_is "$(settings)" "$odd" "rollback brings them back too"
as_made=$odd

kill_all apply fs0 --profile "$PROFILE"
((kills >= 7))
tap_is $? 0 "apply is killed at each write and rename"
tap_is "$wrong" '' "each time it is completed as one change, and taken back"
tap_diag "$kills kills"
kill_all rollback fs0
((kills >= 7))
tap_is $? 0 "rollback is killed at each write and rename"
tap_is "$wrong" '' "each time it is completed"
tap_diag "$kills kills; $SECONDS s in all"

# Made anew it has its table's values: what was set in the last making says nothing of it.
ctl apply fs0 --profile "$PROFILE"
"$CTL" remove fs0
"$CTL" create fs0 "$RIG_MD" --set data_members=2
ctl rollback fs0
tap_is "$status" 4 "nothing is taken back in a device that was made anew"
tap_done

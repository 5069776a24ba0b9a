#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Setting a device for its workload is all or nothing, with the layers below and without:
# applied, verified, taken back; what somebody else sets is left alone; and kill -9 at any
# write leaves what the next start completes or takes back.
# once: 6.1 the settings are those of both
. "${BASH_SOURCE[0]%/*}/common.sh"

CTL=$RIG_TOP/build/daemon/fullstripectl
TRACES=$RIG_TOP/selftests/unit/traces/linux-6.12-v1
KILL_AT_SO=$RIG_TOP/build/selftests/functional/kill-at.so
STATE=/run/fullstripe-state
PROFILE=/run/fullstripe-profile

# For plan, explain and apply, in this part of the test.
flags=(--no-layers)

# with_flags VERB [OPTION]...: sets command to the command line.
with_flags() {
	command=("$CTL" "$1" --state-dir "$STATE")
	[[ $1 != plan && $1 != explain && $1 != apply ]] || command+=("${flags[@]}")
	command+=("${@:2}")
}

# ctl VERB [OPTION]...: with the state of this test. Sets status; leaves the output in $out.
ctl() {
	with_flags "$@"
	status=0
	out=$("${command[@]}" 2>/run/ctl-errors) || status=$?
}

# settings: all keys of the device, and what may be set below and above it, a line each.
settings() {
	(cd "$folder" && grep -H . -- *_bytes *_ms *_io *_nstream streams mode \
		../queue/read_ahead_kb ../bdi/{max_ratio,strict_limit} \
		"$below"/{md*,nullb*}/queue/{max_sectors_kb,read_ahead_kb} \
		"$below/$md/md/stripe_cache_size" 2>/dev/null)
}

# layers: what they are set to.
layers() {
	(cd "$below" && echo "$(<nullb0/queue/max_sectors_kb) $(<"$md/queue/max_sectors_kb") $(<"$md/md/stripe_cache_size")")
}

# deep: what a cluster of 768 KiB asks of the layers, and of the kernel above.
deep() {
	echo "$(layers) $(<"$folder/../queue/read_ahead_kb")"
}

# lower_limits: layers that are set for something else.
lower_limits() {
	echo 64 >"$below/nullb0/queue/max_sectors_kb"
	echo 128 >"$below/$md/queue/max_sectors_kb"
	echo 64 >"$below/$md/md/stripe_cache_size"
	# Of no use there, but somebody's; some kernels move it with each of the above.
	echo 100 >"$below/$md/queue/read_ahead_kb"
	echo 100 >"$below/nullb0/queue/read_ahead_kb"
}

two() {
	echo "$(<"$folder/stripe_bytes") $(<"$folder/cluster_bytes")"
}

# history JQ: of the device.
history_says() {
	ctl history fs0 --json
	jq -r "$1" <<<"$out"
}

# The workload that was recorded, with more reads and at 150 MiB/s: 768 KiB is three stripes.
make_profile() {
	"$CTL" profile --json "$TRACES"/vda.blktrace.* |
		jq '.devices[0].reads = 100 | .devices[0].bandwidth.peak = 157286400' >"$PROFILE"
}

# killed SYSCALL N VERB [OPTION]...: kill it before its Nth such call. Return: 0 if it was,
# 1 if it got through before, or failed.
killed() {
	local call=$1 n=$2 got=0
	shift 2
	with_flags "$@"
	{ KILL_CALL=$call KILL_AT=$n LD_PRELOAD=$KILL_AT_SO "${command[@]}" >/run/killed 2>&1; } \
		2>/dev/null || got=$?
	((got != 0 && got != 137)) && wrong+=" $1 ended with $got: $(</run/killed)"
	((got == 137))
}

# is_old, is_new: the settings, and how often the state says so of a change.
is_old() {
	[[ $(settings) == "$as_made" ]]
}

is_new() {
	[[ $(two) == "262144 786432" && $(deep) == "192 768 128 768" ]]
}

says() {
	local n
	n=$(cat "$STATE"/dm-*.json | grep -cF "\"outcome\": \"$2\"")
	((n == $1))
}

# kill_all: apply and rollback at each of their writes and renames. What one that was killed
# left is completed by the next one, as one change. Sets kills, and wrong, which says where it
# went wrong.
kill_all() {
	local call n before calls=(write renameat)
	[[ ! ${LONG-} ]] || calls+=(fsync openat)
	kills=0 wrong=
	for call in "${calls[@]}"; do
		for ((n = 1; n < 200; n++)); do
			before=$kills
			rm -rf "$STATE"
			is_old || wrong+=" no beginning for $call:$n"
			killed "$call" "$n" apply fs0 --profile "$PROFILE" && ((++kills))
			ctl apply fs0 --profile "$PROFILE"
			((!status)) && is_new && says 1 'done' || wrong+=" apply $call:$n($(two) $(deep))"
			killed "$call" "$n" rollback fs0 && ((++kills))
			# It may find nothing more to do.
			ctl rollback fs0
			((status == 0 || status == 4)) && is_old && says 1 'done' && says 1 taken-back ||
				wrong+=" rollback $call:$n($(two) $(deep))"
			[[ ! $wrong ]] || return
			((kills > before)) || break
		done
	done
}

tap_plan 60
rig_load_module
rig_preset R5 ram
md=$(basename "$(realpath "$RIG_MD")")
below=/sys/class/block
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

# As it is on disk amid a change; who makes one holds the lock.
state=$(basename "$STATE"/dm-uuid-*.json)
cp "$STATE/$state" /run/settled
jq '.under_way = (.history[-1] + {outcome: "under-way"})' /run/settled >"$STATE/$state"
exec {lock}>>"$STATE/lock"
flock "$lock"
ctl verify fs0 --json
tap_is "$status $(jq -c '[.being_made, .interrupted]' <<<"$out")" "5 [true,false]" "verify tells of a change that is being made"
ctl verify fs0
tap_is "$status $(grep -c '^change 1 is being made now' <<<"$out")" "5 1" "in words, too"
exec {lock}>&-
ctl verify fs0 --json
tap_is "$status $(jq -c '[.being_made, .interrupted]' <<<"$out")" "5 [false,true]" "and of one that nobody makes any more"
cp /run/settled "$STATE/$state"

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

# The layers below, and what the kernel has for the device.
flags=()
lower_limits
# So that the peak of a second is a small part of what may be dirty.
dirty_ratio=$(</proc/sys/vm/dirty_ratio)
echo 80 >/proc/sys/vm/dirty_ratio
as_made=$(settings)
ctl explain fs0 --profile "$PROFILE"
[[ $out == *"is 192 KiB for each of 4 data members"* && $out == *"128 x 5 members x 4 KiB"* &&
	$out == *"skip_copy is left as it is"* && $out == *"group_thread_cnt is left as it is"* ]]
tap_is "$status $?" "0 0" "explain tells of the layers"
ctl plan fs0 --profile "$PROFILE" --json
tap_is "$status $(jq -r '.plan[] | select(.changed) | .attribute' <<<"$out" | grep -v -e _limit -e _ratio | paste -sd' ')" \
	"0 nullb0/max_sectors_kb $md/max_sectors_kb $md/stripe_cache_size stripe_bytes cluster_bytes read_ahead_kb" \
	"the plan has the lowest first, and what to read ahead last"
tap_is "$(settings)" "$as_made" "and changes nothing"
ctl apply fs0 --profile "$PROFILE"
tap_is "$status $(two) $(deep)" "0 262144 786432 192 768 128 768" "apply sets them all"
[[ $(<"$folder/../bdi/max_ratio") == @(8|16|32) ]] &&
	[[ ! -e $folder/../bdi/strict_limit || $(<"$folder/../bdi/strict_limit") == 1 ]]
tap_is $? 0 "and bounds what is dirty"
tap_is "$(<"$below/$md/queue/read_ahead_kb") $(<"$below/nullb0/queue/read_ahead_kb")" "100 100" \
	"what the kernel moves with it stays as it was"
ctl apply fs0 --profile "$PROFILE"
tap_is "$status $(history_says '.history[-1].changes[].name' | grep -c '^read_ahead_kb$')" "0 1" \
	"what is right is not changed again"
echo 100 >"$below/$md/md/stripe_cache_size"
ctl verify fs0 --json
tap_is "$status $(jq -c '[.values[] | select(.as_set | not) | .name]' <<<"$out")" "5 [\"$md/stripe_cache_size\"]" \
	"verify tells what somebody else set in a layer"
ctl apply fs0 --profile "$PROFILE" --json
tap_is "$status $(jq -r '.plan[] | select(.left_alone) | .attribute' <<<"$out") $(<"$below/$md/md/stripe_cache_size")" \
	"0 $md/stripe_cache_size 100" "apply leaves that alone"
ctl rollback fs0
tap_is "$status $(deep)" "0 64 128 100 256" "and so does rollback, which brings back the rest"
echo 64 >"$below/$md/md/stripe_cache_size"
tap_is "$(settings)" "$as_made" "all of it"

kill_all
((kills >= 20))
tap_is $? 0 "apply and rollback are killed at each write and rename"
tap_is "$wrong" '' "each time it is completed as one change, and taken back"
tap_diag "$kills kills; $SECONDS s in all"

# Made anew it has its table's values: what was set in the last making says nothing of it, but
# the layers have not been made anew.
ctl apply fs0 --profile "$PROFILE"
"$CTL" remove fs0
"$CTL" create fs0 "$RIG_MD" --set data_members=2 --set cluster_bytes=128KiB
ctl rollback fs0
tap_is "$status $(two) $(deep)" "0 131072 131072 64 128 64 256" \
	"the layers of a device that was made anew have their values back"
ctl rollback fs0
tap_is "$status" 4 "and nothing else is taken back"

# Who removes a device is rid of it.
ctl apply fs0 --profile "$PROFILE"
ctl remove fs0 --state-dir /run/none
[[ ! -e /run/none ]]
tap_is "$status $? $(layers)" "0 0 192 768 128" "where nothing is known layers stay as they are"
"$CTL" create fs0 "$RIG_MD" --set data_members=2
"$CTL" create fs1 "$RIG_MD" --set data_members=2 --force
ctl remove fs0
tap_is "$status $(layers) $(grep -c "another fullstripe device lies on it" /run/ctl-errors)" "0 192 768 128 2" \
	"they stay, too, while another one lies on them"
ctl remove fs1
"$CTL" create fs0 "$RIG_MD" --set data_members=2
exec 9</dev/mapper/fs0
echo 100 >"$below/$md/md/stripe_cache_size"
ctl remove fs0
exec 9<&-
tap_is "$status $(layers)" "1 192 768 100" "who is refused changes nothing"
ctl remove fs0
tap_is "$status $(layers)" "0 64 128 100" "without the device they have what they had before, but what somebody else set"
tap_is "$(sed 's/:.*//' <<<"$out" | paste -sd,)" "nullb0/max_sectors_kb 192 -> 64,$md/max_sectors_kb 768 -> 128" "it is said"
"$CTL" create fs0 "$RIG_MD" --set data_members=2
ctl apply fs0 --profile "$PROFILE" --force
tap_is "$(layers)" "192 768 128" "they are set again"
tap_is "$(history_says '.history[-2:] | map(.kind, .outcome) | join(" ")')" "restore done apply done" "which is known"
ctl remove fs0 --keep-layers
tap_is "$status $(layers)" "0 192 768 128" "and kept, if that is asked for"

# Another has its number by then: it is not his plan.
"$CTL" create fs0 "$RIG_MD" --set data_members=2
table=$(dmsetup table fs0)
uuid=$(dmsetup info -c --noheadings -o uuid fs0)
number=$(basename "$(realpath /dev/mapper/fs0)")
exec {lock}>>"$STATE/lock"
flock "$lock"
with_flags apply fs0 --profile "$PROFILE" --force
"${command[@]}" 2>/run/ctl-errors {lock}>&- &
job=$!
eventually 20 grep -q 'another process changes settings' /run/ctl-errors
dmsetup remove fs0
dmsetup create fs0 -u "$uuid" --table "$table"
tap_is "$(basename "$(realpath /dev/mapper/fs0)")" "$number" "a device is made anew while apply waits for another process"
before=$(settings)
exec {lock}>&-
wait "$job"
tap_is "$? $(grep -c 'was removed or made anew meanwhile; nothing is changed' /run/ctl-errors)" "1 1" "apply says so"
tap_is "$(settings)" "$before" "and sets nothing"
dmsetup remove fs0

# A disk that says itself what it takes, which is less than max_hw_sectors_kb. Newer kernels
# take any number then, and keep what it says; older ones refuse it.
rig_teardown
modprobe sd_mod
modprobe scsi_debug dev_size_mb=8
eventually 20 test -b /dev/sda
"$CTL" create fs0 /dev/sda --set chunk_bytes=64KiB --set data_members=4
jq '.devices[0].bandwidth.peak = 4e9' "$PROFILE" >/run/fast
ctl explain fs0 --profile /run/fast
tap_is "$(grep -c 'sda vpd_pgb0 8 MiB' <<<"$out")" 1 "explain names a SCSI disk's own limit"
ctl apply fs0 --profile /run/fast
tap_is "$status $(<"$folder/cluster_bytes") $(</sys/block/sda/queue/max_sectors_kb)" "0 8388608 8192" \
	"and no more is asked of the disk"
"$CTL" remove fs0
modprobe -r scsi_debug

# An array of another level has no stripe cache; of RAID5 without its parity it is made in use.
rig_members 3 64 ram
rig_array 5 64 md0 --layout=parity-last
"$CTL" create fs0 "$RIG_MD"
md=md0 folder=$(rig_sysfs fs0)
echo 64 >"$below/$md/md/stripe_cache_size"
ctl apply fs0 --profile "$PROFILE" --force
parity=${RIG_MEMBERS[2]}
mdadm --quiet "$RIG_MD" --fail "$parity" --remove "$parity"
echo raid0 >"$below/$md/md/level"
[[ ! -e $below/$md/md/stripe_cache_size ]]
tap_is "$status $?" "0 0" "an array that is set gets another level"
ctl verify fs0
tap_is "$status $(grep -c "$md/stripe_cache_size .*- *is not there any more" <<<"$out")" "5 1" "verify tells what it has no more"
ctl verify fs0 --json
tap_is "$(jq -c '[.values[] | select(.now == null) | .name, .as_set]' <<<"$out")" "[\"$md/stripe_cache_size\",false]" \
	"which is null for programs"
ctl rollback fs0
tap_is "$status $(history_says '[.history[-1].changes[] | select(.name == "md0/stripe_cache_size")] | length')" "0 0" \
	"rollback passes over it"
"$CTL" remove fs0
echo "$dirty_ratio" >/proc/sys/vm/dirty_ratio
rm -rf "$STATE" "$PROFILE" /run/fast
tap_done

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# fullstriped is killed with SIGKILL at random moments, most of them while it changes settings
# or ends a change that was interrupted, and started again each time. Every setting is always
# the old or the new value of the one change that is journalled; once it has started, all are
# the old ones or all are the new ones, as the history says; and nothing is left behind.
# 20 times; 200 times with LONG=1; KILLS=N in the environment: N times.
# long timeout: 1500
# timeout: 900
# once: 6.1 what is journalled is so on any kernel
. "${BASH_SOURCE[0]%/*}/common.sh"

CTL=$RIG_TOP/build/daemon/fullstripectl
STATE=/run/kill/state
FILE=$STATE/dm-uuid-FULLSTRIPE-fs0.json
SAMPLES=$STATE/samples-dm-uuid-FULLSTRIPE-fs0.json
CONFIG=/run/kill/etc/fullstripe/fullstriped.conf.d/test.conf
SAID=/run/kill/said
KILLS=${KILLS-${LONG:+200}}
KILLS=${KILLS:-20}
rounds=0

start_daemon() {
	env -u JOURNAL_STREAM "$RIG_TOP/build/daemon/fullstriped" --root /run/kill --state-dir "$STATE" \
		>>"$SAID" 2>&1 &
	daemon=$!
}

# wait_random MILLISECONDS: less than so many.
wait_random() {
	local ms=$((RANDOM % $1))
	sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
}

kill_daemon() {
	kill -KILL "$daemon"
	wait "$daemon" 2>/dev/null
	((++kills))
	[[ $(under_way) != change ]] || ((++amid))
	look dead
}

# file_of NAME: where a setting is: of the device, or DISK/NAME.
file_of() {
	local f
	for f in "$folder/$1" "$folder/../queue/$1" "$folder/../bdi/$1" \
		"/sys/class/block/${1%/*}/"{queue,md}"/${1##*/}"; do
		[[ ! -f $f ]] || break
	done
	echo "$f"
}

# settings: all that it may change, a line each.
settings() {
	(cd /sys/class/block && grep -H . -- "$disk"/fullstripe/{stripe_bytes,cluster_bytes,read_pref_io,read_nstream} \
		"$disk"/{queue/read_ahead_kb,bdi/max_ratio} "$disk/bdi/strict_limit" \
		{"$md",nullb*}/queue/max_sectors_kb "$md/md/stripe_cache_size" 2>/dev/null)
}

# configure MODE
configure() {
	printf '%s\n' '[fullstriped]' "mode = $1" 'record_seconds = 1' 'interval_seconds = 1' \
		'dwell_seconds = 0' 'changes_per_hour = 3600' >"$CONFIG"
}

# has_samples: whether there is what a change could be judged by.
# shellcheck disable=SC2317
has_samples() {
	[[ $(jq '.before | length' "$SAMPLES") == 5 ]]
}

# put_back: as it was made, with no change known of it, but with the recordings before one: the
# next one makes it change.
put_back() {
	local line
	rm -rf "$STATE"
	mkdir "$STATE"
	cp "/run/kill/samples-$trace" "$SAMPLES"
	while read -r line; do
		echo "${line#*:}" >"/sys/class/block/${line%%:*}"
	done <<<"$as_made"
	[[ $(settings) == "$as_made" ]] || wrong+=" $kills:not-put-back"
}

# with_trace 1|0: whether it can be traced; else there are counters.
with_trace() {
	trace=$1
	if mountpoint -q /sys/kernel/debug; then
		((trace)) || umount -R /sys/kernel/debug
	else
		((!trace)) || mount -t debugfs debugfs /sys/kernel/debug
	fi
}

# record_before: what is known of the workload before any change, of a trace or of counters.
record_before() {
	with_trace "$1"
	start_daemon
	eventually 60 has_samples || wrong+=" no-samples"
	kill_daemon
	cp "$SAMPLES" "/run/kill/samples-$1"
	rm -rf "$STATE"
}

# under_way: whether a change is journalled and not ended.
under_way() {
	[[ ! -e $FILE ]] || jq -r 'if .under_way then "change" else "nothing" end' "$FILE" || echo damaged
}

# look dead|alive: what is set, and what is known of it. Of a change that is under way each
# value is the old or the new one. One that has ended is there as a whole, or not at all.
look() {
	local which found name old new n_old=0 n_new=0 n=0
	which=$(under_way)
	[[ $which != damaged && ! $(ls "$STATE"/*.corrupt 2>/dev/null) ]] || wrong+=" $kills:damaged"
	if [[ $which == '' ]]; then
		[[ $(settings) == "$as_made" ]] || wrong+=" $kills:unknown-change"
		return
	fi
	[[ $1 == dead || $which == nothing ]] || wrong+=" $kills:not-ended"
	# What moves with another setting is what it should be only at the end of the change.
	while read -r name old new; do
		found=$(<"$(file_of "$name")")
		((++n))
		((found != old)) || ((++n_old))
		((found != new)) || ((++n_new))
		((found == old || found == new)) || wrong+=" $kills:$name=$found($old,$new)"
	done < <(jq -r '(.under_way.changes // [] | map(select(.follows or .old == .new | not)) | .[]),
		(if .under_way then empty else .history[-1].changes[]? end) | [.name, .old, .new] | map(tostring) | join(" ")' "$FILE")
	((n > 3)) || wrong+=" $kills:$n-settings"
	[[ $which == nothing ]] || return
	case $(jq -r '.history | map(.kind + " " + .outcome) | join(",")' "$FILE") in
	'apply done') ((n_new == n)) || wrong+=" $kills:done-mixed($n_new/$n)"; ((++completed)) ;;
	'apply undone'|'apply void') ((n_old == n)) || wrong+=" $kills:undone-mixed($n_old/$n)"; ((++undone)) ;;
	*) wrong+=" $kills:history($(jq -c .history "$FILE"))" ;;
	esac
}

# has_ended: whether no change is under way any more.
# shellcheck disable=SC2317
has_ended() {
	[[ $(under_way) == nothing ]]
}

# has_recorded: whether it has made a recording since the mark.
# shellcheck disable=SC2317
has_recorded() {
	[[ $STATE/profile-dm-uuid-FULLSTRIPE-fs0.json -nt /run/kill/mark ]]
}

# until_change: waits for the beginning of a change; it looks all the time.
until_change() {
	local end=$((SECONDS + 40))
	until [[ -e $FILE ]]; do
		((SECONDS < end)) || { wrong+=" $kills:no-change"; return; }
	done
}

# round: five kills.
round() {
	# Every other round without a trace.
	with_trace $((rounds++ % 2))
	put_back
	start_daemon
	wait_random 1000
	kill_daemon
	start_daemon
	until_change
	wait_random 60
	kill_daemon
	for _ in 1 2; do
		start_daemon
		wait_random 120
		kill_daemon
	done
	start_daemon
	eventually 20 has_ended
	look alive
	wait_random 1000
	kill_daemon
}

tap_plan 8
rig_load_module
rig_preset R5 ram
md=$(basename "$(realpath "$RIG_MD")")
"$CTL" create fs0 "$RIG_MD" --set data_members=2 --set cluster_bytes=128KiB
folder=$(rig_sysfs fs0)
disk=$(basename "${folder%/*}")
for f in /sys/class/block/nullb*/queue/max_sectors_kb; do
	echo 32 >"$f"
done
echo 128 >"/sys/class/block/$md/queue/max_sectors_kb"
echo 64 >"/sys/class/block/$md/md/stripe_cache_size"
as_made=$(settings)
mkdir -p "${CONFIG%/*}"
fio --name=w --filename=/dev/mapper/fs0 --rw=rw --bs=64k --direct=1 --size=32m --time_based \
	--runtime=3600 --rate=20m,20m --output=/dev/null &

kills=0 amid=0 completed=0 undone=0 wrong=
configure advise
record_before 1
record_before 0
configure auto
kills=0
# How many come in the middle of a change is chance.
while ((kills < KILLS || (amid < KILLS / 20 && kills < 3 * KILLS))) && [[ ! $wrong ]]; do
	round
done
with_trace 1
tap_is "$wrong" '' "every setting is an old or a new one, and all of them when it has started"
((kills >= KILLS))
tap_is $? 0 "it was killed so often"
((amid >= KILLS / 20))
tap_is $? 0 "also in the middle of a change"
((completed + undone >= KILLS / 5))
tap_is $? 0 "and changes came to an end"

touch /run/kill/mark
start_daemon
tap_check "it records as ever" eventually 20 has_recorded
kill -TERM "$daemon"
wait "$daemon"
tap_is "$?" 0 "it stops"
tap_check "no trace is left" test ! -e "/sys/kernel/debug/block/$disk/dropped"
tap_is "$(dmsetup message fs0 0 @stats_list)" '' "nor an area of dm-stats"
pkill -x fio
wait
tap_diag "$kills kills, $amid of them in the middle of a change; afterwards $completed looks found it completed, $undone undone; $SECONDS s in all"
tap_diag "$(sort "$SAID" | sed 's/[0-9.]\+/N/g' | uniq -c | sort -rn | head -n 12)"
tap_done

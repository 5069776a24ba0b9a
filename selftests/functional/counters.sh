#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Where there can be no trace the workload is taken from dm-stats and the target's counters:
# debugfs is not mounted, somebody else traces the device, the kernel is locked down. What they
# tell is as a trace tells it, what they do not tell is not acted on, and no area is left.
#
# Of its own, as no lockdown is ever taken back:
# machine: --memory 2048
# timeout: 600
# once: 6.1 dm-stats are the same in both
. "${BASH_SOURCE[0]%/*}/common.sh"

CTL=$RIG_TOP/build/daemon/fullstripectl
STATE=/run/counters/state
CONFIG=/run/counters/etc/fullstripe/fullstriped.conf.d/test.conf
SAID=/run/counters/said

# ctl VERB [OPTION]...: sets status; leaves the output in $out, and in $errors.
ctl() {
	status=0
	out=$("$CTL" "$@" 2>/run/ctl-errors) || status=$?
	errors=$(</run/ctl-errors)
}

# workload OPTION...: from now on; sets pid.
workload() {
	fio --name=w --filename=/dev/mapper/fs0 --size=96m --direct=1 --thread --ioengine=libaio \
		--iodepth=4 --time_based --runtime=600 --output=/dev/null "$@" &
	pid=$!
	until_true is_busy
}

# shellcheck disable=SC2317
is_busy() {
	local a b
	a=$(<"$folder/../stat")
	sleep 0.1
	b=$(<"$folder/../stat")
	[[ $a != "$b" ]]
}

end_workload() {
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
}

# plan: of five seconds from now; leaves what it says in the file.
plan() {
	ctl plan fs0 --seconds 5 --state-dir "$STATE" --json
	echo "$out" >"$1"
	((!status)) || tap_diag "$errors"
}

# plan_both: of the same ten seconds, one of a trace and one of counters, as a machine that is
# busy with others does not do as much in each.
plan_both() {
	local -a plan=("$CTL" plan fs0 --seconds 10 --json)
	"${plan[@]}" --state-dir "$STATE-traced" >/run/traced &
	local traced=$!
	# shellcheck disable=SC2016
	unshare --mount bash -c 'umount -R /sys/kernel/debug && exec "$@"' - "${plan[@]}" \
		--state-dir "$STATE" >/run/counted 2>/run/ctl-errors &
	local counted=$!
	wait "$traced"
	traced=$?
	wait "$counted"
	status="$traced $?"
	errors=$(</run/ctl-errors)
	[[ $status == "0 0" ]] || tap_diag "$errors"
}

# near JQ PERCENT: whether it is the same of both plans, but for so much.
near() {
	jq -es "(.[0].profile | $1) as \$a | (.[1].profile | $1) as \$b | \$a > 0 and \$b > 0 and
		([\$a - \$b, \$b - \$a] | max) * 100 <= $2 * \$a" /run/traced /run/counted >/run/near && return
	echo "$1: $(jq -c ".profile | $1" /run/traced /run/counted | paste -sd' ')"
	return 1
}

# is_even MIB: whether the workload of so much a second never had much to make up for: after a
# stall of the machine fio is as fast as it can, and may ask for the next larger cluster.
is_even() {
	jq -es "all(.[].profile.bandwidth.peak; . * 3 <= 4 * $1 * 1048576)" /run/traced /run/counted >/run/even
}

# areas: of dm-stats, of anybody.
areas() {
	dmsetup message fs0 0 @stats_list
}

# shellcheck disable=SC2317
has_area() {
	[[ $(areas) ]]
}

# shellcheck disable=SC2317
has_no_area() {
	! has_area
}

# has_counted WRITES: whether the first area has so many.
# shellcheck disable=SC2317
has_counted() {
	local -a area
	read -ra area < <(dmsetup message fs0 0 @stats_print 0)
	((area[5] >= $1))
}

start_daemon() {
	env -u JOURNAL_STREAM "$RIG_TOP/build/daemon/fullstriped" --root /run/counters --state-dir "$STATE" \
		>>"$SAID" 2>&1 &
	daemon=$!
}

# shellcheck disable=SC2317
is_stripe() {
	[[ $(<"$folder/stripe_bytes") == "$1" ]]
}

lock_down() {
	mount -t securityfs securityfs /sys/kernel/security 2>/dev/null
	[[ -e /sys/kernel/security/lockdown ]] && echo integrity >/sys/kernel/security/lockdown
}

tap_plan 37
rig_load_module
rig_preset R5 ram
"$CTL" create fs0 "$RIG_MD" --set data_members=2 --set cluster_bytes=128KiB
folder=$(rig_sysfs fs0)
mkdir -p "$STATE" "$STATE-traced" "${CONFIG%/*}"

# Halves of the stripes that it is made with, so that the target cuts none; 30 MiB/s is well
# within what asks for a cluster of 256 KiB, and what a machine keeps up that is busy with others.
rate=$((30 / ${TIME_SCALE:-1}))
workload --rw=write --bs=64k --rate="${rate}m"
for _ in {1..4}; do
	plan_both
	! is_even "$rate" || break
done
tap_is "$status $(jq -sc 'map(.profile | [.source, .obstacle])' /run/traced /run/counted)" \
	'0 0 [["trace",null],["counters","no-debugfs"]]' "with debugfs there is a trace, without it there are counters"
tap_is "$(grep -c "debugfs is not mounted; its workload is taken from dm-stats and the target's counters" <<<"$errors")" 1 \
	"and it says so"
tap_is "$(areas)" '' "no area of dm-stats is left"
tap_check "as many writes, to 10 %" near .writes 10
tap_is "$(jq -r .profile.reads /run/counted)" 0 "no reads"
tap_check "the same size on average, to 1 %" near .io_size.average 1
tap_check "the same bandwidth, to 10 %" near .bandwidth.average 10
# A machine that is busy with others makes up for it now and then.
tap_check "and at the peak, to 30 %" near .bandwidth.peak 30
# The kernel reads how many there were, and then its histogram: writes end in between.
tap_is "$(jq '.profile | (.completed == .writes) and ((.latency.write.count - .writes | fabs) * 100 <= .writes)' /run/counted)" true \
	"each write has a latency"
name="half are within a time that is the same to a factor of two"
if [[ $(</sys/devices/system/clocksource/clocksource0/current_clocksource) == *jiffies ]]; then
	tap_skip "$name" "this kernel's clock counts jiffies, and a write takes less"
else
	tap_check "$name" near '.latency.write.p50_ns' 100
fi
tap_is "$(jq -c '.profile | [.content.meta_ios, .access.sequential, .access.streams, .latency.waited_for, .latency.sensitive, .io_size.typical, .raid5_rmw]' /run/counted)" \
	'[null,null,null,null,null,null,null]' "what is not known is null"
tap_is "$(jq -s '.[1].profile.confidence < 0.6 * .[0].profile.confidence' /run/traced /run/counted)" true \
	"and they are trusted less"
tap_is "$(jq -sc '[.[].plan | map(select(.attribute == "stripe_bytes" or .attribute == "cluster_bytes") | .new)] | .[0] == .[1] and (.[0] | length == 2)' \
	/run/traced /run/counted)" true "stripe and cluster are planned as from the trace"
tap_is "$(jq -sc '(.[0].plan | map({ (.attribute): .new }) | add) as $traced |
	[.[1].plan[] | select($traced[.attribute] != .new)]' /run/traced /run/counted)" '[]' "and the layers"
tap_is "$(jq -c '[.plan[].attribute | select(. == "max_ratio" or . == "strict_limit" or . == "read_ahead_kb")]' /run/counted)" \
	'[]' "nothing is planned from what is not known"
tap_is "$(jq -r '.sum[]' /run/counted | grep -c "max_ratio is left as it is: counters do not tell")" 1 "the sum says why"
umount -R /sys/kernel/debug
ctl explain fs0 --state-dir "$STATE"
tap_is "$status $(grep -c 'from counters, as debugfs is not mounted' <<<"$out")" "0 1" "explain says where it is from"
ctl plan fs0 --seconds 1 --record /run/recorded --state-dir "$STATE"
[[ $errors == *"cannot be traced: debugfs is not mounted; try: mount "* ]]
tap_is "$status $?" "1 0" "who wants the trace itself is refused"
end_workload

workload --rw=randread --bs=4k --rate_iops=2000
plan /run/counted
tap_is "$(jq -c '[.profile.access.pattern, (.profile.reads > 100), (.profile.latency.read.count == .profile.reads)]' /run/counted) $(jq '[.plan[] | select(.attribute == "read_ahead_kb")] | length' /run/counted)" \
	'["unknown",true,true] 0' "random reads are not known to be so, and nothing is done about them"
end_workload
workload --rw=read --bs=16k --rate_iops=1000
plan /run/counted
tap_is "$(jq -c '[.profile.access.pattern, ([.plan[] | select(.attribute == "read_ahead_kb") | .new > 0] | all and length == 1)]' /run/counted)" \
	'["sequential",true]' "reads that the target had read ahead are sequential"
end_workload

workload --rw=write --bs=64k --rate=30m
"$CTL" plan fs0 --seconds 600 --state-dir "$STATE" >/dev/null 2>&1 &
killed=$!
tap_check "it counts in an area" eventually 10 has_area
tap_is "$(areas | cut -d' ' -f4)" fullstripe "with its name"
kill -KILL "$killed"
wait "$killed" 2>/dev/null
plan /run/counted
tap_is "$status $(grep -c 'the area of dm-stats that an earlier process left is taken away' <<<"$errors") $(areas)" "0 1 " \
	"what was left by one that was killed is taken away"

printf '%s\n' '[fullstriped]' 'mode = auto' 'record_seconds = 1' 'interval_seconds = 1' \
	'dwell_seconds = 0' 'changes_per_hour = 3600' >"$CONFIG"
start_daemon
tap_check "fullstriped says so" eventually 30 said "debugfs is not mounted; its workload is taken"
tap_check "it sets the device by counters, after five recordings" eventually 40 is_stripe 262144
# A recording has 480 writes.
tap_check "it goes on with its area from recording to recording" eventually 40 has_counted 3000
tap_is "$(areas | wc -l)" 1 "which is one"
tap_is "$(grep -c 'its workload is taken' "$SAID")" 1 "it says where they are from once"
eventually 30 kill_daemon_while has_area
wait "$daemon" 2>/dev/null
start_daemon
tap_check "when it was killed and is started again, it takes its area away" \
	eventually 30 said "the area of dm-stats that an earlier process left is taken away"
mount -t debugfs debugfs /sys/kernel/debug
tap_check "with debugfs it traces" eventually 30 said "its workload is recorded from its trace"
tap_check "and counts no more" eventually 10 has_no_area
kill -TERM "$daemon"
wait "$daemon"
tap_is "$? $(areas)" "0 " "it stops, and no area is left"

trace=$folder/../trace/enable
echo 1 >"$trace"
plan /run/counted
tap_is "$status $(jq -c '.profile | [.source, .obstacle]' /run/counted) $(<"$trace")" '0 ["counters","busy"] 1' \
	"somebody else's trace is left alone"
echo 0 >"$trace"
ctl report --from fs0 --seconds 1 -o /run/page.html
tap_is "$status" 0 "without it there are traces again"

if lock_down; then
	plan /run/counted
	tap_is "$status $(jq -c '.profile | [.source, .obstacle, .writes > 100]' /run/counted)" '0 ["counters","locked-down",true]' \
		"a kernel that is locked down has counters, too"
	tap_is "$(<"$trace") $(areas)" "0 " "neither a trace nor an area is left"
	ctl report --from fs0 --seconds 1 -o /run/page.html
	[[ $errors == *"cannot be traced: the kernel is locked down"* ]]
	tap_is "$status $?" "1 0" "there is no report of it"
else
	for what in counters left report; do
		tap_skip "$what of a kernel that is locked down" "this one has no lockdown"
	done
fi
end_workload
tap_diag "$SECONDS s in all"
tap_diag "$(jq -c '.profile | [.writes, .bandwidth.average, .bandwidth.peak, .latency.write]' /run/traced /run/counted)"
tap_done

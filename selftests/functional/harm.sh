#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# fullstriped makes two changes. One does harm: it is taken back, said, and not made again.
# After the other one the workload is another, so nothing can be said of it, and it stays. It
# is killed while it judges both, and goes on. Its metrics are there all the time, as a whole.
# once: 6.1 harm is judged the same on any kernel
. "${BASH_SOURCE[0]%/*}/common.sh"

CTL=$RIG_TOP/build/daemon/fullstripectl
CONFIG=/run/harm/etc/fullstripe/fullstriped.conf.d/test.conf
STATE=/run/harm/state
SAID=/run/harm/said
PROM=/run/harm/fullstripe.prom

pre_reads='[.before[]."pre-reads" | numbers]'

start_daemon() {
	env -u JOURNAL_STREAM "$RIG_TOP/build/daemon/fullstriped" --root /run/harm --state-dir "$STATE" \
		>>"$SAID" 2>&1 &
	daemon=$!
}

# make_device NAME ARRAY [OPTION]...: on the only partition of an array of its own, of five of
# the ten members; its stripes are half as wide as the array's.
make_device() {
	local name=$1 array=$2
	shift 2
	RIG_MEMBERS=("${members[@]:0:5}")
	members=("${members[@]:5}")
	rig_array 5 64 "$array" && addpart "$RIG_MD" 1 2048 393216 &&
		"$CTL" create "$name" "${RIG_MD}p1" --set data_members=2 --set cluster_bytes=128KiB "$@"
}

# workload NAME OPTION...: from now on, of that device, by one process; sets pid.
workload() {
	local name=$1
	shift
	fio --name=w --filename="/dev/mapper/$name" --size=128m --direct=1 --thread --ioengine=libaio \
		--time_based --runtime=600 --output=/dev/null "$@" &
	pid=$!
}

# two NAME: stripe and cluster.
two() {
	local folder
	folder=$(rig_sysfs "$1")
	echo "$(<"$folder/stripe_bytes") $(<"$folder/cluster_bytes")"
}

# shellcheck disable=SC2317 # eventually calls these
is_two() {
	[[ $(two "$1") == "$2" ]]
}

# both_changed: whether it has made both changes. Whichever comes first is not judged as yet:
# its workload stands still meanwhile.
# shellcheck disable=SC2317
both_changed() {
	local status=0
	{ is_two hurt "262144 262144" && kill -STOP "$hurting"; } || status=1
	{ is_two other "262144 262144" && kill -STOP "$sequential"; } || status=1
	return "$status"
}

# shellcheck disable=SC2317
said_like() {
	grep -qE -- "$1" "$SAID"
}

# samples NAME JQ: of what is kept to judge by.
samples() {
	jq -r "$2" "$STATE/samples-dm-uuid-FULLSTRIPE-$1.json"
}

# shellcheck disable=SC2317
is_judged_for() {
	(($(samples "$1" '.after | length') >= $2))
}

# shellcheck disable=SC2317
has_pre_reads() {
	grep -q '^fullstripe_workload_pre_read_ratio{device="hurt"}' "$PROM"
}

# shellcheck disable=SC2317
has_no_pre_reads() {
	! has_pre_reads
}

# shellcheck disable=SC2317
is_another_file() {
	[[ $(command stat -c %i "$PROM") != "$1" ]]
}

# replaced: whether the metrics are written anew as a whole: who has the old ones open still
# reads all of them, and nothing else is left.
# shellcheck disable=SC2317
replaced() {
	local before inode
	before=$(<"$PROM")
	inode=$(command stat -c %i "$PROM")
	exec 3<"$PROM"
	kill -HUP "$daemon"
	eventually 10 is_another_file "$inode" && [[ $(cat <&3) == "$before" ]] &&
		[[ $(echo "$PROM"*) == "$PROM" ]]
}

# bad_lines: of the metrics, what Prometheus would not take: each metric has its two lines of
# HELP and TYPE and then its samples, each sample is there once, and the last line is whole.
bad_lines() {
	awk '/^# HELP [a-z_0-9]+ [^\\]+$/ && !($3 in helped) { helped[$3]; help = $3; type = ""; next }
		/^# TYPE [a-z_0-9]+ (counter|gauge)$/ && $3 == help { type = $4; next }
		/^[a-z_0-9]+(\{([a-z_]+="[^"\\]*",?)+\})? -?[0-9.]+(e[-+]?[0-9]+)?$/ {
			name = $1
			sub(/\{.*/, "", name)
			if (type && name == help && (type == "counter") == (name ~ /_total$/) && !seen[$1]++)
				next
		}
		{ print }
		END { if (!NR) print "nothing" }' "$PROM"
	[[ ! $(tail -c 1 "$PROM") ]] || echo "the end is missing"
}

tap_plan 21
rig_load_module
rig_members 10 64 ram
members=("${RIG_MEMBERS[@]}")
mkdir -p "${CONFIG%/*}"
printf '%s\n' '[fullstriped]' 'mode = auto' 'layers = no' 'record_seconds = 1' 'interval_seconds = 1' \
	'dwell_seconds = 0' 'changes_per_hour = 3600' "metrics_file = $PROM" >"$CONFIG"
# Eight writes at a time are a stripe as it is made, and go on at once. They are half of one as
# the array has it: that is right for the array, but now they wait for a rest that never comes.
make_device hurt md0 --set mode=writethrough --set hold_ms=400
workload hurt --rw=write --bs=16k --iodepth=8 --iodepth_batch=8 --iodepth_batch_complete_min=8 \
	--thinktime=30000 --thinktime_blocks=8
hurting=$pid
# Whole stripes of either width: nothing is read for them.
make_device other md1
workload other --rw=write --bs=256k --thinktime=20000
sequential=$pid

start_daemon
tap_check "it waits for recordings to judge by" eventually 20 said_like "it waits for five recordings"
tap_check "then it makes a change of each device" eventually 40 both_changed
kill -KILL "$sequential"
wait "$sequential" 2>/dev/null
workload other --rw=randread --bs=4k --thinktime=10000
kill -CONT "$hurting"
tap_check "it looks at what they did" eventually 20 is_judged_for hurt 1
kill -KILL "$daemon"
wait "$daemon" 2>/dev/null
# Not known of a recording in which less than 1 MiB was written.
tap_is "$(samples hurt "$pre_reads | length > 0 and all(. > 0.3)") $(samples other "$pre_reads | length > 0 and all(. == 0)")" \
	"true true" "it has counted what the members read for writes"
tap_is "$(samples hurt .change) $(samples other .change)" "1 1" "both are being judged when it is killed"
# As if it had been killed right behind the last write of the change.
sed -i 's/"settings": "[^"]*"/"settings": ""/' "$STATE/samples-dm-uuid-FULLSTRIPE-hurt.json"
start_daemon
tap_check "it finds that one did harm" eventually 30 said_like "hurt: change 1: harmed: (bandwidth|p99 latency of writes): "
tap_check "and takes it back" eventually 10 is_two hurt "131072 131072"
tap_check "it says so of each setting" said_like "hurt: stripe_bytes 262144 -> 131072: change 1 did harm: "
tap_check "it does not make it again by itself" eventually 20 said_like "hurt: .*it was taken back before"
tap_is "$(two hurt)" "131072 131072" "and has not"
tap_check "the other workload is another one" eventually 20 said_like "other: change 1: not-comparable: the workload is another one now; it stays"
tap_is "$(two other)" "262144 262144" "so that change stays"

tap_check "metrics are replaced as a whole" replaced
tap_is "$(bad_lines)" '' "Prometheus can read them"
tap_is "$(grep -cxF -e 'fullstripe_changes_total{device="hurt",kind="rollback"} 1' \
	-e 'fullstripe_verdicts_total{device="hurt",verdict="harmed"} 1' \
	-e 'fullstripe_verdicts_total{device="other",verdict="not-comparable"} 1' \
	-e 'fullstripe_stripe_bytes{device="hurt"} 131072' "$PROM")" 4 "and they say it too"
tap_check "its pre-reads are counted while its array has no other user" eventually 20 has_pre_reads
addpart /dev/md0 2 395264 2048
tap_check "but not with another partition there" eventually 20 has_no_pre_reads
kill -TERM "$daemon"
wait "$daemon"
tap_is "$? $(two hurt) $(two other)" "0 131072 131072 262144 262144" "it stops, and nothing changes"
tap_check "but its metrics go" test ! -e "$PROM"
tap_is "$("$CTL" history hurt --state-dir "$STATE" --json |
	jq -r '.history | map(.kind + " " + .outcome) + [.[-1].changes[0].reason | startswith("change 1 did harm: ")] | map(tostring) | join(", ")')" \
	"apply taken-back, rollback done, true" "the history says why"
tap_is "$("$CTL" history other --state-dir "$STATE" --json | jq -r '.history | map(.kind + " " + .outcome) | join(", ")')" \
	"apply done" "and that the other one is in force"
pkill -x fio
wait
tap_diag "$SECONDS s in all"
tap_diag "$(grep -E -e harm -e applied -e comparable -e taken "$SAID")"
tap_done

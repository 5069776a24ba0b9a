#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
# fullstripectl report of a device: recorded now, what was kept of it, and the array that it
# lies on; with progress on a terminal and none elsewhere.
# once: 6.1 a page is made without the kernel
. "${BASH_SOURCE[0]%/*}/common.sh"

CTL=$RIG_TOP/build/daemon/fullstripectl
STATE=/run/report-state
page=/run/report.html
writer=

# ctl ARGUMENT...: sets status; what it says is in the file /run/said.
ctl() {
	status=0
	"$CTL" "$@" >/run/said 2>&1 || status=$?
}

# writes_to DEV: how many there were.
writes_to() {
	awk '{ print $5 }' "/sys/dev/block/$(mountpoint -x "$1")/stat"
}

# shellcheck disable=SC2317 # called by until_true
more_writes() {
	(($(writes_to "$1") > $2))
}

# write_on DEV [OFFSET]: blocks of 8 KiB, a hundred a second, from there on, until stop.
write_on() {
	local before
	before=$(writes_to "$1")
	fio --name=report --filename="$1" --rw=write --bs=8k --offset="${2-0}" --size=64M --direct=1 --ioengine=psync \
		--rate_iops=100 --time_based --runtime=600 >/dev/null 2>&1 &
	writer=$!
	until_true more_writes "$1" $((before + 20))
}

stop() {
	kill "$writer"
	wait "$writer"
	writer=
}

# cell NAME: the first value in the summary's row of this name.
cell() {
	grep -oP "<th scope=\"row\">$1</th><td class=\"n\">\K[^<]*" "$page"
}

trap '[[ ! $writer ]] || stop; leave' EXIT
tap_plan 19
rig_load_module
rig_preset R5 ram
"$CTL" create fs0 "$RIG_MD"

ctl report --from fs0 -o "$page" --state-dir "$STATE"
tap_is "$status $(ls "$page" 2>/dev/null)" "4 " "of a device of which nothing is known there is no report"
write_on /dev/mapper/fs0
ctl report --from fs0 --seconds 1 --record /run/recorded -o "$page"
tap_is "$status $(</run/said)" "0 " "a device is recorded and reported, and nothing is said where no terminal is"
tap_check "the page is well-formed" xmllint --noout --nonet "$page"
writes=$(cell Writes)
((writes > 16))
tap_is $? 0 "what was written is in it"
tap_diag "$writes writes"
grep -q '<td>262144 (256 KiB)</td><td>stripe-of-array</td>' "$page"
tap_is $? 0 "and the plan for the array below"
grep -q '<h1>.*</small>fs0</h1>' "$page"
tap_is $? 0 "and its name"
ctl report /run/recorded/*.blktrace.* --from fs0 -o "$page"
tap_is "$status $(cell Writes)" "0 $writes" "the recording was kept, and says the same"
ctl report --label before /run/recorded/*.blktrace.* --label after --from fs0 --seconds 1 -o "$page"
tap_is "$status $(grep -c '>Change</th>' "$page")" "0 1" "it is compared to what goes on now"
tap_check "progress is told on a terminal" grep -qE '[0-9] of 2 s recorded, [0-9]+ events' \
	<(TERM=xterm script -qec "$CTL report --from fs0 --seconds 2 -o $page" /dev/null </dev/null)

ctl plan fs0 --seconds 1 --state-dir "$STATE"
ctl report --from fs0 -o "$page" --state-dir "$STATE"
tap_is "$status $(grep -c 'stripe-of-array' "$page") $(grep -c '<svg' "$page")" "0 1 0" \
	"of what was kept of its workload there are profile and plan, and no pictures"
tap_check "which is well-formed" xmllint --noout --nonet "$page"
ctl plot --kind bandwidth --from fs0 --seconds 1 -o /run/bandwidth.svg
tap_is "$status $(grep -c '<svg' /run/bandwidth.svg)" "0 1" "a picture is drawn of a device, too"

echo kept >"$page"
"$CTL" report --from fs0 --seconds 600 -o "$page" >/run/said 2>&1 &
job=$!
until_true test -e "/sys/kernel/debug/block/$(dmsetup info -c --noheadings -o blkdevname fs0)/dropped"
ctl report --from fs0 --seconds 1 -o "$page"
tap_is "$status $(<"$page")" "1 kept" "who is traced already is not recorded, and the page is as it was"
kill -INT "$job"
wait "$job"
tap_is "$? $(<"$page")" "1 kept" "nor is one that was interrupted"
stop

# Of the array itself there is nothing below, and md tells what it reads: of what was not
# written before, and is not in its cache.
write_on "$RIG_MD" 128M
ctl report --from "$RIG_MD" --seconds 1 -o "$page"
stop
(($(cell 'Rows read before writing') > 0))
tap_is "$status $?" "0 0" "of an array it is seen what it reads before it writes"
ctl report --from "$RIG_MD" -o "$page" --state-dir "$STATE"
tap_is "$status" 4 "of an array nothing is kept"
ctl plot --kind seek --from "$RIG_MD" -o /run/seek.svg
tap_is "$status" 2 "a picture needs a recording"
ctl report --seconds 1 -o "$page"
tap_is "$status" 2 "a recording needs a device"
ctl report --from fs0 --label none -o "$page"
tap_is "$status" 2 "a label needs a recording"
"$CTL" remove fs0
rm -rf "$STATE" /run/recorded
tap_done

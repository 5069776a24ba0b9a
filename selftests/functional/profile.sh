#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
# fullstripectl profile of what goes on now: of a fullstripe device, whose stripes it knows, of the
# array below, of a loop device; as much as a recording of the same says; and it takes no trace away.
. "${BASH_SOURCE[0]%/*}/common.sh"

CTL=$RIG_TOP/build/daemon/fullstripectl
CPU1=/sys/devices/system/cpu/cpu1
writer=
loop=

# ctl ARGUMENT...: sets status; leaves the output in /run/out, and what it says in /run/said.
ctl() {
	status=0
	"$CTL" "$@" >/run/out 2>/run/said || status=$?
}

# profile ARGUMENT...: the same, as JSON.
profile() {
	ctl profile "$@" --json
}

# of JQ: what the profile of the first device says.
of() {
	jq -c ".devices[0] | $1" /run/out
}

# write_on DEV [OPTION]...: until stop.
write_on() {
	fio --name=w --filename="$1" --rw=write --bs=8k --size=32M --direct=1 --ioengine=psync --rate_iops=200 \
		--time_based --runtime=600 --output=/dev/null "${@:2}" &
	writer=$!
	until_true is_written "$1" $((20 + $(writes_of "$1")))
}

# writes_of DEV: how many there were.
writes_of() {
	local -a now
	read -ra now <"/sys/dev/block/$(mountpoint -x "$1")/stat"
	echo "${now[4]}"
}

# shellcheck disable=SC2317
is_written() {
	(($(writes_of "$1") > $2))
}

# is_recorded FOLDER: whether the recording has begun; the kernel notes the time then.
# shellcheck disable=SC2317
is_recorded() {
	[[ $(find "$1" -name '*.blktrace.*' -size +0) ]]
}

stop() {
	kill "$writer"
	wait "$writer"
	writer=
}

trap '[[ ! $writer ]] || stop; [[ ! $loop ]] || losetup -d "$loop"; leave' EXIT
tap_plan 17
rig_load_module
rig_preset R5 ram
"$CTL" create fs0 "$RIG_MD"
number=$(mountpoint -x /dev/mapper/fs0)
folder=$(rig_sysfs fs0)
trace=$folder/../trace/enable

profile fs0 --seconds 1
tap_is "$status $(grep -c 'nothing was recorded of this device' /run/said)" "4 1" "a device at rest has no workload"
write_on /dev/mapper/fs0
profile fs0 --seconds 2 --record /run/recorded
tap_is "$status $(</run/said)" "0 " "a device is profiled, and nothing is said where no terminal is"
tap_is "$(jq -c '[(.devices | length), .devices[0].device, .devices[0].source, .lost_records]' /run/out)" \
	"[1,\"$number\",\"trace\",0]" "it is of this device, and no record is missing"
tap_is "$(of '[.writes > 20, .reads, .io_size.typical, .access.pattern]')" '[true,0,8192,"sequential"]' "with its workload"
# Each of 8 KiB, and none a whole stripe.
tap_is "$(of .unaligned_writes)" 1 "and its stripes"
# But for the average, as files do not tell how long was recorded.
counts=$(of '[.events, .writes, .bandwidth.peak, .latency.write]')
profile /run/recorded/*.blktrace.* --device "$number"
tap_is "$(of '[.events, .writes, .bandwidth.peak, .latency.write]')" "$counts" "the recording of the same says the same"
profile fs0 --seconds 1 --stripe 8k
tap_is "$status $(of .unaligned_writes)" "0 0" "stripes that are given win"
ctl profile fs0 --seconds 1
tap_is "$status $(grep -c "^device $number\$" /run/out) $(grep -c '^I/O size *typically 8 KiB (100 %)' /run/out)" "0 1 1" "it is a table, too"

echo 1 >"$trace"
profile fs0 --seconds 1
[[ $(</run/said) == *"cannot be traced: it is traced by somebody else"* ]]
tap_is "$status $? $(<"$trace")" "1 0 1" "somebody else's trace is left alone, and said"
echo 0 >"$trace"
"$CTL" profile fs0 --seconds 600 >/dev/null 2>&1 &
job=$!
until_true test -e "/sys/kernel/debug/block/$(basename "${folder%/*}")/dropped"
kill -INT "$job"
wait "$job"
tap_is "$? $(find "/sys/kernel/debug/block/$(basename "${folder%/*}")" -name dropped)" "1 " "who is interrupted takes the trace away"
stop

# A CPU that comes while it is traced.
if [[ -e $CPU1/online ]]; then
	echo 0 >"$CPU1/online"
	"$CTL" profile fs0 --seconds 4 --json >/run/out 2>/dev/null &
	job=$!
	until_true test -e "/sys/kernel/debug/block/$(basename "${folder%/*}")/dropped"
	sleep 0.5
	dd if=/dev/zero of=/dev/mapper/fs0 bs=4k count=50 oflag=direct status=none
	echo 1 >"$CPU1/online"
	taskset -c 1 dd if=/dev/zero of=/dev/mapper/fs0 bs=4k count=50 oflag=direct status=none
	wait "$job"
	tap_is "$? $(jq '.lost_records > 50' /run/out)" "0 true" "what a CPU recorded that came meanwhile is known to be missing"
else
	tap_skip "what a CPU recorded that came meanwhile is known to be missing" "the machine has one CPU"
fi

mkdir /run/burst
"$CTL" profile fs0 --seconds 4 --record /run/burst --json >/run/out &
job=$!
until_true is_recorded /run/burst
dd if=/dev/zero of=/dev/mapper/fs0 bs=256k count=16 oflag=direct conv=nocreat,notrunc status=none
wait "$job"
tap_is "$? $(of '[.writes, .seconds >= 4, .bandwidth.peak <= 4194304, .bandwidth.average <= 1048576]')" "0 [16,true,true,true]" \
	"the time in which nothing is asked counts, too"

# Not what fs0 still has of the others.
dmsetup message fs0 0 flush
write_on "$RIG_MD" --bs=256k
profile "$RIG_MD" --seconds 1
stop
tap_is "$status $(of '[.writes > 5, .unaligned_writes < 0.1]')" "0 [true,true]" "of the array the stripes are known, too"

modprobe loop
truncate -s 32M /run/loop
# The machine has a trace of the first one, see vm/guest.
loop=/dev/loop1
losetup $loop /run/loop
write_on "$loop"
profile "$loop" --seconds 1
tap_is "$status $(of '[.writes > 5, .unaligned_writes]')" "0 [true,null]" "of a loop device there are none"
stop
ctl profile "$loop" "$RIG_MD" --seconds 1
tap_is "$status" 2 "only one is recorded"
ctl profile "$loop" --record /run/recorded
tap_is "$status" 2 "a folder needs a recording"
echo ',,L' | sfdisk -q --no-reread --no-tell-kernel "$loop" 2>/dev/null && partx -a "$loop" && profile "${loop}p1" --seconds 1
[[ $(</run/said) == *"is a partition: only whole devices are recorded"* ]]
tap_is "$status $?" "1 0" "a partition is refused"
partx -d "$loop" 2>/dev/null
"$CTL" remove fs0
tap_done

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# machine: --cpus 2
# Writes that never stop do not keep others from their turn: a partial stripe beside whole ones,
# who waits for a stripe group beside who takes each that comes free, and a change of the stripes
# beside two writers of one.
. "${BASH_SOURCE[0]%/*}/common.sh"

# slow_target KEYS...: fs0 on one disk that takes a request at a time, each for so long.
# shellcheck disable=SC2317 # tap_check calls it
slow_target() {
	rig_members 1 128 spindle && lower=${RIG_MEMBERS[0]} && rig_target fs0 "$lower" "$@" &&
		stats=$(rig_sysfs fs0)/stats
}

# writes NAME OPTION...: fio beside what follows, until halt.
writes() {
	fio --name="$1" --filename=/dev/mapper/fs0 --direct=1 --ioengine=libaio --time_based --runtime=600 \
		--thread "${@:2}" >"/tmp/$1.log" 2>&1 &
	writers+=("$!")
}

# halt: end it. Fails if it ended before: then it kept nobody from anything.
# shellcheck disable=SC2317 # tap_check calls it
halt() {
	local failed=0 writer
	for writer in "${writers[@]}"; do
		kill "$writer" 2>/dev/null || failed=1
		wait "$writer"
	done
	writers=()
	((!failed)) || { cat /tmp/*.log; false; }
}
writers=()

# shellcheck disable=SC2317 # the trap calls it
give_up() {
	halt
	leave
}
trap give_up EXIT

# is_below BYTE SECTOR: whether the device below has it there.
# shellcheck disable=SC2317 # eventually calls it
is_below() {
	[[ $(dd if="$lower" bs=512 count=1 skip="$2" iflag=direct status=none | tr -d "$1" | wc -c) == 0 ]]
}

# put BYTE SECTOR: one of 4 KiB.
put() {
	tr '\0' "$1" </dev/zero | dd of=/dev/mapper/fs0 bs=4096 count=1 seek=$(($2 * 512))B iflag=fullblock \
		oflag=direct conv=notrunc status=none
}

# has_parked NUMBER: whether so many more writes had to wait than there had.
# shellcheck disable=SC2317 # until_true calls it
has_parked() {
	(($(<"$stats/parked") >= $1))
}

tap_plan 12
rig_load_module

# A stripe has as many rows as may be in flight: one whole one is.
name="writebehind"
RIG_NSEC=20000000
tap_check "$name: a target whose stripes are written one at a time" slow_target chunk_bytes 1048576 data_members 2 \
	seek_bytes 0 hold_ms 200 high_water_bytes 16777216 low_water_bytes 4194304 file_high_water_bytes 0
writes stream --rw=write --bs=1M --iodepth=4 --offset=16M --size=64M
until_true is_above parked 0
put p 8
tap_check "$name: a partial stripe is written while there are always whole ones" eventually $((10 * ${TIME_SCALE:-1})) is_below p 8
tap_check "$name: which there were until then" halt
rig_target_remove fs0
rig_teardown

name="writethrough"
slow_target chunk_bytes 1048576 data_members 2 hold_ms 200 mode writethrough
writes stream --rw=write --bs=1M --iodepth=16 --offset=16M --size=64M
until_true is_above whole_stripes 2
put q 8 &
partial=$!
# shellcheck disable=SC2317 # eventually calls it
has_ended() {
	! kill -0 "$partial"
}
tap_check "$name: a write of a part is not kept by whole stripes" eventually $((10 * ${TIME_SCALE:-1})) has_ended
tap_check "$name: which there were until then" halt
wait "$partial"
tap_is $? 0 "$name: it succeeded"
rig_target_remove fs0
rig_teardown

name="groups"
RIG_NSEC=2000000
slow_target chunk_bytes 65536 data_members 2 hold_ms 1000 mode writethrough high_water_bytes 524288 \
	low_water_bytes 4096
# Each in a stripe of its own, more of them than there are groups.
writes many --rw=write:124k --bs=4k --iodepth=400 --offset=16M --size=108M
writes two --rw=randwrite --bs=4k --iodepth=2 --offset=0 --size=128k
until_true has_parked 1
tap_check "$name: who waits for one gets it, though others take those that come free" eventually $((20 * ${TIME_SCALE:-1})) has_parked 6
tap_check "$name: who did until then" halt
rig_target_remove fs0
rig_teardown

name="stripe_bytes"
slow_target chunk_bytes 65536 data_members 2 hold_ms 1000
# Some come while others are under way: else all would be there at one time, and none at another.
writes some --rw=randwrite --bs=4k --iodepth=16 --offset=0 --size=128k
writes others --rw=randwrite --bs=4k --iodepth=4 --offset=0 --size=128k --numjobs=4 --thinktime=3ms
until_true is_above accepted_bytes 100000
dmsetup message fs0 0 set stripe_bytes 262144 &
partial=$!
tap_check "$name: they change beside two writers of one" eventually $((10 * ${TIME_SCALE:-1})) has_ended
tap_check "$name: who write all the time" halt
wait "$partial"
tap_is $? 0 "$name: it succeeded"
tap_is "$(<"$stats/../stripe_bytes")" 262144 "$name: they are the new ones"
tap_done

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# fullstripectl refresh, where no array was reshaped (that: array-life.sh): a device follows what
# lies below it to a new size and a new place on the stripes; and it loses nothing where it
# cannot.
. "${BASH_SOURCE[0]%/*}/common.sh"

CTL=$RIG_TOP/build/daemon/fullstripectl
STATE=/run/refresh-state
TRACES=$RIG_TOP/selftests/unit/traces/linux-6.12-v1

# refresh [OPTION...]: of fs0. Sets status; leaves what it says in /run/said.
refresh() {
	status=0
	"$CTL" refresh fs0 --state-dir "$STATE" "$@" >/run/said 2>&1 || status=$?
}

# low START SECTORS DEV: the device below is that piece from now on.
low() {
	dmsetup load low --table "0 $2 linear $3 $1" && dmsetup resume low
}

# apply PEAK: set what is right for readers with that peak, in bytes per second.
apply() {
	"$CTL" profile --json "$TRACES"/vda.blktrace.* |
		jq ".devices[0].reads = 100 | .devices[0].bandwidth.peak = $1" >/run/profile
	"$CTL" apply fs0 --state-dir "$STATE" --profile /run/profile >/run/said
}

# ahead: what the kernel reads ahead of fs0, and how many settings are not as they were set.
ahead() {
	echo "$(<"$folder/../queue/read_ahead_kb") $("$CTL" verify fs0 --state-dir "$STATE" --json |
		jq '[.values[] | select(.as_set | not) | select(.name == "read_ahead_kb")] | length')"
}

size() {
	blockdev --getsz /dev/mapper/fs0
}

sum() {
	dd if=/dev/mapper/fs0 bs=4k skip=3 count=20 iflag=direct status=none | md5sum
}

tap_plan 29
rig_load_module
rig_members 1 64 ram
member=${RIG_MEMBERS[0]}
bad=/sys/kernel/config/nullb/nullb0/badblocks
dmsetup create low --table "0 32768 linear $member 0"
"$CTL" create fs0 /dev/mapper/low --set chunk_bytes=64KiB --set data_members=4 --set cluster_bytes=512KiB \
	--set hold_ms=3600000
folder=$(rig_sysfs fs0)
refresh
tap_is "$status $(</run/said)" "0 /dev/mapper/fs0 is as what lies below it" "what is right is left"
exec {held}</dev/mapper/fs0
low 0 65536 "$member"
refresh
tap_is "$status $(</run/said)" "0 size_bytes 16777216 -> 33554432" "it grows with what lies below it"
tap_is "$(size)" 65536 "the kernel says so"
tap_is "$(dmsetup table fs0 | grep -oE '(chunk_bytes|data_members|cluster_bytes|hold_ms) [0-9]+' | paste -sd ' ')" \
	"chunk_bytes 65536 data_members 4 cluster_bytes 524288 hold_ms 3600000" "its other values stay"

dd if=/dev/urandom of=/dev/mapper/fs0 bs=4k seek=3 count=20 oflag=direct conv=nocreat,notrunc status=none
written=$(sum)
tap_check "something is staged" is staged_bytes 81920
echo +80-87 >"$bad"
low 0 98304 "$member"
refresh
tap_is "$status" 1 "what cannot be written is not given up for a new table"
tap_is "$(grep -c 'fs0 goes on with its old table, as not everything could be written' /run/said)" 1 "and it is said"
tap_is "$(dmsetup info -c --noheadings -o tables_loaded,suspended fs0)" "Live:Active" "it goes on, with one table"
tap_is "$(size) $(sum)" "65536 $written" "the old one, which has the data"
echo -80-87 >"$bad"
dmsetup message fs0 0 retry
until_true is staged_bytes 0
refresh --json
tap_is "$status $(jq -c '[.values[] | select(.old != .new) | [.name, .old, .new]]' /run/said)" \
	'0 [["size_bytes",33554432,50331648]]' "after the repair it follows"
tap_is "$(sum)" "$written" "with the data"

low 0 114688 "$member"
prlimit --memlock=4096 setpriv --bounding-set=-ipc_lock "$CTL" refresh fs0 --state-dir "$STATE" >/run/said 2>&1
tap_is $? 1 "nobody suspends it who might have to be brought from it"
tap_is "$(grep -c 'fs0 goes on with its old table, as the memory of fullstripectl cannot be locked' /run/said)" 1 "and it is said"
tap_is "$(dmsetup info -c --noheadings -o tables_loaded,suspended fs0)" "Live:Active" "it goes on, with one table"

low 0 65536 "$member"
refresh
tap_is "$status $(size)" "1 98304" "it does not become smaller"
tap_is "$(grep -c 'dm-[0-9]* has become smaller than what lies on it, by 16777216 bytes' /run/said)" 1 "and it is said by how much"

# The kernel sets read_ahead_kb anew with each table, to twice the optimal_io_size; newer ones raise it only.
low 0 98304 "$member"
apply 157286400
tap_is "$(ahead)" "768 0" "apply sets what is read ahead"
low 0 114688 "$member"
refresh
tap_is "$status $(size) $(ahead)" "0 114688 768 0" "and it stays so with a new table"
apply 1048576
echo 524288 >"$folder/stripe_bytes"
refresh
tap_is "$status $(grep -c optimal_io_size /run/said) $(ahead)" "0 1 512 0" "also if it is what the kernel had of itself before"
echo 300 >"$folder/../queue/read_ahead_kb"
echo 262144 >"$folder/stripe_bytes"
refresh
tap_is "$status $(ahead)" "0 300 1" "what somebody else set stays, too"
rm -r "$STATE"
echo 512 >"$folder/../queue/read_ahead_kb"
echo 524288 >"$folder/stripe_bytes"
refresh
tap_is "$status $(ahead)" "0 1024 0" "the kernel's own is that of the new table"
exec {held}<&-
rig_teardown

# A piece that moves on an array, as pvmove does it, and one that moves to an array of another shape.
rig_members 7 64 ram
RIG_MEMBERS=(/dev/nullb{0..3})
rig_array 5 64 md1
RIG_MEMBERS=(/dev/nullb{4..6})
rig_array 5 128 md0
dmsetup create low --table "0 65536 linear /dev/md1 $((3 * 384))"
"$CTL" create fs0 /dev/mapper/low --set hold_ms=3600000
dd if=/dev/urandom of=/dev/mapper/fs0 bs=4k seek=3 count=20 oflag=direct conv=nocreat,notrunc status=none
written=$(sum)
dmsetup message fs0 0 flush
dd if=/dev/md1 of=/dev/md1 bs=512 skip=$((3 * 384)) seek=$((100 * 384 + 8)) count=1024 status=none conv=fsync
low $((100 * 384 + 8)) 65536 /dev/md1
refresh
tap_is "$status $(</run/said)" "0 alignment_offset 0 -> 4096" "it follows to another place on the stripes"
tap_is "$(sum)" "$written" "with the data"
low $((101 * 384)) 65536 /dev/md1
refresh
tap_is "$status $(</run/said)" "0 alignment_offset 4096 -> 0" "and to their beginning"
table=$(dmsetup table fs0)
low 0 65536 /dev/md0
refresh
tap_is "$status $(dmsetup table fs0)" "1 $table" "another chunk is refused, and nothing changed"
tap_is "$(grep -c 'the chunk of md0 is 131072 bytes now and was 65536: remove the device' /run/said)" 1 "and it is said what to do"
low 0 65536 /dev/md1
refresh
tap_is "$status" 0 "what is as it was is right again"
"$CTL" refresh low 2>/run/said
tap_is "$? $(grep -c 'is no fullstripe device' /run/said)" "1 1" "what is no fullstripe device is refused"
rig_target_remove fs0
tap_check "nothing but the device is left" dmsetup remove low
tap_diag "$SECONDS s in all"
rm -rf "$STATE"
tap_done

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# With udev at work: a file system's links lead to the fullstripe device as long as there is
# one, and to what is below when there is none; and the daemon is wanted.
. "${BASH_SOURCE[0]%/*}/common.sh"

CTL=$RIG_TOP/build/daemon/fullstripectl
GENERATOR=$RIG_TOP/build/daemon/fullstripe-generator
UUID=6a1c5c39-7a1b-4d6e-9f25-0d8f0c5f3a11
LINK=/dev/disk/by-uuid/$UUID
unset DM_DISABLE_UDEV

# fs_uuid: where the file system's link leads.
fs_uuid() {
	udevadm settle
	readlink -f "$LINK"
}

# told DEVICE NAME: a property, as udev knows it.
told() {
	udevadm info --query=property --property="$2" --value "$1"
}

# tested ACTION DEVICE NAME: the same, of an event that is tried.
tested() {
	udevadm test --action="$1" "/sys/class/block/$(basename "$(realpath "$2")")" 2>/dev/null |
		sed -n "s/^$3=//p"
}

# shellcheck disable=SC2317 # called by eventually
is_told() {
	[[ $(told "$1" "$2") == "$3" ]]
}

# drain_slowly COMMAND...: begin to remove fs0, which has a block staged that goes nowhere.
# It is written by a node that udev does not watch: it would look at what was written, and wait for
# "slow" with the device open.
drain_slowly() {
	# shellcheck disable=SC2046 # two words
	mknod /dev/unwatched b $(dmsetup info -c --noheadings -o major,minor --separator ' ' fs0)
	dd if=/run/block of=/dev/unwatched bs=4k count=1 seek=1000 oflag=direct conv=notrunc status=none
	rm /dev/unwatched
	dmsetup suspend --noflush slow
	"$@" &
	eventually 10 pgrep -f 'sh -c i=0; while test' >/dev/null
}

tap_plan 31
rig_load_module
tap_check "udev starts" start_udev
trap 'rm -f /etc/fullstripetab; stop_udev' EXIT
rig_preset R5 ram
mkfs.ext4 -q -U "$UUID" "$RIG_MD"
udevadm trigger --settle --action=change /sys/block/md0
tap_is "$(fs_uuid)" /dev/md0 "a file system on an array is found there"

"$CTL" create fs0 "$RIG_MD"
node=$(realpath /dev/mapper/fs0)
tap_is "$(fs_uuid)" "$node" "with a fullstripe device it is found on that"
tap_is "$(told /dev/mapper/fs0 DM_UUID)" FULLSTRIPE-fs0 "whose UUID says whose it is"
tap_is "$(told /dev/mapper/fs0 SYSTEMD_WANTS)" fullstriped.service "and which wants the daemon"
tap_is "$(told /dev/md0 UDISKS_IGNORE)" 1 "the array is not shown to users"
udevadm trigger --settle --action=change /sys/block/md0
tap_is "$(fs_uuid)" "$node" "an event of the array changes nothing in that"
udevadm trigger --settle --action=change "/sys/block/${node##*/}"
tap_is "$(fs_uuid) $(told /dev/mapper/fs0 SYSTEMD_WANTS)" "$node fullstriped.service" "nor does one of the device"
tap_is "$(tested change "$node" FULLSTRIPE_LOWER)" md0 "each knows the device below"
tap_is "$(tested add "$node" SYSTEMD_WANTS)" fullstriped.service "what was there before udev was wants the daemon, too"
tap_is "$(tested change /dev/md0 UDISKS_IGNORE)" 1 "udevadm test says the same of the array"
dmsetup suspend fs0
tap_is "$(tested change "$node" DM_UDEV_DISABLE_OTHER_RULES_FLAG)" 1 "while it is suspended, other rules must keep off"
tap_is "$(tested change "$node" SYSTEMD_WANTS)" '' "and these do"
tap_is "$(tested change "$node" FULLSTRIPE_LOWER)" md0 "but do not forget what is below"
dmsetup resume fs0
udevadm settle

"$CTL" remove fs0
tap_is "$(fs_uuid)" /dev/md0 "when it is removed, the array has the link again"
tap_check "and is as others again" eventually 10 is_told /dev/md0 UDISKS_IGNORE ''

# What takes long: the kernel says that the device goes, and then writes what is staged.
slow=$(blockdev --getsz "$RIG_MD")
dmsetup create slow --table "0 $slow linear $RIG_MD 0"
dmsetup create low --table "0 $slow linear /dev/mapper/slow 0"
"$CTL" create fs0 /dev/mapper/low --set chunk_bytes=64K --set data_members=4 --set hold_ms=3600000
low=$(realpath /dev/mapper/low)
tap_is "$(fs_uuid) $(told "$low" UDISKS_IGNORE)" "$(realpath /dev/mapper/fs0) 1" "logical volumes are devices below, too"
dd if="$RIG_MD" of=/run/block bs=4k count=1 skip=1000 status=none
drain_slowly dmsetup remove fs0
tap_is "$(told "$low" UDISKS_IGNORE)" 1 "a device that is going still holds the one below"
dmsetup resume slow
wait $!
tap_is $? 0 "when it was written, it is gone"
tap_check "and the one below is free" eventually 10 is_told "$low" UDISKS_IGNORE ''

# What takes longer than udev's rule waits.
"$CTL" create fs0 /dev/mapper/low --set chunk_bytes=64K --set data_members=4 --set hold_ms=3600000
udevadm settle
drain_slowly "$CTL" remove fs0
pkill -f 'sh -c i=0; while test'
dmsetup resume slow
wait $!
tap_is $? 0 "when nobody waits any more, it is gone in the end"
tap_check "remove itself says that the one below is free" eventually 10 is_told "$low" UDISKS_IGNORE ''
rig_target_remove low
rig_target_remove slow

# fullstripetab: what is to come has the link before it is there.
echo "fs0 $RIG_MD" >/etc/fullstripetab
mkdir -p /run/units
"$GENERATOR" /run/units
echo 'KERNEL=="md0", SYMLINK+="disk/by-test/a\x20b"' >/run/udev/rules.d/10-test.rules
udevadm control --reload
mkdir -p /run/mnt
mount "$RIG_MD" /run/mnt
udevadm trigger --settle --action=change /sys/block/md0
tap_is "$(fs_uuid)" /dev/md0 "an array that fullstripetab names keeps its link while it is mounted"
umount /run/mnt
rig_teardown
rig_preset R5 ram
mkfs.ext4 -q -U "$UUID" "$RIG_MD"
udevadm trigger --settle --action=change /sys/block/md0
udevadm settle
tap_is "$(ls "$LINK" 2>/dev/null)" '' "without, it leaves the link to who will come"
tap_check "and keeps all others" test -b '/dev/disk/by-test/a\x20b' -a -b /dev/disk/by-id/md-name-*
rm /run/udev/rules.d/10-test.rules
tap_is "$(told /dev/md0 ID_FS_UUID) $(told /dev/md0 SYSTEMD_READY)" "$UUID " "but is ready itself"
md_link=$(printf '%s\n' /dev/disk/by-id/md-uuid-*)
tap_is "$(realpath "$md_link")" /dev/md0 "and keeps all other links"
"$CTL" create fs0 "$RIG_MD"
tap_is "$(fs_uuid)" "$(realpath /dev/mapper/fs0)" "who comes has it"
"$CTL" remove fs0
tap_is "$(fs_uuid)" /dev/md0 "and when that is gone, the array does"
rm /etc/fullstripetab
"$GENERATOR" /run/units
tap_is "$(ls /run/udev/rules.d)" 65-fullstripe.rules "without a fullstripetab no rule is left of it"
tap_check "taking all down leaves no link" eval '"$CTL" create fs0 "$RIG_MD" && rig_teardown && rig_settle && ! test -L "$LINK"'
tap_diag "$SECONDS s in all"
tap_done

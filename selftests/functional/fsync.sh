#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# fsync(2) fails if what it is about cannot be written, also where a file system asks for that by the flush that
# goes before its journal's commit: of such a flush dm core forgets the answer.
. "${BASH_SOURCE[0]%/*}/common.sh"

MOUNT=/run/mnt

# refuse FIRST: the device under the target refuses to write the stripe from that sector on.
refuse() {
	local last=$(($1 + stripe))
	lower "$(
		(($1 == 0)) || echo "0 $1 linear $RIG_MD 0"
		echo "$1 $stripe flakey $RIG_MD $1 0 60 1 error_writes"
		echo "$last $((sectors - last)) linear $RIG_MD $last"
	)"
}

# repair: and takes all again.
repair() {
	lower "0 $sectors linear $RIG_MD 0"
	dmsetup message fs0 0 retry
	until_true is failing_stripes 0
}

# fua: write a block of the file in its second stripe with FUA, and no flush.
fua() {
	dd if=/dev/zero of="$MOUNT/file" bs=4k count=1 seek=$((RIG_W / 4096)) oflag=direct,dsync conv=notrunc status=none 2>/dev/null
}

# fsync_of FILE: by somebody who wrote nothing, so that no error of a page is told him.
fsync_of() {
	python3 -c 'import os, sys; os.fsync(os.open(sys.argv[1], os.O_RDWR))' "$1" 2>/run/said
}

# first_of FILE: the sector of the device where its stripe begins.
first_of() {
	local block
	block=$(filefrag -v -b4096 "$1" | awk '$1 == "0:" { print $4 + 0 }')
	echo $((block * 8 / stripe * stripe))
}

tap_plan 23
rig_load_module
modprobe dm-flakey
rig_preset R5 ram
sectors=$(blockdev --getsz "$RIG_MD")
stripe=$((RIG_W / 512))
dmsetup create low --table "0 $sectors linear $RIG_MD 0"
rig_target fs0 /dev/mapper/low chunk_bytes 65536 data_members 4 hold_ms 3600000 seek_bytes 0
mkdir -p "$MOUNT"

# Only who writes over his own blocks has FUA alone; a device that is written to is flushed as well.
mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 /dev/mapper/fs0
mount -o commit=300 /dev/mapper/fs0 "$MOUNT"
xfs_io -f -c "pwrite -q -S 1 0 1m" -c fsync "$MOUNT/file"
sync
tap_check "a flush is not near any more" eventually 20 eval 'xfs_io -d -c "pwrite -q -S 2 0 4k" "$MOUNT/file" &&
	(($(stat staged_bytes) > 0))'
refuse "$(first_of "$MOUNT/file")"
flushes=$(stat flushes)
# Stripes fail when somebody has them written; the first try.
dmsetup message fs0 0 set hold_ms 1
tap_check "a stripe fails" until_true is failing_stripes 1
dmsetup message fs0 0 set hold_ms 3600000
fuas=$(stat fua_writes)
fua
tap_is "$? $(stat flushes)" "0 $flushes" "a write with FUA elsewhere succeeds as long as no flush failed"
tap_is $(($(stat fua_writes) - fuas)) 1 "it was one"
fsync
tap_is $? 1 "then one does"
flushes=$(stat flushes)
fua
tap_is $? 1 "and from then on it may be the end of a flush that failed"
tap_check "until it is repaired" repair
sleep 1	# it may take a moment, but nobody has to try
fua
tap_is $? 0 "then it succeeds again"
tap_is "$(stat flushes)" "$flushes" "and nobody else had to flush for that"
umount "$MOUNT"

for fs in ext4 xfs; do
	wipefs -qa /dev/mapper/fs0
	case $fs in
	ext4)	mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 /dev/mapper/fs0 ;;
	xfs)	mkfs.xfs --unsupported -q -f -K -l size=10m /dev/mapper/fs0 ;;
	esac
	mount "/dev/mapper/fs0" "$MOUNT"
	xfs_io -f -c "pwrite -q -S 1 0 1m" -c fsync "$MOUNT/file"
	first=$(first_of "$MOUNT/file")
	tap_check "$fs: a flush is not near any more" eventually 20 eval 'xfs_io -c "pwrite -q -S 2 0 4k" -c "sync_range -w 0 4k" \
		"$MOUNT/file" && (($(stat staged_bytes) > 0))'
	refuse "$first"
	fsync_of "$MOUNT/file"
	tap_is $? 1 "$fs: fsync fails when the data cannot be written, but the journal can"
	(($(stat failing_stripes) > 0))
	tap_is $? 0 "$fs: it is the data"
	tap_is "$(grep -o 'Errno 5' /run/said)" "Errno 5" "$fs: with EIO"
	repair
	umount "$MOUNT"
	mount "/dev/mapper/fs0" "$MOUNT"
	tap_is "$(head -c 4096 "$MOUNT/file" | tr -d '\2' | wc -c)" 0 "$fs: what was accepted is there after the repair"
	xfs_io -c "pwrite -q -S 3 0 4k" -c fsync "$MOUNT/file"
	tap_is $? 0 "$fs: and fsync succeeds"
	umount "$MOUNT"
	case $fs in
	ext4)	e2fsck -fn /dev/mapper/fs0 ;;
	xfs)	xfs_repair -n /dev/mapper/fs0 ;;
	esac >/run/fsck 2>&1
	tap_is $? 0 "$fs: it is whole"
done
dmsetup message fs0 0 flush
rig_target_remove fs0
rig_teardown
tap_done

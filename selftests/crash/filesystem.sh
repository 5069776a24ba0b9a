# SPDX-License-Identifier: GPL-2.0
#
# A file system on the target, for the crash tests in the test machine; rig.sh comes first.
# shellcheck shell=bash

# drop_flushes: of the target, from now on. What it has is stable before.
drop_flushes() {
	dmsetup message fs0 0 flush &&
	echo 'write through' >"/sys/block/$(dmsetup info -c --noheadings -o blkdevname fs0)/queue/write_cache"
}

# mount_new ext4|xfs[-...] FOLDER: one made anew on fs0; of which flushes are dropped, if it is
# called *-dropped.
mount_new() {
	case $1 in
	ext4*)	mkfs.ext4 -q -F -E nodiscard,lazy_itable_init=0,lazy_journal_init=0 -J size=8 /dev/mapper/fs0 ;;
	# Its journal of at least 64 MiB is zeroed, and would be most of a log.
	xfs*)	mkfs.xfs --unsupported -q -f -K -l size=10m /dev/mapper/fs0 ;;
	esac &&
	{ [[ $1 != *-dropped ]] || drop_flushes; } &&
	mkdir -p "$2" &&
	mount /dev/mapper/fs0 "$2"
}

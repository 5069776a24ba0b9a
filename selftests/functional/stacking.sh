#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 400
# long timeout: 900
# What fullstripe can lie on, and what can lie on it: the geometry that create finds, what
# file systems make of it, whole stripes without a pre-read, and contents, also below.
. "${BASH_SOURCE[0]%/*}/common.sh"

CTL=$RIG_TOP/build/daemon/fullstripectl
SIZE=$((2 << 20))
[[ ! ${LONG-} ]] || SIZE=$((64 << 20))
# Where stripes are counted: whole ones, which neither a file system nor fio wrote to.
FRESH=$((128 << 20))

export LVM_SUPPRESS_FD_WARNINGS=1
# There is no udev, and LVM does not know null_blk.
lvm_config='devices { types = ["nullb", 16] use_devicesfile = 0 }
activation { udev_sync = 0 udev_rules = 0 monitoring = 0 } backup { backup = 0 archive = 0 }'

lvm() {
	command lvm "$@" --config "$lvm_config" --quiet --quiet >/run/lvm 2>&1 || rig_error "lvm $*: $(</run/lvm)"
}

# geometry: chunk, data members and alignment offset of fs0.
geometry() {
	echo "$(<"$folder/chunk_bytes") $(<"$folder/data_members") $(<"$folder/alignment_offset")"
}

# limits NAME: what those above a device of device-mapper see.
limits() {
	local queue=${folder%/*}/queue
	[[ $1 == fs0 ]] || queue=/sys/block/$(dmsetup info -c --noheadings -o blkdevname "$1")/queue
	echo "$(<"$queue/minimum_io_size") $(<"$queue/optimal_io_size")"
}

# ext4 DEV, xfs DEV: the chunk and the stripe in blocks of 4 KiB, as mkfs chooses them; it makes
# the file system only where there is time for it.
ext4() {
	if [[ ${LONG-} ]]; then
		mkfs.ext4 -q -F -b 4096 "$1" && dumpe2fs -h "$1" 2>/dev/null |
			awk '/^RAID stride:/ { su = $3 } /^RAID stripe width:/ { sw = $4 } END { print su, sw }'
	else
		mkfs.ext4 -n -v -F -b 4096 "$1" 2>/dev/null |
			sed -nE 's/^Stride=([0-9]+) blocks, Stripe width=([0-9]+) blocks$/\1 \2/p'
	fi
}

xfs() {
	if [[ ${LONG-} ]]; then
		mkfs.xfs -q -f "$1" && xfs_info "$1"
	else
		mkfs.xfs -N -f "$1"
	fi | sed -nE '/^data/,/^naming/s/.* sunit=([0-9]+) +swidth=([0-9]+) blks.*/\1 \2/p'
}

# pre_reads WIDTH OFFSET DEV: what the members are asked for when eight whole stripes, or STRIPES, are
# written to DEV, 16 KiB at a time.
pre_reads() {
	local w=$1 at
	at=$(((FRESH / w + 1) * w - $2))
	rig_count_begin
	dd if=/dev/zero of="$3" bs=16k count=$((${STRIPES-8} * w / 16384)) seek="${at}B" oflag=direct conv=nocreat,notrunc status=none ||
		return
	dmsetup message fs0 0 flush
	rig_count_end
	echo "$RIG_READS"
}

# contents DEV
contents() {
	dd if="$1" bs=1M count=$((SIZE >> 20)) iflag=direct status=none | md5sum
}

# verify DEV: fio takes some seconds to begin and to end, so where there is no time it does the first.
verify() {
	if [[ ! ${LONG-} && ${verified-} ]]; then
		dd if=/dev/zero of="$1" bs=1M count=$((SIZE >> 20)) oflag=direct conv=nocreat,notrunc status=none &&
			"$STRESS" --ops 300 --threads 4 --size $SIZE --seed $RANDOM "$1"
		return
	fi
	verified=yes
	fio_verify "$1" $SIZE --direct=1 --rw=randwrite --bsrange=4k-512k --blockalign=4k --iodepth=8 --fsync=16 --thread \
		--output=/run/fio
}

# uses NAME CHUNK MEMBERS OFFSET DEV TOP [OPTION...]: fs0 on DEV, used by way of TOP, which is
# on it or is it, and removed.
uses() {
	local name=$1 chunk=$2 members=$3 offset=$4 below=$5 top=$6 t0=$SECONDS
	local w=$((chunk * members)) blocks="$((chunk / 4096)) $((chunk * members / 4096))" written
	shift 6
	"$CTL" create fs0 "$below" "$@"
	folder=$(rig_sysfs fs0)
	tap_is "$(geometry)" "$chunk $members $offset" "$name: its geometry is found"
	[[ $top == /dev/mapper/fs0 ]] || "put_${top##*/}" || tap_diag "there is no $top"
	tap_is "$(limits "${top##*/}")" "$chunk $w" "$name: those above are told"
	tap_is "$(pre_reads "$w" "$offset" "$top")" 0 "$name: whole stripes are written without reading"
	tap_is "$(ext4 "$top")" "$blocks" "$name: ext4 takes stride and stripe width from it"
	tap_is "$(xfs "$top")" "$blocks" "$name: xfs takes su and sw from it"
	tap_check "$name: what is written is what is read" verify "$top"
	written=$(contents /dev/mapper/fs0)
	[[ $top == /dev/mapper/fs0 ]] || "take_${top##*/}"
	tap_check "$name: it is removed" "$CTL" remove fs0
	tap_is "$(contents "$below")" "$written" "$name: and what was on it is below"
	tap_diag "$name: $((SECONDS - t0)) s"
}

# plainly NAME CHUNK MEMBERS OFFSET DEV [OPTION...]: with nothing on it.
plainly() {
	uses "${@:1:5}" /dev/mapper/fs0 "${@:6}"
}

# md LEVEL MEMBERS [OPTION...]: an array of chunks of 64 KiB.
md() {
	rig_members "$2" 300 ram
	RIG_MD=/dev/md0
	mdadm --quiet --create "$RIG_MD" --run --level="$1" --chunk=64 --raid-devices="$2" --metadata=1.2 \
		--homehost=rig "${@:3}" "${RIG_MEMBERS[@]}" 2>/run/said || rig_error "mdadm: $(</run/said)"
}

# crypt NAME DEV [OPTION]...: dm-crypt without a header.
crypt() {
	head -c 64 /dev/zero | cryptsetup open --type plain --cipher aes-xts-plain64 --key-size 512 --key-file - "${@:3}" "$2" "$1"
}

put_crypt() {
	crypt crypt /dev/mapper/fs0
}

take_crypt() {
	cryptsetup close crypt
}

# With the members goes what LVM knows of them.
end_lvm() {
	rig_teardown
	rm -r /dev/vg
}

tap_plan 73
rig_load_module

rig_preset R5 ram 300
plainly RAID5 65536 4 0 "$RIG_MD"
# That the members would be asked, were it not right.
"$CTL" create fs0 "$RIG_MD" --set data_members=3
(($(FRESH=$((2 * FRESH)) pre_reads 262144 0 /dev/mapper/fs0) > 0))
tap_is $? 0 "with wrong stripes the members are read"
"$CTL" remove fs0

if has dm-crypt 16 dm-crypt; then
	uses "dm-crypt on it" 65536 4 0 "$RIG_MD" /dev/mapper/crypt

	# One that hands on whole what it is given, as the documentation has it; 6.1 always does.
	longest=/sys/module/dm_crypt/parameters/max_write_size
	[[ ! -e $longest ]] || echo 262144 >"$longest"
	crypt below "$RIG_MD" --perf-no_write_workqueue
	STRIPES=64 plainly "on dm-crypt" 65536 4 0 /dev/mapper/below
	cryptsetup close below
	[[ ! -e $longest ]] || echo 0 >"$longest"
fi

# The third stripe is where the partition begins.
echo 'label: gpt
start=2560' | sfdisk -q "$RIG_MD"
plainly partition 65536 4 0 "${RIG_MD}p1"
sfdisk -q --delete "$RIG_MD"
wipefs -qa "$RIG_MD"

# Neither where the array's stripes begin nor where pages do.
lvm pvcreate --dataalignment 1028k "$RIG_MD"
lvm vgcreate -s 4k vg "$RIG_MD"
lvm lvcreate -n first -l 13 vg
lvm lvcreate -n lv -l 280000 vg
plainly "LVM linear" 65536 4 $(((1028 + 13 * 4) * 1024 % 262144)) /dev/vg/lv --force
end_lvm

if has dm-raid 8 "LVM RAID5"; then
	rig_members 5 300 ram
	lvm vgcreate vg "${RIG_MEMBERS[@]}"
	lvm lvcreate -n lv --type raid5 -i 4 -I 64k -l 100%FREE --nosync vg
	plainly "LVM RAID5" 65536 4 0 /dev/vg/lv
	end_lvm
fi

rig_preset R6 ram 300
plainly RAID6 65536 4 0 "$RIG_MD"
rig_teardown

md 0 4
plainly RAID0 65536 4 0 "$RIG_MD"
rig_teardown

if has raid10 8 RAID10; then
	md 10 8 --assume-clean --bitmap=none
	plainly RAID10 65536 4 0 "$RIG_MD"
	rig_teardown
fi
tap_diag "$SECONDS s in all"
tap_done

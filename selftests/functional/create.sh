#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# fullstripectl create: what it reads off what lies below, and what it refuses, with whose
# device it is or where that begins.
. "${BASH_SOURCE[0]%/*}/common.sh"

CTL=$RIG_TOP/build/daemon/fullstripectl

# refuses TEXT DEV [OPTION...]: create makes nothing, fails and says that.
# shellcheck disable=SC2317 # tap_check calls it
refuses() {
	local text=$1
	shift
	! "$CTL" create fs0 "$@" 2>/run/said || return
	cat /run/said
	grep -qF -- "$text" /run/said && [[ ! -e /dev/mapper/fs0 ]]
}

# geometry DEV [OPTION...]: what create would make of it.
geometry() {
	"$CTL" create fs0 "$@" --dry-run |
		grep -oP '(chunk_bytes|data_members|alignment_offset) \K\d+' | paste -sd ' '
}

# seek_bytes DEV [OPTION...]: and up to which rest it would fill.
seek_bytes() {
	"$CTL" create fs0 "$@" --dry-run | grep -oP 'seek_bytes \K\d+'
}

tap_plan 37
rig_load_module
rig_preset R5 ram
W=$RIG_W
"$CTL" create fs0 "$RIG_MD"
tap_is "$(dmsetup info -c --noheadings -o uuid fs0)" FULLSTRIPE-fs0 "the UUID says whose device it is"
tap_check "what has a fullstripe device is refused another" eval '! "$CTL" create fs1 "$RIG_MD" 2>/run/said'
tap_is "$(grep -c "/dev/md0 is part of dm-[0-9]* (fs0); --force" /run/said)" 1 "and it is said which it has"
tap_check "--force makes it" "$CTL" create fs1 "$RIG_MD" --force
"$CTL" remove fs1
tap_check "a device of that name is not made twice" eval '! "$CTL" create fs0 "$RIG_MD" --force 2>/run/said'
tap_is "$(</run/said)" "fullstripectl: /dev/mapper/fs0 exists already: give the new device another name" "and it is said"
"$CTL" remove fs0

mkdir -p /run/mnt
mkfs.ext4 -q "$RIG_MD"
mount "$RIG_MD" /run/mnt
tap_check "a mounted device is refused" refuses "/dev/md0 is mounted on /run/mnt: unmount it" "$RIG_MD"
tap_check "by the kernel, too" refuses "was not created" "$RIG_MD" --force
tap_is "$(geometry "$RIG_MD")" "65536 4 0" "its geometry can be asked for"
umount /run/mnt
name="swap space is refused"
if [[ -e /proc/swaps ]]; then
	mkswap "$RIG_MD" >/dev/null && swapon "$RIG_MD"
	tap_check "$name" refuses "/dev/md0 is swap space: swapoff" "$RIG_MD"
	swapoff "$RIG_MD"
else
	tap_skip "$name" "this kernel has no swap"
fi
tap_check "a member of an array is refused" refuses "${RIG_MEMBERS[0]} is part of md0; --force" "${RIG_MEMBERS[0]}" \
	--set chunk_bytes=64K --set data_members=4
exec {fd}<"$RIG_MD"
tap_check "a device that is open is not in use" "$CTL" create fs0 "$RIG_MD"
exec {fd}<&-
"$CTL" remove fs0

# A piece that begins 8 sectors into the third stripe, and one at its beginning.
dmsetup create odd --table "0 65536 linear $RIG_MD $((3 * W / 512 + 8))"
tap_check "a device that begins inside a stripe is refused" \
	refuses "begins 772 KiB behind the beginning of md0, which is no multiple of the stripe width 256 KiB" /dev/mapper/odd
tap_is "$(geometry /dev/mapper/odd --force)" "65536 4 4096" "--force makes it, with its stripes where the array's are"
tap_is "$(geometry /dev/mapper/odd --set alignment_offset=4K)" "65536 4 4096" "so does who says where they are"
tap_check "who gives the stripes is refused, too" \
	refuses "no multiple of the stripe width 256 KiB" /dev/mapper/odd --set chunk_bytes=64K --set data_members=4
tap_is "$(geometry /dev/mapper/odd --set chunk_bytes=64K --set stripe_bytes=256K --force)" "65536 4096" \
	"--force makes it with these"
tap_is "$(geometry /dev/mapper/odd --set chunk_bytes=32K --set data_members=5 --force)" "32768 5 135168" \
	"and others lie elsewhere"
dmsetup remove odd
dmsetup create even --table "0 65536 linear $RIG_MD $((3 * W / 512))"
tap_check "a device that begins on one is not" "$CTL" create fs0 /dev/mapper/even
"$CTL" remove fs0
tap_check "but for other stripes, where it begins inside one" \
	refuses "no multiple of the stripe width 160 KiB" /dev/mapper/even --set chunk_bytes=32K --set data_members=5
dmsetup remove even
tap_check "what is no array needs a geometry" refuses "no striped md array found below; say --set" /dev/loop0
tap_is "$(geometry /dev/loop0 --set chunk_bytes=64K --set data_members=4)" "65536 4" "and takes what is given"
below=$RIG_MD
for i in {1..17}; do
	dmsetup create "deep$i" --table "0 65536 linear $below 0"
	below=/dev/mapper/deep$i
done
tap_check "what cannot be looked through is refused" refuses "more than 16 layers deep" "$below"
tap_is "$(geometry "$below" --set chunk_bytes=64K --set data_members=4 2>/run/said) $(grep -c "$below gets the stripes that were given; whether" /run/said)" \
	"65536 4 1" "but takes what is given, and it is said that nothing else is known"
for i in {17..1}; do
	rig_target_remove "deep$i"
done
tap_check "what is not there is refused" refuses "/dev/none: no block device" /dev/none
rig_teardown

rig_preset R5 spindle
"$CTL" create fs0 "$RIG_MD"
tap_is "$(cat "$(rig_sysfs fs0)/seek_bytes")" 1048576 "a device on spindles fills stripes"
"$CTL" remove fs0
mdadm --quiet --stop "$RIG_MD"
mdadm --quiet --create "$RIG_MD" --run --level=5 --chunk=64 --raid-devices=5 --assume-clean \
	--consistency-policy=ppl "${RIG_MEMBERS[@]}" 2>/run/said || tap_diag "$(cat /run/said)"
tap_is "$(cat /sys/block/md0/md/consistency_policy)" ppl "an array with a partial parity log"
tap_check "carries a device" "$CTL" create fs0 "$RIG_MD"
tap_is "$(cat "$(rig_sysfs fs0)/seek_bytes")" 0 "that fills none"
"$CTL" remove fs0
stripes=(--set chunk_bytes=64K --set data_members=4)
tap_is "$(seek_bytes "$RIG_MD" "${stripes[@]}")" 0 "nor does one whose stripes are given"
tap_is "$(seek_bytes "$RIG_MD" "${stripes[@]}" --set seek_bytes=4K)" 4096 "unless that is given, too"
rig_teardown

# As LVM makes them: dm-raid, without metadata devices.
rig_members 6 64 ram
# raid TYPE PARAMETERS...: of all members.
raid() {
	local type=$1 d=$2 table
	shift 2
	table=$(printf ' - %s' "${RIG_MEMBERS[@]}")
	dmsetup create lv --table "0 $((d * 98304)) raid $type $# $* 6$table" ||
		tap_diag "$(dmesg | tail -n 5)"
}
if has dm-raid 6 "below is what LVM makes"; then
	raid raid5_ls 5 128 nosync
	tap_is "$(geometry /dev/mapper/lv)" "65536 5 0" "LVM's RAID5 is recognized"
	tap_check "and carries a device" "$CTL" create fs0 /dev/mapper/lv
	"$CTL" remove fs0
	dmsetup create part --table "0 65536 linear /dev/mapper/lv $((5 * 128 * 4))"
	tap_is "$(geometry /dev/mapper/part)" "65536 5 0" "and so is a piece of it"
	rig_target_remove part
	rig_target_remove lv
	raid raid6_zr 4 256
	tap_is "$(geometry /dev/mapper/lv)" "131072 4 0" "RAID6, too"
	rig_target_remove lv
	raid raid1 1 0 nosync
	tap_check "but RAID1 has no stripes" refuses "no striped md array found below" /dev/mapper/lv
	tap_is "$(seek_bytes /dev/mapper/lv "${stripes[@]}")" 0 "with those that are given it is not filled, either"
	rig_target_remove lv
fi
tap_diag "$SECONDS s in all"
tap_done

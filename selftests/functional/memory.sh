#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# machine: --cpus 2
# long timeout: 1800
# The target makes progress when memory is short above it: swap on it, and a file system
# on it, both used from a cgroup that has far less memory than is asked for. With one CPU members
# of memory would have written all before the next comes, and nobody would wait.
. "${BASH_SOURCE[0]%/*}/common.sh"

PAGES=$RIG_TOP/build/selftests/functional/pages
GROUP=/sys/fs/cgroup/fullstripe
SIZE=$((64 << 20))
# Random pages of a file are written one by one, throttled; that takes minutes.
order=(--in-order) limit=$((240 * ${TIME_SCALE:-1}))
if [[ ${LONG-} ]]; then
	SIZE=$((128 << 20)) order=() limit=1200
fi

# limited COMMAND...: run it in the cgroup, whose memory is a fraction of SIZE.
# shellcheck disable=SC2317 # tap_check calls it
limited() {
	(echo "$BASHPID" >"$GROUP/cgroup.procs" && exec timeout "$limit" "$@")
}

# shellcheck disable=SC2317 # the trap calls it
give_up() {
	swapoff -a
	umount /mnt 2>/dev/null
	rmdir "$GROUP"
	leave
}

# swapped MIB: whether so much was swapped out since the last call.
swapped_before=0
# shellcheck disable=SC2317 # tap_check calls it
swapped() {
	local now
	now=$(awk '$1 == "pswpout" { print $2 }' /proc/vmstat)
	tap_diag "$(((now - swapped_before) / 256)) MiB swapped out"
	((now - swapped_before >= $1 * 256)) && swapped_before=$now
}

tap_plan 17
mkdir -p "$GROUP"
trap give_up EXIT
# With both, who makes pages dirty waits for their writing; else a small group runs out of
# memory now and then, on any device.
{ echo "+memory +io" >/sys/fs/cgroup/cgroup.subtree_control && echo $((SIZE / 4)) >"$GROUP/memory.max"; } ||
	{ tap_diag "no memory cgroup"; exit 1; }
rig_load_module

# The least memory that the target can have, and what it takes unless told.
for keys in "high_water_bytes 524288 low_water_bytes 131072" ""; do
	rig_preset R5 ram 128
	# shellcheck disable=SC2086 # a list of words
	rig_target fs0 "$RIG_MD" $keys
	stats=$(rig_sysfs fs0)/stats
	name="swap, ${keys:-no keys}"
	if [[ ! -e /proc/swaps ]]; then
		for what in "swap can be used" "memory holds" "so much went through" "swapoff" "it drains" "no write failed"; do
			tap_skip "$name: $what" "this kernel has no swap"
		done
	else
		mkswap -q /dev/mapper/fs0
		tap_check "$name: swap can be used" swapon /dev/mapper/fs0
		swapped 0 >/dev/null
		tap_check "$name: memory holds what was written to it" limited "$PAGES" --size $SIZE --rounds 2
		tap_check "$name: so much of it went through the target" swapped $((SIZE >> 20))
		tap_check "$name: swapoff" swapoff /dev/mapper/fs0
		dmsetup message fs0 0 flush
		tap_is "$(<"$stats/staged_bytes")" 0 "$name: it drains"
		# The kernel keeps a page that it could not swap out, and only says so.
		tap_is "$(dmesg | grep -ci 'write-error on swap-device')" 0 "$name: no write failed"
		[[ ! $keys ]] || parked=$(<"$stats/parked")
	fi
	rig_target_remove fs0
	rig_teardown
done

if [[ ! -e /proc/swaps ]]; then
	tap_skip "with the least memory writes had to wait" "this kernel has no swap"
else
	tap_diag "$parked writes had to wait"
	((parked))
	tap_is $? 0 "with the least memory writes had to wait"
fi

rig_preset R5 ram 128
rig_target fs0 "$RIG_MD"
mkfs.ext4 -q /dev/mapper/fs0
mount /dev/mapper/fs0 /mnt
tap_check "a file is written by who may not keep it in memory" \
	limited "$PAGES" --file /mnt/file --size $SIZE "${order[@]}"
echo 3 >/proc/sys/vm/drop_caches
tap_check "and holds what was written to it" "$PAGES" --file /mnt/file --size $SIZE --check
umount /mnt
rig_target_remove fs0
tap_check "the file system is below, and clean" e2fsck -fn "$RIG_MD"
mount "$RIG_MD" /mnt
tap_check "with the file as it was" "$PAGES" --file /mnt/file --size $SIZE --check
umount /mnt
tap_done

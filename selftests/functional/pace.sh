#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# Whole stripes that the page cache writes back to disks that turn leave together, as long as
# they keep md's stripe cache half full; nothing else is bound by that, and none is forgotten.
. "${BASH_SOURCE[0]%/*}/common.sh"

# So many rows of 4 KiB are on their way (PACED_ROWS in kmod/throttle.c).
ROWS=128
MIB=1048576
mnt=/run/pace
file=$mnt/file
CHUNK=65536 WIDTH=$((4 * 65536))

# target CHUNK ROTATIONAL: on "low", which takes a stripe at a time, with the file system that is
# there. Sets CHUNK and WIDTH. The file's name is known then, and needs no read.
# shellcheck disable=SC2317 # tap_check calls it
target() {
	local queue
	umount -q "$mnt"
	[[ ! -e /dev/mapper/fs0 ]] || rig_target_remove fs0 || return
	CHUNK=$1 WIDTH=$((4 * $1))
	queue=${slow_inflight%/*}/queue
	rig_set "$queue/rotational" "$2" && rig_set "$queue/max_sectors_kb" $((WIDTH / 1024)) &&
	rig_target fs0 /dev/mapper/low chunk_bytes "$1" data_members 4 hold_ms 3600000 high_water_bytes $((48 * MIB)) &&
	mount -o noatime,lazytime,no_prefetch_block_bitmaps /dev/mapper/fs0 "$mnt" &&
	test -f "$file"
}

# write_back [fsync [FILE]]: 16 MiB of the file are written, and written back, or somebody waits
# for that.
write_back() {
	xfs_io -c "pwrite -q -i /run/data -b 1m 0 16m" -c "${1:-sync_range -w 0 16m}" "${2:-$file}"
}

# write_parts [FILE]: the same in pieces that end a page later each time, which cuts 15 of the stripes
# in two.
write_parts() {
	local i piece=$((MIB + 4096))
	local pieces=()
	for ((i = 0; i < 16; i++)); do
		pieces+=(-c "sync_range -w $((i * piece)) $((i < 15 ? piece : 16 * MIB - i * piece))")
	done
	xfs_io -c "pwrite -q -i /run/data -b 1m 0 16m" "${pieces[@]}" "${1:-$file}"
}

# torn: how many parts "low" was sent with something else before what is left of their stripes.
torn() {
	bios | awk -v width=$((WIDTH / 512)) '$3 && $1 ~ /W/ {
		n += rest && $2 != rest
		rest = ($2 + $3) % width && $2 % width == 0 ? $2 + $3 : 0
		parts += rest > 0
	} END { print n + 0, parts + 0 }'
}

# stand_still: what is below answers nothing, and nobody had a flush for long enough. What is
# written next is not what is there.
stand_still() {
	mv /run/data /run/next && mv /run/other /run/data && mv /run/next /run/other
	sync
	dmsetup message fs0 0 flush
	sleep 1.5
	dmsetup suspend --noflush --nolockfs slow
	dmsetup message fs0 0 reset_stats
}

# are_on_their_way NUMBER: whether so many whole stripes left since then.
# shellcheck disable=SC2317 # tap_check calls it
are_on_their_way() {
	is bypassed_bytes $(($1 * WIDTH))
}

# leave_all: whether hardly any are kept. Ends of the kernel's requests are no whole stripes.
# shellcheck disable=SC2317 # tap_check calls it
leave_all() {
	(($(under_way) * WIDTH >= 12 * MIB))
}

# flush_near: as long as what is below does not answer a flush is near; and it is not quiet for it
# any more. Sets hung, who waits for it.
flush_near() {
	xfs_io -d -c "pwrite -q 62m 4k" /dev/mapper/fs0
	xfs_io -c fsync /dev/mapper/fs0 &
	hung=$!
	until_true is flushes 1
	sleep 0.5
}

# go_on PID...: what is below answers again; then they end, and all of the file is written.
# shellcheck disable=SC2317 # tap_check calls it
go_on() {
	dmsetup resume slow || return
	(($# == 0)) || wait "$@" || return
	xfs_io -c "sync_range -a 0 16m" "$file" &
	until_true is_gone $! && return
	# Or else the next one would wait for it, too.
	dmsetup message fs0 0 set file_high_water_bytes 0
	return 1
}

# is_below [FILE]: what was written can be read, from below the page cache, and after everything
# has left.
# shellcheck disable=SC2317 # tap_check calls it
is_below() {
	sync "${1:-$file}" && dmsetup message fs0 0 flush &&
	dd if="${1:-$file}" bs=1M count=16 iflag=direct status=none | cmp - /run/data
}

chunks=(65536)
[[ ! ${LONG-} ]] || chunks+=(16384)
tap_plan $((65 + 9 * ${#chunks[@]}))
rig_load_module
slow_lower
mkdir -p "$mnt"
mkfs.ext4 -qF -b 4096 -O ^has_journal -E lazy_itable_init=0 /dev/mapper/low 56M
mount /dev/mapper/low "$mnt"
dd if=/dev/zero of="$file" bs=1M count=16 status=none
dd if=/dev/zero of="$file.2" bs=1M count=16 status=none
umount "$mnt"
dd if=/dev/urandom of=/run/data bs=1M count=16 status=none
dd if=/dev/urandom of=/run/other bs=1M count=16 status=none

for chunk in "${chunks[@]}"; do
	tap_check "chunks of $chunk, rotational 1" target "$chunk" 1
	most=$((ROWS * 4096 / CHUNK))
	for sync in "" fsync; do
		stand_still
		write_back $sync &
		writer=$!
		until_true are_on_their_way "$most"
		tap_check "${sync:+with somebody who waits for it, }the page cache has half of md's rows on their way" \
			stays are_on_their_way "$most"
		tap_is "$(stat throttled) $(stat held_files)" "0 0" "nobody is said to be held"
		tap_check "all of it leaves in the end" go_on "$writer"
		tap_check "and is what was written" is_below
	done
done

tap_check "chunks of 65536 again" target 65536 1
stand_still
write_back
until_true are_on_their_way 8
dd if=/run/data of=/dev/mapper/fs0 bs=4M count=1 seek=14 oflag=direct conv=notrunc status=none &
direct=$!
until_true is_above bypassed_bytes $((20 * WIDTH))
tap_is $? 0 "direct I/O has as many as it likes"
sleep 0.5
sent=$(stat bypassed_bytes)
write_back "" "$file.2"
tap_check "two files have no more than one" stays is bypassed_bytes "$sent"
tap_check "all of it leaves in the end" go_on "$direct"
tap_check "and is what was written" is_below
tap_check "to both of them" is_below "$file.2"

# The other way round: direct I/O is there first.
stand_still
dd if=/run/data of=/dev/mapper/fs0 bs=4M count=1 seek=14 oflag=direct conv=notrunc status=none &
direct=$!
until_true is_above bypassed_bytes $((12 * WIDTH))
sleep 0.5
sent=$(stat bypassed_bytes)
write_back
until_true is bypassed_bytes $((sent + 8 * WIDTH))
tap_check "beside direct I/O the page cache has as many as ever" stays is bypassed_bytes $((sent + 8 * WIDTH))
tap_check "all of it leaves in the end" go_on "$direct"
tap_check "and is what was written" is_below

stand_still
xfs_io -c "pwrite -q -i /run/data -b 1m 0 8m" -c "sync_range -w 0 8m" "$file"
until_true are_on_their_way 8
# It completes when it is staged. (Not counted: the kernel writes single blocks now and then, too.)
xfs_io -c "pwrite -q -i /run/data -s 9m 9m 4k" -c "sync_range -w 9m 4k" -c "sync_range -b 9m 4k" "$file" &
tap_check "what is no whole stripe does not wait for those" until_true is_gone $!
xfs_io -c "pwrite -q -i /run/data -s 8m 8m 4k" -c "sync_range -w 8m 4k" "$file"
xfs_io -c "pwrite -q -i /run/data -s 8m -b 1m 8m 8m" -c "sync_range -w 8m 8m" "$file" &
writer=$!
sleep 0.5
tap_check "all of it leaves in the end" go_on "$writer"
tap_check "and is what was written" is_below

# The first ones find nobody whom they could wait for. That is why there may be three.
stand_still
write_parts
until_true is_above bypassed_bytes $((7 * WIDTH))
tap_check "of stripes in two bios no part leaves before" stays is bypassed_bytes $((8 * WIDTH))
staged=$(stat accepted_bytes)
tap_check "all of it leaves in the end" go_on
tap_check "without being copied" [ "$(($(stat accepted_bytes) - staged))" -lt $((3 * WIDTH)) ]
tap_check "as whole stripes" [ "$(stat bypassed_bytes)" -ge $((61 * WIDTH)) ]
tap_check "and is what was written" is_below

stand_still
flush_near
write_parts
until_true are_on_their_way 4
tap_check "near a flush they are four" stays are_on_their_way 4
tap_check "all of it leaves in the end" go_on "$hung"
tap_check "as whole stripes" [ "$(stat bypassed_bytes)" -ge $((61 * WIDTH)) ]
tap_check "and is what was written" is_below

stand_still
flush_near
write_parts
write_parts "$file.2"
until_true is_above throttled 80
bios_begin /dev/mapper/low
tap_check "all of two files leaves in the end" go_on "$hung"
sync "$file.2"
bios_end
read -r torn parts <<<"$(torn)"
# The file system's own blocks are no whole stripes.
((parts > 20 && torn < 6))
tap_is $? 0 "no turn ends between the parts of a stripe"
tap_check "and is what was written" is_below
tap_check "to both of them" is_below "$file.2"

# A part that nothing follows is a partial stripe.
stand_still
xfs_io -c "pwrite -q -i /run/data -b 1m 0 16m" -c "sync_range -w 0 9440k" "$file"
until_true are_on_their_way 8
xfs_io -c "sync_range -w 10m 6m" "$file"
tap_check "a part whose rest is missing leaves in the end" go_on
tap_check "and is what was written" is_below

# Near a flush there are fewer; and those that have to wait for that are listed.
for sync in "" fsync; do
	stand_still
	flush_near
	write_back $sync &
	writer=$!
	until_true are_on_their_way 4
	tap_check "near a flush${sync:+, with somebody who waits for them,} they are four" stays are_on_their_way 4
	until_true is_above throttled 40
	tap_is "$? $(stat held_files)" "0 1" "and others are held for that"
	tap_check "all of it leaves in the end" go_on "$writer" "$hung"
	tap_check "and is what was written" is_below
	tap_is "$(stat held_files)" 0 "nobody is held any more"
done

# What changes while some of them wait.
stand_still
write_back
until_true are_on_their_way 8
dmsetup suspend --nolockfs fs0 &
suspend=$!
tap_check "all of them leave for a suspend" until_true leave_all
dmsetup resume slow
tap_check "which ends" wait "$suspend"
tap_check "resume" dmsetup resume fs0
tap_check "it is what was written" is_below
stand_still
write_parts
until_true are_on_their_way 8
dmsetup message fs0 0 set stripe_bytes 131072 &
change=$!
tap_check "all of them leave for stripes that change" until_true leave_all
tap_check "which they do" go_on "$change"
tap_check "it is what was written" is_below
tap_check "back to chunks of 65536" target 65536 1
mark=$(cat "$(rig_sysfs fs0)/file_high_water_bytes")
stand_still
write_back
until_true are_on_their_way 8
dmsetup message fs0 0 set file_high_water_bytes $MIB
until_true is_above throttled 40
tap_is "$? $(stat held_files)" "0 1" "at a lower mark all that waits is held"
tap_check "and stays where it is" stays are_on_their_way 8
dmsetup message fs0 0 set file_high_water_bytes "$mark"
tap_check "until it leaves in the end" go_on
tap_check "and is what was written" is_below
tap_is "$(stat held_files)" 0 "nobody is held any more"

# What is in the fifth stripe is staged, as it waits for the mark and nothing else is there to go on from.
dmsetup message fs0 0 set file_high_water_bytes $MIB
stand_still
write_parts
until_true is_above throttled 40
tap_check "at its mark a file waits" is bypassed_bytes $((4 * WIDTH))
dmsetup message fs0 0 set file_high_water_bytes $((2 * MIB + 4096))
until_true is bypassed_bytes $((8 * WIDTH))
tap_check "no mark parts a stripe that leaves in two bios" stays is bypassed_bytes $((8 * WIDTH))
dmsetup message fs0 0 set file_high_water_bytes "$mark"
tap_check "all of it leaves in the end" go_on
tap_check "and is what was written" is_below

stand_still
write_back
until_true are_on_their_way 8
dmsetup message fs0 0 set file_high_water_bytes 0
tap_check "all of them leave without a mark" until_true leave_all
tap_check "all of it leaves in the end" go_on
tap_check "and is what was written" is_below

for rest in "131072 1" "65536 0"; do
	read -r chunk turns <<<"$rest"
	tap_check "chunks of $chunk, rotational $turns" target "$chunk" "$turns"
	stand_still
	write_back
	tap_check "the page cache has as many as it likes" until_true leave_all
	tap_check "all of it leaves in the end" go_on
	tap_check "and is what was written" is_below
done
umount "$mnt"
tap_done

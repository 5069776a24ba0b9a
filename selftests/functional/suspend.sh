#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# long timeout: 5400
# Suspend, reload and remove leave nothing staged, under I/O and without; the long form
# does so a thousand times.
. "${BASH_SOURCE[0]%/*}/common.sh"

write() {
	dd if=/dev/urandom of=/dev/mapper/fs0 bs=4k count=100 seek=3 oflag=direct conv=notrunc \
		status=none
	dd if=/dev/mapper/fs0 bs=4k count=100 skip=3 iflag=direct status=none | md5sum
}

below() {
	dd if="$RIG_MD" bs=4k count=100 skip=3 iflag=direct status=none | md5sum
}

tap_plan 21
rig_load_module
rig_preset R5 ram
rig_target fs0 "$RIG_MD" hold_ms 3600000
table=$(dmsetup table fs0)

sum=$(write)
[[ $sum != "$(below)" ]]
tap_is $? 0 "staged before"
dmsetup suspend fs0
tap_is "$(below)" "$sum" "suspend leaves nothing staged"
[[ ! -e $(rig_sysfs fs0) ]]
tap_is $? 0 "the sysfs folder is away while suspended"
dmsetup resume fs0
[[ -e $(rig_sysfs fs0)/cluster_bytes ]]
tap_is $? 0 "and back then"

sum=$(write)
dmsetup suspend --noflush fs0
tap_is "$(below)" "$sum" "suspend without flush neither"
dmsetup reload fs0 --table "${table/hold_ms 3600000/hold_ms 70}"
dmsetup resume fs0
tap_is "$(<"$(rig_sysfs fs0)/hold_ms")" 70 "the new table is the active one"

dmsetup reload fs0 --table "${table/hold_ms 70/hold_ms 3600000}"
dmsetup resume fs0
sum=$(write)
dmsetup reload fs0 --table "0 8192 linear $RIG_MD 0"
dmsetup resume fs0
tap_is "$(below)" "$sum" "replacing the table by another target leaves nothing staged"
dmsetup reload fs0 --table "$table"
dmsetup resume fs0

# What is held has a writer that waits, whose bio is under way as long as it is held.
dmsetup message fs0 0 set mode writethrough
for noflush in "" --noflush; do
	write >/dev/null &
	writer=$!
	until_true is_above held_bytes 0
	# shellcheck disable=SC2086 # nothing, or an option
	tap_check "suspend $noflush does not wait for what is held" timeout 60 dmsetup suspend $noflush fs0
	dmsetup resume fs0
	dmsetup message fs0 0 set hold_ms 1
	wait "$writer"
	tap_is $? 0 "its writer goes on"
	dmsetup message fs0 0 set hold_ms 3600000
	dmsetup message fs0 0 reset_stats
done
dmsetup message fs0 0 set mode writebehind

sum=$(write)
exec 3</dev/mapper/fs0
dmsetup remove fs0 2>/dev/null
tap_is $? 1 "remove is refused while it is open"
exec 3<&-
tap_check "remove" rig_target_remove fs0
tap_is "$(below)" "$sum" "remove leaves nothing staged"
rig_teardown

rig_preset R5 ram
rig_target fs0 "$RIG_MD" hold_ms 3600000 high_water_bytes 2097152
table=$(dmsetup table fs0)

# swap_tables SWAPS LOAD TABLE...: suspends, and suspends with the next of these tables, so many times, or a thousand
# in the long form, beside this process, which goes on until it is ended.
swap_tables() {
	local least=$1 load=$2 tables=("${@:3}") swaps=0 refused=0
	[[ ! ${LONG-} ]] || least=1000
	while ((swaps < least)) && kill -0 "$load"; do
		{ dmsetup suspend fs0 && dmsetup resume fs0; } || ((++refused))
		{ dmsetup suspend --noflush fs0 && dmsetup reload fs0 --table "${tables[swaps % ${#tables[@]}]}" &&
			dmsetup resume fs0; } || ((++refused))
		((++swaps))
	done
	kill -TERM "$load"
	wait "$load"
	tap_is "$? $swaps $refused" "0 $least 0" "contents hold under $least suspends and table swaps, of which none is refused"
	tap_check "remove after that" rig_target_remove fs0
}

stress() {
	exec "$STRESS" --ops 1000000000 --size "$1" --lower "$RIG_MD" /dev/mapper/fs0
}

verify() {
	local ended=''
	trap 'ended=yes' TERM
	while fio_verify /dev/mapper/fs0 1m --direct=1 --rw=randwrite --bsrange=512-128k --blockalign=512 --iodepth=4 \
		--thread --numjobs=8 --offset_increment=8m --verify_backlog=32 >&2; do
		[[ ! $ended ]] || return 0
	done
	return 1
}

# change_settings: again and again, until it is ended; says in /run/changes how often that was possible.
change_settings() {
	local attrs changes=0 ended='' value
	attrs=$(rig_sysfs fs0)
	trap 'ended=yes' TERM
	while [[ ! $ended ]]; do
		for value in $((RIG_W / 2)) "$RIG_W"; do
			# It is not there while the device is suspended.
			{ echo "$value" >"$attrs/stripe_bytes" && echo "$value" >"$attrs/hold_ms"; } 2>/dev/null &&
				echo $((++changes)) >/run/changes
		done
	done
}

stress "$(blockdev --getsize64 /dev/mapper/fs0)" &
load=$!
change_settings &
changes=$!
swap_tables 60 "$load" "$table"
kill "$changes"
wait "$changes"
tap_check "and settings changed meanwhile: $(</run/changes) times" test "$(</run/changes)" -gt 10

rig_target fs0 "$RIG_MD" mode writethrough hold_ms 20 high_water_bytes 2097152
table=$(dmsetup table fs0)
verify &
swap_tables 4 $! "${table/mode writethrough/mode writebehind}" "$table"

# The last stripe is whole with one table and not with the other: what is written to it is staged, or passes.
dd if=/dev/zero of="$RIG_MD" bs=1M count=2 oflag=direct conv=notrunc status=none
rig_target fs0 "$RIG_MD" hold_ms 3600000 high_water_bytes 2097152
table=$(dmsetup table fs0)
table=${table#0 * }
half=$((RIG_W / 1024))
stress $((7 * half * 512)) &
swap_tables 10 $! "0 $((7 * half)) $table" "0 $((8 * half)) $table"
tap_done

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Table lines that are wrong: refused, the reason in the kernel log, nothing made.
. "${BASH_SOURCE[0]%/*}/common.sh"

rig_load_module
rig_preset R5 ram
rig_calibrate "$RIG_MD" "$RIG_W" "$RIG_N"
SECTORS=$(blockdev --getsz "$RIG_MD")
PLAIN=${RIG_MEMBERS[0]}	# a member: in use by md

# What the log must say, then the line behind the target's name.
CASES=(
	"Too few arguments|$RIG_MD"
	"start: not a number|$RIG_MD x"
	"start: not a number|$RIG_MD -1"
	"dev: cannot be opened|/dev/nosuch 0"
	"dev: in use|$PLAIN 0 4 chunk_bytes 65536 data_members 4"
	"dev: too small|$RIG_MD 8"
	"dev: too small|$RIG_MD 99999999999"
	"Number of arguments|$RIG_MD 0 x"
	"Number of arguments|$RIG_MD 0 32"
	"Number of arguments|$RIG_MD 0 2 chunk_bytes"
	"not pairs|$RIG_MD 0 1 chunk_bytes"
	"More arguments|$RIG_MD 0 0 chunk_bytes 65536"
	"color: no such key|$RIG_MD 0 2 color blue"
	"streams:|$RIG_MD 0 2 streams 1025"
	"streams:|$RIG_MD 0 2 streams all"
	"read_pref_io:|$RIG_MD 0 2 read_pref_io 65537"
	"read_nstream: times read_pref_io it is no multiple|$RIG_MD 0 2 read_nstream 3"
	"read_nstream: times read_pref_io it is over|$RIG_MD 0 4 read_pref_io 1048576 read_nstream 128"
	"read_nstream:|$RIG_MD 0 2 read_nstream 0"
	"prefetch_bytes:|$RIG_MD 0 2 prefetch_bytes 262144"
	"prefetch_bytes:|$RIG_MD 0 2 prefetch_bytes 1099511627776"
	"compression: no such key|$RIG_MD 0 2 compression 1"
	"hold_ms: given twice|$RIG_MD 0 4 hold_ms 5 hold_ms 6"
	"chunk_bytes:|$RIG_MD 0 2 chunk_bytes 64k"
	"chunk_bytes:|$RIG_MD 0 2 chunk_bytes 65537"
	"chunk_bytes:|$RIG_MD 0 2 chunk_bytes 0"
	"chunk_bytes:|$RIG_MD 0 2 chunk_bytes 18446744073709551616"
	"data_members:|$RIG_MD 0 2 data_members 0"
	"data_members:|$RIG_MD 0 2 data_members 4.5"
	"data_members:|$RIG_MD 0 4 chunk_bytes 67108864 data_members 1024"
	"stripe_bytes: contradicts|$RIG_MD 0 4 data_members 4 stripe_bytes 196608"
	"stripe_bytes: not a multiple|$RIG_MD 0 2 stripe_bytes 69632"
	"alignment_offset:|$RIG_MD 0 2 alignment_offset 262144"
	"alignment_offset:|$RIG_MD 0 2 alignment_offset 100"
	"cluster_bytes:|$RIG_MD 0 2 cluster_bytes 65536"
	"cluster_bytes:|$RIG_MD 0 2 cluster_bytes 300000"
	"high_water_bytes:|$RIG_MD 0 2 high_water_bytes 262144"
	"high_water_bytes:|$RIG_MD 0 2 high_water_bytes 1099511627776"
	"low_water_bytes:|$RIG_MD 0 4 high_water_bytes 1048576 low_water_bytes 1048576"
	"low_water_bytes:|$RIG_MD 0 4 high_water_bytes 1048576 low_water_bytes 2097152"
	"file_high_water_bytes:|$RIG_MD 0 2 file_high_water_bytes 524287"
	"file_high_water_bytes:|$RIG_MD 0 2 file_high_water_bytes 1099511627776"
	"file_low_water_bytes:|$RIG_MD 0 4 file_high_water_bytes 1048576 file_low_water_bytes 1048576"
	"hold_ms:|$RIG_MD 0 2 hold_ms 0"
	"hold_ms:|$RIG_MD 0 2 hold_ms soon"
	"mode:|$RIG_MD 0 2 mode writeback"
)

tap_plan $((${#CASES[@]} + 3))
for case in "${CASES[@]}"; do
	want=${case%%|*} line=${case#*|}
	dmesg -C
	if dmsetup create bad --table "0 $SECTORS fullstripe $line" 2>/dev/null; then
		dmsetup remove bad
		tap_not_ok "refused: $line" "it was made"
	elif ! dmesg | grep -qF "$want"; then
		tap_not_ok "refused: $line" "the log does not say '$want': $(dmesg | grep -v ioctl)"
	else
		tap_ok "refused: $line: $want"
	fi
done
dmesg -C
dmsetup create bad --table "0 $((RIG_W / 512 - 1)) fullstripe $RIG_MD 0" 2>/dev/null
tap_check "refused: a device under one stripe" grep -q "holds not one whole stripe" <(dmesg)
tap_is "$(dmsetup ls)" "No devices found" "no device is left"
tap_check "the module unloads: nothing was leaked" rig_unload_module
tap_done

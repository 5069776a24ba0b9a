#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The keys in sysfs and as messages: good values take effect while I/O goes on, bad
# ones change nothing.
. "${BASH_SOURCE[0]%/*}/common.sh"

# takes KEY VALUE
takes() {
	{ echo "$2" >"$DIR/$1"; } 2>/dev/null && [[ $(<"$DIR/$1") == "$2" ]]
}

# refuses KEY VALUE: an error, and every key as before.
refuses() {
	local before
	before=$(cat "$DIR"/*_* "$DIR/mode" "$DIR/streams")
	! { echo "$2" >"$DIR/$1"; } 2>/dev/null && [[ $(cat "$DIR"/*_* "$DIR/mode" "$DIR/streams") == "$before" ]]
}

BAD=(
	"cluster_bytes 0" "cluster_bytes 131072" "cluster_bytes 300000" "cluster_bytes 128K"
	"cluster_bytes -1" "cluster_bytes 18446744073709551616" "cluster_bytes 134217728"
	"stripe_bytes 0" "stripe_bytes 69632" "stripe_bytes 1x" "stripe_bytes 134217728"
	"hold_ms 0" "hold_ms 3600001" "hold_ms soon" "seek_bytes 67108865" "mode writeback" "mode 1"
	"high_water_bytes 0" "high_water_bytes 262144" "high_water_bytes 1099511627776"
	"file_high_water_bytes 1" "file_high_water_bytes 1099511627776" "file_low_water_bytes 1099511627776"
	"streams 1025" "streams -1" "read_pref_io 1" "read_pref_io 98304" "read_nstream 0" "read_nstream 3"
	"read_nstream 4096" "prefetch_bytes 0" "prefetch_bytes 262144" "prefetch_bytes 1099511627776"
	"low_water_bytes 1099511627776" "chunk_bytes 4096" "data_members 3" "alignment_offset 0"
)

tap_plan $((${#BAD[@]} + 36))
rig_load_module
rig_preset R5 ram
rig_target fs0 "$RIG_MD" high_water_bytes 16777216
DIR=$(rig_sysfs fs0)

tap_check "cluster_bytes" takes cluster_bytes 1048576
tap_check "hold_ms" takes hold_ms 100
tap_check "seek_bytes" takes seek_bytes 0
tap_check "low_water_bytes" takes low_water_bytes 4194304
whole=$(stat memory_bytes)
tap_check "high_water_bytes, down" takes high_water_bytes 8388608
half=$(stat memory_bytes)
tap_check "high_water_bytes, up" takes high_water_bytes 33554432
takes high_water_bytes 16777216
tap_is "$(stat memory_bytes)" "$whole" "memory is as the mark is"
# But for what stripes are filled in.
tap_is $((2 * half - whole)) $((4 * RIG_W)) "all of it, its stripe groups too"
((whole > 16777216 + 4 * RIG_W && whole < 16777216 + 4 * RIG_W + 16777216 / 8))
tap_is $? 0 "and hardly more than that"
tap_check "file_high_water_bytes" takes file_high_water_bytes 2097152
tap_check "file_low_water_bytes" takes file_low_water_bytes 0
tap_check "streams" takes streams 0
tap_check "read_nstream" takes read_nstream 8
tap_check "read_pref_io" takes read_pref_io 32768
tap_check "prefetch_bytes" takes prefetch_bytes 1048576
tap_check "mode" takes mode writethrough
tap_check "mode, back" takes mode writebehind
for bad in "${BAD[@]}"; do
	# shellcheck disable=SC2086 # two words
	tap_check "refused: $bad" refuses $bad
done
takes stripe_bytes 327680
tap_is "$(<"$DIR/data_members") $(<"$DIR/cluster_bytes")" "5 1310720" \
	"stripe_bytes takes members and cluster along"
takes stripe_bytes 262144

tap_check "message set" dmsetup message fs0 0 set hold_ms 70
tap_is "$(<"$DIR/hold_ms")" 70 "message set took effect"
dmsetup message fs0 0 set hold_ms 0 2>/dev/null
tap_is "$? $(<"$DIR/hold_ms")" "1 70" "message set refuses"
dmsetup message fs0 0 set nosuch 1 2>/dev/null
tap_is $? 1 "message set refuses an unknown key"
dmsetup message fs0 0 dance 2>/dev/null
tap_is $? 1 "an unknown message is refused"

dd if=/dev/zero of=/dev/mapper/fs0 bs=4k count=1 oflag=direct conv=notrunc status=none
((10#$(<"$DIR/stats/accepted_bytes") == 4096))
tap_is $? 0 "stats count"
dmsetup message fs0 0 reset_stats
tap_is "$(<"$DIR/stats/accepted_bytes")" 0 "reset_stats resets"

# A new width, and those above: they see it with the next table.
node=$(dmsetup info -c --noheadings -o blkdevname fs0)
takes stripe_bytes 196608
tap_is "$(<"/sys/block/$node/queue/optimal_io_size")" 262144 "optimal_io_size does not follow a new stripe_bytes"
dmsetup table fs0 | dmsetup load fs0
dmsetup suspend fs0
dmsetup resume fs0
tap_is "$(<"/sys/block/$node/queue/optimal_io_size") $(<"$DIR/stripe_bytes")" "196608 196608" "it does with the next table"
rig_target_remove fs0
rig_target fs0 "$RIG_MD" alignment_offset 131072
DIR=$(rig_sysfs fs0)
takes stripe_bytes 196608
tap_is "$(<"$DIR/stripe_bytes") $(<"$DIR/alignment_offset")" "196608 131072" "an alignment_offset that was given is kept"
tap_check "and must be within the new width" refuses stripe_bytes 131072
rig_target_remove fs0
rig_teardown

# Everything that is live changes for as long as threads check what they read.
rig_preset R5 ram
rig_target fs0 "$RIG_MD" high_water_bytes 4194304
DIR=$(rig_sysfs fs0)
whole=$(stat memory_bytes)
"$STRESS" --ops 25000 --streams 4 --lower "$RIG_MD" /dev/mapper/fs0 &
changes=0 failed=0
while kill -0 $! 2>/dev/null; do
	for change in "seek_bytes 1048576" "stripe_bytes 196608" "streams 3" "mode writethrough" "hold_ms 5" "cluster_bytes 786432" \
		"high_water_bytes 2097152" "stripe_bytes 262144" "mode writebehind" "hold_ms 300" "seek_bytes 0" \
		"read_nstream 8" "prefetch_bytes 4194304" "read_nstream 4" "streams 0" "streams 128" \
		"file_low_water_bytes 0" "file_high_water_bytes 524288" "file_high_water_bytes 0" \
		"file_high_water_bytes 1048576" \
		"high_water_bytes 8388608"; do
		# shellcheck disable=SC2086 # two words
		takes $change || ((++failed))
		((++changes))
	done
done
wait $!
tap_is $? 0 "contents hold while everything changes"
tap_is "$failed" 0 "no change was refused"
((changes >= 18))
tap_is $? 0 "there were changes enough"
tap_diag "$changes changes"
takes streams 0
takes high_water_bytes 4194304
fsync
tap_is "$(stat memory_bytes)" "$whole" "and no memory is left over from any of them"

# Half stripes, which nobody writes, and a mark below what they take.
takes high_water_bytes 2097152
least=$(stat memory_bytes)
takes file_high_water_bytes 0
takes high_water_bytes 16777216
takes hold_ms 3600000
halves=()
for i in {0..23}; do
	halves+=(-c "pwrite -q $((i * RIG_W)) $((RIG_W / 2))")
done
xfs_io -d "${halves[@]}" /dev/mapper/fs0
tap_is "$(stat staged_bytes)" $((12 * RIG_W)) "more is in use than a lower mark allows"
takes high_water_bytes 2097152
fsync
tap_is "$(stat memory_bytes)" "$least" "what is leaves when it is written"
tap_check "the folder goes with the target" rig_target_remove fs0
tap_done

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What fullstripectl top makes of a real device: its numbers for programs, and its screen
# in a terminal, that is of several sizes and of several kinds.
. "${BASH_SOURCE[0]%/*}/common.sh"

MIB=1048576
ctl=$RIG_TOP/build/daemon/fullstripectl
out=/run/top
mount_point=/run/films
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)

# printed FILTER: this is true of all intervals that were printed.
printed() {
	[[ $(jq -s "$1" "$out" 2>/dev/null) == true ]]
}

# seen FILTER: in one of them this was true.
seen() {
	printed "any(.[]; $1)"
}

# pane [OPTION]...: what is on the terminal.
pane() {
	tmux -L top capture-pane -p "$@" -t top
}

press() {
	tmux -L top send-keys -t top "$1"
}

# open_pane COLUMNS ROWS COMMAND: a terminal in which this runs.
open_pane() {
	LC_ALL=C.UTF-8 tmux -f /dev/null -L top new-session -d -s top -x "$1" -y "$2" "$3"
}

# shows TEXT [ROW]: it is there, in this row.
# shellcheck disable=SC2317 # called by until_true
shows() {
	pane | sed -n "${2-1,\$}p" | grep -q -e "$1"
}

is_closed() {
	! tmux -L top has-session 2>/dev/null
}

# put_parts: a block into each of 16 stripes, each time other blocks: what was written last md
# still has in its stripe cache, and reads nothing.
row=0
put_parts() {
	local i
	for i in {0..15}; do
		dd if=/dev/zero of=/dev/mapper/fs0 bs=4k count=1 seek=$((64 * i + row)) oflag=direct conv=notrunc status=none
	done
	row=$(((row + 1) % 64))
}

# part_seen: writes these, and whether it was seen that md reads the old block and the old parity
# for each. An interval may end between that and the write: then they are put anew.
# shellcheck disable=SC2317 # called by until_true
part_seen() {
	dmsetup message fs0 0 flush
	put_parts
	seen '.devices[0] | .pre_reads_per_mib >= 256 and .partial_stripes_per_s > 0 and .full_stripe_ratio == 0'
}

tap_plan 28
tap_is "$("$ctl" top --once --interval 0.1 | tail -n 1)" "There is no fullstripe device that is active." \
	"without the module there is nothing to see"
rig_load_module
rig_preset R5 ram
sectors=$(blockdev --getsz "$RIG_MD")
dmsetup create slow --table "0 $sectors linear $RIG_MD 0"
dmsetup create fs0 --table "0 $sectors fullstripe /dev/mapper/slow 0 12 chunk_bytes 65536 data_members 4 \
hold_ms 3600000 file_high_water_bytes $MIB file_low_water_bytes 524288 seek_bytes 0"
"$ctl" top --json --interval 0.2 fs0 >>"$out" &
top=$!
until_true seen '.devices[0].read_bytes_per_s == 0'
tap_is $? 0 "a device at rest"
tap_check "on its array, which is below a volume" seen \
	'.devices == [.devices[0]] and .devices[0].name == "fs0" and .devices[0].array == "md0" and .devices[0].lower != "md0"'

dd if=/dev/zero of=/dev/mapper/fs0 bs=4M count=4 oflag=direct conv=notrunc status=none
until_true seen '.devices[0] | .written_bytes_per_s > 1048576 and .full_stripe_ratio == 1'
tap_is $? 0 "whole stripes are full stripes"
put_parts
tap_check "staged data is seen" until_true seen ".devices[0].staged_bytes == $((16 * 4096))"
tap_is "$(seen '.devices[0].pre_reads_per_mib > 0'; echo $?)" 1 "and nothing was read in order to write"
until_true part_seen
tap_is $? 0 "until partial stripes are written"
dd if=/dev/mapper/fs0 of=/dev/null bs=64k count=128 iflag=direct status=none
until_true seen '.devices[0] | .read_bytes_per_s > 1048576 and .active_streams == 1 and .read_ahead_ratio > 0'
tap_is $? 0 "reads are, and what was read ahead"
tap_check "and the stream" seen '.streams[0].device == "fs0" and .streams[0].direction == "forward"'

# A file that is held, on a terminal.
mkfs -t ext4 -q -E nodiscard /dev/mapper/fs0
mkdir -p "$mount_point"
mount /dev/mapper/fs0 "$mount_point"
dd if=/dev/zero of="$mount_point/take-17" bs=1M count=8 status=none
sync
: >"$out"
dmsetup suspend --noflush --nolockfs slow
dd if=/dev/zero of="$mount_point/take-17" bs=1M count=8 conv=fsync,notrunc status=none &
job=$!
until_true seen ".devices[0].held_files == 1 and any(.files[]; .held and .path == \"$mount_point/take-17\")"
tap_is $? 0 "a file that is held is seen, with its path"
open_pane 80 24 "$ctl top --interval 0.2"
until_true shows "[0-9] m\?s .* fs0 *$mount_point/take-17\$"
tap_is $? 0 "people see it"
tap_check "and its device" shows '^fs0 .*\[.*[0-9]%.* 1/[1-9]' 4
tap_check "and the keys" shows '^q quit ' 24
tap_is "$(pane | awk '{ print length }' | sort -n | tail -n 1)" 80 "all columns are used"
[[ $(pane -e) == *$'\e[1m\e[33m'* || $(pane -e) == *$'\e[1;33m'* ]]
tap_is $? 0 "who waits has a colour"
press Space
tap_check "it pauses" until_true shows PAUSED 1
press '>'
tap_check "it sorts by something else" until_true shows 'by full' 1
tmux -L top resize-window -t top -x 60 -y 15
until_true shows '^q quit ' 15
tap_is "$? $(pane | wc -l) $(pane | sed -n 2p)" \
	"0 15 DEVICE     READ/s  WRITE/s FULL PRE/MiB STAGED   FLUSH  HELD" "it takes another size"
press q
tap_check "it ends" until_true is_closed
open_pane 80 24 "NO_COLOR=1 $ctl top --interval 0.2"
until_true shows "fs0 *$mount_point/take-17\$"
tap_is "$? $(pane -e | grep -cE $'\e\\[([0-9]+;)*[34][0-7]m')" "0 0" "NO_COLOR is without colours"
press q
until_true is_closed
tap_check "a terminal that cannot move its cursor is written on" grep -q "fs0 *$mount_point/take-17" \
	<(TERM=dumb timeout -s INT 2 script -qc "$ctl top --interval 0.2" /dev/null </dev/null 2>&1 | tr -d '\r')

dmsetup resume slow
wait "$job"
umount "$mount_point"
dmsetup message fs0 0 flush

# A flush that is under way for longer than an interval is none yet.
dmsetup suspend --noflush --nolockfs slow
so_far=$(stat flushes)
dd if=/dev/zero of=/dev/mapper/fs0 bs=4k count=1 oflag=direct conv=fsync,notrunc status=none &
job=$!
until_true is flushes $((so_far + 1))
tap_is "$? $(($(stat flushes) - $(stat answered_flushes)))" "0 1" "a flush is under way"
sleep 0.3
: >"$out"
sleep 0.6
tap_is "$(seen '.devices[0].flush_us != null'; echo $?)" 1 "and has no time yet"
dmsetup resume slow
wait "$job"
until_true seen '.devices[0].flush_us >= 500000'
tap_is $? 0 "its time is seen when it is answered"

"${nobody[@]}" "$ctl" top --once --json --interval 0.1 >/run/nobody 2>/run/said
tap_is "$? $(jq -c '[.devices[0].name, .files, .streams]' /run/nobody)" '0 ["fs0",null,null]' \
	"who is nobody sees devices, and not what others do"
tap_check "and is told why" grep -q CAP_NET_ADMIN /run/said
tap_is "$("$ctl" top --once slow 2>&1 >/dev/null | grep -c 'no fullstripe device')" 1 "another kind of device is refused"
until_true printed 'length > 10'
goes_on=$?
kill -INT "$top"
wait "$top"
tap_is "$goes_on $?" "0 0" "it goes on until it is told to end"
dmsetup remove fs0
dmsetup remove slow
tap_done

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 400
# What the module tells by netlink, and what fullstripectl makes of it: which files are
# held and were, which streams there are, what happens; and that nothing which is sent
# there does any harm.
. "${BASH_SOURCE[0]%/*}/common.sh"

MIB=1048576
ctl=$RIG_TOP/build/daemon/fullstripectl
genl=$RIG_TOP/build/selftests/functional/genl
events=/run/events
mount_point=/run/netlink
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)

# listens: somebody listens to generic netlink.
listens() {
	awk '$2 == 16 && $4 != "00000000" { n++ } END { exit !n }' /proc/net/netlink
}

# file_is FILTER: the file whose inode is $inode is listed once, and FILTER is true of it.
file_is() {
	local found
	found=$("$ctl" files --json fs0 |
		jq --argjson inode "$inode" "[.files[] | select(.inode == \$inode)] | length == 1 and (.[0] | $1)")
	[[ $found == true ]]
}

# event_is FILTER: there was such an event.
event_is() {
	[[ $(jq -s "any(.[]; $1)" "$events" 2>/dev/null) == true ]]
}

tap_plan 56

"$ctl" files 2>/run/said
tap_is $? 1 "without the module nothing is listed"
tap_check "and it is said why" grep -q "is the module dm-fullstripe loaded" /run/said
rig_load_module
tap_is "$("$ctl" files --json | jq -c .)" '{"files":[]}' "there are no files without a device"
slow_lower
dmsetup create fs0 --table "0 $sectors fullstripe /dev/mapper/low 0 10 chunk_bytes 65536 data_members 4 \
hold_ms 3600000 file_high_water_bytes $MIB file_low_water_bytes 524288"
disk=$(dmsetup info -c --noheadings -o blkdevname fs0)
"$ctl" monitor --json >>"$events" 2>/run/monitor &
monitor=$!
until_true listens

# A file that is held.
mkfs -t ext4 -q -E nodiscard /dev/mapper/fs0
mkdir -p "$mount_point"
mount /dev/mapper/fs0 "$mount_point"
# Written once before: what is below cannot be asked then where there is room for it.
dd if=/dev/zero of="$mount_point/held" bs=1M count=8 status=none
sync
inode=$(command stat -c %i "$mount_point/held")
dmsetup suspend --noflush --nolockfs slow
dd if=/dev/zero of="$mount_point/held" bs=1M count=8 conv=fsync,notrunc status=none &
job=$!
until_true is held_files 1
tap_is $? 0 "a file is held"
sleep 1.2
read -r major minor < <(dmsetup info -c --noheadings --separator ' ' -o major,minor fs0)
tap_check "it is listed, once, with its path" file_is ".held and .over_mark and .path == \"$mount_point/held\""
tap_check "with its file system" file_is ".fs_major == $major and .fs_minor == $minor"
tap_check "with its generation" file_is ".generation == $(lsattr -v "$mount_point/held" | awk '{ print $1 }')"
tap_check "with what is outstanding" file_is ".outstanding_bytes >= $MIB and .outstanding_bytes < 3 * $MIB"
tap_check "with what waits" file_is ".parked > 0 and .parked_bytes >= 4096"
tap_check "how often, and for how long" \
	file_is ".times_held >= 1 and .wait_us >= 1000000 and .longest_wait_us >= .wait_us"
tap_is "$("$ctl" files --json fs0 | jq -r '.files[0] | .device + " " + .disk')" "fs0 $disk" "and its device"
tap_check "people see it first" grep -Eq "^fs0 +[1-9][0-9.]* s +mark .* $mount_point/held$" \
	<("$ctl" files | sed -n 2p)
until_true event_is ".event == \"throttle-start\" and .file.inode == $inode and .file.path == \"$mount_point/held\""
tap_is $? 0 "an event says that it is held"

# What others do is not for everybody.
for verb in files streams monitor; do
	"${nobody[@]}" timeout 20 "$ctl" "$verb" >/run/out 2>/run/said
	tap_is "$? $(wc -c </run/out)" "1 0" "$verb is refused to who is nobody"
	tap_check "and it is said why" grep -q CAP_NET_ADMIN /run/said
done
tap_is "$("${nobody[@]}" "$genl" devices)" "$disk 262144" "the devices are not secret"

# Bad requests, while there is something to list.
seed=$((RANDOM * 32768 + RANDOM))
begun=$SECONDS
"$genl" bad "$seed" 10000 >/run/said
tap_is $? 0 "malformed requests are refused or ignored"
tap_diag "$(</run/said) in $((SECONDS - begun)) s"
tap_check "the file is listed as before" file_is '.held'

dmsetup resume slow
wait "$job"
sync
dmsetup message fs0 0 flush
until_true is dirty_files 0
tap_is $? 0 "it goes on, and nothing is outstanding"
tap_check "it is still listed" file_is '.held == false and .outstanding_bytes == 0 and .times_held >= 1'
tap_check "with its longest wait" file_is '.longest_wait_us >= 1000000 and .path == null and .wait_us == 0'
tap_check "and it is said why the path is not" \
	grep -q "inode $inode of $major:$minor (path not known: no process has it open)" <("$ctl" files)
until_true event_is ".event == \"throttle-stop\" and .file.inode == $inode and .file.longest_wait_us >= 1000000"
tap_is $? 0 "an event says that it goes on"
tap_is "$("$ctl" files nosuch 2>/dev/null; echo $?)" 1 "a device that is not there is refused"
tap_is "$("$ctl" files slow 2>&1 >/dev/null | grep -c 'is no fullstripe device')" 1 "and so is another kind"
umount "$mount_point"

# A process that comes to its mark all the time makes few events, and none is forgotten.
: >"$events"
modprobe dm-delay
slow_table "0 $sectors delay $lower 0 5"
dmsetup message fs0 0 set file_low_water_bytes $((MIB - 4096))
# Whole stripes, four of which are the mark: the fifth waits for one of them.
fio --name=w --filename=/dev/mapper/fs0 --direct=1 --rw=write --bs=256k --ioengine=libaio --iodepth=5 \
	--size=32M --thread --output=/dev/null --loops=3 &
fio=$!
begun=$EPOCHREALTIME
wait "$fio"
sleep 0.5
took=$((${EPOCHREALTIME/./} - ${begun/./}))
tgid=$("$ctl" files --json | jq '[.files[] | select(.tgid and .times_held > 0)] | max_by(.times_held) | .tgid')
times=$("$ctl" files --json | jq "[.files[] | select(.tgid == $tgid)][0].times_held")
# shellcheck disable=SC2016
told=$(jq -s "[.[] | select(.file.tgid == $tgid) | .file.times_held] | add" "$events")
count=$(jq -s "[.[] | select(.file.tgid == $tgid)] | length" "$events")
((times > 0))
tap_is $? 0 "a process was held"
tap_is "$told" "$times" "events tell of each time"
((count > 0 && count <= took / 100000 + 2 && times > count))
tap_is $? 0 "and are not more than one in 100 ms, nor as many as it was held"
tap_diag "held $times times in $((took / 1000)) ms, $count events"
tap_is "$(jq -s "[.[] | select(.file.tgid == $tgid)][-1].event" "$events")" '"throttle-stop"' "the last says that it goes on"

slow_table "0 $sectors linear $lower 0"

# More than a message takes: each once.
dmsetup message fs0 0 flush
dmsetup message fs0 0 set file_low_water_bytes 262144
"$genl" write /dev/mapper/fs0 700 65536 | sort >/run/want
is dirty_files 700
tap_is $? 0 "700 processes have something outstanding"
"$ctl" files --json fs0 | jq '.files[] | select(.outstanding_bytes > 0) | .tgid' | sort >/run/have
tap_is "$(diff /run/want /run/have | head -n 3)" '' "all of them are listed, each once"

# A list that is left, and one that nobody reads, hold up no suspend.
coproc LEFT { "$genl" leave; }
left=$LEFT_PID
# Copies: bash closes its own when it sees that the process has ended.
exec {left_in}>&"${LEFT[1]}" {left_out}<&"${LEFT[0]}"
read -r _ <&"$left_out"
tap_check "suspend with a list under way" timeout 20 dmsetup suspend fs0
tap_is "$("$ctl" files --json | jq -c .)" '{"files":[]}' "a suspended device is not listed"
tap_check "resume" dmsetup resume fs0

# Streams.
fio --name=r --filename=/dev/mapper/fs0 --direct=1 --rw=read --bs=16k --offset=4M --size=4M --output=/dev/null
"$ctl" streams --json fs0 >/run/streams
tap_is "$(jq -c '[.streams[] | [.device, .position_bytes, .direction, .read_bytes]]' /run/streams)" \
	"[[\"fs0\",$((8 * MIB)),\"forward\",$((4 * MIB))]]" "a stream is listed"
tap_check "people see it" grep -Eq "^fs0 +$((8 * MIB)) forward" <("$ctl" streams)
tap_is "$(timeout --preserve-status -s INT 3 "$ctl" streams --json --watch=0.2 | jq -s 'length > 2')" true \
	"again and again, if that is wanted"

# Processes that are known in the same bucket, which keeps two of them: each is told of to its end.
: >"$events"
same=()
for ((pid = 20000; ${#same[@]} < 12; pid++)); do
	(((pid * 0x61C8864680B583EB >> 56 & 255) != 77)) || same+=("$pid")
done
dmsetup message fs0 0 set file_high_water_bytes 524288
jobs=()
for pid in "${same[@]}"; do
	echo $((pid - 1)) >/proc/sys/kernel/ns_last_pid
	dd if=/dev/zero of=/dev/mapper/fs0 bs=8M count=1 seek=1 oflag=direct conv=notrunc status=none &
	jobs+=($!)
done
wait "${jobs[@]}"
held=$("$ctl" files --json | jq '[.files[] | select(.times_held > 0 and .tgid >= 20000) | .tgid] | length')
# all_stopped: of each process that began to be held it was told that it goes on.
all_stopped() {
	[[ $(jq -s '[group_by(.file.tgid)[] | .[-1].event] | length > 2 and all(.[]; . == "throttle-stop")' "$events") == true ]]
}
until_true all_stopped
tap_is $? 0 "of each that is held it is told that it goes on, also when it is forgotten"
tap_diag "$(jq -s '[.[].file.tgid] | unique | length' "$events") were held, $held are known: $(printf '%s\n' "${jobs[@]}" | grep -cxFf <(printf '%s\n' "${same[@]}")) of them as wanted"

# What cannot be written ends them, and is said.
timeout 30 "$ctl" streams --json --watch=0.2 >/dev/full 2>/run/said
tap_is $? 1 "watching ends when the output cannot be written"
tap_check "and it is said why" grep -q "standard output could not be written.*No space" /run/said
timeout 30 "$ctl" monitor >/dev/full 2>/run/said &
full=$!
while kill -0 "$full" 2>/dev/null; do
	dmsetup message fs0 0 set stripe_bytes 131072
	dmsetup message fs0 0 set stripe_bytes 262144
done
wait "$full"
tap_is $? 1 "and so does monitor"
tap_check "and it is said why" grep -q "standard output could not be written.*No space" /run/said

# Other events.
: >"$events"
dmsetup message fs0 0 set stripe_bytes 131072
until_true event_is '.event == "geometry" and .stripe_bytes == 131072 and .data_members == 2'
tap_is $? 0 "an event tells of new stripes"
dmsetup message fs0 0 set stripe_bytes 262144
slow_table "0 $sectors error"
dd if=/dev/zero of=/dev/mapper/fs0 bs=4k count=1 seek=133 oflag=direct conv=notrunc status=none
dmsetup message fs0 0 flush 2>/dev/null
dmsetup message fs0 0 flush 2>/dev/null
until_true event_is ".event == \"write-error\" and .disk == \"$disk\" and .sector == 1024 and
	.sectors == 512 and .dirty_sectors == 8 and .error == 5"
tap_is $? 0 "an event tells of a write error"
tap_is "$(grep -c write-error "$events")" 1 "once"
slow_table "0 $sectors linear $lower 0"
dmsetup message fs0 0 flush
until_true event_is '.event == "write-recovered"'
tap_is $? 0 "and one that it is over"

# The device and the module go while there are readers.
tap_check "the device goes" timeout 20 dmsetup remove --retry fs0
rmmod dm_fullstripe 2>/dev/null
tap_is $? 1 "the module stays as long as a list is under way"
echo >&"$left_in"
read -r said <&"$left_out"
wait "$left"
tap_is $? 0 "which comes to its end"
tap_diag "$said"
tap_check "the module goes while somebody listens" rig_unload_module
tap_check "and comes again" rig_load_module
kill -INT "$monitor"
wait "$monitor"
tap_is "$? $(</run/monitor)" "0 " "the listener has lost nothing, and ends when it is told to"
rig_teardown
tap_done

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# long timeout: 2400
# Reading ahead: streams are found and read in whole steps, others are left alone; and
# what was read ahead is never read when it is stale, or when it could not be read.
. "${BASH_SOURCE[0]%/*}/common.sh"

# stream BS FIRST COUNT: read COUNT blocks of BS from block FIRST on.
stream() {
	dd if=/dev/mapper/fs0 of=/dev/null bs="$1" skip="$2" count="$3" iflag=direct status=none
}

# readers [fio option]...: read in some other way.
readers() {
	fio --name=r --filename=/dev/mapper/fs0 --direct=1 --output=/dev/null "$@"
}

# settled: waits until nothing is being read ahead.
settled() {
	local tries=200
	while (($(stat prefetching_bytes) && --tries)); do sleep 0.05; done
}

# until_ahead BYTES: waits until more than so many have been read ahead, and nothing is any more.
until_ahead() {
	local tries=200
	while (($(stat prefetched_bytes) <= $1 && --tries)); do sleep 0.05; done
	settled
}

# forget: what was read ahead.
forget() {
	dmsetup message fs0 0 set streams 0
	dmsetup message fs0 0 set streams 128
}

# ahead STRIPE: read the beginning of a stripe, so that the rest of it is read ahead; at is
# then where it begins.
ahead() {
	local before ahead
	at=$(($1 * RIG_W))
	before=$(stat prefetch_hit_bytes) ahead=$(stat prefetched_bytes)
	stream 4096 $((at / 4096)) 5
	until_ahead "$ahead"
	part /dev/mapper/fs0 $((at + 32768)) 4096 >/dev/null
	(($(stat prefetch_hit_bytes) >= before + 4096))
}

# part DEV OFFSET BYTES: a checksum of these, in reads that are small enough to be answered
# from what was read ahead.
part() {
	dd if="$1" bs=$(($3 < 16384 ? $3 : 16384)) skip="$2" count="$3" \
		iflag=direct,skip_bytes,count_bytes status=none | md5sum
}

# write BYTES [dd option]...: write what is random to where place says.
write() {
	length=$1
	shift
	head -c "$length" /dev/urandom >"$data"
	dd if="$data" of=/dev/mapper/fs0 bs="$length" seek="$place" oflag=direct,seek_bytes \
		conv=notrunc status=none "$@"
}

write_whole() {
	place=$at
	write "$RIG_W"
}

write_and_flush() {
	write 4096
	dmsetup message fs0 0 flush
}

# md discards whole stripes only.
discard() {
	place=$at
	length=$RIG_W
	head -c "$length" /dev/zero >"$data"
	blkdiscard -f -o "$place" -l "$length" /dev/mapper/fs0 2>/dev/null
}

# sectors_between: prints how many were read that are not in the first MiB of their four:
# behind the first two runs, and from the third on.
sectors_between() {
	bios | awk '$1 ~ /R/ {
		for (sector = $2; sector < $2 + $3; sector++)
			if (sector % 8192 >= 2048)
				n[sector >= 2 * 8192]++
	}
	END { print n[0] + 0, n[1] + 0 }'
}

# fresh TEXT COMMAND...: what COMMAND changes in a stripe that was read ahead is what is
# read next, and after a flush, and it is below.
fresh() {
	local text=$1 want
	shift
	# At no constant stride: the rest of the stripe would not be expected then. And where
	# there is something to be seen.
	((++changes))
	tap_check "$text: the stripe was read ahead" ahead $((100 + changes * changes))
	place=$((at + 65536))
	"$@"
	want=$(md5sum <"$data")
	tap_is "$(part /dev/mapper/fs0 $place $length)" "$want" "$text: what was written is read"
	dmsetup message fs0 0 flush
	tap_is "$(part /dev/mapper/fs0 $place $length) $(part "$RIG_MD" $place $length)" \
		"$want $want" "$text: and after a flush, and below"
}

# stress [option]...: readers in streams among writers, checked against a model.
stress() {
	"$STRESS" --ops 8000 --streams 8 --discard --lower "$RIG_MD" "$@" /dev/mapper/fs0
}

# verify SECONDS: fio checks what it wrote, in order and not, beside readers in streams.
verify() {
	local common=(--filename=/dev/mapper/fs0 --direct=1 --time_based --runtime="$1")
	local verify=(--verify=crc32c --verify_fatal=1 --size=48M)
	fio --output=/dev/null "${common[@]}" \
		--name=order --rw=write --bs=8k "${verify[@]}" --verify_backlog=512 \
		--name=random --rw=randwrite --bs=4k --offset=48M "${verify[@]}" --verify_backlog=512 \
		--name=stripes --rw=randwrite --bs="$RIG_W" --offset=96M "${verify[@]}" --verify_backlog=16 \
		--name=readers --rw=read --bs=16k --size=36M --numjobs=4 --offset_increment=36M
}

data=/run/prefetch.data
changes=0
seconds=8
[[ ! ${LONG-} ]] || seconds=600
tap_plan 53
rig_load_module
# md discards on RAID5 where it is told that members return zeroes.
modprobe raid456
echo Y >/sys/module/raid456/parameters/devices_handle_discard_safely
rig_preset R5 spindle
dd if=/dev/urandom of="$RIG_MD" bs=1M oflag=direct status=none count=48
rig_target fs0 "$RIG_MD" hold_ms 3600000

rig_count_begin
stream 8192 0 1024
# Of the last five seconds.
active=$(stat active_streams)
settled
rig_count_end
read_ahead=$(stat prefetched_bytes)
tap_diag "$RIG_READS reads of members, $read_ahead bytes read ahead for 8 MiB"
((RIG_READS <= 3 + 4 * read_ahead / RIG_W))
tap_is $? 0 "what a stream will read is read in whole chunks"
(($(stat prefetch_hit_bytes) >= (1 << 23) - 10 * 8192))
tap_is $? 0 "and all but its beginning is read from memory"
tap_is "$active" 1 "it is one stream"
dmsetup message fs0 0 reset_stats
readers --rw=read:-16k --bs=8k --offset=$(((16 << 20) - 8192)) --size=$((16 << 20)) --io_size=$((1 << 23))
(($(stat prefetch_hit_bytes) >= (1 << 23) - 10 * 8192))
tap_is $? 0 "backward too"
forget
dmsetup message fs0 0 reset_stats
bios_begin "$RIG_MD"
readers --rw=read --bs=64k --size=128m --zonemode=strided --zonesize=1m --zonerange=1m --zoneskip=3m --io_size=24m
settled
bios_end
between=$(sectors_between)
tap_diag "$(stat prefetched_bytes) bytes read ahead for 24 MiB in runs of 1 MiB, $(stat prefetch_hit_bytes) hit, sectors between them: $between"
(($(stat prefetch_hit_bytes) >= 21 << 20))
tap_is $? 0 "and runs with a constant stride"
tap_is "${between#* }" 0 "without what lies between them, once they are known"
((${between% *} && ${between% *} <= 2 * 2560))
tap_is $? 0 "before that no more is read behind a run than was read of it, and a step"
for bs in 8k 12k 20k; do
	tap_is "$(dd if=/dev/mapper/fs0 bs=$bs iflag=direct,count_bytes count=24M status=none | md5sum)" \
		"$(dd if="$RIG_MD" bs=1M iflag=direct count=24 status=none | md5sum)" "what is read in $bs is what is there"
done

# 64 reads are 5 stripes: the third goes past the end of one, before it is a stream.
forget
dmsetup message fs0 0 reset_stats
stream 20480 $((40 * 64 + 10)) 4
until_ahead 0
(($(stat prefetched_bytes) > 0))
tap_is $? 0 "a stream goes on behind the end of a stripe"

# More streams than members: each with a region of its own, all at once.
sums() {
	local i
	for ((i = 0; i < 8; i++)); do
		dd if="$1" bs=64k skip=$((i * 6))M count=6M iflag=direct,skip_bytes,count_bytes \
			status=none | md5sum >"$data.$i" &
	done
	wait
	cat "$data".?
	rm "$data".?
}
want=$(sums "$RIG_MD")
forget
rig_count_begin
tap_is "$(sums /dev/mapper/fs0)" "$want" "many streams read what is there"
settled
rig_count_end
tap_diag "$RIG_READS reads of members by 8 readers of 6 MiB each"
((RIG_READS <= (48 << 20) / 65536 * 3 / 4))
tap_is $? 0 "with requests larger than a chunk"
forget

dmsetup message fs0 0 reset_stats
readers --rw=randread --bs=4k --size=256m --number_ios=2000
dd if=/dev/mapper/fs0 of=/dev/null bs=8k count=2000 status=none
dd if=/dev/mapper/fs0 of=/dev/null bs="$RIG_W" skip=20 count=20 iflag=direct status=none
tap_diag "$(stat prefetched_bytes) bytes read ahead"
(($(stat prefetched_bytes) <= 2000 * 4096 / 10))
tap_is $? 0 "for random readers, large reads, and who reads ahead, hardly anything is"

# What it reads is ahead of it already each time but the first.
forget
dmsetup message fs0 0 reset_stats
readers --rw=read --bs=4k --offset=$((180 * RIG_W)) --size=24k --loops=40
settled
tap_diag "$(stat prefetched_bytes) bytes read ahead for 24 KiB, read 40 times"
(($(stat prefetched_bytes) && $(stat prefetched_bytes) <= 4 * RIG_W))
tap_is $? 0 "who reads the same again makes nothing more be read ahead"

fresh "a staged write" write 4096
fresh "one of a sector" write 512
fresh "a destaged write" write_and_flush
fresh "a FUA write" write 4096 oflag=direct,dsync,seek_bytes
fresh "a whole stripe" write_whole
fresh "a discard" discard
dmsetup message fs0 0 set mode writethrough
dmsetup message fs0 0 set hold_ms 1
fresh "a held write" write 4096
dmsetup message fs0 0 set mode writebehind
dmsetup message fs0 0 set hold_ms 3600000

tap_check "before a suspend: the stripe was read ahead" ahead 50
dmsetup suspend fs0
head -c 4096 /dev/urandom >"$data"
dd if="$data" of="$RIG_MD" bs=4096 seek=$((at + 65536)) oflag=direct,seek_bytes conv=notrunc status=none
dmsetup resume fs0
tap_is "$(part /dev/mapper/fs0 $((at + 65536)) 4096)" "$(md5sum <"$data")" \
	"what was changed below meanwhile is read"

dmsetup message fs0 0 set streams 0
dmsetup message fs0 0 reset_stats
stream 8192 0 512
tap_is "$(stat prefetched_bytes)" 0 "streams 0: nothing is read ahead"
dmsetup message fs0 0 set streams 1
stream 8192 5000 8
sleep 1.5
dmsetup message fs0 0 reset_stats
stream 8192 6000 64
(($(stat prefetch_hit_bytes) > 0))
tap_is $? 0 "one that is over gives its place to the next"
dmsetup message fs0 0 set read_nstream 8
stream 8192 0 512
(($(stat prefetch_hit_bytes) >= (1 << 22) - 10 * 8192))
tap_is $? 0 "with two stripes at a time it is"

dmsetup message fs0 0 reset_stats
mdadm --quiet --fail "$RIG_MD" "${RIG_MEMBERS[1]}"
tap_is "$(dd if=/dev/mapper/fs0 bs=8k iflag=direct,count_bytes count=8M status=none | md5sum)" \
	"$(dd if="$RIG_MD" bs=1M iflag=direct count=8 status=none | md5sum)" "a degraded array is read"
(($(stat prefetch_hit_bytes) >= 4 << 20))
tap_is $? 0 "ahead, too"
rig_target_remove fs0

# A block that cannot be read.
bad=$((9 * RIG_W / 512 + 200))
dmsetup create low <<-TABLE
0 $bad linear $RIG_MD 0
$bad 8 error
$((bad + 8)) $(($(blockdev --getsz "$RIG_MD") - bad - 8)) linear $RIG_MD $((bad + 8))
TABLE
rig_target fs0 /dev/mapper/low chunk_bytes 65536 data_members 4
dd if=/dev/mapper/fs0 of="$data" bs=4k iflag=direct conv=noerror,sync count=1024 status=none 2>/dev/null
dd if=/dev/mapper/fs0 of=/dev/null bs=4k skip=$((bad / 8)) count=1 iflag=direct 2>/dev/null
tap_is $? 1 "a block that cannot be read is an error to its reader"
dd if="$RIG_MD" bs=4k iflag=direct count=1024 status=none | dd of="$data.below" bs=4k status=none
dd if=/dev/zero of="$data.below" bs=512 seek=$bad count=8 conv=notrunc status=none
tap_check "and all others are read" cmp "$data" "$data.below"
rm "$data.below"
rig_target_remove fs0
dmsetup remove low
rig_teardown

for mode in writebehind writethrough; do
	rig_preset R5 ram
	rig_target fs0 "$RIG_MD" mode $mode hold_ms 20
	tap_check "$mode: streams among writers against a model" stress
	(($(stat prefetch_hit_bytes) > 1 << 20))
	tap_is $? 0 "$mode: which read from memory"
	tap_check "$mode: fio verifies what it wrote" verify "$seconds"
	rig_target_remove fs0
	rig_teardown
	rig_preset R8 ram
	rig_target fs0 "$RIG_MD" mode $mode hold_ms 20 prefetch_bytes $((2 * RIG_W))
	tap_check "$mode: with the least memory for that" stress --seed 2
	rig_target_remove fs0
	rig_teardown
done
echo N >/sys/module/raid456/parameters/devices_handle_discard_safely
rm "$data"
tap_done

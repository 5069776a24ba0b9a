#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Direct bios of 32 MiB, of pages of 2 MiB each: whole stripes in them pass uncopied, also beside what
# is staged, or are held if md takes them in two bios; and what is read is what was written. On a width of which 32 MiB are a multiple, from a
# stripe's beginning and from its middle, and on one of which they are not.
. "${BASH_SOURCE[0]%/*}/common.sh"
[[ -e /proc/sys/vm/nr_hugepages ]] || tap_skip_all "this kernel has no large pages"

LARGE=$((32 << 20))

# large OFFSET: writes one, reads it, and once it is flushed reads what is below.
# shellcheck disable=SC2317 # tap_check calls it
large() {
	python3 - "$1" $LARGE "$RIG_MD" <<-'PROGRAM'
		import mmap, os, sys

		MAP_HUGETLB = 0x40000
		at, size = map(int, sys.argv[1:3])
		wrote, got = (mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_HUGETLB)
		              for i in range(2))

		def read(disk, name):
		    if os.preadv(disk, [got], at) != size or got[:] != wrote[:]:
		        sys.exit(name + " is not what was written")

		wrote[:] = os.urandom(size)
		above = os.open("/dev/mapper/fs0", os.O_RDWR | os.O_DIRECT)
		if os.pwrite(above, wrote, at) != size:
		    sys.exit("the write is short")
		read(above, "what is read")
		os.fsync(above)
		read(os.open(sys.argv[3], os.O_RDONLY | os.O_DIRECT), "what is below")
	PROGRAM
}

# shellcheck disable=SC2317 # the trap calls it
give_up() {
	echo 0 >/proc/sys/vm/nr_hugepages
	leave
}
trap give_up EXIT

tap_plan 12
rig_load_module
echo 1 >/proc/sys/vm/compact_memory
tap_check "there are large pages" rig_set /proc/sys/vm/nr_hugepages $((2 * LARGE >> 21))
# Array, mode, and how many half stripes from the beginning.
for case in "R5 writebehind 0" "R5 writethrough 1" "R8 writebehind 1"; do
	read -r preset mode halves <<<"$case"
	name="$preset, $mode, $halves half stripes from the beginning"
	rig_preset "$preset" ram
	rig_target fs0 "$RIG_MD" hold_ms 60000
	# Half stripes in the way: one at the beginning, and one within.
	for stripe in 1 20; do
		dd if=/dev/urandom of=/dev/mapper/fs0 bs=$((RIG_W / 2)) count=1 seek=$((2 * stripe)) \
			oflag=direct conv=notrunc status=none
	done
	dmsetup message fs0 0 set mode "$mode"
	dmsetup message fs0 0 reset_stats
	bios_begin /dev/mapper/fs0
	tap_check "$name: what is written is what is read, and below" large $((halves * RIG_W / 2))
	bios_end
	tap_is "$(bios | awk '$3 > most { most = $3 } END { print most * 512 }')" $LARGE "$name: in a bio of 32 MiB"
	# All but its edges and the two that were begun.
	passed=$(stat bypassed_bytes) destaged=$(stat destaged_bytes)
	((passed >= LARGE - 4 * RIG_W && destaged <= 4 * RIG_W))
	tap_is $? 0 "$name: whole stripes pass"
	tap_diag "$passed bytes passed, $destaged were destaged"
	rig_target_remove fs0
	rig_teardown
done

# Stripes of 2 MiB, which md takes in two bios: only a plug keeps them together.
name="chunks of 512 KiB"
rig_members 5 64 ram
rig_array 5 512
rig_target fs0 "$RIG_MD" hold_ms 60000
rig_trace_begin
tap_check "$name: what is written is what is read, and below" large 0
rig_trace_end
tap_is "$RIG_RMW rmw, $RIG_RCW rcw, $(stat held_bytes)" "0 rmw, 0 rcw, $LARGE" "$name: none of it is copied, and nothing is read for it"
rig_target_remove fs0
tap_done

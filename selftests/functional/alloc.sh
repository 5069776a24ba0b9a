#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# stock: it cannot make allocations fail
#
# Allocations that fail: what is asked for fails as a whole and says so, or succeeds as a
# whole; the device goes on as it was; and I/O needs none. That nothing is leaked is seen
# when the machine ends.
. "${BASH_SOURCE[0]%/*}/common.sh"

debugfs=/sys/kernel/debug
[[ -d $debugfs/failslab ]] || tap_skip_all "this kernel has no failslab"

# inject PROBABILITY START END [Y]: of the allocations that have a return address in the
# range on their stack, slab's or the page allocator's, fail so many in a hundred; but
# none of the members', which would fail requests for that. With Y only those of tasks
# that were marked.
inject() {
	local dir
	for dir in "$debugfs"/{failslab,fail_page_alloc}; do
		# Nothing may be failed before all is set.
		echo 0 >"$dir/probability"
		echo 0 >"$dir/verbose"
		echo 0 >"$dir/ignore-gfp-wait"
		echo "${4-N}" >"$dir/task-filter"
		echo 1 >"$dir/interval"
		echo 0 >"$dir/space"
		echo 32 >"$dir/stacktrace-depth"
		echo "$2" >"$dir/require-start"
		echo "$3" >"$dir/require-end"
		echo "${spared[0]}" >"$dir/reject-start"
		echo "${spared[1]}" >"$dir/reject-end"
		echo 1000000 >"$dir/times"
	done
	echo N >"$debugfs/fail_page_alloc/ignore-gfp-highmem"
	echo 0 >"$debugfs/fail_page_alloc/min-order"
	for dir in "$debugfs"/{failslab,fail_page_alloc}; do
		echo "$1" >"$dir/probability"
	done
}

# failed_so_far: how many allocations were failed since inject, in FAILED.
failed_so_far() {
	FAILED=$((2000000 - $(<"$debugfs/failslab/times") - $(<"$debugfs/fail_page_alloc/times")))
}

# mark: the load, and what works for it in the kernel, now or later.
mark() {
	local comm
	for comm in /proc/[0-9]*/task/[0-9]*/comm; do
		case $(<"$comm") in
		stress|kworker*|md0_raid5|kthreadd) echo 1 >"${comm%comm}make-it-fail" ;;
		esac
	done 2>/dev/null
}

# unmark: all that may be marked.
unmark() {
	local file
	for file in /proc/[0-9]*/task/[0-9]*/make-it-fail; do
		echo 0 >"$file"
	done 2>/dev/null
}

# module_range NAME: where the module's code begins and ends.
module_range() {
	local first last
	read -r first last < <(awk -v module="[$1]" '$2 ~ /^[tT]$/ && $NF == module { print "0x" $1 }' \
		/proc/kallsyms | sort | sed -n '1p;$p' | paste -sd ' ')
	# The last function ends somewhere in its page, or in the next.
	printf '%s 0x%x' "$first" $((last + 4096))
}

# nth N COMMAND...: run it, failing its Nth allocation in the module.
nth() {
	(echo "$1" >/proc/self/fail-nth && shift && "$@") >/run/nth 2>&1
}

# store FILE VALUE: in this process.
# shellcheck disable=SC2317 # nth calls it
store() {
	echo "$2" >"$1"
}

# sweep NAME AFTER COMMAND...: fail its first, second, third ... allocation, until it
# has no more. AFTER is told by its first argument whether COMMAND succeeded, and says
# whether all is well.
sweep() {
	local name=$1 after=$2 n=1 before status refused=0 wrong=''
	shift 2
	failed_so_far
	while :; do
		before=$FAILED
		nth "$n" "$@"
		status=$?
		failed_so_far
		((FAILED > before)) || break
		((!status)) || ((++refused))
		if ! "$after" "$status"; then
			wrong="the $n. failed, status $status: $(</run/nth)"
			break
		fi
		# The many that are alike need not all be tried.
		n=$((n < 12 || ${LONG:-0} ? n + 1 : n + n / 4))
	done
	tap_diag "$name: up to allocation $n, $refused times refused"
	tap_is "$wrong" '' "$name: each time it fails, or succeeds, as a whole"
	((status == 0 && n > 1))
	tap_is $? 0 "$name: there are allocations, and without a fault it succeeds"
	((refused))
	tap_is $? 0 "$name: it is refused for lack of memory"
}

# shellcheck disable=SC2317 # sweep calls it
after_create() {
	if (($1)); then
		! dmsetup info fs1 >/dev/null 2>&1
	else
		dd if=/dev/zero of=/dev/mapper/fs1 bs=4k count=3 oflag=direct conv=notrunc,fsync status=none &&
		rig_target_remove fs1
	fi
}

# after_set STATUS: the file has the value that the status tells; back to the old one.
# shellcheck disable=SC2317 # sweep calls it
after_set() {
	local now
	now=$(<"$attribute")
	kill -0 "$stress" || return
	if (($1)); then
		[[ $now == "$old" ]]
	else
		[[ $now == "$new" ]] && echo "$old" >"$attribute"
	fi
}

# shellcheck disable=SC2317 # sweep calls it
after_resume() {
	# It stays suspended, and can be resumed.
	(($1 == 0)) || { [[ $(dmsetup info -c --noheadings -o suspended fs0) == Suspended ]] &&
		dmsetup resume fs0; } || return
	[[ -e $(rig_sysfs fs0)/mode ]] && dmsetup suspend fs0
}

# To its end, and with that all of what is below needs no memory any more.
zero_below() {
	dd if=/dev/zero of="$RIG_MD" bs=1M count=$(($(blockdev --getsize64 "$RIG_MD") >> 20)) oflag=direct status=none
}

stop_injecting() {
	inject 0 0 0xffffffffffffffff
	leave
}

tap_plan 17
spared=(0 0)
trap stop_injecting EXIT
rig_load_module
rig_preset R5 ram
read -ra range <<<"$(module_range dm_fullstripe)"
read -ra spared <<<"$(module_range null_blk)"
zero_below
modprobe brd rd_nr=1 rd_size=16384
inject 0 "${range[@]}"
sweep "table" after_create \
	dmsetup create fs1 --table "0 32768 fullstripe /dev/ram0 0 6 chunk_bytes 4096 data_members 1 high_water_bytes 65536"

rig_target fs0 "$RIG_MD" hold_ms 50 high_water_bytes 1048576
folder=$(rig_sysfs fs0)
"$STRESS" --ops 100000000 --lower "$RIG_MD" /dev/mapper/fs0 >/run/stress 2>&1 &
stress=$!
attribute=$folder/high_water_bytes old=1048576 new=1310720
sweep "high_water_bytes" after_set store "$attribute" "$new"
attribute=$folder/stripe_bytes old=262144 new=131072
sweep "stripe_bytes" after_set store "$attribute" "$new"
kill -TERM "$stress"
wait "$stress"
tap_is $? 0 "contents hold under these changes"
tap_diag "$(</run/stress)"
dmsetup suspend fs0
sweep "resume" after_resume dmsetup resume fs0
dmsetup resume fs0

rig_target_remove fs0
zero_below
rig_target fs0 "$RIG_MD" hold_ms 50 high_water_bytes 1048576
inject 100 "${range[@]}"
"$STRESS" --ops 4000 --lower "$RIG_MD" /dev/mapper/fs0 >/run/stress 2>&1
tap_is $? 0 "I/O succeeds where each allocation under the module fails"
failed_so_far
tap_diag "$FAILED allocations failed; $(</run/stress)"
((FAILED))
tap_is $? 0 "there were such allocations"
rig_target_remove fs0
inject 0 0 0xffffffffffffffff

# Above and below too: whose own allocation fails is told so, and tries again.
zero_below
rig_target fs0 "$RIG_MD" hold_ms 50 high_water_bytes 1048576
stats=$(rig_sysfs fs0)/stats
"$STRESS" --ops 100000000 --insist 60 --lower "$RIG_MD" /dev/mapper/fs0 >/run/stress 2>&1 &
stress=$!
until (($(<"$stats/accepted_bytes") > 1 << 20)); do sleep 0.1; done
mark
inject 3 0 0xffffffffffffffff Y
until failed_so_far && ((FAILED > 2000)) || ! kill -0 "$stress" 2>/dev/null; do
	sleep 0.5
done
inject 0 0 0xffffffffffffffff
unmark
kill -TERM "$stress"
wait "$stress"
tap_is $? 0 "contents hold where allocations fail everywhere"
tap_diag "$FAILED allocations failed; $(</run/stress)"
tap_is "$(target_state), $(<"$stats/destage_errors")" "ok, 0" \
	"memory is never the reason of a destage error"
rig_target_remove fs0
rmmod brd
tap_done

# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # what is set here is used by who sources it
#
# What people use instead of the target, each as its own documentation recommends, and the
# target beside them. To be sourced after ../vm/rig.sh, with an array made. For each NAME:
#
#	NAME_up     set it up on RIG_MEMBERS, and set dev, the node to use. Who needs a fast
#	            device has $fast, of $fast_bytes: as much as the target has memory; md's
#	            journal has $journal; and sets caches
#	NAME_ready  return when what was drained is not in the way of what comes next
#	NAME_drain  return when everything that was accepted is on the members
#	NAME_dirty  print how many KiB are not; null: there is no telling
#	NAME_down   take it away
#	NAME_is     print its version, what is true of a write that was not flushed, and where one that was
#	            lies, with tabs between

# The array is made anew for each, of the same members: a journal is for life.
bare() {
	# Once that failed right after bcache was gone: it may let go of the array a moment later.
	[[ ! -e $RIG_MD ]] || await 10 mdadm --quiet --stop "$RIG_MD" || rig_error "$RIG_MD cannot be stopped" || return
	dd if=/dev/zero of="$fast" bs=1M count=1 oflag=direct status=none || return
	rig_array 5 $((RIG_CHUNK / 1024)) "${RIG_MD#/dev/}" "$@" || return
	wipefs -qa "$RIG_MD"
	md=/sys/block/${RIG_MD#/dev/}/md
	stripe_cache=256
	caches=''
	dev=$RIG_MD
}

version() {
	dpkg-query -W -f "\${Package} \${Version}" "$1"
}

# target_version TYPE: of a device-mapper target.
target_version() {
	dmsetup targets | awk -v type="$1" '$1 == type { print $1, $2 }'
}

# md as it comes: a write completes when it is on the members.
raw_up() { bare; }
raw_ready() { :; }
raw_drain() { :; }
raw_dirty() { echo 0; }
raw_down() { :; }
raw_is() { printf '%s\tdurable\tmembers, write hole\n' "$(version mdadm)"; }

# md with a large stripe cache: md(4). With threads, too, it was faster at random, and slower in order (design.rst).
tuned_up() {
	bare && stripe_cache=4096
}
tuned_ready() { :; }
tuned_drain() { :; }
tuned_dirty() { echo 0; }
tuned_down() { :; }
tuned_is() { raw_is; }

# md's journal in the mode write-back, with the stripe cache that raid5-cache.rst has. Where the
# journal has no room left for the parity of what is to be written out, md (6.12) hangs.
journal_up() {
	bare --write-journal "$journal" && stripe_cache=2048 && caches=yes && echo write-back >"$md/journal_mode" &&
		[[ $(<"$md/journal_mode") == *'[write-back]'* ]]
}

journal_ready() { :; }

# md has no word for it. But it writes its cache out before it changes the number of threads.
journal_drain() {
	rig_set "$md/group_thread_cnt" 1 && rig_set "$md/group_thread_cnt" 0
}

journal_dirty() { echo null; }
journal_down() { :; }
journal_is() { printf '%s\tdurable\tfast device\n' "$(version mdadm)"; }

# bcache, for which bcache.rst says: a data offset of whole stripes, no bypass for what is
# sequential or when the cache is slow. It needs 1024 buckets at least.
bcache_up() {
	local set
	bare && caches=yes && modprobe bcache || return
	make-bcache --cache "$fast" --bdev "$RIG_MD" --writeback --bucket "$((fast_bytes / 1024))" \
		--data-offset $((RIG_W / 512)) >/dev/null || return
	echo "$fast" >/sys/fs/bcache/register && echo "$RIG_MD" >/sys/fs/bcache/register &&
		await 10 test -e /sys/block/bcache0/bcache/cache || rig_error "bcache: not attached" || return
	bcache=/sys/block/bcache0/bcache
	set=$(realpath "$bcache/cache")
	# The pause between two rounds of writing back would be in each drain.
	echo 0 >"$bcache/sequential_cutoff" && echo 0 >"$set/congested_read_threshold_us" &&
		echo 0 >"$set/congested_write_threshold_us" && rig_set "$bcache/writeback_delay" 0 || return
	[[ $(<"$bcache/cache_mode") == *'[writeback]'* && $(<"$bcache/state") == clean ]] ||
		rig_error "bcache: $(<"$bcache/cache_mode"), $(<"$bcache/state")" || return
	dev=/dev/bcache0
}

# What is clean counts as taken until it is looked for again, and while too much is taken bcache
# lets writes pass. A file system that was just mounted may write in between, and what it wrote
# counts until it is written back and looked for once more.
bcache_ready() {
	local set
	set=$(realpath "$bcache/cache")
	await 60 bcache_has_room "$set" ||
		rig_error "bcache: $(<"$set/cache_available_percent") % available, $(<"$bcache/state"), $(<"$bcache/dirty_data") dirty"
}

bcache_has_room() {
	bcache_drain && echo 1 >"$1/internal/trigger_gc" && sleep 0.5 && (($(<"$1/cache_available_percent") >= 90))
}

# As fast as it can, which writeback_percent 0 is; and at once, for which it must be woken.
bcache_drain() {
	[[ $(<"$bcache/state") != clean ]] || return 0
	rig_set "$bcache/writeback_percent" 0 && echo 1 >"$bcache/writeback_running" && await 300 bcache_clean &&
		rig_set "$bcache/writeback_percent" 10
}

bcache_clean() {
	[[ $(<"$bcache/state") == clean ]]
}

bcache_dirty() {
	# It says 1.2M, and k when there is nothing.
	if bcache_clean; then
		echo 0
	else
		numfmt --from=iec --to-unit=1024 "$(tr -d '\n' <"$bcache/dirty_data" | tr k K)"
	fi
}

bcache_down() {
	local set
	set=$(realpath "$bcache/cache")
	echo 1 >"$bcache/stop" && echo 1 >"$set/stop" && await 30 test ! -e "$set" && await 30 test ! -e /sys/block/bcache0
}

bcache_is() { printf '%s\tvolatile, 0.1 s\tfast device, later members, write hole\n' "$(version bcache-tools)"; }

# dm-writecache on an SSD, with the block size that writecache.rst recommends.
writecache_up() {
	bare && caches=yes && dmsetup create wc --table \
		"0 $(blockdev --getsz "$RIG_MD") writecache s $RIG_MD $fast 4096 0" && dev=/dev/mapper/wc
}

writecache_ready() { :; }

# What was overwritten while it was on its way stays for the next time.
writecache_drain() {
	dmsetup message wc 0 flush && await 300 writecache_clean
}

writecache_clean() {
	[[ $(writecache_dirty) == 0 ]] || ! dmsetup message wc 0 flush
}

writecache_dirty() {
	dmsetup status wc | awk '{ print ($5 - $6) * 4 }'
}

writecache_down() { dmsetup remove --retry wc; }
writecache_is() { printf '%s\tvolatile, 1 s\tfast device, later members, write hole\n' "$(target_version writecache)"; }

target_up() {	# [KEY VALUE]...
	bare && rig_target fs0 "$RIG_MD" high_water_bytes "$fast_bytes" file_high_water_bytes "$fast_bytes" "$@" &&
		dev=/dev/mapper/fs0 && staged=$(rig_sysfs fs0)/stats/staged_bytes
}

target_ready() { :; }

target_drain() {
	[[ $(<"$staged") == 0 ]] || { dmsetup message fs0 0 flush && [[ $(<"$staged") == 0 ]]; }
}

target_dirty() { echo $(($(<"$staged") / 1024)); }
target_down() { rig_target_remove fs0; }
target_is() { printf '%s\tvolatile, 5 s or as long as there is more to write\tmembers, write hole\n' "$(target_version fullstripe)"; }

# The target as durable as md: a write completes when it is on the members.
through_up() { target_up mode writethrough; }
through_ready() { :; }
through_drain() { target_drain; }
through_dirty() { target_dirty; }
through_down() { target_down; }
through_is() { printf '%s\tdurable\tmembers, write hole\n' "$(target_version fullstripe)"; }

# await SECONDS COMMAND...: until COMMAND succeeds.
await() {
	local until=$((SECONDS + $1 + 1))
	shift
	until "$@"; do
		((SECONDS < until)) || return
		sleep 0.01
	done
}

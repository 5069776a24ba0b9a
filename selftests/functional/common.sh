# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the scripts of this folder begin with. To be sourced first.

set -u
HERE=${BASH_SOURCE[0]%/*}
# shellcheck source=../lib/tap.sh
. "$HERE/../lib/tap.sh"
# shellcheck source=../vm/rig.sh
. "$HERE/../vm/rig.sh"
# shellcheck disable=SC2034 # used by who sources this
STRESS=$RIG_TOP/build/selftests/functional/stress

# What earlier scripts of this boot let the kernel say is not this one's.
dmesg -C

# stat NAME: one of the stats of the target fs0.
stat() {
	cat "$(rig_sysfs fs0)/stats/$1"
}

# target_state: what the status of the target fs0 says, "ok" or "failing".
target_state() {
	dmsetup status fs0 | cut -d' ' -f5
}

# is NAME VALUE: whether one of them is that.
is() {
	[[ $(stat "$1") == "$2" ]]
}

# until_true COMMAND...: waits for it to succeed, for 10 s; on a slow machine, which tries less
# often, for 30 s. It is said when that was in vain, as not everybody looks.
until_true() {
	local tries=200 end=$((SECONDS + 30))
	until "$@"; do
		if ! ((--tries && SECONDS < end)); then
			tap_diag "waited in vain: $*" >&2
			return 1
		fi
		sleep 0.05
	done
}

# eventually SECONDS COMMAND...: whether it succeeds within so long. What it prints is dropped.
eventually() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		((SECONDS < end)) || return
		sleep 0.1
	done
}

# is_gone PID: whether that process has ended.
# shellcheck disable=SC2317 # until_true and eventually call it
is_gone() {
	! kill -0 "$1"
}

# lower TABLE: what the device low, under the target, does from now on.
lower() {
	dmsetup suspend --noflush --nolockfs low
	dmsetup load low <<<"$1"
	dmsetup resume low
}

# fsync [SECONDS]: flush fs0, which must not take longer than so long (120 s).
# shellcheck disable=SC2317 # tap_check calls it
fsync() {
	timeout "${1-120}" python3 -c 'import os; os.fsync(os.open("/dev/mapper/fs0", os.O_RDWR))' 2>/dev/null
}

# fio_verify FILE BYTES OPTION...: fio writes, reads that again, and fails if it is anything else.
# shellcheck disable=SC2317 # tap_check calls it
fio_verify() {
	fio --name=v --filename="$1" --size="$2" --ioengine=libaio --verify=crc32c --verify_fatal=1 --serialize_overlap=1 \
		--randrepeat=1 --allrandrepeat=1 --end_fsync=1 "${@:3}"
}

# blocks FIRST LAST [OPTION]...: commands for xfs_io to write 4 KiB at the begin of each of these MiB.
blocks() {
	local i
	for ((i = $1; i <= $2; i++)); do
		echo "pwrite -q ${*:3} ${i}m 4k"
	done
}

# events: how many events of fs0 device-mapper has told. The last one may take a moment.
events() {
	dmsetup info -c --noheadings -o events fs0
}

# shellcheck disable=SC2317 # eventually calls it
is_daemon_stopped() {
	[[ $(ps -C fullstriped -o stat=) == T* ]]
}

# kill_daemon_while COMMAND...: kill fullstriped if COMMAND succeeds. It is stopped for that, as
# what is true of it may be over between the look and the kill.
kill_daemon_while() {
	pkill -STOP -x fullstriped
	eventually 5 is_daemon_stopped
	if "$@"; then
		pkill -KILL -x fullstriped
	else
		pkill -CONT -x fullstriped
		return 1
	fi
}

# start_udev: with the project's rules; what was there before is known as at boot. stop_udev is
# for the trap of who called it.
# shellcheck disable=SC2317 # tap_check calls it
start_udev() {
	make -s -C "$RIG_TOP/udev" install UDEVRULESDIR=/run/udev/rules.d &&
	/lib/systemd/systemd-udevd --daemon && udevadm control --ping --timeout=30 &&
	udevadm trigger --action=add --subsystem-match=block && udevadm settle
}

UDEV_NAMES='systemd-udevd|\(udev-worker\)'

# shellcheck disable=SC2317 # eventually calls it
udev_is_gone() {
	! pgrep -x "$UDEV_NAMES"
}

# shellcheck disable=SC2317 # the trap calls it
stop_udev() {
	udevadm control --exit --timeout=30
	# It answers before it ends, if it does; and what is left would read devices that
	# later tests make, who count what is read.
	if ! eventually 10 udev_is_gone; then
		tap_diag "udev did not end when it was told to: $(pgrep -ax "$UDEV_NAMES" | paste -sd';')"
		pkill -KILL -x "$UDEV_NAMES"
		eventually 10 udev_is_gone
	fi
	export DM_DISABLE_UDEV=1
	rm -rf /run/udev
	leave
}

# said TEXT: whether it is in $SAID, where who is tested writes to.
said() {
	grep -qF -- "$1" "$SAID"
}

# is_above STATISTIC NUMBER: whether it is.
is_above() {
	(($(stat "$1") > $2))
}

# has MODULE NUMBER NAME: or else so many checks are skipped.
has() {
	local i
	! modprobe -q "$1" || return 0
	for ((i = 1; i <= $2; i++)); do
		tap_skip "$3 ($i)" "this kernel has no $1"
	done
	return 1
}

# slow_lower [OPTION]...: a device below, of one member: /dev/mapper/low. It keeps what it is
# sent for as long as /dev/mapper/slow is suspended. Sets lower, the member, and sectors. OPTION
# is for rig_members.
slow_lower() {
	rig_members 1 64 ram "$@" || return
	lower=${RIG_MEMBERS[0]}
	sectors=$(blockdev --getsz "$lower")
	dmsetup create slow --table "0 $sectors linear $lower 0"
	dmsetup create low --table "0 $sectors linear /dev/mapper/slow 0"
	slow_inflight=/sys/block/$(dmsetup info -c --noheadings -o blkdevname low)/inflight
}

# slow_table TABLE [NAME]: what "slow", or NAME, is from now on; goes on if it was suspended.
slow_table() {
	local name=${2-slow}
	dmsetup load "$name" <<<"$1"
	dmsetup suspend --noflush --nolockfs "$name"
	dmsetup resume "$name"
}

# devno NODE: MAJOR MINOR.
devno() {
	lsblk -dno MAJ:MIN "$1" | tr -d ' ' | tr : ' '
}

# bios_begin NODE, bios_end: what the device is sent in between is in the kernel's trace.
bios_begin() {
	local dev
	dev=$(devno "$1")
	echo >"$RIG_TRACING/trace"
	echo "dev == $((${dev% *} << 20 | ${dev#* }))" >"$RIG_TRACING/events/block/block_bio_queue/filter"
	rig_set "$RIG_TRACING/events/block/block_bio_queue/enable" 1
}

bios_end() {
	rig_set "$RIG_TRACING/events/block/block_bio_queue/enable" 0
	echo 0 >"$RIG_TRACING/events/block/block_bio_queue/filter"
}

# bios: operation, first sector and sectors of each of them.
bios() {
	awk '{ for (i = 1; i < NF; i++) if ($i == "block_bio_queue:") print $(i + 2), $(i + 3), $(i + 5) }' \
		"$RIG_TRACING/trace"
}

# under_way: how many requests "low" has been sent and not answered.
under_way() {
	awk '{ print $1 + $2 }' "$slow_inflight"
}

# is_under_way NUMBER: whether so many requests are under way below.
is_under_way() {
	(($(under_way) == $1))
}

# stays COMMAND...: it is true, and for a second: what must not come has the time to.
stays() {
	local i
	for ((i = 0; i < 5; i++)); do
		"$@" || return
		sleep 0.2
	done
}

# The next script of this boot finds the machine as this one did.
leave() {
	rig_teardown
	[[ ! -e /sys/module/dm_fullstripe ]] || rig_unload_module
}
trap leave EXIT

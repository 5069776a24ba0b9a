#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The commands that the documentation shows, page by page and in their order: each succeeds, on
# a machine that is as the pages presuppose it. lib/shown.sh says which are not run, and why.
# once: 6.12 the commands are those of 6.12
. "${BASH_SOURCE[0]%/*}/common.sh"
# shellcheck source=../lib/shown.sh
. "$HERE/../lib/shown.sh"

WORK=/run/docs
export PATH=$RIG_TOP/build/daemon:$PATH

# as_run COMMAND: sets command to what is run. A recorded second says as much as half a minute
# of it; the program is where it was built; and a device that would be right from the beginning
# would leave nothing to set.
as_run() {
	local flag
	command=$1
	for flag in --seconds --interval; do
		[[ $command =~ ^(.*\ $flag)\ [0-9]+(.*)$ ]] && command="${BASH_REMATCH[1]} 1${BASH_REMATCH[2]}"
	done
	[[ $command =~ ^(blktrace\ .*\ -w)\ [0-9]+(.*)$ ]] && command="${BASH_REMATCH[1]} 1${BASH_REMATCH[2]}"
	command=${command#/lib/systemd/system-generators/}
	[[ ! $command =~ ^'fullstripectl create '[a-z]+' /dev/md0'$ ]] || command+=' --set cluster_bytes=1792KiB'
}

# Until Ctrl-C, and with success.
is_endless() {
	[[ $1 == 'fullstripectl top' || $1 == 'fullstripectl monitor' || $1 == 'fullstripectl files --watch '* ]]
}

# Those whose result depends on what goes on meanwhile.
is_of_workload() {
	[[ $1 == *' --seconds '* || $1 == 'blktrace '*' -w '* ]]
}

# Those that change nothing: what one page shows need not be run for another.
is_reading() {
	[[ $1 =~ ^(fullstripectl (list|top|files|streams|monitor|explain)|dmsetup status|lsblk|findmnt|cat)' ' ||
		$1 == 'fullstripectl top' ]]
}

# in_use NAME: the device, and a file system on it in use.
in_use() {
	fullstripectl create "$1" /dev/md0 --set cluster_bytes=1792KiB && mount "/dev/mapper/$1" /srv
}

# A trace that whoever began it did not end.
leave_trace() {
	blktrace -d /dev/mapper/data -D "$WORK/left" >/dev/null 2>&1 &
	until_true test -e "/sys/kernel/debug/block/$(dmsetup info -c --noheadings -o blkdevname data)/trace0"
	kill -KILL $! && wait $!
	return 0
}

# given PAGE NEXT: makes what the page presupposes before this command of it; NEXT is empty
# before the first one.
given() {
	case ${1##*/}:$2 in
	README.md:)
		mount /dev/md0 /srv ;;
	troubleshooting.rst:)
		in_use data ;;
	installation.rst:)
		in_use fast ;;
	fullstriped.8.rst:|dm-fullstripe.rst:)
		fullstripectl create data /dev/md0 ;;
	dm-fullstripe.rst:'dmsetup create '*)
		clean ;;
	dm-fullstripe.rst:'dmsetup load '*)
		clean && in_use data ;;
	troubleshooting.rst:'blktrace '*' -k')
		leave_trace ;;
	troubleshooting.rst:'mount -t debugfs '*)
		umount -l /sys/kernel/debug ;;
	esac
}

# Reads and writes, all of which get to the array at once. To be started with &, and ended by
# SIGTERM: it leaves nobody who has /srv in use.
workload() {
	trap 'kill $(jobs -p); wait; exit' TERM
	while :; do
		dd if=/dev/zero of=/srv/file bs=16k count=500 oflag=direct,dsync conv=notrunc status=none &
		dd if=/dev/md0 of=/dev/null bs=64k count=1000 iflag=direct status=none &
		wait
	done
}

# run COMMAND: as a reader would type it. What it says is in $WORK.log.
run() {
	local command load='' status=0
	as_run "$1"
	if is_of_workload "$1"; then
		rm -f /srv/file
		workload 2>/dev/null &
		load=$!
		until_true test -s /srv/file
	fi
	if is_endless "$1"; then
		(cd "$WORK" && eval "exec timeout 2 $command") >"$WORK.log" 2>&1 || status=$?
		((status != 124)) || status=0
	else
		(cd "$WORK" && eval "$command") >"$WORK.log" 2>&1 || status=$?
	fi
	if [[ $load ]]; then
		kill "$load"
		wait "$load" 2>/dev/null
	fi
	return "$status"
}

# result NAME STATUS: of a command.
result() {
	if (($2)); then
		tap_not_ok "$1" "it ended with $2"$'\n'"$(tail -n 20 "$WORK.log")"
	else
		tap_ok "$1"
	fi
}

# The machine as the next page finds it: the array, and nothing on it.
clean() {
	! mountpoint -q /srv || umount /srv || return
	[[ ! -e /dev/mapper/data ]] || rig_target_remove data || return
	[[ ! -e /dev/mapper/fast ]] || rig_target_remove fast
}

rig_load_module
rig_preset R8 ram 16
mkfs.ext4 -q -O ^has_journal -E nodiscard "$RIG_MD"
mkdir -p /srv "$WORK"

mapfile -t pages < <(shown_pages)
commands=() of=() exempted=()
for page in "${pages[@]}"; do
	while read -r command; do
		if shown_exemption "$command"; then
			exempted+=("$exemption")
		elif ! shown_without_device "$command"; then
			commands+=("$command")
			of+=("$page")
		fi
	done < <(shown "$page")
done

tap_plan $((${#commands[@]} + 2))
((${#commands[@]} > 50))
tap_is $? 0 "commands are found"
unused=$(comm -23 <(printf '%s\n' "${shown_exempt[@]%%|*}" | sort) <(printf '%s\n' "${exempted[@]}" | sort -u))
tap_is "$unused" '' "each exemption is of a command that is shown"
declare -A seen=()
page=''
for i in "${!commands[@]}"; do
	if [[ ${of[i]} != "$page" ]]; then
		page=${of[i]}
		clean && given "$page" '' || tap_diag "$page: what it presupposes could not be made"
	fi
	command=${commands[i]}
	given "$page" "$command" || tap_diag "$page: what '$command' presupposes could not be made"
	status=${seen[$command]-}
	if [[ ! $status ]] || ! is_reading "$command"; then
		status=0
		run "$command" || status=$?
		seen[$command]=$status
	fi
	result "$page: $command" "$status"
done
clean
tap_diag "$SECONDS s in all"
tap_done

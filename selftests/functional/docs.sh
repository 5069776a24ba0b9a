#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The commands that the documentation shows, page by page and in their order: each succeeds, on
# a machine that is as the pages presuppose it. lib/shown.sh says which are not run, and why.
. "${BASH_SOURCE[0]%/*}/common.sh"
# shellcheck source=../lib/shown.sh
. "$HERE/../lib/shown.sh"

WORK=/run/docs
export PATH=$RIG_TOP/build/daemon:$PATH

# A recorded second says as much as half a minute of it; the program is where it was built;
# and a device that would be right from the beginning would leave nothing to set.
as_run() {
	sed -E 's/--(seconds|interval) [0-9]+/--\1 1/; s/^(blktrace .*-w) [0-9]+/\1 1/
		s,^/lib/systemd/system-generators/,,
		s,^(fullstripectl create [a-z]+ /dev/md0)$,\1 --set cluster_bytes=1792KiB,' <<<"$1"
}

# Until Ctrl-C, and with success.
is_endless() {
	[[ $1 == 'fullstripectl top' || $1 == 'fullstripectl monitor' || $1 == 'fullstripectl files --watch '* ]]
}

# Those whose result depends on what goes on meanwhile.
is_of_workload() {
	[[ $1 == *' --seconds '* || $1 == 'blktrace '*' -w '* ]]
}

# in_use NAME: the device, and a file system on it in use.
in_use() {
	fullstripectl create "$1" /dev/md0 --set cluster_bytes=1792KiB && mount "/dev/mapper/$1" /srv
}

# A trace that whoever began it did not end.
leave_trace() {
	blktrace -d /dev/mapper/data -D "$WORK/left" >/dev/null 2>&1 &
	until_true test -e "/sys/kernel/debug/block/$(basename "$(realpath /dev/mapper/data)")/trace0"
	kill -KILL $! && wait $!
	return 0
}

# given PAGE NEXT: makes what the page presupposes before this command of it; NEXT is empty
# before the first one.
given() {
	case ${1##*/}:$2 in
	troubleshooting.rst:|fullstriped.8.rst:)
		in_use data ;;
	installation.rst:)
		in_use fast ;;
	dm-fullstripe.rst:'dmsetup message'*set*)
		in_use data ;;
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

# Reads and writes, all of which get to the array.
workload() {
	while :; do
		dd if=/dev/zero of=/srv/file bs=64k count=64 oflag=direct conv=notrunc,fsync status=none
		dd if=/dev/md0 of=/dev/null bs=64k count=64 iflag=direct status=none
	done
}

# run COMMAND: as a reader would type it.
# shellcheck disable=SC2317 # tap_check calls it
run() {
	local command load='' status=0
	command=$(as_run "$1")
	if is_of_workload "$1"; then
		workload 2>/dev/null &
		load=$!
	fi
	if is_endless "$1"; then
		(cd "$WORK" && timeout 2 bash -c "exec $command") || status=$?
		((status != 124)) || status=0
	else
		(cd "$WORK" && bash -c "$command") || status=$?
	fi
	if [[ $load ]]; then
		kill "$load"
		wait "$load" 2>/dev/null
	fi
	return "$status"
}

# The machine as the next page finds it: the array, and nothing on it.
# shellcheck disable=SC2317 # given calls it
clean() {
	! mountpoint -q /srv || umount /srv || return
	[[ ! -e /dev/mapper/data ]] || rig_target_remove data || return
	[[ ! -e /dev/mapper/fast ]] || rig_target_remove fast
}

rig_load_module
rig_preset R8 ram
mkfs.ext4 -q -E nodiscard "$RIG_MD"
mkdir -p /srv "$WORK"

mapfile -t pages < <(shown_pages)
commands=() of=() exempted=()
for page in "${pages[@]}"; do
	while read -r command; do
		if pattern=$(shown_exemption "$command"); then
			exempted+=("$pattern")
		elif ! shown_of_tree "$command"; then
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
page=''
for i in "${!commands[@]}"; do
	if [[ ${of[i]} != "$page" ]]; then
		page=${of[i]}
		t0=$EPOCHREALTIME
		clean && given "$page" '' || tap_diag "$page: what it presupposes could not be made"
	fi
	given "$page" "${commands[i]}" || tap_diag "$page: what '${commands[i]}' presupposes could not be made"
	t0=$EPOCHREALTIME
	tap_check "$page: ${commands[i]}" run "${commands[i]}"
	tap_diag "$(bc <<<"$EPOCHREALTIME - $t0")"
done
clean
tap_diag "$SECONDS s in all"
tap_done

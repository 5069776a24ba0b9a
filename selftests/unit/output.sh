#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# fullstripectl, where standard output cannot be written.
# shellcheck source-path=SCRIPTDIR

here=$(realpath "${BASH_SOURCE[0]%/*}")
top=$(realpath "$here/../..")
. "$here/../lib/tap.sh"

ctl=$top/build/daemon/fullstripectl
[[ -x $ctl ]] || tap_skip_all "fullstripectl is not built"
rule=(rule --level 5 --members 8 --chunk 128KiB --bandwidth 100MiB/s)
simulate=(simulate --json --chunk 64K --data-members 4 --hold "$(seq -s, 1000 1000 20000)" "$here"/traces/linux-6.12-v1/md0.*)
export LC_ALL=C

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# full NAME ARGUMENT...: fullstripectl fails on a full disk, and says so, once.
full() {
	local name=$1 status
	shift
	"$ctl" "$@" >/dev/full 2>"$dir/err"
	status=$?
	tap_is "$status $(<"$dir/err")" "1 fullstripectl: standard output could not be written, and what was printed is not complete: No space left on device" "$name"
}

tap_plan 10
full "on a full disk a verb fails" "${rule[@]}"
full "and its JSON" "${rule[@]}" --json
[[ $("$ctl" "${simulate[@]}" | wc -c) -gt 4096 ]]
tap_is $? 0 "there is more than is kept until the end"
full "that fails, too" "${simulate[@]}"
full "and the help" --help
full "of a verb" rule --help
full "and the version" --version

# A pipe that nobody reads any more.
exec 3> >(:)
wait $!
"$ctl" "${rule[@]}" >&3 2>"$dir/err"
tap_is "$? $(<"$dir/err")" "141 " "who closed a pipe ends it without a word"
(trap '' PIPE; "$ctl" "${rule[@]}" >&3 2>"$dir/err")
tap_is "$? $(<"$dir/err")" "0 " "also where that is no signal"
"$ctl" create --help >&- 2>"$dir/err"
"$ctl" nosuch >&- 2>>"$dir/err"
tap_is "$? $(grep -c 'Bad file descriptor' "$dir/err")" "2 1" "without standard output only what prints to it fails"
tap_done

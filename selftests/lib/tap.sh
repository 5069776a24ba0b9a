# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Results as kselftest prints them (TAP 13). To be sourced:
#
#	tap_plan 2
#	tap_is "$got" "$want" "a thing has its value"
#	tap_check "a command succeeds" command with arguments
#	tap_done

tap_planned=0
tap_run=0
tap_failed=0

# tap_plan COUNT: how many results will follow.
tap_plan() {
	tap_planned=$1
	printf 'TAP version 13\n1..%d\n' "$1"
}

# tap_diag TEXT: a remark that is no result; TEXT may have several lines.
tap_diag() {
	printf '%s\n' "# ${1//$'\n'/$'\n# '}"
}

# tap_ok NAME
tap_ok() {
	echo "ok $((++tap_run)) $1"
}

# tap_not_ok NAME [TEXT]: TEXT says what was found instead. With TAP_FIRST_FAILURE in the environment
# the script ends here: who only asks whether it fails need not wait for all the rest to do so.
tap_not_ok() {
	echo "not ok $((++tap_run)) $1"
	((++tap_failed))
	[[ -z ${2-} ]] || tap_diag "$2"
	[[ -z ${TAP_FIRST_FAILURE-} ]] || exit 1
}

# tap_skip NAME WHY
tap_skip() {
	echo "ok $((++tap_run)) $1 # SKIP $2"
}

# tap_skip_all WHY: ends a script that cannot do anything here.
tap_skip_all() {
	printf 'TAP version 13\n1..0 # SKIP %s\n' "$1"
	exit 0
}

# tap_is GOT WANT NAME
tap_is() {
	if [[ $1 == "$2" ]]; then
		tap_ok "$3"
	else
		tap_not_ok "$3" "got '$1', want '$2'"
	fi
}

# tap_check NAME COMMAND...: ok when it succeeds; else its output is shown. It
# runs in this shell, so it may set variables.
tap_check() {
	local name=$1 log status=0
	shift
	log=$(mktemp)
	"$@" >"$log" 2>&1 || status=$?
	if ((status)); then
		tap_not_ok "$name" "'$*' ended with status $status$(printf '\n%s' "$(tail -n 20 "$log")")"
	else
		tap_ok "$name"
	fi
	rm -f "$log"
}

# tap_done: ends the script; its status is 0 only if all of the plan was ok.
tap_done() {
	((tap_run == tap_planned)) ||
		tap_diag "planned $tap_planned results, but there were $tap_run"
	((!tap_failed && tap_run == tap_planned))
	exit
}

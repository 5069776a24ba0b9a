# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # who sources it sets some of these, and uses the others
#
# What the programs share that measure in test machines and write a report of it. To be sourced by
# them; they have a function usage, and say in $options which options they know, each with a value.

here=$(realpath "${BASH_SOURCE[0]%/*}")
top=${here%/*/*}
kernels=() rows=() runs=3 module='' more='' machine=()

usage_error() {
	echo "bench: $*, see --help" >&2
	exit 2
}

# own_option NAME VALUE: one that is not common. To be replaced by who has some.
own_option() {
	:
}

# all_among WHAT ALLOWED NAME...: nothing but what is in the list ALLOWED, with blanks between.
all_among() {
	local name
	for name in "${@:3}"; do
		[[ $name != *' '* && " $2 " == *" $name "* ]] || usage_error "$1 '$name' is not one of ${2// /, }"
	done
}

# parse_options OPTION...: of the command line; kernels, rows, runs, module and more are those that are common.
parse_options() {
	while (($#)); do
		if [[ $1 == --help || $1 == -h ]]; then
			usage
			exit 0
		fi
		[[ " $options " == *" $1 "* ]] || usage_error "'$1' is no option"
		if [[ $1 == --more ]]; then
			more=yes
			shift
			continue
		fi
		(($# > 1)) || usage_error "$1 needs a value"
		case $1 in
		--kernel)	kernels+=("$2") ;;
		--only)		IFS=, read -ra rows <<<"$2" ;;
		--runs)		[[ $2 =~ ^[1-9][0-9]?$ ]] || usage_error "--runs '$2' is not from 1 to 99"
				runs=$2 ;;
		--module)	module=$(realpath "$2") ;;
		*)		own_option "$1" "$2" ;;
		esac
		shift 2
	done
}

# begin_report NAME: nothing is left of an older one of $kernel; with --more, what it measured is.
begin_report() {
	base=$top/build/bench/$1
	mkdir -p "$top/build/bench"
	[[ $more ]] || rm -f "$base.runs"
	rm -f "$base.json"
	touch "$base.runs"
}

# measure WHAT COMMAND...: in a machine with $kernel, which adds what it finds to $base.runs: nothing
# where it fails, as half a run has no other half to be compared with.
measure() {
	local before
	before=$(stat -c %s "$base.runs")
	"$here/../vm/run" "${machine[@]}" --kernel "$kernel" --timeout $((1800 * runs)) --log "$base.log" -- \
		env MODULE="$module" "${@:2}" && return
	truncate -s "$before" "$base.runs"
	echo "bench: $1 could not be measured; the log is in $base.log" >&2
	return 1
}

# measure_runs COMMAND: RUNS times COMMAND, which measures what it is for as $run, in addition to what was measured
# already. One that fails is the last, and makes $status 1. Return: whether there is anything to report of.
measure_runs() {
	local first
	first=$(jq -s 'map(.run // 0) | (max // 0) + 1' "$base.runs")
	for ((run = first; run < first + runs; run++)); do
		"$1" || {
			status=1
			break
		}
	done
	[[ -s $base.runs ]]
}

# its_commit: the last one that changed the module which is measured, with a + where that was changed
# since; nothing where it is not known.
its_commit() {
	[[ ! $module ]] || return 0
	git -C "$top" log -1 --format=%h -- kmod 2>/dev/null | tr -d '\n'
	git -C "$top" diff --quiet HEAD -- kmod 2>/dev/null || echo +
}

# write_report SCRIPT [OPTION...]: $base.json of $base.runs, by a script of jq.
write_report() {
	jq -L "$here" -s --arg kernel "${kernel##*/}" --arg date "$(date -u +%F)" "${@:2}" -f "$here/$1" "$base.runs" |
		jq --arg commit "$(its_commit)" '. + {commit: $commit}' >"$base.json"
	echo
}

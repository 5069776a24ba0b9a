#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# timeout: 900
# long timeout: 10800
#
# Power cuts under a raw workload: recorded in the test machine, judged here at
# every point of the log.
set -uo pipefail
: "${LONG=}"

usage() {
	cat <<-USAGE
	Usage: raw.sh [OPTION]... [SCENARIO]...

	Records each SCENARIO in the test machine ('record --help' lists them), then checks
	on this machine what a power cut leaves at each point. Needs the module, built.

	  --kernel 6.1|6.12  kernel of the test machine (default 6.12; CRASH_KERNEL says the same)
	  --long             more operations, and three seeds (LONG says the same)
	  --seed N           the first seed (default 1; CRASH_SEED says the same)
	  --operations N     how many a scenario (default 700, long 4000)
	  --module DIR       take dm-fullstripe.ko from there, a folder under build/
	  --keep             keep the logs when all is well
	USAGE
}

here=$(realpath "${BASH_SOURCE[0]%/*}")
top=${here%/*/*}
bin=$top/build/selftests/crash
# shellcheck source-path=SCRIPTDIR
. "$here/../lib/tap.sh"

die() {
	echo "raw.sh: $*" >&2
	exit 2
}

kernel=${CRASH_KERNEL-6.12} seed=${CRASH_SEED-1} runs=$((${#LONG} ? 3 : 1)) operations='' module='' keep=''
scenarios=()
while (($#)); do
	case $1 in
	--kernel|--seed|--operations|--module)
		(($# > 1)) || die "$1 needs a value, see --help" ;;&
	--kernel)	kernel=$2; shift ;;
	--seed)		seed=$2; shift ;;
	--operations)	operations=$2; shift ;;
	--module)	module=$2; shift ;;
	--long)		runs=3 ;;
	--keep)		keep=1 ;;
	--help|-h)	usage; exit 0 ;;
	-*)		die "'$1' is no option, see --help" ;;
	*)		scenarios+=("$1") ;;
	esac
	shift
done
[[ $seed =~ ^[0-9]+$ ]] || die "the seed '$seed' is no number"
: "${operations:=$((runs > 1 ? 4000 : 700))}"
((${#scenarios[@]})) || scenarios=(small held tight wide straight through change discard faults members dropped members-dropped)

# judge SCENARIO: check's verdict on it; what it said is in VERDICT.
judge() {
	local args status=0
	read -ra args <"$out/$1.args"
	VERDICT=$("$bin/check" "${args[@]}" --device "$out/$1.device" --anew 1000 "$out/$1.log" "$out/$1.journal" 2>&1) || status=$?
	tap_diag "$1: $VERDICT"
	return "$status"
}

# shellcheck disable=SC2317 # tap_check calls it
record() {
	local command=("$here/record" "$out" "$seed" "$operations" "${scenarios[@]}")
	[[ ! $module ]] || command=("$here/with-module" "$module" "${command[@]}")
	timeout -k 10 "$limit" "$here/../vm/run" --kernel "$kernel" --memory 3072 --timeout "$limit" \
		--log "$out/vm" -- "${command[@]}" 2>&1 | tee "$out/said"
}

make -s -C "$here" || die "the programs cannot be built, see above"
limit=$(((120 + ${#scenarios[@]} * (30 + operations / 8)) * ${TIME_SCALE:-1}))

tap_plan $((runs * (1 + ${#scenarios[@]})))
for ((run = 0; run < runs; run++, seed++)); do
	out=$bin/raw.$kernel.$seed.$$
	mkdir -p "$out"
	tap_diag "seed $seed, $operations operations a scenario"
	tap_check "kernel $kernel, seed $seed: a run is recorded" record
	lost=$tap_failed
	why=$(grep -E '^(record|rig|vm/run): |BUG|Oops|RIP:|panic' "$out/said")
	for scenario in "${scenarios[@]}"; do
		if [[ ! -s $out/$scenario.log ]]; then
			tap_not_ok "$scenario: there is a log to judge" "it was not recorded: $(head -n 8 <<<"$why")"
			continue
		fi
		judge "$scenario"
		case $scenario,$? in
		*dropped,1)
			[[ $VERDICT =~ ': '[1-9][0-9]*' LOSE DATA' ]]
			tap_is $? 0 "$scenario: the loss of dropped flushes is found" ;;
		*dropped,0)	tap_not_ok "$scenario: the loss of dropped flushes is found" "it was not: no result of this run means anything" ;;
		*,0)		tap_ok "$scenario: nothing is lost at any point" ;;
		*)		tap_not_ok "$scenario: nothing is lost at any point" "logs and journals are kept in $out" ;;
		esac
	done
	((keep || tap_failed > lost)) || rm -rf "$out"
done
tap_done

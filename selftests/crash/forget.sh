#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# timeout: 600
# long timeout: 7200
#
# Power cuts of all members at one instant, which then have lost what was not flushed.
set -uo pipefail

usage() {
	cat <<-USAGE
	Usage: forget.sh [OPTION]... [CASE]...

	Cuts the power of an array's members in the test machine, under load, assembles it
	anew and judges what is left; CASE is one of all, subset, torn, ext4, xfs, ext4-through,
	ext4-dropped, dropped and swallowed (default: these), fua, through, eight, xfs-through,
	xfs-dropped, ext4-swallowed and xfs-swallowed (with --long these, too); 'freeze' says
	what they are. Needs the modules, built.

	  --kernel 6.1|6.12|debug
	                     kernel of the test machine (default 6.12; CRASH_KERNEL says the same)
	  --long             many more power cuts (LONG says the same)
	  --rounds N         at least how many power cuts a case (default 3, long 40)
	  --seed N           the seed (default 1; CRASH_SEED says the same)
	  --module DIR       take dm-fullstripe.ko from there, a folder under build/
	  --keep             keep journals and verdicts when all is well
	USAGE
}

here=$(realpath "${BASH_SOURCE[0]%/*}")
top=${here%/*/*}
# shellcheck source-path=SCRIPTDIR
. "$here/../lib/tap.sh"
# shellcheck source=kernel.sh
. "$here/kernel.sh"

die() {
	echo "forget.sh: $*" >&2
	exit 2
}

kernel=${CRASH_KERNEL-6.12} seed=${CRASH_SEED-1} long=${LONG-} rounds='' module='' keep=''
cases=()
while (($#)); do
	case $1 in
	--kernel|--seed|--rounds|--module)
		(($# > 1)) || die "$1 needs a value, see --help" ;;&
	--kernel)	kernel=$2; shift ;;
	--seed)		seed=$2; shift ;;
	--rounds)	rounds=$2; shift ;;
	--module)	module=$2; shift ;;
	--long)		long=1 ;;
	--keep)		keep=1 ;;
	--help|-h)	usage; exit 0 ;;
	-*)		die "'$1' is no option, see --help" ;;
	*)		cases+=("$1") ;;
	esac
	shift
done
: "${rounds:=$((${#long} ? 40 : 3))}"
[[ $seed =~ ^[0-9]+$ && $rounds =~ ^[1-9][0-9]*$ ]] || die "a seed and a number of rounds are numbers"
((${#cases[@]})) || cases=(all subset torn ext4 xfs ext4-through ${long:+fua through eight xfs-through xfs-dropped ext4-swallowed xfs-swallowed} ext4-dropped dropped swallowed)
find_kernel "$kernel"

log=$({ make -s -C "$here" && make -s -C "$here/../modules" KVER="$kver"; } 2>&1) ||
	die "the programs or modules cannot be built: $log"
arguments=()
for case in "${cases[@]}"; do
	case $case in
	all|subset|torn|fua|through|eight|ext4|xfs|ext4-through|xfs-through|dropped|ext4-dropped|xfs-dropped)
		arguments+=("$case") ;;
	swallowed|*-swallowed)
		dir=$("$here/mutant" flush-not-sent "$kver") || die "the negative control cannot be built"
		arguments+=("$case=$dir") ;;
	*)	die "there is no case '$case', see --help" ;;
	esac
done

# shellcheck disable=SC2317 # tap_check calls it
run() {
	local command=("$here/freeze" "$out" "$seed" "$rounds" 300 "${arguments[@]}")
	[[ ! $module ]] || command=("$here/with-module" "$module" "${command[@]}")
	timeout -k 10 "$limit" "$top/selftests/vm/run" --kernel "$kernel" --memory 1536 \
		--timeout "$limit" --log "$out/vm" -- "${command[@]}"
}

limit=$(((60 + ${#cases[@]} * rounds * 30) * ${TIME_SCALE:-1}))
out=$top/build/selftests/crash/forget.$kernel.$seed.$$
mkdir -p "$out"

tap_plan $((1 + ${#cases[@]}))
tap_diag "seed $seed, at least $rounds power cuts a case"
tap_check "kernel $kernel: the power is cut and comes back" run
for case in "${cases[@]}"; do
	verdict=$(tail -n 12 "$out/$case.verdict" 2>&1)
	tap_diag "$case: ${verdict##*$'\n'}"
	case $case,${verdict##*$'\n'} in
	*dropped,LOST*)
		tap_ok "$case: the loss of dropped flushes is found" ;;
	*swallowed,LOST*)
		tap_ok "$case: a target that does not pass flushes on is found" ;;
	*dropped,*|*swallowed,*)
		tap_not_ok "$case: the loss is found" "it was not: no result of this run means anything"$'\n'"$verdict" ;;
	*': nothing lost')
		# Disks that forgot nothing would not show what a flush is for.
		if grep -q ', [1-9][0-9]* forgotten' "$out/$case.verdict"; then
			tap_ok "$case: nothing that was flushed is lost"
		else
			tap_not_ok "$case: nothing that was flushed is lost" "but nothing else either"
		fi ;;
	*)	tap_not_ok "$case: nothing that was flushed is lost" "$verdict"$'\n'"all is kept in $out" ;;
	esac
done
((keep || tap_failed)) || rm -rf "$out"
tap_done

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# timeout: 900
# long timeout: 10800
#
# Power cuts under file systems: recorded in the test machine, and judged here for
# ext4, there for xfs. At each point the file system must be clean after its own
# recovery, and hold what was synced.
set -uo pipefail

usage() {
	cat <<-USAGE
	Usage: files.sh [OPTION]...

	  --kernel 6.1|6.12  kernel of the test machine (default 6.12; CRASH_KERNEL says the same)
	  --long             more files, every flush, FUA write and mark as a point of ext4, and
	                     1000 others, 200 points of xfs and its negative control (LONG says
	                     the same)
	  --seed N           the seed (default 1; CRASH_SEED says the same)
	  --points N         how many points of ext4 (default 60)
	  --keep             keep the logs when all is well
	USAGE
}

here=$(realpath "${BASH_SOURCE[0]%/*}")
top=${here%/*/*}
bin=$top/build/selftests/crash
# shellcheck source-path=SCRIPTDIR
. "$here/../lib/tap.sh"
. "$here/points.sh"

die() {
	echo "files.sh: $*" >&2
	exit 2
}

kernel=${CRASH_KERNEL-6.12} seed=${CRASH_SEED-1} max=60 operations=400 keep='' long=${LONG-}
while (($#)); do
	case $1 in
	--kernel|--seed|--points)
		(($# > 1)) || die "$1 needs a value, see --help" ;;&
	--kernel)	kernel=$2; shift ;;
	--seed)		seed=$2; shift ;;
	--points)	max=$2; shift ;;
	--long)		long=yes ;;
	--keep)		keep=1 ;;
	--help|-h)	usage; exit 0 ;;
	*)		die "'$1' is no option, see --help" ;;
	esac
	shift
done
xfs=(xfs) xfs_points=8
if [[ $long ]]; then
	max=1000000 operations=2000 xfs_points=200
	# It shows that the programs can find a loss, as that of ext4 does each time.
	xfs+=(xfs-dropped)
fi
[[ $seed =~ ^[0-9]+$ && $max =~ ^[1-9][0-9]*$ ]] || die "a seed and a number of points are numbers"

# shellcheck disable=SC2317 # tap_check calls it
record() {
	timeout -k 10 "$limit" "$top/selftests/vm/run" --kernel "$kernel" --memory 3072 --timeout "$limit" \
		--log "$out/vm" -- env XFS_POINTS="$xfs_points" "$here/record" "$out" "$seed" "$operations" \
		ext4 ext4-dropped "${xfs[@]}"
}

# judge_point POINT: what a power cut after so many entries leaves of ext4. Status 2: it cannot be told.
judge_point() {
	local log
	# Plain copies: recovery must not write to what the next point goes on from.
	cp --sparse=always "$base" "$disk" || return 2
	log=$(e2fsck -y -E journal_only "$disk" 2>&1) || { echo "recovery fails: $log"; return 1; }
	log=$(e2fsck -fn "$disk" 2>&1) || { echo "it is not clean: $log"; return 1; }
	rm -rf "$tree"
	mkdir "$tree"
	debugfs -R "rdump / $tree" "$disk" >/dev/null 2>&1
	"$bin/files" check "$tree" "$seed" $((operations / 20)) "$journal" "$log_file" "$1"
}

# judge_ext4 SCENARIO: all points, or --points of them. Status 0: good; 1: something
# is lost; 2: there is nothing to judge.
judge_ext4() {
	local points point from=0 bad=0 log
	journal=$out/$1.journal log_file=$out/$1.log
	mapfile -t points < <(choose_points "$log_file" "$max")
	((${#points[@]} > 1)) || return 2
	[[ ! $long ]] || mapfile -t points < <({
		printf '%s\n' "${points[@]}"
		shuf -n 1000 -i "${points[0]}-${points[-1]}" --random-source=<(yes "$seed")
	} | sort -nu)
	rm -f "$base"
	truncate -s 384M "$base"
	for point in "${points[@]}"; do
		"$bin/replay" write "$log_file" "$from" "$point" "$base" || return 2
		from=$point
		log=$(judge_point "$point") && continue
		(($? != 2)) || return 2
		((bad++)) || tap_diag "$1: crash after entry $point: $(head -n 3 <<<"$log")"
	done
	tap_diag "$1: ${#points[@]} crash points, $bad with a loss or an unclean file system"
	((!bad))
}

make -s -C "$here" || die "the programs cannot be built, see above"
limit=$(((300 + operations / 2 + 8 * xfs_points) * ${TIME_SCALE:-1}))
out=$bin/files.$kernel.$seed.$$
work=$(mktemp -d "${TMPDIR:-/tmp}/crash.XXXXXX")
base=$work/base disk=$work/disk tree=$work/tree
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

tap_plan $((3 + ${#xfs[@]}))
tap_diag "seed $seed"
tap_check "kernel $kernel: a run is recorded" record
if judge_ext4 ext4; then
	tap_ok "ext4: clean, and nothing lost"
else
	tap_not_ok "ext4: clean, and nothing lost" "the log is kept in $out"
fi
judge_ext4 ext4-dropped
tap_is $? 1 "ext4-dropped: the loss of dropped flushes is found"
verdict=$(tail -n 20 "$out/xfs.verdict" 2>&1)
tap_diag "xfs: ${verdict##*$'\n'}"
if [[ $verdict == *": nothing lost" ]]; then
	tap_ok "xfs: clean, and nothing lost"
else
	tap_not_ok "xfs: clean, and nothing lost" "$verdict"
fi
if [[ $long ]]; then
	[[ $(tail -n 1 "$out/xfs-dropped.verdict") == *": SOME ARE LOST" ]]
	tap_is $? 0 "xfs-dropped: the loss of dropped flushes is found"
fi
((keep || tap_failed)) || rm -rf "$out"
tap_done

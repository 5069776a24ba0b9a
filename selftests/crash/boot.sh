# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # what is set here is used by who sources it
#
# What the tests have in common that end a test machine badly, and boot another one
# on its disks (four, or so many as 'disks' says). To be sourced, with the arguments of the
# script; they may be:

boot_usage() {
	cat <<-USAGE
	  --kernel 6.1|6.12|debug
	                     kernel of the test machine (default 6.12; CRASH_KERNEL says the same)
	  --long             many more times (LONG says the same)
	  --times N          how often
	  --seed N           the seed (default 1; CRASH_SEED says the same)
	  --module DIR       take dm-fullstripe.ko from there, a folder under build/; then
	                     there is no negative control
	  --keep             keep disks, journals and verdicts when all is well
	USAGE
}

here=$(realpath "${BASH_SOURCE[0]%/*}")
top=${here%/*/*}
name=${0##*/}
# shellcheck source=../lib/tap.sh
. "$here/../lib/tap.sh"
# shellcheck source=kernel.sh
. "$here/kernel.sh"

die() {
	echo "$name: $*" >&2
	exit 2
}

kernel=${CRASH_KERNEL-6.12} seed=${CRASH_SEED-1} long=${LONG-} times='' module='' keep=''
while (($#)); do
	case $1 in
	--kernel|--seed|--times|--module)
		(($# > 1)) || die "$1 needs a value, see --help" ;;&
	--kernel)	kernel=$2; shift ;;
	--seed)		seed=$2; shift ;;
	--times)	times=$2; shift ;;
	--module)	module=$2; shift ;;
	--long)		long=1 ;;
	--keep)		keep=1 ;;
	--help|-h)	usage; exit 0 ;;
	*)		die "'$1' is no option, see --help" ;;
	esac
	shift
done
[[ $seed =~ ^[0-9]+$ && ${times:-1} =~ ^[1-9][0-9]*$ ]] || die "a seed and a number of times are numbers"
find_kernel "$kernel"
make -s -C "$here" >&2 || die "the programs cannot be built, see above"

out=$top/build/selftests/crash/${name%.sh}.$kernel.$seed.$$
mkdir -p "$out"
drives=()
for ((i = 0; i < ${disks-4}; i++)); do
	truncate -s 24M "$out/disk$i"
	drives+=(--drive "$out/disk$i")
done

boot_clean() {
	rm -f "$out"/{verdict,staged,pid,failed}
	mkdir -p "$out/vm"
}

# boot MODULE BEGIN END: a machine that does that, with the module from that folder
# ('': the one that was built). What it says is in OUT/vm/output. A machine that is killed, or
# reboots, leaves no log of its kernel: so warnings are on the console, too.
boot() {
	local command=("$here/session" "$out" "$seed" "$2" "$3") limit=$((${limit-180} * ${TIME_SCALE:-1})) status=0
	[[ ! $1 ]] || command=("$here/with-module" "$1" "${command[@]}")
	boot_clean
	timeout -k 10 $((limit + 20)) "$top/selftests/vm/run" --kernel "$kernel" --memory 1024 --timeout "$limit" \
		--append loglevel=5 --log "$out/vm" --pidfile "$out/pid" "${drives[@]}" -- "${command[@]}" \
		>"$out/vm/output" 2>&1 || status=$?
	[[ -e $out/vm/console ]] || echo "there is no console to look at" >>"$out/complaints"
	# md's own notifier calls an array clean at a reboot even if somebody writes to it just then, and warns when
	# that goes on (6.1 and 6.12). The next boot has another console.
	! "$top/selftests/vm/complaints" --but md_write_inc "$out/vm/console" >>"$out/complaints" ||
		cp "$out/vm/console" "$out/complained"
	return "$status"
}

# verdict: of the boot that is over; and no kernel may have complained until now.
verdict() {
	local text
	text=$(cat "$out/verdict" 2>/dev/null) || text="there is none: $(tail -n 20 "$out/vm/output")"
	[[ ! -s $out/complaints ]] || text+=$'\n'"a kernel complained: $(head -n 1 "$out/complaints")"
	tap_diag "$text"
	VERDICT=${text##*$'\n'}
}

boot_done() {
	((keep || tap_failed)) || rm -rf "$out"
	tap_done
}

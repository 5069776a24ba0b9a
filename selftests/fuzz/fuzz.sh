#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 2400
# What is read from outside, with bytes that libFuzzer makes up: each fuzz_*.c for FUZZ_SECONDS,
# 60 unless told, in FUZZ_MIB of memory, 512 unless told. FUZZ_ONLY names those that are wanted.
# What was found before is kept in build/ and goes on from there; what fails, as a file, too.
# shellcheck source-path=SCRIPTDIR

here=$(realpath "${BASH_SOURCE[0]%/*}")
top=${here%/*/*}
. "$here/../lib/tap.sh"

built=$top/build/selftests/fuzz
seconds=${FUZZ_SECONDS:-60} memory=${FUZZ_MIB:-512}
seeds=()

command -v "${FUZZ_CC:-clang}" >/dev/null || tap_skip_all "there is no clang, which has libFuzzer: selftests/setup installs it"

# seeds_of NAME: sets seeds to folders of examples, which are small parts of them, too.
seeds_of() {
	seeds=()
	[[ ! -d $here/seeds/$1 ]] || seeds+=("$here/seeds/$1")
	case $1 in
	trace|series) seeds+=("$here"/../unit/traces/*/) ;;
	config)	mkdir -p "$built/seeds/config"
		cp "$top/daemon/fullstriped.conf" "$built/seeds/config/"
		seeds+=("$built/seeds/config") ;;
	profile) mkdir -p "$built/seeds/profile"
		"$top/build/daemon/fullstripectl" profile --json "$here"/../unit/traces/linux-6.12-v1/vda.blktrace.* \
			>"$built/seeds/profile/vda" || return
		seeds+=("$built/seeds/profile") ;;
	esac
}

# fuzz NAME: what it found is said; what made it fail is kept.
# shellcheck disable=SC2317 # tap_check calls it
fuzz() {
	local found=$built/found/$1
	mkdir -p "$built/corpus/$1" "$found"
	seeds_of "$1" || return
	# Allocations of more than this at once would be of what a length field claims.
	# What was freed is kept by the sanitizer for a while, which is not to count.
	ASAN_OPTIONS=quarantine_size_mb=8 UBSAN_OPTIONS=print_stacktrace=1 "$built/fuzz_$1" -max_total_time="$seconds" -rss_limit_mb="$memory" \
		-malloc_limit_mb=64 -timeout=10 -max_len=8192 -print_final_stats=1 \
		-artifact_prefix="$found/" "$built/corpus/$1" "${seeds[@]}" >"$built/$1.log" 2>&1 && return
	grep -E '^(==|SUMMARY|artifact)|does not hold|runtime error|must be|/daemon/|/fuzz_' "$built/$1.log" |
		cut -c -200 | head -n 20
	return 1
}

names=()
for program in "$here"/fuzz_*.c; do
	name=$(basename "$program" .c)
	name=${name#fuzz_}
	[[ ${FUZZ_ONLY-} && " $FUZZ_ONLY " != *" $name "* ]] || names+=("$name")
done
tap_plan $((1 + ${#names[@]}))
tap_check "they are built" make -s -C "$here"
for name in "${names[@]}"; do
	tap_check "$name: nothing is found in $seconds s" fuzz "$name"
	tap_diag "$(grep -E '^stat::(number_of_executed|peak_rss)' "$built/$name.log" | paste -sd ' ')" \
		"$(sed -n 's/^#[0-9]*\s*DONE *//p' "$built/$name.log")"
done
tap_done

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The harness: whether it counts right what tests of every kind print.
# shellcheck source-path=SCRIPTDIR

here=$(realpath "${BASH_SOURCE[0]%/*}")
. "$here/../lib/tap.sh"

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# fake NAME: make a test of the script on stdin.
fake() {
	{ echo '#!/bin/bash'; cat; } >"$dir/$1"
	chmod +x "$dir/$1"
}

# harness NAME...: run these tests, and set STATUS, LAST (line) and OUTPUT.
harness() {
	OUTPUT=$("$here/../run" --quick --log "$dir/log" "${@/#/$dir/}" 2>&1)
	STATUS=$?
	LAST=${OUTPUT##*$'\n'}
}

# counts NAME STATUS LAST [TEXT]: what the harness makes of the one test NAME;
# TEXT must be in its list of failures.
counts() {
	harness "$1"
	if [[ $STATUS == "$2" && $LAST == "$3" && ${OUTPUT#*What failed} == *"${4-}"* ]]; then
		tap_ok "$1: $3"
	else
		tap_not_ok "$1: $3" "$OUTPUT"$'\n'"status $STATUS, want $2; text '${4-}'"
	fi
}

fake passing <<<'echo 1..2; echo ok 1 one; echo ok 2 two'
fake failing <<<'echo 1..2; echo ok 1 one; echo not ok 2 two; exit 1'
fake failing_with_0 <<<'echo 1..1; echo not ok 1 one'
fake passing_with_1 <<<'echo 1..1; echo ok 1 one; exit 1'
fake crashing <<<'echo 1..3; echo ok 1 one; kill -SEGV $$'
fake short <<<'echo 1..3; echo ok 1 one'
fake long <<<'echo 1..1; echo ok 1 one; echo ok 2 two'
fake no_plan <<<'echo ok 1 one'
fake silent <<<':'
fake skipping <<<'echo 1..2; echo ok 1 one; echo "ok 2 two # SKIP no such kernel"'
fake skipping_all <<<'echo "1..0 # SKIP no such kernel"'
fake skipping_silently <<<'echo 1..2; echo ok 1 one; echo "ok 2 two # SKIP"'
fake two_plans <<<'echo 1..1; echo ok 1 one; echo 1..1; echo ok 1 two'
fake half_line <<<'echo 1..1; echo -n ok 1 one'
fake hanging <<<'# timeout: 1
echo 1..2; echo ok 1 one; sleep 1000'
fake leaving <<<'echo 1..1; sleep 1001 & echo ok 1 one'
fake chatty <<<'echo 1..1; echo "# not ok 5 remark"; echo okay; echo "not okay"; echo ok 1 one'

tap_plan 44
counts passing 0 '2 passed, 0 failed, 0 skipped'
counts failing 1 '1 passed, 1 failed, 0 skipped' 'unit: failing: 2 two'
counts failing_with_0 1 '0 passed, 1 failed, 0 skipped' 'unit: failing_with_0: 1 one'
counts passing_with_1 1 '1 passed, 1 failed, 0 skipped' 'ended with status 1'
counts crashing 1 '1 passed, 1 failed, 0 skipped' 'planned 3 results and gave 1 (exit status 139)'
counts short 1 '1 passed, 1 failed, 0 skipped' 'planned 3 results and gave 1'
counts long 1 '2 passed, 1 failed, 0 skipped' 'planned 1 results and gave 2'
counts no_plan 1 '1 passed, 1 failed, 0 skipped' 'no plan'
counts silent 1 '0 passed, 1 failed, 0 skipped' 'no plan'
counts skipping 0 '1 passed, 0 failed, 1 skipped'
counts skipping_all 1 '0 passed, 0 failed, 1 skipped'
counts skipping_silently 1 '1 passed, 1 failed, 0 skipped' 'without a reason'
counts two_plans 0 '2 passed, 0 failed, 0 skipped'
counts half_line 0 '1 passed, 0 failed, 0 skipped'
counts hanging 1 '1 passed, 1 failed, 0 skipped' 'time was up'
counts leaving 0 '1 passed, 0 failed, 0 skipped'
counts chatty 0 '1 passed, 0 failed, 0 skipped'

harness passing failing crashing skipping passing
tap_is "$STATUS, $LAST" '1, 7 passed, 2 failed, 1 skipped' "several tests are added up"
tap_is "$(pgrep -fx 'sleep 100[01]')" '' "no process of a test is left"
fake endless <<<'echo 1..1; sleep 1001; echo ok 1 one'
"$here/../run" --quick --log "$dir/log" "$dir/endless" >"$dir/output" &
harness=$!
until grep -q '^# 1..1' "$dir/output"; do sleep 0.05; done
harness passing
tap_is "$STATUS, ${LAST%% in *}" '2, selftests/run: another run keeps its outputs' "two runs do not share their files"
kill "$harness"
wait "$harness"
tap_is "$?, $(sleep 0.5; pgrep -fx 'sleep 1001')" '143, ' "nor when the harness is ended"
harness nothing_such
tap_is "$STATUS" 2 "a program that is not there is wrong usage"
fake limited <<<'# timeout: 100
# long timeout: 1000
echo 1..1; echo "ok 1 ${LONG-}"'
tap_is "$("$here/../lib/run-tests" --limit "$dir/limited" "$dir/passing")" 440 "limits are added up"
tap_is "$(LONG=1 TIME_SCALE=2 "$here/../lib/run-tests" --limit "$dir/limited" "$dir/passing")" 2640 \
	"a long form has its own limit, and a slow machine has more"
tap_is "$(LONG=1 "$here/../lib/run-tests" "$dir/limited" | grep '^ok')" "ok 1 1" "a test sees that it is long"

# A machine that dies of its emulator, DEATHS times, in list.sh; its tests are not run.
cat >"$dir/machine" <<-'MACHINE'
	#!/bin/bash
	until [[ $1 == */run-tests ]]; do shift; done
	shift
	for test; do
		echo "${test##*/}" >>"$SEEN"
		printf '# selftest begin %s\n1..2\nok 1 one\n' "$test"
		if [[ $test == *list.sh ]] && (($(grep -c list.sh "$SEEN") <= DEATHS)); then
			exit 123
		fi
		printf 'ok 2 two\n# selftest end %s 0 1\n' "$test"
	done
MACHINE
chmod +x "$dir/machine"

# dying DEATHS: three tests in that machine; sets what harness does, and SEEN, which it began.
dying() {
	: >"$dir/seen"
	OUTPUT=$(SEEN=$dir/seen DEATHS=$1 VM_RUN=$dir/machine "$here/../run" --kernel 6.12 --log "$dir/log" \
		create.sh list.sh rig.sh 2>&1)
	STATUS=$? LAST=${OUTPUT##*$'\n'}
	SEEN=$(tr '\n' ' ' <"$dir/seen")
}

dying 0
tap_is "$STATUS, $LAST, $SEEN" "0, 6 passed, 0 failed, 0 skipped, create.sh list.sh rig.sh " "three tests in a machine are added up"
dying 2
tap_is "$STATUS, $LAST" "0, 6 passed, 0 failed, 0 skipped" "where the emulator failed twice no result is lost, and none counts twice"
tap_is "$SEEN" "create.sh list.sh list.sh list.sh rig.sh " "and what was done is not done again"
dying 3
tap_is "$STATUS, $LAST, $(grep -c '^#   .*: the emulator failed, see ' <<<"$OUTPUT")" "1, 3 passed, 3 failed, 0 skipped, 1" \
	"at the third time it is told"

# A kernel that no machine boots. Nothing else here needs the emulator.
not_booting() {
	local kernel=$dir/kernel name why
	local names=("a machine that does not boot is started three times" "and what it said of its end is among what failed"
		"so is one that never comes to its command")

	for why in qemu-system-x86_64 busybox cpio; do
		type -P "$why" >/dev/null && continue
		for name in "${names[@]}"; do
			tap_skip "$name" "there is no $why: selftests/setup installs it"
		done
		return
	done
	mkdir -p "$kernel/boot" "$kernel/lib/modules/6.12.0"
	echo nothing >"$kernel/boot/vmlinuz"
	printf 'kernel/%s.ko\n' virtio_pci virtio_console 9pnet_virtio 9p overlay >"$kernel/lib/modules/6.12.0/modules.builtin"
	touch "$kernel/lib/modules/6.12.0/modules."{order,builtin.modinfo}
	/sbin/depmod -b "$kernel" 6.12.0
	OUTPUT=$("$here/../run" --log "$dir/log" --kernel "$kernel" create.sh 2>&1)
	tap_is "$?, $(grep -c 'ended before the command was run' <<<"$OUTPUT")" "1, 2" "${names[0]}"
	grep -q "^#   functional/kernel: .*: the machine ended without a result (QEMU's exit status 1)\$" <<<"$OUTPUT"
	tap_is $? 0 "${names[1]}"
	# The least that QEMU takes for a kernel, by the Multiboot specification: a header, and a jump to itself.
	printf '%b' '\x02\xb0\xad\x1b' '\0\0\x01\0' '\xfe\x4f\x51\xe4' '\0\0\x10\0' '\0\0\x10\0' '\0\0\0\0' '\0\0\0\0' \
		'\x20\0\x10\0' '\xeb\xfe' >"$kernel/boot/vmlinuz"
	OUTPUT=$("$here/../vm/run" --kernel "$kernel" --boot-limit 1 -- true 2>&1)
	tap_is "$?, $(grep -c 'the command had not begun after 1 s' <<<"$OUTPUT"), $(grep -c 'did not begin its command within 1 s' <<<"$OUTPUT")" \
		"125, 3, 1" "${names[2]}"
}
not_booting

# on [OPTION]... TEST...: tests in that machine; sets the same, in any order.
on() {
	: >"$dir/seen"
	OUTPUT=$(SEEN=$dir/seen DEATHS=0 VM_RUN=$dir/machine "$here/../run" --log "$dir/log" "$@" 2>&1)
	STATUS=$? LAST=${OUTPUT##*$'\n'}
	SEEN=$(sort "$dir/seen" | tr '\n' ' ')
}

on create.sh list.sh
tap_is "$STATUS, $LAST, $SEEN" "0, 8 passed, 0 failed, 0 skipped, create.sh create.sh list.sh list.sh " \
	"tests on both kernels, beside each other, are added up"
on harm.sh overlap.sh
tap_is "$STATUS, $LAST, $SEEN" "0, 4 passed, 0 failed, 2 skipped, harm.sh overlap.sh " "what is the same on both runs on one of them"
tap_is "$(grep -o '/6.*SKIP .*it runs on 6.[0-9]*' <<<"$OUTPUT" | sed 's/ #.*runs/ runs/' | paste -sd,)" \
	"/6.12: harm.sh runs on 6.1,/6.1: overlap.sh runs on 6.12" "where, and why, is said"
on --kernel 6.12 harm.sh overlap.sh
tap_is "$STATUS, $LAST, $SEEN" "0, 4 passed, 0 failed, 0 skipped, harm.sh overlap.sh " "it runs where the other one is not asked for"

said=''
for console in gone there unreadable no-oops; do
	"$here/../vm/int3-gone" "$here/consoles/$console"
	said+="$console $? "
done
tap_is "$said" "gone 0 there 1 unreadable 1 no-oops 1 " "a breakpoint that is gone is told from one that is there, and from other ends"
OUTPUT=$("$here/../vm/int3-gone" "$dir/none" 2>&1)
tap_is "$?" 2 "a console that is not there is wrong usage"
complaints() {
	"$here/../vm/complaints" "$@" | wc -l
	echo "${PIPESTATUS[0]}"
}
said=''
for console in md-warns md-warns-twice; do
	said+="$console $(complaints "$here/consoles/$console" | paste -sd' ') "
	said+="$(complaints --but md_write_inc "$here/consoles/$console" | paste -sd' '), "
done
tap_is "$said" "md-warns 2 0 0 1, md-warns-twice 4 0 0 1, " "warnings that are expected are no complaints, also of two processors at a time"
tap_is "$(complaints --but md_write_start "$here/consoles/md-warns" | paste -sd' ')" "2 0" "others are"
tap_is "$(cat "$here"/consoles/{md-warns,there,md-warns} | complaints --but md_write_inc - | paste -sd' ')" \
	"$(complaints "$here/consoles/there" | paste -sd' ')" "and so is what comes between them"
tap_is "$(complaints "$dir/none" 2>&1 | tail -n 1)" 2 "a log that is not there is told from one without"
OUTPUT=$("$here/../run" --quick --long 2>&1)
tap_is "$?" 2 "what is quick is not long"
OUTPUT=$("$here/../run" nothing_such.sh 2>&1)
tap_is "$?" 2 "a test that is not there is wrong usage"
tap_done

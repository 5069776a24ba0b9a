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

tap_plan 26
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
OUTPUT=$("$here/../run" --quick --long 2>&1)
tap_is "$?" 2 "what is quick is not long"
OUTPUT=$("$here/../run" nothing_such.sh 2>&1)
tap_is "$?" 2 "a test that is not there is wrong usage"
tap_done

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What the module's tests are tested with: each mutant still finds the lines that it changes.
# shellcheck source-path=SCRIPTDIR

here=$(realpath "${BASH_SOURCE[0]%/*}")
. "$here/../lib/tap.sh"

# all_apply: says which do not.
# shellcheck disable=SC2317 # tap_check calls it
all_apply() {
	local mutant result=0
	for mutant in "$here"/../crash/mutants/*; do
		"$here/../crash/mutant" "${mutant##*/}" - || result=1
	done
	return "$result"
}

tap_plan 1
tap_check "all mutants apply to the module as it is" all_apply
tap_done

# SPDX-License-Identifier: GPL-2.0
#
# The regression guard (see ./check): the ratios $stored beside those of a report of ./peers.jq.
# Less than nine tenths of one is a regression.

. as $report
| $stored[0] | map(. as $before
	| [$report.goals[] | select(.row == $before.row and .case == $before.case and .peer == $before.peer)][0] as $now
	| $before + {now: ($now[$before.by].median // null)}
	| .change = (if .now then .now / .ratio - 1 else null end)
	| .kept = ((.now // 0) > 0.9 * .ratio))

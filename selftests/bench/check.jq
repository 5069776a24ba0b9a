# SPDX-License-Identifier: GPL-2.0
#
# The regression guard (see ./check): the ratios $stored beside those of a report of ./peers.jq.
# Less than nine tenths of one is a regression, or than half of the requests where KiB are what counts, or
# than half of the speed.

. as $report
| $stored[0].ratios as $ratios
| [$ratios[] | . as $before
	| [$report.goals[] | select(.row == $before.row and .case == $before.case and .peer == $before.peer)][0] as $now
	| ("kib", "ios", "speed") as $by | select($by == .by or $by != "kib")
	| {row, case, peer, by: $by, ratio: $before[$by], now: (if $by == "speed" then $now else $now[$by] end).median?}
	| .change = (if .now and .ratio then .now / .ratio - 1 else null end)
	| .kept = (.ratio != null and (.now // 0) > (if $by == $before.by then 0.9 else 0.5 end) * .ratio)]
# What is measured and not stored would never be missed.
+ [$report.goals[] | . as $now | select(.peer == "raw" and IN(.row; $ARGS.positional[])
	and all($ratios[]; .row != $now.row or .case != $now.case))
	| {row, case, peer, by: "-", ratio: null, now: .ios.median, change: null, kept: false}]

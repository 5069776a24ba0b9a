# SPDX-License-Identifier: GPL-2.0
#
# A report as lines with tabs between, for column(1).

include "figures";

["", "\(.kernel) \(.array)", "what", "goal", "median", "range", "reached"],
(.goals[] | [.row, .case, .what, .goal // "-", (.median | short), "\(.min | short) to \(.max | short)",
	if has("reached") | not then "-" elif .reached then "yes" else "NO" end]),
[""],
figures_table
| @tsv

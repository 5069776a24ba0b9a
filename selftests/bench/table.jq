# SPDX-License-Identifier: GPL-2.0
#
# A report as lines with tabs between, for column(1).

include "figures";

["", "\(.kernel) \(.array)", "what", "goal", "median", "range", "reached"],
(.goals[] | [.row, .case, .what, .goal // "-", (.median | short), "\(.min | short) to \(.max | short)",
	reached("NO")]),
[""],
figures_table
| @tsv

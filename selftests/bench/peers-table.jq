# SPDX-License-Identifier: GPL-2.0
#
# A report of ./peers.jq as lines with tabs between, for column(1).

include "figures";

["\(.kernel) \(.array)", "version", "a write that was not flushed is", "one that was lies on"],
(.peers[] | [.peer, .version, .class, .flushed]),
[""],
(["", "case", "mode", "to", "goal", "speed", "range", "member I/Os", "reached"],
(.goals[], .durable[] | [.row, .case, .mode // "", .peer, .goal // "-", (.median | short), "\(.min | short) to \(.max | short)",
	(.ios.median | short), reached("NO")])),
[""],
figures_table
| @tsv

# SPDX-License-Identifier: GPL-2.0
#
# A report as lines with tabs between, for column(1).

include "figures";

["", "\(.kernel) \(.array)", "what", "goal", "median", "range", "to tuned", "reached"],
(.goals[] | [.row, .case, .what, .goal // "-", (.median | short), "\(.min | short) to \(.max | short)", (.to_tuned | short),
	if has("reached") | not then "-" elif .reached then "yes" else "NO" end]),
[""],
["", "case", "device", "MiB/s", "member reads", "writes", "rmw", "rcw", "p50 us", "p99 us", "CPU s/GB"],
(.figures[] | select(.row != "W2") | [.row, .case, .device, ((.fsync.writer_mib_s // .mib_s) | .median | short), (.member_reads.median | short),
	(.member_writes.median | short), (.rmw | short), (.rcw | short), ((.fsync.p50_us.median // .p50_us) | short),
	((.fsync.p99_us.median // .p99_us) | short),
	(.cpu_s_per_gb.median | short)])
| @tsv

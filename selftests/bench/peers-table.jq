# SPDX-License-Identifier: GPL-2.0
#
# A report of ./peers.jq as lines with tabs between, for column(1).

include "figures";

["\(.kernel) \(.array)", "version", "what a power cut takes"],
(.peers[] | [.peer, .version, .class]),
[""],
["", "case", "target to", "goal", "speed", "range", "member I/Os", "reached"],
(.goals[] | [.row, .case, .peer, .goal // "-", (.median | short), "\(.min | short) to \(.max | short)",
	(.ios.median | short), if has("reached") then if .reached then "yes" else "NO" end else "-" end]),
[""],
["", "case", "device", "MiB/s", "drain ms", "member reads", "writes", "fast KiB", "rmw", "rcw", "p99 us", "fsync p99 us"],
(.figures[] | [.row, .case, .device, (.mib_s.median | short), (.drain_ms | short), (.member_reads.median | short),
	(.member_writes.median | short), (.fast_kib | short), (.rmw | short), (.rcw | short), (.p99_us | short),
	(.fsync_p99_us | short)])
| @tsv

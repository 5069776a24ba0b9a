# SPDX-License-Identifier: GPL-2.0
#
# A report of ./sweep.jq as lines with tabs between, for column(1).

include "figures";

["\(.kernel) swept", "at", "a member does", "work", "speed to md", "range", "fewer member I/Os", "CPU s/GB, md", "target", "fio alone", "MiB/s, md", "target"],
(.points[] | [.what, .at, .member_iops, .row, (.speed.median | short), "\(.speed.min | short) to \(.speed.max | short)",
	(.ios.median | short), (.raw.cpu_s_per_gb | short), (.target.cpu_s_per_gb | short), (.disk.cpu_s_per_gb | short), (.raw.mib_s | short), (.target.mib_s | short)]),
[""],
["swept", "work", "slower at"],
(.ends[] | [.what, .row, (.slower_at | join(", "))]),
[""],
["more of", "work", "from", "to", "costs for a GB", "goal", "reached"],
(.growth[] | [.what, .row, .from, .to, (.median | short), .goal // "-", reached("NO")])
| @tsv

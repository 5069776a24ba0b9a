# SPDX-License-Identifier: GPL-2.0
#
# Figures of several runs: in the middle and from where to where, beside a goal, and as text.

def median: sort | if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2 - 1] + .[length / 2]) / 2 end;
def range_of: {median: median, min: min, max: max, runs: length, values: .};
# Of what was not measured there is none.
def range_of_values: map(values) | if . == [] then null else range_of end;

def at_least(goal): {goal: ">= \(goal)", reached: (.median >= goal)} + .;
def at_most(goal): {goal: "<= \(goal)", reached: (.median <= goal)} + .;
# What must not be seen a single time.
def at_most_always(goal): {goal: "<= \(goal)", reached: (.max <= goal)} + .;

# As which one of a table a goal counts. The cases of W2 are many and all alike, but for those with less memory.
def named: [.row, if .row != "W2" then .case // "" elif .case | endswith("default") then "64 writers, default" else "all" end, .what];

def digits(n): if . == null then "-" else . * pow(10; n) | round / pow(10; n) | tostring end;
def short: if . == null then "-" elif fabs >= 100 then digits(0) elif fabs >= 10 then digits(1) else digits(2) end;
# Of one run there is none.
def spread: if .min == .max then "" else "\(.min | short) to \(.max | short)" end;
def in_brackets: if . == "" then "" else " (\(.))" end;
# What has no goal was neither reached nor not.
def reached(no): if .reached == null then "-" elif .reached then "yes" else no end;

# A line for each of .figures: medians. Of FS and T1, latencies are those of fsync. Where there were drains, how
# long they took, and how much was left for them; and what the fast device was given to write.
def figures_table:
	any(.figures[]; .drain_ms) as $drains
	| ["", "case", "device", "MiB", "MiB/s", "member reads", "writes", "KiB read", "written", "rmw", "rcw",
		"p50, us", "p99", "p99.9", "CPU s/GB"] + if $drains then ["drain, ms", "of KiB", "fast KiB"] else [] end,
	(.figures[] | [.row, .case, .device, (if .bytes then .bytes / 1048576 else null end | short)]
		+ ([.fsync.writer_mib_s // .mib_s, .member_reads, .member_writes, .member_read_kib, .member_write_kib, .rmw, .rcw,
			.fsync.p50_us // .p50_us, .fsync.p99_us // .p99_us, .fsync.p99_9_us // .p99_9_us, .cpu_s_per_gb]
			+ if $drains then [.drain_ms, .dirty_kib, .fast_kib] else [] end
			| map(if type == "object" then .median else . end | short)));

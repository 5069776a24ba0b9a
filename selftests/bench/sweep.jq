# SPDX-License-Identifier: GPL-2.0
#
# All measurements of ./sweep-guest to one report: by what is swept, how the target stands to
# md, where it is slower, and whether what it costs grows with what there is more of. Ratios are taken
# within one run.

include "measured";
include "figures";

def mib_s: speed * 1000 / 1048576;

# The target's measurements, each with that of fio alone, if there is one.
def runs_of(row; case): [select_of(row; case; "target"), select_of(row; case; "disk")] | transpose;
def own_cpu: (.[0] | cpu) - (if .[1] then .[1] | cpu else 0 end);

. as $all
| {
	kernel: $kernel, date: dates($date), module: its_module, with: measured_with, runs: (map(.run) | unique | length),
	points: [group_by([.row, .case])[] | .[0] as {$row, $case} | ($case | split(" ")) as [$what, $at]
		| ($all | select_of($row; $case; "target")) as $target | ($all | select_of($row; $case; "raw")) as $here
		# What is swept is not md's: it was measured at the first point.
		| (if $here != [] then $here else
			$all | map(select(.row == $row and .device == "raw" and (.case | startswith($what + " ")))) end) as $raw
		| {what: $what, row: $row, at: ($at | tonumber), member_iops: (map(.member_iops) | median),
			speed: ratios(speed; $target; $raw), ios: ratios(ios_each; $raw; $target), kib: ratios(kib_each; $raw; $target),
			cpu: ratios(cpu; $target; $raw),
			raw: {mib_s: ($raw | map(mib_s) | median), cpu_s_per_gb: ($raw | map(cpu) | median)},
			target: {mib_s: ($target | map(mib_s) | median), cpu_s_per_gb: ($target | map(cpu) | median)}}
		# What fio alone takes.
		+ ($all | select_of($row; $case; "disk") | if . == [] then {} else {disk: {cpu_s_per_gb: (map(cpu) | median)}} end)]
	| sort_by(.what, .row, .at)
}
| .ends = [.points | group_by([.what, .row])[] | {what: .[0].what, row: .[0].row, slower_at: map(select(.speed.median < 1) | .at)}]
# What the most of it costs the target for a GB, times what the least costs, of one run. That is a goal for clients, without
# what fio takes alone for as many: more members, and larger chunks, make larger stripes, which are other work.
| .growth = [.points | group_by([.what, .row])[] | select(length > 1 and IN(.[0].what; "clients", "chunk", "members"))
	| {what: .[0].what, row: .[0].row, from: .[0].at, to: .[-1].at}
	+ (map(. as {$what, $row, $at} | $all | runs_of($row; "\($what) \($at)"))
		| ratios(own_cpu; .[-1]; .[0]))
	| if .what == "clients" then at_most(1.1) else . end]

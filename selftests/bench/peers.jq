# SPDX-License-Identifier: GPL-2.0
#
# All measurements of one machine (written by ./peers-guest) to one report: what the target
# reaches beside each of its peers, and everyone's figures. Ratios are taken within one run.

include "measured";
include "figures";

# For each byte, as not everyone was given as much to do.
def ios_each: ([member_ios, 1] | max) / bytes;
def kib_each: ([.read_kib + .write_kib, 1] | max) / bytes;
def fsync_us(percent): .fio.jobs[0].sync.lat_ns.percentile[percent] // null | if . then . / 1000 else . end;

# P1: the target is no slower than who has a fast device, and ahead where that should count.
def goal(row): if IN(row; "W5", "W8", "FS") then 1.3 else 1.0 end;

def summary: {
	row: .[0].row, case: .[0].case, device: .[0].device, runs: length,
	mib_s: map(speed * 1000 / 1048576) | range_of,
	drain_ms: map(.drain_ms) | median,
	member_reads: map(.reads) | range_of,
	member_writes: map(.writes) | range_of,
	fast_kib: map(.fast_kib) | median,
	rmw: map(.rmw) | median, rcw: map(.rcw) | median,
	p99_us: map(jobs[0].clat_ns.percentile["99.000000"] / 1000) | median,
	fsync_p99_us: map(fsync_us("99.000000")) | (map(values) | if length > 0 then median else null end)
};

map(select(.peer)) as $peers
| map(select(.row))
| of_one_module
| . as $all
| {
	kernel: $kernel,
	date: dates($date),
	module: its_module,
	runs: (map(.run // empty) | unique | length),
	array: .[0].array,
	dropped_trace_events: (map(.dropped) | add),
	peers: ($peers | unique_by(.peer)),
	goals: [group_by([.row, .case])[] | .[0] as {$row, $case}
		| ("raw", "tuned", "journal", "bcache", "writecache") as $peer
		| ($all | select_of($row; $case; "target")) as $target
		| ($all | select_of($row; $case; $peer)) as $other
		| select($target != [] and $other != [])
		| (ratios(speed; $target; $other)
			| if IN($peer; "raw", "tuned") then . else at_least(goal($row)) end)
		+ {row: $row, case: $case, peer: $peer,
			ios: ratios(ios_each; $other; $target),
			kib: ratios(kib_each; $other; $target)}],
	figures: [group_by([.row, .case, .device])[] | summary]
}

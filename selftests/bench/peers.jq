# SPDX-License-Identifier: GPL-2.0
#
# All measurements of one machine (written by ./peers-guest) to one report: what the target
# reaches beside each of its peers, and everyone's figures. Ratios are taken within one run.

include "measured";
include "figures";

# P1: the target is no slower than who has a fast device and loses as much when the power goes, and ahead where that
# should count.
def goal(row): if IN(row; "W5", "W8", "FS", "T1") then 1.3 else 1.0 end;
def p1(peers): if IN(.peer; peers) then at_least(goal(.row)) else . end;

def summary: figures_of + {
	drain_ms: map(.drain_ms) | range_of,
	dirty_kib: map(.dirty_kib) | range_of_values,
	fast_kib: map(.fast_kib) | range_of
};

# How many times as fast $target is as $other, by what the row is about.
def times_as_fast($target; $other):
	if $target[0].row == "T1" then ratios(fsync_us("99.000000"); $other; $target) else ratios(speed; $target; $other) end;

# What the one named does beside each of the others.
def beside(one; others): . as $all
	| group_by([.row, .case])[] | .[0] as {$row, $case}
	| others as $peer
	| ($all | select_of($row; $case; one)) as $target
	| ($all | select_of($row; $case; $peer)) as $other
	| select($target != [] and $other != [])
	| times_as_fast($target; $other)
	+ {row: $row, case: $case, peer: $peer,
		ios: ratios(ios_each; $other; $target),
		kib: ratios(kib_each; $other; $target)};

map(select(.peer)) as $peers
| map(select(.row))
| of_one_module
| . as $all
| {
	kernel: $kernel,
	date: dates($date),
	module: its_module,
	with: measured_with,
	runs: (map(.run // empty) | unique | length),
	array: .[0].array,
	dropped_trace_events: (map(.dropped) | add),
	peers: ($peers | unique_by(.peer)),
	goals: [beside("target"; "raw", "tuned", "journal", "bcache", "writecache") | p1("bcache", "writecache")],
	# Beside who keeps also what was not flushed, as the target does in this mode.
	durable: [beside("through"; "raw", "tuned", "journal") | p1("journal") | {mode: "writethrough"} + .],
	figures: [group_by([.row, .case, .device])[] | summary]
}

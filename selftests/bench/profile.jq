# SPDX-License-Identifier: GPL-2.0
#
# What ./profile measured, beside the goals. $runs: of a recording; $lives: of a device at work,
# as ./live writes it, of which times mean something only where it was not $emulated.

include "figures";

def row(name; what; f): {row: name, what: what} + (map(f) | range_of);

# For each 100 000 events a second.
def per_core: .cpu_s / .events * 1e5 * 100;
def to_reading: (.cpu_s / .events) / (.read_cpu_s / .read_events);

($runs | map(.cpu_s / .events) | median) as $read_here
| {date: $date, runs: $runs, lives: $lives, emulated: ($emulated != ""), goals: [
	($runs | (row("D1"; "million events a second of a core"; .events / .cpu_s / 1e6) | at_least(5)),
		(row("D1"; "CPU of blkparse and btt to that"; .btt_cpu_s / .cpu_s) | at_least(10)),
		(row("D1"; "memory, MiB"; .kib / 1024) | at_most(32)),
		(row("D1"; "memory to that of a tenth of it"; .kib / .tenth_kib) | at_most(1.1))),
	# Of fewer events than the goal has it says nothing that none was lost.
	($lives | (row("D2"; "records lost"; .lost) | if all($lives[]; .rate >= 1e5) then at_most(0) else . end),
		row("D2"; "CPU to that of reading a recording of it"; to_reading),
		if $emulated == "" then
			(row("D2"; "thousand events a second"; .rate / 1e3) | at_least(100)),
			(row("D2"; "% of a core for each 100 000 a second"; per_core) | at_most(3))
		else
			row("D2"; "thousand events a second, emulated"; .rate / 1e3),
			row("D2"; "% of an emulated core for each 100 000 a second"; per_core),
			# Computed, so it is not said to be reached.
			row("D2"; "% of a core for that (goal 3): not measured, by D1 and the CPU to that of reading";
				to_reading * $read_here * 1e5 * 100)
		end)]}

# SPDX-License-Identifier: GPL-2.0
#
# All measurements of one machine (written by ./guest) to one report: every device's
# figures by row and case, and the goals. Ratios are taken within one run.

include "measured";
include "figures";

def slowest_to_mean: jobs | map(.io_bytes / ([.runtime, 1] | max)) | min / (add / length);
def read_to_consumed: .read_kib * 1024 / bytes;

# Beside a writer (T1).
def job(name): .fio.jobs[] | select(.jobname == name);
def writers_speed: job("writer").write | .io_bytes / ([.runtime, 1] | max);

def summary: figures_of + {
	fsync: (if .[0].row == "T1" then fsyncs + {
		calls: map(job("small").sync.total_ios) | range_of,
		writer_mib_s: map(writers_speed * 1000 / 1048576) | range_of} else null end),
	target: .[0] | with_entries(select(.key | test("_(bytes|stripes)$|^parked$")))
};

def speedup(row; case; device): ratios(speed; select_of(row; case; "target"); select_of(row; case; device));

def goal(row; case; what): {row: row, case: case, what: what} + .;

# A goal, and beside it how the target stands to md with a large stripe cache.
def against_raw(row; case; least):
	(speedup(row; case; "raw") | at_least(least) | goal(row; case; "speed to raw")),
	(speedup(row; case; "tuned") | goal(row; case; "speed to md tuned"));

# Of as much as its large blocks.
def to_raws_best(row; $case):
	(map(select(.row == row and .device == "raw" and (.case | startswith("best "))))
		| group_by(.run) | map(max_by(speed))) as $best
	| ($case + ", long") as $long
	| (ratios(speed; select_of(row; $long; "target"); $best)
		| at_least(0.9) | goal(row; $case; "speed to raw's best")),
	(ratios(speed; select_of(row; $long; "disk"); $best)
		| goal(row; $case; "speed of a disk without delay to raw's best"));

# The measurements of each of its cases.
def W2: map(select(.row == "W2")) | group_by(.case);

def W6_cases: "ext4", "xfs", "ext4, long", "xfs, long";

def goals:
	(.[0].array) as $array
	| [("4k", "8k") as $bs | against_raw("W1"; $bs; if $array == "R5" then 40 else 80 end)],
	[to_raws_best("W1"; "4k", "8k")],
	[W2[] | .[0].case as $case | map(.inside // error("nothing is known of \($case)")) | range_of | at_most_always(0)
		| goal("W2"; $case; "rows read inside")],
	# An edge may be filled: one read of each data member. In files nobody knows whose reads they are.
	[W2[] | select(.[0].edges) | .[0].case as $case
		| map([.reads - .edges * (.n - 1), 0] | max) | range_of | at_most_always(0)
		| goal("W2"; $case; "member reads, edges aside")],
	[map(select(.row == "W2" and (.edges // 0) > 0)) | select(length > 0)
		| group_by(.run) | map((map(.reads) | add) / (map(.edges) | add)) | range_of
		| goal("W2"; "all"; "member reads at an edge")],
	[("64k", "128k") as $bs | against_raw("W3"; $bs; 4)],
	[against_raw("W4"; "half off"; 1.8)],
	[ratios(speed; select_of("W5"; "two"; "target"); select_of("W5"; "one"; "target"))
		| at_least(0.95) | goal("W5"; "64k"; "two writers to one")],
	[W6_cases as $case | against_raw("W6"; $case; 1.5)],
	[W6_cases as $case | select_of("W6"; $case; "target") | select(length > 0)
		| map(.writes / (bytes / .width * .n)) | range_of
		| at_most(1.1) | goal("W6"; $case; "writes to n a stripe")],
	[("ext4", "xfs") as $fs | ratios(speed; select_of("W6"; $fs + ", page cache"; "raw"); select_of("W6"; $fs; "raw"))
		| goal("W6"; $fs; "speed of the page cache alone to raw")],
	[ratios(speed; select_of("W7"; "whole"; "target"); select_of("W7"; "whole"; "raw"))
		| at_least(0.97) | goal("W7"; "whole"; "speed to raw")],
	[ratios(cpu; select_of("W7"; "whole"; "target"); select_of("W7"; "whole"; "raw"))
		| at_most(1.05) | goal("W7"; "whole"; "CPU to raw")],
	[select_of("W7"; "whole"; "target") | select(length > 0)
		| map(.accepted_bytes + .held_bytes) | range_of
		| at_most(0) | goal("W7"; "whole"; "bytes copied or held")],
	[against_raw("W8"; "random 4k"; 5)],
	[against_raw("W9"; "random 4k"; 10)],
	[select_of("W9"; "random 4k"; "target") | select(length > 0)
		| map(.destaged_bytes / .accepted_bytes) | range_of
		| {goal: "0.63 +-0.02", reached: (.median >= 0.61 and .median <= 0.65)} + .
		| goal("W9"; "random 4k"; "destaged to accepted")],
	[("ext4", "xfs") as $fs
		| ratios(fsync_us("99.000000"); select_of("T1"; $fs; "raw"); select_of("T1"; $fs; "target"))
		| at_least(10) | goal("T1"; $fs; "p99 of fsync: raw to target")],
	[("ext4", "xfs") as $fs | ratios(writers_speed; select_of("T1"; $fs; "target"); select_of("T1"; $fs; "raw"))
		| at_least(0.95) | goal("T1"; $fs; "writer to raw")],
	[map(select(.row == "T2")) | group_by(.case)[] | .[0].case as $case
		| map(.file_peak_bytes / .allowed_bytes) | range_of
		| at_most_always(1) | goal("T2"; $case; "peak of a file to its mark and one write")],
	[against_raw("R1"; "8k"; 25)],
	[to_raws_best("R1"; "8k")],
	[("16 readers", "64 readers") as $case | against_raw("R2"; $case; 3)],
	[("16 readers", "64 readers") as $case | select_of("R2"; $case; "target") | select(length > 0)
		| map(slowest_to_mean) | range_of
		| at_least(0.8) | goal("R2"; $case; "slowest to the mean")],
	[("random 4k", "buffered") as $case | against_raw("R3"; $case; 0.98)],
	[("random 4k", "buffered") as $case | select_of("R3"; $case; "target") | select(length > 0)
		| map(read_to_consumed) | range_of
		| at_most(1.1) | goal("R3"; $case; "read to consumed")],
	[ratios(speed; select_of("R4"; "again"; "target"); select_of("R4"; "first"; "target"))
		| at_least(0.95) | goal("R4"; "64k"; "speed after to before")],
	[ratios(.reads; select_of("R4"; "again"; "target"); select_of("R4"; "first"; "target"))
		| at_most(1.05) | goal("R4"; "64k"; "member reads after to before")]
	| .[];

of_one_module
| {
	kernel: $kernel,
	date: dates($date),
	module: its_module,
	with: measured_with,
	runs: (map(.run // empty) | unique | length),
	array: .[0].array,
	dropped_trace_events: (map(.dropped) | add),
	goals: [goals],
	figures: [group_by([.row, .case, .device])[] | summary]
}

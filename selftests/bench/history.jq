# SPDX-License-Identifier: GPL-2.0
#
# All measurements of ./history-guest beside what was published ($published, from ./history.json)
# to one report, of what there is. Of several runs it has
# the median.

include "measured";
include "figures";

def kb_s: speed * 1000 / 1024;
def seconds: jobs | map(.runtime) | max / 1000;

. as $all
| $published[0] as $old
| def now(row; case; device; f): $all | select_of(row; case; device) | if . == [] then null else map(f) | median end;
def section(row; f): if any($all[]; .row == row) then f else null end;
{
	kernel: $kernel, date: dates($date), module: its_module, with: measured_with, runs: (map(.run) | unique | length),
	bsd: section("bsd"; {source: $old.bsd.source, tests: [$old.bsd.tests[]
		| . + (.test as $test | {
			md: [("1", "2") as $arrays | now("bsd"; "\($test) \($arrays)"; "raw"; kb_s)],
			target: [("1", "2") as $arrays | now("bsd"; "\($test) \($arrays)"; "target"; kb_s)]})]}),
	osdi: section("osdi"; {source: $old.osdi.source, phases: [$old.osdi.phases[]
		| . + (.phase as $phase | {
			md: now("osdi"; $phase; "raw"; kb_s), target: now("osdi"; $phase; "target"; kb_s),
			ios: {md: now("osdi"; $phase; "raw"; member_ios), target: now("osdi"; $phase; "target"; member_ios)}})]}),
	mkfile: section("mkfile"; {source: $old.mkfile.source, clusters: [($old.mkfile.clusters | [{kib: 0}] + .)[]
		| . + ("cluster \(.kib)" as $case | (if .kib == 0 then "raw" else "target" end) as $device | {
			now: {kib: now("mkfile"; $case; $device; .write_kib / .writes),
				writes_s: now("mkfile"; $case; $device; .writes / seconds),
				kb_s: now("mkfile"; $case; $device; kb_s)}})]}),
	untar: section("untar"; {source: $old.untar.source,
		transfers: [$old.untar.transfers[] | (.files_hour / 3600) as $files_s
			| . + {files_s: $files_s, writes_file: (if .writes_s then .writes_s / $files_s else null end),
				kb_file: (if .kb_s then .kb_s / $files_s else null end)}],
		now: [("as it comes", "synchronous") as $case | ("raw", "target") as $device
			| {case: $case, device: $device, files_s: now("untar"; $case; $device; .files / seconds),
				reads_file: now("untar"; $case; $device; .reads / .files),
				writes_file: now("untar"; $case; $device; .writes / .files),
				kb_file: now("untar"; $case; $device; .write_kib / .files)}]}),
	figures: [group_by([.row, .case, .device])[] | figures_of]
}
| map_values(values)

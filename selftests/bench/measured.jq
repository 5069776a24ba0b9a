# SPDX-License-Identifier: GPL-2.0
#
# What one measurement says (written by ./measure.sh), and one beside the other.

include "figures";

def jobs: .fio.jobs | map(if .read.io_bytes > 0 then .read else .write end);
def bytes: jobs | map(.io_bytes) | add;
# All of them together until the last one ends, and what it left is written.
def speed: bytes / (([jobs[].runtime, 1] | max) + (.drain_ms // 0));
# Of the one of its jobs that waits longest.
def latency_us(percent): [jobs[].clat_ns.percentile[percent] // 0] | max / 1000;
def member_ios: .reads + .writes;
# For each byte, as not everyone was given as much to do.
def ios_each: ([member_ios, 1] | max) / bytes;
def kib_each: ([.read_kib + .write_kib, 1] | max) / bytes;
def cpu: .busy / 100 / bytes * 1e9;

def select_of(row; case; device): map(select(.row == row and .case == case and .device == device));

# Runs that were added later, on some other day maybe, are of the same module, or are not comparable.
def of_one_module:
	if map(.module // empty) | unique | length > 1
	then error("these are measurements of more than one module: measure all of them again, without --more") else . end;
def its_module: map(.module // empty) | .[0];
# The versions of what they were measured with.
def measured_with: [map("Linux \(.linux // empty)"), map(.fio["fio version"] // empty), map(.emulator // empty)]
	| map(unique[]) | join(", ");
# When they were measured; otherwise where they do not say.
def dates(otherwise):
	map(.fio.timestamp // empty) | [min, max] | map(values | strftime("%F")) | unique
	| if . == [] then otherwise else join(" to ") end;

# Of FS, which has one job, and of T1, where it is the small file's, the last. Null where there are no calls.
def fsync_us(percent): .fio.jobs[-1].sync.lat_ns.percentile[percent]? // null | if . then . / 1000 else . end;
def fsyncs: if IN(.[0].row; "FS", "T1") then {
		p50_us: map(fsync_us("50.000000")) | range_of_values,
		p99_us: map(fsync_us("99.000000")) | range_of_values,
		p99_9_us: map(fsync_us("99.900000")) | range_of_values
	} else null end;

# Every figure of one case on one device.
def figures_of: {
	row: .[0].row, case: .[0].case, device: .[0].device, runs: length,
	bytes: .[0] | bytes,
	mib_s: map(speed * 1000 / 1048576) | range_of,
	member_reads: map(.reads) | range_of,
	member_writes: map(.writes) | range_of,
	member_read_kib: map(.read_kib) | range_of,
	member_write_kib: map(.write_kib) | range_of,
	rmw: map(.rmw) | range_of_values, rcw: map(.rcw) | range_of_values,
	p50_us: map(latency_us("50.000000")) | range_of,
	p99_us: map(latency_us("99.000000")) | range_of,
	p99_9_us: map(latency_us("99.900000")) | range_of,
	cpu_s_per_gb: map(cpu) | range_of,
	fsync: fsyncs
};

# Over the runs: f of the one divided by f of the other.
def ratios(f; one; other):
	[one, other] | transpose | map(select(.[0] and .[1]) | (.[0] | f) / (.[1] | f)) | select(length > 0) | range_of;

# SPDX-License-Identifier: GPL-2.0
#
# What one measurement says (written by ./measure.sh), and one beside the other.

include "figures";

def jobs: .fio.jobs | map(if .read.io_bytes > 0 then .read else .write end);
def bytes: jobs | map(.io_bytes) | add;
# All of them together until the last one ends, and what it left is written.
def speed: bytes / (([jobs[].runtime, 1] | max) + (.drain_ms // 0));
def member_ios: .reads + .writes;
def cpu: .busy / 100 / bytes * 1e9;

def select_of(row; case; device): map(select(.row == row and .case == case and .device == device));

# Runs that were added later, on some other day maybe, are of the same module, or are not comparable.
def of_one_module:
	if map(.module // empty) | unique | length > 1
	then error("these are measurements of more than one module: measure all of them again, without --more") else . end;
def its_module: map(.module // empty) | .[0];
# When they were measured; otherwise where they do not say.
def dates(otherwise):
	map(.fio.timestamp // empty) | [min, max] | map(values | strftime("%F")) | unique
	| if . == [] then otherwise else join(" to ") end;

# Over the runs: f of the one divided by f of the other.
def ratios(f; one; other):
	[one, other] | transpose | map(select(.[0] and .[1]) | (.[0] | f) / (.[1] | f)) | select(length > 0) | range_of;

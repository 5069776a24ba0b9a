# SPDX-License-Identifier: GPL-2.0
#
# The counts of ./instructions-guest to one report: instructions for 4 KiB, of the difference
# between two runs of different length.

include "measured";

def for_one: sort_by(.writes) | (.[-1].instructions - .[0].instructions) / (.[-1].writes - .[0].writes) | round;

. as $all
| {
	kernel: $kernel, date: $date, module: its_module, with: measured_with, runs: 1,
	instructions: [("in order", "at random", "whole stripes") as $work
		| {work: $work} + ([("disk", "md", "target") as $device
			| ($all | map(select(.work == $work and .device == $device))) | select(length > 1)
			| {($device): for_one}] | add)]
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The profile of a workload from counters that are read now and then, where there can be
 * no trace. Pure.
 *
 * What counters do not tell is marked as not known in the summary: negative, or
 * ACCESS_UNKNOWN, or a latency of no I/Os; nothing that decides takes that for a zero.
 */
#ifndef FULLSTRIPE_COUNTED_H
#define FULLSTRIPE_COUNTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "histogram.h"
#include "profile.h"

/* With readings each tenth of a second, more than a second of them. */
#define COUNTED_READINGS	16

/**
 * struct counted_reading - what was counted up to a moment
 * @time: of the moment, nanoseconds
 * @reads: that were completed
 * @writes: of these; discards are among them
 * @read_bytes: of these
 * @written_bytes: of these, and of discards
 * @busy_ns: the time that each of them took, added up
 * @latency: of reads and writes together
 * @discards: that were completed
 * @discarded_bytes: of these
 * @flushes: flush requests, also those with a write
 * @fua: writes with FUA; one that the target cuts may count more than once
 * @prefetch_hit: bytes of reads that were answered from what the target had read ahead
 */
struct counted_reading {
	uint64_t time;
	uint64_t reads, writes;
	uint64_t read_bytes, written_bytes;
	uint64_t busy_ns;
	struct histogram latency;
	uint64_t discards, discarded_bytes;
	uint64_t flushes, fua, prefetch_hit;
};

/**
 * struct counted - readings of one device
 * @first: the first
 * @last: the newest
 * @n: of the newest ones before, so many are kept:
 * @times: when
 * @bytes: completed up to then
 * @peak_rate: the best second up to now; 0 as long as there was none
 */
struct counted {
	struct counted_reading first, last;
	size_t n;
	uint64_t times[COUNTED_READINGS];
	uint64_t bytes[COUNTED_READINGS];
	uint64_t peak_rate;
};

void counted_begin(struct counted *c, const struct counted_reading *reading);
bool counted_add(struct counted *c, const struct counted_reading *reading);
void counted_summarise(const struct counted *c, uint32_t device, enum obstacle obstacle,
		       struct profile_summary *ret);
double counted_in_flight(const struct counted *c);

#endif

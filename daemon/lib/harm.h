/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether a change did harm: samples of the same workload before and after it, compared.
 * Pure.
 *
 * A sample is one recording. Five before and five after are compared by rank: a measure is
 * worse if no more than one of the 25 pairs of a sample before and one after is not worse,
 * and if the medians differ by more than 3 %. How a measure is distributed does not matter
 * then, nor does one recording that went wrong. Were the change without effect, 2 of the
 * 252 orders that ten samples can have would look so: 0.8 %, for five measures 4 %. With
 * four and four it would be 1.4 % even if no pair may be wrong. Parts of one recording would
 * give more samples sooner, but not more knowledge: what differs from one minute to the
 * other is the noise that has to be known.
 */
#ifndef FULLSTRIPE_HARM_H
#define FULLSTRIPE_HARM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile.h"
#include "rule.h"

#define HARM_SAMPLES	5
#define HARM_PERCENT	3

enum harm_measure {
	HARM_PRE_READS,		/* bytes read of members for writes, for each byte written */
	HARM_READ_TIME,		/* p99 from queue to completion, nanoseconds */
	HARM_WRITE_TIME,
	HARM_FLUSH_TIME,
	HARM_BANDWIDTH,		/* bytes per second */
	HARM_MEASURES,
};

/**
 * struct harm_counters - what was counted up to a moment, in bytes
 * @read: of the device, by its users
 * @written: to it
 * @staged_read: of @read, from staged writes
 * @prefetch_hit: of @read, from what was read ahead
 * @prefetched: read ahead
 * @members_read: of the array's members
 * @has_members: the array has parity, and nobody else uses it: @members_read says something
 * @busy: the array resyncs, rebuilds or checks itself
 * @degraded: members that it lacks
 */
struct harm_counters {
	uint64_t read, written;
	uint64_t staged_read, prefetch_hit, prefetched;
	uint64_t members_read;
	bool has_members;
	bool busy;
	uint64_t degraded;
};

/**
 * struct harm_sample - one recording
 * @reads: share of the I/Os
 * @sequential: share
 * @strided: share
 * @sync: share
 * @meta: share
 * @size: of an I/O, on average
 * @streams: at once
 * @degraded: members that the array lacks
 * @in_flight: requests, on average
 * @values: of the measures; negative where not known
 */
struct harm_sample {
	double reads, sequential, strided, sync, meta;
	double size;
	unsigned int streams;
	uint64_t degraded;
	double in_flight;
	double values[HARM_MEASURES];
};

enum harm_verdict {
	HARM_PENDING,		/* there are too few samples as yet */
	HARM_UNHARMED,
	HARM_HARMED,
	HARM_NOT_COMPARABLE,	/* the workload changed, or nothing can be measured */
	HARM_VERDICTS,
};

/**
 * struct harm - the samples of a device
 * @change: the transaction that is being judged, or 0
 * @n_before: samples
 * @before: the newest samples of one workload with the same settings, the oldest first;
 *	while a change is judged, those before it
 * @n_after: samples
 * @after: those since the change
 * @unlike: recordings of another workload since
 */
struct harm {
	uint64_t change;
	size_t n_before;
	struct harm_sample before[HARM_SAMPLES];
	size_t n_after;
	struct harm_sample after[HARM_SAMPLES];
	size_t unlike;
};

/**
 * struct harm_finding - what became worse
 * @measure: which; only if it was harmed
 * @before: its median
 * @after: its median
 */
struct harm_finding {
	enum harm_measure measure;
	double before, after;
};

bool harm_sample(const struct profile_summary *profile, double in_flight,
		 const struct harm_counters *begin, const struct harm_counters *end,
		 struct harm_sample *ret);
bool harm_same_workload(const struct harm_sample *a, const struct harm_sample *b);
void harm_add(struct harm *h, const struct harm_sample *s);
bool harm_is_ready(const struct harm *h);
void harm_begin(struct harm *h, uint64_t change);
enum harm_verdict harm_judge(const struct harm *h, struct harm_finding *ret);
void harm_end(struct harm *h, enum harm_verdict verdict);
void harm_describe(const struct harm_finding *finding, char text[static RULE_SENTENCE]);
const char *harm_measure_name(enum harm_measure measure);
const char *harm_verdict_name(enum harm_verdict verdict);

#endif

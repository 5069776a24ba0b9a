// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harm.h"
#include "units.h"

/* The 99th of fewer than a hundred is only their largest. */
#define LEAST_IOS	100
#define LEAST_BYTES	(1u << 20)

/* Of all pairs of a sample before and one after, so many may be against it. */
#define PAIRS_AGAINST	1

/* What a workload may differ by and be the same one: a share, and a factor. */
#define SHARE_APART	0.25
#define FACTOR_APART	2.0

/* A time is known to one part in 16, see histogram.h: an equal one may look so much longer. */
#define TIME_STEP	(17 / 16.0)

/* What nobody notices: one byte in a hundred, a tenth of a millisecond. */
#define LEAST_PRE_READS	0.01
#define LEAST_TIME	100000

static double p99(const struct profile_latency *latency)
{
	return latency->n < LEAST_IOS ? -1.0 : (double)latency->p99;
}

/* Counters may have been set back meanwhile. */
static bool went_on(const struct harm_counters *begin, const struct harm_counters *end)
{
	return end->read >= begin->read && end->written >= begin->written &&
	       end->staged_read >= begin->staged_read &&
	       end->prefetch_hit >= begin->prefetch_hit && end->prefetched >= begin->prefetched &&
	       end->members_read >= begin->members_read;
}

/*
 * What the members read beyond what the device's users, and its reading ahead, had them
 * read: for md's read-modify-writes and reconstruct-writes, and to fill stripes.
 */
static double pre_reads(const struct harm_counters *begin, const struct harm_counters *end)
{
	uint64_t written = end->written - begin->written;
	double asked, members;

	if (!begin->has_members || !end->has_members || !went_on(begin, end) ||
	    written < LEAST_BYTES)
		return -1;
	asked = (double)(end->read - begin->read) + (end->prefetched - begin->prefetched) -
		(end->staged_read - begin->staged_read) - (end->prefetch_hit - begin->prefetch_hit);
	members = end->members_read - begin->members_read;
	return members > asked ? (members - asked) / written : 0;
}

/**
 * harm_sample() - a recording as a sample
 * @profile: of the recording
 * @in_flight: as profile_in_flight() has it
 * @begin: what was counted before
 * @end: and after
 * @ret: the sample
 *
 * Return: false if it says nothing: there was too little to record, or the array was busy
 * with itself.
 */
bool harm_sample(const struct profile_summary *profile, double in_flight,
		 const struct harm_counters *begin, const struct harm_counters *end,
		 struct harm_sample *ret)
{
	if (profile->ios < RULE_LEAST_IOS || profile->completed == 0 || begin->busy || end->busy ||
	    begin->degraded != end->degraded)
		return false;
	*ret = (struct harm_sample) {
		.reads = (double)profile->reads / profile->ios,
		.sequential = profile->sequential,
		.strided = profile->strided,
		.sync = profile->sync,
		.meta = profile->meta_ios,
		.size = profile->size_average,
		/* None that lasted, or one: that is no other workload. */
		.streams = profile->streams ?: 1,
		.degraded = end->degraded,
		.in_flight = in_flight,
		.values = {
			[HARM_PRE_READS] = pre_reads(begin, end),
			[HARM_READ_TIME] = p99(&profile->read_latency),
			[HARM_WRITE_TIME] = p99(&profile->write_latency),
			[HARM_FLUSH_TIME] = p99(&profile->flush_latency),
			[HARM_BANDWIDTH] = profile->average_rate,
		},
	};
	return true;
}

static bool near(double a, double b)
{
	return fabs(a - b) <= SHARE_APART;
}

static bool within_factor(double a, double b)
{
	return a <= b * FACTOR_APART && b <= a * FACTOR_APART;
}

/**
 * harm_same_workload() - whether two recordings are of one workload
 * @a: one
 * @b: the other
 *
 * What is asked of the device counts, not how well it does it. Numbers are compared and
 * not their classes: what lies at the border of two would change class at any time.
 */
bool harm_same_workload(const struct harm_sample *a, const struct harm_sample *b)
{
	return near(a->reads, b->reads) && near(a->sequential, b->sequential) &&
	       near(a->strided, b->strided) && near(a->sync, b->sync) && near(a->meta, b->meta) &&
	       within_factor(a->size, b->size) && within_factor(a->streams, b->streams) &&
	       a->degraded == b->degraded;
}

static void push(struct harm_sample samples[static HARM_SAMPLES], size_t *n,
		 const struct harm_sample *s)
{
	if (*n == HARM_SAMPLES)
		memmove(samples, samples + 1, --*n * sizeof(*samples));
	samples[(*n)++] = *s;
}

/**
 * harm_add() - take a sample in
 * @h: the samples
 * @s: the newest one
 */
void harm_add(struct harm *h, const struct harm_sample *s)
{
	bool same = h->n_before > 0 && harm_same_workload(&h->before[h->n_before - 1], s);

	if (h->change == 0) {
		if (!same)
			h->n_before = 0;
		push(h->before, &h->n_before, s);
	} else if (same) {
		push(h->after, &h->n_after, s);
	} else {
		h->unlike++;
	}
}

/**
 * harm_is_ready() - whether a change that is made now could be judged
 * @h: the samples
 */
bool harm_is_ready(const struct harm *h)
{
	return h->change == 0 && h->n_before == HARM_SAMPLES;
}

/**
 * harm_begin() - a change was made
 * @h: the samples up to it
 * @change: its number, not 0
 */
void harm_begin(struct harm *h, uint64_t change)
{
	h->change = change;
	h->n_after = 0;
	h->unlike = 0;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const double values[static HARM_SAMPLES])
{
	double sorted[HARM_SAMPLES];

	memcpy(sorted, values, sizeof(sorted));
	qsort(sorted, HARM_SAMPLES, sizeof(sorted[0]), by_size);
	return sorted[HARM_SAMPLES / 2];
}

static double median_in_flight(const struct harm_sample samples[static HARM_SAMPLES])
{
	double values[HARM_SAMPLES];

	for (size_t i = 0; i < HARM_SAMPLES; i++)
		values[i] = samples[i].in_flight;
	return median(values);
}

/* Return: false if it is not known of all of them. */
static bool values_of(const struct harm_sample samples[static HARM_SAMPLES], enum harm_measure m,
		      double ret[static HARM_SAMPLES])
{
	for (size_t i = 0; i < HARM_SAMPLES; i++) {
		if (samples[i].values[m] < 0)
			return false;
		ret[i] = samples[i].values[m];
	}
	return true;
}

static bool is_beyond_noise(enum harm_measure m, const double before[static HARM_SAMPLES],
			    const double after[static HARM_SAMPLES])
{
	unsigned int against = 0;

	for (size_t b = 0; b < HARM_SAMPLES; b++)
		for (size_t a = 0; a < HARM_SAMPLES; a++)
			against += m == HARM_BANDWIDTH ? after[a] >= before[b] :
							 after[a] <= before[b];
	return against <= PAIRS_AGAINST;
}

/*
 * Less bandwidth is harm only if no less was asked for. By Little's law bandwidth is
 * requests in flight over the time of each: if fewer were in flight, their users had less
 * to do; if as many were, each took longer.
 */
static bool is_asked_for(const struct harm *h)
{
	return median_in_flight(h->after) >=
	       median_in_flight(h->before) * (100 - HARM_PERCENT) / 100;
}

static bool is_large(const struct harm *h, enum harm_measure m, double before, double after)
{
	switch (m) {
	case HARM_BANDWIDTH:
		return after < before * (100 - HARM_PERCENT) / 100 && is_asked_for(h);
	case HARM_PRE_READS:
		return after > before * (100 + HARM_PERCENT) / 100 &&
		       after > before + LEAST_PRE_READS;
	default:
		return after > before * TIME_STEP * (100 + HARM_PERCENT) / 100 &&
		       after > before + LEAST_TIME;
	}
}

/* How many times as bad it became. What there was none of before is the worst. */
static double times_worse(const struct harm_finding *f)
{
	double better = f->measure == HARM_BANDWIDTH ? f->after : f->before;
	double worse = f->measure == HARM_BANDWIDTH ? f->before : f->after;

	return better > 0 ? worse / better : INFINITY;
}

/**
 * harm_judge() - what the change did
 * @h: the samples; a change is being judged
 * @ret: what became worse, if it was harmed: what did most of all
 *
 * It is not asked for before all samples are there: who looks after each one finds luck.
 */
enum harm_verdict harm_judge(const struct harm *h, struct harm_finding *ret)
{
	struct harm_finding worst;
	unsigned int known = 0;
	bool harmed = false;

	if (h->unlike >= HARM_SAMPLES || h->n_before < HARM_SAMPLES)
		return HARM_NOT_COMPARABLE;
	if (h->n_after < HARM_SAMPLES)
		return HARM_PENDING;
	for (enum harm_measure m = 0; m < HARM_MEASURES; m++) {
		double before[HARM_SAMPLES], after[HARM_SAMPLES];
		struct harm_finding finding;

		if (!values_of(h->before, m, before) || !values_of(h->after, m, after))
			continue;
		known++;
		if (!is_beyond_noise(m, before, after) ||
		    !is_large(h, m, median(before), median(after)))
			continue;
		finding = (struct harm_finding) {
			.measure = m,
			.before = median(before),
			.after = median(after),
		};
		if (!harmed || times_worse(&finding) > times_worse(&worst))
			worst = finding;
		harmed = true;
	}
	if (harmed) {
		*ret = worst;
		return HARM_HARMED;
	}
	return known ? HARM_UNHARMED : HARM_NOT_COMPARABLE;
}

/**
 * harm_end() - the change was judged, and is taken back if it was harmed
 * @h: the samples
 * @verdict: what was found
 *
 * Samples of the settings that are in force now stay.
 */
void harm_end(struct harm *h, enum harm_verdict verdict)
{
	if (verdict == HARM_UNHARMED) {
		memcpy(h->before, h->after, sizeof(h->before));
		h->n_before = h->n_after;
	} else if (verdict != HARM_HARMED) {
		h->n_before = 0;
	}
	harm_begin(h, 0);
}

/**
 * harm_describe() - what became worse, in a sentence
 * @finding: as harm_judge() gave it
 * @text: the sentence
 */
void harm_describe(const struct harm_finding *finding, char text[static RULE_SENTENCE])
{
	static const char * const requests[] = {
		[HARM_READ_TIME] = "reads",
		[HARM_WRITE_TIME] = "writes",
		[HARM_FLUSH_TIME] = "flushes",
	};
	char before[UNITS_TEXT], after[UNITS_TEXT];

	switch (finding->measure) {
	case HARM_PRE_READS:
		snprintf(text, RULE_SENTENCE,
			 "pre-reads for each MiB written: %.2f MiB before, %.2f MiB after",
			 finding->before, finding->after);
		return;
	case HARM_BANDWIDTH:
		snprintf(text, RULE_SENTENCE, "bandwidth: %s before, %s after",
			 units_format_rate(finding->before, before),
			 units_format_rate(finding->after, after));
		return;
	default:
		snprintf(text, RULE_SENTENCE, "p99 latency of %s: %.2f ms before, %.2f ms after",
			 requests[finding->measure], finding->before / 1e6, finding->after / 1e6);
		return;
	}
}

/**
 * harm_measure_name() - as it is logged
 * @measure: which
 */
const char *harm_measure_name(enum harm_measure measure)
{
	static const char * const names[] = {
		[HARM_PRE_READS] = "pre-reads",
		[HARM_READ_TIME] = "read-p99",
		[HARM_WRITE_TIME] = "write-p99",
		[HARM_FLUSH_TIME] = "flush-p99",
		[HARM_BANDWIDTH] = "bandwidth",
	};

	return names[measure];
}

/**
 * harm_verdict_name() - as it is logged
 * @verdict: what was found
 */
const char *harm_verdict_name(enum harm_verdict verdict)
{
	static const char * const names[] = {
		[HARM_PENDING] = "pending",
		[HARM_UNHARMED] = "unharmed",
		[HARM_HARMED] = "harmed",
		[HARM_NOT_COMPARABLE] = "not-comparable",
	};

	return names[verdict];
}

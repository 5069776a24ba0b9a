// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "counted.h"
#include "macros.h"

/* About half of the characteristics are not known. */
#define CONFIDENCE	0.5

static uint64_t bytes_of(const struct counted_reading *r)
{
	return r->read_bytes + r->written_bytes;
}

static void keep(struct counted *c)
{
	if (c->n == COUNTED_READINGS) {
		c->n--;
		memmove(c->times, c->times + 1, c->n * sizeof(c->times[0]));
		memmove(c->bytes, c->bytes + 1, c->n * sizeof(c->bytes[0]));
	}
	c->times[c->n] = c->last.time;
	c->bytes[c->n++] = bytes_of(&c->last);
}

/**
 * counted_begin() - the first reading
 * @c: the readings
 * @reading: copied
 */
void counted_begin(struct counted *c, const struct counted_reading *reading)
{
	*c = (struct counted) { .first = *reading, .last = *reading };
	keep(c);
}

static bool went_on(const struct counted_reading *a, const struct counted_reading *b)
{
	return b->time > a->time && b->reads >= a->reads && b->writes >= a->writes &&
	       b->read_bytes >= a->read_bytes && b->written_bytes >= a->written_bytes &&
	       b->busy_ns >= a->busy_ns && b->latency.n >= a->latency.n &&
	       b->discards >= a->discards && b->discarded_bytes >= a->discarded_bytes &&
	       b->flushes >= a->flushes && b->fua >= a->fua && b->prefetch_hit >= a->prefetch_hit;
}

static uint64_t per_second(uint64_t bytes, uint64_t ns)
{
	return ns ? (uint64_t)(bytes * 1e9 / ns) : 0;
}

/*
 * Of the spans that end now, the shortest of a second at least. Discards are in it: they are
 * counted at two places, and which of them were in a span is not known.
 */
static void look_for_peak(struct counted *c)
{
	uint64_t bytes = bytes_of(&c->last);

	for (size_t i = c->n; i-- > 0;) {
		uint64_t span = c->last.time - c->times[i];

		if (span < PROFILE_PEAK_NS)
			continue;
		c->peak_rate = MAX(c->peak_rate, per_second(bytes - c->bytes[i], span));
		return;
	}
}

/**
 * counted_add() - one more reading
 * @c: the readings
 * @reading: copied
 *
 * Return: false if counters were set back since the last one, which leaves nothing to
 * compare with; the readings are as they were.
 */
bool counted_add(struct counted *c, const struct counted_reading *reading)
{
	if (!went_on(&c->last, reading))
		return false;
	c->last = *reading;
	look_for_peak(c);
	keep(c);
	return true;
}

/* What was counted in all of the time. */
static struct counted_reading counted_meanwhile(const struct counted *c)
{
	const struct counted_reading *a = &c->first, *b = &c->last;
	struct counted_reading d = {
		.time = b->time - a->time,
		.reads = b->reads - a->reads,
		.writes = b->writes - a->writes,
		.read_bytes = b->read_bytes - a->read_bytes,
		.written_bytes = b->written_bytes - a->written_bytes,
		.busy_ns = b->busy_ns - a->busy_ns,
		.latency = { .n = b->latency.n - a->latency.n },
		.discards = b->discards - a->discards,
		.discarded_bytes = b->discarded_bytes - a->discarded_bytes,
		.flushes = b->flushes - a->flushes,
		.fua = b->fua - a->fua,
		.prefetch_hit = b->prefetch_hit - a->prefetch_hit,
	};

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		d.latency.buckets[i] = b->latency.buckets[i] - a->latency.buckets[i];
	d.writes -= MIN(d.writes, d.discards);
	d.written_bytes -= MIN(d.written_bytes, d.discarded_bytes);
	return d;
}

/* There is one histogram for all, so it tells of reads only if there was nothing else. */
static void summarise_latency(const struct counted_reading *d, struct profile_summary *ret)
{
	const struct profile_latency all = {
		.n = d->latency.n,
		.p50 = histogram_percentile(&d->latency, 50),
		.p99 = histogram_percentile(&d->latency, 99),
	};

	if (d->discards > 0)
		return;
	if (d->writes == 0)
		ret->read_latency = all;
	else if (d->reads == 0)
		ret->write_latency = all;
}

/**
 * counted_summarise() - what is known of the workload by now
 * @c: the readings
 * @device: whose they are: major << 20 | minor
 * @obstacle: why there is no trace
 * @ret: the summary
 */
void counted_summarise(const struct counted *c, uint32_t device, enum obstacle obstacle,
		       struct profile_summary *ret)
{
	const struct counted_reading d = counted_meanwhile(c);
	uint64_t ios = d.reads + d.writes, bytes = d.read_bytes + d.written_bytes;
	uint64_t average_rate = per_second(bytes, d.time);

	*ret = (struct profile_summary) {
		.device = device,
		.obstacle = obstacle,
		.ios = ios,
		.reads = d.reads,
		.writes = d.writes,
		.flushes = d.flushes,
		.discards = d.discards,
		.completed = ios,
		.duration = d.time,
		.meta_ios = -1,
		.meta_bytes = -1,
		/* Most of the bytes were where a stream was going to: the target had them. */
		.access = bytes > 0 && d.prefetch_hit >= bytes / 2 ?
			  ACCESS_SEQUENTIAL : ACCESS_UNKNOWN,
		.sequential = -1,
		.strided = -1,
		.random = -1,
		.returns = -1,
		.average_rate = average_rate,
		.peak_rate = d.discards || !c->peak_rate ? average_rate : c->peak_rate,
		.read_rate = per_second(d.read_bytes, d.time),
		.write_rate = per_second(d.written_bytes, d.time),
		.size_mode_share = -1,
		.size_average = ios ? (double)bytes / ios : 0,
		.sync = -1,
		.fua = d.writes ? (double)MIN(d.fua, d.writes) / d.writes : 0,
		.flush = d.writes ? (double)d.flushes / d.writes : 0,
		.unaligned = -1,
		.confidence = CONFIDENCE * profile_confidence(ios, d.time),
	};
	summarise_latency(&d, ret);
}

/**
 * counted_in_flight() - how many reads and writes were under way, on average
 * @c: the readings
 */
double counted_in_flight(const struct counted *c)
{
	uint64_t ns = c->last.time - c->first.time;

	return ns ? (double)(c->last.busy_ns - c->first.busy_ns) / ns : 0;
}

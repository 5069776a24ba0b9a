// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "blktrace_format.h"
#include "histogram.h"
#include "join.h"
#include "macros.h"
#include "ping_pong.h"
#include "profile.h"
#include "streams.h"

#define STEPS_IN_PEAK	10
#define STEP_NS		(PROFILE_PEAK_NS / STEPS_IN_PEAK)

/* This much of a workload is enough to trust its profile. */
#define ENOUGH_IOS	1000
#define ENOUGH_NS	5000000000ull

/* Bytes completed in each of the last steps, and the best second so far. */
struct rate_meter {
	uint64_t step;
	uint64_t in_step[STEPS_IN_PEAK];
	uint64_t in_window;
	uint64_t best;
};

struct device_profile {
	uint32_t device;
	uint64_t first, last;
	uint64_t events;
	bool by_request;

	uint64_t ios, reads, writes, flushes, discards;
	uint64_t bytes, meta_ios, meta_bytes;
	uint64_t waited_for, fua, preflushes;
	uint64_t unaligned;
	uint64_t partial, errors;

	unsigned int most_streams;
	struct streams streams;
	struct ping_pong ping_pong;

	uint64_t size_min, size_max;
	uint64_t sizes[PROFILE_SIZE_CLASSES];
	uint64_t size_class_max[PROFILE_SIZE_CLASSES];

	uint64_t completed[IO_KIND_MAX], completed_bytes[IO_KIND_MAX];
	struct rate_meter rate;
	struct histogram latency[IO_KIND_MAX];
	uint64_t in_flight_ns;
	struct join *join;

	uint64_t rmw, rcw;
};

struct profile {
	struct profile_options options;
	uint64_t recorded;
	uint64_t lost;
	uint64_t elsewhere;
	unsigned int n_devices;
	struct device_profile *devices[PROFILE_DEVICES_MAX];
};

/**
 * profile_new() - a profile of nothing yet
 * @options: copied
 * @ret: the profile
 *
 * Return: 0 or a negative errno.
 */
int profile_new(const struct profile_options *options, struct profile **ret)
{
	struct profile *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->options = *options;
	*ret = p;
	return 0;
}

/**
 * profile_free() - free a profile
 * @p: the profile or NULL
 *
 * Return: NULL.
 */
struct profile *profile_free(struct profile *p)
{
	if (!p)
		return NULL;
	for (unsigned int i = 0; i < p->n_devices; i++) {
		join_free(p->devices[i]->join);
		free(p->devices[i]);
	}
	free(p);
	return NULL;
}

static struct device_profile *find_device(const struct profile *p, uint32_t device)
{
	for (unsigned int i = 0; i < p->n_devices; i++)
		if (p->devices[i]->device == device)
			return p->devices[i];
	return NULL;
}

static int add_device(struct profile *p, const struct trace_event *e, struct device_profile **ret)
{
	struct device_profile *d;
	int r;

	if (p->n_devices == PROFILE_DEVICES_MAX)
		return -ENOSPC;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	r = join_new(&d->join);
	if (r < 0) {
		free(d);
		return r;
	}
	d->device = e->device;
	d->first = e->time;
	p->devices[p->n_devices++] = d;
	*ret = d;
	return 0;
}

/* Move the meter's window on to the step of @now. */
static void rate_advance(struct device_profile *d, uint64_t now)
{
	struct rate_meter *m = &d->rate;
	uint64_t step = now / STEP_NS;
	unsigned int active;

	if (step <= m->step)
		return;
	if (m->in_window > m->best)
		m->best = m->in_window;
	active = streams_active(&d->streams, now > PROFILE_PEAK_NS ? now - PROFILE_PEAK_NS : 0);
	if (active > d->most_streams)
		d->most_streams = active;

	if (step - m->step >= STEPS_IN_PEAK) {
		memset(m->in_step, 0, sizeof(m->in_step));
		m->in_window = 0;
		m->step = step;
		return;
	}
	while (m->step < step) {
		uint64_t *oldest = &m->in_step[++m->step % STEPS_IN_PEAK];

		m->in_window -= *oldest;
		*oldest = 0;
	}
}

static void rate_add(struct rate_meter *m, uint64_t bytes)
{
	m->in_step[m->step % STEPS_IN_PEAK] += bytes;
	m->in_window += bytes;
}

static void count_size(struct device_profile *d, uint32_t bytes)
{
	unsigned int class = profile_size_class(bytes);

	d->bytes += bytes;
	d->sizes[class]++;
	if (bytes > d->size_class_max[class])
		d->size_class_max[class] = bytes;
	if (d->size_min == 0 || bytes < d->size_min)
		d->size_min = bytes;
	if (bytes > d->size_max)
		d->size_max = bytes;
}

static bool is_unaligned(const struct profile_options *options, const struct trace_event *e)
{
	uint64_t first = e->sector % options->stripe_bytes * SECTOR + options->offset_bytes;

	return first % options->stripe_bytes != 0 || e->bytes % options->stripe_bytes != 0;
}

static void count_io(struct profile *p, struct device_profile *d, const struct trace_event *e)
{
	enum io_kind kind = io_kind(e);
	bool flushes = e->categories & BLKTRACE_FLUSH;

	join_begin(d->join, &(struct join_request) {
		.time = e->time,
		.end = io_end(e),
		.bytes = e->bytes,
		.kind = kind,
	});

	if (kind == IO_DISCARD) {
		d->discards++;
		return;
	}
	if (kind == IO_FLUSH) {
		d->flushes++;
		d->waited_for++;
		return;
	}

	d->ios++;
	if (kind == IO_WRITE) {
		d->writes++;
		d->preflushes += flushes;
		d->fua += !!(e->categories & BLKTRACE_FUA);
		if (p->options.stripe_bytes != 0)
			d->unaligned += is_unaligned(&p->options, e);
	} else {
		d->reads++;
	}
	if (flushes || e->categories & (BLKTRACE_SYNC | BLKTRACE_FUA))
		d->waited_for++;
	if (e->categories & BLKTRACE_META) {
		d->meta_ios++;
		d->meta_bytes += e->bytes;
	}
	count_size(d, e->bytes);
	streams_add(&d->streams, e->time, kind == IO_WRITE ? STREAM_WRITE : STREAM_READ, e->sector,
		    io_end(e));
	ping_pong_add(&d->ping_pong, e->sector, io_end(e));
}

static void count_completion(struct device_profile *d, const struct trace_event *e)
{
	enum io_kind kind = io_kind(e);
	struct join_request request;
	uint64_t took;

	if (io_is_echo(e))
		return;
	if (e->error != 0)
		d->errors++;
	if (!join_end(d->join, kind, io_end(e), &request)) {
		d->partial++;
		return;
	}
	took = e->time > request.time ? e->time - request.time : 0;
	d->completed[kind]++;
	histogram_add(&d->latency[kind], took);
	if (kind == IO_READ || kind == IO_WRITE) {
		d->in_flight_ns += took;
		d->completed_bytes[kind] += request.bytes;
		rate_add(&d->rate, request.bytes);
	}
}

/*
 * The first request shows that this device builds requests out of its bios. Its
 * I/Os are the requests then, and the bios seen until now are not to be counted
 * beside them.
 */
static int count_by_request(struct device_profile *d)
{
	struct device_profile fresh = {
		.device = d->device,
		.first = d->first,
		.last = d->last,
		.events = d->events,
		.by_request = true,
		.rate.step = d->rate.step,
		.rmw = d->rmw,
		.rcw = d->rcw,
	};
	int r;

	r = join_new(&fresh.join);
	if (r < 0)
		return r;
	join_free(d->join);
	*d = fresh;
	return 0;
}

static void count_message(struct device_profile *d, const struct trace_event *e)
{
	if (trace_says(e, "raid5 rmw"))
		d->rmw++;
	else if (trace_says(e, "raid5 rcw"))
		d->rcw++;
}

/* Requeued: it will be issued once more, and that is not another I/O that ends here. */
static void count_requeue(struct device_profile *d, const struct trace_event *e)
{
	enum io_kind kind = io_kind(e);
	struct join_request request;

	join_end(d->join, kind, io_end(e), &request);
}

/**
 * profile_add() - take an event in
 * @p: the profile
 * @e: the event; events come in the order of time
 *
 * Return: 0 or a negative errno.
 */
int profile_add(struct profile *p, const struct trace_event *e)
{
	struct device_profile *d;
	int r;

	if (e->action == TRACE_NOTE_PROCESS || e->action == TRACE_NOTE_TIMESTAMP)
		return 0;
	d = find_device(p, e->device);
	if (!d) {
		r = add_device(p, e, &d);
		if (r == -ENOSPC) {
			p->elsewhere++;
			return 0;
		}
		if (r < 0)
			return r;
	}
	d->events++;
	if (e->time > d->last)
		d->last = e->time;
	rate_advance(d, e->time);

	switch (e->action) {
	case TRACE_QUEUE:
		if (!d->by_request)
			count_io(p, d, e);
		return 0;
	case TRACE_ISSUE:
		if (!d->by_request) {
			r = count_by_request(d);
			if (r < 0)
				return r;
		}
		count_io(p, d, e);
		return 0;
	case TRACE_REQUEUE:
		count_requeue(d, e);
		return 0;
	case TRACE_COMPLETE:
		count_completion(d, e);
		return 0;
	case TRACE_NOTE_MESSAGE:
		count_message(d, e);
		return 0;
	default:
		return 0;
	}
}

/**
 * profile_add_lost() - records are missing from what was added
 * @p: the profile
 * @records: how many
 */
void profile_add_lost(struct profile *p, uint64_t records)
{
	p->lost += records;
}

/**
 * profile_set_recorded() - how long was recorded
 * @p: the profile
 * @ns: nanoseconds, with the time in which nothing came
 *
 * Where it is not known, as of files, it is from the first event to the last.
 */
void profile_set_recorded(struct profile *p, uint64_t ns)
{
	p->recorded = ns;
}

/**
 * profile_lost() - how many records are missing
 * @p: the profile
 */
uint64_t profile_lost(const struct profile *p)
{
	return p->lost;
}

/**
 * profile_devices() - how many devices were seen
 * @p: the profile
 */
unsigned int profile_devices(const struct profile *p)
{
	return p->n_devices;
}

/**
 * profile_events_elsewhere() - events of devices beyond PROFILE_DEVICES_MAX
 * @p: the profile
 */
uint64_t profile_events_elsewhere(const struct profile *p)
{
	return p->elsewhere;
}

static uint64_t duration_of(const struct profile *p, const struct device_profile *d)
{
	return p->recorded ?: d->last - d->first;
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / whole : 0;
}

static uint64_t per_second(uint64_t bytes, uint64_t ns)
{
	return ns ? (uint64_t)((double)bytes * 1e9 / ns) : 0;
}

static struct profile_latency latency_of(const struct histogram *h)
{
	return (struct profile_latency) {
		.n = h->n,
		.p50 = histogram_percentile(h, 50),
		.p99 = histogram_percentile(h, 99),
	};
}

/*
 * Strided if runs mostly began where a stride said; sequential if most I/Os went
 * on with a stream. A strided workload's runs are sequential, so it is asked first.
 */
static void summarise_access(const struct streams *s, struct profile_summary *ret)
{
	uint64_t contiguous = s->up + s->down;
	uint64_t fresh = s->requests - contiguous - s->strides;

	ret->sequential = share(contiguous, s->requests);
	ret->strided = share(s->strides, s->requests);
	ret->random = share(fresh, s->requests);
	if (s->requests < 2)
		ret->access = ACCESS_UNKNOWN;
	else if (s->strides > 1 && s->strides >= fresh)
		ret->access = ACCESS_STRIDED;
	else if (contiguous >= s->requests - contiguous)
		ret->access = ACCESS_SEQUENTIAL;
	else
		ret->access = ACCESS_RANDOM;
	if (ret->access == ACCESS_SEQUENTIAL)
		ret->direction = s->up >= s->down ? 1 : -1;
}

static void summarise_rates(const struct device_profile *d, struct profile_summary *ret)
{
	uint64_t reads = d->completed_bytes[IO_READ], writes = d->completed_bytes[IO_WRITE];
	uint64_t best = d->rate.in_window > d->rate.best ? d->rate.in_window : d->rate.best;

	ret->read_rate = per_second(reads, ret->duration);
	ret->write_rate = per_second(writes, ret->duration);
	ret->average_rate = per_second(reads + writes, ret->duration);
	ret->peak_rate = per_second(best, PROFILE_PEAK_NS);
	/* A trace shorter than the window is all peak. */
	if (ret->duration < PROFILE_PEAK_NS)
		ret->peak_rate = ret->average_rate;
}

static void summarise_sizes(const struct device_profile *d, struct profile_summary *ret)
{
	unsigned int mode = 0;

	memcpy(ret->sizes, d->sizes, sizeof(ret->sizes));
	for (unsigned int i = 1; i < PROFILE_SIZE_CLASSES; i++)
		if (d->sizes[i] > d->sizes[mode])
			mode = i;
	ret->size_mode = d->size_class_max[mode];
	ret->size_mode_share = share(d->sizes[mode], d->ios);
	ret->size_average = share(d->bytes, d->ios);
	ret->size_min = d->size_min;
	ret->size_max = d->size_max;
}

/**
 * profile_confidence() - how far so much of a workload can be trusted
 * @ios: reads and writes
 * @duration: nanoseconds
 *
 * Return: 0 to 1.
 */
double profile_confidence(uint64_t ios, uint64_t duration)
{
	double enough_ios = ios < ENOUGH_IOS ? share(ios, ENOUGH_IOS) : 1;
	double enough_time = duration < ENOUGH_NS ? share(duration, ENOUGH_NS) : 1;

	return enough_ios * enough_time;
}

/**
 * profile_summarise() - what is known of a device's workload by now
 * @p: the profile
 * @index: of the device, below profile_devices()
 * @ret: the summary
 */
void profile_summarise(const struct profile *p, unsigned int index, struct profile_summary *ret)
{
	const struct device_profile *d = p->devices[index];
	unsigned int active = streams_active(&d->streams, d->last > PROFILE_PEAK_NS ?
							  d->last - PROFILE_PEAK_NS : 0);

	*ret = (struct profile_summary) {
		.device = d->device,
		.events = d->events,
		.ios = d->ios,
		.reads = d->reads,
		.writes = d->writes,
		.flushes = d->flushes,
		.discards = d->discards,
		.completed = d->completed[IO_READ] + d->completed[IO_WRITE],
		.partial_completions = d->partial,
		.never_completed = join_given_up(d->join),
		.errors = d->errors,
		.duration = duration_of(p, d),
		.meta_ios = share(d->meta_ios, d->ios),
		.meta_bytes = share(d->meta_bytes, d->bytes),
		.streams = active > d->most_streams ? active : d->most_streams,
		.returns = ping_pong_share(&d->ping_pong),
		.low_zone = ping_pong_low(&d->ping_pong) * SECTOR,
		.high_zone = ping_pong_high(&d->ping_pong) * SECTOR,
		.sync = share(d->waited_for, d->ios + d->flushes),
		.fua = share(d->fua, d->writes),
		.flush = share(d->flushes + d->preflushes, d->writes),
		.read_latency = latency_of(&d->latency[IO_READ]),
		.write_latency = latency_of(&d->latency[IO_WRITE]),
		.flush_latency = latency_of(&d->latency[IO_FLUSH]),
		.by_request = d->by_request,
		.unaligned = p->options.stripe_bytes ? share(d->unaligned, d->writes) : -1,
		.rmw = d->rmw,
		.rcw = d->rcw,
	};
	if (d->ios > 0)
		ret->content = ret->meta_ios >= 0.5 ? CONTENT_ATTRIBUTES : CONTENT_DATA;
	ret->latency_sensitive = ret->sync >= 0.5;
	summarise_access(&d->streams, ret);
	summarise_rates(d, ret);
	summarise_sizes(d, ret);
	ret->confidence = profile_confidence(ret->ios, ret->duration) *
			  share(ret->events, ret->events + p->lost);
}

/**
 * profile_find() - the same, by device number
 * @p: the profile
 * @device: major << 20 | minor
 * @ret: the summary
 *
 * Return: false if nothing was seen of it.
 */
bool profile_find(const struct profile *p, uint32_t device, struct profile_summary *ret)
{
	for (unsigned int i = 0; i < p->n_devices; i++) {
		if (p->devices[i]->device == device) {
			profile_summarise(p, i, ret);
			return true;
		}
	}
	return false;
}

/**
 * profile_in_flight() - how many reads and writes were under way, on average
 * @p: the profile
 * @device: major << 20 | minor
 */
double profile_in_flight(const struct profile *p, uint32_t device)
{
	const struct device_profile *d = find_device(p, device);

	return d ? share(d->in_flight_ns, duration_of(p, d)) : 0;
}

/**
 * profile_streams() - the longest streams of a device
 * @p: the profile
 * @device: major << 20 | minor
 * @ret: where they go, the longest first
 *
 * Return: how many there are.
 */
unsigned int profile_streams(const struct profile *p, uint32_t device,
			     struct stream_head ret[static STREAMS_KEPT])
{
	const struct device_profile *d = find_device(p, device);

	return d ? streams_longest(&d->streams, ret) : 0;
}

/**
 * profile_access_name() - as it is printed
 * @access: the pattern
 */
const char *profile_access_name(enum profile_access access)
{
	static const char * const names[] = {
		[ACCESS_UNKNOWN] = "unknown",
		[ACCESS_RANDOM] = "random",
		[ACCESS_SEQUENTIAL] = "sequential",
		[ACCESS_STRIDED] = "strided",
	};

	return names[access];
}

/**
 * profile_content_name() - as it is printed
 * @content: data or attributes
 */
const char *profile_content_name(enum profile_content content)
{
	static const char * const names[] = {
		[CONTENT_UNKNOWN] = "unknown",
		[CONTENT_DATA] = "data",
		[CONTENT_ATTRIBUTES] = "attribute",
	};

	return names[content];
}

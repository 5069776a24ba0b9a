// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "join.h"
#include "macros.h"
#include "series.h"

/* The narrowest buckets and rows: what is seen of a recording is not finer. */
#define WIDTH_MIN	1024
#define ROW_SHIFT_MIN	3

/**
 * series_new() - a device of which nothing is known yet
 * @options: copied
 * @ret: the series
 *
 * Return: 0 or a negative errno.
 */
int series_new(const struct series_options *options, struct series **ret)
{
	struct series *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->options = *options;
	s->width = WIDTH_MIN;
	s->q2c = calloc(1, sizeof(*s->q2c));
	s->seeks = calloc(1, sizeof(*s->seeks));
	s->spare = calloc(1, sizeof(*s->spare));
	if (!s->q2c || !s->seeks || !s->spare || join_new(&s->bios) < 0) {
		series_free(s);
		return -ENOMEM;
	}
	s->seeks->row_shift = ROW_SHIFT_MIN;
	s->seeks->low = UINT64_MAX;
	*ret = s;
	return 0;
}

/**
 * series_free() - free a series
 * @s: the series or NULL
 *
 * Return: NULL.
 */
struct series *series_free(struct series *s)
{
	if (!s)
		return NULL;
	join_free(s->bios);
	join_free(s->requests);
	free(s->q2c);
	free(s->d2c);
	free(s->seeks);
	free(s->spare);
	free(s);
	return NULL;
}

/*
 * Time
 */

static void add_bucket(struct series_bucket *to, const struct series_bucket *from)
{
	for (unsigned int kind = 0; kind < SERIES_KINDS; kind++) {
		to->completed[kind] += from->completed[kind];
		to->bytes[kind] += from->bytes[kind];
	}
	to->seeks += from->seeks;
	to->depth_ns += from->depth_ns;
	if (from->depth_max > to->depth_max)
		to->depth_max = from->depth_max;
	to->written += from->written;
	to->touched += from->touched;
	to->whole += from->whole;
	to->rmw += from->rmw;
	to->rcw += from->rcw;
}

static void halve_latencies(struct series_latencies *l)
{
	for (unsigned int kind = 0; l && kind < SERIES_KINDS; kind++) {
		struct histogram *of = l->of[kind];

		for (unsigned int i = 0; i < SERIES_BUCKETS / 2; i++) {
			if (i > 0)
				of[i] = of[2 * i];
			histogram_merge(&of[i], &of[2 * i + 1]);
		}
		memset(&of[SERIES_BUCKETS / 2], 0, sizeof(l->of[kind]) / 2);
	}
}

/* A cell that is full stays full: 2 TiB. */
static void add_cell(uint32_t *to, uint32_t n)
{
	if (__builtin_add_overflow(*to, n, to))
		*to = UINT32_MAX;
}

static void halve_columns(uint32_t *row)
{
	for (unsigned int i = 0; i < SERIES_COLUMNS / 2; i++) {
		if (i > 0)
			row[i] = row[2 * i];
		add_cell(&row[i], row[2 * i + 1]);
	}
	memset(&row[SERIES_COLUMNS / 2], 0, SERIES_COLUMNS / 2 * sizeof(*row));
}

static void double_width(struct series *s)
{
	for (unsigned int i = 0; i < SERIES_BUCKETS / 2; i++) {
		if (i > 0)
			s->buckets[i] = s->buckets[2 * i];
		add_bucket(&s->buckets[i], &s->buckets[2 * i + 1]);
	}
	memset(&s->buckets[SERIES_BUCKETS / 2], 0, sizeof(s->buckets) / 2);
	halve_latencies(s->q2c);
	halve_latencies(s->d2c);
	for (unsigned int kind = 0; kind < SERIES_KINDS; kind++)
		for (unsigned int row = 0; row < SERIES_ROWS; row++)
			halve_columns(s->seeks->cells[kind][row]);
	s->width *= 2;
}

/* Time passes, and requests are in flight meanwhile. What is late counts as of now. */
static void advance(struct series *s, uint64_t time)
{
	uint64_t now = time > s->options.origin ? time - s->options.origin : 0;

	if (now < s->end)
		now = s->end;
	while (now / s->width >= SERIES_BUCKETS)
		double_width(s);
	s->end = now;
}

static struct series_bucket *bucket_now(struct series *s)
{
	return &s->buckets[s->end / s->width];
}

/*
 * Queue depth
 */

/* Whoever was in flight was so until now. */
static void settle_depth(struct series *s)
{
	while (s->changed < s->end) {
		struct series_bucket *bucket = &s->buckets[s->changed / s->width];
		uint64_t ns = s->width - s->changed % s->width;

		if (ns > s->end - s->changed)
			ns = s->end - s->changed;
		bucket->depth_ns += s->in_flight * ns;
		if (s->in_flight > bucket->depth_max)
			bucket->depth_max = s->in_flight;
		s->changed += ns;
	}
}

static struct join *io_join(const struct series *s)
{
	return s->by_request ? s->requests : s->bios;
}

static void set_depth(struct series *s)
{
	struct series_bucket *now = bucket_now(s);

	settle_depth(s);
	s->in_flight = join_in_flight(io_join(s));
	if (s->in_flight > now->depth_max)
		now->depth_max = s->in_flight;
}

/*
 * Addresses
 */

static void copy_row(struct series_seeks *to, const struct series_seeks *from, unsigned int row)
{
	uint64_t shift = to->row_shift - from->row_shift;
	uint64_t at = ((from->first_row + row) >> shift) - to->first_row;

	/* Rows that nothing was in yet may lie anywhere. */
	if (at >= SERIES_ROWS)
		return;
	for (unsigned int kind = 0; kind < SERIES_KINDS; kind++)
		for (unsigned int i = 0; i < SERIES_COLUMNS; i++)
			add_cell(&to->cells[kind][at][i], from->cells[kind][row][i]);
}

/* Make room for all from @low to @high; on the side where it was too small, as much as there is. */
static void fit_rows(struct series *s)
{
	struct series_seeks *old = s->seeks, *new = s->spare;
	bool downwards = old->low >> old->row_shift < old->first_row;

	memset(new, 0, sizeof(*new));
	new->low = old->low;
	new->high = old->high;
	new->row_shift = old->row_shift;
	while ((new->high >> new->row_shift) - (new->low >> new->row_shift) >= SERIES_ROWS)
		new->row_shift++;
	new->first_row = new->low >> new->row_shift;
	if (downwards) {
		uint64_t top = new->high >> new->row_shift;

		new->first_row = top >= SERIES_ROWS ? top - (SERIES_ROWS - 1) : 0;
	}
	for (unsigned int row = 0; row < SERIES_ROWS; row++)
		copy_row(new, old, row);
	s->seeks = new;
	s->spare = old;
}

static void mark(struct series *s, enum series_kind kind, uint64_t first, uint64_t last)
{
	struct series_seeks *seeks = s->seeks;
	bool fresh = seeks->low > seeks->high;
	uint64_t column = s->end / (s->width / 2);

	if (first < seeks->low)
		seeks->low = first;
	if (last > seeks->high)
		seeks->high = last;
	if (fresh)
		seeks->first_row = first >> seeks->row_shift;
	if (seeks->low >> seeks->row_shift < seeks->first_row ||
	    (seeks->high >> seeks->row_shift) - seeks->first_row >= SERIES_ROWS) {
		fit_rows(s);
		seeks = s->seeks;
	}
	for (uint64_t at = first, n; at <= last; at += n) {
		uint64_t row = at >> seeks->row_shift, size = 1ull << seeks->row_shift;

		n = MIN(size - at % size, last - at + 1);
		add_cell(&seeks->cells[kind][row - seeks->first_row][column], n);
	}
}

static void count_seek(struct series *s, uint64_t first, uint64_t end)
{
	if (s->has_next && first < s->next) {
		s->backward[profile_size_class(s->next - first) + 1]++;
	} else if (s->has_next) {
		uint64_t distance = first - s->next;

		s->forward[distance ? profile_size_class(distance) + 1 : 0]++;
	}
	if (s->has_next && first != s->next)
		bucket_now(s)->seeks++;
	s->next = end;
	s->has_next = true;
}

/* Which stripes a write lies in, and which of them it covers. */
static void count_stripes(struct series *s, const struct trace_event *e)
{
	uint64_t width = s->options.stripe_bytes;
	uint64_t first = (e->sector % width * SECTOR + s->options.offset_bytes) % width;
	uint64_t end = first + e->bytes;
	struct series_bucket *now = bucket_now(s);
	uint64_t borders = end / width, begins = first ? 1 : 0;

	now->written += e->bytes;
	now->touched += (end - 1) / width + 1;
	now->whole += borders > begins ? borders - begins : 0;
}

/*
 * Requests
 */

static void count_io(struct series *s, const struct trace_event *e)
{
	enum io_kind io = io_kind(e);
	enum series_kind kind = io == IO_WRITE ? SERIES_WRITE : SERIES_READ;
	uint64_t end = io_end(e);

	/* What ends behind the last sector there can be is no place of a disk. */
	if ((io != IO_READ && io != IO_WRITE) || end <= e->sector)
		return;
	s->sizes[kind][profile_size_class(e->bytes)]++;
	mark(s, kind, e->sector, end - 1);
	count_seek(s, e->sector, end);
	if (kind == SERIES_WRITE && s->options.stripe_bytes)
		count_stripes(s, e);
}

static void begin(struct series *s, struct join *join, const struct trace_event *e)
{
	join_begin(join, &(struct join_request) {
		.time = s->end,
		.end = io_end(e),
		.bytes = e->bytes,
		.kind = io_kind(e),
	});
	if (join != io_join(s))
		return;
	set_depth(s);
	count_io(s, e);
}

static void count_ended(struct series *s, const struct join *join, struct series_latencies *latencies,
			const struct join_request *request)
{
	enum series_kind kind = request->kind == IO_WRITE ? SERIES_WRITE : SERIES_READ;
	struct series_bucket *now = bucket_now(s);

	if (request->kind != IO_READ && request->kind != IO_WRITE)
		return;
	histogram_add(&latencies->of[kind][now - s->buckets], s->end - request->time);
	if (join == io_join(s)) {
		now->completed[kind]++;
		now->bytes[kind] += request->bytes;
	}
}

/*
 * A completion ends one request, and all bios that were merged into it: they lie
 * one before the other, and the last one ends where it does.
 */
static void end_all(struct series *s, struct join *join, struct series_latencies *latencies,
		    const struct trace_event *e)
{
	enum io_kind kind = io_kind(e);
	uint64_t at = io_end(e);
	struct join_request request;

	do {
		if (!join_end(join, kind, at, &request))
			return;
		count_ended(s, join, latencies, &request);
		at -= request.bytes / SECTOR;
	} while (kind != IO_FLUSH && at > e->sector && at < request.end);
}

static void complete(struct series *s, const struct trace_event *e)
{
	if (io_is_echo(e))
		return;
	end_all(s, s->bios, s->q2c, e);
	if (s->by_request)
		end_all(s, s->requests, s->d2c, e);
	set_depth(s);
}

/*
 * The first request shows that this device builds requests. Its I/Os are these
 * then; the bios seen until now are known by their Q2C only.
 */
static int count_by_request(struct series *s)
{
	struct series_latencies *d2c = calloc(1, sizeof(*d2c));

	if (!d2c || join_new(&s->requests) < 0) {
		free(d2c);
		return -ENOMEM;
	}
	s->d2c = d2c;
	s->by_request = true;
	for (unsigned int i = 0; i < SERIES_BUCKETS; i++)
		s->buckets[i] = (struct series_bucket) {
			.rmw = s->buckets[i].rmw,
			.rcw = s->buckets[i].rcw,
		};
	memset(s->sizes, 0, sizeof(s->sizes));
	memset(s->backward, 0, sizeof(s->backward));
	memset(s->forward, 0, sizeof(s->forward));
	memset(s->seeks, 0, sizeof(*s->seeks));
	s->seeks->row_shift = ROW_SHIFT_MIN;
	s->seeks->low = UINT64_MAX;
	s->has_next = false;
	s->changed = s->end;
	set_depth(s);
	return 0;
}

/* Requeued: it will be issued once more. */
static void requeue(struct series *s, const struct trace_event *e)
{
	struct join_request request;

	if (s->by_request)
		join_end(s->requests, io_kind(e), io_end(e), &request);
	set_depth(s);
}

/**
 * series_add() - take an event in
 * @s: the series
 * @e: the event; events come in the order of time
 *
 * Return: 0 or a negative errno.
 */
int series_add(struct series *s, const struct trace_event *e)
{
	int r;

	if (e->device != s->options.device || e->action == TRACE_NOTE_PROCESS ||
	    e->action == TRACE_NOTE_TIMESTAMP)
		return 0;
	advance(s, e->time);
	switch (e->action) {
	case TRACE_QUEUE:
		begin(s, s->bios, e);
		return 0;
	case TRACE_ISSUE:
		if (!s->by_request) {
			r = count_by_request(s);
			if (r < 0)
				return r;
		}
		begin(s, s->requests, e);
		return 0;
	case TRACE_REQUEUE:
		requeue(s, e);
		return 0;
	case TRACE_COMPLETE:
		complete(s, e);
		return 0;
	case TRACE_NOTE_MESSAGE:
		bucket_now(s)->rmw += trace_says(e, "raid5 rmw");
		bucket_now(s)->rcw += trace_says(e, "raid5 rcw");
		return 0;
	default:
		return 0;
	}
}

/**
 * series_finish() - there will be no more events
 * @s: the series
 */
void series_finish(struct series *s)
{
	settle_depth(s);
}

/**
 * series_n_buckets() - how many buckets have time in them
 * @s: the series
 */
unsigned int series_n_buckets(const struct series *s)
{
	return s->end / s->width + 1;
}

// SPDX-License-Identifier: GPL-2.0
/* Rates, and orders. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "macros.h"
#include "top.h"

#define BLOCK		4096
#define MIB		1048576

static bool is_comparable(const struct top_reading *before, const struct top_reading *now)
{
	if (!before || strcmp(before->disk, now->disk) != 0 || before->time_us >= now->time_us)
		return false;
	for (size_t i = 0; i < N_TOP_COUNTERS; i++)
		if (before->counters[i] > now->counters[i])
			return false;
	return true;
}

static double share(double part, double all)
{
	return all > 0 ? part / all : NAN;
}

/*
 * What the members read beyond what the array was asked for, md read in order to write;
 * unless it rebuilds something, or has nothing to do with parity.
 */
static double pre_reads(const struct top_reading *before, const struct top_reading *now,
			const double more[static N_TOP_COUNTERS])
{
	double blocks, mib;

	if (before->state != TOP_ARRAY_WELL || now->state != TOP_ARRAY_WELL)
		return NAN;
	/* The counters are read one after another, so this may be a little less than nothing. */
	blocks = fmax(0, more[TOP_MEMBERS_READ_SECTORS] - more[TOP_ARRAY_READ_SECTORS]) * SECTOR /
		 BLOCK;
	mib = more[TOP_ARRAY_WRITTEN_SECTORS] * SECTOR / MIB;
	return share(blocks, mib);
}

/**
 * top_compute() - what a device does, by two readings
 * @before: the older one, or NULL
 * @now: the newer one
 * @ret: what it does; no rates if the two cannot be compared, as after a reset
 */
void top_compute(const struct top_reading *before, const struct top_reading *now,
		 struct top_device *ret)
{
	const uint64_t *values = now->values;
	double more[N_TOP_COUNTERS], seconds, bypassed = 0, whole, stripes;
	struct top_device d = {
		.now = *now,
		.read_bytes = NAN, .written_bytes = NAN, .reads = NAN, .writes = NAN,
		.whole = NAN, .filled = NAN, .partial = NAN, .full = NAN, .pre_reads = NAN,
		.staged = share(values[TOP_STAGED_BYTES], values[TOP_HIGH_WATER]),
		.flushes = NAN, .flush_us = NAN, .waits = NAN, .hits = NAN,
	};

	if (!is_comparable(before, now)) {
		*ret = d;
		return;
	}
	seconds = (double)(now->time_us - before->time_us) / 1e6;
	for (size_t i = 0; i < N_TOP_COUNTERS; i++)
		more[i] = now->counters[i] - before->counters[i];
	/* But for a few with FUA they are whole stripes, or they would have been staged. */
	if (values[TOP_STRIPE_BYTES])
		bypassed = more[TOP_BYPASSED_BYTES] / values[TOP_STRIPE_BYTES];
	whole = more[TOP_WHOLE_STRIPES] + bypassed;
	stripes = whole + more[TOP_FILLED_STRIPES] + more[TOP_PARTIAL_STRIPES];
	d.read_bytes = more[TOP_READ_SECTORS] * SECTOR / seconds;
	d.written_bytes = more[TOP_WRITTEN_SECTORS] * SECTOR / seconds;
	d.reads = more[TOP_READS] / seconds;
	d.writes = more[TOP_WRITES] / seconds;
	d.whole = whole / seconds;
	d.filled = more[TOP_FILLED_STRIPES] / seconds;
	d.partial = more[TOP_PARTIAL_STRIPES] / seconds;
	d.full = share(whole + more[TOP_FILLED_STRIPES], stripes);
	d.pre_reads = pre_reads(before, now, more);
	d.flushes = more[TOP_FLUSHES] / seconds;
	d.flush_us = share(more[TOP_FLUSH_US], more[TOP_FLUSHES]);
	d.waits = (more[TOP_PARKED] + more[TOP_THROTTLED]) / seconds;
	d.hits = share(more[TOP_PREFETCH_HIT_BYTES], more[TOP_READ_SECTORS] * SECTOR);
	*ret = d;
}

/**
 * top_device_name() - what people call a device
 * @view: in which it is
 * @disk: as in /sys/block
 *
 * Return: its name, or @disk if it is not there.
 */
const char *top_device_name(const struct top_view *view, const char *disk)
{
	for (size_t i = 0; i < view->n_devices; i++)
		if (strcmp(view->devices[i].now.disk, disk) == 0)
			return view->devices[i].now.name;
	return disk;
}

/*
 * Orders
 */

static const char * const sort_names[N_TOP_SORTS] = {
	[TOP_BY_NAME] = "name",
	[TOP_BY_READ] = "read",
	[TOP_BY_WRITE] = "write",
	[TOP_BY_FULL] = "full",
	[TOP_BY_PRE_READS] = "pre-reads",
	[TOP_BY_STAGED] = "staged",
	[TOP_BY_FLUSH] = "flush",
	[TOP_BY_HELD] = "held",
	[TOP_BY_STREAMS] = "streams",
};

/**
 * top_sort_name() - a word for an order
 * @sort: the order
 */
const char *top_sort_name(enum top_sort sort)
{
	return sort_names[sort];
}

/**
 * top_sort_parse() - the order of such a name
 * @text: its name
 * @ret: the order
 *
 * Return: 0 or -EINVAL.
 */
int top_sort_parse(const char *text, enum top_sort *ret)
{
	for (size_t i = 0; i < N_TOP_SORTS; i++) {
		if (strcasecmp(text, sort_names[i]) == 0) {
			*ret = i;
			return 0;
		}
	}
	return -EINVAL;
}

/* Larger comes first. Of what should be large, what is small. */
static double key_of(const struct top_device *d, enum top_sort sort)
{
	switch (sort) {
	case TOP_BY_READ:
		return d->read_bytes;
	case TOP_BY_WRITE:
		return d->written_bytes;
	case TOP_BY_FULL:
		return -d->full;
	case TOP_BY_PRE_READS:
		return d->pre_reads;
	case TOP_BY_STAGED:
		return d->staged;
	case TOP_BY_FLUSH:
		return d->flush_us;
	case TOP_BY_HELD:
		return d->now.values[TOP_HELD_FILES];
	case TOP_BY_STREAMS:
		return d->now.values[TOP_ACTIVE_STREAMS];
	default:
		return 0;
	}
}

struct order {
	enum top_sort sort;
	bool reverse;
};

/* What is not known is last in either direction. */
static int compare(const void *a, const void *b, void *data)
{
	const struct top_device *x = a, *y = b;
	const struct order *order = data;
	double p = key_of(x, order->sort), q = key_of(y, order->sort);
	int direction = order->reverse ? -1 : 1;

	if (isnan(p) != isnan(q))
		return isnan(p) ? 1 : -1;
	if (!isnan(p) && p != q)
		return p > q ? -direction : direction;
	return strverscmp(x->now.name, y->now.name) * (order->sort == TOP_BY_NAME ? direction : 1);
}

/**
 * top_sort() - bring devices into an order
 * @devices: these
 * @n: how many
 * @sort: by what; those alike are sorted by name
 * @reverse: the opposite order
 */
void top_sort(struct top_device *devices, size_t n, enum top_sort sort, bool reverse)
{
	struct order order = { .sort = sort, .reverse = reverse };

	if (n)
		qsort_r(devices, n, sizeof(*devices), compare, &order);
}

static int compare_files(const void *a, const void *b)
{
	const struct file_view *x = a, *y = b;

	if (x->wait_us != y->wait_us)
		return x->wait_us > y->wait_us ? -1 : 1;
	if (x->outstanding != y->outstanding)
		return x->outstanding > y->outstanding ? -1 : 1;
	if (x->longest_wait_us != y->longest_wait_us)
		return x->longest_wait_us > y->longest_wait_us ? -1 : 1;
	return 0;
}

/**
 * top_sort_files() - who waits longest first, then who has most outstanding
 * @files: these
 * @n: how many
 */
void top_sort_files(struct file_view *files, size_t n)
{
	if (n)
		qsort(files, n, sizeof(*files), compare_files);
}

static int compare_streams(const void *a, const void *b)
{
	const struct stream_view *x = a, *y = b;

	if (x->idle_ms / 1000 != y->idle_ms / 1000)
		return x->idle_ms < y->idle_ms ? -1 : 1;
	if (x->read != y->read)
		return x->read > y->read ? -1 : 1;
	return 0;
}

/**
 * top_sort_streams() - those that are being read first, then those of which most was read
 * @streams: these
 * @n: how many
 */
void top_sort_streams(struct stream_view *streams, size_t n)
{
	if (n)
		qsort(streams, n, sizeof(*streams), compare_streams);
}

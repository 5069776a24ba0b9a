/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What one device did over time, from trace events as they come, in memory that
 * does not grow with them: time is cut into buckets, addresses into rows, and both
 * are made twice as wide when there is no more room.
 *
 * An I/O is what it is for the profile: a request (D) on devices that build
 * requests, else a bio (Q). Names are btt's: Q2C is from queueing a bio to its
 * completion, D2C from issuing a request to its.
 */
#ifndef FULLSTRIPE_SERIES_H
#define FULLSTRIPE_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "histogram.h"
#include "profile.h"
#include "trace.h"

#define SERIES_BUCKETS		256
/* The seek plot: each bucket has two columns. */
#define SERIES_COLUMNS		(2 * SERIES_BUCKETS)
#define SERIES_ROWS		256
/* Distances between I/Os: none, or up to 2^(i-1) sectors. */
#define SERIES_SEEK_CLASSES	66

enum series_kind {
	SERIES_READ,
	SERIES_WRITE,
	SERIES_KINDS,
};

/**
 * struct series_bucket - what happened in one stretch of time
 * @completed: I/Os that ended
 * @bytes: of these
 * @seeks: I/Os that did not begin where the one before ended
 * @depth_ns: nanoseconds that requests spent in flight, of all of them together
 * @depth_max: most in flight at a time
 * @written: bytes of the writes that came, if there are stripes
 * @touched: stripes that each of these lies in
 * @whole: of these, stripes that it covers
 * @rmw: stripes that md had to read and modify before writing
 * @rcw: stripes that md had to complete by reading
 */
struct series_bucket {
	uint64_t completed[SERIES_KINDS];
	uint64_t bytes[SERIES_KINDS];
	uint64_t seeks;
	uint64_t depth_ns;
	uint64_t depth_max;
	uint64_t written, touched, whole;
	uint64_t rmw, rcw;
};

/**
 * struct series_latencies - of the I/Os that ended in each bucket
 * @of: by kind
 */
struct series_latencies {
	struct histogram of[SERIES_KINDS][SERIES_BUCKETS];
};

/**
 * struct series_seeks - the seek plot
 * @row_shift: a row is 2^row_shift sectors
 * @first_row: number of the lowest row, counted from sector 0
 * @low: first sector that was touched
 * @high: last one; below @low if none was
 * @cells: sectors of these addresses that were read or written in this time
 */
struct series_seeks {
	unsigned int row_shift;
	uint64_t first_row;
	uint64_t low, high;
	uint32_t cells[SERIES_KINDS][SERIES_ROWS][SERIES_COLUMNS];
};

/**
 * struct series_options - how to look at it
 * @device: major << 20 | minor; events of others are left out
 * @origin: where time begins, in nanoseconds
 * @stripe_bytes: stripe width; 0 if there is none
 * @offset_bytes: from a stripe border to the device's first byte
 */
struct series_options {
	uint32_t device;
	uint64_t origin;
	uint64_t stripe_bytes;
	uint64_t offset_bytes;
};

/**
 * struct series - a device over time
 * @options: as given
 * @width: of a bucket, in nanoseconds
 * @end: time of the latest event, since the origin
 * @by_request: the device builds requests, and an I/O is one of these
 * @in_flight: at @end
 * @buckets: what happened; those after @end are empty
 * @q2c: from Q to C
 * @d2c: from D to C; NULL if there are no requests
 * @seeks: the seek plot
 * @sizes: I/Os of more than 2^(i-1) and up to 2^i bytes
 * @backward: I/Os that began before the end of the one before, by distance
 * @forward: that began there (class 0), or behind it
 */
struct series {
	struct series_options options;
	uint64_t width;
	uint64_t end;
	bool by_request;
	uint64_t in_flight;
	struct series_bucket buckets[SERIES_BUCKETS];
	struct series_latencies *q2c, *d2c;
	struct series_seeks *seeks;
	uint64_t sizes[SERIES_KINDS][PROFILE_SIZE_CLASSES];
	uint64_t backward[SERIES_SEEK_CLASSES], forward[SERIES_SEEK_CLASSES];

	/* private: */
	uint64_t changed;	/* when in_flight was changed */
	uint64_t next;		/* sector behind the latest I/O */
	bool has_next;
	struct join *bios, *requests;
	struct series_seeks *spare;
};

int series_new(const struct series_options *options, struct series **ret);
struct series *series_free(struct series *s);
int series_add(struct series *s, const struct trace_event *event);
void series_finish(struct series *s);
unsigned int series_n_buckets(const struct series *s);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which of the streams a device serves does a request go on with. Each stream
 * has a head, so several of them side by side are not taken for random access.
 */
#ifndef FULLSTRIPE_STREAMS_H
#define FULLSTRIPE_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

/* At once, of reads and of writes each. */
#define STREAMS_MAX	64
/* Of those that are over, the longest. */
#define STREAMS_KEPT	16

#define STREAMS_NOWHERE	UINT64_MAX

enum stream_kind {
	STREAM_READ,
	STREAM_WRITE,
	STREAM_KINDS,
};

/**
 * struct stream_head - what is kept of one stream
 * @first: first sector of its first request
 * @began: when that was
 * @sectors: of all its requests
 * @run_start: first sector of the run it is in
 * @start: first sector of its last request
 * @end: first sector behind that
 * @stride: from the run before to this one; 0 if there was none
 * @next_run: where its stride leads to; STREAMS_NOWHERE if it has none, or if the run there has
 *	begun, and so a head of its own
 * @last_used: its last request, in nanoseconds
 * @steps: requests that went on with it
 * @kind: a stream is of one or the other
 */
struct stream_head {
	uint64_t first;
	uint64_t began;
	uint64_t sectors;
	uint64_t run_start;
	uint64_t start;
	uint64_t end;
	uint64_t stride;
	uint64_t next_run;
	uint64_t last_used;
	uint64_t steps;
	enum stream_kind kind;
};

/**
 * struct stream_table - the streams of one kind
 * @n: heads in use
 * @latest: the one used last
 * @heads: the least recently used is given up for a new one
 */
struct stream_table {
	unsigned int n;
	unsigned int latest;
	struct stream_head heads[STREAMS_MAX];
};

/**
 * struct streams - the streams of a device, all zero at first
 * @requests: taken in
 * @up: of these, began where the last one of a stream ended
 * @down: ended where the last one began
 * @strides: began a run as far from a stream's last run as that was from the one before
 * @tables: those that are going on
 * @n_kept: how many are in @kept
 * @kept: streams that were given up, the longest of them
 */
struct streams {
	uint64_t requests;
	uint64_t up, down, strides;
	struct stream_table tables[STREAM_KINDS];
	unsigned int n_kept;
	struct stream_head kept[STREAMS_KEPT];
};

void streams_add(struct streams *s, uint64_t time, enum stream_kind kind, uint64_t start,
		 uint64_t end);
unsigned int streams_longest(const struct streams *s, struct stream_head ret[static STREAMS_KEPT]);
unsigned int streams_active(const struct streams *s, uint64_t since);

#endif

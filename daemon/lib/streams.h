/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which of the streams a device serves does a request go on with. Each stream
 * has a head, so several of them side by side are not taken for random access.
 */
#ifndef FULLSTRIPE_STREAMS_H
#define FULLSTRIPE_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#define STREAMS_MAX	64
/* Of those that are over, the longest. */
#define STREAMS_KEPT	16

/**
 * struct stream_head - what is kept of one stream
 * @first: first sector of its first request
 * @began: when that was
 * @sectors: of all its requests
 * @run_start: first sector of the run it is in
 * @start: first sector of its last request
 * @end: first sector behind that
 * @stride: from the run before to this one; 0 if there was none
 * @left: its stride led to a new run, which has a head of its own
 * @last_used: its last request, in nanoseconds
 * @steps: requests that went on with it
 * @kind: read or write; a stream is one or the other
 */
struct stream_head {
	uint64_t first;
	uint64_t began;
	uint64_t sectors;
	uint64_t run_start;
	uint64_t start;
	uint64_t end;
	uint64_t stride;
	bool left;
	uint64_t last_used;
	uint64_t steps;
	unsigned int kind;
};

/**
 * struct streams - the streams of a device, all zero at first
 * @requests: taken in
 * @up: of these, began where the last one of a stream ended
 * @down: ended where the last one began
 * @strides: began a run as far from a stream's last run as that was from the one before
 * @n: heads in use
 * @latest: the one used last
 * @heads: the least recently used is given up for a new one
 * @n_kept: how many are in @kept
 * @kept: streams that were given up, the longest of them
 */
struct streams {
	uint64_t requests;
	uint64_t up, down, strides;
	unsigned int n;
	unsigned int latest;
	struct stream_head heads[STREAMS_MAX];
	unsigned int n_kept;
	struct stream_head kept[STREAMS_KEPT];
};

void streams_add(struct streams *s, uint64_t time, unsigned int kind, uint64_t start, uint64_t end);
unsigned int streams_longest(const struct streams *s, struct stream_head ret[static STREAMS_KEPT]);
unsigned int streams_active(const struct streams *s, uint64_t since);

#endif

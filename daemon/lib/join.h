/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which completion belongs to which request. The trace has no number that links
 * them. A driver may cut a bio's front off (dm trims it, md clones it) but never
 * its end, so the two are joined by kind and END sector, the oldest first among
 * equal ends. A completion whose end is no request's end is of a part that was
 * split off, and is no I/O of its own.
 */
#ifndef FULLSTRIPE_JOIN_H
#define FULLSTRIPE_JOIN_H

#include <stdbool.h>
#include <stdint.h>

#include "trace.h"

/* More requests than this are never in flight on one device; older ones are given up. */
#define JOIN_MAX	8192

enum io_kind {
	IO_READ,
	IO_WRITE,
	IO_FLUSH,
	IO_DISCARD,
	IO_KIND_MAX,
};

/**
 * struct join_request - what is kept of a request in flight
 * @time: when it came, in nanoseconds
 * @end: first sector behind it; 0 for a flush, which has no place
 * @bytes: its length
 * @kind: what it does
 */
struct join_request {
	uint64_t time;
	uint64_t end;
	uint32_t bytes;
	enum io_kind kind;
};

enum io_kind io_kind(const struct trace_event *e);
uint64_t io_end(const struct trace_event *e);
bool io_is_echo(const struct trace_event *e);

struct join;

int join_new(struct join **ret);
struct join *join_free(struct join *j);
void join_begin(struct join *j, const struct join_request *request);
bool join_end(struct join *j, enum io_kind kind, uint64_t end, struct join_request *ret);
uint64_t join_in_flight(const struct join *j);
uint64_t join_given_up(const struct join *j);

#endif

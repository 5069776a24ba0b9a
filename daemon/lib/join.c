// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "blktrace_format.h"
#include "join.h"
#include "macros.h"

#define BUCKETS	16384
#define NONE	UINT16_MAX

_Static_assert(JOIN_MAX < NONE, "slots are numbered in 16 bits");

/*
 * A slot is in its bucket's chain, oldest first, and in the list of all slots in
 * use by age; or in the list of free ones, which uses @newer.
 */
struct slot {
	struct join_request request;
	uint16_t next_in_bucket;
	uint16_t older, newer;
};

struct join {
	uint64_t given_up;
	uint64_t in_flight;
	uint16_t free;
	uint16_t oldest, newest;
	uint16_t buckets[BUCKETS];
	struct slot slots[JOIN_MAX];
};

static uint16_t *bucket_of(struct join *j, enum io_kind kind, uint64_t end)
{
	/* Ends are multiples of 8 as a rule: multiply, and take the well mixed upper bits. */
	uint64_t hash = (end * IO_KIND_MAX + kind) * 0x9e3779b97f4a7c15ull;

	return &j->buckets[hash >> 50];
}

_Static_assert(1ull << (64 - 50) == BUCKETS, "the hash numbers all buckets");

static bool matches(const struct slot *slot, enum io_kind kind, uint64_t end)
{
	return slot->request.kind == kind && slot->request.end == end;
}

static void release(struct join *j, uint16_t *link)
{
	uint16_t number = *link;
	struct slot *slot = &j->slots[number];

	*link = slot->next_in_bucket;
	if (slot->older == NONE)
		j->oldest = slot->newer;
	else
		j->slots[slot->older].newer = slot->newer;
	if (slot->newer == NONE)
		j->newest = slot->older;
	else
		j->slots[slot->newer].older = slot->older;
	slot->newer = j->free;
	j->free = number;
	j->in_flight--;
}

static void give_up_oldest(struct join *j)
{
	const struct join_request *oldest = &j->slots[j->oldest].request;
	uint16_t *link = bucket_of(j, oldest->kind, oldest->end);

	while (*link != j->oldest)
		link = &j->slots[*link].next_in_bucket;
	release(j, link);
	j->given_up++;
}

/**
 * io_kind() - what a request does
 * @e: an event about it
 */
enum io_kind io_kind(const struct trace_event *e)
{
	if (e->categories & (BLKTRACE_DISCARD | BLKTRACE_WRITE_ZEROES))
		return IO_DISCARD;
	if (e->bytes == 0)
		return IO_FLUSH;
	return e->categories & BLKTRACE_WRITE ? IO_WRITE : IO_READ;
}

/**
 * io_end() - first sector behind a request
 * @e: an event about it
 *
 * A flush has no place, whatever its record says.
 */
uint64_t io_end(const struct trace_event *e)
{
	return io_kind(e) == IO_FLUSH ? 0 : e->sector + e->bytes / SECTOR;
}

/**
 * io_is_echo() - whether a completion is of nothing
 * @e: the completion
 *
 * A disk does a write that begins with a flush as three requests, and completes
 * the write itself once more after them, with no bytes left to do.
 */
bool io_is_echo(const struct trace_event *e)
{
	return e->bytes == 0 && !(e->categories & (BLKTRACE_FLUSH | BLKTRACE_DISCARD));
}

/**
 * join_new() - nothing in flight yet
 * @ret: the join
 *
 * Return: 0 or a negative errno.
 */
int join_new(struct join **ret)
{
	struct join *j = malloc(sizeof(*j));

	if (!j)
		return -ENOMEM;
	j->given_up = 0;
	j->in_flight = 0;
	j->oldest = NONE;
	j->newest = NONE;
	memset(j->buckets, 0xff, sizeof(j->buckets));
	j->free = 0;
	for (uint16_t i = 0; i < JOIN_MAX; i++)
		j->slots[i].newer = i + 1 < JOIN_MAX ? i + 1 : NONE;
	*ret = j;
	return 0;
}

/**
 * join_free() - forget everything
 * @j: the join or NULL
 *
 * Return: NULL.
 */
struct join *join_free(struct join *j)
{
	free(j);
	return NULL;
}

/**
 * join_begin() - a request came
 * @j: the join
 * @request: copied
 */
void join_begin(struct join *j, const struct join_request *request)
{
	uint16_t *link, number;
	struct slot *slot;

	if (j->free == NONE)
		give_up_oldest(j);
	number = j->free;
	slot = &j->slots[number];
	j->free = slot->newer;
	j->in_flight++;

	*slot = (struct slot) {
		.request = *request,
		.next_in_bucket = NONE,
		.older = j->newest,
		.newer = NONE,
	};
	if (j->newest == NONE)
		j->oldest = number;
	else
		j->slots[j->newest].newer = number;
	j->newest = number;

	link = bucket_of(j, request->kind, request->end);
	while (*link != NONE)
		link = &j->slots[*link].next_in_bucket;
	*link = number;
}

/**
 * join_end() - something was completed
 * @j: the join
 * @kind: what it did
 * @end: first sector behind it
 * @ret: the request that this ends
 *
 * Return: false if it ends none: it is a part of one.
 */
bool join_end(struct join *j, enum io_kind kind, uint64_t end, struct join_request *ret)
{
	uint16_t *link = bucket_of(j, kind, end);

	while (*link != NONE && !matches(&j->slots[*link], kind, end))
		link = &j->slots[*link].next_in_bucket;
	if (*link == NONE)
		return false;
	*ret = j->slots[*link].request;
	release(j, link);
	return true;
}

/**
 * join_in_flight() - requests whose completion was not seen yet
 * @j: the join
 */
uint64_t join_in_flight(const struct join *j)
{
	return j->in_flight;
}

/**
 * join_given_up() - requests whose completion was never seen
 * @j: the join
 */
uint64_t join_given_up(const struct join *j)
{
	return j->given_up;
}

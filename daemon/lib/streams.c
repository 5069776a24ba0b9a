// SPDX-License-Identifier: GPL-2.0
#include <stddef.h>
#include <string.h>

#include "streams.h"

/* Requests that must have gone on with a stream before it counts as one. */
#define CONFIRMED	3

enum step {
	STEP_NEW,
	STEP_UP,
	STEP_DOWN,
	STEP_STRIDE,
};

static enum step step_of(const struct stream_head *h, unsigned int kind, uint64_t start,
			 uint64_t end)
{
	if (h->kind != kind)
		return STEP_NEW;
	if (start == h->end)
		return STEP_UP;
	if (end == h->start)
		return STEP_DOWN;
	/* Distances wrap, so that a stride downwards is an ordinary number too. */
	if (h->stride != 0 && !h->left && start == h->run_start + h->stride)
		return STEP_STRIDE;
	return STEP_NEW;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * A request that goes on with nothing may be the second run of a strided stream.
 * Which one is not known; it is the nearest, if that is so. Being wrong costs
 * nothing: a third run at just this distance has to confirm it.
 */
static uint64_t possible_stride(const struct streams *s, unsigned int kind, uint64_t start)
{
	const struct stream_head *nearest = NULL;

	for (unsigned int i = 0; i < s->n; i++) {
		const struct stream_head *h = &s->heads[i];

		if (h->kind == kind && (!nearest || distance(h->run_start, start) <
						    distance(nearest->run_start, start)))
			nearest = h;
	}
	return nearest ? start - nearest->run_start : 0;
}

/* Put it among the longest that are kept, if it is one. Return: how many are there then. */
static unsigned int keep(struct stream_head kept[static STREAMS_KEPT], unsigned int n,
			 const struct stream_head *h)
{
	unsigned int at;

	if (h->steps < CONFIRMED || (n == STREAMS_KEPT && h->sectors <= kept[n - 1].sectors))
		return n;
	if (n < STREAMS_KEPT)
		n++;
	for (at = n - 1; at > 0 && kept[at - 1].sectors < h->sectors; at--)
		kept[at] = kept[at - 1];
	kept[at] = *h;
	return n;
}

static struct stream_head *head_to_reuse(struct streams *s)
{
	struct stream_head *oldest = &s->heads[0];

	if (s->n < STREAMS_MAX)
		return &s->heads[s->n++];
	for (unsigned int i = 1; i < s->n; i++)
		if (s->heads[i].last_used < oldest->last_used)
			oldest = &s->heads[i];
	s->n_kept = keep(s->kept, s->n_kept, oldest);
	return oldest;
}

static struct stream_head *begin(struct streams *s, const struct stream_head *head)
{
	struct stream_head *h = head_to_reuse(s);

	*h = *head;
	return h;
}

/* The run that a stride led to is a stream of its own, for this one still goes on. */
static void go_on(struct streams *s, struct stream_head *h)
{
	h->steps++;
	if (h->left) {
		h->left = false;
		s->strides--;
	}
}

/* The old run keeps its head: it may go on, which shows that this was no stride. */
static struct stream_head *follow_stride(struct streams *s, struct stream_head *h)
{
	struct stream_head next = {
		.first = h->first,
		.began = h->began,
		.sectors = h->sectors,
		.run_start = h->run_start + h->stride,
		.stride = h->stride,
		.steps = h->steps + 1,
		.kind = h->kind,
	};

	h->left = true;
	h->steps = 0;
	h->sectors = 0;
	return begin(s, &next);
}

/**
 * streams_add() - take a request in
 * @s: the device's streams
 * @time: when, in nanoseconds
 * @kind: read or write, as a number
 * @start: first sector
 * @end: first sector behind it
 */
void streams_add(struct streams *s, uint64_t time, unsigned int kind, uint64_t start, uint64_t end)
{
	enum step step = STEP_NEW;
	struct stream_head *h = NULL;

	for (unsigned int i = 0; i < s->n && step == STEP_NEW; i++) {
		/* The one that was used last is the likeliest. */
		h = &s->heads[(s->latest + i) % s->n];
		step = step_of(h, kind, start, end);
	}

	s->requests++;
	switch (step) {
	case STEP_UP:
		s->up++;
		go_on(s, h);
		break;
	case STEP_DOWN:
		s->down++;
		go_on(s, h);
		break;
	case STEP_STRIDE:
		s->strides++;
		h = follow_stride(s, h);
		break;
	case STEP_NEW:
		h = begin(s, &(struct stream_head) {
			.first = start,
			.began = time,
			.run_start = start,
			.stride = possible_stride(s, kind, start),
			.kind = kind,
		});
		break;
	}
	h->start = start;
	h->end = end;
	h->sectors += end - start;
	h->last_used = time;
	s->latest = h - s->heads;
}

/**
 * streams_longest() - the streams that most sectors belong to
 * @s: the streams
 * @ret: where they go, the longest first
 *
 * Return: how many there are.
 */
unsigned int streams_longest(const struct streams *s, struct stream_head ret[static STREAMS_KEPT])
{
	unsigned int n = s->n_kept;

	memcpy(ret, s->kept, n * sizeof(*ret));
	for (unsigned int i = 0; i < s->n; i++)
		n = keep(ret, n, &s->heads[i]);
	return n;
}

/**
 * streams_active() - how many streams there are at once
 * @s: the streams
 * @since: those used after this time
 */
unsigned int streams_active(const struct streams *s, uint64_t since)
{
	unsigned int active = 0;

	for (unsigned int i = 0; i < s->n; i++)
		if (s->heads[i].steps >= CONFIRMED && s->heads[i].last_used >= since)
			active++;
	return active;
}

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

static enum step step_of(const struct stream_head *h, uint64_t start, uint64_t end)
{
	if (start == h->end)
		return STEP_UP;
	if (end == h->start)
		return STEP_DOWN;
	if (start == h->next_run)
		return STEP_STRIDE;
	return STEP_NEW;
}

/* The stream that a request goes on with, and how. */
static enum step find(struct stream_table *t, uint64_t start, uint64_t end,
		      struct stream_head **ret)
{
	/* The one that was used last is the likeliest. */
	unsigned int at = t->latest;

	for (unsigned int i = 0; i < t->n; i++) {
		enum step step = step_of(&t->heads[at], start, end);

		if (step != STEP_NEW) {
			*ret = &t->heads[at];
			return step;
		}
		at = at + 1 < t->n ? at + 1 : 0;
	}
	return STEP_NEW;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/**
 * struct survey - what is to be known of all heads when a request goes on with none
 * @stride: from the nearest run to the request
 * @oldest: the head that was used longest ago
 */
struct survey {
	uint64_t stride;
	unsigned int oldest;
};

/*
 * A request that goes on with nothing may be the second run of a strided stream.
 * Which one is not known; it is the nearest, if that is so. Being wrong costs
 * nothing: a third run at just this distance has to confirm it. Distances wrap, so that
 * a stride downwards is an ordinary number too. The oldest head is looked for in the same
 * pass, where neither search waits for the comparisons of the other.
 */
static struct survey survey(const struct stream_table *t, uint64_t start)
{
	uint64_t nearest = UINT64_MAX, last_used = UINT64_MAX;
	struct survey ret = { 0 };

	for (unsigned int i = 0; i < t->n; i++) {
		const struct stream_head *h = &t->heads[i];
		uint64_t away = distance(h->run_start, start);

		ret.stride = away < nearest ? start - h->run_start : ret.stride;
		nearest = away < nearest ? away : nearest;
		ret.oldest = h->last_used < last_used ? i : ret.oldest;
		last_used = h->last_used < last_used ? h->last_used : last_used;
	}
	return ret;
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

/* A head of its own for a stream, that of the @oldest one if all are in use. */
static struct stream_head *begin(struct streams *s, unsigned int oldest,
				 const struct stream_head *head)
{
	struct stream_table *t = &s->tables[head->kind];
	struct stream_head *h;

	if (t->n < STREAMS_MAX) {
		h = &t->heads[t->n++];
	} else {
		h = &t->heads[oldest];
		s->n_kept = keep(s->kept, s->n_kept, h);
	}
	*h = *head;
	h->next_run = h->stride ? h->run_start + h->stride : STREAMS_NOWHERE;
	return h;
}

/* The run that a stride led to is a stream of its own, for this one still goes on. */
static void go_on(struct streams *s, struct stream_head *h)
{
	h->steps++;
	if (h->stride && h->next_run == STREAMS_NOWHERE) {
		h->next_run = h->run_start + h->stride;
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
		.run_start = h->next_run,
		.stride = h->stride,
		.steps = h->steps + 1,
		.kind = h->kind,
	};

	h->next_run = STREAMS_NOWHERE;
	h->steps = 0;
	h->sectors = 0;
	return begin(s, survey(&s->tables[h->kind], next.run_start).oldest, &next);
}

/**
 * streams_add() - take a request in
 * @s: the device's streams
 * @time: when, in nanoseconds
 * @kind: what it does
 * @start: first sector
 * @end: first sector behind it
 */
void streams_add(struct streams *s, uint64_t time, enum stream_kind kind, uint64_t start,
		 uint64_t end)
{
	struct stream_table *t = &s->tables[kind];
	struct stream_head *h = NULL;
	struct survey of;

	s->requests++;
	switch (find(t, start, end, &h)) {
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
		of = survey(t, start);
		h = begin(s, of.oldest, &(struct stream_head) {
			.first = start,
			.began = time,
			.run_start = start,
			.stride = of.stride,
			.kind = kind,
		});
		break;
	}
	h->start = start;
	h->end = end;
	h->sectors += end - start;
	h->last_used = time;
	t->latest = h - t->heads;
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
	for (unsigned int kind = 0; kind < STREAM_KINDS; kind++)
		for (unsigned int i = 0; i < s->tables[kind].n; i++)
			n = keep(ret, n, &s->tables[kind].heads[i]);
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

	for (unsigned int kind = 0; kind < STREAM_KINDS; kind++)
		for (unsigned int i = 0; i < s->tables[kind].n; i++) {
			const struct stream_head *h = &s->tables[kind].heads[i];

			active += h->steps >= CONFIRMED && h->last_used >= since;
		}
	return active;
}

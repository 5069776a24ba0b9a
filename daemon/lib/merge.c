// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>

#include "merge.h"

struct stream {
	void *source;
	bool ended;
	struct trace_event next;	/* valid while the stream is in the heap */
	struct trace_decoder decoder;
};

/* A stream in the heap; its time is kept here, too, as it is what is compared. */
struct head {
	uint64_t time;
	size_t stream;
};

/*
 * A stream is in one of three places, or has ended: in a heap, the earliest at
 * its root, when its next event is ready; in waiting when that must be got
 * ready; in idle when it had no more bytes, until everything else is given out.
 * The one at the root whose event was given out stays there until the next call,
 * so that the event lives until then, and what follows it need not sink far.
 */
struct merge {
	merge_fill_fn fill;
	struct stream **streams;
	size_t n_streams;
	struct head *heap;
	size_t n_heap;
	bool given_out;		/* the root's */
	size_t *waiting;
	size_t n_waiting;
	size_t *idle;
	size_t n_idle;
};

static bool earlier(struct head a, struct head b)
{
	return a.time < b.time || (a.time == b.time && a.stream < b.stream);
}

static struct head head_of(const struct merge *m, size_t stream)
{
	return (struct head) { m->streams[stream]->next.time, stream };
}

static void heap_push(struct merge *m, struct head head)
{
	size_t at = m->n_heap++;

	while (at > 0 && earlier(head, m->heap[(at - 1) / 2])) {
		m->heap[at] = m->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	m->heap[at] = head;
}

/* Put @head at the root, in place of what is there, and let it sink. */
static void heap_sink(struct merge *m, struct head head)
{
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= m->n_heap)
			break;
		if (child + 1 < m->n_heap && earlier(m->heap[child + 1], m->heap[child]))
			child++;
		if (!earlier(m->heap[child], head))
			break;
		m->heap[at] = m->heap[child];
		at = child;
	}
	m->heap[at] = head;
}

static void heap_pop(struct merge *m)
{
	struct head last = m->heap[--m->n_heap];

	if (m->n_heap > 0)
		heap_sink(m, last);
}

/* Get the stream's next event ready. Return: 1 if there is one, 0 at its end, negative errno. */
static int stream_advance(struct merge *m, struct stream *s)
{
	while (!trace_decoder_next(&s->decoder, &s->next)) {
		size_t room;
		void *space;
		ssize_t n;

		if (s->ended)
			return 0;
		space = trace_decoder_space(&s->decoder, &room);
		n = m->fill(s->source, space, room);
		if (n < 0)
			return n;
		if (n == 0) {
			trace_decoder_finish(&s->decoder);
			s->ended = true;
			return 0;
		}
		trace_decoder_commit(&s->decoder, n);
	}
	return 1;
}

/* Go on with the stream at the root, whose event is used. */
static int advance_root(struct merge *m)
{
	size_t stream = m->heap[0].stream;
	int r = stream_advance(m, m->streams[stream]);

	if (r < 0 && r != -EAGAIN)
		return r;
	m->given_out = false;
	if (r > 0) {
		heap_sink(m, head_of(m, stream));
		return 0;
	}
	if (r == -EAGAIN)
		m->idle[m->n_idle++] = stream;
	heap_pop(m);
	return 0;
}

/* Get the next event of each stream ready that waits for it. */
static int poll_waiting(struct merge *m)
{
	while (m->n_waiting > 0) {
		size_t stream = m->waiting[m->n_waiting - 1];
		int r = stream_advance(m, m->streams[stream]);

		if (r < 0 && r != -EAGAIN)
			return r;
		m->n_waiting--;
		if (r > 0)
			heap_push(m, head_of(m, stream));
		else if (r == -EAGAIN)
			m->idle[m->n_idle++] = stream;
	}
	return 0;
}

static void wake_idle(struct merge *m)
{
	while (m->n_idle > 0)
		m->waiting[m->n_waiting++] = m->idle[--m->n_idle];
}

/**
 * merge_new() - a merge of no streams yet
 * @fill: gets the bytes of any of its streams
 * @ret: the merge
 *
 * Return: 0 or a negative errno.
 */
int merge_new(merge_fill_fn fill, struct merge **ret)
{
	struct merge *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->fill = fill;
	*ret = m;
	return 0;
}

/**
 * merge_free() - free a merge; its sources are its user's
 * @m: the merge or NULL
 *
 * Return: NULL.
 */
struct merge *merge_free(struct merge *m)
{
	if (!m)
		return NULL;
	for (size_t i = 0; i < m->n_streams; i++)
		free(m->streams[i]);
	free(m->streams);
	free(m->heap);
	free(m->waiting);
	free(m->idle);
	free(m);
	return NULL;
}

static int grow(size_t **array, size_t n)
{
	size_t *bigger = reallocarray(*array, n, sizeof(**array));

	if (!bigger)
		return -ENOMEM;
	*array = bigger;
	return 0;
}

/**
 * merge_add() - add a stream, before the first merge_next()
 * @m: the merge
 * @source: given to the fill function
 *
 * Return: 0 or a negative errno.
 */
int merge_add(struct merge *m, void *source)
{
	struct stream **streams;
	struct head *heap;
	struct stream *s;

	streams = reallocarray(m->streams, m->n_streams + 1, sizeof(struct stream *));
	if (!streams)
		return -ENOMEM;
	m->streams = streams;
	heap = reallocarray(m->heap, m->n_streams + 1, sizeof(*heap));
	if (!heap)
		return -ENOMEM;
	m->heap = heap;
	if (grow(&m->waiting, m->n_streams + 1) < 0 || grow(&m->idle, m->n_streams + 1) < 0)
		return -ENOMEM;
	s = malloc(sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->source = source;
	s->ended = false;
	trace_decoder_init(&s->decoder);
	m->waiting[m->n_waiting++] = m->n_streams;
	m->streams[m->n_streams++] = s;
	return 0;
}

/**
 * merge_next() - take the earliest event of all streams
 * @m: the merge
 * @until: only if its time is no later than this. A live recording passes a
 *	moment that all CPUs have surely written up to, a file UINT64_MAX.
 * @ret: set when there is one; valid until the next call
 *
 * A stream is read only as far as this needs, so what is later than @until
 * stays where it came from.
 *
 * Return: 1 if there was one, 0 if there is none now, or a negative errno.
 */
int merge_next(struct merge *m, uint64_t until, const struct trace_event **ret)
{
	int r = 0;

	if (m->given_out)
		r = advance_root(m);
	if (r == 0)
		r = poll_waiting(m);
	if (r < 0)
		return r;
	if (m->n_heap == 0 || m->heap[0].time > until) {
		wake_idle(m);
		return 0;
	}

	*ret = &m->streams[m->heap[0].stream]->next;
	m->given_out = true;
	return 1;
}

/**
 * merge_decoder() - what was found in a stream so far
 * @m: the merge
 * @stream: number of the stream, in the order of merge_add()
 */
const struct trace_decoder *merge_decoder(const struct merge *m, size_t stream)
{
	return &m->streams[stream]->decoder;
}

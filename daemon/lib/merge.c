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

/*
 * A stream is in one of three places, or has ended: in a heap, the earliest at
 * its root, when its next event is ready; in waiting when that must be got
 * ready; in idle when it had no more bytes, until everything else is given out.
 */
struct merge {
	merge_fill_fn fill;
	struct stream **streams;
	size_t n_streams;
	size_t *heap;
	size_t n_heap;
	size_t *waiting;
	size_t n_waiting;
	size_t *idle;
	size_t n_idle;
};

static bool earlier(const struct merge *m, size_t a, size_t b)
{
	uint64_t time_a = m->streams[a]->next.time, time_b = m->streams[b]->next.time;

	return time_a < time_b || (time_a == time_b && a < b);
}

static void heap_push(struct merge *m, size_t stream)
{
	size_t at = m->n_heap++;

	while (at > 0 && earlier(m, stream, m->heap[(at - 1) / 2])) {
		m->heap[at] = m->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	m->heap[at] = stream;
}

/* Put @stream at the root, in place of what is there, and let it sink. */
static void heap_sink(struct merge *m, size_t stream)
{
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= m->n_heap)
			break;
		if (child + 1 < m->n_heap && earlier(m, m->heap[child + 1], m->heap[child]))
			child++;
		if (!earlier(m, m->heap[child], stream))
			break;
		m->heap[at] = m->heap[child];
		at = child;
	}
	m->heap[at] = stream;
}

static void heap_pop(struct merge *m)
{
	size_t last = m->heap[--m->n_heap];

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
			heap_push(m, stream);
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
	struct stream *s;

	streams = reallocarray(m->streams, m->n_streams + 1, sizeof(struct stream *));
	if (!streams)
		return -ENOMEM;
	m->streams = streams;
	if (grow(&m->heap, m->n_streams + 1) < 0 || grow(&m->waiting, m->n_streams + 1) < 0 ||
	    grow(&m->idle, m->n_streams + 1) < 0)
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
	/*
	 * The stream at the root gave its event out in the call before, and is
	 * advanced only now, so that the event lived until here.
	 */
	int r = poll_waiting(m);

	if (r < 0)
		return r;
	if (m->n_heap == 0 || m->streams[m->heap[0]]->next.time > until) {
		wake_idle(m);
		return 0;
	}

	*ret = &m->streams[m->heap[0]]->next;
	m->waiting[m->n_waiting++] = m->heap[0];
	heap_pop(m);
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

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Several streams of records (one a CPU) merged into one, by time. Records are
 * ordered within a stream only; equal times keep the order of the streams.
 * Memory: one window for each stream, whatever their length.
 */
#ifndef FULLSTRIPE_MERGE_H
#define FULLSTRIPE_MERGE_H

#include "trace.h"

/**
 * typedef merge_fill_fn - get more bytes of a stream
 * @source: the stream's own
 * @space: where they go
 * @room: how many fit
 *
 * Return: bytes put there, 0 at the stream's end, -EAGAIN if there are none now
 * but may be later, or another negative errno.
 */
typedef ssize_t (*merge_fill_fn)(void *source, void *space, size_t room);

struct merge;

int merge_new(merge_fill_fn fill, struct merge **ret);
struct merge *merge_free(struct merge *m);
int merge_add(struct merge *m, void *source);
int merge_next(struct merge *m, uint64_t until, const struct trace_event **ret);
const struct trace_decoder *merge_decoder(const struct merge *m, size_t stream);

#endif

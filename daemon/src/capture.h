/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A live trace of a device, by blktrace's ioctls and the relay files in debugfs.
 *
 * A queue has one trace and nobody owns it, so this one is careful: a trace that
 * somebody else set up is neither stopped nor torn down, and a trace of ours that
 * somebody else ended is noticed.
 */
#ifndef FULLSTRIPE_CAPTURE_H
#define FULLSTRIPE_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/trace.h"

/* How often to poll, in microseconds: the kernel holds some MiB for each CPU meanwhile. */
#define CAPTURE_POLL_USEC	250000

struct capture;

/**
 * typedef capture_event_fn - take an event
 * @event: events come in the order of time
 * @data: given to capture_poll()
 *
 * Return: 0 or a negative errno, which ends the poll.
 */
typedef int (*capture_event_fn)(const struct trace_event *event, void *data);

int capture_start(const char *node, const char *record_folder, struct capture **ret);
int capture_poll(struct capture *c, capture_event_fn fn, void *data);
int capture_stop(struct capture *c, capture_event_fn fn, void *data, uint64_t *ret_lost);
struct capture *capture_free(struct capture *c);
uint64_t capture_inode(const struct capture *c);
bool capture_end_stale(const char *node, const char *name, uint64_t inode);

#endif

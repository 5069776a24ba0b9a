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

#include "lib/obstacle.h"
#include "lib/trace.h"

/*
 * How often to poll, and how late that may be, in microseconds: the kernel holds some MiB for
 * each CPU meanwhile. (What sd-event takes for exact enough by itself is a quarter of a second.)
 */
#define CAPTURE_POLL_USEC	100000
#define CAPTURE_LATE_USEC	10000

struct capture;

/**
 * struct capture_extent - how much was recorded
 * @ns: how long, nanoseconds
 * @lost: records that had no room
 */
struct capture_extent {
	uint64_t ns;
	uint64_t lost;
};

int capture_start(const char *node, const char *record_folder, struct capture **ret,
		  enum obstacle *ret_obstacle);
int capture_log_obstacle(const char *node, enum obstacle obstacle, int error);
int capture_poll(struct capture *c, trace_event_fn take, void *data);
int capture_stop(struct capture *c, trace_event_fn take, void *data, struct capture_extent *ret);
struct capture *capture_free(struct capture *c);

#endif

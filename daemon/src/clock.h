/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FULLSTRIPE_CLOCK_H
#define FULLSTRIPE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Of CLOCK_MONOTONIC, as traces and timers have it, in nanoseconds. */
static inline uint64_t clock_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

#endif

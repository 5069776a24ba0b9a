/* SPDX-License-Identifier: GPL-2.0 */
/* Why a device has no trace, so that its workload is known from counters alone. */
#ifndef FULLSTRIPE_OBSTACLE_H
#define FULLSTRIPE_OBSTACLE_H

enum obstacle {
	OBSTACLE_NONE,
	OBSTACLE_NO_DEBUGFS,
	OBSTACLE_LOCKED_DOWN,
	OBSTACLE_NO_BLKTRACE,
	OBSTACLE_BUSY,
	OBSTACLES,
};

const char *obstacle_name(enum obstacle obstacle);
const char *obstacle_reason(enum obstacle obstacle);
const char *obstacle_remedy(enum obstacle obstacle);

#endif

// SPDX-License-Identifier: GPL-2.0
#include "obstacle.h"

static const struct {
	const char *name, *reason, *remedy;
} obstacles[OBSTACLES] = {
	[OBSTACLE_NONE] = { "none", "nothing is in the way", "nothing needs to be done" },
	[OBSTACLE_NO_DEBUGFS] = {
		"no-debugfs", "debugfs is not mounted",
		"try: mount -t debugfs debugfs /sys/kernel/debug",
	},
	[OBSTACLE_LOCKED_DOWN] = {
		"locked-down", "the kernel is locked down (Secure Boot?), which forbids tracing",
		"it is allowed again only after a boot without that",
	},
	[OBSTACLE_NO_BLKTRACE] = {
		"no-blktrace", "this kernel has no CONFIG_BLK_DEV_IO_TRACE",
		"use one that has it",
	},
	[OBSTACLE_BUSY] = {
		"busy", "it is traced by somebody else (blktrace, ftrace or debugfs)",
		"nothing was touched, try again when that has ended",
	},
};

/**
 * obstacle_name() - as it is in JSON
 * @obstacle: what is in the way
 */
const char *obstacle_name(enum obstacle obstacle)
{
	return obstacles[obstacle].name;
}

/**
 * obstacle_reason() - as people are told
 * @obstacle: what is in the way
 */
const char *obstacle_reason(enum obstacle obstacle)
{
	return obstacles[obstacle].reason;
}

/**
 * obstacle_remedy() - what to do about it
 * @obstacle: what is in the way
 */
const char *obstacle_remedy(enum obstacle obstacle)
{
	return obstacles[obstacle].remedy;
}

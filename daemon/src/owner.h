/* SPDX-License-Identifier: GPL-2.0 */
/* Processes of ours mark with their number what stays in the kernel when they are killed. */
#ifndef FULLSTRIPE_OWNER_H
#define FULLSTRIPE_OWNER_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

/*
 * Whether the process that left a mark is no more; also if it had our number, as after a
 * restart in a PID namespace. So this one must not have left any yet.
 */
static inline bool owner_is_gone(pid_t owner)
{
	return owner == getpid() || (kill(owner, 0) < 0 && errno == ESRCH);
}

#endif

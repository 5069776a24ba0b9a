// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "md.h"
#include "sysfs.h"

/**
 * md_read_state() - how an array is
 * @root: of sysfs, usually SYSFS_ROOT
 * @array: as in /sys/class/block
 * @ret: its state
 *
 * Return: 0 or a negative errno: -ENOENT if its level, as RAID0, has nothing to keep in
 * step, or if it is no array of md.
 */
int md_read_state(const char *root, const char *array, struct md_state *ret)
{
	char action[32];
	uint64_t degraded;
	int r;

	r = sysfs_read_text(action, sizeof(action), "%s/class/block/%s/md/sync_action", root, array);
	if (r == 0)
		r = sysfs_read_number(&degraded, "%s/class/block/%s/md/degraded", root, array);
	if (r < 0)
		return r;
	*ret = (struct md_state) {
		.busy = strcmp(action, "idle") != 0 && strcmp(action, "frozen") != 0,
		.degraded = degraded,
	};
	return 0;
}

/**
 * md_logs_partial_parity() - whether an array keeps what a write in part could lose
 * @root: of sysfs, usually SYSFS_ROOT
 * @array: as in /sys/class/block
 *
 * Return: true if it has a partial parity log; see Documentation/driver-api/md/raid5-ppl.rst
 * of the kernel. False also if it does not say.
 */
bool md_logs_partial_parity(const char *root, const char *array)
{
	char policy[32];

	return sysfs_read_text(policy, sizeof(policy), "%s/class/block/%s/md/consistency_policy",
			       root, array) == 0 && strcmp(policy, "ppl") == 0;
}

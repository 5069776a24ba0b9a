/* SPDX-License-Identifier: GPL-2.0 */
/* How an array of md is, as it says in sysfs. */
#ifndef FULLSTRIPE_MD_H
#define FULLSTRIPE_MD_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct md_state - of an array
 * @busy: it is resynced, checked, rebuilt or reshaped
 * @degraded: members that it lacks
 */
struct md_state {
	bool busy;
	uint64_t degraded;
};

int md_read_state(const char *root, const char *array, struct md_state *ret);
bool md_logs_partial_parity(const char *root, const char *array);

#endif

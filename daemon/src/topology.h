/* SPDX-License-Identifier: GPL-2.0 */
/* What lies below a block device: the array, where in it the device begins, the layers' limits. */
#ifndef FULLSTRIPE_TOPOLOGY_H
#define FULLSTRIPE_TOPOLOGY_H

#include "lib/dm_table.h"
#include "lib/rule.h"
#include "sysfs.h"

/**
 * struct topology - what lies below a device
 * @array: its shape; the level is RULE_LEVEL_NONE if none was found
 * @array_name: of the array, empty if none was found
 * @n_limits: layers
 * @limits: the largest request of each, the device's own first
 */
struct topology {
	struct rule_array array;
	char array_name[SYSFS_NAME];
	size_t n_limits;
	struct rule_limit limits[RULE_LAYERS_MAX];
};

/**
 * typedef topology_table_fn - the table of a device-mapper device
 * @name: as in sysfs, dm-3
 * @ret: its only line
 *
 * Return: 0, -EOPNOTSUPP if it has several, or another negative errno.
 */
typedef int (*topology_table_fn)(const char *name, struct dm_table_line *ret);

int topology_read(const char *root, const char *name, topology_table_fn table,
		  struct topology *ret);

#endif

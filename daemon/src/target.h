/* SPDX-License-Identifier: GPL-2.0 */
/* fullstripe devices, as device-mapper and sysfs show them. */
#ifndef FULLSTRIPE_TARGET_H
#define FULLSTRIPE_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/dm_table.h"
#include "lib/rule.h"
#include "lib/state.h"
#include "sysfs.h"

#define TARGET_TYPE		"fullstripe"
#define TARGET_UUID_PREFIX	"FULLSTRIPE-"
#define TARGET_NAME		128
#define TARGET_PARAMS		1024

/**
 * struct block_device - one that was named by a person
 * @node: its device node
 * @name: as in /sys/class/block
 * @device: major << 20 | minor, as traces have it
 */
struct block_device {
	char node[256];
	char name[SYSFS_NAME];
	uint32_t device;
};

/**
 * struct target - one fullstripe device
 * @dm_name: its device-mapper name
 * @lower: the device below it, as in /sys/class/block
 * @lower_start: where in that it begins, in sectors
 * @folder: its attributes
 * @id: what its state is kept by: survives renumbering
 * @instance: which making of it this is
 */
struct target {
	char dm_name[TARGET_NAME];
	char lower[SYSFS_NAME];
	uint64_t lower_start;
	char folder[2 * SYSFS_NAME];
	char id[STATE_DEVICE];
	char instance[STATE_INSTANCE];
};

/**
 * struct dm_state - what device-mapper says of a fullstripe device
 * @suspended: whether it is
 * @failing: whether it has data that it could not write to the device below, or something was lost and nobody told
 * @staged_bytes: what it has that is not written
 */
struct dm_state {
	bool suspended, failing;
	uint64_t staged_bytes;
};

int block_device_find(const char *text, struct block_device *ret);
int dm_read_table(const char *dm_name, struct dm_table_line *ret);
int dm_read_table_of(const char *name, struct dm_table_line *ret);
int dm_read_state(const char *dm_name, struct dm_state *ret);
int target_find(const struct block_device *device, struct target *ret);
bool target_is(const char *name, const char *instance);
int target_read_settings(const struct target *target, struct rule_settings *ret);

#endif

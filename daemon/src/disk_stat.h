/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel counts of a disk or partition, in sysfs. */
#ifndef FULLSTRIPE_DISK_STAT_H
#define FULLSTRIPE_DISK_STAT_H

#include <stdint.h>

/**
 * struct disk_stat - of a disk or partition
 * @reads: that ended
 * @read_sectors: of these
 * @writes: that ended
 * @written_sectors: of these
 * @discards: that ended
 * @discarded_sectors: of these
 */
struct disk_stat {
	uint64_t reads;
	uint64_t read_sectors;
	uint64_t writes;
	uint64_t written_sectors;
	uint64_t discards;
	uint64_t discarded_sectors;
};

int disk_stat_read(const char *root, const char *name, struct disk_stat *ret);
int disk_stat_read_members(const char *root, const char *array, uint64_t *ret_sectors);

#endif

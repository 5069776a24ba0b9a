// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "cleanup.h"
#include "disk_stat.h"
#include "sysfs.h"

/**
 * disk_stat_read() - of one
 * @root: of sysfs, usually SYSFS_ROOT
 * @name: as in /sys/class/block
 * @ret: what was counted; see Documentation/ABI/stable/sysfs-block of the kernel
 *
 * Return: 0 or a negative errno.
 */
int disk_stat_read(const char *root, const char *name, struct disk_stat *ret)
{
	unsigned long long v[6];
	char text[256];
	int r;

	r = sysfs_read_text(text, sizeof(text), "%s/class/block/%s/stat", root, name);
	if (r < 0)
		return r;
	if (sscanf(text, "%llu %*u %llu %*u %llu %*u %llu %*u %*u %*u %*u %llu %*u %llu", &v[0],
		   &v[1], &v[2], &v[3], &v[4], &v[5]) != 6)
		return -EBADMSG;
	*ret = (struct disk_stat) { v[0], v[1], v[2], v[3], v[4], v[5] };
	return 0;
}

/**
 * disk_stat_read_members() - what was read of all that an array lies on
 * @root: of sysfs, usually SYSFS_ROOT
 * @array: as in /sys/class/block
 * @ret_sectors: sectors
 *
 * Return: 0 or a negative errno.
 */
int disk_stat_read_members(const char *root, const char *array, uint64_t *ret_sectors)
{
	_cleanup_closedir_ DIR *dir = NULL;
	char path[PATH_MAX];
	struct dirent *entry;
	uint64_t sectors = 0;

	snprintf(path, sizeof(path), "%s/class/block/%s/slaves", root, array);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		struct disk_stat stat;
		int r;

		if (entry->d_name[0] == '.')
			continue;
		r = disk_stat_read(root, entry->d_name, &stat);
		if (r < 0)
			return r;
		sectors += stat.read_sectors;
	}
	*ret_sectors = sectors;
	return 0;
}

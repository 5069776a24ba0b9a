// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "in_use.h"
#include "log.h"

static bool is_mounted(const struct block_device *device, char by[static IN_USE_BY])
{
	_cleanup_fclose_ FILE *file = fopen("/proc/self/mountinfo", "re");
	_cleanup_free_ char *line = NULL;
	size_t size = 0;

	while (file && getline(&line, &size, file) >= 0) {
		unsigned int major, minor;
		char where[256];

		if (sscanf(line, "%*u %*u %u:%u %*s %255s", &major, &minor, where) != 3 ||
		    (major << 20 | minor) != device->device)
			continue;
		snprintf(by, IN_USE_BY, "is mounted on %s: unmount it, and mount the new device there",
			 where);
		return true;
	}
	return false;
}

static bool is_swap(const struct block_device *device, char by[static IN_USE_BY])
{
	_cleanup_fclose_ FILE *file = fopen("/proc/swaps", "re");
	_cleanup_free_ char *line = NULL;
	size_t size = 0;

	while (file && getline(&line, &size, file) >= 0) {
		struct stat a, b;

		line[strcspn(line, " \t")] = '\0';
		if (stat(line, &a) < 0 || stat(device->node, &b) < 0 || !S_ISBLK(a.st_mode) ||
		    a.st_rdev != b.st_rdev)
			continue;
		snprintf(by, IN_USE_BY, "is swap space: swapoff(8) gives it back");
		return true;
	}
	return false;
}

/* Arrays and device-mapper devices that it is part of. */
static bool is_held(const struct block_device *device, char by[static IN_USE_BY])
{
	_cleanup_closedir_ DIR *dir = NULL;
	char path[PATH_MAX], name[SYSFS_NAME];
	struct dirent *entry;

	snprintf(path, sizeof(path), SYSFS_ROOT "/class/block/%s/holders", device->name);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		if (sysfs_read_text(name, sizeof(name), "%s/%s/dm/name", path, entry->d_name) < 0)
			snprintf(by, IN_USE_BY, "is part of %.80s", entry->d_name);
		else
			snprintf(by, IN_USE_BY, "is part of %.80s (%.120s)", entry->d_name, name);
		return true;
	}
	return false;
}

/**
 * block_device_in_use() - whether somebody has a device for himself
 * @device: the device
 * @by: who, as the end of a sentence that begins with the device
 *
 * Return: 1 if so, 0 if not, or a negative errno, which has been logged.
 */
int block_device_in_use(const struct block_device *device, char by[static IN_USE_BY])
{
	_cleanup_close_ int fd = open(device->node, O_RDONLY | O_EXCL | O_CLOEXEC);

	if (fd >= 0)
		return 0;
	if (errno != EBUSY)
		return log_errno(errno, "%s", device->node);
	if (!is_mounted(device, by) && !is_swap(device, by) && !is_held(device, by))
		snprintf(by, IN_USE_BY, "or a partition of it is in use; lsblk(8) and fuser(1) show by whom");
	return 1;
}

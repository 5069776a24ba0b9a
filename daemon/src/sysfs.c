// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "lib/units.h"
#include "sysfs.h"

static int format_path(char path[static PATH_MAX], const char *format, va_list args)
{
	int n = vsnprintf(path, PATH_MAX, format, args);

	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int open_attribute(int flags, const char *format, va_list args)
{
	char path[PATH_MAX];
	int fd, r = format_path(path, format, args);

	if (r < 0)
		return r;
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static ssize_t read_attribute(void *ret, size_t size, const char *format, va_list args)
{
	_cleanup_close_ int fd = open_attribute(O_RDONLY, format, args);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = read(fd, ret, size);
	return n < 0 ? -errno : n;
}

static int read_text(char *ret, size_t size, const char *format, va_list args)
{
	char text[256];
	ssize_t n = read_attribute(text, sizeof(text) - 1, format, args);

	if (n < 0)
		return n;
	while (n > 0 && isspace((unsigned char)text[n - 1]))
		n--;
	if ((size_t)n >= size)
		return -ENOBUFS;
	memcpy(ret, text, n);
	ret[n] = '\0';
	return 0;
}

/**
 * sysfs_read_text() - read an attribute
 * @ret: its value without the end of line
 * @size: of @ret
 * @path_format: its file
 *
 * Return: 0 or a negative errno.
 */
int sysfs_read_text(char *ret, size_t size, const char *path_format, ...)
{
	va_list args;
	int r;

	va_start(args, path_format);
	r = read_text(ret, size, path_format, args);
	va_end(args);
	return r;
}

/**
 * sysfs_read_number() - read an attribute that is a number
 * @ret: its value
 * @path_format: its file
 *
 * Return: 0, -EBADMSG if it is no number, or another negative errno.
 */
int sysfs_read_number(uint64_t *ret, const char *path_format, ...)
{
	char text[64];
	va_list args;
	int r;

	va_start(args, path_format);
	r = read_text(text, sizeof(text), path_format, args);
	va_end(args);
	if (r < 0)
		return r;
	return units_parse_number(text, 0, UINT64_MAX, ret) < 0 ? -EBADMSG : 0;
}

/**
 * sysfs_read_bytes() - read the beginning of an attribute that is no text
 * @ret: what it begins with
 * @size: of @ret
 * @path_format: its file
 *
 * Return: how many bytes were read, less than @size if it has no more, or a negative errno.
 */
ssize_t sysfs_read_bytes(void *ret, size_t size, const char *path_format, ...)
{
	va_list args;
	ssize_t n;

	va_start(args, path_format);
	n = read_attribute(ret, size, path_format, args);
	va_end(args);
	return n;
}

/**
 * sysfs_write_number() - write an attribute
 * @value: the number
 * @path_format: its file
 *
 * Return: 0 or a negative errno.
 */
int sysfs_write_number(uint64_t value, const char *path_format, ...)
{
	_cleanup_close_ int fd = -1;
	char text[32];
	va_list args;
	ssize_t n;

	va_start(args, path_format);
	fd = open_attribute(O_WRONLY | O_TRUNC, path_format, args);
	va_end(args);
	if (fd < 0)
		return fd;
	snprintf(text, sizeof(text), "%llu\n", (unsigned long long)value);
	/* An attribute takes a value whole or not at all. */
	n = write(fd, text, strlen(text));
	if (n < 0)
		return -errno;
	return (size_t)n == strlen(text) ? 0 : -EIO;
}

/**
 * sysfs_only_entry() - the one thing that a folder holds
 * @ret: its name
 * @path_format: the folder
 *
 * Return: 0, -ENOENT if it is empty, -ENOTUNIQ if there are several, or another
 * negative errno.
 */
int sysfs_only_entry(char ret[static SYSFS_NAME], const char *path_format, ...)
{
	_cleanup_closedir_ DIR *dir = NULL;
	char path[PATH_MAX], name[SYSFS_NAME] = "";
	struct dirent *entry;
	va_list args;
	int r;

	va_start(args, path_format);
	r = format_path(path, path_format, args);
	va_end(args);
	if (r < 0)
		return r;
	dir = opendir(path);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		if (name[0])
			return -ENOTUNIQ;
		if (snprintf(name, sizeof(name), "%s", entry->d_name) >= (int)sizeof(name))
			return -ENAMETOOLONG;
	}
	if (!name[0])
		return -ENOENT;
	memcpy(ret, name, sizeof(name));
	return 0;
}

/**
 * sysfs_has() - whether a block device has an attribute or a folder
 * @root: of sysfs, usually SYSFS_ROOT
 * @name: of the device, as in /sys/class/block
 * @what: below its folder
 */
bool sysfs_has(const char *root, const char *name, const char *what)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/class/block/%s/%s", root, name, what);
	return access(path, F_OK) == 0;
}

/**
 * sysfs_read_instance() - which making of a device this is
 * @root: of sysfs
 * @name: of the device, as in /sys/class/block
 * @ret: differs from that of any other making
 * @size: of @ret
 *
 * One that is made anew has a new folder, and no two of one boot have a number in common.
 *
 * Return: 0, -ENOENT if there is no such device, or another negative errno; not logged.
 */
int sysfs_read_instance(const char *root, const char *name, char *ret, size_t size)
{
	char boot[64], path[PATH_MAX];
	struct stat st;
	int r;

	r = sysfs_read_text(boot, sizeof(boot), "/proc/sys/kernel/random/boot_id");
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s/class/block/%s", root, name);
	if (stat(path, &st) < 0)
		return -errno;
	snprintf(ret, size, "%s:%llu", boot, (unsigned long long)st.st_ino);
	return 0;
}

/**
 * sysfs_disk_of() - the disk of a partition
 * @root: of sysfs, usually SYSFS_ROOT
 * @name: of the partition, as in /sys/class/block, or of what is none
 * @ret: the disk; @name if that is no partition
 *
 * Return: 0 or a negative errno.
 */
int sysfs_disk_of(const char *root, const char *name, char ret[static SYSFS_NAME])
{
	_cleanup_free_ char *folder = NULL;
	char path[PATH_MAX];
	const char *disk = name;

	if (sysfs_has(root, name, "partition")) {
		/* A partition lies inside its disk's folder. */
		snprintf(path, sizeof(path), "%s/class/block/%s/..", root, name);
		folder = realpath(path, NULL);
		if (!folder)
			return -errno;
		disk = strrchr(folder, '/') + 1;
	}
	return snprintf(ret, SYSFS_NAME, "%s", disk) < SYSFS_NAME ? 0 : -ENAMETOOLONG;
}

/**
 * sysfs_below() - what a device lies on
 * @root: of sysfs, usually SYSFS_ROOT
 * @name: of the device, as in /sys/class/block
 * @ret: the disk of a partition, or else the only device below
 *
 * Return: 0, or a negative errno, as sysfs_only_entry().
 */
int sysfs_below(const char *root, const char *name, char ret[static SYSFS_NAME])
{
	if (sysfs_has(root, name, "partition"))
		return sysfs_disk_of(root, name, ret);
	return sysfs_only_entry(ret, "%s/class/block/%s/slaves", root, name);
}

// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cleanup.h"
#include "paths.h"
#include "sysfs.h"

/* A process's name; it may be gone. */
static int find_command(struct file_view *file)
{
	char name[64];

	if (sysfs_read_text(name, sizeof(name), "/proc/%u/comm", file->tgid) < 0)
		return 0;
	file->path = strdup(name);
	return file->path ? 0 : -ENOMEM;
}

static bool is_open_as(const struct file_view *file, const struct stat *st)
{
	return !file->tgid && file->inode == st->st_ino && file->fs_major == major(st->st_dev) &&
	       file->fs_minor == minor(st->st_dev);
}

/* One open handle: whether it is of a file that is looked for. */
static int look_at(int folder, const char *name, struct file_view *files, size_t n)
{
	char path[PATH_MAX];
	struct stat st;
	ssize_t len;

	if (fstatat(folder, name, &st, 0) < 0 || !S_ISREG(st.st_mode))
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (files[i].path || !is_open_as(&files[i], &st))
			continue;
		len = readlinkat(folder, name, path, sizeof(path) - 1);
		if (len < 0)
			return 0;
		path[len] = 0;
		files[i].path = strdup(path);
		if (!files[i].path)
			return -ENOMEM;
	}
	return 0;
}

/* Processes come and go, and some do not show what they have open: that is no error. */
static int look_through(const char *process, struct file_view *files, size_t n)
{
	_cleanup_closedir_ DIR *folder = NULL;
	char path[300];
	int r = 0;

	snprintf(path, sizeof(path), "/proc/%s/fd", process);
	folder = opendir(path);
	if (!folder)
		return 0;
	for (struct dirent *entry; r == 0 && (entry = readdir(folder));)
		if (isdigit((unsigned char)entry->d_name[0]))
			r = look_at(dirfd(folder), entry->d_name, files, n);
	return r;
}

/**
 * paths_find() - find the paths of files, by who has them open, and the names of processes
 * @files: the files; those that are found have their path set
 * @n: how many
 *
 * Return: 0 or a negative errno.
 */
int paths_find(struct file_view *files, size_t n)
{
	_cleanup_closedir_ DIR *proc = NULL;
	bool wanted = false;
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		if (files[i].tgid)
			r = find_command(&files[i]);
		else
			wanted = true;
	}
	if (r < 0 || !wanted)
		return r;
	proc = opendir("/proc");
	if (!proc)
		return -errno;
	for (struct dirent *entry; r == 0 && (entry = readdir(proc));)
		if (isdigit((unsigned char)entry->d_name[0]))
			r = look_through(entry->d_name, files, n);
	return r;
}

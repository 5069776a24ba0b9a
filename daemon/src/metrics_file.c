// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "log.h"
#include "metrics_file.h"
#include "save.h"
#include "sysfs.h"

/**
 * metrics_read_device() - a device as it is now
 * @root: of sysfs, usually SYSFS_ROOT
 * @name: of the device, as in /sys/class/block
 * @watch: what the daemon knows of it
 * @ret: the device; what cannot be read, as while it is suspended, is not known
 *
 * Return: 0, or a negative errno if it is gone.
 */
int metrics_read_device(const char *root, const char *name, const struct metrics_watch *watch,
			struct metrics_device *ret)
{
	_cleanup_free_ struct metrics_device *d = calloc(1, sizeof(*d));
	const char *path;
	int r;

	if (!d)
		return -ENOMEM;
	r = sysfs_read_text(d->name, sizeof(d->name), "%s/class/block/%s/dm/name", root, name);
	if (r < 0)
		return r;
	snprintf(d->block, sizeof(d->block), "%s", name);
	sysfs_read_text(d->mode, sizeof(d->mode), "%s/class/block/%s/fullstripe/mode", root, name);
	for (size_t i = 0; (path = metrics_attribute(i)); i++)
		d->known[i] = sysfs_read_number(&d->values[i], "%s/class/block/%s/fullstripe/%s",
						root, name, path) == 0;
	d->watch = *watch;
	*ret = *d;
	return 0;
}

static int write_text(const char *path, const char *text)
{
	_cleanup_(save_end) struct save s;
	int r;

	r = save_begin(&s, path);
	if (r == 0)
		r = save_write(&s, text, strlen(text));
	return r < 0 ? r : save_commit(&s);
}

/**
 * metrics_write() - write the file anew, all of it or nothing
 * @path: of the file
 * @metrics: what it says
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int metrics_write(const char *path, const struct metrics *metrics)
{
	_cleanup_free_ char *text = NULL;
	int r;

	r = metrics_render(metrics, &text);
	return r < 0 ? log_errno(r, "%s", path) : write_text(path, text);
}

/**
 * metrics_remove() - nobody writes it any more
 * @path: of the file
 */
void metrics_remove(const char *path)
{
	if (unlink(path) < 0 && errno != ENOENT)
		log_errno(errno, "%s cannot be removed", path);
}

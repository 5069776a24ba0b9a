// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>

#include "log.h"
#include "settings.h"
#include "sysfs.h"

/**
 * setting_path() - the file of a setting
 * @place: whose settings
 * @name: its name
 * @path: the file
 *
 * Return: @path.
 */
const char *setting_path(const struct setting_place *place, const char *name,
			 char path[static PATH_MAX])
{
	const char *folder = setting_folder(name);

	if (setting_is_of_layer(name))
		snprintf(path, PATH_MAX, "%s/%.*s/%s/%s", place->disks, (int)setting_disk_len(name),
			 name, folder, setting_attribute(name));
	else if (folder)
		snprintf(path, PATH_MAX, "%s/../%s/%s", place->own, folder, name);
	else
		snprintf(path, PATH_MAX, "%s/%s", place->own, name);
	return path;
}

/**
 * setting_read() - what a setting is
 * @place: whose settings
 * @name: its name
 * @ret: its value
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int setting_read(const struct setting_place *place, const char *name, uint64_t *ret)
{
	char path[PATH_MAX];
	int r = sysfs_read_number(ret, "%s", setting_path(place, name, path));

	return r < 0 ? log_errno(r, "%s cannot be read", path) : 0;
}

/**
 * setting_is_gone() - whether a layer does not have a setting any more
 * @error: what setting_read() returned
 * @name: of what
 *
 * As the stripe cache of an array that was given a level without parity.
 *
 * Return: whether it is so.
 */
bool setting_is_gone(int error, const char *name)
{
	return error == -ENOENT && setting_is_of_layer(name);
}

/**
 * setting_write() - set it, and look whether it took: a value may be clamped without a word
 * @place: whose settings
 * @name: its name
 * @value: what it should be
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int setting_write(const struct setting_place *place, const char *name, uint64_t value)
{
	const char *hint = setting_folder(name) ?
		"; --no-layers, or layers = no in the configuration, leaves it as it is" : "";
	char path[PATH_MAX];
	uint64_t found;
	int r;

	r = sysfs_write_number(value, "%s", setting_path(place, name, path));
	if (r < 0)
		return log_errno(r, "%s cannot be set to %llu%s", path, (unsigned long long)value, hint);
	r = setting_read(place, name, &found);
	if (r < 0)
		return r;
	if (found != value)
		return log_errno(EIO, "%s was set to %llu and reads %llu%s", path,
				 (unsigned long long)value, (unsigned long long)found, hint);
	return 0;
}

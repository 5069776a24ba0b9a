// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "macros.h"
#include "setting.h"

/* What the kernel has for a device, and where below the device's folder in sysfs. */
static const struct {
	const char *attribute;
	const char *folder;
} kernels[] = {
	{ "max_sectors_kb", "queue" },
	{ "read_ahead_kb", "queue" },
	{ "stripe_cache_size", "md" },
	{ "min_ratio", "bdi" },
	{ "max_ratio", "bdi" },
	{ "strict_limit", "bdi" },
};

/**
 * setting_of_disk() - the name of a layer's setting
 * @ret: the name
 * @disk: the layer, of less than SETTING_DISK bytes
 * @attribute: its attribute
 */
void setting_of_disk(char ret[static SETTING_NAME], const char *disk, const char *attribute)
{
	snprintf(ret, SETTING_NAME, "%.*s/%s", SETTING_DISK - 1, disk, attribute);
}

/**
 * setting_disk_len() - how much of a name is the disk
 * @name: of a setting
 *
 * Return: 0 if it is one of the fullstripe device.
 */
size_t setting_disk_len(const char *name)
{
	const char *slash = strchr(name, '/');

	return slash ? slash - name : 0;
}

/**
 * setting_attribute() - a name without the disk
 * @name: of a setting
 */
const char *setting_attribute(const char *name)
{
	const char *slash = strchr(name, '/');

	return slash ? slash + 1 : name;
}

/**
 * setting_is_of_layer() - whether it is of a layer below the fullstripe device
 * @name: of a setting
 */
bool setting_is_of_layer(const char *name)
{
	return strchr(name, '/') != NULL;
}

/**
 * setting_is_of_disk() - whether it is of this layer
 * @name: of a setting
 * @disk: the layer
 */
bool setting_is_of_disk(const char *name, const char *disk)
{
	size_t len = setting_disk_len(name);

	return len > 0 && strlen(disk) == len && memcmp(disk, name, len) == 0;
}

/**
 * setting_is() - whether it is this attribute, of whatever device
 * @name: of a setting
 * @attribute: the attribute
 */
bool setting_is(const char *name, const char *attribute)
{
	return strcmp(setting_attribute(name), attribute) == 0;
}

/**
 * setting_folder() - where a setting is in its device's folder
 * @name: of a setting
 *
 * Return: "queue" or such; NULL if it is one of the fullstripe device's own.
 */
const char *setting_folder(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kernels); i++)
		if (setting_is(name, kernels[i].attribute))
			return kernels[i].folder;
	return NULL;
}

/**
 * setting_is_valid() - whether a name that comes from outside may become part of a path
 * @name: the name
 */
bool setting_is_valid(const char *name)
{
	size_t disk = setting_disk_len(name);

	if (setting_is_of_layer(name)) {
		if (disk == 0 || disk >= SETTING_DISK || name[0] == '.' || !setting_folder(name))
			return false;
		for (size_t i = 0; i < disk; i++)
			if (!isalnum((unsigned char)name[i]) && !strchr("!+-.:_", name[i]))
				return false;
		return true;
	}
	for (const char *c = name; *c; c++)
		if (!islower((unsigned char)*c) && *c != '_')
			return false;
	return name[0] != '\0';
}

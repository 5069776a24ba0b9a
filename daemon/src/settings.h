/* SPDX-License-Identifier: GPL-2.0 */
/* The files of settings, whose names lib/setting.h tells. */
#ifndef FULLSTRIPE_SETTINGS_H
#define FULLSTRIPE_SETTINGS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/setting.h"

/**
 * struct setting_place - where a fullstripe device's settings are, and its layers'
 * @own: the folder of those of its own
 * @disks: the folder that has all disks
 */
struct setting_place {
	const char *own;
	const char *disks;
};

const char *setting_path(const struct setting_place *place, const char *name,
			 char path[static PATH_MAX]);
bool setting_is_gone(int error, const char *name);
int setting_read(const struct setting_place *place, const char *name, uint64_t *ret);
int setting_write(const struct setting_place *place, const char *name, uint64_t value);

#endif

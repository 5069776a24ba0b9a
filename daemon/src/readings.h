/* SPDX-License-Identifier: GPL-2.0 */
/* The counters of fullstripe devices, and of the arrays below them, read off sysfs. */
#ifndef FULLSTRIPE_READINGS_H
#define FULLSTRIPE_READINGS_H

#include "lib/top.h"

int readings_read(const char *root, const char *disk, struct top_reading *ret);
int readings_read_all(const char *root, const char *only, struct top_reading **ret, size_t *ret_n);

#endif

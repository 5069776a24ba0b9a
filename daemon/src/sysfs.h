/* SPDX-License-Identifier: GPL-2.0 */
/* Attributes: one value a file. */
#ifndef FULLSTRIPE_SYSFS_H
#define FULLSTRIPE_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/macros.h"

#define SYSFS_ROOT	"/sys"
#define SYSFS_NAME	64
/* Deeper stacks of devices are a loop or a joke. */
#define SYSFS_DEPTH	16

int sysfs_read_text(char *ret, size_t size, const char *path_format, ...)
	__printf(3, 4);
int sysfs_read_number(uint64_t *ret, const char *path_format, ...)
	__printf(2, 3);
ssize_t sysfs_read_bytes(void *ret, size_t size, const char *path_format, ...)
	__printf(3, 4);
int sysfs_write_number(uint64_t value, const char *path_format, ...)
	__printf(2, 3);
int sysfs_only_entry(char ret[static SYSFS_NAME], const char *path_format, ...)
	__printf(2, 3);
int sysfs_read_instance(const char *root, const char *name, char *ret, size_t size);
bool sysfs_has(const char *root, const char *name, const char *what);
int sysfs_disk_of(const char *root, const char *name, char ret[static SYSFS_NAME]);
int sysfs_below(const char *root, const char *name, char ret[static SYSFS_NAME]);

#endif

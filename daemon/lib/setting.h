/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The names of settings. "cluster_bytes" is one of the fullstripe device's own;
 * "read_ahead_kb" is one that the kernel has for this device; "md0/stripe_cache_size" is
 * one of a layer below. Pure: src/settings knows the files.
 */
#ifndef FULLSTRIPE_SETTING_H
#define FULLSTRIPE_SETTING_H

#include <stdbool.h>
#include <stddef.h>

#define SETTING_NAME	64
/* Of a disk, as the kernel has them. */
#define SETTING_DISK	32

void setting_of_disk(char ret[static SETTING_NAME], const char *disk, const char *attribute);
const char *setting_attribute(const char *name);
size_t setting_disk_len(const char *name);
bool setting_is_of_layer(const char *name);
bool setting_is_of_disk(const char *name, const char *disk);
bool setting_is(const char *name, const char *attribute);
const char *setting_folder(const char *name);
bool setting_is_valid(const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages to device-mapper devices without dmsetup(8): marks are sent so often
 * that starting a program for each would be most of a run.
 */
#ifndef DM_H
#define DM_H

#include <stdbool.h>
#include <stdint.h>

/* A line of a table; each begins where the one before it ends. */
struct dm_line {
	uint64_t sectors;
	const char *type;
	char arguments[96];
};

int dm_open(void);
int dm_message(int control, const char *device, const char *text);
int dm_suspend(int control, const char *device, bool noflush);
int dm_resume(int control, const char *device);
int dm_load(int control, const char *device, const struct dm_line *lines, unsigned int nr);
int dm_load_again(int control, const char *device);

#endif

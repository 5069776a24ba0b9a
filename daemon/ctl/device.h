/* SPDX-License-Identifier: GPL-2.0 */
/* What the verbs about one device, and what is known of it, have in common on their command lines. */
#ifndef FULLSTRIPE_DEVICE_H
#define FULLSTRIPE_DEVICE_H

#include <argp.h>
#include <stdbool.h>

/**
 * struct device_options - taken by device_argp, which is a child of a verb's own parser
 * @device: as it was named
 * @state_folder: where what is known of it is kept
 * @json: print JSON
 */
struct device_options {
	const char *device;
	const char *state_folder;
	bool json;
};

extern const struct argp device_argp;

/* Prints seconds since 1970 as people read them. */
#define DEVICE_TIME	32

const char *device_time(unsigned long long time, char text[static DEVICE_TIME]);

#endif

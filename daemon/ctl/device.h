/* SPDX-License-Identifier: GPL-2.0 */
/* What the verbs about one device, and what is known of it, have in common on their command lines. */
#ifndef FULLSTRIPE_DEVICE_H
#define FULLSTRIPE_DEVICE_H

#include <argp.h>
#include <stdbool.h>

#include "lib/transaction.h"

/**
 * struct device_options - taken by device_parse_option()
 * @device: as it was named
 * @state_folder: where what is known of it is kept
 * @json: print JSON
 * @force: change also what somebody else set since
 */
struct device_options {
	const char *device;
	const char *state_folder;
	bool json;
	bool force;
};

/* A verb that only looks has all of them but the first, --force. */
extern const struct argp_option device_change_options[];

#define DEVICE_LOOK_OPTIONS	(&device_change_options[1])

void device_print_changes(const struct transaction *t);
error_t device_parse_option(int key, char *arg, struct argp_state *state);

/* Prints seconds since 1970 as people read them. */
#define DEVICE_TIME	32

const char *device_time(unsigned long long time, char text[static DEVICE_TIME]);

#endif

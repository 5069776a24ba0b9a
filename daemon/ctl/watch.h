/* SPDX-License-Identifier: GPL-2.0 */
/* What the verbs have in common that show what the module tells, once or again and again. */
#ifndef FULLSTRIPE_CTL_WATCH_H
#define FULLSTRIPE_CTL_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "src/link.h"
#include "src/target.h"

/**
 * struct watch - what was asked for
 * @disk: the device, as in /sys/block; empty: all
 * @json: print JSON
 * @interval_us: how often; 0: once
 */
struct watch {
	char disk[SYSFS_NAME];
	bool json;
	uint64_t interval_us;
};

int watch_parse(struct watch *watch, const char *doc, int argc, char **argv);
int watch_run(const struct watch *watch, int (*show)(struct link *link, const struct watch *watch));
const char *watch_disk(const struct watch *watch);
void watch_device_name(const char *disk, char ret[static TARGET_NAME]);

#endif

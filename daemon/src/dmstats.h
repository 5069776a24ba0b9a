/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What device-mapper counts of a device, in an area of dm-stats of ours that is as large as
 * the device.
 *
 * The areas of a device belong to whoever knows their numbers, and stay when he is killed. So
 * ours say whose they are, as traces do: the program, and the process.
 */
#ifndef FULLSTRIPE_DMSTATS_H
#define FULLSTRIPE_DMSTATS_H

#include <stdbool.h>

#include "lib/counted.h"
#include "target.h"

struct dmstats;

int dmstats_new(const struct block_device *device, struct dmstats **ret);
bool dmstats_covers(const struct dmstats *d);
int dmstats_read(const struct dmstats *d, struct counted_reading *ret);
struct dmstats *dmstats_free(struct dmstats *d);
void dmstats_clean(const struct block_device *device);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* A device's workload by counters that are read now and then: dm-stats, sysfs, the target's own. */
#ifndef FULLSTRIPE_SAMPLING_H
#define FULLSTRIPE_SAMPLING_H

#include "dmstats.h"
#include "lib/counted.h"
#include "target.h"

struct sampling;

int sampling_start(const struct block_device *device, const char *folder,
		   const struct dmstats *area, struct sampling **ret);
int sampling_poll(struct sampling *s);
const struct counted *sampling_counted(const struct sampling *s);
struct sampling *sampling_free(struct sampling *s);

#endif

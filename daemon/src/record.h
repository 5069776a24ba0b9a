/* SPDX-License-Identifier: GPL-2.0 */
/* The workload of a device, recorded for a while. */
#ifndef FULLSTRIPE_RECORD_H
#define FULLSTRIPE_RECORD_H

#include "lib/profile.h"
#include "target.h"

int record(const struct block_device *device, const char *record_folder, unsigned int seconds,
	   struct profile *profile);

#endif

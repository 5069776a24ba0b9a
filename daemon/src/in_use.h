/* SPDX-License-Identifier: GPL-2.0 */
/* Whether a block device belongs to somebody already, and to whom. */
#ifndef FULLSTRIPE_IN_USE_H
#define FULLSTRIPE_IN_USE_H

#include "target.h"

#define IN_USE_BY	320

int block_device_in_use(const struct block_device *device, char by[static IN_USE_BY]);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* The device that --from names, and the array that it lies on. */
#ifndef FULLSTRIPE_FROM_H
#define FULLSTRIPE_FROM_H

#include <stdbool.h>

#include "array.h"
#include "src/target.h"
#include "src/topology.h"

/**
 * struct from - a device
 * @device: which
 * @is_target: it is a fullstripe device
 * @target: that one
 * @topology: of what lies below the fullstripe device, or of the device
 */
struct from {
	struct block_device device;
	bool is_target;
	struct target target;
	struct topology topology;
};

int from_find(const char *text, struct from **ret);
int from_take_array(const struct from *f, struct array_options *o);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Options that say which array a device lies on, for the verbs that have them. */
#ifndef FULLSTRIPE_ARRAY_H
#define FULLSTRIPE_ARRAY_H

#include <argp.h>
#include <stdbool.h>

#include "lib/rule.h"
#include "src/topology.h"

/**
 * struct array_options - what was said of an array
 * @array: its shape; RULE_LEVEL_NONE if nothing was
 * @stripe_bytes: where the shape is not known, its stripe width; 0 if that is not, either
 * @has_chunk: --chunk was given
 * @has_start: --start was given; @array.offset_bytes has it
 * @n_limits: layers below
 * @limits: their largest requests
 */
struct array_options {
	struct rule_array array;
	uint64_t stripe_bytes;
	bool has_chunk;
	bool has_start;
	size_t n_limits;
	struct rule_limit limits[RULE_LAYERS_MAX];
};

extern const struct argp array_argp;

void array_options_init(struct array_options *o);
void array_options_take(struct array_options *o, const struct topology *topology,
			uint64_t offset_bytes);
int array_stripe_bytes(const struct array_options *o, uint64_t *ret, struct rule_sum *sum);

#endif

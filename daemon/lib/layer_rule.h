/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the layers below a fullstripe device, and the kernel above it, should be set to, so
 * that what the device decided goes through them as it is. Pure.
 */
#ifndef FULLSTRIPE_LAYER_RULE_H
#define FULLSTRIPE_LAYER_RULE_H

#include "rule.h"

/**
 * struct layer_settings - what they are set to, and what there is to decide from
 * @read_ahead_kb: of the fullstripe device
 * @array: md's disk, if it has a stripe cache; empty, if there is none
 * @stripe_cache_size: of that
 * @min_ratio: of the fullstripe device's writeback, percent; @max_ratio may not be less
 * @max_ratio: of the fullstripe device's writeback, percent
 * @has_strict_limit: the kernel has it, from 6.2 on
 * @strict_limit: whether @max_ratio counts also while there is little dirty in the machine
 * @ram_bytes: the machine's memory
 * @dirty_bytes: how much of it may be dirty; 0 if that is not known
 */
struct layer_settings {
	uint64_t read_ahead_kb;
	char array[SETTING_DISK];
	uint64_t stripe_cache_size;
	uint64_t min_ratio;
	uint64_t max_ratio;
	bool has_strict_limit;
	uint64_t strict_limit;
	uint64_t ram_bytes;
	uint64_t dirty_bytes;
};

void layer_rule_open(struct rule_limit *limits, size_t n);
void layer_rule_plan(const struct profile_summary *profile, const struct rule_array *array,
		     const struct rule_limit *limits, size_t n_limits,
		     const struct rule_settings *target, const struct layer_settings *current,
		     struct plan *plan);

#endif

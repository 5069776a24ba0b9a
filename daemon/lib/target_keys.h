/* SPDX-License-Identifier: GPL-2.0 */
/* The keys of the target's table line, as people give them: on a command line or in fullstripetab. */
#ifndef FULLSTRIPE_TARGET_KEYS_H
#define FULLSTRIPE_TARGET_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TARGET_KEYS		16
#define TARGET_KEY_VALUE	32
#define TARGET_KEYS_WHY		160

/**
 * struct target_keys - what a table line is to say
 * @values: of each key, in the order of their names; empty: not given
 */
struct target_keys {
	char values[TARGET_KEYS][TARGET_KEY_VALUE];
};

const char *target_keys_name(size_t i);
int target_keys_set(struct target_keys *k, const char *text, char why[static TARGET_KEYS_WHY]);
void target_keys_default(struct target_keys *k, const char *name, uint64_t value);
bool target_keys_given(const struct target_keys *k, const char *name);
uint64_t target_keys_number(const struct target_keys *k, const char *name);
size_t target_keys_format(const struct target_keys *k, char *text, size_t size);

#endif

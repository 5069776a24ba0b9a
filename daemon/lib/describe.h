/* SPDX-License-Identifier: GPL-2.0 */
/* What was found, in words: rows of a name and a value, as tables show them. */
#ifndef FULLSTRIPE_DESCRIBE_H
#define FULLSTRIPE_DESCRIBE_H

#include "profile.h"

typedef void (*describe_fn)(void *data, const char *name, const char *value);

void describe_profile(const struct profile_summary *s, describe_fn add, void *data);

#endif

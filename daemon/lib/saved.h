/* SPDX-License-Identifier: GPL-2.0 */
/* Profiles that were saved as JSON, read again. */
#ifndef FULLSTRIPE_SAVED_H
#define FULLSTRIPE_SAVED_H

#include "fields.h"
#include "profile.h"

/**
 * struct saved - profiles of some devices
 * @n: how many
 * @devices: one for each
 */
struct saved {
	size_t n;
	struct profile_summary devices[PROFILE_DEVICES_MAX];
};

struct json_object *saved_render(const struct saved *saved);
int saved_parse(const char *text, size_t len, struct saved *ret, char why[static FIELDS_WHY]);

#endif

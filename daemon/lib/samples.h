/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The samples of a device, kept as JSON: a change is judged also if the daemon was ended,
 * or killed, meanwhile.
 */
#ifndef FULLSTRIPE_SAMPLES_H
#define FULLSTRIPE_SAMPLES_H

#include "fields.h"
#include "harm.h"
#include "state.h"

#define SAMPLES_SETTINGS	512

/**
 * struct samples - of a device
 * @instance: which making of it they are of
 * @settings: all that it was set to meanwhile, as a text that is only compared
 * @harm: the samples
 */
struct samples {
	char instance[STATE_INSTANCE];
	char settings[SAMPLES_SETTINGS];
	struct harm harm;
};

struct json_object *samples_render(const struct samples *samples);
int samples_parse(const char *text, size_t len, struct samples *ret, char why[static FIELDS_WHY]);

#endif

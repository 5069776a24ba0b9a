/* SPDX-License-Identifier: GPL-2.0 */
/* The recordings that were named on the command line, read as one, or the one to be made. */
#ifndef FULLSTRIPE_RECORDING_H
#define FULLSTRIPE_RECORDING_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/profile.h"
#include "lib/trace.h"

/**
 * struct recording_options - taken by recording_argp, a child of the parsers of those who read them
 * @seconds: how long to record a device now; 0: there are files, or nothing
 * @folder: where to keep what is recorded now, or NULL
 * @device: only this one of those in the files
 * @has_device: it was said
 */
struct recording_options {
	unsigned int seconds;
	const char *folder;
	uint32_t device;
	bool has_device;
};

extern const struct argp recording_argp;

struct recording;

int recording_open(char **files, size_t n, struct recording **ret);
struct recording *recording_close(struct recording *r);
int recording_next(struct recording *r, const struct trace_event **ret);
bool recording_is_sound(const struct recording *r, uint64_t *lost);
int recording_profile(char **files, size_t n, const uint32_t *device, struct profile *profile,
		      bool *ret_sound);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* The recordings that were named on the command line, read as one. */
#ifndef FULLSTRIPE_RECORDING_H
#define FULLSTRIPE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/profile.h"
#include "lib/trace.h"

struct recording;

int recording_open(char **files, size_t n, struct recording **ret);
struct recording *recording_close(struct recording *r);
int recording_next(struct recording *r, const struct trace_event **ret);
bool recording_is_sound(const struct recording *r, uint64_t *lost);
int recording_profile(char **files, size_t n, const uint32_t *device, struct profile *profile,
		      bool *ret_sound);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* The workload that a plan is made for: from recordings, saved, or recorded now. */
#ifndef FULLSTRIPE_WORKLOAD_H
#define FULLSTRIPE_WORKLOAD_H

#include <argp.h>
#include <stddef.h>

#include "lib/profile.h"
#include "recording.h"
#include "src/tuning.h"

/**
 * struct workload - taken by workload_argp, which is a child of a verb's own parser
 * @files: recordings; the verb sets these, as they stand behind the device
 * @n_files: how many
 * @profile: a file that fullstripectl profile --json printed
 * @recording: how long to record the device now, and which of several is meant in those files
 */
struct workload {
	char **files;
	size_t n_files;
	const char *profile;
	struct recording_options recording;
};

extern const struct argp workload_argp;

int workload_profile(const struct workload *w, const struct tuning *t, const char *state_folder,
		     struct profile_summary *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* The workload that a plan is made for: from recordings, saved, or recorded now. */
#ifndef FULLSTRIPE_WORKLOAD_H
#define FULLSTRIPE_WORKLOAD_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/profile.h"
#include "src/tuning.h"

/* A day. */
#define WORKLOAD_SECONDS_MAX	86400

/**
 * struct workload - taken by workload_argp, which is a child of a verb's own parser
 * @files: recordings; the verb sets these, as they stand behind the device
 * @n_files: how many
 * @profile: a file that fullstripectl profile --json printed
 * @seconds: how long to record; 0: do not
 * @record_folder: where to keep the recording, or NULL
 * @device: which of several devices in these files
 * @has_device: it was said
 */
struct workload {
	char **files;
	size_t n_files;
	const char *profile;
	unsigned int seconds;
	const char *record_folder;
	uint32_t device;
	bool has_device;
};

extern const struct argp workload_argp;

int workload_profile(const struct workload *w, const struct tuning *t, const char *state_folder,
		     struct profile_summary *ret);

#endif

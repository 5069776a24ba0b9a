/* SPDX-License-Identifier: GPL-2.0 */
/* What pictures are of: the devices of one or more recordings, with a label each. */
#ifndef FULLSTRIPE_SUBJECTS_H
#define FULLSTRIPE_SUBJECTS_H

#include <argp.h>
#include <glib.h>
#include <stdbool.h>

#include "array.h"
#include "lib/chart.h"
#include "lib/plot.h"
#include "lib/profile.h"
#include "recording.h"

/* As many as there are colours. */
#define SUBJECTS_MAX	CHART_COLOURS

/**
 * struct subject_options - which recordings, and how to look at them
 * @array: what the devices lie on
 * @from: the device that says this, and may be recorded; or NULL
 * @recording: how long to record it now, and which device of each recording is meant
 * @state_folder: where the profile is that is kept of it, which will do where nothing else is
 *	given; NULL: it will not
 * @recordings: struct recording_files
 */
struct subject_options {
	struct array_options array;
	const char *from;
	struct recording_options recording;
	const char *state_folder;
	GArray *recordings;
};

/**
 * struct subject - a device of a recording
 * @label: as it was given, or after the files' names
 * @device: major << 20 | minor
 * @series: what it did over time
 * @profile: of its workload
 * @n_streams: how many
 * @streams: the longest ones
 */
struct subject {
	char *label;
	uint32_t device;
	struct series *series;
	struct profile_summary profile;
	unsigned int n_streams;
	struct stream_head streams[STREAMS_KEPT];
};

/**
 * struct subjects - all of them, in the order of the command line
 * @n: how many
 * @list: each
 * @plots: the same, as they are drawn
 * @stripe_bytes: stripe width of the array; 0 if that is not known
 * @lost: records that had no room when they were recorded
 * @sound: nothing was wrong with the files
 * @kept: of the only one there is a profile and nothing else
 */
struct subjects {
	unsigned int n;
	struct subject list[SUBJECTS_MAX];
	struct plot_subject plots[SUBJECTS_MAX];
	uint64_t stripe_bytes;
	uint64_t lost;
	bool sound;
	bool kept;
};

extern const struct argp subjects_argp;

int subjects_read(struct subject_options *o, struct subjects **ret);
void subjects_free(struct subjects *s);

#endif

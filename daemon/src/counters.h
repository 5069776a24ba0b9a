/* SPDX-License-Identifier: GPL-2.0 */
/* What a fullstripe device and the array below it have counted; and what it is set to. */
#ifndef FULLSTRIPE_COUNTERS_H
#define FULLSTRIPE_COUNTERS_H

#include "lib/harm.h"
#include "lib/samples.h"
#include "topology.h"

int counters_read(const char *root, const char *name, const struct topology *topology,
		  struct harm_counters *ret);
int counters_read_settings(const char *root, const char *name,
			   char ret[static SAMPLES_SETTINGS]);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* What a device is asked for, recorded for a while, with a terminal being told how far it is. */
#ifndef FULLSTRIPE_RECORD_H
#define FULLSTRIPE_RECORD_H

#include "capture.h"
#include "lib/trace.h"
#include "recorder.h"

int record(const struct block_device *device, const char *record_folder, unsigned int seconds,
	   trace_event_fn take, void *data, struct capture_extent *ret);
int record_workload(const struct tuning *t, const char *record_folder, unsigned int seconds,
		    struct recorded *ret);

#endif

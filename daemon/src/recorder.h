/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The workload of a fullstripe device, as it is now: from its trace, or where that cannot be
 * had from counters.
 */
#ifndef FULLSTRIPE_RECORDER_H
#define FULLSTRIPE_RECORDER_H

#include "dmstats.h"
#include "tuning.h"

struct recorder;

/**
 * struct recorded - a recording at its end
 * @any: something was asked of the device:
 * @profile: what is known of it
 * @in_flight: reads and writes that were under way, on average
 * @lost: trace records that had no room
 */
struct recorded {
	bool any;
	struct profile_summary profile;
	double in_flight;
	uint64_t lost;
};

int recorder_start(const struct tuning *t, const char *record_folder, struct dmstats **area,
		   struct recorder **ret);
enum obstacle recorder_obstacle(const struct recorder *r);
uint64_t recorder_events(const struct recorder *r);
int recorder_poll(struct recorder *r);
int recorder_stop(struct recorder *r, struct recorded *ret);
struct recorder *recorder_free(struct recorder *r);
void recorder_tell(const struct tuning *t, enum obstacle obstacle);

#endif

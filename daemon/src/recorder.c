// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>

#include "capture.h"
#include "dmstats.h"
#include "log.h"
#include "recorder.h"
#include "sampling.h"

/**
 * struct recorder - one recording
 * @device: of this
 * @obstacle: why there is no trace:
 * @capture: the trace
 * @profile: of the trace
 * @events: of the trace
 * @sampling: the counters, if there is none
 */
struct recorder {
	uint32_t device;
	enum obstacle obstacle;
	struct capture *capture;
	struct profile *profile;
	uint64_t events;
	struct sampling *sampling;
};

static int take_event(void *data, const struct trace_event *event)
{
	struct recorder *r = data;

	r->events++;
	return profile_add(r->profile, event);
}

/* One that there is goes on, as to make one has the device stand still. */
static int have_area(const struct tuning *t, struct dmstats **area)
{
	if (*area && dmstats_covers(*area))
		return 0;
	*area = dmstats_free(*area);
	return dmstats_new(&t->device, area);
}

static int start(struct recorder *r, const struct tuning *t, const char *record_folder,
		 struct dmstats **area)
{
	int e = capture_start(t->device.node, record_folder, &r->capture, &r->obstacle);

	if (r->obstacle == OBSTACLE_NONE) {
		/* Where there is a trace nothing need be counted, at the cost of each bio. */
		*area = dmstats_free(*area);
		return e;
	}
	/* Who wants to keep the trace is not served by anything else. */
	if (record_folder)
		return capture_log_obstacle(t->device.node, r->obstacle, e);
	e = have_area(t, area);
	return e < 0 ? e : sampling_start(&t->device, t->target.folder, *area, &r->sampling);
}

/**
 * recorder_start() - begin to record
 * @t: the device
 * @record_folder: where to keep the raw records of the trace too, as blktrace does; or NULL.
 *	Then counters are no substitute.
 * @area: in which device-mapper counts for the recordings of the device, to be freed after all
 *	of them; NULL as long as none needed it
 * @ret: the recording
 *
 * What processes left that are no more is taken away.
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int recorder_start(const struct tuning *t, const char *record_folder, struct dmstats **area,
		   struct recorder **ret)
{
	struct recorder *r = calloc(1, sizeof(*r));
	struct profile_options options;
	int e;

	if (!r)
		return log_errno(ENOMEM, "%s", t->device.node);
	r->device = t->device.device;
	if (!*area)
		dmstats_clean(&t->device);
	e = tuning_profile_options(t, &options);
	if (e == 0) {
		e = profile_new(&options, &r->profile);
		if (e < 0)
			log_errno(e, "%s", t->device.node);
	}
	if (e == 0)
		e = start(r, t, record_folder, area);
	if (e < 0) {
		recorder_free(r);
		return e;
	}
	*ret = r;
	return 0;
}

/**
 * recorder_obstacle() - why it is from counters
 * @r: the recording
 *
 * Return: OBSTACLE_NONE if it is from a trace.
 */
enum obstacle recorder_obstacle(const struct recorder *r)
{
	return r->obstacle;
}

/**
 * recorder_events() - how many there were as yet
 * @r: the recording
 */
uint64_t recorder_events(const struct recorder *r)
{
	return r->events;
}

/**
 * recorder_poll() - take in what there is, which is to be done each CAPTURE_POLL_USEC
 * @r: the recording
 *
 * Return: 0 or a negative errno, which has been logged: -ECANCELED if somebody else ended
 * the trace, or set counters back.
 */
int recorder_poll(struct recorder *r)
{
	return r->sampling ? sampling_poll(r->sampling) : capture_poll(r->capture, take_event, r);
}

static int stop_sampling(struct recorder *r, struct recorded *ret)
{
	const struct counted *counted = sampling_counted(r->sampling);
	int e = sampling_poll(r->sampling);

	if (e < 0)
		return e;
	*ret = (struct recorded) { .in_flight = counted_in_flight(counted) };
	counted_summarise(counted, r->device, r->obstacle, &ret->profile);
	ret->any = ret->profile.ios > 0 || ret->profile.flushes > 0;
	return 0;
}

/**
 * recorder_stop() - the recording is at its end
 * @r: the recording; it is still to be freed
 * @ret: what was recorded
 *
 * Return: as recorder_poll().
 */
int recorder_stop(struct recorder *r, struct recorded *ret)
{
	struct capture_extent extent;
	int e;

	if (r->sampling)
		return stop_sampling(r, ret);
	e = capture_stop(r->capture, take_event, r, &extent);
	if (e < 0)
		return e;
	profile_set_recorded(r->profile, extent.ns);
	profile_add_lost(r->profile, extent.lost);
	*ret = (struct recorded) { .lost = extent.lost };
	ret->any = profile_find(r->profile, r->device, &ret->profile);
	ret->in_flight = profile_in_flight(r->profile, r->device);
	return 0;
}

/**
 * recorder_free() - free a recording
 * @r: the recording or NULL; if it was not stopped, it is forgotten
 *
 * Return: NULL.
 */
struct recorder *recorder_free(struct recorder *r)
{
	if (!r)
		return NULL;
	capture_free(r->capture);
	sampling_free(r->sampling);
	profile_free(r->profile);
	free(r);
	return NULL;
}

/**
 * recorder_tell() - say where the workload is taken from
 * @t: the device
 * @obstacle: as recorder_obstacle() gave it
 */
void recorder_tell(const struct tuning *t, enum obstacle obstacle)
{
	if (obstacle == OBSTACLE_NONE)
		log_warning("%s: its workload is recorded from its trace", t->device.node);
	else
		log_warning("%s: %s; its workload is taken from dm-stats and the target's counters, which do not tell metadata, which I/Os are waited for, and random from sequential but for reads that were read ahead (%s)",
			    t->device.node, obstacle_reason(obstacle), obstacle_remedy(obstacle));
}

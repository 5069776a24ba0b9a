// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"
#include "loop.h"
#include "progress.h"
#include "record.h"

DEFINE_CLEANUP(struct capture *, capture_free)
DEFINE_CLEANUP(struct dmstats *, dmstats_free)
DEFINE_CLEANUP(struct recorder *, recorder_free)

/**
 * struct recording - one that goes on for a while
 * @poll: takes in what there is
 * @data: handed to it
 * @events: as yet; 0 if none are counted
 * @seconds: how long
 * @began: when
 * @progress: of it
 */
struct recording {
	int (*poll)(struct recording *recording);
	void *data;
	uint64_t events;
	unsigned int seconds;
	uint64_t began;
	struct progress progress;
};

/* A trace, of which the events are given out as they come. */
struct traced {
	struct capture *capture;
	trace_event_fn take;
	void *data;
	uint64_t events;
};

static int on_poll(sd_event_source *source, uint64_t usec, void *data)
{
	struct recording *recording = data;
	double seconds = (usec - recording->began) / 1e6;
	int r;

	r = recording->poll(recording);
	if (recording->events > 0)
		progress_tell(&recording->progress, "%.0f of %u s recorded, %llu events", seconds,
			      recording->seconds, (unsigned long long)recording->events);
	else
		progress_tell(&recording->progress, "%.0f of %u s recorded", seconds,
			      recording->seconds);
	/* After a stall there is nothing to make up for. */
	if (r == 0)
		r = sd_event_source_set_time_relative(source, CAPTURE_POLL_USEC);
	if (r == 0)
		r = sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	return r < 0 ? sd_event_exit(sd_event_source_get_event(source), r) : 0;
}

static int on_end(sd_event_source *source, uint64_t usec, void *data)
{
	(void)usec;
	(void)data;
	return sd_event_exit(sd_event_source_get_event(source), 0);
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *data)
{
	(void)data;
	log_warning("%s: ended before the recording was complete, nothing is changed",
		    strsignal(info->ssi_signo));
	return sd_event_exit(sd_event_source_get_event(source), -EINTR);
}

/* Before the recording begins: who is interrupted then takes it away, too. */
static int new_loop(sd_event **ret)
{
	int r = loop_new(ret, on_signal);

	return r < 0 ? log_errno(r, "the event loop") : 0;
}

static int run_loop(sd_event *event, struct recording *recording)
{
	int r;

	r = sd_event_add_time_relative(event, NULL, CLOCK_MONOTONIC, CAPTURE_POLL_USEC,
				       CAPTURE_LATE_USEC, on_poll, recording);
	if (r >= 0)
		r = sd_event_add_time_relative(event, NULL, CLOCK_MONOTONIC,
					       recording->seconds * 1000000ull,
					       CAPTURE_LATE_USEC, on_end, NULL);
	if (r >= 0)
		r = sd_event_now(event, CLOCK_MONOTONIC, &recording->began);
	if (r < 0)
		return log_errno(r, "the event loop");
	progress_begin(&recording->progress);
	r = sd_event_loop(event);
	progress_end(&recording->progress);
	return r;
}

static int take_event(void *data, const struct trace_event *event)
{
	struct traced *traced = data;

	traced->events++;
	return traced->take(traced->data, event);
}

static int poll_trace(struct recording *recording)
{
	struct traced *traced = recording->data;
	int r = capture_poll(traced->capture, take_event, traced);

	recording->events = traced->events;
	return r;
}

static void tell_lost(const struct block_device *device, uint64_t lost)
{
	if (lost > 0)
		log_warning("%s: %llu trace records had no room and are missing",
			    device->node, (unsigned long long)lost);
}

/* Its trace would be that of the whole disk. */
static int refuse_partition(const struct block_device *device)
{
	uint64_t number;

	if (sysfs_read_number(&number, SYSFS_ROOT "/class/block/%s/partition", device->name) < 0)
		return 0;
	return log_errno(EMEDIUMTYPE, "%s is a partition: only whole devices are recorded",
			 device->node);
}

/**
 * record() - record what a device is asked for, for a while
 * @device: the device, which is no partition
 * @record_folder: where to keep the raw records too, as blktrace does; or NULL
 * @seconds: how long
 * @take: takes the events
 * @data: handed to @take
 * @ret: how much was recorded; what was lost was said
 *
 * SIGINT and SIGTERM end it before its time, with -EINTR.
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int record(const struct block_device *device, const char *record_folder, unsigned int seconds,
	   trace_event_fn take, void *data, struct capture_extent *ret)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	_cleanup_(capture_freep) struct capture *capture = NULL;
	struct traced traced = { .take = take, .data = data };
	struct recording recording = { .poll = poll_trace, .data = &traced, .seconds = seconds };
	enum obstacle obstacle;
	struct capture_extent extent;
	int r;

	r = refuse_partition(device);
	if (r == 0)
		r = new_loop(&event);
	if (r < 0)
		return r;
	r = capture_start(device->node, record_folder, &capture, &obstacle);
	if (obstacle != OBSTACLE_NONE)
		return capture_log_obstacle(device->node, obstacle, r);
	if (r < 0)
		return r;
	traced.capture = capture;
	r = run_loop(event, &recording);
	if (r < 0)
		return r;
	r = capture_stop(capture, take, data, &extent);
	if (r < 0)
		return r;
	*ret = extent;
	tell_lost(device, extent.lost);
	return 0;
}

static int poll_workload(struct recording *recording)
{
	int r = recorder_poll(recording->data);

	recording->events = recorder_events(recording->data);
	return r;
}

/**
 * record_workload() - record the workload of a fullstripe device, for a while
 * @t: the device
 * @record_folder: where to keep the raw records too, as blktrace does; or NULL
 * @seconds: how long
 * @ret: what was recorded; what is missing was said
 *
 * As record(), but what cannot be traced is taken from counters, unless there is @record_folder.
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int record_workload(const struct tuning *t, const char *record_folder, unsigned int seconds,
		    struct recorded *ret)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	_cleanup_(dmstats_freep) struct dmstats *area = NULL;
	_cleanup_(recorder_freep) struct recorder *recorder = NULL;
	struct recording recording = { .poll = poll_workload, .seconds = seconds };
	struct recorded recorded;
	int r;

	r = new_loop(&event);
	if (r == 0)
		r = recorder_start(t, record_folder, &area, &recorder);
	if (r < 0)
		return r;
	if (recorder_obstacle(recorder) != OBSTACLE_NONE)
		recorder_tell(t, recorder_obstacle(recorder));
	recording.data = recorder;
	r = run_loop(event, &recording);
	if (r < 0)
		return r;
	r = recorder_stop(recorder, &recorded);
	if (r < 0)
		return r;
	tell_lost(&t->device, recorded.lost);
	*ret = recorded;
	return 0;
}

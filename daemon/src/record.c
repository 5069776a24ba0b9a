// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>

#include "capture.h"
#include "cleanup.h"
#include "log.h"
#include "loop.h"
#include "progress.h"
#include "record.h"

DEFINE_CLEANUP(struct capture *, capture_free)

/* One recording: the device's events are given out as they come. */
struct recording {
	struct capture *capture;
	trace_event_fn take;
	void *data;
	unsigned int seconds;
	uint64_t began, events;
	struct progress progress;
};

static int take_event(void *data, const struct trace_event *event)
{
	struct recording *recording = data;

	recording->events++;
	return recording->take(recording->data, event);
}

static int on_poll(sd_event_source *source, uint64_t usec, void *data)
{
	struct recording *recording = data;
	int r;

	r = capture_poll(recording->capture, take_event, recording);
	progress_tell(&recording->progress, "%.0f of %u s recorded, %llu events",
		      (usec - recording->began) / 1e6, recording->seconds,
		      (unsigned long long)recording->events);
	if (r == 0)
		r = sd_event_source_set_time(source, usec + CAPTURE_POLL_USEC);
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

static int run_loop(struct recording *recording)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	int r;

	r = loop_new(&event, on_signal);
	if (r >= 0)
		r = sd_event_add_time_relative(event, NULL, CLOCK_MONOTONIC, CAPTURE_POLL_USEC, 0,
					       on_poll, recording);
	if (r >= 0)
		r = sd_event_add_time_relative(event, NULL, CLOCK_MONOTONIC,
					       recording->seconds * 1000000ull, 0, on_end, NULL);
	if (r >= 0)
		r = sd_event_now(event, CLOCK_MONOTONIC, &recording->began);
	if (r < 0)
		return log_errno(r, "the event loop");
	return sd_event_loop(event);
}

/**
 * record() - record what a device is asked for, for a while
 * @device: the device
 * @record_folder: where to keep the raw records too, as blktrace does; or NULL
 * @seconds: how long
 * @take: takes the events
 * @data: handed to @take
 * @ret_lost: records that had no room; that was said
 *
 * SIGINT and SIGTERM end it before its time, with -EINTR.
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int record(const struct block_device *device, const char *record_folder, unsigned int seconds,
	   trace_event_fn take, void *data, uint64_t *ret_lost)
{
	_cleanup_(capture_freep) struct capture *capture = NULL;
	struct recording recording = { .take = take, .data = data, .seconds = seconds };
	uint64_t lost;
	int r;

	r = capture_start(device->node, record_folder, &capture);
	if (r < 0)
		return r;
	recording.capture = capture;
	progress_begin(&recording.progress);
	r = run_loop(&recording);
	progress_end(&recording.progress);
	if (r < 0)
		return r;
	r = capture_stop(capture, take, data, &lost);
	if (r < 0)
		return r;
	*ret_lost = lost;
	if (lost > 0)
		log_warning("%s: %llu trace records had no room and are missing",
			    device->node, (unsigned long long)lost);
	return 0;
}

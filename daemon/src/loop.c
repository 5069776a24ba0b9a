// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <signal.h>

#include "cleanup.h"
#include "loop.h"

/**
 * loop_add_signal() - call a function when a signal comes
 * @event: the loop
 * @signal: the signal, which is blocked from now on
 * @fn: what is called
 * @data: its argument
 *
 * Return: 0 or more, or a negative errno.
 */
int loop_add_signal(sd_event *event, int signal, sd_event_signal_handler_t fn, void *data)
{
	sigset_t signals;

	/* Here, as older versions of systemd have no SD_EVENT_SIGNAL_PROCMASK. */
	sigemptyset(&signals);
	sigaddset(&signals, signal);
	if (sigprocmask(SIG_BLOCK, &signals, NULL) < 0)
		return -errno;
	return sd_event_add_signal(event, NULL, signal, fn, data);
}

/**
 * loop_new() - an event loop that SIGINT and SIGTERM end
 * @ret: the loop
 * @on_end: called for either, is to end it; NULL: it ends with 0
 *
 * Return: 0 or more, or a negative errno.
 */
int loop_new(sd_event **ret, sd_event_signal_handler_t on_end)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	int r;

	r = sd_event_new(&event);
	if (r >= 0)
		r = loop_add_signal(event, SIGINT, on_end, NULL);
	if (r >= 0)
		r = loop_add_signal(event, SIGTERM, on_end, NULL);
	if (r < 0)
		return r;
	*ret = event;
	event = NULL;
	return r;
}

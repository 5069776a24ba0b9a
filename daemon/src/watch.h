/* SPDX-License-Identifier: GPL-2.0 */
/* One device that the daemon watches: recorded from time to time, and set, or advice is given. */
#ifndef FULLSTRIPE_WATCH_H
#define FULLSTRIPE_WATCH_H

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "lib/config.h"
#include "lib/metrics.h"

/**
 * struct watch_context - what all watches share
 * @event: the loop
 * @config: may change between two calls
 * @state_folder: the state directory
 */
struct watch_context {
	sd_event *event;
	struct config config;
	const char *state_folder;
};

struct watch;

int watch_new(const struct watch_context *context, const char *name, struct watch **ret);
struct watch *watch_free(struct watch *w);
bool watch_is_of(const struct watch *w, const char *name);
bool watch_is_there(const struct watch *w);
const char *watch_name(const struct watch *w);
const struct metrics_watch *watch_metrics(const struct watch *w);

#endif

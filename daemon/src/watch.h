/* SPDX-License-Identifier: GPL-2.0 */
/* One device that the daemon watches: recorded from time to time, and set, or advice is given. */
#ifndef FULLSTRIPE_WATCH_H
#define FULLSTRIPE_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "lib/config.h"
#include "lib/metrics.h"

struct watch;

/**
 * struct watch_context - what all watches share
 * @event: the loop
 * @config: may change between two calls
 * @state_folder: the state directory
 * @changed: called after a recording began or ended, or a setting was changed; or NULL
 * @data: its argument
 */
struct watch_context {
	sd_event *event;
	struct config config;
	const char *state_folder;
	void (*changed)(void *data, const struct watch *w);
	void *data;
};

/**
 * struct watch_verdict - what a change did
 * @change: its number in the history; 0: none was judged since the device is watched
 * @verdict: on it
 * @sentence: for people
 */
struct watch_verdict {
	uint64_t change;
	enum harm_verdict verdict;
	char sentence[RULE_SENTENCE];
};

int watch_new(const struct watch_context *context, const char *name, struct watch **ret);
struct watch *watch_free(struct watch *w);
bool watch_is_of(const struct watch *w, const char *name);
bool watch_is_there(const struct watch *w);
int watch_record(struct watch *w);
int watch_apply(struct watch *w);
int watch_take_back(struct watch *w);
const char *watch_name(const struct watch *w);
const char *watch_dm_name(const struct watch *w);
bool watch_is_recording(const struct watch *w);
uint64_t watch_next_usec(const struct watch *w);
const struct watch_verdict *watch_verdict(const struct watch *w);
const struct metrics_watch *watch_metrics(const struct watch *w);

#endif

// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "apply.h"
#include "capture.h"
#include "cleanup.h"
#include "lib/pace.h"
#include "log.h"
#include "tuning.h"
#include "watch.h"

DEFINE_CLEANUP(struct tuning *, tuning_free)

#define USEC	1000000ull

/**
 * struct watch - a device
 * @context: shared with the others
 * @name: as in sysfs
 * @instance: which making of the device it is
 * @capture: its trace, while it is recorded
 * @profile: of that recording
 * @timer: the next poll while it is recorded, the next recording else
 * @record_until: when the recording ends, on CLOCK_MONOTONIC
 * @next_at: when the next one begins
 * @said: the newest plan that was told, which is not told again
 * @said_pace: and what was said of it
 */
struct watch {
	const struct watch_context *context;
	char name[SYSFS_NAME];
	char instance[STATE_INSTANCE];
	struct capture *capture;
	struct profile *profile;
	sd_event_source *timer;
	uint64_t record_until;
	uint64_t next_at;
	struct plan said;
	enum pace said_pace;
};

static uint64_t now_usec(const struct watch *w)
{
	uint64_t now = 0;

	sd_event_now(w->context->event, CLOCK_MONOTONIC, &now);
	return now;
}

static int find_device(const struct watch *w, struct tuning **ret)
{
	char node[SYSFS_NAME + 8];

	snprintf(node, sizeof(node), "/dev/%s", w->name);
	return tuning_new(node, ret);
}

static int take_event(const struct trace_event *event, void *data)
{
	return profile_add(data, event);
}

static int wake_at(struct watch *w, uint64_t usec)
{
	int r = sd_event_source_set_time(w->timer, usec);

	return r < 0 ? r : sd_event_source_set_enabled(w->timer, SD_EVENT_ONESHOT);
}

static void end_recording(struct watch *w)
{
	w->capture = capture_free(w->capture);
	w->profile = profile_free(w->profile);
}

/* One that was left by a process that was killed would be in the way of all others. */
static int start_trace(struct watch *w, struct tuning *t)
{
	_cleanup_(store_close) struct store store = STORE_NONE;
	const char *id = t->target.id, *instance = t->target.instance;
	uint64_t inode;
	int r;

	r = store_open(w->context->state_folder, true, &store);
	if (r < 0)
		return r;
	if (store_load_trace(&store, id, instance, &inode) == 0 &&
	    capture_end_stale(t->device.node, w->name, inode))
		log_warning("%s: the trace that an earlier process left is taken down",
			    t->target.dm_name);
	r = capture_start(t->device.node, NULL, &w->capture);
	return r < 0 ? r : store_save_trace(&store, id, instance, capture_inode(w->capture));
}

static int begin_recording(struct watch *w)
{
	_cleanup_(tuning_freep) struct tuning *t = NULL;
	const struct config *c = &w->context->config;
	struct profile_options options;
	int r;

	w->next_at = now_usec(w) + c->interval_seconds * USEC;
	w->record_until = now_usec(w) + c->record_seconds * USEC;
	r = find_device(w, &t);
	if (r == 0)
		r = tuning_profile_options(t, &options);
	if (r == 0)
		r = profile_new(&options, &w->profile);
	if (r == 0)
		r = start_trace(w, t);
	if (r < 0)
		end_recording(w);
	return r;
}

static bool is_said(const struct watch *w, const struct plan *plan, enum pace pace)
{
	if (w->said.n != plan->n || w->said_pace != pace)
		return false;
	for (size_t i = 0; i < plan->n; i++)
		if (plan->items[i].new != w->said.items[i].new ||
		    plan->items[i].old != w->said.items[i].old ||
		    plan->items[i].left_alone != w->said.items[i].left_alone)
			return false;
	return true;
}

static const char *event_id(const struct plan_item *item, bool applied)
{
	if (item->left_alone)
		return EVENT_HANDS_OFF;
	return applied ? EVENT_CHANGE : EVENT_ADVICE;
}

/* Each value that is not as it should be, and what becomes of it; once. */
static void tell(struct watch *w, const struct tuning *t, enum pace pace, bool applied)
{
	if (!applied && is_said(w, &t->plan, pace))
		return;
	for (size_t i = 0; i < t->plan.n; i++) {
		const struct plan_item *item = &t->plan.items[i];
		char sentence[RULE_SENTENCE + 160];
		const char *fate;

		if (item->old == item->new)
			continue;
		if (item->left_alone)
			fate = "left alone, as somebody else set it";
		else if (applied)
			fate = "applied";
		else
			fate = pace == PACE_GO ? "advice, fullstripectl apply sets it" :
						 pace_reason(pace);
		snprintf(sentence, sizeof(sentence), "%s (%s)", item->reason, fate);
		log_change(&(struct log_change) {
			.id = event_id(item, applied),
			.device = t->target.dm_name,
			.setting = item->attribute,
			.old = item->old,
			.new = item->new,
			.scenario = rule_scenario_name(item->scenario),
			.sentence = sentence,
		});
	}
	w->said = t->plan;
	w->said_pace = pace;
}

static int save_profile(const struct tuning *t, const struct profile *profile)
{
	_cleanup_free_ struct saved *saved = calloc(1, sizeof(*saved));

	if (!saved)
		return log_errno(ENOMEM, "%s", t->device.node);
	saved->n = profile_find(profile, t->device.device, &saved->devices[0]);
	return saved->n ? store_save_profile(&t->store, t->target.id, saved) : -ENODATA;
}

/* A device at rest has no workload, which is nothing to talk about. */
static bool is_enough(const struct tuning *t, const struct profile *profile,
		      struct profile_summary *ret)
{
	return profile_find(profile, t->device.device, ret) && ret->ios >= RULE_LEAST_IOS &&
	       ret->completed > 0;
}

static int decide(struct watch *w)
{
	_cleanup_(tuning_freep) struct tuning *t = NULL;
	const struct config *c = &w->context->config;
	struct profile_summary profile;
	struct transaction change;
	bool applied = false;
	enum pace pace;
	int r;

	r = find_device(w, &t);
	if (r < 0 || !is_enough(t, w->profile, &profile))
		return r;
	r = tuning_open_state(t, w->context->state_folder, true);
	if (r == 0)
		r = save_profile(t, w->profile);
	if (r == 0)
		r = tuning_decide(t, &profile, false);
	if (r < 0)
		return r;
	pace = pace_decide(c, &t->plan, &t->state, time(NULL));
	if (c->apply && pace == PACE_GO) {
		r = apply_prepare(t->target.folder, &t->plan, &change);
		if (r == 0 && change.n > 0)
			r = apply_run(t->target.folder, &t->store, &t->state, &change);
		if (r < 0)
			return r;
		applied = true;
	}
	tell(w, t, pace, applied);
	return 0;
}

/* Return: whether the recording goes on. */
static bool poll_recording(struct watch *w)
{
	uint64_t lost = 0;
	int r;

	if (now_usec(w) < w->record_until) {
		r = capture_poll(w->capture, take_event, w->profile);
		if (r == 0)
			return true;
	} else {
		r = capture_stop(w->capture, take_event, w->profile, &lost);
		profile_add_lost(w->profile, lost);
		if (r == 0)
			decide(w);
	}
	end_recording(w);
	return false;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *data)
{
	struct watch *w = data;
	bool records;

	(void)source;
	(void)usec;
	/* Who holds this watch will find out, and let go of it. */
	if (!watch_is_there(w))
		return 0;
	/* What failed was logged; the next recording is another try. */
	records = w->capture ? poll_recording(w) : begin_recording(w) == 0;
	return wake_at(w, records ? now_usec(w) + CAPTURE_POLL_USEC : w->next_at);
}

/* What another process, or this one in an earlier life, did not end. */
static int recover(const struct watch *w, char instance[static STATE_INSTANCE])
{
	_cleanup_(tuning_freep) struct tuning *t = NULL;
	int r;

	r = find_device(w, &t);
	if (r < 0)
		return r;
	memcpy(instance, t->target.instance, STATE_INSTANCE);
	/* A device that cannot be set now may be so later, and is watched all the same. */
	tuning_open_state(t, w->context->state_folder, true);
	return 0;
}

/**
 * watch_new() - watch a device
 * @context: shared by all
 * @name: of the device, as in sysfs
 * @ret: the watch
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int watch_new(const struct watch_context *context, const char *name, struct watch **ret)
{
	struct watch *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return log_errno(ENOMEM, "%s", name);
	w->context = context;
	snprintf(w->name, sizeof(w->name), "%s", name);
	r = recover(w, w->instance);
	if (r == 0) {
		r = sd_event_add_time(context->event, &w->timer, CLOCK_MONOTONIC, 0, 0, on_timer, w);
		if (r < 0)
			log_errno(r, "%s", name);
	}
	if (r < 0) {
		watch_free(w);
		return r;
	}
	*ret = w;
	return 0;
}

/**
 * watch_free() - no longer watch a device
 * @w: the watch or NULL; what is being recorded is forgotten, and the settings stay
 *
 * Return: NULL.
 */
struct watch *watch_free(struct watch *w)
{
	if (!w)
		return NULL;
	sd_event_source_disable_unref(w->timer);
	end_recording(w);
	free(w);
	return NULL;
}

/**
 * watch_is_of() - whether a device is the one that is watched
 * @w: the watch
 * @name: as in sysfs
 */
bool watch_is_of(const struct watch *w, const char *name)
{
	return strcmp(w->name, name) == 0;
}

/**
 * watch_is_there() - whether the device is still the one that it was
 * @w: the watch
 */
bool watch_is_there(const struct watch *w)
{
	char instance[STATE_INSTANCE];

	return target_read_instance(w->name, instance) == 0 && strcmp(instance, w->instance) == 0;
}

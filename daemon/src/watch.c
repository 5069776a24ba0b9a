// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "apply.h"
#include "capture.h"
#include "cleanup.h"
#include "counters.h"
#include "lib/harm.h"
#include "lib/macros.h"
#include "lib/pace.h"
#include "log.h"
#include "recorder.h"
#include "sysfs.h"
#include "tuning.h"
#include "watch.h"

DEFINE_CLEANUP(struct tuning *, tuning_free)

#define USEC	1000000ull

/* How soon it is looked again whether what is in the way is gone. */
#define RETRY_USEC	250000

/**
 * struct watch - a device
 * @context: shared with the others
 * @name: as in sysfs
 * @dm_name: its device-mapper name
 * @recovered: what an earlier life did not end was ended, and what it knew is known
 * @recorder: while it is recorded
 * @area: of the device's counters, from the first recording on that needed it
 * @recorded: at its end, until it is decided on
 * @undecided: it is not yet, as another process changes settings
 * @said_obstacle: why it was recorded from counters at last
 * @timer: the next poll while it is recorded, the next recording else
 * @record_until: when the recording ends, on CLOCK_MONOTONIC
 * @next_at: when the next one begins
 * @said: the newest plan that was told, which is not told again
 * @said_pace: and what was said of it
 * @counted: what was counted when the recording began is known:
 * @counters: that
 * @samples: which making of the device it is, what it was set to at last, and what a
 *	change is judged by
 * @metrics: what was done and found, for others
 * @verdict: the newest one, for others
 */
struct watch {
	const struct watch_context *context;
	char name[SYSFS_NAME];
	char dm_name[TARGET_NAME];
	bool recovered;
	struct recorder *recorder;
	struct dmstats *area;
	struct recorded recorded;
	bool undecided;
	enum obstacle said_obstacle;
	sd_event_source *timer;
	uint64_t record_until;
	uint64_t next_at;
	struct plan said;
	enum pace said_pace;
	bool counted;
	struct harm_counters counters;
	struct samples samples;
	struct metrics_watch metrics;
	struct watch_verdict verdict;
};

static void changed(struct watch *w)
{
	if (w->context->changed)
		w->context->changed(w->context->data, w);
}

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

static int wake_at(struct watch *w, uint64_t usec)
{
	int r = sd_event_source_set_time(w->timer, usec);

	return r < 0 ? r : sd_event_source_set_enabled(w->timer, SD_EVENT_ONESHOT);
}

static bool is_last(const struct state *s, uint64_t id)
{
	const struct transaction *last = state_last_applied(s);

	return last && last->id == id;
}

/*
 * Those of the same settings go on; see_settings() says goodbye to others. A change that was
 * under way may have been undone meanwhile, and one that was taken back has been judged.
 */
static void recover_samples(struct watch *w, const struct tuning *t)
{
	struct samples samples;

	if (store_load_samples(&t->store, t->target.id, &samples) < 0 ||
	    strcmp(samples.instance, w->samples.instance) != 0)
		return;
	w->samples = samples;
	if (!samples.settings[0] && !is_last(&t->state, samples.harm.change))
		harm_end(&w->samples.harm, HARM_HARMED);
}

/*
 * Nobody is waited for, as the loop stands meanwhile. What another process, or this one in an
 * earlier life, did not end is ended at the first time.
 */
static int open_state(struct watch *w, struct tuning *t)
{
	int r = tuning_open_state(t, w->context->state_folder, STORE_TRY);

	if (r == 0 && !w->recovered)
		recover_samples(w, t);
	w->recovered |= r != -EWOULDBLOCK;
	return r;
}

static void tell_verdict(struct watch *w, const struct tuning *t, enum harm_verdict verdict,
			 const struct harm_finding *finding, const char *sentence)
{
	w->metrics.verdicts[verdict]++;
	w->verdict.change = w->samples.harm.change;
	w->verdict.verdict = verdict;
	snprintf(w->verdict.sentence, sizeof(w->verdict.sentence), "%s", sentence);
	log_verdict(&(struct log_verdict) {
		.device = t->target.dm_name,
		.change = w->samples.harm.change,
		.verdict = harm_verdict_name(verdict),
		.measure = finding ? harm_measure_name(finding->measure) : "",
		.sentence = sentence,
	});
}

/*
 * Recordings of other settings than these say nothing about them. Return: 1 if they are
 * others than at last, 0 or a negative errno, which has been logged, else.
 */
static int see_settings(struct watch *w, const struct tuning *t)
{
	char settings[SAMPLES_SETTINGS];
	bool known;
	int r;

	r = counters_read_settings(SYSFS_ROOT, w->name, settings);
	if (r < 0 || strcmp(settings, w->samples.settings) == 0)
		return r;
	known = w->samples.settings[0] != '\0';
	memcpy(w->samples.settings, settings, sizeof(settings));
	/* It is the first look, or change_settings() did not come to look. */
	if (!known)
		return 0;
	if (w->samples.harm.change != 0)
		tell_verdict(w, t, HARM_NOT_COMPARABLE, NULL,
			     "somebody else changed settings meanwhile");
	w->samples.harm = (struct harm) { .change = 0 };
	return 1;
}

/* Return: whether it is known; what is not known has been logged, and only makes no sample. */
static bool begin_counting(struct watch *w, struct tuning *t)
{
	int r;

	r = topology_read(SYSFS_ROOT, t->target.lower, dm_read_table_of, &t->topology);
	if (r == 0)
		r = see_settings(w, t);
	if (r >= 0)
		r = counters_read(SYSFS_ROOT, w->name, &t->topology, &w->counters);
	return r == 0;
}

/* Once: it would be said of each recording. */
static void tell_obstacle(struct watch *w, const struct tuning *t)
{
	enum obstacle obstacle = recorder_obstacle(w->recorder);

	if (obstacle != w->said_obstacle)
		recorder_tell(t, obstacle);
	w->said_obstacle = obstacle;
}

static int begin_recording(struct watch *w)
{
	_cleanup_(tuning_freep) struct tuning *t = NULL;
	const struct config *c = &w->context->config;
	int r;

	w->undecided = false;
	w->next_at = now_usec(w) + c->interval_seconds * USEC;
	w->record_until = now_usec(w) + c->record_seconds * USEC;
	r = find_device(w, &t);
	if (r == 0)
		r = recorder_start(t, NULL, &w->area, &w->recorder);
	if (r < 0) {
		w->area = dmstats_free(w->area);
		return r;
	}
	tell_obstacle(w, t);
	w->counted = begin_counting(w, t);
	return 0;
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

static int save_profile(const struct tuning *t, const struct profile_summary *profile)
{
	_cleanup_free_ struct saved *saved = calloc(1, sizeof(*saved));

	if (!saved)
		return log_errno(ENOMEM, "%s", t->device.node);
	saved->n = 1;
	saved->devices[0] = *profile;
	return store_save_profile(&t->store, t->target.id, saved);
}

/* A device at rest has no workload, which is nothing to talk about. */
static bool is_enough(const struct recorded *recorded)
{
	return recorded->any && recorded->profile.ios >= RULE_LEAST_IOS &&
	       recorded->profile.completed > 0;
}

/* A recording that lacks records, and so bandwidth, is no sample; nor is one of two settings. */
static void take_sample(struct watch *w, const struct tuning *t, const struct recorded *recorded)
{
	struct harm_counters counters;
	struct harm_sample sample;

	w->metrics.pre_reads = -1;
	/* Whatever comes of the sample, those of other settings are none any more. */
	if (see_settings(w, t) != 0 || !w->counted || recorded->lost > 0 ||
	    counters_read(SYSFS_ROOT, w->name, &t->topology, &counters) < 0)
		return;
	if (!harm_sample(&recorded->profile, recorded->in_flight, &w->counters, &counters, &sample))
		return;
	harm_add(&w->samples.harm, &sample);
	w->metrics.pre_reads = sample.values[HARM_PRE_READS];
}

static int keep_samples(const struct watch *w, const struct tuning *t)
{
	return store_save_samples(&t->store, t->target.id, &w->samples);
}

/*
 * The recordings go on with what the settings become, as these are our own. That they are
 * not known is kept first: who is killed meanwhile would take them for somebody else's.
 */
static int change_settings(struct watch *w, struct tuning *t, const struct transaction *change)
{
	int r;

	w->samples.settings[0] = '\0';
	r = keep_samples(w, t);
	if (r == 0)
		r = apply_run(&t->place, &t->store, &t->state, change);
	counters_read_settings(SYSFS_ROOT, w->name, w->samples.settings);
	return r;
}

/* How many settings the last change moved, those too that follow the stripe width. */
static int count_changed(const struct state *s)
{
	const struct transaction *last = &s->history[s->n_history - 1];
	int n = 0;

	for (size_t i = 0; i < last->n; i++)
		n += last->changes[i].old != last->changes[i].new;
	return n;
}

/* What was planned is set now. */
static void fulfil(struct plan *plan)
{
	for (size_t i = 0; i < plan->n; i++)
		if (!plan->items[i].left_alone)
			plan->items[i].old = plan->items[i].new;
}

/* Return: how many settings were changed, or a negative errno, which has been logged. */
static int apply(struct watch *w, struct tuning *t)
{
	struct transaction change;
	int r;

	r = apply_prepare(&t->place, &t->plan, &change);
	if (r < 0 || change.n == 0)
		return r;
	/* Else it would have been waited for. */
	if (w->samples.harm.change != 0) {
		tell_verdict(w, t, HARM_NOT_COMPARABLE, NULL, "another change was asked for");
		harm_end(&w->samples.harm, HARM_NOT_COMPARABLE);
	}
	harm_begin(&w->samples.harm, t->state.last_id + 1);
	r = change_settings(w, t, &change);
	if (r < 0) {
		/* It was undone. */
		harm_end(&w->samples.harm, HARM_HARMED);
		return r;
	}
	w->metrics.applied++;
	fulfil(&w->metrics.plan);
	return count_changed(&t->state);
}

/*
 * @why: the harm that the change did; NULL: it was asked for. Return: as apply(), and -ENODATA,
 * not logged, if there is nothing to take back.
 */
static int take_back(struct watch *w, struct tuning *t, const char *why)
{
	struct transaction change;
	int r;

	r = apply_prepare_rollback(&t->place, &t->state, false, &change);
	for (size_t i = 0; r == 0 && why && i < change.n; i++)
		snprintf(change.changes[i].reason, sizeof(change.changes[i].reason),
			 "change %llu did harm: %.200s",
			 (unsigned long long)w->samples.harm.change, why);
	if (r == 0 && change.n > 0)
		r = change_settings(w, t, &change);
	if (r < 0 || change.n == 0)
		return r;
	w->metrics.taken_back += why != NULL;
	/* The plan was of the settings that were just taken back. */
	w->metrics.has_plan = false;
	for (size_t i = 0; i < change.n; i++)
		log_change(&(struct log_change) {
			.id = EVENT_TAKEN_BACK,
			.device = t->target.dm_name,
			.setting = change.changes[i].name,
			.old = change.changes[i].old,
			.new = change.changes[i].new,
			.scenario = why ? "harmed" : "asked",
			.sentence = change.changes[i].reason,
		});
	return count_changed(&t->state);
}

/* Return: 1 if the change was taken back, 0 or a negative errno, which has been logged, else. */
static int judge(struct watch *w, struct tuning *t)
{
	struct harm_finding finding;
	enum harm_verdict verdict = harm_judge(&w->samples.harm, &finding);
	char sentence[RULE_SENTENCE];
	int r = 0;

	switch (verdict) {
	case HARM_PENDING:
		return 0;
	case HARM_HARMED:
		harm_describe(&finding, sentence);
		tell_verdict(w, t, verdict, &finding, sentence);
		/* Who went back to advice since, or took it back, is not to be overruled. */
		if (w->context->config.apply && is_last(&t->state, w->samples.harm.change)) {
			r = take_back(w, t, sentence);
			/* The next recording is another try. */
			if (r < 0)
				return r;
			r = 1;
		}
		break;
	case HARM_UNHARMED:
		tell_verdict(w, t, verdict, NULL, "nothing became worse");
		break;
	default:
		tell_verdict(w, t, verdict, NULL, w->samples.harm.n_before < HARM_SAMPLES ?
			     "there were too few recordings before it to compare with; it stays" :
			     "the workload is another one now; it stays");
		break;
	}
	harm_end(&w->samples.harm, verdict == HARM_HARMED && r == 0 ? HARM_UNHARMED : verdict);
	return r;
}

static int make_plan(struct watch *w, struct tuning *t,
		     const struct profile_summary *profile)
{
	const struct tuning_options options = { .layers = w->context->config.layers };
	int r = tuning_decide(t, profile, &options);

	if (r < 0)
		return r;
	w->metrics.profile = *profile;
	w->metrics.has_profile = true;
	w->metrics.plan = t->plan;
	w->metrics.has_plan = true;
	return 0;
}

/*
 * Return: 0, -EWOULDBLOCK, not logged, if another process changes settings now, or another
 * negative errno, which has been logged.
 */
static int decide(struct watch *w, const struct recorded *recorded)
{
	_cleanup_(tuning_freep) struct tuning *t = NULL;
	const struct config *c = &w->context->config;
	bool applied = false;
	enum pace pace;
	int r;

	r = find_device(w, &t);
	if (r < 0 || !is_enough(recorded))
		return r;
	r = open_state(w, t);
	if (r == 0)
		r = save_profile(t, &recorded->profile);
	if (r == 0)
		r = make_plan(w, t, &recorded->profile);
	if (r < 0)
		return r;
	take_sample(w, t, recorded);
	if (w->samples.harm.change != 0) {
		r = judge(w, t);
		keep_samples(w, t);
		/* What was planned is of the settings that were just taken back. */
		if (r != 0)
			return MIN(r, 0);
	}
	pace = pace_decide(c, &t->plan, &t->state, time(NULL));
	if (c->apply && pace == PACE_GO)
		pace = pace_judgeable(&w->samples.harm);
	if (c->apply && pace == PACE_GO) {
		r = apply(w, t);
		if (r < 0)
			return r;
		applied = true;
	}
	keep_samples(w, t);
	tell(w, t, pace, applied);
	return 0;
}

/* What is counted until it can be decided is not of the recording: that is no sample. */
static void try_to_decide(struct watch *w)
{
	bool waited = w->undecided;

	w->undecided = decide(w, &w->recorded) == -EWOULDBLOCK;
	w->counted = w->counted && !w->undecided;
	if (w->undecided && !waited)
		log_warning("%s: another process changes settings; what was recorded is decided on when it is done",
			    w->dm_name);
}

/* Return: whether the recording goes on. */
static bool poll_recording(struct watch *w)
{
	bool recorded = false;

	if (now_usec(w) < w->record_until) {
		if (recorder_poll(w->recorder) == 0)
			return true;
	} else if (recorder_stop(w->recorder, &w->recorded) == 0) {
		w->metrics.recordings++;
		w->metrics.lost += w->recorded.lost;
		recorded = true;
		try_to_decide(w);
	}
	w->recorder = recorder_free(w->recorder);
	/* Somebody else may have deleted it. */
	if (!recorded)
		w->area = dmstats_free(w->area);
	return false;
}

/* Return: whether there is something to look at again soon. */
static bool take_turn(struct watch *w)
{
	if (w->recorder)
		return poll_recording(w) || w->undecided;
	if (w->undecided && now_usec(w) < w->next_at) {
		try_to_decide(w);
		return w->undecided;
	}
	return begin_recording(w) == 0;
}

/* Which device it is, and what is known of it. */
static int recover(struct watch *w)
{
	_cleanup_(tuning_freep) struct tuning *t = NULL;
	int r;

	r = find_device(w, &t);
	if (r < 0)
		return r;
	memcpy(w->samples.instance, t->target.instance, STATE_INSTANCE);
	memcpy(w->dm_name, t->target.dm_name, sizeof(w->dm_name));
	/* A device that cannot be set now may be so later, and is watched all the same. */
	open_state(w, t);
	return 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *data)
{
	bool recorded, undecided, soon;
	struct watch *w = data;

	(void)source;
	(void)usec;
	/* Who holds this watch will find out, and let go of it; unless it is back by then. */
	if (!watch_is_there(w))
		return wake_at(w, now_usec(w) + RETRY_USEC);
	if (!w->recovered)
		recover(w);
	recorded = w->recorder;
	undecided = w->undecided;
	/* What failed was logged; the next recording is another try. */
	soon = take_turn(w);
	if (!(recorded && w->recorder) && !(undecided && w->undecided))
		changed(w);
	if (!soon)
		return wake_at(w, w->next_at);
	return wake_at(w, now_usec(w) + (w->recorder ? CAPTURE_POLL_USEC : RETRY_USEC));
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
	r = recover(w);
	if (r == 0) {
		r = sd_event_add_time(context->event, &w->timer, CLOCK_MONOTONIC, 0,
				      CAPTURE_LATE_USEC, on_timer, w);
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
	recorder_free(w->recorder);
	dmstats_free(w->area);
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
 * watch_is_there() - whether the device is still the one that it was, by the same name
 * @w: the watch
 */
bool watch_is_there(const struct watch *w)
{
	char dm_name[TARGET_NAME];

	return target_is(w->name, w->samples.instance) &&
	       sysfs_read_text(dm_name, sizeof(dm_name), SYSFS_ROOT "/block/%s/dm/name",
			       w->name) == 0 &&
	       strcmp(dm_name, w->dm_name) == 0;
}

/**
 * watch_record() - begin a recording now
 * @w: the watch
 *
 * Return: 0, -EALREADY if there is one under way, or another negative errno, which has been
 * logged.
 */
int watch_record(struct watch *w)
{
	int r;

	if (w->recorder)
		return -EALREADY;
	r = begin_recording(w);
	wake_at(w, r == 0 ? now_usec(w) + CAPTURE_POLL_USEC : w->next_at);
	changed(w);
	return r;
}

/* The device for who asks for a change of it; samples of settings of others are gone then. */
static int open_asked(struct watch *w, struct tuning **ret)
{
	_cleanup_(tuning_freep) struct tuning *t = NULL;
	int r;

	r = find_device(w, &t);
	if (r == 0)
		r = open_state(w, t);
	if (r == 0)
		r = see_settings(w, t);
	if (r < 0)
		return r;
	*ret = t;
	t = NULL;
	return 0;
}

/* @r: as it is returned to who asked. What is recorded during a change is of two settings. */
static void end_asked(struct watch *w, const struct tuning *t, int r)
{
	w->counted = w->counted && (r == 0 || r == -ENODATA);
	keep_samples(w, t);
	changed(w);
}

/**
 * watch_apply() - set the device as the newest plan says, whatever the mode and the pace
 * @w: the watch
 *
 * It is decided again from the newest workload, as the device or the array may be others
 * since. What it does is judged, as any change from here is.
 *
 * Return: how many settings were changed, -ENODATA if nothing was planned since the device
 * is watched, or since a change was taken back, -EWOULDBLOCK if another process changes
 * settings now, or another negative errno, which has been logged.
 */
int watch_apply(struct watch *w)
{
	_cleanup_(tuning_freep) struct tuning *t = NULL;
	int r;

	if (!w->metrics.has_plan)
		return -ENODATA;
	r = open_asked(w, &t);
	if (r == 0)
		r = make_plan(w, t, &w->metrics.profile);
	if (r == 0) {
		r = apply(w, t);
		end_asked(w, t, r);
	}
	if (r > 0)
		tell(w, t, PACE_GO, true);
	return r;
}

/**
 * watch_take_back() - take the last change of the device back, as fullstripectl rollback does
 * @w: the watch
 *
 * Return: how many settings were changed, -ENODATA if there is nothing to take back,
 * -EWOULDBLOCK as watch_apply(), or another negative errno, which has been logged.
 */
int watch_take_back(struct watch *w)
{
	_cleanup_(tuning_freep) struct tuning *t = NULL;
	bool judged;
	int r;

	r = open_asked(w, &t);
	if (r < 0)
		return r;
	judged = is_last(&t->state, w->samples.harm.change);
	r = take_back(w, t, NULL);
	/* The samples before the change are of what is set again. */
	if (r > 0)
		harm_end(&w->samples.harm, judged ? HARM_HARMED : HARM_NOT_COMPARABLE);
	end_asked(w, t, r);
	return r;
}

/**
 * watch_name() - the device that is watched
 * @w: the watch
 *
 * Return: its name in sysfs.
 */
const char *watch_name(const struct watch *w)
{
	return w->name;
}

/**
 * watch_dm_name() - the same
 * @w: the watch
 *
 * Return: its device-mapper name.
 */
const char *watch_dm_name(const struct watch *w)
{
	return w->dm_name;
}

/**
 * watch_is_recording() - whether the device is recorded now
 * @w: the watch
 */
bool watch_is_recording(const struct watch *w)
{
	return w->recorder;
}

/**
 * watch_next_usec() - when the next recording begins
 * @w: the watch
 *
 * Return: the time on CLOCK_MONOTONIC.
 */
uint64_t watch_next_usec(const struct watch *w)
{
	return w->next_at;
}

/**
 * watch_verdict() - what the newest change that was judged did
 * @w: the watch
 */
const struct watch_verdict *watch_verdict(const struct watch *w)
{
	return &w->verdict;
}

/**
 * watch_metrics() - what was done and found since it is watched
 * @w: the watch
 */
const struct metrics_watch *watch_metrics(const struct watch *w)
{
	return &w->metrics;
}

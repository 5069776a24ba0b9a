// SPDX-License-Identifier: GPL-2.0
/* fullstriped: record a workload, decide, apply, and say why. */
#include <argp.h>
#include <errno.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>

#include "apply.h"
#include "capture.h"
#include "cleanup.h"
#include "lib/exit_codes.h"
#include "lib/profile.h"
#include "lib/render.h"
#include "lib/rule.h"
#include "lib/units.h"
#include "log.h"
#include "target.h"
#include "topology.h"

#define SECONDS_DEFAULT	10
#define SECONDS_MAX	86400

DEFINE_CLEANUP(struct capture *, capture_free)
DEFINE_CLEANUP(struct profile *, profile_free)
DEFINE_CLEANUP(struct json_object *, json_object_put)

const char *argp_program_version = "fullstriped " FULLSTRIPE_VERSION;

struct options {
	const char *device;
	const char *record_folder;
	unsigned int seconds;
	bool once;
	bool json;
	bool dry_run;
};

enum {
	OPTION_ONCE = 256,
	OPTION_SECONDS,
	OPTION_JSON,
	OPTION_DRY_RUN,
	OPTION_RECORD,
};

static const struct argp_option option_list[] = {
	{ "once", OPTION_ONCE, NULL, 0, "Record, decide and apply one time", 0 },
	{ "seconds", OPTION_SECONDS, "N", 0, "How long to record (default 10)", 0 },
	{ "json", OPTION_JSON, NULL, 0, "Print JSON", 0 },
	{ "dry-run", OPTION_DRY_RUN, NULL, 0, "Change nothing", 0 },
	{ "record", OPTION_RECORD, "DIR", 0, "Keep the recording in DIR, as blktrace does", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	char *end;
	unsigned long seconds;

	switch (key) {
	case OPTION_ONCE:
		o->once = true;
		return 0;
	case OPTION_SECONDS:
		errno = 0;
		seconds = strtoul(arg, &end, 10);
		if (arg[0] < '0' || arg[0] > '9' || *end || errno || seconds < 1 ||
		    seconds > SECONDS_MAX)
			argp_error(state, "--seconds '%s': a number from 1 to %d", arg, SECONDS_MAX);
		o->seconds = seconds;
		return 0;
	case OPTION_JSON:
		o->json = true;
		return 0;
	case OPTION_DRY_RUN:
		o->dry_run = true;
		return 0;
	case OPTION_RECORD:
		o->record_folder = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (o->device)
			argp_error(state, "one device at a time, and '%s' is a second one", arg);
		o->device = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->once)
			argp_error(state, "it runs with --once only: fullstriped --once DEV");
		if (!o->device)
			argp_error(state, "--once needs a fullstripe device");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
	.options = option_list,
	.parser = parse_option,
	.args_doc = "--once DEV",
	.doc = "Record the workload of the fullstripe device DEV, derive stripe width and cluster size from it and from the array below, set them, and say why.\vExit status: 0 done, 1 failed, 2 wrong usage, 4 nothing was measured to decide from. See fullstriped(8).",
};

/* One recording: the device's events go into the profile as they come. */
struct recording {
	struct capture *capture;
	struct profile *profile;
};

static int take_event(const struct trace_event *event, void *data)
{
	return profile_add(data, event);
}

static int on_poll(sd_event_source *source, uint64_t usec, void *data)
{
	struct recording *recording = data;
	int r;

	r = capture_poll(recording->capture, take_event, recording->profile);
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

static int run_loop(struct recording *recording, unsigned int seconds)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	sigset_t signals;
	int r;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &signals, NULL) < 0)
		return log_errno(errno, "signals");

	r = sd_event_new(&event);
	if (r >= 0)
		r = sd_event_add_signal(event, NULL, SIGINT, on_signal, NULL);
	if (r >= 0)
		r = sd_event_add_signal(event, NULL, SIGTERM, on_signal, NULL);
	if (r >= 0)
		r = sd_event_add_time_relative(event, NULL, CLOCK_MONOTONIC, CAPTURE_POLL_USEC, 0,
					       on_poll, recording);
	if (r >= 0)
		r = sd_event_add_time_relative(event, NULL, CLOCK_MONOTONIC,
					       seconds * 1000000ull, 0, on_end, NULL);
	if (r < 0)
		return log_errno(r, "the event loop");
	return sd_event_loop(event);
}

/* Record for a while. What was wrong has been logged on return. */
static int record(const struct block_device *device, const struct options *o,
		  struct profile *profile)
{
	_cleanup_(capture_freep) struct capture *capture = NULL;
	struct recording recording = { .profile = profile };
	uint64_t lost;
	int r;

	r = capture_start(device->node, o->record_folder, &capture);
	if (r < 0)
		return r;
	recording.capture = capture;
	r = run_loop(&recording, o->seconds);
	if (r < 0)
		return r;
	r = capture_stop(capture, take_event, profile, &lost);
	if (r < 0)
		return r;
	profile_add_lost(profile, lost);
	if (lost > 0)
		log_warning("%s: %llu trace records had no room and are missing",
			    device->node, (unsigned long long)lost);
	return 0;
}

/* Everything that one run found, decided and did. */
struct outcome {
	struct block_device device;
	struct target target;
	struct topology topology;
	struct profile_summary profile;
	struct plan plan;
	bool applied;
};

static void print_json(const struct outcome *outcome)
{
	_cleanup_(json_object_putp) struct json_object *o = json_object_new_object();
	struct json_object *topology = json_object_new_object();
	const struct topology *t = &outcome->topology;

	json_object_object_add(topology, "array", render_array(&t->array, t->array_name));
	json_object_object_add(topology, "limits", render_limits(t->limits, t->n_limits));
	render_add_text(o, "device", outcome->device.node);
	json_object_object_add(o, "profile", render_profile(&outcome->profile));
	json_object_object_add(o, "topology", topology);
	json_object_object_add(o, "plan", render_plan(&outcome->plan));
	json_object_object_add(o, "sum", render_sum(&outcome->plan.sum));
	json_object_object_add(o, "applied", json_object_new_boolean(outcome->applied));
	puts(render_text(o));
}

static void print_text(const struct outcome *outcome)
{
	const struct profile_summary *s = &outcome->profile;
	char average[UNITS_TEXT], peak[UNITS_TEXT], size[UNITS_TEXT];

	printf("%s: %llu reads, %llu writes in %.1f s, %s, typically %s; %s on average, %s at the peak; confidence %.2f\n",
	       outcome->device.node, (unsigned long long)s->reads, (unsigned long long)s->writes,
	       s->duration / 1e9, profile_access_name(s->access),
	       units_format_size(s->size_mode, size), units_format_rate(s->average_rate, average),
	       units_format_rate(s->peak_rate, peak), s->confidence);
	for (size_t i = 0; i < outcome->plan.sum.n; i++)
		printf("  %s\n", outcome->plan.sum.lines[i]);
	for (size_t i = 0; i < outcome->plan.n; i++) {
		const struct plan_item *item = &outcome->plan.items[i];

		if (item->old == item->new)
			printf("%s %llu is right: %s\n", item->attribute,
			       (unsigned long long)item->new, item->reason);
		else
			printf("%s %llu -> %llu: %s\n", item->attribute,
			       (unsigned long long)item->old, (unsigned long long)item->new,
			       item->reason);
	}
	if (!outcome->applied)
		puts("dry run: nothing was changed");
}

/* Its place on the stripes is fixed in a target's table; here it can only be told that it is wrong. */
static void check_alignment(const struct outcome *outcome, uint64_t alignment_offset,
			    uint64_t stripe)
{
	uint64_t offset = outcome->topology.array.offset_bytes;
	uint64_t right = rule_misaligned_by(offset, stripe);

	if (alignment_offset == right)
		return;
	log_warning("%s: alignment_offset is %llu and should be %llu: %s begins %llu bytes into %s, so no stripe is aligned; make it anew with fullstripectl create",
		    outcome->device.node, (unsigned long long)alignment_offset,
		    (unsigned long long)right, outcome->target.lower, (unsigned long long)offset,
		    outcome->topology.array_name);
}

static uint64_t plan_stripe(const struct outcome *outcome, const struct rule_settings *current)
{
	for (size_t i = 0; i < outcome->plan.n; i++)
		if (strcmp(outcome->plan.items[i].attribute, "stripe_bytes") == 0)
			return outcome->plan.items[i].new;
	return current->stripe_bytes;
}

static int decide(struct outcome *outcome, const struct rule_settings *current)
{
	const struct topology *t = &outcome->topology;
	int r;

	r = rule_plan(&outcome->profile, &t->array, t->limits, t->n_limits, current,
		      &outcome->plan);
	if (r == -ENODATA) {
		log_warning("%s: %llu reads and writes, %llu of them completed, are too few to decide from (at least %d); nothing is changed",
			    outcome->device.node, (unsigned long long)outcome->profile.ios,
			    (unsigned long long)outcome->profile.completed, RULE_LEAST_IOS);
		return r;
	}
	if (r < 0)
		return log_errno(r, "%s: nothing can be decided from %s: RAID%d of %u members, chunk %llu bytes",
				 outcome->device.node, t->array_name, t->array.level,
				 t->array.members, (unsigned long long)t->array.chunk_bytes);
	if (t->array.level != RULE_LEVEL_NONE)
		check_alignment(outcome, current->alignment_offset, plan_stripe(outcome, current));
	return 0;
}

static int run_once(const struct options *o)
{
	_cleanup_(profile_freep) struct profile *profile = NULL;
	_cleanup_free_ struct outcome *outcome = calloc(1, sizeof(*outcome));
	struct profile_options options;
	struct rule_settings current;
	int r;

	if (!outcome)
		return log_errno(ENOMEM, "%s", o->device);
	r = block_device_find(o->device, &outcome->device);
	if (r < 0)
		return r;
	r = target_find(&outcome->device, &outcome->target);
	if (r < 0)
		return r;
	r = target_read_settings(&outcome->target, &current);
	if (r < 0)
		return r;
	options = (struct profile_options) {
		.stripe_bytes = current.stripe_bytes,
		.offset_bytes = (current.alignment_offset + outcome->target.lower_start * 512) %
				current.stripe_bytes,
	};
	r = profile_new(&options, &profile);
	if (r < 0)
		return log_errno(r, "%s", o->device);
	r = record(&outcome->device, o, profile);
	if (r < 0)
		return r;

	/* After the recording, as an array may be reshaped meanwhile. */
	r = topology_read(SYSFS_ROOT, outcome->target.lower, dm_linear_start, &outcome->topology);
	if (r < 0)
		return r;
	if (!profile_find(profile, outcome->device.device, &outcome->profile)) {
		log_warning("%s: nothing was read or written in %u s; nothing is changed",
			    outcome->device.node, o->seconds);
		return -ENODATA;
	}
	r = decide(outcome, &current);
	if (r < 0)
		return r;
	if (!o->dry_run) {
		r = apply_plan(outcome->target.folder, &outcome->plan);
		if (r < 0)
			return r;
		outcome->applied = true;
	}
	if (o->json)
		print_json(outcome);
	else
		print_text(outcome);
	return 0;
}

int main(int argc, char **argv)
{
	struct options o = { .seconds = SECONDS_DEFAULT };
	int r;

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&parser, argc, argv, 0, NULL, &o);
	r = run_once(&o);
	if (r == -ENODATA)
		return EXIT_NOTHING;
	return r < 0 ? EXIT_FAILED : EXIT_DONE;
}

// SPDX-License-Identifier: GPL-2.0
/* fullstriped: record a workload, decide, apply, and say why. */
#include <argp.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apply.h"
#include "cleanup.h"
#include "lib/exit_codes.h"
#include "lib/profile.h"
#include "lib/render.h"
#include "log.h"
#include "record.h"
#include "tuning.h"

#define SECONDS_DEFAULT	10
#define SECONDS_MAX	86400

DEFINE_CLEANUP(struct profile *, profile_free)
DEFINE_CLEANUP(struct json_object *, json_object_put)
DEFINE_CLEANUP(struct tuning *, tuning_free)

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

static void print_json(const struct tuning *t, bool applied)
{
	_cleanup_(json_object_putp) struct json_object *o = tuning_render(t);

	json_object_object_add(o, "applied", json_object_new_boolean(applied));
	puts(render_text(o));
}

static void print_text(const struct tuning *t)
{
	for (size_t i = 0; i < t->plan.n; i++) {
		const struct plan_item *item = &t->plan.items[i];

		printf("%s %llu -> %llu: %s\n", item->attribute, (unsigned long long)item->old,
		       (unsigned long long)item->new, item->reason);
	}
}

static int record_profile(const struct options *o, const struct tuning *t,
			  struct profile_summary *ret)
{
	_cleanup_(profile_freep) struct profile *profile = NULL;
	struct profile_options options;
	int r;

	r = tuning_profile_options(t, &options);
	if (r < 0)
		return r;
	r = profile_new(&options, &profile);
	if (r < 0)
		return log_errno(r, "%s", o->device);
	r = record(&t->device, o->record_folder, o->seconds, profile);
	if (r < 0)
		return r;
	if (!profile_find(profile, t->device.device, ret)) {
		log_warning("%s: nothing was read or written in %u s; nothing is changed",
			    t->device.node, o->seconds);
		return -ENODATA;
	}
	return 0;
}

static int run_once(const struct options *o)
{
	_cleanup_(tuning_freep) struct tuning *t = NULL;
	struct profile_summary profile;
	struct transaction change;
	int r;

	r = tuning_new(o->device, &t);
	if (r == 0)
		r = record_profile(o, t, &profile);
	if (r == 0)
		r = tuning_open_state(t, store_default_path(), !o->dry_run);
	if (r == 0)
		r = tuning_decide(t, &profile, false);
	if (r == 0 && !o->dry_run) {
		r = apply_prepare(t->target.folder, &t->plan, &change);
		if (r == 0 && change.n > 0)
			r = apply_run(t->target.folder, &t->store, &t->state, &change);
	}
	if (r < 0)
		return r;
	if (o->json)
		print_json(t, !o->dry_run);
	else
		print_text(t);
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

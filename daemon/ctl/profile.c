// SPDX-License-Identifier: GPL-2.0
/* fullstripectl profile: the five characteristics of a workload, recorded or going on. */
#include <argp.h>
#include <errno.h>
#include <libsmartcols/libsmartcols.h>
#include <stdbool.h>
#include <stdio.h>

#include "ctl.h"
#include "from.h"
#include "lib/describe.h"
#include "lib/exit_codes.h"
#include "lib/profile.h"
#include "lib/render.h"
#include "option.h"
#include "recording.h"
#include "src/cleanup.h"
#include "src/log.h"
#include "src/record.h"

DEFINE_CLEANUP(struct json_object *, json_object_put)
DEFINE_CLEANUP(struct profile *, profile_free)
DEFINE_CLEANUP(struct libscols_table *, scols_unref_table)

/**
 * struct options - the command line
 * @profile: where stripes are
 * @recording: how long to record the device now, or which one of those in the recordings is meant
 * @has_start: where they begin was said
 * @json: print JSON
 * @files: recordings; or the device that is recorded now
 * @n_files: how many
 */
struct options {
	struct profile_options profile;
	struct recording_options recording;
	bool has_start;
	bool json;
	char **files;
	size_t n_files;
};

enum {
	OPTION_STRIPE = 256,
	OPTION_START,
	OPTION_JSON,
};

static const struct argp_option option_list[] = {
	{ "stripe", OPTION_STRIPE, "SIZE", 0, "Stripe width, to tell unaligned writes", 0 },
	{ "start", OPTION_START, "SIZE", 0, "Where on the array the traced device begins", 0 },
	{ "json", OPTION_JSON, NULL, 0, "Print JSON", 0 },
	{ 0 },
};

static void check(const struct options *o, struct argp_state *state)
{
	if (o->recording.seconds && o->n_files != 1)
		argp_error(state, "--seconds records one device: fullstripectl profile DEV --seconds N");
	if (o->recording.seconds && o->recording.has_device)
		argp_error(state, "--device says which device of a recording, and there is none");
	if (!o->n_files)
		option_no_files(state);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->recording;
		return 0;
	case OPTION_STRIPE:
		o->profile.stripe_bytes = option_bounded_size("stripe", arg, state);
		return 0;
	case OPTION_START:
		o->profile.offset_bytes = option_bounded_size("start", arg, state);
		o->has_start = true;
		return 0;
	case OPTION_JSON:
		o->json = true;
		return 0;
	case ARGP_KEY_ARGS:
		o->files = state->argv + state->next;
		o->n_files = state->argc - state->next;
		return 0;
	case ARGP_KEY_END:
		check(o, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
	.options = option_list,
	.parser = parse_option,
	.children = (const struct argp_child[]) { { &recording_argp, 0, NULL, 0 }, { 0 } },
	.args_doc = "FILE...\nDEV --seconds N",
	.doc = "Print the profile of the workload in blktrace recordings, for each device in them, or of that of DEV now. FILEs are merged by time.\vExit status: 0 done, 1 failed, 2 wrong usage, 3 a file is no recording or is damaged (what could be read was used), 4 nothing was recorded.",
};

static void add_row(void *data, const char *name, const char *value)
{
	struct libscols_line *line = scols_table_new_line(data, NULL);

	scols_line_set_data(line, 0, name);
	scols_line_set_data(line, 1, value);
}

static int fill_table(struct libscols_table *table, const struct profile_summary *s)
{
	if (!scols_table_new_column(table, "CHARACTERISTIC", 0, 0) ||
	    !scols_table_new_column(table, "VALUE", 0, SCOLS_FL_WRAP))
		return -ENOMEM;
	describe_profile(s, add_row, table);
	return 0;
}

static int print_tables(const struct profile *profile)
{
	scols_init_debug(0);
	for (unsigned int i = 0; i < profile_devices(profile); i++) {
		_cleanup_(scols_unref_tablep) struct libscols_table *table = scols_new_table();
		struct profile_summary s;
		int r;

		if (!table)
			return -ENOMEM;
		profile_summarise(profile, i, &s);
		r = fill_table(table, &s);
		if (r < 0)
			return r;
		printf("%sdevice %u:%u\n", i ? "\n" : "", trace_device_major(s.device),
		       trace_device_minor(s.device));
		r = scols_print_table(table);
		if (r < 0)
			return r;
	}
	return 0;
}

static int print_json(const struct profile *profile)
{
	_cleanup_(json_object_putp) struct json_object *o = json_object_new_object();
	struct json_object *devices = json_object_new_array();

	for (unsigned int i = 0; i < profile_devices(profile); i++) {
		struct profile_summary s;

		profile_summarise(profile, i, &s);
		json_object_array_add(devices, render_profile(&s));
	}
	json_object_object_add(o, "devices", devices);
	render_add_number(o, "lost_records", profile_lost(profile));
	puts(render_text(o));
	return 0;
}

static int new_profile(const struct profile_options *options, struct profile **ret)
{
	int r = profile_new(options, ret);

	return r < 0 ? log_errno(r, "profile") : 0;
}

/* What was not said of where stripes are, what lies below the device tells. */
static int find_stripes(const struct from *from, const struct options *o,
			struct profile_options *ret)
{
	struct array_options array;
	struct rule_sum sum = { .n = 0 };
	int r;

	array_options_init(&array);
	r = from_take_array(from, &array);
	if (r == 0 && !ret->stripe_bytes)
		r = array_stripe_bytes(&array, &ret->stripe_bytes, &sum);
	if (!o->has_start)
		ret->offset_bytes = array.array.offset_bytes;
	return r;
}

/*
 * Nothing is asked of what lies below if all was said: it may be an array that is not known here,
 * or is being reshaped.
 */
static int find_device(const struct options *o, struct block_device *ret,
		       struct profile_options *ret_options)
{
	_cleanup_free_ struct from *from = NULL;
	int r;

	*ret_options = o->profile;
	if (o->profile.stripe_bytes && o->has_start) {
		r = block_device_find(o->files[0], ret);
	} else {
		r = from_find(o->files[0], &from);
		if (r == 0)
			r = find_stripes(from, o, ret_options);
		if (r == 0)
			*ret = from->device;
		else if (r == -EOPNOTSUPP || r == -EBUSY)
			log_warning("--stripe and --start together say where stripes are, without asking %s",
				    o->files[0]);
	}
	if (r == 0)
		ret_options->offset_bytes = rule_misaligned_by(ret_options->offset_bytes,
							       ret_options->stripe_bytes);
	return r;
}

static int take_event(void *data, const struct trace_event *event)
{
	return profile_add(data, event);
}

/* What is asked of the device, as it comes: nothing is kept of it but the profile. */
static int profile_now(const struct options *o, struct profile **ret)
{
	_cleanup_(profile_freep) struct profile *profile = NULL;
	struct profile_options options;
	struct block_device device;
	struct capture_extent extent = { .ns = 0 };
	int r;

	r = find_device(o, &device, &options);
	if (r == 0)
		r = new_profile(&options, &profile);
	if (r == 0)
		r = record(&device, o->recording.folder, o->recording.seconds, take_event,
			   profile, &extent);
	if (r < 0)
		return r;
	profile_set_recorded(profile, extent.ns);
	profile_add_lost(profile, extent.lost);
	*ret = profile;
	profile = NULL;
	return 0;
}

static int profile_files(const struct options *o, struct profile **ret, bool *ret_sound)
{
	const uint32_t *device = o->recording.has_device ? &o->recording.device : NULL;
	int r = new_profile(&o->profile, ret);

	return r < 0 ? r : recording_profile(o->files, o->n_files, device, *ret, ret_sound);
}

int verb_profile(int argc, char **argv)
{
	_cleanup_(profile_freep) struct profile *profile = NULL;
	struct options o = { .n_files = 0 };
	bool sound = true;
	int r;

	argp_parse(&parser, argc, argv, 0, NULL, &o);
	r = o.recording.seconds ? profile_now(&o, &profile) : profile_files(&o, &profile, &sound);
	if (r < 0)
		return EXIT_FAILED;
	if (profile_events_elsewhere(profile) > 0)
		log_warning("%llu events of more than %d devices are left out, see --device",
			    (unsigned long long)profile_events_elsewhere(profile),
			    PROFILE_DEVICES_MAX);
	if (profile_devices(profile) > 0) {
		r = o.json ? print_json(profile) : print_tables(profile);
		if (r < 0) {
			log_errno(r, "the profile cannot be printed");
			return EXIT_FAILED;
		}
	}
	if (!sound)
		return EXIT_BAD_TRACE;
	if (profile_devices(profile) == 0) {
		log_warning("nothing was recorded%s",
			    o.recording.has_device || o.recording.seconds ?
			    " of this device" : "");
		return EXIT_NOTHING;
	}
	return EXIT_DONE;
}

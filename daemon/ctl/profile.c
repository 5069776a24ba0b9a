// SPDX-License-Identifier: GPL-2.0
/* fullstripectl profile: the five characteristics of a recorded workload. */
#include <argp.h>
#include <errno.h>
#include <libsmartcols/libsmartcols.h>
#include <stdbool.h>
#include <stdio.h>

#include "ctl.h"
#include "lib/describe.h"
#include "lib/exit_codes.h"
#include "lib/profile.h"
#include "lib/render.h"
#include "option.h"
#include "recording.h"
#include "src/cleanup.h"
#include "src/log.h"

DEFINE_CLEANUP(struct json_object *, json_object_put)
DEFINE_CLEANUP(struct profile *, profile_free)
DEFINE_CLEANUP(struct libscols_table *, scols_unref_table)

struct options {
	struct profile_options profile;
	uint32_t device;
	bool has_device;
	bool json;
	char **files;
	size_t n_files;
};

enum {
	OPTION_STRIPE = 256,
	OPTION_START,
	OPTION_DEVICE,
	OPTION_JSON,
};

static const struct argp_option option_list[] = {
	{ "stripe", OPTION_STRIPE, "SIZE", 0, "Stripe width, to tell unaligned writes", 0 },
	{ "start", OPTION_START, "SIZE", 0, "Where on the array the traced device begins", 0 },
	{ "device", OPTION_DEVICE, "MAJ:MIN", 0, "Only this device", 0 },
	{ "json", OPTION_JSON, NULL, 0, "Print JSON", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case OPTION_STRIPE:
		o->profile.stripe_bytes = option_bounded_size("stripe", arg, state);
		return 0;
	case OPTION_START:
		o->profile.offset_bytes = option_bounded_size("start", arg, state);
		return 0;
	case OPTION_DEVICE:
		o->device = option_device(arg, state);
		o->has_device = true;
		return 0;
	case OPTION_JSON:
		o->json = true;
		return 0;
	case ARGP_KEY_ARGS:
		o->files = state->argv + state->next;
		o->n_files = state->argc - state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		option_no_files(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
	.options = option_list,
	.parser = parse_option,
	.args_doc = "FILE...",
	.doc = "Print the profile of the workload in blktrace recordings, for each device in them. FILEs are merged by time.\vExit status: 0 done, 1 failed, 2 wrong usage, 3 a file is no recording or is damaged (what could be read was used), 4 nothing was recorded.",
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
	puts(render_text(o));
	return 0;
}

int verb_profile(int argc, char **argv)
{
	_cleanup_(profile_freep) struct profile *profile = NULL;
	struct options o = { .n_files = 0 };
	bool sound;
	int r;

	argp_parse(&parser, argc, argv, 0, NULL, &o);
	r = profile_new(&o.profile, &profile);
	if (r < 0) {
		log_errno(r, "profile");
		return EXIT_FAILED;
	}
	r = recording_profile(o.files, o.n_files, o.has_device ? &o.device : NULL, profile, &sound);
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
		log_warning("nothing was recorded%s", o.has_device ? " of this device" : "");
		return EXIT_NOTHING;
	}
	return EXIT_DONE;
}

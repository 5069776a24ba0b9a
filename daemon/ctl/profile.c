// SPDX-License-Identifier: GPL-2.0
/* fullstripectl profile: the five characteristics of a recorded workload. */
#include <argp.h>
#include <errno.h>
#include <libsmartcols/libsmartcols.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "lib/exit_codes.h"
#include "lib/macros.h"
#include "lib/profile.h"
#include "lib/render.h"
#include "lib/units.h"
#include "recording.h"
#include "src/cleanup.h"
#include "src/log.h"

DEFINE_CLEANUP(struct json_object *, json_object_put)
DEFINE_CLEANUP(struct profile *, profile_free)
DEFINE_CLEANUP(struct recording *, recording_close)
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

static uint64_t parse_size(const char *option, const char *text, struct argp_state *state)
{
	uint64_t value = 0;

	if (units_parse_size(text, &value) < 0 || value >= 1ull << 50)
		argp_error(state, "--%s '%s': a size below 1024 TiB, as 131072, 128KiB or 128k",
			   option, text);
	return value;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case OPTION_STRIPE:
		o->profile.stripe_bytes = parse_size("stripe", arg, state);
		return 0;
	case OPTION_START:
		o->profile.offset_bytes = parse_size("start", arg, state);
		return 0;
	case OPTION_DEVICE:
		if (!recording_parse_device(arg, &o->device))
			argp_error(state, "--device '%s': two numbers, as 254:0", arg);
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
		argp_error(state, "which files? Those that blktrace or fullstriped --record made, as *.blktrace.*");
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

static int read_all(struct recording *recording, const struct options *o, struct profile *profile)
{
	struct trace_event event;
	int r;

	while ((r = recording_next(recording, &event)) > 0) {
		if (o->has_device && event.device != o->device)
			continue;
		r = profile_add(profile, &event);
		if (r < 0)
			return log_errno(r, "the recording cannot be read");
	}
	return r;
}

__printf(3, 4)
static void add_row(struct libscols_table *table, const char *name, const char *format, ...)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	scols_line_set_data(line, 0, name);
	scols_line_set_data(line, 1, text);
}

static void add_latency(struct libscols_table *table, const char *name,
			const struct profile_latency *l)
{
	if (l->n > 0)
		add_row(table, name, "half within %.3f ms, 99 %% within %.3f ms", l->p50 / 1e6,
			l->p99 / 1e6);
}

static void add_sizes(struct libscols_table *table, const struct profile_summary *s)
{
	char size[UNITS_TEXT], least[UNITS_TEXT], most[UNITS_TEXT], average[UNITS_TEXT];

	add_row(table, "I/O size", "typically %s (%.0f %%), %s on average, %s to %s",
		units_format_size(s->size_mode, size), s->size_mode_share * 100,
		units_format_size(s->size_average + 0.5, average),
		units_format_size(s->size_min, least), units_format_size(s->size_max, most));
	for (unsigned int i = 0; i < PROFILE_SIZE_CLASSES; i++) {
		char label[UNITS_TEXT + 8];

		if (s->sizes[i] == 0)
			continue;
		snprintf(label, sizeof(label), "  up to %s", units_format_size(1ull << i, size));
		add_row(table, label, "%llu (%.1f %%)", (unsigned long long)s->sizes[i],
			100.0 * s->sizes[i] / s->ios);
	}
}

static void add_access(struct libscols_table *table, const struct profile_summary *s)
{
	static const char * const directions[] = { " down", "", " up" };

	add_row(table, "access pattern", "%s%s (%.0f %% sequential, %.0f %% strided, %.0f %% random), %u %s at once",
		profile_access_name(s->access), directions[s->direction + 1], s->sequential * 100,
		s->strided * 100, s->random * 100, s->streams,
		s->streams == 1 ? "stream" : "streams");
}

static void add_bandwidth(struct libscols_table *table, const struct profile_summary *s)
{
	char average[UNITS_TEXT], peak[UNITS_TEXT], reads[UNITS_TEXT], writes[UNITS_TEXT];

	add_row(table, "bandwidth", "%s on average (read %s, write %s), %s in the best second",
		units_format_rate(s->average_rate, average), units_format_rate(s->read_rate, reads),
		units_format_rate(s->write_rate, writes), units_format_rate(s->peak_rate, peak));
}

static int fill_table(struct libscols_table *table, const struct profile_summary *s)
{
	if (!scols_table_new_column(table, "CHARACTERISTIC", 0, 0) ||
	    !scols_table_new_column(table, "VALUE", 0, SCOLS_FL_WRAP))
		return -ENOMEM;
	add_row(table, "recorded", "%llu reads, %llu writes, %llu flushes, %llu discards in %.3f s",
		(unsigned long long)s->reads, (unsigned long long)s->writes,
		(unsigned long long)s->flushes, (unsigned long long)s->discards, s->duration / 1e9);
	add_row(table, "data or attribute", "%s intensive (%.0f %% of the I/Os are metadata)",
		profile_content_name(s->content), s->meta_ios * 100);
	add_access(table, s);
	add_bandwidth(table, s);
	add_sizes(table, s);
	add_row(table, "latency", "%s (%.0f %% are waited for; flushes for each write: %.2f; FUA: %.0f %%)",
		s->latency_sensitive ? "sensitive" : "not sensitive", s->sync * 100, s->flush,
		s->fua * 100);
	add_latency(table, "  read", &s->read_latency);
	add_latency(table, "  write", &s->write_latency);
	add_latency(table, "  flush", &s->flush_latency);
	if (s->unaligned >= 0)
		add_row(table, "unaligned writes", "%.1f %%", s->unaligned * 100);
	if (s->rmw || s->rcw)
		add_row(table, "md pre-reads", "%llu stripes rmw, %llu stripes rcw",
			(unsigned long long)s->rmw, (unsigned long long)s->rcw);
	if (s->never_completed || s->errors)
		add_row(table, "incomplete", "%llu never completed, %llu with an error",
			(unsigned long long)s->never_completed, (unsigned long long)s->errors);
	add_row(table, "confidence", "%.2f", s->confidence);
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
	_cleanup_(recording_closep) struct recording *recording = NULL;
	_cleanup_(profile_freep) struct profile *profile = NULL;
	struct options o = { .n_files = 0 };
	uint64_t lost;
	bool sound;
	int r;

	argp_parse(&parser, argc, argv, 0, NULL, &o);
	r = profile_new(&o.profile, &profile);
	if (r < 0) {
		log_errno(r, "profile");
		return EXIT_FAILED;
	}
	r = recording_open(o.files, o.n_files, &recording);
	if (r == 0)
		r = read_all(recording, &o, profile);
	if (r < 0)
		return EXIT_FAILED;

	sound = recording_is_sound(recording, &lost);
	profile_add_lost(profile, lost);
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

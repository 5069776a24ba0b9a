// SPDX-License-Identifier: GPL-2.0
/* fullstripectl simulate: what other sizes would have made of a recorded workload. */
#include <argp.h>
#include <errno.h>
#include <json-c/json.h>
#include <libsmartcols/libsmartcols.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "from.h"
#include "lib/blktrace_format.h"
#include "lib/exit_codes.h"
#include "lib/macros.h"
#include "lib/render.h"
#include "lib/simulate.h"
#include "lib/units.h"
#include "option.h"
#include "recording.h"
#include "settings.h"
#include "src/cleanup.h"
#include "src/log.h"

#define LIST_MAX		32
#define COMBINATIONS_MAX	256
#define SERVICE_US_DEFAULT	5000
#define SERVICE_US_MAX		1000000
/* nr_requests of a disk with 32 commands queued. */
#define QUEUE_DEFAULT		64
#define QUEUE_MAX		65536

DEFINE_CLEANUP(struct json_object *, json_object_put)
DEFINE_CLEANUP(struct libscols_table *, scols_unref_table)
DEFINE_CLEANUP(struct recording *, recording_close)

/* Values to be tried one after the other. */
struct list {
	size_t n;
	uint64_t values[LIST_MAX];
};

struct options {
	struct list clusters, holds, stripes;
	struct settings settings;	/* of all combinations */
	unsigned int parity;
	uint64_t size;
	uint64_t service_us;
	unsigned int queue;
	const char *from;
	uint32_t device;
	bool has_device;
	bool json;
	char **files;
	size_t n_files;
};

enum {
	OPTION_CLUSTER = 256,
	OPTION_HOLD,
	OPTION_STRIPE,
	OPTION_FROM,
	OPTION_LEVEL,
	OPTION_CHUNK,
	OPTION_DATA_MEMBERS,
	OPTION_ALIGNMENT_OFFSET,
	OPTION_SIZE,
	OPTION_HIGH_WATER,
	OPTION_LOW_WATER,
	OPTION_SEEK,
	OPTION_SERVICE,
	OPTION_QUEUE,
	OPTION_DEVICE,
	OPTION_JSON,
};

static const struct argp_option option_list[] = {
	{ "cluster", OPTION_CLUSTER, "SIZE,...", 0, "Cluster sizes to try (default one stripe)", 1 },
	{ "hold", OPTION_HOLD, "MS,...", 0, "Hold times to try (default 5000)", 1 },
	{ "stripe", OPTION_STRIPE, "SIZE,...", 0, "Stripe widths to try, on other numbers of members", 1 },
	{ "from", OPTION_FROM, "DEV", 0, "Take array and settings from this device", 2 },
	{ "level", OPTION_LEVEL, "N", 0, "RAID level: 4, 5 or 6 (default 5)", 2 },
	{ "chunk", OPTION_CHUNK, "SIZE", 0, "Bytes that lie together on one member", 2 },
	{ "data-members", OPTION_DATA_MEMBERS, "N", 0, "Members less parity", 2 },
	{ "alignment-offset", OPTION_ALIGNMENT_OFFSET, "SIZE", 0, "From a stripe border to the device", 2 },
	{ "size", OPTION_SIZE, "SIZE", 0, "Of the device (default without end)", 2 },
	{ "high-water", OPTION_HIGH_WATER, "SIZE", 0, "Memory for what is accepted", 3 },
	{ "low-water", OPTION_LOW_WATER, "SIZE", 0, "Where accepting begins again", 3 },
	{ "seek", OPTION_SEEK, "SIZE", 0, "What a member transfers in the time of a seek", 3 },
	{ "service", OPTION_SERVICE, "US", 0, "Microseconds of a member's request (5000)", 3 },
	{ "queue", OPTION_QUEUE, "N", 0, "Requests that a member's queue takes (64)", 3 },
	{ "device", OPTION_DEVICE, "MAJ:MIN", 0, "Which device of the recording", 4 },
	{ "json", OPTION_JSON, NULL, 0, "Print JSON", 4 },
	{ 0 },
};

static uint64_t parse_hold(const char *option, const char *text, const struct argp_state *state)
{
	return option_number(option, text, 1, 3600000, state);
}

static void parse_list(struct list *list, const char *option, char *text,
		       uint64_t (*parse)(const char *, const char *, const struct argp_state *),
		       const struct argp_state *state)
{
	char *value;

	list->n = 0;
	while ((value = strsep(&text, ","))) {
		if (list->n == LIST_MAX)
			argp_error(state, "--%s: more than %d values", option, LIST_MAX);
		list->values[list->n++] = parse(option, value, state);
	}
}

/* Set a key of the module, by its own rules. */
static void set(struct settings *settings, enum setting key, uint64_t value, const char *option,
		const struct argp_state *state)
{
	const char *error;
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	if (settings_set(settings, key, text, &error) < 0)
		argp_error(state, "--%s %s: %s", option, text, error);
}

static void set_size(struct options *o, enum setting key, const char *option, const char *text,
		     const struct argp_state *state)
{
	set(&o->settings, key, option_bounded_size(option, text, state), option, state);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	uint64_t level;

	switch (key) {
	case OPTION_CLUSTER:
		parse_list(&o->clusters, "cluster", arg, option_bounded_size, state);
		return 0;
	case OPTION_HOLD:
		parse_list(&o->holds, "hold", arg, parse_hold, state);
		return 0;
	case OPTION_STRIPE:
		parse_list(&o->stripes, "stripe", arg, option_bounded_size, state);
		return 0;
	case OPTION_FROM:
		o->from = arg;
		return 0;
	case OPTION_LEVEL:
		level = option_number("level", arg, 4, 6, state);
		o->parity = rule_parity_members(level);
		return 0;
	case OPTION_CHUNK:
		set_size(o, SETTING_CHUNK_BYTES, "chunk", arg, state);
		return 0;
	case OPTION_DATA_MEMBERS:
		set(&o->settings, SETTING_DATA_MEMBERS,
		    option_number("data-members", arg, 1, 1024, state), "data-members", state);
		return 0;
	case OPTION_ALIGNMENT_OFFSET:
		set_size(o, SETTING_ALIGNMENT_OFFSET, "alignment-offset", arg, state);
		return 0;
	case OPTION_SIZE:
		o->size = option_bounded_size("size", arg, state);
		return 0;
	case OPTION_HIGH_WATER:
		set_size(o, SETTING_HIGH_WATER_BYTES, "high-water", arg, state);
		return 0;
	case OPTION_LOW_WATER:
		set_size(o, SETTING_LOW_WATER_BYTES, "low-water", arg, state);
		return 0;
	case OPTION_SEEK:
		set_size(o, SETTING_SEEK_BYTES, "seek", arg, state);
		return 0;
	case OPTION_SERVICE:
		o->service_us = option_number("service", arg, 0, SERVICE_US_MAX, state);
		return 0;
	case OPTION_QUEUE:
		o->queue = option_number("queue", arg, 1, QUEUE_MAX, state);
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
	case ARGP_KEY_END:
		if (o->stripes.n && o->settings.given & (1ul << SETTING_DATA_MEMBERS))
			argp_error(state, "--stripe and --data-members say the same: give one of them");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
	.options = option_list,
	.parser = parse_option,
	.args_doc = "FILE...",
	.doc = "Print what md alone, and a device of each size, would have made of FILEs.\vExit status: 0 done, 1 failed, 2 wrong usage, 3 a damaged file, 4 no writes.",
};

/*
 * The array
 */

static bool is_given(const struct options *o, enum setting key)
{
	return o->settings.given & (1ul << key);
}

/* What was not given as an option. */
static void take(struct options *o, enum setting key, uint64_t value)
{
	const char *error;
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	if (!is_given(o, key) && settings_set(&o->settings, key, text, &error) < 0)
		log_warning("%s: %s", text, error);
}

static void take_default(struct list *list, uint64_t value)
{
	if (list->n == 0)
		*list = (struct list) { .n = 1, .values = { value } };
}

/* The settings of a fullstripe device. Return: 0 or a negative errno, which was logged. */
static int take_target(struct options *o, const struct target *target)
{
	static const enum setting wanted[] = {
		SETTING_CHUNK_BYTES, SETTING_DATA_MEMBERS, SETTING_STRIPE_BYTES,
		SETTING_ALIGNMENT_OFFSET, SETTING_CLUSTER_BYTES, SETTING_HIGH_WATER_BYTES,
		SETTING_LOW_WATER_BYTES, SETTING_HOLD_MS, SETTING_SEEK_BYTES,
	};
	uint64_t values[NR_SETTINGS];

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		const char *name = setting_name(wanted[i]);
		int r = sysfs_read_number(&values[wanted[i]], "%s/%s", target->folder, name);

		if (r < 0)
			return log_errno(r, "%s/%s", target->folder, name);
	}
	take_default(&o->holds, values[SETTING_HOLD_MS]);
	take(o, SETTING_CHUNK_BYTES, values[SETTING_CHUNK_BYTES]);
	take(o, SETTING_SEEK_BYTES, values[SETTING_SEEK_BYTES]);
	take(o, SETTING_ALIGNMENT_OFFSET,
	     (values[SETTING_ALIGNMENT_OFFSET] + target->lower_start * SECTOR) %
	     values[SETTING_STRIPE_BYTES]);
	if (o->stripes.n == 0) {
		take_default(&o->clusters, values[SETTING_CLUSTER_BYTES]);
		take(o, SETTING_DATA_MEMBERS, values[SETTING_DATA_MEMBERS]);
	}
	/* A mark of one's own comes with its own other one. */
	if (!is_given(o, SETTING_HIGH_WATER_BYTES) && !is_given(o, SETTING_LOW_WATER_BYTES)) {
		take(o, SETTING_HIGH_WATER_BYTES, values[SETTING_HIGH_WATER_BYTES]);
		take(o, SETTING_LOW_WATER_BYTES, values[SETTING_LOW_WATER_BYTES]);
	}
	return 0;
}

static int take_array(struct options *o, const struct topology *t, const char *node)
{
	unsigned int data;
	int r;

	if (rule_parity_members(t->array.level) == 0)
		return log_errno(EMEDIUMTYPE, "%s lies on no RAID4, RAID5 or RAID6: nothing is read before a write there",
				 node);
	r = rule_data_members(&t->array, &data);
	if (r < 0)
		return log_errno(r, "%s: RAID%d of %u members", node, t->array.level,
				 t->array.members);
	if (!o->parity)
		o->parity = rule_parity_members(t->array.level);
	take(o, SETTING_CHUNK_BYTES, t->array.chunk_bytes);
	if (o->stripes.n == 0)
		take(o, SETTING_DATA_MEMBERS, data);
	take(o, SETTING_ALIGNMENT_OFFSET, t->array.offset_bytes % (t->array.chunk_bytes * data));
	return 0;
}

/* What --from names. Return: 0 or a negative errno, which was logged. */
static int take_device(struct options *o)
{
	_cleanup_free_ struct from *from = NULL;
	uint64_t sectors;
	int r;

	r = from_find(o->from, &from);
	if (r == 0 && from->is_target)
		r = take_target(o, &from->target);
	if (r < 0)
		return r;
	/* A target knows its stripes; all that it cannot say is how much of them is parity. */
	if (!from->is_target || from->topology.array.level != RULE_LEVEL_NONE)
		r = take_array(o, &from->topology, from->device.node);
	if (r < 0)
		return r;
	r = sysfs_read_number(&sectors, SYSFS_ROOT "/class/block/%s/size", from->device.name);
	if (r < 0)
		return log_errno(r, SYSFS_ROOT "/class/block/%s/size", from->device.name);
	if (!o->size)
		o->size = sectors * SECTOR;
	return 0;
}

/*
 * The combinations
 */

struct combination {
	struct simulate_options options;
	struct simulation *simulation;
	struct simulate_result result;
};

struct combinations {
	size_t n;
	struct combination list[COMBINATIONS_MAX];
};

static void combinations_free(struct combinations *c)
{
	for (size_t i = 0; c && i < c->n; i++)
		simulation_free(c->list[i].simulation);
	free(c);
}

DEFINE_CLEANUP(struct combinations *, combinations_free)

/* The sizes are judged as the module does it, so that what is found here can be set there. */
static int complete(struct settings *s, uint64_t stripe, uint64_t cluster, uint64_t hold,
		    const struct surroundings *around)
{
	const struct {
		enum setting key;
		uint64_t value;
	} values[] = {
		{ SETTING_STRIPE_BYTES, stripe },
		{ SETTING_CLUSTER_BYTES, cluster },
		{ SETTING_HOLD_MS, hold },
	};
	const char *error;
	char text[32];
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(values) && r == 0; i++) {
		snprintf(text, sizeof(text), "%llu", (unsigned long long)values[i].value);
		if (values[i].value)
			r = settings_set(s, values[i].key, text, &error);
	}
	if (r == 0)
		r = settings_complete(s, around, &error);
	if (r == 0)
		return 0;
	if (cluster)
		log_warning("--cluster %llu on stripes of %llu bytes: %s",
			    (unsigned long long)cluster,
			    (unsigned long long)(stripe ?: s->value[SETTING_STRIPE_BYTES]), error);
	else if (stripe)
		log_warning("--stripe %llu: %s", (unsigned long long)stripe, error);
	else
		log_warning("%s", error);
	return r;
}

static int add_combination(struct combinations *c, const struct options *o,
			   const struct settings *s, bool raw)
{
	struct combination *new = &c->list[c->n];
	int r;

	if (c->n == COMBINATIONS_MAX) {
		log_warning("more than %d combinations: try fewer values", COMBINATIONS_MAX);
		return -E2BIG;
	}
	new->options = (struct simulate_options) {
		.raw = raw,
		.shape = {
			.data_members = s->value[SETTING_DATA_MEMBERS],
			.parity = o->parity ?: 1,
			.chunk_bytes = s->value[SETTING_CHUNK_BYTES],
			.service_ns = o->service_us * 1000,
			.queue_requests = o->queue,
		},
		.alignment_offset = s->value[SETTING_ALIGNMENT_OFFSET],
		.size = o->size,
		.cluster_bytes = s->value[SETTING_CLUSTER_BYTES],
		.hold_ms = s->value[SETTING_HOLD_MS],
		.high_water_bytes = s->value[SETTING_HIGH_WATER_BYTES],
		.low_water_bytes = s->value[SETTING_LOW_WATER_BYTES],
		.seek_bytes = s->value[SETTING_SEEK_BYTES],
	};
	r = simulation_new(&new->options, &new->simulation);
	if (r < 0)
		return log_errno(r, "the simulation");
	c->n++;
	return 0;
}

/* All clusters and hold times on one stripe width, md alone first. */
static int add_stripe(struct combinations *c, const struct options *o, uint64_t stripe,
		      const struct surroundings *around)
{
	int r = 0;

	for (size_t i = 0; i < (o->clusters.n ?: 1) && r == 0; i++) {
		for (size_t j = 0; j < (o->holds.n ?: 1) && r == 0; j++) {
			struct settings s = o->settings;

			r = complete(&s, stripe, o->clusters.values[i], o->holds.values[j], around);
			if (r == 0 && i + j == 0)
				r = add_combination(c, o, &s, true);
			if (r == 0)
				r = add_combination(c, o, &s, false);
		}
	}
	return r;
}

static int add_combinations(struct combinations *c, const struct options *o)
{
	struct surroundings around = {
		.ram_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE),
		.block_bytes = SECTOR,
		.rotational = true,
	};
	int r = 0;

	if (!is_given(o, SETTING_CHUNK_BYTES)) {
		log_warning("which array? Give --chunk and --data-members, or --from DEV");
		return -EINVAL;
	}
	if (!is_given(o, SETTING_DATA_MEMBERS) && o->stripes.n == 0) {
		log_warning("how wide is a stripe? Give --data-members or --stripe");
		return -EINVAL;
	}
	/* It need not be this machine. */
	if (o->settings.value[SETTING_HIGH_WATER_BYTES] > around.ram_bytes / 2)
		around.ram_bytes = 2 * o->settings.value[SETTING_HIGH_WATER_BYTES];
	for (size_t i = 0; i < (o->stripes.n ?: 1) && r == 0; i++)
		r = add_stripe(c, o, o->stripes.values[i], &around);
	return r;
}

/*
 * Running
 */

static bool is_request(const struct trace_event *e)
{
	return e->action == TRACE_QUEUE &&
	       !(e->categories & (BLKTRACE_DISCARD | BLKTRACE_WRITE_ZEROES));
}

static int add_event(struct combinations *c, const struct trace_event *e)
{
	struct simulate_request request = {
		.time = e->time,
		.sector = e->sector,
		.sectors = e->bytes / SECTOR,
		.write = e->categories & BLKTRACE_WRITE,
		.flush = e->categories & BLKTRACE_FLUSH,
		.fua = e->categories & BLKTRACE_FUA,
	};

	for (size_t i = 0; i < c->n; i++) {
		int r = simulation_add(c->list[i].simulation, &request);

		if (r < 0)
			return log_errno(r, "the simulation");
	}
	return 0;
}

/* Return: 0, -ENOTUNIQ if the recording is of several devices, or another negative errno. */
static int run(struct combinations *c, const struct options *o, struct recording *recording)
{
	const struct trace_event *event;
	uint32_t first = 0;
	int r;

	while ((r = recording_next(recording, &event)) > 0) {
		if (!is_request(event))
			continue;
		if (o->has_device && event->device != o->device)
			continue;
		if (!first)
			first = event->device;
		if (event->device != first)
			return log_errno(ENOTUNIQ, "the recording is of %u:%u and %u:%u: choose with --device",
					 trace_device_major(first), trace_device_minor(first),
					 trace_device_major(event->device),
					 trace_device_minor(event->device));
		r = add_event(c, event);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < c->n && r == 0; i++) {
		r = simulation_finish(c->list[i].simulation, &c->list[i].result);
		if (r < 0)
			return log_errno(r, "the simulation");
	}
	return r;
}

/*
 * Printing
 */

static struct json_object *render_time(const struct simulate_time *t)
{
	struct json_object *o = json_object_new_object();

	render_add_number(o, "count", t->n);
	render_add_number(o, "mean_ns", t->mean);
	render_add_number(o, "p99_ns", t->p99);
	return o;
}

static struct json_object *render_combination(const struct combination *c)
{
	struct json_object *o = json_object_new_object();
	const struct simulate_options *options = &c->options;
	const struct simulate_result *r = &c->result;
	char ratio[16];

	json_object_object_add(o, "raw_md", json_object_new_boolean(options->raw));
	render_add_number(o, "stripe_bytes", options->shape.chunk_bytes * options->shape.data_members);
	if (!options->raw) {
		render_add_number(o, "cluster_bytes", options->cluster_bytes);
		render_add_number(o, "hold_ms", options->hold_ms);
		render_add_number(o, "high_water_bytes", options->high_water_bytes);
		render_add_number(o, "low_water_bytes", options->low_water_bytes);
		render_add_number(o, "seek_bytes", options->seek_bytes);
	}
	snprintf(ratio, sizeof(ratio), "%.4f", r->full_stripe_ratio);
	json_object_object_add(o, "full_stripe_ratio",
			       json_object_new_double_s(r->full_stripe_ratio, ratio));
	render_add_number(o, "whole_stripes", r->whole);
	render_add_number(o, "filled_stripes", r->filled);
	render_add_number(o, "partial_stripes", r->partial);
	render_add_number(o, "passed_whole", r->passed_whole);
	render_add_number(o, "passed_partial", r->passed_partial);
	render_add_number(o, "rmw", r->md.rmw);
	render_add_number(o, "rcw", r->md.rcw);
	render_add_number(o, "member_reads", r->md.reads);
	render_add_number(o, "member_writes", r->md.writes);
	if (options->raw)
		return o;
	render_add_number(o, "parked", r->parked);
	json_object_object_add(o, "wait", render_time(&r->wait));
	json_object_object_add(o, "held", render_time(&r->held));
	return o;
}

static void print_json(const struct combinations *c)
{
	_cleanup_(json_object_putp) struct json_object *o = json_object_new_object();
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < c->n; i++)
		json_object_array_add(list, render_combination(&c->list[i]));
	render_add_number(o, "writes", c->list[0].result.writes);
	render_add_number(o, "parity", c->list[0].options.shape.parity);
	render_add_number(o, "chunk_bytes", c->list[0].options.shape.chunk_bytes);
	render_add_number(o, "alignment_offset", c->list[0].options.alignment_offset);
	json_object_object_add(o, "combinations", list);
	puts(render_text(o));
}

__printf(3, 4)
static void set_cell(struct libscols_line *line, size_t *column, const char *format, ...)
{
	char text[64];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	scols_line_set_data(line, (*column)++, text);
}

static int add_line(struct libscols_table *table, const struct combination *c)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	const struct simulate_options *o = &c->options;
	const struct simulate_result *r = &c->result;
	char size[UNITS_TEXT];
	size_t column = 0;

	if (!line)
		return -ENOMEM;
	set_cell(line, &column, "%s", o->raw ? "raw md" : "fullstripe");
	set_cell(line, &column, "%s",
		 units_format_size(o->shape.chunk_bytes * o->shape.data_members, size));
	set_cell(line, &column, "%s", o->raw ? "-" : units_format_size(o->cluster_bytes, size));
	if (o->raw)
		set_cell(line, &column, "-");
	else
		set_cell(line, &column, "%llu ms", (unsigned long long)o->hold_ms);
	set_cell(line, &column, "%.1f %%", r->full_stripe_ratio * 100);
	set_cell(line, &column, "%llu", (unsigned long long)r->filled);
	set_cell(line, &column, "%llu", (unsigned long long)(r->partial + r->passed_partial));
	set_cell(line, &column, "%llu", (unsigned long long)r->md.rmw);
	set_cell(line, &column, "%llu", (unsigned long long)r->md.rcw);
	set_cell(line, &column, "%llu", (unsigned long long)r->md.reads);
	set_cell(line, &column, "%llu", (unsigned long long)r->md.writes);
	if (o->raw) {
		set_cell(line, &column, "-");
		set_cell(line, &column, "-");
		return 0;
	}
	set_cell(line, &column, "%.1f, %.1f ms", r->wait.mean / 1e6, r->wait.p99 / 1e6);
	set_cell(line, &column, "%.0f, %.0f ms", r->held.mean / 1e6, r->held.p99 / 1e6);
	return 0;
}

static int print_table(const struct combinations *c)
{
	static const char * const columns[] = {
		"LAYER", "STRIPE", "CLUSTER", "HOLD", "FULL", "FILLED", "PARTIAL", "RMW", "RCW",
		"READS", "WRITES", "WAIT", "HELD",
	};
	_cleanup_(scols_unref_tablep) struct libscols_table *table = NULL;
	int r = 0;

	scols_init_debug(0);
	table = scols_new_table();
	for (size_t i = 0; table && i < ARRAY_SIZE(columns); i++)
		if (!scols_table_new_column(table, columns[i], 0, i ? SCOLS_FL_RIGHT : 0))
			return -ENOMEM;
	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < c->n && r == 0; i++)
		r = add_line(table, &c->list[i]);
	return r < 0 ? r : scols_print_table(table);
}

int verb_simulate(int argc, char **argv)
{
	_cleanup_(combinations_freep) struct combinations *combinations = NULL;
	_cleanup_(recording_closep) struct recording *recording = NULL;
	struct options o = { .service_us = SERVICE_US_DEFAULT, .queue = QUEUE_DEFAULT };
	uint64_t lost;
	bool sound;
	int r;

	argp_parse(&parser, argc, argv, 0, NULL, &o);
	if (o.from && take_device(&o) < 0)
		return EXIT_FAILED;
	combinations = calloc(1, sizeof(*combinations));
	if (!combinations) {
		log_errno(ENOMEM, "simulate");
		return EXIT_FAILED;
	}
	r = add_combinations(combinations, &o);
	if (r < 0)
		return r == -ENOMEM ? EXIT_FAILED : EXIT_USAGE;
	r = recording_open(o.files, o.n_files, &recording);
	if (r == 0)
		r = run(combinations, &o, recording);
	if (r < 0)
		return r == -ENOTUNIQ ? EXIT_USAGE : EXIT_FAILED;

	sound = recording_is_sound(recording, &lost);
	if (lost > 0)
		log_warning("%llu records had no room when this was recorded: what they would have changed is missing",
			    (unsigned long long)lost);
	if (combinations->list[0].result.writes > 0) {
		if (o.json)
			print_json(combinations);
		else
			r = print_table(combinations);
		if (r < 0) {
			log_errno(r, "the result cannot be printed");
			return EXIT_FAILED;
		}
	}
	if (!sound)
		return EXIT_BAD_TRACE;
	if (combinations->list[0].result.writes == 0) {
		log_warning("no writes were recorded%s", o.has_device ? " of this device" : "");
		return EXIT_NOTHING;
	}
	return EXIT_DONE;
}

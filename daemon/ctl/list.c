// SPDX-License-Identifier: GPL-2.0
/*
 * fullstripectl list, status: the fullstripe devices; what each is set to, and how it is.
 * Both are attributes in sysfs: people get those that say most, programs get all of them.
 */
#include <argp.h>
#include <errno.h>
#include <json-c/json.h>
#include <libdevmapper.h>
#include <libsmartcols/libsmartcols.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "ctl.h"
#include "lib/exit_codes.h"
#include "lib/macros.h"
#include "lib/render.h"
#include "lib/units.h"
#include "src/cleanup.h"
#include "src/log.h"
#include "src/target.h"

#define VALUE	32

DEFINE_CLEANUP(struct dm_task *, dm_task_destroy)
DEFINE_CLEANUP(struct json_object *, json_object_put)
DEFINE_CLEANUP(struct libscols_table *, scols_unref_table)

enum kind {
	KIND_NUMBER,
	KIND_BYTES,
	KIND_MS,
	KIND_TEXT,
	KIND_STATE,	/* 1 is bad */
};

/* @column: its heading for people, who else do not get it. */
struct attribute {
	const char *name;
	enum kind kind;
	const char *column;
};

static const struct attribute settings[] = {
	{ "stripe_bytes", KIND_BYTES, "STRIPE" },
	{ "chunk_bytes", KIND_BYTES, "CHUNK" },
	{ "data_members", KIND_NUMBER, "DATA" },
	{ "alignment_offset", KIND_BYTES, NULL },
	{ "cluster_bytes", KIND_BYTES, "CLUSTER" },
	{ "high_water_bytes", KIND_BYTES, "MEMORY" },
	{ "low_water_bytes", KIND_BYTES, NULL },
	{ "file_high_water_bytes", KIND_BYTES, "PER FILE" },
	{ "file_low_water_bytes", KIND_BYTES, NULL },
	{ "hold_ms", KIND_MS, "HOLD" },
	{ "seek_bytes", KIND_BYTES, NULL },
	{ "streams", KIND_NUMBER, NULL },
	{ "read_pref_io", KIND_BYTES, NULL },
	{ "read_nstream", KIND_NUMBER, NULL },
	{ "prefetch_bytes", KIND_BYTES, NULL },
	{ "mode", KIND_TEXT, "MODE" },
	{ NULL, KIND_NUMBER, NULL },
};

static const struct attribute stats[] = {
	{ "stats/failing", KIND_STATE, "STATE" },
	{ "stats/failing_stripes", KIND_NUMBER, NULL },
	{ "stats/staged_bytes", KIND_BYTES, "STAGED" },
	{ "stats/memory_bytes", KIND_BYTES, NULL },
	{ "stats/dirty_files", KIND_NUMBER, "FILES" },
	{ "stats/held_files", KIND_NUMBER, "HELD" },
	{ "stats/active_streams", KIND_NUMBER, "STREAMS" },
	{ "stats/prefetching_bytes", KIND_BYTES, NULL },
	{ "stats/accepted_bytes", KIND_BYTES, NULL },
	{ "stats/held_bytes", KIND_BYTES, NULL },
	{ "stats/bypassed_bytes", KIND_BYTES, NULL },
	{ "stats/edge_bytes", KIND_BYTES, NULL },
	{ "stats/staged_read_bytes", KIND_BYTES, NULL },
	{ "stats/destaged_bytes", KIND_BYTES, "DESTAGED" },
	{ "stats/whole_stripes", KIND_NUMBER, "WHOLE" },
	{ "stats/filled_stripes", KIND_NUMBER, "FILLED" },
	{ "stats/partial_stripes", KIND_NUMBER, "PARTIAL" },
	{ "stats/flushes", KIND_NUMBER, "FLUSHES" },
	{ "stats/answered_flushes", KIND_NUMBER, NULL },
	{ "stats/flush_us", KIND_NUMBER, NULL },
	{ "stats/fua_writes", KIND_NUMBER, NULL },
	{ "stats/parked", KIND_NUMBER, NULL },
	{ "stats/throttled", KIND_NUMBER, NULL },
	{ "stats/file_peak_bytes", KIND_BYTES, NULL },
	{ "stats/destage_errors", KIND_NUMBER, "ERRORS" },
	{ "stats/prefetched_bytes", KIND_BYTES, NULL },
	{ "stats/prefetch_hit_bytes", KIND_BYTES, NULL },
	{ "stats/prefetch_wasted_bytes", KIND_BYTES, NULL },
	{ NULL, KIND_NUMBER, NULL },
};

struct options {
	const char *device;
	bool json;
};

enum {
	OPTION_JSON = 256,
};

static const struct argp_option option_list[] = {
	{ "json", OPTION_JSON, NULL, 0, "Print JSON", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case OPTION_JSON:
		o->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (o->device)
			argp_error(state, "'%s' is one argument too many", arg);
		o->device = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp list_parser = {
	.options = option_list,
	.parser = parse_option,
	.args_doc = "[DEV]",
	.doc = "List the fullstripe devices, or DEV, and what each is set to.",
};

static const struct argp status_parser = {
	.options = option_list,
	.parser = parse_option,
	.args_doc = "[DEV]",
	.doc = "Print how the fullstripe devices are, or DEV: what they hold, and what became of the writes since they were made.",
};

/**
 * struct listing - what the list is collected in
 * @attributes: what it is of
 * @table: for people, or NULL
 * @json: for programs, or NULL
 */
struct listing {
	const struct attribute *attributes;
	struct libscols_table *table;
	struct json_object *json;
};

/**
 * struct device - one of them
 * @disk: as in /sys/block
 * @name: its device-mapper name
 * @lower: the device below it, as in /sys/class/block
 * @suspended: not 0: it is, and the module has taken its folder away
 */
struct device {
	const char *disk;
	char name[TARGET_NAME];
	char lower[SYSFS_NAME];
	uint64_t suspended;
};

static int read_value(const struct device *d, const struct attribute *a, char value[static VALUE])
{
	return sysfs_read_text(value, VALUE, SYSFS_ROOT "/block/%s/fullstripe/%s", d->disk, a->name);
}

static bool is_word(const struct attribute *a)
{
	return a->kind == KIND_TEXT || a->kind == KIND_STATE;
}

/* As people read it. */
static void format(enum kind kind, const char *value, char text[static UNITS_TEXT])
{
	switch (kind) {
	case KIND_BYTES:
		units_format_size(strtoull(value, NULL, 10), text);
		return;
	case KIND_MS:
		snprintf(text, UNITS_TEXT, "%.20s ms", value);
		return;
	case KIND_STATE:
		snprintf(text, UNITS_TEXT, "%s", strcmp(value, "0") == 0 ? "ok" : "failing");
		return;
	default:
		snprintf(text, UNITS_TEXT, "%s", value);
	}
}

static int put_line(const struct listing *listing, const struct device *d,
		    struct libscols_line *line)
{
	size_t column = 2;

	if (scols_line_set_data(line, 0, d->name) < 0 || scols_line_set_data(line, 1, d->lower) < 0)
		return -ENOMEM;
	for (const struct attribute *a = listing->attributes; a->name; a++) {
		char value[VALUE], text[UNITS_TEXT];
		int r;

		if (!a->column)
			continue;
		if (d->suspended) {
			snprintf(text, sizeof(text), "%s", is_word(a) ? "suspended" : "-");
		} else {
			r = read_value(d, a, value);
			if (r < 0)
				return r;
			format(a->kind, value, text);
		}
		if (scols_line_set_data(line, column++, text) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_to_table(const struct listing *listing, const struct device *d)
{
	struct libscols_line *line = scols_table_new_line(listing->table, NULL);
	int r;

	if (!line)
		return -ENOMEM;
	r = put_line(listing, d, line);
	if (r < 0)
		scols_table_remove_line(listing->table, line);
	return r;
}

static int add_to_json(const struct listing *listing, const struct device *d)
{
	_cleanup_(json_object_putp) struct json_object *o = json_object_new_object();

	render_add_text(o, "name", d->name);
	render_add_text(o, "lower", d->lower);
	json_object_object_add(o, "suspended", json_object_new_boolean(d->suspended));
	for (const struct attribute *a = listing->attributes; a->name; a++) {
		const char *base = strrchr(a->name, '/');
		char value[VALUE];
		int r;

		base = base ? base + 1 : a->name;
		if (d->suspended) {
			render_add_text(o, base, NULL);
			continue;
		}
		r = read_value(d, a, value);
		if (r < 0)
			return r;
		if (a->kind == KIND_TEXT)
			render_add_text(o, base, value);
		else
			render_add_number(o, base, strtoull(value, NULL, 10));
	}
	json_object_array_add(listing->json, json_object_get(o));
	return 0;
}

/* All of it or nothing. */
static int add_device(const struct listing *listing, const char *disk)
{
	struct device d = { .disk = disk };
	int r;

	r = sysfs_read_text(d.name, sizeof(d.name), SYSFS_ROOT "/block/%s/dm/name", disk);
	if (r == 0)
		r = sysfs_only_entry(d.lower, SYSFS_ROOT "/block/%s/slaves", disk);
	if (r == 0)
		r = sysfs_read_number(&d.suspended, SYSFS_ROOT "/block/%s/dm/suspended", disk);
	if (r < 0)
		return r;
	return listing->table ? add_to_table(listing, &d) : add_to_json(listing, &d);
}

static int add_if_target(const struct listing *listing, const struct dm_names *names)
{
	struct dm_table_line line;
	char disk[SYSFS_NAME];
	int r;

	r = dm_read_table(names->name, &line);
	if (r == -EOPNOTSUPP || r == -ENXIO)
		return 0;
	if (r < 0 || strcmp(line.type, TARGET_TYPE) != 0)
		return r;
	snprintf(disk, sizeof(disk), "dm-%u", minor(names->dev));
	return add_device(listing, disk);
}

static int walk(const struct listing *listing)
{
	_cleanup_(dm_task_destroyp) struct dm_task *task = dm_task_create(DM_DEVICE_LIST);
	struct dm_names *names;
	int r;

	if (!task)
		return log_errno(ENODEV, "device-mapper is out of reach: root is needed, and the module dm-mod");
	if (!dm_task_run(task))
		return log_errno(dm_task_get_errno(task) ?: EIO,
				 "the device-mapper devices cannot be listed");
	names = dm_task_get_names(task);
	if (!names || !names->dev)
		return 0;
	for (;;) {
		r = add_if_target(listing, names);
		/* Devices come and go, and are suspended: it may be so by now. */
		if (r < 0)
			r = add_if_target(listing, names);
		if (r < 0)
			return log_errno(r, "%s: it cannot be read what it is set to, and how it is",
					 names->name);
		if (!names->next)
			return 0;
		names = (struct dm_names *)((char *)names + names->next);
	}
}

static int add_named(const struct listing *listing, const char *text)
{
	struct block_device device;
	struct target target;
	int r;

	r = block_device_find(text, &device);
	if (r == 0)
		r = target_find(&device, &target);
	/* That it is suspended has been said, and what to do. */
	if (r < 0 && r != -EAGAIN)
		return r;
	r = add_device(listing, device.name);
	return r < 0 ? log_errno(r, "%s: it cannot be read what it is set to, and how it is", text) : 0;
}

static int collect(const struct listing *listing, const struct options *o)
{
	return o->device ? add_named(listing, o->device) : walk(listing);
}

static int make_columns(const struct listing *listing)
{
	if (!scols_table_new_column(listing->table, "NAME", 0, 0) ||
	    !scols_table_new_column(listing->table, "LOWER", 0, 0))
		return -ENOMEM;
	for (const struct attribute *a = listing->attributes; a->name; a++) {
		if (a->column && !scols_table_new_column(listing->table, a->column, 0,
							 is_word(a) ? 0 : SCOLS_FL_RIGHT))
			return -ENOMEM;
	}
	return 0;
}

static int print_table(const struct attribute *attributes, const struct options *o)
{
	_cleanup_(scols_unref_tablep) struct libscols_table *table = scols_new_table();
	const struct listing listing = { .attributes = attributes, .table = table };
	int r = table ? make_columns(&listing) : -ENOMEM;

	if (r < 0)
		return log_errno(r, "the table");
	r = collect(&listing, o);
	return r < 0 ? r : scols_print_table(table);
}

static int print_json(const struct attribute *attributes, const struct options *o)
{
	_cleanup_(json_object_putp) struct json_object *object = json_object_new_object();
	struct json_object *devices = json_object_new_array();
	int r;

	json_object_object_add(object, "devices", devices);
	r = collect(&(struct listing) { .attributes = attributes, .json = devices }, o);
	if (r < 0)
		return r;
	puts(render_text(object));
	return 0;
}

static int run(const struct argp *parser, const struct attribute *attributes, int argc, char **argv)
{
	struct options o = { .device = NULL };
	int r;

	argp_parse(parser, argc, argv, 0, NULL, &o);
	r = o.json ? print_json(attributes, &o) : print_table(attributes, &o);
	return r < 0 ? EXIT_FAILED : EXIT_DONE;
}

int verb_list(int argc, char **argv)
{
	return run(&list_parser, settings, argc, argv);
}

int verb_status(int argc, char **argv)
{
	return run(&status_parser, stats, argc, argv);
}

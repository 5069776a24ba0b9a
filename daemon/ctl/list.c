// SPDX-License-Identifier: GPL-2.0
/* fullstripectl list: the fullstripe devices and what they are set to. */
#include <argp.h>
#include <errno.h>
#include <json-c/json.h>
#include <libdevmapper.h>
#include <libsmartcols/libsmartcols.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "lib/exit_codes.h"
#include "lib/macros.h"
#include "lib/render.h"
#include "src/cleanup.h"
#include "src/log.h"
#include "src/target.h"

DEFINE_CLEANUP(struct dm_task *, dm_task_destroy)
DEFINE_CLEANUP(struct json_object *, json_object_put)
DEFINE_CLEANUP(struct libscols_table *, scols_unref_table)

static const char * const attributes[] = {
	"stripe_bytes", "chunk_bytes", "data_members", "alignment_offset", "cluster_bytes",
	"high_water_bytes", "low_water_bytes", "file_high_water_bytes", "file_low_water_bytes",
	"hold_ms", "seek_bytes", "streams", "read_pref_io", "read_nstream", "prefetch_bytes", "mode",
};

#define N_ATTRIBUTES	ARRAY_SIZE(attributes)

enum {
	OPTION_JSON = 256,
};

static const struct argp_option option_list[] = {
	{ "json", OPTION_JSON, NULL, 0, "Print JSON", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	bool *json = state->input;

	switch (key) {
	case OPTION_JSON:
		*json = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is one argument too many", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
	.options = option_list,
	.parser = parse_option,
	.doc = "List the fullstripe devices and what each is set to.",
};

/**
 * struct listing - what the list is collected in
 * @table: for people, or NULL
 * @json: for programs, or NULL
 */
struct listing {
	struct libscols_table *table;
	struct json_object *json;
};

static int add_to_table(struct libscols_table *table, const struct target *t,
			char values[N_ATTRIBUTES][32])
{
	struct libscols_line *line = scols_table_new_line(table, NULL);

	if (!line || scols_line_set_data(line, 0, t->dm_name) < 0 ||
	    scols_line_set_data(line, 1, t->lower) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < N_ATTRIBUTES; i++)
		if (scols_line_set_data(line, i + 2, values[i]) < 0)
			return -ENOMEM;
	return 0;
}

static void add_to_json(struct json_object *devices, const struct target *t,
			char values[N_ATTRIBUTES][32])
{
	struct json_object *o = json_object_new_object();

	render_add_text(o, "name", t->dm_name);
	render_add_text(o, "lower", t->lower);
	for (size_t i = 0; i < N_ATTRIBUTES; i++) {
		if (strcmp(attributes[i], "mode") == 0)
			render_add_text(o, attributes[i], values[i]);
		else
			render_add_number(o, attributes[i], strtoull(values[i], NULL, 10));
	}
	json_object_array_add(devices, o);
}

static int add_target(const char *dm_name, struct listing *listing)
{
	char values[N_ATTRIBUTES][32], path[300];
	struct block_device device;
	struct target target;
	int r;

	snprintf(path, sizeof(path), "/dev/mapper/%s", dm_name);
	r = block_device_find(path, &device);
	if (r == 0)
		r = target_find(&device, &target);
	if (r < 0)
		return r;
	for (size_t i = 0; i < N_ATTRIBUTES; i++) {
		r = sysfs_read_text(values[i], sizeof(values[i]), "%s/%s", target.folder,
				    attributes[i]);
		if (r < 0)
			return log_errno(r, "%s/%s", target.folder, attributes[i]);
	}
	if (listing->table)
		return add_to_table(listing->table, &target, values);
	add_to_json(listing->json, &target, values);
	return 0;
}

static int walk(struct listing *listing)
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
		struct dm_table_line line;

		r = dm_read_table(names->name, &line);
		if (r == 0 && strcmp(line.type, TARGET_TYPE) == 0)
			r = add_target(names->name, listing);
		else if (r == -EOPNOTSUPP || r == -ENXIO)
			r = 0;
		if (r < 0)
			return r;
		if (!names->next)
			return 0;
		names = (struct dm_names *)((char *)names + names->next);
	}
}

static int make_columns(struct libscols_table *table)
{
	if (!scols_table_new_column(table, "name", 0, 0) ||
	    !scols_table_new_column(table, "lower", 0, 0))
		return -ENOMEM;
	for (size_t i = 0; i < N_ATTRIBUTES; i++)
		if (!scols_table_new_column(table, attributes[i], 0, SCOLS_FL_RIGHT))
			return -ENOMEM;
	return 0;
}

static int list_table(void)
{
	_cleanup_(scols_unref_tablep) struct libscols_table *table = scols_new_table();
	int r = table ? make_columns(table) : -ENOMEM;

	if (r < 0)
		return log_errno(r, "list");
	r = walk(&(struct listing) { .table = table });
	return r < 0 ? r : scols_print_table(table);
}

static int list_json(void)
{
	_cleanup_(json_object_putp) struct json_object *o = json_object_new_object();
	struct json_object *devices = json_object_new_array();
	int r;

	json_object_object_add(o, "devices", devices);
	r = walk(&(struct listing) { .json = devices });
	if (r < 0)
		return r;
	puts(render_text(o));
	return 0;
}

int verb_list(int argc, char **argv)
{
	bool json = false;

	argp_parse(&parser, argc, argv, 0, NULL, &json);
	return (json ? list_json() : list_table()) < 0 ? EXIT_FAILED : EXIT_DONE;
}

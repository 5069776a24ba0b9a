// SPDX-License-Identifier: GPL-2.0
/* fullstripectl files: which files have writes outstanding, and which of them are held. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>

#include "ctl.h"
#include "lib/exit_codes.h"
#include "lib/macros.h"
#include "lib/render.h"
#include "lib/top.h"
#include "lib/units.h"
#include "lib/view.h"
#include "src/cleanup.h"
#include "src/log.h"
#include "src/paths.h"
#include "table.h"
#include "watch.h"

DEFINE_CLEANUP(struct json_object *, json_object_put)

/**
 * struct files - what was listed
 * @file: the files
 * @n: how many
 */
struct files {
	struct file_view *file;
	size_t n;
};

static void free_files(struct files *files)
{
	view_free_files(files->file, files->n);
}

static int add_line(struct libscols_table *table, const struct file_view *file)
{
	_cleanup_free_ char *whose = view_whose(file);
	char sizes[3][UNITS_TEXT], times[2][VIEW_TEXT], count[16], name[TARGET_NAME];
	const char * const columns[] = {
		name, file->held ? view_time(file->wait_us, times[0]) : "-",
		file->held ? file->over_mark ? "mark" : "flush" : "-",
		units_format_size(file->outstanding, sizes[0]),
		units_format_size(file->staged, sizes[1]),
		units_format_size(file->parked_bytes, sizes[2]),
		count, view_time(file->longest_wait_us, times[1]), whose,
	};

	if (!whose)
		return -ENOMEM;
	watch_device_name(file->disk, name);
	snprintf(count, sizeof(count), "%u", file->times_held);
	return table_add_line(table, columns, ARRAY_SIZE(columns));
}

static int print_table(const struct files *files)
{
	static const struct table_column columns[] = {
		{ "DEVICE", 0 }, { "HELD", SCOLS_FL_RIGHT }, { "FOR", 0 },
		{ "OUTSTANDING", SCOLS_FL_RIGHT },
		{ "STAGED", SCOLS_FL_RIGHT }, { "PARKED", SCOLS_FL_RIGHT },
		{ "TIMES", SCOLS_FL_RIGHT }, { "LONGEST", SCOLS_FL_RIGHT }, { "FILE", 0 },
	};
	_cleanup_(scols_unref_tablep) struct libscols_table *table =
		table_new(columns, ARRAY_SIZE(columns));

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < files->n; i++)
		if (add_line(table, &files->file[i]) < 0)
			return -ENOMEM;
	return scols_print_table(table);
}

static int print_json(const struct files *files)
{
	_cleanup_(json_object_putp) struct json_object *o = json_object_new_object();
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < files->n; i++) {
		struct json_object *file = view_file_json(&files->file[i]);
		char name[TARGET_NAME];

		watch_device_name(files->file[i].disk, name);
		render_add_text(file, "device", name);
		json_object_array_add(list, file);
	}
	json_object_object_add(o, "files", list);
	puts(render_text(o));
	return 0;
}

static int show(struct link *link, const struct watch *watch)
{
	_cleanup_(free_files) struct files files = { 0 };
	int r;

	r = link_list_files(link, watch_disk(watch), &files.file, &files.n);
	if (r < 0)
		return r;
	r = paths_find(files.file, files.n);
	if (r < 0)
		return log_errno(r, "/proc");
	top_sort_files(files.file, files.n);
	r = watch->json ? print_json(&files) : print_table(&files);
	return r < 0 ? log_errno(r, "files") : 0;
}

int verb_files(int argc, char **argv)
{
	struct watch watch;

	if (watch_parse(&watch, "Show the files that have writes outstanding on the fullstripe devices, or on DEV, and which of them are held because it is too much.",
			argc, argv) < 0)
		return EXIT_FAILED;
	return watch_run(&watch, show) < 0 ? EXIT_FAILED : EXIT_DONE;
}

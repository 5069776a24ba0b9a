// SPDX-License-Identifier: GPL-2.0
/* fullstripectl streams: which streams of reads are read ahead for. */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <libsmartcols/libsmartcols.h>
#include <stdio.h>

#include "ctl.h"
#include "lib/exit_codes.h"
#include "lib/macros.h"
#include "lib/render.h"
#include "lib/units.h"
#include "lib/view.h"
#include "src/cleanup.h"
#include "src/log.h"
#include "watch.h"

DEFINE_CLEANUP(struct json_object *, json_object_put)
DEFINE_CLEANUP(struct libscols_table *, scols_unref_table)

static int add_line(const struct stream_view *stream, void *data)
{
	struct libscols_line *line = scols_table_new_line(data, NULL);
	char sizes[2][UNITS_TEXT], numbers[3][24], idle[VIEW_TEXT], name[TARGET_NAME];
	const char * const columns[] = {
		name, numbers[0], view_direction(stream->direction), numbers[1], numbers[2],
		units_format_size(stream->ahead, sizes[0]),
		units_format_size(stream->read, sizes[1]),
		view_time(1000ULL * stream->idle_ms, idle),
	};

	if (!line)
		return -ENOMEM;
	watch_device_name(stream->disk, name);
	snprintf(numbers[0], sizeof(numbers[0]), "%" PRIu64, stream->position);
	if (stream->direction == STREAM_STRIDED)
		snprintf(numbers[1], sizeof(numbers[1]), "%" PRId64, stream->stride);
	else
		snprintf(numbers[1], sizeof(numbers[1]), "-");
	snprintf(numbers[2], sizeof(numbers[2]), "%" PRIu32, stream->degree);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		if (scols_line_set_data(line, i, columns[i]) < 0)
			return -ENOMEM;
	return 0;
}

static int show_table(struct link *link, const struct watch *watch)
{
	static const struct {
		const char *name;
		int flags;
	} columns[] = {
		{ "DEVICE", 0 }, { "POSITION", SCOLS_FL_RIGHT }, { "DIRECTION", 0 },
		{ "STRIDE", SCOLS_FL_RIGHT }, { "DEGREE", SCOLS_FL_RIGHT },
		{ "AHEAD", SCOLS_FL_RIGHT }, { "READ", SCOLS_FL_RIGHT }, { "IDLE", SCOLS_FL_RIGHT },
	};
	_cleanup_(scols_unref_tablep) struct libscols_table *table = scols_new_table();
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		if (!table || !scols_table_new_column(table, columns[i].name, 0, columns[i].flags))
			return log_errno(ENOMEM, "streams");
	r = link_list_streams(link, watch_disk(watch), add_line, table);
	return r < 0 ? r : scols_print_table(table);
}

static int add_object(const struct stream_view *stream, void *data)
{
	struct json_object *o = view_stream_json(stream);
	char name[TARGET_NAME];

	watch_device_name(stream->disk, name);
	render_add_text(o, "device", name);
	return json_object_array_add(data, o);
}

static int show_json(struct link *link, const struct watch *watch)
{
	_cleanup_(json_object_putp) struct json_object *o = json_object_new_object();
	struct json_object *list = json_object_new_array();
	int r;

	json_object_object_add(o, "streams", list);
	r = link_list_streams(link, watch_disk(watch), add_object, list);
	if (r == 0)
		puts(render_text(o));
	return r;
}

static int show(struct link *link, const struct watch *watch)
{
	return watch->json ? show_json(link, watch) : show_table(link, watch);
}

int verb_streams(int argc, char **argv)
{
	struct watch watch;

	if (watch_parse(&watch, "Show the streams of reads that the fullstripe devices, or DEV, read ahead for.",
			argc, argv) < 0)
		return EXIT_FAILED;
	return watch_run(&watch, show) < 0 ? EXIT_FAILED : EXIT_DONE;
}

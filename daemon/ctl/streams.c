// SPDX-License-Identifier: GPL-2.0
/* fullstripectl streams: which streams of reads are read ahead for. */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>

#include "ctl.h"
#include "lib/exit_codes.h"
#include "lib/macros.h"
#include "lib/render.h"
#include "lib/units.h"
#include "lib/view.h"
#include "src/cleanup.h"
#include "src/log.h"
#include "table.h"
#include "watch.h"

DEFINE_CLEANUP(struct json_object *, json_object_put)

static int add_line(struct libscols_table *table, const struct stream_view *stream)
{
	char sizes[2][UNITS_TEXT], numbers[3][24], idle[VIEW_TEXT], name[TARGET_NAME];
	const char * const columns[] = {
		name, numbers[0], view_direction(stream->direction), numbers[1], numbers[2],
		units_format_size(stream->ahead, sizes[0]),
		units_format_size(stream->read, sizes[1]),
		view_time(1000ULL * stream->idle_ms, idle),
	};

	watch_device_name(stream->disk, name);
	snprintf(numbers[0], sizeof(numbers[0]), "%" PRIu64, stream->position);
	if (stream->direction == STREAM_STRIDED)
		snprintf(numbers[1], sizeof(numbers[1]), "%" PRId64, stream->stride);
	else
		snprintf(numbers[1], sizeof(numbers[1]), "-");
	snprintf(numbers[2], sizeof(numbers[2]), "%" PRIu32, stream->degree);
	return table_add_line(table, columns, ARRAY_SIZE(columns));
}

static int print_table(const struct stream_view *streams, size_t n)
{
	static const struct table_column columns[] = {
		{ "DEVICE", 0 }, { "POSITION", SCOLS_FL_RIGHT }, { "DIRECTION", 0 },
		{ "STRIDE", SCOLS_FL_RIGHT }, { "DEGREE", SCOLS_FL_RIGHT },
		{ "AHEAD", SCOLS_FL_RIGHT }, { "READ", SCOLS_FL_RIGHT }, { "IDLE", SCOLS_FL_RIGHT },
	};
	_cleanup_(scols_unref_tablep) struct libscols_table *table =
		table_new(columns, ARRAY_SIZE(columns));

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (add_line(table, &streams[i]) < 0)
			return -ENOMEM;
	return scols_print_table(table);
}

static int print_json(const struct stream_view *streams, size_t n)
{
	_cleanup_(json_object_putp) struct json_object *o = json_object_new_object();
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < n; i++) {
		struct json_object *stream = view_stream_json(&streams[i]);
		char name[TARGET_NAME];

		watch_device_name(streams[i].disk, name);
		render_add_text(stream, "device", name);
		json_object_array_add(list, stream);
	}
	json_object_object_add(o, "streams", list);
	puts(render_text(o));
	return 0;
}

static int show(struct link *link, const struct watch *watch)
{
	_cleanup_free_ struct stream_view *streams = NULL;
	size_t n;
	int r;

	r = link_list_streams(link, watch_disk(watch), &streams, &n);
	if (r < 0)
		return r;
	r = watch->json ? print_json(streams, n) : print_table(streams, n);
	return r < 0 ? log_errno(r, "streams") : 0;
}

int verb_streams(int argc, char **argv)
{
	struct watch watch;

	if (watch_parse(&watch, "Show the streams of reads that the fullstripe devices, or DEV, read ahead for.",
			argc, argv) < 0)
		return EXIT_FAILED;
	return watch_run(&watch, show) < 0 ? EXIT_FAILED : EXIT_DONE;
}

// SPDX-License-Identifier: GPL-2.0
/* What devices do, for programs. */
#include <math.h>

#include "macros.h"
#include "render.h"
#include "top.h"

static void add_real(struct json_object *o, const char *key, double value)
{
	json_object_object_add(o, key, isnan(value) ? NULL : json_object_new_double(value));
}

static struct json_object *device_json(const struct top_device *d)
{
	static const struct {
		const char *key;
		enum top_value value;
	} values[] = {
		{ "stripe_bytes", TOP_STRIPE_BYTES },
		{ "cluster_bytes", TOP_CLUSTER_BYTES },
		{ "high_water_bytes", TOP_HIGH_WATER },
		{ "low_water_bytes", TOP_LOW_WATER },
		{ "file_high_water_bytes", TOP_FILE_HIGH_WATER },
		{ "file_low_water_bytes", TOP_FILE_LOW_WATER },
		{ "staged_bytes", TOP_STAGED_BYTES },
		{ "dirty_files", TOP_DIRTY_FILES },
		{ "held_files", TOP_HELD_FILES },
		{ "active_streams", TOP_ACTIVE_STREAMS },
		{ "failing_stripes", TOP_FAILING_STRIPES },
	};
	struct json_object *o = json_object_new_object();

	render_add_text(o, "name", d->now.name);
	render_add_text(o, "disk", d->now.disk);
	render_add_text(o, "lower", d->now.lower);
	render_add_text(o, "array", *d->now.array ? d->now.array : NULL);
	render_add_text(o, "mode", d->now.mode);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		render_add_number(o, values[i].key, d->now.values[values[i].value]);
	add_real(o, "read_bytes_per_s", d->read_bytes);
	add_real(o, "written_bytes_per_s", d->written_bytes);
	add_real(o, "reads_per_s", d->reads);
	add_real(o, "writes_per_s", d->writes);
	add_real(o, "whole_stripes_per_s", d->whole);
	add_real(o, "filled_stripes_per_s", d->filled);
	add_real(o, "partial_stripes_per_s", d->partial);
	add_real(o, "full_stripe_ratio", d->full);
	add_real(o, "pre_reads_per_mib", d->pre_reads);
	add_real(o, "flushes_per_s", d->flushes);
	add_real(o, "flush_us", d->flush_us);
	add_real(o, "waits_per_s", d->waits);
	add_real(o, "read_ahead_ratio", d->hits);
	return o;
}

static struct json_object *with_name(struct json_object *o, const struct top_view *view,
				     const char *disk)
{
	render_add_text(o, "device", top_device_name(view, disk));
	return o;
}

/**
 * top_json() - what the devices do
 * @view: what is to be seen
 */
struct json_object *top_json(const struct top_view *view)
{
	struct json_object *devices = json_object_new_array();
	struct json_object *files = view->no_lists ? NULL : json_object_new_array();
	struct json_object *streams = view->no_lists ? NULL : json_object_new_array();
	struct json_object *o = json_object_new_object();

	for (size_t i = 0; i < view->n_devices; i++)
		json_object_array_add(devices, device_json(&view->devices[i]));
	for (size_t i = 0; files && i < view->n_files; i++)
		json_object_array_add(files, with_name(view_file_json(&view->files[i]), view,
						       view->files[i].disk));
	for (size_t i = 0; streams && i < view->n_streams; i++)
		json_object_array_add(streams, with_name(view_stream_json(&view->streams[i]), view,
							 view->streams[i].disk));
	add_real(o, "interval_s", view->seconds);
	json_object_object_add(o, "devices", devices);
	json_object_object_add(o, "files", files);
	json_object_object_add(o, "streams", streams);
	return o;
}

// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "render.h"

/**
 * render_text() - as it is printed
 * @object: the object, which keeps the text
 */
const char *render_text(struct json_object *object)
{
	return json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY |
					      JSON_C_TO_STRING_SPACED |
					      JSON_C_TO_STRING_NOSLASHESCAPE);
}

/**
 * render_add_number() - add a field
 * @object: to this
 * @key: the field's name
 * @value: its value
 */
void render_add_number(struct json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key, json_object_new_uint64(value));
}

/**
 * render_add_text() - add a field
 * @object: to this
 * @key: the field's name
 * @value: its value; NULL, which is JSON's null, if it has none
 */
void render_add_text(struct json_object *object, const char *key, const char *value)
{
	json_object_object_add(object, key, value ? json_object_new_string(value) : NULL);
}

static void add_flag(struct json_object *object, const char *key, bool value)
{
	json_object_object_add(object, key, json_object_new_boolean(value));
}

/* Shares are known to some three digits at best; more would only be noise. */
static void add_share(struct json_object *object, const char *key, double value)
{
	char text[32];

	if (value < 0) {
		json_object_object_add(object, key, NULL);
		return;
	}
	snprintf(text, sizeof(text), "%.4f", value);
	json_object_object_add(object, key, json_object_new_double_s(value, text));
}

/**
 * render_add_known() - add a number that may not be known
 * @object: to which
 * @key: its name
 * @value: the number
 * @known: or it is null
 */
void render_add_known(struct json_object *object, const char *key, uint64_t value, bool known)
{
	json_object_object_add(object, key, known ? json_object_new_uint64(value) : NULL);
}

static void add_seconds(struct json_object *object, const char *key, uint64_t ns)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu.%09llu", (unsigned long long)(ns / 1000000000),
		 (unsigned long long)(ns % 1000000000));
	json_object_object_add(object, key, json_object_new_double_s(ns / 1e9, text));
}

/* Of counters, what none of the I/Os was in is not known. */
static struct json_object *latency(const struct profile_latency *l, bool counted)
{
	struct json_object *o;

	if (counted && l->n == 0)
		return NULL;
	o = json_object_new_object();

	render_add_number(o, "count", l->n);
	render_add_number(o, "p50_ns", l->p50);
	render_add_number(o, "p99_ns", l->p99);
	return o;
}

static struct json_object *content(const struct profile_summary *s)
{
	struct json_object *o = json_object_new_object();

	render_add_text(o, "intensive", profile_content_name(s->content));
	add_share(o, "meta_ios", s->meta_ios);
	add_share(o, "meta_bytes", s->meta_bytes);
	return o;
}

static struct json_object *access_pattern(const struct profile_summary *s)
{
	bool traced = !profile_is_counted(s);
	struct json_object *o = json_object_new_object();

	render_add_text(o, "pattern", profile_access_name(s->access));
	json_object_object_add(o, "direction", traced ? json_object_new_int(s->direction) : NULL);
	add_share(o, "sequential", s->sequential);
	add_share(o, "strided", s->strided);
	add_share(o, "random", s->random);
	render_add_known(o, "streams", s->streams, traced);
	json_object_object_add(o, "ping_pong",
			       traced ? json_object_new_boolean(profile_is_ping_pong(s)) : NULL);
	add_share(o, "returns", s->returns);
	render_add_known(o, "low_zone", s->low_zone, traced);
	render_add_known(o, "high_zone", s->high_zone, traced);
	return o;
}

static struct json_object *bandwidth(const struct profile_summary *s)
{
	struct json_object *o = json_object_new_object();

	render_add_number(o, "average", s->average_rate);
	render_add_number(o, "peak", s->peak_rate);
	render_add_number(o, "read", s->read_rate);
	render_add_number(o, "write", s->write_rate);
	return o;
}

static struct json_object *io_size(const struct profile_summary *s)
{
	struct json_object *o = json_object_new_object();
	struct json_object *histogram = json_object_new_array();
	bool traced = !profile_is_counted(s);

	render_add_known(o, "typical", s->size_mode, traced);
	add_share(o, "typical_share", s->size_mode_share);
	render_add_number(o, "average", s->size_average + 0.5);
	render_add_known(o, "min", s->size_min, traced);
	render_add_known(o, "max", s->size_max, traced);
	for (unsigned int i = 0; i < PROFILE_SIZE_CLASSES; i++) {
		struct json_object *class;

		if (s->sizes[i] == 0)
			continue;
		class = json_object_new_object();
		render_add_number(class, "up_to", 1ull << i);
		render_add_number(class, "count", s->sizes[i]);
		json_object_array_add(histogram, class);
	}
	json_object_object_add(o, "histogram", histogram);
	return o;
}

static struct json_object *latency_sensitivity(const struct profile_summary *s)
{
	struct json_object *o = json_object_new_object();
	bool counted = profile_is_counted(s);

	json_object_object_add(o, "sensitive",
			       s->sync < 0 ? NULL : json_object_new_boolean(s->latency_sensitive));
	add_share(o, "waited_for", s->sync);
	add_share(o, "fua", s->fua);
	add_share(o, "flushes_per_write", s->flush);
	render_add_text(o, "from", s->by_request ? "issue" : "queue");
	json_object_object_add(o, "read", latency(&s->read_latency, counted));
	json_object_object_add(o, "write", latency(&s->write_latency, counted));
	json_object_object_add(o, "flush", latency(&s->flush_latency, counted));
	return o;
}

/**
 * render_profile() - a device's workload
 * @s: what is known of it
 */
struct json_object *render_profile(const struct profile_summary *s)
{
	struct json_object *o = json_object_new_object();
	bool traced = !profile_is_counted(s);
	char device[32];

	snprintf(device, sizeof(device), "%u:%u", trace_device_major(s->device),
		 trace_device_minor(s->device));
	render_add_text(o, "device", device);
	render_add_text(o, "source", traced ? "trace" : "counters");
	render_add_text(o, "obstacle", traced ? NULL : obstacle_name(s->obstacle));
	add_seconds(o, "seconds", s->duration);
	render_add_number(o, "events", s->events);
	render_add_number(o, "ios", s->ios);
	render_add_number(o, "reads", s->reads);
	render_add_number(o, "writes", s->writes);
	render_add_number(o, "flushes", s->flushes);
	render_add_number(o, "discards", s->discards);
	render_add_number(o, "completed", s->completed);
	render_add_known(o, "partial_completions", s->partial_completions, traced);
	render_add_known(o, "never_completed", s->never_completed, traced);
	render_add_known(o, "errors", s->errors, traced);
	json_object_object_add(o, "content", content(s));
	json_object_object_add(o, "access", access_pattern(s));
	json_object_object_add(o, "bandwidth", bandwidth(s));
	json_object_object_add(o, "io_size", io_size(s));
	json_object_object_add(o, "latency", latency_sensitivity(s));
	add_share(o, "unaligned_writes", s->unaligned);
	render_add_known(o, "raid5_rmw", s->rmw, traced);
	render_add_known(o, "raid5_rcw", s->rcw, traced);
	add_share(o, "confidence", s->confidence);
	return o;
}

/**
 * render_array() - the shape of an array
 * @array: the array
 * @name: its name
 *
 * Return: NULL, which is JSON's null, if there is none.
 */
struct json_object *render_array(const struct rule_array *array, const char *name)
{
	struct json_object *o;

	if (array->level == RULE_LEVEL_NONE)
		return NULL;
	o = json_object_new_object();
	render_add_text(o, "name", name);
	json_object_object_add(o, "level", json_object_new_int(array->level));
	render_add_number(o, "members", array->members);
	if (array->level == 10)
		render_add_number(o, "copies", array->copies);
	render_add_number(o, "chunk_bytes", array->chunk_bytes);
	render_add_number(o, "offset_bytes", array->offset_bytes);
	return o;
}

/**
 * render_limits() - what the layers below carry
 * @limits: the layers
 * @n: how many
 */
struct json_object *render_limits(const struct rule_limit *limits, size_t n)
{
	struct json_object *all = json_object_new_array();

	for (size_t i = 0; i < n; i++) {
		struct json_object *o = json_object_new_object();

		render_add_text(o, "name", limits[i].name);
		render_add_number(o, "bytes", limits[i].bytes);
		render_add_number(o, "share", limits[i].share);
		if (limits[i].disk[0]) {
			render_add_text(o, "disk", limits[i].disk);
			render_add_number(o, "max_sectors_bytes", limits[i].soft_bytes);
			render_add_number(o, "max_hw_sectors_bytes", limits[i].hard_bytes);
			if (limits[i].disk_bytes)
				render_add_number(o, "block_limits_bytes", limits[i].disk_bytes);
		}
		json_object_array_add(all, o);
	}
	return all;
}

/**
 * render_sum() - how a value came about
 * @sum: the lines
 */
struct json_object *render_sum(const struct rule_sum *sum)
{
	struct json_object *lines = json_object_new_array();

	for (size_t i = 0; i < sum->n; i++)
		json_object_array_add(lines, json_object_new_string(sum->lines[i]));
	return lines;
}

/**
 * render_plan() - what to set, and why
 * @plan: the plan
 */
struct json_object *render_plan(const struct plan *plan)
{
	struct json_object *items = json_object_new_array();

	for (size_t i = 0; i < plan->n; i++) {
		const struct plan_item *item = &plan->items[i];
		struct json_object *o = json_object_new_object();

		render_add_text(o, "attribute", item->attribute);
		render_add_number(o, "old", item->old);
		render_add_number(o, "new", item->new);
		add_flag(o, "changed", item->old != item->new && !item->left_alone);
		add_flag(o, "left_alone", item->left_alone);
		render_add_text(o, "scenario", rule_scenario_name(item->scenario));
		render_add_text(o, "reason", item->reason);
		json_object_array_add(items, o);
	}
	return items;
}

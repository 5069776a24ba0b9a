// SPDX-License-Identifier: GPL-2.0
#include <errno.h>

#include "macros.h"
#include "render.h"
#include "saved.h"

/* Larger than what a device can do in its time; so nothing that is computed from it overflows. */
#define NUMBER_MAX	(1ull << 60)

#define CONTENTS	(CONTENT_ATTRIBUTES + 1)
#define ACCESSES	(ACCESS_STRIDED + 1)

static uint64_t number(const struct fields *f, const char *key)
{
	return fields_number(f, key, NUMBER_MAX);
}

/* What is not known, as counters do not tell it, is null. */
static uint64_t known(const struct fields *f, const char *key, const struct profile_summary *s)
{
	return profile_is_counted(s) ? 0 : number(f, key);
}

static double share(const struct fields *f, const char *key)
{
	return fields_share(f, key, 1);
}

static struct profile_latency latency(const struct fields *f, const char *key,
				      const struct profile_summary *s)
{
	struct json_object *value;
	struct fields l;

	if (profile_is_counted(s) && json_object_object_get_ex(f->object, key, &value) && !value)
		return (struct profile_latency) { .n = 0 };
	l = fields_object(f, key);
	return (struct profile_latency) {
		.n = number(&l, "count"),
		.p50 = number(&l, "p50_ns"),
		.p99 = number(&l, "p99_ns"),
	};
}

static void read_device(const struct fields *f, struct profile_summary *s)
{
	char text[32] = "";

	fields_text(f, "device", text, sizeof(text));
	if (!trace_device_parse(text, &s->device))
		fields_refuse(f, "\"device\" is '%s', and no pair of numbers as 254:0", text);
}

/* What was saved by an earlier version is from a trace. */
static void read_source(const struct fields *f, struct profile_summary *s)
{
	static const char * const sources[] = { "trace", "counters" };
	const char *names[OBSTACLES];

	if (f->why[0] || !json_object_object_get_ex(f->object, "source", NULL) ||
	    fields_choice(f, "source", sources, ARRAY_SIZE(sources)) == 0)
		return;
	for (unsigned int i = 0; i < OBSTACLES; i++)
		names[i] = obstacle_name(i);
	s->obstacle = fields_choice(f, "obstacle", names, OBSTACLES);
	if (!profile_is_counted(s))
		fields_refuse(f, "\"source\" is 'counters', and \"obstacle\" does not say why");
}

static void read_content(const struct fields *f, struct profile_summary *s)
{
	const char *names[CONTENTS];

	for (unsigned int i = 0; i < CONTENTS; i++)
		names[i] = profile_content_name(i);
	s->content = fields_choice(f, "intensive", names, CONTENTS);
	s->meta_ios = share(f, "meta_ios");
	s->meta_bytes = share(f, "meta_bytes");
}

static void read_access(const struct fields *f, struct profile_summary *s)
{
	const char *names[ACCESSES];
	struct json_object *direction;

	for (unsigned int i = 0; i < ACCESSES; i++)
		names[i] = profile_access_name(i);
	s->access = fields_choice(f, "pattern", names, ACCESSES);
	s->sequential = share(f, "sequential");
	s->strided = share(f, "strided");
	s->random = share(f, "random");
	if (profile_is_counted(s))
		return;
	s->streams = fields_number(f, "streams", UINT32_MAX);
	if (json_object_object_get_ex(f->object, "direction", &direction))
		s->direction = json_object_get_int(direction);
	if (s->direction < -1 || s->direction > 1)
		fields_refuse(f, "\"direction\" is %d, and must be -1, 0 or 1", s->direction);
}

/* What was saved by an earlier version has no zones. */
static void read_zones(const struct fields *f, struct profile_summary *s)
{
	if (f->why[0] || !json_object_object_get_ex(f->object, "returns", NULL))
		return;
	s->returns = share(f, "returns");
	s->low_zone = known(f, "low_zone", s);
	s->high_zone = known(f, "high_zone", s);
}

static void read_bandwidth(const struct fields *f, struct profile_summary *s)
{
	s->average_rate = number(f, "average");
	s->peak_rate = number(f, "peak");
	s->read_rate = number(f, "read");
	s->write_rate = number(f, "write");
}

static void read_class(const struct fields *f, struct profile_summary *s)
{
	uint64_t up_to = number(f, "up_to"), count = number(f, "count");

	for (unsigned int i = 0; i < PROFILE_SIZE_CLASSES; i++)
		if (up_to == 1ull << i) {
			s->sizes[i] = count;
			return;
		}
	fields_refuse(f, "\"up_to\" is no power of two up to 2^%d", PROFILE_SIZE_CLASSES - 1);
}

static void read_sizes(const struct fields *f, struct profile_summary *s)
{
	struct json_object *histogram = fields_list(f, "histogram", PROFILE_SIZE_CLASSES);

	s->size_mode = known(f, "typical", s);
	s->size_mode_share = share(f, "typical_share");
	s->size_average = number(f, "average");
	s->size_min = known(f, "min", s);
	s->size_max = known(f, "max", s);
	for (size_t i = 0; histogram && i < json_object_array_length(histogram); i++)
		read_class(&(struct fields) { json_object_array_get_idx(histogram, i), f->why }, s);
}

static void read_latency(const struct fields *f, struct profile_summary *s)
{
	static const char * const from[] = { "queue", "issue" };

	s->sync = share(f, "waited_for");
	if (s->sync >= 0)
		s->latency_sensitive = fields_flag(f, "sensitive");
	s->fua = share(f, "fua");
	s->flush = fields_share(f, "flushes_per_write", 1e18);
	s->by_request = fields_choice(f, "from", from, ARRAY_SIZE(from));
	s->read_latency = latency(f, "read", s);
	s->write_latency = latency(f, "write", s);
	s->flush_latency = latency(f, "flush", s);
}

static void read_summary(const struct fields *f, struct profile_summary *s)
{
	const struct fields content = fields_object(f, "content");
	const struct fields access = fields_object(f, "access");
	const struct fields bandwidth = fields_object(f, "bandwidth");
	const struct fields sizes = fields_object(f, "io_size");
	const struct fields times = fields_object(f, "latency");

	read_device(f, s);
	read_source(f, s);
	s->duration = fields_share(f, "seconds", 1e9) * 1e9 + 0.5;
	s->events = number(f, "events");
	s->ios = number(f, "ios");
	s->reads = number(f, "reads");
	s->writes = number(f, "writes");
	s->flushes = number(f, "flushes");
	s->discards = number(f, "discards");
	s->completed = number(f, "completed");
	s->partial_completions = known(f, "partial_completions", s);
	s->never_completed = known(f, "never_completed", s);
	s->errors = known(f, "errors", s);
	read_content(&content, s);
	read_access(&access, s);
	read_zones(&access, s);
	read_bandwidth(&bandwidth, s);
	read_sizes(&sizes, s);
	read_latency(&times, s);
	s->unaligned = share(f, "unaligned_writes");
	s->rmw = known(f, "raid5_rmw", s);
	s->rcw = known(f, "raid5_rcw", s);
	s->confidence = share(f, "confidence");
}

static void read_devices(const struct fields *f, struct saved *saved)
{
	struct json_object *devices = fields_list(f, "devices", PROFILE_DEVICES_MAX);

	for (size_t i = 0; devices && i < json_object_array_length(devices); i++)
		read_summary(&(struct fields) { json_object_array_get_idx(devices, i), f->why },
			     &saved->devices[saved->n++]);
}

/**
 * saved_render() - as it is saved
 * @saved: the profiles
 */
struct json_object *saved_render(const struct saved *saved)
{
	struct json_object *o = json_object_new_object();
	struct json_object *devices = json_object_new_array();

	for (size_t i = 0; i < saved->n; i++)
		json_object_array_add(devices, render_profile(&saved->devices[i]));
	json_object_object_add(o, "devices", devices);
	return o;
}

/**
 * saved_parse() - read what saved_render() made
 * @text: all of it
 * @len: its length
 * @ret: the profiles
 * @why: what is wrong with it, on failure
 *
 * Return: 0 or -EBADMSG.
 */
int saved_parse(const char *text, size_t len, struct saved *ret, char why[static FIELDS_WHY])
{
	struct saved saved = { .n = 0 };
	struct fields f = { .why = why };

	f.object = fields_parse(text, len, why);
	if (!f.object)
		return -EBADMSG;
	read_devices(&f, &saved);
	json_object_put(f.object);
	if (why[0])
		return -EBADMSG;
	*ret = saved;
	return 0;
}

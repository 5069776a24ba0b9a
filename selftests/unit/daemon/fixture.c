// SPDX-License-Identifier: GPL-2.0
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fixture.h"
#include "lib/blktrace_format.h"
#include "lib/merge.h"
#include "src/sysfs.h"

struct bytes read_fixture(const char *name)
{
	struct bytes b = { .data = NULL };
	char path[512];
	FILE *f;
	long len;

	snprintf(path, sizeof(path), "%s/%s", UNIT_DIR, name);
	f = fopen(path, "rb");
	if (!f)
		fail_msg("%s cannot be opened", path);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	len = ftell(f);
	assert_true(len >= 0);
	rewind(f);
	b.len = len;
	b.data = malloc(b.len + 1);
	assert_non_null(b.data);
	assert_int_equal(fread(b.data, 1, b.len, f), b.len);
	fclose(f);
	return b;
}

struct bytes copy_of(const struct bytes *bytes)
{
	struct bytes b = { .data = malloc(bytes->len + 1), .len = bytes->len };

	assert_non_null(b.data);
	memcpy(b.data, bytes->data, b.len);
	return b;
}

static void reverse(unsigned char *field, size_t size)
{
	for (size_t i = 0; i < size / 2; i++) {
		unsigned char kept = field[i];

		field[i] = field[size - 1 - i];
		field[size - 1 - i] = kept;
	}
}

static uint32_t word_at(const unsigned char *bytes)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

static uint16_t half_at(const unsigned char *bytes)
{
	uint16_t half;

	memcpy(&half, bytes, sizeof(half));
	return half;
}

/* Sizes of the fields of a record, in their order. */
static const unsigned char fields_v1[] = { 4, 4, 8, 8, 4, 4, 4, 4, 4, 2, 2, 0 };
static const unsigned char fields_v2[] = { 4, 4, 8, 8, 4, 4, 8, 4, 4, 2, 2, 0 };

static size_t header_size(uint32_t magic)
{
	return (magic & 0xff) == BLKTRACE_VERSION_2 ? 64 : 48;
}

static size_t record_size(const unsigned char *record)
{
	size_t header = header_size(word_at(record));

	return header + half_at(record + (header == 64 ? 50 : 46));
}

/* A sound trace in this machine's byte order, as the other kind of machine would have written it. */
void swap_byte_order(struct bytes *trace)
{
	size_t at = 0;

	while (at < trace->len) {
		unsigned char *record = trace->data + at;
		size_t header = header_size(word_at(record)), size = record_size(record);
		const unsigned char *fields = header == 64 ? fields_v2 : fields_v1;
		uint64_t action = word_at(record + (header == 64 ? 32 : 28));
		unsigned char *pdu = record + header;

		/* In pdus, only the cgroup id and the time stamp are in the machine's order. */
		if (action & BLKTRACE_ACTION_CGROUP) {
			reverse(pdu, 8);
		} else if ((action >> 16 & BLKTRACE_NOTIFY) &&
			   (action & 0xff) == BLKTRACE_NOTE_TIMESTAMP) {
			reverse(pdu, 4);
			reverse(pdu + 4, 4);
		}
		for (; *fields; record += *fields++)
			reverse(record, *fields);
		at += size;
	}
}

size_t record_starts(const struct bytes *trace, size_t *starts, size_t max)
{
	size_t n = 0;

	for (size_t at = 0; at < trace->len; at += record_size(trace->data + at)) {
		assert_true(n < max);
		starts[n++] = at;
	}
	return n;
}

ssize_t fill_from_memory(void *source, void *space, size_t room)
{
	struct memory_stream *s = source;
	size_t n = s->bytes->len - s->at;

	if (n > room)
		n = room;
	if (n > s->step)
		n = s->step;
	if (n > 0)
		memcpy(space, s->bytes->data + s->at, n);
	s->at += n;
	return n;
}

void take_recorded(const char *name, void (*take)(void *data, const struct trace_event *e),
		   void *data)
{
	struct memory_stream sources[2];
	const struct trace_event *e;
	struct bytes b[2];
	struct merge *m;

	assert_int_equal(merge_new(fill_from_memory, &m), 0);
	for (int cpu = 0; cpu < 2; cpu++) {
		char path[128];

		snprintf(path, sizeof(path), "traces/%s.blktrace.%d", name, cpu);
		b[cpu] = read_fixture(path);
		sources[cpu] = (struct memory_stream) { .bytes = &b[cpu], .step = SIZE_MAX };
		assert_int_equal(merge_add(m, &sources[cpu]), 0);
	}
	while (merge_next(m, UINT64_MAX, &e) > 0)
		take(data, e);
	merge_free(m);
	free(b[0].data);
	free(b[1].data);
}

/* The vectors stay in memory until the program ends, as the tests keep pointers into them. */
struct json_object *vectors(const char *name)
{
	static struct json_object *all;
	struct json_object *array;

	if (!all) {
		all = json_object_from_file(UNIT_DIR "/vectors.json");
		if (!all)
			fail_msg("%s/vectors.json: %s", UNIT_DIR, json_util_get_last_err());
	}
	if (!json_object_object_get_ex(all, name, &array))
		fail_msg("vectors.json has no \"%s\"", name);
	return array;
}

int64_t vector_int(struct json_object *vector, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(vector, key, &value) ? json_object_get_int64(value) : 0;
}

const char *vector_text(struct json_object *vector, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(vector, key, &value) ? json_object_get_string(value) : NULL;
}

void add_io(struct profile *p, uint64_t time, uint32_t categories, uint64_t offset, uint32_t bytes)
{
	struct trace_event e = {
		.action = TRACE_QUEUE,
		.categories = categories,
		.time = time,
		.sector = offset / 512,
		.bytes = bytes,
		.device = DEVICE,
	};

	assert_int_equal(profile_add(p, &e), 0);
	e.action = TRACE_COMPLETE;
	e.time += 1000000;
	assert_int_equal(profile_add(p, &e), 0);
}

struct profile_summary summary_of(struct profile *p)
{
	struct profile_summary s;

	assert_true(profile_find(p, DEVICE, &s));
	return s;
}

struct profile *new_profile(void)
{
	struct profile *p;

	assert_int_equal(profile_new(&(struct profile_options) { .stripe_bytes = 0 }, &p), 0);
	return p;
}

struct series *new_series(uint64_t origin, uint64_t stripe_bytes)
{
	struct series *s;

	assert_int_equal(series_new(&(struct series_options) {
		.device = DEVICE,
		.origin = origin,
		.stripe_bytes = stripe_bytes,
	}, &s), 0);
	return s;
}

void add_event(struct series *s, enum trace_action action, uint64_t time, uint32_t categories,
	       uint64_t sector, uint32_t bytes)
{
	assert_int_equal(series_add(s, &(struct trace_event) {
		.action = action,
		.categories = categories,
		.time = time,
		.sector = sector,
		.bytes = bytes,
		.device = DEVICE,
	}), 0);
}

static void add_to_series(void *series, const struct trace_event *e)
{
	struct series *s = series;

	if (!s->options.device) {
		s->options.device = e->device;
		s->options.origin = e->time;
	}
	assert_int_equal(series_add(s, e), 0);
}

void add_recorded(const char *name, struct series *s)
{
	s->options.device = 0;
	take_recorded(name, add_to_series, s);
	series_finish(s);
}

char root[64];

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int make_root(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/fullstripe-unit.XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

int remove_root(void **state)
{
	(void)state;
	return nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

void make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
}

static FILE *create(const char *file)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, file);
	make_folders(path);
	f = fopen(path, "w");
	assert_non_null(f);
	return f;
}

void put(const char *file, const char *value)
{
	FILE *f = create(file);

	fprintf(f, "%s\n", value);
	fclose(f);
}

void put_bytes(const char *file, const void *bytes, size_t size)
{
	FILE *f = create(file);

	assert_int_equal(fwrite(bytes, size, 1, f), 1);
	fclose(f);
}

uint64_t value_of(const char *file)
{
	uint64_t value;

	assert_int_equal(sysfs_read_number(&value, "%s/%s", root, file), 0);
	return value;
}

static size_t up_to(uint64_t *seed, size_t most)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (*seed >> 33) % (most + 1);
}

/* What parsers look at, beside any byte. */
static char any_byte(uint64_t *seed)
{
	static const char told[] = "{}[]\",:\\-0129eE.=;#\n\r\t truefalsn/";

	return up_to(seed, 2) ? told[up_to(seed, sizeof(told) - 2)] : (char)(1 + up_to(seed, 254));
}

void spoil(char *text, size_t room, uint64_t *seed)
{
	for (size_t times = 1 + up_to(seed, 7); times-- > 0;) {
		size_t len = strlen(text), at = up_to(seed, len ? len - 1 : 0);
		size_t n = 1 + up_to(seed, 31);

		if (len == 0)
			return;
		if (n > len - at)
			n = len - at;
		switch (up_to(seed, 2)) {
		case 0:
			text[at] = any_byte(seed);
			break;
		case 1:
			memmove(text + at, text + at + n, len - at - n + 1);
			break;
		default:
			if (len + n < room)
				memmove(text + at + n, text + at, len - at + 1);
			break;
		}
	}
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The decoder on real recordings, on their byte-swapped twins, cut short at
 * every byte, damaged at random; and the merge of several streams.
 *
 * The counts of the v1 recordings are those that blkparse 1.2.0 prints for the
 * same files; those of the v2 ones were counted by an independent script.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "lib/blktrace_format.h"
#include "lib/macros.h"
#include "lib/merge.h"

#define V1	"traces/linux-6.12-v1/"
#define V2	"traces/linux-7.2-v2/"

struct counts {
	const char *name;
	unsigned int version;
	unsigned int queue, complete, issue, split, remap, unplug, merge, other, messages;
};

static const struct counts recordings[] = {
	{ V1 "dm-0", 7, .queue = 9, .complete = 9 },
	{ V1 "dm-1", 7, .queue = 1, .complete = 1, .split = 1 },
	{ V1 "md0", 7, .queue = 11, .complete = 14, .split = 3, .remap = 11, .unplug = 9,
	  .messages = 89 },
	{ V1 "vda", 7, .queue = 587, .complete = 62, .issue = 55, .remap = 580, .unplug = 12,
	  .merge = 544, .other = 51 },
	{ V2 "dm-0", 8, .queue = 9, .complete = 9 },
	{ V2 "dm-1", 8, .queue = 1, .complete = 1, .split = 1 },
	{ V2 "md0", 8, .queue = 11, .complete = 46, .split = 35, .remap = 11, .unplug = 1,
	  .messages = 88 },
	{ V2 "vda", 8, .queue = 587, .complete = 44, .issue = 37, .remap = 580, .unplug = 14,
	  .merge = 562, .other = 33 },
};

#define N_RECORDINGS	ARRAY_SIZE(recordings)

static struct bytes read_cpu(const char *name, unsigned int cpu)
{
	char path[128];

	snprintf(path, sizeof(path), "%s.blktrace.%u", name, cpu);
	return read_fixture(path);
}

static void count(struct counts *c, const struct trace_event *e)
{
	switch (e->action) {
	case TRACE_QUEUE:
		c->queue++;
		break;
	case TRACE_COMPLETE:
		c->complete++;
		break;
	case TRACE_ISSUE:
		c->issue++;
		break;
	case TRACE_SPLIT:
		c->split++;
		break;
	case TRACE_REMAP:
		c->remap++;
		break;
	case TRACE_UNPLUG_IO:
	case TRACE_UNPLUG_TIMER:
		c->unplug++;
		break;
	case TRACE_BACK_MERGE:
	case TRACE_FRONT_MERGE:
		c->merge++;
		break;
	case TRACE_NOTE_MESSAGE:
		c->messages++;
		break;
	case TRACE_NOTE_PROCESS:
	case TRACE_NOTE_TIMESTAMP:
		break;
	default:
		c->other++;
	}
}

typedef void (*event_fn)(const struct trace_event *event, void *data);

/* Decode a whole stream, given to the decoder @step bytes at a time. */
static struct trace_decoder *decode(const struct bytes *b, size_t step, event_fn fn, void *data)
{
	struct memory_stream source = { .bytes = b, .step = step };
	struct trace_decoder *d = malloc(sizeof(*d));
	struct trace_event e;
	size_t room;
	ssize_t n;

	assert_non_null(d);
	trace_decoder_init(d);
	do {
		void *space = trace_decoder_space(d, &room);

		assert_true(room > 0);
		n = fill_from_memory(&source, space, room);
		trace_decoder_commit(d, n);
		while (trace_decoder_next(d, &e))
			if (fn)
				fn(&e, data);
	} while (n > 0);
	trace_decoder_finish(d);
	return d;
}

static void count_one(const struct trace_event *e, void *data)
{
	count(data, e);
}

static void check_counts(const struct counts *got, const struct counts *expected)
{
	assert_int_equal(got->queue, expected->queue);
	assert_int_equal(got->complete, expected->complete);
	assert_int_equal(got->issue, expected->issue);
	assert_int_equal(got->split, expected->split);
	assert_int_equal(got->remap, expected->remap);
	assert_int_equal(got->unplug, expected->unplug);
	assert_int_equal(got->merge, expected->merge);
	assert_int_equal(got->other, expected->other);
	assert_int_equal(got->messages, expected->messages);
}

static void decode_recording(const struct counts *expected, bool swapped, size_t step)
{
	struct counts got = { .name = expected->name };

	for (unsigned int cpu = 0; cpu < 2; cpu++) {
		struct bytes b = read_cpu(expected->name, cpu);
		struct trace_decoder *d;

		if (swapped)
			swap_byte_order(&b);
		d = decode(&b, step, count_one, &got);
		assert_int_equal(d->problem, TRACE_SOUND);
		assert_int_equal(d->skipped_bytes, 0);
		assert_int_equal(d->unknown_actions, 0);
		assert_int_equal(d->lost, 0);
		assert_int_equal(d->version, expected->version);
		free(d);
		free(b.data);
	}
	check_counts(&got, expected);
}

static void test_recordings(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_RECORDINGS; i++)
		decode_recording(&recordings[i], false, SIZE_MAX);
}

static void test_other_byte_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_RECORDINGS; i++)
		decode_recording(&recordings[i], true, SIZE_MAX);
}

static void test_any_portion(void **state)
{
	static const size_t steps[] = { 1, 7, 47, 48, 49, 4096 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		decode_recording(&recordings[2], i % 2, steps[i]);
}

struct event_list {
	struct trace_event events[4096];
	char texts[4096][128];
	size_t n;
};

static void keep_one(const struct trace_event *e, void *data)
{
	struct event_list *list = data;

	assert_true(list->n < 4096);
	list->events[list->n] = *e;
	if (e->action == TRACE_NOTE_MESSAGE || e->action == TRACE_NOTE_PROCESS)
		snprintf(list->texts[list->n], 128, "%.*s", (int)e->text_len, e->text);
	list->n++;
}

static bool same_but_text(struct trace_event a, struct trace_event b)
{
	if (a.action == TRACE_NOTE_MESSAGE || a.action == TRACE_NOTE_PROCESS) {
		if (a.text_len != b.text_len)
			return false;
		a.text = NULL;
		b.text = NULL;
	}
	return a.action == b.action && a.categories == b.categories && a.time == b.time &&
	       a.sector == b.sector && a.bytes == b.bytes && a.pid == b.pid &&
	       a.device == b.device && a.cpu == b.cpu && a.sequence == b.sequence &&
	       a.error == b.error && a.cgroup == b.cgroup && a.from_device == b.from_device &&
	       a.from_sector == b.from_sector;
}

/* Both byte orders give the same events, field by field. */
static void test_orders_agree(void **state)
{
	struct event_list *lists = calloc(2, sizeof(*lists));

	(void)state;
	assert_non_null(lists);
	for (size_t i = 0; i < N_RECORDINGS; i++) {
		struct bytes b = read_cpu(recordings[i].name, 1);

		for (int swapped = 0; swapped < 2; swapped++) {
			lists[swapped].n = 0;
			if (swapped)
				swap_byte_order(&b);
			free(decode(&b, SIZE_MAX, keep_one, &lists[swapped]));
		}
		assert_true(lists[0].n > 0);
		assert_int_equal(lists[0].n, lists[1].n);
		for (size_t e = 0; e < lists[0].n; e++) {
			assert_true(same_but_text(lists[0].events[e], lists[1].events[e]));
			assert_string_equal(lists[0].texts[e], lists[1].texts[e]);
		}
		free(b.data);
	}
	free(lists);
}

static const struct trace_event *find(const struct event_list *list, enum trace_action action,
				      size_t *index)
{
	for (size_t i = 0; i < list->n; i++) {
		if (list->events[i].action == action) {
			*index = i;
			return &list->events[i];
		}
	}
	fail_msg("no event of kind %d", action);
	return NULL;
}

/* Single events, as blkparse prints them: what each kind of pdu holds. */
static void test_fields(void **state)
{
	struct event_list *list = calloc(1, sizeof(*list));
	struct bytes b = read_cpu(V1 "md0", 1);
	const struct trace_event *e;
	size_t i;

	(void)state;
	assert_non_null(list);
	free(decode(&b, SIZE_MAX, keep_one, list));

	/* 9,0 1 1 0.000000000 192 A WS 256 + 256 <- (252,0) 128 */
	e = find(list, TRACE_REMAP, &i);
	assert_int_equal(trace_device_major(e->device), 9);
	assert_int_equal(trace_device_minor(e->device), 0);
	assert_int_equal(e->cpu, 1);
	assert_int_equal(e->sequence, 1);
	assert_int_equal(e->pid, 192);
	assert_int_equal(e->sector, 256);
	assert_int_equal(e->bytes, 256 * 512);
	assert_true(e->categories & BLKTRACE_WRITE);
	assert_true(e->categories & BLKTRACE_SYNC);
	assert_int_equal(trace_device_major(e->from_device), 252);
	assert_int_equal(e->from_sector, 128);
	/* 9,0 1 6 2.236048433 196 X RS 128 / 256 */
	e = find(list, TRACE_SPLIT, &i);
	assert_int_equal(e->sector, 128);
	assert_int_equal(e->from_sector, 256);
	/* 9,0 1 3 0.035781630 192 U N [dd] 16 */
	e = find(list, TRACE_UNPLUG_IO, &i);
	assert_int_equal(e->unplugged, 16);

	find(list, TRACE_NOTE_PROCESS, &i);
	assert_true(list->texts[i][0] != '\0');
	e = find(list, TRACE_NOTE_MESSAGE, &i);
	assert_int_equal(e->cgroup, 1);
	assert_memory_equal(list->texts[i], "raid5 rcw ", 10);
	e = find(list, TRACE_NOTE_TIMESTAMP, &i);
	assert_true(e->wall_seconds > 1600000000);
	assert_true(e->wall_nanoseconds < 1000000000);
	free(b.data);
	free(list);
}

static void test_md_verdicts(void **state)
{
	static const struct {
		const char *name;
		unsigned int rcw, rmw;
	} cases[] = { { V1 "md0", 83, 0 }, { V2 "md0", 82, 0 } };
	struct event_list *list = calloc(1, sizeof(*list));

	(void)state;
	assert_non_null(list);
	for (size_t c = 0; c < 2; c++) {
		unsigned int rcw = 0, rmw = 0;

		for (unsigned int cpu = 0; cpu < 2; cpu++) {
			struct bytes b = read_cpu(cases[c].name, cpu);

			list->n = 0;
			free(decode(&b, SIZE_MAX, keep_one, list));
			for (size_t i = 0; i < list->n; i++) {
				if (list->events[i].action != TRACE_NOTE_MESSAGE)
					continue;
				rcw += strncmp(list->texts[i], "raid5 rcw", 9) == 0;
				rmw += strncmp(list->texts[i], "raid5 rmw", 9) == 0;
			}
			free(b.data);
		}
		assert_int_equal(rcw, cases[c].rcw);
		assert_int_equal(rmw, cases[c].rmw);
	}
	free(list);
}

/* Cut at every byte: sound at a record's border, else an error at that record's start. */
static void truncate_everywhere(const char *name)
{
	struct bytes b = read_cpu(name, 1);
	size_t starts[256], n = record_starts(&b, starts, 256), record = 0;

	for (size_t len = 0; len <= b.len; len++) {
		/* A copy of just that length, so that the sanitizer sees a byte too far. */
		struct bytes cut = { .data = malloc(len ? len : 1), .len = len };
		struct trace_decoder *d;
		char text[512];

		assert_non_null(cut.data);
		memcpy(cut.data, b.data, len);
		while (record + 1 < n && starts[record + 1] <= len)
			record++;
		d = decode(&cut, 64, NULL, NULL);
		if (len == starts[record] || len == b.len) {
			assert_int_equal(d->problem, TRACE_SOUND);
			assert_int_equal(trace_problem_describe(d, text, sizeof(text)), 0);
			assert_int_equal(d->records, len == b.len ? n : record);
		} else {
			assert_int_equal(d->problem, TRACE_TRUNCATED);
			assert_int_equal(d->problem_offset, starts[record]);
			assert_int_equal(d->problem_value, len - starts[record]);
			assert_int_equal(d->records, record);
			assert_int_equal(trace_problem_describe(d, text, sizeof(text)), -EBADMSG);
			assert_non_null(strstr(text, "cut short"));
		}
		free(d);
		free(cut.data);
	}
	free(b.data);
}

static void test_truncation(void **state)
{
	(void)state;
	truncate_everywhere(V1 "dm-0");
	truncate_everywhere(V2 "dm-0");
	truncate_everywhere(V1 "dm-1");
}

static void test_garbage_between(void **state)
{
	struct bytes b = read_cpu(V1 "dm-0", 1), dirty;
	size_t starts[64], n = record_starts(&b, starts, 64), junk = 1000;
	struct trace_decoder *d;

	(void)state;
	dirty.len = b.len + junk;
	dirty.data = malloc(dirty.len);
	assert_non_null(dirty.data);
	memcpy(dirty.data, b.data, starts[3]);
	memset(dirty.data + starts[3], 0x55, junk);
	memcpy(dirty.data + starts[3] + junk, b.data + starts[3], b.len - starts[3]);

	d = decode(&dirty, 100, NULL, NULL);
	assert_int_equal(d->records, n);
	assert_int_equal(d->skipped_bytes, junk);
	assert_int_equal(d->problem, TRACE_GARBAGE);
	assert_int_equal(d->problem_offset, starts[3]);
	assert_int_equal(d->problem_value, 0x55555555);
	free(d);
	free(dirty.data);
	free(b.data);
}

static void test_no_trace(void **state)
{
	struct bytes b = read_fixture("vectors.json");
	struct trace_decoder *d = decode(&b, SIZE_MAX, NULL, NULL);
	char text[512];

	(void)state;
	assert_int_equal(d->records, 0);
	assert_int_equal(d->problem, TRACE_GARBAGE);
	assert_int_equal(d->problem_offset, 0);
	assert_int_equal(trace_problem_describe(d, text, sizeof(text)), -EBADMSG);
	assert_non_null(strstr(text, "is no blktrace recording"));
	free(d);
	free(b.data);
}

static void test_unknown_version(void **state)
{
	struct bytes b = read_cpu(V1 "dm-0", 1);
	size_t starts[64], n = record_starts(&b, starts, 64);
	struct trace_decoder *d;
	char text[512];

	(void)state;
	b.data[starts[2]] = 9;
	d = decode(&b, SIZE_MAX, NULL, NULL);
	assert_int_equal(d->records, n - 1);
	assert_int_equal(d->problem, TRACE_UNKNOWN_VERSION);
	assert_int_equal(d->problem_offset, starts[2]);
	assert_int_equal(d->problem_value, 9);
	assert_int_equal(d->skipped_bytes, starts[3] - starts[2]);
	assert_int_equal(trace_problem_describe(d, text, sizeof(text)), -EBADMSG);
	assert_non_null(strstr(text, "unknown version 9"));
	free(d);
	free(b.data);
}

static void test_pdu_bound(void **state)
{
	struct bytes b = read_cpu(V1 "dm-0", 1);
	size_t starts[64], n = record_starts(&b, starts, 64);
	struct trace_decoder *d;

	(void)state;
	b.data[starts[1] + 46] = 0xff;
	b.data[starts[1] + 47] = 0xff;
	d = decode(&b, SIZE_MAX, NULL, NULL);
	assert_int_equal(d->problem, TRACE_LONG_PDU);
	assert_int_equal(d->problem_offset, starts[1]);
	assert_int_equal(d->problem_value, 0xffff);
	assert_int_equal(d->records, n - 1);
	free(d);
	free(b.data);
}

/* A pdu that is too short for what its record should hold: passed over, and counted. */
static void test_short_pdu(void **state)
{
	struct blktrace_record_v1 r = {
		.magic = BLKTRACE_MAGIC | BLKTRACE_VERSION_1,
		.action = TRACE_REMAP,
		.pdu_len = 15,
	};
	struct bytes b = { .data = calloc(1, 48 + 15), .len = 48 + 15 };
	struct trace_decoder *d;

	(void)state;
	assert_non_null(b.data);
	memcpy(b.data, &r, 48);
	d = decode(&b, SIZE_MAX, NULL, NULL);
	assert_int_equal(d->records, 1);
	assert_int_equal(d->unknown_actions, 1);
	free(d);
	free(b.data);
}

static void test_lost_v2(void **state)
{
	struct bytes b = read_cpu(V2 "md0", 0);
	size_t starts[512], n = record_starts(&b, starts, 512), last = n - 1;
	struct trace_decoder *d;
	uint32_t sequence;

	(void)state;
	/* The last record that is no note, 7 further on. */
	while (b.data[starts[last] + 32 + 3] & (BLKTRACE_NOTIFY >> 8))
		last--;
	memcpy(&sequence, b.data + starts[last] + 4, 4);
	sequence += 7;
	memcpy(b.data + starts[last] + 4, &sequence, 4);
	d = decode(&b, SIZE_MAX, NULL, NULL);
	assert_int_equal(d->lost, 7);
	free(d);
	free(b.data);
}

static uint32_t random32(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 32;
}

static bool is_beyond(struct bytes *b)
{
	struct trace_decoder *d = decode(b, SIZE_MAX, NULL, NULL);
	bool beyond = d->records == 0 && d->skipped_bytes == b->len && d->problem == TRACE_BEYOND;

	assert_true(beyond || (d->records == 1 && !d->unknown_actions && d->problem == TRACE_SOUND));
	free(d);
	return beyond;
}

/* Times and places that there are not: one such record would hold back all others, for ever. */
static void test_beyond(void **state)
{
	const uint64_t times[] = { TRACE_TIME_MAX, TRACE_TIME_MAX + 1, UINT64_MAX };
	const uint64_t sectors[] = { TRACE_SECTORS_MAX - 1, TRACE_SECTORS_MAX, UINT64_MAX };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct blktrace_record_v1 record = {
			.magic = BLKTRACE_MAGIC | BLKTRACE_VERSION_1, .bytes = 4096,
			.action = TRACE_QUEUE | BLKTRACE_WRITE << BLKTRACE_CATEGORY_SHIFT,
		};
		struct bytes b = { .data = (unsigned char *)&record, .len = sizeof(record) };

		record.time = times[i];
		assert_true(is_beyond(&b) == (i > 0));
		record.time = 1;
		record.sector = sectors[i];
		assert_true(is_beyond(&b) == (i > 0));
		/* An empty flush is nowhere. */
		record.bytes = 0;
		assert_false(is_beyond(&b));
		/* Nor is a note, in which the kernel leaves what the buffer had. */
		record.bytes = 4096;
		record.action = 2 | BLKTRACE_NOTIFY << BLKTRACE_CATEGORY_SHIFT;
		assert_false(is_beyond(&b));
	}
}

/* 10^5 records with random damage: no crash, every byte accounted for, and an end. */
static void test_random_damage(void **state)
{
	struct bytes sources[] = { read_cpu(V1 "vda", 1), read_cpu(V2 "vda", 0),
				   read_cpu(V1 "md0", 1) };
	uint64_t seed = 20260101, records = 0, damaged = 0;

	(void)state;
	for (unsigned int round = 0; records < 100000; round++) {
		struct bytes b = copy_of(&sources[round % 3]);
		unsigned int damages = 1 + random32(&seed) % 64;
		struct trace_decoder *d;

		if (round % 2)
			swap_byte_order(&b);
		for (unsigned int i = 0; i < damages; i++)
			b.data[random32(&seed) % b.len] = random32(&seed);
		b.len -= random32(&seed) % 64;
		d = decode(&b, 1 + random32(&seed) % 8192, NULL, NULL);
		assert_true(d->records * 48 + d->skipped_bytes <= b.len);
		assert_true(d->problem == TRACE_SOUND || d->problem_offset < b.len);
		assert_true((d->skipped_bytes != 0) == (d->problem != TRACE_SOUND));
		records += d->records;
		damaged += d->problem != TRACE_SOUND;
		free(d);
		free(b.data);
	}
	assert_true(damaged > 0);
	for (size_t i = 0; i < 3; i++)
		free(sources[i].data);
}

static void test_merge_order(void **state)
{
	struct bytes b[2] = { read_cpu(V1 "vda", 0), read_cpu(V1 "vda", 1) };
	struct memory_stream sources[2] = { { &b[0], 0, 333 }, { &b[1], 0, 1000 } };
	struct counts got = { .name = NULL };
	uint64_t last = 0;
	const struct trace_event *e;
	struct merge *m;
	int r;

	(void)state;
	assert_int_equal(merge_new(fill_from_memory, &m), 0);
	assert_int_equal(merge_add(m, &sources[0]), 0);
	assert_int_equal(merge_add(m, &sources[1]), 0);
	while ((r = merge_next(m, UINT64_MAX, &e)) > 0) {
		assert_true(e->time >= last);
		last = e->time;
		count(&got, e);
	}
	assert_int_equal(r, 0);
	check_counts(&got, &recordings[3]);
	assert_int_equal(merge_decoder(m, 0)->problem, TRACE_SOUND);
	merge_free(m);
	free(b[0].data);
	free(b[1].data);
}

static void put_record(struct bytes *b, uint64_t time, uint32_t pid)
{
	struct blktrace_record_v1 r = {
		.magic = BLKTRACE_MAGIC | BLKTRACE_VERSION_1,
		.time = time,
		.action = TRACE_QUEUE,
		.pid = pid,
	};

	b->data = realloc(b->data, b->len + sizeof(r));
	assert_non_null(b->data);
	memcpy(b->data + b->len, &r, sizeof(r));
	b->len += sizeof(r);
}

/* Equal times keep the order of the streams, and of the records in one. */
static void test_merge_ties(void **state)
{
	static const uint32_t expected[] = { 1, 11, 21, 2, 22, 12, 23 };
	struct bytes b[3] = { { .len = 0 } };
	struct memory_stream sources[3];
	const struct trace_event *e;
	struct merge *m;

	(void)state;
	put_record(&b[0], 5, 1);
	put_record(&b[0], 7, 2);
	put_record(&b[1], 5, 11);
	put_record(&b[1], 8, 12);
	put_record(&b[2], 5, 21);
	put_record(&b[2], 7, 22);
	put_record(&b[2], 8, 23);
	assert_int_equal(merge_new(fill_from_memory, &m), 0);
	for (size_t i = 0; i < 3; i++) {
		sources[i] = (struct memory_stream) { .bytes = &b[i], .step = 10 };
		assert_int_equal(merge_add(m, &sources[i]), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		assert_int_equal(merge_next(m, UINT64_MAX, &e), 1);
		assert_int_equal(e->pid, expected[i]);
	}
	assert_int_equal(merge_next(m, UINT64_MAX, &e), 0);
	merge_free(m);
	for (size_t i = 0; i < 3; i++)
		free(b[i].data);
}

/* A live stream: what is there is there, and the rest is "not now". */
static ssize_t fill_live(void *source, void *space, size_t room)
{
	ssize_t n = fill_from_memory(source, space, room);

	return n > 0 ? n : -EAGAIN;
}

static void test_merge_live(void **state)
{
	struct bytes b[2] = { { .len = 0 } };
	struct memory_stream sources[2] = { { &b[0], 0, SIZE_MAX }, { &b[1], 0, SIZE_MAX } };
	const struct trace_event *e;
	struct merge *m;

	(void)state;
	assert_int_equal(merge_new(fill_live, &m), 0);
	assert_int_equal(merge_add(m, &sources[0]), 0);
	assert_int_equal(merge_add(m, &sources[1]), 0);
	assert_int_equal(merge_next(m, 100, &e), 0);

	/* An idle CPU holds nothing up; what is later than the moment asked for waits. */
	put_record(&b[0], 10, 1);
	put_record(&b[0], 150, 3);
	assert_int_equal(merge_next(m, 100, &e), 1);
	assert_int_equal(e->pid, 1);
	assert_int_equal(merge_next(m, 100, &e), 0);

	/* The other CPU wakes up with something earlier. */
	put_record(&b[1], 120, 2);
	assert_int_equal(merge_next(m, 200, &e), 1);
	assert_int_equal(e->pid, 2);
	assert_int_equal(merge_next(m, 200, &e), 1);
	assert_int_equal(e->pid, 3);
	assert_int_equal(merge_next(m, 200, &e), 0);
	merge_free(m);
	free(b[0].data);
	free(b[1].data);
}

static ssize_t fill_or_fail(void *source, void *space, size_t room)
{
	ssize_t n = fill_from_memory(source, space, room);

	return n > 0 ? n : -EIO;
}

static void test_merge_error(void **state)
{
	struct bytes b = { .len = 0 };
	struct memory_stream source = { &b, 0, SIZE_MAX };
	const struct trace_event *e;
	struct merge *m;

	(void)state;
	assert_int_equal(merge_new(fill_or_fail, &m), 0);
	assert_int_equal(merge_add(m, &source), 0);
	assert_int_equal(merge_next(m, UINT64_MAX, &e), -EIO);
	assert_int_equal(merge_next(m, UINT64_MAX, &e), -EIO);

	/* It goes on where it stopped, also behind an event that was given out. */
	put_record(&b, 10, 1);
	assert_int_equal(merge_next(m, UINT64_MAX, &e), 1);
	assert_int_equal(e->pid, 1);
	assert_int_equal(merge_next(m, UINT64_MAX, &e), -EIO);
	assert_int_equal(merge_next(m, UINT64_MAX, &e), -EIO);
	put_record(&b, 20, 2);
	assert_int_equal(merge_next(m, UINT64_MAX, &e), 1);
	assert_int_equal(e->pid, 2);
	merge_free(m);
	free(b.data);
}

static void test_device_number(void **state)
{
	static const char * const wrong[] = {
		"", "254", "254:", ":3", "254:3x", "254:3:1", "4096:0", "1:1048576", "dm-3",
	};
	uint32_t device = 7;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_false(trace_device_parse(wrong[i], &device));
	assert_int_equal(device, 7);
	assert_true(trace_device_parse("254:3", &device));
	assert_int_equal(device, DEVICE);
	assert_true(trace_device_parse("4095:1048575", &device));
	assert_int_equal(trace_device_major(device), 4095);
	assert_int_equal(trace_device_minor(device), 1048575);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recordings),
		cmocka_unit_test(test_other_byte_order),
		cmocka_unit_test(test_any_portion),
		cmocka_unit_test(test_orders_agree),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_md_verdicts),
		cmocka_unit_test(test_truncation),
		cmocka_unit_test(test_garbage_between),
		cmocka_unit_test(test_no_trace),
		cmocka_unit_test(test_unknown_version),
		cmocka_unit_test(test_pdu_bound),
		cmocka_unit_test(test_short_pdu),
		cmocka_unit_test(test_lost_v2),
		cmocka_unit_test(test_beyond),
		cmocka_unit_test(test_random_damage),
		cmocka_unit_test(test_merge_order),
		cmocka_unit_test(test_merge_ties),
		cmocka_unit_test(test_merge_live),
		cmocka_unit_test(test_merge_error),
		cmocka_unit_test(test_device_number),
	};

	return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}

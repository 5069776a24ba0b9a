// SPDX-License-Identifier: GPL-2.0
/* Joining requests to completions, and the five characteristics, on made-up and on real workloads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "lib/blktrace_format.h"
#include "lib/histogram.h"
#include "lib/join.h"
#include "lib/macros.h"

#define KIB	1024ull
#define MIB	(1024ull * 1024)
#define MS	1000000ull
#define SECOND	1000000000ull

static void begin(struct join *j, enum io_kind kind, uint64_t end, uint64_t time)
{
	join_begin(j, &(struct join_request) { .kind = kind, .end = end, .time = time, .bytes = 512 });
}

static void test_join_by_end(void **state)
{
	struct join_request got = { .time = 42 };
	struct join *j;

	(void)state;
	assert_int_equal(join_new(&j), 0);
	assert_false(join_end(j, IO_READ, 640, &got));
	assert_int_equal(got.time, 42);

	/* md's split read Q 128+512: three parts end elsewhere, the parent's end is its own. */
	begin(j, IO_READ, 640, 7);
	assert_false(join_end(j, IO_READ, 256, &got));
	assert_false(join_end(j, IO_READ, 384, &got));
	assert_false(join_end(j, IO_WRITE, 640, &got));
	assert_true(join_end(j, IO_READ, 640, &got));
	assert_int_equal(got.time, 7);
	assert_false(join_end(j, IO_READ, 640, &got));
	join_free(j);
}

static void test_join_equal_ends(void **state)
{
	struct join_request got;
	struct join *j;

	(void)state;
	assert_int_equal(join_new(&j), 0);
	for (uint64_t time = 1; time <= 5; time++)
		begin(j, IO_WRITE, 1000, time);
	for (uint64_t time = 1; time <= 5; time++) {
		assert_true(join_end(j, IO_WRITE, 1000, &got));
		assert_int_equal(got.time, time);
	}
	join_free(j);
}

/* What never completes is given up, the oldest first, and the rest still joins. */
static void test_join_is_bounded(void **state)
{
	struct join_request got;
	struct join *j;

	(void)state;
	assert_int_equal(join_new(&j), 0);
	for (uint64_t i = 0; i < 3 * JOIN_MAX; i++)
		begin(j, IO_READ, 8 * i + 8, i);
	assert_int_equal(join_given_up(j), 2 * JOIN_MAX);
	assert_false(join_end(j, IO_READ, 8 * (2 * JOIN_MAX), &got));
	for (uint64_t i = 3 * JOIN_MAX; i-- > 2 * JOIN_MAX;) {
		assert_true(join_end(j, IO_READ, 8 * i + 8, &got));
		assert_int_equal(got.time, i);
	}
	assert_int_equal(join_given_up(j), 2 * JOIN_MAX);
	join_free(j);
}

/* Random begins and ends against a plain array that is searched from the front. */
static void test_join_model(void **state)
{
	static struct join_request model[JOIN_MAX];
	uint64_t seed = 3;
	size_t n = 0;
	struct join *j;

	(void)state;
	assert_int_equal(join_new(&j), 0);
	for (uint64_t step = 0; step < 20000; step++) {
		enum io_kind kind;
		uint64_t end;

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		kind = (seed >> 40) % IO_KIND_MAX;
		end = (seed >> 50) % 64;
		if (seed >> 63 && n < JOIN_MAX) {
			begin(j, kind, end, step);
			model[n++] = (struct join_request) { .kind = kind, .end = end, .time = step };
		} else {
			struct join_request got;
			size_t at = 0;

			while (at < n && (model[at].kind != kind || model[at].end != end))
				at++;
			assert_int_equal(join_end(j, kind, end, &got), at < n);
			if (at < n) {
				assert_int_equal(got.time, model[at].time);
				memmove(&model[at], &model[at + 1], (--n - at) * sizeof(model[0]));
			}
		}
	}
	join_free(j);
}

static void test_histogram(void **state)
{
	struct histogram *h = calloc(1, sizeof(*h));

	(void)state;
	assert_non_null(h);
	assert_int_equal(histogram_percentile(h, 50), 0);
	for (uint64_t i = 1; i <= 1000; i++)
		histogram_add(h, i * 1000);
	assert_in_range(histogram_percentile(h, 50), 500000, 500000 + 500000 / 16);
	assert_in_range(histogram_percentile(h, 99), 990000, 990000 + 990000 / 16);
	histogram_add(h, UINT64_MAX);
	assert_true(histogram_percentile(h, 100) == UINT64_MAX);
	memset(h, 0, sizeof(*h));
	for (unsigned int shift = 0; shift < 64; shift++) {
		uint64_t value = 1ull << shift, top;

		memset(h, 0, sizeof(*h));
		histogram_add(h, value);
		top = histogram_percentile(h, 50);
		assert_true(top >= value && top - value <= value / 16);
	}
	free(h);
}

static void classify_descending(struct profile *p)
{
	for (int i = 0; i < 100; i++)
		add_io(p, i * 10 * MS, BLKTRACE_READ, 100 * MIB - i * 8 * KIB, 8 * KIB);
}

static void classify_runs(struct profile *p)
{
	uint64_t time = 0;

	for (int run = 0; run < 8; run++)
		for (int i = 0; i < 128; i++)
			add_io(p, time += 5 * MS, BLKTRACE_READ, run * 10 * MIB + i * 8 * KIB, 8 * KIB);
}

/* The offsets stand in the vector's own name. */
static void classify_lseek_list(struct profile *p, const char *name)
{
	uint64_t time = 0;

	for (const char *at = strstr(name, "0x"); at; at = strstr(at + 1, "0x"))
		add_io(p, time += 10 * MS, BLKTRACE_READ, strtoull(at, NULL, 16), 8192);
}

static void test_classify_vectors(void **state)
{
	struct json_object *all = vectors("classify");

	(void)state;
	assert_int_equal(json_object_array_length(all), 3);
	for (size_t i = 0; i < json_object_array_length(all); i++) {
		struct json_object *v = json_object_array_get_idx(all, i);
		const char *name = vector_text(v, "name");
		struct profile *p = new_profile();
		struct profile_summary s;

		if (strstr(name, "descending"))
			classify_descending(p);
		else if (strstr(name, "runs"))
			classify_runs(p);
		else
			classify_lseek_list(p, name);
		s = summary_of(p);
		assert_string_equal(profile_access_name(s.access), vector_text(v, "pattern"));
		assert_int_equal(s.direction, vector_int(v, "direction"));
		if (vector_int(v, "io_size")) {
			assert_int_equal(s.size_mode, vector_int(v, "io_size"));
			assert_int_equal(s.ios, 6);
			assert_true(s.size_mode_share == 1);
		}
		profile_free(p);
	}
}

/* iostat's lines: so many I/Os and KiB in a second give this average transfer. */
static void test_iostat_vectors(void **state)
{
	struct json_object *all = vectors("iostat");

	(void)state;
	assert_true(json_object_array_length(all) > 0);
	for (size_t i = 0; i < json_object_array_length(all); i++) {
		struct json_object *v = json_object_array_get_idx(all, i), *value;
		bool reads = json_object_object_get_ex(v, "reads_per_s", &value);
		double rate, kib, average;
		struct profile *p = new_profile();
		struct profile_summary s;
		uint64_t ios, sectors;

		if (!reads)
			assert_true(json_object_object_get_ex(v, "writes_per_s", &value));
		rate = json_object_get_double(value);
		assert_true(json_object_object_get_ex(v, "kib_per_s", &value));
		kib = json_object_get_double(value);
		assert_true(json_object_object_get_ex(v, "average_kib", &value));
		average = json_object_get_double(value);

		/* Ten seconds of it; sizes in whole sectors that add up to the bytes. */
		ios = rate * 10 + 0.5;
		sectors = kib * 20 + 0.5;
		for (uint64_t n = 0; n < ios; n++)
			add_io(p, n * 10 * SECOND / ios, reads ? BLKTRACE_READ : BLKTRACE_WRITE,
			       n * sectors / ios * 512,
			       ((n + 1) * sectors / ios - n * sectors / ios) * 512);
		s = summary_of(p);
		assert_int_equal(s.ios, ios);
		assert_true(s.size_average / 1024 > average - 0.006);
		assert_true(s.size_average / 1024 < average + 0.006);
		assert_int_equal(s.access, ACCESS_SEQUENTIAL);
		assert_int_equal(s.direction, 1);
		assert_true(reads ? s.write_rate == 0 : s.read_rate == 0);
		/* The last one completes a little before the ten seconds are over. */
		assert_in_range(s.average_rate, kib * 1024, kib * 1024 * 1.03);
		profile_free(p);
	}
}

static void test_random_is_random(void **state)
{
	struct profile *p = new_profile();
	struct profile_summary s;
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		add_io(p, i * MS, BLKTRACE_WRITE, (seed >> 44) * 4 * KIB, 4 * KIB);
	}
	s = summary_of(p);
	assert_int_equal(s.access, ACCESS_RANDOM);
	assert_int_equal(s.direction, 0);
	assert_true(s.random > 0.99);
	assert_true(s.returns < 0.12);
	assert_int_equal(s.streams, 0);
	profile_free(p);
}

/* The data grows at a quarter of the disk; each block of it costs @logged writes to the log at its beginning. */
static struct profile_summary logged_workload(unsigned int logged)
{
	struct profile *p = new_profile();
	struct profile_summary s;
	uint64_t time = 0;

	for (unsigned int i = 0; i < 1000; i++) {
		add_io(p, time += MS, BLKTRACE_WRITE, 1024 * MIB + i * 8 * KIB, 8 * KIB);
		for (unsigned int k = 0; k < logged; k++)
			add_io(p, time += MS, BLKTRACE_WRITE, (i * logged + k) % 256 * 4 * KIB, 4 * KIB);
	}
	s = summary_of(p);
	profile_free(p);
	return s;
}

static void test_ping_pong(void **state)
{
	struct profile_summary s = logged_workload(0);
	struct profile *p = new_profile();

	(void)state;
	assert_false(profile_is_ping_pong(&s));
	assert_true(s.returns < 0.001);
	assert_int_equal(s.low_zone + s.high_zone, 0);

	s = logged_workload(1);
	assert_true(profile_is_ping_pong(&s));
	assert_true(s.returns > 0.99);
	assert_in_range(s.low_zone, 0, MIB);
	assert_in_range(s.high_zone, 1024 * MIB, 1032 * MIB);
	s = logged_workload(3);
	assert_true(s.returns > 0.49 && s.returns < 0.51);
	s = logged_workload(9);
	assert_false(profile_is_ping_pong(&s));

	/* Three places in turn are not two. */
	for (unsigned int i = 0; i < 3000; i++)
		add_io(p, i * MS, BLKTRACE_WRITE, i % 3 * 1024 * MIB + i / 3 * 4 * KIB, 4 * KIB);
	s = summary_of(p);
	assert_true(s.returns < 0.001);
	profile_free(p);
}

/* Many sequential streams in turn are sequential; that they start evenly spaced makes no stride. */
static void test_interleaved_streams(void **state)
{
	(void)state;
	for (unsigned int streams = 1; streams <= 64; streams *= 2) {
		struct profile *p = new_profile();
		struct profile_summary s;
		uint64_t time = 0;

		for (uint64_t i = 0; i < 32; i++)
			for (uint64_t n = 0; n < streams; n++)
				add_io(p, time += MS / 4, BLKTRACE_WRITE,
				       n * 256 * MIB + i * 64 * KIB, 64 * KIB);
		s = summary_of(p);
		assert_int_equal(s.access, ACCESS_SEQUENTIAL);
		assert_int_equal(s.direction, 1);
		assert_int_equal(s.streams, streams);
		assert_true(s.sequential > 0.96);
		assert_true(s.strided == 0);
		profile_free(p);
	}
}

/* As many readers as writers are followed: neither take the others' places. */
static void test_readers_beside_writers(void **state)
{
	struct profile *p = new_profile();
	struct profile_summary s;
	uint64_t time = 0;

	(void)state;
	for (uint64_t i = 0; i < 32; i++)
		for (uint64_t n = 0; n < 128; n++)
			add_io(p, time += MS / 8, n % 2 ? BLKTRACE_READ : BLKTRACE_WRITE,
			       n * 256 * MIB + i * 64 * KIB, 64 * KIB);
	s = summary_of(p);
	assert_int_equal(s.access, ACCESS_SEQUENTIAL);
	assert_int_equal(s.streams, 128);
	profile_free(p);
}

/* The longest are kept when more streams came than are followed at a time. */
static void test_longest_streams(void **state)
{
	struct stream_head longest[STREAMS_KEPT];
	struct profile *p = new_profile();
	uint64_t time = 0;

	(void)state;
	for (uint64_t n = 1; n <= 200; n++)
		for (uint64_t i = 0; i < n; i++)
			add_io(p, time++ * MS, BLKTRACE_WRITE, (n * n << 30) + i * 4 * KIB, 4 * KIB);
	assert_int_equal(profile_streams(p, DEVICE, longest), STREAMS_KEPT);
	for (uint64_t i = 0; i < STREAMS_KEPT; i++) {
		assert_int_equal(longest[i].first, (200 - i) * (200 - i) << 21);
		assert_int_equal(longest[i].sectors, (200 - i) * 8);
		assert_int_equal(longest[i].steps, 200 - i - 1);
	}
	assert_int_equal(longest[1].began, (199 * 198 / 2) * MS);
	assert_int_equal(profile_streams(p, 0, longest), 0);
	profile_free(p);

	/* A strided one goes from run to run */
	p = new_profile();
	for (uint64_t i = 0; i < 50; i++)
		add_io(p, i * MS, BLKTRACE_READ, i * MIB, 8 * KIB);
	assert_int_equal(profile_streams(p, DEVICE, longest), 1);
	assert_int_equal(longest[0].steps, 48);
	assert_int_equal(longest[0].sectors, 49 * 16);
	profile_free(p);

	/* Three requests are no stream yet */
	p = new_profile();
	for (uint64_t i = 0; i < 3; i++)
		add_io(p, i * MS, BLKTRACE_READ, i * 4 * KIB, 4 * KIB);
	assert_int_equal(profile_streams(p, DEVICE, longest), 0);
	add_io(p, 3 * MS, BLKTRACE_READ, 12 * KIB, 4 * KIB);
	assert_int_equal(profile_streams(p, DEVICE, longest), 1);
	profile_free(p);
}

static void test_strides(void **state)
{
	struct profile_summary s;
	struct profile *p = new_profile();

	(void)state;
	for (uint64_t i = 0; i < 100; i++)
		add_io(p, i * MS, BLKTRACE_READ, i * MIB, 64 * KIB);
	s = summary_of(p);
	assert_int_equal(s.access, ACCESS_STRIDED);
	assert_true(s.strided > 0.97);
	profile_free(p);

	p = new_profile();
	for (uint64_t i = 0; i < 100; i++)
		add_io(p, i * MS, BLKTRACE_READ, 200 * MIB - i * MIB, 64 * KIB);
	s = summary_of(p);
	assert_int_equal(s.access, ACCESS_STRIDED);
	profile_free(p);
}

static void test_reads_beside_writes(void **state)
{
	struct profile *p = new_profile();
	struct profile_summary s;

	(void)state;
	/* The read goes on where the write ended, and is another stream all the same. */
	for (uint64_t i = 0; i < 100; i++)
		add_io(p, i * MS, i % 2 ? BLKTRACE_READ : BLKTRACE_WRITE, i * 8 * KIB, 8 * KIB);
	s = summary_of(p);
	assert_true(s.sequential == 0);
	assert_int_equal(s.reads, 50);
	assert_int_equal(s.writes, 50);
	profile_free(p);
}

/* 10 MiB/s for four seconds and 40 MiB in one burst of half a second. */
static void test_bandwidth(void **state)
{
	struct profile *p = new_profile();
	struct profile_summary s;

	(void)state;
	for (uint64_t i = 0; i < 40; i++)
		add_io(p, 1000 * SECOND + i * 100 * MS, BLKTRACE_WRITE, i * MIB, MIB);
	for (uint64_t i = 0; i < 40; i++)
		add_io(p, 1004 * SECOND + i * 12 * MS, BLKTRACE_WRITE, (40 + i) * MIB, MIB);
	s = summary_of(p);
	/* The best second holds the burst and what was in the half second before. */
	assert_in_range(s.peak_rate, 40 * MIB, 46 * MIB);
	assert_in_range(s.average_rate, 17 * MIB, 18 * MIB);
	assert_int_equal(s.write_rate, s.average_rate);
	assert_int_equal(s.read_rate, 0);
	assert_int_equal(s.completed, 80);
	profile_free(p);

	/* Shorter than the window: all of it is the peak. */
	p = new_profile();
	for (uint64_t i = 0; i < 10; i++)
		add_io(p, i * 10 * MS, BLKTRACE_READ, i * MIB, MIB);
	s = summary_of(p);
	assert_int_equal(s.peak_rate, s.average_rate);
	assert_in_range(s.average_rate, 109 * MIB, 111 * MIB);
	profile_free(p);
}

/* The peak is the same wherever in a tenth of a second the work begins, and after a pause. */
static void test_peak_after_pause(void **state)
{
	struct profile *p = new_profile();
	struct profile_summary s;
	uint64_t time = 123456789;

	(void)state;
	for (int i = 0; i < 100; i++)
		add_io(p, time += 10 * MS, BLKTRACE_READ, i * MIB, MIB);
	time += 3600 * SECOND;
	for (int i = 0; i < 10; i++)
		add_io(p, time += 100 * MS, BLKTRACE_READ, i * MIB, MIB);
	s = summary_of(p);
	assert_in_range(s.peak_rate, 90 * MIB, 100 * MIB);
	profile_free(p);
}

/* A burst in a long recording: what is before and after it counts, too. */
static void test_recorded_time(void **state)
{
	struct profile *p = new_profile();
	struct profile_summary s;

	(void)state;
	for (uint64_t i = 0; i < 16; i++)
		add_io(p, 7 * SECOND + i * MS / 4, BLKTRACE_WRITE, i * MIB, MIB);
	profile_set_recorded(p, 32 * SECOND);
	s = summary_of(p);
	assert_int_equal(s.duration, 32 * SECOND);
	assert_int_equal(s.peak_rate, 16 * MIB);
	assert_int_equal(s.average_rate, MIB / 2);
	assert_int_equal(s.write_rate, MIB / 2);
	assert_int_equal(s.read_rate, 0);
	assert_true(profile_in_flight(p, s.device) == 16 * MS / (32.0 * SECOND));
	profile_free(p);
}

static void test_sizes(void **state)
{
	struct profile *p = new_profile();
	struct profile_summary s;

	(void)state;
	for (int i = 0; i < 6; i++)
		add_io(p, i * MS, BLKTRACE_WRITE, i * MIB, 8192);
	for (int i = 6; i < 10; i++)
		add_io(p, i * MS, BLKTRACE_WRITE, i * MIB, 512 << i);
	s = summary_of(p);
	assert_int_equal(s.size_mode, 8192);
	assert_true(s.size_mode_share == 0.6);
	assert_int_equal(s.size_min, 8192);
	assert_int_equal(s.size_max, 512 << 9);
	assert_int_equal(s.sizes[13], 6);
	assert_int_equal(s.sizes[15], 1);
	assert_int_equal(s.sizes[14], 0);
	profile_free(p);
}

static void test_attributes_and_latency(void **state)
{
	struct profile *p = new_profile();
	struct profile_summary s;

	(void)state;
	for (int i = 0; i < 6; i++)
		add_io(p, i * 10 * MS, BLKTRACE_WRITE | BLKTRACE_META | BLKTRACE_SYNC, i * MIB, 4096);
	for (int i = 6; i < 10; i++)
		add_io(p, i * 10 * MS, BLKTRACE_WRITE | (i == 6 ? BLKTRACE_FUA : 0), i * MIB, 65536);
	add_io(p, 200 * MS, BLKTRACE_WRITE | BLKTRACE_FLUSH | BLKTRACE_SYNC, 0, 0);
	s = summary_of(p);
	assert_int_equal(s.content, CONTENT_ATTRIBUTES);
	assert_true(s.meta_ios == 0.6);
	assert_int_equal(s.ios, 10);
	assert_int_equal(s.flushes, 1);
	assert_true(s.fua == 0.1);
	assert_true(s.flush == 0.1);
	/* 6 with SYNC, one FUA, one flush, of 11 */
	assert_true(s.sync > 0.72 && s.sync < 0.73);
	assert_true(s.latency_sensitive);
	assert_int_equal(s.write_latency.n, 10);
	assert_in_range(s.write_latency.p50, MS, MS + MS / 16);
	assert_in_range(s.write_latency.p99, MS, MS + MS / 16);
	assert_int_equal(s.flush_latency.n, 1);
	assert_int_equal(s.read_latency.n, 0);
	profile_free(p);
}

static void test_unaligned(void **state)
{
	static const struct {
		uint64_t stripe, device_offset, at;
		double unaligned;
	} cases[] = {
		{ 917504, 0, 0, 0 },
		{ 917504, 131072, 0, 1 },
		{ 917504, 131072, 917504 - 131072, 0 },
		{ 524288, 0, 262144, 1 },
		{ 524288, 0, 524288, 0 },
		{ 0, 0, 0, -1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct profile_options options = {
			.stripe_bytes = cases[i].stripe,
			.offset_bytes = cases[i].device_offset,
		};
		struct profile *p;

		assert_int_equal(profile_new(&options, &p), 0);
		for (uint64_t n = 0; n < 20; n++)
			add_io(p, n * MS, BLKTRACE_WRITE, cases[i].at + n * cases[i].stripe,
			       cases[i].stripe ? cases[i].stripe : 4096);
		assert_true(summary_of(p).unaligned == cases[i].unaligned);
		profile_free(p);
	}
}

static void test_confidence(void **state)
{
	struct profile *p = new_profile();
	double before;

	(void)state;
	for (uint64_t i = 0; i < 500; i++)
		add_io(p, i * 20 * MS, BLKTRACE_WRITE, i * MIB, MIB);
	before = summary_of(p).confidence;
	assert_true(before == 0.5);
	profile_add_lost(p, 1000);
	assert_true(summary_of(p).confidence == 0.25);
	profile_free(p);
}

static void test_discards_are_no_bandwidth(void **state)
{
	struct profile *p = new_profile();
	struct profile_summary s;

	(void)state;
	add_io(p, 0, BLKTRACE_WRITE | BLKTRACE_DISCARD, 0, 1 << 30);
	add_io(p, SECOND, BLKTRACE_WRITE, 0, 4096);
	s = summary_of(p);
	assert_int_equal(s.discards, 1);
	assert_int_equal(s.ios, 1);
	assert_int_equal(s.size_max, 4096);
	assert_true(s.average_rate < 5000);
	profile_free(p);
}

/* A flush has no place: 6.1 completes one at sector 128 that was queued at 0. */
static void test_flush_joins_anywhere(void **state)
{
	struct profile *p = new_profile();
	struct trace_event e = {
		.action = TRACE_QUEUE,
		.categories = BLKTRACE_WRITE | BLKTRACE_FLUSH | BLKTRACE_SYNC,
	};
	struct profile_summary s;

	(void)state;
	assert_int_equal(profile_add(p, &e), 0);
	e.action = TRACE_COMPLETE;
	e.sector = 128;
	e.time = MS;
	assert_int_equal(profile_add(p, &e), 0);
	profile_summarise(p, 0, &s);
	assert_int_equal(s.flushes, 1);
	assert_int_equal(s.flush_latency.n, 1);
	assert_int_equal(s.partial_completions, 0);
	profile_free(p);
}

static void test_devices_are_bounded(void **state)
{
	struct profile *p = new_profile();

	(void)state;
	for (uint32_t device = 0; device < 2 * PROFILE_DEVICES_MAX; device++) {
		struct trace_event e = { .action = TRACE_QUEUE, .device = device, .bytes = 512 };

		assert_int_equal(profile_add(p, &e), 0);
	}
	assert_int_equal(profile_devices(p), PROFILE_DEVICES_MAX);
	assert_int_equal(profile_events_elsewhere(p), PROFILE_DEVICES_MAX);
	profile_free(p);
}

static void add_to_profile(void *profile, const struct trace_event *e)
{
	assert_int_equal(profile_add(profile, e), 0);
}

static struct profile *profile_of_recording(const char *name)
{
	struct profile *p = new_profile();

	take_recorded(name, add_to_profile, p);
	return p;
}

/*
 * Real ones. dm-0: 1 read and 7 writes and a flush; the first of dm-1 was
 * trimmed by a split; md0 had split reads, whose parts are no I/Os. Sums as
 * blkparse prints them: dm-0 256 KiB read and 4232 KiB written.
 */
static void test_recordings(void **state)
{
	static const struct {
		const char *name;
		uint64_t reads, writes, flushes, partial, rcw;
		bool by_request;
	} cases[] = {
		{ "linux-6.12-v1/dm-0", 1, 7, 1, 0, 0, false },
		{ "linux-7.2-v2/dm-0", 1, 7, 1, 0, 0, false },
		{ "linux-6.12-v1/dm-1", 0, 1, 0, 0, 0, false },
		{ "linux-6.12-v1/md0", 1, 9, 1, 3, 83, false },
		{ "linux-7.2-v2/md0", 1, 9, 1, 35, 82, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct profile *p = profile_of_recording(cases[i].name);
		struct profile_summary s;

		assert_int_equal(profile_devices(p), 1);
		profile_summarise(p, 0, &s);
		assert_int_equal(s.reads, cases[i].reads);
		assert_int_equal(s.writes, cases[i].writes);
		assert_int_equal(s.flushes, cases[i].flushes);
		assert_int_equal(s.completed, s.ios);
		assert_int_equal(s.partial_completions, cases[i].partial);
		assert_int_equal(s.never_completed, 0);
		assert_int_equal(s.rcw, cases[i].rcw);
		assert_int_equal(s.rmw, 0);
		assert_true(s.by_request == cases[i].by_request);
		assert_true(s.latency_sensitive);
		profile_free(p);
	}
}

/*
 * ext4 on a RAID5, of which a file grew by 64 blocks of 8 KiB: for each there are three writes
 * to its log, in the middle of the device, and two ways between that and the data.
 */
static void test_recorded_ping_pong(void **state)
{
	struct profile *p = profile_of_recording("ping-pong/md0");
	struct profile_summary s;

	(void)state;
	profile_summarise(p, 0, &s);
	assert_true(profile_is_ping_pong(&s));
	assert_true(s.returns > 0.45 && s.returns < 0.55);
	assert_in_range(s.low_zone, 120 * MIB, 136 * MIB);
	assert_in_range(s.high_zone, 250 * MIB, 264 * MIB);
	assert_in_range(s.writes, 4 * 64, 4 * 64 + 16);
	profile_free(p);
	p = profile_of_recording("linux-6.12-v1/vda");
	profile_summarise(p, 0, &s);
	assert_false(profile_is_ping_pong(&s));
	profile_free(p);
}

/* A disk builds requests: the recording has D of 3 reads, 39 writes and 13 flushes, says blkparse. */
static void test_recorded_disk(void **state)
{
	struct profile *p = profile_of_recording("linux-6.12-v1/vda");
	struct profile_summary s;

	(void)state;
	profile_summarise(p, 0, &s);
	assert_true(s.by_request);
	assert_int_equal(s.reads, 3);
	assert_int_equal(s.writes, 39);
	assert_int_equal(s.flushes, 13);
	assert_int_equal(s.completed, 42);
	assert_int_equal(s.flush_latency.n, 13);
	assert_int_equal(s.partial_completions, 0);
	/* 192 KiB read and 2191 KiB written, in sectors of 512 bytes */
	assert_in_range(s.size_average * s.ios, 2383 * KIB, 2384 * KIB);
	profile_free(p);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_join_by_end),
		cmocka_unit_test(test_join_equal_ends),
		cmocka_unit_test(test_join_is_bounded),
		cmocka_unit_test(test_join_model),
		cmocka_unit_test(test_histogram),
		cmocka_unit_test(test_classify_vectors),
		cmocka_unit_test(test_iostat_vectors),
		cmocka_unit_test(test_random_is_random),
		cmocka_unit_test(test_ping_pong),
		cmocka_unit_test(test_interleaved_streams),
		cmocka_unit_test(test_readers_beside_writers),
		cmocka_unit_test(test_longest_streams),
		cmocka_unit_test(test_strides),
		cmocka_unit_test(test_reads_beside_writes),
		cmocka_unit_test(test_bandwidth),
		cmocka_unit_test(test_peak_after_pause),
		cmocka_unit_test(test_recorded_time),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_attributes_and_latency),
		cmocka_unit_test(test_unaligned),
		cmocka_unit_test(test_confidence),
		cmocka_unit_test(test_discards_are_no_bandwidth),
		cmocka_unit_test(test_flush_joins_anywhere),
		cmocka_unit_test(test_devices_are_bounded),
		cmocka_unit_test(test_recordings),
		cmocka_unit_test(test_recorded_ping_pong),
		cmocka_unit_test(test_recorded_disk),
	};

	return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}

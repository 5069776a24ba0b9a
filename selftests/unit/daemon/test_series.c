// SPDX-License-Identifier: GPL-2.0
/* A device over time: sums that are known, a model, and what no recording should have. */
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "lib/blktrace_format.h"
#include "lib/macros.h"
#include "lib/series.h"

#define KIB	1024ull
#define US	1000ull
#define MS	1000000ull

static struct series_bucket sum_of(const struct series *s)
{
	struct series_bucket sum = { .seeks = 0 };

	for (unsigned int i = 0; i < SERIES_BUCKETS; i++) {
		const struct series_bucket *b = &s->buckets[i];

		for (unsigned int kind = 0; kind < SERIES_KINDS; kind++) {
			sum.completed[kind] += b->completed[kind];
			sum.bytes[kind] += b->bytes[kind];
		}
		sum.seeks += b->seeks;
		sum.depth_ns += b->depth_ns;
		sum.depth_max = b->depth_max > sum.depth_max ? b->depth_max : sum.depth_max;
		sum.written += b->written;
		sum.touched += b->touched;
		sum.whole += b->whole;
		sum.rmw += b->rmw;
		sum.rcw += b->rcw;
	}
	return sum;
}

/* How many cells of the seek plot something touched. */
static uint64_t cells_of(const struct series *s, enum series_kind kind)
{
	uint64_t sum = 0;

	for (unsigned int row = 0; row < SERIES_ROWS; row++)
		for (unsigned int i = 0; i < SERIES_COLUMNS; i++)
			sum += s->seeks->cells[kind][row][i] > 0;
	return sum;
}

static uint64_t latencies_of(const struct series_latencies *l, enum series_kind kind)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < SERIES_BUCKETS; i++)
		n += l->of[kind][i].n;
	return n;
}

static void test_empty(void **state)
{
	struct series *s = new_series(0, 0);

	(void)state;
	series_finish(s);
	assert_int_equal(series_n_buckets(s), 1);
	assert_true(s->seeks->low > s->seeks->high);
	assert_null(s->d2c);
	series_free(s);
	assert_null(series_free(NULL));
}

/* All that is known of one write of 8 KiB that took 300 us, from time 0 on. */
static void test_one_io(void **state)
{
	struct series *s = new_series(0, 16 * KIB);
	struct series_bucket sum;

	(void)state;
	add_event(s, TRACE_QUEUE, 0, BLKTRACE_WRITE, 1000, 8 * KIB);
	assert_int_equal(s->in_flight, 1);
	add_event(s, TRACE_COMPLETE, 300 * US, BLKTRACE_WRITE, 1000, 8 * KIB);
	series_finish(s);
	sum = sum_of(s);
	assert_int_equal(s->width, 2048);
	assert_int_equal(s->end, 300 * US);
	assert_int_equal(series_n_buckets(s), 300000 / 2048 + 1);
	assert_int_equal(sum.completed[SERIES_WRITE], 1);
	assert_int_equal(sum.completed[SERIES_READ], 0);
	assert_int_equal(s->buckets[300000 / 2048].bytes[SERIES_WRITE], 8 * KIB);
	assert_int_equal(sum.depth_ns, 300 * US);
	assert_int_equal(sum.depth_max, 1);
	assert_int_equal(s->buckets[0].depth_ns, 2048);
	assert_int_equal(sum.seeks, 0);
	assert_int_equal(s->sizes[SERIES_WRITE][13], 1);
	/* Sector 1000 lies 8 sectors into a stripe of 32 */
	assert_int_equal(sum.written, 8 * KIB);
	assert_int_equal(sum.touched, 1);
	assert_int_equal(sum.whole, 0);
	assert_int_equal(s->seeks->low, 1000);
	assert_int_equal(s->seeks->high, 1015);
	assert_int_equal(s->seeks->cells[SERIES_WRITE][0][0], 8);
	assert_int_equal(s->seeks->cells[SERIES_WRITE][1][0], 8);
	assert_int_equal(cells_of(s, SERIES_WRITE), 2);
	assert_in_range(histogram_percentile(&s->q2c->of[SERIES_WRITE][300000 / 2048], 50),
			300 * US, 320 * US);
	series_free(s);
}

static void test_stripes(void **state)
{
	static const struct {
		uint64_t sector;
		uint32_t bytes;
		uint64_t touched, whole;
	} cases[] = {
		{ 0, 96 * KIB, 1, 1 },
		{ 0, 192 * KIB, 2, 2 },
		{ 192, 8 * KIB, 1, 0 },
		{ 8, 96 * KIB, 2, 0 },
		{ 8, 188 * KIB, 2, 1 },
		{ 8, 192 * KIB, 3, 1 },
		{ 184, 8 * KIB, 2, 0 },
		{ 0, 512, 1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct series *s = new_series(0, 96 * KIB);
		struct series_bucket sum;

		add_event(s, TRACE_QUEUE, 0, BLKTRACE_WRITE, cases[i].sector, cases[i].bytes);
		add_event(s, TRACE_QUEUE, 0, BLKTRACE_READ, cases[i].sector, cases[i].bytes);
		sum = sum_of(s);
		assert_int_equal(sum.written, cases[i].bytes);
		assert_int_equal(sum.touched, cases[i].touched);
		assert_int_equal(sum.whole, cases[i].whole);
		series_free(s);
	}
}

static void test_seek_distances(void **state)
{
	struct series *s = new_series(0, 0);
	uint64_t others = 0;

	(void)state;
	add_event(s, TRACE_QUEUE, 0, BLKTRACE_WRITE, 1000, 8 * 512);
	add_event(s, TRACE_QUEUE, 1, BLKTRACE_WRITE, 1008, 8 * 512);	/* goes on */
	add_event(s, TRACE_QUEUE, 2, BLKTRACE_READ, 1017, 8 * 512);	/* 1 up */
	add_event(s, TRACE_QUEUE, 3, BLKTRACE_READ, 2025, 8 * 512);	/* 1000 up */
	add_event(s, TRACE_QUEUE, 4, BLKTRACE_WRITE, 2025, 8 * 512);	/* 8 back */
	add_event(s, TRACE_QUEUE, 5, BLKTRACE_WRITE, 0, 8 * 512);	/* 2033 back */
	assert_int_equal(s->forward[0], 1);
	assert_int_equal(s->forward[1], 1);
	assert_int_equal(s->forward[11], 1);
	assert_int_equal(s->backward[4], 1);
	assert_int_equal(s->backward[12], 1);
	for (unsigned int i = 0; i < SERIES_SEEK_CLASSES; i++)
		others += s->forward[i] + s->backward[i];
	assert_int_equal(others, 5);
	assert_int_equal(sum_of(s).seeks, 4);
	series_free(s);
}

/* Two bios that were merged are one request: one D2C and two Q2C; one that was split has one Q2C. */
static void test_requests(void **state)
{
	struct series *s = new_series(0, 0);
	struct series_bucket sum;

	(void)state;
	add_event(s, TRACE_QUEUE, 0, BLKTRACE_WRITE, 0, 4 * KIB);
	add_event(s, TRACE_QUEUE, 10 * US, BLKTRACE_WRITE, 8, 4 * KIB);
	add_event(s, TRACE_BACK_MERGE, 10 * US, BLKTRACE_WRITE, 8, 4 * KIB);
	add_event(s, TRACE_QUEUE, 15 * US, BLKTRACE_WRITE, 1000, 16 * KIB);
	assert_false(s->by_request);
	add_event(s, TRACE_ISSUE, 20 * US, BLKTRACE_WRITE, 0, 8 * KIB);
	assert_true(s->by_request);
	assert_int_equal(s->in_flight, 1);
	add_event(s, TRACE_ISSUE, 21 * US, BLKTRACE_WRITE, 1000, 8 * KIB);
	add_event(s, TRACE_REQUEUE, 22 * US, BLKTRACE_WRITE, 1000, 8 * KIB);
	assert_int_equal(s->in_flight, 1);
	add_event(s, TRACE_ISSUE, 25 * US, BLKTRACE_WRITE, 1000, 8 * KIB);
	add_event(s, TRACE_COMPLETE, 60 * US, BLKTRACE_WRITE, 0, 8 * KIB);
	add_event(s, TRACE_COMPLETE, 70 * US, BLKTRACE_WRITE, 1000, 8 * KIB);
	add_event(s, TRACE_ISSUE, 75 * US, BLKTRACE_WRITE, 1016, 8 * KIB);
	add_event(s, TRACE_COMPLETE, 85 * US, BLKTRACE_WRITE, 1016, 8 * KIB);
	add_event(s, TRACE_COMPLETE, 86 * US, BLKTRACE_WRITE | BLKTRACE_SYNC, 1016, 0);
	series_finish(s);

	sum = sum_of(s);
	assert_int_equal(sum.completed[SERIES_WRITE], 3);
	assert_int_equal(sum.bytes[SERIES_WRITE], 24 * KIB);
	assert_int_equal(latencies_of(s->q2c, SERIES_WRITE), 3);
	assert_int_equal(latencies_of(s->d2c, SERIES_WRITE), 3);
	/* In flight: 20 to 60, 21 to 22, 25 to 70, 75 to 85 us */
	assert_int_equal(sum.depth_ns, (40 + 1 + 45 + 10) * US);
	assert_int_equal(sum.depth_max, 2);
	assert_int_equal(s->sizes[SERIES_WRITE][13], 4);
	assert_int_equal(s->in_flight, 0);
	/* The bios before the first request left nothing but their Q2C */
	assert_int_equal(sum.seeks, 2);
	for (unsigned int i = 0; i < SERIES_BUCKETS; i++)
		s->q2c->of[SERIES_WRITE][0].n += i ? s->q2c->of[SERIES_WRITE][i].n : 0;
	assert_int_equal(s->q2c->of[SERIES_WRITE][0].n, 3);
	series_free(s);
}

static void test_out_of_order(void **state)
{
	struct series *s = new_series(5 * MS, 0);

	(void)state;
	add_event(s, TRACE_QUEUE, 6 * MS, BLKTRACE_READ, 0, 4 * KIB);
	add_event(s, TRACE_QUEUE, 4 * MS, BLKTRACE_READ, 8, 4 * KIB);
	add_event(s, TRACE_COMPLETE, 3 * MS, BLKTRACE_READ, 0, 4 * KIB);
	add_event(s, TRACE_COMPLETE, 7 * MS, BLKTRACE_READ, 8, 4 * KIB);
	series_finish(s);
	assert_int_equal(s->end, 2 * MS);
	assert_int_equal(sum_of(s).completed[SERIES_READ], 2);
	assert_int_equal(sum_of(s).depth_ns, 1 * MS);
	assert_int_equal(latencies_of(s->q2c, SERIES_READ), 2);
	series_free(s);
}

/* The last sector and the last nanosecond there can be, and a request that goes past them. */
static void test_ends_of_the_world(void **state)
{
	struct series *s = new_series(0, 3 * 64 * KIB);

	(void)state;
	add_event(s, TRACE_QUEUE, 0, BLKTRACE_WRITE, 0, UINT32_MAX);
	add_event(s, TRACE_QUEUE, UINT64_MAX / 2, BLKTRACE_WRITE, UINT64_MAX - 8, 4 * KIB);
	add_event(s, TRACE_QUEUE, UINT64_MAX, BLKTRACE_READ, UINT64_MAX, UINT32_MAX);
	add_event(s, TRACE_COMPLETE, UINT64_MAX, BLKTRACE_WRITE, UINT64_MAX - 8, 4 * KIB);
	series_finish(s);
	assert_int_equal(series_n_buckets(s), SERIES_BUCKETS);
	assert_int_equal(s->seeks->low, 0);
	assert_true(s->seeks->high == UINT64_MAX - 1);
	assert_int_equal(cells_of(s, SERIES_WRITE), 2);
	assert_int_equal(cells_of(s, SERIES_READ), 0);
	assert_int_equal(sum_of(s).completed[SERIES_WRITE], 1);
	assert_int_equal(s->forward[65] + s->forward[64], 1);
	add_event(s, TRACE_QUEUE, UINT64_MAX, BLKTRACE_READ, 0, 512);
	assert_int_equal(s->backward[65], 1);
	series_free(s);
}

struct io {
	uint64_t begin, end;
	uint64_t sector;
	uint32_t bytes;
	bool write;
};

static uint64_t seed;

static uint64_t random_below(uint64_t n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 20) % n;
}

static void check_time(const struct series *s, const struct io *ios, size_t n)
{
	for (unsigned int i = 0; i < SERIES_BUCKETS; i++) {
		uint64_t from = i * s->width, to = from + s->width;
		struct series_bucket want = { .seeks = 0 };
		uint64_t latencies = 0;

		for (size_t k = 0; k < n; k++) {
			uint64_t a = ios[k].begin > from ? ios[k].begin : from;
			uint64_t b = ios[k].end < to ? ios[k].end : to;

			if (a < b)
				want.depth_ns += b - a;
			if (k > 0 && ios[k].begin >= from && ios[k].begin < to)
				want.seeks += ios[k].sector !=
					      ios[k - 1].sector + ios[k - 1].bytes / 512;
			if (ios[k].end < from || ios[k].end >= to)
				continue;
			want.completed[ios[k].write]++;
			want.bytes[ios[k].write] += ios[k].bytes;
			latencies++;
		}
		for (unsigned int kind = 0; kind < SERIES_KINDS; kind++) {
			assert_int_equal(s->buckets[i].completed[kind], want.completed[kind]);
			assert_int_equal(s->buckets[i].bytes[kind], want.bytes[kind]);
		}
		assert_int_equal(s->buckets[i].seeks, want.seeks);
		assert_int_equal(s->buckets[i].depth_ns, want.depth_ns);
		assert_int_equal(s->q2c->of[0][i].n + s->q2c->of[1][i].n, latencies);
	}
}

static void check_places(const struct series *s, const struct io *ios, size_t n)
{
	static uint32_t want[SERIES_KINDS][SERIES_ROWS][SERIES_COLUMNS];
	const struct series_seeks *seeks = s->seeks;

	memset(want, 0, sizeof(want));
	for (size_t k = 0; k < n; k++) {
		for (uint64_t at = ios[k].sector; at < ios[k].sector + ios[k].bytes / 512; at++) {
			uint64_t row = (at >> seeks->row_shift) - seeks->first_row;

			assert_true(row < SERIES_ROWS);
			want[ios[k].write][row][ios[k].begin / (s->width / 2)]++;
		}
	}
	assert_memory_equal(seeks->cells, want, sizeof(want));
}

/* Random I/Os at ever wider addresses, upwards and downwards, against a plain list of them. */
static void test_model(void **state)
{
	enum { N = 400 };
	struct io ios[N];

	(void)state;
	for (seed = 1; seed < 40; seed++) {
		struct series *s = new_series(0, 0);
		uint64_t time = 0, reach = 8, keep_seed = seed;

		for (size_t k = 0; k < N; k++) {
			struct io *io = &ios[k];
			uint64_t at = random_below(reach);

			if (random_below(20) == 0 && reach < 1ull << 40)
				reach *= 2;
			time += random_below(1 + (1ull << random_below(20)));
			io->begin = time;
			time += 1 + random_below(1ull << random_below(20));
			io->end = time;
			io->sector = (1ull << 41) + (seed & 1 << 20 ? at : -at);
			if (k > 0 && random_below(4) == 0)
				io->sector = ios[k - 1].sector + ios[k - 1].bytes / 512;
			io->bytes = 512 << random_below(10);
			io->write = random_below(2);
			add_event(s, TRACE_QUEUE, io->begin,
				  io->write ? BLKTRACE_WRITE : BLKTRACE_READ, io->sector, io->bytes);
			add_event(s, TRACE_COMPLETE, io->end,
				  io->write ? BLKTRACE_WRITE : BLKTRACE_READ, io->sector, io->bytes);
		}
		series_finish(s);
		check_time(s, ios, N);
		check_places(s, ios, N);
		series_free(s);
		seed = keep_seed;
	}
}

/* What the profile tells of them, see test_profile.c; here too it adds up. */
static void test_recordings(void **state)
{
	static const struct {
		const char *name;
		uint64_t reads, writes, q2c, d2c, rcw;
	} cases[] = {
		{ "linux-6.12-v1/dm-0", 1, 7, 8, 0, 0 },
		{ "linux-7.2-v2/dm-0", 1, 7, 8, 0, 0 },
		{ "linux-6.12-v1/md0", 1, 9, 10, 0, 83 },
		{ "linux-7.2-v2/md0", 1, 9, 10, 0, 82 },
		{ "linux-6.12-v1/vda", 3, 39, 0, 42, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct series *s = new_series(0, 0);
		struct series_bucket sum;
		uint64_t q2c;

		add_recorded(cases[i].name, s);
		sum = sum_of(s);
		assert_int_equal(sum.completed[SERIES_READ], cases[i].reads);
		assert_int_equal(sum.completed[SERIES_WRITE], cases[i].writes);
		assert_int_equal(sum.rcw, cases[i].rcw);
		assert_int_equal(s->by_request, cases[i].d2c > 0);
		assert_int_equal(s->in_flight, 0);
		q2c = latencies_of(s->q2c, SERIES_READ) + latencies_of(s->q2c, SERIES_WRITE);
		if (s->by_request) {
			assert_int_equal(latencies_of(s->d2c, SERIES_READ) +
					 latencies_of(s->d2c, SERIES_WRITE), cases[i].d2c);
			/* Bios of 4 KiB, of which requests were made */
			assert_true(q2c > cases[i].d2c);
		} else {
			assert_int_equal(q2c, cases[i].q2c);
		}
		assert_true(cells_of(s, SERIES_WRITE) > 0);
		series_free(s);
	}
}

/* Whether anything was written to these rows in this time. */
static bool is_written(const struct series *s, unsigned int bucket, unsigned int from, unsigned int to)
{
	for (unsigned int row = from; row < to; row++)
		if (s->seeks->cells[SERIES_WRITE][row][2 * bucket] ||
		    s->seeks->cells[SERIES_WRITE][row][2 * bucket + 1])
			return true;
	return false;
}

/* Log and data: two bands with nothing between them, and both all the time. */
static void test_recorded_ping_pong(void **state)
{
	struct series *s = new_series(0, 0);
	unsigned int low, high, both = 0, any = 0;

	(void)state;
	add_recorded("ping-pong/md0", s);
	low = ((120ull << 20) / 512 >> s->seeks->row_shift) - s->seeks->first_row;
	high = ((250ull << 20) / 512 >> s->seeks->row_shift) - s->seeks->first_row;
	assert_in_range(high, low + 32, SERIES_ROWS - 1);
	for (unsigned int i = 0; i < series_n_buckets(s); i++) {
		bool data = is_written(s, i, low, low + 16), log = is_written(s, i, high, high + 16);

		assert_false(is_written(s, i, low + 16, high));
		any += data || log;
		both += data && log;
	}
	assert_true(any > 64);
	assert_true(both > any / 2);
	series_free(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_one_io),
		cmocka_unit_test(test_stripes),
		cmocka_unit_test(test_seek_distances),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_out_of_order),
		cmocka_unit_test(test_ends_of_the_world),
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_recordings),
		cmocka_unit_test(test_recorded_ping_pong),
	};

	return cmocka_run_group_tests_name("series", tests, NULL, NULL);
}

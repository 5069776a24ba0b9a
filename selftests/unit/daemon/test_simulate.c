// SPDX-License-Identifier: GPL-2.0
/* The models of md and of the target, by cases counted by hand. */
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "lib/macros.h"
#include "lib/raid.h"
#include "lib/simulate.h"

#define KIB	1024ull
#define MIB	(1024 * KIB)
#define MS	1000000ull
#define CHUNK	(64 * KIB)
#define WIDTH	(4 * CHUNK)

/*
 * md
 */

struct array {
	struct raid *raid;
	uint64_t now;
	struct raid_counts before;
	unsigned long map[8 * CHUNK / 512 / 64];
};

/* Its members are those of selftests/vm/rig.sh: they take 5 ms, and one request at a time. */
static struct array *new_array(unsigned int data_members, unsigned int parity)
{
	struct array *a = calloc(1, sizeof(*a));

	assert_non_null(a);
	assert_int_equal(raid_new(&(struct raid_shape) {
		.data_members = data_members,
		.parity = parity,
		.chunk_bytes = CHUNK,
		.service_ns = 5 * MS,
		.queue_requests = 1,
	}, &a->raid), 0);
	return a;
}

static void free_array(struct array *a)
{
	raid_free(a->raid);
	free(a);
}

static void mark(struct array *a, uint64_t offset, uint64_t bytes)
{
	for (uint64_t sector = offset / 512; sector < (offset + bytes) / 512; sector++)
		a->map[sector / 64] |= 1ul << sector % 64;
}

/* Write what is marked of a stripe. */
static void write_marked_as(struct array *a, uint64_t stripe, bool sync)
{
	struct raid_io *io = raid_io_new(a->raid, sync, a);
	void *token = NULL;

	assert_non_null(io);
	a->before = raid_counts(a->raid);
	assert_int_equal(raid_io_write(io, stripe, a->map), 0);
	assert_int_equal(raid_io_submit(io, a->now), 0);
	a->now += 1000 * MS;
	assert_true(raid_advance(a->raid, a->now, &token));
	assert_ptr_equal(token, a);
	memset(a->map, 0, sizeof(a->map));
}

static void write_marked(struct array *a, uint64_t stripe)
{
	write_marked_as(a, stripe, true);
}

static void assert_cost(const struct array *a, uint64_t rmw, uint64_t rcw, uint64_t reads,
			uint64_t writes)
{
	struct raid_counts now = raid_counts(a->raid);

	assert_int_equal(now.rmw - a->before.rmw, rmw);
	assert_int_equal(now.rcw - a->before.rcw, rcw);
	assert_int_equal(now.reads - a->before.reads, reads);
	assert_int_equal(now.writes - a->before.writes, writes);
}

/* The same costs as selftests/functional/rig.sh sees of a real array of five members. */
static void test_raid5_costs(void **state)
{
	struct array *a = new_array(4, 1);

	(void)state;
	mark(a, 0, WIDTH);
	write_marked(a, 0);
	assert_cost(a, 0, 0, 0, 5);
	mark(a, 0, 4 * KIB);
	write_marked(a, 1);
	assert_cost(a, 1, 0, 2, 2);
	mark(a, 0, WIDTH / 2);
	write_marked(a, 2);
	assert_cost(a, 0, 16, 2, 3);
	/* Put off, and then taken up eight rows at a time. */
	mark(a, 0, WIDTH / 2);
	write_marked_as(a, 5, false);
	assert_cost(a, 0, 16, 4, 6);
	/* Rows 0, 2 and 3: the first has to leave before there is a place for the second. */
	mark(a, 0, 4 * KIB);
	mark(a, 8 * KIB, 8 * KIB);
	write_marked(a, 7);
	assert_cost(a, 3, 0, 4, 4);
	mark(a, 512, 512);
	write_marked(a, 3);
	assert_cost(a, 1, 0, 2, 2);
	/* Three of four blocks, one of them in part: that one and the fourth are read. */
	mark(a, 0, 512);
	mark(a, CHUNK, 4 * KIB);
	mark(a, 2 * CHUNK, 4 * KIB);
	write_marked(a, 4);
	assert_cost(a, 0, 1, 2, 4);
	free_array(a);
}

static void test_raid6_costs(void **state)
{
	struct array *a = new_array(4, 2);

	(void)state;
	mark(a, 0, WIDTH);
	write_marked(a, 0);
	assert_cost(a, 0, 0, 0, 6);
	/* The block and two of parity against three others: equal, so rcw. */
	mark(a, 0, 4 * KIB);
	write_marked(a, 1);
	assert_cost(a, 0, 1, 3, 3);
	free_array(a);
	/* Of five: against four others. */
	a = new_array(5, 2);
	mark(a, 0, 4 * KIB);
	write_marked(a, 1);
	assert_cost(a, 1, 0, 3, 3);
	free_array(a);
}

/* A sequential writer of blocks: what md read for the chunk before it still has. */
static void test_raid_cache(void **state)
{
	struct array *a = new_array(4, 1);

	(void)state;
	mark(a, 0, 8 * KIB);
	write_marked(a, 0);
	assert_cost(a, 2, 0, 2, 2);
	mark(a, CHUNK, 8 * KIB);
	write_marked(a, 0);
	assert_cost(a, 2, 0, 1, 2);
	mark(a, 2 * CHUNK, 8 * KIB);
	write_marked(a, 0);
	assert_cost(a, 0, 2, 1, 2);
	mark(a, 3 * CHUNK, 8 * KIB);
	write_marked(a, 0);
	assert_cost(a, 0, 0, 0, 2);

	/* As many rows later as it remembers, it has forgotten them. */
	for (unsigned int stripe = 1; stripe <= RAID_CACHE_ROWS / 16; stripe++) {
		mark(a, 0, WIDTH);
		write_marked(a, stripe);
	}
	mark(a, 0, 8 * KIB);
	write_marked(a, 0);
	assert_cost(a, 2, 0, 2, 2);
	free_array(a);
}

/* Stripes that leave together lie side by side on each member. */
static void test_raid_neighbours(void **state)
{
	struct array *a = new_array(4, 1);
	struct raid_io *io = raid_io_new(a->raid, true, a);
	void *token;

	(void)state;
	assert_non_null(io);
	mark(a, 0, WIDTH);
	for (uint64_t stripe = 4; stripe < 8; stripe++)
		assert_int_equal(raid_io_write(io, stripe, a->map), 0);
	assert_int_equal(raid_io_submit(io, 0), 0);
	assert_true(raid_advance(a->raid, 1000 * MS, &token));
	assert_cost(a, 0, 0, 0, 5);
	free_array(a);
}

/* Neighbours of two stripes are joined only where chunks are smaller than what a plug holds back. */
static void test_raid_chunks(void **state)
{
	struct simulate_options o = { .raw = true, .shape = {
		.data_members = 4, .parity = 1, .chunk_bytes = 128 * KIB, .queue_requests = 64,
	} };
	struct simulate_request whole = { .sectors = 2 * MIB / 512, .write = true };
	struct simulate_result r;
	struct simulation *s;

	(void)state;
	assert_int_equal(simulation_new(&o, &s), 0);
	assert_int_equal(simulation_add(s, &whole), 0);
	assert_int_equal(simulation_finish(s, &r), 0);
	assert_int_equal(r.passed_whole, 4);
	assert_int_equal(r.md.writes, 4 * 5);
	simulation_free(s);
}

/* What is put off while rows are read for is taken up when those are written. */
static void test_raid_put_off(void **state)
{
	struct array *a = new_array(4, 1);
	void *token;

	(void)state;
	for (uint64_t stripe = 0; stripe < 2; stripe++) {
		struct raid_io *io = raid_io_new(a->raid, false, a);

		assert_non_null(io);
		mark(a, 0, (stripe ? 8 : 4) * 4 * KIB);
		assert_int_equal(raid_io_write(io, stripe, a->map), 0);
		memset(a->map, 0, sizeof(a->map));
		assert_int_equal(raid_io_submit(io, 0), 0);
	}
	while (raid_advance(a->raid, 1000 * MS, &token))
		;
	assert_cost(a, 12, 0, 2 + 2, 2 + 2);
	free_array(a);
}

/* A member does one after the other; the reads of a write come before its writes. */
static void test_raid_time(void **state)
{
	struct array *a = new_array(4, 1);
	void *token = NULL;

	(void)state;
	assert_true(raid_next(a->raid) == UINT64_MAX);
	for (uint64_t stripe = 0; stripe < 10; stripe += 5) {
		struct raid_io *io = raid_io_new(a->raid, true, &a->map[stripe]);

		assert_non_null(io);
		mark(a, 0, 4 * KIB);
		assert_int_equal(raid_io_write(io, stripe, a->map), 0);
		assert_int_equal(raid_io_submit(io, MS), 0);
	}
	/* Two reads of each of two members, and then the writes. */
	assert_int_equal(raid_next(a->raid), 6 * MS);
	assert_false(raid_advance(a->raid, 15 * MS, &token));
	assert_int_equal(raid_next(a->raid), 16 * MS);
	assert_true(raid_advance(a->raid, 16 * MS, &token));
	assert_ptr_equal(token, &a->map[0]);
	assert_int_equal(raid_next(a->raid), 21 * MS);
	assert_true(raid_advance(a->raid, 21 * MS, &token));
	assert_ptr_equal(token, &a->map[5]);
	assert_cost(a, 2, 0, 4, 4);
	free_array(a);
}

/* While md's thread waits for a place in a queue, neighbours gather. */
static void test_raid_queue(void **state)
{
	struct array *a = new_array(4, 1);
	void *token;

	(void)state;
	mark(a, 0, WIDTH);
	for (uint64_t stripe = 0; stripe < 8; stripe++) {
		struct raid_io *io = raid_io_new(a->raid, true, a);

		assert_non_null(io);
		assert_int_equal(raid_io_write(io, stripe, a->map), 0);
		assert_int_equal(raid_io_submit(io, stripe), 0);
	}
	/* The first has left when the second comes; that waits, and goes with all others. */
	for (unsigned int i = 0; i < 8; i++)
		assert_true(raid_advance(a->raid, 1000 * MS, &token));
	assert_cost(a, 0, 0, 0, 2 * 5);
	assert_true(raid_next(a->raid) == UINT64_MAX);
	free_array(a);
}

/*
 * Member 2 is busy when a stripe comes, which is sent from the last member on: its first row leaves
 * members 4 and 3 alone, and all others find all places free, at one time.
 */
static void test_raid_busy_member(void **state)
{
	struct array *a = new_array(4, 1);
	struct raid_io *read = raid_io_new(a->raid, true, a);
	struct raid_io *write = raid_io_new(a->raid, true, a->map);
	void *token;

	(void)state;
	assert_non_null(read);
	assert_non_null(write);
	assert_int_equal(raid_io_read(read, 0, 2 * CHUNK / 512, 8), 0);
	assert_int_equal(raid_io_submit(read, 0), 0);
	mark(a, 0, WIDTH);
	assert_int_equal(raid_io_write(write, 5, a->map), 0);
	assert_int_equal(raid_io_submit(write, 0), 0);
	assert_int_equal(raid_advance(a->raid, 5 * MS, &token), 1);
	assert_ptr_equal(token, a);
	assert_int_equal(raid_next(a->raid), 10 * MS);
	assert_int_equal(raid_advance(a->raid, 10 * MS, &token), 1);
	assert_ptr_equal(token, a->map);
	assert_cost(a, 0, 0, 1, 2 + 2 + 1 + 1 + 1);
	free_array(a);
}

/* A row is not done when all of it is that was sent: it waits for member 0, which others have first. */
static void test_raid_row_in_parts(void **state)
{
	struct array *a = new_array(4, 1);
	struct raid_io *write;
	void *token = NULL;

	(void)state;
	for (uint64_t stripe = 0; stripe < 10; stripe += 5) {
		struct raid_io *io = raid_io_new(a->raid, true, a);

		assert_non_null(io);
		assert_int_equal(raid_io_read(io, stripe, 0, 8), 0);
		assert_int_equal(raid_io_submit(io, 0), 0);
	}
	write = raid_io_new(a->raid, true, a->map);
	assert_non_null(write);
	mark(a, 0, WIDTH);
	assert_int_equal(raid_io_write(write, 10, a->map), 0);
	assert_int_equal(raid_io_submit(write, 0), 0);
	for (uint64_t ms = 5; ms <= 10; ms += 5) {
		assert_int_equal(raid_advance(a->raid, ms * MS, &token), 1);
		assert_ptr_equal(token, a);
		assert_int_equal(raid_advance(a->raid, ms * MS, &token), 0);
	}
	assert_int_equal(raid_advance(a->raid, 15 * MS, &token), 1);
	assert_ptr_equal(token, a->map);
	assert_true(raid_next(a->raid) == UINT64_MAX);
	free_array(a);
}

/* Reads are cut at chunks. */
static void test_raid_reads(void **state)
{
	struct array *a = new_array(4, 1);
	struct raid_io *io = raid_io_new(a->raid, true, a);
	void *token;

	(void)state;
	assert_non_null(io);
	assert_int_equal(raid_io_read(io, 0, 64, 128 + 1), 0);
	assert_int_equal(raid_io_submit(io, 0), 0);
	assert_true(raid_advance(a->raid, 1000 * MS, &token));
	assert_cost(a, 0, 0, 2, 0);
	free_array(a);
}

/* What of an io becomes one request ends once, and the io with it: the chunks of two stripes. */
static void test_raid_reads_of_two_stripes(void **state)
{
	struct array *a = new_array(4, 1);
	struct raid_io *io = raid_io_new(a->raid, true, a);
	void *token = NULL;

	(void)state;
	assert_non_null(io);
	for (uint64_t stripe = 0; stripe < 2; stripe++)
		assert_int_equal(raid_io_read(io, stripe, 0, WIDTH / 512), 0);
	assert_int_equal(raid_io_submit(io, 0), 0);
	assert_int_equal(raid_advance(a->raid, 1000 * MS, &token), 1);
	assert_ptr_equal(token, a);
	assert_true(raid_next(a->raid) == UINT64_MAX);
	free_array(a);
}

/* A chunk that is longer than a request of a member. */
static void test_raid_reads_of_large_chunks(void **state)
{
	struct simulate_options o = { .raw = true, .shape = {
		.data_members = 4, .parity = 1, .chunk_bytes = 4 * MIB, .queue_requests = 64,
	} };
	struct simulate_request read = { .sectors = 4 * MIB / 512 };
	struct simulate_result r;
	struct simulation *s;

	(void)state;
	assert_int_equal(simulation_new(&o, &s), 0);
	assert_int_equal(simulation_add(s, &read), 0);
	assert_int_equal(simulation_finish(s, &r), 0);
	assert_int_equal(r.md.reads, 4);
	simulation_free(s);
}

/*
 * The target
 */

static const struct simulate_options plain = {
	.shape = { .data_members = 4, .parity = 1, .chunk_bytes = CHUNK, .queue_requests = 64 },
	.cluster_bytes = WIDTH,
	.hold_ms = 5000,
	.high_water_bytes = 4 * MIB,
	.low_water_bytes = 2 * MIB,
	.seek_bytes = MIB,
};

static struct simulation *new_simulation(const struct simulate_options *options)
{
	struct simulation *s;

	assert_int_equal(simulation_new(options, &s), 0);
	return s;
}

static void add(struct simulation *s, uint64_t ms, uint64_t offset, uint64_t bytes)
{
	assert_int_equal(simulation_add(s, &(struct simulate_request) {
		.time = ms * MS,
		.sector = offset / 512,
		.sectors = bytes / 512,
		.write = true,
	}), 0);
}

static void add_flush(struct simulation *s, uint64_t ms)
{
	assert_int_equal(simulation_add(s, &(struct simulate_request) {
		.time = ms * MS,
		.write = true,
		.flush = true,
	}), 0);
}

static void add_fua(struct simulation *s, uint64_t ms, uint64_t offset, uint64_t bytes)
{
	assert_int_equal(simulation_add(s, &(struct simulate_request) {
		.time = ms * MS,
		.sector = offset / 512,
		.sectors = bytes / 512,
		.write = true,
		.fua = true,
	}), 0);
}

static void add_read(struct simulation *s, uint64_t ms, uint64_t offset, uint64_t bytes)
{
	assert_int_equal(simulation_add(s, &(struct simulate_request) {
		.time = ms * MS,
		.sector = offset / 512,
		.sectors = bytes / 512,
	}), 0);
}

static struct simulate_result finish(struct simulation *s)
{
	struct simulate_result r;

	assert_int_equal(simulation_finish(s, &r), 0);
	simulation_free(s);
	return r;
}

static void add_sequence(struct simulation *s, uint64_t stripes, uint64_t block)
{
	for (uint64_t i = 0; i < stripes * WIDTH / block; i++)
		add(s, i, i * block, block);
}

static void test_sequence_becomes_stripes(void **state)
{
	struct simulation *s = new_simulation(&plain);
	struct simulate_result r;

	(void)state;
	add_sequence(s, 8, 8 * KIB);
	r = finish(s);
	assert_int_equal(r.writes, 256);
	assert_int_equal(r.whole, 8);
	assert_int_equal(r.partial + r.filled, 0);
	assert_true(r.full_stripe_ratio == 1);
	assert_int_equal(r.md.rmw + r.md.rcw + r.md.reads, 0);
	assert_int_equal(r.md.writes, 8 * 5);
	assert_int_equal(r.wait.n, 256);
	assert_int_equal(r.wait.mean, 0);
	/* From the first of 32 blocks to the last, one a millisecond. */
	assert_int_equal(r.held.mean, 31 * MS);
}

/* A cluster waits for all of its stripes; the last ones for their hold or for idleness. */
static void test_cluster(void **state)
{
	struct simulate_options o = plain;
	struct simulate_result r;
	struct simulation *s;

	(void)state;
	o.cluster_bytes = 4 * WIDTH;
	s = new_simulation(&o);
	add_sequence(s, 8, 8 * KIB);
	r = finish(s);
	assert_int_equal(r.whole, 8);
	assert_int_equal(r.md.writes, 2 * 5);

	s = new_simulation(&o);
	add_sequence(s, 3, 8 * KIB);
	r = finish(s);
	assert_int_equal(r.whole, 3);
	assert_int_equal(r.md.writes, 5);
}

/* The stripe that became whole last goes with the others of its cluster, on both sides of it. */
static void test_cluster_out_of_order(void **state)
{
	static const uint64_t order[] = { 0, 2, 3, 1 };
	struct simulate_options o = plain;
	struct simulate_result r;
	struct simulation *s;

	(void)state;
	o.cluster_bytes = 4 * WIDTH;
	s = new_simulation(&o);
	for (uint64_t i = 0; i < 8; i++)
		add(s, i, order[i / 2] * WIDTH + i % 2 * WIDTH / 2, WIDTH / 2);
	r = finish(s);
	assert_int_equal(r.whole, 4);
	assert_int_equal(r.md.writes, 5);

	/* The last one was whole first: it is written for its hold, and takes those before it along. */
	s = new_simulation(&o);
	for (uint64_t i = 0; i < 6; i++)
		add(s, i, (2 - i / 2) * WIDTH + i % 2 * WIDTH / 2, WIDTH / 2);
	for (uint64_t ms = 500; ms <= 6000; ms += 500)
		add_read(s, ms, 100 * WIDTH, 4 * KIB);
	r = finish(s);
	assert_int_equal(r.whole, 3);
	assert_int_equal(r.md.writes, 5);
}

/*
 * Half of the memory is full of half stripes, and one more drives one out: all were
 * written to since the sweep passed, so that is where it ends and not the first one.
 */
static void test_sweep_spares_the_recent(void **state)
{
	struct simulate_options o = plain;
	struct simulate_result r;
	struct simulation *s;

	(void)state;
	o.seek_bytes = 0;
	o.hold_ms = 3600000;
	s = new_simulation(&o);
	for (uint64_t i = 0; i < 16; i++)
		add(s, i, i * WIDTH, WIDTH / 2);
	add(s, 21, 100 * WIDTH, WIDTH / 2);
	add(s, 22, WIDTH / 2, WIDTH / 2);
	r = finish(s);
	assert_int_equal(r.parked, 0);
	assert_int_equal(r.whole, 1);
	assert_int_equal(r.partial, 16);
}

static void test_raw_md(void **state)
{
	struct simulate_options o = plain;
	struct simulate_result r;
	struct simulation *s;

	(void)state;
	o.raw = true;
	s = new_simulation(&o);
	add_sequence(s, 64, 8 * KIB);
	r = finish(s);
	/* What a real array of five does with these 16 MiB. */
	assert_int_equal(r.md.rmw, 2048);
	assert_int_equal(r.md.rcw, 1024);
	assert_int_equal(r.md.reads, 2048);
	assert_int_equal(r.md.writes, 4096);
	assert_int_equal(r.passed_partial, 2048);
	assert_true(r.full_stripe_ratio == 0);
}

static void test_idle_and_hold(void **state)
{
	struct simulation *s = new_simulation(&plain);
	struct simulate_result r;

	(void)state;
	add(s, 0, 0, 4 * KIB);
	r = finish(s);
	assert_int_equal(r.partial, 1);
	assert_int_equal(r.held.mean, 1000 * MS);

	/* Reads keep it from being idle. */
	s = new_simulation(&plain);
	add(s, 0, 0, 4 * KIB);
	for (uint64_t ms = 500; ms <= 6000; ms += 500)
		add_read(s, ms, 100 * WIDTH, 4 * KIB);
	r = finish(s);
	assert_int_equal(r.partial, 1);
	assert_int_equal(r.held.mean, 5000 * MS);
	assert_int_equal(r.md.reads, 2 + 12);
}

/* Stripes of which one is in flight at a time, and always another whole one waits. */
static void test_hold_beside_whole_stripes(void **state)
{
	struct simulate_options o = plain;
	struct simulate_result r;
	struct simulation *s;

	(void)state;
	o.shape.chunk_bytes = MIB;
	o.shape.service_ns = 5 * MS;
	o.cluster_bytes = 4 * MIB;
	o.high_water_bytes = 32 * MIB;
	o.low_water_bytes = 16 * MIB;
	o.seek_bytes = 0;
	o.hold_ms = 100;
	s = new_simulation(&o);
	add(s, 0, 0, 4 * KIB);
	for (uint64_t i = 0; i < 160; i++)
		add(s, 1, 4 * MIB + i * 2 * MIB, 2 * MIB);
	r = finish(s);
	assert_int_equal(r.whole, 80);
	assert_int_equal(r.partial, 1);
	assert_true(r.parked > 100);
	/* All of them take four times as long. */
	assert_true(r.held.p99 < 150 * MS);
}

static void test_flush_writes_what_came_before(void **state)
{
	struct simulate_options o = plain;
	struct simulate_result r;
	struct simulation *s;

	(void)state;
	o.shape.service_ns = 5 * MS;
	s = new_simulation(&o);
	add(s, 0, 0, 4 * KIB);
	add_flush(s, 1);
	add(s, 2, WIDTH, 4 * KIB);
	r = finish(s);
	assert_int_equal(r.partial, 2);
	/* One read after the other disk's, then the writes: 10 ms for the flush and 1 before. */
	assert_int_equal(r.wait.n, 3);
	assert_int_equal(r.wait.mean, 10 * MS / 3);
	assert_int_equal(r.held.mean, (11 * MS + 1010 * MS) / 2);
}

/* md puts nothing off that somebody waits for; nobody waits for the second one. */
static void test_flush_is_not_put_off(void **state)
{
	struct simulation *s = new_simulation(&plain);
	struct simulate_result r;

	(void)state;
	add(s, 0, 0, WIDTH / 2);
	add_flush(s, 1);
	add(s, 20, WIDTH, WIDTH / 2);
	r = finish(s);
	assert_int_equal(r.partial, 2);
	assert_int_equal(r.md.reads, 2 + 4);
	assert_int_equal(r.md.writes, 3 + 6);
}

static void test_fua(void **state)
{
	struct simulation *s = new_simulation(&plain);
	struct simulate_result r;

	(void)state;
	add_fua(s, 0, 0, 4 * KIB);
	add(s, 1, WIDTH, 4 * KIB);
	add_fua(s, 2, WIDTH + 4 * KIB, 4 * KIB);
	r = finish(s);
	assert_int_equal(r.passed_partial, 1);
	assert_int_equal(r.partial, 1);
	assert_int_equal(r.held.mean, 1 * MS);
}

/* What was accepted while a write passed to its stripe is written behind that. */
static void test_order_behind_what_passes(void **state)
{
	struct simulate_options o = plain;
	struct simulate_result r;
	struct simulation *s;

	(void)state;
	o.shape.service_ns = 5 * MS;
	s = new_simulation(&o);
	add_fua(s, 0, 0, 4 * KIB);
	add(s, 1, 4 * KIB, 4 * KIB);
	add_flush(s, 2);
	r = finish(s);
	/* Each reads for 5 ms and writes for 5 ms. */
	assert_int_equal(r.held.mean, 19 * MS);
	assert_int_equal(r.wait.mean, (10 + 0 + 18) * MS / 3);
}

static void test_whole_stripes_pass(void **state)
{
	struct simulation *s = new_simulation(&plain);
	struct simulate_result r;

	(void)state;
	add(s, 0, 0, 2 * WIDTH);
	r = finish(s);
	assert_int_equal(r.passed_whole, 2);
	assert_int_equal(r.md.writes, 5);

	/* Not beside what is staged of the stripe; its tail is staged. */
	s = new_simulation(&plain);
	add(s, 0, 0, 4 * KIB);
	add(s, 1, 0, WIDTH + 4 * KIB);
	r = finish(s);
	assert_int_equal(r.passed_whole, 0);
	assert_int_equal(r.whole, 1);
	assert_int_equal(r.partial, 1);
}

/* Every other block of a stripe: 2 + 2 requests for each, or four reads and five writes. */
static void test_fill(void **state)
{
	struct simulate_options o = plain;
	struct simulate_result r;
	struct simulation *s;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		o.seek_bytes = i ? 0 : MIB;
		s = new_simulation(&o);
		for (uint64_t at_kib = 0; at_kib < 256; at_kib += 8)
			add(s, at_kib, at_kib * KIB, 4 * KIB);
		r = finish(s);
		assert_int_equal(r.filled, 1 - i);
		assert_int_equal(r.partial, i);
		if (i == 0) {
			assert_int_equal(r.md.reads, 4);
			assert_int_equal(r.md.writes, 5);
		} else {
			/* Rows of which all four blocks are new, and rows that are left alone. */
			assert_int_equal(r.md.reads, 0);
			assert_int_equal(r.md.writes, 5 * 8);
		}
	}
}

/* A device that begins within a stripe: what it has of that is not staged. */
static void test_edges(void **state)
{
	struct simulate_options o = plain;
	struct simulate_result r;
	struct simulation *s;

	(void)state;
	o.alignment_offset = CHUNK;
	o.size = WIDTH + 4 * CHUNK;
	s = new_simulation(&o);
	add(s, 0, 0, 4 * KIB);
	add(s, 1, 3 * CHUNK, WIDTH);
	add(s, 2, 3 * CHUNK + WIDTH, 4 * KIB);
	r = finish(s);
	assert_int_equal(r.passed_partial, 2);
	assert_int_equal(r.passed_whole, 1);
	assert_int_equal(r.partial, 0);
}

/* Memory for eight stripes, written thinly: somebody has to wait, and all is written. */
static void test_high_water(void **state)
{
	struct simulate_options o = plain;
	struct simulate_result r;
	struct simulation *s;

	(void)state;
	o.high_water_bytes = 2 * WIDTH;
	o.low_water_bytes = WIDTH;
	o.seek_bytes = 0;
	o.shape.service_ns = 5 * MS;
	s = new_simulation(&o);
	for (uint64_t i = 0; i < 100; i++)
		add(s, 0, i * WIDTH, 8 * KIB);
	r = finish(s);
	assert_true(r.parked > 0);
	assert_int_equal(r.partial, 100);
	assert_int_equal(r.wait.n, 100);
	assert_true(r.wait.p99 > 100 * MS);
}

/* What was staged is read from memory, a block that was not is read below. */
static void test_reads(void **state)
{
	struct simulation *s = new_simulation(&plain);
	struct simulate_result r;

	(void)state;
	add(s, 0, 0, 8 * KIB);
	add_read(s, 1, 0, 8 * KIB);
	add_read(s, 2, 4 * KIB, 8 * KIB);
	r = finish(s);
	/* One is that of the hole; two are md's before the write. */
	assert_int_equal(r.md.reads, 1 + 2);
	assert_int_equal(r.md.rmw, 2);
}

/* Random work of all kinds: everything that was accepted is written once, and it ends. */
static void test_random_work(void **state)
{
	struct simulate_options o = plain;
	uint64_t seed = 7, time = 0, writes = 0, flushes = 0;
	struct simulate_result r;
	struct simulation *s;

	(void)state;
	o.high_water_bytes = 4 * WIDTH;
	o.low_water_bytes = 2 * WIDTH;
	o.alignment_offset = 12 * KIB;
	o.shape.service_ns = MS;
	s = new_simulation(&o);
	for (unsigned int i = 0; i < 20000; i++) {
		struct simulate_request q;

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		time += (seed >> 33) % (2 * MS);
		q = (struct simulate_request) {
			.time = time,
			.sector = (seed >> 20) % 65536,
			.sectors = 1 + (seed >> 45) % ((seed >> 60) ? 64 : 2048),
			.write = (seed >> 7) % 8 != 0,
			.fua = (seed >> 11) % 64 == 0,
			.flush = (seed >> 12) % 64 == 0,
		};
		q.flush &= q.write;
		writes += q.write;
		flushes += q.flush;
		assert_int_equal(simulation_add(s, &q), 0);
	}
	r = finish(s);
	assert_int_equal(r.writes, writes);
	assert_true(r.wait.n >= writes + flushes);
	assert_true(r.parked > 0 && r.filled > 0 && r.whole > 0 && r.partial > 0 &&
		    r.passed_whole > 0 && r.passed_partial > 0);
	assert_int_equal(r.held.n, r.filled + r.whole + r.partial);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_raid5_costs),
		cmocka_unit_test(test_raid6_costs),
		cmocka_unit_test(test_raid_cache),
		cmocka_unit_test(test_raid_neighbours),
		cmocka_unit_test(test_raid_chunks),
		cmocka_unit_test(test_raid_put_off),
		cmocka_unit_test(test_raid_time),
		cmocka_unit_test(test_raid_queue),
		cmocka_unit_test(test_raid_busy_member),
		cmocka_unit_test(test_raid_row_in_parts),
		cmocka_unit_test(test_raid_reads),
		cmocka_unit_test(test_raid_reads_of_two_stripes),
		cmocka_unit_test(test_raid_reads_of_large_chunks),
		cmocka_unit_test(test_sequence_becomes_stripes),
		cmocka_unit_test(test_cluster),
		cmocka_unit_test(test_cluster_out_of_order),
		cmocka_unit_test(test_sweep_spares_the_recent),
		cmocka_unit_test(test_raw_md),
		cmocka_unit_test(test_idle_and_hold),
		cmocka_unit_test(test_hold_beside_whole_stripes),
		cmocka_unit_test(test_flush_writes_what_came_before),
		cmocka_unit_test(test_flush_is_not_put_off),
		cmocka_unit_test(test_fua),
		cmocka_unit_test(test_order_behind_what_passes),
		cmocka_unit_test(test_whole_stripes_pass),
		cmocka_unit_test(test_fill),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_high_water),
		cmocka_unit_test(test_reads),
		cmocka_unit_test(test_random_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

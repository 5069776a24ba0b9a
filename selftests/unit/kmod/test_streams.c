// SPDX-License-Identifier: GPL-2.0
/* Which reads are taken for streams, and what is planned for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <linux/types.h>

#include "streams.h"

#define STEP 512
#define END (1ULL << 40)

static struct streams table;

static int begin(void **state)
{
	(void)state;
	streams_init(&table, 128);
	return 0;
}

/* All reads are noted at one time, and nothing has expired. */
static struct stream *note(u64 sector, u32 sectors)
{
	return streams_note(&table, sector, sectors, 0, 0);
}

static void the_fourth_read_confirms(void **state)
{
	struct stream *stream;

	(void)state;
	assert_null(note(992, 8));
	assert_null(note(1000, 16));
	assert_null(note(1016, 8));
	stream = note(1024, 16);
	assert_non_null(stream);
	assert_false(stream->backward);
	assert_int_equal(stream->next, 1040);
	assert_ptr_equal(note(1040, 1), stream);
	/* A gap ends it. */
	assert_null(note(1042, 1));
	assert_int_equal(table.nr, 1);
}

static void backward_too(void **state)
{
	struct stream *stream;

	(void)state;
	assert_null(note(1016, 16));
	assert_null(note(1000, 16));
	assert_null(note(984, 16));
	stream = note(968, 16);
	assert_non_null(stream);
	assert_true(stream->backward);
	assert_int_equal(stream->next, 968);
	assert_ptr_equal(note(960, 8), stream);
	assert_null(note(976, 8));
}

static void interleaved_streams_are_told_apart(void **state)
{
	struct stream *stream[128] = { NULL };
	unsigned int i, n;

	(void)state;
	for (n = 0; n < 40; n++) {
		for (i = 0; i < 128; i++) {
			struct stream *found = note(i * 1000000ULL + n * 16, 16);

			if (n < 3)
				assert_null(found);
			else if (n > 3)
				assert_ptr_equal(found, stream[i]);
			stream[i] = found;
		}
	}
	assert_int_equal(table.nr, 128);
}

static void random_reads_push_no_stream_out(void **state)
{
	struct stream *stream;
	unsigned int i, confirmed = 0;

	(void)state;
	note(0, 8);
	note(8, 8);
	note(16, 16);
	stream = note(32, 16);
	srandom(1);
	for (i = 0; i < 1000000; i++)
		confirmed += !!note((1ULL << 41) + random() * 8ULL, 8);
	assert_int_equal(confirmed, 0);
	assert_ptr_equal(note(48, 16), stream);
}

static unsigned int live_entries(void)
{
	unsigned int i, live = 0;

	for (i = 0; i < STREAMS_MAX + STREAM_CANDIDATES; i++)
		live += table.entry[i].live;
	return live;
}

/* Not so many candidates or streams as it is read times: others would find no entry. */
static void a_loop_is_one_stream(void **state)
{
	unsigned int blocks, n;

	(void)state;
	for (blocks = 1; blocks < 10; blocks++) {
		streams_init(&table, 128);
		for (n = 0; n < 5000; n++)
			note(8000 + n % blocks * 8, 8);
		assert_true(live_entries() <= 4);
		/* The one that has come to the end, and the one on its way there. */
		assert_in_range(table.nr, blocks >= 4, blocks < 4 ? 0 : 2);
		for (n = 0; n < 3; n++)
			assert_null(note(100000 + n * 8, 8));
		assert_non_null(note(100000 + n * 8, 8));
	}
}

/* Whoever of them is first at the next block. */
static void readers_side_by_side_are_one_stream(void **state)
{
	struct stream *stream = NULL;
	unsigned int i, n;

	(void)state;
	for (n = 0; n < 100; n++)
		for (i = 0; i < 3; i++)
			stream = note(n * 8, 8) ?: stream;
	assert_non_null(stream);
	assert_int_equal(stream->next, 800);
	assert_int_equal(table.nr, 1);
	assert_ptr_equal(note(800, 8), stream);
}

/* Its pieces come one by one, each with all that is left of it. */
static void a_cut_read_is_one(void **state)
{
	struct stream *stream;
	unsigned int n;

	(void)state;
	for (n = 0; n < 5; n++)
		assert_null(note(4 * n, 20 - 4 * n));
	assert_null(note(20, 8));
	assert_null(note(28, 8));
	stream = note(36, 20);
	assert_non_null(stream);
	assert_null(note(40, 16));
	assert_null(note(48, 8));
	assert_ptr_equal(note(56, 8), stream);
	assert_int_equal(stream->read_sectors, 20 - 16 + 8 + 8 + 20 + 8);
}

static void the_oldest_gives_way_when_it_has_expired(void **state)
{
	unsigned int n;

	(void)state;
	streams_init(&table, 1);
	for (n = 0; n < 4; n++)
		streams_note(&table, n * 8, 8, 100, 0);
	for (n = 0; n < 10; n++)
		assert_null(streams_note(&table, 5000 + n * 8, 8, 200, 100));
	assert_non_null(streams_note(&table, 5080, 8, 300, 101));
	assert_int_equal(table.nr, 1);
	streams_expire(&table, 300);
	assert_int_equal(table.nr, 1);
	streams_expire(&table, 301);
	assert_int_equal(table.nr, 0);
	assert_null(note(5088, 8));
}

static void confirm(u64 sector, struct stream **stream)
{
	unsigned int n;

	for (n = 0; n < 4; n++)
		*stream = note(sector + n * 16, 16);
	assert_non_null(*stream);
}

static void assert_planned(struct stream *stream, u64 from, u64 to)
{
	u64 planned_from, planned_to;

	assert_true(stream_plan(stream, STEP, 0, END, &planned_from, &planned_to));
	assert_int_equal(planned_from, from);
	assert_int_equal(planned_to, to);
}

static void plans_end_with_the_steps(void **state)
{
	struct stream *stream;
	u64 from, to;

	(void)state;
	confirm(1000, &stream);
	assert_true(stream_wants_more(stream, STEP, 8));
	assert_planned(stream, 1064, 1536);
	assert_true(stream_wants_more(stream, STEP, 8));
	assert_planned(stream, 1536, 2048);
	assert_false(stream_wants_more(stream, STEP, 8));
	/* It overtakes what was planned. */
	note(1064, 2000);
	assert_planned(stream, 3064, 3072);
	assert_false(stream_plan(stream, STEP, 0, 3072, &from, &to));
	assert_false(stream_plan(stream, STEP, 4096, END, &from, &to));
}

static void backward_plans_begin_with_the_steps(void **state)
{
	struct stream *stream;
	u64 from, to;
	unsigned int n;

	(void)state;
	for (n = 0; n < 4; n++)
		stream = note(1116 - n * 16, 16);
	assert_planned(stream, 1024, 1068);
	assert_planned(stream, 512, 1024);
	assert_true(stream_plan(stream, STEP, 100, END, &from, &to));
	assert_int_equal(from, 100);
	assert_int_equal(to, 512);
	assert_false(stream_plan(stream, STEP, 100, END, &from, &to));
}

/* Runs of @run sectors, each @stride after the last one, in reads of 16. */
static struct stream *read_run(u64 start, u32 run)
{
	struct stream *stream = NULL;
	u32 at;

	for (at = 0; at < run; at += 16)
		stream = note(start + at, 16);
	return stream;
}

static void a_stride_seen_twice_is_expected(void **state)
{
	struct stream *stream;

	(void)state;
	read_run(0, 256);
	read_run(10000, 256);
	read_run(20000, 128);
	/* The third run is known for one: what follows it is, too. */
	stream = note(20128, 16);
	assert_planned(stream, 20144, 20256);
	assert_planned(stream, 30000, 30208);
	assert_planned(stream, 30208, 30256);
	assert_planned(stream, 40000, 40448 - 192);
	read_run(20144, 112);
	assert_ptr_equal(note(30000, 16), stream);
	read_run(30016, 240);
	assert_ptr_equal(note(40000, 16), stream);
	/* A longer run: no stride any more. */
	read_run(40016, 256);
	assert_null(note(50000, 16));
}

static void other_strides_are_not_expected(void **state)
{
	(void)state;
	read_run(0, 256);
	read_run(10000, 256);
	read_run(21000, 256);
	assert_null(note(31000, 16));
	assert_null(note(32000, 16));
}

static void degrees_adapt(void **state)
{
	struct stream *stream;

	(void)state;
	confirm(0, &stream);
	assert_int_equal(stream->degree, 2);
	stream_was_in_time(stream, 32);
	assert_int_equal(stream->degree, 4);
	assert_int_equal(stream->trigger, 1);
	stream_was_late(stream, 32);
	assert_int_equal(stream->degree, 8);
	assert_int_equal(stream->trigger, 2);
	stream_was_in_time(stream, 32);
	stream_was_in_time(stream, 32);
	stream_was_in_time(stream, 32);
	assert_int_equal(stream->degree, 32);
	stream_was_wasted(stream);
	assert_int_equal(stream->degree, 16);
	assert_int_equal(stream->trigger, 2);
	/* Others came: its share is smaller now. */
	stream_was_in_time(stream, 1);
	assert_int_equal(stream->degree, 1);
	assert_int_equal(stream->trigger, 1);
	stream_was_wasted(stream);
	assert_int_equal(stream->degree, 1);
	stream_was_late(stream, 0);
	assert_int_equal(stream->degree, 1);
}

/* Who stops after a short time has made others read not much more than it has read. */
static void a_short_stream_earns_little(void **state)
{
	struct stream *stream;
	u64 from, to;

	(void)state;
	confirm(0, &stream);
	stream->degree = 32;
	assert_int_equal(stream->read_sectors, 64);
	assert_int_equal(stream_steps(stream, STEP, 32), 1);
	read_run(64, 3 * STEP);
	assert_int_equal(stream->read_sectors, 64 + 3 * STEP);
	assert_int_equal(stream_steps(stream, STEP, 32), 4);
	assert_int_equal(stream_steps(stream, STEP, 3), 3);
	/* The rest of a step, and a whole one. */
	assert_true(stream_plan(stream, STEP, 0, END, &from, &to));
	assert_true(stream_plan(stream, STEP, 0, END, &from, &to));
	assert_int_equal(stream_steps(stream, STEP, 32), 3);
	stream->trigger = 32;
	assert_true(stream_wants_more(stream, STEP, 32));
	assert_false(stream_wants_more(stream, STEP, 1));
	assert_true(stream_plan(stream, STEP, 0, END, &from, &to));
	assert_true(stream_plan(stream, STEP, 0, END, &from, &to));
	assert_true(stream_plan(stream, STEP, 0, END, &from, &to));
	assert_false(stream_wants_more(stream, STEP, 32));
	assert_int_equal(stream_steps(stream, STEP, 32), 1);
}

/* What is planned is ahead of the reader, ascends, and leaves nothing out. */
static void a_million_steps_hold_together(void **state)
{
	u64 position[8], planned[8];
	unsigned int i, n;

	(void)state;
	srandom(7);
	for (i = 0; i < 8; i++)
		position[i] = planned[i] = (u64)i << 30;
	for (n = 0; n < 1000000; n++) {
		u32 sectors = 1 + random() % 32;
		struct stream *stream;
		u64 from, to;

		i = random() % 8;
		stream = note(position[i], sectors);
		position[i] += sectors;
		if (random() % 16 == 0)
			note(random() * 8ULL + (1ULL << 41), 8);
		if (!stream)
			continue;
		assert_int_equal(stream->next, position[i]);
		if (random() % 64 == 0)
			stream_was_late(stream, 1 + random() % 8);
		if (!stream_wants_more(stream, STEP, 8))
			continue;
		assert_true(stream_plan(stream, STEP, 0, END, &from, &to));
		assert_true(from >= position[i]);
		assert_true(from == planned[i] || planned[i] <= position[i]);
		assert_true(to > from && to - from <= STEP);
		assert_int_equal(to % STEP, 0);
		planned[i] = to;
	}
	assert_int_equal(table.nr, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_fourth_read_confirms, begin),
		cmocka_unit_test_setup(backward_too, begin),
		cmocka_unit_test_setup(interleaved_streams_are_told_apart, begin),
		cmocka_unit_test_setup(random_reads_push_no_stream_out, begin),
		cmocka_unit_test_setup(a_loop_is_one_stream, begin),
		cmocka_unit_test_setup(readers_side_by_side_are_one_stream, begin),
		cmocka_unit_test_setup(a_cut_read_is_one, begin),
		cmocka_unit_test_setup(the_oldest_gives_way_when_it_has_expired, begin),
		cmocka_unit_test_setup(plans_end_with_the_steps, begin),
		cmocka_unit_test_setup(backward_plans_begin_with_the_steps, begin),
		cmocka_unit_test_setup(a_stride_seen_twice_is_expected, begin),
		cmocka_unit_test_setup(other_strides_are_not_expected, begin),
		cmocka_unit_test_setup(degrees_adapt, begin),
		cmocka_unit_test_setup(a_short_stream_earns_little, begin),
		cmocka_unit_test_setup(a_million_steps_hold_together, begin),
	};

	return cmocka_run_group_tests_name("streams", tests, NULL, NULL);
}

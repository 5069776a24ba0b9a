// SPDX-License-Identifier: GPL-2.0
/* A million random steps of the dirtiness of a stripe against an array of flags. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <linux/bitmap.h>

#include "blockmap.h"

#define SECTORS 1792	/* 896 KiB: seven data members of 128 KiB */
#define WORDS ((SECTORS + BITS_PER_LONG - 1) / BITS_PER_LONG)
#define STEPS 1000000

struct model {
	unsigned long map[WORDS];
	bool flag[SECTORS];
};

static u32 random_below(u32 n)
{
	return random() % n;
}

static void pick_run(u32 *first, u32 *count)
{
	*first = random_below(SECTORS);
	*count = 1 + random_below(random_below(4) ? 16 : SECTORS);
	if (*count > SECTORS - *first)
		*count = SECTORS - *first;
}

static void set_both(struct model *model)
{
	u32 first, count, i;
	u32 fresh = 0;

	pick_run(&first, &count);
	for (i = first; i < first + count; i++) {
		fresh += !model->flag[i];
		model->flag[i] = true;
	}
	assert_int_equal(blockmap_set(model->map, first, count), fresh);
}

static enum block_source source_of(const struct model *open, const struct model *older, u32 i)
{
	if (open && open->flag[i])
		return SOURCE_OPEN;
	return older && older->flag[i] ? SOURCE_OLDER : SOURCE_LOWER;
}

static void check_source(const struct model *open, const struct model *older)
{
	u32 first, count, run, want;
	enum block_source source;

	pick_run(&first, &count);
	source = source_of(open, older, first);
	for (want = 1; want < count && source_of(open, older, first + want) == source; want++)
		;
	assert_int_equal(blockmap_source(open ? open->map : NULL, older ? older->map : NULL,
					 first, count, &run), source);
	assert_int_equal(run, want);
}

typedef bool next_fn(const unsigned long *map, u32 size, u32 *first, u32 *count);

/* That @next finds all sectors that are @staged, and no others. */
static void check_runs(const struct model *model, next_fn *next, bool staged)
{
	u32 first = 0, count = 0, i = 0;

	while (next(model->map, SECTORS, &first, &count)) {
		for (; i < first; i++)
			assert_true(model->flag[i] != staged);
		for (; i < first + count; i++)
			assert_true(model->flag[i] == staged);
		assert_true(i == SECTORS || model->flag[i] != staged);
		first += count;
	}
	for (; i < SECTORS; i++)
		assert_true(model->flag[i] != staged);
}

static void check_span(const struct model *model)
{
	u32 from, count, first = 0, end = 0, i;
	bool hole = false;

	pick_run(&from, &count);
	for (i = from; i < from + count; i++) {
		if (model->flag[i])
			continue;
		first = hole ? first : i;
		end = i + 1;
		hole = true;
	}
	assert_int_equal(blockmap_hole_span(model->map, from, from + count, &from, &count), hole);
	if (hole) {
		assert_int_equal(from, first);
		assert_int_equal(count, end);
	}
}

static void maps_follow_the_model(void **state)
{
	static struct model open, older;
	u32 step;

	(void)state;
	srandom(1);
	for (step = 0; step < STEPS; step++) {
		switch (random_below(64)) {
		case 0:
			memset(&open, 0, sizeof(open));
			break;
		case 1:
			memset(&older, 0, sizeof(older));
			break;
		case 2:
			check_runs(&open, blockmap_next_run, true);
			check_runs(&open, blockmap_next_hole, false);
			check_span(&open);
			break;
		case 3:
			set_both(&older);
			break;
		default:
			if (random_below(8))
				check_source(random_below(8) ? &open : NULL,
					     random_below(8) ? &older : NULL);
			else
				set_both(&open);
		}
	}
}

#define CHUNK 128	/* 64 KiB, of which four make a stripe */
#define STRIPE 512
#define SEEK 2048
#define ALONE UINT32_MAX

static void stage_block(unsigned long *map, u32 member, u32 row)
{
	blockmap_set(map, member * CHUNK + row * 8, 8);
}

/* Written in part, m blocks apart take 4m requests; filled, a stripe takes 2n - 1. */
static void filling_pays_for_many_pieces(void **state)
{
	unsigned long map[WORDS] = { 0 };

	(void)state;
	stage_block(map, 0, 1);
	assert_false(blockmap_fill_pays(map, CHUNK, STRIPE, SEEK, ALONE));
	stage_block(map, 1, 3);
	assert_false(blockmap_fill_pays(map, CHUNK, STRIPE, SEEK, ALONE));
	stage_block(map, 2, 5);
	assert_true(blockmap_fill_pays(map, CHUNK, STRIPE, SEEK, ALONE));
	/* Where a request costs next to nothing it is the bytes that count. */
	assert_false(blockmap_fill_pays(map, CHUNK, STRIPE, 32, ALONE));
	assert_false(blockmap_fill_pays(map, CHUNK, STRIPE, 0, ALONE));
}

/* Blocks of the same row share their parity. */
static void filling_counts_parity_by_rows(void **state)
{
	unsigned long map[WORDS] = { 0 };

	(void)state;
	stage_block(map, 0, 2);
	stage_block(map, 1, 2);
	stage_block(map, 2, 2);
	assert_false(blockmap_fill_pays(map, CHUNK, STRIPE, SEEK, ALONE));
}

/*
 * A head or a tail that is missing is cheap for md, unless rows are apart; a hole cuts a
 * request in two.
 */
static void filling_does_not_pay_for_runs(void **state)
{
	unsigned long head[WORDS] = { 0 };
	unsigned long tail[WORDS] = { 0 };
	unsigned long hole[WORDS] = { 0 };

	(void)state;
	blockmap_set(head, 0, 300);
	assert_false(blockmap_fill_pays(head, CHUNK, STRIPE, SEEK, ALONE));
	assert_true(blockmap_fill_pays(head, CHUNK, STRIPE, SEEK, 1));
	blockmap_set(tail, 40, STRIPE - 40);
	assert_false(blockmap_fill_pays(tail, CHUNK, STRIPE, SEEK, ALONE));
	assert_true(blockmap_fill_pays(tail, CHUNK, STRIPE, SEEK, 1));
	blockmap_set(hole, 0, 200);
	blockmap_set(hole, 208, STRIPE - 208);
	assert_true(blockmap_fill_pays(hole, CHUNK, STRIPE, SEEK, ALONE));
}

/* Where each row is requests of its own, some rows do. */
static void filling_pays_for_rows_apart(void **state)
{
	unsigned long map[WORDS] = { 0 };

	(void)state;
	stage_block(map, 0, 1);
	stage_block(map, 0, 2);
	assert_false(blockmap_fill_pays(map, CHUNK, STRIPE, SEEK, 1));
	/* A sector lies in a row as a block does. */
	blockmap_set(map, 3 * 8, 1);
	assert_true(blockmap_fill_pays(map, CHUNK, STRIPE, SEEK, 1));
	assert_false(blockmap_fill_pays(map, CHUNK, STRIPE, SEEK, ALONE));
	assert_false(blockmap_fill_pays(map, CHUNK, STRIPE, 32, 1));
}

/* Beside others md's thread breaks a run where a batch of its own ends. */
static void filling_pays_for_long_runs_in_batches(void **state)
{
	unsigned long map[WORDS] = { 0 };

	(void)state;
	/* Two halves of chunks: 8 rows, which are one batch. */
	blockmap_set(map, 0, CHUNK / 2);
	blockmap_set(map, CHUNK, CHUNK / 2);
	assert_false(blockmap_fill_pays(map, CHUNK, STRIPE, SEEK, 8));
	assert_true(blockmap_fill_pays(map, CHUNK, STRIPE, SEEK, 4));
	/* Two chunks: two batches each, and of parity. */
	blockmap_set(map, 0, 2 * CHUNK);
	assert_false(blockmap_fill_pays(map, CHUNK, STRIPE, SEEK, ALONE));
	assert_true(blockmap_fill_pays(map, CHUNK, STRIPE, SEEK, 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_follow_the_model),
		cmocka_unit_test(filling_pays_for_many_pieces),
		cmocka_unit_test(filling_counts_parity_by_rows),
		cmocka_unit_test(filling_does_not_pay_for_runs),
		cmocka_unit_test(filling_pays_for_rows_apart),
		cmocka_unit_test(filling_pays_for_long_runs_in_batches),
	};

	return cmocka_run_group_tests_name("blockmap", tests, NULL, NULL);
}

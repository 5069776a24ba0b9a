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

static void check_runs(const struct model *model)
{
	u32 first = 0, count = 0, i = 0;

	while (blockmap_next_run(model->map, SECTORS, &first, &count)) {
		for (; i < first; i++)
			assert_false(model->flag[i]);
		for (; i < first + count; i++)
			assert_true(model->flag[i]);
		assert_true(i == SECTORS || !model->flag[i]);
		first += count;
	}
	for (; i < SECTORS; i++)
		assert_false(model->flag[i]);
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
			check_runs(&open);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_follow_the_model),
	};

	return cmocka_run_group_tests_name("blockmap", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/* Stripe arithmetic against a walk over every sector, and the worked cases of the design. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <linux/kernel.h>

#include "geometry.h"

static void widths_are_not_powers_of_two(void **state)
{
	struct geometry geo;
	u32 offset;

	(void)state;
	geometry_init(&geo, 131072, 7, 0, 0, 1 << 20);
	assert_int_equal(geo.stripe_sectors, 1792);
	assert_int_equal(geometry_stripe(&geo, 1791, &offset), 0);
	assert_int_equal(offset, 1791);
	assert_int_equal(geometry_stripe(&geo, 1792, &offset), 1);
	assert_int_equal(offset, 0);
	/* 64 KiB chunk on five members: W is 256 KiB, and 1 << 40 sectors in is exact. */
	geometry_init(&geo, 65536, 4, 0, 0, 1ULL << 41);
	assert_true(geometry_stripe(&geo, 1ULL << 40, &offset) == 1ULL << 31);
	assert_int_equal(offset, 0);
}

/* A partition that begins at 1 MiB on an array of 896 KiB stripes is 128 KiB off. */
static void a_start_inside_a_stripe_leads(void **state)
{
	struct geometry geo;
	u32 offset;

	(void)state;
	geometry_init(&geo, 131072, 7, 1048576 % 917504, 0, 1 << 20);
	assert_int_equal(geo.lead, 256);
	assert_int_equal(geometry_stripe(&geo, 0, &offset), 0);
	assert_int_equal(offset, 256);
	assert_false(geometry_is_whole(&geo, 0));
	assert_true(geometry_is_whole(&geo, 1));
	assert_int_equal(geometry_sector(&geo, 1), 1792 - 256);
	/* The target's start on its device counts as the device's own does. */
	geometry_init(&geo, 131072, 7, 0, 2048, 1 << 20);
	assert_int_equal(geo.lead, 256);
}

static void every_sector_is_in_one_stripe(void **state)
{
	static const u32 members[] = {1, 2, 3, 4, 5, 6, 7, 11};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(members); i++) {
		u32 width = 8 * members[i];
		u32 lead;

		for (lead = 0; lead < width; lead++) {
			struct geometry geo;
			u64 len = 5 * width + 3;
			u64 stripe = 0;
			u32 offset = lead;
			u64 sector;

			geometry_init(&geo, 4096, members[i], (u64)lead * 512, 0, len);
			for (sector = 0; sector < len; sector++, offset++) {
				u32 got;

				if (offset == width) {
					offset = 0;
					stripe++;
				}
				assert_true(geometry_stripe(&geo, sector, &got) == stripe);
				assert_int_equal(got, offset);
				if (!geometry_is_whole(&geo, stripe)) {
					/* Cut at an end of the device. */
					assert_true((stripe == 0 && lead) ||
						    sector - offset + width > len);
				} else {
					assert_true(geometry_sector(&geo, stripe) ==
						    sector - offset);
					assert_true(sector - offset + width <= len);
				}
			}
		}
	}
}

static void a_device_under_one_stripe_has_none(void **state)
{
	struct geometry geo;

	(void)state;
	geometry_init(&geo, 65536, 4, 0, 0, 511);
	assert_false(geometry_is_whole(&geo, 0));
	assert_false(geometry_is_whole(&geo, 1));
	geometry_init(&geo, 65536, 4, 0, 0, 512);
	assert_true(geometry_is_whole(&geo, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(widths_are_not_powers_of_two),
		cmocka_unit_test(a_start_inside_a_stripe_leads),
		cmocka_unit_test(every_sector_is_in_one_stripe),
		cmocka_unit_test(a_device_under_one_stripe_has_none),
	};

	return cmocka_run_group_tests_name("geometry", tests, NULL, NULL);
}

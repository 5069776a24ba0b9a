// SPDX-License-Identifier: GPL-2.0
/* The arithmetic: the worked cases of vectors.json, its borders, and whole plans. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "lib/macros.h"
#include "lib/rule.h"

static struct rule_array array_of(struct json_object *v)
{
	return (struct rule_array) {
		.level = vector_int(v, "level"),
		.members = vector_int(v, "members"),
		.copies = vector_int(v, "copies"),
		.chunk_bytes = vector_int(v, "chunk"),
	};
}

static void test_stripe_width_vectors(void **state)
{
	struct json_object *all = vectors("stripe_width");

	(void)state;
	assert_true(json_object_array_length(all) > 0);
	for (size_t i = 0; i < json_object_array_length(all); i++) {
		struct json_object *v = json_object_array_get_idx(all, i);
		struct rule_array array = array_of(v);
		uint64_t stripe = 1;

		assert_int_equal(rule_stripe_bytes(&array, &stripe, NULL), 0);
		/* null, "no stripe", reads as 0 */
		assert_int_equal(stripe, vector_int(v, "stripe"));
	}
}

static void test_cluster_vectors(void **state)
{
	struct json_object *all = vectors("cluster");

	(void)state;
	assert_true(json_object_array_length(all) > 0);
	for (size_t i = 0; i < json_object_array_length(all); i++) {
		struct json_object *v = json_object_array_get_idx(all, i);

		assert_int_equal(rule_cluster_bytes(vector_int(v, "bandwidth"),
						    vector_int(v, "stripe"), NULL, 0, NULL),
				 vector_int(v, "cluster"));
	}
}

static void test_throttle_vectors(void **state)
{
	struct json_object *all = vectors("throttle");

	(void)state;
	assert_true(json_object_array_length(all) > 0);
	for (size_t i = 0; i < json_object_array_length(all); i++) {
		struct json_object *v = json_object_array_get_idx(all, i);
		struct rule_water_marks marks = rule_water_marks(vector_int(v, "ram"));

		assert_int_equal(marks.high, vector_int(v, "high_water"));
		assert_int_equal(marks.low, vector_int(v, "low_water"));
	}
}

static void test_alignment_vectors(void **state)
{
	struct json_object *all = vectors("alignment");

	(void)state;
	assert_true(json_object_array_length(all) > 0);
	for (size_t i = 0; i < json_object_array_length(all); i++) {
		struct json_object *v = json_object_array_get_idx(all, i);

		assert_int_equal(rule_misaligned_by(vector_int(v, "start"), vector_int(v, "stripe")),
				 vector_int(v, "misaligned_by"));
	}
	assert_int_equal(rule_misaligned_by(1048576, 0), 0);
}

static void test_row_cost_vectors(void **state)
{
	struct rule_array array = { .level = 5, .members = 5, .chunk_bytes = 131072 };
	unsigned int n = 0;

	(void)state;
	json_object_object_foreach(vectors("md_row_cost_raid5_5_members"), dirty, text) {
		unsigned int d, reads, writes;
		struct rule_row_cost cost;

		assert_int_equal(sscanf(dirty, "%u", &d), 1);
		assert_int_equal(sscanf(json_object_get_string(text), "%u read%*[s ] %u writes",
					&reads, &writes), 2);
		assert_int_equal(rule_row_cost(&array, d, &cost), 0);
		assert_int_equal(cost.reads, reads);
		assert_int_equal(cost.writes, writes);
		n++;
	}
	assert_int_equal(n, 4);
}

/* reference: R8 is 2+2, 3+3, 4+4, 3+5, 2+6, 1+7, 0+8; three members have 1+2 */
static void test_row_cost_more(void **state)
{
	static const unsigned int reads[] = { 2, 3, 4, 3, 2, 1, 0 };
	struct rule_array array = { .level = 5, .members = 8, .chunk_bytes = 131072 };
	struct rule_row_cost cost;

	(void)state;
	for (unsigned int m = 1; m <= 7; m++) {
		assert_int_equal(rule_row_cost(&array, m, &cost), 0);
		assert_int_equal(cost.reads, reads[m - 1]);
		assert_int_equal(cost.writes, m + 1);
	}
	assert_int_equal(rule_row_cost(&array, 8, &cost), -EINVAL);
	assert_int_equal(rule_row_cost(&array, 0, &cost), -EINVAL);
	array.members = 3;
	assert_int_equal(rule_row_cost(&array, 1, &cost), 0);
	assert_int_equal(cost.reads, 1);
	assert_int_equal(cost.writes, 2);
	array = (struct rule_array) { .level = 6, .members = 8, .chunk_bytes = 131072 };
	assert_int_equal(rule_row_cost(&array, 1, &cost), 0);
	assert_int_equal(cost.reads, 3);
	assert_int_equal(cost.writes, 3);
	array = (struct rule_array) { .level = 0, .members = 8, .chunk_bytes = 131072 };
	assert_int_equal(rule_row_cost(&array, 1, &cost), -EINVAL);
}

static void test_impossible_arrays(void **state)
{
	static const struct {
		struct rule_array array;
		int result;
	} cases[] = {
		{ { .level = 5, .members = 1, .chunk_bytes = 65536 }, -EINVAL },
		{ { .level = 6, .members = 3, .chunk_bytes = 65536 }, -EINVAL },
		{ { .level = 0, .members = 0, .chunk_bytes = 65536 }, -EINVAL },
		{ { .level = 2, .members = 5, .chunk_bytes = 65536 }, -EINVAL },
		{ { .level = 10, .members = 4, .chunk_bytes = 65536 }, -EINVAL },
		{ { .level = 10, .members = 2, .copies = 3, .chunk_bytes = 65536 }, -EINVAL },
		{ { .level = 5, .members = 5, .chunk_bytes = 0 }, -EINVAL },
		{ { .level = 5, .members = 5, .chunk_bytes = 1000 }, -EINVAL },
		{ { .level = 5, .members = 5, .chunk_bytes = 1ull << 63 }, -ERANGE },
		{ { .level = 0, .members = ~0u, .chunk_bytes = 1ull << 40 }, -ERANGE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t stripe = 42;

		assert_int_equal(rule_stripe_bytes(&cases[i].array, &stripe, NULL), cases[i].result);
		assert_int_equal(stripe, 42);
	}
}

static void test_raid10_of_odd_members(void **state)
{
	struct rule_array array = { .level = 10, .members = 3, .copies = 2, .chunk_bytes = 65536 };
	uint64_t stripe;

	(void)state;
	assert_int_equal(rule_stripe_bytes(&array, &stripe, NULL), 0);
	assert_int_equal(stripe, 3 * 65536);
}

static void test_cluster_extremes(void **state)
{
	(void)state;
	assert_int_equal(rule_cluster_bytes(0, 0, NULL, 0, NULL), 131072);
	assert_int_equal(rule_cluster_bytes(1, 0, NULL, 0, NULL), 131072);
	assert_true(rule_cluster_bytes(UINT64_MAX, 0, NULL, 0, NULL) >= UINT64_MAX / 200);
	assert_true(rule_cluster_bytes(UINT64_MAX, 1ull << 63, NULL, 0, NULL) == 1ull << 63);
	assert_true(rule_cluster_bytes(UINT64_MAX, UINT64_MAX, NULL, 0, NULL) == UINT64_MAX);
}

struct limit_case {
	uint64_t bandwidth, stripe, limit, share, cluster;
};

static void test_cluster_limits(void **state)
{
	static const struct limit_case cases[] = {
		/* no stripes: down to a multiple of 8 KiB, or the limit itself if it is smaller */
		{ 104857600, 0, 131072, 1, 131072 },
		{ 104857600, 0, 126976, 1, 122880 },
		{ 104857600, 0, 4096, 1, 4096 },
		/* whole stripes: 700 MiB/s on 8 x 128 KiB under md's 1 MiB */
		{ 734003200, 917504, 1048576, 1, 917504 },
		{ 419430400, 524288, 1048576, 1, 1048576 },
		{ 419430400, 524288, 1572863, 1, 1048576 },
		/* one stripe is the least */
		{ 104857600, 917504, 524288, 1, 917504 },
		/* a member gets a part: 4 x 1280 KiB = 5 MiB */
		{ 419430400, 524288, 1310720, 4, 2097152 },
		{ 419430400, 524288, 262144, 4, 1048576 },
		{ 419430400, 524288, UINT64_MAX, 4, 2097152 },
		{ 104857600, 524288, 524288, 1, 524288 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct limit_case *c = &cases[i];
		struct rule_limit limits[] = {
			{ .name = "wide", .bytes = 1ull << 40, .share = 1 },
			{ .name = "layer", .bytes = c->limit, .share = c->share },
		};

		assert_int_equal(rule_cluster_bytes(c->bandwidth, c->stripe, limits, 2, NULL),
				 c->cluster);
	}
}

/* Whatever goes in, a cluster is whole stripes and carries the bandwidth unless a layer forbids. */
static void test_cluster_properties(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		uint64_t bandwidth, stripe, cluster;

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		bandwidth = seed >> (24 + i % 30);
		stripe = (1 + (seed >> 60)) * 4096 * (1 + i % 64);
		cluster = rule_cluster_bytes(bandwidth, stripe, NULL, 0, NULL);
		assert_int_equal(cluster % stripe, 0);
		assert_true(cluster >= RULE_CLUSTER_MIN);
		assert_true(cluster >= bandwidth / RULE_IOS_PER_SECOND);
		/* and none of its stripes is superfluous */
		assert_true(cluster == stripe || cluster - stripe < RULE_CLUSTER_MIN ||
			    cluster - stripe < bandwidth / RULE_IOS_PER_SECOND + RULE_CLUSTER_UNIT);
	}
}

static void test_sum_is_shown(void **state)
{
	struct rule_array array = { .level = 5, .members = 8, .chunk_bytes = 131072 };
	struct rule_sum sum = { .n = 0 };
	uint64_t stripe;

	(void)state;
	assert_int_equal(rule_stripe_bytes(&array, &stripe, &sum), 0);
	assert_int_equal(rule_cluster_bytes(104857600, stripe, NULL, 0, &sum), 917504);
	assert_int_equal(sum.n, 4);
	assert_string_equal(sum.lines[0],
			    "RAID5 of 8 members has 7 data members: 7 x 128 KiB chunk = stripe width 896 KiB");
	assert_string_equal(sum.lines[1],
			    "bandwidth 100 MiB/s / 200 I/Os per second = 512 KiB");
	assert_string_equal(sum.lines[2], "up to a multiple of 8 KiB: 512 KiB");
	assert_string_equal(sum.lines[3], "up to a multiple of the stripe width 896 KiB: 896 KiB");
}

static const struct rule_array raid5_of_5 = { .level = 5, .members = 5, .chunk_bytes = 65536 };

static struct profile_summary busy(uint64_t peak)
{
	return (struct profile_summary) { .ios = 1000, .completed = 1000, .peak_rate = peak };
}

static void test_plan(void **state)
{
	struct rule_settings current = { .stripe_bytes = 131072, .cluster_bytes = 262144 };
	struct profile_summary profile = busy(83ull << 20);
	struct plan plan;

	(void)state;
	assert_int_equal(rule_plan(&profile, &raid5_of_5, NULL, 0, &current, &plan), 0);
	assert_int_equal(plan.n, 2);
	assert_string_equal(plan.items[0].attribute, "stripe_bytes");
	assert_int_equal(plan.items[0].old, 131072);
	assert_int_equal(plan.items[0].new, 262144);
	assert_int_equal(plan.items[0].scenario, SCENARIO_STRIPE_OF_ARRAY);
	assert_string_equal(plan.items[0].reason,
			    "RAID5 of 5 members: 4 data members x 64 KiB chunk = 256 KiB");
	assert_string_equal(plan.items[1].attribute, "cluster_bytes");
	assert_int_equal(plan.items[1].old, 262144);
	assert_int_equal(plan.items[1].new, 524288);
	assert_int_equal(plan.items[1].scenario, SCENARIO_BANDWIDTH_RULE);
	assert_string_equal(plan.items[1].reason,
			    "peak 83 MiB/s / 200 I/Os per second = 425.0 KiB, up to a multiple of the stripe width 256 KiB");
}

static void test_plan_of_array_alone(void **state)
{
	static const struct rule_array grown = { .level = 5, .members = 6, .chunk_bytes = 65536 };
	static const struct rule_array none = { .level = RULE_LEVEL_NONE };
	static const struct rule_array mirror = { .level = 1, .members = 2 };
	static const struct rule_array impossible = { .level = 6, .members = 3, .chunk_bytes = 65536 };
	struct rule_settings current = { .stripe_bytes = 262144, .cluster_bytes = 1 << 20 };
	struct plan plan;

	(void)state;
	assert_int_equal(rule_plan_array(&grown, &current, &plan), 0);
	assert_int_equal(plan.n, 1);
	assert_string_equal(plan.items[0].attribute, "stripe_bytes");
	assert_int_equal(plan.items[0].old, 262144);
	assert_int_equal(plan.items[0].new, 327680);
	assert_false(plan.items[0].left_alone);
	assert_int_equal(rule_plan_array(&impossible, &current, &plan), -EINVAL);
	assert_int_equal(plan.n, 1);
	assert_int_equal(rule_plan_array(&none, &current, &plan), 0);
	assert_int_equal(plan.n, 0);
	assert_int_equal(rule_plan_array(&mirror, &current, &plan), 0);
	assert_int_equal(plan.n, 0);
}

static void test_plan_scenarios(void **state)
{
	struct rule_settings current = { .stripe_bytes = 262144, .cluster_bytes = 262144 };
	struct rule_limit limit = { .name = "md0 max_sectors_kb", .bytes = 1 << 20, .share = 1 };
	struct profile_summary profile = busy(1 << 20);
	struct plan plan;

	(void)state;
	assert_int_equal(rule_plan(&profile, &raid5_of_5, &limit, 1, &current, &plan), 0);
	assert_int_equal(plan.items[1].scenario, SCENARIO_LEAST_CLUSTER);
	assert_int_equal(plan.items[1].new, 262144);

	profile = busy(1ull << 30);
	assert_int_equal(rule_plan(&profile, &raid5_of_5, &limit, 1, &current, &plan), 0);
	assert_int_equal(plan.items[1].scenario, SCENARIO_LAYER_LIMIT);
	assert_int_equal(plan.items[1].new, 1 << 20);
	assert_non_null(strstr(plan.items[1].reason, "md0 max_sectors_kb = 1 MiB"));

	limit.bytes = 131072;
	assert_int_equal(rule_plan(&profile, &raid5_of_5, &limit, 1, &current, &plan), 0);
	assert_int_equal(plan.items[1].scenario, SCENARIO_STRIPE_OVER_LIMIT);
	assert_int_equal(plan.items[1].new, 262144);
}

static void test_plan_without_array(void **state)
{
	static const struct rule_array none = { .level = RULE_LEVEL_NONE };
	static const struct rule_array mirror = { .level = 1, .members = 2 };
	struct rule_settings current = { .stripe_bytes = 196608, .cluster_bytes = 196608 };
	struct profile_summary profile = busy(100 << 20);
	struct plan plan;

	(void)state;
	assert_int_equal(rule_plan(&profile, &none, NULL, 0, &current, &plan), 0);
	assert_int_equal(plan.n, 1);
	assert_string_equal(plan.items[0].attribute, "cluster_bytes");
	assert_int_equal(plan.items[0].new, 3 * 196608);
	assert_int_equal(rule_plan(&profile, &mirror, NULL, 0, &current, &plan), 0);
	assert_int_equal(plan.n, 1);
}

/* Somebody else set the stripe width: the cluster is whole stripes of that. */
static void test_plan_keeps_stripe(void **state)
{
	struct rule_settings current = { .stripe_bytes = 196608, .cluster_bytes = 196608,
					 .keep_stripe = true };
	struct profile_summary profile = busy(100 << 20);
	struct plan plan;

	(void)state;
	assert_int_equal(rule_plan(&profile, &raid5_of_5, NULL, 0, &current, &plan), 0);
	assert_int_equal(plan.n, 1);
	assert_string_equal(plan.items[0].attribute, "cluster_bytes");
	assert_int_equal(plan.items[0].new, 3 * 196608);
	assert_string_equal(plan.sum.lines[1],
			    "somebody else set stripe_bytes: the target's own width 192 KiB is kept");
}

static void test_plan_refused(void **state)
{
	struct rule_settings current = { .stripe_bytes = 262144, .cluster_bytes = 262144 };
	struct profile_summary profile = busy(1 << 20);
	struct rule_array array = raid5_of_5;
	struct plan plan = { .n = 42 };

	(void)state;
	profile.ios = RULE_LEAST_IOS - 1;
	assert_int_equal(rule_plan(&profile, &array, NULL, 0, &current, &plan), -ENODATA);
	profile = busy(1 << 20);
	profile.completed = 0;
	assert_int_equal(rule_plan(&profile, &array, NULL, 0, &current, &plan), -ENODATA);
	profile = busy(1 << 20);
	array.members = 1;
	assert_int_equal(rule_plan(&profile, &array, NULL, 0, &current, &plan), -EINVAL);
	current.stripe_bytes = 0;
	assert_int_equal(rule_plan(&profile, &raid5_of_5, NULL, 0, &current, &plan), -EINVAL);
	assert_int_equal(plan.n, 42);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stripe_width_vectors),
		cmocka_unit_test(test_cluster_vectors),
		cmocka_unit_test(test_throttle_vectors),
		cmocka_unit_test(test_alignment_vectors),
		cmocka_unit_test(test_row_cost_vectors),
		cmocka_unit_test(test_row_cost_more),
		cmocka_unit_test(test_impossible_arrays),
		cmocka_unit_test(test_raid10_of_odd_members),
		cmocka_unit_test(test_cluster_extremes),
		cmocka_unit_test(test_cluster_limits),
		cmocka_unit_test(test_cluster_properties),
		cmocka_unit_test(test_sum_is_shown),
		cmocka_unit_test(test_plan),
		cmocka_unit_test(test_plan_of_array_alone),
		cmocka_unit_test(test_plan_scenarios),
		cmocka_unit_test(test_plan_without_array),
		cmocka_unit_test(test_plan_keeps_stripe),
		cmocka_unit_test(test_plan_refused),
	};

	return cmocka_run_group_tests_name("rule", tests, NULL, NULL);
}

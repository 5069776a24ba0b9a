// SPDX-License-Identifier: GPL-2.0
/* What the layers are set to: the rule, and the order in which it is done and taken back. */
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "lib/layer_rule.h"
#include "lib/macros.h"
#include "lib/transaction.h"

#define KIB	1024ull
#define MIB	(1024 * KIB)
#define GIB	(1024 * MIB)

static const struct rule_array raid5_of_5 = { .level = 5, .members = 5, .chunk_bytes = 65536 };
static const struct rule_settings target = { .stripe_bytes = 262144, .cluster_bytes = 262144 };

static struct layer_settings any_settings(void)
{
	return (struct layer_settings) {
		.read_ahead_kb = 128,
		.array = "md0",
		.stripe_cache_size = 256,
		.max_ratio = 100,
		.has_strict_limit = true,
		.ram_bytes = 4 * GIB,
		.dirty_bytes = GIB,
	};
}

static struct profile_summary sequential(uint64_t peak)
{
	return (struct profile_summary) {
		.ios = 1000, .reads = 500, .writes = 500, .completed = 1000, .peak_rate = peak,
		.access = ACCESS_SEQUENTIAL, .sequential = 0.9, .random = 0.1,
	};
}

static struct rule_limit layer(const char *disk, uint64_t share, uint64_t soft, uint64_t hard)
{
	struct rule_limit l = {
		.bytes = soft, .share = share, .soft_bytes = soft, .hard_bytes = hard,
	};

	snprintf(l.disk, sizeof(l.disk), "%s", disk);
	snprintf(l.name, sizeof(l.name), "%s max_sectors_kb", disk);
	return l;
}

static const struct plan_item *item(const struct plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->n; i++)
		if (strcmp(plan->items[i].attribute, name) == 0)
			return &plan->items[i];
	return NULL;
}

static uint64_t new_of(const struct plan *plan, const char *name)
{
	const struct plan_item *i = item(plan, name);

	if (!i)
		fail_msg("%s is not planned", name);
	return i->new;
}

static bool sum_says(const struct plan *plan, const char *what)
{
	for (size_t i = 0; i < plan->sum.n; i++)
		if (strstr(plan->sum.lines[i], what))
			return true;
	return false;
}

/* As the daemon decides. */
static struct plan plan_all(const struct profile_summary *profile, const struct rule_array *array,
			    struct rule_limit *limits, size_t n, const struct layer_settings *layers)
{
	struct plan plan;

	layer_rule_open(limits, n);
	assert_int_equal(rule_plan(profile, array, limits, n, &target, &plan), 0);
	layer_rule_plan(profile, array, limits, n, &target, layers, &plan);
	return plan;
}

/* The cluster is what the hardware carries; each layer is raised to its part of it. */
static void test_chain(void **state)
{
	struct rule_limit limits[] = {
		layer("dm-1", 1, 512 * KIB, 4 * MIB),
		layer("md0", 1, 512 * KIB, MIB),
		layer("sda", 4, 128 * KIB, 2 * MIB),
		layer("sdb", 4, 1280 * KIB, 2 * MIB),
	};
	const struct profile_summary profile = sequential(GIB);
	const struct layer_settings layers = any_settings();
	struct plan plan = plan_all(&profile, &raid5_of_5, limits, ARRAY_SIZE(limits), &layers);

	(void)state;
	assert_int_equal(new_of(&plan, "cluster_bytes"), MIB);
	assert_int_equal(item(&plan, "cluster_bytes")->scenario, SCENARIO_LAYER_LIMIT);
	assert_non_null(strstr(item(&plan, "cluster_bytes")->reason, "md0 max_hw_sectors_kb = 1 MiB"));
	assert_int_equal(new_of(&plan, "dm-1/max_sectors_kb"), 1024);
	assert_int_equal(new_of(&plan, "md0/max_sectors_kb"), 1024);
	assert_int_equal(new_of(&plan, "sda/max_sectors_kb"), 256);
	assert_string_equal(item(&plan, "sda/max_sectors_kb")->reason,
			    "a cluster of 1 MiB is 256 KiB for each of 4 data members");
	/* It carries more, and stays so. */
	assert_int_equal(new_of(&plan, "sdb/max_sectors_kb"), 1280);
	assert_int_equal(item(&plan, "sdb/max_sectors_kb")->old, 1280);
	/* Lowest first, then the device's own, and read_ahead_kb last. */
	assert_string_equal(plan.items[0].attribute, "sdb/max_sectors_kb");
	assert_string_equal(plan.items[3].attribute, "dm-1/max_sectors_kb");
	assert_string_equal(plan.items[4].attribute, "md0/stripe_cache_size");
	assert_string_equal(plan.items[5].attribute, "stripe_bytes");
	assert_string_equal(plan.items[6].attribute, "cluster_bytes");
	assert_string_equal(plan.items[plan.n - 1].attribute, "read_ahead_kb");
}

/*
 * Who bounds it is named: here it is what a disk says itself. md has a limit of its own, which
 * may be above that of its disks, and one of theirs may be above what their driver can do.
 */
static void test_block_limits(void **state)
{
	struct rule_limit limits[] = {
		layer("md0", 1, 256 * KIB, MIB), layer("sda", 4, 512 * KIB, 512 * KIB),
		layer("sdb", 4, 64 * KIB, 256 * KIB),
	};
	const struct profile_summary profile = sequential(GIB);
	const struct layer_settings layers = any_settings();
	struct plan plan;

	(void)state;
	limits[0].disk_bytes = 512 * KIB;
	limits[1].disk_bytes = 512 * KIB;
	limits[2].disk_bytes = 768 * KIB;
	plan = plan_all(&profile, &raid5_of_5, limits, ARRAY_SIZE(limits), &layers);
	assert_string_equal(limits[0].name, "md0 vpd_pgb0");
	assert_string_equal(limits[2].name, "sdb max_hw_sectors_kb");
	assert_int_equal(new_of(&plan, "cluster_bytes"), 512 * KIB);
	assert_non_null(strstr(item(&plan, "cluster_bytes")->reason, "md0 vpd_pgb0 = 512 KiB"));
	assert_int_equal(new_of(&plan, "md0/max_sectors_kb"), 512);
	assert_int_equal(new_of(&plan, "sda/max_sectors_kb"), 512);
	assert_int_equal(new_of(&plan, "sdb/max_sectors_kb"), 128);
}

/* A stripe that is more than a disk says it takes: it gets what it can. */
static void test_stripe_over_block_limits(void **state)
{
	struct rule_limit limits[] = { layer("sda", 1, 64 * KIB, MIB) };
	const struct profile_summary profile = sequential(GIB);
	const struct layer_settings layers = any_settings();
	struct plan plan;

	(void)state;
	limits[0].disk_bytes = 128 * KIB;
	plan = plan_all(&profile, &raid5_of_5, limits, ARRAY_SIZE(limits), &layers);
	assert_int_equal(new_of(&plan, "sda/max_sectors_kb"), 128);
	assert_string_equal(item(&plan, "sda/max_sectors_kb")->reason,
			    "a cluster of 256 KiB goes through it whole, but vpd_pgb0 allows no more than 128 KiB");
}

/* What somebody else set stays, and bounds the cluster. */
static void test_kept_layer(void **state)
{
	struct rule_limit limits[] = {
		layer("md0", 1, 512 * KIB, MIB), layer("sda", 4, 128 * KIB, 2 * MIB),
	};
	const struct profile_summary profile = sequential(GIB);
	const struct layer_settings layers = any_settings();
	struct plan plan;

	(void)state;
	limits[0].kept = true;
	plan = plan_all(&profile, &raid5_of_5, limits, ARRAY_SIZE(limits), &layers);
	assert_int_equal(new_of(&plan, "cluster_bytes"), 512 * KIB);
	assert_int_equal(new_of(&plan, "md0/max_sectors_kb"), 512);
	assert_int_equal(new_of(&plan, "sda/max_sectors_kb"), 128);
}

/* A stripe that is more than the hardware carries: the layer gets what it can. */
static void test_stripe_over_hardware(void **state)
{
	static const struct rule_array wide = { .level = 5, .members = 5, .chunk_bytes = 512 * KIB };
	struct rule_limit limits[] = { layer("md0", 1, 512 * KIB, MIB) };
	const struct profile_summary profile = sequential(GIB);
	const struct layer_settings layers = any_settings();
	struct plan plan = plan_all(&profile, &wide, limits, 1, &layers);

	(void)state;
	assert_int_equal(new_of(&plan, "cluster_bytes"), 2 * MIB);
	assert_int_equal(new_of(&plan, "md0/max_sectors_kb"), 1024);
	assert_int_equal(item(&plan, "md0/max_sectors_kb")->scenario, SCENARIO_LAYER_LIMIT);
	assert_non_null(strstr(item(&plan, "md0/max_sectors_kb")->reason, "no more than 1 MiB"));
	/* 2 clusters x 1 stripe x 128 rows x 4/3, up to a multiple of 8. */
	assert_int_equal(new_of(&plan, "md0/stripe_cache_size"), 344);
	assert_non_null(strstr(item(&plan, "md0/stripe_cache_size")->reason,
			       "344 x 5 members x 4 KiB = 6.7 MiB of memory"));
}

/* A disk that is below two others is set once, for the one that asks most of it. */
static void test_disk_of_two(void **state)
{
	struct rule_limit limits[] = {
		layer("md0", 1, MIB, MIB), layer("sda", 4, 4 * KIB, 2 * MIB),
		layer("sda", 4, 4 * KIB, 2 * MIB),
	};
	const struct profile_summary profile = sequential(GIB);
	const struct layer_settings layers = any_settings();
	struct plan plan = plan_all(&profile, &raid5_of_5, limits, ARRAY_SIZE(limits), &layers);

	(void)state;
	assert_string_equal(plan.items[0].attribute, "sda/max_sectors_kb");
	assert_string_equal(plan.items[1].attribute, "md0/max_sectors_kb");
}

static void test_many_layers(void **state)
{
	struct rule_limit limits[RULE_LAYERS_MAX];
	const struct profile_summary profile = sequential(GIB);
	const struct layer_settings layers = any_settings();
	struct plan plan;

	(void)state;
	for (size_t i = 0; i < RULE_LAYERS_MAX; i++) {
		char disk[16];

		snprintf(disk, sizeof(disk), "sd%zu", i);
		limits[i] = layer(disk, 4, 128 * KIB, MIB);
	}
	plan = plan_all(&profile, &raid5_of_5, limits, RULE_LAYERS_MAX, &layers);
	assert_true(plan.n <= PLAN_ITEMS_MAX);
	assert_non_null(item(&plan, "read_ahead_kb"));
	assert_true(sum_says(&plan, "no more than"));
}

static void test_stripe_cache(void **state)
{
	static const struct rule_array raid6 = { .level = 6, .members = 34, .chunk_bytes = MIB };
	static const struct rule_array raid10 = { .level = 10, .members = 4, .copies = 2,
						  .chunk_bytes = 65536 };
	const struct profile_summary profile = sequential(MIB);
	struct layer_settings layers = any_settings();
	struct plan plan;

	(void)state;
	/* One stripe of 16 rows: what is there is more, and stays. */
	plan = plan_all(&profile, &raid5_of_5, NULL, 0, &layers);
	assert_int_equal(new_of(&plan, "md0/stripe_cache_size"), 256);
	layers.stripe_cache_size = 17;
	plan = plan_all(&profile, &raid5_of_5, NULL, 0, &layers);
	assert_int_equal(new_of(&plan, "md0/stripe_cache_size"), 48);

	/* 2 x 256 rows x 4/3 = 688 of 136 KiB are 91 MiB, and 1/64 of 4 GiB are 64. */
	plan = plan_all(&profile, &raid6, NULL, 0, &layers);
	assert_int_equal(new_of(&plan, "md0/stripe_cache_size"), 480);
	assert_int_equal(item(&plan, "md0/stripe_cache_size")->scenario, SCENARIO_MEMORY_LIMIT);
	layers.stripe_cache_size = 500;
	plan = plan_all(&profile, &raid6, NULL, 0, &layers);
	assert_int_equal(new_of(&plan, "md0/stripe_cache_size"), 500);

	/* What has no effect is left, and that is said. */
	assert_true(sum_says(&plan, "group_thread_cnt is left"));
	assert_true(sum_says(&plan, "skip_copy is left"));
	plan = plan_all(&profile, &raid10, NULL, 0, &layers);
	assert_null(item(&plan, "md0/stripe_cache_size"));
	assert_false(sum_says(&plan, "skip_copy"));
	layers.array[0] = '\0';
	plan = plan_all(&profile, &raid6, NULL, 0, &layers);
	assert_int_equal(plan.n, 3);
}

static void test_read_ahead(void **state)
{
	struct profile_summary profile = sequential(150 * MIB);
	const struct layer_settings layers = any_settings();
	struct plan plan;

	(void)state;
	plan = plan_all(&profile, &raid5_of_5, NULL, 0, &layers);
	assert_int_equal(new_of(&plan, "read_ahead_kb"), 768);
	assert_int_equal(item(&plan, "read_ahead_kb")->scenario, SCENARIO_READ_AHEAD);
	profile.peak_rate = MIB;
	plan = plan_all(&profile, &raid5_of_5, NULL, 0, &layers);
	assert_int_equal(new_of(&plan, "read_ahead_kb"), 512);
	profile.access = ACCESS_STRIDED;
	plan = plan_all(&profile, &raid5_of_5, NULL, 0, &layers);
	assert_int_equal(new_of(&plan, "read_ahead_kb"), 512);

	profile.access = ACCESS_RANDOM;
	profile.random = 0.75;
	plan = plan_all(&profile, &raid5_of_5, NULL, 0, &layers);
	assert_int_equal(new_of(&plan, "read_ahead_kb"), 0);
	assert_int_equal(item(&plan, "read_ahead_kb")->scenario, SCENARIO_RANDOM_READS);
	assert_non_null(strstr(item(&plan, "read_ahead_kb")->reason, "75 %"));

	profile.reads = RULE_LEAST_IOS - 1;
	plan = plan_all(&profile, &raid5_of_5, NULL, 0, &layers);
	assert_null(item(&plan, "read_ahead_kb"));
	assert_true(sum_says(&plan, "read_ahead_kb is left as it is: 15 reads"));
}

static void test_dirty(void **state)
{
	struct profile_summary profile = sequential(51 * MIB);
	struct layer_settings layers = any_settings();
	struct plan plan;

	(void)state;
	/* Nobody waits. */
	plan = plan_all(&profile, &raid5_of_5, NULL, 0, &layers);
	assert_null(item(&plan, "max_ratio"));
	assert_true(sum_says(&plan, "max_ratio is left as it is: 0 % of the I/Os are waited for"));

	profile.latency_sensitive = true;
	profile.sync = 0.8;
	plan = plan_all(&profile, &raid5_of_5, NULL, 0, &layers);
	/* 5 %, up to a power of two. */
	assert_int_equal(new_of(&plan, "max_ratio"), 8);
	assert_int_equal(new_of(&plan, "strict_limit"), 1);
	/* As good as right. */
	layers.max_ratio = 16;
	plan = plan_all(&profile, &raid5_of_5, NULL, 0, &layers);
	assert_int_equal(new_of(&plan, "max_ratio"), 16);
	layers.max_ratio = 17;
	plan = plan_all(&profile, &raid5_of_5, NULL, 0, &layers);
	assert_int_equal(new_of(&plan, "max_ratio"), 8);
	/* The kernel refuses less. */
	layers.min_ratio = 20;
	layers.max_ratio = 100;
	plan = plan_all(&profile, &raid5_of_5, NULL, 0, &layers);
	assert_int_equal(new_of(&plan, "max_ratio"), 32);
	layers.min_ratio = 51;
	plan = plan_all(&profile, &raid5_of_5, NULL, 0, &layers);
	assert_null(item(&plan, "max_ratio"));
	layers.min_ratio = 0;

	/* 6.1 */
	layers.has_strict_limit = false;
	plan = plan_all(&profile, &raid5_of_5, NULL, 0, &layers);
	assert_null(item(&plan, "strict_limit"));
	assert_true(sum_says(&plan, "no strict_limit"));

	/* Never under 32 MiB, and not more than there is. */
	profile.peak_rate = 1;
	layers.dirty_bytes = 320 * MIB;
	layers.max_ratio = 100;
	plan = plan_all(&profile, &raid5_of_5, NULL, 0, &layers);
	assert_int_equal(new_of(&plan, "max_ratio"), 16);
	layers.dirty_bytes = 63 * MIB;
	plan = plan_all(&profile, &raid5_of_5, NULL, 0, &layers);
	assert_null(item(&plan, "max_ratio"));
	layers.dirty_bytes = 0;
	plan = plan_all(&profile, &raid5_of_5, NULL, 0, &layers);
	assert_null(item(&plan, "max_ratio"));
}

/* Writes it all, as the kernel would take it. Return: how many writes; @order names each. */
static size_t run(const struct transaction *t, uint64_t *found, const char **order)
{
	struct transaction_write w;
	size_t n = 0;

	while (transaction_next(t, found, &w)) {
		assert_true(n < 16);
		assert_true(found[w.index] != w.value);
		order[n++] = t->changes[w.index].name;
		found[w.index] = w.value;
		/* Some kernels do, with each write of max_sectors_kb. */
		for (size_t i = 0; i < t->n; i++)
			if (setting_is(t->changes[w.index].name, "max_sectors_kb") &&
			    transaction_is_kept(&t->changes[i]))
				found[i] = 4096;
	}
	return n;
}

static struct transaction three_layers(void)
{
	struct transaction t = { .kind = TRANSACTION_APPLY };

	transaction_add(&t, "sda/max_sectors_kb", 128, 256);
	transaction_add(&t, "md0/max_sectors_kb", 512, 1024);
	transaction_add(&t, "cluster_bytes", 262144, 1048576);
	transaction_add(&t, "max_ratio", 100, 5);
	transaction_add(&t, "read_ahead_kb", 128, 1024);
	transaction_add(&t, "sda/read_ahead_kb", 128, 128);
	return t;
}

static void test_order(void **state)
{
	static const char * const up[] = {
		"sda/max_sectors_kb", "md0/max_sectors_kb", "cluster_bytes", "max_ratio",
		"read_ahead_kb", "sda/read_ahead_kb",
	};
	static const char * const down[] = {
		"cluster_bytes", "max_ratio", "md0/max_sectors_kb", "sda/max_sectors_kb",
		"read_ahead_kb", "sda/read_ahead_kb",
	};
	uint64_t found[] = { 128, 512, 262144, 100, 128, 128 };
	struct transaction t = three_layers();
	const char *order[16];

	(void)state;
	assert_int_equal(run(&t, found, order), ARRAY_SIZE(up));
	for (size_t i = 0; i < ARRAY_SIZE(up); i++)
		assert_string_equal(order[i], up[i]);
	assert_int_equal(found[5], 128);
	t.undoing = true;
	assert_int_equal(run(&t, found, order), ARRAY_SIZE(down));
	for (size_t i = 0; i < ARRAY_SIZE(down); i++)
		assert_string_equal(order[i], down[i]);
	assert_int_equal(found[1], 512);
	assert_int_equal(found[5], 128);
}

/* What the kernel moved is not somebody else's, and what was only kept is no change. */
static void test_kept_read_ahead(void **state)
{
	const uint64_t found[] = { 256, 1024, 1048576, 5, 1024, 128 };
	struct transaction t = three_layers();

	(void)state;
	assert_false(transaction_foreign(&t, 5, 4096));
	assert_true(transaction_foreign(&t, 4, 4096));
	assert_true(transaction_foreign(&t, 0, 4096));
	transaction_settle(&t, found);
	assert_int_equal(t.n, 5);
	assert_string_equal(t.changes[4].name, "read_ahead_kb");
}

static void test_names(void **state)
{
	static const char * const good[] = {
		"hold_ms", "read_ahead_kb", "md0/stripe_cache_size", "cciss!c0d0/max_sectors_kb",
		"nvme0n1/read_ahead_kb", "md_d0/max_sectors_kb",
	};
	static const char * const bad[] = {
		"", "/", "Hold", "../hold_ms", "../read_ahead_kb", "md0/", "/max_sectors_kb",
		"md0/level", "md0/../max_sectors_kb", "md0/x/max_sectors_kb", "a b/max_ratio",
		"a-name-of-a-disk-that-is-much-too-long/max_ratio", "hold ms",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		if (!setting_is_valid(good[i]))
			fail_msg("%s", good[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (setting_is_valid(bad[i]))
			fail_msg("%s", bad[i]);
}

/* From counters: what is not known is left alone, and what is known counts as from a trace. */
static void test_counted(void **state)
{
	struct profile_summary profile = sequential(150 * MIB), traced = profile;
	const struct layer_settings layers = any_settings();
	struct plan plan, plan_traced;

	(void)state;
	profile.obstacle = OBSTACLE_NO_DEBUGFS;
	profile.access = ACCESS_UNKNOWN;
	profile.sequential = profile.strided = profile.random = profile.sync = -1;
	plan = plan_all(&profile, &raid5_of_5, NULL, 0, &layers);
	plan_traced = plan_all(&traced, &raid5_of_5, NULL, 0, &layers);
	assert_int_equal(new_of(&plan, "cluster_bytes"), new_of(&plan_traced, "cluster_bytes"));
	assert_int_equal(new_of(&plan, "md0/stripe_cache_size"),
			 new_of(&plan_traced, "md0/stripe_cache_size"));
	assert_null(item(&plan, "read_ahead_kb"));
	assert_true(sum_says(&plan, "read_ahead_kb is left as it is: counters do not tell"));
	assert_null(item(&plan, "max_ratio"));
	assert_true(sum_says(&plan, "max_ratio is left as it is: counters do not tell"));

	profile.access = ACCESS_SEQUENTIAL;
	plan = plan_all(&profile, &raid5_of_5, NULL, 0, &layers);
	assert_int_equal(new_of(&plan, "read_ahead_kb"), 768);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_block_limits),
		cmocka_unit_test(test_stripe_over_block_limits),
		cmocka_unit_test(test_kept_layer),
		cmocka_unit_test(test_stripe_over_hardware),
		cmocka_unit_test(test_disk_of_two),
		cmocka_unit_test(test_many_layers),
		cmocka_unit_test(test_stripe_cache),
		cmocka_unit_test(test_read_ahead),
		cmocka_unit_test(test_dirty),
		cmocka_unit_test(test_counted),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_kept_read_ahead),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests_name("layers", tests, NULL, NULL);
}

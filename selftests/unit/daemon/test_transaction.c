// SPDX-License-Identifier: GPL-2.0
/*
 * Transactions against the module's own checks: whatever is changed to whatever, each
 * write is one that the module takes, and all is as it should be in the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "lib/macros.h"
#include "lib/transaction.h"
#include "settings.h"

#define CHUNK	65536u
#define MIB	(1ull << 20)

static const struct surroundings around = {
	.ram_bytes = 4ull << 30,
	.block_bytes = 512,
	.found_chunk_bytes = CHUNK,
	.found_data_members = 4,
};

static uint64_t seed = 1;

static uint64_t up_to(uint64_t most)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33) % (most + 1);
}

static void give(struct settings *s, enum setting key, uint64_t value)
{
	const char *error = "";
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	if (settings_set(s, key, text, &error) < 0)
		fail_msg("%s", error);
}

/* Any settings that the module takes; some of them given, the rest its defaults. */
static struct settings any_settings(void)
{
	uint64_t stripe = (1 + up_to(11)) * CHUNK, high = 2 * stripe + up_to(64 * MIB);
	uint64_t parts = 1 + up_to(3), file = up_to(3) ? 2 * stripe + up_to(32 * MIB) : 0;
	struct settings s = { .given = 0 };
	const char *error = "";

	give(&s, SETTING_STRIPE_BYTES, stripe);
	if (up_to(3))
		give(&s, SETTING_CLUSTER_BYTES, stripe * (1 + up_to(7)));
	if (up_to(3)) {
		give(&s, SETTING_HIGH_WATER_BYTES, high);
		if (up_to(1))
			give(&s, SETTING_LOW_WATER_BYTES, up_to(high - stripe));
	}
	if (up_to(3)) {
		give(&s, SETTING_FILE_HIGH_WATER_BYTES, file);
		if (up_to(1))
			give(&s, SETTING_FILE_LOW_WATER_BYTES, up_to(file ? file - 1 : MIB));
	}
	if (up_to(1)) {
		give(&s, SETTING_READ_PREF_IO, stripe / CHUNK * 4096 * parts);
		give(&s, SETTING_READ_NSTREAM, CHUNK / 4096 * (1 + up_to(2)));
		give(&s, SETTING_PREFETCH_BYTES, 256 * MIB + up_to(64 * MIB));
	} else if (up_to(1)) {
		give(&s, SETTING_PREFETCH_BYTES, 2 * stripe + up_to(MIB));
	}
	if (up_to(1))
		give(&s, SETTING_HOLD_MS, 1 + up_to(10000));
	if (settings_complete(&s, &around, &error) < 0)
		fail_msg("%s", error);
	return s;
}

static const enum setting keys[] = {
	SETTING_HOLD_MS, SETTING_LOW_WATER_BYTES, SETTING_PREFETCH_BYTES, SETTING_CLUSTER_BYTES,
	SETTING_FILE_LOW_WATER_BYTES, SETTING_READ_NSTREAM, SETTING_STRIPE_BYTES,
	SETTING_READ_PREF_IO, SETTING_FILE_HIGH_WATER_BYTES, SETTING_HIGH_WATER_BYTES,
};

static void read_found(const struct settings *s, uint64_t found[static ARRAY_SIZE(keys)])
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		found[i] = s->value[keys[i]];
}

/* One write. Return: whether there was one to do. */
static bool step(struct settings *s, const struct transaction *t)
{
	uint64_t found[ARRAY_SIZE(keys)];
	struct transaction_write w;
	const char *error = "";
	char text[32];

	read_found(s, found);
	if (!transaction_next(t, found, &w))
		return false;
	assert_true(found[w.index] != w.value);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)w.value);
	if (settings_change(s, keys[w.index], text, &around, &error) < 0)
		fail_msg("%s: %llu -> %s was refused: %s", t->changes[w.index].name,
			 (unsigned long long)found[w.index], text, error);
	return true;
}

static void test_module_takes_each_write(void **state)
{
	unsigned int longest = 0;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct settings from = any_settings(), to = any_settings(), s = from;
		struct transaction t = { .n = 0 };
		unsigned int writes = 0, until = up_to(30);

		for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
			assert_non_null(transaction_add(&t, setting_name(keys[i]),
							from.value[keys[i]], to.value[keys[i]]));
		while (writes < until && step(&s, &t))
			assert_true(++writes < 25);
		if (writes > longest)
			longest = writes;
		if (writes < until)
			for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
				assert_int_equal(s.value[keys[i]], to.value[keys[i]]);
		/* From wherever it got to, it goes back. */
		t.undoing = true;
		for (writes = 0; step(&s, &t);)
			assert_true(++writes < 25);
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
			assert_int_equal(s.value[keys[i]], from.value[keys[i]]);
	}
	assert_true(longest >= ARRAY_SIZE(keys));
}

/* Only stripe width and cluster are wanted; what the module moves comes back with them. */
static void test_followers_come_back(void **state)
{
	unsigned int moved = 0;

	(void)state;
	for (int round = 0; round < 5000; round++) {
		struct settings from = any_settings(), to = any_settings(), s = from, after;
		struct transaction t = { .n = 0 };
		uint64_t found[ARRAY_SIZE(keys)];
		const char *error = "";
		char text[32];

		/* Given marks may be too narrow for the new width: then the module refuses it. */
		snprintf(text, sizeof(text), "%llu",
			 (unsigned long long)to.value[SETTING_STRIPE_BYTES]);
		after = from;
		if (settings_change(&after, SETTING_STRIPE_BYTES, text, &around, &error) < 0)
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
			struct change *c = transaction_add(&t, setting_name(keys[i]),
							   from.value[keys[i]],
							   to.value[keys[i]]);

			c->follows = keys[i] != SETTING_STRIPE_BYTES &&
				     keys[i] != SETTING_CLUSTER_BYTES;
			if (c->follows)
				c->new = c->old;
		}
		while (step(&s, &t))
			;
		assert_int_equal(s.value[SETTING_STRIPE_BYTES], to.value[SETTING_STRIPE_BYTES]);
		assert_int_equal(s.value[SETTING_CLUSTER_BYTES], to.value[SETTING_CLUSTER_BYTES]);
		read_found(&s, found);
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
			moved += t.changes[i].follows && found[i] != t.changes[i].old;
		t.undoing = true;
		while (step(&s, &t))
			;
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
			assert_int_equal(s.value[keys[i]], from.value[keys[i]]);
	}
	assert_true(moved > 0);
}

static struct transaction two_changes(void)
{
	struct transaction t = { .kind = TRANSACTION_APPLY };

	transaction_add(&t, "hold_ms", 5000, 100);
	transaction_add(&t, "streams", 128, 64);
	return t;
}

static void test_foreign(void **state)
{
	struct transaction t = two_changes();

	(void)state;
	assert_false(transaction_foreign(&t, 0, 5000));
	assert_false(transaction_foreign(&t, 0, 100));
	assert_true(transaction_foreign(&t, 0, 128));
	assert_true(transaction_foreign(&t, 1, 5000));
}

/* What somebody else set is left alone when ours is taken back. */
static void test_undo_leaves_foreign_values(void **state)
{
	struct transaction t = two_changes();
	uint64_t found[] = { 100, 7 };
	struct transaction_write w;

	(void)state;
	t.undoing = true;
	assert_true(transaction_next(&t, found, &w));
	assert_int_equal(w.index, 0);
	assert_int_equal(w.value, 5000);
	found[0] = 5000;
	assert_false(transaction_next(&t, found, &w));
}

/* With the stripe width the module moves the cluster, to a value that nobody set. */
static void test_moved_is_not_foreign(void **state)
{
	struct transaction t = { .kind = TRANSACTION_APPLY };

	(void)state;
	transaction_add(&t, "cluster_bytes", 3 * CHUNK, 16 * CHUNK);
	assert_true(transaction_foreign(&t, 0, 4 * CHUNK));
	transaction_add(&t, "stripe_bytes", 3 * CHUNK, 4 * CHUNK);
	assert_false(transaction_foreign(&t, 0, 4 * CHUNK));
	assert_true(transaction_foreign(&t, 1, 5 * CHUNK));
}

static void test_settle(void **state)
{
	struct transaction t = { .kind = TRANSACTION_APPLY };
	const uint64_t found[] = { 4, 30, 20 };

	(void)state;
	transaction_add(&t, "stripe_bytes", 3, 4);
	transaction_add(&t, "cluster_bytes", 10, 10)->follows = true;
	transaction_add(&t, "high_water_bytes", 20, 20)->follows = true;
	transaction_settle(&t, found);
	assert_int_equal(t.n, 2);
	assert_string_equal(t.changes[1].name, "cluster_bytes");
	assert_int_equal(t.changes[1].old, 10);
	assert_int_equal(t.changes[1].new, 30);
	assert_int_equal(t.changes[0].new, 4);
}

static void test_add_refuses(void **state)
{
	struct transaction t = { .n = 0 };
	char name[2] = "a";

	(void)state;
	for (size_t i = 0; i < TRANSACTION_CHANGES_MAX; i++, name[0]++)
		assert_non_null(transaction_add(&t, name, 0, 1));
	assert_null(transaction_add(&t, "more", 0, 1));
	t.n = 1;
	assert_null(transaction_add(&t, "a", 0, 1));
	assert_null(transaction_add(&t, "a name that is longer than all those of settings, and those of layers", 0, 1));
	assert_int_equal(t.n, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_module_takes_each_write),
		cmocka_unit_test(test_followers_come_back),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_undo_leaves_foreign_values),
		cmocka_unit_test(test_moved_is_not_foreign),
		cmocka_unit_test(test_settle),
		cmocka_unit_test(test_add_refuses),
	};

	return cmocka_run_group_tests_name("transaction", tests, NULL, NULL);
}

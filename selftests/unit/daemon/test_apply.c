// SPDX-License-Identifier: GPL-2.0
/*
 * Applying, taking back and recovering, on a folder of plain files that stands for the
 * device's in sysfs, with a state directory beside it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "lib/macros.h"
#include "lib/render.h"
#include "src/apply.h"
#include "src/sysfs.h"

#define SUBJECT		"dm-uuid-FULLSTRIPE-unit"
#define STATE_PATH	"state/" SUBJECT ".json"

static char state_folder[96], disks[96];

static const struct setting_place place = { .own = root, .disks = disks };

static struct state_layer layers[] = {
	{ .disk = "md0", .id = "md/uuid:1", .instance = "this making" },
	{ .disk = "sda", .id = "wwid:a", .instance = "this making" },
};

/* Open, and loaded from, while a test runs. */
static struct store store;
static struct state s;

/* As two_values plans them. */
#define OLD_HOLD	5000
#define NEW_HOLD	100
#define OLD_STREAMS	128
#define NEW_STREAMS	64

static const struct plan two_values = {
	.n = 2,
	.items = {
		{ .attribute = "hold_ms", .new = NEW_HOLD, .reason = "because" },
		{ .attribute = "streams", .new = NEW_STREAMS, .reason = "therefore" },
	},
};

/* What another process finds now. */
static void load(void)
{
	memset(&s, 0xa5, sizeof(s));
	assert_int_equal(store_load(&store, SUBJECT, &s), 0);
	state_see(&s, "this making", layers, ARRAY_SIZE(layers));
}

static int open_store(void **state)
{
	if (make_root(state) < 0)
		return -1;
	snprintf(state_folder, sizeof(state_folder), "%s/state", root);
	snprintf(disks, sizeof(disks), "%s/disks", root);
	assert_int_equal(store_open(state_folder, STORE_CHANGE, &store), 0);
	load();
	return 0;
}

static int close_store(void **state)
{
	store_close(&store);
	return remove_root(state);
}

#define in_store(test)	cmocka_unit_test_setup_teardown(test, open_store, close_store)

static void put_old(void)
{
	put("hold_ms", "5000");
	put("streams", "128");
}

static bool is(uint64_t hold, uint64_t streams)
{
	return value_of("hold_ms") == hold && value_of("streams") == streams;
}

static struct transaction prepared(bool force)
{
	struct plan plan = two_values;
	struct transaction t;

	for (size_t i = 0; i < plan.n; i++)
		assert_int_equal(sysfs_read_number(&plan.items[i].old, "%s/%s", root,
						   plan.items[i].attribute), 0);
	if (!force)
		state_mark_foreign(&s, &plan);
	assert_int_equal(apply_prepare(&place, &plan, &t), 0);
	return t;
}

static void apply_two(void)
{
	const struct transaction t = prepared(false);

	assert_int_equal(t.n, 2);
	assert_int_equal(apply_run(&place, &store, &s, &t), 0);
}

/* Return: how many values were taken back. */
static size_t roll_back(bool force)
{
	struct transaction t;

	assert_int_equal(apply_prepare_rollback(&place, &s, force, &t), 0);
	assert_int_equal(apply_run(&place, &store, &s, &t), 0);
	return t.n;
}

/* Begun by a process that was killed when it had come to these values. */
static void kill_at(const char *hold, const char *streams)
{
	struct transaction t;

	put_old();
	t = prepared(true);
	state_begin(&s, &t, 1);
	assert_int_equal(store_save(&store, &s), 0);
	put("hold_ms", hold);
	put("streams", streams);
	load();
	assert_true(s.under_way);
}

static void test_apply_and_rollback(void **state)
{
	struct transaction t;

	(void)state;
	put_old();
	assert_int_equal(apply_prepare_rollback(&place, &s, false, &t), -ENODATA);
	apply_two();
	assert_true(is(NEW_HOLD, NEW_STREAMS));

	load();
	assert_false(s.under_way);
	assert_int_equal(s.n_history, 1);
	assert_int_equal(s.history[0].outcome, OUTCOME_DONE);
	assert_int_equal(s.history[0].id, 1);
	assert_string_equal(s.history[0].changes[0].reason, "because");
	t = prepared(false);
	assert_int_equal(t.n, 0);

	assert_int_equal(roll_back(false), 2);
	assert_true(is(OLD_HOLD, OLD_STREAMS));
	assert_int_equal(s.history[0].outcome, OUTCOME_TAKEN_BACK);
	assert_int_equal(apply_prepare_rollback(&place, &s, false, &t), -ENODATA);
}

/* What is right is not written, and makes no entry. */
static void test_what_is_right(void **state)
{
	struct transaction t;

	(void)state;
	put("hold_ms", "100");
	put("streams", "128");
	t = prepared(false);
	assert_int_equal(t.n, 1);
	assert_string_equal(t.changes[0].name, "streams");
	assert_int_equal(t.changes[0].old, OLD_STREAMS);
}

static void test_foreign_write(void **state)
{
	struct transaction t;

	(void)state;
	put_old();
	apply_two();
	put("hold_ms", "777");
	t = prepared(false);
	assert_int_equal(t.n, 0);
	t = prepared(true);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.changes[0].old, 777);

	/* Taken back is only what is ours. */
	assert_int_equal(roll_back(false), 1);
	assert_true(is(777, OLD_STREAMS));
}

static void test_forced_rollback(void **state)
{
	(void)state;
	put_old();
	apply_two();
	put("hold_ms", "777");
	assert_int_equal(roll_back(true), 2);
	assert_true(is(OLD_HOLD, OLD_STREAMS));
}

/*
 * A value that takes and reads otherwise, as a clamped one does: the kernel keeps
 * of this process's coredump_filter only the bits that it knows, and prints them
 * in hexadecimal.
 */
static void test_refused_is_undone(void **state)
{
	struct transaction t = { .kind = TRANSACTION_APPLY };
	char path[128];

	(void)state;
	put_old();
	snprintf(path, sizeof(path), "%s/clamped", root);
	/* Nothing for it is not 0, but what is usual. */
	assert_int_equal(symlink("/proc/self/timerslack_ns", path), 0);
	put("clamped", "70000");
	transaction_add(&t, "hold_ms", OLD_HOLD, NEW_HOLD);
	transaction_add(&t, "streams", OLD_STREAMS, NEW_STREAMS);
	transaction_add(&t, "clamped", 70000, 0);
	assert_int_equal(apply_run(&place, &store, &s, &t), -EIO);
	assert_true(is(OLD_HOLD, OLD_STREAMS));
	assert_int_equal(value_of("clamped"), 70000);
	assert_false(s.under_way);
	assert_int_equal(s.history[0].outcome, OUTCOME_UNDONE);
	assert_int_equal(s.n_values, 0);
	assert_int_equal(apply_prepare_rollback(&place, &s, false, &t), -ENODATA);
}

/* Where the process was killed: each value is old or new, or somebody else's. */
static void test_recover(void **state)
{
	static const struct {
		const char *hold, *streams;
		uint64_t hold_after, streams_after;
		enum transaction_outcome outcome;
	} cases[] = {
		{ "5000", "128", NEW_HOLD, NEW_STREAMS, OUTCOME_DONE },
		{ "100", "128", NEW_HOLD, NEW_STREAMS, OUTCOME_DONE },
		{ "100", "64", NEW_HOLD, NEW_STREAMS, OUTCOME_DONE },
		{ "100", "7", OLD_HOLD, 7, OUTCOME_UNDONE },
		{ "7", "128", 7, OLD_STREAMS, OUTCOME_UNDONE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t n = s.n_history;

		kill_at(cases[i].hold, cases[i].streams);
		assert_int_equal(apply_recover(&place, &store, &s), 0);
		assert_false(s.under_way);
		assert_true(is(cases[i].hold_after, cases[i].streams_after));
		load();
		assert_int_equal(s.n_history, n + 1);
		assert_int_equal(s.history[n].outcome, cases[i].outcome);
		assert_true(s.history[n].interrupted);
	}
}

/* It can neither be done nor taken back: it stays under way, and is taken back later. */
static void test_recover_later(void **state)
{
	(void)state;
	kill_at("100", "nonsense");
	assert_int_equal(apply_recover(&place, &store, &s), -EBADMSG);
	load();
	assert_true(s.under_way);
	assert_true(s.now.undoing);
	put("streams", "128");
	assert_int_equal(apply_recover(&place, &store, &s), 0);
	assert_true(is(OLD_HOLD, OLD_STREAMS));
	assert_int_equal(s.history[0].outcome, OUTCOME_UNDONE);
}

/* With the stripe width come those that the device moves, to be brought back. */
static void test_followers_are_noted(void **state)
{
	static const struct plan plan = {
		.n = 1,
		.items = { { .attribute = "stripe_bytes", .new = 262144 } },
	};
	struct transaction t;

	(void)state;
	put("stripe_bytes", "131072");
	assert_int_equal(apply_prepare(&place, &plan, &t), -ENOENT);
	for (size_t i = 0; transaction_followers[i]; i++)
		put(transaction_followers[i], "1");
	assert_int_equal(apply_prepare(&place, &plan, &t), 0);
	assert_int_equal(t.n, 9);
	assert_false(t.changes[0].follows);
	assert_true(t.changes[8].follows);
}

static const struct plan deep = {
	.n = 3,
	.items = {
		{ .attribute = "sda/max_sectors_kb", .new = 256, .reason = "because" },
		{ .attribute = "md0/stripe_cache_size", .new = 512, .reason = "therefore" },
		{ .attribute = "hold_ms", .new = NEW_HOLD, .reason = "and so" },
	},
};

static void put_deep(void)
{
	put("disks/sda/queue/max_sectors_kb", "128");
	put("disks/sda/queue/read_ahead_kb", "4096");
	put("disks/md0/md/stripe_cache_size", "256");
	put_old();
}

static bool deep_is(uint64_t sectors, uint64_t cache, uint64_t hold)
{
	return value_of("disks/sda/queue/max_sectors_kb") == sectors &&
	       value_of("disks/sda/queue/read_ahead_kb") == 4096 &&
	       value_of("disks/md0/md/stripe_cache_size") == cache && value_of("hold_ms") == hold;
}

/* Layers are of the same change; what the kernel moves with max_sectors_kb is kept. */
static void test_layers(void **state)
{
	struct transaction t;

	(void)state;
	put_deep();
	assert_int_equal(apply_prepare(&place, &deep, &t), 0);
	assert_int_equal(t.n, 4);
	assert_string_equal(t.changes[3].name, "sda/read_ahead_kb");
	assert_int_equal(t.changes[3].new, 4096);
	assert_int_equal(apply_run(&place, &store, &s, &t), 0);
	assert_true(deep_is(256, 512, NEW_HOLD));
	assert_int_equal(s.n_values, 3);
	load();
	assert_int_equal(s.history[0].n, 3);
	assert_true(state_is_foreign(&s, "md0/stripe_cache_size", 300));

	put("disks/md0/md/stripe_cache_size", "300");
	assert_int_equal(roll_back(false), 3);
	assert_true(deep_is(128, 300, OLD_HOLD));
}

/* Killed when the kernel had moved what is kept: it is no foreign value, and comes back. */
static void test_recover_layers(void **state)
{
	struct transaction t;

	(void)state;
	put_deep();
	assert_int_equal(apply_prepare(&place, &deep, &t), 0);
	state_begin(&s, &t, 1);
	assert_int_equal(store_save(&store, &s), 0);
	put("disks/sda/queue/max_sectors_kb", "256");
	put("disks/sda/queue/read_ahead_kb", "512");
	load();
	assert_int_equal(apply_recover(&place, &store, &s), 0);
	assert_true(deep_is(256, 512, NEW_HOLD));
	assert_int_equal(s.history[0].outcome, OUTCOME_DONE);
}

/* A layer that refuses takes all of it back, the device's own too. */
static void test_layer_refuses(void **state)
{
	struct transaction t;

	(void)state;
	put_deep();
	assert_int_equal(apply_prepare(&place, &deep, &t), 0);
	put("disks/md0/md/stripe_cache_size", "1000");
	assert_int_equal(apply_run(&place, &store, &s, &t), -EBUSY);
	assert_true(deep_is(128, 1000, OLD_HOLD));
	assert_int_equal(s.history[0].outcome, OUTCOME_UNDONE);
}

/* The device was made anew since: only the layers have something to go back to. */
static void test_rollback_of_layers(void **state)
{
	struct transaction t;

	(void)state;
	put_deep();
	assert_int_equal(apply_prepare(&place, &deep, &t), 0);
	assert_int_equal(apply_run(&place, &store, &s, &t), 0);
	state_see(&s, "another making", layers, ARRAY_SIZE(layers));
	assert_int_equal(roll_back(false), 3);
	assert_true(deep_is(128, 256, NEW_HOLD));
}

static void set_cache(uint64_t to)
{
	struct plan plan = {
		.n = 1,
		.items = { { .attribute = "md0/stripe_cache_size", .new = to } },
	};
	struct transaction t;

	assert_int_equal(apply_prepare(&place, &plan, &t), 0);
	assert_int_equal(apply_run(&place, &store, &s, &t), 0);
}

/* Return: how many values were given back. */
static size_t restore(void)
{
	struct transaction t;

	assert_int_equal(apply_prepare_restore(&place, &s, &t), 0);
	if (t.n > 0)
		assert_int_equal(apply_run(&place, &store, &s, &t), 0);
	return t.n;
}

/* However often they were set, layers get back what they had; the device's own goes with it. */
static void test_restore(void **state)
{
	struct transaction t;

	(void)state;
	put_deep();
	assert_int_equal(restore(), 0);
	assert_int_equal(apply_prepare(&place, &deep, &t), 0);
	assert_int_equal(apply_run(&place, &store, &s, &t), 0);
	/* More than are remembered. */
	for (uint64_t i = 0; i < STATE_HISTORY_MAX; i++)
		set_cache(1024 + i);
	load();
	assert_int_equal(restore(), 3);
	assert_true(deep_is(128, 256, NEW_HOLD));
	assert_int_equal(s.history[STATE_HISTORY_MAX - 1].kind, TRANSACTION_RESTORE);
	assert_int_equal(s.history[STATE_HISTORY_MAX - 1].n, 2);
	assert_string_equal(s.history[STATE_HISTORY_MAX - 1].changes[0].name, "sda/max_sectors_kb");
	assert_null(state_last_applied(&s));
	assert_int_equal(s.history[0].outcome, OUTCOME_VOID);
	assert_int_equal(restore(), 0);
}

/* What is no longer there keeps nothing else from being given back. */
static void test_restore_without_cache(void **state)
{
	struct transaction t;
	char path[128];

	(void)state;
	put_deep();
	assert_int_equal(apply_prepare(&place, &deep, &t), 0);
	assert_int_equal(apply_run(&place, &store, &s, &t), 0);
	snprintf(path, sizeof(path), "%s/disks/md0/md/stripe_cache_size", root);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(restore(), 2);
	assert_int_equal(value_of("disks/sda/queue/max_sectors_kb"), 128);
}

/* An apply was killed, and then the device was removed: its own settings are gone. */
static void test_restore_interrupted(void **state)
{
	struct transaction t;

	(void)state;
	put_deep();
	set_cache(300);
	assert_int_equal(apply_prepare(&place, &deep, &t), 0);
	state_begin(&s, &t, 1);
	assert_int_equal(store_save(&store, &s), 0);
	put("disks/md0/md/stripe_cache_size", "512");
	load();
	state_see(&s, "", layers, ARRAY_SIZE(layers));
	assert_int_equal(apply_recover(&place, &store, &s), 0);
	assert_int_equal(value_of("disks/md0/md/stripe_cache_size"), 300);
	assert_int_equal(restore(), 1);
	assert_true(deep_is(128, 256, OLD_HOLD));
}

/* What somebody else sets is his; what he had set before it was set from here again comes back. */
static void test_restore_foreign(void **state)
{
	(void)state;
	put_deep();
	set_cache(512);
	put("disks/md0/md/stripe_cache_size", "300");
	assert_int_equal(restore(), 0);
	assert_true(deep_is(128, 300, OLD_HOLD));
	set_cache(1024);
	load();
	assert_int_equal(restore(), 1);
	assert_true(deep_is(128, 300, OLD_HOLD));
}

/* As the kernel has them of the device: beside its own. */
static void test_paths(void **state)
{
	char path[PATH_MAX];
	const struct setting_place p = { .own = "/sys/block/dm-0/fullstripe", .disks = "/sys/class/block" };

	(void)state;
	assert_string_equal(setting_path(&p, "hold_ms", path), "/sys/block/dm-0/fullstripe/hold_ms");
	assert_string_equal(setting_path(&p, "read_ahead_kb", path),
			    "/sys/block/dm-0/fullstripe/../queue/read_ahead_kb");
	assert_string_equal(setting_path(&p, "strict_limit", path),
			    "/sys/block/dm-0/fullstripe/../bdi/strict_limit");
	assert_string_equal(setting_path(&p, "md0/stripe_cache_size", path),
			    "/sys/class/block/md0/md/stripe_cache_size");
}

static bool is_there(const char *file)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", root, file);
	return access(path, F_OK) == 0;
}

static void test_corrupt_is_set_aside(void **state)
{
	static const char * const texts[] = {
		"", "{", "[]", "{}", "nonsense", "{ \"version\": 3 } more",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		put(STATE_PATH, texts[i]);
		load();
		assert_int_equal(s.n_history, 0);
		assert_string_equal(s.device, SUBJECT);
		assert_false(is_there(STATE_PATH));
		assert_true(is_there(STATE_PATH ".corrupt"));
	}
}

/* Who only looks neither trusts it nor touches it. */
static void test_corrupt_is_refused(void **state)
{
	(void)state;
	store_close(&store);
	put(STATE_PATH, "nonsense");
	assert_int_equal(store_open(state_folder, STORE_LOOK, &store), 0);
	assert_int_equal(store_load(&store, SUBJECT, &s), -EUCLEAN);
	assert_true(is_there(STATE_PATH));
}

/* Of another device, though it has this one's name. */
static void test_state_of_another(void **state)
{
	struct json_object *object;

	(void)state;
	snprintf(s.device, sizeof(s.device), "dm-name-other");
	object = state_render(&s);
	put(STATE_PATH, render_text(object));
	json_object_put(object);
	load();
	assert_true(is_there(STATE_PATH ".corrupt"));
}

/* What a crash left of the file that was being written is no harm. */
static void test_left_over_temporary(void **state)
{
	(void)state;
	put(STATE_PATH ".new", "{ \"version\": 1, \"dev");
	put_old();
	apply_two();
	assert_false(is_there(STATE_PATH ".new"));
	load();
	assert_int_equal(s.n_history, 1);
}

static void test_no_folder_is_nothing_known(void **state)
{
	char path[96];

	(void)state;
	s.last_id = 7;
	store_close(&store);
	snprintf(path, sizeof(path), "%s/none", root);
	assert_int_equal(store_open(path, STORE_LOOK, &store), 0);
	assert_int_equal(store_load(&store, SUBJECT, &s), 0);
	assert_int_equal(s.last_id, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		in_store(test_apply_and_rollback),
		in_store(test_what_is_right),
		in_store(test_foreign_write),
		in_store(test_forced_rollback),
		in_store(test_refused_is_undone),
		in_store(test_recover),
		in_store(test_recover_later),
		in_store(test_followers_are_noted),
		in_store(test_layers),
		in_store(test_recover_layers),
		in_store(test_layer_refuses),
		in_store(test_rollback_of_layers),
		in_store(test_restore),
		in_store(test_restore_foreign),
		in_store(test_restore_without_cache),
		in_store(test_restore_interrupted),
		in_store(test_paths),
		in_store(test_corrupt_is_set_aside),
		in_store(test_corrupt_is_refused),
		in_store(test_state_of_another),
		in_store(test_left_over_temporary),
		in_store(test_no_folder_is_nothing_known),
	};

	return cmocka_run_group_tests_name("apply", tests, NULL, NULL);
}

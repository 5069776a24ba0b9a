// SPDX-License-Identifier: GPL-2.0
/*
 * Applying, taking back and recovering, on a folder of plain files that stands for the
 * device's in sysfs, with a state directory beside it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"
#include "lib/macros.h"
#include "lib/render.h"
#include "src/apply.h"
#include "src/sysfs.h"

#define SUBJECT		"dm-uuid-FULLSTRIPE-unit"
#define STATE_PATH	"state/" SUBJECT ".json"

static char state_folder[96];

/* As two_changes() plans them. */
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

static struct store open_store(void)
{
	struct store store;

	snprintf(state_folder, sizeof(state_folder), "%s/state", root);
	assert_int_equal(store_open(state_folder, true, &store), 0);
	return store;
}

static struct state *load(const struct store *store)
{
	struct state *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	assert_int_equal(store_load(store, SUBJECT, s), 0);
	state_see_instance(s, "this making");
	return s;
}

static void put_old(void)
{
	put("hold_ms", "5000");
	put("streams", "128");
}

static bool is(uint64_t hold, uint64_t streams)
{
	return value_of("hold_ms") == hold && value_of("streams") == streams;
}

static struct transaction prepared(const struct state *s, bool force)
{
	struct plan plan = two_values;
	struct transaction t;

	for (size_t i = 0; i < plan.n; i++)
		assert_int_equal(sysfs_read_number(&plan.items[i].old, "%s/%s", root,
						   plan.items[i].attribute), 0);
	if (!force)
		state_mark_foreign(s, &plan);
	assert_int_equal(apply_prepare(root, &plan, &t), 0);
	return t;
}

static void apply_two(const struct store *store, struct state *s)
{
	const struct transaction t = prepared(s, false);

	assert_int_equal(t.n, 2);
	assert_int_equal(apply_run(root, store, s, &t), 0);
}

static void test_apply_and_rollback(void **state)
{
	struct store store = open_store();
	struct state *s = load(&store);
	struct transaction t;

	(void)state;
	put_old();
	assert_int_equal(apply_prepare_rollback(root, s, false, &t), -ENODATA);
	apply_two(&store, s);
	assert_true(is(NEW_HOLD, NEW_STREAMS));
	free(s);

	/* What another process finds. */
	s = load(&store);
	assert_false(s->under_way);
	assert_int_equal(s->n_history, 1);
	assert_int_equal(s->history[0].outcome, OUTCOME_DONE);
	assert_int_equal(s->history[0].id, 1);
	assert_string_equal(s->history[0].changes[0].reason, "because");
	t = prepared(s, false);
	assert_int_equal(t.n, 0);

	assert_int_equal(apply_prepare_rollback(root, s, false, &t), 0);
	assert_int_equal(apply_run(root, &store, s, &t), 0);
	assert_true(is(OLD_HOLD, OLD_STREAMS));
	assert_int_equal(s->history[0].outcome, OUTCOME_TAKEN_BACK);
	assert_int_equal(apply_prepare_rollback(root, s, false, &t), -ENODATA);
	free(s);
	store_close(&store);
}

/* What is right is not written, and makes no entry. */
static void test_what_is_right(void **state)
{
	struct store store = open_store();
	struct state *s = load(&store);
	struct transaction t;

	(void)state;
	put("hold_ms", "100");
	put("streams", "128");
	t = prepared(s, false);
	assert_int_equal(t.n, 1);
	assert_string_equal(t.changes[0].name, "streams");
	assert_int_equal(t.changes[0].old, OLD_STREAMS);
	free(s);
	store_close(&store);
}

static void test_foreign_write(void **state)
{
	struct store store = open_store();
	struct state *s = load(&store);
	struct transaction t;

	(void)state;
	put_old();
	apply_two(&store, s);
	put("hold_ms", "777");
	t = prepared(s, false);
	assert_int_equal(t.n, 0);
	t = prepared(s, true);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.changes[0].old, 777);

	/* Taken back is only what is ours. */
	assert_int_equal(apply_prepare_rollback(root, s, false, &t), 0);
	assert_int_equal(t.n, 1);
	assert_int_equal(apply_run(root, &store, s, &t), 0);
	assert_true(is(777, OLD_STREAMS));
	free(s);
	store_close(&store);
}

static void test_forced_rollback(void **state)
{
	struct store store = open_store();
	struct state *s = load(&store);
	struct transaction t;

	(void)state;
	put_old();
	apply_two(&store, s);
	put("hold_ms", "777");
	assert_int_equal(apply_prepare_rollback(root, s, true, &t), 0);
	assert_int_equal(apply_run(root, &store, s, &t), 0);
	assert_true(is(OLD_HOLD, OLD_STREAMS));
	free(s);
	store_close(&store);
}

/*
 * A value that takes and reads otherwise, as a clamped one does: the kernel keeps
 * of this process's coredump_filter only the bits that it knows, and prints them
 * in hexadecimal.
 */
static void test_refused_is_undone(void **state)
{
	struct store store = open_store();
	struct state *s = load(&store);
	struct transaction t = { .kind = TRANSACTION_APPLY };
	char path[128];

	(void)state;
	put_old();
	snprintf(path, sizeof(path), "%s/clamped", root);
	assert_int_equal(symlink("/proc/self/coredump_filter", path), 0);
	transaction_add(&t, "hold_ms", OLD_HOLD, NEW_HOLD);
	transaction_add(&t, "streams", OLD_STREAMS, NEW_STREAMS);
	transaction_add(&t, "clamped", value_of("clamped"), 1 << 20);
	assert_int_equal(apply_run(root, &store, s, &t), -EIO);
	assert_true(is(OLD_HOLD, OLD_STREAMS));
	assert_false(s->under_way);
	assert_int_equal(s->history[0].outcome, OUTCOME_UNDONE);
	assert_int_equal(s->n_values, 0);
	assert_int_equal(apply_prepare_rollback(root, s, false, &t), -ENODATA);
	free(s);
	store_close(&store);
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
		struct store store = open_store();
		struct state *s = load(&store);
		struct transaction t;
		size_t n = s->n_history;

		put_old();
		t = prepared(s, true);
		state_begin(s, &t, 1);
		assert_int_equal(store_save(&store, s), 0);
		put("hold_ms", cases[i].hold);
		put("streams", cases[i].streams);
		free(s);
		store_close(&store);

		store = open_store();
		s = load(&store);
		assert_true(s->under_way);
		assert_int_equal(apply_recover(root, &store, s), 0);
		assert_false(s->under_way);
		assert_true(is(cases[i].hold_after, cases[i].streams_after));
		free(s);
		s = load(&store);
		assert_int_equal(s->n_history, n + 1);
		assert_int_equal(s->history[n].outcome, cases[i].outcome);
		assert_true(s->history[n].interrupted);
		free(s);
		store_close(&store);
	}
}

/* It can neither be done nor taken back: it stays under way, and is taken back later. */
static void test_recover_later(void **state)
{
	struct store store = open_store();
	struct state *s = load(&store);
	struct transaction t = { .kind = TRANSACTION_APPLY };

	(void)state;
	put_old();
	t = prepared(s, false);
	state_begin(s, &t, 1);
	assert_int_equal(store_save(&store, s), 0);
	put("hold_ms", "100");
	put("streams", "nonsense");
	assert_int_equal(apply_recover(root, &store, s), -EBADMSG);
	free(s);
	s = load(&store);
	assert_true(s->under_way);
	assert_true(s->now.undoing);
	put("streams", "128");
	assert_int_equal(apply_recover(root, &store, s), 0);
	assert_true(is(OLD_HOLD, OLD_STREAMS));
	assert_int_equal(s->history[0].outcome, OUTCOME_UNDONE);
	free(s);
	store_close(&store);
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
	assert_int_equal(apply_prepare(root, &plan, &t), -ENOENT);
	for (size_t i = 0; transaction_followers[i]; i++)
		put(transaction_followers[i], "1");
	assert_int_equal(apply_prepare(root, &plan, &t), 0);
	assert_int_equal(t.n, 9);
	assert_false(t.changes[0].follows);
	assert_true(t.changes[8].follows);
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
		"", "{", "[]", "{}", "nonsense", "{ \"version\": 1 } more",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct store store = open_store();
		struct state *s;

		put(STATE_PATH, texts[i]);
		s = load(&store);
		assert_int_equal(s->n_history, 0);
		assert_string_equal(s->device, SUBJECT);
		assert_false(is_there(STATE_PATH));
		assert_true(is_there(STATE_PATH ".corrupt"));
		free(s);
		store_close(&store);
	}
}

/* Who only looks neither trusts it nor touches it. */
static void test_corrupt_is_refused(void **state)
{
	struct store store = open_store();
	struct state *s = calloc(1, sizeof(*s));

	(void)state;
	store_close(&store);
	put(STATE_PATH, "nonsense");
	assert_int_equal(store_open(state_folder, false, &store), 0);
	assert_int_equal(store_load(&store, SUBJECT, s), -EUCLEAN);
	assert_true(is_there(STATE_PATH));
	store_close(&store);
	free(s);
}

/* Of another device, though it has this one's name. */
static void test_state_of_another(void **state)
{
	struct store store = open_store();
	struct state *s = load(&store);
	struct json_object *object;

	(void)state;
	snprintf(s->device, sizeof(s->device), "dm-name-other");
	object = state_render(s);
	put(STATE_PATH, render_text(object));
	json_object_put(object);
	free(s);
	s = load(&store);
	assert_true(is_there(STATE_PATH ".corrupt"));
	free(s);
	store_close(&store);
}

/* What a crash left of the file that was being written is no harm. */
static void test_left_over_temporary(void **state)
{
	struct store store = open_store();
	struct state *s = load(&store);

	(void)state;
	put(STATE_PATH ".new", "{ \"version\": 1, \"dev");
	put_old();
	apply_two(&store, s);
	assert_false(is_there(STATE_PATH ".new"));
	free(s);
	s = load(&store);
	assert_int_equal(s->n_history, 1);
	free(s);
	store_close(&store);
}

/* Known is only the trace of this making of the device, from a file that is sound. */
static void test_trace_is_known(void **state)
{
	struct store store = open_store();
	uint64_t inode = 0;

	(void)state;
	assert_int_equal(store_load_trace(&store, SUBJECT, "this making", &inode), -ENOENT);
	assert_int_equal(store_save_trace(&store, SUBJECT, "this making", 77), 0);
	assert_int_equal(store_load_trace(&store, SUBJECT, "another", &inode), -ENOENT);
	assert_int_equal(inode, 0);
	assert_int_equal(store_load_trace(&store, SUBJECT, "this making", &inode), 0);
	assert_int_equal(inode, 77);
	put("state/trace-" SUBJECT ".json", "{ \"instance\": \"this making\", \"inode\": \"77\" }");
	assert_int_equal(store_load_trace(&store, SUBJECT, "this making", &inode), -ENOENT);
	store_close(&store);
}

static void test_no_folder_is_nothing_known(void **state)
{
	struct state *s = calloc(1, sizeof(*s));
	struct store store;
	char path[96];

	(void)state;
	snprintf(path, sizeof(path), "%s/none", root);
	assert_int_equal(store_open(path, false, &store), 0);
	assert_int_equal(store_load(&store, SUBJECT, s), 0);
	assert_int_equal(s->last_id, 0);
	store_close(&store);
	free(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		in_root(test_apply_and_rollback),
		in_root(test_what_is_right),
		in_root(test_foreign_write),
		in_root(test_forced_rollback),
		in_root(test_refused_is_undone),
		in_root(test_recover),
		in_root(test_recover_later),
		in_root(test_followers_are_noted),
		in_root(test_corrupt_is_set_aside),
		in_root(test_corrupt_is_refused),
		in_root(test_state_of_another),
		in_root(test_left_over_temporary),
		in_root(test_trace_is_known),
		in_root(test_no_folder_is_nothing_known),
	};

	return cmocka_run_group_tests_name("apply", tests, NULL, NULL);
}

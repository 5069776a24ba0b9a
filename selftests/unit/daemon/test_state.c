// SPDX-License-Identifier: GPL-2.0
/* What is kept from one run to the next: written and read again, and never trusted. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "lib/macros.h"
#include "lib/render.h"
#include "lib/state.h"

static struct state *new_state(void)
{
	struct state *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	snprintf(s->device, sizeof(s->device), "dm-uuid-FULLSTRIPE-data");
	snprintf(s->instance, sizeof(s->instance), "boot:1");
	return s;
}

static struct transaction a_change(uint64_t old, uint64_t new)
{
	struct transaction t = { .kind = TRANSACTION_APPLY };
	struct change *c = transaction_add(&t, "cluster_bytes", old, new);

	snprintf(c->reason, sizeof(c->reason),
		 "peak 83 MiB/s / 200 I/Os per second = 425.0 KiB");
	return t;
}

static void apply(struct state *s, uint64_t old, uint64_t new)
{
	const struct transaction t = a_change(old, new);

	state_begin(s, &t, 1795000000);
	state_end(s, OUTCOME_DONE, &new);
}

/* One done, one taken back, one under way. */
static struct state *busy_state(void)
{
	struct state *s = new_state();
	struct transaction t;

	apply(s, 1, 2);
	apply(s, 2, 3);
	t = a_change(3, 2);
	t.kind = TRANSACTION_ROLLBACK;
	state_begin(s, &t, 1795000001);
	state_end(s, OUTCOME_DONE, &(uint64_t) { 2 });
	t = a_change(2, 5);
	t.undoing = true;
	state_begin(s, &t, 1795000002);
	return s;
}

static char *text_of(const struct state *s)
{
	struct json_object *object = state_render(s);
	char *text = strdup(render_text(object));

	json_object_put(object);
	return text;
}

static int parse(const char *text, struct state *ret, char *why)
{
	return state_parse(text, strlen(text), ret, why);
}

static void test_round_trip(void **state)
{
	struct state *s = busy_state(), *again = new_state();
	char why[FIELDS_WHY], *text = text_of(s), *second;

	(void)state;
	assert_int_equal(parse(text, again, why), 0);
	assert_int_equal(again->n_history, 3);
	assert_int_equal(again->history[1].outcome, OUTCOME_TAKEN_BACK);
	assert_int_equal(again->history[2].kind, TRANSACTION_ROLLBACK);
	assert_true(again->under_way);
	assert_true(again->now.undoing);
	assert_int_equal(again->now.id, 4);
	assert_int_equal(again->now.changes[0].new, 5);
	assert_int_equal(again->values[0].value, 2);
	assert_int_equal(again->values[0].before, 1);
	second = text_of(again);
	assert_string_equal(text, second);
	free(second);
	free(text);
	free(again);
	free(s);
}

/* However short it was cut, it is refused, and what was there before stays. */
static void test_cut_short(void **state)
{
	struct state *s = busy_state(), *again = new_state();
	char why[FIELDS_WHY], *text = text_of(s);

	(void)state;
	for (size_t len = 0; len < strlen(text); len++) {
		why[0] = '\0';
		assert_int_equal(state_parse(text, len, again, why), -EBADMSG);
		assert_true(why[0] != '\0');
		assert_int_equal(again->n_history, 0);
	}
	free(text);
	free(again);
	free(s);
}

/* Replace the first @from of a sound file by @to. */
static void refuse(const char *from, const char *to, const char *says)
{
	struct state *s = busy_state(), *again = new_state();
	char why[FIELDS_WHY] = "", *text = text_of(s), *at = strstr(text, from), *bad = NULL;

	assert_non_null(at);
	assert_true(asprintf(&bad, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) > 0);
	assert_int_equal(parse(bad, again, why), -EBADMSG);
	if (!strstr(why, says))
		fail_msg("'%s' should say '%s'", why, says);
	free(bad);
	free(text);
	free(again);
	free(s);
}

static void test_refused(void **state)
{
	(void)state;
	refuse("\"version\": 3", "\"version\": 1", "version");
	refuse("\"version\": 3,", "", "\"version\" is missing");
	refuse("\"last_id\": 4", "\"last_id\": -4", "\"last_id\" is -4");
	refuse("\"last_id\": 4", "\"last_id\": 99999999999999999999", "\"last_id\"");
	refuse("\"last_id\": 4", "\"last_id\": \"4\"", "\"last_id\" is no int");
	refuse("\"kind\": \"apply\"", "\"kind\": \"guess\"", "'guess', which is not known");
	refuse("\"outcome\": \"under-way\"", "\"outcome\": 7", "\"outcome\" is no string");
	refuse("\"undoing\": true", "\"undoing\": 1", "\"undoing\" is no boolean");
	refuse("\"name\": \"cluster_bytes\"", "\"name\": \"../../../bdi/x\"", "no name of a setting");
	refuse("\"name\": \"cluster_bytes\"", "\"name\": \"\"", "no name");
	refuse("\"name\": \"cluster_bytes\"", "\"name\": \"cluster\\u0000_bytes\"", "\"name\" is no text");
	refuse("\"reason\": \"peak", "\"reason\": 0, \"x\": \"peak", "\"reason\" is no string");
	refuse("\"under_way\": {", "\"was_under_way\": {", "\"under_way\" is missing");
	refuse("\"values\": [", "\"values\": 5, \"x\": [", "\"values\" is no array");
	refuse("\"history\": [", "\"history\": [ 5,", "\"id\" is missing");
}

/* Any byte of it another one: it is refused or it is sound, and nothing else happens. */
static void test_any_byte(void **state)
{
	struct state *s = busy_state(), *again = new_state();
	char why[FIELDS_WHY], *text = text_of(s);
	size_t len = strlen(text), refused = 0;

	(void)state;
	for (size_t i = 0; i < len; i++) {
		static const char bytes[] = { '\0', '"', '}', '9', (char)0xff };
		char kept = text[i];

		for (size_t b = 0; b < sizeof(bytes); b++) {
			text[i] = bytes[b];
			refused += state_parse(text, len, again, why) == -EBADMSG;
		}
		text[i] = kept;
	}
	assert_true(refused > len);
	free(text);
	free(again);
	free(s);
}

static struct state_layer disk(const char *name, const char *id, const char *instance)
{
	struct state_layer l;

	snprintf(l.disk, sizeof(l.disk), "%s", name);
	snprintf(l.id, sizeof(l.id), "%s", id);
	snprintf(l.instance, sizeof(l.instance), "%s", instance);
	return l;
}

/* The device's cluster and two of its disks: from 1 to 2. */
static struct transaction a_deep_change(void)
{
	struct transaction t = a_change(1, 2);

	transaction_add(&t, "sda/max_sectors_kb", 1, 2);
	transaction_add(&t, "sdb/max_sectors_kb", 1, 2);
	return t;
}

static struct state *deep_state(bool done)
{
	const struct state_layer layers[] = {
		disk("sda", "wwid:a", "boot:7"), disk("sdb", "wwid:b", "boot:8"),
	};
	const struct transaction t = a_deep_change();
	const uint64_t found[] = { 2, 2, 2 };
	struct state *s = new_state();

	state_see(s, "boot:1", layers, 2);
	state_begin(s, &t, 1795000000);
	if (done)
		state_end(s, OUTCOME_DONE, found);
	return s;
}

/* Changed at random: it is refused with a reason, or it is sound, and so can be written and read again. */
static void test_spoilt(void **state)
{
	struct state *s = deep_state(false), *again = new_state();
	char why[FIELDS_WHY], *text = text_of(s), *second;
	size_t room = 2 * strlen(text), refused = 0;
	char *bad = malloc(room);
	uint64_t seed = 1;

	(void)state;
	assert_non_null(bad);
	for (unsigned int i = 0; i < 500; i++) {
		snprintf(bad, room, "%s", text);
		spoil(bad, room, &seed);
		why[0] = '\0';
		if (parse(bad, again, why) < 0) {
			assert_true(why[0] != '\0');
			refused++;
			continue;
		}
		second = text_of(again);
		if (parse(second, again, why) < 0)
			fail_msg("accepted, and refused when it was written: %s\n%s", why, bad);
		free(second);
	}
	assert_in_range(refused, 250, 499);
	free(bad);
	free(text);
	free(again);
	free(s);
}

static void test_history_is_bounded(void **state)
{
	struct state *s = new_state();
	char why[FIELDS_WHY], *text;

	(void)state;
	for (uint64_t i = 0; i < STATE_HISTORY_MAX + 5; i++)
		apply(s, i, i + 1);
	assert_int_equal(s->n_history, STATE_HISTORY_MAX);
	assert_int_equal(s->history[0].id, 6);
	assert_int_equal(s->history[STATE_HISTORY_MAX - 1].id, STATE_HISTORY_MAX + 5);
	assert_int_equal(s->n_values, 1);
	text = text_of(s);
	assert_true(strlen(text) < STATE_BYTES_MAX);
	assert_int_equal(parse(text, s, why), 0);
	free(text);
	free(s);
}

static void test_foreign(void **state)
{
	struct state *s = new_state();

	(void)state;
	assert_false(state_is_foreign(s, "cluster_bytes", 7));
	apply(s, 1, 2);
	assert_false(state_is_foreign(s, "cluster_bytes", 2));
	assert_true(state_is_foreign(s, "cluster_bytes", 1));
	assert_false(state_is_foreign(s, "hold_ms", 1));
	free(s);
}

/* What the device moves is nobody's foreign value, if it was brought back before or not. */
static void test_moved(void **state)
{
	struct state *s = new_state();
	struct transaction t = { .kind = TRANSACTION_APPLY }, back = { .kind = TRANSACTION_ROLLBACK };

	(void)state;
	transaction_add(&t, "stripe_bytes", 3, 4);
	transaction_add(&t, "read_nstream", 1, 1)->follows = true;
	transaction_add(&back, "stripe_bytes", 4, 3);
	transaction_add(&back, "read_nstream", 2, 1);
	state_begin(s, &t, 1);
	state_end(s, OUTCOME_DONE, (uint64_t[]) { 4, 2 });
	assert_false(state_is_foreign(s, "read_nstream", 1));
	state_begin(s, &back, 2);
	state_end(s, OUTCOME_DONE, (uint64_t[]) { 3, 1 });
	assert_true(state_is_foreign(s, "read_nstream", 2));
	state_begin(s, &t, 3);
	state_end(s, OUTCOME_DONE, (uint64_t[]) { 4, 2 });
	assert_false(state_is_foreign(s, "read_nstream", 2));
	free(s);
}

/* After a reboot the values are those of the table, and nobody's foreign ones. */
static void test_made_anew(void **state)
{
	struct state *s = busy_state();

	(void)state;
	state_see(s, "boot:1", NULL, 0);
	assert_true(s->under_way);
	state_see(s, "another boot:1", NULL, 0);
	assert_false(s->under_way);
	assert_int_equal(s->n_values, 0);
	assert_int_equal(s->n_history, 4);
	assert_int_equal(s->history[3].outcome, OUTCOME_VOID);
	assert_int_equal(s->history[1].outcome, OUTCOME_TAKEN_BACK);
	assert_null(state_last_applied(s));
	assert_false(state_is_foreign(s, "cluster_bytes", 1));
	free(s);
}

/* The device was made anew on disks that stayed: what they were set to can be taken back. */
static void test_layers_stay(void **state)
{
	const struct state_layer layers[] = {
		disk("sdb", "wwid:b", "boot:8"), disk("sda", "wwid:a", "boot:7"),
	};
	struct state *s = deep_state(true), *again = new_state();
	char why[FIELDS_WHY], *text;

	(void)state;
	assert_true(state_is_foreign(s, "cluster_bytes", 3));
	state_see(s, "boot:2", layers, 2);
	assert_false(state_is_foreign(s, "cluster_bytes", 3));
	assert_true(state_is_foreign(s, "sda/max_sectors_kb", 3));
	assert_non_null(state_last_applied(s));
	assert_true(s->history[0].changes[0].gone);
	assert_false(s->history[0].changes[1].gone);

	text = text_of(s);
	assert_int_equal(parse(text, again, why), 0);
	assert_int_equal(again->n_layers, 2);
	assert_string_equal(again->layers[1].id, "wwid:a");
	assert_true(again->history[0].changes[0].gone);
	free(text);
	free(again);
	free(s);
}

/* Two ways to one disk: each has its own instance, and its own values. */
static void test_paths_to_one_disk(void **state)
{
	const struct state_layer layers[] = {
		disk("sda", "wwid:a", "boot:7"), disk("sdb", "wwid:a", "boot:8"),
	};
	struct transaction t = { .kind = TRANSACTION_APPLY };
	struct state *s = new_state();

	(void)state;
	state_see(s, "boot:1", layers, 2);
	transaction_add(&t, "sdb/max_sectors_kb", 1, 2);
	state_begin(s, &t, 1);
	state_end(s, OUTCOME_DONE, (uint64_t[]) { 2 });
	state_see(s, "boot:1", layers, 2);
	assert_true(state_is_foreign(s, "sdb/max_sectors_kb", 3));
	assert_string_equal(s->history[0].changes[0].name, "sdb/max_sectors_kb");
	assert_false(s->history[0].changes[0].gone);
	free(s);
}

/* A disk was replaced: what is about it is forgotten, and the rest is not. */
static void test_layer_replaced(void **state)
{
	const struct state_layer layers[] = {
		disk("sda", "wwid:a", "boot:7"), disk("sdb", "wwid:c", "boot:9"),
	};
	struct state *s = deep_state(true);

	(void)state;
	state_see(s, "boot:1", layers, 2);
	assert_true(state_is_foreign(s, "cluster_bytes", 3));
	assert_true(state_is_foreign(s, "sda/max_sectors_kb", 3));
	assert_false(state_is_foreign(s, "sdb/max_sectors_kb", 3));
	assert_true(s->history[0].changes[2].gone);
	/* The last of it went, too. */
	state_see(s, "boot:2", NULL, 0);
	assert_null(state_last_applied(s));
	assert_int_equal(s->history[0].outcome, OUTCOME_VOID);
	free(s);
}

/* Of a change that was under way, what is left goes back. */
static void test_layer_goes_under_way(void **state)
{
	const struct state_layer layers[] = { disk("sda", "wwid:a", "boot:7") };
	struct state *s = deep_state(false);

	(void)state;
	state_see(s, "boot:1", layers, 1);
	assert_true(s->under_way);
	assert_true(s->now.undoing);
	assert_int_equal(s->now.n, 2);
	assert_string_equal(s->now.changes[1].name, "sda/max_sectors_kb");
	state_see(s, "another boot:1", NULL, 0);
	assert_false(s->under_way);
	assert_int_equal(s->history[0].outcome, OUTCOME_VOID);
	free(s);
}

/* After a reboot the kernel calls them otherwise: the history tells of the same disks. */
static void test_layers_renamed(void **state)
{
	const struct state_layer layers[] = {
		disk("sda", "wwid:b", "next:3"), disk("sdc", "wwid:a", "next:4"),
	};
	struct state *s = deep_state(true);

	(void)state;
	state_see(s, "next:1", layers, 2);
	assert_int_equal(s->n_values, 0);
	assert_int_equal(s->history[0].outcome, OUTCOME_VOID);
	assert_string_equal(s->history[0].changes[0].name, "cluster_bytes");
	assert_string_equal(s->history[0].changes[1].name, "sdc/max_sectors_kb");
	assert_string_equal(s->history[0].changes[2].name, "sda/max_sectors_kb");
	free(s);
}

/* One is gone and the other one has its name: no change may be there twice. */
static void test_layers_renamed_to_one(void **state)
{
	const struct state_layer layers[] = { disk("sda", "wwid:b", "next:3") };
	struct state *s = deep_state(true), *again = new_state();
	char why[FIELDS_WHY], *text;

	(void)state;
	state_see(s, "next:1", layers, 1);
	assert_string_equal(s->history[0].changes[1].name, "sda/max_sectors_kb");
	assert_string_equal(s->history[0].changes[2].name, "sdb/max_sectors_kb");
	text = text_of(s);
	assert_int_equal(parse(text, again, why), 0);
	free(text);
	free(again);
	free(s);
}

/* Taken back one after the other, the newest first. */
static void test_last_applied(void **state)
{
	struct state *s = new_state();
	struct transaction back = a_change(3, 2);

	(void)state;
	assert_null(state_last_applied(s));
	apply(s, 1, 2);
	apply(s, 2, 3);
	assert_int_equal(state_last_applied(s)->id, 2);
	back.kind = TRANSACTION_ROLLBACK;
	state_begin(s, &back, 1);
	state_end(s, OUTCOME_UNDONE, &(uint64_t) { 3 });
	assert_int_equal(state_last_applied(s)->id, 2);
	state_begin(s, &back, 1);
	state_end(s, OUTCOME_DONE, &(uint64_t) { 2 });
	assert_int_equal(state_last_applied(s)->id, 1);
	free(s);
}

static void test_file_names(void **state)
{
	char name[STATE_NAME], longest[STATE_DEVICE];

	(void)state;
	state_file_name("dm-uuid-FULLSTRIPE-data", name);
	assert_string_equal(name, "dm-uuid-FULLSTRIPE-data.json");
	state_file_name("../a/b c\n", name);
	assert_string_equal(name, "%2E.%2Fa%2Fb%20c%0A.json");
	memset(longest, '/', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	state_file_name(longest, name);
	assert_int_equal(strlen(name), 3 * (STATE_DEVICE - 1) + 5);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_any_byte),
		cmocka_unit_test(test_spoilt),
		cmocka_unit_test(test_history_is_bounded),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_made_anew),
		cmocka_unit_test(test_layers_stay),
		cmocka_unit_test(test_paths_to_one_disk),
		cmocka_unit_test(test_layer_replaced),
		cmocka_unit_test(test_layer_goes_under_way),
		cmocka_unit_test(test_layers_renamed),
		cmocka_unit_test(test_layers_renamed_to_one),
		cmocka_unit_test(test_last_applied),
		cmocka_unit_test(test_file_names),
	};

	return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/* Samples that were kept: what is read is what was kept, or nothing. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "lib/render.h"
#include "lib/samples.h"
#include "src/store.h"

#define SUBJECT	"dm-uuid-FULLSTRIPE-unit"

/* Of a change that is being judged, with numbers that no two fields have in common. */
static struct samples five_and_two(void)
{
	struct samples s = {
		.instance = "boot:1",
		.settings = "262144 1048576 writebehind ",
		.harm = { .change = 7, .unlike = 3, .n_before = HARM_SAMPLES, .n_after = 2 },
	};

	for (unsigned int i = 0; i < HARM_SAMPLES; i++) {
		struct harm_sample sample = {
			.reads = 0.1, .sequential = 1 / 3.0, .strided = 0.3, .sync = 0.4, .meta = 0.5,
			.size = 65536.5 + i, .streams = 6, .degraded = 1, .in_flight = 7.25,
			.values = { 0.125, 2e6, 3e6, -1, 5e9 / 3 },
		};

		s.harm.before[i] = sample;
		sample.size *= 2;
		if (i < s.harm.n_after)
			s.harm.after[i] = sample;
	}
	return s;
}

static char *text_of(const struct samples *s)
{
	struct json_object *object = samples_render(s);
	char *text = strdup(render_text(object));

	json_object_put(object);
	return text;
}

/* Structures have holes, which are not to be compared. */
static void assert_same(const struct samples *a, const struct samples *b)
{
	char *first = text_of(a), *second = text_of(b);

	assert_string_equal(first, second);
	assert_true(b->harm.before[4].size == 65540.5 && b->harm.after[1].size == 131075);
	assert_true(b->harm.before[0].sequential == 1 / 3.0);
	assert_true(b->harm.before[0].values[HARM_FLUSH_TIME] == -1);
	free(second);
	free(first);
}

static void test_round_trip(void **state)
{
	const struct samples s = five_and_two();
	struct samples again = { .instance = "" };
	char why[FIELDS_WHY], *text = text_of(&s);

	(void)state;
	if (samples_parse(text, strlen(text), &again, why) < 0)
		fail_msg("%s", why);
	assert_same(&s, &again);
	free(text);
}

static void refuse(const char *from, const char *to, const char *says)
{
	const struct samples s = five_and_two();
	struct samples again = { .instance = "" };
	char why[FIELDS_WHY], *text = text_of(&s), *at = strstr(text, from), *bad = NULL;

	assert_non_null(at);
	assert_true(asprintf(&bad, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) > 0);
	assert_int_equal(samples_parse(bad, strlen(bad), &again, why), -EBADMSG);
	if (!strstr(why, says))
		fail_msg("'%s' should say '%s'", why, says);
	assert_int_equal(again.harm.n_before, 0);
	free(bad);
	free(text);
}

static void test_refused(void **state)
{
	(void)state;
	refuse("\"change\": 7", "\"change\": -7", "\"change\" is -7");
	refuse("\"unlike\": 3,", "", "\"unlike\" is missing");
	refuse("\"reads\": 0.1", "\"reads\": 1.1", "\"reads\" is 1.1");
	refuse("\"streams\": 6", "\"streams\": 4294967296", "\"streams\" is 4294967296");
	refuse("\"bandwidth\": 1", "\"bandwidth\": -1", "\"bandwidth\"");
	refuse("\"pre-reads\": 0.125", "\"pre-reads\": \"0\"", "\"pre-reads\" is no number");
	refuse("\"before\": [", "\"before\": [ 7,", "\"before\" has 6 entries, and may have 5");
	refuse("\"after\": [", "\"after\": [ 7,", "is missing");
	refuse("\"instance\": \"", "\"instance\": 7, \"x\": \"", "\"instance\" is no string");
}

static void test_cut_and_changed(void **state)
{
	static const char bytes[] = { '\0', '"', '}', '9', (char)0xff };
	const struct samples s = five_and_two();
	struct samples again = { .instance = "" };
	char why[FIELDS_WHY], *text = text_of(&s);
	size_t len = strlen(text), refused = 0;

	(void)state;
	for (size_t i = 0; i < len; i++) {
		char kept = text[i];

		assert_int_equal(samples_parse(text, i, &again, why), -EBADMSG);
		for (size_t b = 0; b < sizeof(bytes); b++) {
			text[i] = bytes[b];
			refused += samples_parse(text, len, &again, why) == -EBADMSG;
		}
		text[i] = kept;
	}
	assert_true(refused > len);
	free(text);
}

static void test_files(void **state)
{
	const struct samples s = five_and_two();
	struct samples again = { .instance = "as it was" };
	struct store store;
	char folder[96];

	(void)state;
	snprintf(folder, sizeof(folder), "%s/state", root);
	assert_int_equal(store_open(folder, STORE_CHANGE, &store), 0);
	assert_int_equal(store_load_samples(&store, SUBJECT, &again), -ENOENT);
	assert_int_equal(store_save_samples(&store, SUBJECT, &s), 0);
	assert_int_equal(store_load_samples(&store, SUBJECT, &again), 0);
	assert_same(&s, &again);
	put("state/samples-" SUBJECT ".json", "damaged");
	again.harm.change = 42;
	assert_int_equal(store_load_samples(&store, SUBJECT, &again), -EBADMSG);
	assert_int_equal(again.harm.change, 42);
	store_close(&store);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_cut_and_changed),
		in_root(test_files),
	};

	return cmocka_run_group_tests_name("samples", tests, NULL, NULL);
}

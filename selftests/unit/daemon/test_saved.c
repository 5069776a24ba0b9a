// SPDX-License-Identifier: GPL-2.0
/* Profiles that were saved: what is read is what was saved, or nothing. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "lib/blktrace_format.h"
#include "lib/render.h"
#include "lib/saved.h"

/* A workload with reads and writes of several sizes, and one with nothing in it. */
static struct saved *two_devices(void)
{
	struct saved *saved = calloc(1, sizeof(*saved));
	struct profile *p = new_profile();

	assert_non_null(saved);
	for (unsigned int i = 0; i < 40; i++)
		add_io(p, 10000000ull * i, i % 3 ? BLKTRACE_WRITE : BLKTRACE_READ,
		       i * 65536ull, 4096u << i % 5);
	saved->devices[0] = summary_of(p);
	saved->devices[1] = (struct profile_summary) { .device = 9 << 20, .unaligned = -1 };
	saved->n = 2;
	profile_free(p);
	return saved;
}

static char *text_of(const struct saved *saved)
{
	struct json_object *object = saved_render(saved);
	char *text = strdup(render_text(object));

	json_object_put(object);
	return text;
}

static void test_round_trip(void **state)
{
	struct saved *saved = two_devices(), *again = calloc(1, sizeof(*again));
	char why[FIELDS_WHY], *text = text_of(saved), *second;

	(void)state;
	if (saved_parse(text, strlen(text), again, why) < 0)
		fail_msg("%s", why);
	assert_int_equal(again->n, 2);
	assert_int_equal(again->devices[0].ios, 40);
	assert_int_equal(again->devices[0].peak_rate, saved->devices[0].peak_rate);
	assert_int_equal(again->devices[0].duration, saved->devices[0].duration);
	assert_true(again->devices[1].unaligned < 0);
	second = text_of(again);
	assert_string_equal(text, second);
	free(second);
	free(text);
	free(again);
	free(saved);
}

static void refuse(const char *from, const char *to, const char *says)
{
	struct saved *saved = two_devices(), *again = calloc(1, sizeof(*again));
	char why[FIELDS_WHY] = "", *text = text_of(saved), *at = strstr(text, from), *bad = NULL;

	assert_non_null(at);
	assert_true(asprintf(&bad, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) > 0);
	assert_int_equal(saved_parse(bad, strlen(bad), again, why), -EBADMSG);
	if (!strstr(why, says))
		fail_msg("'%s' should say '%s'", why, says);
	assert_int_equal(again->n, 0);
	free(bad);
	free(text);
	free(again);
	free(saved);
}

static void test_refused(void **state)
{
	(void)state;
	refuse("\"devices\": [", "\"device\": [", "\"devices\" is missing");
	refuse("\"devices\": [", "\"devices\": [ 7,", "is missing");
	refuse("\"ios\": 40", "\"ios\": -1", "\"ios\" is -1");
	refuse("\"ios\": 40", "\"ios\": 4611686018427387904", "\"ios\"");
	refuse("\"ios\": 40", "\"ios\": true", "\"ios\" is no int");
	refuse("\"peak\":", "\"peek\":", "\"peak\" is missing");
	refuse("\"pattern\": \"", "\"pattern\": \"quite ", "which is not known");
	refuse("\"direction\": 0", "\"direction\": 2", "\"direction\" is 2");
	refuse("\"sequential\": 0", "\"sequential\": 7", "\"sequential\" is 7");
	refuse("\"device\": \"254:3\"", "\"device\": \"254:3x\"", "'254:3x'");
	refuse("\"up_to\": 4096", "\"up_to\": 4095", "no power of two");
	refuse("\"bandwidth\": {", "\"bandwidth\": 5, \"x\": {", "\"bandwidth\" is no object");
}

/* Earlier versions did not know of zones. */
static void test_without_zones(void **state)
{
	struct saved *saved = two_devices(), *again = calloc(1, sizeof(*again));
	char why[FIELDS_WHY], *text, *at;

	(void)state;
	saved->devices[0].returns = 0.5;
	saved->devices[0].low_zone = 1048576;
	text = text_of(saved);
	assert_int_equal(saved_parse(text, strlen(text), again, why), 0);
	assert_true(again->devices[0].returns == 0.5);
	assert_int_equal(again->devices[0].low_zone, 1048576);
	while ((at = strstr(text, "\"returns\"")))
		memcpy(at, "\"unknown\"", 9);
	assert_int_equal(saved_parse(text, strlen(text), again, why), 0);
	assert_true(again->devices[0].returns == 0);
	assert_int_equal(again->devices[0].ios, 40);
	free(text);
	free(again);
	free(saved);
}

/* From counters: what is not known is null, and stays so. */
static void test_counted(void **state)
{
	struct saved *saved = calloc(1, sizeof(*saved)), *again = calloc(1, sizeof(*again));
	char why[FIELDS_WHY], *text, *second;

	(void)state;
	assert_true(saved && again);
	saved->n = 1;
	saved->devices[0] = (struct profile_summary) {
		.device = 9 << 20, .obstacle = OBSTACLE_LOCKED_DOWN, .ios = 40, .writes = 40,
		.completed = 40, .size_average = 65536, .size_mode_share = -1, .meta_ios = -1,
		.meta_bytes = -1, .sequential = -1, .strided = -1, .random = -1, .returns = -1,
		.sync = -1, .unaligned = -1, .write_latency = { .n = 40, .p50 = 7, .p99 = 9 },
		.confidence = 0.5,
	};
	text = text_of(saved);
	assert_non_null(strstr(text, "\"source\": \"counters\""));
	assert_non_null(strstr(text, "\"obstacle\": \"locked-down\""));
	for (size_t i = 0; i < 4; i++) {
		static const char * const unknown[] = {
			"\"streams\": null", "\"read\": null", "\"sensitive\": null",
			"\"raid5_rmw\": null",
		};

		assert_non_null(strstr(text, unknown[i]));
	}
	if (saved_parse(text, strlen(text), again, why) < 0)
		fail_msg("%s", why);
	assert_int_equal(again->devices[0].obstacle, OBSTACLE_LOCKED_DOWN);
	assert_int_equal(again->devices[0].write_latency.p99, 9);
	assert_int_equal(again->devices[0].read_latency.n, 0);
	assert_true(again->devices[0].sync < 0 && again->devices[0].sequential < 0);
	second = text_of(again);
	assert_string_equal(text, second);
	free(second);

	/* Of a trace null is no number, and counters have a reason. */
	memcpy(strstr(text, "\"counters\""), "\"trace\"   ", 10);
	assert_int_equal(saved_parse(text, strlen(text), again, why), -EBADMSG);
	free(text);
	saved->devices[0].obstacle = OBSTACLE_BUSY;
	text = text_of(saved);
	memcpy(strstr(text, "\"busy\""), "\"none\"", 6);
	assert_int_equal(saved_parse(text, strlen(text), again, why), -EBADMSG);
	assert_non_null(strstr(why, "\"obstacle\""));
	free(text);
	free(again);
	free(saved);
}

static void test_cut_and_changed(void **state)
{
	struct saved *saved = two_devices(), *again = calloc(1, sizeof(*again));
	char why[FIELDS_WHY], *text = text_of(saved);
	size_t len = strlen(text), refused = 0;

	(void)state;
	for (size_t i = 0; i < len; i++) {
		static const char bytes[] = { '\0', '"', '}', '9', (char)0xff };
		char kept = text[i];

		assert_int_equal(saved_parse(text, i, again, why), -EBADMSG);
		for (size_t b = 0; b < sizeof(bytes); b++) {
			text[i] = bytes[b];
			refused += saved_parse(text, len, again, why) == -EBADMSG;
		}
		text[i] = kept;
	}
	assert_true(refused > len);
	free(text);
	free(again);
	free(saved);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_without_zones),
		cmocka_unit_test(test_counted),
		cmocka_unit_test(test_cut_and_changed),
	};

	return cmocka_run_group_tests_name("saved", tests, NULL, NULL);
}

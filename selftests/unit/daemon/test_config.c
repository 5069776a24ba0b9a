// SPDX-License-Identifier: GPL-2.0
/* The configuration: its keys, and which file counts; and the pace that it gives. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "lib/config.h"
#include "lib/macros.h"
#include "lib/pace.h"
#include "src/config_files.h"

static void test_keys(void **state)
{
	struct config c = config_default;
	char why[CONFIG_WHY];

	(void)state;
	assert_false(c.apply);
	assert_int_equal(config_set(&c, "fullstriped", "mode", "auto", why), 0);
	assert_true(c.apply);
	assert_string_equal(config_mode_name(c.apply), "auto");
	assert_int_equal(config_set(&c, "fullstriped", "mode", "advise", why), 0);
	assert_string_equal(config_mode_name(c.apply), "advise");
	assert_true(c.layers);
	assert_int_equal(config_set(&c, "fullstriped", "layers", "no", why), 0);
	assert_false(c.layers);
	assert_int_equal(config_set(&c, "fullstriped", "layers", "yes", why), 0);
	assert_true(c.layers);
	assert_false(c.apply);
	assert_int_equal(config_set(&c, "fullstriped", "record_seconds", "86400", why), 0);
	assert_int_equal(c.record_seconds, 86400);
	assert_int_equal(config_set(&c, "fullstriped", "dead_band_percent", "0", why), 0);
	assert_int_equal(c.dead_band_percent, 0);
	assert_int_equal(config_set(&c, "fullstriped", "metrics_file", "/a/longer/b.prom", why), 0);
	assert_int_equal(config_set(&c, "fullstriped", "metrics_file", "/b.prom", why), 0);
	assert_string_equal(c.metrics_file, "/b.prom");
	assert_int_equal(config_set(&c, "fullstriped", "metrics_file", "", why), 0);
	assert_string_equal(c.metrics_file, "");
}

/* A path has room for 255 bytes. */
static void test_long_path(void **state)
{
	struct config c = config_default;
	char why[CONFIG_WHY] = "", path[CONFIG_PATH + 1];

	(void)state;
	memset(path, 'a', sizeof(path));
	path[0] = '/';
	memcpy(path + CONFIG_PATH - 5, ".prom", 6);
	assert_int_equal(config_set(&c, "fullstriped", "metrics_file", path, why), -ERANGE);
	assert_non_null(strstr(why, "shorter than 256 bytes"));
	assert_memory_equal(&c, &config_default, sizeof(c));
	memcpy(path + CONFIG_PATH - 6, ".prom", 6);
	assert_int_equal(config_set(&c, "fullstriped", "metrics_file", path, why), 0);
	assert_string_equal(c.metrics_file, path);
}

static void test_keys_refused(void **state)
{
	static const struct {
		const char *section, *key, *value, *says;
		int result;
	} cases[] = {
		{ "fullstriped", "layers", "maybe", "layers 'maybe': must be yes or no", -EINVAL },
		{ "fullstriped", "mode", "Auto", "mode 'Auto': must be advise or auto", -EINVAL },
		{ "fullstriped", "record_seconds", "0", "from 1 to 86400", -ERANGE },
		{ "fullstriped", "record_seconds", "86401", "'86401'", -ERANGE },
		{ "fullstriped", "record_seconds", "-1", "'-1'", -ERANGE },
		{ "fullstriped", "record_seconds", "", "''", -ERANGE },
		{ "fullstriped", "record_seconds", "5s", "'5s'", -ERANGE },
		{ "fullstriped", "dwell_seconds", "99999999999999999999", "dwell_seconds", -ERANGE },
		{ "fullstriped", "dead_band_percent", "101", "from 0 to 100", -ERANGE },
		{ "fullstriped", "changes_per_hour", "0", "from 1 to", -ERANGE },
		{ "fullstriped", "metrics_file", "b/a.prom", "metrics_file 'b/a.prom': must be", -EINVAL },
		{ "fullstriped", "metrics_file", "/a.txt", "ends in .prom", -EINVAL },
		{ "fullstriped", "metrics_file", "/.prom", "ends in .prom", -EINVAL },
		{ "fullstriped", "metrics_file", "/", "ends in .prom", -EINVAL },
		{ "fullstriped", "colour", "red", "[fullstriped] colour", -ENOENT },
		{ "", "mode", "auto", "[] mode", -ENOENT },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct config c = config_default;
		char why[CONFIG_WHY] = "";

		assert_int_equal(config_set(&c, cases[i].section, cases[i].key, cases[i].value, why),
				 cases[i].result);
		if (!strstr(why, cases[i].says))
			fail_msg("'%s' should say '%s'", why, cases[i].says);
		assert_memory_equal(&c, &config_default, sizeof(c));
	}
}

static void test_no_files(void **state)
{
	struct config c;

	(void)state;
	assert_int_equal(config_read(root, &c), 0);
	assert_memory_equal(&c, &config_default, sizeof(c));
}

#define USR	"usr/lib/fullstripe/fullstriped.conf.d/"
#define RUN	"run/fullstripe/fullstriped.conf.d/"
#define ETC	"etc/fullstripe/fullstriped.conf.d/"

/* The main file, then all drop-ins by their names; of one name, /etc before /run before /usr/lib. */
static void test_which_file_counts(void **state)
{
	struct config c;

	(void)state;
	put("etc/fullstripe/fullstriped.conf",
	    "# comment\n[fullstriped]\nmode = auto\nrecord_seconds=1\ndwell_seconds=1\n");
	put(ETC "20-b.conf", "[fullstriped]\nrecord_seconds=2");
	put(USR "30-c.conf", "[fullstriped]\nrecord_seconds=3");
	put(USR "10-a.conf", "[fullstriped]\nrecord_seconds=4\ndwell_seconds=4");
	put(RUN "30-c.conf", "[fullstriped]\nrecord_seconds=5");
	put(ETC "90-no.txt", "[fullstriped]\nrecord_seconds=6");
	put(ETC ".90-hidden.conf", "[fullstriped]\nrecord_seconds=7");
	assert_int_equal(config_read(root, &c), 0);
	assert_true(c.apply);
	assert_int_equal(c.record_seconds, 5);
	assert_int_equal(c.dwell_seconds, 4);
	put(ETC "30-c.conf", "");
	assert_int_equal(config_read(root, &c), 0);
	assert_int_equal(c.record_seconds, 2);
}

static void test_files_refused(void **state)
{
	static const char * const texts[] = {
		"[fullstriped]\nmode = maybe", "[fullstriped]\nmode = auto\ncolour", "[fullstriped",
		"[fullstriped]\nrecord_seconds = 300\ninterval_seconds = 299",
	};
	struct config c = { .record_seconds = 42 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		put(ETC "a.conf", texts[i]);
		assert_true(config_read(root, &c) < 0);
		assert_int_equal(c.record_seconds, 42);
	}
	/* A later file does not make it good, and an unknown key is none of the errors. */
	put(ETC "a.conf", "[fullstriped]\nmode = maybe");
	put(ETC "b.conf", "[fullstriped]\nmode = auto");
	assert_true(config_read(root, &c) < 0);
	put(ETC "a.conf", "[fullstriped]\ncolour = red\n[other]\nmode = maybe");
	assert_int_equal(config_read(root, &c), 0);
	assert_true(c.apply);
}

static struct plan plan_of(uint64_t old, uint64_t new, enum rule_scenario scenario)
{
	return (struct plan) {
		.n = 1,
		.items = { { .attribute = "cluster_bytes", .old = old, .new = new,
			     .scenario = scenario } },
	};
}

static void changed_at(struct state *s, uint64_t time, enum transaction_outcome outcome)
{
	s->history[s->n_history++] = (struct transaction) { .time = time, .outcome = outcome };
}

static void test_dead_band(void **state)
{
	static const struct {
		uint64_t old, new;
		enum rule_scenario scenario;
		enum pace pace;
	} cases[] = {
		{ 1000, 1000, SCENARIO_BANDWIDTH_RULE, PACE_RIGHT },
		{ 1000, 1100, SCENARIO_BANDWIDTH_RULE, PACE_DEAD_BAND },
		{ 1000, 900, SCENARIO_BANDWIDTH_RULE, PACE_DEAD_BAND },
		{ 1000, 1101, SCENARIO_BANDWIDTH_RULE, PACE_GO },
		{ 1000, 899, SCENARIO_BANDWIDTH_RULE, PACE_GO },
		{ 1000, 1001, SCENARIO_STRIPE_OF_ARRAY, PACE_GO },
		{ 0, 1, SCENARIO_BANDWIDTH_RULE, PACE_GO },
		{ INT64_MAX, 1, SCENARIO_BANDWIDTH_RULE, PACE_GO },
	};
	struct state *s = calloc(1, sizeof(*s));
	struct plan plan;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		plan = plan_of(cases[i].old, cases[i].new, cases[i].scenario);
		assert_int_equal(pace_decide(&config_default, &plan, s, 10000), cases[i].pace);
	}
	plan = plan_of(1000, 2000, SCENARIO_BANDWIDTH_RULE);
	plan.items[0].left_alone = true;
	assert_int_equal(pace_decide(&config_default, &plan, s, 10000), PACE_RIGHT);
	free(s);
}

static void test_dwell_and_budget(void **state)
{
	const struct plan plan = plan_of(1000, 2000, SCENARIO_BANDWIDTH_RULE);
	struct state *s = calloc(1, sizeof(*s));

	(void)state;
	changed_at(s, 10000, OUTCOME_DONE);
	assert_int_equal(pace_decide(&config_default, &plan, s, 10899), PACE_DWELL);
	assert_int_equal(pace_decide(&config_default, &plan, s, 10900), PACE_GO);
	/* The clock was set back. */
	assert_int_equal(pace_decide(&config_default, &plan, s, 9000), PACE_DWELL);
	/* What failed is not tried again at once either. */
	changed_at(s, 11000, OUTCOME_UNDONE);
	assert_int_equal(pace_decide(&config_default, &plan, s, 11899), PACE_DWELL);
	assert_int_equal(pace_decide(&config_default, &plan, s, 11900), PACE_BUDGET);
	assert_int_equal(pace_decide(&config_default, &plan, s, 13599), PACE_BUDGET);
	assert_int_equal(pace_decide(&config_default, &plan, s, 13600), PACE_GO);
	/* Changes of a device that is no more are none of this one's. */
	s->history[1].outcome = OUTCOME_VOID;
	assert_int_equal(pace_decide(&config_default, &plan, s, 11000), PACE_GO);
	free(s);
}

/* Who took a value back does not want it again; who applied it by hand does. */
static void test_taken_back(void **state)
{
	struct plan plan = plan_of(1000, 2000, SCENARIO_BANDWIDTH_RULE);
	struct state *s = calloc(1, sizeof(*s));

	(void)state;
	changed_at(s, 0, OUTCOME_TAKEN_BACK);
	transaction_add(&s->history[0], "cluster_bytes", 1000, 2000);
	changed_at(s, 0, OUTCOME_DONE);
	s->history[1].kind = TRANSACTION_ROLLBACK;
	transaction_add(&s->history[1], "cluster_bytes", 2000, 1000);
	assert_int_equal(pace_decide(&config_default, &plan, s, 10000), PACE_TAKEN_BACK);
	/* The next recording gives not quite the same. */
	plan.items[0].new = 2200;
	assert_int_equal(pace_decide(&config_default, &plan, s, 10000), PACE_TAKEN_BACK);
	plan.items[0].new = 2201;
	assert_int_equal(pace_decide(&config_default, &plan, s, 10000), PACE_GO);
	plan.items[0].scenario = SCENARIO_STRIPE_OF_ARRAY;
	plan.items[0].new = 2200;
	assert_int_equal(pace_decide(&config_default, &plan, s, 10000), PACE_GO);
	plan.items[0].scenario = SCENARIO_BANDWIDTH_RULE;
	plan.items[0].new = 3000;
	assert_int_equal(pace_decide(&config_default, &plan, s, 10000), PACE_GO);
	plan.items[0].new = 2000;
	changed_at(s, 0, OUTCOME_DONE);
	transaction_add(&s->history[2], "cluster_bytes", 1000, 2000);
	assert_int_equal(pace_decide(&config_default, &plan, s, 10000), PACE_GO);
	free(s);
}

/* The device was removed, and its layers were given back: made again it may have the same. */
static void test_removed(void **state)
{
	const struct plan plan = plan_of(1000, 2000, SCENARIO_BANDWIDTH_RULE);
	struct transaction apply = { .kind = TRANSACTION_APPLY }, back = { .kind = TRANSACTION_RESTORE };
	struct state *s = calloc(1, sizeof(*s));

	(void)state;
	transaction_add(&apply, "cluster_bytes", 1000, 2000);
	transaction_add(&apply, "md0/stripe_cache_size", 256, 512);
	transaction_add(&back, "md0/stripe_cache_size", 512, 256);
	state_begin(s, &apply, 9000);
	state_end(s, OUTCOME_DONE, (uint64_t[]) { 2000, 512 });
	assert_int_equal(pace_decide(&config_default, &plan, s, 9001), PACE_DWELL);
	state_begin(s, &back, 9001);
	state_end(s, OUTCOME_DONE, (uint64_t[]) { 256 });
	assert_int_equal(pace_decide(&config_default, &plan, s, 9002), PACE_GO);
	free(s);
}

/* No change is made that nobody could judge, or while another one is being judged. */
static void test_judgeable(void **state)
{
	struct harm h = { .n_before = HARM_SAMPLES - 1 };

	(void)state;
	assert_int_equal(pace_judgeable(&h), PACE_SAMPLES);
	h.n_before = HARM_SAMPLES;
	assert_int_equal(pace_judgeable(&h), PACE_GO);
	harm_begin(&h, 1);
	assert_int_equal(pace_judgeable(&h), PACE_JUDGED);
}

/* Changed at random: it is refused and changes nothing, or all of it is in its range. */
static void test_spoilt(void **state)
{
	static const char text[] = "# comment\n[fullstriped]\nmode = auto\nlayers = no\nrecord_seconds=1\n"
		"interval_seconds = 86400\ndead_band_percent=100\nmetrics_file = /a/b.prom\n";
	char bad[2 * sizeof(text)], why[CONFIG_WHY];
	size_t refused = 0;
	uint64_t seed = 1;

	(void)state;
	for (unsigned int i = 0; i < 500; i++) {
		struct config c;

		memset(&c, 0x5a, sizeof(c));
		memcpy(bad, text, sizeof(text));
		spoil(bad, sizeof(bad), &seed);
		put(ETC "a.conf", bad);
		if (config_read(root, &c) < 0) {
			refused++;
			for (size_t b = 0; b < sizeof(c); b++)
				assert_int_equal(((unsigned char *)&c)[b], 0x5a);
			continue;
		}
		assert_int_equal(config_check(&c, why), 0);
		assert_in_range(c.record_seconds, 1, 86400);
		assert_in_range(c.dead_band_percent, 0, 100);
		assert_non_null(memchr(c.metrics_file, '\0', sizeof(c.metrics_file)));
	}
	assert_in_range(refused, 100, 499);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_long_path),
		cmocka_unit_test(test_keys_refused),
		in_root(test_no_files),
		in_root(test_which_file_counts),
		in_root(test_files_refused),
		in_root(test_spoilt),
		cmocka_unit_test(test_dead_band),
		cmocka_unit_test(test_dwell_and_budget),
		cmocka_unit_test(test_taken_back),
		cmocka_unit_test(test_removed),
		cmocka_unit_test(test_judgeable),
	};

	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}

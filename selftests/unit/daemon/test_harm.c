// SPDX-License-Identifier: GPL-2.0
/* Whether a change did harm: what a sample is, which go together, and what is found. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "lib/blktrace_format.h"
#include "lib/harm.h"
#include "lib/macros.h"

#define MIB	(1u << 20)
#define MS	1000000.0

static struct profile_summary a_profile(void)
{
	return (struct profile_summary) {
		.ios = 1000,
		.reads = 250,
		.completed = 1000,
		.sequential = 0.9,
		.size_average = 65536,
		.streams = 2,
		.sync = 0.5,
		.average_rate = 50 * MIB,
		.read_latency = { .n = 250, .p99 = 3 * MS },
		.write_latency = { .n = 750, .p99 = 2 * MS },
		.flush_latency = { .n = 99, .p99 = 20 * MS },
	};
}

static struct harm_sample sample_of(const struct profile_summary *profile)
{
	static const struct harm_counters begin, end = { .written = 1 };
	struct harm_sample s;

	assert_true(harm_sample(profile, 1, &begin, &end, &s));
	return s;
}

static struct harm_sample a_sample(void)
{
	const struct profile_summary profile = a_profile();

	return sample_of(&profile);
}

static void test_sample(void **state)
{
	const struct harm_counters begin = { .has_members = true, .members_read = 7 };
	struct harm_counters end = begin;
	struct profile_summary profile = a_profile();
	struct harm_sample s;

	(void)state;
	end.written = 10 * MIB;
	assert_true(harm_sample(&profile, 2.5, &begin, &end, &s));
	assert_true(s.reads == 0.25 && s.sequential == 0.9 && s.sync == 0.5 && s.size == 65536);
	assert_true(s.in_flight == 2.5);
	assert_true(s.values[HARM_PRE_READS] == 0);
	assert_true(s.values[HARM_READ_TIME] == 3 * MS);
	assert_true(s.values[HARM_WRITE_TIME] == 2 * MS);
	/* 99 flushes have no 99th in 100. */
	assert_true(s.values[HARM_FLUSH_TIME] < 0);
	assert_true(s.values[HARM_BANDWIDTH] == 50 * MIB);

	profile.ios = RULE_LEAST_IOS - 1;
	assert_false(harm_sample(&profile, 1, &begin, &end, &s));
	profile = a_profile();
	profile.completed = 0;
	assert_false(harm_sample(&profile, 1, &begin, &end, &s));
	profile = a_profile();
	end.busy = true;
	assert_false(harm_sample(&profile, 1, &begin, &end, &s));
	assert_false(harm_sample(&profile, 1, &end, &begin, &s));
	end.busy = false;
	end.degraded = 1;
	assert_false(harm_sample(&profile, 1, &begin, &end, &s));
}

/* Of what the members read, only that counts which was read for writes. */
static void test_pre_reads(void **state)
{
	static const struct {
		struct harm_counters end;
		double pre_reads;
	} cases[] = {
		{ { .written = 4 * MIB, .members_read = 2 * MIB, .has_members = true }, 0.5 },
		{ { .written = 4 * MIB, .read = 2 * MIB, .members_read = 3 * MIB,
		    .has_members = true }, 0.25 },
		/* What was read from memory was not read from members. */
		{ { .written = 4 * MIB, .read = 2 * MIB, .staged_read = MIB, .members_read = 3 * MIB,
		    .has_members = true }, 0.5 },
		{ { .written = 4 * MIB, .read = 2 * MIB, .prefetch_hit = 2 * MIB,
		    .prefetched = 3 * MIB, .members_read = 4 * MIB, .has_members = true }, 0.25 },
		/* The other way round it is what was on its way when the recording began or ended. */
		{ { .written = 4 * MIB, .read = 8 * MIB, .members_read = MIB, .has_members = true }, 0 },
		{ { .written = 4 * MIB, .members_read = 2 * MIB }, -1 },
		{ { .written = MIB - 1, .members_read = 2 * MIB, .has_members = true }, -1 },
	};
	const struct harm_counters begin = { .has_members = true };
	const struct profile_summary profile = a_profile();
	struct harm_sample s;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_true(harm_sample(&profile, 1, &begin, &cases[i].end, &s));
		if (s.values[HARM_PRE_READS] != cases[i].pre_reads)
			fail_msg("case %zu: %f", i, s.values[HARM_PRE_READS]);
	}
	/* Somebody reset the counters. */
	assert_true(harm_sample(&profile, 1, &(struct harm_counters) {
		.has_members = true, .staged_read = 1,
	}, &cases[0].end, &s));
	assert_true(s.values[HARM_PRE_READS] < 0);
}

static void test_same_workload(void **state)
{
	static const struct {
		size_t field;
		double near, apart;
	} shares[] = {
		{ offsetof(struct harm_sample, reads), 0.45, 0.55 },
		{ offsetof(struct harm_sample, sequential), 0.7, 0.6 },
		{ offsetof(struct harm_sample, strided), 0.2, 0.3 },
		{ offsetof(struct harm_sample, sync), 0.7, 0.8 },
		{ offsetof(struct harm_sample, meta), 0.2, 0.3 },
		{ offsetof(struct harm_sample, size), 131072, 140000 },
		{ offsetof(struct harm_sample, size), 32768, 32000 },
	};
	const struct harm_sample a = a_sample();
	struct harm_sample b = a;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(shares); i++) {
		double *field = (double *)((char *)&b + shares[i].field);

		*field = shares[i].near;
		assert_true(harm_same_workload(&a, &b));
		*field = shares[i].apart;
		assert_false(harm_same_workload(&a, &b));
		assert_false(harm_same_workload(&b, &a));
		b = a;
	}
	b.streams = 4;
	assert_true(harm_same_workload(&a, &b));
	b.streams = 5;
	assert_false(harm_same_workload(&a, &b));
	b = a;
	b.degraded = 1;
	assert_false(harm_same_workload(&a, &b));
	/* How well the device does is no part of it. */
	b = a;
	b.in_flight = 100;
	for (size_t m = 0; m < HARM_MEASURES; m++)
		b.values[m] = 0;
	assert_true(harm_same_workload(&a, &b));
}

/* A random workload has no streams that last, or one by chance. */
static void test_no_streams(void **state)
{
	struct profile_summary profile = a_profile();
	struct harm_sample none, one;

	(void)state;
	profile.streams = 0;
	none = sample_of(&profile);
	profile.streams = 1;
	one = sample_of(&profile);
	assert_true(harm_same_workload(&none, &one));
}

/* Five samples with one measure known, which has these values. */
static void add_all(struct harm *h, enum harm_measure m, const double values[static HARM_SAMPLES],
		    double in_flight)
{
	struct harm_sample s = a_sample();

	for (size_t i = 0; i < HARM_SAMPLES; i++) {
		for (size_t other = 0; other < HARM_MEASURES; other++)
			s.values[other] = -1;
		s.values[m] = values[i];
		s.in_flight = in_flight;
		harm_add(h, &s);
	}
}

static enum harm_verdict verdict_of(enum harm_measure m, const double before[static HARM_SAMPLES],
				    const double after[static HARM_SAMPLES],
				    struct harm_finding *ret)
{
	struct harm h = { .n_before = 0 };

	add_all(&h, m, before, 2);
	harm_begin(&h, 1);
	add_all(&h, m, after, 2);
	return harm_judge(&h, ret);
}

static void test_verdicts(void **state)
{
	static const struct {
		enum harm_measure measure;
		double before[HARM_SAMPLES], after[HARM_SAMPLES];
		enum harm_verdict verdict;
	} cases[] = {
		/* 3 % less is not worse than 3 % less. */
		{ HARM_BANDWIDTH, { 100, 100, 100, 100, 100 }, { 97, 97, 97, 97, 97 }, HARM_UNHARMED },
		{ HARM_BANDWIDTH, { 100, 100, 100, 100, 100 }, { 96, 96, 96, 96, 96 }, HARM_HARMED },
		{ HARM_BANDWIDTH, { 100, 100, 100, 100, 100 }, { 200, 200, 200, 200, 200 }, HARM_UNHARMED },
		/* One recording that went wrong, before and after. */
		{ HARM_BANDWIDTH, { 100, 99, 101, 98, 80 }, { 70, 71, 72, 69, 81 }, HARM_HARMED },
		{ HARM_BANDWIDTH, { 100, 99, 101, 98, 80 }, { 70, 71, 72, 82, 81 }, HARM_UNHARMED },
		{ HARM_BANDWIDTH, { 100, 99, 101, 98, 97 }, { 100, 99, 101, 98, 1 }, HARM_UNHARMED },
		/* What is equal is not worse. */
		{ HARM_BANDWIDTH, { 100, 100, 100, 100, 90 }, { 90, 90, 80, 80, 80 }, HARM_UNHARMED },
		{ HARM_READ_TIME, { 10e6, 10e6, 10e6, 10e6, 12e6 },
		  { 12e6, 12e6, 14e6, 14e6, 14e6 }, HARM_UNHARMED },
		/* The medians are far apart, but so are the samples. */
		{ HARM_BANDWIDTH, { 50, 60, 100, 110, 120 }, { 55, 65, 70, 105, 90 }, HARM_UNHARMED },
		/* A time is known to one part in 16. */
		{ HARM_WRITE_TIME, { 10e6, 10e6, 10e6, 10e6, 10e6 },
		  { 10.9e6, 10.9e6, 10.9e6, 10.9e6, 10.9e6 }, HARM_UNHARMED },
		{ HARM_WRITE_TIME, { 10e6, 10e6, 10e6, 10e6, 10e6 },
		  { 11e6, 11e6, 11e6, 11e6, 11e6 }, HARM_HARMED },
		{ HARM_READ_TIME, { 10e6, 10e6, 10e6, 10e6, 10e6 },
		  { 5e6, 5e6, 5e6, 5e6, 5e6 }, HARM_UNHARMED },
		{ HARM_FLUSH_TIME, { 10e6, 12e6, 14e6, 16e6, 18e6 },
		  { 20e6, 22e6, 24e6, 26e6, 28e6 }, HARM_HARMED },
		/* Nobody notices 50 us. */
		{ HARM_READ_TIME, { 10e3, 10e3, 10e3, 10e3, 10e3 },
		  { 60e3, 60e3, 60e3, 60e3, 60e3 }, HARM_UNHARMED },
		{ HARM_PRE_READS, { 0, 0, 0, 0, 0 }, { 0, 0, 0, 0, 0 }, HARM_UNHARMED },
		{ HARM_PRE_READS, { 0, 0, 0, 0, 0 }, { .01, .01, .01, .01, .01 }, HARM_UNHARMED },
		{ HARM_PRE_READS, { 0, 0, 0, 0, 0 }, { .02, .02, .02, .02, .02 }, HARM_HARMED },
		{ HARM_PRE_READS, { 1, 1, 1, 1, 1 }, { 1.02, 1.02, 1.02, 1.02, 1.02 }, HARM_UNHARMED },
		{ HARM_PRE_READS, { 1, 1, 1, 1, 1 }, { 1.04, 1.04, 1.04, 1.04, 1.04 }, HARM_HARMED },
		/* What is not known each time is not judged by. */
		{ HARM_PRE_READS, { 0, 0, 0, 0, -1 }, { 9, 9, 9, 9, 9 }, HARM_NOT_COMPARABLE },
		{ HARM_PRE_READS, { 0, 0, 0, 0, 0 }, { 9, 9, 9, 9, -1 }, HARM_NOT_COMPARABLE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct harm_finding finding = { .measure = HARM_MEASURES };
		enum harm_verdict verdict = verdict_of(cases[i].measure, cases[i].before,
						       cases[i].after, &finding);

		if (verdict != cases[i].verdict)
			fail_msg("case %zu: %s", i, harm_verdict_name(verdict));
		assert_int_equal(finding.measure,
				 verdict == HARM_HARMED ? cases[i].measure : HARM_MEASURES);
	}
}

/* Several became worse: what did most of all is named. */
static void test_worst_is_named(void **state)
{
	static const struct {
		double pre_reads[2], bandwidth[2];
		enum harm_measure worst;
	} cases[] = {
		{ { 0.49, 0.54 }, { 3600, 300 }, HARM_BANDWIDTH },
		{ { 0.1, 2 }, { 3600, 1800 }, HARM_PRE_READS },
		/* There were none. */
		{ { 0, 0.5 }, { 3600, 300 }, HARM_PRE_READS },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct harm_sample s = a_sample();
		struct harm_finding finding;
		struct harm h = { .n_before = 0 };

		for (size_t n = 0; n < 2 * HARM_SAMPLES; n++) {
			bool after = n >= HARM_SAMPLES;

			if (n == HARM_SAMPLES)
				harm_begin(&h, 1);
			s.values[HARM_PRE_READS] = cases[i].pre_reads[after];
			s.values[HARM_BANDWIDTH] = cases[i].bandwidth[after];
			harm_add(&h, &s);
		}
		assert_int_equal(harm_judge(&h, &finding), HARM_HARMED);
		assert_int_equal(finding.measure, cases[i].worst);
	}
}

/* Who has less to do gets less, and is not harmed. */
static void test_less_is_asked_for(void **state)
{
	static const double before[] = { 100, 100, 100, 100, 100 }, after[] = { 50, 50, 50, 50, 50 };
	struct harm_finding finding;
	struct harm h = { .n_before = 0 };

	(void)state;
	add_all(&h, HARM_BANDWIDTH, before, 2);
	harm_begin(&h, 1);
	add_all(&h, HARM_BANDWIDTH, after, 1);
	assert_int_equal(harm_judge(&h, &finding), HARM_UNHARMED);
	add_all(&h, HARM_BANDWIDTH, after, 2);
	assert_int_equal(harm_judge(&h, &finding), HARM_HARMED);
}

/* 252 orders of ten different samples, two of which are called worse. */
static void test_luck(void **state)
{
	unsigned int orders = 0, worse = 0;

	(void)state;
	for (unsigned int mask = 0; mask < 1 << 10; mask++) {
		double before[HARM_SAMPLES], after[HARM_SAMPLES];
		struct harm_finding finding;
		unsigned int b = 0, a = 0;

		if (__builtin_popcount(mask) != HARM_SAMPLES)
			continue;
		for (unsigned int i = 0; i < 10; i++)
			*(mask & 1 << i ? &before[b++] : &after[a++]) = pow(2, i);
		orders++;
		worse += verdict_of(HARM_BANDWIDTH, before, after, &finding) == HARM_HARMED;
	}
	assert_int_equal(orders, 252);
	assert_int_equal(worse, 2);
}

static void test_course(void **state)
{
	struct harm_sample s = a_sample(), other = s;
	struct harm_finding finding;
	struct harm h = { .n_before = 0 };

	(void)state;
	other.size *= 10;
	for (unsigned int i = 0; i < HARM_SAMPLES; i++) {
		assert_false(harm_is_ready(&h));
		harm_add(&h, &s);
	}
	assert_true(harm_is_ready(&h));
	harm_add(&h, &s);
	assert_int_equal(h.n_before, HARM_SAMPLES);
	/* Another workload begins anew. */
	harm_add(&h, &other);
	assert_int_equal(h.n_before, 1);
	for (unsigned int i = 0; i < HARM_SAMPLES; i++)
		harm_add(&h, &s);
	assert_true(harm_is_ready(&h));

	harm_begin(&h, 7);
	assert_false(harm_is_ready(&h));
	for (unsigned int i = 0; i < HARM_SAMPLES; i++) {
		assert_int_equal(harm_judge(&h, &finding), HARM_PENDING);
		harm_add(&h, &s);
		/* A guest in between changes nothing. */
		if (i == 2)
			harm_add(&h, &other);
	}
	assert_int_equal(harm_judge(&h, &finding), HARM_UNHARMED);
	harm_end(&h, HARM_UNHARMED);
	assert_true(harm_is_ready(&h));

	harm_begin(&h, 8);
	assert_int_equal(h.unlike, 0);
	for (unsigned int i = 0; i < HARM_SAMPLES; i++) {
		assert_int_equal(harm_judge(&h, &finding), HARM_PENDING);
		harm_add(&h, &other);
	}
	assert_int_equal(harm_judge(&h, &finding), HARM_NOT_COMPARABLE);
	harm_end(&h, HARM_NOT_COMPARABLE);
	assert_int_equal(h.n_before, 0);
	assert_int_equal(h.change, 0);
	/* Nothing was known of before. */
	harm_begin(&h, 9);
	assert_int_equal(harm_judge(&h, &finding), HARM_NOT_COMPARABLE);
}

/* The settings that are in force again are those of before. */
static void test_samples_that_stay(void **state)
{
	static const double before[] = { 100, 100, 100, 100, 100 }, after[] = { 50, 50, 50, 50, 50 };
	struct harm_finding finding;
	struct harm h = { .n_before = 0 };

	(void)state;
	add_all(&h, HARM_BANDWIDTH, before, 1);
	harm_begin(&h, 1);
	add_all(&h, HARM_BANDWIDTH, after, 1);
	assert_int_equal(harm_judge(&h, &finding), HARM_HARMED);
	harm_end(&h, HARM_HARMED);
	assert_true(harm_is_ready(&h));
	assert_true(h.before[0].values[HARM_BANDWIDTH] == 100);
	harm_begin(&h, 2);
	add_all(&h, HARM_BANDWIDTH, after, 0.5);
	assert_int_equal(harm_judge(&h, &finding), HARM_UNHARMED);
	harm_end(&h, HARM_UNHARMED);
	assert_true(h.before[0].values[HARM_BANDWIDTH] == 50);
}

static void test_sentences(void **state)
{
	static const struct {
		struct harm_finding finding;
		const char *text;
	} cases[] = {
		{ { HARM_PRE_READS, 0, 0.254 },
		  "pre-reads for each MiB written: 0.00 MiB before, 0.25 MiB after" },
		{ { HARM_WRITE_TIME, 1.5e6, 30e6 },
		  "p99 latency of writes: 1.50 ms before, 30.00 ms after" },
		{ { HARM_BANDWIDTH, 100 * MIB, 50 * MIB },
		  "bandwidth: 100 MiB/s before, 50 MiB/s after" },
	};
	char text[RULE_SENTENCE];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		harm_describe(&cases[i].finding, text);
		assert_string_equal(text, cases[i].text);
	}
}

/* Requests under way are their times over the time: here one for 1 ms in each 4 ms. */
static void test_in_flight(void **state)
{
	struct profile *p = new_profile();
	double in_flight;

	(void)state;
	for (unsigned int i = 0; i < 1000; i++)
		add_io(p, 4000000ull * i, BLKTRACE_WRITE, i * 65536ull, 65536);
	in_flight = profile_in_flight(p, DEVICE);
	assert_true(in_flight > 0.249 && in_flight < 0.251);
	assert_true(profile_in_flight(p, DEVICE + 1) == 0);
	profile_free(p);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_pre_reads),
		cmocka_unit_test(test_same_workload),
		cmocka_unit_test(test_no_streams),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_worst_is_named),
		cmocka_unit_test(test_less_is_asked_for),
		cmocka_unit_test(test_luck),
		cmocka_unit_test(test_course),
		cmocka_unit_test(test_samples_that_stay),
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_in_flight),
	};

	return cmocka_run_group_tests_name("harm", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/* A profile from counters: what they tell, and that what they do not tell is not made up. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "lib/counted.h"
#include "lib/describe.h"
#include "lib/harm.h"
#include "lib/stats_message.h"

#define MS	1000000ull
#define S	1000000000ull
#define KIB	1024ull
#define MIB	(1024 * KIB)

/* So many more, each of 64 KiB and 2 ms, at a time. */
static void count(struct counted_reading *r, uint64_t time, uint64_t reads, uint64_t writes)
{
	r->time = time;
	r->reads += reads;
	r->writes += writes;
	r->read_bytes += reads * 64 * KIB;
	r->written_bytes += writes * 64 * KIB;
	r->busy_ns += (reads + writes) * 2 * MS;
	for (uint64_t i = 0; i < reads + writes; i++)
		histogram_add(&r->latency, 2 * MS);
}

/* What was counted before the recording is not of it. */
static struct counted_reading before(void)
{
	struct counted_reading r = { .flushes = 7, .fua = 5, .prefetch_hit = MIB };

	count(&r, 100 * S, 1000, 3);
	return r;
}

static struct profile_summary summarise(const struct counted *c)
{
	struct profile_summary s;

	counted_summarise(c, DEVICE, OBSTACLE_LOCKED_DOWN, &s);
	return s;
}

static void test_writes(void **state)
{
	struct counted_reading r = before();
	struct profile_summary s;
	struct counted c;

	(void)state;
	counted_begin(&c, &r);
	for (unsigned int i = 1; i <= 40; i++) {
		count(&r, 100 * S + i * 250 * MS, 0, 40);
		r.flushes += 4;
		r.fua += 10;
		assert_true(counted_add(&c, &r));
	}
	s = summarise(&c);
	assert_int_equal(s.device, DEVICE);
	assert_int_equal(s.obstacle, OBSTACLE_LOCKED_DOWN);
	assert_true(profile_is_counted(&s));
	assert_int_equal(s.ios, 1600);
	assert_int_equal(s.completed, 1600);
	assert_int_equal(s.reads, 0);
	assert_int_equal(s.writes, 1600);
	assert_int_equal(s.flushes, 160);
	assert_int_equal(s.duration, 10 * S);
	assert_int_equal(s.average_rate, 10 * MIB);
	assert_int_equal(s.write_rate, 10 * MIB);
	assert_int_equal(s.read_rate, 0);
	assert_int_equal(s.peak_rate, 10 * MIB);
	assert_true(s.size_average == 64 * KIB);
	assert_true(s.flush == 0.1 && s.fua == 0.25);
	assert_int_equal(s.write_latency.n, 1600);
	assert_in_range(s.write_latency.p50, 2 * MS, 2 * MS * 17 / 16);
	assert_in_range(s.write_latency.p99, 2 * MS, 2 * MS * 17 / 16);
	assert_int_equal(s.read_latency.n, 0);
	assert_true(counted_in_flight(&c) > 0.319 && counted_in_flight(&c) < 0.321);
	/* Enough of it, but only counters. */
	assert_true(s.confidence == 0.5);
}

/* Negative, or named so: none of it looks like a zero that was measured. */
static void test_unknown(void **state)
{
	struct counted_reading r = before();
	struct profile_summary s;
	struct counted c;

	(void)state;
	counted_begin(&c, &r);
	count(&r, 105 * S, 500, 500);
	assert_true(counted_add(&c, &r));
	s = summarise(&c);
	assert_int_equal(s.content, CONTENT_UNKNOWN);
	assert_int_equal(s.access, ACCESS_UNKNOWN);
	assert_true(s.meta_ios < 0 && s.meta_bytes < 0);
	assert_true(s.sequential < 0 && s.strided < 0 && s.random < 0);
	assert_true(s.returns < 0 && !profile_is_ping_pong(&s));
	assert_true(s.sync < 0 && !s.latency_sensitive);
	assert_true(s.unaligned < 0 && s.size_mode_share < 0);
	/* One histogram for both. */
	assert_int_equal(s.read_latency.n, 0);
	assert_int_equal(s.write_latency.n, 0);
}

static void test_peak(void **state)
{
	struct counted_reading r = before();
	struct counted c;

	(void)state;
	counted_begin(&c, &r);
	/* A second of 40 MiB in ten of 5 MiB a second, read as often as a recording is. */
	for (unsigned int i = 1; i <= 100; i++) {
		/* That of the 75th is shorter, and 28 MiB in its second. */
		count(&r, 100 * S + i * 100 * MS, 0,
		      i > 45 && i <= 55 ? 64 : i == 75 ? 376 : 8);
		assert_true(counted_add(&c, &r));
	}
	assert_int_equal(summarise(&c).peak_rate, 40 * MIB);
	/* Readings that come late have more in them, and are no peak. */
	count(&r, 120 * S, 0, 1600);
	assert_true(counted_add(&c, &r));
	assert_int_equal(summarise(&c).peak_rate, 40 * MIB);

	/* Less than a second is all peak. */
	r = before();
	counted_begin(&c, &r);
	count(&r, 100 * S + 500 * MS, 0, 16);
	assert_true(counted_add(&c, &r));
	assert_int_equal(summarise(&c).peak_rate, 2 * MIB);
}

static void test_access(void **state)
{
	struct counted_reading r = before();
	struct counted c;

	(void)state;
	counted_begin(&c, &r);
	count(&r, 105 * S, 100, 0);
	r.prefetch_hit += 50 * 64 * KIB;
	assert_true(counted_add(&c, &r));
	assert_int_equal(summarise(&c).access, ACCESS_SEQUENTIAL);
	assert_int_equal(summarise(&c).read_latency.n, 100);
	/* Of the writes it is not known. */
	count(&r, 106 * S, 0, 1);
	assert_true(counted_add(&c, &r));
	assert_int_equal(summarise(&c).access, ACCESS_UNKNOWN);
}

/* A discard is in the disk's counters before it is in those of dm-stats, or after. */
static void test_peak_beside_discards(void **state)
{
	struct counted_reading r = before();
	struct counted c;

	(void)state;
	r.discarded_bytes = 50 * MIB;
	counted_begin(&c, &r);
	for (unsigned int i = 1; i <= 8; i++) {
		count(&r, 100 * S + i * 250 * MS, 0, i > 4 ? 40 : 0);
		assert_true(counted_add(&c, &r));
	}
	assert_int_equal(summarise(&c).peak_rate, 10 * MIB);

	r = before();
	counted_begin(&c, &r);
	for (unsigned int i = 1; i <= 8; i++) {
		count(&r, 100 * S + i * 250 * MS, 0, 16);
		if (i == 4) {
			r.discards++;
			r.discarded_bytes += 3000 * MIB;
		} else if (i == 6) {
			r.writes++;
			r.written_bytes += 3000 * MIB;
		}
		assert_true(counted_add(&c, &r));
	}
	assert_int_equal(summarise(&c).peak_rate, 4 * MIB);
}

/* Device-mapper takes discards for writes. */
static void test_discards(void **state)
{
	struct counted_reading r = before();
	struct profile_summary s;
	struct counted c;

	(void)state;
	counted_begin(&c, &r);
	count(&r, 104 * S, 0, 100);
	r.writes += 3;
	r.written_bytes += 3000 * MIB;
	r.discards += 3;
	r.discarded_bytes += 3000 * MIB;
	assert_true(counted_add(&c, &r));
	s = summarise(&c);
	assert_int_equal(s.discards, 3);
	assert_int_equal(s.writes, 100);
	assert_int_equal(s.average_rate, 100 * 64 * KIB / 4);
	assert_int_equal(s.peak_rate, 100 * 64 * KIB / 4);
	assert_int_equal(s.write_latency.n, 0);
}

static void test_set_back(void **state)
{
	struct counted_reading r = before(), back;
	struct counted c;

	(void)state;
	counted_begin(&c, &r);
	count(&r, 102 * S, 10, 10);
	assert_true(counted_add(&c, &r));
	back = r;
	count(&back, 103 * S, 10, 10);
	back.flushes--;
	assert_false(counted_add(&c, &back));
	back.flushes++;
	back.reads = 0;
	assert_false(counted_add(&c, &back));
	assert_int_equal(summarise(&c).ios, 20);
}

/* Nothing at all is no workload, and nothing is divided by it. */
static void test_nothing(void **state)
{
	struct counted_reading r = before();
	struct profile_summary s;
	struct counted c;

	(void)state;
	counted_begin(&c, &r);
	s = summarise(&c);
	assert_int_equal(s.ios, 0);
	assert_int_equal(s.peak_rate, 0);
	assert_int_equal(s.access, ACCESS_UNKNOWN);
	assert_true(s.confidence == 0 && counted_in_flight(&c) == 0);
}

/* A change is not judged by recordings of which one is of a trace, and the other of counters. */
static void test_not_comparable(void **state)
{
	static const struct harm_counters begin, end = { .written = 1 };
	struct profile_summary counted, traced;
	struct counted_reading r = before();
	struct harm_sample a, b;
	struct counted c;

	(void)state;
	counted_begin(&c, &r);
	count(&r, 105 * S, 0, 1000);
	assert_true(counted_add(&c, &r));
	counted = summarise(&c);
	traced = counted;
	traced.meta_ios = traced.sequential = traced.strided = traced.sync = 0;
	assert_true(harm_sample(&counted, 1, &begin, &end, &a));
	assert_true(harm_sample(&traced, 1, &begin, &end, &b));
	assert_true(harm_same_workload(&a, &a));
	assert_true(harm_same_workload(&b, &b));
	assert_false(harm_same_workload(&a, &b));
}

static void append(void *data, const char *name, const char *value)
{
	size_t len = strlen(data);

	snprintf((char *)data + len, 4096 - len, "%s: %s\n", name, value);
}

static void test_described(void **state)
{
	struct counted_reading r = before();
	struct profile_summary s;
	char text[4096] = "";
	struct counted c;

	(void)state;
	counted_begin(&c, &r);
	count(&r, 105 * S, 10, 1000);
	assert_true(counted_add(&c, &r));
	s = summarise(&c);
	describe_profile(&s, append, text);
	assert_non_null(strstr(text, "source: counters, as the kernel is locked down"));
	assert_non_null(strstr(text, "access pattern: unknown\n"));
	assert_non_null(strstr(text, "I/O size: 64 KiB on average\n"));
	assert_null(strstr(text, "-100"));
	assert_null(strstr(text, "sensitive"));
	assert_null(strstr(text, "metadata"));
}

/* Each bucket begins where the one below it ends. */
static void test_bounds(void **state)
{
	(void)state;
	for (unsigned int i = 1; i < HISTOGRAM_BUCKETS; i++) {
		struct histogram h = { .n = 0 };

		histogram_add(&h, histogram_lower(i));
		histogram_add(&h, histogram_lower(i) - 1);
		assert_int_equal(h.buckets[i], 1);
		assert_int_equal(h.buckets[i - 1], 1);
	}
}

/* The bounds that were asked for are where the buckets are that are filled. */
static void test_messages(void **state)
{
	char message[STATS_MESSAGE], answer[STATS_MESSAGE], *at;
	struct counted_reading r = { .flushes = 7 };
	unsigned int bounds = 1;
	uint64_t last = 0;
	size_t len;

	(void)state;
	stats_message_create(4711, message);
	assert_memory_equal(message, "@stats_create - /1 2 precise_timestamps histogram:8192,", 55);
	assert_string_equal(strrchr(message, ' ') - 11, " fullstripe 4711");
	at = strchr(message, ':');
	for (char *p = at; *p != ' '; p = strpbrk(p + 1, ", ")) {
		uint64_t bound = strtoull(p + 1, NULL, 10);

		assert_true(bound > last);
		last = bound;
		bounds += p > at;
	}

	len = snprintf(answer, sizeof(answer), "0+524288 10 0 160 1000 20 0 640 3000 1 2 3 4 5 ");
	for (unsigned int i = 0; i <= bounds; i++)
		len += snprintf(answer + len, sizeof(answer) - len, "%s%u", i ? ":" : "",
				i == 0 ? 6 : i == bounds - 1 ? 4 : i == bounds ? 20 : 0);
	snprintf(answer + len, sizeof(answer) - len, "\n");
	assert_int_equal(stats_message_counters(answer, &r), 0);
	assert_int_equal(r.reads, 10);
	assert_int_equal(r.writes, 20);
	assert_int_equal(r.read_bytes, 160 * 512);
	assert_int_equal(r.written_bytes, 640 * 512);
	assert_int_equal(r.busy_ns, 4000);
	assert_int_equal(r.flushes, 7);
	assert_int_equal(r.latency.n, 30);
	assert_int_equal(histogram_percentile(&r.latency, 20), 8191);
	assert_int_equal(histogram_percentile(&r.latency, 33), last - 1);
	assert_true(histogram_percentile(&r.latency, 50) >= last);

	/* Cut anywhere it is none, and nothing is taken from it. */
	r.reads = 99;
	for (size_t i = strlen(answer); i-- > 0;) {
		answer[i] = '\0';
		assert_int_equal(stats_message_counters(answer, &r), -EBADMSG);
	}
	assert_int_equal(r.reads, 99);
}

static void test_areas(void **state)
{
	const char *text = "0: 0+524288 524288 dmstats -\n"
			   "2: 0+524288 524288 fullstripe 123 precise_timestamps histogram:8192\n"
			   "3: 0+524288 524288 fullstripes 124\n"
			   "17: 0+524288 524288 fullstripe 125";
	unsigned int area;
	long owner;

	(void)state;
	assert_true(stats_message_area(&text, &area, &owner));
	assert_true(area == 2 && owner == 123);
	assert_true(stats_message_area(&text, &area, &owner));
	assert_true(area == 17 && owner == 125);
	assert_false(stats_message_area(&text, &area, &owner));
	text = "";
	assert_false(stats_message_area(&text, &area, &owner));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writes),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_peak),
		cmocka_unit_test(test_peak_beside_discards),
		cmocka_unit_test(test_access),
		cmocka_unit_test(test_discards),
		cmocka_unit_test(test_set_back),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_not_comparable),
		cmocka_unit_test(test_described),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_areas),
	};

	return cmocka_run_group_tests_name("counted", tests, NULL, NULL);
}

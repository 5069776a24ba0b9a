// SPDX-License-Identifier: GPL-2.0
/* Keys of the table line: what is taken, what is refused, and with which words. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <linux/kernel.h>

#include "settings.h"

static const struct surroundings md = {
	.ram_bytes = 1ULL << 30,
	.block_bytes = 512,
	.found_chunk_bytes = 65536,
	.found_data_members = 4,
};

static const struct surroundings unknown = {
	.ram_bytes = 1ULL << 30,
	.block_bytes = 512,
};

/* Set keys from a list "key value key value ... NULL" and complete. */
static int build(struct settings *s, const struct surroundings *around, const char **error, ...)
{
	const char *key;
	va_list list;
	int r = 0;

	memset(s, 0, sizeof(*s));
	*error = "";
	va_start(list, error);
	while (!r && (key = va_arg(list, const char *))) {
		int found = settings_find(key);

		assert_true(found >= 0);
		r = settings_set(s, found, va_arg(list, const char *), error);
	}
	va_end(list);
	return r ? r : settings_complete(s, around, error);
}

/* The call fails with this code, and the message names the key. */
#define assert_refused(code, key, call) do {					\
	assert_int_equal(call, code);						\
	assert_int_equal(strncmp(error, key ":", sizeof(key)), 0);		\
} while (0)

static void defaults_come_from_md_and_memory(void **state)
{
	struct settings s;
	const char *error;

	(void)state;
	assert_int_equal(build(&s, &md, &error, NULL), 0);
	assert_int_equal(s.value[SETTING_CHUNK_BYTES], 65536);
	assert_int_equal(s.value[SETTING_DATA_MEMBERS], 4);
	assert_int_equal(s.value[SETTING_STRIPE_BYTES], 262144);
	assert_int_equal(s.value[SETTING_CLUSTER_BYTES], 262144);
	assert_int_equal(s.value[SETTING_HIGH_WATER_BYTES], 33554432);
	assert_int_equal(s.value[SETTING_LOW_WATER_BYTES], 16777216);
	assert_int_equal(s.value[SETTING_MODE], MODE_WRITEBEHIND);
	assert_int_equal(s.value[SETTING_HOLD_MS], 5000);
	assert_int_equal(build(&s, &md, &error, "mode", "writethrough", NULL), 0);
	assert_int_equal(s.value[SETTING_HOLD_MS], 10);
}

static void a_request_costs_more_where_disks_seek(void **state)
{
	struct surroundings rotating = md;
	struct settings s;
	const char *error;

	(void)state;
	assert_int_equal(build(&s, &md, &error, NULL), 0);
	assert_int_equal(s.value[SETTING_SEEK_BYTES], 16384);
	rotating.rotational = true;
	assert_int_equal(build(&s, &rotating, &error, NULL), 0);
	assert_int_equal(s.value[SETTING_SEEK_BYTES], 1048576);
	assert_int_equal(build(&s, &rotating, &error, "seek_bytes", "0", NULL), 0);
	assert_int_equal(s.value[SETTING_SEEK_BYTES], 0);
}

static void given_values_win(void **state)
{
	struct settings s;
	const char *error;

	(void)state;
	assert_int_equal(build(&s, &md, &error, "chunk_bytes", "131072", "data_members", "7",
			       "alignment_offset", "131072", "cluster_bytes", "3670016",
			       "high_water_bytes", "8388608", "low_water_bytes", "1048576",
			       "hold_ms", "50", NULL), 0);
	assert_int_equal(s.value[SETTING_STRIPE_BYTES], 917504);
	assert_int_equal(s.value[SETTING_ALIGNMENT_OFFSET], 131072);
	assert_int_equal(s.value[SETTING_CLUSTER_BYTES], 3670016);
	assert_int_equal(s.value[SETTING_HOLD_MS], 50);
	/* The stripe width says how many members, or agrees with what was said. */
	assert_int_equal(build(&s, &md, &error, "chunk_bytes", "131072",
			       "stripe_bytes", "917504", NULL), 0);
	assert_int_equal(s.value[SETTING_DATA_MEMBERS], 7);
}

static void a_partition_is_off_by_its_start(void **state)
{
	struct surroundings partition = md;
	struct settings s;
	const char *error;

	(void)state;
	partition.found_chunk_bytes = 131072;
	partition.found_data_members = 7;
	partition.partition_bytes = 1048576;
	assert_int_equal(build(&s, &partition, &error, NULL), 0);
	assert_int_equal(s.value[SETTING_ALIGNMENT_OFFSET], 131072);
}

static void bad_values_name_their_key(void **state)
{
	struct settings s;
	const char *error;

	(void)state;
	assert_refused(-EINVAL, "chunk_bytes", build(&s, &unknown, &error, NULL));
	assert_refused(-EINVAL, "data_members",
		       build(&s, &unknown, &error, "chunk_bytes", "65536", NULL));
	assert_refused(-EINVAL, "chunk_bytes", build(&s, &md, &error, "chunk_bytes", "64k", NULL));
	assert_refused(-EINVAL, "chunk_bytes", build(&s, &md, &error, "chunk_bytes", "", NULL));
	assert_refused(-EINVAL, "chunk_bytes", build(&s, &md, &error, "chunk_bytes", "-1", NULL));
	assert_refused(-EINVAL, "chunk_bytes",
		       build(&s, &md, &error, "chunk_bytes", "65537", NULL));
	assert_refused(-ERANGE, "chunk_bytes", build(&s, &md, &error, "chunk_bytes", "0", NULL));
	assert_refused(-ERANGE, "chunk_bytes",
		       build(&s, &md, &error, "chunk_bytes", "67112960", NULL));
	assert_refused(-ERANGE, "chunk_bytes",
		       build(&s, &md, &error, "chunk_bytes", "18446744073709551616", NULL));
	assert_refused(-ERANGE, "data_members", build(&s, &md, &error, "data_members", "0", NULL));
	assert_refused(-ERANGE, "data_members",
		       build(&s, &md, &error, "data_members", "1025", NULL));
	assert_refused(-ERANGE, "data_members",
		       build(&s, &md, &error, "chunk_bytes", "67108864", "data_members", "2", NULL));
	assert_refused(-EINVAL, "stripe_bytes",
		       build(&s, &md, &error, "stripe_bytes", "266240", NULL));
	assert_refused(-EINVAL, "stripe_bytes",
		       build(&s, &md, &error, "data_members", "4", "stripe_bytes", "327680", NULL));
	assert_refused(-EINVAL, "alignment_offset",
		       build(&s, &md, &error, "alignment_offset", "262144", NULL));
	assert_refused(-EINVAL, "alignment_offset",
		       build(&s, &md, &error, "alignment_offset", "100", NULL));
	assert_refused(-ERANGE, "cluster_bytes",
		       build(&s, &md, &error, "cluster_bytes", "131072", NULL));
	assert_refused(-EINVAL, "cluster_bytes",
		       build(&s, &md, &error, "cluster_bytes", "393216", NULL));
	assert_refused(-ERANGE, "high_water_bytes",
		       build(&s, &md, &error, "high_water_bytes", "262144", NULL));
	assert_refused(-ERANGE, "high_water_bytes",
		       build(&s, &md, &error, "high_water_bytes", "1073741824", NULL));
	assert_refused(-EINVAL, "low_water_bytes",
		       build(&s, &md, &error, "high_water_bytes", "1048576",
			     "low_water_bytes", "1048576", NULL));
	assert_refused(-EINVAL, "low_water_bytes",
		       build(&s, &md, &error, "high_water_bytes", "1048576",
			     "low_water_bytes", "1044480", NULL));
	assert_refused(-ERANGE, "hold_ms", build(&s, &md, &error, "hold_ms", "0", NULL));
	assert_refused(-ERANGE, "hold_ms", build(&s, &md, &error, "hold_ms", "3600001", NULL));
	assert_refused(-ERANGE, "seek_bytes",
		       build(&s, &md, &error, "seek_bytes", "67108865", NULL));
	assert_refused(-EINVAL, "seek_bytes", build(&s, &md, &error, "seek_bytes", "-1", NULL));
	assert_refused(-EINVAL, "mode", build(&s, &md, &error, "mode", "writeback", NULL));
	assert_int_equal(settings_find("no_such_key"), -ENOENT);
}

static void a_refused_value_changes_nothing(void **state)
{
	struct settings s, before;
	const char *error;

	(void)state;
	assert_int_equal(build(&s, &md, &error, "hold_ms", "50", NULL), 0);
	before = s;
	assert_int_equal(settings_set(&s, SETTING_HOLD_MS, "soon", &error), -EINVAL);
	assert_memory_equal(&s, &before, sizeof(s));
}

static void a_new_stripe_width_takes_the_cluster_along(void **state)
{
	struct settings s;
	const char *error;

	(void)state;
	assert_int_equal(build(&s, &md, &error, "cluster_bytes", "524288", NULL), 0);
	assert_int_equal(settings_change(&s, SETTING_STRIPE_BYTES, "458752", &md, &error), 0);
	assert_int_equal(s.value[SETTING_DATA_MEMBERS], 7);
	assert_int_equal(s.value[SETTING_CLUSTER_BYTES], 917504);
	assert_refused(-EINVAL, "stripe_bytes",
		       settings_change(&s, SETTING_STRIPE_BYTES, "69632", &md, &error));
	/* But never over the most that a table line may say. */
	assert_int_equal(build(&s, &md, &error, "cluster_bytes", "67108864", NULL), 0);
	assert_int_equal(settings_change(&s, SETTING_STRIPE_BYTES, "458752", &md, &error), 0);
	assert_int_equal(s.value[SETTING_CLUSTER_BYTES], 146 * 458752);
}

/* Whatever the text, a value that is taken is within all bounds. */
static void random_settings_are_sound_or_refused(void **state)
{
	static const char * const texts[] = {
		"0", "1", "4", "7", "512", "4096", "65536", "131072", "262144", "917504", "1048576",
		"3670016", "67108864", "67108865", "4294967296", "18446744073709551615", "", " 1",
		"1 ", "0x10", "writethrough", "writebehind", "-4096", "65536\n",
	};
	unsigned int taken = 0;
	u32 step;

	(void)state;
	srandom(2);
	for (step = 0; step < 1000000; step++) {
		struct settings s = {};
		const char *error = NULL;
		u32 keys = random() % 6;
		int r = 0;

		while (keys-- && !r)
			r = settings_set(&s, random() % NR_SETTINGS,
					 texts[random() % ARRAY_SIZE(texts)],
					 &error);
		if (!r)
			r = settings_complete(&s, &md, &error);
		if (r) {
			assert_non_null(strchr(error, ':'));
			continue;
		}
		taken++;
		assert_true(s.value[SETTING_STRIPE_BYTES] ==
			    s.value[SETTING_CHUNK_BYTES] * s.value[SETTING_DATA_MEMBERS]);
		assert_true(s.value[SETTING_STRIPE_BYTES] <= STRIPE_BYTES_MAX);
		assert_true(s.value[SETTING_CLUSTER_BYTES] >= s.value[SETTING_STRIPE_BYTES]);
		assert_true(s.value[SETTING_CLUSTER_BYTES] % s.value[SETTING_STRIPE_BYTES] == 0);
		assert_true(s.value[SETTING_HIGH_WATER_BYTES] >= 2 * s.value[SETTING_STRIPE_BYTES]);
		assert_true(s.value[SETTING_LOW_WATER_BYTES] + s.value[SETTING_STRIPE_BYTES] <=
			    s.value[SETTING_HIGH_WATER_BYTES]);
		assert_true(s.value[SETTING_ALIGNMENT_OFFSET] < s.value[SETTING_STRIPE_BYTES]);
		assert_true(s.value[SETTING_HOLD_MS] >= 1);
	}
	assert_true(taken > 1000);
}

static void file_water_marks_are_those_of_ufs(void **state)
{
	/* shared with vectors.json: what Solaris had for so much memory */
	static const struct {
		u64 ram, high, low;
	} cases[] = {
		{ 1073741824, 16777216, 8388608 },
		{ 163241984, 2550656, 1275328 },
		/* But not seconds of what an array writes, nor less than two stripes. */
		{ 64ULL << 30, 128 << 20, 64 << 20 },
		{ 16 << 20, 2 * 262144, 262144 },
	};
	struct surroundings around = md;
	struct settings s;
	const char *error;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		around.ram_bytes = cases[i].ram;
		assert_int_equal(build(&s, &around, &error, NULL), 0);
		assert_int_equal(s.value[SETTING_FILE_HIGH_WATER_BYTES], cases[i].high);
		assert_int_equal(s.value[SETTING_FILE_LOW_WATER_BYTES], cases[i].low);
	}
	/* Off, whatever the low one is. */
	assert_int_equal(build(&s, &md, &error, "file_high_water_bytes", "0", NULL), 0);
	assert_int_equal(build(&s, &md, &error, "file_high_water_bytes", "0",
			       "file_low_water_bytes", "524288", NULL), 0);
	assert_refused(-EINVAL, "file_low_water_bytes",
		       settings_change(&s, SETTING_FILE_HIGH_WATER_BYTES, "524288", &md, &error));
	assert_refused(-ERANGE, "file_high_water_bytes",
		       build(&s, &md, &error, "file_high_water_bytes", "524287", NULL));
	assert_refused(-ERANGE, "file_high_water_bytes",
		       build(&s, &md, &error, "file_high_water_bytes", "536870913", NULL));
	assert_refused(-EINVAL, "file_low_water_bytes",
		       build(&s, &md, &error, "file_high_water_bytes", "1048576",
			     "file_low_water_bytes", "1048576", NULL));
}

static void read_clusters_are_whole_stripes(void **state)
{
	struct settings s;
	const char *error;

	(void)state;
	assert_int_equal(build(&s, &md, &error, NULL), 0);
	assert_int_equal(s.value[SETTING_STREAMS], 128);
	assert_int_equal(s.value[SETTING_READ_PREF_IO], 65536);
	assert_int_equal(s.value[SETTING_READ_NSTREAM], 4);
	assert_int_equal(s.value[SETTING_PREFETCH_BYTES], 128 << 20);
	/* As VxFS had it: the same bytes, another parallelism. */
	assert_int_equal(build(&s, &unknown, &error, "chunk_bytes", "131072", "data_members", "7",
			       "read_pref_io", "917504", "read_nstream", "1", NULL), 0);
	assert_int_equal(settings_read_cluster(&s), 917504);
	assert_refused(-EINVAL, "read_nstream", build(&s, &md, &error, "read_nstream", "3", NULL));
	assert_refused(-EINVAL, "read_pref_io", build(&s, &md, &error, "read_pref_io", "6144", NULL));
	assert_refused(-ERANGE, "read_nstream",
		       build(&s, &md, &error, "read_pref_io", "1048576", "read_nstream", "128", NULL));
	assert_refused(-ERANGE, "prefetch_bytes",
		       build(&s, &md, &error, "prefetch_bytes", "524287", NULL));
	assert_refused(-ERANGE, "streams", build(&s, &md, &error, "streams", "1025", NULL));
}

static void a_new_width_keeps_the_read_cluster_where_it_can(void **state)
{
	struct settings s;
	const char *error;

	(void)state;
	assert_int_equal(build(&s, &md, &error, "read_nstream", "12", NULL), 0);
	assert_int_equal(settings_change(&s, SETTING_STRIPE_BYTES, "196608", &md, &error), 0);
	assert_int_equal(settings_read_cluster(&s), 12 * 65536);
	assert_int_equal(settings_change(&s, SETTING_STRIPE_BYTES, "327680", &md, &error), 0);
	assert_int_equal(settings_read_cluster(&s), 327680);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_come_from_md_and_memory),
		cmocka_unit_test(a_request_costs_more_where_disks_seek),
		cmocka_unit_test(given_values_win),
		cmocka_unit_test(a_partition_is_off_by_its_start),
		cmocka_unit_test(bad_values_name_their_key),
		cmocka_unit_test(a_refused_value_changes_nothing),
		cmocka_unit_test(a_new_stripe_width_takes_the_cluster_along),
		cmocka_unit_test(random_settings_are_sound_or_refused),
		cmocka_unit_test(file_water_marks_are_those_of_ufs),
		cmocka_unit_test(read_clusters_are_whole_stripes),
		cmocka_unit_test(a_new_width_keeps_the_read_cluster_where_it_can),
	};

	return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/* Numbers, sizes and rates as people write them. */
#include <errno.h>

#include "fixture.h"
#include "lib/macros.h"
#include "lib/units.h"

static void test_numbers(void **state)
{
	static const char * const junk[] = { "", " 7", "+7", "-7", "7 ", "0x7", "7k", "x" };
	uint64_t number = 42;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(junk); i++)
		assert_int_equal(units_parse_number(junk[i], 0, UINT64_MAX, &number), -EINVAL);
	assert_int_equal(units_parse_number("4", 5, 7, &number), -ERANGE);
	assert_int_equal(units_parse_number("8", 5, 7, &number), -ERANGE);
	assert_int_equal(units_parse_number("18446744073709551616", 0, UINT64_MAX, &number),
			 -ERANGE);
	assert_int_equal(number, 42);
	assert_int_equal(units_parse_number("5", 5, 7, &number), 0);
	assert_int_equal(number, 5);
	assert_int_equal(units_parse_number("18446744073709551615", 5, UINT64_MAX, &number), 0);
	assert_true(number == UINT64_MAX);
}

static void test_sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} cases[] = {
		{ "0", 0 }, { "131072", 131072 }, { "5B", 5 },
		{ "64k", 65536 }, { "64K", 65536 }, { "128KiB", 131072 }, { "128 kib", 131072 },
		{ "64kB", 64000 }, { "1MB", 1000000 }, { "1MiB", 1048576 }, { "1m", 1048576 },
		{ "2G", 2147483648 }, { "2GB", 2000000000 }, { "1TiB", 1ull << 40 },
		{ "1TB", 1000000000000 },
		{ "18446744073709551615", UINT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t bytes;

		assert_int_equal(units_parse_size(cases[i].text, &bytes), 0);
		assert_true(bytes == cases[i].bytes);
	}
}

static void test_rates(void **state)
{
	uint64_t rate;

	(void)state;
	assert_int_equal(units_parse_rate("100MiB/s", &rate), 0);
	assert_int_equal(rate, 104857600);
	assert_int_equal(units_parse_rate("100MB/s", &rate), 0);
	assert_int_equal(rate, 100000000);
	assert_int_equal(units_parse_rate("100M", &rate), 0);
	assert_int_equal(rate, 104857600);
	assert_int_equal(units_parse_rate("7/s", &rate), 0);
	assert_int_equal(rate, 7);
	assert_int_equal(units_parse_size("100MiB/s", &rate), -EINVAL);
	assert_int_equal(units_parse_rate("100MiB/h", &rate), -EINVAL);
	assert_int_equal(units_parse_rate("/s", &rate), -EINVAL);
	assert_int_equal(rate, 7);
}

static void test_junk(void **state)
{
	static const struct {
		const char *text;
		int result;
	} cases[] = {
		{ "", -EINVAL }, { " ", -EINVAL }, { "KiB", -EINVAL }, { "-1", -EINVAL },
		{ "+1", -EINVAL }, { " 1", -EINVAL }, { "1 ", -EINVAL }, { "1  K", -EINVAL },
		{ "1K ", -EINVAL }, { "1.5M", -EINVAL }, { "1e6", -EINVAL }, { "0x10", -EINVAL },
		{ "12Ki", -EINVAL }, { "12KBB", -EINVAL }, { "12 parsecs", -EINVAL },
		{ "18446744073709551616", -ERANGE }, { "16777216TiB", -ERANGE },
		{ "18446744073709551615K", -ERANGE }, { "99999999999999999999999G", -ERANGE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t bytes = 42;

		assert_int_equal(units_parse_size(cases[i].text, &bytes), cases[i].result);
		assert_int_equal(bytes, 42);
	}
}

static void test_format(void **state)
{
	char text[UNITS_TEXT], setting[UNITS_SETTING];

	(void)state;
	assert_string_equal(units_format_setting("stripe_bytes", 262144, setting), "262144 (256 KiB)");
	assert_string_equal(units_format_setting("read_pref_io", 1048576, setting), "1048576 (1 MiB)");
	assert_string_equal(units_format_setting("seek_bytes", 0, setting), "0");
	assert_string_equal(units_format_setting("hold_ms", 5000, setting), "5000");
	assert_string_equal(units_format_size(0, text), "0 B");
	assert_string_equal(units_format_size(1023, text), "1023 B");
	assert_string_equal(units_format_size(131072, text), "128 KiB");
	assert_string_equal(units_format_size(917504, text), "896 KiB");
	assert_string_equal(units_format_size(3670016, text), "3.5 MiB");
	assert_string_equal(units_format_size(1025, text), "1.0 KiB");
	assert_string_equal(units_format_size(UINT64_MAX, text), "16.0 EiB");
	assert_string_equal(units_format_rate(104857600, text), "100 MiB/s");
}

/* What is printed as a whole number of units is read as the same size. */
static void test_round_trip(void **state)
{
	(void)state;
	for (unsigned int shift = 0; shift < 50; shift++) {
		uint64_t size = 1ull << shift, read;
		char text[UNITS_TEXT];

		assert_int_equal(units_parse_size(units_format_size(size, text), &read), 0);
		assert_true(read == size);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_junk),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_round_trip),
	};

	return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}

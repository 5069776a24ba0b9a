// SPDX-License-Identifier: GPL-2.0
/* What the kernel answers, and what people write on a command line; the first byte says which. */
#include "fuzz.h"
#include "lib/dm_table.h"
#include "lib/macros.h"
#include "lib/stats_message.h"
#include "lib/target_keys.h"
#include "lib/trace.h"
#include "lib/unit_name.h"
#include "lib/units.h"

static void read_stats(const char *text)
{
	struct counted_reading reading = { .time = 1 };
	const char *rest = text;
	unsigned int area;
	long owner;

	stats_message_counters(text, &reading);
	while (stats_message_area(&rest, &area, &owner))
		check(rest > text);
}

static void read_table(const char *text)
{
	struct dm_table_line line = { .type = "linear" };
	struct rule_array array;
	struct rule_sum sum = { .n = 0 };
	uint64_t start, stripe;

	snprintf(line.params, sizeof(line.params), "%s", text);
	dm_table_parse_start(&line, &start);
	snprintf(line.type, sizeof(line.type), "crypt");
	dm_table_parse_start(&line, &start);
	if (dm_table_parse_raid(&line, &array) == 0)
		rule_stripe_bytes(&array, &stripe, &sum);
}

static void read_units(const char *text)
{
	char formatted[UNITS_TEXT];
	uint64_t number;
	uint32_t device;

	if (units_parse_size(text, &number) == 0)
		units_format_size(number, formatted);
	if (units_parse_rate(text, &number) == 0)
		units_format_rate(number, formatted);
	if (units_parse_number(text, 3, 300, &number) == 0)
		check(number >= 3 && number <= 300);
	if (trace_device_parse(text, &device))
		check(trace_device_major(device) < 1 << 12);
}

/* What is set can be in a table line, a word for each. */
static void read_key(const char *text)
{
	struct target_keys k = { .values = { "" } };
	char why[TARGET_KEYS_WHY] = "", line[1024];
	size_t words = 0;

	if (target_keys_set(&k, text, why) < 0) {
		check(why[0]);
		return;
	}
	check(target_keys_format(&k, line, sizeof(line)) < sizeof(line));
	for (const char *c = line; *c; c++)
		words += *c == ' ';
	check(words == 2);
}

static void escape(const char *text)
{
	char *escaped = malloc(4 * strlen(text) + 8);

	check(escaped);
	unit_escape(text, escaped);
	check(!strchr(escaped, '/'));
	unit_escape_path(text, escaped);
	check(!strchr(escaped, '/'));
	free(escaped);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (* const kinds[])(const char *text) = {
		read_stats, read_table, read_units, read_key, escape,
	};
	char *text;

	if (size == 0)
		return 0;
	text = fuzz_text(data + 1, size - 1);
	kinds[(data[0] + ARRAY_SIZE(kinds) - '0' % ARRAY_SIZE(kinds)) % ARRAY_SIZE(kinds)](text);
	free(text);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/* fullstriped.conf(5): what is taken is in its range, what is not changes nothing. */
#include <ini.h>

#include "fuzz.h"
#include "lib/config.h"

static int take_key(void *data, const char *section, const char *key, const char *value)
{
	struct config *c = data, before = *c;
	char why[CONFIG_WHY] = "";

	if (config_set(c, section, key, value, why) < 0) {
		check(memcmp(&before, c, sizeof(before)) == 0);
		check(why[0] && memchr(why, '\0', sizeof(why)));
	}
	return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), why[CONFIG_WHY] = "";
	struct config c;

	memset(&c, 0, sizeof(c));
	c = config_default;
	ini_parse_string(text, take_key, &c);
	check(c.record_seconds >= 1 && c.record_seconds <= 86400);
	check(c.interval_seconds >= 1 && c.interval_seconds <= 86400);
	check(c.dead_band_percent <= 100);
	check(c.dwell_seconds <= 7 * 86400);
	check(c.changes_per_hour >= 1 && c.changes_per_hour <= 3600);
	check(memchr(c.metrics_file, '\0', sizeof(c.metrics_file)));
	check((config_check(&c, why) < 0) == (why[0] != '\0'));
	free(text);
	return 0;
}

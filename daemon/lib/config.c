// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "macros.h"
#include "units.h"

#define SECTION	"fullstriped"
#define DAY	86400

const struct config config_default = {
	.apply = false,
	.layers = true,
	.record_seconds = 30,
	.interval_seconds = 300,
	.dead_band_percent = 10,
	.dwell_seconds = 900,
	.changes_per_hour = 2,
};

static const struct number {
	const char *key;
	size_t offset;
	uint64_t least;
	uint64_t most;
} numbers[] = {
	{ "record_seconds", offsetof(struct config, record_seconds), 1, DAY },
	{ "interval_seconds", offsetof(struct config, interval_seconds), 1, DAY },
	{ "dead_band_percent", offsetof(struct config, dead_band_percent), 0, 100 },
	{ "dwell_seconds", offsetof(struct config, dwell_seconds), 0, 7 * DAY },
	{ "changes_per_hour", offsetof(struct config, changes_per_hour), 1, 3600 },
};

static int set_mode(struct config *c, const char *value, char why[static CONFIG_WHY])
{
	if (strcmp(value, "advise") != 0 && strcmp(value, "auto") != 0) {
		snprintf(why, CONFIG_WHY, "mode '%.40s': must be advise or auto", value);
		return -EINVAL;
	}
	c->apply = strcmp(value, "auto") == 0;
	return 0;
}

static int set_layers(struct config *c, const char *value, char why[static CONFIG_WHY])
{
	if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0) {
		snprintf(why, CONFIG_WHY, "layers '%.40s': must be yes or no", value);
		return -EINVAL;
	}
	c->layers = strcmp(value, "yes") == 0;
	return 0;
}

/* node_exporter reads no file of another name, and the daemon is in no folder of its own. */
static int set_metrics_file(struct config *c, const char *value, char why[static CONFIG_WHY])
{
	size_t len = strlen(value);

	if (len > 0 && (value[0] != '/' || len < strlen("/x.prom") ||
			strcmp(value + len - strlen(".prom"), ".prom") != 0)) {
		snprintf(why, CONFIG_WHY,
			 "metrics_file '%.40s': must be a path from / on that ends in .prom, or empty",
			 value);
		return -EINVAL;
	}
	if (len >= sizeof(c->metrics_file)) {
		snprintf(why, CONFIG_WHY, "metrics_file '%.40s...': must be shorter than %zu bytes",
			 value, sizeof(c->metrics_file));
		return -ERANGE;
	}
	memset(c->metrics_file, 0, sizeof(c->metrics_file));
	memcpy(c->metrics_file, value, len);
	return 0;
}

static int set_number(struct config *c, const struct number *n, const char *value,
		      char why[static CONFIG_WHY])
{
	uint64_t number;

	if (units_parse_number(value, n->least, n->most, &number) < 0) {
		snprintf(why, CONFIG_WHY, "%s '%.40s': must be a number from %llu to %llu", n->key,
			 value, (unsigned long long)n->least, (unsigned long long)n->most);
		return -ERANGE;
	}
	*(uint64_t *)((char *)c + n->offset) = number;
	return 0;
}

/**
 * config_set() - one key
 * @c: the configuration; untouched on failure
 * @section: that the key is in
 * @key: its name
 * @value: as it is written
 * @why: what is wrong, and what is allowed, on failure
 *
 * Return: 0, -ENOENT if there is no such key, -EINVAL or -ERANGE if it cannot have the value.
 */
int config_set(struct config *c, const char *section, const char *key, const char *value,
	       char why[static CONFIG_WHY])
{
	if (strcmp(section, SECTION) == 0) {
		if (strcmp(key, "mode") == 0)
			return set_mode(c, value, why);
		if (strcmp(key, "layers") == 0)
			return set_layers(c, value, why);
		if (strcmp(key, "metrics_file") == 0)
			return set_metrics_file(c, value, why);
		for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
			if (strcmp(key, numbers[i].key) == 0)
				return set_number(c, &numbers[i], value, why);
	}
	snprintf(why, CONFIG_WHY, "[%.40s] %.40s: no key that is known here", section, key);
	return -ENOENT;
}

/**
 * config_check() - whether the values go together
 * @c: the configuration
 * @why: what is wrong, on failure
 *
 * Return: 0 or -ERANGE.
 */
int config_check(const struct config *c, char why[static CONFIG_WHY])
{
	if (c->record_seconds <= c->interval_seconds)
		return 0;
	snprintf(why, CONFIG_WHY, "record_seconds %llu is more than interval_seconds %llu",
		 (unsigned long long)c->record_seconds, (unsigned long long)c->interval_seconds);
	return -ERANGE;
}

/**
 * config_mode_name() - the mode, as it is written
 * @apply: as in struct config
 */
const char *config_mode_name(bool apply)
{
	return apply ? "auto" : "advise";
}

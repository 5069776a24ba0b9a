// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "macros.h"
#include "target_keys.h"
#include "units.h"

/* Sizes may be written with units, as everywhere. */
static const struct key {
	const char *name;
	bool is_size;
} keys[] = {
	{ "chunk_bytes", true },
	{ "data_members", false },
	{ "stripe_bytes", true },
	{ "alignment_offset", true },
	{ "cluster_bytes", true },
	{ "high_water_bytes", true },
	{ "low_water_bytes", true },
	{ "file_high_water_bytes", true },
	{ "file_low_water_bytes", true },
	{ "hold_ms", false },
	{ "seek_bytes", true },
	{ "streams", false },
	{ "read_pref_io", true },
	{ "read_nstream", false },
	{ "prefetch_bytes", true },
	{ "mode", false },
};

_Static_assert(ARRAY_SIZE(keys) == TARGET_KEYS, "as many values as keys");

static size_t find_key(const char *name, size_t len)
{
	size_t i = 0;

	while (i < TARGET_KEYS &&
	       (strlen(keys[i].name) != len || strncmp(keys[i].name, name, len) != 0))
		i++;
	return i;
}

/**
 * target_keys_name() - the name of a key
 * @i: its place, less than TARGET_KEYS
 */
const char *target_keys_name(size_t i)
{
	return keys[i].name;
}

/**
 * target_keys_set() - one key
 * @k: the keys; untouched on failure
 * @text: KEY=VALUE
 * @why: what is wrong, and what is allowed, on failure
 *
 * Return: 0, -ENOENT if there is no such key, or -EINVAL if it cannot have the value.
 */
int target_keys_set(struct target_keys *k, const char *text, char why[static TARGET_KEYS_WHY])
{
	size_t len = strcspn(text, "="), key = find_key(text, len);
	const char *value = text + len + 1;
	uint64_t size;

	if (!text[len]) {
		snprintf(why, TARGET_KEYS_WHY, "'%.60s': KEY=VALUE", text);
		return -EINVAL;
	}
	if (key == TARGET_KEYS) {
		snprintf(why, TARGET_KEYS_WHY, "'%.60s': no such key, see fullstripectl(8)", text);
		return -ENOENT;
	}
	if (keys[key].is_size) {
		if (units_parse_size(value, &size) < 0) {
			snprintf(why, TARGET_KEYS_WHY,
				 "'%.60s': no size, as 131072, 128KiB or 128k", text);
			return -EINVAL;
		}
		snprintf(k->values[key], TARGET_KEY_VALUE, "%llu", (unsigned long long)size);
		return 0;
	}
	if (strcmp(keys[key].name, "mode") == 0 && strcmp(value, "writebehind") != 0 &&
	    strcmp(value, "writethrough") != 0) {
		snprintf(why, TARGET_KEYS_WHY, "mode '%.60s': writebehind or writethrough", value);
		return -EINVAL;
	}
	/* A word of its own could smuggle further keys into the table line. */
	if (strcmp(keys[key].name, "mode") != 0 &&
	    (!value[0] || value[strspn(value, "0123456789")] || strlen(value) >= TARGET_KEY_VALUE)) {
		snprintf(why, TARGET_KEYS_WHY, "'%.60s': no whole number", text);
		return -EINVAL;
	}
	snprintf(k->values[key], TARGET_KEY_VALUE, "%s", value);
	return 0;
}

/**
 * target_keys_default() - what a key is if nobody has said it
 * @k: the keys
 * @name: of one that there is
 * @value: what it is to be
 */
void target_keys_default(struct target_keys *k, const char *name, uint64_t value)
{
	char *text = k->values[find_key(name, strlen(name))];

	if (!text[0])
		snprintf(text, TARGET_KEY_VALUE, "%llu", (unsigned long long)value);
}

/**
 * target_keys_given() - whether a key has a value
 * @k: the keys
 * @name: of one that there is
 */
bool target_keys_given(const struct target_keys *k, const char *name)
{
	return k->values[find_key(name, strlen(name))][0];
}

/**
 * target_keys_number() - the value of a key that is a number
 * @k: the keys
 * @name: of one that there is
 *
 * Return: 0 if it has none.
 */
uint64_t target_keys_number(const struct target_keys *k, const char *name)
{
	return strtoull(k->values[find_key(name, strlen(name))], NULL, 10);
}

/**
 * target_keys_format() - the optional arguments of a table line, their number first
 * @k: the keys
 * @text: for the line
 * @size: of @text
 *
 * Return: the length, as snprintf() has it.
 */
size_t target_keys_format(const struct target_keys *k, char *text, size_t size)
{
	unsigned int words = 0;
	size_t at;

	for (size_t i = 0; i < TARGET_KEYS; i++)
		words += k->values[i][0] ? 2 : 0;
	at = snprintf(text, size, "%u", words);
	for (size_t i = 0; i < TARGET_KEYS; i++)
		if (k->values[i][0])
			at += snprintf(at < size ? text + at : NULL, at < size ? size - at : 0,
				       " %s %s", keys[i].name, k->values[i]);
	return at;
}

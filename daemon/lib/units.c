// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "macros.h"
#include "units.h"

static const struct {
	const char *name;
	uint64_t bytes;
} units[] = {
	{ "", 1 },
	{ "B", 1 },
	{ "K", 1ull << 10 }, { "KiB", 1ull << 10 }, { "kB", 1000 },
	{ "M", 1ull << 20 }, { "MiB", 1ull << 20 }, { "MB", 1000000 },
	{ "G", 1ull << 30 }, { "GiB", 1ull << 30 }, { "GB", 1000000000 },
	{ "T", 1ull << 40 }, { "TiB", 1ull << 40 }, { "TB", 1000000000000 },
};

static int parse(const char *text, size_t len, uint64_t *ret)
{
	unsigned long long number;
	const char *unit;
	char *end;

	if (len == 0 || !isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno != 0)
		return -errno;
	unit = end;
	if (*unit == ' ' && unit + 1 < text + len)
		unit++;

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		size_t unit_len = text + len - unit;
		uint64_t bytes;

		if (strlen(units[i].name) != unit_len ||
		    strncasecmp(units[i].name, unit, unit_len) != 0)
			continue;
		if (__builtin_mul_overflow(number, units[i].bytes, &bytes))
			return -ERANGE;
		*ret = bytes;
		return 0;
	}
	return -EINVAL;
}

/**
 * units_parse_number() - digits and nothing else
 * @text: what to read
 * @least: the smallest that it may be
 * @most: the largest that it may be
 * @ret: the number
 *
 * Return: 0, -EINVAL if it is no number, -ERANGE if it is too small or too large.
 */
int units_parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *ret)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	/* strtoull() would take white space and a sign. */
	if (!isdigit((unsigned char)text[0]) || *end)
		return -EINVAL;
	if (errno || number < least || number > most)
		return -ERANGE;
	*ret = number;
	return 0;
}

/**
 * units_parse_size() - "128KiB", "64k", "131072", "1 MB"
 * @text: what to read
 * @ret: bytes
 *
 * Return: 0, -EINVAL if it is no size, -ERANGE if it is too large.
 */
int units_parse_size(const char *text, uint64_t *ret)
{
	return parse(text, strlen(text), ret);
}

/**
 * units_parse_rate() - as a size, with or without "/s" behind it
 * @text: what to read
 * @ret: bytes per second
 *
 * Return: as units_parse_size().
 */
int units_parse_rate(const char *text, uint64_t *ret)
{
	size_t len = strlen(text);

	if (len >= 2 && strcmp(text + len - 2, "/s") == 0)
		len -= 2;
	return parse(text, len, ret);
}

static void format(uint64_t bytes, const char *per, char text[static UNITS_TEXT])
{
	static const char * const names[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	unsigned int power = 0;
	uint64_t unit = 1;

	while (bytes / unit >= 1024) {
		unit *= 1024;
		power++;
	}
	if (bytes % unit == 0)
		snprintf(text, UNITS_TEXT, "%llu %s%s", (unsigned long long)(bytes / unit),
			 names[power], per);
	else
		snprintf(text, UNITS_TEXT, "%.1f %s%s", (double)bytes / unit, names[power], per);
}

/**
 * units_format_size() - "128 KiB", "3.5 MiB"
 * @bytes: the size
 * @text: where it goes
 *
 * Return: @text.
 */
const char *units_format_size(uint64_t bytes, char text[static UNITS_TEXT])
{
	format(bytes, "", text);
	return text;
}

/**
 * units_format_rate() - "83.1 MiB/s"
 * @bytes_per_second: the rate
 * @text: where it goes
 *
 * Return: @text.
 */
const char *units_format_rate(uint64_t bytes_per_second, char text[static UNITS_TEXT])
{
	format(bytes_per_second, "/s", text);
	return text;
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);

	return len >= n && strcmp(text + len - n, end) == 0;
}

/**
 * units_format_setting() - "262144 (256 KiB)", "5000": as it can be set, and as people read it
 * @name: the attribute's, which says whether it is bytes
 * @value: its value
 * @text: where it goes
 *
 * Return: @text.
 */
const char *units_format_setting(const char *name, uint64_t value, char text[static UNITS_SETTING])
{
	char size[UNITS_TEXT];

	if (value >= 1024 && (ends_with(name, "_bytes") || ends_with(name, "_io")))
		snprintf(text, UNITS_SETTING, "%llu (%s)", (unsigned long long)value,
			 units_format_size(value, size));
	else
		snprintf(text, UNITS_SETTING, "%llu", (unsigned long long)value);
	return text;
}

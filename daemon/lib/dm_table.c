// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dm_table.h"
#include "macros.h"

/**
 * dm_table_parse_start() - where a device begins on the one below
 * @line: of a target that has each sector of one device below in its place: linear, crypt, our own
 * @ret: sectors
 *
 * Return: 0 or -EBADMSG.
 */
int dm_table_parse_start(const struct dm_table_line *line, uint64_t *ret)
{
	/* Before the device, crypt has cipher, key and the first sector's number. */
	bool crypt = strcmp(line->type, "crypt") == 0;
	unsigned long long start;

	if (sscanf(line->params, crypt ? "%*s %*s %*s %*s %llu" : "%*s %llu", &start) != 1)
		return -EBADMSG;
	*ret = start;
	return 0;
}

/* raid5_ls, raid6_zr and so on: the level, and how the parity moves. */
static int parse_type(const char *type)
{
	static const int levels[] = { 10, 0, 1, 4, 5, 6 };
	char name[16];

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		size_t len = snprintf(name, sizeof(name), "raid%d", levels[i]);

		if (strncmp(type, name, len) == 0 && (!type[len] || type[len] == '_'))
			return levels[i];
	}
	return RULE_LEVEL_NONE;
}

/* The parameters are a chunk size, and words of which some are followed by a number. */
static int parse_raid(struct rule_array *a, char *text)
{
	char *save = NULL, *word = strtok_r(text, " ", &save), *value;
	unsigned int params;

	a->level = word ? parse_type(word) : RULE_LEVEL_NONE;
	word = strtok_r(NULL, " ", &save);
	if (a->level == RULE_LEVEL_NONE || !word)
		return -EBADMSG;
	params = strtoul(word, NULL, 10);
	word = strtok_r(NULL, " ", &save);
	if (params < 1 || !word)
		return -EBADMSG;
	a->chunk_bytes = strtoull(word, NULL, 10) * SECTOR;
	for (unsigned int i = 1; i < params; i++) {
		word = strtok_r(NULL, " ", &save);
		if (!word)
			return -EBADMSG;
		/* It has two shapes at once. */
		if (strcmp(word, "delta_disks") == 0)
			return -EBUSY;
		if (strcmp(word, "raid10_copies") != 0)
			continue;
		value = strtok_r(NULL, " ", &save);
		if (!value)
			return -EBADMSG;
		a->copies = strtoul(value, NULL, 10);
		i++;
	}
	word = strtok_r(NULL, " ", &save);
	if (!word)
		return -EBADMSG;
	a->members = strtoul(word, NULL, 10);
	return 0;
}

/**
 * dm_table_parse_raid() - the shape of an array that device-mapper has, as LVM makes them
 * @line: of a target of the type raid
 * @ret: its shape, beginning where the device does
 *
 * Return: 0, -EBUSY while it is reshaped, -EBADMSG or -ENOMEM.
 */
int dm_table_parse_raid(const struct dm_table_line *line, struct rule_array *ret)
{
	/* dm-raid's default for RAID10 is two near copies. */
	struct rule_array a = { .copies = 2 };
	char *text = strdup(line->params);
	int r = text ? parse_raid(&a, text) : -ENOMEM;

	free(text);
	if (r < 0)
		return r;
	if (a.level != 10)
		a.copies = 0;
	*ret = a;
	return 0;
}

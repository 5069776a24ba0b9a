// SPDX-License-Identifier: GPL-2.0
/*
 * Self-describing sectors.
 */
#include <string.h>

#include "sector.h"

#define MAGIC	0x6c6c757365697274ULL
#define WORDS	(SECTOR_BYTES / sizeof(uint64_t))

/* Three words say what it is; the others are a sequence that these begin. */
void sector_fill(void *data, uint32_t seed, uint64_t sector, uint32_t generation)
{
	uint64_t *word = data;
	uint64_t x;
	unsigned int i;

	word[0] = MAGIC;
	word[1] = sector;
	word[2] = (uint64_t)seed << 32 | generation;
	x = word[1] ^ word[2] * 0x9e3779b97f4a7c15ULL;
	for (i = 3; i < WORDS; i++) {
		random_next(&x);
		word[i] = x;
	}
}

/* @generation is set to 0 for an empty sector, and only set for those and ours. */
enum sector_kind sector_read(const void *data, uint32_t seed, uint64_t sector,
			     uint32_t *generation)
{
	static const uint64_t zero[WORDS];
	uint64_t want[WORDS];
	const uint64_t *word = data;

	if (word[0] != MAGIC) {
		if (memcmp(word, zero, SECTOR_BYTES))
			return SECTOR_FOREIGN;
		*generation = 0;
		return SECTOR_EMPTY;
	}
	if (word[2] >> 32 != seed)
		return SECTOR_FOREIGN;
	if (word[1] != sector)
		return SECTOR_MISPLACED;
	sector_fill(want, seed, sector, word[2]);
	if (memcmp(word, want, SECTOR_BYTES))
		return SECTOR_TORN;
	*generation = word[2];
	return SECTOR_OURS;
}

const char *sector_kind_name(enum sector_kind kind)
{
	switch (kind) {
	case SECTOR_EMPTY:
		return "empty";
	case SECTOR_OURS:
		return "whole";
	case SECTOR_FOREIGN:
		return "not of this run";
	case SECTOR_MISPLACED:
		return "of another place";
	case SECTOR_TORN:
		return "torn";
	}
	return "?";
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sectors that say of themselves what they are: where they belong and which
 * write made them. All 512 bytes follow from that, so a sector that is torn,
 * mixed, in the wrong place or invented is seen to be so.
 */
#ifndef SECTOR_H
#define SECTOR_H

#include <stdint.h>

#define SECTOR_BYTES 512

/**
 * enum sector_kind - what a sector turns out to be.
 * @SECTOR_EMPTY: all zero: was never written.
 * @SECTOR_OURS: whole, and in its place.
 * @SECTOR_FOREIGN: not of this run.
 * @SECTOR_MISPLACED: belongs to another place.
 * @SECTOR_TORN: not all of it is of one write.
 */
enum sector_kind {
	SECTOR_EMPTY,
	SECTOR_OURS,
	SECTOR_FOREIGN,
	SECTOR_MISPLACED,
	SECTOR_TORN,
};

void sector_fill(void *data, uint32_t seed, uint64_t sector, uint32_t generation);
enum sector_kind sector_read(const void *data, uint32_t seed, uint64_t sector,
			     uint32_t *generation);
const char *sector_kind_name(enum sector_kind kind);

/* A generator of random numbers that is the same everywhere, for seeds to mean something. */
static inline uint32_t random_next(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 32;
}

static inline uint32_t random_below(uint64_t *state, uint32_t limit)
{
	return ((uint64_t)random_next(state) * limit) >> 32;
}

#endif

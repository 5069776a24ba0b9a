// SPDX-License-Identifier: GPL-2.0
/*
 * Dirtiness of a stripe by 512-byte sector: a page may be staged in part, on an
 * array of 512-byte sectors by a write smaller than a page.
 */
#include <linux/bitmap.h>
#include <linux/minmax.h>

#include "blockmap.h"

/**
 * blockmap_set() - mark sectors as staged.
 * @map: the map.
 * @first: first sector.
 * @count: number of sectors.
 *
 * Return: how many of them were not staged before.
 */
u32 blockmap_set(unsigned long *map, u32 first, u32 count)
{
	u32 end = first + count;
	u32 clear = 0;
	u32 from = first;

	while ((from = find_next_zero_bit(map, end, from)) < end) {
		u32 to = find_next_bit(map, end, from);

		clear += to - from;
		from = to;
	}
	bitmap_set(map, first, count);
	return clear;
}

/**
 * blockmap_next_run() - find the next run of staged sectors.
 * @map: the map.
 * @size: sectors of the stripe.
 * @first: where to begin looking; set to the first sector of the run.
 * @count: set to the length of the run.
 *
 * Return: false if no staged sector follows.
 */
bool blockmap_next_run(const unsigned long *map, u32 size, u32 *first, u32 *count)
{
	u32 from = find_next_bit(map, size, *first);

	if (from >= size)
		return false;
	*first = from;
	*count = find_next_zero_bit(map, size, from) - from;
	return true;
}

/**
 * blockmap_source() - find where a run of sectors has its newest data.
 * @open: map of the generation that takes writes, or NULL.
 * @older: map of the older generation, or NULL.
 * @first: first sector.
 * @count: number of sectors, at least 1.
 * @run: set to the number of sectors from @first on that share the source.
 *
 * Return: the source of the run.
 */
enum block_source blockmap_source(const unsigned long *open, const unsigned long *older,
				  u32 first, u32 count, u32 *run)
{
	u32 end = first + count;
	u32 next_open = open ? find_next_bit(open, end, first) : end;
	u32 next_older;

	if (next_open == first) {
		*run = find_next_zero_bit(open, end, first) - first;
		return SOURCE_OPEN;
	}
	next_older = older ? find_next_bit(older, end, first) : end;
	if (next_older == first) {
		u32 stop = find_next_zero_bit(older, end, first);

		*run = min(stop, next_open) - first;
		return SOURCE_OLDER;
	}
	*run = min(next_open, next_older) - first;
	return SOURCE_LOWER;
}

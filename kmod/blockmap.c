// SPDX-License-Identifier: GPL-2.0
/*
 * Dirtiness of a stripe by 512-byte sector: a page may be staged in part, on an
 * array of 512-byte sectors by a write smaller than a page.
 */
#include <linux/bitmap.h>
#include <linux/minmax.h>

#include "blockmap.h"
#include "geometry.h"

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
 * blockmap_next_hole() - find the next run of sectors that are not staged.
 * @map: the map.
 * @size: sectors of the stripe.
 * @first: where to begin looking; set to the first sector of the hole.
 * @count: set to the length of the hole.
 *
 * Return: false if no hole follows.
 */
bool blockmap_next_hole(const unsigned long *map, u32 size, u32 *first, u32 *count)
{
	u32 from = find_next_zero_bit(map, size, *first);

	if (from >= size)
		return false;
	*first = from;
	*count = find_next_bit(map, size, from) - from;
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

/**
 * blockmap_hole_span() - find what spans all holes of a range.
 * @map: the map.
 * @from: first sector of the range.
 * @to: end of the range.
 * @first: set to the first sector that is not staged.
 * @end: set to the end of the last hole.
 *
 * Return: false if there is no hole.
 */
bool blockmap_hole_span(const unsigned long *map, u32 from, u32 to, u32 *first, u32 *end)
{
	from = find_next_zero_bit(map, to, from);
	if (from >= to)
		return false;
	/* Sectors may be staged meanwhile. */
	while (to > from && test_bit(to - 1, map))
		to--;
	*first = from;
	*end = to;
	return true;
}

static bool row_is_staged(const unsigned long *map, u32 row)
{
	return find_next_bit(map, row + ROW_SECTORS, row) < row + ROW_SECTORS;
}

/* Requests for rows of parity: of those of which any member has something staged. */
static u32 parity_requests(const unsigned long *map, u32 chunk, u32 stripe, u32 rows)
{
	u32 requests = 0;
	u32 run = 0;
	u32 row;

	for (row = 0; row < chunk; row += ROW_SECTORS) {
		bool staged = false;
		u32 at;

		for (at = row; at < stripe && !staged; at += chunk)
			staged = row_is_staged(map, at);
		requests += staged && run % rows == 0;
		run = staged ? run + 1 : 0;
	}
	return requests;
}

/* Requests for a run on a member. */
static u32 requests_of(u32 from, u32 to, u32 rows)
{
	return ((to - 1) / ROW_SECTORS - from / ROW_SECTORS) / rows + 1;
}

/**
 * blockmap_fill_pays() - whether to read a stripe's holes and to write it whole.
 * @map: what is staged of the stripe.
 * @chunk: sectors that lie together on one member; whole rows.
 * @stripe: sectors of the stripe.
 * @seek: sectors that a member could transfer in the time that one more request takes.
 * @rows: so many rows that lie together are one request, at the most. md takes up each row by
 *	itself, and while the members do something else others come in between.
 *
 * Written in part, each run on a member is a request, and so is each run of parity;
 * and md reads as much before, or the holes, if they are fewer. Filled, it is one to
 * read for each member that has holes, and one to write for each member of all. The
 * count and not the choice for each row, as md has it, since rows that lie together
 * are one request, up to @rows.
 *
 * Context: @map may change meanwhile; then the answer is a guess.
 * Return: true if filling keeps the members busy for less time.
 */
bool blockmap_fill_pays(const unsigned long *map, u32 chunk, u32 stripe, u32 seek, u32 rows)
{
	u32 runs = 0, holes = 0;
	u64 plain, fill = 0;
	u32 at;

	for (at = 0; at < stripe; at += chunk) {
		u32 end = at + chunk, from = at, last = at, count, hole, hole_end;

		while (blockmap_next_run(map, end, &from, &count)) {
			runs += requests_of(from, from + count, rows);
			if (from > last)
				holes += requests_of(last, from, rows);
			from += count;
			last = from;
		}
		if (last < end)
			holes += requests_of(last, end, rows);
		if (blockmap_hole_span(map, at, end, &hole, &hole_end))
			fill += seek + hole_end - hole;
	}
	runs += parity_requests(map, chunk, stripe, rows);
	plain = (u64)seek * (runs + min(runs, holes));
	fill += (u64)(stripe / chunk + 1) * (seek + chunk);
	return fill < plain;
}

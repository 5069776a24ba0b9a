/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which 512-byte sectors of a stripe are staged, and which of two generations
 * of a stripe holds a sector's newest data. Free of bios and locks: unit tests
 * compile it in user space.
 */
#ifndef FULLSTRIPE_BLOCKMAP_H
#define FULLSTRIPE_BLOCKMAP_H

#include <linux/types.h>

/**
 * enum block_source - where the newest data of a sector is.
 * @SOURCE_LOWER: on the lower device.
 * @SOURCE_OPEN: in the generation that takes writes.
 * @SOURCE_OLDER: in the generation that is sealed, in flight or failed.
 */
enum block_source {
	SOURCE_LOWER,
	SOURCE_OPEN,
	SOURCE_OLDER,
};

u32 blockmap_set(unsigned long *map, u32 first, u32 count);
bool blockmap_next_run(const unsigned long *map, u32 size, u32 *first, u32 *count);
bool blockmap_next_hole(const unsigned long *map, u32 size, u32 *first, u32 *count);
bool blockmap_hole_span(const unsigned long *map, u32 from, u32 to, u32 *first, u32 *end);
bool blockmap_fill_pays(const unsigned long *map, u32 chunk, u32 stripe, u32 seek, u32 rows);
enum block_source blockmap_source(const unsigned long *open, const unsigned long *older,
				  u32 first, u32 count, u32 *run);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Bit by bit and plainly right, not fast. */
#ifndef SHIM_BITMAP_H
#define SHIM_BITMAP_H

#include <linux/types.h>

#define BITS_PER_LONG (8 * sizeof(long))

static inline bool test_bit(u32 bit, const unsigned long *map)
{
	return map[bit / BITS_PER_LONG] >> (bit % BITS_PER_LONG) & 1;
}

static inline void bitmap_set(unsigned long *map, u32 first, u32 count)
{
	for (; count; first++, count--)
		map[first / BITS_PER_LONG] |= 1UL << (first % BITS_PER_LONG);
}

static inline u32 find_next(const unsigned long *map, u32 size, u32 from, bool value)
{
	while (from < size && test_bit(from, map) != value)
		from++;
	return from < size ? from : size;
}

static inline unsigned long find_next_bit(const unsigned long *map, u32 size, u32 from)
{
	return find_next(map, size, from, true);
}

static inline unsigned long find_next_zero_bit(const unsigned long *map, u32 size, u32 from)
{
	return find_next(map, size, from, false);
}

#endif

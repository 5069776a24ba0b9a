/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stripe arithmetic of one target. Free of bios and locks: unit tests compile
 * it in user space.
 */
#ifndef FULLSTRIPE_GEOMETRY_H
#define FULLSTRIPE_GEOMETRY_H

#include <linux/types.h>

/* md computes parity in rows of so much of each member. */
#define ROW_SECTORS 8

/**
 * struct geometry - where the stripes of the array lie on the target.
 * @chunk_sectors: sectors that lie together on one member.
 * @data_members: members less parity.
 * @stripe_sectors: chunk_sectors * data_members; not a power of two in general.
 * @lead: sectors from the last stripe boundary of the array to sector 0 of the
 *	target; less than @stripe_sectors.
 * @len: sectors of the target.
 */
struct geometry {
	u32 chunk_sectors;
	u32 data_members;
	u32 stripe_sectors;
	u32 lead;
	u64 len;
};

void geometry_init(struct geometry *geo, u64 chunk_bytes, u32 data_members,
		   u64 alignment_offset, u64 start, u64 len);
u64 geometry_stripe(const struct geometry *geo, u64 sector, u32 *offset);
u64 geometry_sector(const struct geometry *geo, u64 stripe);
bool geometry_is_whole(const struct geometry *geo, u64 stripe);

#endif

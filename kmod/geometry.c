// SPDX-License-Identifier: GPL-2.0
/*
 * Stripe arithmetic. The stripe width is not a power of two in general (seven
 * data members of 128 KiB make 896 KiB), so everything divides and nothing
 * masks.
 */
#include <linux/math64.h>

#include "geometry.h"

/**
 * geometry_init() - compute a geometry.
 * @geo: filled in.
 * @chunk_bytes: chunk size in bytes, a multiple of 512.
 * @data_members: members less parity, at least 1.
 * @alignment_offset: bytes from the last stripe boundary of the array to byte 0
 *	of the lower device, a multiple of 512.
 * @start: first sector of the target on the lower device.
 * @len: sectors of the target.
 */
void geometry_init(struct geometry *geo, u64 chunk_bytes, u32 data_members,
		   u64 alignment_offset, u64 start, u64 len)
{
	geo->chunk_sectors = chunk_bytes >> 9;
	geo->data_members = data_members;
	geo->stripe_sectors = geo->chunk_sectors * data_members;
	geo->len = len;
	div_u64_rem((alignment_offset >> 9) + start, geo->stripe_sectors, &geo->lead);
}

/**
 * geometry_stripe() - the stripe of a sector.
 * @geo: the geometry.
 * @sector: sector of the target.
 * @offset: set to the sector's offset within its stripe.
 *
 * Return: the number of the stripe; stripe 0 is the one that holds sector 0.
 */
u64 geometry_stripe(const struct geometry *geo, u64 sector, u32 *offset)
{
	return div_u64_rem(sector + geo->lead, geo->stripe_sectors, offset);
}

/**
 * geometry_sector() - the first sector of a whole stripe.
 * @geo: the geometry.
 * @stripe: a stripe for which geometry_is_whole() holds.
 *
 * Return: the sector of the target at which @stripe begins.
 */
u64 geometry_sector(const struct geometry *geo, u64 stripe)
{
	return stripe * geo->stripe_sectors - geo->lead;
}

/**
 * geometry_is_whole() - whether a stripe lies on the target with all its bytes.
 * @geo: the geometry.
 * @stripe: number of the stripe.
 *
 * The first stripe is cut where the target does not begin at a stripe boundary,
 * the last one where it does not end at one. Those are never staged.
 *
 * Return: true if every sector of the stripe is on the target.
 */
bool geometry_is_whole(const struct geometry *geo, u64 stripe)
{
	u64 begin = stripe * geo->stripe_sectors;

	return begin >= geo->lead && begin + geo->stripe_sectors <= geo->len + geo->lead;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Discards pass straight through, ordered against what is staged of their stripes.
 *
 * A discard promises nothing about what is read later. So it leaves a stripe alone of
 * which something is staged, and goes on behind it; what is staged there stays, older
 * or newer than the discard. For the other stripes it leaves a mark while it is in
 * flight: what is accepted meanwhile is destaged only behind it.
 *
 * The mark comes first, then the look at the stripes. A group that this look does not
 * see is made later, under the lock of the same shard; so whoever seals it sees the
 * mark.
 */
#include <linux/blkdev.h>

#include "fullstripe.h"

/*
 * Longer discards are cut: what is accepted for their stripes, and who flushes it, waits
 * until the lower device is done; and each stripe is looked at.
 */
#define DISCARD_SECTORS_MAX	((64U << 20) >> SECTOR_SHIFT)
#define DISCARD_STRIPES_MAX	1024U

static u32 stripes_max(const struct geometry *geo)
{
	return clamp(DISCARD_SECTORS_MAX / geo->stripe_sectors, 1U, DISCARD_STRIPES_MAX);
}

/**
 * discards_setup() - make a target's list of discards.
 * @discards: the list.
 */
void discards_setup(struct discards *discards)
{
	spin_lock_init(&discards->lock);
	INIT_LIST_HEAD(&discards->list);
}

/**
 * discards_meet() - whether a discard of a stripe is in flight.
 * @discards: the list.
 * @stripe: number of the stripe.
 *
 * Context: the stripe's shard is locked.
 * Return: true if so; the destager is kicked when it is over.
 */
bool discards_meet(struct discards *discards, u64 stripe)
{
	struct discard *discard;
	bool meet = false;

	if (list_empty(&discards->list))
		return false;
	spin_lock(&discards->lock);
	list_for_each_entry(discard, &discards->list, link) {
		if (stripe < discard->first || stripe >= discard->end)
			continue;
		discard->awaited = true;
		meet = true;
	}
	spin_unlock(&discards->lock);
	return meet;
}

static void mark(struct fullstripe *fs, struct fullstripe_io *io, u64 first, u64 end)
{
	struct discard *discard = &io->discard;
	unsigned long flags;

	io->kind = IO_DISCARD;
	discard->first = first;
	discard->end = end;
	discard->awaited = false;
	atomic_inc(&fs->staging.bypasses);
	spin_lock_irqsave(&fs->discards.lock, flags);
	list_add(&discard->link, &fs->discards.list);
	spin_unlock_irqrestore(&fs->discards.lock, flags);
	prefetch_forget(fs, first, end);
}

/* Give up the stripes from @end on. */
static void shorten(struct fullstripe *fs, struct fullstripe_io *io, u64 end)
{
	unsigned long flags;
	bool awaited;

	spin_lock_irqsave(&fs->discards.lock, flags);
	io->discard.end = end;
	awaited = io->discard.awaited;
	spin_unlock_irqrestore(&fs->discards.lock, flags);
	if (awaited)
		destager_kick(fs);
}

/**
 * discard_end() - a discard is over.
 * @fs: the target.
 * @io: of its bio.
 *
 * Context: any, also interrupt.
 */
void discard_end(struct fullstripe *fs, struct fullstripe_io *io)
{
	unsigned long flags;
	bool awaited;

	prefetch_forget(fs, io->discard.first, io->discard.end);
	spin_lock_irqsave(&fs->discards.lock, flags);
	list_del(&io->discard.link);
	awaited = io->discard.awaited;
	spin_unlock_irqrestore(&fs->discards.lock, flags);
	if (awaited)
		destager_kick(fs);
	staging_end_bypass(fs, 1);
}

/**
 * discard_map() - take a discard.
 * @fs: the target.
 * @bio: the discard; cut with dm_accept_partial_bio() to what is dealt with.
 *
 * Context: .map; does not sleep, does not allocate.
 * Return: a DM_MAPIO_ value for .map.
 */
int discard_map(struct fullstripe *fs, struct bio *bio)
{
	struct fullstripe_io *io = fullstripe_io(bio);
	u64 sector = dm_target_offset(fs->ti, bio->bi_iter.bi_sector);
	u64 first, end, at, sectors;
	u32 offset;

	rcu_read_lock();
	if (staging_gate(fs) == GATE_PASSING) {
		staging_mark_unmarked(fs, io);
		rcu_read_unlock();
		fullstripe_remap(fs, bio);
		return DM_MAPIO_REMAPPED;
	}
	end = geometry_stripe(&fs->geo, sector + bio_sectors(bio) - 1, &offset) + 1;
	first = geometry_stripe(&fs->geo, sector, &offset);
	end = min(end, first + stripes_max(&fs->geo));
	mark(fs, io, first, end);
	/* From here on the stripes do not change: the mark is waited for. */
	rcu_read_unlock();

	for (at = first; at < end && !staging_holds(fs, at); at++)
		;
	sectors = (max(at, first + 1) - first) * fs->geo.stripe_sectors - offset;
	fullstripe_accept(bio, sectors);
	if (at == first) {
		bio_endio(bio);
		return DM_MAPIO_SUBMITTED;
	}
	if (at < end)
		shorten(fs, io, at);
	fullstripe_remap(fs, bio);
	return DM_MAPIO_REMAPPED;
}

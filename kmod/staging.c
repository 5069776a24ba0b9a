// SPDX-License-Identifier: GPL-2.0
/*
 * Staging: accepted writes by stripe, in bounded memory that was allocated ahead.
 *
 * DOC: order
 *
 * The order that a disk owes is between requests of which one completed before
 * the other was submitted. It is kept by these rules, each per stripe and under
 * the lock of the stripe's shard:
 *
 * - A write that covers whole stripes, or is a part of one whose parts leave together,
 *   bypasses staging, but only where no group exists for the stripe, and it leaves a
 *   mark for as long as it is in flight. If the lower device takes a stripe in several
 *   bios only, the write is held instead, for the destager.
 * - A group is sealed for destage only when no older group, no bypass mark and no
 *   discard of its stripe is left. So what was accepted later is also written later.
 * - A read takes each sector from the open group, else from the older group, else
 *   from the lower device. A group leaves the table only when it is written.
 *
 * Writes to the cut stripes at the two ends of the device are never staged.
 */
#include <linux/blkdev.h>
#include <linux/hash.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "fullstripe.h"

/* Groups for each stripe's worth of memory: a stripe may be staged thinly. */
#define GROUPS_PER_STRIPE 16

static struct hlist_head *bucket_of(struct fullstripe *fs, u64 stripe)
{
	u32 hash = hash_64(stripe, SHARD_BITS + BUCKET_BITS);

	return &staging_shard(fs, stripe)->buckets[hash & ((1 << BUCKET_BITS) - 1)];
}

/* The two generations of a stripe; shard locked. */
static void find_groups(struct fullstripe *fs, u64 stripe, struct stripe_group **open,
			struct stripe_group **older)
{
	struct stripe_group *group;

	*open = NULL;
	*older = NULL;
	hlist_for_each_entry(group, bucket_of(fs, stripe), hash) {
		if (group->stripe != stripe)
			continue;
		if (group->state == GROUP_OPEN)
			*open = group;
		else
			*older = group;
	}
}

/**
 * staging_find_older() - the group below the open one of a stripe.
 * @fs: the target.
 * @stripe: number of the stripe.
 *
 * Context: destager's work, before whose end none is gone.
 * Return: the group, which is sealed, in flight or failed; NULL if there is none.
 */
struct stripe_group *staging_find_older(struct fullstripe *fs, u64 stripe)
{
	struct shard *shard = staging_shard(fs, stripe);
	struct stripe_group *open, *older;

	spin_lock_irq(&shard->lock);
	find_groups(fs, stripe, &open, &older);
	spin_unlock_irq(&shard->lock);
	return older;
}

static void wake_if_awaited(struct fullstripe *fs)
{
	/* Pairs with the barrier in prepare_to_wait(). */
	if (wq_has_sleeper(&fs->staging.idle))
		wake_up(&fs->staging.idle);
}

/*
 * Memory
 */

static void free_pages_list(struct list_head *pages)
{
	struct page *page, *next;

	list_for_each_entry_safe(page, next, pages, lru) {
		list_del(&page->lru);
		__free_page(page);
	}
}

static int alloc_pages_list(unsigned long count, struct list_head *pages)
{
	while (count--) {
		struct page *page = alloc_page(GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);

		if (!page) {
			free_pages_list(pages);
			return -ENOMEM;
		}
		list_add(&page->lru, pages);
		cond_resched();
	}
	return 0;
}

static void give_pages(struct fullstripe *fs, unsigned long count, struct list_head *pages)
{
	pool_give(&fs->staging.pages, count, pages);
	free_pages_list(pages);
}

static void free_groups_list(struct list_head *groups)
{
	struct stripe_group *group, *next;

	list_for_each_entry_safe(group, next, groups, live) {
		list_del(&group->live);
		kvfree(group);
	}
}

static size_t group_bytes(const struct geometry *geo)
{
	unsigned int nr_pages = PAGE_SECTORS_OF(geo->stripe_sectors);

	return struct_size_t(struct stripe_group, pages, nr_pages) +
	       BITS_TO_LONGS(geo->stripe_sectors) * sizeof(long);
}

static struct stripe_group *alloc_group(struct fullstripe *fs, const struct geometry *geo)
{
	unsigned int nr_pages = PAGE_SECTORS_OF(geo->stripe_sectors);
	struct stripe_group *group;

	group = kvzalloc(group_bytes(geo), GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
	if (!group)
		return NULL;
	group->dirty = (unsigned long *)&group->pages[nr_pages];
	group->fs = fs;
	spin_lock_init(&group->copy_lock);
	bio_list_init(&group->held);
	INIT_LIST_HEAD(&group->live);
	INIT_LIST_HEAD(&group->full_link);
	INIT_LIST_HEAD(&group->urgent_link);
	INIT_LIST_HEAD(&group->brief_link);
	INIT_LIST_HEAD(&group->batch);
	INIT_LIST_HEAD(&group->batch_link);
	return group;
}

static int alloc_groups_list(struct fullstripe *fs, const struct geometry *geo,
			     unsigned long count, struct list_head *groups)
{
	while (count--) {
		struct stripe_group *group = alloc_group(fs, geo);

		if (!group) {
			free_groups_list(groups);
			return -ENOMEM;
		}
		list_add(&group->live, groups);
		cond_resched();
	}
	return 0;
}

static unsigned long groups_wanted(const struct geometry *geo, unsigned long nr_pages)
{
	unsigned long pages_each = max(geo->stripe_sectors / PAGE_SECTORS / GROUPS_PER_STRIPE, 1U);

	return max(nr_pages / pages_each, 2UL * BYPASS_STRIPES_MAX);
}

/**
 * staging_resize() - move the high water mark.
 * @fs: the target, with its geometry set; settings_lock held.
 * @high_water_bytes: the new mark. What is staged above it stays until it is written.
 *
 * Context: may sleep.
 * Return: 0, or -ENOMEM and nothing changed; a lower mark never fails.
 */
int staging_resize(struct fullstripe *fs, u64 high_water_bytes)
{
	struct staging *st = &fs->staging;
	/* A page may be more than the mark. */
	unsigned long nr_pages = max_t(u64, high_water_bytes >> PAGE_SHIFT, 1);
	unsigned long nr_groups = groups_wanted(&fs->geo, nr_pages);
	unsigned long more_pages = nr_pages - min(nr_pages, pool_limit(&st->pages));
	unsigned long more_groups = nr_groups - min(nr_groups, pool_limit(&st->groups));
	LIST_HEAD(groups);
	LIST_HEAD(pages);

	if (alloc_groups_list(fs, &fs->geo, more_groups, &groups))
		return -ENOMEM;
	if (alloc_pages_list(more_pages, &pages)) {
		free_groups_list(&groups);
		return -ENOMEM;
	}
	pool_resize(&st->groups, nr_groups, more_groups, &groups);
	pool_resize(&st->pages, nr_pages, more_pages, &pages);
	free_groups_list(&groups);
	free_pages_list(&pages);
	return 0;
}

/* How many stripes the lower device takes in one bio without cutting it. */
static unsigned int bypass_limit(struct fullstripe *fs, const struct geometry *geo)
{
	unsigned int max_sectors = queue_max_sectors(bdev_get_queue(fs->dev->bdev));

	return min(max_sectors / geo->stripe_sectors, (unsigned int)BYPASS_STRIPES_MAX);
}

/* A free group for @stripe, in the table; shard locked. */
static struct stripe_group *new_group(struct fullstripe *fs, u64 stripe, bool copied)
{
	struct staging *st = &fs->staging;
	struct stripe_group *group;
	LIST_HEAD(groups);

	if (!pool_take(&st->groups, 1, &groups))
		return NULL;
	group = list_first_entry(&groups, struct stripe_group, live);
	list_del_init(&group->live);
	group->stripe = stripe;
	group->state = GROUP_OPEN;
	group->copied = copied;
	hlist_add_head(&group->hash, bucket_of(fs, stripe));
	atomic_inc(&st->used);
	/* With the gate's, before it, this orders the stripes for who reads without the gate. */
	if (copied)
		atomic_inc_return_release(&st->copied);
	return group;
}

/**
 * staging_forget() - take a written group out of the table.
 * @fs: the target.
 * @group: a group that nobody will announce through a completion any more.
 *
 * Context: destager's work.
 * Return: true if nobody uses it and it can be released; false if its last reader
 * will announce it.
 */
bool staging_forget(struct fullstripe *fs, struct stripe_group *group)
{
	struct shard *shard = staging_shard(fs, group->stripe);
	bool unused;

	spin_lock_irq(&shard->lock);
	/* Who does not find it here finds on the lower device what it held. */
	prefetch_forget(fs, group->stripe, group->stripe + 1);
	if (!hlist_unhashed(&group->hash))
		hlist_del_init(&group->hash);
	group->state = GROUP_WRITTEN;
	unused = !group->readers && !test_bit(0, &group->announced);
	spin_unlock_irq(&shard->lock);
	return unused;
}

/**
 * staging_has_news() - parked writes may go on, or fail: a group was released, or failed.
 * @fs: the target.
 *
 * Context: any.
 */
void staging_has_news(struct fullstripe *fs)
{
	WRITE_ONCE(fs->staging.news, 1);
}

/**
 * staging_release() - give a group and its pages back.
 * @fs: the target.
 * @group: a group for which staging_forget() returned true.
 *
 * Context: destager's work.
 */
void staging_release(struct fullstripe *fs, struct stripe_group *group)
{
	struct staging *st = &fs->staging;
	unsigned int nr_pages = PAGE_SECTORS_OF(fs->geo.stripe_sectors);
	unsigned int i, count = 0;
	bool copied = group->copied;
	LIST_HEAD(items);

	for (i = 0; copied && i < nr_pages; i++) {
		if (!group->pages[i])
			continue;
		list_add(&group->pages[i]->lru, &items);
		group->pages[i] = NULL;
		count++;
	}
	throttle_release(fs, &items);
	give_pages(fs, count, &items);

	bitmap_zero(group->dirty, fs->geo.stripe_sectors);
	group->nr_dirty = 0;
	group->fua = false;
	group->urgent = false;
	group->wide = false;
	group->recent = false;
	group->status = BLK_STS_OK;
	group->known = false;
	group->plain = false;
	list_add(&group->live, &items);
	pool_give(&st->groups, 1, &items);
	free_groups_list(&items);

	if (copied)
		atomic_dec(&st->copied);
	atomic_dec(&st->used);
	staging_has_news(fs);
	wake_if_awaited(fs);
}

/**
 * staging_occupied_bytes() - how much of the high water mark is used.
 * @fs: the target.
 * @leaving: staged stripes not to be counted, all of them whole.
 *
 * Counted in pages; or in groups where these are nearer to their end, as when
 * stripes are staged thinly.
 *
 * Return: bytes.
 */
u64 staging_occupied_bytes(const struct fullstripe *fs, unsigned int leaving)
{
	const struct staging *st = &fs->staging;
	u64 bytes_each = div64_ul(setting(fs, SETTING_HIGH_WATER_BYTES), pool_limit(&st->groups));
	u64 stripe_bytes = (u64)fs->geo.stripe_sectors << SECTOR_SHIFT;
	s64 by_pages = staging_staged_bytes(fs) - leaving * stripe_bytes;
	s64 by_groups = ((s64)atomic_read(&st->used) - leaving) * bytes_each;

	/* They may have left since they were counted. */
	return max3(by_pages, by_groups, 0LL);
}

/**
 * staging_is_above_low_water() - whether memory is short.
 * @fs: the target.
 *
 * Return: more than the low water mark is in use, or it was and ran out.
 */
bool staging_is_above_low_water(const struct fullstripe *fs)
{
	return READ_ONCE(fs->staging.stalled) ||
	       staging_occupied_bytes(fs, 0) > setting(fs, SETTING_LOW_WATER_BYTES);
}

/**
 * staging_staged_bytes() - memory that staged data takes.
 * @fs: the target.
 *
 * Return: bytes, in whole pages.
 */
u64 staging_staged_bytes(const struct fullstripe *fs)
{
	const struct staging *st = &fs->staging;
	unsigned long total = pool_total(&st->pages);
	unsigned long free = pool_available(&st->pages);

	return total > free ? (u64)(total - free) << PAGE_SHIFT : 0;
}

/**
 * staging_memory_bytes() - memory that staging has, be it in use or free.
 * @fs: the target.
 *
 * Return: bytes, without what the allocator rounds up.
 */
u64 staging_memory_bytes(const struct fullstripe *fs)
{
	const struct staging *st = &fs->staging;

	return ((u64)pool_total(&st->pages) << PAGE_SHIFT) +
	       (u64)pool_total(&st->groups) * group_bytes(&fs->geo);
}

/**
 * staging_is_empty() - whether nothing is staged, held or parked.
 * @fs: the target.
 *
 * What is parked may be staged next, which is counted there before it is no longer counted
 * here; and while the gate is closing what is written to a stripe that is staged may be parked.
 *
 * Return: true if so.
 */
bool staging_is_empty(struct fullstripe *fs)
{
	const struct staging *st = &fs->staging;

	return !atomic_read_acquire(&st->nr_parked) && !atomic_read_acquire(&st->used) &&
	       !atomic_read(&st->nr_parked);
}

/*
 * Copying
 */

/*
 * Copy between a bio and the pages of a pinned group, from sector @first of the
 * stripe on. A page at a time under the lock that keeps sectors of concurrent
 * writers from mixing.
 */
static void copy_bio(struct stripe_group *group, struct bio *bio, u32 first, bool in)
{
	size_t at = (size_t)first << SECTOR_SHIFT;
	struct bvec_iter iter;
	struct bio_vec bv;

	bio_for_each_segment(bv, bio, iter) {
		char *data = bvec_kmap_local(&bv);
		size_t done = 0;

		while (done < bv.bv_len) {
			size_t n = min_t(size_t, bv.bv_len - done, PAGE_SIZE - offset_in_page(at));
			char *staged = page_address(group->pages[at >> PAGE_SHIFT]) +
				       offset_in_page(at);

			spin_lock(&group->copy_lock);
			if (in)
				memcpy(staged, data + done, n);
			else
				memcpy(data + done, staged, n);
			spin_unlock(&group->copy_lock);
			done += n;
			at += n;
		}
		kunmap_local(data);
		if (!in)
			flush_dcache_page(bv.bv_page);
	}
}

static void end_read(struct fullstripe *fs, struct stripe_group *group)
{
	struct shard *shard = staging_shard(fs, group->stripe);
	unsigned long flags;

	spin_lock_irqsave(&shard->lock, flags);
	if (!--group->readers && group->state == GROUP_WRITTEN)
		destager_announce(fs, group);
	spin_unlock_irqrestore(&shard->lock, flags);
}

/*
 * Writes
 */

static void park(struct fullstripe *fs, struct bio *bio)
{
	struct staging *st = &fs->staging;
	unsigned long flags;

	count(fs, COUNT_PARKED, 1);
	throttle_stall(fs, fullstripe_io(bio));
	spin_lock_irqsave(&st->parked_lock, flags);
	bio_list_add(&st->parked, bio);
	WRITE_ONCE(st->stalled, true);
	/* What there was since it was looked for may have been given to others. */
	staging_has_news(fs);
	spin_unlock_irqrestore(&st->parked_lock, flags);
	destager_kick(fs);
}

/* Mark one stripe as being written past staging; shard locked. */
static void mark_bypass(struct fullstripe *fs, struct shard *shard, struct fullstripe_io *io,
			u64 stripe)
{
	struct bypass *bypass = &io->bypass[io->nr_bypass++];

	io->kind = IO_BYPASS;
	bypass->stripe = stripe;
	bypass->awaited = false;
	list_add(&bypass->link, &shard->bypasses);
	atomic_inc(&fs->staging.bypasses);
	prefetch_forget(fs, stripe, stripe + 1);
}

/* Mark up to @max stripes from @stripe on that no group exists for. */
static unsigned int mark_bypasses(struct fullstripe *fs, struct fullstripe_io *io, u64 stripe,
				  unsigned int max)
{
	unsigned int nr;

	for (nr = 0; nr < max && geometry_is_whole(&fs->geo, stripe + nr); nr++) {
		struct shard *shard = staging_shard(fs, stripe + nr);
		struct stripe_group *open, *older;
		unsigned long flags;

		spin_lock_irqsave(&shard->lock, flags);
		find_groups(fs, stripe + nr, &open, &older);
		if (!open && !older)
			mark_bypass(fs, shard, io, stripe + nr);
		spin_unlock_irqrestore(&shard->lock, flags);
		if (open || older)
			break;
	}
	return nr;
}

/**
 * staging_end_bypass() - count marks of bypasses, or discards, that are over.
 * @fs: the target.
 * @marks: how many.
 *
 * Context: any, also interrupt.
 */
void staging_end_bypass(struct fullstripe *fs, int marks)
{
	if (atomic_sub_and_test(marks, &fs->staging.bypasses))
		wake_if_awaited(fs);
}

static void end_bypass(struct fullstripe *fs, struct fullstripe_io *io)
{
	bool awaited = false;
	unsigned int i;

	for (i = 0; i < io->nr_bypass; i++) {
		u64 stripe = io->bypass[i].stripe;
		struct shard *shard = staging_shard(fs, stripe);
		unsigned long flags;

		prefetch_forget(fs, stripe, stripe + 1);
		spin_lock_irqsave(&shard->lock, flags);
		list_del(&io->bypass[i].link);
		awaited |= io->bypass[i].awaited;
		spin_unlock_irqrestore(&shard->lock, flags);
	}
	if (awaited)
		destager_kick(fs);
	staging_end_bypass(fs, io->nr_bypass);
}

/* Keep held bios ascending; they nearly always come so. */
static void insert_held(struct bio_list *held, struct bio *bio)
{
	struct bio **at = &held->head;

	if (!held->head || held->tail->bi_iter.bi_sector <= bio->bi_iter.bi_sector) {
		bio_list_add(held, bio);
		return;
	}
	while ((*at)->bi_iter.bi_sector <= bio->bi_iter.bi_sector)
		at = &(*at)->bi_next;
	bio->bi_next = *at;
	*at = bio;
}

/* Account sectors as staged and tell the destager if it has to know; shard locked. */
static void mark_dirty(struct fullstripe *fs, struct stripe_group *group, u32 first, u32 sectors,
		       bool urgent)
{
	bool was_new = !group->nr_dirty;

	group->nr_dirty += blockmap_set(group->dirty, first, sectors);
	group->recent = true;
	group->urgent |= urgent;
	if (was_new || urgent || group->nr_dirty == fs->geo.stripe_sectors)
		destager_announce(fs, group);
}

/* Pages that a copy to the group still lacks. */
static unsigned int missing_pages(struct stripe_group *group, u32 first, u32 sectors)
{
	unsigned int from = first / PAGE_SECTORS;
	unsigned int to = PAGE_SECTORS_OF(first + sectors);
	unsigned int missing = 0;

	for (; from < to; from++)
		missing += !group || !group->pages[from];
	return missing;
}

/* Add the missing pages; they are counted in @file. */
static void fill_pages(struct stripe_group *group, u32 first, u32 sectors, struct list_head *pages,
		       struct dirty_file *file)
{
	unsigned int from = first / PAGE_SECTORS;
	unsigned int to = PAGE_SECTORS_OF(first + sectors);

	for (; from < to; from++) {
		if (group->pages[from])
			continue;
		group->pages[from] = list_first_entry(pages, struct page, lru);
		list_del(&group->pages[from]->lru);
		set_page_private(group->pages[from], (unsigned long)file);
	}
}

/*
 * Whether fsync(2) sends it, which waits for no neighbour. Direct I/O has REQ_SYNC too, with
 * REQ_IDLE; and so have journals, but they say REQ_META.
 */
static bool is_fsynced(const struct bio *bio)
{
	return bio->bi_opf & REQ_SYNC && (!(bio->bi_opf & REQ_IDLE) || bio->bi_opf & REQ_META);
}

/*
 * Whether those that are parked have enough groups if another is taken now: they go on when no more
 * are in use than the low water mark has, and have no other way.
 */
static bool leaves_groups(const struct fullstripe *fs)
{
	const struct pool *groups = &fs->staging.groups;
	u64 bytes_each = div64_ul(setting(fs, SETTING_HIGH_WATER_BYTES), pool_limit(groups));
	u64 in_use = atomic_read(&fs->staging.used);

	return pool_available(groups) > pool_limit(groups) / 2 &&
	       (in_use + 1) * bytes_each <= setting(fs, SETTING_LOW_WATER_BYTES);
}

enum verdict {
	VERDICT_TAKEN,		/* completed or held: no longer the caller's */
	VERDICT_REMAP,		/* goes to the lower device, marked */
	VERDICT_PARK,		/* it has to wait, as for memory; counted in nr_parked */
};

/*
 * Write a bio that lies within one whole stripe. Caller is in an RCU read section,
 * which ends here as soon as the stripe, or the count of parked bios, knows of it.
 */
static enum verdict write_in_stripe(struct fullstripe *fs, struct bio *bio, u64 stripe, u32 first)
	__releases(RCU)
{
	struct staging *st = &fs->staging;
	struct shard *shard = staging_shard(fs, stripe);
	struct fullstripe_io *io = fullstripe_io(bio);
	bool failing = atomic_read(&fs->destager.failing);
	bool fua = bio->bi_opf & REQ_FUA;
	bool closing = staging_gate(fs) != GATE_OPEN;
	/* Must not complete before it is on the lower device. */
	bool through = fua || failing || closing;
	bool behind = setting(fs, SETTING_MODE) == MODE_WRITEBEHIND;
	/* In writebehind; metadata and swap have who waits for them, whatever they say. */
	bool waited = bio->bi_opf & (REQ_SYNC | REQ_META | REQ_PRIO | REQ_SWAP);
	u32 sectors = bio_sectors(bio);
	bool whole = io->whole || sectors == fs->geo.stripe_sectors;
	/*
	 * In several bios below: of these the destager has no more under way than md has rows.
	 * Those that leave together are no more than that.
	 */
	bool wide = whole && !io->paced && !st->bypass_stripes && !failing && !closing;
	/* Groups that are held are memory too, which is given back more slowly. */
	bool copied = behind && !wide &&
		      (waited || !quiet_is_near(fs) || staging_is_above_low_water(fs));
	struct stripe_group *group, *older;
	unsigned int missing;
	unsigned long flags;
	bool refused;
	LIST_HEAD(pages);

	spin_lock_irqsave(&shard->lock, flags);
	find_groups(fs, stripe, &group, &older);
	if (!group && !older && !wide && (through || whole))
		goto bypass;

	if (group)
		copied = group->copied;
	/* The mode changed while the group was open. */
	if (copied && setting(fs, SETTING_MODE) == MODE_WRITETHROUGH)
		through = true;
	missing = copied ? missing_pages(group, first, sectors) : 0;
	/* A stripe that is written to again and again would always have one of the two. */
	if (!group && older && closing && !READ_ONCE(older->failed))
		goto wait;
	if (missing && (READ_ONCE(st->stalled) || !pool_take(&st->pages, missing, &pages)))
		goto wait;
	if (!group && (failing || !READ_ONCE(st->stalled) || (wide && leaves_groups(fs))))
		group = new_group(fs, stripe, copied);
	if (!group) {
		give_pages(fs, missing, &pages);
		if (!copied && !older)
			goto bypass;
		goto wait;
	}
	group->fua |= fua;

	if (!copied) {
		bool urgent = fua || failing || (behind ? waited && !wide : is_fsynced(bio));

		group->wide |= wide;
		io->kind = IO_HELD;
		io->group = group;
		insert_held(&group->held, bio);
		prefetch_forget(fs, stripe, stripe + 1);
		mark_dirty(fs, group, first, sectors, urgent);
		spin_unlock_irqrestore(&shard->lock, flags);
		rcu_read_unlock();
		count(fs, COUNT_HELD_BYTES, (u64)sectors << SECTOR_SHIFT);
		return VERDICT_TAKEN;
	}

	fill_pages(group, first, sectors, &pages, io->file);
	group->pins++;
	spin_unlock_irqrestore(&shard->lock, flags);
	rcu_read_unlock();

	throttle_stage(fs, io, missing);
	copy_bio(group, bio, first, true);
	count(fs, COUNT_ACCEPTED_BYTES, (u64)sectors << SECTOR_SHIFT);

	spin_lock_irqsave(&shard->lock, flags);
	mark_dirty(fs, group, first, sectors, through);
	if (through)
		bio_list_add(&group->held, bio);
	if (!--group->pins && group->state == GROUP_SEALED)
		destager_announce(fs, group);
	spin_unlock_irqrestore(&shard->lock, flags);
	if (!through) {
		io->kind = IO_COPIED;
		bio_endio(bio);
	}
	return VERDICT_TAKEN;

bypass:
	mark_bypass(fs, shard, io, stripe);
	spin_unlock_irqrestore(&shard->lock, flags);
	rcu_read_unlock();
	count(fs, COUNT_BYPASSED_BYTES, (u64)sectors << SECTOR_SHIFT);
	return VERDICT_REMAP;

wait:
	/* There may be no memory until that is repaired which the lower device refuses. */
	refused = failing && older && READ_ONCE(older->failed);
	/* Before the older group can be gone: see staging_is_empty(). */
	if (!refused)
		atomic_inc(&st->nr_parked);
	spin_unlock_irqrestore(&shard->lock, flags);
	rcu_read_unlock();
	if (!refused)
		return VERDICT_PARK;
	bio_io_error(bio);
	return VERDICT_TAKEN;
}

/**
 * staging_mark_unmarked() - count a bio that no stripe will know of.
 * @fs: the target.
 * @io: of the bio.
 *
 * Context: in an RCU read section.
 */
void staging_mark_unmarked(struct fullstripe *fs, struct fullstripe_io *io)
{
	io->kind = IO_UNMARKED;
	io->generation = READ_ONCE(fs->staging.generation);
	atomic_inc(&fs->staging.unmarked[io->generation]);
}

/**
 * staging_send_straight() - writes leave, in one plug, as those do that come in the meantime.
 * @fs: the target.
 * @bios: the writes, remapped; empty afterwards.
 *
 * Context: any.
 */
void staging_send_straight(struct fullstripe *fs, struct bio_list *bios)
{
	struct staging *st = &fs->staging;
	unsigned long flags;

	if (bio_list_empty(bios))
		return;
	spin_lock_irqsave(&st->straight_lock, flags);
	bio_list_merge(&st->straight, bios);
	spin_unlock_irqrestore(&st->straight_lock, flags);
	bio_list_init(bios);
	queue_work(fs->destager.wq, &st->straight_work);
}

/**
 * staging_write() - take a write.
 * @fs: the target.
 * @bio: a write with data; cut with dm_accept_partial_bio() to what is dealt with.
 *
 * Context: .map; does not sleep, does not allocate.
 * Return: a DM_MAPIO_ value for .map.
 */
int staging_write(struct fullstripe *fs, struct bio *bio)
{
	struct fullstripe_io *io = fullstripe_io(bio);
	u64 sector = dm_target_offset(fs->ti, bio->bi_iter.bi_sector);
	u32 sectors = bio_sectors(bio);
	u32 width, first, in_stripe, take;
	struct bio_list straight;
	unsigned int most, nr;
	u64 stripe;

	if (bio->bi_opf & REQ_FUA)
		count(fs, COUNT_FUA_WRITES, 1);

	rcu_read_lock();
	if (staging_gate(fs) == GATE_PASSING) {
		staging_mark_unmarked(fs, io);
		rcu_read_unlock();
		count(fs, COUNT_BYPASSED_BYTES, (u64)sectors << SECTOR_SHIFT);
		fullstripe_remap(fs, bio);
		return DM_MAPIO_REMAPPED;
	}

	width = fs->geo.stripe_sectors;
	stripe = geometry_stripe(&fs->geo, sector, &first);
	in_stripe = min(sectors, width - first);
	if (!geometry_is_whole(&fs->geo, stripe)) {
		staging_mark_unmarked(fs, io);
		rcu_read_unlock();
		quiet_begin(fs, io);
		fullstripe_accept(bio, in_stripe);
		count(fs, COUNT_EDGE_BYTES, bio->bi_iter.bi_size);
		fullstripe_remap(fs, bio);
		return DM_MAPIO_REMAPPED;
	}

	most = fs->staging.bypass_stripes;
	take = in_stripe;
	/* Near a flush no more than one, as what is in flight then is counted in stripes. */
	if (in_stripe == width && !quiet_is_near(fs))
		take = clamp(sectors / width, 1U, max(most, 1U)) * width;
	if (!throttle_admit(fs, bio, take, in_stripe)) {
		rcu_read_unlock();
		return DM_MAPIO_SUBMITTED;
	}
	/* Not before: what it may have to wait for would stand back. */
	quiet_begin(fs, io);

	if (in_stripe == width && most) {
		nr = mark_bypasses(fs, io, stripe, take / width);
		if (nr) {
			rcu_read_unlock();
			fullstripe_accept(bio, nr * width);
			throttle_trim(fs, bio);
			count(fs, COUNT_BYPASSED_BYTES, bio->bi_iter.bi_size);
			fullstripe_remap(fs, bio);
			return DM_MAPIO_REMAPPED;
		}
	}

	fullstripe_accept(bio, in_stripe);
	throttle_trim(fs, bio);
	switch (write_in_stripe(fs, bio, stripe, first)) {
	case VERDICT_REMAP:
		fullstripe_remap(fs, bio);
		if (most || in_stripe < width)
			return DM_MAPIO_REMAPPED;
		/* It could not be held, and leaves in several bios. */
		bio_list_init(&straight);
		bio_list_add(&straight, bio);
		staging_send_straight(fs, &straight);
		break;
	case VERDICT_PARK:
		park(fs, bio);
		break;
	case VERDICT_TAKEN:
		break;
	}
	return DM_MAPIO_SUBMITTED;
}

/*
 * Try again a bio that was parked; false if there is no memory for it. If it passes by it is
 * added to @straight: md may sleep, and the next one may have nothing to do with it.
 */
static bool write_parked(struct fullstripe *fs, struct bio *bio, struct bio_list *straight)
{
	enum verdict verdict;
	u64 sector = dm_target_offset(fs->ti, bio->bi_iter.bi_sector);
	u64 stripe;
	u32 first;

	rcu_read_lock();
	stripe = geometry_stripe(&fs->geo, sector, &first);
	verdict = write_in_stripe(fs, bio, stripe, first);
	if (verdict == VERDICT_REMAP) {
		fullstripe_remap(fs, bio);
		bio_list_add(straight, bio);
	}
	return verdict != VERDICT_PARK;
}

/**
 * staging_go_on() - take a write that was parked because of its file.
 * @fs: the target.
 * @bio: a write within one whole stripe, counted in nr_parked.
 * @straight: to which it is added if it passes by: for staging_send_straight(), of all that are
 *	to leave together.
 *
 * Context: a work item; does not sleep.
 */
void staging_go_on(struct fullstripe *fs, struct bio *bio, struct bio_list *straight)
{
	if (!write_parked(fs, bio, straight))
		park(fs, bio);
	/* What is parked anew is counted anew. */
	if (atomic_dec_and_test(&fs->staging.nr_parked))
		wake_if_awaited(fs);
}

static void straight_work(struct work_struct *work)
{
	struct staging *st = container_of(work, struct staging, straight_work);
	struct bio_list bios;
	struct blk_plug plug;
	struct bio *bio;

	spin_lock_irq(&st->straight_lock);
	bios = st->straight;
	bio_list_init(&st->straight);
	spin_unlock_irq(&st->straight_lock);

	blk_start_plug(&plug);
	while ((bio = bio_list_pop(&bios)))
		submit_bio_noacct(bio);
	blk_finish_plug(&plug);
}

static void parked_work(struct work_struct *work)
{
	struct staging *st = container_of(work, struct staging, parked_work);
	struct fullstripe *fs = container_of(st, struct fullstripe, staging);
	struct bio_list kept, straight;
	struct bio *bio;

	bio_list_init(&kept);
	bio_list_init(&straight);
	for (;;) {
		bool taken;

		spin_lock_irq(&st->parked_lock);
		bio = bio_list_pop(&st->parked);
		spin_unlock_irq(&st->parked_lock);
		if (!bio)
			break;

		taken = write_parked(fs, bio, &straight);
		if (!taken)
			bio_list_add(&kept, bio);
		/* What is kept was counted anew. */
		atomic_dec(&st->nr_parked);
		/* While some fail, the others wait for their own stripes, and not for memory. */
		if (!taken && !atomic_read(&fs->destager.failing))
			break;
		cond_resched();
	}
	staging_send_straight(fs, &straight);
	if (bio_list_empty(&kept)) {
		wake_if_awaited(fs);
		return;
	}
	spin_lock_irq(&st->parked_lock);
	bio_list_merge_head(&st->parked, &kept);
	WRITE_ONCE(st->stalled, true);
	spin_unlock_irq(&st->parked_lock);
	destager_kick(fs);
}

/**
 * staging_unstall() - let parked writes go on if memory is down to the low water mark, or at
 *	any news of a stripe while some are failing.
 * @fs: the target.
 *
 * Context: destager's work.
 */
void staging_unstall(struct fullstripe *fs)
{
	struct staging *st = &fs->staging;

	if (!READ_ONCE(st->stalled))
		return;
	/* While some of it fails, writes to other stripes need no memory. */
	if (staging_occupied_bytes(fs, 0) > setting(fs, SETTING_LOW_WATER_BYTES) &&
	    !atomic_read(&fs->destager.failing))
		return;
	/* In vain before there is news of a group, maybe of the older one that is waited for. */
	if (!xchg(&st->news, 0) && atomic_read(&st->used))
		return;
	WRITE_ONCE(st->stalled, false);
	queue_work(fs->destager.wq, &st->parked_work);
}

/**
 * staging_seal() - close an open group to writes, so that it can be written.
 * @fs: the target.
 * @group: the group.
 * @only_idle: leave it open if somebody is copying into it.
 * @pinned: set if somebody is; the last one will announce the group.
 *
 * Context: destager's work.
 * Return: false if it must stay open: an older generation or a bypassing write of
 * its stripe is not finished, and will kick the destager when it is.
 */
bool staging_seal(struct fullstripe *fs, struct stripe_group *group, bool only_idle, bool *pinned)
{
	struct shard *shard = staging_shard(fs, group->stripe);
	struct stripe_group *open, *older;
	struct bypass *bypass;
	bool sealed = true;

	spin_lock_irq(&shard->lock);
	find_groups(fs, group->stripe, &open, &older);
	if (older || (only_idle && group->pins))
		sealed = false;
	list_for_each_entry(bypass, &shard->bypasses, link) {
		if (bypass->stripe != group->stripe)
			continue;
		bypass->awaited = true;
		sealed = false;
	}
	if (discards_meet(&fs->discards, group->stripe))
		sealed = false;
	*pinned = group->pins;
	if (sealed)
		group->state = GROUP_SEALED;
	spin_unlock_irq(&shard->lock);
	return sealed;
}

/**
 * staging_holds() - whether something of a stripe is staged or held.
 * @fs: the target.
 * @stripe: number of the stripe.
 *
 * Return: true if so.
 */
bool staging_holds(struct fullstripe *fs, u64 stripe)
{
	struct shard *shard = staging_shard(fs, stripe);
	struct stripe_group *open, *older;
	unsigned long flags;

	spin_lock_irqsave(&shard->lock, flags);
	find_groups(fs, stripe, &open, &older);
	spin_unlock_irqrestore(&shard->lock, flags);
	return open || older;
}

/**
 * staging_presses() - whether a file waits for a group to be written.
 * @fs: the target.
 * @group: an open group.
 *
 * Context: destager's work.
 * Return: true if so.
 */
bool staging_presses(struct fullstripe *fs, struct stripe_group *group)
{
	struct shard *shard = staging_shard(fs, group->stripe);
	unsigned int i, nr_pages = PAGE_SECTORS_OF(fs->geo.stripe_sectors);
	const struct dirty_file *file, *last = NULL;
	bool presses = false;

	spin_lock_irq(&shard->lock);
	for (i = 0; group->copied && !presses && i < nr_pages; i++) {
		if (!group->pages[i])
			continue;
		file = (struct dirty_file *)page_private(group->pages[i]);
		presses = file && file != last && READ_ONCE(file->pressing);
		last = file;
	}
	spin_unlock_irq(&shard->lock);
	return presses;
}

/*
 * Reads
 */

/**
 * staging_read() - take a read: from staging what is staged, else as prefetch_read().
 * @fs: the target.
 * @bio: the read; cut with dm_accept_partial_bio() where the source changes.
 *
 * Context: .map; does not sleep, does not allocate.
 * Return: a DM_MAPIO_ value for .map.
 */
int staging_read(struct fullstripe *fs, struct bio *bio)
{
	u64 sector = dm_target_offset(fs->ti, bio->bi_iter.bi_sector);
	u32 sectors = bio_sectors(bio);
	u32 done = 0;
	int r;

	/* Within one read section, so that the stripes do not change in between. */
	rcu_read_lock();
	/* Pairs with the release in new_group(): what is staged is so by the stripes of now. */
	if (!atomic_read_acquire(&fs->staging.copied))
		done = sectors;
	while (done < sectors) {
		u32 first, run, left;
		u64 stripe = geometry_stripe(&fs->geo, sector + done, &first);
		struct shard *shard = staging_shard(fs, stripe);
		struct stripe_group *open, *older, *group;
		enum block_source source;
		unsigned long flags;

		left = min(sectors - done, fs->geo.stripe_sectors - first);
		spin_lock_irqsave(&shard->lock, flags);
		find_groups(fs, stripe, &open, &older);
		source = blockmap_source(open && open->copied ? open->dirty : NULL,
					 older && older->copied ? older->dirty : NULL,
					 first, left, &run);
		if (source == SOURCE_LOWER || done) {
			spin_unlock_irqrestore(&shard->lock, flags);
			if (source != SOURCE_LOWER)
				break;
			done += run;
			if (run < left)
				break;
			continue;
		}
		group = source == SOURCE_OPEN ? open : older;
		/* Nothing waits for it but the pages: there may always be others that read. */
		group->readers++;
		spin_unlock_irqrestore(&shard->lock, flags);
		prefetch_note(fs, sector, sectors);
		rcu_read_unlock();

		fullstripe_accept(bio, run);
		copy_bio(group, bio, first, false);
		end_read(fs, group);
		count(fs, COUNT_STAGED_READ_BYTES, (u64)run << SECTOR_SHIFT);
		bio_endio(bio);
		return DM_MAPIO_SUBMITTED;
	}
	fullstripe_accept(bio, done);
	r = prefetch_read(fs, bio, sectors);
	rcu_read_unlock();
	return r;
}

/**
 * staging_end_io() - settle what is owed when a bio of the target completes.
 * @fs: the target.
 * @bio: the bio.
 *
 * Context: any, also interrupt.
 */
void staging_end_io(struct fullstripe *fs, struct bio *bio)
{
	struct fullstripe_io *io = fullstripe_io(bio);

	throttle_end(fs, io);
	switch (io->kind) {
	case IO_PLAIN:
	case IO_FLUSH:
	case IO_COPIED:
		break;
	case IO_BYPASS:
		end_bypass(fs, io);
		break;
	case IO_DISCARD:
		discard_end(fs, io);
		break;
	case IO_UNMARKED:
		if (atomic_dec_and_test(&fs->staging.unmarked[io->generation]))
			wake_if_awaited(fs);
		break;
	case IO_HELD:
		prefetch_forget(fs, io->group->stripe, io->group->stripe + 1);
		destager_put(io->group);
		break;
	}
}

/*
 * Life
 */

/* Wait until nothing is staged and no stripe is marked; false if writing fails. */
static bool drain_and_pass(struct fullstripe *fs)
{
	struct staging *st = &fs->staging;

	/* Writes join groups that exist and make no new ones: in the end there are none. */
	WRITE_ONCE(st->gate, GATE_CLOSING);
	synchronize_rcu();
	throttle_recheck(fs);
	if (destager_drain(fs, false))
		return false;
	WRITE_ONCE(st->gate, GATE_PASSING);
	/* And no read looks at the stripes any more. */
	synchronize_rcu();
	wait_event(st->idle, !atomic_read(&st->bypasses));
	return true;
}

/* Stage again; destage only when what passed meanwhile is on the lower device. */
static void reopen(struct fullstripe *fs)
{
	struct staging *st = &fs->staging;
	u8 old = st->generation;

	WRITE_ONCE(fs->destager.held_back, true);
	/* Whoever stages sees the new stripes; and the destager, that it is held back. */
	smp_store_release(&st->gate, GATE_OPEN);
	synchronize_rcu();
	WRITE_ONCE(st->generation, !old);
	synchronize_rcu();
	wait_event(st->idle, !atomic_read(&st->unmarked[old]));
	WRITE_ONCE(fs->destager.held_back, false);
	destager_kick(fs);
}

/**
 * staging_set_geometry() - change the stripes while I/O goes on.
 * @fs: the target; settings_lock held.
 * @geo: the new geometry.
 *
 * What is staged is written first; meanwhile and until the new stripes are in
 * place writes pass straight through.
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM, or -EIO if what is staged cannot be written; then nothing changed.
 */
int staging_set_geometry(struct fullstripe *fs, const struct geometry *geo)
{
	struct staging *st = &fs->staging;
	unsigned long nr = groups_wanted(geo, pool_limit(&st->pages));
	LIST_HEAD(groups);
	LIST_HEAD(fills);
	LIST_HEAD(old);
	int r;

	r = alloc_groups_list(fs, geo, nr, &groups);
	if (!r)
		r = fills_alloc(geo, &fills);
	if (!r && !drain_and_pass(fs)) {
		WRITE_ONCE(st->gate, GATE_OPEN);
		r = -EIO;
	}
	if (r) {
		free_groups_list(&groups);
		fills_free(&fills);
		return r;
	}

	pool_drain(&st->groups, &old);
	fs->geo = *geo;
	st->bypass_stripes = bypass_limit(fs, geo);
	pool_resize(&st->groups, nr, nr, &groups);
	destager_set_geometry(fs, &fills);
	reopen(fs);
	free_groups_list(&old);
	fills_free(&fills);
	return 0;
}

/**
 * staging_setup() - make a target's staging such that staging_exit() is safe.
 * @fs: the target.
 */
void staging_setup(struct fullstripe *fs)
{
	struct staging *st = &fs->staging;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(st->shards); i++) {
		spin_lock_init(&st->shards[i].lock);
		INIT_LIST_HEAD(&st->shards[i].bypasses);
	}
	pool_init(&st->pages);
	pool_init(&st->groups);
	spin_lock_init(&st->parked_lock);
	bio_list_init(&st->parked);
	INIT_WORK(&st->parked_work, parked_work);
	spin_lock_init(&st->straight_lock);
	bio_list_init(&st->straight);
	INIT_WORK(&st->straight_work, straight_work);
	init_waitqueue_head(&st->idle);
}

/**
 * staging_init() - allocate the staging of a target.
 * @fs: the target, with its settings and geometry set.
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM; staging_exit() cleans up either way.
 */
int staging_init(struct fullstripe *fs)
{
	fs->staging.bypass_stripes = bypass_limit(fs, &fs->geo);
	return staging_resize(fs, setting(fs, SETTING_HIGH_WATER_BYTES));
}

/**
 * staging_exit() - free the staging of a target.
 * @fs: the target; no I/O is under way.
 *
 * What could not be written is lost here, and said so.
 *
 * Context: may sleep.
 */
void staging_exit(struct fullstripe *fs)
{
	struct staging *st = &fs->staging;
	LIST_HEAD(pages);
	LIST_HEAD(groups);
	unsigned int i, j;

	if (atomic_read(&st->copied))
		DMCRIT("%s: %llu bytes in %d stripes could not be written and are lost",
		       dm_table_device_name(fs->ti->table), staging_staged_bytes(fs),
		       atomic_read(&st->copied));
	for (i = 0; i < ARRAY_SIZE(st->shards); i++) {
		for (j = 0; j < ARRAY_SIZE(st->shards[i].buckets); j++) {
			struct stripe_group *group;
			struct hlist_node *next;

			hlist_for_each_entry_safe(group, next, &st->shards[i].buckets[j], hash) {
				hlist_del_init(&group->hash);
				staging_release(fs, group);
			}
		}
	}
	pool_drain(&st->pages, &pages);
	free_pages_list(&pages);
	pool_drain(&st->groups, &groups);
	free_groups_list(&groups);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Filling: what a partial stripe lacks is read from the lower device, so that the
 * stripe is written whole and md reads nothing.
 *
 * DOC: why this needs no lock
 *
 * A stripe is filled while its group is sealed and in the table. Until the group
 * leaves the table no write bypasses it to the stripe and no newer generation of the
 * stripe is sealed. Writes that passed while the stripes changed are over before the
 * destager, which was held back, seals anything. So what was read stays what the lower
 * device has, and writing it back changes nothing. The same holds where the group has no
 * pages but bios that are held: they are sent as they are, and what was read beside them.
 *
 * An error while reading is none of the writers': the stripe is then written in part.
 */
#include <linux/blkdev.h>
#include <linux/highmem.h>
#include <linux/slab.h>

#include "fullstripe.h"

/* Stripes that are filled at a time, where they fit into the memory. */
#define NR_FILLS	4
#define FILL_BYTES_MAX	(4U << 20)

static unsigned int nr_fills(unsigned int nr_pages)
{
	return clamp_t(unsigned int, FILL_BYTES_MAX / PAGE_SIZE / nr_pages, 1, NR_FILLS);
}

static struct fill *alloc_fill(unsigned int nr_pages)
{
	gfp_t gfp = GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN;
	struct fill *fill = kvzalloc(struct_size(fill, pages, nr_pages), gfp);

	if (!fill)
		return NULL;
	INIT_LIST_HEAD(&fill->link);
	for (; fill->nr_pages < nr_pages; fill->nr_pages++) {
		struct page *page = alloc_page(gfp);

		if (!page)
			break;
		fill->pages[fill->nr_pages] = page;
	}
	return fill;
}

/**
 * fills_free() - free what fills_alloc() made.
 * @fills: list of struct fill, none of them in use; empty afterwards.
 */
void fills_free(struct list_head *fills)
{
	struct fill *fill, *next;

	list_for_each_entry_safe(fill, next, fills, link) {
		list_del(&fill->link);
		while (fill->nr_pages)
			__free_page(fill->pages[--fill->nr_pages]);
		kvfree(fill);
	}
}

/**
 * fills_alloc() - allocate the memory that stripes are filled in.
 * @geo: the stripes.
 * @fills: list that struct fill are added to: at least one, four if they take no
 *	more than 4 MiB together.
 *
 * Context: may sleep.
 * Return: 0, or -ENOMEM and the list is empty.
 */
int fills_alloc(const struct geometry *geo, struct list_head *fills)
{
	unsigned int nr_pages = PAGE_SECTORS_OF(geo->stripe_sectors);
	unsigned int nr = nr_fills(nr_pages);

	while (nr--) {
		struct fill *fill = alloc_fill(nr_pages);

		if (fill)
			list_add(&fill->link, fills);
		if (!fill || fill->nr_pages < nr_pages) {
			fills_free(fills);
			return -ENOMEM;
		}
	}
	return 0;
}

/**
 * fills_bytes() - the memory that fills_alloc() takes.
 * @geo: the stripes.
 *
 * Return: bytes, in whole pages.
 */
u64 fills_bytes(const struct geometry *geo)
{
	unsigned int nr_pages = PAGE_SECTORS_OF(geo->stripe_sectors);

	return (u64)nr_fills(nr_pages) * nr_pages << PAGE_SHIFT;
}

/**
 * fill_is_read() - whether a group's holes were read, and without an error.
 * @group: a group that is being written, or just was.
 *
 * Return: true if so: it is written whole.
 */
bool fill_is_read(const struct stripe_group *group)
{
	return group->fill && !READ_ONCE(group->fill->status);
}

/**
 * fill_page() - the page to write to the lower device.
 * @fs: the target.
 * @group: a group for which fill_is_read() holds, after fill_merge().
 * @index: which page of the stripe.
 *
 * Return: the staged page where all of it is staged, else one of what was read.
 */
struct page *fill_page(const struct fullstripe *fs, const struct stripe_group *group,
		       unsigned int index)
{
	u32 first = index * PAGE_SECTORS;
	u32 end = min_t(u32, first + PAGE_SECTORS, fs->geo.stripe_sectors);

	return find_next_zero_bit(group->dirty, end, first) >= end ?
		group->pages[index] : group->fill->pages[index];
}

/**
 * fill_merge() - let sectors that are staged in a part of a page join what was read.
 * @fs: the target.
 * @group: a group for which fill_is_read() holds.
 */
void fill_merge(const struct fullstripe *fs, struct stripe_group *group)
{
	u32 first = 0, count;

	while (blockmap_next_run(group->dirty, fs->geo.stripe_sectors, &first, &count)) {
		for (; count; count--, first++) {
			unsigned int index = first / PAGE_SECTORS;
			size_t at = (first % PAGE_SECTORS) << SECTOR_SHIFT;
			struct page *page = fill_page(fs, group, index);

			if (page != group->pages[index])
				memcpy_page(page, at, group->pages[index], at, SECTOR_SIZE);
		}
	}
}

static void put(struct stripe_group *group)
{
	if (atomic_dec_and_test(&group->fill->pending))
		queue_work(group->fs->destager.wq, &group->work);
}

static void read_end_io(struct bio *bio)
{
	struct stripe_group *group = bio->bi_private;

	if (bio->bi_status)
		WRITE_ONCE(group->fill->status, bio->bi_status);
	bio_put(bio);
	put(group);
}

static void read_run(struct fullstripe *fs, struct stripe_group *group, u32 first, u32 end)
{
	sector_t base = fs->start + geometry_sector(&fs->geo, group->stripe);

	while (first < end) {
		struct bio *bio = fullstripe_alloc_bio(fs, REQ_OP_READ, base, first, end);

		bio->bi_private = group;
		bio->bi_end_io = read_end_io;
		while (first < end && bio->bi_vcnt < bio->bi_max_vecs)
			first = fullstripe_add_page(bio, group->fill->pages[first / PAGE_SECTORS],
						    first, end);
		atomic_inc(&group->fill->pending);
		submit_bio_noacct(bio);
	}
}

/**
 * fill_read() - read a group's holes: on each member all at once.
 * @fs: the target.
 * @group: sealed, not pinned, with its @fill set; its @work is queued when it is done.
 *
 * What lies between two holes of a member is read along: it takes less time than
 * another request.
 *
 * Context: a worker; may sleep.
 */
void fill_read(struct fullstripe *fs, struct stripe_group *group)
{
	u32 chunk = fs->geo.chunk_sectors;
	struct blk_plug plug;
	u32 at;

	group->fill->status = BLK_STS_OK;
	atomic_set(&group->fill->pending, 1);
	blk_start_plug(&plug);
	for (at = 0; at < fs->geo.stripe_sectors; at += chunk) {
		u32 first, end;

		if (blockmap_hole_span(group->dirty, at, at + chunk, &first, &end))
			read_run(fs, group, first, end);
	}
	blk_finish_plug(&plug);
	put(group);
}

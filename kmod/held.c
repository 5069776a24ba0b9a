// SPDX-License-Identifier: GPL-2.0
/*
 * Which files the throttle holds and held, for who wants to see it.
 *
 * DOC: how long a file is known
 *
 * What is counted of a file goes with its struct dirty_file, which would go as soon as the
 * file is clean: just when somebody asks why it was slow. So one that was held stays in its
 * bucket then, as numbers, up to KEPT_MAX of them there: who goes is the one that was held
 * longest ago. It costs no list and no lock of its own, and a file that was never held
 * notices nothing of it. Nor does one go of which listeners are still to be told.
 *
 * DOC: when listeners are told
 *
 * Bios are parked in .map and let go by the throttle's work, under its locks. What is to be
 * told of that is noted on a list, if anybody listens, and told by a work item: what is then
 * the case, so that a file that comes and goes at its mark makes one event in TELL_MS.
 */
#include <linux/ktime.h>

#include "fullstripe.h"
#include "netlink.h"

/* Clean files that were held, in a bucket. */
#define KEPT_MAX	2

/* Of one file no more is told in this time than one event. */
#define TELL_MS		100

static bool told_lately(const struct holding *h, unsigned long *wait)
{
	unsigned long now = jiffies, pause = msecs_to_jiffies(TELL_MS);

	if (!h->told || !time_in_range(now, h->told, h->told + pause - 1))
		return false;
	*wait = h->told + pause - now;
	return true;
}

/* Bucket locked. The file is held now, or no longer. */
static void note_news(struct fullstripe *fs, struct dirty_file *file, bool begins)
{
	struct holding *h = &file->holding;
	struct throttle *t = &fs->throttle;
	unsigned long wait;
	bool lately;

	if (!netlink_listens())
		return;
	spin_lock(&t->lock);
	h->untold += begins;
	if (list_empty(&h->news))
		list_add_tail(&h->news, &t->news);
	lately = told_lately(h, &wait);
	spin_unlock(&t->lock);
	if (lately)
		queue_delayed_work(system_unbound_wq, &t->tell, wait);
	else
		mod_delayed_work(system_unbound_wq, &t->tell, 0);
}

/* Nanoseconds that a parked bio has been held. Bucket locked; its file is held. */
static u64 held_for(const struct holding *h, struct bio *bio)
{
	return ktime_get_ns() - max(fullstripe_io(bio)->parked_at, h->since);
}

/**
 * held_park() - a bio of a file is being parked.
 * @fs: the target.
 * @file: the file; its bucket is locked.
 * @bio: the bio.
 */
void held_park(struct fullstripe *fs, struct dirty_file *file, struct bio *bio)
{
	struct holding *h = &file->holding;

	fullstripe_io(bio)->parked_at = ktime_get_ns();
	h->parked_bytes += bio->bi_iter.bi_size;
	h->nr_parked++;
	if (h->since)
		count(fs, COUNT_THROTTLED, 1);
}

/**
 * held_begin() - what is parked of a file waits for its mark or a flush, from now on.
 * @fs: the target.
 * @file: the file; its bucket is locked.
 */
void held_begin(struct fullstripe *fs, struct dirty_file *file)
{
	struct holding *h = &file->holding;

	if (h->since)
		return;
	WRITE_ONCE(h->since, ktime_get_ns());
	count(fs, COUNT_THROTTLED, h->nr_parked);
	atomic_inc(&fs->throttle.nr_held);
	h->times++;
	h->last = jiffies;
	note_news(fs, file, true);
}

/**
 * held_end() - a file is held no longer.
 * @fs: the target.
 * @file: the file; its bucket is locked.
 */
void held_end(struct fullstripe *fs, struct dirty_file *file)
{
	struct holding *h = &file->holding;

	if (!h->since)
		return;
	WRITE_ONCE(h->since, 0);
	atomic_dec(&fs->throttle.nr_held);
	note_news(fs, file, false);
}

/**
 * held_unpark() - a parked bio of a file goes on.
 * @fs: the target.
 * @file: the file; its bucket is locked.
 * @bio: the bio.
 */
void held_unpark(struct fullstripe *fs, struct dirty_file *file, struct bio *bio)
{
	struct holding *h = &file->holding;

	if (h->since)
		h->longest = max(h->longest, held_for(h, bio));
	h->parked_bytes -= bio->bi_iter.bi_size;
	if (!--h->nr_parked)
		held_end(fs, file);
}

/**
 * held_surplus() - one that is kept beyond what a bucket keeps.
 * @bucket: the bucket, locked.
 *
 * Return: the one that was held longest ago, to be freed; NULL if there is none, or
 * listeners are still to be told of each: then it is found here later.
 */
struct dirty_file *held_surplus(struct file_bucket *bucket)
{
	struct dirty_file *file, *oldest = NULL;
	unsigned int kept = 0;

	hlist_for_each_entry(file, &bucket->files, hash) {
		if (!file->clean)
			continue;
		kept++;
		/* News come under the bucket's lock; they may be told at any time. */
		if (list_empty_careful(&file->holding.news) &&
		    (!oldest || time_before(file->holding.last, oldest->holding.last)))
			oldest = file;
	}
	return kept > KEPT_MAX ? oldest : NULL;
}

/**
 * held_keep() - a file is clean: keep it if it was held.
 * @bucket: its bucket, locked.
 * @file: the file.
 *
 * Return: the file to be freed, if any: this one, or one that was held before it. There may
 * be more then, see held_surplus().
 */
struct dirty_file *held_keep(struct file_bucket *bucket, struct dirty_file *file)
{
	if (!file->holding.times)
		return file;
	file->clean = true;
	return held_surplus(bucket);
}

/**
 * held_drop() - a file is being freed: nothing is told of it any more.
 * @t: the throttle.
 * @file: the file; its bucket is locked.
 */
void held_drop(struct throttle *t, struct dirty_file *file)
{
	if (!file->holding.times)
		return;
	spin_lock(&t->lock);
	list_del_init(&file->holding.news);
	spin_unlock(&t->lock);
}

/*
 * Telling
 */

/* Without the bucket's lock what is told may be of a moment later: then more is to come. */
static void describe(const struct dirty_file *file, struct file_info *info)
{
	const struct holding *h = &file->holding;
	bool held = READ_ONCE(h->since);

	*info = (struct file_info) {
		.key = file->key,
		.outstanding = READ_ONCE(file->outstanding),
		.staged = READ_ONCE(file->staged),
		.parked = held ? READ_ONCE(h->nr_parked) : 0,
		.over = held && READ_ONCE(file->over),
		.parked_bytes = held ? READ_ONCE(h->parked_bytes) : 0,
		.times = READ_ONCE(h->times),
		.longest = READ_ONCE(h->longest),
	};
}

/* What is to be told next; what has to wait is put aside. False if there is nothing. */
static bool take_news(struct throttle *t, struct file_info *info, struct list_head *later,
		      unsigned long *again)
{
	struct dirty_file *file;
	unsigned long wait;

	spin_lock_irq(&t->lock);
	file = list_first_entry_or_null(&t->news, struct dirty_file, holding.news);
	info->told = false;
	if (file && told_lately(&file->holding, &wait)) {
		list_move_tail(&file->holding.news, later);
		*again = min(*again, wait);
	} else if (file) {
		struct holding *h = &file->holding;

		list_del_init(&h->news);
		describe(file, info);
		info->times = h->untold;
		info->told = h->untold || h->told_held != !!info->parked;
		h->untold = 0;
		h->told_held = info->parked;
		/* 0 means never. */
		h->told = jiffies ?: 1;
	}
	spin_unlock_irq(&t->lock);
	return file;
}

/**
 * held_tell() - tell listeners which files are held, and which no longer.
 * @work: the throttle's.
 */
void held_tell(struct work_struct *work)
{
	struct throttle *t = container_of(to_delayed_work(work), struct throttle, tell);
	struct fullstripe *fs = container_of(t, struct fullstripe, throttle);
	unsigned long again = MAX_JIFFY_OFFSET;
	struct file_info info;
	LIST_HEAD(later);

	while (take_news(t, &info, &later, &again)) {
		if (info.told)
			netlink_throttle(fs, &info);
		cond_resched();
	}
	spin_lock_irq(&t->lock);
	list_splice(&later, &t->news);
	spin_unlock_irq(&t->lock);
	if (again != MAX_JIFFY_OFFSET)
		queue_delayed_work(system_unbound_wq, &t->tell, again);
}

/*
 * Listing
 */

/**
 * held_next() - the file that is listed next.
 * @fs: the target.
 * @at: where the list stands; zeroes at its beginning. Moves on.
 * @info: set to what is known of the file.
 *
 * Each file that is known all the time comes once. A bucket is locked for no longer than a
 * write of its last file locks it.
 *
 * Context: any.
 * Return: false if there is none left.
 */
bool held_next(struct fullstripe *fs, struct file_cursor *at, struct file_info *info)
{
	for (; at->bucket < ARRAY_SIZE(fs->throttle.buckets); at->bucket++, at->serial = 0) {
		struct file_bucket *bucket = &fs->throttle.buckets[at->bucket];
		struct dirty_file *file;
		unsigned long flags;
		struct bio *first;

		if (hlist_empty(&bucket->files))
			continue;
		spin_lock_irqsave(&bucket->lock, flags);
		/* Newest first: those before the last one that was listed have come since. */
		hlist_for_each_entry(file, &bucket->files, hash) {
			if (at->serial && file->serial >= at->serial)
				continue;
			describe(file, info);
			first = bio_list_peek(&file->parked);
			if (first && file->holding.since)
				info->wait = held_for(&file->holding, first);
			info->longest = max(info->longest, info->wait);
			at->serial = file->serial;
			spin_unlock_irqrestore(&bucket->lock, flags);
			return true;
		}
		spin_unlock_irqrestore(&bucket->lock, flags);
	}
	return false;
}

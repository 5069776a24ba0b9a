// SPDX-License-Identifier: GPL-2.0
/*
 * The throttle: bounds what one file has accepted and not yet on disk.
 *
 * DOC: what is counted
 *
 * A write counts for its file from when it is taken until it is on the lower device: as
 * bytes in flight while its bio is not completed, and as whole pages while it is staged.
 * What is written again while it is staged takes no more memory, and does not count twice.
 *
 * DOC: who waits
 *
 * A file that has reached the high water mark has its next bios parked, uncompleted: the
 * pages stay under writeback, and the kernel holds back who dirties more of that file, and
 * nobody else. At the low water mark they go on, until the file is at the high one again;
 * first come, first served, and by turns with other files. (As ufs_HW and ufs_LW of Solaris,
 * McDougall 1999, which let all go on that wait: with bios instead of processes that would
 * be more than the high water mark.) They go on above the low one, too, where only partial
 * stripes are left and there is room below the high one: who has begun many makes them whole
 * there, and they need not be written as they are. Whole stripes wait while it is quiet, too
 * (quiet.c); what it is quiet for, a write with FUA, waits for the mark alone, and before the
 * others of its file; and for its sake it is quiet only when it goes on. Nobody waits while
 * the target is failing, being suspended or changing its stripes.
 *
 * DOC: who leaves together
 *
 * Whole stripes of the page cache wait for each other, too, where disks turn (is_paced()). md
 * takes whatever comes until its stripe cache is full, and from then on row by row as much as
 * was written, so that members get single rows. With half of the cache in use at the most the
 * next ones find place at once: half of them leave under one plug when half are written, and
 * what lies side by side on a member is one request. A part of a stripe that goes on where the
 * last of them ends waits, too: if the rest comes they are a whole stripe, which is not copied,
 * and has no requests of its own that members are busy with when the others come. Nobody is told
 * of these waits: without them who submits would wait in md.
 *
 * DOC: whose a write is
 *
 * A page under writeback belongs to the inode that its mapping names, and truncation and
 * eviction wait for it; so does RCU, should it be direct I/O from such a page of another
 * file, which then counts for that one. All other pages can be anything, also a file that
 * is mapped into memory or a file system's own: so these count only where they are the
 * memory of a process, for the thread group that submits. Metadata, journals, swap and what
 * kernel threads write without a mapping never wait.
 */
#include <linux/blkdev.h>
#include <linux/hash.h>
#include <linux/pagemap.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "fullstripe.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/*
 * A file that waits has no whole stripes on their way if stripes of others were written so
 * long after its last one. Longer than a disk takes for a request. Where nothing at all is on
 * its way nobody needs to wait for that.
 */
#define STUCK_MS	50

/* Half of md's stripe cache, if it is the default's (NR_STRIPES in drivers/md/raid5.c). */
#define PACED_ROWS	(256 / 2)

/* So much of a file leaves, a part at a time, before what others have waiting. */
#define TURN_BYTES	SZ_4M

static struct kmem_cache *cache;

/**
 * throttle_init_cache() - set up what all targets allocate their dirty files from.
 *
 * Return: 0 or -ENOMEM.
 */
int throttle_init_cache(void)
{
	cache = kmem_cache_create("fullstripe_dirty_file", sizeof(struct dirty_file), 0, 0, NULL);
	return cache ? 0 : -ENOMEM;
}

/**
 * throttle_exit_cache() - the opposite, when no target is left.
 */
void throttle_exit_cache(void)
{
	kmem_cache_destroy(cache);
}

/* Nobody is to wait now; what was parked goes on. */
static bool is_off(const struct fullstripe *fs)
{
	return !setting(fs, SETTING_FILE_HIGH_WATER_BYTES) || READ_ONCE(fs->suspending) ||
	       atomic_read(&fs->destager.failing) || staging_gate(fs) != GATE_OPEN;
}

/* So many whole stripes may be in flight now, in bytes. */
static u64 whole_max(const struct fullstripe *fs)
{
	return quiet_max_stripes(fs) * ((u64)fs->geo.stripe_sectors << SECTOR_SHIFT);
}

/* Whether whole stripes of a file leave together. */
static bool is_paced(const struct fullstripe *fs, const struct file_key *key)
{
	return key->dev && destager_gathers(fs);
}

/* So many of those may be in flight, in bytes. */
static u64 paced_max(const struct fullstripe *fs)
{
	u32 rows = DIV_ROUND_UP(fs->geo.chunk_sectors, ROW_SECTORS);

	return PACED_ROWS / rows * ((u64)fs->geo.stripe_sectors << SECTOR_SHIFT);
}

/* Whether whole stripes that wait for others in flight can leave now, by what is in flight. */
static bool whole_can_leave(const struct fullstripe *fs, bool paced)
{
	const struct throttle *t = &fs->throttle;

	return atomic64_read(&t->whole_bytes) < whole_max(fs) &&
	       (!paced || atomic64_read(&t->paced_bytes) <= paced_max(fs) / 2);
}

/* Whether whole stripes have to wait until more can leave together. Bucket locked. */
static bool must_gather(struct fullstripe *fs, const struct dirty_file *file)
{
	struct throttle *t = &fs->throttle;
	u64 max = paced_max(fs), bytes = atomic64_read(&t->paced_bytes);

	/* Who comes does not pass those who wait. */
	if (bio_list_empty(&file->parked))
		return bytes >= max || atomic_read(&t->nr_waiting);
	t->filling = bytes < max && (t->filling || bytes <= max / 2);
	return !t->filling;
}

/* Whether a file's next bio has to wait. Bucket locked. */
static bool must_wait(struct fullstripe *fs, struct dirty_file *file,
		      const struct fullstripe_io *io)
{
	bool reached = file->outstanding >= setting(fs, SETTING_FILE_HIGH_WATER_BYTES);

	if (is_off(fs))
		return false;
	WRITE_ONCE(file->over, reached || (file->over && !bio_list_empty(&file->parked)));
	if (file->over || (!io->whole && !io->paced))
		return file->over;
	return atomic64_read(&fs->throttle.whole_bytes) >= whole_max(fs) ||
	       (io->paced && must_gather(fs, file));
}

/* Whose a write is; false if nobody's. In .map only: later its pages may be gone. */
static bool identify(struct bio *bio, struct file_key *key)
{
	/* Not bi_io_vec[0]: bios of dm are advanced. */
	struct folio *folio = page_folio(bio_iter_page(bio, bio->bi_iter));
	struct address_space *mapping;
	struct inode *inode;
	bool known;

	if (bio->bi_opf & (REQ_META | REQ_PRIO | REQ_SWAP) || folio_test_slab(folio))
		return false;
	if (!folio_test_writeback(folio) || folio_test_swapbacked(folio)) {
		if (current->flags & PF_KTHREAD ||
		    (!folio_test_swapbacked(folio) && !folio_test_hugetlb(folio)))
			return false;
		*key = (struct file_key) { .id = current->tgid };
		return true;
	}
	rcu_read_lock();
	mapping = folio_mapping(folio);
	inode = mapping ? READ_ONCE(mapping->host) : NULL;
	known = inode && S_ISREG(inode->i_mode);
	if (known)
		*key = (struct file_key) {
			.id = inode->i_ino,
			.generation = inode->i_generation,
			.dev = inode->i_sb->s_dev,
		};
	rcu_read_unlock();
	return known;
}

static struct file_bucket *bucket_of(struct fullstripe *fs, const struct file_key *key)
{
	u64 mix = key->id ^ (u64)key->dev << 32 ^ key->generation;

	return &fs->throttle.buckets[hash_64(mix, FILE_BITS)];
}

static struct dirty_file *find_file(struct file_bucket *bucket, const struct file_key *key)
{
	struct dirty_file *file;

	hlist_for_each_entry(file, &bucket->files, hash)
		if (file->key.id == key->id && file->key.dev == key->dev &&
		    file->key.generation == key->generation)
			return file;
	return NULL;
}

/* Bucket locked. NULL if there is no memory: then the write does not count. */
static struct dirty_file *add_file(struct fullstripe *fs, struct file_bucket *bucket,
				   const struct file_key *key)
{
	struct dirty_file *file = kmem_cache_zalloc(cache, GFP_NOWAIT | __GFP_NOWARN);

	if (!file)
		return NULL;
	file->key = *key;
	file->serial = ++bucket->serial;
	bio_list_init(&file->parked);
	INIT_LIST_HEAD(&file->link);
	INIT_LIST_HEAD(&file->holding.news);
	hlist_add_head(&file->hash, &bucket->files);
	atomic_inc(&fs->throttle.nr_files);
	return file;
}

/* Bucket locked. */
static void free_file(struct fullstripe *fs, struct dirty_file *file)
{
	held_drop(&fs->throttle, file);
	hlist_del(&file->hash);
	kmem_cache_free(cache, file);
}

/* Bucket locked. A file that was only kept is dirty again. */
static void reuse_file(struct fullstripe *fs, struct dirty_file *file)
{
	file->clean = false;
	atomic_inc(&fs->throttle.nr_files);
}

/* Bucket locked. */
static void charge(struct fullstripe *fs, struct dirty_file *file, s64 bytes)
{
	s64 peak = atomic64_read(&fs->throttle.peak);

	file->outstanding += bytes;
	while ((s64)file->outstanding > peak &&
	       !atomic64_try_cmpxchg(&fs->throttle.peak, &peak, file->outstanding))
		;
}

/* Less is outstanding. Bucket locked; the file may be gone afterwards. True if it goes on. */
static bool settle(struct fullstripe *fs, struct dirty_file *file)
{
	struct throttle *t = &fs->throttle;
	bool goes_on = false;

	if (!bio_list_empty(&file->parked)) {
		WRITE_ONCE(file->moved, jiffies);
		if (!file->over || file->outstanding > setting(fs, SETTING_FILE_LOW_WATER_BYTES))
			return false;
		WRITE_ONCE(file->over, false);
		spin_lock(&t->lock);
		goes_on = !file->going;
		/* Who goes on already keeps his turn. */
		if (goes_on) {
			file->going = true;
			list_move_tail(&file->link, &t->going);
		}
		spin_unlock(&t->lock);
	} else if (!file->outstanding) {
		struct file_bucket *bucket = bucket_of(fs, &file->key);

		atomic_dec(&t->nr_files);
		for (file = held_keep(bucket, file); file; file = held_surplus(bucket))
			free_file(fs, file);
	}
	return goes_on;
}

/* What is counted in a file changes; the file may be gone afterwards. */
static void recount(struct fullstripe *fs, struct dirty_file *file, s64 outstanding, s64 staged)
{
	struct file_bucket *bucket = bucket_of(fs, &file->key);
	unsigned long flags;
	bool goes_on;

	spin_lock_irqsave(&bucket->lock, flags);
	file->staged += staged;
	charge(fs, file, outstanding);
	goes_on = settle(fs, file);
	spin_unlock_irqrestore(&bucket->lock, flags);
	if (goes_on)
		queue_work(fs->destager.wq, &fs->throttle.work);
}

/* More whole stripes are in flight. */
static void begin_whole(struct fullstripe *fs, const struct fullstripe_io *io)
{
	if (!io->whole)
		return;
	atomic64_add(io->charged, &fs->throttle.whole_bytes);
	if (io->paced)
		atomic64_add(io->charged, &fs->throttle.paced_bytes);
}

/* Fewer whole stripes are in flight. */
static void end_whole(struct fullstripe *fs, struct fullstripe_io *io, u32 bytes)
{
	struct throttle *t = &fs->throttle;
	u64 max;

	if (!io->whole)
		return;
	atomic64_sub(bytes, &t->whole_bytes);
	if (io->paced)
		atomic64_sub(bytes, &t->paced_bytes);
	/* Who parks a bio looks at these afterwards; and the last of those that end sees all. */
	smp_mb__after_atomic();
	/*
	 * What leaves together does so when half are written. Others go on as soon as there is a
	 * place: whose stripe has just ended may be back for it before there are two.
	 */
	max = io->paced ? whole_max(fs) / 2 + 1 : whole_max(fs);
	if (atomic_read(&t->nr_waiting) && atomic64_read(&t->whole_bytes) < max &&
	    atomic64_read(&t->paced_bytes) <= paced_max(fs) / 2)
		throttle_wake(fs);
}

/* What it is quiet for goes before the others of its file. Bucket locked. */
static void add_parked(struct dirty_file *file, struct bio *bio)
{
	struct bio *last = NULL, *next = bio_list_peek(&file->parked);

	while (next && fullstripe_io(bio)->awaited && fullstripe_io(next)->awaited) {
		last = next;
		next = next->bi_next;
	}
	if (!fullstripe_io(bio)->awaited || !next) {
		bio_list_add(&file->parked, bio);
	} else if (!last) {
		bio_list_add_head(&file->parked, bio);
	} else {
		bio->bi_next = next;
		last->bi_next = bio;
	}
}

/* Whether who waits does so for more than others that leave with it. Bucket locked. */
static bool is_held(const struct fullstripe *fs, const struct dirty_file *file)
{
	return file->over || quiet_is_near(fs);
}

/* Bucket locked. True if it is the first one of its file. */
static bool park(struct fullstripe *fs, struct dirty_file *file, struct bio *bio)
{
	bool first = bio_list_empty(&file->parked);
	struct throttle *t = &fs->throttle;

	trace_fullstripe_park(fs, file, bio);
	held_park(fs, file, bio);
	if (is_held(fs, file))
		held_begin(fs, file);
	atomic_inc(&fs->staging.nr_parked);
	if (first) {
		WRITE_ONCE(file->moved, jiffies);
		spin_lock(&t->lock);
		list_add_tail(&file->link, &t->held);
		spin_unlock(&t->lock);
		atomic_inc(&t->nr_waiting);
	}
	add_parked(file, bio);
	return first;
}

/*
 * Whether a bio need not stand behind those of its file that are parked. What is no whole stripe,
 * and no part of one, does not wait for more to leave with. Bucket locked.
 */
static bool may_pass(const struct dirty_file *file, const struct fullstripe_io *io)
{
	return bio_list_empty(&file->parked) || io->awaited ||
	       (!io->whole && !io->paced && !file->holding.since);
}

/* Whether a bio goes on where what waits of its file ends. Bucket locked. */
static bool continues(const struct dirty_file *file, const struct bio *bio)
{
	struct bio *last = file->parked.tail;

	return last && fullstripe_io(last)->paced && bio_end_sector(last) == bio->bi_iter.bi_sector;
}

/*
 * A stripe is in two bios where the pages of the first cease to lie side by side in memory. Once
 * all its parts are parked they are a whole stripe. Bucket locked.
 */
static void join_parts(const struct fullstripe *fs, struct bio *first)
{
	u32 width = fs->geo.stripe_sectors;
	u32 in_stripe, sectors = 0;
	struct bio *bio, *end;

	if (!fullstripe_io(first)->paced || fullstripe_io(first)->whole)
		return;
	geometry_stripe(&fs->geo, dm_target_offset(fs->ti, first->bi_iter.bi_sector), &in_stripe);
	if (in_stripe)
		return;
	for (end = first; end && sectors < width; end = end->bi_next) {
		if (!fullstripe_io(end)->paced ||
		    end->bi_iter.bi_sector != first->bi_iter.bi_sector + sectors)
			return;
		sectors += bio_sectors(end);
	}
	if (sectors < width)
		return;
	for (bio = first; bio != end; bio = bio->bi_next) {
		fullstripe_io(bio)->whole = true;
		fullstripe_io(bio)->rest = bio != first;
	}
}

/**
 * throttle_admit() - count a write for its file, or park it.
 * @fs: the target.
 * @bio: a write with data.
 * @sectors: so many of it would be taken.
 * @in_stripe: so many of them lie in the first stripe; a bio that is parked is cut there.
 *
 * Context: .map, in the RCU read section in which the stripes were looked up; does not
 * sleep.
 * Return: false if it was parked: it is no longer the caller's.
 */
bool throttle_admit(struct fullstripe *fs, struct bio *bio, u32 sectors, u32 in_stripe)
{
	u64 high = setting(fs, SETTING_FILE_HIGH_WATER_BYTES);
	struct fullstripe_io *io = fullstripe_io(bio);
	struct file_bucket *bucket;
	struct dirty_file *file;
	struct file_key key;
	unsigned long flags;
	bool first = false;
	bool admit, whole, paced;

	if (!high || !identify(bio, &key))
		return true;
	bucket = bucket_of(fs, &key);
	spin_lock_irqsave(&bucket->lock, flags);
	file = find_file(bucket, &key) ?: add_file(fs, bucket, &key);
	if (!file) {
		spin_unlock_irqrestore(&bucket->lock, flags);
		return true;
	}
	if (file->clean)
		reuse_file(fs, file);
	io->file = file;
	/* What it is quiet for does not stand back itself, nor do others behind it. */
	io->whole = in_stripe == fs->geo.stripe_sectors && !io->awaited;
	whole = io->whole;
	paced = !io->awaited && is_paced(fs, &key) && (whole || continues(file, bio));
	io->paced = paced;
	admit = is_off(fs) || (may_pass(file, io) && !must_wait(fs, file, io));
	if (admit) {
		io->charged = sectors << SECTOR_SHIFT;
		charge(fs, file, io->charged);
		begin_whole(fs, io);
	} else {
		fullstripe_accept(bio, in_stripe);
		first = park(fs, file, bio);
	}
	spin_unlock_irqrestore(&bucket->lock, flags);
	if (admit)
		return true;

	/* From here on the bio may be gone. */
	/* Who changes this looks for parked bios afterwards: one of the two sees the other. */
	smp_mb();
	if (is_off(fs) || setting(fs, SETTING_FILE_HIGH_WATER_BYTES) != high)
		throttle_recheck(fs);
	else if ((whole || paced) && whole_can_leave(fs, paced))
		throttle_wake(fs);
	if (first)
		destager_kick(fs);
	return false;
}

/**
 * throttle_trim() - less of a bio was taken than was counted.
 * @fs: the target.
 * @bio: the bio, as long as it is now.
 *
 * Context: any; does not sleep.
 */
void throttle_trim(struct fullstripe *fs, struct bio *bio)
{
	struct fullstripe_io *io = fullstripe_io(bio);
	u32 less = io->charged - bio->bi_iter.bi_size;

	if (!io->file || !less)
		return;
	io->charged -= less;
	end_whole(fs, io, less);
	recount(fs, io->file, -(s64)less, 0);
}

/**
 * throttle_stage() - a bio is being staged: what counts from now on are its pages.
 * @fs: the target.
 * @io: of the bio.
 * @pages: how many it took; their private is @io's file. They are not released before
 *	this returns.
 *
 * Context: any; does not sleep.
 */
void throttle_stage(struct fullstripe *fs, struct fullstripe_io *io, unsigned int pages)
{
	s64 bytes = (s64)pages << PAGE_SHIFT;

	if (!io->file)
		return;
	end_whole(fs, io, io->charged);
	recount(fs, io->file, bytes - io->charged, bytes);
	io->file = NULL;
}

/**
 * throttle_stall() - a bio that was admitted waits for memory: it is not in flight.
 * @fs: the target.
 * @io: of the bio.
 *
 * Whole stripes of others do not wait for it. It counts for its file as before.
 *
 * Context: any; does not sleep.
 */
void throttle_stall(struct fullstripe *fs, struct fullstripe_io *io)
{
	if (!io->file)
		return;
	end_whole(fs, io, io->charged);
	io->whole = false;
}

/**
 * throttle_end() - a bio completes.
 * @fs: the target.
 * @io: of the bio.
 *
 * Context: any, also interrupt.
 */
void throttle_end(struct fullstripe *fs, struct fullstripe_io *io)
{
	if (!io->file)
		return;
	end_whole(fs, io, io->charged);
	recount(fs, io->file, -(s64)io->charged, 0);
}

/**
 * throttle_release() - pages are no longer staged.
 * @fs: the target.
 * @pages: list of them.
 *
 * Context: destager's work.
 */
void throttle_release(struct fullstripe *fs, struct list_head *pages)
{
	struct dirty_file *last = NULL;
	struct page *page;
	s64 bytes = 0;

	list_for_each_entry(page, pages, lru) {
		struct dirty_file *file = (struct dirty_file *)page_private(page);

		if (file != last) {
			if (last)
				recount(fs, last, -bytes, -bytes);
			bytes = 0;
		}
		bytes += PAGE_SIZE;
		last = file;
		set_page_private(page, 0);
	}
	if (last)
		recount(fs, last, -bytes, -bytes);
}

/*
 * Whether the others are next: what lies side by side on a member is one request only if not
 * too much of others comes between, and a stripe is whole only if none of its parts is left.
 */
static bool is_turn_over(struct fullstripe *fs, struct dirty_file *file,
			 const struct fullstripe_io *io)
{
	struct throttle *t = &fs->throttle;

	if (t->turn != file)
		t->turn_bytes = 0;
	t->turn = file;
	t->turn_bytes += io->charged;
	if (fullstripe_io(bio_list_peek(&file->parked))->rest)
		return false;
	if (io->paced && t->turn_bytes < TURN_BYTES && !quiet_is_near(fs))
		return false;
	t->turn = NULL;
	return true;
}

/* The next parked bio of a file that goes on; counted. NULL if it has to wait again. */
static struct bio *next_parked(struct fullstripe *fs, struct dirty_file *file)
{
	struct file_bucket *bucket = bucket_of(fs, &file->key);
	struct throttle *t = &fs->throttle;
	struct fullstripe_io *io;
	struct bio *bio = NULL;

	spin_lock_irq(&bucket->lock);
	spin_lock(&t->lock);
	if (file->anew)
		WRITE_ONCE(file->over, false);
	file->anew = false;
	io = fullstripe_io(bio_list_peek(&file->parked));
	if (io->rest || !must_wait(fs, file, io)) {
		join_parts(fs, bio_list_peek(&file->parked));
		bio = bio_list_pop(&file->parked);
		quiet_begin(fs, io);
		trace_fullstripe_unpark(fs, file, bio);
		io->charged = bio->bi_iter.bi_size;
		charge(fs, file, io->charged);
		begin_whole(fs, io);
	}
	file->pressing = false;
	if (!bio) {
		file->going = false;
		/* It is the first of those that wait if it is still its turn. */
		if (t->turn == file)
			list_move(&file->link, &t->held);
		else
			list_move_tail(&file->link, &t->held);
	} else if (bio_list_empty(&file->parked)) {
		file->going = false;
		list_del_init(&file->link);
		atomic_dec(&t->nr_waiting);
	} else if (is_turn_over(fs, file, io)) {
		list_move_tail(&file->link, &t->going);
	}
	spin_unlock(&t->lock);
	if (bio)
		held_unpark(fs, file, bio);
	else if (is_held(fs, file))
		held_begin(fs, file);
	else
		held_end(fs, file);
	spin_unlock_irq(&bucket->lock);
	return bio;
}

static void throttle_work(struct work_struct *work)
{
	struct throttle *t = container_of(work, struct throttle, work);
	struct fullstripe *fs = container_of(t, struct fullstripe, throttle);
	unsigned long sent = jiffies;
	struct bio_list straight;

	bio_list_init(&straight);
	t->filling = false;
	for (;;) {
		struct dirty_file *file;
		struct bio *bio;

		spin_lock_irq(&t->lock);
		file = list_first_entry_or_null(&t->going, struct dirty_file, link);
		spin_unlock_irq(&t->lock);
		if (!file)
			break;
		/* It stays: only this work takes what it has parked. */
		bio = next_parked(fs, file);
		if (bio)
			staging_go_on(fs, bio, &straight);
		/* There may always be others that go on. */
		if (!bio || time_after(jiffies, sent + HZ)) {
			staging_send_straight(fs, &straight);
			sent = jiffies;
		}
		if (!bio)
			destager_kick(fs);
		cond_resched();
	}
	staging_send_straight(fs, &straight);
}

/**
 * throttle_recheck() - the marks changed, or whether they count: look who can go on.
 * @fs: the target.
 *
 * Context: any.
 */
void throttle_recheck(struct fullstripe *fs)
{
	struct throttle *t = &fs->throttle;
	struct dirty_file *file;
	unsigned long flags;

	spin_lock_irqsave(&t->lock, flags);
	list_splice_tail_init(&t->held, &t->going);
	list_for_each_entry(file, &t->going, link) {
		file->going = true;
		file->anew = true;
	}
	spin_unlock_irqrestore(&t->lock, flags);
	queue_work(fs->destager.wq, &t->work);
}

/**
 * throttle_wake() - files may go on that wait, but not for their low water mark.
 * @fs: the target.
 *
 * Context: any.
 */
void throttle_wake(struct fullstripe *fs)
{
	struct throttle *t = &fs->throttle;
	struct dirty_file *file, *next;
	unsigned long flags;
	bool goes_on = false;

	spin_lock_irqsave(&t->lock, flags);
	list_for_each_entry_safe(file, next, &t->held, link) {
		if (READ_ONCE(file->over))
			continue;
		goes_on = true;
		file->going = true;
		list_move_tail(&file->link, &t->going);
	}
	spin_unlock_irqrestore(&t->lock, flags);
	if (goes_on)
		queue_work(fs->destager.wq, &t->work);
}

/* Whether only partial stripes are left of what a file has outstanding. Throttle locked. */
static bool has_only_partial(const struct dirty_file *file, bool still, unsigned long written)
{
	unsigned long stuck = msecs_to_jiffies(STUCK_MS);

	/* What it has in flight, above all whole stripes that are not staged, ends by itself. */
	return READ_ONCE(file->outstanding) <= READ_ONCE(file->staged) &&
	       (still || time_after_eq(written, READ_ONCE(file->moved) + stuck));
}

/*
 * Whether a file has room below its high water mark for what makes its partial stripes whole:
 * a stripe or an eighth of what lies between the marks, whichever is more. It waits each time
 * for all that is whole to be written, so less would make it slow, and then partial ones are
 * written instead.
 */
static bool has_room_to_fill(const struct fullstripe *fs, const struct dirty_file *file)
{
	u64 high = setting(fs, SETTING_FILE_HIGH_WATER_BYTES);
	u64 low = setting(fs, SETTING_FILE_LOW_WATER_BYTES);
	u64 room = max((u64)fs->geo.stripe_sectors << SECTOR_SHIFT, (high - low) / 8);

	return READ_ONCE(file->outstanding) + room <= high;
}

/**
 * throttle_needs() - what the files that wait need of the destager.
 * @fs: the target.
 * @still: nothing is being written, and no whole stripe is left.
 * @written: jiffies when a stripe was last written that nobody waited for.
 * @again: set to the jiffies until this is to be asked again, if less.
 *
 * What is in flight or held (writethrough) ends by itself; what is staged may not. Who has only
 * partial stripes left, and room for more, goes on.
 *
 * Context: destager's work.
 * Return: what they need most.
 */
enum throttle_need throttle_needs(struct fullstripe *fs, bool still, unsigned long written,
				  unsigned long *again)
{
	u64 low = setting(fs, SETTING_FILE_LOW_WATER_BYTES);
	enum throttle_need need = THROTTLE_NOTHING;
	struct throttle *t = &fs->throttle;
	struct dirty_file *file, *next;
	bool goes_on = false;

	if (!atomic_read(&t->nr_waiting))
		return THROTTLE_NOTHING;
	*again = min(*again, msecs_to_jiffies(STUCK_MS));
	spin_lock_irq(&t->lock);
	list_for_each_entry_safe(file, next, &t->held, link) {
		if (!READ_ONCE(file->over) || READ_ONCE(file->staged) <= low)
			continue;
		if (!file->pressing && has_only_partial(file, still, written)) {
			if (has_room_to_fill(fs, file)) {
				file->going = true;
				file->anew = true;
				list_move_tail(&file->link, &t->going);
				goes_on = true;
				continue;
			}
			WRITE_ONCE(file->pressing, true);
		}
		need = max(need, file->pressing ? THROTTLE_PARTIAL : THROTTLE_WHOLE);
	}
	spin_unlock_irq(&t->lock);
	if (goes_on)
		queue_work(fs->destager.wq, &t->work);
	return need;
}

/**
 * throttle_setup() - make a target's throttle.
 * @throttle: the throttle.
 */
void throttle_setup(struct throttle *throttle)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(throttle->buckets); i++)
		spin_lock_init(&throttle->buckets[i].lock);
	spin_lock_init(&throttle->lock);
	INIT_LIST_HEAD(&throttle->held);
	INIT_LIST_HEAD(&throttle->going);
	INIT_WORK(&throttle->work, throttle_work);
	INIT_LIST_HEAD(&throttle->news);
	INIT_DELAYED_WORK(&throttle->tell, held_tell);
}

/**
 * throttle_exit() - forget all files.
 * @fs: the target; nothing is outstanding or staged any more.
 *
 * Context: may sleep.
 */
void throttle_exit(struct fullstripe *fs)
{
	struct throttle *t = &fs->throttle;
	struct dirty_file *file;
	struct hlist_node *next;
	unsigned int i;

	cancel_delayed_work_sync(&t->tell);
	for (i = 0; i < ARRAY_SIZE(t->buckets); i++) {
		spin_lock_irq(&t->buckets[i].lock);
		hlist_for_each_entry_safe(file, next, &t->buckets[i].files, hash)
			free_file(fs, file);
		spin_unlock_irq(&t->buckets[i].lock);
	}
}

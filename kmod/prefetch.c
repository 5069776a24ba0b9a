// SPDX-License-Identifier: GPL-2.0
/*
 * Prefetch: what streams of small reads will ask for is read in clusters, whole steps
 * of the array at a time, and kept until it was read.
 *
 * DOC: when prefetched data is stale
 *
 * A cluster is in the table before the lower device is asked for it, and leaves it
 * when the lower device changes. So a read that finds one there gets all that had
 * completed before the read came:
 *
 * - What is staged is looked for first, by staging_read(). A group that was written
 *   leaves the staging only when no cluster of its stripe is in the table any more.
 * - Writes and discards that pass staging, and held ones, take the clusters out when
 *   they come, and once more before their completion is told, as some may have been
 *   put in meanwhile that read the old contents.
 * - Nothing is kept while the target is suspended, or the stripes change.
 *
 * Reads that wait for a cluster came before it was taken out: it may answer them.
 *
 * DOC: errors
 *
 * Who waits for a cluster that could not be read reads from the lower device itself.
 * Prefetching is not marked REQ_RAHEAD: md refuses that when it has no stripe free, and a
 * degraded array has none as soon as there are some streams.
 */
#include <linux/blkdev.h>
#include <linux/hash.h>
#include <linux/highmem.h>
#include <linux/list.h>
#include <linux/slab.h>

#include "fullstripe.h"

/* What is read at a time for one stream. */
#define BATCH_BYTES_MAX		(4U << 20)
#define BATCH_STEPS_MAX		32U

/* Of larger arrays chunks are not read in the order of the members. */
#define MEMBERS_MAX		32U

/* Who was not read for so long is no stream any more, and its data not wanted. */
#define STREAM_IDLE_MS		5000

/* Who was not read for so long gives its place to a new stream where there is no other. */
#define STREAM_PAUSE_MS		1000

/* Entries that are looked at under the lock when streams are listed. */
#define LOOK_AT_ONCE		32U

/* Within this time a stream's data is not taken for another. */
#define STREAM_BUSY_MS		3000

/**
 * struct read_cluster - a step of the array, or a part of it, that was read ahead.
 *
 * Under the lock of struct prefetch:
 * @hash: in the table; not while it is free or stale.
 * @link: in one of the lists of struct prefetch; not while it is stale and in use.
 * @step: number of the step.
 * @from: first sector of the step that it holds.
 * @to: the one behind the last.
 * @users: copies under way, and one while it is being read.
 * @ready: it has been read.
 * @last: it is the last one of what was planned at a time.
 * @late: somebody had to wait for it.
 * @hits: sectors that were read from it.
 * @touched: jiffies when it was last read from, or put in.
 * @stream: index of the stream that it is for.
 * @generation: of that stream.
 * @waiting: reads that wait for it.
 *
 * @pending: bios in flight, and one for the submitter.
 * @status: an error of them.
 * @work: tells its readers.
 * @fs: the target.
 * @nr_pages: entries of @pages.
 * @pages: a page for each one of a step.
 */
struct read_cluster {
	struct hlist_node hash;
	struct list_head link;
	u64 step;
	u32 from;
	u32 to;
	unsigned int users;
	bool ready;
	bool last;
	bool late;
	u32 hits;
	unsigned long touched;
	u16 stream;
	u16 generation;
	struct bio_list waiting;

	atomic_t pending;
	blk_status_t status;
	struct work_struct work;
	struct fullstripe *fs;
	unsigned int nr_pages;
	struct page *pages[];
};

/**
 * struct reader - reads ahead for one stream. Each has its own, as it sleeps where the
 *	lower device takes no more.
 * @work: does it.
 * @fs: the target.
 */
struct reader {
	struct work_struct work;
	struct fullstripe *fs;
};

static struct hlist_head *bucket_of(struct prefetch *pf, u64 step)
{
	return &pf->buckets[hash_64(step, READ_BUCKET_BITS)];
}

/* The one that holds a sector of a step, or NULL. Locked. */
static struct read_cluster *find_cluster(struct prefetch *pf, u64 step, u32 sector)
{
	struct read_cluster *cluster;

	hlist_for_each_entry(cluster, bucket_of(pf, step), hash)
		if (cluster->step == step && cluster->from <= sector && sector < cluster->to)
			return cluster;
	return NULL;
}

/* Where the first sector from @from to @to is that some cluster holds, or @to. Locked. */
static u32 find_held(struct prefetch *pf, u64 step, u32 from, u32 to)
{
	struct read_cluster *cluster;

	hlist_for_each_entry(cluster, bucket_of(pf, step), hash)
		if (cluster->step == step && cluster->from < to && from < cluster->to)
			to = max(cluster->from, from);
	return to;
}

static struct stream *stream_of(struct prefetch *pf, const struct read_cluster *cluster)
{
	struct stream *stream = &pf->streams->entry[cluster->stream];

	return stream->live && stream->generation == cluster->generation ? stream : NULL;
}

/*
 * Whether the members have enough to do: then fewer, larger requests are worth more than
 * that all of them read for one stream at the same time.
 */
static bool is_crowded(const struct fullstripe *fs)
{
	return fs->prefetch.streams->nr > fs->geo.data_members;
}

/*
 * Steps that may be planned at a time for a stream: half of its share of the memory. The
 * other half is for what is left of those before, and for what is begun behind them.
 */
static unsigned int most_steps(const struct prefetch *pf)
{
	unsigned int share = pf->max_clusters / 2 / max(pf->streams->nr, 1U);
	unsigned int most = BATCH_BYTES_MAX / (pf->step_sectors << SECTOR_SHIFT);

	return clamp(share, 1U, clamp(most, 1U, BATCH_STEPS_MAX));
}

/* Steps that may be left when more are planned. */
static unsigned int most_left(const struct fullstripe *fs)
{
	unsigned int most = most_steps(&fs->prefetch);

	return is_crowded(fs) ? max(most / 2, 1U) : most;
}

/*
 * Clusters
 */

static void free_cluster(struct read_cluster *cluster)
{
	while (cluster->nr_pages)
		__free_page(cluster->pages[--cluster->nr_pages]);
	kvfree(cluster);
}

static void free_clusters(struct list_head *clusters)
{
	struct read_cluster *cluster, *next;

	list_for_each_entry_safe(cluster, next, clusters, link) {
		free_cluster(cluster);
		cond_resched();
	}
}

static void cluster_work(struct work_struct *work);

static struct read_cluster *alloc_cluster(struct fullstripe *fs, u32 step_sectors)
{
	gfp_t gfp = GFP_NOIO | __GFP_NORETRY | __GFP_NOWARN;
	unsigned int nr_pages = PAGE_SECTORS_OF(step_sectors);
	struct read_cluster *cluster;

	cluster = kzalloc(struct_size(cluster, pages, nr_pages), gfp);
	if (!cluster)
		return NULL;
	for (; cluster->nr_pages < nr_pages; cluster->nr_pages++) {
		struct page *page = alloc_page(gfp);

		if (!page) {
			free_cluster(cluster);
			return NULL;
		}
		cluster->pages[cluster->nr_pages] = page;
	}
	cluster->fs = fs;
	bio_list_init(&cluster->waiting);
	INIT_HLIST_NODE(&cluster->hash);
	INIT_LIST_HEAD(&cluster->link);
	INIT_WORK(&cluster->work, cluster_work);
	return cluster;
}

/* Nobody will find it any more; free once nobody uses it. Locked. */
static void take_out(struct prefetch *pf, struct read_cluster *cluster)
{
	u32 sectors = cluster->to - cluster->from;

	if (hlist_unhashed(&cluster->hash))
		return;
	hlist_del_init(&cluster->hash);
	atomic_dec(&pf->nr_kept);
	if (cluster->hits < sectors)
		count(cluster->fs, COUNT_PREFETCH_WASTED_BYTES,
		      (u64)(sectors - cluster->hits) << SECTOR_SHIFT);
	if (cluster->users)
		list_del_init(&cluster->link);
	else
		list_move(&cluster->link, &pf->free);
}

/* Locked. */
static void put_cluster(struct prefetch *pf, struct read_cluster *cluster)
{
	if (--cluster->users || !hlist_unhashed(&cluster->hash))
		return;
	list_add(&cluster->link, &pf->free);
	if (wq_has_sleeper(&pf->idle))
		wake_up(&pf->idle);
}

/* A cluster that nobody needs as much: consumed, or of a stream that is none any more. */
static struct read_cluster *find_victim(struct prefetch *pf)
{
	unsigned long busy = jiffies - msecs_to_jiffies(STREAM_BUSY_MS);
	struct read_cluster *cluster;

	list_for_each_entry(cluster, &pf->consumed, link)
		if (!cluster->users)
			return cluster;
	list_for_each_entry(cluster, &pf->kept, link) {
		struct stream *stream = stream_of(pf, cluster);

		if (cluster->users)
			continue;
		if (stream && time_after(stream->last, busy))
			continue;
		if (stream)
			stream_was_wasted(stream);
		return cluster;
	}
	return NULL;
}

/* Locked; not while a cluster is allocated. NULL if there is no memory for one now. */
static struct read_cluster *get_cluster(struct fullstripe *fs, unsigned long *flags)
{
	struct prefetch *pf = &fs->prefetch;
	u32 step_sectors = pf->step_sectors;
	struct read_cluster *cluster;

	if (list_empty(&pf->free) && pf->nr_clusters < pf->max_clusters) {
		pf->nr_clusters++;
		spin_unlock_irqrestore(&pf->lock, *flags);
		cluster = alloc_cluster(fs, step_sectors);
		spin_lock_irqsave(&pf->lock, *flags);
		if (cluster)
			list_add(&cluster->link, &pf->free);
		else
			pf->nr_clusters--;
		schedule_delayed_work(&pf->age, msecs_to_jiffies(STREAM_IDLE_MS));
	}
	if (list_empty(&pf->free)) {
		cluster = find_victim(pf);
		if (cluster)
			take_out(pf, cluster);
	}
	cluster = list_first_entry_or_null(&pf->free, struct read_cluster, link);
	if (cluster)
		list_del_init(&cluster->link);
	return cluster;
}

/*
 * Reading ahead
 */

static void put_pending(struct read_cluster *cluster)
{
	if (atomic_dec_and_test(&cluster->pending))
		queue_work(cluster->fs->prefetch.wq, &cluster->work);
}

static void read_end_io(struct bio *bio)
{
	struct read_cluster *cluster = bio->bi_private;

	if (bio->bi_status)
		WRITE_ONCE(cluster->status, bio->bi_status);
	bio_put(bio);
	put_pending(cluster);
}

/* Read sectors of a cluster's step. */
static void read_part(struct fullstripe *fs, struct read_cluster *cluster, u32 first, u32 end)
{
	u64 base = cluster->step * fs->prefetch.step_sectors - fs->geo.lead + fs->start;

	while (first < end) {
		struct bio *bio = fullstripe_alloc_bio(fs, REQ_OP_READ, base, first, end);

		bio->bi_private = cluster;
		bio->bi_end_io = read_end_io;
		while (first < end && bio->bi_vcnt < bio->bi_max_vecs)
			first = fullstripe_add_page(bio, cluster->pages[first / PAGE_SECTORS],
						    first, end);
		atomic_inc(&cluster->pending);
		submit_bio_noacct(bio);
	}
}

/* A chunk of a cluster, as far as the cluster has it. */
static void read_chunk(struct fullstripe *fs, struct read_cluster *cluster, u32 first)
{
	u32 from = max(first, cluster->from);
	u32 to = min(first + fs->geo.chunk_sectors, cluster->to);

	if (from < to)
		read_part(fs, cluster, from, to);
}

/*
 * Read one member's chunks of the stripes from @at on, up to the next parity block, behind
 * which they do not go on. Return: the stripe to go on with.
 */
static unsigned int read_run(struct fullstripe *fs, struct read_cluster **clusters,
			     unsigned int at, unsigned int end, unsigned int member)
{
	const struct geometry *geo = &fs->geo;
	unsigned int per_step = fs->prefetch.step_sectors / geo->stripe_sectors;
	bool begun = false;

	for (; at < end; at++) {
		struct read_cluster *cluster = clusters[at / per_step];
		u64 stripe = cluster->step * per_step + at % per_step;
		u32 column;

		div_u64_rem(stripe + member, geo->data_members + 1, &column);
		if (column < geo->data_members)
			read_chunk(fs, cluster, at % per_step * geo->stripe_sectors +
				   column * geo->chunk_sectors);
		else if (begun)
			break;
		begun |= column < geo->data_members;
	}
	return at;
}

/*
 * Chunks of neighbouring stripes are neighbours on their member, and one request if they
 * come one after the other: the block layer looks at the latest request of a plug, and
 * a new one waits where a member takes no more. So it is run by run that a batch is
 * read, members in turn, as md's default layout (left-symmetric) of RAID5 has them. For
 * other layouts there are more requests, and no other difference.
 */
static void read_batch(struct fullstripe *fs, struct read_cluster **clusters, unsigned int nr)
{
	unsigned int members = fs->geo.data_members + 1;
	unsigned int stripes = nr * (fs->prefetch.step_sectors / fs->geo.stripe_sectors);
	unsigned int at[MEMBERS_MAX] = {};
	bool more = members <= MEMBERS_MAX;
	unsigned int i;

	for (i = 0; i < nr && !more; i++)
		read_part(fs, clusters[i], clusters[i]->from, clusters[i]->to);
	while (more) {
		more = false;
		for (i = 0; i < members; i++) {
			at[i] = read_run(fs, clusters, at[i], stripes, i);
			more |= at[i] < stripes;
		}
	}
	for (i = 0; i < nr; i++)
		put_pending(clusters[i]);
}

/* Into the table with it; locked. */
static void put_in(struct fullstripe *fs, struct read_cluster *cluster,
		   const struct stream *stream, u64 step, u32 from, u32 sectors)
{
	struct prefetch *pf = &fs->prefetch;

	cluster->step = step;
	cluster->from = from;
	cluster->to = from + sectors;
	cluster->users = 1;
	cluster->ready = false;
	cluster->last = false;
	cluster->late = false;
	cluster->hits = 0;
	cluster->touched = jiffies;
	cluster->stream = stream - pf->streams->entry;
	cluster->generation = stream->generation;
	cluster->status = BLK_STS_OK;
	atomic_set(&cluster->pending, 1);
	hlist_add_head(&cluster->hash, bucket_of(pf, step));
	list_add_tail(&cluster->link, &pf->kept);
	pf->nr_reading++;
	atomic_inc(&pf->nr_kept);
	/* Pairs with the barrier in prefetch_forget(): it is found before it is read. */
	smp_mb__after_atomic();
	count(fs, COUNT_PREFETCHED_BYTES, (u64)sectors << SECTOR_SHIFT);
}

static bool is_wanted(const struct prefetch *pf, const struct stream *stream, u16 generation)
{
	return !pf->off && stream->live && stream->generation == generation;
}

/*
 * The next part of a stream that is not in the table, in it now; NULL if there is none in
 * the next @steps, which are counted down, or no memory for it. Locked, but not all the time.
 */
static struct read_cluster *plan_cluster(struct fullstripe *fs, struct stream *stream,
					 unsigned int *steps, unsigned long *flags)
{
	struct prefetch *pf = &fs->prefetch;
	u16 generation = stream->generation;
	struct read_cluster *cluster;
	u32 offset, end;
	u64 from, to, step;

	cluster = get_cluster(fs, flags);
	if (!cluster)
		return NULL;
	while (*steps && is_wanted(pf, stream, generation) &&
	       stream_plan(stream, pf->step_sectors, pf->begin, pf->end, &from, &to)) {
		--*steps;
		step = div_u64_rem(from, pf->step_sectors, &offset);
		/* It was begun before, or another stream has come by. */
		end = find_held(pf, step, offset, offset + (to - from));
		if (end == offset)
			continue;
		put_in(fs, cluster, stream, step, offset, end - offset);
		return cluster;
	}
	list_add(&cluster->link, &pf->free);
	return NULL;
}

/*
 * Begin a step behind those that were planned: what the members can read of it in one
 * request with the chunks before. A run of a member's data chunks goes on from a column of
 * one stripe to the next column of the next stripe (md's default layout has it so), so
 * @after stripes behind the plan these are the columns from @after on. NULL if
 * there is nothing to begin, or no memory for it. Locked, but not all the time.
 */
static struct read_cluster *begin_cluster(struct fullstripe *fs, struct stream *stream,
					  u64 step, unsigned int after, unsigned long *flags)
{
	struct prefetch *pf = &fs->prefetch;
	u32 from = after * fs->geo.chunk_sectors;
	u16 generation = stream->generation;
	struct read_cluster *cluster;
	u32 end;

	cluster = get_cluster(fs, flags);
	if (!cluster)
		return NULL;
	if (is_wanted(pf, stream, generation) && (step + 1) * pf->step_sectors <= pf->end) {
		end = find_held(pf, step, from, pf->step_sectors);
		if (end > from) {
			put_in(fs, cluster, stream, step, from, end - from);
			return cluster;
		}
	}
	list_add(&cluster->link, &pf->free);
	return NULL;
}

/* How many steps to begin behind @nr planned ones. */
static unsigned int steps_to_begin(const struct fullstripe *fs, const struct stream *stream,
				   const struct read_cluster *last, unsigned int nr)
{
	const struct prefetch *pf = &fs->prefetch;

	if (!is_crowded(fs) || pf->step_sectors != fs->geo.stripe_sectors ||
	    !stream_goes_on(stream) || last->to != pf->step_sectors)
		return 0;
	return min(fs->geo.data_members - 1, nr / 2);
}

static void read_ahead(struct work_struct *work)
{
	struct reader *reader = container_of(work, struct reader, work);
	struct fullstripe *fs = reader->fs;
	struct prefetch *pf = &fs->prefetch;
	struct stream *stream = &pf->streams->entry[reader - pf->readers];
	struct read_cluster *clusters[BATCH_STEPS_MAX + BATCH_STEPS_MAX / 2], *last;
	unsigned int steps, begin, i, nr;
	struct blk_plug plug;
	unsigned long flags;

	spin_lock_irqsave(&pf->lock, flags);
	steps = stream_steps(stream, pf->step_sectors, most_steps(pf));
	for (nr = 0; steps; nr++) {
		clusters[nr] = plan_cluster(fs, stream, &steps, &flags);
		if (!clusters[nr])
			break;
	}
	if (nr) {
		last = clusters[nr - 1];
		last->last = true;
		begin = steps_to_begin(fs, stream, last, nr);
		for (i = 1; i <= begin; i++) {
			clusters[nr] = begin_cluster(fs, stream, last->step + i, i, &flags);
			if (!clusters[nr])
				break;
			nr++;
		}
	}
	spin_unlock_irqrestore(&pf->lock, flags);

	blk_start_plug(&plug);
	read_batch(fs, clusters, nr);
	blk_finish_plug(&plug);
}

/*
 * Reading
 */

/* Copy from a cluster, from sector @first of its step on. */
static void copy_out(const struct read_cluster *cluster, struct bio *bio, u32 first)
{
	size_t at = (size_t)first << SECTOR_SHIFT;
	struct bvec_iter iter;
	struct bio_vec bv;

	bio_for_each_segment(bv, bio, iter) {
		char *data = bvec_kmap_local(&bv);
		size_t done = 0;

		while (done < bv.bv_len) {
			size_t n = min_t(size_t, bv.bv_len - done, PAGE_SIZE - offset_in_page(at));

			memcpy_from_page(data + done, cluster->pages[at >> PAGE_SHIFT],
					 offset_in_page(at), n);
			done += n;
			at += n;
		}
		kunmap_local(data);
		flush_dcache_page(bv.bv_page);
	}
}

/* Tell the readers of a cluster that it has been read, or could not be. */
static void cluster_work(struct work_struct *work)
{
	struct read_cluster *cluster = container_of(work, struct read_cluster, work);
	struct fullstripe *fs = cluster->fs;
	struct prefetch *pf = &fs->prefetch;
	u64 begin = cluster->step * pf->step_sectors - fs->geo.lead;
	blk_status_t status = cluster->status;
	struct bio_list waiting;
	unsigned long flags;
	struct bio *bio;

	spin_lock_irqsave(&pf->lock, flags);
	waiting = cluster->waiting;
	bio_list_init(&cluster->waiting);
	cluster->ready = true;
	pf->nr_reading--;
	if (status)
		take_out(pf, cluster);
	spin_unlock_irqrestore(&pf->lock, flags);

	while ((bio = bio_list_pop(&waiting))) {
		if (status) {
			fullstripe_remap(fs, bio);
			submit_bio_noacct(bio);
			continue;
		}
		copy_out(cluster, bio,
			 dm_target_offset(fs->ti, bio->bi_iter.bi_sector) - begin);
		bio_endio(bio);
	}
	spin_lock_irqsave(&pf->lock, flags);
	put_cluster(pf, cluster);
	spin_unlock_irqrestore(&pf->lock, flags);
}

/* Account for what is read from a cluster; locked. */
static void take_hit(struct prefetch *pf, struct read_cluster *cluster, u32 sectors)
{
	struct stream *stream = stream_of(pf, cluster);
	u32 before = cluster->hits;
	u32 held = cluster->to - cluster->from;

	cluster->hits += sectors;
	cluster->touched = jiffies;
	if (!cluster->ready && !cluster->late) {
		cluster->late = true;
		if (stream)
			stream_was_late(stream, most_steps(pf));
	}
	if (before >= held || cluster->hits < held)
		return;
	list_move_tail(&cluster->link, &pf->consumed);
	if (stream && cluster->last && !cluster->late)
		stream_was_in_time(stream, most_steps(pf));
}

/*
 * What a read tells of its stream; locked. Of a read that is cut this is called for each
 * piece with all that was still asked for: the pieces end where the first one said, and
 * are no reads of their own.
 */
static void note(struct fullstripe *fs, u64 position, u32 sectors)
{
	struct prefetch *pf = &fs->prefetch;
	struct stream *stream = streams_note(pf->streams, position, sectors, jiffies,
					     jiffies - msecs_to_jiffies(STREAM_PAUSE_MS));
	struct reader *reader;

	if (!stream || !stream_wants_more(stream, pf->step_sectors, most_left(fs)))
		return;
	reader = &pf->readers[stream - pf->streams->entry];
	if (work_busy(&reader->work))
		return;
	/* The reader has overtaken what was planned. */
	if (stream->ahead && !stream->ahead_sectors)
		stream_was_late(stream, most_steps(pf));
	queue_work(pf->wq, &reader->work);
}

/**
 * prefetch_note() - take note of a read that was answered from staging.
 * @fs: the target.
 * @sector: its first sector.
 * @sectors: how many were asked for, also where it is cut.
 *
 * Context: in an RCU read section; does not sleep.
 */
void prefetch_note(struct fullstripe *fs, u64 sector, u32 sectors)
{
	struct prefetch *pf = &fs->prefetch;
	unsigned long flags;

	if (READ_ONCE(pf->off))
		return;
	spin_lock_irqsave(&pf->lock, flags);
	if (!pf->off && sectors < pf->step_sectors)
		note(fs, sector + fs->geo.lead, sectors);
	spin_unlock_irqrestore(&pf->lock, flags);
}

/**
 * prefetch_read() - take a read of which nothing is staged.
 * @fs: the target.
 * @bio: the read; cut with dm_accept_partial_bio() where a cluster begins or ends.
 * @asked: its sectors before it was cut at what is staged.
 *
 * Reads that are as large as what would be read ahead, and those of somebody who
 * reads ahead, go to the lower device as they are.
 *
 * Context: .map, in an RCU read section; does not sleep, does not allocate.
 * Return: a DM_MAPIO_ value for .map.
 */
int prefetch_read(struct fullstripe *fs, struct bio *bio, u32 asked)
{
	struct prefetch *pf = &fs->prefetch;
	struct read_cluster *cluster = NULL;
	u32 sectors = bio_sectors(bio);
	unsigned long flags;
	u64 position, step;
	bool ready = false;
	u32 first = 0;

	if (READ_ONCE(pf->off) || (bio->bi_opf & REQ_RAHEAD))
		goto lower;
	position = dm_target_offset(fs->ti, bio->bi_iter.bi_sector) + fs->geo.lead;
	spin_lock_irqsave(&pf->lock, flags);
	if (pf->off || asked >= pf->step_sectors) {
		spin_unlock_irqrestore(&pf->lock, flags);
		goto lower;
	}
	step = div_u64_rem(position, pf->step_sectors, &first);
	sectors = min(sectors, pf->step_sectors - first);
	cluster = find_cluster(pf, step, first);
	if (cluster) {
		sectors = min(sectors, cluster->to - first);
		ready = cluster->ready;
		take_hit(pf, cluster, sectors);
		count(fs, COUNT_PREFETCH_HIT_BYTES, (u64)sectors << SECTOR_SHIFT);
		fullstripe_accept(bio, sectors);
		if (ready)
			cluster->users++;
		else
			bio_list_add(&cluster->waiting, bio);
	}
	note(fs, position, asked);
	spin_unlock_irqrestore(&pf->lock, flags);
	if (!cluster)
		goto lower;
	if (!ready)
		return DM_MAPIO_SUBMITTED;

	copy_out(cluster, bio, first);
	spin_lock_irqsave(&pf->lock, flags);
	put_cluster(pf, cluster);
	spin_unlock_irqrestore(&pf->lock, flags);
	bio_endio(bio);
	return DM_MAPIO_SUBMITTED;

lower:
	fullstripe_remap(fs, bio);
	return DM_MAPIO_REMAPPED;
}

/**
 * prefetch_forget() - what was read of some stripes is, or may be, stale.
 * @fs: the target.
 * @stripe: number of the first one.
 * @end: of the one behind the last.
 *
 * Context: any, also interrupt; a shard may be locked.
 */
void prefetch_forget(struct fullstripe *fs, u64 stripe, u64 end)
{
	struct prefetch *pf = &fs->prefetch;
	struct read_cluster *cluster;
	struct hlist_node *next;
	unsigned long flags;
	u64 step, last;

	/* What is not in the table yet will be read after what the caller did. */
	smp_mb();
	if (!atomic_read(&pf->nr_kept))
		return;
	spin_lock_irqsave(&pf->lock, flags);
	step = div_u64(stripe * fs->geo.stripe_sectors, pf->step_sectors);
	last = div_u64((end - 1) * fs->geo.stripe_sectors, pf->step_sectors);
	for (; step <= last; step++)
		hlist_for_each_entry_safe(cluster, next, bucket_of(pf, step), hash)
			if (cluster->step == step)
				take_out(pf, cluster);
	spin_unlock_irqrestore(&pf->lock, flags);
}

/**
 * prefetch_active_streams() - how many streams there are.
 * @fs: the target.
 *
 * Return: those that were read a short time ago.
 */
unsigned int prefetch_active_streams(struct fullstripe *fs)
{
	struct prefetch *pf = &fs->prefetch;
	unsigned int nr;

	spin_lock_irq(&pf->lock);
	if (!pf->off)
		streams_expire(pf->streams, jiffies - msecs_to_jiffies(STREAM_IDLE_MS));
	nr = pf->off ? 0 : pf->streams->nr;
	spin_unlock_irq(&pf->lock);
	return nr;
}

/**
 * prefetch_reading_bytes() - what is being read ahead.
 * @fs: the target.
 *
 * Return: bytes, in whole clusters.
 */
u64 prefetch_reading_bytes(struct fullstripe *fs)
{
	const struct prefetch *pf = &fs->prefetch;

	return (u64)READ_ONCE(pf->nr_reading) * pf->step_sectors << SECTOR_SHIFT;
}

/**
 * prefetch_memory_bytes() - memory of what is read ahead, be it in use or free.
 * @fs: the target.
 *
 * Return: bytes, in whole clusters.
 */
u64 prefetch_memory_bytes(struct fullstripe *fs)
{
	const struct prefetch *pf = &fs->prefetch;

	return (u64)READ_ONCE(pf->nr_clusters) * pf->step_sectors << SECTOR_SHIFT;
}

/* The next stream that is there, among a few entries; locked. */
static bool look_for_stream(struct fullstripe *fs, unsigned int *at, struct stream_info *info)
{
	const struct streams *streams = fs->prefetch.streams;
	unsigned int end = min(*at + LOOK_AT_ONCE, streams->max);

	while (*at < end) {
		const struct stream *stream = &streams->entry[(*at)++];
		bool strided = stream->live && stream_is_strided(stream);

		if (!stream->live)
			continue;
		*info = (struct stream_info) {
			.position = stream->next - fs->geo.lead,
			.stride = strided ? stream->stride : 0,
			.run_length = stream->run_length,
			.ahead = stream->ahead_sectors,
			.read = stream->read_sectors,
			.idle = jiffies - stream->last,
			.degree = stream->degree,
			.trigger = stream->trigger,
			.backward = stream->backward,
		};
		return true;
	}
	return false;
}

/**
 * prefetch_next_stream() - the stream that is listed next.
 * @fs: the target.
 * @at: where the list stands; 0 at its beginning. Moves on.
 * @info: set to what is known of the stream.
 *
 * Context: any.
 * Return: false if there is none left.
 */
bool prefetch_next_stream(struct fullstripe *fs, unsigned int *at, struct stream_info *info)
{
	struct prefetch *pf = &fs->prefetch;
	bool found = false;
	unsigned long flags;

	while (!found && *at < STREAMS_MAX) {
		spin_lock_irqsave(&pf->lock, flags);
		if (pf->off || *at >= pf->streams->max)
			*at = STREAMS_MAX;
		else
			found = look_for_stream(fs, at, info);
		spin_unlock_irqrestore(&pf->lock, flags);
	}
	return found;
}

/*
 * Life
 */

static void take_out_old(struct prefetch *pf, struct list_head *clusters, unsigned long old)
{
	struct read_cluster *cluster, *next;

	list_for_each_entry_safe(cluster, next, clusters, link)
		if (time_before(cluster->touched, old))
			take_out(pf, cluster);
}

/* Give back what nobody has read from for some time. */
static void age_work(struct work_struct *work)
{
	struct prefetch *pf = container_of(to_delayed_work(work), struct prefetch, age);
	unsigned long old = jiffies - msecs_to_jiffies(STREAM_IDLE_MS);
	LIST_HEAD(unused);

	spin_lock_irq(&pf->lock);
	streams_expire(pf->streams, old);
	take_out_old(pf, &pf->kept, old);
	take_out_old(pf, &pf->consumed, old);
	list_splice_init(&pf->free, &unused);
	pf->nr_clusters -= list_count_nodes(&unused);
	if (pf->nr_clusters)
		schedule_delayed_work(&pf->age, msecs_to_jiffies(STREAM_IDLE_MS));
	spin_unlock_irq(&pf->lock);
	free_clusters(&unused);
}

static bool is_unused(struct prefetch *pf)
{
	bool unused;

	spin_lock_irq(&pf->lock);
	unused = list_count_nodes(&pf->free) == pf->nr_clusters;
	spin_unlock_irq(&pf->lock);
	return unused;
}

/**
 * prefetch_stop() - forget all and read nothing ahead until prefetch_start().
 * @fs: the target.
 *
 * It is started when each stop has had its start.
 *
 * Context: may sleep.
 */
void prefetch_stop(struct fullstripe *fs)
{
	struct prefetch *pf = &fs->prefetch;
	LIST_HEAD(unused);
	unsigned int i;

	if (!pf->streams)
		return;
	spin_lock_irq(&pf->lock);
	pf->stops++;
	WRITE_ONCE(pf->off, true);
	spin_unlock_irq(&pf->lock);
	for (i = 0; i < STREAMS_MAX; i++)
		cancel_work_sync(&pf->readers[i].work);
	cancel_delayed_work_sync(&pf->age);
	spin_lock_irq(&pf->lock);
	take_out_old(pf, &pf->kept, jiffies + 1);
	take_out_old(pf, &pf->consumed, jiffies + 1);
	spin_unlock_irq(&pf->lock);
	wait_event(pf->idle, is_unused(pf));
	spin_lock_irq(&pf->lock);
	list_splice_init(&pf->free, &unused);
	pf->nr_clusters = 0;
	spin_unlock_irq(&pf->lock);
	free_clusters(&unused);
}

/**
 * prefetch_start() - read ahead as the settings say.
 * @fs: the target.
 */
void prefetch_start(struct fullstripe *fs)
{
	struct prefetch *pf = &fs->prefetch;
	u64 step_bytes;
	u32 width;

	spin_lock_irq(&pf->lock);
	/* Who changes the settings, maybe while a device is resumed, has stopped it before. */
	if (--pf->stops || !setting(fs, SETTING_STREAMS))
		goto out;
	step_bytes = settings_read_cluster(&fs->settings);
	width = fs->geo.stripe_sectors;
	streams_init(pf->streams, setting(fs, SETTING_STREAMS));
	pf->step_sectors = step_bytes >> SECTOR_SHIFT;
	pf->max_clusters = div_u64(setting(fs, SETTING_PREFETCH_BYTES), step_bytes);
	/* Whole stripes: nothing tells of writes to the others. */
	pf->begin = fs->geo.lead ? width : 0;
	pf->end = div_u64(fs->geo.len + fs->geo.lead, width) * width;
	WRITE_ONCE(pf->off, false);
out:
	spin_unlock_irq(&pf->lock);
}

/**
 * prefetch_setup() - make a target's prefetch such that prefetch_exit() is safe.
 * @pf: the prefetch; stopped, once.
 */
void prefetch_setup(struct prefetch *pf)
{
	spin_lock_init(&pf->lock);
	pf->off = true;
	pf->stops = 1;
	INIT_LIST_HEAD(&pf->kept);
	INIT_LIST_HEAD(&pf->consumed);
	INIT_LIST_HEAD(&pf->free);
	INIT_DELAYED_WORK(&pf->age, age_work);
	init_waitqueue_head(&pf->idle);
}

/**
 * prefetch_init() - allocate what is needed to read ahead.
 * @fs: the target.
 *
 * Context: may sleep.
 * Return: 0, or -ENOMEM; prefetch_exit() cleans up either way.
 */
int prefetch_init(struct fullstripe *fs)
{
	struct prefetch *pf = &fs->prefetch;
	unsigned int i;

	/* Who waits for what is being read may be who swaps in. */
	pf->wq = alloc_workqueue("fullstripe_read", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	pf->readers = kvcalloc(STREAMS_MAX, sizeof(*pf->readers), GFP_KERNEL);
	if (!pf->wq || !pf->readers)
		return -ENOMEM;
	for (i = 0; i < STREAMS_MAX; i++) {
		pf->readers[i].fs = fs;
		INIT_WORK(&pf->readers[i].work, read_ahead);
	}
	pf->streams = kvmalloc(sizeof(*pf->streams), GFP_KERNEL);
	return pf->streams ? 0 : -ENOMEM;
}

/**
 * prefetch_exit() - free all.
 * @fs: the target; no I/O is under way.
 *
 * Context: may sleep.
 */
void prefetch_exit(struct fullstripe *fs)
{
	struct prefetch *pf = &fs->prefetch;

	prefetch_stop(fs);
	if (pf->wq)
		destroy_workqueue(pf->wq);
	kvfree(pf->streams);
	kvfree(pf->readers);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Destage: what is written next, and writing it so that md never has to read.
 *
 * DOC: what is written next
 *
 * One work item decides, so the order is in one place and needs no locks:
 *
 * 1. What somebody waits for (FUA; fsync and journals in writethrough).
 * 2. What failed and is to be tried again.
 * 3. All that a flush waits for, in address order, but for a partial stripe that is about to be
 *    whole (grows()). 2 and 3 take turns with 1.
 *    While it is quiet (quiet.c) nothing else is.
 * 4. Whole stripes: when their cluster is whole, or held for hold_ms, or memory is
 *    above the low water mark; at once if they are held only as the lower device takes them
 *    in several bios.
 * 5. Stripes that are older than hold_ms, or that writethrough holds in vain; of partial ones one
 *    at a time also while there are always whole ones, and of either while there are always some of
 *    1 to 3.
 * 6. All that is staged, when no read or write came for a fifth of hold_ms: an idle
 *    device drains.
 * 7. Above a file's high water mark: whole stripes, and if that leaves it no room for more the
 *    partial ones of that file, by turns with whole ones of others.
 * 8. Above the low water mark, with what is being written whole taken as gone: partial stripes
 *    in address order, passing once over those written to since the last pass (WOW, Gill and
 *    Modha, FAST'05); the more the fuller the memory is (linear threshold, Varma and Jacobson).
 *
 * Where whole stripes gather (destager_gathers()) more of 3, 4, 6 and 8, and whole ones of 5,
 * follow when no more than half of what may be in flight are whole.
 *
 * DOC: writing a stripe
 *
 * md RAID5 starts to read for a parity row as soon as it takes up a row that is not
 * whole. What keeps a stripe together is the submitter's plug: so the batch of
 * neighbouring stripes leaves from one worker, ascending, under one plug, with the
 * same flags on all bios, and without REQ_SYNC, which makes md start at once.
 *
 * A row that md has to read for it puts off behind whole stripes, as long as there are any.
 * So where somebody waits for a stripe that is written in part, it has REQ_SYNC; and what
 * is held has it, as it has not completed: a page that the kernel writes back by itself is one
 * that fsync may come to wait for.
 */
#include <linux/blkdev.h>
#include <linux/hash.h>
#include <linux/sched/mm.h>

#include "fullstripe.h"
#include "netlink.h"

/* A request that is so large leaves md's plug by itself (BLK_PLUG_FLUSH_SIZE in block/blk-mq.c). */
#define PLUG_BYTES		SZ_128K
/* md's default stripe cache, less the quarter below which it lets nobody in. */
#define MD_ROWS			(256 * 3 / 4)

/* What md's thread takes up at a time (MAX_STRIPE_BATCH). */
#define MD_BATCH_ROWS		8

/* The part of hold_ms after which a device without I/O is idle. */
#define IDLE_SHARE		5

/* How often all stripes are searched for those of a file that waits, if there are none. */
#define PRESS_PAUSE_MS		10

/* How long a partial stripe is held if a flush is near, so that it need not be copied. */
#define BRIEF_MS		20

/* It is at most so long after it came that it is due, also where it is quiet all the time. */
#define LATE_MS			(11 * BRIEF_MS)

/* So many of them may be in flight then, until they are late. */
#define NEAR_BRIEF		1

/* dm core has sent the data of a flush by then, from a work item. */
#define FORGET_NS		NSEC_PER_SEC

/*
 * A flush lets a stripe grow for so long, which is what it costs to write it in part and once more,
 * and looks after so long whether it does; in whole ticks.
 */
#define GROW_MS			24
#define LOOK_MS			5

/*
 * After so many holds of writethrough, or stripes that did not grow, in vain, one after the other,
 * there are none for so many stripes, and then it is tried again.
 */
#define VAIN_TRIES		16
#define VAIN_PERIOD		64

/* How often failed stripes are tried again when nobody asks. */
#define RETRY_MS		5000

/* A reboot waits for as long as this brings something, where it cannot write all. */
#define SETTLE_MS		10000

static struct fullstripe *fullstripe_of(const struct destager *d)
{
	return container_of(d, struct fullstripe, destager);
}

static bool is_whole(const struct fullstripe *fs, const struct stripe_group *group)
{
	return READ_ONCE(group->nr_dirty) == fs->geo.stripe_sectors;
}

/**
 * destager_kick() - let the destager look at everything again.
 * @fs: the target.
 *
 * Context: any.
 */
void destager_kick(struct fullstripe *fs)
{
	queue_work(fs->destager.wq, &fs->destager.work);
}

/**
 * destager_announce() - let the destager look at a group.
 * @fs: the target.
 * @group: new, whole, urgent, or no longer pinned.
 *
 * Context: the group's shard is locked.
 */
void destager_announce(struct fullstripe *fs, struct stripe_group *group)
{
	if (test_and_set_bit(0, &group->announced))
		return;
	if (llist_add(&group->inbox, &fs->destager.inbox))
		destager_kick(fs);
}

/**
 * destager_put() - one of a group's bios has completed, or all are submitted.
 * @group: the group; may be gone afterwards.
 *
 * Context: any, also interrupt.
 */
void destager_put(struct stripe_group *group)
{
	struct fullstripe *fs = group->fs;

	if (!atomic_dec_and_test(&group->pending))
		return;
	/* Once the group is on the list all may be gone, but for destager_exit() waiting. */
	rcu_read_lock();
	if (llist_add(&group->done, &fs->destager.done))
		destager_kick(fs);
	rcu_read_unlock();
}

/*
 * Writing a batch
 */

static void destage_end_io(struct bio *bio)
{
	struct stripe_group *group = bio->bi_private;

	if (bio->bi_status)
		WRITE_ONCE(group->status, bio->bi_status);
	bio_put(bio);
	destager_put(group);
}

static struct page *page_to_write(const struct fullstripe *fs, const struct stripe_group *group,
				  unsigned int index)
{
	return fill_is_read(group) ? fill_page(fs, group, index) : group->pages[index];
}

/* md shall not put off what somebody may wait for; but a whole row it does not put off. */
static blk_opf_t sync_flag(const struct stripe_group *group)
{
	return group->awaited && !fill_is_read(group) ? REQ_SYNC : 0;
}

/* Write sectors of a group's pages in as few bios as they fit. */
static void write_run(struct fullstripe *fs, struct stripe_group *group, u32 first, u32 sectors)
{
	sector_t base = fs->start + geometry_sector(&fs->geo, group->stripe);
	blk_opf_t opf = REQ_OP_WRITE | (group->fua ? REQ_FUA : 0) | sync_flag(group);
	u32 end = first + sectors;

	while (first < end) {
		struct bio *bio = fullstripe_alloc_bio(fs, opf, base, first, end);

		bio->bi_private = group;
		bio->bi_end_io = destage_end_io;
		while (first < end && bio->bi_vcnt < bio->bi_max_vecs)
			first = fullstripe_add_page(bio,
						    page_to_write(fs, group, first / PAGE_SECTORS),
						    first, end);
		atomic_inc(&group->pending);
		submit_bio_noacct(bio);
	}
}

static void write_copied(struct fullstripe *fs, struct stripe_group *group)
{
	u32 first = 0;
	u32 sectors;

	if (fill_is_read(group)) {
		fill_merge(fs, group);
		write_run(fs, group, 0, fs->geo.stripe_sectors);
		return;
	}
	while (blockmap_next_run(group->dirty, fs->geo.stripe_sectors, &first, &sectors)) {
		write_run(fs, group, first, sectors);
		first += sectors;
	}
}

/* So that with what is held, which does not change, the stripe is whole. */
static void write_holes(struct fullstripe *fs, struct stripe_group *group)
{
	u32 first = 0;
	u32 sectors;

	while (blockmap_next_hole(group->dirty, fs->geo.stripe_sectors, &first, &sectors)) {
		write_run(fs, group, first, sectors);
		first += sectors;
	}
}

static void write_held(struct fullstripe *fs, struct stripe_group *group)
{
	struct bio_list held = group->held;
	struct bio *bio;

	bio_list_init(&group->held);
	while ((bio = bio_list_pop(&held))) {
		/* md gathers only bios of equal flags; dm core looks for REQ_SWAP. */
		bio->bi_opf = REQ_OP_WRITE | sync_flag(group) |
			      (bio->bi_opf & (REQ_FUA | REQ_SWAP));
		atomic_inc(&group->pending);
		fullstripe_remap(fs, bio);
		submit_bio_noacct(bio);
	}
	if (fill_is_read(group))
		write_holes(fs, group);
}

static void write_batch(struct work_struct *work)
{
	struct stripe_group *leader = container_of(work, struct stripe_group, work);
	struct fullstripe *fs = leader->fs;
	struct stripe_group *group, *next;
	struct blk_plug plug;
	LIST_HEAD(batch);

	/* The leader itself may be gone as soon as its last bio completes. */
	list_splice_init(&leader->batch, &batch);
	blk_start_plug(&plug);
	list_for_each_entry(group, &batch, batch_link) {
		if (group->copied)
			write_copied(fs, group);
		else
			write_held(fs, group);
	}
	blk_finish_plug(&plug);
	list_for_each_entry_safe(group, next, &batch, batch_link) {
		list_del_init(&group->batch_link);
		destager_put(group);
	}
}

static void fill_then_write(struct work_struct *work)
{
	struct stripe_group *group = container_of(work, struct stripe_group, work);

	INIT_WORK(&group->work, write_batch);
	fill_read(group->fs, group);
}

/*
 * The tree of open groups
 */

static struct stripe_group *group_at(struct rb_node *node)
{
	return node ? rb_entry(node, struct stripe_group, node) : NULL;
}

static void tree_insert(struct destager *d, struct stripe_group *group)
{
	struct rb_node **link = &d->open.rb_node;
	struct rb_node *parent = NULL;

	while (*link) {
		parent = *link;
		link = group->stripe < group_at(parent)->stripe ?
			&parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&group->node, parent, link);
	rb_insert_color(&group->node, &d->open);
}

/* The first open group at or behind a stripe. */
static struct stripe_group *tree_from(struct destager *d, u64 stripe)
{
	struct rb_node *node = d->open.rb_node;
	struct stripe_group *best = NULL;

	while (node) {
		struct stripe_group *group = group_at(node);

		if (group->stripe < stripe) {
			node = node->rb_right;
		} else {
			best = group;
			node = node->rb_left;
		}
	}
	return best;
}

/*
 * Starting
 */

/*
 * Whether one may be started: of those that nobody waits for so many at a time. Those of which
 * one can always be are not in the way with that one.
 */
static bool has_room(const struct destager *d, unsigned int max)
{
	unsigned int spare = min(d->in_slot[SLOT_BRIEF], 1U) + d->in_slot[SLOT_OLD];

	return d->in_slot[SLOT_OTHERS] < max && d->inflight - spare < d->inflight_max;
}

/*
 * The same for those that are held for a moment. One can always be: there may always be more
 * of the others than can be in flight.
 */
static bool has_room_for_brief(const struct destager *d, unsigned int max)
{
	unsigned int nr = d->in_slot[SLOT_BRIEF];

	return !nr || (nr < max && d->inflight < d->inflight_max);
}

/* Whether a group has a whole stripe's memory. Once it is sealed that stays as it is. */
static bool takes_stripe(struct destager *d, const struct stripe_group *group)
{
	return group->copied && is_whole(fullstripe_of(d), group);
}

static void enter_slot(struct destager *d, struct stripe_group *group, enum slot slot)
{
	group->slot = slot;
	d->in_slot[slot]++;
	d->inflight++;
	d->inflight_whole += takes_stripe(d, group);
}

static void leave_slot(struct destager *d, struct stripe_group *group)
{
	d->in_slot[group->slot]--;
	d->inflight--;
	d->inflight_whole -= takes_stripe(d, group);
}

static void change_slot(struct destager *d, struct stripe_group *group, enum slot slot)
{
	d->in_slot[group->slot]--;
	group->slot = slot;
	d->in_slot[slot]++;
}

/* Whether the flush that is under way waits for a group. What is not copied did not complete. */
static bool is_owed(const struct destager *d, const struct stripe_group *group)
{
	return d->flush_state == FLUSH_DESTAGING && group->epoch <= d->flush_epoch &&
	       group->copied;
}

/* Whether the flush that is under way waits for more than one group: it starts all at a time. */
static bool are_owed(const struct destager *d)
{
	const struct stripe_group *group;
	unsigned int nr = 0;

	if (d->flush_state != FLUSH_DESTAGING)
		return false;
	list_for_each_entry(group, &d->live, live) {
		if (group->epoch > d->flush_epoch)
			break;
		nr += is_owed(d, group);
		if (nr > 1)
			return true;
	}
	return false;
}

/* Whether the members do something else while a group is written. */
static bool is_beside(const struct destager *d)
{
	return d->inflight || atomic_read(&fullstripe_of(d)->staging.bypasses) || are_owed(d);
}

/*
 * How many rows of a group that md reads for are one request. Alone on the array, all that lie
 * together; beside others, those that md's thread takes up at a time. What was held for a moment
 * is beside whole stripes, behind which md puts them off: each row by itself.
 */
static u32 rows_together(const struct destager *d, const struct stripe_group *group)
{
	if (!is_beside(d))
		return U32_MAX;
	return group->copied ? MD_BATCH_ROWS : 1;
}

/*
 * Whether a group is better filled. Who waits for an urgent one shall not wait for what
 * nobody asked for; and in writethrough who waits is not told from who does not. An open
 * group changes meanwhile: then this is a guess.
 */
static bool wants_fill(struct destager *d, const struct stripe_group *group)
{
	struct fullstripe *fs = fullstripe_of(d);
	u64 seek = setting(fs, SETTING_SEEK_BYTES);

	return seek && !READ_ONCE(group->urgent) && !group->failed && !group->plain &&
	       (group->copied || setting(fs, SETTING_MODE) == MODE_WRITEBEHIND) &&
	       !is_whole(fs, group) &&
	       blockmap_fill_pays(group->dirty, fs->geo.chunk_sectors, fs->geo.stripe_sectors,
				  seek >> SECTOR_SHIFT, rows_together(d, group));
}

/* Take the memory to fill a sealed group, if there is some and the group wants it. */
static struct fill *take_fill(struct destager *d, const struct stripe_group *group)
{
	struct fill *fill;

	if (list_empty(&d->fills) || !wants_fill(d, group))
		return NULL;
	fill = list_first_entry(&d->fills, struct fill, link);
	list_del_init(&fill->link);
	return fill;
}

/* Whether somebody waits for a group. */
static bool is_awaited(const struct destager *d, const struct stripe_group *group)
{
	return group->urgent || is_owed(d, group);
}

static void start_batch(struct destager *d, struct stripe_group *leader)
{
	struct stripe_group *group;

	leader->fill = take_fill(d, leader);
	list_for_each_entry(group, &leader->batch, batch_link) {
		/* What is not copied has not completed: somebody may wait for that, too. */
		group->awaited = (is_awaited(d, group) || !group->copied) &&
				 !is_whole(fullstripe_of(d), group);
		group->state = GROUP_INFLIGHT;
		group->status = BLK_STS_OK;
		atomic_set(&group->pending, 1);
		enter_slot(d, group, is_awaited(d, group) ? SLOT_AWAITED : SLOT_OTHERS);
	}
	INIT_WORK(&leader->work, leader->fill ? fill_then_write : write_batch);
	queue_work(d->wq, &leader->work);
}

static void start_alone(struct destager *d, struct stripe_group *group)
{
	list_add_tail(&group->batch_link, &group->batch);
	start_batch(d, group);
}

/* Count a try that was in vain, or was not; also one that is not made, see VAIN_PERIOD. */
static void learn(unsigned int *vain, bool in_vain)
{
	if (!in_vain)
		*vain = 0;
	else if (++*vain == VAIN_TRIES + VAIN_PERIOD)
		*vain = VAIN_TRIES - 1;
}

/* Whether letting stripes grow is in vain is seen as one that a flush waits for is closed. */
static void learn_from_growth(struct destager *d, const struct stripe_group *group)
{
	bool whole = is_whole(fullstripe_of(d), group);

	if (!is_owed(d, group))
		return;
	if (group->grow_epoch == d->flush_epoch || (!whole && d->vain_grows >= VAIN_TRIES))
		learn(&d->vain_grows, !whole);
}

/* Close an open group; false if it cannot be now. */
static bool seal(struct destager *d, struct stripe_group *group, bool only_idle, bool *pinned)
{
	if (!staging_seal(fullstripe_of(d), group, only_idle, pinned))
		return false;
	learn_from_growth(d, group);
	rb_erase(&group->node, &d->open);
	list_del_init(&group->full_link);
	list_del_init(&group->urgent_link);
	list_del_init(&group->brief_link);
	return true;
}

/* Stripes of a cluster; clusters lie at multiples of their size. */
static u64 cluster_stripes(const struct fullstripe *fs)
{
	return max(div_u64(setting(fs, SETTING_CLUSTER_BYTES),
			   fs->geo.stripe_sectors << SECTOR_SHIFT), 1ULL);
}

static bool joins(const struct fullstripe *fs, const struct stripe_group *group,
		  const struct stripe_group *other, u64 cluster, s64 distance)
{
	return other && other->stripe == group->stripe + distance &&
	       div64_u64(other->stripe, cluster) == div64_u64(group->stripe, cluster) &&
	       is_whole(fs, other) && other->copied == group->copied;
}

/*
 * Take the whole neighbours of the same cluster along, on one side. @nr: how many leave then. What
 * needs a plug must not have to wait for rows: it would lose that.
 */
static void gather(struct destager *d, struct stripe_group *leader, struct rb_node *node,
		   s64 direction, unsigned int *nr)
{
	struct fullstripe *fs = fullstripe_of(d);
	u64 cluster = cluster_stripes(fs);
	struct stripe_group *last = leader;
	bool pinned;

	while (node && (fs->staging.bypass_stripes || *nr < d->inflight_max)) {
		struct stripe_group *group = group_at(node);

		node = direction < 0 ? rb_prev(node) : rb_next(node);
		if (!joins(fs, last, group, cluster, direction) || !seal(d, group, true, &pinned))
			break;
		if (direction < 0)
			list_add(&group->batch_link, &leader->batch);
		else
			list_add_tail(&group->batch_link, &leader->batch);
		last = group;
		++*nr;
	}
}

/*
 * Others are being filled: what can be filled soon is not written in part now. But somebody
 * may come to wait for what is held for a moment, and there may always be others.
 */
static bool awaits_fill(struct destager *d, const struct stripe_group *group)
{
	return group->copied && list_empty(&d->fills) && wants_fill(d, group);
}

/*
 * Who writes a block at a time waits for each, and nobody joins him: what is held for others then
 * is only slower. Those who have several under way join also without a hold, while one of theirs
 * is in flight; of two that is seen when it holds again.
 */
static void learn_from_hold(struct destager *d, const struct stripe_group *group)
{
	const struct fullstripe *fs = fullstripe_of(d);
	const struct bio *first = group->held.head;

	if (group->copied || setting(fs, SETTING_MODE) != MODE_WRITETHROUGH)
		return;
	if (first != group->held.tail)
		learn(&d->vain_holds, false);
	else if (first && !READ_ONCE(group->urgent) && !is_whole(fs, group))
		learn(&d->vain_holds, true);
}

/*
 * Start writing an open group, and if it is whole, and not to be @alone, the whole ones beside it;
 * false if something else must finish first.
 */
static bool start(struct destager *d, struct stripe_group *group, bool alone)
{
	struct rb_node *prev = rb_prev(&group->node);
	struct rb_node *next = rb_next(&group->node);
	unsigned int nr = 1;
	bool pinned;

	if (awaits_fill(d, group) || !seal(d, group, false, &pinned))
		return false;
	if (pinned)
		return true;
	learn_from_hold(d, group);
	list_add_tail(&group->batch_link, &group->batch);
	if (!alone && is_whole(fullstripe_of(d), group)) {
		gather(d, group, prev, -1, &nr);
		gather(d, group, next, 1, &nr);
	}
	start_batch(d, group);
	return true;
}

/*
 * What is written next
 */

static unsigned long deadline(const struct fullstripe *fs, unsigned long since)
{
	return since + msecs_to_jiffies(setting(fs, SETTING_HOLD_MS));
}

static bool is_held_long(const struct fullstripe *fs, unsigned long since)
{
	return time_after_eq(fs->destager.now, deadline(fs, since));
}

/* Whether a group has waited long enough for others to join. */
static bool is_due(const struct destager *d, const struct stripe_group *group)
{
	const struct fullstripe *fs = fullstripe_of(d);

	/* What is copied was staged before that mode, which keeps nothing volatile. */
	return is_held_long(fs, group->born) ||
	       ((group->copied || d->vain_holds >= VAIN_TRIES) &&
		setting(fs, SETTING_MODE) == MODE_WRITETHROUGH);
}

/* When the device counts as idle, if nothing comes until then. */
static unsigned long idle_at(const struct fullstripe *fs)
{
	return READ_ONCE(fs->staging.last_io) +
	       msecs_to_jiffies(DIV_ROUND_UP_ULL(setting(fs, SETTING_HOLD_MS), IDLE_SHARE));
}

/*
 * These start one and begin anew, as neighbours on the same list may leave with it.
 */
static bool start_one_urgent(struct destager *d)
{
	struct stripe_group *group;

	list_for_each_entry(group, &d->urgent, urgent_link) {
		if (!has_room(d, d->inflight_max))
			return false;
		if (start(d, group, false))
			return true;
	}
	return false;
}

/**
 * enum sweep_of - which open groups a sweep starts.
 * @SWEEP_ALL: all.
 * @SWEEP_OWED: those that a flush waits for.
 * @SWEEP_NOT_RECENT: but those written to since the last sweep.
 * @SWEEP_PRESSING: those that a file over its high water mark waits for.
 */
enum sweep_of {
	SWEEP_ALL,
	SWEEP_OWED,
	SWEEP_NOT_RECENT,
	SWEEP_PRESSING,
};

/* Whether at the rate of what @came in the time @passed the @missing comes in the time @left. */
static bool will_be_there(u32 came, unsigned long passed, u32 missing, unsigned long left)
{
	return (u64)came * left >= (u64)missing * passed;
}

/*
 * Whether a stripe that a flush waits for is to be whole first. Who flushes is not always who
 * fills it: if others do, it would be written in part now, for which md reads, and once more soon.
 * So if it has grown so fast that it will be whole in time it is left for a moment, and for longer
 * if it goes on to. Only if the flush waits for whole ones anyhow, and disks seek for what is read.
 */
static bool grows(struct destager *d, struct stripe_group *group)
{
	struct fullstripe *fs = fullstripe_of(d);
	u32 dirty = READ_ONCE(group->nr_dirty);
	u32 missing = fs->geo.stripe_sectors - dirty;
	/* One tick may be over at once. */
	unsigned long look = max(msecs_to_jiffies(LOOK_MS), 2UL);
	unsigned long limit = msecs_to_jiffies(GROW_MS);
	unsigned long passed;

	/* When it is stopped no alarm would ring. */
	if (!missing || !d->flush_whole || !fs->around.rotational || READ_ONCE(d->stopped) ||
	    READ_ONCE(group->urgent))
		return false;
	if (group->grow_epoch != d->flush_epoch) {
		if (d->vain_grows >= VAIN_TRIES ||
		    !will_be_there(dirty, d->now - group->born + 1, missing, limit))
			return false;
		group->grow_epoch = d->flush_epoch;
		group->grow_from = dirty;
		group->grow_since = d->now;
	}
	passed = d->now - group->grow_since;
	if (passed >= limit)
		return false;
	if (passed < look) {
		d->again = min(d->again, look - passed);
		return true;
	}
	if (!will_be_there(dirty - group->grow_from, passed, missing, limit - passed))
		return false;
	d->again = min3(d->again, look, limit - passed);
	return true;
}

static bool sweeps_over(struct destager *d, struct stripe_group *group, enum sweep_of of)
{
	switch (of) {
	case SWEEP_ALL:
		return false;
	case SWEEP_OWED:
		return !is_owed(d, group) || grows(d, group);
	case SWEEP_NOT_RECENT:
		return group->recent;
	case SWEEP_PRESSING:
		return !staging_presses(fullstripe_of(d), group);
	}
	return false;
}

/* Start open groups in address order. */
static void sweep(struct destager *d, enum sweep_of of, unsigned int max)
{
	struct stripe_group *group = tree_from(d, d->cursor);
	u64 begin = d->cursor;
	bool wrapped = false;

	while (has_room(d, max)) {
		struct stripe_group *next;

		if (!group) {
			if (wrapped)
				return;
			wrapped = true;
			group = tree_from(d, 0);
			continue;
		}
		if (wrapped && group->stripe >= begin)
			return;
		d->cursor = group->stripe;
		if (sweeps_over(d, group, of)) {
			if (of == SWEEP_NOT_RECENT)
				group->recent = false;
			group = group_at(rb_next(&group->node));
			continue;
		}
		if (awaits_fill(d, group))
			return;
		d->cursor++;
		start(d, group, false);
		/* Neighbours may have left with it. */
		next = tree_from(d, d->cursor);
		group = next;
	}
}

/* Not each time that something completes, where all of theirs is being written already. */
static void sweep_pressing(struct destager *d)
{
	unsigned int before = d->inflight;
	unsigned long pause = msecs_to_jiffies(PRESS_PAUSE_MS);

	/* As time_before(), but right however long ago it was. */
	if (time_in_range_open(d->now, d->in_vain, d->in_vain + pause)) {
		d->again = min(d->again, pause);
		return;
	}
	sweep(d, SWEEP_PRESSING, d->max);
	if (d->inflight == before && has_room(d, d->max))
		d->in_vain = d->now;
}

/* Whether all stripes of a group's cluster are whole, waiting in the tree. */
static bool cluster_is_whole(struct destager *d, struct stripe_group *group)
{
	struct fullstripe *fs = fullstripe_of(d);
	u64 cluster = cluster_stripes(fs);
	u64 stripe = div64_u64(group->stripe, cluster) * cluster;
	struct stripe_group *other = tree_from(d, stripe);
	u64 i;

	for (i = 0; i < cluster; i++) {
		if (!other || other->stripe != stripe + i || !is_whole(fs, other))
			return false;
		other = group_at(rb_next(&other->node));
	}
	return true;
}

static bool start_one_whole(struct destager *d, bool above_low_water)
{
	struct fullstripe *fs = fullstripe_of(d);
	struct stripe_group *group;

	list_for_each_entry(group, &d->full, full_link) {
		if (!has_room(d, d->max))
			return false;
		if ((above_low_water || READ_ONCE(group->wide) ||
		     is_held_long(fs, group->whole_since) || cluster_is_whole(d, group)) &&
		    start(d, group, false))
			return true;
	}
	return false;
}

/*
 * When a group that is held for a moment has to go. It waits for its neighbours, who also had
 * to stand back while it was quiet.
 */
static unsigned long brief_end(const struct destager *d, const struct stripe_group *group)
{
	unsigned long brief = msecs_to_jiffies(BRIEF_MS);
	unsigned long since = time_in_range(d->quiet, group->born, d->now) ? d->quiet : group->born;

	return min(since - group->born + brief, msecs_to_jiffies(LATE_MS)) + group->born;
}

/*
 * The members are busy with a partial stripe for longer than with a whole one. So near a
 * flush there are few at a time, unless that is for too long. Whole ones stand back for twice
 * as long: a page that fsync comes to wait for lies in a partial one.
 */
static bool start_one_brief(struct destager *d, bool also_whole)
{
	struct fullstripe *fs = fullstripe_of(d);
	bool near = quiet_is_near(fs);
	struct stripe_group *group;

	/* What writethrough holds is held for hold_ms. */
	if (setting(fs, SETTING_MODE) != MODE_WRITEBEHIND)
		return false;
	list_for_each_entry(group, &d->brief, brief_link) {
		unsigned long late_at = group->born + msecs_to_jiffies(LATE_MS);
		bool late = time_after_eq(d->now, late_at);

		/* It has the place of any whole one, while those have some beside urgent ones. */
		if (READ_ONCE(group->wide) && d->in_slot[SLOT_OTHERS])
			continue;
		if (!also_whole && is_whole(fs, group) &&
		    time_before(d->now, late_at + msecs_to_jiffies(LATE_MS)))
			continue;
		if (time_before(d->now, brief_end(d, group))) {
			d->again = min(d->again, brief_end(d, group) - d->now);
			return false;
		}
		if (!has_room_for_brief(d, near && !late ? NEAR_BRIEF : d->max)) {
			if (!late)
				d->again = min(d->again, late_at - d->now);
			return false;
		}
		if (start(d, group, false)) {
			/* Nothing has pinned it, as it has no pages. */
			change_slot(d, group, SLOT_BRIEF);
			return true;
		}
	}
	return false;
}

static void start_old(struct destager *d, bool gather)
{
	struct fullstripe *fs = fullstripe_of(d);
	struct stripe_group *group, *next;

	list_for_each_entry_safe(group, next, &d->live, live) {
		bool has_place = has_room(d, d->max);
		bool others = d->in_slot[SLOT_OTHERS];

		/*
		 * There may always be more whole ones than can be in flight, or more of what
		 * somebody waits for: one always can.
		 */
		if (!has_place && d->in_slot[SLOT_OLD])
			return;
		if (!is_due(d, group)) {
			/* What is held may be older than what is copied, and due by the mode. */
			if (setting(fs, SETTING_MODE) == MODE_WRITETHROUGH &&
			    atomic_read(&fs->staging.copied))
				continue;
			return;
		}
		if (group->state != GROUP_OPEN ||
		    (!has_place && others && is_whole(fs, group)) ||
		    (gather && others && takes_stripe(d, group)))
			continue;
		if (awaits_fill(d, group))
			return;
		start(d, group, !has_place);
		/* What somebody copies into is not in flight yet. */
		if (!has_place && group->state == GROUP_INFLIGHT)
			change_slot(d, group, SLOT_OLD);
	}
}

/*
 * Partial stripes above the low water mark, linearly more with the memory in use. Whole ones
 * that are being written count as gone: else the tail of a stream would be written for them
 * before it is whole.
 */
static void start_pressed(struct destager *d)
{
	struct fullstripe *fs = fullstripe_of(d);
	u64 occupied = staging_occupied_bytes(fs, d->inflight_whole);
	u64 high = setting(fs, SETTING_HIGH_WATER_BYTES);
	u64 low = setting(fs, SETTING_LOW_WATER_BYTES);
	bool stalled = READ_ONCE(fs->staging.stalled);
	unsigned int max = d->max;

	if (occupied <= low && (!stalled || d->inflight_whole))
		return;
	/* The marks are written one after the other when they change. */
	if (!stalled && occupied < high && low < high)
		max = 1 + div64_u64((d->max - 1) * (occupied - low), high - low);
	sweep(d, SWEEP_NOT_RECENT, max);
	/* All were recent, and nobody else would look again. */
	if (!d->inflight)
		sweep(d, SWEEP_ALL, 1);
}

/* As many at a time as others, as they may be all that is staged. */
static void start_retrying(struct destager *d)
{
	struct stripe_group *group, *next;

	if (READ_ONCE(d->stopped)) {
		list_splice_init(&d->retrying, &d->failed);
		return;
	}
	list_for_each_entry_safe(group, next, &d->retrying, live) {
		if (!has_room(d, d->inflight_max))
			return;
		list_move(&group->live, &d->live);
		start_alone(d, group);
	}
}

/**
 * destager_gathers() - whether whole stripes are to leave together.
 * @fs: the target.
 *
 * md makes one request of chunks that lie side by side on a member, if it has them at one time:
 * to a disk that seeks it matters how many requests there are.
 *
 * Return: true if so.
 */
bool destager_gathers(const struct fullstripe *fs)
{
	return fs->around.rotational && fs->geo.chunk_sectors << SECTOR_SHIFT < PLUG_BYTES;
}

/* Whether whole stripes wait until more can leave together: for half of those in flight. */
static bool must_gather(struct destager *d)
{
	return destager_gathers(fullstripe_of(d)) && d->inflight_whole > d->inflight_max / 2;
}

/* What a flush or a drain waits for. */
static void start_owed(struct destager *d, bool gather)
{
	start_retrying(d);
	if (gather)
		return;
	if (atomic_read(&d->drain))
		sweep(d, SWEEP_ALL, d->inflight_max);
	else if (d->flush_state == FLUSH_DESTAGING)
		sweep(d, SWEEP_OWED, d->inflight_max);
}

/* What somebody waits for. There may always be more urgent ones than can be in flight. */
static void start_awaited(struct destager *d, bool gather)
{
	bool owed_first = d->owed_next && !list_empty(&d->urgent);
	unsigned int before = d->inflight;

	if (owed_first)
		start_owed(d, false);
	if (d->inflight != before)
		d->owed_next = false;
	while (start_one_urgent(d))
		d->owed_next = true;
	if (!owed_first)
		start_owed(d, gather);
}

static void start_some(struct destager *d)
{
	struct fullstripe *fs = fullstripe_of(d);
	bool gather = must_gather(d);
	enum throttle_need need;
	unsigned int before;
	bool above, pressed;

	if (READ_ONCE(d->held_back))
		return;
	start_awaited(d, gather);

	/* In writethrough who waits is not told from who does not: direct I/O says nothing. */
	d->max = d->inflight_max;
	if (setting(fs, SETTING_MODE) == MODE_WRITEBEHIND)
		d->max = min(d->max, quiet_max_stripes(fs));
	if (!d->max) {
		d->quiet = d->now;
		return;
	}
	above = staging_is_above_low_water(fs);
	need = throttle_needs(fs, !d->inflight && list_empty(&d->full), d->written, &d->again);
	/* There may always be more of either than can be in flight. */
	pressed = need == THROTTLE_PARTIAL && d->pressing_next;
	before = d->inflight;
	if (pressed)
		sweep_pressing(d);
	if (d->inflight != before)
		d->pressing_next = false;
	while (!gather && start_one_whole(d, above || need != THROTTLE_NOTHING))
		d->pressing_next = true;
	while (start_one_brief(d, false))
		;
	while (start_one_brief(d, true))
		;
	start_old(d, gather);
	if (!gather && time_after_eq(d->now, idle_at(fs)))
		sweep(d, SWEEP_ALL, d->max);
	if (need == THROTTLE_PARTIAL && !pressed)
		sweep_pressing(d);
	if (!gather)
		start_pressed(d);
}

/*
 * Flushes
 */

static void sync_end_io(struct bio *bio)
{
	complete(bio->bi_private);
}

/* No flush that is sent by then makes good that one failed; under flush_lock. */
static void good_after(struct destager *d, u64 ns)
{
	d->good_from = max(d->good_from, ktime_get_ns() + ns);
}

/* One was submitted at that time, and succeeded; under flush_lock. */
static void made_good(struct destager *d, u64 at)
{
	if (at > d->good_from)
		WRITE_ONCE(d->refusing, false);
}

/* One was sent below when so many had been, and is answered; under flush_lock. */
static void make_known(struct destager *d, u64 sent)
{
	d->known = max(d->known, sent);
}

/* Something may be lost that nobody knows, or somebody was told; under flush_lock. */
static void set_untold(struct destager *d, unsigned int untold)
{
	if (d->untold == untold)
		return;
	if (!d->untold) {
		DMERR("%s: something may be lost, unheard of above: the next flush fails",
		      dm_table_device_name(fullstripe_of(d)->ti->table));
		WRITE_ONCE(d->tell_event, 1);
	}
	WRITE_ONCE(d->untold, untold);
	queue_work(system_unbound_wq, &d->tell_work);
}

/*
 * Whether one that failed below may have lost what was written since so many had been sent; under
 * flush_lock.
 */
static bool is_at_risk(const struct destager *d, u64 sent)
{
	const struct staging *st = &fullstripe_of(d)->staging;
	/* What is still under way may be in that cache already. */
	bool writing = READ_ONCE(d->inflight) || atomic_read(&st->bypasses) ||
		       atomic_read(&st->unmarked[0]) || atomic_read(&st->unmarked[1]);

	/* It is unflushed before it is not under way: see destager_wrote(). */
	smp_rmb();
	/* One from above that was under way beside it says nothing of what this has lost. */
	return writing || d->sent != sent || READ_ONCE(d->unflushed);
}

/**
 * destager_flush_sent() - a flush is about to be sent below.
 * @fs: the target.
 * @sent: set to a number to be told with the answer.
 *
 * Context: any.
 * Return: whether it is the first for something that was written, or what became of one before is
 * not known yet; of interest if it is the target's own.
 */
bool destager_flush_sent(struct fullstripe *fs, u64 *sent)
{
	struct destager *d = &fs->destager;
	unsigned long flags;
	bool risk;

	spin_lock_irqsave(&d->flush_lock, flags);
	if (xchg(&d->unflushed, 0))
		d->sent++;
	*sent = d->sent;
	risk = d->known != d->sent;
	spin_unlock_irqrestore(&d->flush_lock, flags);
	return risk;
}

/**
 * destager_own_flushed() - a flush that the target sent below by itself was answered.
 * @fs: the target.
 * @sent: what destager_flush_sent() set.
 * @risk: what it returned.
 * @error: a negative errno if it failed and none from above fails with it, else 0.
 *
 * What was written there before may be lost then, and no flush of who wrote it fails.
 *
 * Context: any.
 */
void destager_own_flushed(struct fullstripe *fs, u64 sent, bool risk, int error)
{
	struct destager *d = &fs->destager;
	unsigned long flags;

	spin_lock_irqsave(&d->flush_lock, flags);
	if (error && (risk || is_at_risk(d, sent))) {
		set_untold(d, d->untold | UNTOLD_OWN);
		d->lost_at = ktime_get_ns();
		good_after(d, FORGET_NS);
	}
	make_known(d, sent);
	spin_unlock_irqrestore(&d->flush_lock, flags);
}

static void flush_end_io(struct bio *bio)
{
	struct destager *d = container_of(bio, struct destager, flush_bio);
	int error = blk_status_to_errno(bio->bi_status);

	d->flush_status = bio->bi_status;
	bio_uninit(bio);
	/* Before any that was sent later can be answered. With others those who wait are told. */
	destager_own_flushed(fullstripe_of(d), d->flush_sent, d->flush_risk,
			     d->own_alone ? error : 0);
	rcu_read_lock();
	/* Pairs with the acquire in take_flushes(). */
	smp_store_release(&d->flush_state, FLUSH_ANSWERED);
	queue_work(d->wq, &d->work);
	rcu_read_unlock();
}

static void flush_lower(struct work_struct *work)
{
	struct destager *d = container_of(work, struct destager, flush_work);

	bio_init(&d->flush_bio, fullstripe_of(d)->dev->bdev, NULL, 0,
		 REQ_OP_WRITE | REQ_PREFLUSH | REQ_SYNC);
	d->flush_bio.bi_end_io = flush_end_io;
	submit_bio_noacct(&d->flush_bio);
}

static bool is_own(const struct bio *flush)
{
	return flush->bi_end_io == sync_end_io;
}

/* Whether all that wait are the target's own. */
static bool are_own(struct bio_list *flushes)
{
	struct bio *bio;

	bio_list_for_each(bio, flushes)
		if (!is_own(bio))
			return false;
	return true;
}

static void end_flushes(struct destager *d, blk_status_t status)
{
	bool sent = d->flush_state == FLUSH_ANSWERED;
	struct bio *bio;

	WRITE_ONCE(d->own_alone, false);
	while ((bio = bio_list_pop(&d->flushing))) {
		if (!is_own(bio))
			fullstripe_io(bio)->lost = sent;
		bio->bi_status = status;
		bio_endio(bio);
	}
	d->flush_state = FLUSH_NONE;
}

static void retry_failed(struct destager *d)
{
	struct stripe_group *group;

	if (READ_ONCE(d->stopped))
		return;
	/* Older than any flush that may be waiting: all of them wait for it. */
	list_for_each_entry(group, &d->failed, live)
		group->epoch = 0;
	list_splice_tail_init(&d->failed, &d->retrying);
}

/* Looked at in each run: each sets the alarm anew, which may never ring while there are many. */
static bool is_retry_due(const struct destager *d)
{
	return !list_empty(&d->failed) && time_after_eq(d->now, d->retry_at);
}

/*
 * The flushes that are next, before the inbox is read: what completed before they
 * were submitted was announced before, so it is in an epoch that they wait for.
 */
static void take_flushes(struct destager *d)
{
	/* Pairs with the release in flush_end_io(). */
	if (smp_load_acquire(&d->flush_state) == FLUSH_ANSWERED)
		end_flushes(d, d->flush_status);
	if (d->flush_state != FLUSH_NONE)
		return;
	spin_lock_irq(&d->flush_lock);
	d->flushing = d->flushes;
	bio_list_init(&d->flushes);
	spin_unlock_irq(&d->flush_lock);
}

/* Whether a flush that comes now waits for whole stripes. */
static bool owes_whole(struct destager *d)
{
	struct stripe_group *group;

	list_for_each_entry(group, &d->live, live)
		if (takes_stripe(d, group))
			return true;
	return false;
}

/* After the inbox is read: close the epoch. */
static void seal_epoch(struct destager *d)
{
	if (d->flush_state != FLUSH_NONE || bio_list_empty(&d->flushing))
		return;
	d->flush_state = FLUSH_DESTAGING;
	d->flush_epoch = d->epoch++;
	d->flush_failed = false;
	d->flush_whole = owes_whole(d);
	/* From now on others wait for their turn behind it. */
	WRITE_ONCE(d->own_alone, are_own(&d->flushing));
	d->cursor = 0;
	/* Whether it still fails is what the flush has to find out. */
	retry_failed(d);
}

static void answer_flushes(struct destager *d)
{
	struct stripe_group *group;

	if (d->flush_state != FLUSH_DESTAGING)
		return;
	/*
	 * All were to be tried again when the epoch was sealed: this is news. Somebody who goes on
	 * writing there has it tried again and again, and may always be faster than this.
	 */
	if (d->flush_failed || !list_empty(&d->failed)) {
		end_flushes(d, BLK_STS_IOERR);
		destager_kick(fullstripe_of(d));
		return;
	}
	if (!list_empty(&d->retrying))
		return;
	list_for_each_entry(group, &d->live, live) {
		if (group->epoch > d->flush_epoch)
			break;
		if (is_owed(d, group))
			return;
	}
	d->flush_risk = destager_flush_sent(fullstripe_of(d), &d->flush_sent);
	d->flush_state = FLUSH_SENT;
	queue_work(d->wq, &d->flush_work);
}

/**
 * destager_flush() - take a flush request.
 * @fs: the target.
 * @bio: an empty flush; completes when all that completed before it is stable.
 *
 * Context: .map; does not sleep.
 */
void destager_flush(struct fullstripe *fs, struct bio *bio)
{
	struct destager *d = &fs->destager;
	unsigned long flags;

	spin_lock_irqsave(&d->flush_lock, flags);
	bio_list_add(&d->flushes, bio);
	spin_unlock_irqrestore(&d->flush_lock, flags);
	destager_kick(fs);
}

/**
 * destager_init_flush() - make a flush of the target's own.
 * @fs: the target.
 * @bio: the flush, for destager_flush() or the lower device; bio_uninit() comes last.
 * @done: completed when it is answered.
 *
 * Context: any.
 */
void destager_init_flush(struct fullstripe *fs, struct bio *bio, struct completion *done)
{
	bio_init(bio, fs->dev->bdev, NULL, 0, REQ_OP_WRITE | REQ_PREFLUSH);
	bio->bi_private = done;
	bio->bi_end_io = sync_end_io;
}

/* A flush of the target's own. Return: 0 or a negative errno, as a flush has it. */
static int flush_and_wait(struct fullstripe *fs)
{
	struct destager *d = &fs->destager;
	u64 at = ktime_get_ns();
	DECLARE_COMPLETION_ONSTACK(done);
	struct bio bio;
	int r;

	destager_init_flush(fs, &bio, &done);
	destager_flush(fs, &bio);
	wait_for_completion_io(&done);
	/*
	 * That it failed is nothing that dm core could forget. But what came with one from above
	 * that failed dm core may keep until the resume, however long that is.
	 */
	if (!bio.bi_status && !READ_ONCE(fs->suspending)) {
		spin_lock_irq(&d->flush_lock);
		made_good(d, at);
		spin_unlock_irq(&d->flush_lock);
	}
	r = blk_status_to_errno(bio.bi_status);
	bio_uninit(&bio);
	return r;
}

/* One from above fails: somebody is told, or not; under flush_lock. @news: it failed below, too. */
static void answer_untold(struct destager *d, const struct fullstripe_io *io, bool news)
{
	if (io->with_data) {
		/* xfs has one without FUA, and FUA only much later: that need not be refused. */
		if (news || !(d->untold & UNTOLD_FORGOTTEN))
			d->forgotten_at = ktime_get_ns();
		set_untold(d, UNTOLD_FORGOTTEN);
	} else if (io->flushed_at > d->forgotten_at) {
		set_untold(d, 0);
	} else {
		set_untold(d, d->untold & ~UNTOLD_OWN);
	}
}

/**
 * destager_flushed() - a flush from above is about to be answered.
 * @fs: the target.
 * @io: the flush.
 * @status: the answer as it is so far.
 *
 * Of a flush with data dm core forgets the answer, and sends the data, nearly always with FUA, when
 * it has it. What a flush failed for may be written by then, and the data's writer be told that
 * all is stable (jbd2, xfs). So no FUA write succeeds until a flush did that was submitted later:
 * that has what could not be written. But what the lower device has lost no flush brings back, so
 * then it has to be so much later that dm core has sent that data.
 *
 * Context: any.
 * Return: the answer: an error, too, if one failed before of which nobody was told.
 */
blk_status_t destager_flushed(struct fullstripe *fs, const struct fullstripe_io *io,
			      blk_status_t status)
{
	struct destager *d = &fs->destager;
	bool lost = io->lost, news;
	unsigned long flags;

	spin_lock_irqsave(&d->flush_lock, flags);
	news = status && lost;
	if (d->untold || io->flushed_at <= d->lost_at) {
		status = BLK_STS_IOERR;
		lost = true;
	}
	make_known(d, io->sent);
	if (status) {
		if (lost)
			answer_untold(d, io, news);
		good_after(d, lost ? FORGET_NS : 0);
		/* Until the resume, or what takes back the suspend, dm core may keep its data. */
		if (READ_ONCE(fs->suspending))
			d->good_from = U64_MAX;
		WRITE_ONCE(d->refusing, true);
	} else {
		made_good(d, io->flushed_at);
	}
	spin_unlock_irqrestore(&d->flush_lock, flags);
	return status;
}

static void want_good(struct destager *d)
{
	u64 now = ktime_get_ns(), from;
	unsigned long flags;

	if (!READ_ONCE(d->refusing))
		return;
	spin_lock_irqsave(&d->flush_lock, flags);
	from = min(d->good_from, now + FORGET_NS);
	spin_unlock_irqrestore(&d->flush_lock, flags);
	queue_delayed_work(system_unbound_wq, &d->good_work,
			   from < now ? 0 : nsecs_to_jiffies(from - now) + 1);
}

/* Flush for those that nobody flushes for: who writes with FUA alone. */
static void make_good(struct work_struct *work)
{
	struct destager *d = container_of(to_delayed_work(work), struct destager, good_work);
	struct fullstripe *fs = fullstripe_of(d);

	/* There may have been one too early. */
	if (!flush_and_wait(fs) && !READ_ONCE(fs->suspending))
		want_good(d);
}

/**
 * destager_refuses_fua() - whether a flush failed, and none has made that good.
 * @fs: the target.
 *
 * If nothing is known to fail it is tried whether one does.
 *
 * Context: .map; does not sleep.
 */
bool destager_refuses_fua(struct fullstripe *fs)
{
	struct destager *d = &fs->destager;
	unsigned long flags;

	if (!READ_ONCE(d->refusing))
		return false;
	spin_lock_irqsave(&d->flush_lock, flags);
	set_untold(d, d->untold & ~UNTOLD_FORGOTTEN);
	spin_unlock_irqrestore(&d->flush_lock, flags);
	if (!atomic_read(&d->failing))
		want_good(d);
	DMERR_LIMIT("%s: a flush failed, and so do writes with FUA until one succeeds",
		    dm_table_device_name(fs->ti->table));
	return true;
}

/*
 * News of groups
 */

static void end_held(struct stripe_group *group, blk_status_t status)
{
	struct bio_list held = group->held;
	struct bio *bio;

	bio_list_init(&group->held);
	while ((bio = bio_list_pop(&held))) {
		bio->bi_status = status;
		bio_endio(bio);
	}
}

static void try_again(struct destager *d, struct stripe_group *failed)
{
	failed->epoch = 0;
	list_move_tail(&failed->live, &d->retrying);
}

/*
 * Who waits for the open group above a failed one must not wait for a repair; but what was never
 * tried does not fail because something else did, once.
 */
static void end_successor(struct destager *d, struct stripe_group *failed, bool once)
{
	struct fullstripe *fs = fullstripe_of(d);
	struct stripe_group *group = tree_from(d, failed->stripe);
	struct shard *shard = staging_shard(fs, failed->stripe);
	struct bio_list held;
	struct bio *bio;

	if (!group || group->stripe != failed->stripe)
		return;
	spin_lock_irq(&shard->lock);
	held = group->held;
	if (!once)
		bio_list_init(&group->held);
	spin_unlock_irq(&shard->lock);
	if (once) {
		if (!bio_list_empty(&held))
			try_again(d, failed);
		return;
	}
	while ((bio = bio_list_pop(&held))) {
		fullstripe_io(bio)->kind = IO_PLAIN;
		bio_io_error(bio);
	}
}

/* Say what the state is now: what came and went in between is in the counters. */
static void tell_state(struct work_struct *work)
{
	static char * const states[][2] = {
		{ "FULLSTRIPE_STATE=ok", NULL },
		{ "FULLSTRIPE_STATE=failing", NULL },
	};
	struct destager *d = container_of(work, struct destager, tell_work);
	struct mapped_device *md = dm_table_get_md(fullstripe_of(d)->ti->table);
	bool failing = destager_is_failing(d);
	unsigned int noio;

	/* Removing the target waits for this, and so must not reclaim that needs it. */
	noio = memalloc_noio_save();
	/* One when it began to fail, however soon that was over. */
	if (xchg(&d->tell_event, 0))
		dm_table_event(fullstripe_of(d)->ti->table);
	if (failing == d->told_failing)
		goto out;
	d->told_failing = failing;
	kobject_uevent_env(&disk_to_dev(dm_disk(md))->kobj, KOBJ_CHANGE, (char **)states[failing]);
out:
	memalloc_noio_restore(noio);
}

static void take_failed(struct destager *d, struct stripe_group *group)
{
	struct fullstripe *fs = fullstripe_of(d);
	bool again = group->failed;

	count(fs, COUNT_DESTAGE_ERRORS, 1);
	WRITE_ONCE(d->failures, d->failures + 1);
	d->flush_failed |= is_owed(d, group);
	/* The others are not put off by one that is tried whenever somebody writes to it. */
	if (list_empty(&d->failed))
		d->retry_at = d->now + msecs_to_jiffies(RETRY_MS);
	group->state = GROUP_FAILED;
	list_move_tail(&group->live, &d->failed);
	if (!group->failed && atomic_inc_return(&d->failing) == 1) {
		const char *name = dm_table_device_name(fs->ti->table);

		DMERR("%s: stripe %llu cannot be written to %s (%d): it is kept and tried again",
		      name, group->stripe, fs->dev->name, blk_status_to_errno(group->status));
		DMERR("%s: writes go through meanwhile; when %s is repaired, send: retry",
		      name, fs->dev->name);
		netlink_write_error(fs, geometry_sector(&fs->geo, group->stripe),
				    fs->geo.stripe_sectors, group->nr_dirty,
				    blk_status_to_errno(group->status));
		WRITE_ONCE(d->tell_event, 1);
		queue_work(system_unbound_wq, &d->tell_work);
		throttle_recheck(fs);
	}
	WRITE_ONCE(group->failed, true);
	end_held(group, group->status);
	/* Nobody waits for it any more; a flush that a device makes of it would be nobody's. */
	group->fua = false;
	end_successor(d, group, !again && !READ_ONCE(d->stopped));
	staging_has_news(fs);
}

static void take_written(struct destager *d, struct stripe_group *group, bool filled)
{
	struct fullstripe *fs = fullstripe_of(d);

	count(fs, is_whole(fs, group) ? COUNT_WHOLE_STRIPES :
	      filled ? COUNT_FILLED_STRIPES : COUNT_PARTIAL_STRIPES, 1);
	count(fs, COUNT_DESTAGED_BYTES, (u64)group->nr_dirty << SECTOR_SHIFT);
	list_del_init(&group->live);
	if (group->failed) {
		WRITE_ONCE(group->failed, false);
		if (atomic_dec_and_test(&d->failing)) {
			DMINFO("%s: everything that could not be written now is",
			       dm_table_device_name(fs->ti->table));
			netlink_recovered(fs);
			queue_work(system_unbound_wq, &d->tell_work);
			want_good(d);
		}
	}
	end_held(group, BLK_STS_OK);
	if (staging_forget(fs, group))
		staging_release(fs, group);
}

static void take_done(struct destager *d)
{
	struct llist_node *list = llist_reverse_order(llist_del_all(&d->done));
	struct fullstripe *fs = fullstripe_of(d);
	struct stripe_group *group, *next;

	llist_for_each_entry_safe(group, next, list, done) {
		bool filled = fill_is_read(group);

		if (!group->status)
			destager_wrote(d);
		/* In this order: pairs with is_at_risk(). */
		smp_wmb();
		leave_slot(d, group);
		if (group->slot != SLOT_AWAITED)
			d->written = jiffies;
		if (group->fill)
			list_add(&group->fill->link, &d->fills);
		group->fill = NULL;
		if (!group->status) {
			take_written(d, group, filled);
		} else if (filled) {
			/* What nobody wrote may be to blame. */
			count(fs, COUNT_DESTAGE_ERRORS, 1);
			DMWARN_LIMIT("%s: stripe %llu cannot be written whole (%d): now in part",
				     dm_table_device_name(fs->ti->table), group->stripe,
				     blk_status_to_errno(group->status));
			group->plain = true;
			start_alone(d, group);
		} else {
			take_failed(d, group);
		}
	}
}

/* If the group below an open one failed, its next try answers who waits for the open one. */
static void retry_below(struct destager *d, struct stripe_group *open)
{
	struct stripe_group *older = staging_find_older(fullstripe_of(d), open->stripe);

	if (older && older->state == GROUP_FAILED && !READ_ONCE(d->stopped))
		try_again(d, older);
}

static void take_open(struct destager *d, struct stripe_group *group)
{
	struct fullstripe *fs = fullstripe_of(d);

	if (!group->known) {
		group->known = true;
		group->epoch = d->epoch;
		group->born = d->now;
		tree_insert(d, group);
		list_add_tail(&group->live, &d->live);
		if (!group->copied)
			list_add_tail(&group->brief_link, &d->brief);
	}
	if (is_whole(fs, group) && list_empty(&group->full_link)) {
		group->whole_since = d->now;
		list_add_tail(&group->full_link, &d->full);
	}
	if (!READ_ONCE(group->urgent))
		return;
	if (list_empty(&group->urgent_link))
		list_add_tail(&group->urgent_link, &d->urgent);
	if (atomic_read(&d->failing))
		retry_below(d, group);
}

static void take_inbox(struct destager *d)
{
	struct llist_node *list = llist_reverse_order(llist_del_all(&d->inbox));
	struct fullstripe *fs = fullstripe_of(d);
	struct stripe_group *group, *next;

	llist_for_each_entry_safe(group, next, list, inbox) {
		struct shard *shard = staging_shard(fs, group->stripe);
		enum group_state state;
		bool pinned, read;

		spin_lock_irq(&shard->lock);
		clear_bit(0, &group->announced);
		state = group->state;
		pinned = group->pins;
		read = group->readers;
		spin_unlock_irq(&shard->lock);

		if (state == GROUP_OPEN)
			take_open(d, group);
		else if (state == GROUP_SEALED && !pinned)
			start_alone(d, group);
		else if (state == GROUP_WRITTEN && !read)
			staging_release(fs, group);
	}
}

/*
 * For the oldest group that is not yet held long. Those that are were tried just now;
 * what keeps them from being started kicks the destager when it is over.
 */
static void set_alarm(struct destager *d)
{
	struct fullstripe *fs = fullstripe_of(d);
	unsigned long next = d->again;
	struct stripe_group *group;

	if (READ_ONCE(d->stopped))
		return;
	list_for_each_entry(group, &d->live, live) {
		if (group->state != GROUP_OPEN || is_due(d, group))
			continue;
		next = min(next, deadline(fs, group->born) - d->now);
		break;
	}
	if (next != MAX_JIFFY_OFFSET && time_before(d->now, idle_at(fs)))
		next = min(next, idle_at(fs) - d->now);
	if (!list_empty(&d->failed))
		next = min(next, d->retry_at - d->now);
	if (next != MAX_JIFFY_OFFSET)
		mod_delayed_work(d->wq, &d->alarm, next);
}

static void alarm_rings(struct work_struct *work)
{
	struct destager *d = container_of(to_delayed_work(work), struct destager, alarm);

	queue_work(d->wq, &d->work);
}

static enum destager_settled settled(struct destager *d)
{
	if (staging_is_empty(fullstripe_of(d)))
		return SETTLED_EMPTY;
	return !d->inflight && !list_empty(&d->failed) ? SETTLED_FAILED : UNSETTLED;
}

static void destager_work(struct work_struct *work)
{
	struct destager *d = container_of(work, struct destager, work);
	struct fullstripe *fs = fullstripe_of(d);

	d->now = jiffies;
	d->again = MAX_JIFFY_OFFSET;
	take_done(d);
	take_flushes(d);
	take_inbox(d);
	seal_epoch(d);
	if (xchg(&d->retry, 0) || is_retry_due(d))
		retry_failed(d);
	staging_unstall(fs);
	start_some(d);
	answer_flushes(d);
	set_alarm(d);
	WRITE_ONCE(d->settled, settled(d));
	if (wq_has_sleeper(&fs->staging.idle))
		wake_up(&fs->staging.idle);
}

/**
 * destager_retry() - try again to write what could not be written.
 * @fs: the target.
 *
 * Context: any.
 */
void destager_retry(struct fullstripe *fs)
{
	WRITE_ONCE(fs->destager.retry, 1);
	destager_kick(fs);
}

/* Whether what is left is nothing, or cannot be written. */
static bool is_settled(struct fullstripe *fs, enum destager_settled *how)
{
	*how = staging_is_empty(fs) ? SETTLED_EMPTY : READ_ONCE(fs->destager.settled);
	return *how != UNSETTLED;
}

/**
 * destager_drain() - write everything that is staged, held or parked.
 * @fs: the target; no new stripes are staged: suspended, or the gate is not open.
 * @all: go on with the rest if some of it cannot be written. Not while there is I/O: who writes
 *	to such a stripe again and again has it tried again each time, and it never settles.
 *
 * Context: may sleep.
 * Return: 0, or -EIO if some of it could not be written; that stays staged.
 */
int destager_drain(struct fullstripe *fs, bool all)
{
	struct destager *d = &fs->destager;
	unsigned int failures = READ_ONCE(d->failures);
	enum destager_settled how;

	atomic_inc(&d->drain);
	destager_retry(fs);
	/* From here on it is settled only after the retry. */
	flush_work(&d->work);
	wait_event(fs->staging.idle, is_settled(fs, &how) ||
		   (!all && READ_ONCE(d->failures) != failures));
	atomic_dec(&d->drain);
	return how == SETTLED_EMPTY ? 0 : -EIO;
}

/**
 * destager_sync() - write all that is accepted so far, without hold, and flush.
 * @fs: the target; may go on accepting.
 *
 * Context: may sleep.
 * Return: 0 or a negative errno, as a flush has it.
 */
int destager_sync(struct fullstripe *fs)
{
	int r;

	atomic_inc(&fs->destager.drain);
	r = flush_and_wait(fs);
	atomic_dec(&fs->destager.drain);
	/* What one has lost that failed before, no other brings back. */
	return r ?: READ_ONCE(fs->destager.untold) ? -EIO : 0;
}

/**
 * destager_settle() - wait for what can be written beside what cannot.
 * @fs: the target, destager.drain raised, where destager_sync() failed; may go on accepting.
 *
 * Until only that is left, or some seconds brought nothing: beside who writes to what
 * cannot be written it never settles, see destager_drain().
 *
 * Context: may sleep.
 */
void destager_settle(struct fullstripe *fs)
{
	unsigned long patience = msecs_to_jiffies(SETTLE_MS);
	enum destager_settled how;
	int before;

	destager_kick(fs);
	/* What is settled is so as of now. */
	flush_work(&fs->destager.work);
	do {
		before = atomic_read(&fs->staging.copied);
	} while (!wait_event_timeout(fs->staging.idle, is_settled(fs, &how), patience) &&
		 atomic_read(&fs->staging.copied) < before);
}

/**
 * destager_stop() - write nothing more: the target is suspended.
 * @fs: the target; drained as far as possible.
 *
 * Context: may sleep.
 */
void destager_stop(struct fullstripe *fs)
{
	WRITE_ONCE(fs->destager.stopped, true);
	/* A run that did not see it may have started a last try. */
	flush_work(&fs->destager.work);
	cancel_delayed_work_sync(&fs->destager.alarm);
	destager_kick(fs);
	flush_work(&fs->destager.work);
	wait_event(fs->staging.idle, READ_ONCE(fs->destager.settled) != UNSETTLED);
	/* Nobody else counts its flush. */
	cancel_delayed_work_sync(&fs->destager.good_work);
}

/**
 * destager_flush_stopped() - flush what lies below when the target is suspended.
 * @fs: the target, after destager_stop().
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int destager_flush_stopped(struct fullstripe *fs)
{
	u64 sent;
	bool risk = destager_flush_sent(fs, &sent);
	int r = blkdev_issue_flush(fs->dev->bdev);

	destager_own_flushed(fs, sent, risk, r);
	return r;
}

/**
 * destager_inherit() - tell what a target has told nobody whose table is replaced.
 * @fs: the target, not yet resumed.
 * @old: the other one, suspended; what it could not write will be gone with it.
 *
 * Context: process.
 */
void destager_inherit(struct fullstripe *fs, struct fullstripe *old)
{
	const struct destager *from = &old->destager;
	struct destager *d = &fs->destager;
	unsigned int untold = from->untold;

	if (atomic_read(&old->staging.copied))
		untold |= UNTOLD_OWN;
	spin_lock_irq(&d->flush_lock);
	set_untold(d, d->untold | untold);
	d->forgotten_at = max(d->forgotten_at, from->forgotten_at);
	if (from->refusing) {
		/* From here on until the resume nothing makes good, as while @old was suspended. */
		d->good_from = U64_MAX;
		WRITE_ONCE(d->refusing, true);
	}
	spin_unlock_irq(&d->flush_lock);
}

/**
 * destager_resume() - go on after destager_stop(), or when the suspend was given up before that.
 * @fs: the target.
 */
void destager_resume(struct fullstripe *fs)
{
	struct destager *d = &fs->destager;

	WRITE_ONCE(d->stopped, false);
	/* dm core may have kept the data of a flush since before the suspend, and sends it now. */
	spin_lock_irq(&d->flush_lock);
	d->good_from = ktime_get_ns() + FORGET_NS;
	spin_unlock_irq(&d->flush_lock);
	want_good(d);
	destager_kick(fs);
}

/**
 * destager_set_geometry() - follow a change of the stripes.
 * @fs: the target; nothing is staged.
 * @fills: what fills_alloc() made for the new stripes; the old ones afterwards.
 */
void destager_set_geometry(struct fullstripe *fs, struct list_head *fills)
{
	unsigned int rows = DIV_ROUND_UP(fs->geo.chunk_sectors, ROW_SECTORS);
	LIST_HEAD(old);

	fs->destager.inflight_max = max(MD_ROWS / rows, 1U);
	list_splice_init(&fs->destager.fills, &old);
	list_splice_init(fills, &fs->destager.fills);
	list_splice(&old, fills);
}

/**
 * destager_init() - set the destager of a target up.
 * @fs: the target, with its geometry set.
 *
 * Return: 0 or -ENOMEM.
 */
int destager_init(struct fullstripe *fs)
{
	struct destager *d = &fs->destager;
	LIST_HEAD(fills);

	INIT_WORK(&d->work, destager_work);
	INIT_DELAYED_WORK(&d->alarm, alarm_rings);
	INIT_WORK(&d->flush_work, flush_lower);
	INIT_WORK(&d->tell_work, tell_state);
	INIT_DELAYED_WORK(&d->good_work, make_good);
	init_llist_head(&d->inbox);
	init_llist_head(&d->done);
	spin_lock_init(&d->flush_lock);
	bio_list_init(&d->flushes);
	bio_list_init(&d->flushing);
	d->open = RB_ROOT;
	INIT_LIST_HEAD(&d->live);
	INIT_LIST_HEAD(&d->full);
	INIT_LIST_HEAD(&d->urgent);
	INIT_LIST_HEAD(&d->brief);
	d->quiet = jiffies;
	INIT_LIST_HEAD(&d->failed);
	INIT_LIST_HEAD(&d->retrying);
	INIT_LIST_HEAD(&d->fills);
	/* No group has grown for a flush of epoch 0. */
	d->epoch = 1;
	/* Long ago. */
	d->in_vain = jiffies - HZ;
	d->wq = alloc_workqueue("fullstripe", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!d->wq || fills_alloc(&fs->geo, &fills))
		return -ENOMEM;
	destager_set_geometry(fs, &fills);
	return 0;
}

/**
 * destager_exit() - stop the destager.
 * @fs: the target; no I/O is under way, what could be written is written.
 *
 * Context: may sleep.
 */
void destager_exit(struct fullstripe *fs)
{
	struct destager *d = &fs->destager;

	if (!d->wq)
		return;
	quiet_exit(&fs->quiet);
	/* Who completed the last bio may not have kicked yet: see destager_put(). */
	synchronize_rcu();
	/* Each may queue the other: the alarm is set by the work. */
	cancel_delayed_work_sync(&d->alarm);
	cancel_work_sync(&d->work);
	cancel_delayed_work_sync(&d->alarm);
	destroy_workqueue(d->wq);
	cancel_work_sync(&d->tell_work);
	fills_free(&d->fills);
}

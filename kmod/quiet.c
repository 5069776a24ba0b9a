// SPDX-License-Identifier: GPL-2.0
/*
 * Quiet for flushes: who calls fsync does not wait behind what others write.
 *
 * DOC: what a flush waits for
 *
 * An fsync is a chain: the data and the journal, a flush, and the record that ends it, each
 * read for and written; and each link waits for what every member has in flight. So while
 * a flush or a write with FUA is under way, nothing is begun that none of them waits for:
 * it is quiet. And while the next one is expected, little of that is in flight at a time,
 * as it has to end first.
 *
 * A member that waits for the next link does nothing meanwhile. So it is quiet for QUIET_MS
 * at most, and then for three times as long as it was it is not: who calls fsync again and
 * again takes no more than a quarter of the members' time in this way.
 */
#include "fullstripe.h"

#define QUIET_MS	200
#define QUIET_SHARE	4

/* For so long after a flush another one is expected. */
#define EXPECTED_MS	1000

/*
 * So many whole stripes are in flight then, which keeps the members busy: four, or as few as
 * have so many bytes, but no fewer than two.
 */
#define EXPECTED_STRIPES	4
#define EXPECTED_STRIPES_MIN	2
#define EXPECTED_BYTES		SZ_1M

/*
 * Between a flush and the write that it was for the block layer, or the file system,
 * needs a moment. So does a work item.
 */
#define PAUSE_JIFFIES	2

/* How long it may still be quiet. Locked. */
static unsigned long left(const struct quiet *quiet, unsigned long now)
{
	unsigned long was = now - quiet->since;

	return was < msecs_to_jiffies(QUIET_MS) ? msecs_to_jiffies(QUIET_MS) - was : 0;
}

/**
 * quiet_begin() - a bio is under way: it waits for no file's mark.
 * @fs: the target.
 * @io: of the bio, until quiet_end(); only flushes and writes with FUA count.
 *
 * Context: any; does not sleep.
 */
void quiet_begin(struct fullstripe *fs, struct fullstripe_io *io)
{
	struct quiet *quiet = &fs->quiet;
	unsigned long flags, now;

	if (!io->awaited)
		return;
	io->quiet = true;
	spin_lock_irqsave(&quiet->lock, flags);
	now = jiffies;
	WRITE_ONCE(quiet->nr_awaited, quiet->nr_awaited + 1);
	WRITE_ONCE(quiet->last, now);
	if (!quiet->is && !time_in_range(now, quiet->ended, quiet->not_before)) {
		WRITE_ONCE(quiet->is, true);
		quiet->since = now;
		mod_delayed_work(fs->destager.wq, &quiet->work, msecs_to_jiffies(QUIET_MS));
	}
	spin_unlock_irqrestore(&quiet->lock, flags);
}

/**
 * quiet_end() - it completes.
 * @fs: the target.
 * @io: of a bio, whether it began to be quiet for it or not.
 *
 * Context: any, also interrupt.
 */
void quiet_end(struct fullstripe *fs, struct fullstripe_io *io)
{
	struct quiet *quiet = &fs->quiet;
	unsigned long flags, now;

	if (!io->quiet)
		return;
	spin_lock_irqsave(&quiet->lock, flags);
	now = jiffies;
	WRITE_ONCE(quiet->last, now);
	/* However many of them come and go, it is not for longer than it may be. */
	WRITE_ONCE(quiet->nr_awaited, quiet->nr_awaited - 1);
	if (!quiet->nr_awaited && quiet->is)
		mod_delayed_work(fs->destager.wq, &quiet->work,
				 min_t(unsigned long, left(quiet, now), PAUSE_JIFFIES));
	spin_unlock_irqrestore(&quiet->lock, flags);
}

static void quiet_work(struct work_struct *work)
{
	struct quiet *quiet = container_of(to_delayed_work(work), struct quiet, work);
	struct fullstripe *fs = container_of(quiet, struct fullstripe, quiet);
	unsigned long now;
	bool ends = false;

	spin_lock_irq(&quiet->lock);
	now = jiffies;
	/* It may have ended since this was queued, and begun anew. */
	if (quiet->is && quiet->nr_awaited && left(quiet, now)) {
		mod_delayed_work(fs->destager.wq, &quiet->work, left(quiet, now));
	} else if (quiet->is) {
		quiet->ended = now;
		quiet->not_before = now + (QUIET_SHARE - 1) * (now - quiet->since);
		WRITE_ONCE(quiet->is, false);
		ends = true;
	}
	spin_unlock_irq(&quiet->lock);
	if (ends) {
		throttle_wake(fs);
		destager_kick(fs);
	}
}

/**
 * quiet_is_near() - a flush is under way, or expected.
 * @fs: the target.
 *
 * What completes before it is on disk is what the next flush waits for. So now only a write
 * does that somebody waits for.
 *
 * Context: any.
 * Return: whether there is one.
 */
bool quiet_is_near(const struct fullstripe *fs)
{
	unsigned long last = READ_ONCE(fs->quiet.last);

	return setting(fs, SETTING_FILE_HIGH_WATER_BYTES) &&
	       (READ_ONCE(fs->quiet.nr_awaited) ||
		time_in_range(jiffies, last, last + msecs_to_jiffies(EXPECTED_MS)));
}

/**
 * quiet_max_stripes() - how much that no flush waits for may be in flight now.
 * @fs: the target.
 *
 * Context: any.
 * Return: stripes; 0 while it is quiet and memory is free: then throttle_wake() and
 * destager_kick() follow.
 */
unsigned int quiet_max_stripes(const struct fullstripe *fs)
{
	u32 stripe_bytes = fs->geo.stripe_sectors << SECTOR_SHIFT;

	if (!quiet_is_near(fs))
		return UINT_MAX;
	/* What it is quiet for may be what waits for memory. */
	if (READ_ONCE(fs->quiet.is) && !READ_ONCE(fs->staging.stalled))
		return 0;
	return clamp_t(u32, EXPECTED_BYTES / stripe_bytes, EXPECTED_STRIPES_MIN, EXPECTED_STRIPES);
}

/**
 * quiet_setup() - make a target's struct quiet.
 * @quiet: that.
 */
void quiet_setup(struct quiet *quiet)
{
	spin_lock_init(&quiet->lock);
	INIT_DELAYED_WORK(&quiet->work, quiet_work);
	/* Long ago. */
	quiet->ended = jiffies - HZ;
	quiet->not_before = quiet->ended;
	quiet->last = jiffies - 2 * msecs_to_jiffies(EXPECTED_MS);
}

/**
 * quiet_exit() - the opposite.
 * @quiet: that; no I/O is under way.
 *
 * Context: may sleep.
 */
void quiet_exit(struct quiet *quiet)
{
	cancel_delayed_work_sync(&quiet->work);
}

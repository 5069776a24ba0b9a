// SPDX-License-Identifier: GPL-2.0
/*
 * A machine that goes down with data staged: nobody suspends its devices, so this writes it.
 */
#include <linux/blkdev.h>
#include <linux/delay.h>
#include <linux/reboot.h>

#include "fullstripe.h"

/* After the last write before a reboot, as long as md itself waits then. */
#define MD_CLEAN_MS	1000

/*
 * Nothing is waited for any more when none of it was written in so many steps: what lies below is
 * suspended, or has no path, and whoever could change that is gone. A SCSI disk has given up by
 * then: six times 30 s for a write, or 60 s for a flush. A step is too short for a hung task.
 */
#define STEP_MS		60000
#define STEPS		7

static struct bio *new_flush(struct fullstripe *fs)
{
	struct fullstripe_reboot *reboot = &fs->reboot;

	destager_init_flush(fs, &reboot->flush, &reboot->done);
	reinit_completion(&reboot->done);
	reboot->under_way = true;
	return &reboot->flush;
}

/* Return: 0 or a negative errno as the flush has it; under_way if it is not answered. */
static int wait_for_flush(struct fullstripe *fs)
{
	struct fullstripe_reboot *reboot = &fs->reboot;
	unsigned int in_vain = 0;
	u64 before;
	int r;

	while (in_vain < STEPS) {
		before = fullstripe_counter(fs, COUNT_DESTAGED_BYTES);
		if (wait_for_completion_io_timeout(&reboot->done, msecs_to_jiffies(STEP_MS))) {
			r = blk_status_to_errno(reboot->flush.bi_status);
			bio_uninit(&reboot->flush);
			reboot->under_way = false;
			return r;
		}
		if (fullstripe_counter(fs, COUNT_DESTAGED_BYTES) == before)
			++in_vain;
		else
			in_vain = 0;
	}
	return -ETIMEDOUT;
}

/* Return: 0, or a negative errno if not all could be written and flushed. */
static int write_all(struct fullstripe *fs)
{
	int r, flushed;
	bool risk;
	u64 sent;

	destager_flush(fs, new_flush(fs));
	r = wait_for_flush(fs);
	if (fs->reboot.under_way)
		return r;
	if (r) {
		/* Beside what cannot be written all else can, and that may be after all. */
		destager_settle(fs);
		risk = destager_flush_sent(fs, &sent);
		submit_bio(new_flush(fs));
		flushed = wait_for_flush(fs);
		destager_own_flushed(fs, sent, risk, flushed);
		if (flushed || !staging_is_empty(fs))
			return flushed ?: r;
	}
	/* What was lost below with one no other brings back. */
	return READ_ONCE(fs->destager.untold) ? -EIO : 0;
}

static void tell_loss(struct fullstripe *fs, int error)
{
	int stripes = atomic_read(&fs->staging.copied);

	if (stripes)
		DMCRIT("%s: the machine goes down, %llu bytes in %d stripes are lost (error %d)",
		       dm_table_device_name(fs->ti->table), staging_staged_bytes(fs), stripes,
		       error);
	else
		DMCRIT("%s: the machine goes down, a flush failed (error %d)",
		       dm_table_device_name(fs->ti->table), error);
}

static int on_reboot(struct notifier_block *nb, unsigned long action, void *unused)
{
	struct fullstripe *fs = container_of(nb, struct fullstripe, reboot.nb);
	bool writes;
	int r;

	/* From now on nothing is held: what comes later is written at once. */
	atomic_inc(&fs->destager.drain);
	/* Until a suspend has written what is staged that is waited for here. */
	if (READ_ONCE(fs->reboot.at_rest)) {
		if (atomic_read(&fs->staging.copied))
			tell_loss(fs, -EIO);
		return NOTIFY_DONE;
	}
	writes = atomic_read(&fs->staging.copied) || dm_suspended(fs->ti);
	r = write_all(fs);
	if (r)
		tell_loss(fs, r);
	/*
	 * md heard of it first, and turned clean; these writes made it dirty again. It
	 * turns clean when it sees that they are over, but nobody waits for its thread: an
	 * array would be resynced for nothing, and a degraded one not start by itself.
	 */
	if (writes)
		msleep(MD_CLEAN_MS);
	return NOTIFY_DONE;
}

/**
 * fullstripe_reboot_init() - hear of reboots from now on.
 * @fs: the target, all else of it ready.
 *
 * Context: may sleep.
 */
void fullstripe_reboot_init(struct fullstripe *fs)
{
	init_completion(&fs->reboot.done);
	fs->reboot.at_rest = true;
	fs->reboot.nb.notifier_call = on_reboot;
	/* md's own is INT_MAX; it closes the array for good a second later. */
	fs->reboot.nb.priority = INT_MAX - 1;
	register_reboot_notifier(&fs->reboot.nb);
}

/**
 * fullstripe_reboot_exit() - hear of none any more.
 * @fs: the target; fullstripe_reboot_init() need not have been called.
 *
 * Context: may sleep; waits for a reboot that still writes, or gave up.
 */
void fullstripe_reboot_exit(struct fullstripe *fs)
{
	if (!fs->reboot.nb.notifier_call)
		return;
	unregister_reboot_notifier(&fs->reboot.nb);
	if (fs->reboot.under_way)
		wait_for_completion_io(&fs->reboot.done);
}

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
 * Nothing is waited for any more when so long none of it was written: what lies below is
 * suspended, or has no path, and whoever could change that is gone. A SCSI disk has given up by
 * then (30 s, and five more tries).
 */
#define PATIENCE_MS	180000

static void write_all(struct work_struct *work)
{
	struct reboot *reboot = container_of(work, struct reboot, work);
	struct fullstripe *fs = container_of(reboot, struct fullstripe, reboot);

	reboot->error = destager_sync(fs);
	if (reboot->error) {
		destager_settle(fs);
		blkdev_issue_flush(fs->dev->bdev);
	}
	complete(&reboot->done);
}

/* Return: 0, or a negative errno if not all could be written. */
static int write_all_or_give_up(struct fullstripe *fs)
{
	struct reboot *reboot = &fs->reboot;
	unsigned long patience = msecs_to_jiffies(PATIENCE_MS);
	u64 before;

	reinit_completion(&reboot->done);
	queue_work(fs->destager.wq, &reboot->work);
	do {
		before = fullstripe_counter(fs, COUNT_DESTAGED_BYTES);
		if (wait_for_completion_timeout(&reboot->done, patience))
			return reboot->error;
	} while (fullstripe_counter(fs, COUNT_DESTAGED_BYTES) != before);
	return -ETIMEDOUT;
}

static int on_reboot(struct notifier_block *nb, unsigned long action, void *unused)
{
	struct fullstripe *fs = container_of(nb, struct fullstripe, reboot.nb);
	bool staged;
	int r;

	/* From now on nothing is held: what comes later is written at once. */
	atomic_inc(&fs->destager.drain);
	staged = atomic_read(&fs->staging.copied);
	/*
	 * What lies below may be suspended as well once a suspend has written what is staged.
	 * Until then that is waited for here.
	 */
	if (dm_suspended(fs->ti) && (!staged || READ_ONCE(fs->destager.stopped)))
		return NOTIFY_DONE;
	r = write_all_or_give_up(fs);
	if (r)
		DMCRIT("%s: the machine goes down, and not all is written and flushed (error %d): %llu bytes in %d stripes are lost",
		       dm_table_device_name(fs->ti->table), r, staging_staged_bytes(fs),
		       atomic_read(&fs->staging.copied));
	/*
	 * md heard of it first, and turned clean; these writes made it dirty again. It
	 * turns clean when it sees that they are over, but nobody waits for its thread: an
	 * array would be resynced for nothing, and a degraded one not start by itself.
	 */
	if (staged)
		msleep(MD_CLEAN_MS);
	return NOTIFY_DONE;
}

/**
 * reboot_setup() - prepare the fields that reboot_exit() looks at.
 * @reboot: all zero.
 */
void reboot_setup(struct reboot *reboot)
{
	INIT_WORK(&reboot->work, write_all);
	init_completion(&reboot->done);
}

/**
 * reboot_init() - hear of reboots from now on.
 * @fs: the target, all else of it ready.
 *
 * Context: may sleep.
 */
void reboot_init(struct fullstripe *fs)
{
	fs->reboot.nb.notifier_call = on_reboot;
	/* md's own is INT_MAX; it closes the array for good a second later. */
	fs->reboot.nb.priority = INT_MAX - 1;
	register_reboot_notifier(&fs->reboot.nb);
}

/**
 * reboot_exit() - hear of none any more.
 * @fs: the target; reboot_init() need not have been called.
 *
 * Context: may sleep; waits for a reboot that still writes.
 */
void reboot_exit(struct fullstripe *fs)
{
	if (!fs->reboot.nb.notifier_call)
		return;
	unregister_reboot_notifier(&fs->reboot.nb);
	flush_work(&fs->reboot.work);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Each write becomes a flush with data, as the log of xfs has them: nothing in user space
 * makes one that is without FUA.
 *
 *	table		0 <sectors> preflush <device>
 */
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/device-mapper.h>
#include <linux/device/driver.h>
#include <linux/module.h>

#define DM_MSG_PREFIX	"preflush"

static int preflush_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	struct dm_dev *dev;
	int r;

	if (argc != 1) {
		ti->error = "a device is wanted";
		return -EINVAL;
	}
	r = dm_get_device(ti, argv[0], dm_table_get_mode(ti->table), &dev);
	if (r) {
		ti->error = "the device cannot be had";
		return r;
	}
	ti->private = dev;
	ti->num_flush_bios = 1;
	return 0;
}

static void preflush_dtr(struct dm_target *ti)
{
	dm_put_device(ti, ti->private);
}

static int preflush_map(struct dm_target *ti, struct bio *bio)
{
	struct dm_dev *dev = ti->private;

	bio_set_dev(bio, dev->bdev);
	if (bio_op(bio) == REQ_OP_WRITE && bio_sectors(bio))
		bio->bi_opf |= REQ_PREFLUSH | REQ_SYNC | REQ_IDLE;
	return DM_MAPIO_REMAPPED;
}

static int preflush_iterate_devices(struct dm_target *ti, iterate_devices_callout_fn fn,
				    void *data)
{
	return fn(ti, ti->private, 0, ti->len, data);
}

static struct target_type preflush_target = {
	.name = "preflush",
	.version = { 1, 0, 0 },
	.module = THIS_MODULE,
	.ctr = preflush_ctr,
	.dtr = preflush_dtr,
	.map = preflush_map,
	.iterate_devices = preflush_iterate_devices,
};

module_driver(preflush_target, dm_register_target, dm_unregister_target);

MODULE_DESCRIPTION(DM_NAME " target that flushes before each write");
MODULE_AUTHOR("The fullstripe developers");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/*
 * The device-mapper target: table line in, status out, map. The only file that
 * deals with dm core's life cycle.
 */
#include <linux/blkdev.h>
#include <linux/init.h>
#include <linux/major.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/stringify.h>

#include "fullstripe.h"
#include "netlink.h"
#include "version.h"

/* Bios that destage can always have: it submits each before it asks for the next. */
#define BIO_RESERVE 64

/**
 * fullstripe_remap() - point a bio of the target to the lower device.
 * @fs: the target.
 * @bio: the bio.
 */
void fullstripe_remap(struct fullstripe *fs, struct bio *bio)
{
	bio_set_dev(bio, fs->dev->bdev);
	bio->bi_iter.bi_sector = fs->start + dm_target_offset(fs->ti, bio->bi_iter.bi_sector);
}

/**
 * fullstripe_alloc_bio() - a bio to the lower device for sectors that lie in pages.
 * @fs: the target.
 * @opf: its operation and flags.
 * @base: sector of the lower device where the first page begins.
 * @first: first sector, from there.
 * @end: the one behind the last.
 *
 * Context: may sleep.
 * Return: the bio, empty: fullstripe_add_page() is called until it or @end is reached; what
 * is left then takes another one.
 */
struct bio *fullstripe_alloc_bio(struct fullstripe *fs, blk_opf_t opf, sector_t base, u32 first,
				 u32 end)
{
	u32 pages = PAGE_SECTORS_OF(end) - first / PAGE_SECTORS;
	struct bio *bio = bio_alloc_bioset(fs->dev->bdev, min(pages, BIO_MAX_VECS), opf, GFP_NOIO,
					   &fs->bios);

	bio->bi_iter.bi_sector = base + first;
	return bio;
}

/**
 * fullstripe_add_page() - add the sectors that lie in one page to a bio.
 * @bio: the bio; has room.
 * @page: the page of sector @first.
 * @first: first sector.
 * @end: the one behind the last that is wanted, maybe in another page.
 *
 * Context: any.
 * Return: the sector to go on with.
 */
u32 fullstripe_add_page(struct bio *bio, struct page *page, u32 first, u32 end)
{
	u32 in_page = first % PAGE_SECTORS;
	u32 n = min_t(u32, PAGE_SECTORS - in_page, end - first);

	__bio_add_page(bio, page, n << SECTOR_SHIFT, in_page << SECTOR_SHIFT);
	return first + n;
}

static int fullstripe_map(struct dm_target *ti, struct bio *bio)
{
	struct fullstripe *fs = ti->private;
	struct fullstripe_io *io = fullstripe_io(bio);

	io->kind = IO_PLAIN;
	io->nr_bypass = 0;
	io->whole = false;
	io->paced = false;
	io->rest = false;
	io->charged = 0;
	io->file = NULL;
	io->awaited = bio->bi_opf & (REQ_PREFLUSH | REQ_FUA);
	io->quiet = false;

	if (bio->bi_opf & REQ_PREFLUSH) {
		io->kind = IO_FLUSH;
		io->flushed_at = ktime_get_ns();
		io->sent = 0;
		io->lost = false;
		/* The one flag of it that dm core lets through, if it has it (jbd2, xfs). */
		io->with_data = bio->bi_opf & REQ_IDLE;
		quiet_begin(fs, io);
		count(fs, COUNT_FLUSHES, 1);
		if (atomic_read(&fs->staging.copied) || READ_ONCE(fs->destager.own_alone)) {
			destager_flush(fs, bio);
			return DM_MAPIO_SUBMITTED;
		}
		destager_flush_sent(fs, &io->sent);
		io->lost = true;
		fullstripe_remap(fs, bio);
		return DM_MAPIO_REMAPPED;
	}

	if (bio->bi_opf & REQ_FUA && destager_refuses_fua(fs))
		return DM_MAPIO_KILL;

	staging_touch(fs);

	switch (bio_op(bio)) {
	case REQ_OP_READ:
		return staging_read(fs, bio);
	case REQ_OP_WRITE:
		return staging_write(fs, bio);
	case REQ_OP_DISCARD:
		return discard_map(fs, bio);
	default:
		/* Write-zeroes is not offered: the kernel writes the zeroes then. */
		return DM_MAPIO_KILL;
	}
}

static int fullstripe_end_io(struct dm_target *ti, struct bio *bio, blk_status_t *error)
{
	struct fullstripe_io *io = fullstripe_io(bio);
	struct fullstripe *fs = ti->private;

	if (io->kind == IO_FLUSH) {
		count(fs, COUNT_ANSWERED_FLUSHES, 1);
		count(fs, COUNT_FLUSH_US, div_u64(ktime_get_ns() - io->flushed_at, NSEC_PER_USEC));
		*error = destager_flushed(fs, io, *error);
	} else if (bio_op(bio) == REQ_OP_WRITE && !*error && io->kind != IO_COPIED) {
		destager_wrote(&fs->destager);
	}
	staging_end_io(fs, bio);
	quiet_end(fs, io);
	return DM_ENDIO_DONE;
}

/*
 * Table line
 */

/*
 * ti->error must outlive the target, and here it names what was given. Two tables that
 * are refused at the same time may mix their words.
 */
static char *name_key(const char *name, const char *what)
{
	static char error[80];

	snprintf(error, sizeof(error), "%.40s: %s", name, what);
	return error;
}

static int parse_keys(struct fullstripe *fs, struct dm_arg_set *as, char **error)
{
	static const struct dm_arg args[] = {
		{0, 2 * NR_SETTINGS, "Number of arguments: not 0 to 32, or not as many follow"},
	};
	struct dm_target *ti = fs->ti;
	unsigned int argc;
	int r;

	if (!as->argc)
		return 0;
	r = dm_read_arg_group(args, as, &argc, &ti->error);
	if (r)
		return r;
	if (argc % 2) {
		*error = "Arguments are not pairs of key and value";
		return -EINVAL;
	}
	for (; argc; argc -= 2) {
		const char *name = dm_shift_arg(as);
		const char *value = dm_shift_arg(as);
		int key = settings_find(name);

		if (key < 0) {
			*error = name_key(name, "no such key");
			return -EINVAL;
		}
		if (fs->settings.given & (1UL << key)) {
			*error = name_key(name, "given twice");
			return -EINVAL;
		}
		r = settings_set(&fs->settings, key, value, (const char **)error);
		if (r)
			return r;
	}
	if (as->argc) {
		*error = "More arguments than their number says";
		return -EINVAL;
	}
	return 0;
}

/* What the lower device says of itself. Only md's own limits are trusted. */
static void look_around(struct fullstripe *fs)
{
	struct block_device *bdev = fs->dev->bdev;
	unsigned int chunk = bdev_io_min(bdev);
	unsigned int stripe = bdev_io_opt(bdev);

	fs->around.ram_bytes = (u64)totalram_pages() << PAGE_SHIFT;
	fs->around.block_bytes = bdev_logical_block_size(bdev);
	fs->around.partition_bytes = (u64)get_start_sect(bdev) << SECTOR_SHIFT;
	fs->around.rotational = !bdev_nonrot(bdev);
	/* md sets the chunk and the stripe width; without stripes it sets no io_opt. */
	if (bdev->bd_disk->major == MD_MAJOR && chunk && stripe && stripe % chunk == 0) {
		fs->around.found_chunk_bytes = chunk;
		fs->around.found_data_members = stripe / chunk;
	}
}

static void init_geometry(const struct fullstripe *fs, const struct settings *s,
			  struct geometry *geo)
{
	geometry_init(geo, s->value[SETTING_CHUNK_BYTES], s->value[SETTING_DATA_MEMBERS],
		      s->value[SETTING_ALIGNMENT_OFFSET], fs->start, fs->ti->len);
}

static int open_lower(struct fullstripe *fs, struct dm_arg_set *as)
{
	struct dm_target *ti = fs->ti;
	const char *path = dm_shift_arg(as);
	unsigned long long start;
	u64 size;
	int r;

	if (kstrtoull(dm_shift_arg(as), 10, &start) || start != (sector_t)start) {
		ti->error = "start: not a number of sectors";
		return -EINVAL;
	}
	r = dm_get_device(ti, path, dm_table_get_mode(ti->table), &fs->dev);
	if (r) {
		fs->dev = NULL;
		ti->error = r == -EBUSY ? "dev: in use" : "dev: cannot be opened";
		return r;
	}
	if (bdev_is_zoned(fs->dev->bdev)) {
		ti->error = "dev: zoned devices are not supported";
		return -EINVAL;
	}
	size = bdev_nr_sectors(fs->dev->bdev);
	if (start >= size || ti->len > size - start) {
		ti->error = "dev: too small for start and length";
		return -EINVAL;
	}
	if ((start << SECTOR_SHIFT) % bdev_logical_block_size(fs->dev->bdev)) {
		ti->error = "start: not a multiple of the logical block size";
		return -EINVAL;
	}
	fs->start = start;
	return 0;
}

static void fullstripe_dtr(struct dm_target *ti)
{
	struct fullstripe *fs = ti->private;

	fullstripe_reboot_exit(fs);
	handover_withdraw(fs);
	fullstripe_sysfs_remove(fs);
	netlink_remove(fs);
	prefetch_exit(fs);
	destager_exit(fs);
	staging_exit(fs);
	throttle_exit(fs);
	bioset_exit(&fs->bios);
	free_percpu(fs->counters);
	if (fs->dev)
		dm_put_device(ti, fs->dev);
	mutex_destroy(&fs->settings_lock);
	kvfree(fs);
}

/*
 * <dev> <start> [<#args> key value...]
 */
static int fullstripe_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	struct dm_arg_set as = { .argc = argc, .argv = argv };
	struct fullstripe *fs;
	int r;

	if (argc < 2) {
		ti->error = "Too few arguments: <dev> <start> [<#args> key value...]";
		return -EINVAL;
	}
	fs = kvzalloc(sizeof(*fs), GFP_KERNEL);
	if (!fs) {
		ti->error = "Cannot allocate the target";
		return -ENOMEM;
	}
	fs->ti = ti;
	ti->private = fs;
	mutex_init(&fs->settings_lock);
	INIT_LIST_HEAD(&fs->handover);
	staging_setup(fs);
	throttle_setup(&fs->throttle);
	quiet_setup(&fs->quiet);
	prefetch_setup(&fs->prefetch);
	discards_setup(&fs->discards);

	r = open_lower(fs, &as);
	if (r)
		goto bad;
	r = parse_keys(fs, &as, &ti->error);
	if (r)
		goto bad;
	look_around(fs);
	r = settings_complete(&fs->settings, &fs->around, (const char **)&ti->error);
	if (r)
		goto bad;
	init_geometry(fs, &fs->settings, &fs->geo);
	if (!geometry_is_whole(&fs->geo, 0) && !geometry_is_whole(&fs->geo, 1)) {
		ti->error = "dev: holds not one whole stripe";
		r = -EINVAL;
		goto bad;
	}

	ti->error = "Cannot allocate the target";
	fs->counters = alloc_percpu(struct counters);
	r = fs->counters ? bioset_init(&fs->bios, BIO_RESERVE, 0, BIOSET_NEED_BVECS) : -ENOMEM;
	if (!r)
		r = prefetch_init(fs);
	if (r)
		goto bad;
	r = destager_init(fs);
	if (r) {
		ti->error = "stripe_bytes: cannot allocate what fills so wide a stripe";
		goto bad;
	}
	r = staging_init(fs);
	if (r) {
		ti->error = "high_water_bytes: cannot allocate so much";
		goto bad;
	}
	ti->error = NULL;
	fullstripe_reboot_init(fs);

	ti->num_flush_bios = 1;
	/* Where the lower device has it. */
	ti->num_discard_bios = 1;
	ti->flush_supported = true;
	ti->limit_swap_bios = true;
	ti->per_io_data_size = sizeof(struct fullstripe_io);
	return 0;

bad:
	fullstripe_dtr(ti);
	return r;
}

/*
 * Suspend and resume
 */

static void drain_for_suspend(struct fullstripe *fs, bool suspending)
{
	if (fs->suspending == suspending)
		return;
	WRITE_ONCE(fs->suspending, suspending);
	atomic_add(suspending ? 1 : -1, &fs->destager.drain);
	throttle_recheck(fs);
	destager_kick(fs);
}

/* dm core waits next for all bios: nothing may be held back any more. */
static void fullstripe_presuspend(struct dm_target *ti)
{
	drain_for_suspend(ti->private, true);
}

static void fullstripe_presuspend_undo(struct dm_target *ti)
{
	/* In this order: I/O goes on, and what fails while suspending waits for the resume. */
	drain_for_suspend(ti->private, false);
	destager_resume(ti->private);
}

/* A file system still writes after presuspend: only now it is over. */
static void fullstripe_postsuspend(struct dm_target *ti)
{
	struct fullstripe *fs = ti->private;
	int r, flushed;

	fullstripe_sysfs_remove(fs);
	netlink_remove(fs);
	/* What lies below may be another device afterwards. */
	prefetch_stop(fs);
	r = destager_drain(fs, true);
	destager_stop(fs);
	/* Also if something could not be written: what could shall last. */
	flushed = destager_flush_stopped(fs);
	if (r || flushed)
		DMERR("%s: not everything could be written before the suspend (%d)",
		      dm_table_device_name(ti->table), r ?: flushed);
	WRITE_ONCE(fs->reboot.at_rest, true);
	handover_offer(fs);
}

static int fullstripe_preresume(struct dm_target *ti)
{
	/* If this fails, the old table is gone all the same. */
	handover_take(ti->private);
	return fullstripe_sysfs_add(ti->private);
}

static void fullstripe_resume(struct dm_target *ti)
{
	struct fullstripe *fs = ti->private;

	handover_withdraw(fs);
	WRITE_ONCE(fs->reboot.at_rest, false);
	prefetch_start(fs);
	destager_resume(fs);
	drain_for_suspend(fs, false);
	netlink_add(fs);
}

/*
 * Status, messages, limits
 */

/**
 * fullstripe_counter() - read a counter.
 * @fs: the target.
 * @which: which one.
 *
 * Return: its sum over all CPUs.
 */
u64 fullstripe_counter(const struct fullstripe *fs, enum counter which)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(fs->counters, cpu)->value[which]);
	return sum;
}

/**
 * fullstripe_reset_counters() - set all counters to zero.
 * @fs: the target.
 */
void fullstripe_reset_counters(struct fullstripe *fs)
{
	int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(fs->counters, cpu), 0, sizeof(struct counters));
	atomic64_set(&fs->throttle.peak, 0);
}

static void fullstripe_status(struct dm_target *ti, status_type_t type, unsigned int status_flags,
			      char *result, unsigned int maxlen)
{
	static const enum setting line[] = {
		SETTING_CHUNK_BYTES, SETTING_DATA_MEMBERS, SETTING_ALIGNMENT_OFFSET,
		SETTING_CLUSTER_BYTES, SETTING_HIGH_WATER_BYTES, SETTING_LOW_WATER_BYTES,
		SETTING_FILE_HIGH_WATER_BYTES, SETTING_FILE_LOW_WATER_BYTES, SETTING_HOLD_MS,
		SETTING_SEEK_BYTES, SETTING_STREAMS, SETTING_READ_PREF_IO, SETTING_READ_NSTREAM,
		SETTING_PREFETCH_BYTES,
	};
	struct fullstripe *fs = ti->private;
	unsigned int sz = 0;
	unsigned int i;

	switch (type) {
	case STATUSTYPE_INFO:
		DMEMIT("%s %s %llu %llu %llu %llu", setting_mode_name(setting(fs, SETTING_MODE)),
		       destager_is_failing(&fs->destager) ? "failing" : "ok",
		       setting(fs, SETTING_STRIPE_BYTES), setting(fs, SETTING_CLUSTER_BYTES),
		       staging_staged_bytes(fs), setting(fs, SETTING_HIGH_WATER_BYTES));
		for (i = 0; i < NR_COUNTERS; i++)
			DMEMIT(" %llu", fullstripe_counter(fs, i));
		break;
	case STATUSTYPE_TABLE:
		DMEMIT("%s %llu %zu", fs->dev->name, (unsigned long long)fs->start,
		       2 * ARRAY_SIZE(line) + 2);
		for (i = 0; i < ARRAY_SIZE(line); i++)
			DMEMIT(" %s %llu", setting_name(line[i]), setting(fs, line[i]));
		DMEMIT(" %s %s", setting_name(SETTING_MODE),
		       setting_mode_name(setting(fs, SETTING_MODE)));
		break;
	case STATUSTYPE_IMA:
		DMEMIT_TARGET_NAME_VERSION(ti->type);
		DMEMIT(",dev=%s,start=%llu", fs->dev->name, (unsigned long long)fs->start);
		for (i = 0; i < ARRAY_SIZE(line); i++)
			DMEMIT(",%s=%llu", setting_name(line[i]), setting(fs, line[i]));
		DMEMIT(",%s=%s;", setting_name(SETTING_MODE),
		       setting_mode_name(setting(fs, SETTING_MODE)));
		break;
	}
}

static const enum setting live_settings[] = {
	SETTING_STRIPE_BYTES, SETTING_CLUSTER_BYTES, SETTING_HIGH_WATER_BYTES,
	SETTING_LOW_WATER_BYTES, SETTING_FILE_HIGH_WATER_BYTES, SETTING_FILE_LOW_WATER_BYTES,
	SETTING_HOLD_MS, SETTING_SEEK_BYTES, SETTING_STREAMS, SETTING_READ_PREF_IO,
	SETTING_READ_NSTREAM, SETTING_PREFETCH_BYTES, SETTING_MODE,
};

static bool is_live(enum setting key)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(live_settings); i++)
		if (live_settings[i] == key)
			return true;
	return false;
}

/* Whether what is read ahead now is to be read as others say. */
static bool prefetch_changes(const struct settings *old, const struct settings *next)
{
	static const enum setting depends[] = {
		SETTING_STRIPE_BYTES, SETTING_STREAMS, SETTING_READ_PREF_IO,
		SETTING_READ_NSTREAM, SETTING_PREFETCH_BYTES,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(depends); i++)
		if (old->value[depends[i]] != next->value[depends[i]])
			return true;
	return false;
}

static int follow_settings(struct fullstripe *fs, const struct settings *next, const char **error)
{
	const u64 *old = fs->settings.value;
	u64 high = next->value[SETTING_HIGH_WATER_BYTES];
	struct geometry geo;
	int r;

	/* A higher mark first and a lower one last: what may fail changes nothing then. */
	if (high > old[SETTING_HIGH_WATER_BYTES] && staging_resize(fs, high)) {
		*error = "high_water_bytes: cannot allocate so much";
		return -ENOMEM;
	}
	if (next->value[SETTING_STRIPE_BYTES] != old[SETTING_STRIPE_BYTES]) {
		init_geometry(fs, next, &geo);
		r = geometry_is_whole(&geo, 0) || geometry_is_whole(&geo, 1) ?
			staging_set_geometry(fs, &geo) : -ERANGE;
		if (r) {
			*error = r == -EIO ? "stripe_bytes: what is staged cannot be written" :
				r == -ENOMEM ? "stripe_bytes: cannot allocate its stripe groups" :
				"stripe_bytes: the device holds not one whole stripe";
			high = old[SETTING_HIGH_WATER_BYTES];
		}
	} else {
		r = 0;
	}
	staging_resize(fs, high);
	return r;
}

/**
 * fullstripe_set() - change a key's value while I/O goes on.
 * @fs: the target.
 * @key: which one.
 * @text: the new value.
 * @error: set to a sentence on failure.
 *
 * Context: may sleep; not from suspend.
 * Return: 0 or a negative errno, then nothing changed.
 */
int fullstripe_set(struct fullstripe *fs, enum setting key, const char *text, const char **error)
{
	struct settings next;
	bool prefetch_follows, stripes_follow;
	unsigned int noio, i;
	int r;

	if (!is_live(key)) {
		*error = "chunk_bytes, data_members, alignment_offset: set by the table only";
		return -EINVAL;
	}
	mutex_lock(&fs->settings_lock);
	/* Suspend waits for who is here: reclaim must not wait for the device. */
	noio = memalloc_noio_save();
	next = fs->settings;
	r = settings_change(&next, key, text, &fs->around, error);
	prefetch_follows = !r && prefetch_changes(&fs->settings, &next);
	stripes_follow = !r && next.value[SETTING_STRIPE_BYTES] !=
			       fs->settings.value[SETTING_STRIPE_BYTES];
	if (prefetch_follows)
		prefetch_stop(fs);
	if (!r)
		r = follow_settings(fs, &next, error);
	if (!r) {
		for (i = 0; i < NR_SETTINGS; i++)
			WRITE_ONCE(fs->settings.value[i], next.value[i]);
		fs->settings.given = next.given;
		throttle_recheck(fs);
	}
	/* Water marks and hold may ask for what they did not before, or there is memory again. */
	destager_kick(fs);
	if (prefetch_follows)
		prefetch_start(fs);
	if (!r && stripes_follow)
		netlink_geometry(fs);
	memalloc_noio_restore(noio);
	mutex_unlock(&fs->settings_lock);
	return r;
}

/*
 * flush | retry | reset_stats | set <key> <value>
 */
static int fullstripe_message(struct dm_target *ti, unsigned int argc, char **argv, char *result,
			      unsigned int maxlen)
{
	struct fullstripe *fs = ti->private;
	const char *error;
	int key, r;

	if (argc == 1 && !strcasecmp(argv[0], "flush"))
		return destager_sync(fs);
	if (argc == 1 && !strcasecmp(argv[0], "retry")) {
		destager_retry(fs);
		return 0;
	}
	if (argc == 1 && !strcasecmp(argv[0], "reset_stats")) {
		fullstripe_reset_counters(fs);
		return 0;
	}
	if (argc == 3 && !strcasecmp(argv[0], "set")) {
		key = settings_find(argv[1]);
		if (key < 0) {
			DMWARN("message: %s: no such key", argv[1]);
			return -EINVAL;
		}
		r = fullstripe_set(fs, key, argv[2], &error);
		if (r)
			DMWARN("message: %s", error);
		return r;
	}
	DMWARN("message: none of: flush, retry, reset_stats, set <key> <value>");
	return -EINVAL;
}

static int fullstripe_iterate_devices(struct dm_target *ti, iterate_devices_callout_fn fn,
				      void *data)
{
	struct fullstripe *fs = ti->private;

	return fn(ti, fs->dev, fs->start, ti->len, data);
}

static void fullstripe_io_hints(struct dm_target *ti, struct queue_limits *limits)
{
	struct fullstripe *fs = ti->private;

	/* What is above can lay its data out by stripes without being told. */
	limits->io_min = setting(fs, SETTING_CHUNK_BYTES);
	limits->io_opt = setting(fs, SETTING_STRIPE_BYTES);
	limits->alignment_offset = 0;
}

static struct target_type fullstripe_target = {
	.name = "fullstripe",
	.version = {FULLSTRIPE_MAJOR, FULLSTRIPE_MINOR, FULLSTRIPE_PATCH},
	.features = DM_TARGET_SINGLETON,
	.module = THIS_MODULE,
	.ctr = fullstripe_ctr,
	.dtr = fullstripe_dtr,
	.map = fullstripe_map,
	.end_io = fullstripe_end_io,
	.presuspend = fullstripe_presuspend,
	.presuspend_undo = fullstripe_presuspend_undo,
	.postsuspend = fullstripe_postsuspend,
	.preresume = fullstripe_preresume,
	.resume = fullstripe_resume,
	.status = fullstripe_status,
	.message = fullstripe_message,
	.iterate_devices = fullstripe_iterate_devices,
	.io_hints = fullstripe_io_hints,
};

static int __init fullstripe_init(void)
{
	int r = throttle_init_cache();

	if (r)
		return r;
	r = netlink_init();
	if (r)
		goto no_netlink;
	r = dm_register_target(&fullstripe_target);
	if (r)
		goto no_target;
	return 0;

no_target:
	netlink_exit();
no_netlink:
	throttle_exit_cache();
	return r;
}
module_init(fullstripe_init);

static void __exit fullstripe_exit(void)
{
	dm_unregister_target(&fullstripe_target);
	netlink_exit();
	throttle_exit_cache();
}
module_exit(fullstripe_exit);

MODULE_DESCRIPTION(DM_NAME " target that writes an array in whole stripes");
MODULE_AUTHOR("The fullstripe developers");
MODULE_LICENSE("GPL");
/* It also makes modpost write srcversion, by which the package sees which one is loaded. */
MODULE_VERSION(__stringify(FULLSTRIPE_MAJOR) "." __stringify(FULLSTRIPE_MINOR) "."
	       __stringify(FULLSTRIPE_PATCH));

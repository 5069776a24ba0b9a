// SPDX-License-Identifier: GPL-2.0
/*
 * A disk in memory with a volatile write cache, for the crash tests. A message cuts
 * the power of all instances at one instant; what was not flushed by then is gone:
 *
 *	table		0 <sectors> forget <us a request takes>
 *	freeze all	forget everything that is not stable
 *	freeze subset <seed>	forget about half of the writes, each as a whole
 *	freeze torn <seed>	forget about half of the sectors
 *	fail		let all I/O fail that waits, and what comes
 *	arm		let I/O go on with what is left
 *	status		armed|frozen|failing <flushes> <FUA writes> <sectors kept> <forgotten>
 *
 * Kept and forgotten are those of the last freeze. From a freeze on no I/O completes:
 * were it to fail, md would take a failed flush of a member for a good one, and say so
 * to those who are supposed to be without power. Only when nobody listens to answers
 * any more may it fail, for everything to be taken down.
 *
 * Two copies of the disk make it simple to be right about overwrites too: what reads
 * see, and what is stable. A FLUSH copies all sectors that differ, a FUA write goes
 * to both. Requests complete late and in any order, as they may on a disk, so that
 * some are in flight whenever the power fails.
 */
#include <linux/bio.h>
#include <linux/bitmap.h>
#include <linux/delay.h>
#include <linux/device-mapper.h>
#include <linux/highmem.h>
#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/rwsem.h>
#include <linux/vmalloc.h>

#define DM_MSG_PREFIX	"forget"
#define SECTORS_MAX	(256UL << 11)
#define DELAY_US_MAX	1000000

enum forget_state {
	STATE_ARMED,
	STATE_FROZEN,
	STATE_FAILING,
};

enum forget_mode {
	FORGET_ALL,
	FORGET_SUBSET,
	FORGET_TORN,
};

/*
 * struct forget - one disk.
 * @seen: its contents.
 * @stable: its contents after a power cut.
 * @dirty: by sector: @seen is newer than @stable.
 * @writer: by sector: number of the write that made it dirty.
 * @bios: to be served; under @lock, all above under the gate.
 */
struct forget {
	struct list_head link;
	unsigned int number;
	unsigned int delay_us;
	unsigned long sectors;
	u8 *seen;
	u8 *stable;
	unsigned long *dirty;
	u32 *writer;
	u32 writes;
	unsigned long flushes;
	unsigned long fuas;
	unsigned long kept;
	unsigned long forgotten;

	spinlock_t lock;	/* of @bios */
	struct bio_list bios;
	struct work_struct work;
};

/* Whoever serves a bio holds it for reading; so a freeze falls between any two. */
static DECLARE_RWSEM(gate);
static enum forget_state state;
static LIST_HEAD(instances);
static unsigned int numbers;
static struct workqueue_struct *forget_wq;

static void make_stable(struct forget *f, unsigned long sector)
{
	memcpy(f->stable + (sector << SECTOR_SHIFT), f->seen + (sector << SECTOR_SHIFT),
	       SECTOR_SIZE);
}

static void flush(struct forget *f)
{
	unsigned long sector;

	for_each_set_bit(sector, f->dirty, f->sectors)
		make_stable(f, sector);
	bitmap_zero(f->dirty, f->sectors);
	f->flushes++;
}

static void copy_bio(struct forget *f, struct bio *bio)
{
	u8 *at = f->seen + (bio->bi_iter.bi_sector << SECTOR_SHIFT);
	struct bvec_iter iter;
	struct bio_vec bvec;

	bio_for_each_segment(bvec, bio, iter) {
		if (op_is_write(bio_op(bio)))
			memcpy_from_bvec(at, &bvec);
		else
			memcpy_to_bvec(&bvec, at);
		at += bvec.bv_len;
	}
}

static void write(struct forget *f, struct bio *bio)
{
	unsigned long sector = bio->bi_iter.bi_sector;
	unsigned long end = sector + bio_sectors(bio);
	bool fua = bio->bi_opf & REQ_FUA;
	u32 number = f->writes++;

	copy_bio(f, bio);
	f->fuas += fua;
	for (; sector < end; sector++) {
		if (fua) {
			make_stable(f, sector);
			clear_bit(sector, f->dirty);
		} else {
			f->writer[sector] = number;
			set_bit(sector, f->dirty);
		}
	}
}

static blk_status_t serve(struct forget *f, struct bio *bio)
{
	if (state == STATE_FAILING)
		return BLK_STS_IOERR;
	if (bio->bi_opf & REQ_PREFLUSH)
		flush(f);
	switch (bio_op(bio)) {
	case REQ_OP_READ:
		copy_bio(f, bio);
		return BLK_STS_OK;
	case REQ_OP_WRITE:
		if (bio_sectors(bio))
			write(f, bio);
		return BLK_STS_OK;
	default:
		return BLK_STS_NOTSUPP;
	}
}

/* Take one of the bios out that have waited, any of them. */
static struct bio *pop_any(struct bio_list *bios, unsigned int count)
{
	unsigned int i = get_random_u32() % count;

	while (i--)
		bio_list_add(bios, bio_list_pop(bios));
	return bio_list_pop(bios);
}

/* False if nothing completes now. */
static bool try_complete(struct forget *f, struct bio *bio)
{
	bool alive;

	down_read(&gate);
	alive = state != STATE_FROZEN;
	if (alive)
		bio->bi_status = serve(f, bio);
	up_read(&gate);
	if (alive)
		bio_endio(bio);
	return alive;
}

static void wait_for_power(struct forget *f, struct bio *bio)
{
	spin_lock_irq(&f->lock);
	bio_list_add(&f->bios, bio);
	spin_unlock_irq(&f->lock);
}

static void forget_work(struct work_struct *work)
{
	struct forget *f = container_of(work, struct forget, work);
	struct bio_list bios;
	unsigned int count;

	if (f->delay_us)
		usleep_range(f->delay_us, f->delay_us + f->delay_us / 4 + 1);
	spin_lock_irq(&f->lock);
	bios = f->bios;
	bio_list_init(&f->bios);
	spin_unlock_irq(&f->lock);

	for (count = bio_list_size(&bios); count; count--) {
		struct bio *bio = pop_any(&bios, count);

		if (!try_complete(f, bio))
			wait_for_power(f, bio);
	}
}

static int forget_map(struct dm_target *ti, struct bio *bio)
{
	struct forget *f = ti->private;
	unsigned long flags;

	bio->bi_iter.bi_sector = dm_target_offset(ti, bio->bi_iter.bi_sector);
	spin_lock_irqsave(&f->lock, flags);
	bio_list_add(&f->bios, bio);
	spin_unlock_irqrestore(&f->lock, flags);
	queue_work(forget_wq, &f->work);
	return DM_MAPIO_SUBMITTED;
}

static bool survives(const struct forget *f, unsigned long sector, enum forget_mode mode, u32 seed)
{
	switch (mode) {
	case FORGET_SUBSET:
		return jhash_3words(f->writer[sector], f->number, seed, 0) & 1;
	case FORGET_TORN:
		return jhash_3words(sector, f->number, seed, 1) & 1;
	default:
		return false;
	}
}

/* The gate is closed. */
static void forget_unstable(struct forget *f, enum forget_mode mode, u32 seed)
{
	unsigned long sector;

	f->kept = 0;
	f->forgotten = 0;
	for_each_set_bit(sector, f->dirty, f->sectors) {
		if (survives(f, sector, mode, seed)) {
			make_stable(f, sector);
			f->kept++;
		} else {
			f->forgotten++;
		}
	}
	bitmap_zero(f->dirty, f->sectors);
	memcpy(f->seen, f->stable, f->sectors << SECTOR_SHIFT);
}

static int freeze(enum forget_mode mode, u32 seed)
{
	struct forget *f;
	int r = -EBUSY;

	down_write(&gate);
	if (state == STATE_ARMED) {
		state = STATE_FROZEN;
		list_for_each_entry(f, &instances, link)
			forget_unstable(f, mode, seed);
		r = 0;
	}
	up_write(&gate);
	return r;
}

static void thaw(enum forget_state next)
{
	struct forget *f;

	down_write(&gate);
	state = next;
	list_for_each_entry(f, &instances, link)
		queue_work(forget_wq, &f->work);
	up_write(&gate);
}

static int forget_message(struct dm_target *ti, unsigned int argc, char **argv, char *result,
			  unsigned int maxlen)
{
	u32 seed;

	if (argc == 1 && !strcmp(argv[0], "fail")) {
		thaw(STATE_FAILING);
		return 0;
	}
	if (argc == 1 && !strcmp(argv[0], "arm")) {
		thaw(STATE_ARMED);
		return 0;
	}
	if (argc == 2 && !strcmp(argv[0], "freeze") && !strcmp(argv[1], "all"))
		return freeze(FORGET_ALL, 0);
	if (argc == 3 && !strcmp(argv[0], "freeze") && !kstrtou32(argv[2], 10, &seed)) {
		if (!strcmp(argv[1], "subset"))
			return freeze(FORGET_SUBSET, seed);
		if (!strcmp(argv[1], "torn"))
			return freeze(FORGET_TORN, seed);
	}
	return -EINVAL;
}

static void forget_status(struct dm_target *ti, status_type_t type, unsigned int status_flags,
			  char *result, unsigned int maxlen)
{
	static const char * const names[] = { "armed", "frozen", "failing" };
	struct forget *f = ti->private;
	unsigned int sz = 0;

	switch (type) {
	case STATUSTYPE_INFO:
		down_read(&gate);
		DMEMIT("%s %lu %lu %lu %lu", names[state], f->flushes, f->fuas,
		       f->kept, f->forgotten);
		up_read(&gate);
		break;
	case STATUSTYPE_TABLE:
		DMEMIT("%u", f->delay_us);
		break;
	case STATUSTYPE_IMA:
		*result = '\0';
		break;
	}
}

static void free_forget(struct forget *f)
{
	vfree(f->seen);
	vfree(f->stable);
	vfree(f->dirty);
	vfree(f->writer);
	kfree(f);
}

static int forget_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	unsigned int delay_us;
	struct forget *f;

	if (argc != 1 || kstrtouint(argv[0], 10, &delay_us) || delay_us > DELAY_US_MAX) {
		ti->error = "Give the microseconds that a request takes";
		return -EINVAL;
	}
	if (ti->len > SECTORS_MAX) {
		ti->error = "Too large for a disk that is in memory twice";
		return -EINVAL;
	}
	f = kzalloc(sizeof(*f), GFP_KERNEL);
	if (!f) {
		ti->error = "No memory";
		return -ENOMEM;
	}
	f->delay_us = delay_us;
	f->sectors = ti->len;
	f->seen = vzalloc(f->sectors << SECTOR_SHIFT);
	f->stable = vzalloc(f->sectors << SECTOR_SHIFT);
	f->dirty = vzalloc(BITS_TO_LONGS(f->sectors) * sizeof(long));
	f->writer = vzalloc(f->sectors * sizeof(*f->writer));
	if (!f->seen || !f->stable || !f->dirty || !f->writer) {
		ti->error = "No memory";
		free_forget(f);
		return -ENOMEM;
	}
	spin_lock_init(&f->lock);
	bio_list_init(&f->bios);
	INIT_WORK(&f->work, forget_work);

	down_write(&gate);
	f->number = numbers++;
	list_add_tail(&f->link, &instances);
	up_write(&gate);

	/* dm core then says of the disk that it has a cache, and sends what empties it. */
	ti->num_flush_bios = 1;
	ti->flush_supported = true;
	ti->private = f;
	return 0;
}

static void forget_dtr(struct dm_target *ti)
{
	struct forget *f = ti->private;

	cancel_work_sync(&f->work);
	down_write(&gate);
	list_del(&f->link);
	up_write(&gate);
	free_forget(f);
}

static struct target_type forget_target = {
	.name = "forget",
	.version = {1, 0, 0},
	.module = THIS_MODULE,
	.ctr = forget_ctr,
	.dtr = forget_dtr,
	.map = forget_map,
	.message = forget_message,
	.status = forget_status,
};

static int __init forget_init(void)
{
	int r;

	forget_wq = alloc_workqueue("forget", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!forget_wq)
		return -ENOMEM;
	r = dm_register_target(&forget_target);
	if (r)
		destroy_workqueue(forget_wq);
	return r;
}
module_init(forget_init);

static void __exit forget_exit(void)
{
	dm_unregister_target(&forget_target);
	destroy_workqueue(forget_wq);
}
module_exit(forget_exit);

MODULE_DESCRIPTION(DM_NAME " target with a volatile write cache that forgets");
MODULE_AUTHOR("The fullstripe developers");
MODULE_LICENSE("GPL");

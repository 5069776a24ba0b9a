/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the rooms of the module share: one target instance and the calls between
 * the rooms. From the top down: target, sysfs, netlink, destage, fill, discard, staging, throttle,
 * held, prefetch; each knows only those below it, but for the notices that staging and throttle
 * send up to destage and staging, and all to netlink.
 */
#ifndef FULLSTRIPE_H
#define FULLSTRIPE_H

#include <linux/bio.h>
#include <linux/completion.h>
#include <linux/device-mapper.h>
#include <linux/hash.h>
#include <linux/kobject.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/workqueue.h>

#include "blockmap.h"
#include "geometry.h"
#include "pool.h"
#include "settings.h"
#include "streams.h"

#define DM_MSG_PREFIX "fullstripe"

#define PAGE_SECTORS_OF(sectors) DIV_ROUND_UP(sectors, PAGE_SECTORS)

/* Stripes that one bypassing bio can cover; longer ones are cut. */
#define BYPASS_STRIPES_MAX 4

#define SHARD_BITS	6
/* Of each shard. In all a bucket for each stripe group of 256 MiB of stripes of 256 KiB. */
#define BUCKET_BITS	8
#define READ_BUCKET_BITS 8
#define FILE_BITS	8

/**
 * enum group_state - the life of a stripe group.
 * @GROUP_OPEN: takes writes.
 * @GROUP_SEALED: takes none any more; waits for those that are being copied.
 * @GROUP_INFLIGHT: being written to the lower device.
 * @GROUP_FAILED: could not be written; kept, readable, tried again.
 * @GROUP_WRITTEN: on the lower device; waits for its last reader.
 */
enum group_state {
	GROUP_OPEN,
	GROUP_SEALED,
	GROUP_INFLIGHT,
	GROUP_FAILED,
	GROUP_WRITTEN,
};

/**
 * enum slot - what a stripe that is being written is counted as.
 * @SLOT_OTHERS: none of those below.
 * @SLOT_AWAITED: somebody waits for it.
 * @SLOT_BRIEF: it was held for a moment, as a flush is near.
 * @SLOT_OLD: it was held for hold_ms, and there was no room but the one that is kept for these.
 * @NR_SLOTS: how many there are.
 */
enum slot {
	SLOT_OTHERS,
	SLOT_AWAITED,
	SLOT_BRIEF,
	SLOT_OLD,
	NR_SLOTS,
};

/**
 * struct stripe_group - one generation of a stripe's staged writes.
 *
 * A stripe has at most two: an open one, and an older one that is sealed, in
 * flight or failed. A write never touches data under destage: it goes to the
 * open one, which is sealed only when the older one is gone.
 *
 * Under the shard's lock:
 * @hash: in the shard's bucket.
 * @stripe: number of the stripe.
 * @state: enum group_state.
 * @pins: copies in under way: it is not written while there are any.
 * @readers: copies out under way, also while it is written; its pages stay while there are any.
 * @nr_dirty: staged sectors.
 * @copied: true: the data is in @pages and its writers were told so; false
 *	(writethrough, near a flush, or @wide): the data is in the bios of @held.
 * @fua: some of it must be on stable storage when it is written.
 * @urgent: somebody waits for it; write it without any hold.
 * @wide: it would bypass, were it not wider than the lower device takes in one bio;
 *	write it when it is whole, whatever its neighbours are.
 * @recent: written to since the sweep last passed.
 * @held: bios to complete when the stripe is written (copied), or to write and
 *	complete (not copied; ascending).
 * @dirty: staged sectors, a bit each.
 * @pages: staged pages, NULL where nothing was staged; the private of each is the
 *	struct dirty_file that it is counted in, or 0.
 *
 * Under @copy_lock: the contents of @pages while the group is open. Innermost.
 *
 * Shared without a lock:
 * @announced: the group is on the destager's inbox.
 * @inbox: link on it.
 * @pending: bios in flight, and one for the submitter.
 * @status: first error of the bios in flight.
 * @done: link on the destager's done list. The last thing that a completion
 *	touches: a group is freed only when it has come through that list.
 *
 * Used by the destager's work alone:
 * @node: in the tree of open groups.
 * @live: in the list of groups, oldest first; or in a list of failed ones.
 * @full_link: in the list of whole open groups.
 * @urgent_link: in the list of urgent open groups.
 * @brief_link: in the list of open groups that are not copied.
 * @batch: list of groups that leave together; headed by the leader.
 * @batch_link: in the leader's @batch.
 * @work: writes the leader's batch.
 * @epoch: the flush epoch in which the destager first saw the group.
 * @born: jiffies of then.
 * @whole_since: jiffies when it was seen to be whole.
 * @grow_epoch: of the last flush that let it grow.
 * @grow_from: sectors it had then.
 * @grow_since: jiffies of then.
 * @known: the destager has it in its lists.
 * @failed: the last try to write it failed, and it is counted in failing. Writers to its
 *	stripe look at it, too.
 * @plain: it is not to be filled again: writing it whole failed.
 * @awaited: it is not whole, and somebody waits for it, or may.
 * @slot: as what it is counted in flight.
 * @fill: what it is filled with; from start to done.
 */
struct stripe_group {
	struct hlist_node hash;
	u64 stripe;
	enum group_state state;
	unsigned int pins;
	unsigned int readers;
	u32 nr_dirty;
	bool copied;
	bool fua;
	bool urgent;
	bool wide;
	bool recent;
	struct bio_list held;
	unsigned long *dirty;

	spinlock_t copy_lock;	/* contents of @pages */

	unsigned long announced;
	struct llist_node inbox;
	atomic_t pending;
	blk_status_t status;
	struct llist_node done;

	struct fullstripe *fs;
	struct rb_node node;
	struct list_head live;
	struct list_head full_link;
	struct list_head urgent_link;
	struct list_head brief_link;
	struct list_head batch;
	struct list_head batch_link;
	struct work_struct work;
	u64 epoch;
	unsigned long born;
	unsigned long whole_since;
	u64 grow_epoch;
	u32 grow_from;
	unsigned long grow_since;
	bool known;
	bool failed;
	bool plain;
	bool awaited;
	enum slot slot;
	struct fill *fill;

	struct page *pages[];
};

/**
 * struct fill - what is read of a partial stripe so that it can be written whole.
 * @link: in the destager's list of free ones.
 * @pending: reads under way, and one for the submitter.
 * @status: an error of the reads.
 * @nr_pages: entries of @pages.
 * @pages: a page for each one of a stripe.
 */
struct fill {
	struct list_head link;
	atomic_t pending;
	blk_status_t status;
	unsigned int nr_pages;
	struct page *pages[];
};

/**
 * struct bypass - a stripe that a bio is writing straight to the lower device.
 * @link: in the shard's list of them; under the shard's lock.
 * @stripe: number of the stripe.
 * @awaited: the destager was turned away because of it.
 */
struct bypass {
	struct list_head link;
	u64 stripe;
	bool awaited;
};

/**
 * struct discard - stripes that a bio is discarding.
 * @link: in the list of struct discards.
 * @first: the first stripe.
 * @end: the stripe behind the last.
 * @awaited: the destager was turned away because of it.
 */
struct discard {
	struct list_head link;
	u64 first;
	u64 end;
	bool awaited;
};

/**
 * struct discards - the discards in flight; few, so a list.
 * @lock: for @list and its members. Innermost: taken with a shard's lock held.
 * @list: of struct discard.
 */
struct discards {
	spinlock_t lock;	/* @list */
	struct list_head list;
};

/**
 * struct file_key - whose a write is. Numbers only: the inode may be gone.
 * @id: inode number; or of the thread group that does direct I/O.
 * @generation: of the inode.
 * @dev: of its file system; 0 for a thread group.
 */
struct file_key {
	u64 id;
	u32 generation;
	u32 dev;
};

/**
 * struct holding - what is known of how a file was held. For a file that is not only what is
 *	parked changes.
 *
 * Under the lock of the file's struct file_bucket:
 * @times: how often it was held.
 * @since: ktime_get_ns() when it began to be held, 0: it is not; also read without the lock.
 * @nr_parked: bios in its parked list, whether it is held or they only wait for more to leave
 *	with; also read without the lock.
 * @parked_bytes: their bytes; also read without the lock.
 * @longest: nanoseconds that a bio of it was held at the most; also read without the lock.
 * @last: jiffies when it was last held.
 *
 * Under the throttle's lock:
 * @news: in the throttle's list of those whose listeners are to be told.
 * @untold: times that it was held since they were.
 * @told: jiffies when they were, 0: never.
 * @told_held: they were told that it is held.
 */
struct holding {
	unsigned int times;
	u64 since;
	unsigned int nr_parked;
	u64 parked_bytes;
	u64 longest;
	unsigned long last;
	struct list_head news;
	unsigned int untold;
	unsigned long told;
	bool told_held;
};

/**
 * struct dirty_file - a file, or who does direct I/O, with writes not yet on disk.
 *
 * It exists as long as @outstanding is not 0 or @parked not empty; so whoever has bytes
 * counted in it, or a bio parked, may keep a pointer to it. One that was held may be kept
 * after that for what @holding says, see held.c.
 *
 * @key: whose it is.
 * @serial: of the file in its bucket: newer ones have larger ones, and come first there.
 *
 * Under the lock of its struct file_bucket:
 * @hash: in the bucket.
 * @outstanding: bytes in flight, and in staged pages; also read without the lock.
 * @staged: those in staged pages; so is this.
 * @moved: jiffies when @outstanding last changed while bios are parked; also read without
 *	the lock.
 * @over: it reached the high water mark, and has not gone on yet; also read without the
 *	lock.
 * @parked: bios that wait: those with FUA, then the others; each first come first served.
 * @clean: it is only kept.
 * @holding: see there; some of it under the throttle's lock.
 *
 * Under the throttle's lock:
 * @link: in its list of files with parked bios: held or going.
 * @going: in the latter.
 * @anew: whether it has to wait is to be found out anew.
 * @pressing: it goes on only if partial stripes are written; also read without the lock.
 */
struct dirty_file {
	struct file_key key;
	u64 serial;
	struct hlist_node hash;
	u64 outstanding;
	u64 staged;
	unsigned long moved;
	bool over;
	struct bio_list parked;
	bool clean;
	struct holding holding;
	struct list_head link;
	bool going;
	bool anew;
	bool pressing;
};

/**
 * struct file_bucket - one part of the table of dirty files.
 * @lock: for @files and what struct dirty_file says. Taken from interrupts, inside nothing.
 * @files: files, newest first.
 * @serial: of the newest.
 */
struct file_bucket {
	spinlock_t lock;	/* files of the bucket */
	struct hlist_head files;
	u64 serial;
} ____cacheline_aligned_in_smp;

/**
 * struct throttle - bounds what one file has outstanding.
 * @buckets: the dirty files.
 * @lock: for @held, @going and @news. Taken inside a bucket's lock.
 * @held: files with parked bios, which wait for the low water mark or what does as well,
 *	or until it is quiet no more.
 * @going: those that reached that: their parked bios go on.
 * @nr_waiting: files with parked bios.
 * @nr_held: those of them that are held: all but those whose bios wait only for more to leave
 *	with.
 * @peak: the most that one file had outstanding.
 * @whole_bytes: whole stripes in flight, of all files; not those that wait for memory.
 * @paced_bytes: those of them that leave together.
 * @turn: whose turn it is; may be gone, so it is only compared. Only @work uses it, and
 * @turn_bytes: what has left of it in this turn, and
 * @filling: many of those that leave together do now.
 * @work: lets parked bios go on.
 * @news: files of which listeners are to be told.
 * @tell: tells them.
 * @nr_files: dirty files; changes with each write, so it lies apart.
 */
struct throttle {
	struct file_bucket buckets[1 << FILE_BITS];
	spinlock_t lock;	/* @held, @going, @news */
	struct list_head held;
	struct list_head going;
	atomic_t nr_waiting;
	atomic_t nr_held;
	atomic64_t peak;
	atomic64_t whole_bytes;
	atomic64_t paced_bytes;
	const struct dirty_file *turn;
	u32 turn_bytes;
	bool filling;
	struct work_struct work;
	struct list_head news;
	struct delayed_work tell;
	atomic_t nr_files ____cacheline_aligned_in_smp;
};

/**
 * struct quiet - flushes and writes with FUA, before which others stand back.
 * @lock: for all but @work. Taken from interrupts, inside a bucket's and the throttle's lock.
 * @nr_awaited: those under way; also read without the lock.
 * @is: it is quiet; also read without the lock.
 * @since: jiffies when it last began to be.
 * @ended: jiffies when it last ended.
 * @not_before: jiffies until when it then may not be again.
 * @last: jiffies when the last of them came or completed; also read without the lock.
 * @work: ends it.
 */
struct quiet {
	spinlock_t lock;	/* all but @work */
	unsigned int nr_awaited;
	bool is;
	unsigned long since;
	unsigned long ended;
	unsigned long not_before;
	unsigned long last;
	struct delayed_work work;
};

/**
 * enum throttle_need - what files that wait need of the destager.
 * @THROTTLE_NOTHING: nothing, or none waits.
 * @THROTTLE_WHOLE: that their whole stripes leave.
 * @THROTTLE_PARTIAL: and their partial ones.
 */
enum throttle_need {
	THROTTLE_NOTHING,
	THROTTLE_WHOLE,
	THROTTLE_PARTIAL,
};

/**
 * struct file_info - what is told of a file.
 * @key: whose it is.
 * @outstanding: bytes, see struct dirty_file.
 * @staged: bytes.
 * @parked: bios that wait; it is held if there are any.
 * @over: it is held because of its high water mark.
 * @parked_bytes: their bytes.
 * @times: how often it was held; in an event, since the last one.
 * @wait: nanoseconds that the first of them has waited.
 * @longest: nanoseconds that one waited at the most.
 * @told: there is something to be told.
 */
struct file_info {
	struct file_key key;
	u64 outstanding;
	u64 staged;
	unsigned int parked;
	bool over;
	u64 parked_bytes;
	unsigned int times;
	u64 wait;
	u64 longest;
	bool told;
};

/**
 * struct file_cursor - where a list of files stands.
 * @serial: of the last file of the bucket that was listed; 0: none was.
 * @bucket: index of the bucket.
 */
struct file_cursor {
	u64 serial;
	unsigned int bucket;
};

/**
 * struct stream_info - what is told of a stream. Sectors.
 * @position: where on the device the next read is expected, see struct stream.
 * @stride: from run to run, 0: not strided.
 * @run_length: of a run.
 * @ahead: planned and not yet read.
 * @read: read.
 * @idle: jiffies since it was last read.
 * @degree: see struct stream.
 * @trigger: see there.
 * @backward: addresses descend.
 */
struct stream_info {
	u64 position;
	s64 stride;
	u64 run_length;
	u64 ahead;
	u64 read;
	unsigned long idle;
	u16 degree;
	u16 trigger;
	bool backward;
};

/**
 * enum io_kind - what is owed when a bio of the target completes.
 * @IO_PLAIN: nothing.
 * @IO_FLUSH: it is a flush, whose time is counted.
 * @IO_BYPASS: its stripes are marked as bypassed.
 * @IO_DISCARD: its stripes are in the list of discards.
 * @IO_UNMARKED: it is counted as a write that no stripe knows of.
 * @IO_HELD: a group waits for it.
 * @IO_COPIED: nothing; it was not written below.
 */
enum io_kind {
	IO_PLAIN,
	IO_FLUSH,
	IO_BYPASS,
	IO_DISCARD,
	IO_UNMARKED,
	IO_HELD,
	IO_COPIED,
};

/**
 * struct fullstripe_io - what the target keeps with each of its bios.
 * @kind: enum io_kind.
 * @nr_bypass: used entries of @bypass.
 * @generation: which counter of unmarked writes it is in.
 * @whole: whole stripes, or parts of one that leave together, and counted as such for @file.
 * @paced: it leaves together with others like it, and is counted as such if it is @whole.
 * @rest: of the parts of a whole stripe all but the first.
 * @awaited: a flush, or with FUA.
 * @quiet: it is quiet for it, as far as it may.
 * @charged: bytes that are counted in @file for it.
 * @file: whose it is, if anybody's.
 * @group: the group that waits for it.
 * @bypass: the stripes it is writing.
 * @discard: those it is discarding.
 * @parked_at: nanoseconds when it was parked for its file's sake; until it goes on.
 * @flushed_at: nanoseconds when it came, if it is a flush.
 * @sent: what destager_flush_sent() set, if it passed; else 0.
 * @lost: if it fails, what was in the lower device's cache may be lost.
 * @with_data: its data comes next; that the flush fails dm core forgets.
 */
struct fullstripe_io {
	enum io_kind kind;
	u8 nr_bypass;
	u8 generation;
	bool whole;
	bool paced;
	bool rest;
	bool awaited;
	bool quiet;
	u32 charged;
	struct dirty_file *file;
	union {
		struct stripe_group *group;
		struct bypass bypass[BYPASS_STRIPES_MAX];
		struct discard discard;
		u64 parked_at;
		struct {
			u64 flushed_at;
			u64 sent;
			bool lost;
			bool with_data;
		};
	};
};

/**
 * struct shard - one part of the table of stripe groups.
 * @lock: for @buckets, @bypasses and what struct stripe_group says. Taken from
 *	interrupts.
 * @buckets: groups by stripe.
 * @bypasses: bypassing writes; few, so a list.
 */
struct shard {
	spinlock_t lock;	/* all of the shard and its groups */
	struct hlist_head buckets[1 << BUCKET_BITS];
	struct list_head bypasses;
} ____cacheline_aligned_in_smp;

/**
 * enum staging_gate - whether writes are staged. Read under rcu_read_lock() until
 *	the write is on a shard's lists or counted as unmarked; so after
 *	synchronize_rcu() nobody acts on an older value.
 * @GATE_OPEN: they are.
 * @GATE_CLOSING: no new stripe is; what is staged drains.
 * @GATE_PASSING: nothing is staged, every bio passes, no stripe is looked up.
 */
enum staging_gate {
	GATE_OPEN,
	GATE_CLOSING,
	GATE_PASSING,
};

/**
 * struct staging - the bounded memory of accepted writes.
 * @shards: the stripe groups.
 * @pages: for copied data, as the high water mark allows.
 * @groups: stripe groups, as many as the pages may need.
 * @bypass_stripes: stripes that the lower device takes in one bio; 0 if not one.
 * @used: groups in use.
 * @copied: groups in use that hold copied data.
 * @bypasses: bypass marks in use, and discards in flight.
 * @unmarked: writes in flight that no stripe knows of (edges of the device;
 *	everything while the gate is passing), by generation.
 * @generation: which of them counts new ones.
 * @gate: enum staging_gate.
 * @last_io: jiffies when a read or write last came.
 * @stalled: memory ran out, or something has to wait for an older group: writes that need
 *	some are parked until the low water mark is reached.
 * @news: a group was released or failed, or one more was parked, since what is parked was
 *	last tried again.
 * @parked_lock: for @parked. Taken inside nothing.
 * @parked: bios that wait, each within one stripe, first come first served.
 * @nr_parked: bios in @parked, the one that is being tried again, and those in files' queues.
 * @parked_work: tries them again.
 * @straight_lock: for @straight.
 * @straight: bios that bypass and leave through @straight_work in one plug: what was
 *	parked, and stripes wider than the lower device takes at once.
 * @idle: woken when a group, a bypass or an unmarked write went away and
 *	somebody may be waiting for that.
 */
struct staging {
	struct shard shards[1 << SHARD_BITS];
	struct pool pages;
	struct pool groups;
	unsigned int bypass_stripes;
	atomic_t used;
	atomic_t copied;
	atomic_t bypasses;
	atomic_t unmarked[2];
	u8 generation;
	enum staging_gate gate;
	unsigned long last_io;
	bool stalled;
	unsigned int news;		/* 0 or 1; not every machine has xchg() of a byte */
	spinlock_t parked_lock;		/* @parked */
	struct bio_list parked;
	atomic_t nr_parked;
	struct work_struct parked_work;
	spinlock_t straight_lock;	/* @straight */
	struct bio_list straight;
	struct work_struct straight_work;
	wait_queue_head_t idle;
};

/**
 * struct prefetch - what is read ahead for streams of small reads.
 * @off: nothing is; written under @lock, also read without.
 * @nr_kept: clusters in the table; also read without @lock.
 * @wq: its own: those who sleep there are no destager's business.
 * @readers: who read ahead for the streams, by their index.
 * @age: gives memory back that is not used any more.
 * @idle: woken when a cluster has become free.
 *
 * Under @lock, which is taken from interrupts, inside a shard's lock:
 * @streams: who reads; NULL until it is allocated.
 * @step_sectors: what is read at a time; changes only while @off.
 * @max_clusters: steps that there is memory for; changes only while @off.
 * @begin: first position that may be read ahead; changes only while @off.
 * @end: the one behind the last; changes only while @off.
 * @stops: how often it was stopped and not yet started.
 * @nr_clusters: those that exist.
 * @nr_reading: those that are being read.
 * @buckets: those in the table, by step.
 * @kept: those in the table that were not read to their end, oldest first.
 * @consumed: those in the table that were.
 * @free: those that are neither in the table nor used.
 */
struct prefetch {
	spinlock_t lock;	/* see above */
	bool off;
	atomic_t nr_kept;
	struct workqueue_struct *wq;
	struct reader *readers;
	struct delayed_work age;
	wait_queue_head_t idle;

	struct streams *streams;
	u32 step_sectors;
	unsigned int max_clusters;
	u64 begin;
	u64 end;
	unsigned int stops;
	unsigned int nr_clusters;
	unsigned int nr_reading;
	struct hlist_head buckets[1 << READ_BUCKET_BITS];
	struct list_head kept;
	struct list_head consumed;
	struct list_head free;
};

/**
 * enum destager_settled - what a run of the destager's work left behind.
 * @UNSETTLED: something is still to be written, or being written.
 * @SETTLED_EMPTY: nothing is staged, held or parked.
 * @SETTLED_FAILED: nothing is being written, and something could not be.
 */
enum destager_settled {
	UNSETTLED,
	SETTLED_EMPTY,
	SETTLED_FAILED,
};

/**
 * struct destager - decides what is written next, and when a flush is done.
 * @wq: its own; WQ_UNBOUND and WQ_MEM_RECLAIM.
 * @work: the one place where decisions are made; never runs twice at a time,
 *	which is what protects the members below "work alone".
 * @alarm: queues @work when the next deadline is reached.
 * @inbox: groups that @work shall look at.
 * @done: groups whose bios have all completed.
 * @flush_lock: for @flushes, from @good_from to @lost_at, and changes of @refusing.
 * @flushes: flush bios that wait for the next epoch.
 * @drain: when not zero, everything is written without hold.
 * @stopped: suspended: what has failed is not tried again.
 * @settled: see enum destager_settled; written at the end of each run of @work.
 * @held_back: nothing is written: unmarked writes may be under way to stripes
 *	that are staged anew.
 * @retry: try the failed groups again.
 * @failures: how many stripes could not be written, each time; wraps.
 * @failing: groups that failed and are not yet written; writes are not staged meanwhile.
 * @tell_work: sends a uevent when destager_is_failing() has changed, and dm's event. Not
 *	on @wq: it allocates, or waits for others that do, and nothing that writes may wait for
 *	that.
 * @tell_event: @failing has become one, or @untold, of which dm's event was not sent yet.
 * @told_failing: what the last uevent said; used by @tell_work alone.
 * @refusing: a flush was answered with an error, and none has made that good; changed under
 *	@flush_lock.
 * @good_work: sends one to make it good. Not on @wq, which it waits for.
 * @unflushed: 0 or 1 (as @retry): something was written below since a flush was last sent there.
 * @good_from: in nanoseconds: one that was submitted later makes good that others failed.
 * @sent: how many were sent below when something was @unflushed.
 * @known: of how many of these it is known what became of them: above, or by @untold.
 * @untold: not 0: something may be lost, as a flush failed below or the table before this one
 *	went with what it could not write, and nobody above was told. Flushes that are
 *	answered above fail for it until somebody was. Read without locks.
 * @lost_at: nanoseconds when one of the target's own last failed so; what had come from above by
 *	then fails as well.
 * @forgotten_at: the same of one of which dm core forgot it; to fail as well tells nothing of that.
 *
 * Work alone:
 * @now: jiffies at the start of the run.
 * @again: jiffies until the next one, at the most.
 * @written: jiffies when a stripe was last written, or failed, that nobody waited for.
 * @open: open groups by stripe.
 * @live: all groups but failed ones, oldest first.
 * @full: whole open groups, by the time they became so.
 * @urgent: open groups that somebody waits for.
 * @brief: open groups that are not copied, oldest first: in writebehind a flush is near, and they
 *	are held for a moment only.
 * @quiet: jiffies when it was last quiet.
 * @failed: groups that failed and are not being tried again now.
 * @retrying: those that are as soon as there is room.
 * @retry_at: jiffies when those in @failed are tried again by themselves.
 * @epoch: given to groups that are seen for the first time.
 * @flushing: flush bios that wait for all groups up to @flush_epoch.
 * @flush_epoch: see there.
 * @flush_state: where that stands.
 * @flush_failed: some of what it waits for could not be written, and may be tried again by now.
 * @flush_whole: some of what it waits for are whole stripes.
 * @own_alone: it is the target's own, and none from above waits for it. Read without locks:
 *	what comes from above then waits for its turn behind it.
 * @flush_sent: @sent when it was.
 * @flush_risk: it was not known of all that were sent by then.
 * @flush_status: the lower device's answer.
 * @flush_bio: the flush of the lower device.
 * @flush_work: submits it, as md may sleep.
 * @inflight: stripes being written. Read without locks.
 * @inflight_whole: how many of them have a whole stripe's memory.
 * @inflight_max: how many may be: what fits into three quarters of md's default
 *	stripe cache of 256 rows, since a submitter that has to wait for rows
 *	loses its plug and with it whole stripes.
 * @max: how many of @inflight may at this moment be such as nobody waits for.
 * @in_slot: how many of @inflight are counted as what.
 * @cursor: where the address sweep goes on.
 * @owed_next: it is the turn of those that a flush or a drain waits for, before urgent ones.
 * @pressing_next: it is the turn of those that a pressing file waits for, before whole ones.
 * @in_vain: jiffies when no stripe was found that a pressing file waits for.
 * @vain_holds: how many stripes that writethrough held nobody joined, one after the other.
 * @vain_grows: how many stripes that a flush let grow did not, one after the other, and how many it
 *	did not let since; see VAIN_PERIOD in destage.c.
 * @fills: free struct fill; changes also while the gate is passing.
 */
struct destager {
	struct workqueue_struct *wq;
	struct work_struct work;
	struct delayed_work alarm;
	struct llist_head inbox;
	struct llist_head done;
	spinlock_t flush_lock;		/* see above */
	struct bio_list flushes;
	atomic_t drain;
	bool stopped;
	enum destager_settled settled;
	bool held_back;
	unsigned int retry;		/* 0 or 1; not every machine has xchg() of a byte */
	unsigned int failures;
	atomic_t failing;
	struct work_struct tell_work;
	unsigned int tell_event;	/* 0 or 1, as @retry */
	bool told_failing;
	bool refusing;
	struct delayed_work good_work;
	unsigned int unflushed;
	u64 good_from;
	u64 sent;
	u64 known;
	enum {
		UNTOLD_OWN = 1,		/* it was the target's own */
		UNTOLD_FORGOTTEN = 2,	/* it was one with data: dm core forgot it */
	} untold;
	u64 lost_at;
	u64 forgotten_at;

	unsigned long now;
	unsigned long again;
	unsigned long written;
	struct rb_root open;
	struct list_head live;
	struct list_head full;
	struct list_head urgent;
	struct list_head brief;
	unsigned long quiet;
	struct list_head failed;
	struct list_head retrying;
	unsigned long retry_at;
	u64 epoch;
	struct bio_list flushing;
	u64 flush_epoch;
	enum {
		FLUSH_NONE,
		FLUSH_DESTAGING,
		FLUSH_SENT,
		FLUSH_ANSWERED,
	} flush_state;
	bool flush_failed;
	bool flush_whole;
	bool own_alone;
	u64 flush_sent;
	bool flush_risk;
	blk_status_t flush_status;
	struct bio flush_bio;
	struct work_struct flush_work;
	unsigned int inflight;
	unsigned int inflight_whole;
	unsigned int inflight_max;
	unsigned int max;
	unsigned int in_slot[NR_SLOTS];
	u64 cursor;
	bool owed_next;
	bool pressing_next;
	unsigned long in_vain;
	unsigned int vain_holds;
	unsigned int vain_grows;
	struct list_head fills;
};

/**
 * enum counter - what is counted for stats/. Bytes, or numbers of events.
 * @COUNT_ACCEPTED_BYTES: copied into staging.
 * @COUNT_HELD_BYTES: held without a copy.
 * @COUNT_BYPASSED_BYTES: written straight through.
 * @COUNT_EDGE_BYTES: written to the cut stripes at the device's ends.
 * @COUNT_STAGED_READ_BYTES: read from staging.
 * @COUNT_DESTAGED_BYTES: written from staging, or from what was held.
 * @COUNT_WHOLE_STRIPES: stripes destaged whole.
 * @COUNT_FILLED_STRIPES: stripes destaged whole after their holes were read.
 * @COUNT_PARTIAL_STRIPES: stripes destaged in part.
 * @COUNT_FLUSHES: flush requests.
 * @COUNT_FUA_WRITES: writes with FUA.
 * @COUNT_PARKED: writes that had to wait for memory, for a group, or while the stripes change.
 * @COUNT_DESTAGE_ERRORS: stripes that could not be written, each try.
 * @COUNT_PREFETCHED_BYTES: read ahead.
 * @COUNT_PREFETCH_HIT_BYTES: reads that were answered from that.
 * @COUNT_PREFETCH_WASTED_BYTES: read ahead and given up before anybody read it.
 * @COUNT_THROTTLED: writes that had to wait as their file had too much outstanding.
 * @COUNT_ANSWERED_FLUSHES: flush requests that were answered.
 * @COUNT_FLUSH_US: microseconds that these took.
 * @NR_COUNTERS: how many there are.
 */
enum counter {
	COUNT_ACCEPTED_BYTES,
	COUNT_HELD_BYTES,
	COUNT_BYPASSED_BYTES,
	COUNT_EDGE_BYTES,
	COUNT_STAGED_READ_BYTES,
	COUNT_DESTAGED_BYTES,
	COUNT_WHOLE_STRIPES,
	COUNT_FILLED_STRIPES,
	COUNT_PARTIAL_STRIPES,
	COUNT_FLUSHES,
	COUNT_FUA_WRITES,
	COUNT_PARKED,
	COUNT_DESTAGE_ERRORS,
	COUNT_PREFETCHED_BYTES,
	COUNT_PREFETCH_HIT_BYTES,
	COUNT_PREFETCH_WASTED_BYTES,
	COUNT_THROTTLED,
	COUNT_ANSWERED_FLUSHES,
	COUNT_FLUSH_US,
	NR_COUNTERS,
};

struct counters {
	u64 value[NR_COUNTERS];
};

/**
 * struct fullstripe_reboot - what is written when the machine goes down.
 * @at_rest: the target was not resumed yet, or is suspended and has written and flushed what it
 *	could: what lies below may be suspended as well. Of who suspends and resumes.
 * @nb: heard of by it; all else is its own, and of who has unregistered it.
 * @flush: its flush: not on the stack, as it may never be answered.
 * @done: it was.
 * @under_way: it was submitted, and nobody has seen that it was.
 */
struct fullstripe_reboot {
	bool at_rest;
	struct notifier_block nb;
	struct bio flush;
	struct completion done;
	bool under_way;
};

/**
 * struct fullstripe - one target.
 * @ti: its dm target.
 * @dev: the lower device.
 * @start: first sector on it.
 * @settings_lock: serialises changes of @settings and what follows from them.
 *	Suspend waits for sysfs handlers, so it must never take this.
 * @settings: the keys' values; single ones are read without the lock.
 * @around: what they were completed from.
 * @geo: the stripes; changes only while the gate is passing.
 * @staging: accepted writes.
 * @throttle: what each file has outstanding.
 * @quiet: flushes before which others stand back.
 * @prefetch: reads before they are asked for.
 * @discards: discards in flight.
 * @destager: writes them.
 * @bios: bios for destaging.
 * @counters: see enum counter.
 * @suspending: the destager drains for a suspend; changes only in suspend and resume.
 * @kobj: the sysfs folder, NULL when there is none; changes only in suspend and resume.
 * @device: in netlink's list.
 * @serial: there, 0 when it is not; changes only in suspend and resume.
 * @handover: in the list of those that are suspended, see handover.c.
 * @reboot: writes what is staged when the machine goes down.
 */
struct fullstripe {
	struct dm_target *ti;
	struct dm_dev *dev;
	sector_t start;
	struct mutex settings_lock;	/* changes of @settings */
	struct settings settings;
	struct surroundings around;
	struct geometry geo;
	struct staging staging;
	struct throttle throttle;
	struct quiet quiet;
	struct prefetch prefetch;
	struct discards discards;
	struct destager destager;
	struct bio_set bios;
	struct counters __percpu *counters;
	bool suspending;
	struct kobject *kobj;
	struct list_head device;
	u32 serial;
	struct list_head handover;
	struct fullstripe_reboot reboot;
};

static inline struct fullstripe_io *fullstripe_io(struct bio *bio)
{
	return dm_per_bio_data(bio, sizeof(struct fullstripe_io));
}

static inline u64 setting(const struct fullstripe *fs, enum setting key)
{
	return READ_ONCE(fs->settings.value[key]);
}

static inline void count(struct fullstripe *fs, enum counter which, u64 n)
{
	this_cpu_add(fs->counters->value[which], n);
}

/* In .map: deal with so much of a bio only; the rest comes again. */
static inline void fullstripe_accept(struct bio *bio, u32 sectors)
{
	if (sectors < bio_sectors(bio))
		dm_accept_partial_bio(bio, sectors);
}

/*
 * Something was written below, and is lost if the next flush fails there. To be said before it is
 * not counted as under way any more: pairs with the barrier in is_at_risk().
 */
static inline void destager_wrote(struct destager *d)
{
	if (!READ_ONCE(d->unflushed))
		WRITE_ONCE(d->unflushed, 1);
}

/* Something could not be written, or flushed, for which a flush that comes now fails. */
static inline bool destager_is_failing(const struct destager *d)
{
	return atomic_read(&d->failing) || READ_ONCE(d->untold);
}

/* target.c */
int fullstripe_set(struct fullstripe *fs, enum setting key, const char *text,
		   const char **error);
void fullstripe_remap(struct fullstripe *fs, struct bio *bio);
struct bio *fullstripe_alloc_bio(struct fullstripe *fs, blk_opf_t opf, sector_t base, u32 first,
				 u32 end);
u32 fullstripe_add_page(struct bio *bio, struct page *page, u32 first, u32 end);
u64 fullstripe_counter(const struct fullstripe *fs, enum counter which);
void fullstripe_reset_counters(struct fullstripe *fs);

/* handover.c */
void handover_offer(struct fullstripe *fs);
void handover_withdraw(struct fullstripe *fs);
void handover_take(struct fullstripe *fs);

/* reboot.c */
void fullstripe_reboot_init(struct fullstripe *fs);
void fullstripe_reboot_exit(struct fullstripe *fs);

/* sysfs.c */
int fullstripe_sysfs_add(struct fullstripe *fs);
void fullstripe_sysfs_remove(struct fullstripe *fs);

/* destage.c */
int destager_init(struct fullstripe *fs);
void destager_exit(struct fullstripe *fs);
void destager_set_geometry(struct fullstripe *fs, struct list_head *fills);
void destager_kick(struct fullstripe *fs);
bool destager_gathers(const struct fullstripe *fs);
void destager_announce(struct fullstripe *fs, struct stripe_group *group);
void destager_put(struct stripe_group *group);
void destager_flush(struct fullstripe *fs, struct bio *bio);
void destager_init_flush(struct fullstripe *fs, struct bio *bio, struct completion *done);
bool destager_flush_sent(struct fullstripe *fs, u64 *sent);
void destager_own_flushed(struct fullstripe *fs, u64 sent, bool risk, int error);
blk_status_t destager_flushed(struct fullstripe *fs, const struct fullstripe_io *io,
			      blk_status_t status);
bool destager_refuses_fua(struct fullstripe *fs);
int destager_flush_stopped(struct fullstripe *fs);
void destager_inherit(struct fullstripe *fs, struct fullstripe *old);
void destager_retry(struct fullstripe *fs);
int destager_drain(struct fullstripe *fs, bool all);
int destager_sync(struct fullstripe *fs);
void destager_settle(struct fullstripe *fs);
void destager_stop(struct fullstripe *fs);
void destager_resume(struct fullstripe *fs);

/* fill.c */
int fills_alloc(const struct geometry *geo, struct list_head *fills);
u64 fills_bytes(const struct geometry *geo);
void fills_free(struct list_head *fills);
void fill_read(struct fullstripe *fs, struct stripe_group *group);
bool fill_is_read(const struct stripe_group *group);
void fill_merge(const struct fullstripe *fs, struct stripe_group *group);
struct page *fill_page(const struct fullstripe *fs, const struct stripe_group *group,
		       unsigned int index);

/* discard.c */
void discards_setup(struct discards *discards);
bool discards_meet(struct discards *discards, u64 stripe);
int discard_map(struct fullstripe *fs, struct bio *bio);
void discard_end(struct fullstripe *fs, struct fullstripe_io *io);

/* prefetch.c */
void prefetch_setup(struct prefetch *pf);
int prefetch_init(struct fullstripe *fs);
void prefetch_exit(struct fullstripe *fs);
void prefetch_start(struct fullstripe *fs);
void prefetch_stop(struct fullstripe *fs);
int prefetch_read(struct fullstripe *fs, struct bio *bio, u32 asked);
void prefetch_note(struct fullstripe *fs, u64 sector, u32 sectors);
unsigned int prefetch_active_streams(struct fullstripe *fs);
u64 prefetch_reading_bytes(struct fullstripe *fs);
u64 prefetch_memory_bytes(struct fullstripe *fs);
bool prefetch_next_stream(struct fullstripe *fs, unsigned int *at, struct stream_info *info);
void prefetch_forget(struct fullstripe *fs, u64 stripe, u64 end);

/* throttle.c */
int throttle_init_cache(void);
void throttle_exit_cache(void);
void throttle_setup(struct throttle *throttle);
void throttle_exit(struct fullstripe *fs);
bool throttle_admit(struct fullstripe *fs, struct bio *bio, u32 sectors, u32 in_stripe);
void throttle_trim(struct fullstripe *fs, struct bio *bio);
void throttle_stage(struct fullstripe *fs, struct fullstripe_io *io, unsigned int pages);
void throttle_stall(struct fullstripe *fs, struct fullstripe_io *io);
void throttle_end(struct fullstripe *fs, struct fullstripe_io *io);
void throttle_release(struct fullstripe *fs, struct list_head *pages);
void throttle_recheck(struct fullstripe *fs);
void throttle_wake(struct fullstripe *fs);
enum throttle_need throttle_needs(struct fullstripe *fs, bool still, unsigned long written,
				  unsigned long *again);

/* quiet.c */
void quiet_setup(struct quiet *quiet);
void quiet_exit(struct quiet *quiet);
void quiet_begin(struct fullstripe *fs, struct fullstripe_io *io);
void quiet_end(struct fullstripe *fs, struct fullstripe_io *io);
bool quiet_is_near(const struct fullstripe *fs);
unsigned int quiet_max_stripes(const struct fullstripe *fs);

/* held.c */
void held_park(struct fullstripe *fs, struct dirty_file *file, struct bio *bio);
void held_begin(struct fullstripe *fs, struct dirty_file *file);
void held_end(struct fullstripe *fs, struct dirty_file *file);
void held_unpark(struct fullstripe *fs, struct dirty_file *file, struct bio *bio);
struct dirty_file *held_keep(struct file_bucket *bucket, struct dirty_file *file);
struct dirty_file *held_surplus(struct file_bucket *bucket);
void held_drop(struct throttle *t, struct dirty_file *file);
void held_tell(struct work_struct *work);
bool held_next(struct fullstripe *fs, struct file_cursor *at, struct file_info *info);

/* staging.c */
void staging_setup(struct fullstripe *fs);
int staging_init(struct fullstripe *fs);
void staging_exit(struct fullstripe *fs);
int staging_resize(struct fullstripe *fs, u64 high_water_bytes);
int staging_set_geometry(struct fullstripe *fs, const struct geometry *geo);
int staging_write(struct fullstripe *fs, struct bio *bio);
void staging_go_on(struct fullstripe *fs, struct bio *bio, struct bio_list *straight);
void staging_send_straight(struct fullstripe *fs, struct bio_list *bios);
int staging_read(struct fullstripe *fs, struct bio *bio);
bool staging_holds(struct fullstripe *fs, u64 stripe);
bool staging_presses(struct fullstripe *fs, struct stripe_group *group);
void staging_mark_unmarked(struct fullstripe *fs, struct fullstripe_io *io);
void staging_end_bypass(struct fullstripe *fs, int marks);
void staging_end_io(struct fullstripe *fs, struct bio *bio);
struct stripe_group *staging_find_older(struct fullstripe *fs, u64 stripe);
bool staging_seal(struct fullstripe *fs, struct stripe_group *group, bool only_idle,
		  bool *pinned);
void staging_has_news(struct fullstripe *fs);
void staging_release(struct fullstripe *fs, struct stripe_group *group);
bool staging_forget(struct fullstripe *fs, struct stripe_group *group);
u64 staging_occupied_bytes(const struct fullstripe *fs, unsigned int leaving);
bool staging_is_above_low_water(const struct fullstripe *fs);
u64 staging_staged_bytes(const struct fullstripe *fs);
u64 staging_memory_bytes(const struct fullstripe *fs);
void staging_unstall(struct fullstripe *fs);
bool staging_is_empty(struct fullstripe *fs);

/* Note that the device is in use. */
static inline void staging_touch(struct fullstripe *fs)
{
	unsigned long now = jiffies;

	/* Written only when it changes, as it is shared by all CPUs. */
	if (READ_ONCE(fs->staging.last_io) != now)
		WRITE_ONCE(fs->staging.last_io, now);
}

/* In an RCU read section. */
static inline enum staging_gate staging_gate(const struct fullstripe *fs)
{
	/* Pairs with the release in reopen(). */
	return smp_load_acquire(&fs->staging.gate);
}

static inline struct shard *staging_shard(struct fullstripe *fs, u64 stripe)
{
	return &fs->staging.shards[hash_64(stripe, SHARD_BITS)];
}

#endif

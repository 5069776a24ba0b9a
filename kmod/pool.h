/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A counted pool of list-linked items (pages, stripe groups) that are allocated
 * ahead, so that the data path never allocates.
 */
#ifndef FULLSTRIPE_POOL_H
#define FULLSTRIPE_POOL_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/list.h>
#include <linux/spinlock.h>

/* Lists of a pool: takers on different CPUs mostly meet different locks. */
#define POOL_LISTS 8

/**
 * struct pool - items that are free, and the count of all.
 * @available: items that are on a list and promised to no taker.
 * @total: items that there are, free or taken.
 * @limit: how many there should be; those beyond leave when they come back. Written under
 *	the target's settings_lock.
 * @lists: the items. Each lock is innermost and taken with interrupts off, as
 *	takers hold a stripe shard's lock, which is taken from interrupts.
 */
struct pool {
	atomic_long_t available;
	atomic_long_t total;
	unsigned long limit;
	struct pool_list {
		spinlock_t lock;	/* @items */
		struct list_head items;
	} ____cacheline_aligned_in_smp lists[POOL_LISTS];
};

void pool_init(struct pool *pool);
bool pool_take(struct pool *pool, unsigned int count, struct list_head *items);
void pool_give(struct pool *pool, unsigned long count, struct list_head *items);
void pool_resize(struct pool *pool, unsigned long limit, unsigned long more,
		 struct list_head *items);
void pool_drain(struct pool *pool, struct list_head *items);

static inline unsigned long pool_available(const struct pool *pool)
{
	return max(atomic_long_read(&pool->available), 0L);
}

static inline unsigned long pool_total(const struct pool *pool)
{
	return atomic_long_read(&pool->total);
}

static inline unsigned long pool_limit(const struct pool *pool)
{
	return READ_ONCE(pool->limit);
}

#endif

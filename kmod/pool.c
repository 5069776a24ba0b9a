// SPDX-License-Identifier: GPL-2.0
/*
 * Taking is in two steps: a count that promises the items, then the items from
 * whichever lists hold them. Giving puts the items on a list before it counts
 * them, so what was promised is always there to be found.
 */
#include <linux/minmax.h>
#include <linux/smp.h>

#include "pool.h"

/**
 * pool_init() - make an empty pool.
 * @pool: the pool.
 */
void pool_init(struct pool *pool)
{
	unsigned int i;

	atomic_long_set(&pool->available, 0);
	atomic_long_set(&pool->total, 0);
	pool->limit = 0;
	for (i = 0; i < POOL_LISTS; i++) {
		spin_lock_init(&pool->lists[i].lock);
		INIT_LIST_HEAD(&pool->lists[i].items);
	}
}

/**
 * pool_take() - take items, all or none.
 * @pool: the pool.
 * @count: how many.
 * @items: list that they are added to.
 *
 * Context: any; does not sleep.
 * Return: false if there are not so many.
 */
bool pool_take(struct pool *pool, unsigned int count, struct list_head *items)
{
	unsigned int i = raw_smp_processor_id();
	unsigned long flags;

	if (atomic_long_sub_return(count, &pool->available) < 0) {
		atomic_long_add(count, &pool->available);
		return false;
	}
	while (count) {
		struct pool_list *list = &pool->lists[i++ % POOL_LISTS];

		spin_lock_irqsave(&list->lock, flags);
		while (count && !list_empty(&list->items)) {
			list_move_tail(list->items.next, items);
			count--;
		}
		spin_unlock_irqrestore(&list->lock, flags);
	}
	return true;
}

/* Whether there is one too many: it is counted no more then. */
static bool has_excess(struct pool *pool)
{
	long total;

	do {
		/* Pairs with pool_resize(): new items are seen with their limit. */
		total = atomic_long_read_acquire(&pool->total);
		if (likely(total <= (long)pool_limit(pool)))
			return false;
	} while (atomic_long_cmpxchg(&pool->total, total, total - 1) != total);
	return true;
}

/**
 * pool_give() - put items back.
 * @pool: the pool.
 * @count: how many.
 * @items: list of them; afterwards of those beyond the limit, which the caller frees.
 *
 * Context: any; does not sleep.
 */
void pool_give(struct pool *pool, unsigned long count, struct list_head *items)
{
	struct pool_list *list = &pool->lists[raw_smp_processor_id() % POOL_LISTS];
	unsigned long flags;

	spin_lock_irqsave(&list->lock, flags);
	list_splice_init(items, &list->items);
	spin_unlock_irqrestore(&list->lock, flags);
	atomic_long_add(count, &pool->available);
	/* Of two who give, or one who resizes, the last one sees what the other did. */
	smp_mb__after_atomic();
	while (has_excess(pool)) {
		if (pool_take(pool, 1, items))
			continue;
		atomic_long_inc(&pool->total);
		/* The same the other way round: what was given meanwhile is seen here, or there. */
		smp_mb__after_atomic();
		if (!pool_available(pool))
			return;
	}
}

/**
 * pool_resize() - change how many items there should be.
 * @pool: the pool.
 * @limit: how many.
 * @more: new ones that are added.
 * @items: list of the new ones; afterwards of free ones beyond the limit, which the caller frees.
 *
 * Context: any; does not sleep.
 */
void pool_resize(struct pool *pool, unsigned long limit, unsigned long more,
		 struct list_head *items)
{
	WRITE_ONCE(pool->limit, limit);
	atomic_long_add_return(more, &pool->total);
	pool_give(pool, more, items);
}

/**
 * pool_drain() - take all that is free out of a pool.
 * @pool: the pool.
 * @items: list that it is added to, which the caller frees.
 *
 * Context: any; does not sleep.
 */
void pool_drain(struct pool *pool, struct list_head *items)
{
	while (pool_take(pool, 1, items))
		atomic_long_dec(&pool->total);
}

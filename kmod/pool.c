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
	atomic_long_set(&pool->excess, 0);
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

/**
 * pool_give() - put items into a pool.
 * @pool: the pool.
 * @count: how many.
 * @items: list of them; afterwards of those that leave it, which the caller frees.
 *
 * Context: any; does not sleep.
 */
void pool_give(struct pool *pool, unsigned long count, struct list_head *items)
{
	struct pool_list *list = &pool->lists[raw_smp_processor_id() % POOL_LISTS];
	unsigned long flags;
	LIST_HEAD(leaving);

	while (unlikely(atomic_long_read(&pool->excess) > 0) && count &&
	       atomic_long_dec_if_positive(&pool->excess) >= 0) {
		list_move(items->next, &leaving);
		count--;
	}
	spin_lock_irqsave(&list->lock, flags);
	list_splice_init(items, &list->items);
	spin_unlock_irqrestore(&list->lock, flags);
	atomic_long_add(count, &pool->available);
	list_splice(&leaving, items);
}

/**
 * pool_shrink() - have items leave a pool.
 * @pool: the pool.
 * @count: how many.
 * @items: list that those are added to that are free; the others leave when they come back.
 *
 * Context: any; does not sleep.
 */
void pool_shrink(struct pool *pool, unsigned long count, struct list_head *items)
{
	while (count && pool_take(pool, 1, items))
		count--;
	atomic_long_add(count, &pool->excess);
}

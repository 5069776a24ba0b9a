// SPDX-License-Identifier: GPL-2.0
/*
 * When one table takes the place of another: what the old target has lost and told nobody, the
 * new one tells. dm core suspends the old one, resumes the new one, and only then destroys the old.
 */
#include <linux/device-mapper.h>

#include "fullstripe.h"

/* Of any device; under the lock, also while one is read. */
static LIST_HEAD(suspended);
static DEFINE_MUTEX(suspended_lock);

/**
 * handover_offer() - let the target of another table tell what this one has told nobody.
 * @fs: the target, suspended, its destager stopped.
 *
 * Context: may sleep; allocates nothing.
 */
void handover_offer(struct fullstripe *fs)
{
	mutex_lock(&suspended_lock);
	list_move(&fs->handover, &suspended);
	mutex_unlock(&suspended_lock);
}

/**
 * handover_withdraw() - the target goes on itself, or is gone.
 * @fs: the target; may not be on offer.
 *
 * Context: may sleep; allocates nothing.
 */
void handover_withdraw(struct fullstripe *fs)
{
	mutex_lock(&suspended_lock);
	list_del_init(&fs->handover);
	mutex_unlock(&suspended_lock);
}

/**
 * handover_take() - take over from the one whose table is replaced by this one's.
 * @fs: the target, about to be resumed.
 *
 * Should it not be, the next table's takes over from it.
 *
 * Context: may sleep; allocates nothing.
 */
void handover_take(struct fullstripe *fs)
{
	struct dm_table *table = fs->ti->table;
	struct fullstripe *old, *next;

	mutex_lock(&suspended_lock);
	list_for_each_entry_safe(old, next, &suspended, handover) {
		if (old->ti->table == table ||
		    dm_table_get_md(old->ti->table) != dm_table_get_md(table))
			continue;
		/* It is never resumed: what is told once is not told again. */
		list_del_init(&old->handover);
		destager_inherit(fs, old);
	}
	list_move(&fs->handover, &suspended);
	mutex_unlock(&suspended_lock);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * When one table takes the place of another: what the old target has lost and told nobody, the
 * new one tells. dm core suspends the old one, resumes the new one, and only then destroys the old.
 */
#include <linux/device-mapper.h>

#include "fullstripe.h"

/* All that are suspended, of any device; under the lock, as is what becomes of one of them. */
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
	list_add(&fs->handover, &suspended);
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
 * handover_take() - take over from those whose table is replaced by this one's.
 * @fs: the target, about to be resumed.
 *
 * Of several targets of one table each takes over from all: of what the device has lost a flush
 * of all of it is to fail.
 *
 * Context: may sleep; allocates nothing.
 */
void handover_take(struct fullstripe *fs)
{
	struct dm_table *table = fs->ti->table;
	struct fullstripe *old;

	mutex_lock(&suspended_lock);
	list_for_each_entry(old, &suspended, handover)
		if (old->ti->table != table &&
		    dm_table_get_md(old->ti->table) == dm_table_get_md(table))
			destager_inherit(fs, old);
	mutex_unlock(&suspended_lock);
}

// SPDX-License-Identifier: GPL-2.0
#include <errno.h>

#include "apply.h"
#include "log.h"
#include "sysfs.h"

/* Write it, and look whether it took: a value may be clamped without a word. */
static int set(const char *folder, const char *attribute, uint64_t value)
{
	uint64_t found;
	int r;

	r = sysfs_write_number(value, "%s/%s", folder, attribute);
	if (r < 0)
		return log_errno(r, "%s/%s cannot be set to %llu", folder, attribute,
				 (unsigned long long)value);
	r = sysfs_read_number(&found, "%s/%s", folder, attribute);
	if (r < 0)
		return log_errno(r, "%s/%s cannot be read back", folder, attribute);
	if (found != value)
		return log_errno(EIO, "%s/%s was set to %llu and reads %llu", folder, attribute,
				 (unsigned long long)value, (unsigned long long)found);
	return 0;
}

/* In the plan's order, as the stripe width decides which cluster sizes are taken. */
static void restore(const char *folder, const struct plan *plan, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (set(folder, plan->items[i].attribute, plan->items[i].old) < 0)
			log_warning("%s/%s was not restored", folder, plan->items[i].attribute);
}

/**
 * apply_plan() - set what a plan says, and read it back
 * @folder: of the attributes
 * @plan: what to set, in this order
 *
 * If one fails, those set before it and itself get their old values again. What
 * was wrong has been logged on return.
 *
 * Return: how many attributes were changed, or a negative errno.
 */
int apply_plan(const char *folder, const struct plan *plan)
{
	uint64_t found;
	int changed = 0;
	int r;

	for (size_t i = 0; i < plan->n; i++) {
		const struct plan_item *item = &plan->items[i];

		/* A new stripe width may have taken the cluster size with it, so ask again. */
		r = sysfs_read_number(&found, "%s/%s", folder, item->attribute);
		if (r < 0) {
			log_errno(r, "%s/%s cannot be read", folder, item->attribute);
			restore(folder, plan, i);
			return r;
		}
		if (found != item->new) {
			r = set(folder, item->attribute, item->new);
			if (r < 0) {
				restore(folder, plan, i + 1);
				return r;
			}
		}
		changed += item->new != item->old;
	}
	return changed;
}

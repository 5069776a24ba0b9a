// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "apply.h"
#include "log.h"

/* Each change is written once, and at most once more on the way to another one. */
#define WRITES_MAX	(3 * TRANSACTION_CHANGES_MAX)

static int read_all(const struct setting_place *place, const struct transaction *t,
		    uint64_t found[static TRANSACTION_CHANGES_MAX])
{
	int r = 0;

	for (size_t i = 0; i < t->n && r == 0; i++)
		r = setting_read(place, t->changes[i].name, &found[i]);
	return r;
}

static int check_foreign(const struct setting_place *place, const struct transaction *t,
			 const uint64_t *found)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < t->n; i++) {
		const struct change *c = &t->changes[i];

		if (transaction_foreign(t, i, found[i]))
			return log_errno(EBUSY, "%s became %llu while it was changed from %llu to %llu: somebody else sets it",
					 setting_path(place, c->name, path), (unsigned long long)found[i],
					 (unsigned long long)c->old, (unsigned long long)c->new);
	}
	return 0;
}

/* What was refused may have been set in part, or clamped: that is ours too, and goes back. */
static void note_refused(const struct setting_place *place, struct change *c)
{
	uint64_t found;

	if (setting_read(place, c->name, &found) == 0 && found != c->old)
		c->new = found;
}

/* One write after the other, until nothing is left to write. */
static int write_all(const struct setting_place *place, struct transaction *t,
		     uint64_t found[static TRANSACTION_CHANGES_MAX])
{
	struct transaction_write next;
	char path[PATH_MAX];
	int r;

	for (unsigned int writes = 0;; writes++) {
		r = read_all(place, t, found);
		if (r == 0 && !t->undoing)
			r = check_foreign(place, t, found);
		if (r < 0 || !transaction_next(t, found, &next))
			return r;
		if (writes == WRITES_MAX)
			return log_errno(ELOOP, "%s does not stay as it is set",
					 setting_path(place, t->changes[next.index].name, path));
		r = setting_write(place, t->changes[next.index].name, next.value);
		if (r < 0 && !t->undoing)
			note_refused(place, &t->changes[next.index]);
		if (r < 0)
			return r;
	}
}

static int end(const struct store *store, struct state *s, enum transaction_outcome outcome,
	       const uint64_t *found)
{
	state_end(s, outcome, found);
	return store_save(store, s);
}

/* Into the direction that s->now says, and back if that fails. Return: why it failed, or 0. */
static int finish(const struct setting_place *place, const struct store *store, struct state *s)
{
	uint64_t found[TRANSACTION_CHANGES_MAX] = { 0 };
	int failed = 0, r;

	if (!s->now.undoing) {
		failed = write_all(place, &s->now, found);
		if (failed == 0)
			return end(store, s, OUTCOME_DONE, found);
		s->now.undoing = true;
		/* If that fails it goes back all the same: what is stored has the old values. */
		store_save(store, s);
	}
	r = write_all(place, &s->now, found);
	if (r < 0) {
		log_warning("%s is not as it was before; the next apply, rollback or start of the daemon tries again to take it back",
			    place->own);
		return r;
	}
	r = end(store, s, OUTCOME_UNDONE, found);
	return r < 0 ? r : failed;
}

/**
 * apply_run() - change settings, all of them or none
 * @place: of the settings
 * @store: the state directory, open for changes
 * @s: what is known of the device; nothing is under way
 * @t: the changes
 *
 * Each value is read back. If one is refused, or somebody else changes one meanwhile, all
 * get their old values again. What was wrong has been logged on return.
 *
 * Return: 0 or a negative errno.
 */
int apply_run(const struct setting_place *place, const struct store *store, struct state *s,
	      const struct transaction *t)
{
	int r;

	state_begin(s, t, time(NULL));
	r = store_save(store, s);
	return r < 0 ? r : finish(place, store, s);
}

/**
 * apply_recover() - end what another process began and did not end
 * @place: of the settings
 * @store: the state directory, open for changes
 * @s: what is known of the device, and is there now
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int apply_recover(const struct setting_place *place, const struct store *store, struct state *s)
{
	unsigned long long id = s->now.id;
	int r;

	if (!s->under_way)
		return 0;
	s->now.interrupted = true;
	r = finish(place, store, s);
	/* That it had to be taken back is no failure here. */
	if (r < 0 && s->under_way)
		return r;
	log_warning("change %llu of %s was interrupted, and is %s now", id, place->own,
		    transaction_outcome_name(s->history[s->n_history - 1].outcome));
	return 0;
}

/* What the device moves with the stripe width is noted, to be brought back with it. */
static int add_followers(const struct setting_place *place, struct transaction *t)
{
	for (const char * const *name = transaction_followers; *name; name++) {
		struct change *c;
		uint64_t found;
		int r = setting_read(place, *name, &found);

		if (r < 0)
			return r;
		c = transaction_add(t, *name, found, found);
		if (c)
			c->follows = true;
	}
	return 0;
}

/* What the kernel moves with a layer's max_sectors_kb is kept as it is. */
static int add_kept(const struct setting_place *place, struct transaction *t)
{
	for (size_t i = 0, n = t->n; i < n; i++) {
		char disk[SETTING_DISK], name[SETTING_NAME];
		uint64_t found;
		int r;

		if (!setting_is_of_layer(t->changes[i].name) ||
		    !setting_is(t->changes[i].name, "max_sectors_kb"))
			continue;
		snprintf(disk, sizeof(disk), "%.*s", (int)setting_disk_len(t->changes[i].name),
			 t->changes[i].name);
		setting_of_disk(name, disk, "read_ahead_kb");
		r = setting_read(place, name, &found);
		if (r < 0)
			return r;
		if (!transaction_add(t, name, found, found))
			return log_errno(ENOSPC, "%s", name);
	}
	return 0;
}

/**
 * apply_prepare() - the transaction that a plan makes
 * @place: of the settings
 * @plan: the plan
 * @ret: the transaction; without changes if all is right, or left alone
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int apply_prepare(const struct setting_place *place, const struct plan *plan, struct transaction *ret)
{
	struct transaction t = { .kind = TRANSACTION_APPLY };
	bool stripe = false;
	int r;

	for (size_t i = 0; i < plan->n; i++) {
		const struct plan_item *item = &plan->items[i];
		struct change *c;
		uint64_t found;

		r = setting_read(place, item->attribute, &found);
		if (r < 0)
			return r;
		if (found == item->new || item->left_alone)
			continue;
		c = transaction_add(&t, item->attribute, found, item->new);
		if (!c)
			return log_errno(ENOSPC, "%s", item->attribute);
		snprintf(c->reason, sizeof(c->reason), "%s", item->reason);
		stripe |= strcmp(item->attribute, "stripe_bytes") == 0;
	}
	r = stripe ? add_followers(place, &t) : 0;
	if (r == 0)
		r = add_kept(place, &t);
	if (r < 0)
		return r;
	*ret = t;
	return 0;
}

static void tell_foreign(const struct setting_place *place, const char *name, uint64_t found,
			 const char *hint)
{
	char path[PATH_MAX];

	log_warning("%s is %llu and not what it was set to from here: somebody else changed it, so it is left alone%s",
		    setting_path(place, name, path), (unsigned long long)found, hint);
}

/**
 * apply_prepare_rollback() - the transaction that takes the last one back
 * @place: of the settings
 * @s: what is known of the device
 * @force: change also what somebody else set
 * @ret: the transaction; without changes if all was left alone, or is back already
 *
 * Return: 0, -ENODATA if nothing was applied that was not taken back, or another negative
 * errno, which has been logged.
 */
int apply_prepare_rollback(const struct setting_place *place, const struct state *s, bool force,
			   struct transaction *ret)
{
	const struct transaction *last = state_last_applied(s);
	struct transaction t = { .kind = TRANSACTION_ROLLBACK };
	int r;

	if (!last)
		return -ENODATA;
	for (size_t i = 0; i < last->n; i++) {
		const struct change *done = &last->changes[i];
		struct change *c;
		uint64_t found;

		if (done->gone)
			continue;
		r = setting_read(place, done->name, &found);
		if (setting_is_gone(r, done->name))
			continue;
		if (r < 0)
			return r;
		if (found != done->new && found != done->old && !force) {
			tell_foreign(place, done->name, found, " (--force takes it back too)");
			continue;
		}
		c = transaction_add(&t, done->name, found, done->old);
		if (!c)
			return log_errno(ENOSPC, "%s", done->name);
		snprintf(c->reason, sizeof(c->reason), "as it was before change %llu",
			 (unsigned long long)last->id);
	}
	r = add_kept(place, &t);
	if (r < 0)
		return r;
	*ret = t;
	return 0;
}

/* A layer's values in the order in which they were set first. */
static int add_before(const struct setting_place *place, const struct state *s,
		      const char *disk, struct transaction *t)
{
	for (size_t i = 0; i < s->n_values; i++) {
		const struct state_value *value = &s->values[i];
		struct change *c;
		uint64_t found;
		int r;

		if (value->before == value->value || !setting_is_of_disk(value->name, disk))
			continue;
		r = setting_read(place, value->name, &found);
		if (setting_is_gone(r, value->name))
			continue;
		if (r < 0)
			return r;
		if (found != value->value) {
			tell_foreign(place, value->name, found, "");
			continue;
		}
		c = transaction_add(t, value->name, found, value->before);
		if (!c)
			return log_errno(ENOSPC, "%s", value->name);
		snprintf(c->reason, sizeof(c->reason), "as it was before it was set from here");
	}
	return 0;
}

/**
 * apply_prepare_restore() - the transaction that gives the layers below back what they had
 * @place: of the settings
 * @s: what is known of the device
 * @ret: the transaction; without changes if nothing of theirs was set from here, or is back
 *
 * The device itself is gone. What somebody else set since is left alone, and so is what is no
 * longer there.
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int apply_prepare_restore(const struct setting_place *place, const struct state *s,
			  struct transaction *ret)
{
	struct transaction t = { .kind = TRANSACTION_RESTORE };
	int r = 0;

	/* They are known from the top, and stand in a transaction from the bottom. */
	for (size_t i = s->n_layers; i-- > 0 && r == 0;)
		r = add_before(place, s, s->layers[i].disk, &t);
	if (r == 0)
		r = add_kept(place, &t);
	if (r < 0)
		return r;
	*ret = t;
	return 0;
}

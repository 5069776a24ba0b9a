// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "macros.h"
#include "transaction.h"

#define STRIPE	"stripe_bytes"

/**
 * transaction_followers - settings that the device may move when the stripe width changes
 *
 * Ends with NULL.
 */
const char * const transaction_followers[] = {
	"cluster_bytes", "high_water_bytes", "low_water_bytes", "file_high_water_bytes",
	"file_low_water_bytes", "read_pref_io", "read_nstream", "prefetch_bytes", NULL,
};

static bool can_follow(const char *name)
{
	for (const char * const *f = transaction_followers; *f; f++)
		if (strcmp(*f, name) == 0)
			return true;
	return false;
}

/**
 * transaction_add() - one more change
 * @t: the transaction
 * @name: of the setting
 * @old: value before
 * @new: value that it should have
 *
 * Return: the change, or NULL if there is no room or it has this setting already.
 */
struct change *transaction_add(struct transaction *t, const char *name, uint64_t old, uint64_t new)
{
	struct change *c = &t->changes[t->n];

	if (t->n == TRANSACTION_CHANGES_MAX)
		return NULL;
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->changes[i].name, name) == 0)
			return NULL;
	*c = (struct change) { .old = old, .new = new };
	if (snprintf(c->name, sizeof(c->name), "%s", name) >= (int)sizeof(c->name))
		return NULL;
	t->n++;
	return c;
}

static bool find(const struct transaction *t, const char *name, size_t *ret)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->changes[i].name, name) == 0) {
			*ret = i;
			return true;
		}
	return false;
}

/* What a setting should have now, in the direction that the transaction goes. */
static uint64_t wanted(const struct transaction *t, size_t i, uint64_t found)
{
	const struct change *c = &t->changes[i];

	if (t->undoing)
		return transaction_foreign(t, i, found) ? found : c->old;
	return c->follows ? found : c->new;
}

/**
 * transaction_is_kept() - whether a change only keeps what was there
 * @c: the change
 *
 * Some kernels set read_ahead_kb of a disk anew whenever its max_sectors_kb is written. In a
 * layer below nobody may use it, but it is not ours to move.
 */
bool transaction_is_kept(const struct change *c)
{
	return setting_is_of_layer(c->name) && setting_is(c->name, "read_ahead_kb");
}

/**
 * transaction_foreign() - whether somebody else set a value meanwhile
 * @t: the transaction, not yet over
 * @index: which change
 * @found: what its setting is now
 *
 * It is not gone on with then, but goes back, as what was decided did not know of that. What
 * the device or the kernel moves by itself cannot be told from what somebody set, and is not called foreign.
 */
bool transaction_foreign(const struct transaction *t, size_t index, uint64_t found)
{
	const struct change *c = &t->changes[index];
	size_t stripe;

	if (found == c->old || (found == c->new && !c->follows))
		return false;
	return !(find(t, STRIPE, &stripe) && can_follow(c->name)) && !transaction_is_kept(c);
}

/* State of the walk: what is found and what is wanted, by the name of the setting. */
struct walk {
	const struct transaction *t;
	const uint64_t *found;
	struct transaction_write *ret;
};

static bool is_right(const struct walk *w, const char *name)
{
	size_t i;

	return !find(w->t, name, &i) || wanted(w->t, i, w->found[i]) == w->found[i];
}

static bool write_value(const struct walk *w, const char *name, uint64_t value)
{
	size_t i;

	if (!find(w->t, name, &i) || w->found[i] == value)
		return false;
	*w->ret = (struct transaction_write) { .index = i, .value = value };
	return true;
}

static bool write_wanted(const struct walk *w, const char *name)
{
	size_t i;

	return find(w->t, name, &i) && write_value(w, name, wanted(w->t, i, w->found[i]));
}

/* 0 means that there is no limit, where it is allowed at all. */
static bool grows(const struct walk *w, const char *name)
{
	size_t i;
	uint64_t to;

	if (!find(w->t, name, &i))
		return false;
	to = wanted(w->t, i, w->found[i]);
	return to != w->found[i] && (to == 0 || (w->found[i] != 0 && to > w->found[i]));
}

/* The low mark is always below the high one: upwards the high one goes first. */
static bool write_marks(const struct walk *w, const char *high, const char *low)
{
	if (grows(w, high))
		return write_wanted(w, high);
	return write_wanted(w, low) || write_wanted(w, high);
}

static bool write_all_marks(const struct walk *w)
{
	return write_marks(w, "high_water_bytes", "low_water_bytes") ||
	       write_marks(w, "file_high_water_bytes", "file_low_water_bytes");
}

static bool multiple(uint64_t a, uint64_t b, uint64_t of)
{
	uint64_t product;

	return !__builtin_mul_overflow(a, b, &product) && of && product % of == 0;
}

/*
 * The product of the two is a multiple of the stripe width at any time: the one goes first
 * with which it stays so, and if neither does, the first is one stripe in between.
 */
static bool write_read_cluster(const struct walk *w)
{
	size_t io, n, stripe;
	uint64_t width;

	if (is_right(w, "read_nstream") || !find(w->t, "read_pref_io", &io))
		return write_wanted(w, "read_pref_io") || write_wanted(w, "read_nstream");
	if (is_right(w, "read_pref_io") || !find(w->t, STRIPE, &stripe) ||
	    !find(w->t, "read_nstream", &n))
		return write_wanted(w, "read_nstream");
	width = w->found[stripe];
	if (multiple(wanted(w->t, io, w->found[io]), w->found[n], width))
		return write_wanted(w, "read_pref_io");
	if (multiple(w->found[io], wanted(w->t, n, w->found[n]), width))
		return write_wanted(w, "read_nstream");
	return write_value(w, "read_pref_io", width);
}

/* What is kept of what was read ahead holds two read clusters at any time. */
static bool write_prefetch(const struct walk *w)
{
	if (grows(w, "prefetch_bytes") && write_wanted(w, "prefetch_bytes"))
		return true;
	return write_read_cluster(w) || write_wanted(w, "prefetch_bytes");
}

/* Of a layer, and not to be written last. */
static bool carries(const struct change *c)
{
	return setting_is_of_layer(c->name) && !setting_is(c->name, "read_ahead_kb");
}

/* What carries more does so before more is sent through it: the lowest layer first. */
static bool write_growing_layers(const struct walk *w)
{
	for (size_t i = 0; i < w->t->n; i++)
		if (carries(&w->t->changes[i]) && grows(w, w->t->changes[i].name) &&
		    write_wanted(w, w->t->changes[i].name))
			return true;
	return false;
}

/* And what carries less does so when no more is: the highest layer first. */
static bool write_layers(const struct walk *w)
{
	for (size_t i = w->t->n; i-- > 0;)
		if (carries(&w->t->changes[i]) && write_wanted(w, w->t->changes[i].name))
			return true;
	return false;
}

static bool write_others(const struct walk *w, bool read_ahead)
{
	for (size_t i = 0; i < w->t->n; i++)
		if (!carries(&w->t->changes[i]) &&
		    setting_is(w->t->changes[i].name, "read_ahead_kb") == read_ahead &&
		    write_wanted(w, w->t->changes[i].name))
			return true;
	return false;
}

/**
 * transaction_next() - what to write next
 * @t: the transaction; changes of layers stand in it in their order, the lowest first
 * @found: what its settings are now, in the order of its changes
 * @ret: what to write
 *
 * The device checks each write against its other settings, and refuses what contradicts
 * them; and a new stripe width moves some of these, as max_sectors_kb does with
 * read_ahead_kb. So who wrote one asks again.
 *
 * Return: false when all is as it should be; @ret is untouched then.
 */
bool transaction_next(const struct transaction *t, const uint64_t *found,
		      struct transaction_write *ret)
{
	const struct walk w = { .t = t, .found = found, .ret = ret };

	if (write_growing_layers(&w))
		return true;
	/* Marks hold a number of stripes, so those for wide ones also do for narrow ones. */
	if (grows(&w, STRIPE) &&
	    (write_all_marks(&w) || (grows(&w, "prefetch_bytes") && write_prefetch(&w))))
		return true;
	if (write_wanted(&w, STRIPE) || write_wanted(&w, "cluster_bytes") || write_all_marks(&w) ||
	    write_prefetch(&w))
		return true;
	return write_others(&w, false) || write_layers(&w) || write_others(&w, true);
}

/**
 * transaction_settle() - write down what the device moved by itself
 * @t: the transaction, done
 * @found: what its settings are now
 *
 * What it did not move, and what was only kept, is no change, and goes.
 */
void transaction_settle(struct transaction *t, const uint64_t *found)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		struct change c = t->changes[i];

		if (c.follows) {
			if (found[i] == c.old)
				continue;
			c.new = found[i];
			snprintf(c.reason, sizeof(c.reason), "the device moved it with the stripe width");
		} else if (transaction_is_kept(&c)) {
			continue;
		}
		t->changes[n++] = c;
	}
	t->n = n;
}

/**
 * transaction_outcome_name() - as it is printed and kept
 * @outcome: what became of it
 */
const char *transaction_outcome_name(enum transaction_outcome outcome)
{
	static const char * const names[] = {
		[OUTCOME_UNDER_WAY] = "under-way",
		[OUTCOME_DONE] = "done",
		[OUTCOME_UNDONE] = "undone",
		[OUTCOME_VOID] = "void",
		[OUTCOME_TAKEN_BACK] = "taken-back",
	};

	return names[outcome];
}

/**
 * transaction_kind_name() - as it is printed and kept
 * @kind: what it was for
 */
const char *transaction_kind_name(enum transaction_kind kind)
{
	static const char * const names[] = {
		[TRANSACTION_APPLY] = "apply",
		[TRANSACTION_ROLLBACK] = "rollback",
		[TRANSACTION_RESTORE] = "restore",
	};

	return names[kind];
}

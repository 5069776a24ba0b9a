// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <string.h>

#include "pace.h"

#define HOUR	3600

static bool would_change(const struct plan_item *item)
{
	return item->old != item->new && !item->left_alone;
}

/* What the array is says nothing of its workload: there is no more or less right width. */
static bool is_exact(const struct plan_item *item)
{
	return item->scenario == SCENARIO_STRIPE_OF_ARRAY;
}

/* Whether @value is no more than the dead band away from what is planned. */
static bool in_dead_band(const struct config *c, const struct plan_item *item, uint64_t value)
{
	uint64_t difference = value > item->new ? value - item->new : item->new - value;

	return !is_exact(item) && difference * 100.0 <= (double)value * c->dead_band_percent;
}

static enum pace why_nothing(const struct config *c, const struct plan *plan)
{
	enum pace pace = PACE_RIGHT;

	for (size_t i = 0; i < plan->n; i++) {
		if (!would_change(&plan->items[i]))
			continue;
		if (!in_dead_band(c, &plan->items[i], plan->items[i].old))
			return PACE_GO;
		pace = PACE_DEAD_BAND;
	}
	return pace;
}

/* What is planned from another recording of the same workload is hardly the very same value. */
static bool sets(const struct config *c, const struct transaction *t, const struct plan_item *item)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->changes[i].name, item->attribute) == 0)
			return t->changes[i].new == item->new ||
			       in_dead_band(c, item, t->changes[i].new);
	return false;
}

/* The newest change to this value counts, so who applies it again by hand allows it again. */
static bool was_taken_back(const struct config *c, const struct state *s,
			   const struct plan_item *item)
{
	for (size_t i = s->n_history; i-- > 0;)
		if (sets(c, &s->history[i], item))
			return s->history[i].outcome == OUTCOME_TAKEN_BACK;
	return false;
}

/* A clock that was set back makes the last change recent, and not a long time ago. */
static uint64_t since(const struct transaction *t, uint64_t now)
{
	return now > t->time ? now - t->time : 0;
}

/**
 * pace_decide() - whether a plan is applied now
 * @c: the configuration
 * @plan: the plan
 * @s: what was changed before; what was taken back counts too
 * @now: seconds since 1970
 *
 * Return: PACE_GO, or why not.
 */
enum pace pace_decide(const struct config *c, const struct plan *plan, const struct state *s,
		      uint64_t now)
{
	enum pace pace = why_nothing(c, plan);
	uint64_t in_hour = 0;

	if (pace != PACE_GO)
		return pace;
	for (size_t i = 0; i < plan->n; i++)
		if (would_change(&plan->items[i]) && was_taken_back(c, s, &plan->items[i]))
			return PACE_TAKEN_BACK;
	for (size_t i = 0; i < s->n_history; i++) {
		if (s->history[i].outcome == OUTCOME_VOID ||
		    s->history[i].kind == TRANSACTION_RESTORE)
			continue;
		if (since(&s->history[i], now) < c->dwell_seconds)
			return PACE_DWELL;
		in_hour += since(&s->history[i], now) < HOUR;
	}
	return in_hour >= c->changes_per_hour ? PACE_BUDGET : PACE_GO;
}

/**
 * pace_judgeable() - whether it could be known what harm a change does that is made now
 * @h: samples of the device
 *
 * Return: PACE_GO, or why not.
 */
enum pace pace_judgeable(const struct harm *h)
{
	if (h->change != 0)
		return PACE_JUDGED;
	return harm_is_ready(h) ? PACE_GO : PACE_SAMPLES;
}

/**
 * pace_reason() - a sentence
 * @pace: what was decided
 */
const char *pace_reason(enum pace pace)
{
	static const char * const reasons[] = {
		[PACE_GO] = "it is applied",
		[PACE_RIGHT] = "nothing is to be changed",
		[PACE_DEAD_BAND] = "it differs by no more than dead_band_percent",
		[PACE_DWELL] = "the last change is more recent than dwell_seconds",
		[PACE_BUDGET] = "there were changes_per_hour changes in the last hour",
		[PACE_TAKEN_BACK] = "it was taken back before, fullstripectl apply allows it again",
		[PACE_JUDGED] = "whether the last change did harm is not known yet",
		[PACE_SAMPLES] = "it waits for five recordings of this workload, to be judged by",
	};

	return reasons[pace];
}

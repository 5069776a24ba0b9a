// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>

#include "plan.h"

/**
 * plan_sum() - one more line of the sum
 * @sum: the sum, or NULL
 * @format: the line
 */
void plan_sum(struct rule_sum *sum, const char *format, ...)
{
	va_list args;

	if (!sum || sum->n == ARRAY_SIZE(sum->lines))
		return;
	va_start(args, format);
	vsnprintf(sum->lines[sum->n++], RULE_SENTENCE, format, args);
	va_end(args);
}

/**
 * plan_add() - one more value
 * @plan: the plan; what does not go in is left out
 * @attribute: name of the setting
 * @old: value before
 * @new: value that it should have
 * @scenario: why
 * @format: why, in a sentence
 */
void plan_add(struct plan *plan, const char *attribute, uint64_t old, uint64_t new,
	      enum rule_scenario scenario, const char *format, ...)
{
	struct plan_item *item = &plan->items[plan->n];
	va_list args;

	if (plan->n == PLAN_ITEMS_MAX)
		return;
	plan->n++;
	*item = (struct plan_item) { .old = old, .new = new, .scenario = scenario };
	snprintf(item->attribute, sizeof(item->attribute), "%s", attribute);
	va_start(args, format);
	vsnprintf(item->reason, sizeof(item->reason), format, args);
	va_end(args);
}

/* SPDX-License-Identifier: GPL-2.0 */
/* Writing a plan down, for those who decide: lib/rule, and lib/layer_rule. */
#ifndef FULLSTRIPE_PLAN_H
#define FULLSTRIPE_PLAN_H

#include "macros.h"
#include "rule.h"

void plan_sum(struct rule_sum *sum, const char *format, ...) __printf(2, 3);
void plan_add(struct plan *plan, const char *attribute, uint64_t old, uint64_t new,
	      enum rule_scenario scenario, const char *format, ...) __printf(6, 7);

#endif

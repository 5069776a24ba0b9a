/* SPDX-License-Identifier: GPL-2.0 */
/* What was found and decided, as JSON. Field names are stable; sizes in bytes, times in ns or s. */
#ifndef FULLSTRIPE_RENDER_H
#define FULLSTRIPE_RENDER_H

#include <json-c/json.h>

#include "profile.h"
#include "rule.h"

struct json_object *render_profile(const struct profile_summary *s);
struct json_object *render_array(const struct rule_array *array, const char *name);
struct json_object *render_limits(const struct rule_limit *limits, size_t n);
struct json_object *render_sum(const struct rule_sum *sum);
struct json_object *render_plan(const struct plan *plan);

const char *render_text(struct json_object *object);
void render_add_number(struct json_object *object, const char *key, uint64_t value);
void render_add_known(struct json_object *object, const char *key, uint64_t value, bool known);
void render_add_text(struct json_object *object, const char *key, const char *value);

#endif

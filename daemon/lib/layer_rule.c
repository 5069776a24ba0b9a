// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "layer_rule.h"
#include "plan.h"
#include "units.h"

#define KIB			1024
#define MIB			(1024 * KIB)
/* md's, of each member. */
#define ROW_BYTES		4096
/* md takes no other numbers of rows. */
#define ROWS_MIN		17
#define ROWS_MAX		32768
/* md spreads its rows over so many locks. */
#define ROWS_UNIT		8
/* One is written while the next one fills. */
#define CLUSTERS_AT_ONCE	2
/* A multiple of any page: read_ahead_kb is kept in pages. */
#define READ_AHEAD_UNIT		(64 * KIB)
#define DIRTY_LEAST		(32 * MIB)
/* Percent. More is no limit. */
#define DIRTY_MOST		50
#define MEMORY_SHARE		64

static uint64_t round_up(uint64_t value, uint64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

static bool is_bound_by_disk(const struct rule_limit *l)
{
	return l->disk_bytes && l->disk_bytes < l->hard_bytes;
}

/* What max_sectors_kb can be set to at most. */
static uint64_t most_bytes(const struct rule_limit *l)
{
	return is_bound_by_disk(l) ? l->disk_bytes : l->hard_bytes;
}

/* The attribute that allows no more, of the layer or of a disk below it. */
static const char *most_name(const struct rule_limit *l)
{
	return is_bound_by_disk(l) ? "vpd_pgb0" : "max_hw_sectors_kb";
}

/**
 * layer_rule_open() - count what the layers could carry, as they are going to be set for it
 * @limits: of the layers
 * @n: how many
 */
void layer_rule_open(struct rule_limit *limits, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct rule_limit *l = &limits[i];

		if (!l->disk[0] || l->kept || most_bytes(l) <= l->soft_bytes)
			continue;
		l->bytes = most_bytes(l);
		snprintf(l->name, sizeof(l->name), "%s %s", l->disk, most_name(l));
	}
}

static uint64_t planned(const struct plan *plan, const char *attribute, uint64_t current)
{
	for (size_t i = 0; i < plan->n; i++)
		if (strcmp(plan->items[i].attribute, attribute) == 0)
			return plan->items[i].left_alone ? plan->items[i].old :
							   plan->items[i].new;
	return current;
}

static bool has(const struct plan *plan, const char *attribute)
{
	for (size_t i = 0; i < plan->n; i++)
		if (strcmp(plan->items[i].attribute, attribute) == 0)
			return true;
	return false;
}

/* A layer that carries more than its part is left so: larger requests do no harm. */
static void plan_layer(struct plan *plan, const struct rule_limit *l, uint64_t cluster)
{
	uint64_t part = round_up((cluster + l->share - 1) / l->share, KIB);
	uint64_t most = part < most_bytes(l) ? part : most_bytes(l);
	uint64_t new = most > l->soft_bytes ? most : l->soft_bytes;
	char size[UNITS_TEXT], parts[UNITS_TEXT], hard[UNITS_TEXT], name[SETTING_NAME];
	char asked[RULE_SENTENCE / 2];

	setting_of_disk(name, l->disk, "max_sectors_kb");
	/* One disk may lie below several others. */
	if (has(plan, name))
		return;
	if (l->share > 1)
		snprintf(asked, sizeof(asked), "a cluster of %s is %s for each of %llu data members",
			 units_format_size(cluster, size), units_format_size(part, parts),
			 (unsigned long long)l->share);
	else
		snprintf(asked, sizeof(asked), "a cluster of %s goes through it whole",
			 units_format_size(cluster, size));
	if (part > most_bytes(l))
		plan_add(plan, name, l->soft_bytes / KIB, new / KIB, SCENARIO_LAYER_LIMIT,
			 "%s, but %s allows no more than %s", asked, most_name(l),
			 units_format_size(most_bytes(l), hard));
	else
		plan_add(plan, name, l->soft_bytes / KIB, new / KIB, SCENARIO_CARRY_CLUSTER,
			 "%s%s", asked,
			 l->soft_bytes > part ? ", and it carries more, which does no harm" : "");
}

static void plan_stripe_cache(struct plan *plan, const struct rule_array *array,
			      const struct layer_settings *current, uint64_t cluster,
			      uint64_t stripe)
{
	uint64_t row = (uint64_t)array->members * ROW_BYTES;
	uint64_t rows = array->chunk_bytes / ROW_BYTES *
			round_up(cluster, stripe) / stripe * CLUSTERS_AT_ONCE;
	uint64_t need = round_up((rows * 4 + 2) / 3, ROWS_UNIT);
	uint64_t most = current->ram_bytes / MEMORY_SHARE / row / ROWS_UNIT * ROWS_UNIT;
	char size[UNITS_TEXT], memory[UNITS_TEXT], name[SETTING_NAME];
	bool bound;
	uint64_t new;

	if (most > ROWS_MAX)
		most = ROWS_MAX;
	bound = need > most;
	new = bound ? most : need;
	if (new < ROWS_MIN || new < current->stripe_cache_size)
		new = current->stripe_cache_size;
	setting_of_disk(name, current->array, "stripe_cache_size");
	units_format_size(cluster, size);
	units_format_size(new * row, memory);
	plan_sum(&plan->sum,
		 "stripe cache: %d clusters of %s at once are %llu rows, and a third more for what md still works on: %llu",
		 CLUSTERS_AT_ONCE, size, (unsigned long long)rows, (unsigned long long)need);
	plan_sum(&plan->sum, "memory of %llu rows: x %u members x one page of 4 KiB = %s; allowed are 1/%d of the RAM, %llu rows",
		 (unsigned long long)new, array->members, memory, MEMORY_SHARE,
		 (unsigned long long)most);
	if (bound)
		plan_add(plan, name, current->stripe_cache_size, new, SCENARIO_MEMORY_LIMIT,
			 "%d clusters of %s at once take %llu rows, but %llu are the most, or what is there; %llu x %u members x 4 KiB = %s of memory",
			 CLUSTERS_AT_ONCE, size, (unsigned long long)need,
			 (unsigned long long)most, (unsigned long long)new, array->members, memory);
	else
		plan_add(plan, name, current->stripe_cache_size, new, SCENARIO_STRIPE_CACHE,
			 "%d clusters of %s at once take %llu rows; %llu x %u members x 4 KiB = %s of memory",
			 CLUSTERS_AT_ONCE, size, (unsigned long long)need, (unsigned long long)new,
			 array->members, memory);
}

/* Documentation/design.rst has the measurements. */
static void tell_left(struct plan *plan)
{
	plan_sum(&plan->sum,
		 "group_thread_cnt is left as it is: it spreads CPU load only, and two threads were measured to make a writer without a plug pre-read several times as much; whole stripes gain nothing");
	plan_sum(&plan->sum,
		 "skip_copy is left as it is: requests to the members were measured to be as many and as large with it, and whoever writes a page that is being written has to wait then");
}

static void plan_read_ahead(struct plan *plan, const struct profile_summary *profile,
			    const struct layer_settings *current, uint64_t cluster,
			    uint64_t stripe)
{
	char size[UNITS_TEXT], width[UNITS_TEXT];
	uint64_t bytes = cluster > 2 * stripe ? cluster : 2 * stripe;

	if (profile->reads >= RULE_LEAST_IOS && profile->access == ACCESS_UNKNOWN &&
	    profile_is_counted(profile)) {
		plan_sum(&plan->sum, "read_ahead_kb is left as it is: counters do not tell whether these reads are random");
		return;
	}
	if (profile->reads < RULE_LEAST_IOS || profile->access == ACCESS_UNKNOWN) {
		plan_sum(&plan->sum, "read_ahead_kb is left as it is: %llu reads say nothing (at least %d)",
			 (unsigned long long)profile->reads, RULE_LEAST_IOS);
		return;
	}
	if (profile->access == ACCESS_RANDOM) {
		plan_add(plan, "read_ahead_kb", current->read_ahead_kb, 0, SCENARIO_RANDOM_READS,
			 "%.0f %% of the requests go on with nothing, so what is read ahead is not asked for",
			 profile->random * 100);
		return;
	}
	plan_add(plan, "read_ahead_kb", current->read_ahead_kb,
		 round_up(bytes, READ_AHEAD_UNIT) / KIB, SCENARIO_READ_AHEAD,
		 "%s access reads a cluster of %s ahead at a time, and not under two stripes of %s",
		 profile_access_name(profile->access), units_format_size(cluster, size),
		 units_format_size(stripe, width));
}

/*
 * Up to a power of two, and what is within a factor of two is as good as right: the rate and
 * the free memory vary all the time.
 */
static uint64_t dirty_percent(const struct layer_settings *current, uint64_t bytes)
{
	uint64_t exact = (bytes * 100.0 + current->dirty_bytes - 1) / current->dirty_bytes;
	uint64_t percent = 1;

	while (percent < exact || percent < current->min_ratio)
		percent *= 2;
	if (current->max_ratio <= 2 * percent && percent <= 2 * current->max_ratio)
		return current->max_ratio;
	return percent;
}

/*
 * A flush waits for what is dirty in the page cache, which no target sees. max_bytes is not
 * what is set: it reads differently whenever free memory changes, so nobody could tell who
 * set it.
 */
static void plan_dirty(struct plan *plan, const struct profile_summary *profile,
		       const struct layer_settings *current, uint64_t cluster)
{
	uint64_t bytes = profile->peak_rate > 8 * cluster ? profile->peak_rate : 8 * cluster;
	char size[UNITS_TEXT], all[UNITS_TEXT];
	uint64_t percent;

	if (current->dirty_bytes == 0 || profile->writes < RULE_LEAST_IOS)
		return;
	if (profile->sync < 0) {
		plan_sum(&plan->sum, "max_ratio is left as it is: counters do not tell which I/Os are waited for");
		return;
	}
	if (!profile->latency_sensitive) {
		plan_sum(&plan->sum,
			 "max_ratio is left as it is: %.0f %% of the I/Os are waited for, under a half, so the page cache may keep the rest",
			 profile->sync * 100);
		return;
	}
	if (bytes < DIRTY_LEAST)
		bytes = DIRTY_LEAST;
	units_format_size(bytes, size);
	units_format_size(current->dirty_bytes, all);
	if (bytes > current->dirty_bytes / 2 || current->min_ratio > DIRTY_MOST) {
		plan_sum(&plan->sum,
			 "max_ratio is left as it is: a second's peak, at least 8 clusters and 32 MiB, %s, is about all that may be dirty, %s",
			 size, all);
		return;
	}
	percent = dirty_percent(current, bytes);
	plan_add(plan, "max_ratio", current->max_ratio, percent, SCENARIO_DIRTY_LIMIT,
		 "%.0f %% of the I/Os are waited for: no more dirty than a second's peak, at least 8 clusters and 32 MiB, %s of %s, within a factor of two",
		 profile->sync * 100, size, all);
	if (current->has_strict_limit)
		plan_add(plan, "strict_limit", current->strict_limit, 1, SCENARIO_DIRTY_LIMIT,
			 "max_ratio counts also while little is dirty in the machine");
	else
		plan_sum(&plan->sum,
			 "this kernel has no strict_limit: max_ratio counts only when much is dirty in the machine");
}

/**
 * layer_rule_plan() - add the layers to a plan
 * @profile: of the workload
 * @array: what lies below
 * @limits: of the layers below, the upper ones first
 * @n_limits: how many
 * @target: what the fullstripe device is set to
 * @current: what the layers are set to
 * @plan: of the fullstripe device, by rule_plan()
 *
 * What carries comes before what it carries, and what the kernel moves when another one is
 * written comes last.
 */
void layer_rule_plan(const struct profile_summary *profile, const struct rule_array *array,
		     const struct rule_limit *limits, size_t n_limits,
		     const struct rule_settings *target, const struct layer_settings *current,
		     struct plan *plan)
{
	uint64_t cluster = planned(plan, "cluster_bytes", target->cluster_bytes);
	uint64_t stripe = planned(plan, "stripe_bytes", target->stripe_bytes);
	struct plan all = { .sum = plan->sum };
	/* Beside the device's own, four more. */
	size_t room = PLAN_ITEMS_MAX - plan->n - 4;

	for (size_t i = n_limits; i-- > 0;)
		if (limits[i].disk[0] && all.n < room)
			plan_layer(&all, &limits[i], cluster);
	if (all.n == room)
		plan_sum(&all.sum, "no more than %zu layers are set; others may carry less", room);
	if (current->array[0] && rule_parity_members(array->level) > 0) {
		plan_stripe_cache(&all, array, current, cluster, stripe);
		tell_left(&all);
	}
	for (size_t i = 0; i < plan->n; i++)
		all.items[all.n++] = plan->items[i];
	plan_dirty(&all, profile, current, cluster);
	plan_read_ahead(&all, profile, current, cluster, stripe);
	*plan = all;
}

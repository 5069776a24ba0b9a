// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "macros.h"
#include "plan.h"
#include "units.h"

/* md takes nothing smaller, and nothing that is no multiple of it. */
#define ROW_BYTES	4096

/*
 * The values are bandwidths over 200, so under 2^57: either @unit is larger and
 * is the result, or the result is under twice the value. Neither overflows.
 */
static uint64_t round_up(uint64_t value, uint64_t unit)
{
	uint64_t rest = value % unit;

	return rest ? value - rest + unit : value;
}

/**
 * rule_parse_level() - a RAID level
 * @text: as md names it
 *
 * Return: RULE_LEVEL_NONE if it is none that is known.
 */
int rule_parse_level(const char *text)
{
	static const struct {
		const char *name;
		int level;
	} levels[] = {
		{ "raid0", 0 }, { "raid1", 1 }, { "raid4", 4 },
		{ "raid5", 5 }, { "raid6", 6 }, { "raid10", 10 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		if (strcmp(text, levels[i].name) == 0)
			return levels[i].level;
	return RULE_LEVEL_NONE;
}

/**
 * rule_parity_members() - chunks of parity in a stripe
 * @level: a RAID level, or RULE_LEVEL_NONE
 *
 * Return: 1 or 2; 0 if the level has no parity.
 */
unsigned int rule_parity_members(int level)
{
	return level == 6 ? 2 : level == 4 || level == 5;
}

/**
 * rule_least_members() - members that an array of a level has at least
 * @array: the array's level and copies
 *
 * Return: 1 or more; 0 if there is no such level, or it would have no copies.
 */
unsigned int rule_least_members(const struct rule_array *array)
{
	switch (array->level) {
	case 0:
	case 1:
		return 1;
	case 4:
	case 5:
		return 2;
	case 6:
		return 4;
	case 10:
		return array->copies;
	default:
		return 0;
	}
}

/**
 * rule_data_members() - members whose chunks make up one stripe's data
 * @array: the array's level, members and copies
 * @ret: how many; 0 if the level has no stripes
 *
 * Return: 0 or -EINVAL if there is no such array.
 */
int rule_data_members(const struct rule_array *array, unsigned int *ret)
{
	unsigned int n = array->members, least = rule_least_members(array);

	if (least == 0 || n < least)
		return -EINVAL;
	switch (array->level) {
	case 1:
		*ret = 0;
		return 0;
	case 10:
		/* Copies that do not divide the members wrap round: only n chunks come out even. */
		*ret = n % array->copies ? n : n / array->copies;
		return 0;
	default:
		*ret = n - rule_parity_members(array->level);
		return 0;
	}
}

/**
 * rule_stripe_bytes() - the stripe width of an array
 * @array: the array
 * @ret: data members x chunk; 0 if the level has no stripes
 * @sum: how it came about, or NULL
 *
 * Return: 0, -EINVAL if there is no such array, -ERANGE if it is too large.
 */
int rule_stripe_bytes(const struct rule_array *array, uint64_t *ret, struct rule_sum *sum)
{
	char chunk[UNITS_TEXT], width[UNITS_TEXT];
	unsigned int data;
	uint64_t stripe;
	int r;

	r = rule_data_members(array, &data);
	if (r < 0)
		return r;
	if (data == 0) {
		plan_sum(sum, "RAID%d has no stripes", array->level);
		*ret = 0;
		return 0;
	}
	if (array->chunk_bytes == 0 || array->chunk_bytes % ROW_BYTES != 0)
		return -EINVAL;
	if (__builtin_mul_overflow(array->chunk_bytes, data, &stripe))
		return -ERANGE;
	plan_sum(sum, "RAID%d of %u members has %u data members: %u x %s chunk = stripe width %s",
		 array->level, array->members, data, data,
		 units_format_size(array->chunk_bytes, chunk), units_format_size(stripe, width));
	*ret = stripe;
	return 0;
}

/* What decided the cluster size last. */
struct cluster {
	uint64_t bytes;
	enum rule_scenario scenario;
	const struct rule_limit *limit;
};

static uint64_t limit_in_cluster(const struct rule_limit *limit)
{
	uint64_t bytes;

	return __builtin_mul_overflow(limit->bytes, limit->share, &bytes) ? UINT64_MAX : bytes;
}

static const struct rule_limit *tightest(const struct rule_limit *limits, size_t n)
{
	const struct rule_limit *least = NULL;

	for (size_t i = 0; i < n; i++)
		if (!least || limit_in_cluster(&limits[i]) < limit_in_cluster(least))
			least = &limits[i];
	return least;
}

static void describe_limit(const struct rule_limit *limit, char text[static RULE_SENTENCE])
{
	char bytes[UNITS_TEXT], whole[UNITS_TEXT];

	units_format_size(limit->bytes, bytes);
	if (limit->share == 1)
		snprintf(text, RULE_SENTENCE, "%s = %s", limit->name, bytes);
	else
		snprintf(text, RULE_SENTENCE, "%s = %s, x %llu data members = %s", limit->name, bytes,
			 (unsigned long long)limit->share,
			 units_format_size(limit_in_cluster(limit), whole));
}

/* Down to what the tightest layer carries, in whole stripes and not under one. */
static void cap_cluster(struct cluster *c, uint64_t stripe, const struct rule_limit *limits,
			size_t n_limits, struct rule_sum *sum)
{
	const struct rule_limit *limit = tightest(limits, n_limits);
	uint64_t unit = stripe ? stripe : RULE_CLUSTER_UNIT;
	char text[RULE_SENTENCE], size[UNITS_TEXT];
	uint64_t most;

	if (!limit)
		return;
	describe_limit(limit, text);
	most = limit_in_cluster(limit);
	if (c->bytes <= most) {
		plan_sum(sum, "tightest layer: %s; it carries this", text);
		return;
	}
	c->limit = limit;
	if (most < unit && stripe) {
		c->bytes = stripe;
		c->scenario = SCENARIO_STRIPE_OVER_LIMIT;
		plan_sum(sum, "tightest layer: %s; it cuts even one stripe, which is the least: %s",
			 text, units_format_size(c->bytes, size));
		return;
	}
	c->bytes = most < unit ? most : most - most % unit;
	c->scenario = SCENARIO_LAYER_LIMIT;
	plan_sum(sum, "tightest layer: %s; down to %s", text, units_format_size(c->bytes, size));
}

static struct cluster decide_cluster(uint64_t bandwidth, uint64_t stripe,
				     const struct rule_limit *limits, size_t n_limits,
				     struct rule_sum *sum)
{
	struct cluster c = { .scenario = SCENARIO_BANDWIDTH_RULE };
	char rate[UNITS_TEXT], size[UNITS_TEXT], unit[UNITS_TEXT];

	c.bytes = bandwidth / RULE_IOS_PER_SECOND + (bandwidth % RULE_IOS_PER_SECOND != 0);
	plan_sum(sum, "bandwidth %s / %d I/Os per second = %s",
		 units_format_rate(bandwidth, rate), RULE_IOS_PER_SECOND,
		 units_format_size(c.bytes, size));

	c.bytes = round_up(c.bytes, RULE_CLUSTER_UNIT);
	plan_sum(sum, "up to a multiple of %s: %s", units_format_size(RULE_CLUSTER_UNIT, unit),
		 units_format_size(c.bytes, size));

	if (c.bytes < RULE_CLUSTER_MIN) {
		c.bytes = RULE_CLUSTER_MIN;
		c.scenario = SCENARIO_LEAST_CLUSTER;
		plan_sum(sum, "never under %s", units_format_size(c.bytes, size));
	}
	if (stripe) {
		c.bytes = round_up(c.bytes, stripe);
		plan_sum(sum, "up to a multiple of the stripe width %s: %s",
			 units_format_size(stripe, unit), units_format_size(c.bytes, size));
	}
	cap_cluster(&c, stripe, limits, n_limits, sum);
	return c;
}

/**
 * rule_cluster_bytes() - the cluster size for a bandwidth
 * @bandwidth: bytes per second
 * @stripe_bytes: stripe width; 0 if there are no stripes
 * @limits: of the layers below
 * @n_limits: how many
 * @sum: how it came about, or NULL
 *
 * Return: the cluster size.
 */
uint64_t rule_cluster_bytes(uint64_t bandwidth, uint64_t stripe_bytes,
			    const struct rule_limit *limits, size_t n_limits, struct rule_sum *sum)
{
	return decide_cluster(bandwidth, stripe_bytes, limits, n_limits, sum).bytes;
}

/**
 * rule_misaligned_by() - how far a start lies behind a stripe border
 * @start: in bytes
 * @stripe_bytes: stripe width; 0 if there are no stripes
 */
uint64_t rule_misaligned_by(uint64_t start, uint64_t stripe_bytes)
{
	return stripe_bytes ? start % stripe_bytes : 0;
}

/**
 * rule_row_cost() - md's member I/Os for a row that is written in part
 * @array: level 4, 5 or 6
 * @dirty: data blocks of the row that are written
 * @ret: the cost
 *
 * md reads what is overwritten and the parity (rmw), or the rest of the row
 * (rcw), whichever is less; the latter if it is the same.
 *
 * Return: 0 or -EINVAL if there is no such array or row.
 */
int rule_row_cost(const struct rule_array *array, unsigned int dirty, struct rule_row_cost *ret)
{
	unsigned int parity = rule_parity_members(array->level), data, rmw, rcw;
	int r;

	r = rule_data_members(array, &data);
	if (r < 0)
		return r;
	if (parity == 0 || dirty < 1 || dirty > data)
		return -EINVAL;
	rmw = dirty + parity;
	rcw = data - dirty;
	*ret = (struct rule_row_cost) {
		.reads = rmw < rcw ? rmw : rcw,
		.writes = dirty + parity,
	};
	return 0;
}

/**
 * rule_water_marks() - the throttle's limits for a machine
 * @ram_bytes: its memory
 */
struct rule_water_marks rule_water_marks(uint64_t ram_bytes)
{
	return (struct rule_water_marks) { .high = ram_bytes / 64, .low = ram_bytes / 128 };
}

static void plan_cluster(struct plan *plan, uint64_t peak, uint64_t stripe, uint64_t old,
			 const struct cluster *c)
{
	char rate[UNITS_TEXT], raw[UNITS_TEXT], width[UNITS_TEXT], size[UNITS_TEXT];
	char asked[96], limit[RULE_SENTENCE];

	snprintf(asked, sizeof(asked), "peak %s / %d I/Os per second = %s",
		 units_format_rate(peak, rate), RULE_IOS_PER_SECOND,
		 units_format_size(peak / RULE_IOS_PER_SECOND, raw));
	units_format_size(stripe, width);
	units_format_size(c->bytes, size);
	if (c->limit)
		describe_limit(c->limit, limit);

	switch (c->scenario) {
	case SCENARIO_LAYER_LIMIT:
		plan_add(plan, "cluster_bytes", old, c->bytes, c->scenario,
			 "%s, but %.100s allows no more than %s", asked, limit, size);
		return;
	case SCENARIO_STRIPE_OVER_LIMIT:
		plan_add(plan, "cluster_bytes", old, c->bytes, c->scenario,
			 "one stripe of %s is the least, though %.100s cuts it", size, limit);
		return;
	case SCENARIO_LEAST_CLUSTER:
		plan_add(plan, "cluster_bytes", old, c->bytes, c->scenario,
			 "%s, which is under the least of 128 KiB; up to a multiple of the stripe width %s",
			 asked, width);
		return;
	default:
		plan_add(plan, "cluster_bytes", old, c->bytes, c->scenario,
			 "%s, up to a multiple of the stripe width %s", asked, width);
		return;
	}
}

static int plan_stripe(struct plan *plan, const struct rule_array *array, uint64_t old,
		       uint64_t stripe)
{
	char chunk[UNITS_TEXT], width[UNITS_TEXT];
	unsigned int data;
	int r;

	r = rule_data_members(array, &data);
	if (r < 0)
		return r;
	plan_add(plan, "stripe_bytes", old, stripe, SCENARIO_STRIPE_OF_ARRAY,
		 "RAID%d of %u members: %u data members x %s chunk = %s", array->level,
		 array->members, data, units_format_size(array->chunk_bytes, chunk),
		 units_format_size(stripe, width));
	return 0;
}

/**
 * rule_plan_array() - what a target should be set to for its array, whatever its workload
 * @array: what lies below it
 * @current: what it is set to
 * @ret: the plan, empty if there are no stripes
 *
 * Return: 0, -EINVAL if there is no such array, -ERANGE if the stripe is too wide.
 */
int rule_plan_array(const struct rule_array *array, const struct rule_settings *current,
		    struct plan *ret)
{
	struct plan plan = { .n = 0 };
	uint64_t stripe = 0;
	int r = 0;

	if (array->level != RULE_LEVEL_NONE)
		r = rule_stripe_bytes(array, &stripe, &plan.sum);
	if (r == 0 && stripe)
		r = plan_stripe(&plan, array, current->stripe_bytes, stripe);
	if (r < 0)
		return r;
	*ret = plan;
	return 0;
}

/**
 * rule_plan() - what a target should be set to
 * @profile: of its workload
 * @array: what lies below it
 * @limits: of the layers below
 * @n_limits: how many
 * @current: what it is set to
 * @ret: the plan
 *
 * Return: 0, -ENODATA if too little was measured to decide from, -EINVAL if the
 * array or the target's settings cannot be, -ERANGE if the stripe is too wide.
 */
int rule_plan(const struct profile_summary *profile, const struct rule_array *array,
	      const struct rule_limit *limits, size_t n_limits,
	      const struct rule_settings *current, struct plan *ret)
{
	struct plan plan = { .n = 0 };
	uint64_t stripe = 0;
	struct cluster cluster;
	int r;

	if (profile->ios < RULE_LEAST_IOS || profile->completed == 0)
		return -ENODATA;
	if (current->stripe_bytes == 0)
		return -EINVAL;

	if (array->level != RULE_LEVEL_NONE) {
		r = rule_stripe_bytes(array, &stripe, &plan.sum);
		if (r < 0)
			return r;
	}
	if (stripe && !current->keep_stripe) {
		r = plan_stripe(&plan, array, current->stripe_bytes, stripe);
		if (r < 0)
			return r;
	} else {
		/* The target works in stripes of some width even over what has none. */
		char width[UNITS_TEXT];

		plan_sum(&plan.sum, "%s: the target's own width %s is kept",
			 stripe ? "somebody else set stripe_bytes" : "no stripes below",
			 units_format_size(current->stripe_bytes, width));
		stripe = current->stripe_bytes;
	}

	cluster = decide_cluster(profile->peak_rate, stripe, limits, n_limits, &plan.sum);
	plan_cluster(&plan, profile->peak_rate, stripe, current->cluster_bytes, &cluster);
	*ret = plan;
	return 0;
}

/**
 * rule_scenario_name() - as it is printed and logged
 * @scenario: the code
 */
const char *rule_scenario_name(enum rule_scenario scenario)
{
	static const char * const names[] = {
		[SCENARIO_STRIPE_OF_ARRAY] = "stripe-of-array",
		[SCENARIO_BANDWIDTH_RULE] = "bandwidth-rule",
		[SCENARIO_LEAST_CLUSTER] = "least-cluster",
		[SCENARIO_LAYER_LIMIT] = "layer-limit",
		[SCENARIO_STRIPE_OVER_LIMIT] = "stripe-over-limit",
		[SCENARIO_CARRY_CLUSTER] = "carry-cluster",
		[SCENARIO_STRIPE_CACHE] = "stripe-cache",
		[SCENARIO_MEMORY_LIMIT] = "memory-limit",
		[SCENARIO_READ_AHEAD] = "read-ahead",
		[SCENARIO_RANDOM_READS] = "random-reads",
		[SCENARIO_DIRTY_LIMIT] = "dirty-limit",
	};

	return names[scenario];
}

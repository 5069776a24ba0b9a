/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Everything that decides anything: arithmetic on a profile, an array's shape
 * and the limits of the layers below, giving a plan. Pure: no system calls.
 */
#ifndef FULLSTRIPE_RULE_H
#define FULLSTRIPE_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile.h"
#include "setting.h"

/* "No device has to do more than 200 I/O operations per second to achieve maximum bandwidth." */
#define RULE_IOS_PER_SECOND	200
#define RULE_CLUSTER_MIN	(128u << 10)
#define RULE_CLUSTER_UNIT	(8u << 10)

/* Fewer I/Os than this say nothing about a workload. */
#define RULE_LEAST_IOS		16

#define RULE_NAME		64
#define RULE_SENTENCE		256
#define RULE_LAYERS_MAX		128

/**
 * struct rule_sum - the sum that led to a value, line by line
 * @n: lines
 * @lines: each one step, with its numbers
 */
struct rule_sum {
	size_t n;
	char lines[24][RULE_SENTENCE];
};

/**
 * struct rule_limit - the largest request that a layer takes
 * @name: which layer, and by which attribute
 * @bytes: the limit
 * @share: the layer gets one part in so many of a cluster: the data members for
 *	a member, 1 for what lies above the array
 * @disk: the layer; empty if it is only supposed, and cannot be set
 * @soft_bytes: what max_sectors_kb is set to
 * @hard_bytes: what max_hw_sectors_kb allows
 * @disk_bytes: what the layer, or the least of those below it, says itself that it takes, as
 *	SCSI disks do; the kernel obeys that too, but does not show it. 0 if none says anything
 * @kept: max_sectors_kb is not to be changed, as somebody else set it
 */
struct rule_limit {
	char name[RULE_NAME];
	uint64_t bytes;
	uint64_t share;
	char disk[SETTING_DISK];
	uint64_t soft_bytes;
	uint64_t hard_bytes;
	uint64_t disk_bytes;
	bool kept;
};

#define RULE_LEVEL_NONE		(-1)

/**
 * struct rule_array - the shape of what lies below a device
 * @level: RAID level, or RULE_LEVEL_NONE if no array was found
 * @members: number of disks
 * @copies: of each chunk, on RAID10
 * @chunk_bytes: bytes that lie together on one member
 * @offset_bytes: from the array's first byte to the device's
 */
struct rule_array {
	int level;
	unsigned int members;
	unsigned int copies;
	uint64_t chunk_bytes;
	uint64_t offset_bytes;
};

/**
 * struct rule_row_cost - what md does for one row that is written in part
 * @reads: of members, before
 * @writes: of members
 */
struct rule_row_cost {
	unsigned int reads;
	unsigned int writes;
};

/**
 * struct rule_water_marks - of the throttle
 * @high: no more is accepted
 * @low: accepting starts again
 */
struct rule_water_marks {
	uint64_t high;
	uint64_t low;
};

int rule_parse_level(const char *text);
unsigned int rule_parity_members(int level);
unsigned int rule_least_members(const struct rule_array *array);
int rule_data_members(const struct rule_array *array, unsigned int *ret);
int rule_stripe_bytes(const struct rule_array *array, uint64_t *ret, struct rule_sum *sum);
uint64_t rule_cluster_bytes(uint64_t bandwidth, uint64_t stripe_bytes,
			    const struct rule_limit *limits, size_t n_limits, struct rule_sum *sum);
uint64_t rule_misaligned_by(uint64_t start, uint64_t stripe_bytes);
int rule_row_cost(const struct rule_array *array, unsigned int dirty, struct rule_row_cost *ret);
struct rule_water_marks rule_water_marks(uint64_t ram_bytes);

/* Why a value is as it is. */
enum rule_scenario {
	SCENARIO_STRIPE_OF_ARRAY,	/* the array's level, members and chunk give it */
	SCENARIO_BANDWIDTH_RULE,	/* the bandwidth over 200 gives it */
	SCENARIO_LEAST_CLUSTER,		/* the bandwidth would be content with less */
	SCENARIO_LAYER_LIMIT,		/* a layer below carries no more */
	SCENARIO_STRIPE_OVER_LIMIT,	/* one stripe is more than a layer carries, and the least there is */
	SCENARIO_CARRY_CLUSTER,		/* a layer carries its part of a cluster in one request */
	SCENARIO_STRIPE_CACHE,		/* md has rows for the clusters that are written at once */
	SCENARIO_MEMORY_LIMIT,		/* it would have more of them, but for the memory */
	SCENARIO_READ_AHEAD,		/* a cluster is read ahead at a time */
	SCENARIO_RANDOM_READS,		/* what would be read ahead is not asked for */
	SCENARIO_DIRTY_LIMIT,		/* who waits for a flush waits for no more than this */
};

/* As a change has room for. */
#define PLAN_ITEMS_MAX	72

/**
 * struct plan_item - one attribute
 * @attribute: its name, as lib/setting.h has them
 * @old: value before
 * @new: value that it should have
 * @scenario: why
 * @reason: why, in a sentence with the numbers
 * @left_alone: somebody else set it, so it is not changed
 */
struct plan_item {
	char attribute[SETTING_NAME];
	uint64_t old;
	uint64_t new;
	enum rule_scenario scenario;
	char reason[RULE_SENTENCE];
	bool left_alone;
};

/**
 * struct plan - what to set, in this order
 * @n: attributes
 * @items: each with its reason; @old equal to @new means that it is right already
 * @sum: the whole sum, for those who want to follow it
 */
struct plan {
	size_t n;
	struct plan_item items[PLAN_ITEMS_MAX];
	struct rule_sum sum;
};

/**
 * struct rule_settings - what a target is set to
 * @stripe_bytes: its stripe width
 * @cluster_bytes: its cluster size
 * @alignment_offset: from the array's last stripe border to the device it lies on
 * @keep_stripe: somebody else set the stripe width, and it stays
 */
struct rule_settings {
	uint64_t stripe_bytes;
	uint64_t cluster_bytes;
	uint64_t alignment_offset;
	bool keep_stripe;
};

int rule_plan_array(const struct rule_array *array, const struct rule_settings *current,
		    struct plan *ret);
int rule_plan(const struct profile_summary *profile, const struct rule_array *array,
	      const struct rule_limit *limits, size_t n_limits,
	      const struct rule_settings *current, struct plan *ret);
const char *rule_scenario_name(enum rule_scenario scenario);

#endif

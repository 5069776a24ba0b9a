// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "option.h"
#include "src/log.h"

#define COUNT_MAX	65536

enum {
	OPTION_LEVEL = 512,
	OPTION_MEMBERS,
	OPTION_COPIES,
	OPTION_CHUNK,
	OPTION_START,
	OPTION_LIMIT,
};

static const struct argp_option option_list[] = {
	{ "level", OPTION_LEVEL, "N", 0, "RAID level: 0, 1, 4, 5, 6 or 10", 0 },
	{ "members", OPTION_MEMBERS, "N", 0, "Number of disks", 0 },
	{ "copies", OPTION_COPIES, "N", 0, "Copies of each chunk on RAID10 (default 2)", 0 },
	{ "chunk", OPTION_CHUNK, "SIZE", 0, "Bytes that lie together on one disk", 0 },
	{ "start", OPTION_START, "SIZE", 0, "Where on the array a partition or volume begins", 0 },
	{ "limit", OPTION_LIMIT, "SIZE", 0, "Largest request of a layer below; may be repeated", 0 },
	{ 0 },
};

static void add_limit(struct array_options *o, const char *text, struct argp_state *state)
{
	struct rule_limit *limit = &o->limits[o->n_limits];

	if (o->n_limits == RULE_LAYERS_MAX)
		argp_error(state, "more than %d limits", RULE_LAYERS_MAX);
	*limit = (struct rule_limit) {
		.bytes = option_size("limit", text, state),
		.share = 1,
	};
	if (limit->bytes == 0)
		argp_error(state, "--limit '%s': a layer that carries nothing", text);
	o->n_limits++;
	snprintf(limit->name, sizeof(limit->name), "limit %zu", o->n_limits);
}

static void check(const struct array_options *o, struct argp_state *state)
{
	if (o->array.level == RULE_LEVEL_NONE && (o->array.members || o->has_chunk))
		argp_error(state, "--members and --chunk need --level");
	if (o->array.level != RULE_LEVEL_NONE && !o->array.members)
		argp_error(state, "--level needs --members");
	if (o->array.level != RULE_LEVEL_NONE && o->array.level != 1 && !o->has_chunk)
		argp_error(state, "RAID%d needs --chunk", o->array.level);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct array_options *o = state->input;

	switch (key) {
	case OPTION_LEVEL:
		o->array.level = option_number("level", arg, 0, COUNT_MAX, state);
		return 0;
	case OPTION_MEMBERS:
		o->array.members = option_number("members", arg, 0, COUNT_MAX, state);
		return 0;
	case OPTION_COPIES:
		o->array.copies = option_number("copies", arg, 1, COUNT_MAX, state);
		return 0;
	case OPTION_CHUNK:
		o->array.chunk_bytes = option_size("chunk", arg, state);
		o->has_chunk = true;
		return 0;
	case OPTION_START:
		o->array.offset_bytes = option_size("start", arg, state);
		o->has_start = true;
		return 0;
	case OPTION_LIMIT:
		add_limit(o, arg, state);
		return 0;
	case ARGP_KEY_END:
		check(o, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/**
 * array_options_take() - what was not said is so
 * @o: what was said
 * @topology: what lies below a device
 * @offset_bytes: where on the array that begins
 */
void array_options_take(struct array_options *o, const struct topology *topology,
			uint64_t offset_bytes)
{
	if (o->array.level == RULE_LEVEL_NONE) {
		uint64_t start = o->has_start ? o->array.offset_bytes : offset_bytes;

		o->array = topology->array;
		o->array.offset_bytes = start;
	}
	if (o->n_limits == 0) {
		o->n_limits = topology->n_limits;
		memcpy(o->limits, topology->limits, sizeof(o->limits));
	}
}

/* A child of a verb's parser, which hands it its struct array_options. */
const struct argp array_argp = {
	.options = option_list,
	.parser = parse_option,
};

/**
 * array_options_init() - nothing was said yet
 * @o: the options
 */
void array_options_init(struct array_options *o)
{
	*o = (struct array_options) {
		.array = { .level = RULE_LEVEL_NONE, .copies = 2 },
	};
}

/* Which of the numbers there can be no array with, and what it may be. */
static void say_impossible(const struct rule_array *array)
{
	unsigned int least = rule_least_members(array);

	if (least == 0)
		log_warning("--level %d: 0, 1, 4, 5, 6 and 10 are known here", array->level);
	else if (array->members < least)
		log_warning("--members %u: RAID%d has %u at least",
			    array->members, array->level, least);
	else
		log_warning("--chunk %llu: must be a multiple of 4096, and %u of them no more than 16 EiB",
			    (unsigned long long)array->chunk_bytes, array->members);
}

/**
 * array_stripe_bytes() - the stripe width of an array that was named
 * @o: what was said of it
 * @ret: the width; 0 if nothing is known of it
 * @sum: gets the sum
 *
 * Return: 0, or a negative errno if there can be no such array, which was logged.
 */
int array_stripe_bytes(const struct array_options *o, uint64_t *ret, struct rule_sum *sum)
{
	uint64_t stripe = o->stripe_bytes;
	int r = 0;

	if (o->array.level != RULE_LEVEL_NONE)
		r = rule_stripe_bytes(&o->array, &stripe, sum);
	if (r < 0) {
		say_impossible(&o->array);
		return r;
	}
	*ret = stripe;
	return 0;
}

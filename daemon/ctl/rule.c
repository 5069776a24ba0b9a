// SPDX-License-Identifier: GPL-2.0
/* fullstripectl rule: stripe width and cluster size from numbers alone. */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "lib/exit_codes.h"
#include "lib/render.h"
#include "lib/rule.h"
#include "lib/units.h"
#include "src/cleanup.h"
#include "src/log.h"

DEFINE_CLEANUP(struct json_object *, json_object_put)

struct options {
	struct rule_array array;
	uint64_t bandwidth;
	uint64_t start;
	uint64_t memory;
	bool has_bandwidth, has_start, has_memory, has_chunk;
	bool json;
	size_t n_limits;
	struct rule_limit limits[RULE_LAYERS_MAX];
};

enum {
	OPTION_LEVEL = 256,
	OPTION_MEMBERS,
	OPTION_COPIES,
	OPTION_CHUNK,
	OPTION_BANDWIDTH,
	OPTION_START,
	OPTION_LIMIT,
	OPTION_MEMORY,
	OPTION_JSON,
};

static const struct argp_option option_list[] = {
	{ "level", OPTION_LEVEL, "N", 0, "RAID level: 0, 1, 4, 5, 6 or 10", 0 },
	{ "members", OPTION_MEMBERS, "N", 0, "Number of disks", 0 },
	{ "copies", OPTION_COPIES, "N", 0, "Copies of each chunk on RAID10 (default 2)", 0 },
	{ "chunk", OPTION_CHUNK, "SIZE", 0, "Bytes that lie together on one disk", 0 },
	{ "bandwidth", OPTION_BANDWIDTH, "RATE", 0, "What the array reaches, as 100MiB/s", 0 },
	{ "start", OPTION_START, "SIZE", 0, "Where on the array a partition or volume begins", 0 },
	{ "limit", OPTION_LIMIT, "SIZE", 0, "Largest request of a layer below; may be repeated", 0 },
	{ "memory", OPTION_MEMORY, "SIZE", 0, "The machine's, for the throttle's water marks", 0 },
	{ "json", OPTION_JSON, NULL, 0, "Print JSON", 0 },
	{ 0 },
};

static unsigned int parse_count(const char *option, const char *text, struct argp_state *state)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || value > 65536)
		argp_error(state, "--%s '%s': a number from 0 to 65536", option, text);
	return value;
}

static uint64_t parse_size(const char *option, const char *text, struct argp_state *state)
{
	uint64_t value = 0;
	int r = units_parse_size(text, &value);

	if (r < 0)
		argp_error(state, "--%s '%s': %s", option, text, r == -ERANGE ?
			   "too large" : "a size, as 131072, 128KiB or 128k");
	return value;
}

static void add_limit(struct options *o, const char *text, struct argp_state *state)
{
	struct rule_limit *limit = &o->limits[o->n_limits];

	if (o->n_limits == RULE_LAYERS_MAX)
		argp_error(state, "more than %d limits", RULE_LAYERS_MAX);
	*limit = (struct rule_limit) {
		.bytes = parse_size("limit", text, state),
		.share = 1,
	};
	if (limit->bytes == 0)
		argp_error(state, "--limit '%s': a layer that carries nothing", text);
	o->n_limits++;
	snprintf(limit->name, sizeof(limit->name), "limit %zu", o->n_limits);
}

static void check(const struct options *o, struct argp_state *state)
{
	if (o->array.level == RULE_LEVEL_NONE && (o->array.members || o->has_chunk))
		argp_error(state, "--members and --chunk need --level");
	if (o->array.level != RULE_LEVEL_NONE && !o->array.members)
		argp_error(state, "--level needs --members");
	if (o->array.level != RULE_LEVEL_NONE && o->array.level != 1 && !o->has_chunk)
		argp_error(state, "RAID%d needs --chunk", o->array.level);
	if (!o->has_bandwidth)
		argp_error(state, "--bandwidth is missing");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	int r;

	switch (key) {
	case OPTION_LEVEL:
		o->array.level = parse_count("level", arg, state);
		return 0;
	case OPTION_MEMBERS:
		o->array.members = parse_count("members", arg, state);
		return 0;
	case OPTION_COPIES:
		o->array.copies = parse_count("copies", arg, state);
		return 0;
	case OPTION_CHUNK:
		o->array.chunk_bytes = parse_size("chunk", arg, state);
		o->has_chunk = true;
		return 0;
	case OPTION_BANDWIDTH:
		r = units_parse_rate(arg, &o->bandwidth);
		if (r < 0)
			argp_error(state, "--bandwidth '%s': %s", arg, r == -ERANGE ?
				   "too large" : "a rate, as 100MiB/s");
		o->has_bandwidth = true;
		return 0;
	case OPTION_START:
		o->start = parse_size("start", arg, state);
		o->has_start = true;
		return 0;
	case OPTION_LIMIT:
		add_limit(o, arg, state);
		return 0;
	case OPTION_MEMORY:
		o->memory = parse_size("memory", arg, state);
		o->has_memory = true;
		return 0;
	case OPTION_JSON:
		o->json = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is no option", arg);
		return 0;
	case ARGP_KEY_END:
		check(o, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
	.options = option_list,
	.parser = parse_option,
	.doc = "Print the stripe width of an array and the cluster size for a bandwidth: no device should need more than 200 I/Os a second.",
};

struct result {
	uint64_t stripe;
	uint64_t cluster;
	struct rule_sum sum;
};

static bool has_parity(const struct options *o)
{
	return o->array.level == 4 || o->array.level == 5 || o->array.level == 6;
}

static struct json_object *render_row_costs(const struct rule_array *array)
{
	struct json_object *all = json_object_new_array();
	struct rule_row_cost cost;

	for (unsigned int dirty = 1; rule_row_cost(array, dirty, &cost) == 0; dirty++) {
		struct json_object *o = json_object_new_object();

		render_add_number(o, "blocks", dirty);
		render_add_number(o, "reads", cost.reads);
		render_add_number(o, "writes", cost.writes);
		json_object_array_add(all, o);
	}
	return all;
}

static void print_json(const struct options *o, const struct result *result)
{
	_cleanup_(json_object_putp) struct json_object *object = json_object_new_object();

	if (result->stripe)
		render_add_number(object, "stripe_bytes", result->stripe);
	else
		json_object_object_add(object, "stripe_bytes", NULL);
	render_add_number(object, "cluster_bytes", result->cluster);
	if (o->has_start)
		render_add_number(object, "misaligned_by",
				  rule_misaligned_by(o->start, result->stripe));
	if (o->has_memory) {
		struct rule_water_marks marks = rule_water_marks(o->memory);

		render_add_number(object, "high_water_bytes", marks.high);
		render_add_number(object, "low_water_bytes", marks.low);
	}
	if (has_parity(o))
		json_object_object_add(object, "row_costs", render_row_costs(&o->array));
	json_object_object_add(object, "sum", render_sum(&result->sum));
	puts(render_text(object));
}

static void print_row_costs(const struct rule_array *array)
{
	struct rule_row_cost cost;

	printf("member I/Os for a row written in part:");
	for (unsigned int dirty = 1; rule_row_cost(array, dirty, &cost) == 0; dirty++)
		printf("%s %u: %ur+%uw", dirty > 1 ? "," : "", dirty, cost.reads, cost.writes);
	putchar('\n');
}

static void print_text(const struct options *o, const struct result *result)
{
	char size[UNITS_TEXT], other[UNITS_TEXT];

	for (size_t i = 0; i < result->sum.n; i++)
		printf("  %s\n", result->sum.lines[i]);
	if (result->stripe)
		printf("stripe width %llu bytes (%s)\n", (unsigned long long)result->stripe,
		       units_format_size(result->stripe, size));
	else
		puts("no stripes");
	printf("cluster size %llu bytes (%s)\n", (unsigned long long)result->cluster,
	       units_format_size(result->cluster, size));
	if (o->has_start)
		printf("a start of %s lies %s behind a stripe border\n",
		       units_format_size(o->start, size),
		       units_format_size(rule_misaligned_by(o->start, result->stripe), other));
	if (o->has_memory) {
		struct rule_water_marks marks = rule_water_marks(o->memory);

		printf("high water %llu bytes (memory / 64), low water %llu bytes (memory / 128)\n",
		       (unsigned long long)marks.high, (unsigned long long)marks.low);
	}
	if (has_parity(o))
		print_row_costs(&o->array);
}

int verb_rule(int argc, char **argv)
{
	_cleanup_free_ struct options *o = calloc(1, sizeof(*o));
	struct result result = { .stripe = 0 };
	int r = 0;

	if (!o) {
		log_errno(ENOMEM, "rule");
		return EXIT_FAILED;
	}
	o->array.level = RULE_LEVEL_NONE;
	o->array.copies = 2;
	argp_parse(&parser, argc, argv, 0, NULL, o);

	if (o->array.level != RULE_LEVEL_NONE)
		r = rule_stripe_bytes(&o->array, &result.stripe, &result.sum);
	if (r < 0) {
		log_errno(r, "RAID%d of %u members with chunks of %llu bytes cannot be; a chunk is a multiple of 4096",
			  o->array.level, o->array.members,
			  (unsigned long long)o->array.chunk_bytes);
		return EXIT_USAGE;
	}
	result.cluster = rule_cluster_bytes(o->bandwidth, result.stripe, o->limits, o->n_limits,
					    &result.sum);
	if (o->json)
		print_json(o, &result);
	else
		print_text(o, &result);
	return EXIT_DONE;
}

// SPDX-License-Identifier: GPL-2.0
/* fullstripectl rule: stripe width and cluster size from numbers alone. */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "ctl.h"
#include "lib/exit_codes.h"
#include "lib/render.h"
#include "lib/rule.h"
#include "lib/units.h"
#include "option.h"
#include "src/cleanup.h"
#include "src/log.h"

DEFINE_CLEANUP(struct json_object *, json_object_put)

struct options {
	struct array_options array;
	uint64_t bandwidth;
	uint64_t memory;
	bool has_bandwidth, has_memory;
	bool json;
};

enum {
	OPTION_BANDWIDTH = 256,
	OPTION_MEMORY,
	OPTION_JSON,
};

static const struct argp_option option_list[] = {
	{ "bandwidth", OPTION_BANDWIDTH, "RATE", 0, "What the array reaches, as 100MiB/s", 0 },
	{ "memory", OPTION_MEMORY, "SIZE", 0, "The machine's, for the throttle's water marks", 0 },
	{ "json", OPTION_JSON, NULL, 0, "Print JSON", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	int r;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->array;
		return 0;
	case OPTION_BANDWIDTH:
		r = units_parse_rate(arg, &o->bandwidth);
		if (r < 0)
			argp_error(state, "--bandwidth '%s': %s", arg, r == -ERANGE ?
				   "too large" : "a rate, as 100MiB/s");
		o->has_bandwidth = true;
		return 0;
	case OPTION_MEMORY:
		o->memory = option_size("memory", arg, state);
		o->has_memory = true;
		return 0;
	case OPTION_JSON:
		o->json = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is no option", arg);
		return 0;
	case ARGP_KEY_END:
		if (!o->has_bandwidth)
			argp_error(state, "--bandwidth is missing");
		if (o->array.has_start && o->array.array.level == RULE_LEVEL_NONE)
			argp_error(state, "--start needs --level");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
	.options = option_list,
	.parser = parse_option,
	.children = (const struct argp_child[]) { { &array_argp, 0, NULL, 0 }, { 0 } },
	.doc = "Print the stripe width of an array and the cluster size for a bandwidth: no device should need more than 200 I/Os a second.",
};

struct result {
	uint64_t stripe;
	uint64_t cluster;
	struct rule_sum sum;
};

static bool has_parity(const struct options *o)
{
	return o->array.array.level == 4 || o->array.array.level == 5 || o->array.array.level == 6;
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
	if (o->array.has_start)
		render_add_number(object, "misaligned_by",
				  rule_misaligned_by(o->array.array.offset_bytes, result->stripe));
	if (o->has_memory) {
		struct rule_water_marks marks = rule_water_marks(o->memory);

		render_add_number(object, "high_water_bytes", marks.high);
		render_add_number(object, "low_water_bytes", marks.low);
	}
	if (has_parity(o))
		json_object_object_add(object, "row_costs", render_row_costs(&o->array.array));
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
	if (o->array.has_start)
		printf("a start of %s lies %s behind a stripe border\n",
		       units_format_size(o->array.array.offset_bytes, size),
		       units_format_size(rule_misaligned_by(o->array.array.offset_bytes, result->stripe), other));
	if (o->has_memory) {
		struct rule_water_marks marks = rule_water_marks(o->memory);

		printf("high water %llu bytes (memory / 64), low water %llu bytes (memory / 128)\n",
		       (unsigned long long)marks.high, (unsigned long long)marks.low);
	}
	if (has_parity(o))
		print_row_costs(&o->array.array);
}

int verb_rule(int argc, char **argv)
{
	_cleanup_free_ struct options *o = calloc(1, sizeof(*o));
	struct result result = { .stripe = 0 };

	if (!o) {
		log_errno(ENOMEM, "rule");
		return EXIT_FAILED;
	}
	array_options_init(&o->array);
	argp_parse(&parser, argc, argv, 0, NULL, o);
	if (array_stripe_bytes(&o->array, &result.stripe, &result.sum) < 0)
		return EXIT_USAGE;
	result.cluster = rule_cluster_bytes(o->bandwidth, result.stripe, o->array.limits,
					    o->array.n_limits, &result.sum);
	if (o->json)
		print_json(o, &result);
	else
		print_text(o, &result);
	return EXIT_DONE;
}

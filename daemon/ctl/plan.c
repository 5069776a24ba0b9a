// SPDX-License-Identifier: GPL-2.0
/*
 * fullstripectl plan, explain, apply: what a device should be set to for a workload; why;
 * and setting it. They decide in the same way, and differ in what they say and do.
 */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "device.h"
#include "lib/exit_codes.h"
#include "lib/macros.h"
#include "lib/render.h"
#include "lib/units.h"
#include "src/apply.h"
#include "src/cleanup.h"
#include "src/log.h"
#include "src/tuning.h"
#include "table.h"
#include "workload.h"

DEFINE_CLEANUP(struct json_object *, json_object_put)
DEFINE_CLEANUP(struct tuning *, tuning_free)

enum plan_verb {
	VERB_PLAN,
	VERB_EXPLAIN,
	VERB_APPLY,
};

enum {
	OPTION_NO_LAYERS = 768,
};

struct options {
	struct device_options device;
	struct workload workload;
	bool no_layers;
};

static const struct argp_option plan_options[] = {
	{ "no-layers", OPTION_NO_LAYERS, NULL, 0,
	  "Leave the layers below, and the kernel's settings of DEV, as they are", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	(void)arg;
	switch (key) {
	case OPTION_NO_LAYERS:
		o->no_layers = true;
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->workload;
		state->child_inputs[1] = &o->device;
		return 0;
	case ARGP_KEY_ARG:
		if (!o->device.device)
			return ARGP_ERR_UNKNOWN;
		/* All that follows the device. */
		o->workload.files = state->argv + state->next - 1;
		o->workload.n_files = state->argc - state->next + 1;
		state->next = state->argc;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp device_argp = {
	.options = device_change_options,
	.parser = device_parse_option,
};

static const struct argp_child children[] = {
	{ &workload_argp, 0, NULL, 0 },
	{ &device_argp, 0, NULL, 0 },
	{ 0 },
};

#define PLAN_ARGP(_doc)							\
	{								\
		.options = plan_options,				\
		.parser = parse_option,					\
		.args_doc = "DEV [FILE...]",				\
		.doc = _doc "\vFILEs are recordings of blktrace. Without any workload named, the newest that was recorded of DEV counts. Exit status: 0 done, 1 failed, 2 wrong usage, 3 a file is no recording or no profile or is damaged, 4 there was too little workload to decide from.", \
		.children = children,					\
	}

static const struct argp plan_argp =
	PLAN_ARGP("Print what the fullstripe device DEV should be set to for its workload.");
static const struct argp explain_argp =
	PLAN_ARGP("Print why the fullstripe device DEV should be set so for its workload: what was measured, the whole sum, and each limit.");
static const struct argp apply_argp =
	PLAN_ARGP("Set the fullstripe device DEV for its workload: all values or none. fullstripectl rollback takes it back.");

/* What becomes of a value. */
static const char *fate(const struct plan_item *item)
{
	if (item->old == item->new)
		return "right";
	return item->left_alone ? "left alone, somebody else set it" : "to be changed";
}

static int add_line(struct libscols_table *table, const struct plan_item *item)
{
	char old[UNITS_SETTING], new[UNITS_SETTING];
	const char * const cells[] = {
		item->attribute,
		units_format_setting(item->attribute, item->old, old),
		units_format_setting(item->attribute, item->new, new),
		fate(item),
	};

	return table_add_line(table, cells, ARRAY_SIZE(cells));
}

static int print_plan(const struct plan *plan)
{
	static const struct table_column columns[] = {
		{ "SETTING", 0 }, { "NOW", SCOLS_FL_RIGHT }, { "PLANNED", SCOLS_FL_RIGHT },
		{ "STATE", 0 },
	};
	_cleanup_(scols_unref_tablep) struct libscols_table *table =
		table_new(columns, ARRAY_SIZE(columns));
	int r = 0;

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < plan->n && r == 0; i++)
		r = add_line(table, &plan->items[i]);
	return r < 0 ? r : scols_print_table(table);
}

static void print_reason(const struct plan_item *item)
{
	if (item->old == item->new)
		printf("%s %llu is right: %s\n", item->attribute,
		       (unsigned long long)item->new, item->reason);
	else if (item->left_alone)
		printf("%s %llu is left alone, as somebody else set it; --force sets it to %llu: %s\n",
		       item->attribute, (unsigned long long)item->old,
		       (unsigned long long)item->new, item->reason);
	else
		printf("%s %llu -> %llu: %s\n", item->attribute, (unsigned long long)item->old,
		       (unsigned long long)item->new, item->reason);
}

static void print_reasons(const struct plan *plan)
{
	for (size_t i = 0; i < plan->n; i++)
		print_reason(&plan->items[i]);
}

static void print_array(const struct topology *t)
{
	char chunk[UNITS_TEXT], offset[UNITS_TEXT];

	if (t->array.level == RULE_LEVEL_NONE) {
		puts("Below: no array that is known");
		return;
	}
	printf("Below: %s, RAID%d of %u members, chunk %s; the device begins %s into it\n",
	       t->array_name, t->array.level, t->array.members,
	       units_format_size(t->array.chunk_bytes, chunk),
	       units_format_size(t->array.offset_bytes, offset));
}

static void print_limits(const struct topology *t)
{
	char bytes[UNITS_TEXT], whole[UNITS_TEXT], soft[UNITS_TEXT];

	puts("What each layer carries in one request:");
	for (size_t i = 0; i < t->n_limits; i++) {
		const struct rule_limit *l = &t->limits[i];

		printf("  %s %s", l->name, units_format_size(l->bytes, bytes));
		if (l->soft_bytes < l->bytes)
			printf(" (max_sectors_kb is %s)", units_format_size(l->soft_bytes, soft));
		if (l->share > 1)
			printf(", of a cluster that is spread over %llu members: %s",
			       (unsigned long long)l->share,
			       units_format_size(l->bytes * l->share, whole));
		putchar('\n');
	}
}

static void print_workload(const struct tuning *t)
{
	const struct profile_summary *s = &t->profile;
	char average[UNITS_TEXT], peak[UNITS_TEXT], size[UNITS_TEXT];

	if (profile_is_counted(s)) {
		printf("Workload of %s: %llu reads, %llu writes in %.1f s, %s on average; %s on average, %s at the peak; confidence %.2f\n",
		       t->device.node, (unsigned long long)s->reads, (unsigned long long)s->writes,
		       s->duration / 1e9, units_format_size(s->size_average + 0.5, size),
		       units_format_rate(s->average_rate, average),
		       units_format_rate(s->peak_rate, peak), s->confidence);
		printf("  from counters, as %s: which I/Os are waited for is not known; the access is %s\n",
		       obstacle_reason(s->obstacle), profile_access_name(s->access));
		return;
	}
	printf("Workload of %s: %llu reads, %llu writes in %.1f s, %s, typically %s; %s on average, %s at the peak; confidence %.2f\n",
	       t->device.node, (unsigned long long)s->reads, (unsigned long long)s->writes,
	       s->duration / 1e9, profile_access_name(s->access),
	       units_format_size(s->size_mode, size), units_format_rate(s->average_rate, average),
	       units_format_rate(s->peak_rate, peak), s->confidence);
}

static int print_explanation(const struct tuning *t)
{
	print_workload(t);
	print_array(&t->topology);
	print_limits(&t->topology);
	puts("The sum:");
	for (size_t i = 0; i < t->plan.sum.n; i++)
		printf("  %s\n", t->plan.sum.lines[i]);
	print_reasons(&t->plan);
	return 0;
}

static int print_text(enum plan_verb verb, const struct tuning *t)
{
	switch (verb) {
	case VERB_PLAN:
		return print_plan(&t->plan);
	case VERB_EXPLAIN:
		return print_explanation(t);
	default:
		print_reasons(&t->plan);
		return 0;
	}
}

static int print_json(enum plan_verb verb, const struct tuning *t)
{
	_cleanup_(json_object_putp) struct json_object *o = tuning_render(t);

	json_object_object_add(o, "applied", json_object_new_boolean(verb == VERB_APPLY));
	puts(render_text(o));
	return 0;
}

static int apply(struct tuning *t)
{
	struct transaction change;
	int r;

	r = apply_prepare(&t->place, &t->plan, &change);
	if (r < 0 || change.n == 0)
		return r;
	return apply_run(&t->place, &t->store, &t->state, &change);
}

static int run(enum plan_verb verb, const struct options *o)
{
	const struct tuning_options decide = { .force = o->device.force, .layers = !o->no_layers };
	_cleanup_(tuning_freep) struct tuning *t = NULL;
	struct profile_summary profile;
	int r;

	r = tuning_new(o->device.device, &t);
	if (r == 0)
		r = workload_profile(&o->workload, t, o->device.state_folder, &profile);
	/* After the recording, as an array may be reshaped meanwhile. */
	if (r == 0)
		r = tuning_open_state(t, o->device.state_folder,
				      verb == VERB_APPLY ? STORE_CHANGE : STORE_LOOK);
	if (r == 0)
		r = tuning_decide(t, &profile, &decide);
	if (r == 0 && verb == VERB_APPLY)
		r = apply(t);
	if (r < 0)
		return r;
	r = o->device.json ? print_json(verb, t) : print_text(verb, t);
	return r < 0 ? log_errno(r, "the plan cannot be printed") : 0;
}

static int run_verb(enum plan_verb verb, const struct argp *argp, int argc, char **argv)
{
	struct options o = { .device = { .json = false } };

	argp_parse(argp, argc, argv, 0, NULL, &o);
	switch (run(verb, &o)) {
	case 0:
		return EXIT_DONE;
	case -ENODATA:
		return EXIT_NOTHING;
	case -EBADMSG:
		return EXIT_BAD_TRACE;
	default:
		return EXIT_FAILED;
	}
}

int verb_plan(int argc, char **argv)
{
	return run_verb(VERB_PLAN, &plan_argp, argc, argv);
}

int verb_explain(int argc, char **argv)
{
	return run_verb(VERB_EXPLAIN, &explain_argp, argc, argv);
}

int verb_apply(int argc, char **argv)
{
	return run_verb(VERB_APPLY, &apply_argp, argc, argv);
}

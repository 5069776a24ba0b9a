// SPDX-License-Identifier: GPL-2.0
/* fullstripectl history: what was changed in a device, when, and why. */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "ctl.h"
#include "device.h"
#include "lib/exit_codes.h"
#include "lib/macros.h"
#include "lib/render.h"
#include "lib/units.h"
#include "src/cleanup.h"
#include "src/log.h"
#include "src/tuning.h"
#include "table.h"

DEFINE_CLEANUP(struct json_object *, json_object_put)
DEFINE_CLEANUP(struct tuning *, tuning_free)

static const struct argp parser = {
	.options = DEVICE_LOOK_OPTIONS,
	.parser = device_parse_option,
	.args_doc = "DEV",
	.doc = "Print what was changed in the fullstripe device DEV by fullstripectl apply and rollback and by the daemon, the oldest first.\vExit status: 0 done, 1 failed, 2 wrong usage.",
};

static const char *outcome(const struct transaction *t, char text[static 48])
{
	snprintf(text, 48, "%s%s", transaction_outcome_name(t->outcome),
		 t->interrupted ? ", interrupted" : "");
	return text;
}

/* A line for each value; what is of the whole change stands in the first. */
static int add_transaction(struct libscols_table *table, const struct transaction *t)
{
	char id[32], time[DEVICE_TIME], how[48];

	snprintf(id, sizeof(id), "%llu", (unsigned long long)t->id);
	for (size_t i = 0; i < t->n; i++) {
		const struct change *c = &t->changes[i];
		char old[UNITS_SETTING], new[UNITS_SETTING], change[2 * UNITS_SETTING + 4];
		const char *cells[7] = { [4] = c->name, change, c->reason };

		snprintf(change, sizeof(change), "%s -> %s",
			 units_format_setting(c->name, c->old, old),
			 units_format_setting(c->name, c->new, new));
		if (i == 0) {
			cells[0] = id;
			cells[1] = device_time(t->time, time);
			cells[2] = transaction_kind_name(t->kind);
			cells[3] = outcome(t, how);
		}
		if (table_add_line(table, cells, ARRAY_SIZE(cells)) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int print_text(const struct state *s)
{
	static const struct table_column columns[] = {
		{ "ID", 0 }, { "TIME", 0 }, { "WHAT", 0 }, { "OUTCOME", 0 }, { "SETTING", 0 },
		{ "CHANGE", 0 }, { "REASON", SCOLS_FL_WRAP },
	};
	_cleanup_(scols_unref_tablep) struct libscols_table *table =
		table_new(columns, ARRAY_SIZE(columns));
	int r = 0;

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_history && r == 0; i++)
		r = add_transaction(table, &s->history[i]);
	if (r == 0 && s->under_way)
		r = add_transaction(table, &s->now);
	return r < 0 ? r : scols_print_table(table);
}

static void print_json(const struct tuning *t)
{
	_cleanup_(json_object_putp) struct json_object *o = json_object_new_object();
	struct json_object *list = json_object_new_array();

	render_add_text(o, "device", t->device.node);
	for (size_t i = 0; i < t->state.n_history; i++)
		json_object_array_add(list, state_render_transaction(&t->state.history[i]));
	if (t->state.under_way)
		json_object_array_add(list, state_render_transaction(&t->state.now));
	json_object_object_add(o, "history", list);
	puts(render_text(o));
}

int verb_history(int argc, char **argv)
{
	_cleanup_(tuning_freep) struct tuning *t = NULL;
	struct device_options o = { .json = false };
	int r;

	argp_parse(&parser, argc, argv, 0, NULL, &o);
	r = tuning_new(o.device, &t);
	if (r == 0)
		r = tuning_open_state(t, o.state_folder, STORE_LOOK);
	if (r < 0)
		return EXIT_FAILED;
	if (o.json) {
		print_json(t);
		return EXIT_DONE;
	}
	r = print_text(&t->state);
	if (r < 0)
		log_errno(r, "the history cannot be printed");
	return r < 0 ? EXIT_FAILED : EXIT_DONE;
}

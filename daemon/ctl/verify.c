// SPDX-License-Identifier: GPL-2.0
/* fullstripectl verify: whether a device still is as it was set. */
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
	.doc = "Print each value of the fullstripe device DEV that was set by fullstripectl apply or by the daemon, and whether it still is so. Changes nothing.\vExit status: 0 all is as it was set, 1 failed, 2 wrong usage, 4 nothing was set, 5 something is not as it was set, or a change is being made or was interrupted.",
};

/**
 * struct checked - a value that was set
 * @value: what it was set to
 * @found: what it is
 * @gone: it is nothing, as the layer does not have it any more
 */
struct checked {
	const struct state_value *value;
	uint64_t found;
	bool gone;
};

/* As a whole, if it is not being changed: what is under way then is nobody's any more. */
static int read_state(struct tuning *t, const char *folder, bool *ret_busy)
{
	uint64_t id;
	int r = tuning_open_state(t, folder, STORE_LOOK);

	*ret_busy = false;
	if (r < 0 || !t->state.under_way)
		return r;
	id = t->state.now.id;
	r = store_is_busy(&t->store);
	*ret_busy = r > 0;
	if (r != 0)
		return MIN(r, 0);
	/* It may have ended since it was read, and another one have begun. */
	store_close(&t->store);
	r = tuning_open_state(t, folder, STORE_LOOK);
	*ret_busy = t->state.under_way && t->state.now.id != id;
	return r;
}

static int read_values(const struct tuning *t, struct checked ret[static STATE_VALUES_MAX])
{
	for (size_t i = 0; i < t->state.n_values; i++) {
		const struct state_value *value = &t->state.values[i];
		int r;

		ret[i].value = value;
		r = setting_read(&t->place, value->name, &ret[i].found);
		ret[i].gone = setting_is_gone(r, value->name);
		if (r < 0 && !ret[i].gone)
			return r;
	}
	return 0;
}

static bool is_as_set(const struct checked *c)
{
	return !c->gone && c->found == c->value->value;
}

static const char *verdict(const struct checked *c)
{
	if (c->gone)
		return "is not there any more";
	return is_as_set(c) ? "as set" : "somebody else set it";
}

static int print_text(const struct tuning *t, bool busy, const struct checked *values)
{
	static const struct table_column columns[] = {
		{ "SETTING", 0 }, { "SET", SCOLS_FL_RIGHT }, { "NOW", SCOLS_FL_RIGHT }, { "STATE", 0 },
	};
	_cleanup_(scols_unref_tablep) struct libscols_table *table =
		table_new(columns, ARRAY_SIZE(columns));

	if (busy)
		printf("change %llu is being made now; ask again when it is done\n",
		       (unsigned long long)t->state.now.id);
	else if (t->state.under_way)
		printf("change %llu was interrupted; the next apply, rollback or start of the daemon completes it or takes it back\n",
		       (unsigned long long)t->state.now.id);
	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < t->state.n_values; i++) {
		char set[UNITS_SETTING], now[UNITS_SETTING];
		const char *name = values[i].value->name;
		const char * const cells[] = {
			name,
			units_format_setting(name, values[i].value->value, set),
			values[i].gone ? "-" : units_format_setting(name, values[i].found, now),
			verdict(&values[i]),
		};

		if (table_add_line(table, cells, ARRAY_SIZE(cells)) < 0)
			return -ENOMEM;
	}
	return scols_print_table(table);
}

static void print_json(const struct tuning *t, bool busy, const struct checked *values)
{
	_cleanup_(json_object_putp) struct json_object *o = json_object_new_object();
	struct json_object *list = json_object_new_array();

	render_add_text(o, "device", t->device.node);
	json_object_object_add(o, "being_made", json_object_new_boolean(busy));
	json_object_object_add(o, "interrupted",
			       json_object_new_boolean(t->state.under_way && !busy));
	for (size_t i = 0; i < t->state.n_values; i++) {
		struct json_object *value = json_object_new_object();

		render_add_text(value, "name", values[i].value->name);
		render_add_number(value, "set", values[i].value->value);
		render_add_known(value, "now", values[i].found, !values[i].gone);
		json_object_object_add(value, "as_set",
				       json_object_new_boolean(is_as_set(&values[i])));
		json_object_array_add(list, value);
	}
	json_object_object_add(o, "values", list);
	puts(render_text(o));
}

static int verify(const struct device_options *o)
{
	_cleanup_(tuning_freep) struct tuning *t = NULL;
	struct checked values[STATE_VALUES_MAX];
	bool busy, differs;
	int r;

	r = tuning_new(o->device, &t);
	if (r == 0)
		r = read_state(t, o->state_folder, &busy);
	if (r == 0)
		r = read_values(t, values);
	if (r != 0)
		return EXIT_FAILED;
	differs = t->state.under_way;
	for (size_t i = 0; i < t->state.n_values; i++)
		differs |= !is_as_set(&values[i]);
	if (o->json)
		print_json(t, busy, values);
	else if (t->state.n_values > 0 || t->state.under_way)
		r = print_text(t, busy, values);
	else
		log_warning("%s: nothing was set by fullstripectl apply or by the daemon",
			    t->device.node);
	if (r < 0) {
		log_errno(r, "the values cannot be printed");
		return EXIT_FAILED;
	}
	if (differs)
		return EXIT_DIFFERS;
	return t->state.n_values > 0 ? EXIT_DONE : EXIT_NOTHING;
}

int verb_verify(int argc, char **argv)
{
	struct device_options o = { .json = false };

	argp_parse(&parser, argc, argv, 0, NULL, &o);
	return verify(&o);
}

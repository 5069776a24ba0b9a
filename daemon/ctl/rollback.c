// SPDX-License-Identifier: GPL-2.0
/* fullstripectl rollback: take back the last change that was made from here. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>

#include "ctl.h"
#include "device.h"
#include "lib/exit_codes.h"
#include "lib/render.h"
#include "src/apply.h"
#include "src/cleanup.h"
#include "src/log.h"
#include "src/tuning.h"

DEFINE_CLEANUP(struct json_object *, json_object_put)
DEFINE_CLEANUP(struct tuning *, tuning_free)

static const struct argp parser = {
	.options = device_change_options,
	.parser = device_parse_option,
	.args_doc = "DEV",
	.doc = "Give the fullstripe device DEV the values that it had before the last change that was made by fullstripectl apply or by the daemon, and not taken back since: all of them or none.\vExit status: 0 done, 1 failed, 2 wrong usage, 4 there is nothing to take back.",
};

static void print_text(const struct transaction *t)
{
	if (t->n == 0)
		puts("nothing was changed");
	device_print_changes(t);
}

static void print_json(const struct tuning *t, const struct transaction *change)
{
	_cleanup_(json_object_putp) struct json_object *o = json_object_new_object();

	render_add_text(o, "device", t->device.node);
	json_object_object_add(o, "change",
			       change->n ? state_render_transaction(change) : NULL);
	puts(render_text(o));
}

static int run(const struct device_options *o)
{
	_cleanup_(tuning_freep) struct tuning *t = NULL;
	struct transaction change;
	int r;

	r = tuning_new(o->device, &t);
	if (r == 0)
		r = tuning_open_state(t, o->state_folder, STORE_CHANGE);
	if (r < 0)
		return r;
	r = apply_prepare_rollback(&t->place, &t->state, o->force, &change);
	if (r == -ENODATA)
		log_warning("%s: nothing was applied that was not taken back, or the device was made anew since; see fullstripectl history",
			    t->device.node);
	if (r == 0 && change.n > 0) {
		r = apply_run(&t->place, &t->store, &t->state, &change);
		change = t->state.history[t->state.n_history - 1];
	}
	if (r < 0)
		return r;
	if (o->json)
		print_json(t, &change);
	else
		print_text(&change);
	return 0;
}

int verb_rollback(int argc, char **argv)
{
	struct device_options o = { .force = false };
	int r;

	argp_parse(&parser, argc, argv, 0, NULL, &o);
	r = run(&o);
	if (r == -ENODATA)
		return EXIT_NOTHING;
	return r < 0 ? EXIT_FAILED : EXIT_DONE;
}

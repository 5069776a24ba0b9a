// SPDX-License-Identifier: GPL-2.0
/* fullstripectl remove: take a fullstripe device away. */
#include <argp.h>
#include <errno.h>
#include <libdevmapper.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <systemd/sd-device.h>

#include "ctl.h"
#include "device.h"
#include "lib/exit_codes.h"
#include "src/apply.h"
#include "src/cleanup.h"
#include "src/layers.h"
#include "src/log.h"
#include "src/target.h"
#include "src/tuning.h"

DEFINE_CLEANUP(struct dm_task *, dm_task_destroy)
DEFINE_CLEANUP(struct tuning *, tuning_free)

struct options {
	const char *name;
	const char *state_folder;
	bool force;
	bool keep_layers;
};

enum {
	OPTION_FORCE = 256,
	OPTION_KEEP_LAYERS,
	OPTION_STATE_DIR,
};

static const struct argp_option option_list[] = {
	{ "force", OPTION_FORCE, NULL, 0,
	  "Remove it even if it has data that cannot be written: that is lost", 0 },
	{ "keep-layers", OPTION_KEEP_LAYERS, NULL, 0,
	  "Leave the layers below as fullstripe set them", 0 },
	{ "state-dir", OPTION_STATE_DIR, "DIR", 0,
	  "Where what is known of devices is kept (default " STORE_FOLDER ")", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case OPTION_FORCE:
		o->force = true;
		return 0;
	case OPTION_KEEP_LAYERS:
		o->keep_layers = true;
		return 0;
	case OPTION_STATE_DIR:
		o->state_folder = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num > 0)
			argp_error(state, "'%s' is one argument too many", arg);
		o->name = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which device?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
	.options = option_list,
	.parser = parse_option,
	.args_doc = "NAME",
	.doc = "Write out what the fullstripe device NAME holds and take it away. Its data is then on the device below, where it was from the beginning. If not all can be written it stays. The layers below get back what they were set to before fullstripe set them.",
};

static int flush(const char *name)
{
	_cleanup_(dm_task_destroyp) struct dm_task *task = dm_task_create(DM_DEVICE_TARGET_MSG);

	if (!task || !dm_task_set_name(task, name) || !dm_task_set_sector(task, 0) ||
	    !dm_task_set_message(task, "flush"))
		return -ENOMEM;
	return dm_task_run(task) ? 0 : -(dm_task_get_errno(task) ?: EIO);
}

/*
 * The kernel removes a device whatever it holds. Return: 0 if all is written, or a negative errno,
 * which has been logged.
 */
static int write_out(const char *name)
{
	struct dm_state state;
	int flushed = 0, r;

	r = dm_read_state(name, &state);
	/* One that is suspended takes no flush; it has written what it could. */
	if (r == 0 && !state.suspended) {
		flushed = flush(name);
		r = dm_read_state(name, &state);
	}
	if (r < 0)
		return log_errno(r, "%s was not removed: whether it holds anything cannot be read; --force removes it",
				 name);
	if (state.failing && state.staged_bytes > 0)
		return log_errno(EIO,
				 "%s was not removed: only memory has some of its data, as the device below does not take that; repair that one and send 'dmsetup message %s 0 retry', or lose the data with --force",
				 name, name);
	if (flushed < 0 || state.failing)
		log_errno(flushed ?: -EIO, "%s: nothing is left to write, but something written before may be lost: a flush failed, or the table before this one had to go unwritten",
			  name);
	return 0;
}

static int remove_device(const char *name)
{
	_cleanup_(dm_task_destroyp) struct dm_task *task = dm_task_create(DM_DEVICE_REMOVE);
	uint32_t cookie = 0;
	bool done;

	/* udev may be looking at it: it is tried again for some seconds. */
	if (!task || !dm_task_set_name(task, name) || !dm_task_retry_remove(task) ||
	    !dm_task_set_cookie(task, &cookie, 0))
		return log_errno(ENOMEM, "%s", name);
	done = dm_task_run(task);
	dm_udev_wait(cookie);
	if (!done)
		return log_errno(dm_task_get_errno(task) ?: EIO,
				 "%s was not removed: is it mounted or in use?", name);
	return 0;
}

/*
 * What udev knows of the device below is of when that was held. Its rule sees to that, too, but
 * does not wait for as long as it may take to write what was staged.
 */
static void release_lower(const struct dm_table_line *line)
{
	_cleanup_(sd_device_unrefp) sd_device *lower = NULL;
	unsigned int major, minor;
	int r = -EBADMSG;

	if (sscanf(line->params, "%u:%u", &major, &minor) == 2)
		r = sd_device_new_from_devnum(&lower, 'b', makedev(major, minor));
	if (r >= 0)
		r = sd_device_trigger(lower, SD_DEVICE_CHANGE);
	if (r < 0)
		log_errno(r, "the device below cannot be announced to udev: 'udevadm trigger' does it");
}

static size_t drop_disk(struct transaction *t, const char *disk)
{
	size_t n = 0, dropped;

	for (size_t i = 0; i < t->n; i++)
		if (!setting_is_of_disk(t->changes[i].name, disk))
			t->changes[n++] = t->changes[i];
	dropped = t->n - n;
	t->n = n;
	return dropped;
}

/* Another fullstripe device may count on what a layer is set to. */
static void leave_carriers(const struct state *s, struct transaction *t)
{
	for (size_t i = 0; i < s->n_layers; i++) {
		const char *disk = s->layers[i].disk;

		if (layers_carry_target(SYSFS_ROOT, disk) && drop_disk(t, disk) > 0)
			log_warning("%s is left as it is: another fullstripe device lies on it", disk);
	}
}

/* Return: 0 or a negative errno, which has been logged. */
static int restore(struct tuning *t)
{
	struct transaction change;
	int r;

	r = apply_prepare_restore(&t->place, &t->state, &change);
	if (r < 0)
		return r;
	leave_carriers(&t->state, &change);
	if (change.n == 0)
		return 0;
	r = apply_run(&t->place, &t->store, &t->state, &change);
	if (r == 0)
		device_print_changes(&t->state.history[t->state.n_history - 1]);
	return r;
}

/* Where nothing is known nothing is kept of it, either. Return: as restore(). */
static int give_back(struct tuning *t, const char *state_folder)
{
	int r;

	/* What was under way in the device's own settings is void: they are gone. */
	t->target.instance[0] = '\0';
	r = tuning_open_state(t, state_folder, STORE_LOOK);
	if (r == 0 && (t->state.n_values > 0 || t->state.under_way)) {
		store_close(&t->store);
		r = tuning_open_state(t, state_folder, STORE_CHANGE);
		if (r == 0)
			r = restore(t);
	}
	return r;
}

/* Return: 0 or a negative errno, which has been logged. */
static int run(const struct options *o, const struct dm_table_line *line)
{
	_cleanup_(tuning_freep) struct tuning *t = NULL;
	int known = 0, r;

	r = o->force ? 0 : write_out(o->name);
	if (r < 0)
		return r;
	/* It tells which device it was. Whatever is wrong with that, the device goes. */
	if (!o->keep_layers)
		known = tuning_new(o->name, &t);
	r = remove_device(o->name);
	if (r < 0)
		return r;
	release_lower(line);
	if (t)
		known = give_back(t, o->state_folder);
	if (known < 0)
		log_warning("%s was removed, but layers below may be as they were set for it: create it anew and remove it to try again",
			    o->name);
	return known;
}

int verb_remove(int argc, char **argv)
{
	struct options o = { .state_folder = store_default_path() };
	struct dm_table_line line;
	const char *name;
	int r;

	argp_parse(&parser, argc, argv, 0, NULL, &o);
	name = o.name;
	r = dm_read_table(name, &line);
	if (r < 0 && r != -EOPNOTSUPP) {
		log_errno(r, "%s: no device-mapper device of this name can be read", name);
		return EXIT_FAILED;
	}
	if (r < 0 || strcmp(line.type, TARGET_TYPE) != 0) {
		log_warning("%s is no fullstripe device, and was left alone", name);
		return EXIT_FAILED;
	}
	return run(&o, &line) < 0 ? EXIT_FAILED : EXIT_DONE;
}

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
#include "lib/exit_codes.h"
#include "src/cleanup.h"
#include "src/log.h"
#include "src/target.h"

DEFINE_CLEANUP(struct dm_task *, dm_task_destroy)

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	const char **name = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (state->arg_num > 0)
			argp_error(state, "'%s' is one argument too many", arg);
		*name = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which device?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
	.parser = parse_option,
	.args_doc = "NAME",
	.doc = "Write out what the fullstripe device NAME holds and take it away. Its data is then on the device below, where it was from the beginning.",
};

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

int verb_remove(int argc, char **argv)
{
	struct dm_table_line line;
	const char *name = NULL;
	int r;

	argp_parse(&parser, argc, argv, 0, NULL, &name);
	r = dm_read_table(name, &line);
	if (r < 0 && r != -EOPNOTSUPP) {
		log_errno(r, "%s: no device-mapper device of this name can be read", name);
		return EXIT_FAILED;
	}
	if (r < 0 || strcmp(line.type, TARGET_TYPE) != 0) {
		log_warning("%s is no fullstripe device, and was left alone", name);
		return EXIT_FAILED;
	}
	if (remove_device(name) < 0)
		return EXIT_FAILED;
	release_lower(&line);
	return EXIT_DONE;
}

// SPDX-License-Identifier: GPL-2.0
/* fullstripectl create: a fullstripe device with the geometry of what lies below it. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <libdevmapper.h>
#include <linux/dm-ioctl.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "ctl.h"
#include "lib/exit_codes.h"
#include "lib/macros.h"
#include "lib/target_keys.h"
#include "lib/units.h"
#include "src/cleanup.h"
#include "src/in_use.h"
#include "src/log.h"
#include "src/md.h"
#include "src/target.h"
#include "src/topology.h"

/* The name also ends the UUID, which has as much room. */
#define NAME_MAX_LENGTH	(DM_NAME_LEN - 1 - strlen(TARGET_UUID_PREFIX))

DEFINE_CLEANUP(struct dm_task *, dm_task_destroy)

struct options {
	const char *name;
	const char *device;
	bool dry_run;
	bool force;
	struct target_keys keys;
};

enum {
	OPTION_MODE = 256,
	OPTION_SET,
	OPTION_DRY_RUN,
	OPTION_FORCE,
};

static const struct argp_option option_list[] = {
	{ "mode", OPTION_MODE, "MODE", 0, "writebehind (default) or writethrough", 0 },
	{ "set", OPTION_SET, "KEY=VALUE", 0, "A key of the table line; may be repeated", 0 },
	{ "dry-run", OPTION_DRY_RUN, NULL, 0, "Print the table line and create nothing", 0 },
	{ "force", OPTION_FORCE, NULL, 0, "Also if DEV is in use or begins inside a stripe", 0 },
	{ 0 },
};

static void set_key(struct options *o, const char *text, struct argp_state *state)
{
	char why[TARGET_KEYS_WHY];

	if (target_keys_set(&o->keys, text, why) < 0)
		argp_error(state, "--set %s", why);
}

static void set_mode(struct options *o, const char *mode, struct argp_state *state)
{
	char text[64], why[TARGET_KEYS_WHY];

	snprintf(text, sizeof(text), "mode=%s", mode);
	if (target_keys_set(&o->keys, text, why) < 0)
		argp_error(state, "--%s", why);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case OPTION_MODE:
		set_mode(o, arg, state);
		return 0;
	case OPTION_SET:
		set_key(o, arg, state);
		return 0;
	case OPTION_DRY_RUN:
		o->dry_run = true;
		return 0;
	case OPTION_FORCE:
		o->force = true;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num == 0)
			o->name = arg;
		else if (state->arg_num == 1)
			o->device = arg;
		else
			argp_error(state, "'%s' is one argument too many", arg);
		return 0;
	case ARGP_KEY_END:
		if (state->arg_num < 2)
			argp_error(state, "a NAME for the new device and the DEV to put it on");
		if (strlen(o->name) > NAME_MAX_LENGTH || strchr(o->name, '/') || !o->name[0])
			argp_error(state, "'%s' is no name for a device: 1 to %zu characters, none of them '/'",
				   o->name, NAME_MAX_LENGTH);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
	.options = option_list,
	.parser = parse_option,
	.args_doc = "NAME DEV",
	.doc = "Put a fullstripe device NAME on DEV, an md array or a partition or logical volume of one. Nothing is written to DEV: what is on it stays, and is found on /dev/mapper/NAME.",
};

static int read_sectors(const char *node, uint64_t *ret)
{
	_cleanup_close_ int fd = open(node, O_RDONLY | O_CLOEXEC);
	uint64_t bytes;

	if (fd < 0 || ioctl(fd, BLKGETSIZE64, &bytes) < 0)
		return log_errno(errno, "%s", node);
	*ret = bytes / SECTOR;
	return 0;
}

/*
 * The stripes are found wherever the device begins. But a file system counts its own from
 * the beginning of the device.
 */
static int check_alignment(const struct options *o, const struct block_device *device,
			   const struct topology *t, uint64_t stripe)
{
	char begin[UNITS_TEXT], width[UNITS_TEXT];

	if (o->force || target_keys_given(&o->keys, "alignment_offset") ||
	    rule_misaligned_by(t->array.offset_bytes, stripe) == 0)
		return 0;
	log_warning("%s begins %s behind the beginning of %s, which is no multiple of the stripe width %s: a file system's stripes would not be those of the array; let it begin at a multiple, or say --force",
		    device->node, units_format_size(t->array.offset_bytes, begin),
		    t->array_name, units_format_size(stripe, width));
	return -EINVAL;
}

static int check_use(const struct options *o, const struct block_device *device)
{
	char by[IN_USE_BY];
	int r = o->force ? 0 : block_device_in_use(device, by);

	if (r <= 0)
		return r;
	log_warning("%s %s; --force tries it all the same, but what is mounted or part of an array the kernel refuses",
		    device->node, by);
	return -EBUSY;
}

static uint64_t stripe_bytes(const struct target_keys *k)
{
	if (target_keys_given(k, "stripe_bytes"))
		return target_keys_number(k, "stripe_bytes");
	return target_keys_number(k, "chunk_bytes") * target_keys_number(k, "data_members");
}

/*
 * What the person did not say is read off what lies below. Who said all about the stripes
 * needs no array that can be read, but if there is one it counts for the rest.
 */
static int complete_geometry(struct options *o, const struct block_device *device)
{
	const bool given = target_keys_given(&o->keys, "chunk_bytes") &&
			   (target_keys_given(&o->keys, "data_members") ||
			    target_keys_given(&o->keys, "stripe_bytes"));
	_cleanup_free_ struct topology *t = calloc(1, sizeof(*t));
	unsigned int data = 0;
	uint64_t stripe;
	int r;

	if (!t)
		return log_errno(ENOMEM, "%s", device->node);
	r = topology_read(SYSFS_ROOT, device->name, dm_read_table_of, t);
	if (r < 0 && given) {
		log_warning("%s gets the stripes that were given; whether it begins on one is not known, nor whether its array has a partial parity log: then say --set seek_bytes=0",
			    device->node);
		return 0;
	}
	if (r < 0)
		return r;
	if (t->array.level != RULE_LEVEL_NONE) {
		/*
		 * Without parity md reads nothing: there is nothing that filling could save. And a
		 * log of partial parity has nothing of a stripe that is filled, as to md all of it
		 * is written.
		 */
		if (rule_parity_members(t->array.level) == 0 ||
		    md_logs_partial_parity(SYSFS_ROOT, t->array_name))
			target_keys_default(&o->keys, "seek_bytes", 0);
		r = rule_data_members(&t->array, &data);
	}
	if (r < 0 || data == 0) {
		if (given)
			return 0;
		return log_errno(ENODATA, "%s: no striped md array found below; say --set chunk_bytes=SIZE --set data_members=N [--set alignment_offset=SIZE]",
				 device->node);
	}
	target_keys_default(&o->keys, "chunk_bytes", t->array.chunk_bytes);
	/* A width says how many they are. */
	if (!target_keys_given(&o->keys, "stripe_bytes"))
		target_keys_default(&o->keys, "data_members", data);
	stripe = stripe_bytes(&o->keys);
	r = check_alignment(o, device, t, stripe);
	if (r < 0)
		return r;
	target_keys_default(&o->keys, "alignment_offset", rule_misaligned_by(t->array.offset_bytes, stripe));
	return 0;
}

/* libdevmapper does not hand on why a device was not created. */
static int check_name(const struct options *o)
{
	_cleanup_(dm_task_destroyp) struct dm_task *task = dm_task_create(DM_DEVICE_INFO);
	struct dm_info info;

	/* Without any answer creating fails, too, and says why. */
	if (!task || !dm_task_set_name(task, o->name) || !dm_task_run(task) ||
	    !dm_task_get_info(task, &info) || !info.exists)
		return 0;
	log_warning("/dev/mapper/%s exists already: give the new device another name", o->name);
	return -EEXIST;
}

static int create(const struct options *o, uint64_t sectors, const char *params)
{
	_cleanup_(dm_task_destroyp) struct dm_task *task = dm_task_create(DM_DEVICE_CREATE);
	char uuid[DM_UUID_LEN];
	uint32_t cookie = 0;
	bool done;

	snprintf(uuid, sizeof(uuid), TARGET_UUID_PREFIX "%s", o->name);
	if (!task)
		return log_errno(ENODEV, "device-mapper is out of reach: root is needed, and the module dm-mod");
	if (!dm_task_set_name(task, o->name) || !dm_task_set_uuid(task, uuid) ||
	    !dm_task_add_target(task, 0, sectors, TARGET_TYPE, params) ||
	    !dm_task_set_add_node(task, DM_ADD_NODE_ON_CREATE) ||
	    !dm_task_set_cookie(task, &cookie, 0))
		return log_errno(EINVAL, "%s cannot be prepared", o->name);
	done = dm_task_run(task);
	dm_udev_wait(cookie);
	if (done)
		return 0;
	/* libdevmapper has told the error itself, and does not hand it on. */
	log_warning("%s was not created with the table '0 %llu " TARGET_TYPE " %s'; the kernel's log says which key is wrong, and the module dm-fullstripe must be loaded",
		    o->name, (unsigned long long)sectors, params);
	return -EIO;
}

int verb_create(int argc, char **argv)
{
	struct options o = { .dry_run = false };
	struct block_device device;
	char params[TARGET_PARAMS];
	uint64_t sectors = 0;
	size_t at;

	argp_parse(&parser, argc, argv, 0, NULL, &o);
	if (block_device_find(o.device, &device) < 0 || read_sectors(device.node, &sectors) < 0 ||
	    complete_geometry(&o, &device) < 0)
		return EXIT_FAILED;
	at = snprintf(params, sizeof(params), "%s 0 ", device.node);
	target_keys_format(&o.keys, params + at, sizeof(params) - at);
	if (o.dry_run) {
		printf("0 %llu " TARGET_TYPE " %s\n", (unsigned long long)sectors, params);
		return EXIT_DONE;
	}
	if (check_name(&o) < 0 || check_use(&o, &device) < 0)
		return EXIT_FAILED;
	return create(&o, sectors, params) < 0 ? EXIT_FAILED : EXIT_DONE;
}

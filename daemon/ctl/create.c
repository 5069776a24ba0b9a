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
#include "lib/units.h"
#include "src/cleanup.h"
#include "src/log.h"
#include "src/target.h"
#include "src/topology.h"

DEFINE_CLEANUP(struct dm_task *, dm_task_destroy)

/* The keys of a table line. Sizes may be written with units, as everywhere. */
static const struct key {
	const char *name;
	bool is_size;
} keys[] = {
	{ "chunk_bytes", true },
	{ "data_members", false },
	{ "stripe_bytes", true },
	{ "alignment_offset", true },
	{ "cluster_bytes", true },
	{ "high_water_bytes", true },
	{ "low_water_bytes", true },
	{ "file_high_water_bytes", true },
	{ "file_low_water_bytes", true },
	{ "hold_ms", false },
	{ "seek_bytes", true },
	{ "streams", false },
	{ "read_pref_io", true },
	{ "read_nstream", false },
	{ "prefetch_bytes", true },
	{ "mode", false },
};

#define N_KEYS	ARRAY_SIZE(keys)

struct options {
	const char *name;
	const char *device;
	bool dry_run;
	char values[N_KEYS][32];	/* empty: not given */
};

enum {
	OPTION_MODE = 256,
	OPTION_SET,
	OPTION_DRY_RUN,
};

static const struct argp_option option_list[] = {
	{ "mode", OPTION_MODE, "MODE", 0, "writebehind (default) or writethrough", 0 },
	{ "set", OPTION_SET, "KEY=VALUE", 0, "A key of the table line; may be repeated", 0 },
	{ "dry-run", OPTION_DRY_RUN, NULL, 0, "Print the table line and create nothing", 0 },
	{ 0 },
};

static size_t find_key(const char *name, size_t len)
{
	size_t i = 0;

	while (i < N_KEYS && (strlen(keys[i].name) != len || strncmp(keys[i].name, name, len) != 0))
		i++;
	return i;
}

static void set_key(struct options *o, const char *text, struct argp_state *state)
{
	const char *equals = strchr(text, '=');
	uint64_t size;
	size_t key;

	if (!equals)
		argp_error(state, "--set '%s': KEY=VALUE", text);
	key = find_key(text, equals - text);
	if (key == N_KEYS)
		argp_error(state, "--set '%s': no such key, see fullstripectl(1)", text);
	if (keys[key].is_size) {
		if (units_parse_size(equals + 1, &size) < 0)
			argp_error(state, "--set '%s': no size, as 131072, 128KiB or 128k", text);
		snprintf(o->values[key], sizeof(o->values[key]), "%llu", (unsigned long long)size);
		return;
	}
	/* A word of its own could smuggle further keys into the table line. */
	if (!equals[1] || strpbrk(equals, " \t\n") ||
	    snprintf(o->values[key], sizeof(o->values[key]), "%s", equals + 1) >=
	    (int)sizeof(o->values[key]))
		argp_error(state, "--set '%s': no value", text);
}

static void set_mode(struct options *o, const char *mode, struct argp_state *state)
{
	if (strcmp(mode, "writebehind") != 0 && strcmp(mode, "writethrough") != 0)
		argp_error(state, "--mode '%s': writebehind or writethrough", mode);
	snprintf(o->values[find_key("mode", 4)], sizeof(o->values[0]), "%s", mode);
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
		if (strlen(o->name) >= DM_NAME_LEN - strlen(TARGET_UUID_PREFIX) ||
		    strchr(o->name, '/') || !o->name[0])
			argp_error(state, "'%s' is no name for a device", o->name);
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
	*ret = bytes / 512;
	return 0;
}

static void set_default(struct options *o, const char *key, uint64_t value)
{
	char *text = o->values[find_key(key, strlen(key))];

	if (!text[0])
		snprintf(text, sizeof(o->values[0]), "%llu", (unsigned long long)value);
}

static bool is_given(const struct options *o, const char *key)
{
	return o->values[find_key(key, strlen(key))][0];
}

/* What the person did not say about the stripes is read off what lies below. */
static int complete_geometry(struct options *o, const struct block_device *device)
{
	_cleanup_free_ struct topology *t = calloc(1, sizeof(*t));
	unsigned int data = 0;
	uint64_t stripe;
	int r;

	if (is_given(o, "chunk_bytes") &&
	    (is_given(o, "data_members") || is_given(o, "stripe_bytes")))
		return 0;
	if (!t)
		return log_errno(ENOMEM, "%s", device->node);
	r = topology_read(SYSFS_ROOT, device->name, dm_linear_start, t);
	if (r < 0)
		return r;
	if (t->array.level != RULE_LEVEL_NONE)
		r = rule_data_members(&t->array, &data);
	if (r < 0 || data == 0)
		return log_errno(ENODATA, "%s: no striped md array found below; say --set chunk_bytes=SIZE --set data_members=N [--set alignment_offset=SIZE]",
				 device->node);
	/* Without parity md reads nothing: there is nothing that filling could save. */
	if (rule_parity_members(t->array.level) == 0)
		set_default(o, "seek_bytes", 0);
	set_default(o, "chunk_bytes", t->array.chunk_bytes);
	set_default(o, "data_members", data);
	r = rule_stripe_bytes(&t->array, &stripe, NULL);
	if (r < 0)
		return log_errno(r, "%s: %s", device->node, t->array_name);
	set_default(o, "alignment_offset", rule_misaligned_by(t->array.offset_bytes, stripe));
	return 0;
}

static void format_params(const struct options *o, const char *node, char *params, size_t size)
{
	unsigned int words = 0;
	size_t at;

	for (size_t i = 0; i < N_KEYS; i++)
		words += o->values[i][0] ? 2 : 0;
	at = snprintf(params, size, "%s 0 %u", node, words);
	for (size_t i = 0; i < N_KEYS && at < size; i++)
		if (o->values[i][0])
			at += snprintf(params + at, size - at, " %s %s", keys[i].name,
				       o->values[i]);
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

	argp_parse(&parser, argc, argv, 0, NULL, &o);
	if (block_device_find(o.device, &device) < 0 || read_sectors(device.node, &sectors) < 0 ||
	    complete_geometry(&o, &device) < 0)
		return EXIT_FAILED;
	format_params(&o, device.node, params, sizeof(params));
	if (o.dry_run) {
		printf("0 %llu " TARGET_TYPE " %s\n", (unsigned long long)sectors, params);
		return EXIT_DONE;
	}
	return create(&o, sectors, params) < 0 ? EXIT_FAILED : EXIT_DONE;
}

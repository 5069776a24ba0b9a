// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <libdevmapper.h>
#include <linux/dm-ioctl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <systemd/sd-device.h>

#include "cleanup.h"
#include "lib/macros.h"
#include "log.h"
#include "target.h"

DEFINE_CLEANUP(struct dm_task *, dm_task_destroy)

static int stat_block(const char *node, struct stat *ret)
{
	struct stat st;

	if (stat(node, &st) < 0)
		return -errno;
	if (!S_ISBLK(st.st_mode))
		return -ENOTBLK;
	*ret = st;
	return 0;
}

/**
 * block_device_find() - the block device that a person means
 * @text: a path, or a name in /dev/mapper or /dev
 * @ret: the device
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int block_device_find(const char *text, struct block_device *ret)
{
	static const char * const formats[] = { "%s", "/dev/mapper/%s", "/dev/%s" };
	_cleanup_(sd_device_unrefp) sd_device *device = NULL;
	struct block_device found;
	struct stat st = { 0 };
	const char *name;
	int r = -ENOENT;

	for (size_t i = strchr(text, '/') ? 0 : 1; i < (strchr(text, '/') ? 1 : 3) && r < 0; i++) {
		if (snprintf(found.node, sizeof(found.node), formats[i], text) >=
		    (int)sizeof(found.node))
			return log_errno(ENAMETOOLONG, "%s", text);
		r = stat_block(found.node, &st);
	}
	if (r < 0)
		return log_errno(r, "%s: no block device of this path, or of this name in /dev/mapper or /dev",
				 text);
	r = sd_device_new_from_devnum(&device, 'b', st.st_rdev);
	if (r < 0)
		return log_errno(r, "%s: not in sysfs", found.node);
	r = sd_device_get_sysname(device, &name);
	if (r < 0)
		return log_errno(r, "%s: not in sysfs", found.node);
	if (snprintf(found.name, sizeof(found.name), "%s", name) >= (int)sizeof(found.name))
		return log_errno(ENAMETOOLONG, "%s", name);
	found.device = major(st.st_rdev) << 20 | minor(st.st_rdev);
	*ret = found;
	return 0;
}

/**
 * dm_read_table() - the table of a device that consists of one target
 * @dm_name: its device-mapper name
 * @ret: the line
 *
 * Return: 0, -EOPNOTSUPP if it consists of several, -ENODEV if device-mapper is
 * out of reach, or another negative errno.
 */
int dm_read_table(const char *dm_name, struct dm_table_line *ret)
{
	_cleanup_(dm_task_destroyp) struct dm_task *task = dm_task_create(DM_DEVICE_TABLE);
	char *type = NULL, *params = NULL;
	uint64_t start, length;
	void *next;

	if (!task)
		return -ENODEV;
	/* An encrypted one may have its key in its table: no copy of that is left behind. */
	if (!dm_task_set_name(task, dm_name) || !dm_task_secure_data(task))
		return -EINVAL;
	if (!dm_task_run(task))
		return -(dm_task_get_errno(task) ?: EIO);
	next = dm_get_next_target(task, NULL, &start, &length, &type, &params);
	if (next || !type || !params)
		return -EOPNOTSUPP;
	if (strlen(type) >= sizeof(ret->type) || strlen(params) >= sizeof(ret->params))
		return -EOPNOTSUPP;
	snprintf(ret->type, sizeof(ret->type), "%s", type);
	snprintf(ret->params, sizeof(ret->params), "%s", params);
	return 0;
}

static int read_dm_name(const char *name, char ret[static TARGET_NAME])
{
	int r = sysfs_read_text(ret, TARGET_NAME, SYSFS_ROOT "/class/block/%s/dm/name", name);

	return r < 0 ? log_errno(r, SYSFS_ROOT "/class/block/%s/dm/name", name) : 0;
}

/**
 * dm_read_table_of() - the table of a device that sysfs knows
 * @name: as in sysfs
 * @ret: the line
 *
 * Return: as topology_table_fn.
 */
int dm_read_table_of(const char *name, struct dm_table_line *ret)
{
	char dm_name[TARGET_NAME];
	int r;

	r = read_dm_name(name, dm_name);
	if (r < 0)
		return r;
	r = dm_read_table(dm_name, ret);
	if (r < 0 && r != -EOPNOTSUPP)
		return log_errno(r, "the device-mapper table of %s cannot be read", dm_name);
	return r;
}

/**
 * dm_read_state() - whether a fullstripe device is suspended, or failing, and what it holds
 * @dm_name: its device-mapper name
 * @ret: all of it; one that fails and has nothing staged could not be flushed
 *
 * Nothing is written for it, and a suspended device answers, too.
 *
 * Return: 0, -EBADMSG if that is no fullstripe device, or another negative errno.
 */
int dm_read_state(const char *dm_name, struct dm_state *ret)
{
	_cleanup_(dm_task_destroyp) struct dm_task *task = dm_task_create(DM_DEVICE_STATUS);
	char *type = NULL, *params = NULL;
	uint64_t start, length;
	struct dm_info info;
	char state[32];

	if (!task || !dm_task_set_name(task, dm_name) || !dm_task_no_flush(task))
		return -ENOMEM;
	if (!dm_task_run(task))
		return -(dm_task_get_errno(task) ?: EIO);
	dm_get_next_target(task, NULL, &start, &length, &type, &params);
	if (!dm_task_get_info(task, &info) || !type || strcmp(type, TARGET_TYPE) != 0 ||
	    sscanf(params, "%*s %31s %*u %*u %" SCNu64, state, &ret->staged_bytes) != 2)
		return -EBADMSG;
	ret->suspended = info.suspended;
	ret->failing = strcmp(state, "ok") != 0;
	return 0;
}

/* As udev names them in /dev/disk/by-id. */
static int read_id(const char *name, const char *dm_name, char ret[static STATE_DEVICE])
{
	char uuid[DM_UUID_LEN];
	int r;

	r = sysfs_read_text(uuid, sizeof(uuid), SYSFS_ROOT "/class/block/%s/dm/uuid", name);
	if (r < 0)
		return r;
	if (uuid[0])
		snprintf(ret, STATE_DEVICE, "dm-uuid-%s", uuid);
	else
		snprintf(ret, STATE_DEVICE, "dm-name-%s", dm_name);
	return 0;
}

/**
 * target_is() - whether a device is the making of it that it was
 * @name: of the device, as in sysfs
 * @instance: which making that was, see sysfs_read_instance()
 *
 * Return: false also if there is no such device.
 */
bool target_is(const char *name, const char *instance)
{
	char found[STATE_INSTANCE];

	return sysfs_read_instance(SYSFS_ROOT, name, found, sizeof(found)) == 0 &&
	       strcmp(found, instance) == 0;
}

static bool is_suspended(const char *name)
{
	uint64_t suspended;

	return sysfs_read_number(&suspended, SYSFS_ROOT "/class/block/%s/dm/suspended", name) == 0 &&
	       suspended;
}

/**
 * target_find() - a fullstripe device
 * @device: the device
 * @ret: what is known of it
 *
 * Return: 0 or a negative errno, which has been logged: -EMEDIUMTYPE if the device
 * is something else, -EAGAIN if it is suspended.
 */
int target_find(const struct block_device *device, struct target *ret)
{
	struct dm_table_line line;
	struct target t;
	uint64_t probe;
	int r;

	r = sysfs_read_text(t.dm_name, sizeof(t.dm_name), SYSFS_ROOT "/class/block/%s/dm/name",
			    device->name);
	if (r == -ENOENT)
		return log_errno(EMEDIUMTYPE, "%s is no device-mapper device", device->node);
	if (r < 0)
		return log_errno(r, "%s", device->node);
	r = dm_read_table(t.dm_name, &line);
	if (r == 0 && strcmp(line.type, TARGET_TYPE) != 0)
		return log_errno(EMEDIUMTYPE, "%s is no fullstripe device but '%s'", device->node,
				 line.type);
	if (r < 0)
		return log_errno(r, "the device-mapper table of %s cannot be read", t.dm_name);
	r = dm_table_parse_start(&line, &t.lower_start);
	if (r < 0)
		return log_errno(r, "the table of %s: '%s'", t.dm_name, line.params);
	r = sysfs_only_entry(t.lower, SYSFS_ROOT "/class/block/%s/slaves", device->name);
	if (r < 0)
		return log_errno(r, SYSFS_ROOT "/class/block/%s/slaves", device->name);
	snprintf(t.folder, sizeof(t.folder), SYSFS_ROOT "/block/%s/fullstripe", device->name);
	r = sysfs_read_number(&probe, "%s/stripe_bytes", t.folder);
	if (r < 0 && is_suspended(device->name))
		return log_errno(EAGAIN, "%s is suspended, and what it is set to is not known until 'dmsetup resume %s'",
				 t.dm_name, t.dm_name);
	if (r < 0)
		return log_errno(r, "%s/stripe_bytes", t.folder);
	r = read_id(device->name, t.dm_name, t.id);
	if (r == 0)
		r = sysfs_read_instance(SYSFS_ROOT, device->name, t.instance, sizeof(t.instance));
	if (r < 0)
		return log_errno(r, "%s", t.dm_name);
	*ret = t;
	return 0;
}

/**
 * target_read_settings() - what a fullstripe device is set to
 * @target: the device
 * @ret: those of its settings that the rule is about
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int target_read_settings(const struct target *target, struct rule_settings *ret)
{
	struct rule_settings s;
	const struct {
		const char *attribute;
		uint64_t *value;
	} wanted[] = {
		{ "stripe_bytes", &s.stripe_bytes },
		{ "cluster_bytes", &s.cluster_bytes },
		{ "alignment_offset", &s.alignment_offset },
	};

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		int r = sysfs_read_number(wanted[i].value, "%s/%s", target->folder,
					  wanted[i].attribute);

		if (r < 0)
			return log_errno(r, "%s/%s", target->folder, wanted[i].attribute);
	}
	s.keep_stripe = false;
	if (s.stripe_bytes == 0)
		return log_errno(EBADMSG, "%s/stripe_bytes is 0", target->folder);
	*ret = s;
	return 0;
}

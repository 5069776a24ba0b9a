// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "lib/macros.h"
#include "log.h"
#include "topology.h"

/* A partition has no queue. */
static int disk_of(const char *root, const char *name, char ret[static SYSFS_NAME])
{
	int r = sysfs_disk_of(root, name, ret);

	return r < 0 ? log_errno(r, "%s/class/block/%s", root, name) : 0;
}

/*
 * The maximum transfer length in the page "Block Limits" of a SCSI disk (SBC-4), in blocks.
 * Return: it in bytes, or 0 if there is none.
 */
static uint64_t read_block_limits(const char *root, const char *disk)
{
	struct {
		uint8_t code[8];
		uint32_t maximum_transfer;
		uint32_t optimal_transfer;
	} page;
	uint64_t block;

	if (sysfs_read_bytes(&page, sizeof(page), "%s/class/block/%s/device/vpd_pgb0", root,
			     disk) < (ssize_t)sizeof(page) ||
	    sysfs_read_number(&block, "%s/class/block/%s/queue/logical_block_size", root, disk) < 0)
		return 0;
	return be32toh(page.maximum_transfer) * block;
}

/* All that was added after one layer lies below it. */
static void bound_by_those_below(struct topology *t, size_t layer)
{
	uint64_t least = t->limits[layer].disk_bytes;

	for (size_t i = layer + 1; i < t->n_limits; i++) {
		uint64_t below = t->limits[i].disk_bytes;

		if (below && (!least || below < least))
			least = below;
	}
	t->limits[layer].disk_bytes = least;
}

static int add_limit(const char *root, const char *name, uint64_t share, struct topology *t)
{
	uint64_t soft_kib, hard_kib;
	char disk[SYSFS_NAME];
	int r;

	if (t->n_limits == RULE_LAYERS_MAX)
		return log_errno(E2BIG, "%s: more than %d layers below", name, RULE_LAYERS_MAX);
	r = disk_of(root, name, disk);
	if (r < 0)
		return r;
	r = sysfs_read_number(&soft_kib, "%s/class/block/%s/queue/max_sectors_kb", root, disk);
	if (r < 0)
		return log_errno(r, "%s/class/block/%s/queue/max_sectors_kb", root, disk);
	r = sysfs_read_number(&hard_kib, "%s/class/block/%s/queue/max_hw_sectors_kb", root, disk);
	if (r < 0)
		return log_errno(r, "%s/class/block/%s/queue/max_hw_sectors_kb", root, disk);

	struct rule_limit *limit = &t->limits[t->n_limits++];

	snprintf(limit->name, sizeof(limit->name), "%.40s %s", disk,
		 hard_kib < soft_kib ? "max_hw_sectors_kb" : "max_sectors_kb");
	limit->bytes = (hard_kib < soft_kib ? hard_kib : soft_kib) * 1024;
	limit->share = share;
	limit->soft_bytes = soft_kib * 1024;
	limit->hard_bytes = hard_kib * 1024;
	limit->disk_bytes = read_block_limits(root, disk);
	snprintf(limit->disk, sizeof(limit->disk), "%.31s", disk);
	return 0;
}

/* The limits of all that lies below @name. */
static int add_limits_below(const char *root, const char *name, uint64_t share,
			    unsigned int depth, struct topology *t)
{
	_cleanup_closedir_ DIR *dir = NULL;
	char disk[SYSFS_NAME], path[PATH_MAX];
	struct dirent *entry;
	int r;

	if (depth == SYSFS_DEPTH)
		return log_errno(ELOOP, "%s: more than %d layers deep", name, SYSFS_DEPTH);
	r = disk_of(root, name, disk);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s/class/block/%s/slaves", root, disk);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? 0 : log_errno(errno, "%s", path);
	while ((entry = readdir(dir))) {
		size_t layer = t->n_limits;

		if (entry->d_name[0] == '.')
			continue;
		r = add_limit(root, entry->d_name, share, t);
		if (r < 0)
			return r;
		r = add_limits_below(root, entry->d_name, share, depth + 1, t);
		if (r < 0)
			return r;
		bound_by_those_below(t, layer);
	}
	return 0;
}

/* md's layout of RAID10: near copies in the lowest byte, far or offset ones in the next. */
static unsigned int raid10_copies(uint64_t layout)
{
	return (layout & 0xff) * (layout >> 8 & 0xff);
}

/* Of the array's shape. "6 (5)" while it is reshaped, when it has two shapes at once. */
static int read_shape(const char *root, const char *name, const char *attribute, uint64_t *ret)
{
	int r = sysfs_read_number(ret, "%s/class/block/%s/md/%s", root, name, attribute);

	if (r == -EBADMSG)
		return log_errno(EBUSY, "%s is being reshaped, try again when that is over", name);
	return r < 0 ? log_errno(r, "%s/class/block/%s/md/%s", root, name, attribute) : 0;
}

static int read_array(const char *root, const char *name, struct topology *t)
{
	struct rule_array a = { .offset_bytes = t->array.offset_bytes };
	uint64_t members, layout;
	char level[32];
	int r;

	r = sysfs_read_text(level, sizeof(level), "%s/class/block/%s/md/level", root, name);
	if (r < 0)
		return log_errno(r, "%s/class/block/%s/md/level", root, name);
	a.level = rule_parse_level(level);
	if (a.level == RULE_LEVEL_NONE)
		return log_errno(EOPNOTSUPP, "%s: md level '%s' (known: raid0, 1, 4, 5, 6, 10)",
				 name, level);
	r = read_shape(root, name, "raid_disks", &members);
	if (r < 0)
		return r;
	a.members = members;
	if (a.level != 1) {
		r = read_shape(root, name, "chunk_size", &a.chunk_bytes);
		if (r < 0)
			return r;
	}
	if (a.level == 10) {
		r = read_shape(root, name, "layout", &layout);
		if (r < 0)
			return r;
		a.copies = raid10_copies(layout);
	}
	t->array = a;
	snprintf(t->array_name, sizeof(t->array_name), "%s", name);
	return 0;
}

/* LVM's arrays are device-mapper's own. */
static int read_dm_array(const char *name, const struct dm_table_line *line, struct topology *t)
{
	struct rule_array a;
	int r;

	r = dm_table_parse_raid(line, &a);
	if (r == -EBUSY)
		return log_errno(r, "%s is being reshaped, try again when that is over", name);
	if (r < 0)
		return log_errno(r, "the table of %s: '%.80s'", name, line->params);
	a.offset_bytes = t->array.offset_bytes;
	t->array = a;
	snprintf(t->array_name, sizeof(t->array_name), "%s", name);
	return 0;
}

/* The table of an encrypted device may have its key in it. */
static void forget_table(struct dm_table_line *line)
{
	explicit_bzero(line, sizeof(*line));
}

/* As step_down(), from a device of device-mapper. */
static int step_down_dm(const char *root, char name[static SYSFS_NAME], topology_table_fn table,
			struct topology *t)
{
	_cleanup_(forget_table) struct dm_table_line line;
	char below[SYSFS_NAME];
	uint64_t sectors;
	int r;

	r = table(name, &line);
	if (r < 0)
		return r == -EOPNOTSUPP ? 0 : r;
	if (strcmp(line.type, "raid") == 0)
		return read_dm_array(name, &line, t);
	if (strcmp(line.type, "linear") != 0 && strcmp(line.type, "crypt") != 0)
		return 0;
	r = sysfs_only_entry(below, "%s/class/block/%s/slaves", root, name);
	if (r == -ENOTUNIQ || r == -ENOENT)
		return 0;
	if (r < 0)
		return log_errno(r, "%s/class/block/%s/slaves", root, name);
	r = dm_table_parse_start(&line, &sectors);
	if (r < 0)
		return log_errno(r, "the table of %s, of the type %s", name, line.type);
	r = add_limit(root, below, 1, t);
	if (r < 0)
		return r;
	t->array.offset_bytes += sectors * SECTOR;
	memcpy(name, below, SYSFS_NAME);
	return 1;
}

/* One step down from @name. Return: 1 if there was one, 0 at the array or at the end. */
static int step_down(const char *root, char name[static SYSFS_NAME], topology_table_fn table,
		     struct topology *t)
{
	char below[SYSFS_NAME];
	uint64_t sectors;
	int r;

	if (sysfs_has(root, name, "dm"))
		return step_down_dm(root, name, table, t);
	if (!sysfs_has(root, name, "partition"))
		return 0;
	r = sysfs_read_number(&sectors, "%s/class/block/%s/start", root, name);
	if (r < 0)
		return log_errno(r, "%s/class/block/%s/start", root, name);
	r = disk_of(root, name, below);
	if (r < 0)
		return r;
	t->array.offset_bytes += sectors * SECTOR;
	memcpy(name, below, SYSFS_NAME);
	return 1;
}

/**
 * topology_read() - find out what lies below a device
 * @root: of sysfs, usually SYSFS_ROOT
 * @name: of the device, as in /sys/class/block
 * @table: asks device-mapper
 * @ret: what was found
 *
 * Walks down through partitions, dm-crypt and plain pieces of one device, as dm-linear
 * and LVM make them, to an array of md or of LVM. What is wrong has been logged on return.
 *
 * Return: 0 (also if there is no array) or a negative errno.
 */
int topology_read(const char *root, const char *name, topology_table_fn table,
		  struct topology *ret)
{
	_cleanup_free_ struct topology *t = calloc(1, sizeof(*t));
	char at[SYSFS_NAME];
	unsigned int data = 0;
	size_t above;
	int r = 1;

	if (!t)
		return log_errno(ENOMEM, "%s", name);
	if (snprintf(at, sizeof(at), "%s", name) >= (int)sizeof(at))
		return log_errno(ENAMETOOLONG, "%s", name);
	t->array.level = RULE_LEVEL_NONE;
	r = add_limit(root, at, 1, t);
	if (r < 0)
		return r;
	for (unsigned int depth = 0; !sysfs_has(root, at, "md"); depth++) {
		if (depth == SYSFS_DEPTH)
			return log_errno(ELOOP, "%s: more than %d layers deep", name, SYSFS_DEPTH);
		r = step_down(root, at, table, t);
		if (r < 0)
			return r;
		if (r == 0)
			break;
	}
	if (sysfs_has(root, at, "md")) {
		r = read_array(root, at, t);
		if (r < 0)
			return r;
	}
	if (t->array.level != RULE_LEVEL_NONE) {
		r = rule_data_members(&t->array, &data);
		if (r < 0)
			return log_errno(r, "%s: RAID%d of %u members", at, t->array.level,
					 t->array.members);
	}
	above = t->n_limits;
	r = add_limits_below(root, at, data ? data : 1, 0, t);
	if (r < 0)
		return r;
	while (above-- > 0)
		bound_by_those_below(t, above);
	*ret = *t;
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "counters.h"
#include "disk_stat.h"
#include "lib/macros.h"
#include "log.h"
#include "md.h"

/* All that may make a difference; Documentation/ABI/testing/sysfs-block-dm-fullstripe. */
static const char * const settings[] = {
	"fullstripe/stripe_bytes", "fullstripe/cluster_bytes", "fullstripe/high_water_bytes",
	"fullstripe/low_water_bytes", "fullstripe/file_high_water_bytes",
	"fullstripe/file_low_water_bytes", "fullstripe/hold_ms", "fullstripe/seek_bytes",
	"fullstripe/streams", "fullstripe/read_pref_io", "fullstripe/read_nstream",
	"fullstripe/prefetch_bytes", "fullstripe/mode", "queue/read_ahead_kb", "bdi/max_ratio",
};

/* Who reads them is not seen from here, so each counts as a user. */
static bool has_other_partition(const char *root, const char *disk, const char *partition)
{
	_cleanup_closedir_ DIR *dir = NULL;
	char path[PATH_MAX];
	struct dirent *entry;

	snprintf(path, sizeof(path), "%s/class/block/%s", root, disk);
	dir = opendir(path);
	if (!dir)
		return true;
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/partition", entry->d_name);
		if (strcmp(entry->d_name, partition) != 0 && sysfs_has(root, disk, path))
			return true;
	}
	return false;
}

/*
 * What lies between the device and the array has one user at each level, or there are others.
 * What cannot be told may be shared.
 */
static bool is_shared(const char *root, const char *name, const char *array)
{
	char at[SYSFS_NAME], below[SYSFS_NAME], user[SYSFS_NAME];

	snprintf(at, sizeof(at), "%s", name);
	for (unsigned int depth = 0; strcmp(at, array) != 0; depth++) {
		if (depth > SYSFS_DEPTH || sysfs_below(root, at, below) < 0)
			return true;
		if (sysfs_has(root, at, "partition") ?
		    has_other_partition(root, below, at) :
		    sysfs_only_entry(user, "%s/class/block/%s/holders", root, below) < 0)
			return true;
		memcpy(at, below, sizeof(at));
	}
	return false;
}

static int read_array(const char *root, const char *name, const struct topology *t,
		      struct harm_counters *c)
{
	struct md_state state;
	uint64_t sectors;
	int r;

	r = md_read_state(root, t->array_name, &state);
	/* RAID0 has none: there is nothing to keep in step. */
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return log_errno(r, "%s/class/block/%s/md", root, t->array_name);
	c->busy = state.busy;
	c->degraded = state.degraded;
	c->has_members = rule_parity_members(t->array.level) > 0 &&
			 !is_shared(root, name, t->array_name);
	if (!c->has_members)
		return 0;
	r = disk_stat_read_members(root, t->array_name, &sectors);
	if (r < 0)
		return log_errno(r, "%s/class/block/%s/slaves", root, t->array_name);
	c->members_read = sectors * SECTOR;
	return 0;
}

/**
 * counters_read() - what was counted up to now
 * @root: of sysfs, usually SYSFS_ROOT
 * @name: of the fullstripe device, as in /sys/class/block
 * @topology: what lies below it
 * @ret: the counters
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int counters_read(const char *root, const char *name, const struct topology *topology,
		  struct harm_counters *ret)
{
	struct harm_counters c = { .busy = false };
	const struct {
		const char *attribute;
		uint64_t *value;
	} stats[] = {
		{ "staged_read_bytes", &c.staged_read },
		{ "prefetch_hit_bytes", &c.prefetch_hit },
		{ "prefetched_bytes", &c.prefetched },
	};
	struct disk_stat stat;
	int r;

	r = disk_stat_read(root, name, &stat);
	if (r < 0)
		return log_errno(r, "%s/class/block/%s/stat", root, name);
	c.read = stat.read_sectors * SECTOR;
	c.written = stat.written_sectors * SECTOR;
	for (size_t i = 0; i < ARRAY_SIZE(stats); i++) {
		r = sysfs_read_number(stats[i].value, "%s/class/block/%s/fullstripe/stats/%s", root,
				      name, stats[i].attribute);
		if (r < 0)
			return log_errno(r, "%s/class/block/%s/fullstripe/stats/%s", root, name,
					 stats[i].attribute);
	}
	r = topology->array_name[0] ? read_array(root, name, topology, &c) : 0;
	if (r < 0)
		return r;
	*ret = c;
	return 0;
}

/**
 * counters_read_settings() - all that a device is set to, to compare
 * @root: of sysfs, usually SYSFS_ROOT
 * @name: of the device, as in /sys/class/block
 * @ret: the values; equal texts are equal settings
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int counters_read_settings(const char *root, const char *name,
			   char ret[static SAMPLES_SETTINGS])
{
	char text[SAMPLES_SETTINGS];
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		char value[32];
		int r = sysfs_read_text(value, sizeof(value), "%s/class/block/%s/%s", root,
					name, settings[i]);

		if (r < 0)
			return log_errno(r, "%s/class/block/%s/%s", root, name, settings[i]);
		/* 15 of them, and each takes less than its part of the room. */
		len += snprintf(text + len, sizeof(text) - len, "%s ", value);
	}
	memcpy(ret, text, len + 1);
	return 0;
}

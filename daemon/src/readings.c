// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "clock.h"
#include "disk_stat.h"
#include "lib/rule.h"
#include "md.h"
#include "readings.h"
#include "sysfs.h"

/* The array below a device. Return: 0, or a negative errno if there is none. */
static int find_array(const char *root, const char *disk, char ret[static SYSFS_NAME])
{
	char at[SYSFS_NAME], below[SYSFS_NAME];
	int r;

	snprintf(at, sizeof(at), "%s", disk);
	for (unsigned int depth = 0; depth < SYSFS_DEPTH; depth++) {
		if (sysfs_has(root, at, "md/level")) {
			memcpy(ret, at, sizeof(at));
			return 0;
		}
		r = sysfs_below(root, at, below);
		if (r < 0)
			return r;
		memcpy(at, below, sizeof(at));
	}
	return -ELOOP;
}

static enum top_array array_state(const char *root, const char *array)
{
	struct md_state state;
	char level[32];

	if (sysfs_read_text(level, sizeof(level), "%s/class/block/%s/md/level", root, array) < 0 ||
	    rule_parity_members(rule_parse_level(level)) == 0 ||
	    md_read_state(root, array, &state) < 0)
		return TOP_ARRAY_NONE;
	return state.busy || state.degraded ? TOP_ARRAY_BUSY : TOP_ARRAY_WELL;
}

/* Without an array only what is said of one is missing. */
static void read_array(const char *root, struct top_reading *t)
{
	char array[SYSFS_NAME];
	struct disk_stat stat;

	if (find_array(root, t->disk, array) < 0 ||
	    snprintf(t->array, sizeof(t->array), "%s", array) >= (int)sizeof(t->array)) {
		t->array[0] = '\0';
		return;
	}
	t->state = array_state(root, array);
	/* The members before the array: what comes between is not taken for pre-reads. */
	if (t->state == TOP_ARRAY_NONE ||
	    disk_stat_read_members(root, array, &t->counters[TOP_MEMBERS_READ_SECTORS]) < 0 ||
	    disk_stat_read(root, array, &stat) < 0) {
		t->state = TOP_ARRAY_NONE;
		return;
	}
	t->counters[TOP_ARRAY_READ_SECTORS] = stat.read_sectors;
	t->counters[TOP_ARRAY_WRITTEN_SECTORS] = stat.written_sectors;
}

static int read_own(const char *root, struct top_reading *t)
{
	static const struct {
		const char *file;
		enum top_counter counter;
	} counters[] = {
		{ "bypassed_bytes", TOP_BYPASSED_BYTES },
		{ "staged_read_bytes", TOP_STAGED_READ_BYTES },
		{ "whole_stripes", TOP_WHOLE_STRIPES },
		{ "filled_stripes", TOP_FILLED_STRIPES },
		{ "partial_stripes", TOP_PARTIAL_STRIPES },
		{ "answered_flushes", TOP_FLUSHES },
		{ "flush_us", TOP_FLUSH_US },
		{ "parked", TOP_PARKED },
		{ "throttled", TOP_THROTTLED },
		{ "prefetched_bytes", TOP_PREFETCHED_BYTES },
		{ "prefetch_hit_bytes", TOP_PREFETCH_HIT_BYTES },
	};
	static const struct {
		const char *file;
		enum top_value value;
	} values[] = {
		{ "stripe_bytes", TOP_STRIPE_BYTES },
		{ "chunk_bytes", TOP_CHUNK_BYTES },
		{ "data_members", TOP_DATA_MEMBERS },
		{ "cluster_bytes", TOP_CLUSTER_BYTES },
		{ "high_water_bytes", TOP_HIGH_WATER },
		{ "low_water_bytes", TOP_LOW_WATER },
		{ "file_high_water_bytes", TOP_FILE_HIGH_WATER },
		{ "file_low_water_bytes", TOP_FILE_LOW_WATER },
		{ "hold_ms", TOP_HOLD_MS },
		{ "stats/staged_bytes", TOP_STAGED_BYTES },
		{ "stats/dirty_files", TOP_DIRTY_FILES },
		{ "stats/held_files", TOP_HELD_FILES },
		{ "stats/failing_stripes", TOP_FAILING_STRIPES },
		{ "stats/active_streams", TOP_ACTIVE_STREAMS },
	};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(counters) && r >= 0; i++)
		r = sysfs_read_number(&t->counters[counters[i].counter],
				      "%s/block/%s/fullstripe/stats/%s", root, t->disk,
				      counters[i].file);
	for (size_t i = 0; i < ARRAY_SIZE(values) && r >= 0; i++)
		r = sysfs_read_number(&t->values[values[i].value], "%s/block/%s/fullstripe/%s",
				      root, t->disk, values[i].file);
	if (r >= 0)
		r = sysfs_read_text(t->mode, sizeof(t->mode), "%s/block/%s/fullstripe/mode", root,
				    t->disk);
	return r;
}

/**
 * readings_read() - a device at this moment
 * @root: of sysfs, usually SYSFS_ROOT
 * @disk: as in /sys/block
 * @ret: what was read
 *
 * Return: 0 or a negative errno: -ENOENT if it is no fullstripe device, or no longer one.
 */
int readings_read(const char *root, const char *disk, struct top_reading *ret)
{
	struct top_reading t = { .time_us = clock_now_ns() / 1000 };
	struct disk_stat stat = { 0 };
	char lower[SYSFS_NAME];
	int r;

	if (snprintf(t.disk, sizeof(t.disk), "%s", disk) >= (int)sizeof(t.disk))
		return -ENAMETOOLONG;
	r = sysfs_read_text(t.name, sizeof(t.name), "%s/block/%s/dm/name", root, disk);
	if (r == 0)
		r = sysfs_only_entry(lower, "%s/block/%s/slaves", root, disk);
	if (r == 0)
		r = read_own(root, &t);
	if (r == 0)
		r = disk_stat_read(root, disk, &stat);
	if (r < 0)
		return r;
	snprintf(t.lower, sizeof(t.lower), "%.31s", lower);
	t.counters[TOP_READS] = stat.reads;
	t.counters[TOP_READ_SECTORS] = stat.read_sectors;
	t.counters[TOP_WRITES] = stat.writes;
	t.counters[TOP_WRITTEN_SECTORS] = stat.written_sectors;
	read_array(root, &t);
	*ret = t;
	return 0;
}

/**
 * readings_read_all() - all fullstripe devices that are active
 * @root: of sysfs, usually SYSFS_ROOT
 * @only: only this one, as in /sys/block; NULL: all
 * @ret: what was read, to be freed
 * @ret_n: how many they are
 *
 * Return: 0 or a negative errno.
 */
int readings_read_all(const char *root, const char *only, struct top_reading **ret, size_t *ret_n)
{
	_cleanup_free_ struct top_reading *readings = NULL;
	_cleanup_closedir_ DIR *dir = NULL;
	char path[PATH_MAX];
	struct dirent *entry;
	size_t n = 0;

	snprintf(path, sizeof(path), "%s/block", root);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		struct top_reading *more;
		int r;

		if (entry->d_name[0] == '.' || (only && strcmp(entry->d_name, only) != 0) ||
		    !sysfs_has(root, entry->d_name, "fullstripe"))
			continue;
		more = reallocarray(readings, n + 1, sizeof(*more));
		if (!more)
			return -ENOMEM;
		readings = more;
		r = readings_read(root, entry->d_name, &readings[n]);
		/* Devices come and go. */
		if (r == -ENOENT || r == -ENODEV)
			continue;
		if (r < 0)
			return r;
		n++;
	}
	*ret = readings;
	*ret_n = n;
	readings = NULL;
	return 0;
}

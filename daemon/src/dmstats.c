// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <libdevmapper.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "dmstats.h"
#include "lib/stats_message.h"
#include "lib/trace.h"
#include "log.h"
#include "owner.h"
#include "sysfs.h"

DEFINE_CLEANUP(struct dm_task *, dm_task_destroy)

/**
 * struct dmstats - an area
 * @device: of this device
 * @sectors: how long that was when the area was made
 * @area: its number there
 */
struct dmstats {
	struct block_device device;
	uint64_t sectors;
	unsigned int area;
};

/* Return: 0 or a negative errno; the answer is the caller's. */
static int ask(const struct block_device *device, const char *message, char **ret)
{
	_cleanup_(dm_task_destroyp) struct dm_task *task = dm_task_create(DM_DEVICE_TARGET_MSG);
	const char *answer;
	char *text;

	if (!task || !dm_task_set_major_minor(task, trace_device_major(device->device),
					      trace_device_minor(device->device), 0) ||
	    !dm_task_set_sector(task, 0) || !dm_task_set_message(task, message))
		return -ENOMEM;
	if (!dm_task_run(task))
		return -(dm_task_get_errno(task) ?: EIO);
	answer = dm_task_get_message_response(task);
	text = strdup(answer ?: "");
	if (!text)
		return -ENOMEM;
	*ret = text;
	return 0;
}

static int ask_of(const struct block_device *device, const char *what, unsigned int area,
		  char **ret)
{
	char message[64];

	snprintf(message, sizeof(message), "%s %u", what, area);
	return ask(device, message, ret);
}

/**
 * dmstats_clean() - take away the areas that processes of ours left which are no more
 * @device: the device
 *
 * This process must not have one of this device.
 */
void dmstats_clean(const struct block_device *device)
{
	_cleanup_free_ char *list = NULL;
	const char *rest;
	unsigned int area;
	long owner;

	if (ask(device, "@stats_list " STATS_PROGRAM, &list) < 0)
		return;
	rest = list;
	while (stats_message_area(&rest, &area, &owner)) {
		_cleanup_free_ char *answer = NULL;

		if (owner_is_gone(owner) && ask_of(device, "@stats_delete", area, &answer) == 0)
			log_warning("%s: the area of dm-stats that an earlier process left is taken away",
				    device->node);
	}
}

static int read_sectors(const struct block_device *device, uint64_t *ret)
{
	int r = sysfs_read_number(ret, SYSFS_ROOT "/class/block/%s/size", device->name);

	return r < 0 ? log_errno(r, SYSFS_ROOT "/class/block/%s/size", device->name) : 0;
}

/**
 * dmstats_new() - begin to count
 * @device: the device
 * @ret: what is counted, from here on
 *
 * The kernel lets all that is under way on the device end first, and has what comes wait.
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int dmstats_new(const struct block_device *device, struct dmstats **ret)
{
	_cleanup_free_ char *answer = NULL;
	char message[STATS_MESSAGE];
	struct dmstats *d;
	int r;

	d = calloc(1, sizeof(*d));
	if (!d)
		return log_errno(ENOMEM, "%s", device->node);
	d->device = *device;
	r = read_sectors(device, &d->sectors);
	if (r < 0) {
		free(d);
		return r;
	}
	stats_message_create(getpid(), message);
	r = ask(device, message, &answer);
	if (r == 0 && sscanf(answer, "%u", &d->area) != 1)
		r = -EBADMSG;
	if (r < 0) {
		free(d);
		return log_errno(r, "%s: dm-stats cannot count it", device->node);
	}
	*ret = d;
	return 0;
}

/*
 * A device that is gone has no areas, and is not asked, as libdevmapper would complain; and
 * another one that has its number has others.
 */
static bool is_there(const struct dmstats *d)
{
	_cleanup_free_ char *list = NULL;
	const char *rest;
	unsigned int area;
	long owner;

	if (!sysfs_has(SYSFS_ROOT, d->device.name, "dm") ||
	    ask(&d->device, "@stats_list " STATS_PROGRAM, &list) < 0)
		return false;
	rest = list;
	while (stats_message_area(&rest, &area, &owner))
		if (area == d->area && owner == getpid())
			return true;
	return false;
}

/**
 * dmstats_covers() - whether all of the device is counted
 * @d: the counters
 *
 * A device that grew has an end that an area from before does not have; and others can delete
 * areas.
 */
bool dmstats_covers(const struct dmstats *d)
{
	uint64_t sectors;

	return read_sectors(&d->device, &sectors) == 0 && sectors == d->sectors && is_there(d);
}

/**
 * dmstats_read() - what was counted
 * @d: the counters
 * @ret: the fields that are known here are set, the others are left
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int dmstats_read(const struct dmstats *d, struct counted_reading *ret)
{
	_cleanup_free_ char *answer = NULL;
	int r = ask_of(&d->device, "@stats_print", d->area, &answer);

	if (r == 0)
		r = stats_message_counters(answer, ret);
	return r < 0 ? log_errno(r, "%s: what dm-stats counted cannot be read; did somebody else delete its area?",
				 d->device.node) : 0;
}

/**
 * dmstats_free() - end counting
 * @d: the counters or NULL
 *
 * Return: NULL.
 */
struct dmstats *dmstats_free(struct dmstats *d)
{
	_cleanup_free_ char *answer = NULL;

	if (d && is_there(d))
		ask_of(&d->device, "@stats_delete", d->area, &answer);
	free(d);
	return NULL;
}

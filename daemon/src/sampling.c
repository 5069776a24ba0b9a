// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "disk_stat.h"
#include "dmstats.h"
#include "lib/macros.h"
#include "log.h"
#include "sampling.h"
#include "sysfs.h"

/**
 * struct sampling - one recording
 * @device: the device
 * @folder: the target's attributes
 * @area: in which device-mapper counts
 * @counted: what was read
 */
struct sampling {
	struct block_device device;
	char folder[2 * SYSFS_NAME];
	const struct dmstats *area;
	struct counted counted;
};

static int read_target(const struct sampling *s, struct counted_reading *r)
{
	const struct {
		const char *name;
		uint64_t *value;
	} stats[] = {
		{ "flushes", &r->flushes },
		{ "fua_writes", &r->fua },
		{ "prefetch_hit_bytes", &r->prefetch_hit },
	};

	for (size_t i = 0; i < ARRAY_SIZE(stats); i++) {
		int e = sysfs_read_number(stats[i].value, "%s/stats/%s", s->folder, stats[i].name);

		if (e < 0)
			return log_errno(e, "%s/stats/%s", s->folder, stats[i].name);
	}
	return 0;
}

static int read_all(const struct sampling *s, struct counted_reading *ret)
{
	struct counted_reading reading = { .time = clock_now_ns() };
	struct disk_stat stat;
	int r;

	r = dmstats_read(s->area, &reading);
	if (r == 0)
		r = read_target(s, &reading);
	if (r < 0)
		return r;
	r = disk_stat_read(SYSFS_ROOT, s->device.name, &stat);
	if (r < 0)
		return log_errno(r, SYSFS_ROOT "/class/block/%s/stat", s->device.name);
	reading.discards = stat.discards;
	reading.discarded_bytes = stat.discarded_sectors * SECTOR;
	*ret = reading;
	return 0;
}

/**
 * sampling_start() - begin to count
 * @device: a fullstripe device
 * @folder: its attributes
 * @area: in which device-mapper counts, as long as this is used
 * @ret: what is counted
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int sampling_start(const struct block_device *device, const char *folder,
		   const struct dmstats *area, struct sampling **ret)
{
	struct sampling *s = calloc(1, sizeof(*s));
	struct counted_reading reading;
	int r;

	if (!s)
		return log_errno(ENOMEM, "%s", device->node);
	s->device = *device;
	snprintf(s->folder, sizeof(s->folder), "%s", folder);
	s->area = area;
	r = read_all(s, &reading);
	if (r < 0) {
		sampling_free(s);
		return r;
	}
	counted_begin(&s->counted, &reading);
	*ret = s;
	return 0;
}

/**
 * sampling_poll() - read the counters once more
 * @s: what is counted
 *
 * Return: 0 or a negative errno, which has been logged: -ECANCELED if somebody else set
 * counters back.
 */
int sampling_poll(struct sampling *s)
{
	struct counted_reading reading;
	int r = read_all(s, &reading);

	if (r < 0)
		return r;
	if (!counted_add(&s->counted, &reading))
		return log_errno(ECANCELED, "%s: somebody else set its counters back",
				 s->device.node);
	return 0;
}

/**
 * sampling_counted() - what was counted
 * @s: what is counted
 */
const struct counted *sampling_counted(const struct sampling *s)
{
	return &s->counted;
}

/**
 * sampling_free() - end counting
 * @s: what is counted or NULL
 *
 * Return: NULL.
 */
struct sampling *sampling_free(struct sampling *s)
{
	free(s);
	return NULL;
}

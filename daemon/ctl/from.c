// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>

#include "from.h"
#include "src/cleanup.h"
#include "src/log.h"

/**
 * from_find() - find a device, and what lies below it
 * @text: a path, or a name in /dev/mapper or /dev
 * @ret: the device, to be freed with free()
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int from_find(const char *text, struct from **ret)
{
	_cleanup_free_ struct from *f = calloc(1, sizeof(*f));
	uint64_t stripe;
	int r;

	if (!f)
		return log_errno(ENOMEM, "%s", text);
	r = block_device_find(text, &f->device);
	if (r < 0)
		return r;
	f->is_target = sysfs_read_number(&stripe, SYSFS_ROOT "/class/block/%s/fullstripe/stripe_bytes",
					 f->device.name) == 0;
	if (f->is_target)
		r = target_find(&f->device, &f->target);
	if (r == 0)
		r = topology_read(SYSFS_ROOT, f->is_target ? f->target.lower : f->device.name,
				  dm_read_table_of, &f->topology);
	if (r < 0)
		return r;
	*ret = f;
	f = NULL;
	return 0;
}

/**
 * from_take_array() - the array that the device lies on, and else its own idea of stripes
 * @f: the device
 * @o: what was said of the array; what was not is set
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int from_take_array(const struct from *f, struct array_options *o)
{
	uint64_t start = f->is_target ? f->target.lower_start * SECTOR : 0;
	struct rule_settings settings;
	int r;

	array_options_take(o, &f->topology, f->topology.array.offset_bytes + start);
	if (!f->is_target || o->array.level != RULE_LEVEL_NONE)
		return 0;
	r = target_read_settings(&f->target, &settings);
	if (r < 0)
		return r;
	o->stripe_bytes = settings.stripe_bytes;
	o->array.offset_bytes = settings.alignment_offset + start;
	return 0;
}

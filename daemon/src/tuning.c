// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "apply.h"
#include "layers.h"
#include "lib/macros.h"
#include "lib/render.h"
#include "log.h"
#include "tuning.h"

/**
 * tuning_new() - find a fullstripe device
 * @text: a path, or a name in /dev/mapper or /dev
 * @ret: the device
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int tuning_new(const char *text, struct tuning **ret)
{
	struct tuning *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return log_errno(ENOMEM, "%s", text);
	t->store = STORE_NONE;
	t->place = (struct setting_place) {
		.own = t->target.folder,
		.disks = SYSFS_ROOT "/class/block",
	};
	r = block_device_find(text, &t->device);
	if (r == 0)
		r = target_find(&t->device, &t->target);
	if (r < 0) {
		tuning_free(t);
		return r;
	}
	*ret = t;
	return 0;
}

/**
 * tuning_free() - let go of a device
 * @t: the device or NULL
 *
 * Return: NULL.
 */
struct tuning *tuning_free(struct tuning *t)
{
	if (t)
		store_close(&t->store);
	free(t);
	return NULL;
}

/* To plan, or to wait for others, may take long, and its number be another device's by now. */
static int check_same(const struct tuning *t)
{
	/* It is removed already, or still that one. */
	if (!t->target.instance[0] || target_is(t->device.name, t->target.instance))
		return 0;
	return log_errno(ENODEV, "%s was removed or made anew meanwhile; nothing is changed",
			 t->device.node);
}

/**
 * tuning_open_state() - read what is known from earlier
 * @t: the device
 * @folder: the state directory
 * @access: to change something: keep all others from changing settings until tuning_free(),
 *	and end what was interrupted
 *
 * Return: as store_open().
 */
int tuning_open_state(struct tuning *t, const char *folder, enum store_access access)
{
	struct state_layer layers[STATE_LAYERS_MAX];
	size_t n_layers = 0;
	int r;

	r = store_open(folder, access, &t->store);
	if (r == 0)
		r = check_same(t);
	if (r == 0)
		r = store_load(&t->store, t->target.id, &t->state);
	if (r == 0)
		r = layers_find(SYSFS_ROOT, t->target.lower, layers, &n_layers);
	if (r < 0)
		return r;
	layers_add_earlier(SYSFS_ROOT, t->state.layers, t->state.n_layers, layers, &n_layers);
	state_see(&t->state, t->target.instance, layers, n_layers);
	return access != STORE_LOOK ? apply_recover(&t->place, &t->store, &t->state) : 0;
}

/**
 * tuning_profile_options() - how to look at the device's workload
 * @t: the device
 * @ret: where its stripes are
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int tuning_profile_options(const struct tuning *t, struct profile_options *ret)
{
	struct rule_settings current;
	int r;

	r = target_read_settings(&t->target, &current);
	if (r < 0)
		return r;
	*ret = (struct profile_options) {
		.stripe_bytes = current.stripe_bytes,
		.offset_bytes = (current.alignment_offset + t->target.lower_start * SECTOR) %
				current.stripe_bytes,
	};
	return 0;
}

static uint64_t planned_stripe(const struct tuning *t)
{
	for (size_t i = 0; i < t->plan.n; i++)
		if (strcmp(t->plan.items[i].attribute, "stripe_bytes") == 0)
			return t->plan.items[i].new;
	return t->current.stripe_bytes;
}

/* Its place on the stripes is fixed in a target's table, which only a refresh replaces. */
static void check_alignment(const struct tuning *t)
{
	uint64_t offset = t->topology.array.offset_bytes;
	uint64_t right = rule_misaligned_by(offset, planned_stripe(t));

	if (t->topology.array.level == RULE_LEVEL_NONE || t->current.alignment_offset == right)
		return;
	log_warning("%s: alignment_offset is %llu and should be %llu: %s begins %llu bytes into %s, so no stripe is aligned; 'fullstripectl refresh %s' sets it",
		    t->device.node, (unsigned long long)t->current.alignment_offset,
		    (unsigned long long)right, t->target.lower, (unsigned long long)offset,
		    t->topology.array_name, t->device.node);
}

/* Layers that are set for it carry what their hardware can; those that are not, what they do. */
static void open_limits(struct tuning *t, const struct tuning_options *options)
{
	char name[SETTING_NAME];

	for (size_t i = 0; i < t->topology.n_limits; i++) {
		struct rule_limit *l = &t->topology.limits[i];

		setting_of_disk(name, l->disk, "max_sectors_kb");
		l->kept = !options->force &&
			  state_is_foreign(&t->state, name, l->soft_bytes / 1024);
	}
	layer_rule_open(t->topology.limits, t->topology.n_limits);
}

static int decide_layers(struct tuning *t)
{
	struct layer_settings layers;
	int r = layers_read(&t->place, &t->topology, &layers);

	if (r == 0)
		layer_rule_plan(&t->profile, &t->topology.array, t->topology.limits,
				t->topology.n_limits, &t->current, &layers, &t->plan);
	return r;
}

/**
 * tuning_decide() - what the device should be set to
 * @t: the device, with its state
 * @profile: of its workload
 * @options: how to decide
 *
 * Return: 0, -ENODATA if too little was measured to decide from, or another negative
 * errno. What was wrong has been logged.
 */
int tuning_decide(struct tuning *t, const struct profile_summary *profile,
		  const struct tuning_options *options)
{
	const struct rule_array *array = &t->topology.array;
	int r;

	r = target_read_settings(&t->target, &t->current);
	if (r == 0)
		r = topology_read(SYSFS_ROOT, t->target.lower, dm_read_table_of, &t->topology);
	if (r < 0)
		return r;
	t->profile = *profile;
	t->current.keep_stripe = !options->force && state_is_foreign(&t->state, "stripe_bytes",
								     t->current.stripe_bytes);
	if (options->layers)
		open_limits(t, options);
	r = rule_plan(profile, array, t->topology.limits, t->topology.n_limits, &t->current,
		      &t->plan);
	if (r == -ENODATA) {
		log_warning("%s: %llu reads and writes, %llu of them completed, are too few to decide from (at least %d); nothing is changed",
			    t->device.node, (unsigned long long)profile->ios,
			    (unsigned long long)profile->completed, RULE_LEAST_IOS);
		return r;
	}
	if (r < 0)
		return log_errno(r, "%s: nothing can be decided from %s: RAID%d of %u members, chunk %llu bytes",
				 t->device.node, t->topology.array_name, array->level,
				 array->members, (unsigned long long)array->chunk_bytes);
	check_alignment(t);
	/* The layers carry what the device is going to have, which may be somebody else's. */
	if (!options->force)
		state_mark_foreign(&t->state, &t->plan);
	r = options->layers ? decide_layers(t) : 0;
	if (r == 0 && !options->force)
		state_mark_foreign(&t->state, &t->plan);
	return r;
}

/**
 * tuning_render() - what was found and decided
 * @t: the device, after tuning_decide()
 */
struct json_object *tuning_render(const struct tuning *t)
{
	struct json_object *o = json_object_new_object();
	struct json_object *topology = json_object_new_object();

	json_object_object_add(topology, "array",
			       render_array(&t->topology.array, t->topology.array_name));
	json_object_object_add(topology, "limits",
			       render_limits(t->topology.limits, t->topology.n_limits));
	render_add_text(o, "device", t->device.node);
	json_object_object_add(o, "profile", render_profile(&t->profile));
	json_object_object_add(o, "topology", topology);
	json_object_object_add(o, "plan", render_plan(&t->plan));
	json_object_object_add(o, "sum", render_sum(&t->plan.sum));
	return o;
}

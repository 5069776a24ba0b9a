// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus_device.h"
#include "bus_names.h"
#include "sysfs.h"

/**
 * struct bus_device - one object
 * @devices: all of them
 * @path: its path
 * @watch: what it shows
 */
struct bus_device {
	struct bus_devices *devices;
	char *path;
	struct watch *watch;
};

static struct bus_device *find_path(const struct bus_devices *devices, const char *path)
{
	for (size_t i = 0; i < devices->n; i++)
		if (strcmp(devices->list[i]->path, path) == 0)
			return devices->list[i];
	return NULL;
}

static int get_text(sd_bus *connection, const char *path, const char *interface,
		    const char *property, sd_bus_message *reply, void *data, sd_bus_error *error)
{
	const struct watch *w = ((struct bus_device *)data)->watch;
	char node[SYSFS_NAME + 8];
	const char *text;

	(void)connection;
	(void)path;
	(void)interface;
	(void)error;
	snprintf(node, sizeof(node), "/dev/%s", watch_name(w));
	if (strcmp(property, "Name") == 0)
		text = watch_dm_name(w);
	else if (strcmp(property, "Node") == 0)
		text = node;
	else
		text = watch_is_recording(w) ? "recording" : "waiting";
	return sd_bus_message_append(reply, "s", text);
}

static int get_number(sd_bus *connection, const char *path, const char *interface,
		      const char *property, sd_bus_message *reply, void *data, sd_bus_error *error)
{
	const struct watch *w = ((struct bus_device *)data)->watch;
	uint64_t number;

	(void)connection;
	(void)path;
	(void)interface;
	(void)error;
	if (strcmp(property, "Recordings") == 0)
		number = watch_metrics(w)->recordings;
	else if (strcmp(property, "LostRecords") == 0)
		number = watch_metrics(w)->lost;
	else
		number = watch_next_usec(w);
	return sd_bus_message_append(reply, "t", number);
}

static int get_plan(sd_bus *connection, const char *path, const char *interface,
		    const char *property, sd_bus_message *reply, void *data, sd_bus_error *error)
{
	const struct metrics_watch *m = watch_metrics(((struct bus_device *)data)->watch);
	int r;

	(void)connection;
	(void)path;
	(void)interface;
	(void)property;
	(void)error;
	r = sd_bus_message_open_container(reply, 'a', "(sttsb)");
	for (size_t i = 0; r >= 0 && m->has_plan && i < m->plan.n; i++) {
		const struct plan_item *item = &m->plan.items[i];

		r = sd_bus_message_append(reply, "(sttsb)", item->attribute, item->old, item->new,
					  item->reason, (int)item->left_alone);
	}
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int get_verdict(sd_bus *connection, const char *path, const char *interface,
		       const char *property, sd_bus_message *reply, void *data, sd_bus_error *error)
{
	const struct watch_verdict *v = watch_verdict(((struct bus_device *)data)->watch);

	(void)connection;
	(void)path;
	(void)interface;
	(void)property;
	(void)error;
	return sd_bus_message_append(reply, "(tss)", v->change,
				     v->change ? harm_verdict_name(v->verdict) : "", v->sentence);
}

/*
 * Who called may have waited for polkit, and the device may be gone since. Return: NULL if it
 * is, and @error says so.
 */
static struct watch *find_called(const struct bus_devices *devices, sd_bus_message *m,
				 sd_bus_error *error)
{
	const struct bus_device *d = find_path(devices, sd_bus_message_get_path(m));

	if (d && watch_is_there(d->watch))
		return d->watch;
	sd_bus_error_setf(error, SD_BUS_ERROR_UNKNOWN_OBJECT, "%s: the device is gone",
			  sd_bus_message_get_path(m));
	return NULL;
}

static int record(sd_bus_message *m, void *data, sd_bus_error *error)
{
	struct watch *w = find_called(data, m, error);
	int r;

	if (!w)
		return -ENODEV;
	r = watch_record(w);
	if (r == -EALREADY)
		return sd_bus_error_setf(error, BUS_ERROR_RECORDING,
					 "%s is being recorded; it is planned for when that is done",
					 watch_dm_name(w));
	if (r < 0)
		return sd_bus_error_set_errnof(error, r,
					       "%s cannot be recorded, fullstriped's log says why",
					       watch_dm_name(w));
	return sd_bus_reply_method_return(m, NULL);
}

/* @n: as watch_apply() and watch_take_back() return it. */
static int reply_changed(sd_bus_message *m, const struct watch *w, int n, const char *nothing,
			 sd_bus_error *error)
{
	if (n == -ENODATA)
		return sd_bus_error_setf(error, BUS_ERROR_NOTHING, "%s: %s", watch_dm_name(w),
					 nothing);
	if (n == -EWOULDBLOCK)
		return sd_bus_error_set_errnof(error, EBUSY,
					       "%s: fullstripectl is changing settings now; try again",
					       watch_dm_name(w));
	if (n < 0)
		return sd_bus_error_set_errnof(error, n,
					       "%s: nothing is changed, fullstriped's log says why",
					       watch_dm_name(w));
	return sd_bus_reply_method_return(m, "u", (uint32_t)n);
}

static int apply(sd_bus_message *m, void *data, sd_bus_error *error)
{
	struct watch *w = find_called(data, m, error);

	if (!w)
		return -ENODEV;
	return reply_changed(m, w, watch_apply(w),
			     "nothing is planned as yet: that takes a recording of 16 reads and writes; see RecordNow()",
			     error);
}

static int take_back(sd_bus_message *m, void *data, sd_bus_error *error)
{
	struct watch *w = find_called(data, m, error);

	if (!w)
		return -ENODEV;
	return reply_changed(m, w, watch_take_back(w),
			     "nothing was applied that was not taken back, or the device was made anew since; see fullstripectl history",
			     error);
}

static int on_record(sd_bus_message *m, void *data, sd_bus_error *error)
{
	struct bus_devices *devices = ((struct bus_device *)data)->devices;

	return bus_authorize(devices->questions, m, record, devices, error);
}

static int on_apply(sd_bus_message *m, void *data, sd_bus_error *error)
{
	struct bus_devices *devices = ((struct bus_device *)data)->devices;

	return bus_authorize(devices->questions, m, apply, devices, error);
}

static int on_take_back(sd_bus_message *m, void *data, sd_bus_error *error)
{
	struct bus_devices *devices = ((struct bus_device *)data)->devices;

	return bus_authorize(devices->questions, m, take_back, devices, error);
}

/* Unprivileged to sd-bus, as it would not ask polkit. A plan is long, so it is only said to be new. */
static const sd_bus_vtable vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Name", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Node", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("State", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("NextRecordingUSecMonotonic", "t", get_number, 0,
			SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Recordings", "t", get_number, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("LostRecords", "t", get_number, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Plan", "a(sttsb)", get_plan, 0, SD_BUS_VTABLE_PROPERTY_EMITS_INVALIDATION),
	SD_BUS_PROPERTY("Verdict", "(tss)", get_verdict, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_METHOD_WITH_ARGS("RecordNow", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, on_record,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Apply", SD_BUS_NO_ARGS, SD_BUS_RESULT("u", changed), on_apply,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("TakeBack", SD_BUS_NO_ARGS, SD_BUS_RESULT("u", changed),
				on_take_back, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END,
};

static int find(sd_bus *connection, const char *path, const char *interface, void *data,
		void **ret, sd_bus_error *error)
{
	(void)connection;
	(void)interface;
	(void)error;
	*ret = find_path(data, path);
	return *ret != NULL;
}

static int enumerate(sd_bus *connection, const char *prefix, void *data, char ***ret,
		     sd_bus_error *error)
{
	const struct bus_devices *devices = data;
	char **nodes = calloc(devices->n + 1, sizeof(*nodes));

	(void)connection;
	(void)prefix;
	(void)error;
	if (!nodes)
		return -ENOMEM;
	for (size_t i = 0; i < devices->n; i++) {
		nodes[i] = strdup(devices->list[i]->path);
		if (nodes[i])
			continue;
		while (i > 0)
			free(nodes[--i]);
		free(nodes);
		return -ENOMEM;
	}
	*ret = nodes;
	return 1;
}

/**
 * bus_devices_put_on() - show the objects
 * @devices: those that there are, and will be; they stay there as long as the connection
 * @connection: to the bus
 *
 * Return: 0 or more, or a negative errno.
 */
int bus_devices_put_on(struct bus_devices *devices, sd_bus *connection)
{
	int r;

	r = sd_bus_add_fallback_vtable(connection, NULL, BUS_DEVICES_PATH, BUS_DEVICE, vtable, find,
				       devices);
	if (r >= 0)
		r = sd_bus_add_node_enumerator(connection, NULL, BUS_DEVICES_PATH, enumerate,
					       devices);
	return r < 0 ? r : sd_bus_add_object_manager(connection, NULL, BUS_PATH);
}

static void free_device(struct bus_device *d)
{
	free(d->path);
	free(d);
}

/**
 * bus_devices_add() - one device more
 * @devices: the objects
 * @connection: to who is told of it; or NULL
 * @w: its watch
 *
 * Return: 0 or -ENOMEM.
 */
int bus_devices_add(struct bus_devices *devices, sd_bus *connection, struct watch *w)
{
	struct bus_device **list, *d;

	list = reallocarray(devices->list, devices->n + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	devices->list = list;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->devices = devices;
	d->watch = w;
	if (sd_bus_path_encode(BUS_DEVICES_PATH, watch_dm_name(w), &d->path) < 0) {
		free_device(d);
		return -ENOMEM;
	}
	list[devices->n++] = d;
	if (connection)
		sd_bus_emit_object_added(connection, d->path);
	return 0;
}

/**
 * bus_devices_remove() - one device less
 * @devices: the objects
 * @connection: to who is told of it; or NULL
 * @w: its watch
 */
void bus_devices_remove(struct bus_devices *devices, sd_bus *connection, const struct watch *w)
{
	for (size_t i = 0; i < devices->n; i++) {
		struct bus_device *d = devices->list[i];

		if (d->watch != w)
			continue;
		if (connection)
			sd_bus_emit_object_removed(connection, d->path);
		free_device(d);
		devices->list[i] = devices->list[--devices->n];
		return;
	}
}

/**
 * bus_devices_tell() - something became of a device
 * @devices: the objects
 * @connection: to who is told
 * @w: its watch
 */
void bus_devices_tell(const struct bus_devices *devices, sd_bus *connection, const struct watch *w)
{
	for (size_t i = 0; i < devices->n; i++)
		if (devices->list[i]->watch == w)
			sd_bus_emit_properties_changed_strv(connection, devices->list[i]->path,
							    BUS_DEVICE, NULL);
}

/**
 * bus_devices_free() - let go of all of them
 * @devices: the objects, which are on no bus any more
 */
void bus_devices_free(struct bus_devices *devices)
{
	while (devices->n > 0)
		free_device(devices->list[--devices->n]);
	free(devices->list);
	devices->list = NULL;
}

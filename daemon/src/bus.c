// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <systemd/sd-bus.h>

#include "bus.h"
#include "bus_names.h"
#include "cleanup.h"
#include "lib/macros.h"
#include "log.h"

/* How long to wait before the connection is tried again: twice as long each time. */
#define LEAST_WAIT_USEC	1000000ull
#define MOST_WAIT_USEC	64000000ull

/* What does not answer for so long is taken for gone. */
#define ANSWER_USEC	2000000ull

/**
 * struct bus - the daemon on the bus
 * @event: the loop
 * @connection: to the bus; NULL while there is none
 * @timer: when it is tried again
 * @wait_usec: how long that is put off the next time
 * @missed: it was said that there is no connection, which is not said again
 * @questions: to polkit
 * @devices: the objects of these
 * @manager: the object of the daemon itself
 */
struct bus {
	sd_event *event;
	sd_bus *connection;
	sd_event_source *timer;
	uint64_t wait_usec;
	bool missed;
	struct bus_questions questions;
	struct bus_devices devices;
	struct bus_manager manager;
};

static void try_later(struct bus *bus, int error, const char *what)
{
	if (!bus->missed)
		log_errno(error, "no control by D-Bus for now: %s; all else goes on, and it is tried again",
			  what);
	bus->missed = true;
	if (sd_event_source_set_time_relative(bus->timer, bus->wait_usec) >= 0)
		sd_event_source_set_enabled(bus->timer, SD_EVENT_ONESHOT);
	bus->wait_usec = MIN(2 * bus->wait_usec, MOST_WAIT_USEC);
}

/* The connection is closed when it is tried again, as this is called from within it. */
static int on_disconnected(sd_bus_message *m, void *data, sd_bus_error *error)
{
	(void)m;
	(void)error;
	try_later(data, ECONNRESET, "the system bus");
	return 0;
}

static int on_name(sd_bus_message *m, void *data, sd_bus_error *error)
{
	struct bus *bus = data;
	uint32_t result = 0;

	(void)error;
	if (sd_bus_message_is_method_error(m, NULL)) {
		try_later(bus, sd_bus_message_get_errno(m), "the name " BUS_NAME);
		return 0;
	}
	if (sd_bus_message_read(m, "u", &result) < 0 || result != 1) {
		try_later(bus, EEXIST, "the name " BUS_NAME ", which another process has");
		return 0;
	}
	if (bus->missed)
		log_warning("control by D-Bus is there");
	bus->missed = false;
	bus->wait_usec = LEAST_WAIT_USEC;
	return 0;
}

static int connect_to(struct bus *bus, sd_bus **ret)
{
	_cleanup_(sd_bus_close_unrefp) sd_bus *connection = NULL;
	int r;

	r = sd_bus_open_system(&connection);
	/* The bus is asked who calls, and all else waits for that. */
	if (r >= 0)
		r = sd_bus_set_method_call_timeout(connection, ANSWER_USEC);
	if (r >= 0)
		r = sd_bus_attach_event(connection, bus->event, SD_EVENT_PRIORITY_NORMAL);
	if (r >= 0)
		r = sd_bus_match_signal(connection, NULL, "org.freedesktop.DBus.Local",
					"/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local",
					"Disconnected", on_disconnected, bus);
	if (r >= 0)
		r = bus_manager_put_on(&bus->manager, connection);
	if (r >= 0)
		r = bus_devices_put_on(&bus->devices, connection);
	/* Who sees the name sees the objects. */
	if (r >= 0)
		r = sd_bus_request_name_async(connection, NULL, BUS_NAME, 0, on_name, bus);
	if (r < 0)
		return r;
	*ret = connection;
	connection = NULL;
	return 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *data)
{
	struct bus *bus = data;
	int r;

	(void)source;
	(void)usec;
	bus->connection = sd_bus_close_unref(bus->connection);
	r = connect_to(bus, &bus->connection);
	if (r < 0)
		try_later(bus, r, "the system bus");
	return 0;
}

/**
 * bus_new() - let the daemon be controlled by D-Bus, as soon as and whenever there is a bus
 * @event: the loop
 * @daemon: what can be had done of it
 * @ret: the bus
 *
 * Return: 0 or a negative errno.
 */
int bus_new(sd_event *event, const struct bus_daemon *daemon, struct bus **ret)
{
	struct bus *bus = calloc(1, sizeof(*bus));
	int r;

	if (!bus)
		return -ENOMEM;
	bus->event = event;
	bus->wait_usec = LEAST_WAIT_USEC;
	bus->devices.questions = &bus->questions;
	bus->manager = (struct bus_manager) {
		.daemon = *daemon,
		.devices = &bus->devices,
		.questions = &bus->questions,
	};
	r = sd_event_add_time_relative(event, &bus->timer, CLOCK_MONOTONIC, 0, 0, on_timer, bus);
	if (r < 0) {
		bus_free(bus);
		return r;
	}
	*ret = bus;
	return 0;
}

/**
 * bus_free() - leave the bus
 * @bus: the bus or NULL
 *
 * Return: NULL.
 */
struct bus *bus_free(struct bus *bus)
{
	if (!bus)
		return NULL;
	sd_event_source_disable_unref(bus->timer);
	sd_bus_close_unref(bus->connection);
	bus_devices_free(&bus->devices);
	free(bus);
	return NULL;
}

static void tell_manager(struct bus *bus, const char *property)
{
	if (bus->connection)
		sd_bus_emit_properties_changed(bus->connection, BUS_PATH, BUS_MANAGER, property,
					       NULL);
}

/**
 * bus_add_watch() - a device is watched from now on
 * @bus: the bus
 * @w: its watch, to stay until bus_remove_watch()
 */
void bus_add_watch(struct bus *bus, struct watch *w)
{
	if (bus_devices_add(&bus->devices, bus->connection, w) < 0)
		log_errno(ENOMEM, "%s is not on D-Bus", watch_dm_name(w));
	tell_manager(bus, "NWatched");
}

/**
 * bus_remove_watch() - a device is no longer watched
 * @bus: the bus
 * @w: its watch
 */
void bus_remove_watch(struct bus *bus, const struct watch *w)
{
	bus_devices_remove(&bus->devices, bus->connection, w);
	tell_manager(bus, "NWatched");
}

/**
 * bus_tell_watch() - something became of a device
 * @bus: the bus
 * @w: its watch
 */
void bus_tell_watch(struct bus *bus, const struct watch *w)
{
	if (bus->connection)
		bus_devices_tell(&bus->devices, bus->connection, w);
}

/**
 * bus_tell_mode() - the mode may be another one
 * @bus: the bus
 */
void bus_tell_mode(struct bus *bus)
{
	tell_manager(bus, "Mode");
}

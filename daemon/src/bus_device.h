/* SPDX-License-Identifier: GPL-2.0 */
/* An object on D-Bus for each device that is watched. */
#ifndef FULLSTRIPE_BUS_DEVICE_H
#define FULLSTRIPE_BUS_DEVICE_H

#include <systemd/sd-bus.h>

#include "bus_authorize.h"
#include "watch.h"

struct bus_device;

/**
 * struct bus_devices - these objects, with a bus or without one
 * @n: how many
 * @list: one for each watch
 * @questions: to polkit
 */
struct bus_devices {
	size_t n;
	struct bus_device **list;
	struct bus_questions *questions;
};

int bus_devices_put_on(struct bus_devices *devices, sd_bus *connection);
int bus_devices_add(struct bus_devices *devices, sd_bus *connection, struct watch *w);
void bus_devices_remove(struct bus_devices *devices, sd_bus *connection, const struct watch *w);
void bus_devices_tell(const struct bus_devices *devices, sd_bus *connection,
		      const struct watch *w);
void bus_devices_free(struct bus_devices *devices);

#endif

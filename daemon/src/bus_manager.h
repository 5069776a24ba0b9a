/* SPDX-License-Identifier: GPL-2.0 */
/* The object of the daemon itself on D-Bus. */
#ifndef FULLSTRIPE_BUS_MANAGER_H
#define FULLSTRIPE_BUS_MANAGER_H

#include <systemd/sd-bus.h>

#include "bus_authorize.h"
#include "bus_device.h"
#include "lib/config.h"

/**
 * struct bus_daemon - what can be had done of the daemon
 * @version: its version
 * @config: in force
 * @reload: read the configuration again; a negative errno if it is wrong, which was logged
 * @set_config: let another one be in force
 * @data: argument of both
 */
struct bus_daemon {
	const char *version;
	const struct config *config;
	int (*reload)(void *data);
	void (*set_config)(void *data, const struct config *config);
	void *data;
};

/**
 * struct bus_manager - the object
 * @daemon: what it is of
 * @devices: how many there are
 * @questions: to polkit
 */
struct bus_manager {
	struct bus_daemon daemon;
	const struct bus_devices *devices;
	struct bus_questions *questions;
};

int bus_manager_put_on(struct bus_manager *manager, sd_bus *connection);

#endif

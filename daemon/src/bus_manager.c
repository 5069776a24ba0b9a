// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "bus_manager.h"
#include "bus_names.h"

static int get_text(sd_bus *connection, const char *path, const char *interface,
		    const char *property, sd_bus_message *reply, void *data, sd_bus_error *error)
{
	const struct bus_manager *manager = data;

	(void)connection;
	(void)path;
	(void)interface;
	(void)error;
	return sd_bus_message_append(reply, "s", strcmp(property, "Version") == 0 ?
				     manager->daemon.version :
				     config_mode_name(manager->daemon.config->apply));
}

static int get_watched(sd_bus *connection, const char *path, const char *interface,
		       const char *property, sd_bus_message *reply, void *data, sd_bus_error *error)
{
	const struct bus_manager *manager = data;

	(void)connection;
	(void)path;
	(void)interface;
	(void)property;
	(void)error;
	return sd_bus_message_append(reply, "u", (uint32_t)manager->devices->n);
}

static int reload(sd_bus_message *m, void *data, sd_bus_error *error)
{
	const struct bus_manager *manager = data;

	if (manager->daemon.reload(manager->daemon.data) < 0)
		return sd_bus_error_set(error, BUS_ERROR_CONFIG,
					"the configuration is wrong, fullstriped's log says where; what was read before stays in force");
	return sd_bus_reply_method_return(m, NULL);
}

static int set_mode(sd_bus_message *m, void *data, sd_bus_error *error)
{
	const struct bus_manager *manager = data;
	struct config config = *manager->daemon.config;
	char why[CONFIG_WHY];
	const char *mode;
	int r;

	r = sd_bus_message_read(m, "s", &mode);
	if (r < 0)
		return r;
	if (config_set(&config, "fullstriped", "mode", mode, why) < 0)
		return sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS, why);
	manager->daemon.set_config(manager->daemon.data, &config);
	return sd_bus_reply_method_return(m, NULL);
}

static int on_reload(sd_bus_message *m, void *data, sd_bus_error *error)
{
	const struct bus_manager *manager = data;

	return bus_authorize(manager->questions, m, reload, data, error);
}

static int on_set_mode(sd_bus_message *m, void *data, sd_bus_error *error)
{
	const struct bus_manager *manager = data;

	return bus_authorize(manager->questions, m, set_mode, data, error);
}

/* Unprivileged to sd-bus, as it would not ask polkit. */
static const sd_bus_vtable vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Version", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Mode", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("NWatched", "u", get_watched, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_METHOD_WITH_ARGS("Reload", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, on_reload,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("SetMode", SD_BUS_ARGS("s", mode), SD_BUS_NO_RESULT, on_set_mode,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END,
};

/**
 * bus_manager_put_on() - show the object
 * @manager: the object; stays there as long as the connection
 * @connection: to the bus
 *
 * Return: 0 or more, or a negative errno.
 */
int bus_manager_put_on(struct bus_manager *manager, sd_bus *connection)
{
	return sd_bus_add_object_vtable(connection, NULL, BUS_PATH, BUS_MANAGER, vtable, manager);
}

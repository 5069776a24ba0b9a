/* SPDX-License-Identifier: GPL-2.0 */
/* Who may change something by D-Bus: root, and whom polkit lets. */
#ifndef FULLSTRIPE_BUS_AUTHORIZE_H
#define FULLSTRIPE_BUS_AUTHORIZE_H

#include <systemd/sd-bus.h>

/**
 * struct bus_questions - that were put to polkit and are not answered yet
 * @n: how many, as anybody can cause them
 */
struct bus_questions {
	unsigned int n;
};

int bus_authorize(struct bus_questions *questions, sd_bus_message *m,
		  sd_bus_message_handler_t then, void *data, sd_bus_error *error);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The daemon on D-Bus, as org.fullstripe1(5) has it: the connection to the system bus, which
 * is made, kept and made again here. Without a bus the daemon does all that it does otherwise.
 */
#ifndef FULLSTRIPE_BUS_H
#define FULLSTRIPE_BUS_H

#include <systemd/sd-event.h>

#include "bus_manager.h"

struct bus;

int bus_new(sd_event *event, const struct bus_daemon *daemon, struct bus **ret);
struct bus *bus_free(struct bus *bus);
void bus_add_watch(struct bus *bus, struct watch *w);
void bus_remove_watch(struct bus *bus, const struct watch *w);
void bus_tell_watch(struct bus *bus, const struct watch *w);
void bus_tell_mode(struct bus *bus);

#endif

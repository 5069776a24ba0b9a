/* SPDX-License-Identifier: GPL-2.0 */
/* Event loops that signals end. */
#ifndef FULLSTRIPE_LOOP_H
#define FULLSTRIPE_LOOP_H

#include <systemd/sd-event.h>

int loop_new(sd_event **ret, sd_event_signal_handler_t on_end);
int loop_add_signal(sd_event *event, int signal, sd_event_signal_handler_t fn, void *data);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The messages of dm-stats, as Documentation/admin-guide/device-mapper/statistics.rst of the
 * kernel has them. libdevmapper has functions for them, too, but no room for a histogram
 * that is as fine as that of a trace.
 */
#ifndef FULLSTRIPE_STATS_MESSAGE_H
#define FULLSTRIPE_STATS_MESSAGE_H

#include <stdbool.h>

#include "counted.h"

#define STATS_MESSAGE	8192

/* Whose an area is, beside the process. */
#define STATS_PROGRAM	"fullstripe"

void stats_message_create(long owner, char ret[static STATS_MESSAGE]);
int stats_message_counters(const char *text, struct counted_reading *ret);
bool stats_message_area(const char **text, unsigned int *ret_area, long *ret_owner);

#endif

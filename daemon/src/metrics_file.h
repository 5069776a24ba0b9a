/* SPDX-License-Identifier: GPL-2.0 */
/* The metrics of all devices as a file for node_exporter, replaced as a whole each time. */
#ifndef FULLSTRIPE_METRICS_FILE_H
#define FULLSTRIPE_METRICS_FILE_H

#include "lib/metrics.h"

int metrics_read_device(const char *root, const char *name, const struct metrics_watch *watch,
			struct metrics_device *ret);
int metrics_write(const char *path, const struct metrics *metrics);
void metrics_remove(const char *path);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* The daemon's configuration files, read in the order that systemd reads its own in. */
#ifndef FULLSTRIPE_CONFIG_FILES_H
#define FULLSTRIPE_CONFIG_FILES_H

#include "lib/config.h"

int config_read(const char *root, struct config *ret);

#endif

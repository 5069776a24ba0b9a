/* SPDX-License-Identifier: GPL-2.0 */
/* Names of systemd's units, escaped as systemd-escape(1) does it. */
#ifndef FULLSTRIPE_UNIT_NAME_H
#define FULLSTRIPE_UNIT_NAME_H

#include <stddef.h>

/* Each character may become four. */
#define UNIT_ESCAPED(len)	(4 * (len) + 1)

void unit_escape(const char *text, char *ret);
void unit_escape_path(const char *path, char *ret);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* What a line of fullstripetab(5) is to systemd and to udev: texts of units and rules. */
#ifndef FULLSTRIPE_TAB_UNITS_H
#define FULLSTRIPE_TAB_UNITS_H

#include <stdio.h>

#include "tab.h"
#include "unit_name.h"

#define TAB_UNIT	(UNIT_ESCAPED(TAB_LOWER) + 32)

void tab_service_name(const struct tab_entry *e, char ret[static TAB_UNIT]);
void tab_device_name(const struct tab_entry *e, char ret[static TAB_UNIT]);
void tab_lower_name(const struct tab_entry *e, char ret[static TAB_UNIT]);
const char *tab_wanted_by(const struct tab_entry *e);
void tab_write_service(FILE *f, const struct tab_entry *e, const char *source,
		       const char *program);
void tab_write_timeout(FILE *f, const char *timeout);
void tab_write_rule(FILE *f, const struct tab_entry *e);

#endif

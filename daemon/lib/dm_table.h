/* SPDX-License-Identifier: GPL-2.0 */
/* Table lines of device-mapper, as far as they say where stripes are. */
#ifndef FULLSTRIPE_DM_TABLE_H
#define FULLSTRIPE_DM_TABLE_H

#include <stdint.h>

#include "rule.h"

#define DM_TABLE_TYPE	32
#define DM_TABLE_PARAMS	4096

/**
 * struct dm_table_line - the table of a device that consists of one target
 * @type: of the target
 * @params: its arguments
 */
struct dm_table_line {
	char type[DM_TABLE_TYPE];
	char params[DM_TABLE_PARAMS];
};

int dm_table_parse_start(const struct dm_table_line *line, uint64_t *ret);
int dm_table_parse_raid(const struct dm_table_line *line, struct rule_array *ret);

#endif

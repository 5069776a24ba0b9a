/* SPDX-License-Identifier: GPL-2.0 */
/* Tables for people. */
#ifndef FULLSTRIPE_CTL_TABLE_H
#define FULLSTRIPE_CTL_TABLE_H

#include <libsmartcols/libsmartcols.h>

#include "src/cleanup.h"

DEFINE_CLEANUP(struct libscols_table *, scols_unref_table)

/**
 * struct table_column - of a table
 * @name: what stands above it
 * @flags: SCOLS_FL_*
 */
struct table_column {
	const char *name;
	int flags;
};

struct libscols_table *table_new(const struct table_column *columns, size_t n);
int table_add_line(struct libscols_table *table, const char * const *cells, size_t n);

#endif

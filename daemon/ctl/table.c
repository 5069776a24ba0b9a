// SPDX-License-Identifier: GPL-2.0
#include <errno.h>

#include "table.h"

/**
 * table_new() - a table without lines
 * @columns: its columns
 * @n: how many
 *
 * Return: the table, or NULL if there is no memory.
 */
struct libscols_table *table_new(const struct table_column *columns, size_t n)
{
	_cleanup_(scols_unref_tablep) struct libscols_table *table = scols_new_table();
	struct libscols_table *ret = table;

	if (!table)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (!scols_table_new_column(table, columns[i].name, 0, columns[i].flags))
			return NULL;
	table = NULL;
	return ret;
}

/**
 * table_add_line() - put a line at the end of a table
 * @table: the table
 * @cells: what stands in each column; NULL: nothing
 * @n: how many, the first columns
 *
 * Return: 0 or -ENOMEM.
 */
int table_add_line(struct libscols_table *table, const char * const *cells, size_t n)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);

	if (!line)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (cells[i] && scols_line_set_data(line, i, cells[i]) < 0)
			return -ENOMEM;
	return 0;
}

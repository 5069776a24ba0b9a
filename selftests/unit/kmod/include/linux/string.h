/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_STRING_H
#define SHIM_STRING_H

#include <string.h>

#include <errno.h>

static inline int match_string(const char * const *array, size_t count, const char *string)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(array[i], string))
			return i;
	return -EINVAL;
}

#endif

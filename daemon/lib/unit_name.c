// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "unit_name.h"

static bool is_plain(char c)
{
	return strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:_.", c);
}

/**
 * unit_escape() - text as the name, or the instance, of a unit
 * @text: the text
 * @ret: room for UNIT_ESCAPED(strlen(text)) characters
 */
void unit_escape(const char *text, char *ret)
{
	for (const char *c = text; *c; c++) {
		if (*c == '/')
			*ret++ = '-';
		else if (is_plain(*c) && !(c == text && *c == '.'))
			*ret++ = *c;
		else
			ret += sprintf(ret, "\\x%02x", (unsigned char)*c);
	}
	*ret = '\0';
}

/**
 * unit_escape_path() - a path as the name of a unit
 * @path: the path, not only slashes
 * @ret: room for UNIT_ESCAPED(strlen(path)) characters
 */
void unit_escape_path(const char *path, char *ret)
{
	char plain[strlen(path) + 1], *at = plain;

	/* Neither slashes at the ends nor two in a row count. */
	for (const char *c = path; *c; c++)
		if (*c != '/' || (at > plain && c[1] && c[1] != '/'))
			*at++ = *c;
	*at = '\0';
	unit_escape(plain, ret);
}

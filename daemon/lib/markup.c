// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <string.h>

#include "markup.h"

/**
 * markup_add() - append markup
 * @out: to this
 * @format: markup as it is, with printf's conversions; what %s stands for is escaped
 */
void markup_add(GString *out, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = g_markup_vprintf_escaped(format, args);
	va_end(args);
	g_string_append(out, text);
	g_free(text);
}

/**
 * markup_text() - what a document or a terminal can be given of a text from outside
 * @text: a file's name, as it may be
 *
 * Return: UTF-8 without control characters; to be freed with g_free().
 */
char *markup_text(const char *text)
{
	char *valid = g_utf8_make_valid(text, -1);

	/* Those of two bytes, too: to a terminal some of them are as good as an escape. */
	for (char *c = valid; *c; c = g_utf8_next_char(c))
		if (g_unichar_iscntrl(g_utf8_get_char(c)))
			memset(c, '?', g_utf8_next_char(c) - c);
	return valid;
}

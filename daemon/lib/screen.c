// SPDX-License-Identifier: GPL-2.0
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

#include "macros.h"
#include "screen.h"

/**
 * screen_new() - an empty screen
 * @rows: its height
 * @columns: its width
 *
 * Return: a screen to be freed, or NULL if there is no memory.
 */
struct screen *screen_new(unsigned int rows, unsigned int columns)
{
	size_t n = (size_t)rows * columns;
	struct screen *screen = malloc(sizeof(*screen) + n * sizeof(screen->cells[0]));

	if (!screen)
		return NULL;
	*screen = (struct screen) { .rows = rows, .columns = columns };
	for (size_t i = 0; i < n; i++)
		screen->cells[i] = (struct screen_cell) { .c = L' ' };
	return screen;
}

/*
 * The next character of a text, as it may be shown: names are made by others, and must not
 * command the terminal. Return: how many columns it takes; 0 at the end.
 */
static unsigned int next(const char **text, wchar_t *c)
{
	mbstate_t state = { 0 };
	size_t n = mbrtowc(c, *text, MB_LEN_MAX, &state);
	int width;

	if (n == 0)
		return 0;
	if (n > MB_LEN_MAX) {
		*c = L'?';
		n = 1;
	}
	*text += n;
	width = wcwidth(*c);
	if (width < 1 || !iswprint(*c)) {
		*c = L'?';
		width = 1;
	}
	return width;
}

/**
 * screen_width() - how many columns a text takes
 * @text: the text
 */
unsigned int screen_width(const char *text)
{
	unsigned int width = 0, more;
	wchar_t c;

	while ((more = next(&text, &c)))
		width += more;
	return width;
}

/**
 * screen_put() - write a text
 * @screen: where
 * @row: in which row; none if there is no such row
 * @column: from which column on
 * @width: so many columns get the style, and no more than that is written
 * @style: how it looks
 * @text: in the encoding of the locale
 */
void screen_put(struct screen *screen, unsigned int row, unsigned int column, unsigned int width,
		enum screen_style style, const char *text)
{
	unsigned int end = column + MIN(width, screen->columns - MIN(column, screen->columns));
	struct screen_cell *cells = screen->cells + (size_t)row * screen->columns;
	unsigned int takes;
	wchar_t c;

	if (row >= screen->rows)
		return;
	for (; column < end && (takes = next(&text, &c)) && takes <= end - column; column += takes) {
		cells[column] = (struct screen_cell) { .c = c, .style = style };
		if (takes == 2)
			cells[column + 1] = (struct screen_cell) { .style = style };
	}
	for (; column < end; column++)
		cells[column] = (struct screen_cell) { .c = L' ', .style = style };
}

/**
 * screen_put_right() - as screen_put(), at the right end of @width
 */
void screen_put_right(struct screen *screen, unsigned int row, unsigned int column,
		      unsigned int width, enum screen_style style, const char *text)
{
	unsigned int pad = width - MIN(width, screen_width(text));

	screen_put(screen, row, column, pad, style, "");
	screen_put(screen, row, column + pad, width - pad, style, text);
}

/**
 * screen_put_end() - as screen_put(), but what is too long loses its beginning
 */
void screen_put_end(struct screen *screen, unsigned int row, unsigned int column,
		    unsigned int width, enum screen_style style, const char *text)
{
	static const char dots[] = "...";
	unsigned int all = screen_width(text);
	wchar_t c;

	if (all > width && width > strlen(dots)) {
		screen_put(screen, row, column, strlen(dots), style, dots);
		column += strlen(dots);
		width -= strlen(dots);
		while (all > width)
			all -= next(&text, &c);
	}
	screen_put(screen, row, column, width, style, text);
}

/**
 * screen_row() - a row as plain text
 * @screen: the screen
 * @row: which
 *
 * Return: a text to be freed, without the spaces at its end; NULL if there is no memory.
 */
char *screen_row(const struct screen *screen, unsigned int row)
{
	const struct screen_cell *cells = screen->cells + (size_t)row * screen->columns;
	char *text = malloc((size_t)screen->columns * MB_LEN_MAX + 1);
	unsigned int end = screen->columns;
	mbstate_t state = { 0 };
	size_t len = 0;

	if (!text)
		return NULL;
	while (end && cells[end - 1].c == L' ')
		end--;
	for (unsigned int i = 0; i < end; i++) {
		size_t n = cells[i].c ? wcrtomb(text + len, cells[i].c, &state) : 0;

		if (n <= MB_LEN_MAX)
			len += n;
	}
	text[len] = '\0';
	return text;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A screen as it should look: characters with styles in rows and columns. Whoever draws
 * needs no terminal, and whoever has one shows it.
 */
#ifndef FULLSTRIPE_SCREEN_H
#define FULLSTRIPE_SCREEN_H

#include <stdint.h>
#include <wchar.h>

enum screen_style {
	STYLE_PLAIN,
	STYLE_TITLE,
	STYLE_HEADER,
	STYLE_SORTED,	/* the header of the column that is sorted by */
	STYLE_SELECTED,
	STYLE_FAINT,
	STYLE_GOOD,
	STYLE_WARNING,
	STYLE_BAD,
	N_STYLES,
};

/**
 * struct screen_cell - one place
 * @c: the character; 0 where the one before is two columns wide
 * @style: how it looks
 */
struct screen_cell {
	wchar_t c;
	enum screen_style style;
};

/**
 * struct screen - what is to be seen
 * @rows: its height
 * @columns: its width
 * @cells: row by row
 */
struct screen {
	unsigned int rows;
	unsigned int columns;
	struct screen_cell cells[];
};

struct screen *screen_new(unsigned int rows, unsigned int columns);
unsigned int screen_width(const char *text);
void screen_put(struct screen *screen, unsigned int row, unsigned int column, unsigned int width,
		enum screen_style style, const char *text);
void screen_put_right(struct screen *screen, unsigned int row, unsigned int column,
		      unsigned int width, enum screen_style style, const char *text);
void screen_put_end(struct screen *screen, unsigned int row, unsigned int column,
		    unsigned int width, enum screen_style style, const char *text);
char *screen_row(const struct screen *screen, unsigned int row);

#endif

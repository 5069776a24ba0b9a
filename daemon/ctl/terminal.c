// SPDX-License-Identifier: GPL-2.0
#include <curses.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "terminal.h"

/* Each style without colours, and its colour: red is bad, also for who sees none. */
static const struct {
	attr_t attributes;
	short colour;
} styles[N_STYLES] = {
	[STYLE_PLAIN] = { A_NORMAL, -1 },
	[STYLE_TITLE] = { A_BOLD, -1 },
	[STYLE_HEADER] = { A_REVERSE, -1 },
	[STYLE_SORTED] = { A_REVERSE | A_BOLD | A_UNDERLINE, -1 },
	[STYLE_SELECTED] = { A_BOLD, -1 },
	[STYLE_FAINT] = { A_DIM, -1 },
	[STYLE_GOOD] = { A_NORMAL, COLOR_GREEN },
	[STYLE_WARNING] = { A_BOLD, COLOR_YELLOW },
	[STYLE_BAD] = { A_BOLD | A_REVERSE, COLOR_RED },
};

static SCREEN *terminal;
static bool is_coloured;

/* As https://no-color.org has it. */
static bool may_colour(void)
{
	const char *no = getenv("NO_COLOR");

	return !(no && *no) && has_colors();
}

/**
 * terminal_open() - take the terminal over
 *
 * Return: 0, or -EOPNOTSUPP if there is none whose cursor can be moved.
 */
int terminal_open(void)
{
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return -EOPNOTSUPP;
	/* Unlike initscr() it does not end the program. */
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal)
		return -EOPNOTSUPP;
	if (!tigetstr("cup")) {
		terminal_close();
		return -EOPNOTSUPP;
	}
	cbreak();
	noecho();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	curs_set(0);
	is_coloured = may_colour() && start_color() == OK;
	if (is_coloured) {
		use_default_colors();
		for (int i = 0; i < N_STYLES; i++)
			if (styles[i].colour >= 0)
				init_pair(i, styles[i].colour, -1);
	}
	return 0;
}

/**
 * terminal_close() - give it back as it was
 */
void terminal_close(void)
{
	endwin();
	delscreen(terminal);
}

/**
 * terminal_size() - how large it is
 * @rows: its height
 * @columns: its width
 */
void terminal_size(unsigned int *rows, unsigned int *columns)
{
	*rows = LINES;
	*columns = COLS;
}

/**
 * terminal_resize() - take note that its size has changed
 */
void terminal_resize(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
	/* Terminals move what they show in ways of their own. */
	clearok(stdscr, TRUE);
}

/**
 * terminal_show() - show a screen
 * @screen: the screen
 */
void terminal_show(const struct screen *screen)
{
	erase();
	for (unsigned int row = 0; row < screen->rows; row++) {
		for (unsigned int column = 0; column < screen->columns; column++) {
			const struct screen_cell *cell =
				&screen->cells[(size_t)row * screen->columns + column];
			const wchar_t text[] = { cell->c, L'\0' };
			attr_t attributes = styles[cell->style].attributes;
			bool coloured = is_coloured && styles[cell->style].colour >= 0;
			short pair = coloured ? (short)cell->style : 0;
			cchar_t c;

			if (cell->c && setcchar(&c, text, attributes, pair, NULL) == OK)
				mvadd_wch(row, column, &c);
		}
	}
	refresh();
}

/**
 * terminal_key() - the next key that was pressed
 *
 * Return: a character, one of enum terminal_key, or TERMINAL_NONE if there is none.
 */
int terminal_key(void)
{
	int key = getch();

	switch (key) {
	case ERR:
		return TERMINAL_NONE;
	case KEY_UP:
		return TERMINAL_UP;
	case KEY_DOWN:
		return TERMINAL_DOWN;
	case KEY_LEFT:
		return TERMINAL_LEFT;
	case KEY_RIGHT:
		return TERMINAL_RIGHT;
	default:
		return key < 256 ? key : TERMINAL_OTHER;
	}
}

/* SPDX-License-Identifier: GPL-2.0 */
/* A terminal that shows a screen and has keys. */
#ifndef FULLSTRIPE_TERMINAL_H
#define FULLSTRIPE_TERMINAL_H

#include "lib/screen.h"

enum terminal_key {
	TERMINAL_NONE = -1,	/* otherwise a character, or: */
	TERMINAL_UP = 256,
	TERMINAL_DOWN,
	TERMINAL_LEFT,
	TERMINAL_RIGHT,
	TERMINAL_OTHER,
};

int terminal_open(void);
void terminal_close(void);
void terminal_size(unsigned int *rows, unsigned int *columns);
void terminal_resize(void);
void terminal_show(const struct screen *screen);
int terminal_key(void);

#endif

// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "clock.h"
#include "progress.h"

/* It is told after a while, as most things are over by then, and not again at once. */
#define INTERVAL_NS	500000000ull

/**
 * progress_begin() - something begins that may take long
 * @p: its progress
 */
void progress_begin(struct progress *p)
{
	*p = (struct progress) { .tells = isatty(STDERR_FILENO), .told_at = clock_now_ns() };
}

/**
 * progress_tell() - tell how far it has come, in the place of what was told before
 * @p: its progress
 * @format: as for printf()
 *
 * May be called as often as one likes.
 */
void progress_tell(struct progress *p, const char *format, ...)
{
	uint64_t time;
	va_list args;

	if (!p->tells)
		return;
	time = clock_now_ns();
	if (time - p->told_at < INTERVAL_NS)
		return;
	fputs("\r\033[K", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	p->told_at = time;
	p->told = true;
}

/**
 * progress_end() - it is over: the line is empty again
 * @p: its progress
 */
void progress_end(struct progress *p)
{
	if (p->told)
		fputs("\r\033[K", stderr);
	p->told = false;
}

/* SPDX-License-Identifier: GPL-2.0 */
/* How far something has come that takes long: told to a terminal on standard error, and to nobody else. */
#ifndef FULLSTRIPE_PROGRESS_H
#define FULLSTRIPE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/macros.h"

/**
 * struct progress - begun by progress_begin(), ended by progress_end()
 * @tells: there is a terminal
 * @told: something stands there
 * @told_at: when it was begun, or told last
 */
struct progress {
	bool tells, told;
	uint64_t told_at;
};

void progress_begin(struct progress *p);
void progress_tell(struct progress *p, const char *format, ...) __printf(2, 3);
void progress_end(struct progress *p);

#endif

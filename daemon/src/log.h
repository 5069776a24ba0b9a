/* SPDX-License-Identifier: GPL-2.0 */
/* What a person is told, on standard error, with the program's name before it. */
#ifndef FULLSTRIPE_LOG_H
#define FULLSTRIPE_LOG_H

#include "lib/macros.h"

int log_errno(int error, const char *format, ...) __printf(2, 3);
void log_warning(const char *format, ...) __printf(1, 2);

#endif

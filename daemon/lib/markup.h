/* SPDX-License-Identifier: GPL-2.0 */
/* Text of SVG and HTML. What is put into it is escaped, whatever it holds. */
#ifndef FULLSTRIPE_MARKUP_H
#define FULLSTRIPE_MARKUP_H

#include <glib.h>

#include "macros.h"

void markup_add(GString *out, const char *format, ...) __printf(2, 3);
char *markup_text(const char *text);

#endif

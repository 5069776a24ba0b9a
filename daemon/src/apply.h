/* SPDX-License-Identifier: GPL-2.0 */
/* A plan into attributes: all of it or nothing. */
#ifndef FULLSTRIPE_APPLY_H
#define FULLSTRIPE_APPLY_H

#include "lib/rule.h"

int apply_plan(const char *folder, const struct plan *plan);

#endif

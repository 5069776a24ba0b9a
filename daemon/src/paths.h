/* SPDX-License-Identifier: GPL-2.0 */
/* Where files are that are known by their numbers only. */
#ifndef FULLSTRIPE_PATHS_H
#define FULLSTRIPE_PATHS_H

#include "lib/view.h"

int paths_find(struct file_view *files, size_t n);

#endif

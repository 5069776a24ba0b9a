/* SPDX-License-Identifier: GPL-2.0 */
/* The C library's errno.h comes by here too. */
#include_next <linux/errno.h>

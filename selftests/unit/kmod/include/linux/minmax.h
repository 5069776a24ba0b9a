/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_MINMAX_H
#define SHIM_MINMAX_H

#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min_t(type, a, b) min((type)(a), (type)(b))
#define max_t(type, a, b) max((type)(a), (type)(b))

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_MATH64_H
#define SHIM_MATH64_H

#include <linux/types.h>

#define DIV64_U64_ROUND_UP(a, b) (((a) + (b) - 1) / (b))

static inline u64 div_u64_rem(u64 dividend, u32 divisor, u32 *rest)
{
	*rest = dividend % divisor;
	return dividend / divisor;
}

static inline u64 div64_u64_rem(u64 dividend, u64 divisor, u64 *rest)
{
	*rest = dividend % divisor;
	return dividend / divisor;
}

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* The little of the kernel's headers that the module's pure files use, in user space. */
#ifndef SHIM_TYPES_H
#define SHIM_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef int64_t s64;
typedef unsigned long long u64;

#define U64_MAX (~0ULL)

#endif

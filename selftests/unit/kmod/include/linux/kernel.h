/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_KERNEL_H
#define SHIM_KERNEL_H

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* As the kernel's: digits only (one leading plus and one trailing newline pass). */
static inline int kstrtou64(const char *text, unsigned int base, u64 *value)
{
	unsigned long long parsed;
	char *end;

	if (*text == '+')
		text++;
	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	parsed = strtoull(text, &end, base);
	if (errno == ERANGE)
		return -ERANGE;
	if (*end == '\n')
		end++;
	if (*end)
		return -EINVAL;
	*value = parsed;
	return 0;
}

#endif

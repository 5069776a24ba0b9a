/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel's headers would give. */
#ifndef FULLSTRIPE_MACROS_H
#define FULLSTRIPE_MACROS_H

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#endif
#ifndef MIN
#define MIN(a, b)		((a) < (b) ? (a) : (b))
#endif
/* What the kernel counts in, in bytes, whatever the disk has. */
#define SECTOR			512
#ifndef MAX
#define MAX(a, b)		((a) > (b) ? (a) : (b))
#endif
#define __printf(fmt, args)	__attribute__((format(printf, fmt, args)))

#endif

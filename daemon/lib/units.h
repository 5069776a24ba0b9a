/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers, sizes and rates as people write them. KiB, MiB, GiB, TiB and the bare letters
 * K, M, G, T (either case) are powers of 1024; kB, MB, GB, TB are powers of
 * 1000, as IEC 80000-13 has them. A rate may end in "/s".
 */
#ifndef FULLSTRIPE_UNITS_H
#define FULLSTRIPE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define UNITS_TEXT	32
#define UNITS_SETTING	64

int units_parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *ret);
int units_parse_size(const char *text, uint64_t *ret);
int units_parse_rate(const char *text, uint64_t *ret);
const char *units_format_size(uint64_t bytes, char text[static UNITS_TEXT]);
const char *units_format_rate(uint64_t bytes_per_second, char text[static UNITS_TEXT]);
const char *units_format_setting(const char *name, uint64_t value,
				 char text[static UNITS_SETTING]);

#endif

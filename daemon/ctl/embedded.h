/* SPDX-License-Identifier: GPL-2.0 */
/* Files that the linker puts into the program as they are. No text ends with a zero byte. */
#ifndef FULLSTRIPE_EMBEDDED_H
#define FULLSTRIPE_EMBEDDED_H

#define EMBEDDED(name)		\
	extern const char _binary_##name##_start[], _binary_##name##_end[]

#define EMBEDDED_LEN(name)	(_binary_##name##_end - _binary_##name##_start)
#define EMBEDDED_TEXT(name)	g_strndup(_binary_##name##_start, EMBEDDED_LEN(name))

EMBEDDED(chart_css);
EMBEDDED(report_html);

#endif

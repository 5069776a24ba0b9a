/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What each fuzz_*.c has: libFuzzer calls it with bytes that it makes up, and which it changes so
 * that they reach code that none before them reached. What must hold for all of them is checked
 * here; the sanitizers and the limit of memory do the rest.
 */
#ifndef FULLSTRIPE_FUZZ_H
#define FULLSTRIPE_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define check(condition)	\
	((condition) ? (void)0 : (fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, \
					  __LINE__, #condition), abort()))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes as a text, so that reading beyond them is seen. To be freed. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);

	check(text);
	return text;
}

#endif

// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>

#include "output.h"

/**
 * output_flush() - write what was printed
 *
 * Return: 0, or a negative errno if it, or something before it, could not be written.
 */
int output_flush(void)
{
	if (fflush(stdout) == EOF)
		return -errno;
	if (!ferror(stdout))
		return 0;
	/* What is known is only that it failed before. Trying again tells why. */
	return putchar('\n') == EOF || fflush(stdout) == EOF ? -errno : -EIO;
}

/* SPDX-License-Identifier: GPL-2.0 */
/* Standard output, which may be a file on a full disk. main says so when the program ends. */
#ifndef FULLSTRIPE_OUTPUT_H
#define FULLSTRIPE_OUTPUT_H

int output_flush(void);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Values of options. What is no such value ends the program, with a message and exit status 2. */
#ifndef FULLSTRIPE_OPTION_H
#define FULLSTRIPE_OPTION_H

#include <argp.h>
#include <stdint.h>

/* How often something may be done. */
#define OPTION_SECONDS_LEAST	0.1
#define OPTION_SECONDS_MOST	3600.0

uint64_t option_number(const char *option, const char *text, uint64_t least, uint64_t most,
		       const struct argp_state *state);
uint64_t option_size(const char *option, const char *text, const struct argp_state *state);
uint64_t option_bounded_size(const char *option, const char *text, const struct argp_state *state);
uint64_t option_seconds(const char *option, const char *text, const struct argp_state *state);
uint32_t option_device(const char *text, const struct argp_state *state);
void option_no_files(const struct argp_state *state);

#endif

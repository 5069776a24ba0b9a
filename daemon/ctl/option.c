// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/trace.h"
#include "lib/units.h"
#include "option.h"

/**
 * option_number() - a number
 * @option: the option's name
 * @text: its value
 * @least: the smallest that it may be
 * @most: the largest that it may be
 * @state: of the parser
 */
uint64_t option_number(const char *option, const char *text, uint64_t least, uint64_t most,
		       const struct argp_state *state)
{
	uint64_t value = 0;

	if (units_parse_number(text, least, most, &value) < 0)
		argp_error(state, "--%s '%s': a number from %llu to %llu", option, text,
			   (unsigned long long)least, (unsigned long long)most);
	return value;
}

/**
 * option_size() - a size
 * @option: the option's name
 * @text: its value
 * @state: of the parser
 */
uint64_t option_size(const char *option, const char *text, const struct argp_state *state)
{
	uint64_t value = 0;
	int r = units_parse_size(text, &value);

	if (r < 0)
		argp_error(state, "--%s '%s': %s", option, text, r == -ERANGE ?
			   "too large" : "a size, as 131072, 128KiB or 128k");
	return value;
}

/**
 * option_bounded_size() - a size that sums can be done with
 * @option: the option's name
 * @text: its value
 * @state: of the parser
 */
uint64_t option_bounded_size(const char *option, const char *text, const struct argp_state *state)
{
	uint64_t value = 0;

	if (units_parse_size(text, &value) < 0 || value >= 1ull << 50)
		argp_error(state, "--%s '%s': a size below 1024 TiB, as 131072, 128KiB or 128k",
			   option, text);
	return value;
}

/**
 * option_seconds() - how often something is done
 * @option: the option's name
 * @text: its value
 * @state: of the parser
 *
 * Return: microseconds.
 */
uint64_t option_seconds(const char *option, const char *text, const struct argp_state *state)
{
	double seconds;
	char *end;

	seconds = strtod(text, &end);
	if (end == text || *end || !isfinite(seconds) || seconds < OPTION_SECONDS_LEAST ||
	    seconds > OPTION_SECONDS_MOST)
		argp_error(state, "--%s=%s: seconds are a number from %.1f to %.0f", option, text,
			   OPTION_SECONDS_LEAST, OPTION_SECONDS_MOST);
	return (uint64_t)(seconds * 1e6);
}

/**
 * option_device() - the value of --device, as events have it
 * @text: the value
 * @state: of the parser
 */
uint32_t option_device(const char *text, const struct argp_state *state)
{
	uint32_t device = 0;

	if (!trace_device_parse(text, &device))
		argp_error(state, "--device '%s': two numbers, as 254:0", text);
	return device;
}

/**
 * option_no_files() - no recordings were named
 * @state: of the parser
 */
void option_no_files(const struct argp_state *state)
{
	argp_error(state, "which files? Those that blktrace or fullstripectl plan --record made, as *.blktrace.*");
}

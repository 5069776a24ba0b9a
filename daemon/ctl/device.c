// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <time.h>

#include "device.h"
#include "src/store.h"

enum {
	OPTION_JSON = 512,
	OPTION_STATE_DIR,
	OPTION_FORCE,
};

const struct argp_option device_change_options[] = {
	{ "force", OPTION_FORCE, NULL, 0, "Also change what somebody else set since", 0 },
	{ "json", OPTION_JSON, NULL, 0, "Print JSON", 0 },
	{ "state-dir", OPTION_STATE_DIR, "DIR", 0,
	  "Where what is known of devices is kept (default " STORE_FOLDER ")", 0 },
	{ 0 },
};

/**
 * device_parse_option() - the parser of the verbs about one device
 * @key: of the option
 * @arg: its value
 * @state: of argp; the input is a struct device_options
 */
error_t device_parse_option(int key, char *arg, struct argp_state *state)
{
	struct device_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		o->state_folder = store_default_path();
		return 0;
	case OPTION_JSON:
		o->json = true;
		return 0;
	case OPTION_STATE_DIR:
		o->state_folder = arg;
		return 0;
	case OPTION_FORCE:
		o->force = true;
		return 0;
	case ARGP_KEY_ARG:
		if (o->device)
			argp_error(state, "one device at a time, and '%s' is a second one", arg);
		o->device = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which device? See fullstripectl list");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/**
 * device_print_changes() - what was changed, for people
 * @t: the changes
 */
void device_print_changes(const struct transaction *t)
{
	for (size_t i = 0; i < t->n; i++)
		printf("%s %llu -> %llu: %s\n", t->changes[i].name,
		       (unsigned long long)t->changes[i].old,
		       (unsigned long long)t->changes[i].new, t->changes[i].reason);
}

/**
 * device_time() - "2026-11-22 01:02:03"
 * @time: seconds since 1970
 * @text: where it goes
 *
 * Return: @text.
 */
const char *device_time(unsigned long long time, char text[static DEVICE_TIME])
{
	time_t t = time;
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(text, DEVICE_TIME, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(text, DEVICE_TIME, "@%llu", time);
	return text;
}

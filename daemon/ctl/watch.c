// SPDX-License-Identifier: GPL-2.0
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "option.h"
#include "output.h"
#include "src/cleanup.h"
#include "src/log.h"
#include "src/loop.h"
#include "watch.h"

DEFINE_CLEANUP(struct link *, link_close)

#define INTERVAL_US	1000000

enum {
	OPTION_JSON = 256,
	OPTION_WATCH,
};

static const struct argp_option option_list[] = {
	{ "json", OPTION_JSON, NULL, 0, "Print JSON", 0 },
	{ "watch", OPTION_WATCH, "SECONDS", OPTION_ARG_OPTIONAL,
	  "Show it again every so many seconds (default 1), until Ctrl-C", 0 },
	{ 0 },
};

/**
 * struct parsing - what argp fills in
 * @watch: what was asked for
 * @device: what it was called
 */
struct parsing {
	struct watch *watch;
	const char *device;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct parsing *p = state->input;

	switch (key) {
	case OPTION_JSON:
		p->watch->json = true;
		return 0;
	case OPTION_WATCH:
		p->watch->interval_us = arg ? option_seconds("watch", arg, state) : INTERVAL_US;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num > 0)
			argp_error(state, "'%s' is one argument too many", arg);
		p->device = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/**
 * watch_parse() - read the arguments of a verb
 * @watch: what was asked for
 * @doc: what the verb does
 * @argc: number of arguments
 * @argv: arguments
 *
 * Ends the program where they are wrong.
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int watch_parse(struct watch *watch, const char *doc, int argc, char **argv)
{
	const struct argp parser = {
		.options = option_list, .parser = parse_option, .args_doc = "[DEV]", .doc = doc,
	};
	struct parsing p = { .watch = watch };
	struct block_device device;
	int r;

	*watch = (struct watch) { 0 };
	argp_parse(&parser, argc, argv, 0, NULL, &p);
	if (!p.device)
		return 0;
	r = block_device_find(p.device, &device);
	if (r == 0)
		snprintf(watch->disk, sizeof(watch->disk), "%s", device.name);
	return r;
}

/**
 * watch_disk() - the device that was asked for
 * @watch: what was asked for
 *
 * Return: its name in /sys/block, or NULL for all of them.
 */
const char *watch_disk(const struct watch *watch)
{
	return *watch->disk ? watch->disk : NULL;
}

/**
 * watch_device_name() - what people call a device
 * @disk: as in /sys/block
 * @ret: its device-mapper name, or @disk if that cannot be found
 */
void watch_device_name(const char *disk, char ret[static TARGET_NAME])
{
	if (sysfs_read_text(ret, TARGET_NAME, SYSFS_ROOT "/block/%s/dm/name", disk) < 0)
		snprintf(ret, TARGET_NAME, "%s", disk);
}

/**
 * struct showing - what is shown again and again
 * @link: the connection
 * @watch: what was asked for
 * @show: shows it once
 */
struct showing {
	struct link *link;
	const struct watch *watch;
	int (*show)(struct link *link, const struct watch *watch);
};

static int show(const struct showing *s)
{
	/* Home, and all that is below it cleared: no flicker as of a cleared screen. */
	static const char redraw[] = "\033[H\033[J";
	int r, written;

	if (!s->watch->json && isatty(STDOUT_FILENO))
		fputs(redraw, stdout);
	r = s->show(s->link, s->watch);
	written = output_flush();
	return r < 0 || written == -EPIPE ? r : written;
}

static int on_time(sd_event_source *source, uint64_t now, void *data)
{
	struct showing *s = data;
	int r = show(s);

	if (r < 0)
		return sd_event_exit(sd_event_source_get_event(source), r);
	r = sd_event_source_set_time(source, now + s->watch->interval_us);
	return r < 0 ? r : sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int show_again(struct showing *s)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	int r;

	r = loop_new(&event, NULL);
	if (r >= 0)
		r = sd_event_add_time(event, NULL, CLOCK_MONOTONIC, 0, 0, on_time, s);
	return r < 0 ? log_errno(r, "event loop") : sd_event_loop(event);
}

/**
 * watch_run() - show what was asked for
 * @watch: what was asked for
 * @show_once: shows it; returns 0, or a negative errno which it has logged
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int watch_run(const struct watch *watch, int (*show_once)(struct link *link, const struct watch *watch))
{
	_cleanup_(link_closep) struct link *link = NULL;
	struct showing s = { .watch = watch, .show = show_once };
	int r;

	r = link_open(&link);
	if (r < 0)
		return r;
	s.link = link;
	return watch->interval_us ? show_again(&s) : show_once(link, watch);
}

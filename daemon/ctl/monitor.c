// SPDX-License-Identifier: GPL-2.0
/* fullstripectl monitor: what happens to the devices, as it happens. */
#include <argp.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#include "ctl.h"
#include "lib/exit_codes.h"
#include "lib/view.h"
#include "output.h"
#include "src/cleanup.h"
#include "src/link.h"
#include "src/log.h"
#include "src/loop.h"
#include "src/paths.h"

DEFINE_CLEANUP(struct json_object *, json_object_put)
DEFINE_CLEANUP(struct link *, link_close)

enum {
	OPTION_JSON = 256,
};

static const struct argp_option option_list[] = {
	{ "json", OPTION_JSON, NULL, 0, "Print a line of JSON for each event", 0 },
	{ 0 },
};

/**
 * struct monitor - who watches
 * @link: the connection
 * @json: print JSON
 */
struct monitor {
	struct link *link;
	bool json;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct monitor *monitor = state->input;

	switch (key) {
	case OPTION_JSON:
		monitor->json = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is one argument too many", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
	.options = option_list,
	.parser = parse_option,
	.doc = "Print what happens to the fullstripe devices: files that are held and go on, writes that fail, stripes that change. Until Ctrl-C.",
};

static int print_json(const struct event_view *event)
{
	_cleanup_(json_object_putp) struct json_object *o = view_event_json(event);

	puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_NOSLASHESCAPE));
	return 0;
}

static int print_text(const struct event_view *event)
{
	_cleanup_free_ char *text = view_event(event);

	if (!text)
		return -ENOMEM;
	puts(text);
	return 0;
}

static int print_event(const struct event_view *event, void *data)
{
	const struct monitor *monitor = data;
	struct event_view e = *event;
	int r = 0;

	if (e.event == EVENT_THROTTLE_START || e.event == EVENT_THROTTLE_STOP)
		r = paths_find(&e.file, 1);
	if (r == 0)
		r = monitor->json ? print_json(&e) : print_text(&e);
	free(e.file.path);
	return r;
}

static int on_event(sd_event_source *source, int fd, uint32_t revents, void *data)
{
	struct monitor *monitor = data;
	int r = link_receive(monitor->link, print_event, monitor);
	int written = output_flush();

	(void)fd;
	(void)revents;
	if (written < 0 && written != -EPIPE)
		return sd_event_exit(sd_event_source_get_event(source), written);
	if (r == -ENOBUFS) {
		log_warning("some events were lost: they came faster than they could be printed");
		return 0;
	}
	if (r < 0)
		return sd_event_exit(sd_event_source_get_event(source), log_errno(r, "events"));
	return 0;
}

static int watch_events(struct monitor *monitor, int fd)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	int r;

	r = loop_new(&event, NULL);
	if (r >= 0)
		r = sd_event_add_io(event, NULL, fd, EPOLLIN, on_event, monitor);
	return r < 0 ? log_errno(r, "event loop") : sd_event_loop(event);
}

int verb_monitor(int argc, char **argv)
{
	_cleanup_(link_closep) struct link *link = NULL;
	struct monitor monitor = { 0 };
	int fd;

	argp_parse(&parser, argc, argv, 0, NULL, &monitor);
	if (link_open(&link) < 0 || link_listen(link, &fd) < 0)
		return EXIT_FAILED;
	monitor.link = link;
	return watch_events(&monitor, fd) < 0 ? EXIT_FAILED : EXIT_DONE;
}

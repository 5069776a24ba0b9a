// SPDX-License-Identifier: GPL-2.0
/* fullstripectl top: what the devices do now. */
#include <argp.h>
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ctl.h"
#include "lib/exit_codes.h"
#include "lib/render.h"
#include "lib/top.h"
#include "option.h"
#include "output.h"
#include "src/cleanup.h"
#include "src/readings.h"
#include "src/link.h"
#include "src/log.h"
#include "src/loop.h"
#include "src/paths.h"
#include "src/target.h"
#include "terminal.h"

DEFINE_CLEANUP(struct json_object *, json_object_put)
DEFINE_CLEANUP(struct link *, link_close)

#define INTERVAL_US	1000000
/* Where nobody says how wide it is. */
#define COLUMNS		120

enum {
	OPTION_JSON = 256,
	OPTION_ONCE,
	OPTION_INTERVAL,
	OPTION_SORT,
};

/**
 * struct top - what is looked at
 * @only: this device, as in /sys/block; empty: all
 * @json: print JSON
 * @once: and end
 * @interval_us: from one reading to the next
 * @sort: what devices are sorted by
 * @reverse: in the opposite order
 * @paused: nothing is read
 * @on_terminal: a terminal was taken over
 * @selected: the device that is looked at, as in /sys/block
 * @timer: when the next reading is due
 * @readings: the newest, in any order
 * @devices: what they do, as many as @readings, in their order
 * @n: how many
 * @files: those with something outstanding, their paths to be freed
 * @n_files: how many
 * @streams: of reads
 * @n_streams: how many
 * @no_lists: why there are none; or NULL
 */
struct top {
	char only[SYSFS_NAME];
	bool json;
	bool once;
	uint64_t interval_us;
	enum top_sort sort;
	bool reverse;
	bool paused;
	bool on_terminal;
	char selected[VIEW_DISK];
	sd_event_source *timer;
	struct top_reading *readings;
	struct top_device *devices;
	size_t n;
	struct file_view *files;
	size_t n_files;
	struct stream_view *streams;
	size_t n_streams;
	const char *no_lists;
};

/*
 * Reading
 */

static void free_lists(struct top *top)
{
	view_free_files(top->files, top->n_files);
	free(top->streams);
	top->files = NULL;
	top->streams = NULL;
	top->n_files = 0;
	top->n_streams = 0;
}

static void free_top(struct top *top)
{
	free_lists(top);
	free(top->readings);
	free(top->devices);
	sd_event_source_unref(top->timer);
}

/* Who may not have them is told once. */
static void read_lists(struct top *top)
{
	_cleanup_(link_closep) struct link *link = NULL;
	const char *only = *top->only ? top->only : NULL;
	int r;

	free_lists(top);
	if (!top->n || top->no_lists)
		return;
	r = link_open(&link);
	if (r == 0)
		r = link_list_files(link, only, &top->files, &top->n_files);
	if (r == 0)
		r = link_list_streams(link, only, &top->streams, &top->n_streams);
	/* A device that is no longer there has none. */
	if (r == 0 || r == -ENODEV)
		r = paths_find(top->files, top->n_files);
	if (r == -EPERM || r == -EACCES)
		top->no_lists = "Files and streams are shown to who has CAP_NET_ADMIN, such as root.";
	else if (r < 0)
		top->no_lists = "Files and streams cannot be listed.";
	if (r < 0)
		free_lists(top);
	top_sort_files(top->files, top->n_files);
	top_sort_streams(top->streams, top->n_streams);
}

static const struct top_reading *find_before(const struct top *top, const char *disk)
{
	for (size_t i = 0; i < top->n; i++)
		if (strcmp(top->readings[i].disk, disk) == 0)
			return &top->readings[i];
	return NULL;
}

static int read_devices(struct top *top)
{
	_cleanup_free_ struct top_reading *readings = NULL;
	struct top_device *devices;
	size_t n;
	int r;

	r = readings_read_all(SYSFS_ROOT, *top->only ? top->only : NULL, &readings, &n);
	if (r < 0)
		return log_errno(r, SYSFS_ROOT "/block: the counters cannot be read");
	devices = calloc(n ?: 1, sizeof(*devices));
	if (!devices)
		return log_errno(ENOMEM, "top");
	for (size_t i = 0; i < n; i++)
		top_compute(find_before(top, readings[i].disk), &readings[i], &devices[i]);
	free(top->readings);
	free(top->devices);
	top->readings = readings;
	top->devices = devices;
	top->n = n;
	readings = NULL;
	read_lists(top);
	return 0;
}

/*
 * Showing
 */

/* The device that was selected, wherever it is now. */
static size_t selected(const struct top *top)
{
	for (size_t i = 0; i < top->n; i++)
		if (strcmp(top->devices[i].now.disk, top->selected) == 0)
			return i;
	return 0;
}

static struct top_view view_of(const struct top *top)
{
	top_sort(top->devices, top->n, top->sort, top->reverse);
	return (struct top_view) {
		.devices = top->devices, .n_devices = top->n,
		.files = top->files, .n_files = top->n_files,
		.streams = top->streams, .n_streams = top->n_streams,
		.no_lists = top->no_lists,
		.seconds = (double)top->interval_us / 1e6,
		.sort = top->sort, .reverse = top->reverse, .paused = top->paused,
		.selected = selected(top), .keys = top->on_terminal,
	};
}

static int show_terminal(const struct top_view *view)
{
	_cleanup_free_ struct screen *screen = NULL;
	unsigned int rows, columns;

	terminal_size(&rows, &columns);
	screen = screen_new(rows, columns);
	if (!screen)
		return -ENOMEM;
	top_draw(screen, view);
	terminal_show(screen);
	return 0;
}

static unsigned int text_columns(void)
{
	const char *said = getenv("COLUMNS");
	struct winsize size;
	int n = said ? atoi(said) : 0;

	if (n > 0 && n <= 1000)
		return n;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	return COLUMNS;
}

static int show_text(const struct top_view *view)
{
	_cleanup_free_ struct screen *screen = screen_new(top_rows(view), text_columns());
	unsigned int empty = 0;

	if (!screen)
		return -ENOMEM;
	top_draw(screen, view);
	for (unsigned int i = 0; i < screen->rows; i++) {
		_cleanup_free_ char *row = screen_row(screen, i);

		if (!row)
			return -ENOMEM;
		if (!*row) {
			empty++;
			continue;
		}
		for (; empty; empty--)
			putchar('\n');
		puts(row);
	}
	return 0;
}

static int show_json(const struct top_view *view)
{
	_cleanup_(json_object_putp) struct json_object *o = top_json(view);

	puts(render_text(o));
	return 0;
}

static int show(struct top *top)
{
	struct top_view view = view_of(top);
	int r;

	if (top->on_terminal)
		return show_terminal(&view);
	r = top->json ? show_json(&view) : show_text(&view);
	if (!top->json && !top->once)
		putchar('\n');
	return r < 0 ? log_errno(r, "top") : output_flush();
}

/*
 * Events
 */

static int on_time(sd_event_source *source, uint64_t now, void *data)
{
	struct top *top = data;
	int r = 0;

	if (!top->paused) {
		r = read_devices(top);
		if (r >= 0)
			r = show(top);
	}
	if (r < 0 || top->once)
		return sd_event_exit(sd_event_source_get_event(source), r);
	r = sd_event_source_set_time(source, now + top->interval_us);
	return r < 0 ? r : sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int on_resize(sd_event_source *source, const struct signalfd_siginfo *info, void *data)
{
	(void)source;
	(void)info;
	terminal_resize();
	return show(data);
}

static void select_next(struct top *top, int step)
{
	size_t at = selected(top);

	if (!top->n || (step < 0 && at == 0))
		return;
	at = MIN(at + step, top->n - 1);
	memcpy(top->selected, top->devices[at].now.disk, sizeof(top->selected));
}

static void set_interval(struct top *top, double seconds)
{
	uint64_t now;

	if (seconds < OPTION_SECONDS_LEAST || seconds > OPTION_SECONDS_MOST)
		return;
	top->interval_us = (uint64_t)(seconds * 1e6);
	sd_event_now(sd_event_source_get_event(top->timer), CLOCK_MONOTONIC, &now);
	sd_event_source_set_time(top->timer, now + top->interval_us);
}

/* Return: whether it goes on. */
static bool take_key(struct top *top, int key)
{
	switch (key) {
	case 'q':
	case 'Q':
		return false;
	case ' ':
	case 'p':
		top->paused = !top->paused;
		break;
	case '<':
	case TERMINAL_LEFT:
		top->sort = (top->sort + N_TOP_SORTS - 1) % N_TOP_SORTS;
		break;
	case '>':
	case 's':
	case TERMINAL_RIGHT:
		top->sort = (top->sort + 1) % N_TOP_SORTS;
		break;
	case 'r':
		top->reverse = !top->reverse;
		break;
	case 'k':
	case TERMINAL_UP:
		select_next(top, -1);
		break;
	case 'j':
	case TERMINAL_DOWN:
		select_next(top, 1);
		break;
	case '+':
		set_interval(top, (double)top->interval_us / 1e6 * 2);
		break;
	case '-':
		set_interval(top, (double)top->interval_us / 1e6 / 2);
		break;
	default:
		break;
	}
	return true;
}

static int on_key(sd_event_source *source, int fd, uint32_t revents, void *data)
{
	struct top *top = data;
	int key;

	(void)fd;
	while ((key = terminal_key()) != TERMINAL_NONE)
		if (!take_key(top, key))
			return sd_event_exit(sd_event_source_get_event(source), 0);
	/* The terminal is gone. */
	if (revents & (EPOLLHUP | EPOLLERR))
		return sd_event_exit(sd_event_source_get_event(source), 0);
	return show(top);
}

static int add_terminal(sd_event *event, struct top *top)
{
	int r;

	r = loop_add_signal(event, SIGWINCH, on_resize, top);
	if (r >= 0)
		r = sd_event_add_io(event, NULL, STDIN_FILENO, EPOLLIN, on_key, top);
	return r;
}

static int run(struct top *top)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	uint64_t now;
	int r;

	r = loop_new(&event, NULL);
	if (r >= 0 && top->on_terminal)
		r = add_terminal(event, top);
	if (r >= 0)
		r = sd_event_now(event, CLOCK_MONOTONIC, &now);
	if (r >= 0)
		r = sd_event_add_time(event, &top->timer, CLOCK_MONOTONIC,
				      now + top->interval_us, 1000, on_time, top);
	if (r >= 0 && top->on_terminal)
		r = show(top);
	return r < 0 ? log_errno(r, "event loop") : sd_event_loop(event);
}

/*
 * The command line
 */

static const struct argp_option option_list[] = {
	{ "once", OPTION_ONCE, NULL, 0, "Print it once, as text, after one interval", 0 },
	{ "interval", OPTION_INTERVAL, "SECONDS", 0, "From one reading to the next (default 1)", 0 },
	{ "sort", OPTION_SORT, "KEY", 0,
	  "Sort by name, read, write (default), full, pre-reads, staged, flush, held or streams", 0 },
	{ "json", OPTION_JSON, NULL, 0, "Print JSON, each interval or once", 0 },
	{ 0 },
};

struct parsing {
	struct top *top;
	const char *device;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct parsing *p = state->input;

	switch (key) {
	case OPTION_ONCE:
		p->top->once = true;
		return 0;
	case OPTION_INTERVAL:
		p->top->interval_us = option_seconds("interval", arg, state);
		return 0;
	case OPTION_SORT:
		if (top_sort_parse(arg, &p->top->sort) < 0)
			argp_error(state, "--sort '%s': a key is name, read, write, full, pre-reads, staged, flush, held or streams",
				   arg);
		return 0;
	case OPTION_JSON:
		p->top->json = true;
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

static const struct argp parser = {
	.options = option_list,
	.parser = parse_option,
	.args_doc = "[DEV]",
	.doc = "Show what the fullstripe devices, or DEV, do now: until q or Ctrl-C. Where no terminal is, or one that cannot move its cursor, it is printed again and again.",
};

static int find_device(struct top *top, const char *name)
{
	struct block_device device;
	struct target target;
	int r;

	r = block_device_find(name, &device);
	if (r == 0)
		r = target_find(&device, &target);
	if (r == 0)
		memcpy(top->only, device.name, sizeof(top->only));
	return r;
}

int verb_top(int argc, char **argv)
{
	_cleanup_(free_top) struct top top = { .interval_us = INTERVAL_US, .sort = TOP_BY_WRITE };
	struct parsing p = { .top = &top };
	int r;

	argp_parse(&parser, argc, argv, 0, NULL, &p);
	/* Paths may have any characters. */
	setlocale(LC_CTYPE, "");
	if (p.device && find_device(&top, p.device) < 0)
		return EXIT_FAILED;
	/* Before the terminal is taken over: it says what cannot be had. */
	if (read_devices(&top) < 0)
		return EXIT_FAILED;
	top.on_terminal = !top.once && !top.json && terminal_open() == 0;
	r = run(&top);
	if (top.on_terminal)
		terminal_close();
	return r < 0 ? EXIT_FAILED : EXIT_DONE;
}

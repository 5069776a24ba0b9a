// SPDX-License-Identifier: GPL-2.0
/* fullstriped: watch fullstripe devices, and set them for their workloads, or advise. */
#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-device.h>
#include <systemd/sd-event.h>
#include <time.h>

#include "bus.h"
#include "cleanup.h"
#include "clock.h"
#include "config_files.h"
#include "lib/exit_codes.h"
#include "lib/macros.h"
#include "log.h"
#include "loop.h"
#include "metrics_file.h"
#include "store.h"
#include "sysfs.h"
#include "watch.h"

/* More than anybody has; others are said, and not watched. */
#define WATCHES_MAX	64

/* As often as anybody asks node_exporter for them, about. */
#define METRICS_USEC	15000000ull

const char *argp_program_version = "fullstriped " FULLSTRIPE_VERSION;

struct options {
	const char *root;
	const char *state_folder;
};

enum {
	OPTION_ROOT = 256,
	OPTION_STATE_DIR,
};

static const struct argp_option option_list[] = {
	{ "root", OPTION_ROOT, "DIR", 0, "Look for the configuration's folders in DIR", 0 },
	{ "state-dir", OPTION_STATE_DIR, "DIR", 0,
	  "Where what is known of devices is kept (default " STORE_FOLDER ")", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case OPTION_ROOT:
		o->root = arg;
		return 0;
	case OPTION_STATE_DIR:
		o->state_folder = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s': all fullstripe devices are watched; to set one now: fullstripectl apply",
			   arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
	.options = option_list,
	.parser = parse_option,
	.doc = "Watch the workloads of all fullstripe devices, and say what they should be set to, or set them so.\vIt is meant to be a service: systemctl start fullstriped. SIGHUP: read the configuration again. It is controlled by D-Bus: fullstripectl daemon. Exit status: 0 ended by SIGTERM or SIGINT, 1 failed, 2 wrong usage, 78 the configuration is wrong. See fullstriped(8).",
};

/**
 * struct daemon - all there is
 * @context: for the watches
 * @root: of the configuration
 * @bus: by which it is controlled
 * @monitor: tells of devices; the timer finds those too of which nobody tells
 * @timer: of that
 * @metrics_timer: the next time that metrics are written
 * @n: watches
 * @watches: one for each device
 */
struct daemon {
	struct watch_context context;
	const char *root;
	struct bus *bus;
	sd_device_monitor *monitor;
	sd_event_source *timer;
	sd_event_source *metrics_timer;
	size_t n;
	struct watch *watches[WATCHES_MAX];
};

static int write_metrics(const struct daemon *d)
{
	_cleanup_free_ struct metrics_device *devices = calloc(d->n + 1, sizeof(*devices));
	struct metrics m = {
		.version = FULLSTRIPE_VERSION,
		.apply = d->context.config.apply,
		.devices = devices,
	};

	if (!devices)
		return log_errno(ENOMEM, "%s", d->context.config.metrics_file);
	for (size_t i = 0; i < d->n; i++)
		if (metrics_read_device(SYSFS_ROOT, watch_name(d->watches[i]),
					watch_metrics(d->watches[i]), &devices[m.n]) == 0)
			m.n++;
	return metrics_write(d->context.config.metrics_file, &m);
}

/* What failed was logged, and is tried again less often. */
static int on_metrics(sd_event_source *source, uint64_t usec, void *data)
{
	struct daemon *d = data;
	uint64_t next = METRICS_USEC;
	int r;

	(void)usec;
	if (!d->context.config.metrics_file[0])
		return sd_event_source_set_enabled(source, SD_EVENT_OFF);
	if (write_metrics(d) < 0)
		next = d->context.config.interval_seconds * 1000000;
	r = sd_event_source_set_time_relative(source, next);
	return r < 0 ? r : sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static void remove_metrics(const struct daemon *d)
{
	if (d->context.config.metrics_file[0])
		metrics_remove(d->context.config.metrics_file);
}

static void tell_status(const struct daemon *d)
{
	sd_notifyf(0, "STATUS=%zu %s watched, mode %s", d->n, d->n == 1 ? "device" : "devices",
		   config_mode_name(d->context.config.apply));
}

static void drop_gone(struct daemon *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++) {
		if (watch_is_there(d->watches[i])) {
			d->watches[n++] = d->watches[i];
			continue;
		}
		bus_remove_watch(d->bus, d->watches[i]);
		watch_free(d->watches[i]);
	}
	d->n = n;
}

static bool is_watched(const struct daemon *d, const char *name)
{
	for (size_t i = 0; i < d->n; i++)
		if (watch_is_of(d->watches[i], name))
			return true;
	return false;
}

static bool is_target(const char *name)
{
	uint64_t stripe;

	return sysfs_read_number(&stripe, SYSFS_ROOT "/block/%s/fullstripe/stripe_bytes", name) == 0;
}

/* Which devices there are now. What cannot be watched was logged, and is tried again later. */
static void look_for_devices(struct daemon *d)
{
	_cleanup_closedir_ DIR *dir = opendir(SYSFS_ROOT "/block");
	struct dirent *entry;

	drop_gone(d);
	if (!dir) {
		log_errno(errno, SYSFS_ROOT "/block");
		return;
	}
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || is_watched(d, entry->d_name) ||
		    !is_target(entry->d_name))
			continue;
		if (d->n == WATCHES_MAX) {
			log_warning("%s: not watched, as %d devices are", entry->d_name, WATCHES_MAX);
			break;
		}
		if (watch_new(&d->context, entry->d_name, &d->watches[d->n]) == 0)
			bus_add_watch(d->bus, d->watches[d->n++]);
	}
	tell_status(d);
}

static int on_device(sd_device_monitor *monitor, sd_device *device, void *data)
{
	(void)monitor;
	(void)device;
	look_for_devices(data);
	return 0;
}

static int wait_interval(struct daemon *d)
{
	int r = sd_event_source_set_time_relative(d->timer,
						  d->context.config.interval_seconds * 1000000);

	return r < 0 ? r : sd_event_source_set_enabled(d->timer, SD_EVENT_ONESHOT);
}

static int on_interval(sd_event_source *source, uint64_t usec, void *data)
{
	struct daemon *d = data;

	(void)source;
	(void)usec;
	look_for_devices(d);
	return wait_interval(d);
}

static int on_end(sd_event_source *source, const struct signalfd_siginfo *info, void *data)
{
	(void)info;
	(void)data;
	sd_notify(0, "STOPPING=1");
	return sd_event_exit(sd_event_source_get_event(source), 0);
}

static void set_config(void *data, const struct config *c)
{
	struct daemon *d = data;

	if (strcmp(c->metrics_file, d->context.config.metrics_file) != 0)
		remove_metrics(d);
	d->context.config = *c;
	tell_status(d);
	bus_tell_mode(d->bus);
	on_metrics(d->metrics_timer, 0, d);
	wait_interval(d);
}

static int reload(void *data)
{
	struct daemon *d = data;
	struct config c;
	int r;

	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu",
		   (unsigned long long)(clock_now_ns() / 1000));
	r = config_read(d->root, &c);
	if (r < 0)
		log_warning("the configuration that was read before stays in force");
	else
		set_config(d, &c);
	sd_notify(0, "READY=1");
	return r;
}

static int on_reload(sd_event_source *source, const struct signalfd_siginfo *info, void *data)
{
	(void)source;
	(void)info;
	reload(data);
	return 0;
}

static void on_changed(void *data, const struct watch *w)
{
	struct daemon *d = data;

	bus_tell_watch(d->bus, w);
}

static int watch_for_devices(struct daemon *d)
{
	int r;

	r = sd_device_monitor_new(&d->monitor);
	if (r >= 0)
		r = sd_device_monitor_filter_add_match_subsystem_devtype(d->monitor, "block", "disk");
	if (r >= 0)
		r = sd_device_monitor_attach_event(d->monitor, d->context.event);
	if (r >= 0)
		r = sd_device_monitor_start(d->monitor, on_device, d);
	return r;
}

static int set_up(struct daemon *d)
{
	sd_event *event;
	int r;

	r = loop_new(&d->context.event, on_end);
	if (r < 0)
		return log_errno(r, "the event loop");
	event = d->context.event;
	r = loop_add_signal(event, SIGHUP, on_reload, d);
	if (r >= 0)
		r = sd_event_set_watchdog(event, true);
	if (r >= 0)
		r = sd_event_add_time_relative(event, &d->timer, CLOCK_MONOTONIC,
					       d->context.config.interval_seconds * 1000000, 0,
					       on_interval, d);
	if (r >= 0)
		r = sd_event_add_time_relative(event, &d->metrics_timer, CLOCK_MONOTONIC, 0, 0,
					       on_metrics, d);
	if (r >= 0)
		r = watch_for_devices(d);
	if (r >= 0)
		r = bus_new(event, &(struct bus_daemon) {
			.version = FULLSTRIPE_VERSION,
			.config = &d->context.config,
			.reload = reload,
			.set_config = set_config,
			.data = d,
		}, &d->bus);
	return r < 0 ? log_errno(r, "the event loop") : 0;
}

static void tear_down(struct daemon *d)
{
	remove_metrics(d);
	bus_free(d->bus);
	while (d->n > 0)
		watch_free(d->watches[--d->n]);
	sd_device_monitor_unref(d->monitor);
	sd_event_source_unref(d->timer);
	sd_event_source_unref(d->metrics_timer);
	sd_event_unref(d->context.event);
}

int main(int argc, char **argv)
{
	struct options o = { .root = "", .state_folder = store_default_path() };
	struct daemon d = { .n = 0 };
	int r;

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&parser, argc, argv, 0, NULL, &o);
	d.root = o.root;
	d.context.state_folder = o.state_folder;
	d.context.changed = on_changed;
	d.context.data = &d;
	if (config_read(o.root, &d.context.config) < 0)
		return EXIT_CONFIG_WRONG;
	r = set_up(&d);
	if (r == 0) {
		look_for_devices(&d);
		sd_notify(0, "READY=1");
		r = sd_event_loop(d.context.event);
	}
	tear_down(&d);
	return r < 0 ? EXIT_FAILED : EXIT_DONE;
}

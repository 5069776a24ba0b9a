// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "capture.h"
#include "cleanup.h"
#include "clock.h"
#include "lib/blktrace_format.h"
#include "lib/merge.h"
#include "log.h"
#include "owner.h"
#include "sysfs.h"

#define DEBUGFS		"/sys/kernel/debug"

/*
 * Per CPU: what 100 000 events a second need in 0.4 s, of 48 bytes each (a few carry data besides,
 * as a split and a remap do). One buffer is given back only when all of it was read, so it may be
 * 0.3 s: three times CAPTURE_POLL_USEC.
 */
#define BUFFER_BYTES	(512u << 10)
#define BUFFERS		4

/* A record carries the time at which it was begun, and is readable some moments later. */
#define SETTLE_NS	20000000ull

/*
 * Who is killed leaves his trace, which is in the way of all others. So ours say whose they are:
 * as the last sector to be traced, beyond all sectors that there are, and the process. (Of a
 * partition that would be the whole disk; none is traced here.)
 */
#define OWNER_MARK	0x6673000000000000ull

/* One CPU's relay file, and the file that a copy of it goes to. */
struct relay {
	unsigned int cpu;
	int fd;
	int copy_fd;
};

struct capture {
	char *node;
	char name[64];
	int device_fd;
	int dropped_fd;
	bool set_up;
	uint64_t began;
	size_t n_relays;
	struct relay *relays;
	struct merge *merge;
};

static int write_all(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len > 0) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		len -= n;
	}
	return 0;
}

static ssize_t fill_from_relay(void *source, void *space, size_t room)
{
	const struct relay *relay = source;
	ssize_t n = read(relay->fd, space, room);

	if (n < 0)
		return -errno;
	if (n == 0)
		return -EAGAIN;
	if (relay->copy_fd >= 0) {
		int r = write_all(relay->copy_fd, space, n);

		if (r < 0)
			return r;
	}
	return n;
}

static bool has_debugfs(void)
{
	struct statfs fs;

	return statfs(DEBUGFS, &fs) == 0 && (unsigned long)fs.f_type == DEBUGFS_MAGIC;
}

static int set_up_v1(struct capture *c)
{
	struct blktrace_setup_v1 setup = {
		.act_mask = 0xffff,
		.buf_size = BUFFER_BYTES,
		.buf_nr = BUFFERS,
		.end_lba = OWNER_MARK | getpid(),
	};

	if (ioctl(c->device_fd, BLKTRACE_IOC_SETUP_V1, &setup) < 0)
		return -errno;
	snprintf(c->name, sizeof(c->name), "%.*s", (int)sizeof(setup.name), setup.name);
	return 0;
}

/*
 * Where v2 exists it must be used: v1 loses every event with the FUA bit there,
 * without counting it.
 */
static int set_up_v2(struct capture *c)
{
	struct blktrace_setup_v2 setup = {
		.act_mask = 0xffff,
		.buf_size = BUFFER_BYTES,
		.buf_nr = BUFFERS,
		.end_lba = OWNER_MARK | getpid(),
	};

	if (ioctl(c->device_fd, BLKTRACE_IOC_SETUP_V2, &setup) < 0)
		return -errno;
	snprintf(c->name, sizeof(c->name), "%.*s", (int)sizeof(setup.name) - 1, setup.name);
	return 0;
}

/* Whether the device is traced by a process of ours that is no more. */
static bool is_stale(const struct capture *c)
{
	struct stat device;
	uint64_t mark;

	if (fstat(c->device_fd, &device) < 0 ||
	    sysfs_read_number(&mark, "/sys/dev/block/%u:%u/trace/end_lba", major(device.st_rdev),
			      minor(device.st_rdev)) != 0 ||
	    (mark & ~(uint64_t)UINT32_MAX) != OWNER_MARK)
		return false;
	return owner_is_gone((pid_t)(uint32_t)mark);
}

/* Return: 0 or a negative errno, which has been logged unless it is an obstacle. */
static int set_up(struct capture *c, enum obstacle *obstacle)
{
	int r;

	if (is_stale(c)) {
		ioctl(c->device_fd, BLKTRACE_IOC_STOP);
		if (ioctl(c->device_fd, BLKTRACE_IOC_TEARDOWN) == 0)
			log_warning("%s: the trace that an earlier process left is taken down",
				    c->node);
	}
	r = set_up_v2(c);
	/* Where it does not exist some drivers, as loop, have an errno of their own. */
	if (r == -ENOTTY || r == -EINVAL)
		r = set_up_v1(c);
	c->set_up = r == 0;
	switch (r) {
	case 0:
		return 0;
	case -EBUSY:
		*obstacle = OBSTACLE_BUSY;
		return r;
	case -ENOTTY:
		*obstacle = OBSTACLE_NO_BLKTRACE;
		return r;
	default:
		return log_errno(r, "%s cannot be traced", c->node);
	}
}

static int open_debugfs(const struct capture *c, const char *file)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), DEBUGFS "/block/%s/%s", c->name, file);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

static int open_relay(const struct capture *c, unsigned int cpu)
{
	char file[32];

	snprintf(file, sizeof(file), "trace%u", cpu);
	return open_debugfs(c, file);
}

static int open_copy(const struct capture *c, unsigned int cpu, const char *folder)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s.blktrace.%u", folder, c->name, cpu);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	return fd < 0 ? log_errno(errno, "%s cannot be written", path) : fd;
}

static int add_relay(struct capture *c, unsigned int cpu, int fd, const char *record_folder)
{
	struct relay *relays = reallocarray(c->relays, c->n_relays + 1, sizeof(*relays));

	if (!relays) {
		close(fd);
		return log_errno(ENOMEM, "%s", c->node);
	}
	c->relays = relays;
	c->relays[c->n_relays++] = (struct relay) { .cpu = cpu, .fd = fd, .copy_fd = -1 };
	if (record_folder) {
		int copy = open_copy(c, cpu, record_folder);

		if (copy < 0)
			return copy;
		c->relays[c->n_relays - 1].copy_fd = copy;
	}
	return 0;
}

/* There is a file for each CPU that is there; their numbers may have gaps. */
static int open_relays(struct capture *c, const char *record_folder, enum obstacle *obstacle)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (long cpu = 0; cpu < cpus; cpu++) {
		int fd = open_relay(c, cpu), r;

		if (fd == -ENOENT)
			continue;
		if (fd == -EPERM) {
			*obstacle = OBSTACLE_LOCKED_DOWN;
			return fd;
		}
		if (fd < 0)
			return log_errno(fd, DEBUGFS "/block/%s/trace%ld", c->name, cpu);
		r = add_relay(c, cpu, fd, record_folder);
		if (r < 0)
			return r;
	}
	c->dropped_fd = open_debugfs(c, "dropped");
	if (c->dropped_fd < 0)
		return log_errno(c->dropped_fd, DEBUGFS "/block/%s/dropped", c->name);
	if (c->n_relays == 0)
		return log_errno(ENOENT, DEBUGFS "/block/%s has no trace files", c->name);
	return 0;
}

static int build_merge(struct capture *c)
{
	int r = merge_new(fill_from_relay, &c->merge);

	for (size_t i = 0; i < c->n_relays && r == 0; i++)
		r = merge_add(c->merge, &c->relays[i]);
	return r < 0 ? log_errno(r, "%s", c->node) : 0;
}

/* The folder that we opened files in is still the one of that name. */
static bool still_ours(const struct capture *c)
{
	struct stat opened, found;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), DEBUGFS "/block/%s/dropped", c->name);
	return fstat(c->dropped_fd, &opened) == 0 && stat(path, &found) == 0 &&
	       opened.st_ino == found.st_ino;
}

/* Not held open while it is traced, as who wants to take the device away would be refused. */
static int reopen(struct capture *c)
{
	if (c->device_fd < 0)
		c->device_fd = open(c->node, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return c->device_fd < 0 ? -errno : 0;
}

static void let_go(struct capture *c)
{
	close(c->device_fd);
	c->device_fd = -1;
}

static void tear_down(struct capture *c)
{
	c->set_up = false;
	if (ioctl(c->device_fd, BLKTRACE_IOC_TEARDOWN) < 0)
		log_errno(errno, "the trace of %s cannot be taken down", c->node);
}

/**
 * capture_start() - trace a device
 * @node: its device node
 * @record_folder: where to keep the raw records too, as blktrace does; or NULL
 * @ret: the capture
 * @ret_obstacle: what is in the way of a trace of this device now; OBSTACLE_NONE if nothing is
 *
 * Return: 0 or a negative errno, which has been logged unless there is an obstacle.
 */
int capture_start(const char *node, const char *record_folder, struct capture **ret,
		  enum obstacle *ret_obstacle)
{
	struct capture *c;
	int r;

	*ret_obstacle = OBSTACLE_NONE;
	if (!has_debugfs()) {
		*ret_obstacle = OBSTACLE_NO_DEBUGFS;
		return -ENODEV;
	}
	if (record_folder && mkdir(record_folder, 0755) < 0 && errno != EEXIST)
		return log_errno(errno, "%s cannot be made", record_folder);
	c = calloc(1, sizeof(*c));
	if (!c)
		return log_errno(ENOMEM, "%s", node);
	c->dropped_fd = -1;
	c->device_fd = open(node, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	c->node = strdup(node);
	if (c->device_fd < 0 || !c->node) {
		r = log_errno(c->node ? errno : ENOMEM, "%s", node);
		capture_free(c);
		return r;
	}

	r = set_up(c, ret_obstacle);
	if (r < 0) {
		capture_free(c);
		return r;
	}
	r = open_relays(c, record_folder, ret_obstacle);
	if (r == 0)
		r = build_merge(c);
	c->began = clock_now_ns();
	if (r == 0 && ioctl(c->device_fd, BLKTRACE_IOC_START) < 0)
		r = log_errno(errno, "the trace of %s cannot be started", node);
	if (r < 0) {
		capture_free(c);
		return r;
	}
	let_go(c);
	*ret = c;
	return 0;
}

/**
 * capture_log_obstacle() - say that a device cannot be traced, where nothing else will do
 * @node: its device node
 * @obstacle: what is in the way
 * @error: as capture_start() gave it
 *
 * Return: @error.
 */
int capture_log_obstacle(const char *node, enum obstacle obstacle, int error)
{
	return log_errno(error, "%s cannot be traced: %s; %s", node, obstacle_reason(obstacle),
			 obstacle_remedy(obstacle));
}

static int give_out(struct capture *c, uint64_t until, trace_event_fn take, void *data)
{
	const struct trace_event *event;
	int r;

	while ((r = merge_next(c->merge, until, &event)) > 0) {
		r = take(data, event);
		if (r < 0)
			break;
	}
	return r < 0 ? log_errno(r, "the trace of %s cannot be read", c->node) : 0;
}

/**
 * capture_poll() - give out what has been recorded
 * @c: the capture
 * @take: takes each event, in the order of time
 * @data: handed to @take
 *
 * Return: 0 or a negative errno, which has been logged: -ECANCELED if somebody else
 * ended the trace.
 */
int capture_poll(struct capture *c, trace_event_fn take, void *data)
{
	uint64_t now = clock_now_ns();

	if (!still_ours(c))
		return log_errno(ECANCELED, "the trace of %s was taken down by somebody else",
				 c->node);
	return give_out(c, now > SETTLE_NS ? now - SETTLE_NS : 0, take, data);
}

static bool has_relay(const struct capture *c, unsigned int cpu)
{
	for (size_t i = 0; i < c->n_relays; i++)
		if (c->relays[i].cpu == cpu)
			return true;
	return false;
}

/* A CPU that came meanwhile has a file that nobody reads: what it recorded is lost, and known to be. */
static uint64_t count_unread(const struct capture *c)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t bytes = 0;

	for (long cpu = 0; cpu < cpus; cpu++) {
		_cleanup_close_ int fd = -1;
		char rest[4096];
		ssize_t n;

		if (has_relay(c, cpu))
			continue;
		fd = open_relay(c, cpu);
		while (fd >= 0 && (n = read(fd, rest, sizeof(rest))) > 0)
			bytes += n;
	}
	return bytes / sizeof(struct blktrace_record_v1);
}

/* v1 tells of losses by the kernel's counter alone, v2 by gaps in the sequence as well. */
static uint64_t count_lost(const struct capture *c)
{
	uint64_t dropped = 0, gaps = 0;
	int r;

	r = sysfs_read_number(&dropped, DEBUGFS "/block/%s/dropped", c->name);
	if (r < 0)
		log_errno(r, DEBUGFS "/block/%s/dropped", c->name);
	for (size_t i = 0; i < c->n_relays; i++)
		gaps += merge_decoder(c->merge, i)->lost;
	return (dropped > gaps ? dropped : gaps) + count_unread(c);
}

/**
 * capture_stop() - end the trace and give out the rest
 * @c: the capture
 * @take: takes each event, in the order of time
 * @data: handed to @take
 * @ret: how much was recorded
 *
 * Return: as capture_poll(), and -ECANCELED if somebody else had stopped the trace.
 */
int capture_stop(struct capture *c, trace_event_fn take, void *data, struct capture_extent *ret)
{
	int stopped = 0, r;

	if (!still_ours(c))
		return log_errno(ECANCELED, "the trace of %s was taken down by somebody else",
				 c->node);
	r = reopen(c);
	if (r < 0)
		return log_errno(r, "%s", c->node);
	if (ioctl(c->device_fd, BLKTRACE_IOC_STOP) < 0)
		stopped = log_errno(errno == EINVAL ? ECANCELED : errno,
				    "the trace of %s was stopped by somebody else", c->node);
	ret->ns = clock_now_ns() - c->began;
	r = give_out(c, UINT64_MAX, take, data);
	ret->lost = count_lost(c);
	tear_down(c);
	return r < 0 ? r : stopped;
}

/**
 * capture_free() - free a capture
 * @c: the capture or NULL; if it was not stopped, its trace ends without being read out
 *
 * Return: NULL.
 */
struct capture *capture_free(struct capture *c)
{
	if (!c)
		return NULL;
	if (c->set_up && (c->dropped_fd < 0 || still_ours(c)) && reopen(c) == 0) {
		ioctl(c->device_fd, BLKTRACE_IOC_STOP);
		tear_down(c);
	}
	merge_free(c->merge);
	for (size_t i = 0; i < c->n_relays; i++) {
		close(c->relays[i].fd);
		if (c->relays[i].copy_fd >= 0)
			close(c->relays[i].copy_fd);
	}
	free(c->relays);
	if (c->dropped_fd >= 0)
		close(c->dropped_fd);
	if (c->device_fd >= 0)
		close(c->device_fd);
	free(c->node);
	free(c);
	return NULL;
}

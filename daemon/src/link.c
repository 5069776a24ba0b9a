// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/dm-fullstripe.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "lib/macros.h"
#include "link.h"
#include "log.h"

DEFINE_CLEANUP(struct nl_msg *, nlmsg_free)

/* A message's buffer: lists fill as much as their reader takes. */
#define BUFFER_BYTES	32768

/* Events that have arrived and were not read yet. */
#define EVENTS_BYTES	(1 << 20)

/**
 * struct link - a connection to the module
 * @socket: of generic netlink
 * @family: the number that the module's family has
 */
struct link {
	struct nl_sock *socket;
	int family;
};

/* libnl has numbers of its own, which lose the errno of some. */
static int to_errno(int nle)
{
	switch (-nle) {
	case NLE_SUCCESS:
		return 0;
	case NLE_PERM:
		return -EPERM;
	case NLE_NOACCESS:
		return -EACCES;
	case NLE_NOMEM:
		return -ENOMEM;
	case NLE_OBJ_NOTFOUND:
		return -ENOENT;
	case NLE_NODEV:
		return -ENODEV;
	case NLE_AGAIN:
		return -EAGAIN;
	case NLE_BUSY:
		return -EBUSY;
	case NLE_OPNOTSUPP:
		return -EOPNOTSUPP;
	default:
		return -EIO;
	}
}

/**
 * link_close() - the opposite of link_open()
 * @link: the connection, or NULL
 */
void link_close(struct link *link)
{
	if (!link)
		return;
	nl_socket_free(link->socket);
	free(link);
}

DEFINE_CLEANUP(struct link *, link_close)

/**
 * link_open() - connect to the module
 * @ret: the connection
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int link_open(struct link **ret)
{
	_cleanup_(link_closep) struct link *link = calloc(1, sizeof(*link));
	int r;

	if (!link)
		return log_errno(ENOMEM, "netlink");
	link->socket = nl_socket_alloc();
	if (!link->socket)
		return log_errno(ENOMEM, "netlink");
	r = genl_connect(link->socket);
	if (r < 0)
		return log_errno(to_errno(r), "generic netlink is out of reach (%s)",
				 nl_geterror(r));
	nl_socket_set_msg_buf_size(link->socket, BUFFER_BYTES);
	link->family = genl_ctrl_resolve(link->socket, DM_FULLSTRIPE_FAMILY_NAME);
	if (link->family < 0)
		return log_errno(ENOENT, "the kernel does not have the netlink family "
				 DM_FULLSTRIPE_FAMILY_NAME ": is the module dm-fullstripe loaded?");
	*ret = link;
	link = NULL;
	return 0;
}

/*
 * Messages
 */

static uint32_t get_u32(struct nlattr **attrs, int which)
{
	return attrs[which] ? nla_get_u32(attrs[which]) : 0;
}

static uint64_t get_u64(struct nlattr **attrs, int which)
{
	return attrs[which] ? nla_get_u64(attrs[which]) : 0;
}

static void get_disk(struct nlattr **attrs, char disk[static VIEW_DISK])
{
	struct nlattr *a = attrs[DM_FULLSTRIPE_A_DEVICE_DISK];

	snprintf(disk, VIEW_DISK, "%s", a ? nla_get_string(a) : "?");
}

#define NUMBER32	{ .type = NLA_U32 }
#define NUMBER64	{ .type = NLA_U64 }
#define TEXT		{ .type = NLA_STRING, .maxlen = VIEW_DISK }

static struct nla_policy file_policy[DM_FULLSTRIPE_A_FILE_MAX + 1] = {
	[DM_FULLSTRIPE_A_FILE_DISK] = TEXT,
	[DM_FULLSTRIPE_A_FILE_TGID] = NUMBER32,
	[DM_FULLSTRIPE_A_FILE_INODE] = NUMBER64,
	[DM_FULLSTRIPE_A_FILE_GENERATION] = NUMBER32,
	[DM_FULLSTRIPE_A_FILE_FS_MAJOR] = NUMBER32,
	[DM_FULLSTRIPE_A_FILE_FS_MINOR] = NUMBER32,
	[DM_FULLSTRIPE_A_FILE_OUTSTANDING_BYTES] = NUMBER64,
	[DM_FULLSTRIPE_A_FILE_STAGED_BYTES] = NUMBER64,
	[DM_FULLSTRIPE_A_FILE_PARKED] = NUMBER32,
	[DM_FULLSTRIPE_A_FILE_PARKED_BYTES] = NUMBER64,
	[DM_FULLSTRIPE_A_FILE_TIMES_HELD] = NUMBER32,
	[DM_FULLSTRIPE_A_FILE_WAIT_US] = NUMBER64,
	[DM_FULLSTRIPE_A_FILE_LONGEST_WAIT_US] = NUMBER64,
};

static int parse_file(struct nlmsghdr *header, void *data)
{
	struct nlattr *attrs[DM_FULLSTRIPE_A_FILE_MAX + 1];
	struct file_view *ret = data;

	if (genlmsg_parse(header, 0, attrs, DM_FULLSTRIPE_A_FILE_MAX, file_policy) < 0)
		return -EBADMSG;
	*ret = (struct file_view) {
		.tgid = get_u32(attrs, DM_FULLSTRIPE_A_FILE_TGID),
		.inode = get_u64(attrs, DM_FULLSTRIPE_A_FILE_INODE),
		.generation = get_u32(attrs, DM_FULLSTRIPE_A_FILE_GENERATION),
		.fs_major = get_u32(attrs, DM_FULLSTRIPE_A_FILE_FS_MAJOR),
		.fs_minor = get_u32(attrs, DM_FULLSTRIPE_A_FILE_FS_MINOR),
		.outstanding = get_u64(attrs, DM_FULLSTRIPE_A_FILE_OUTSTANDING_BYTES),
		.staged = get_u64(attrs, DM_FULLSTRIPE_A_FILE_STAGED_BYTES),
		.held = attrs[DM_FULLSTRIPE_A_FILE_HELD],
		.over_mark = attrs[DM_FULLSTRIPE_A_FILE_OVER_MARK],
		.parked = get_u32(attrs, DM_FULLSTRIPE_A_FILE_PARKED),
		.parked_bytes = get_u64(attrs, DM_FULLSTRIPE_A_FILE_PARKED_BYTES),
		.times_held = get_u32(attrs, DM_FULLSTRIPE_A_FILE_TIMES_HELD),
		.wait_us = get_u64(attrs, DM_FULLSTRIPE_A_FILE_WAIT_US),
		.longest_wait_us = get_u64(attrs, DM_FULLSTRIPE_A_FILE_LONGEST_WAIT_US),
	};
	get_disk(attrs, ret->disk);
	return 0;
}

static struct nla_policy stream_policy[DM_FULLSTRIPE_A_STREAM_MAX + 1] = {
	[DM_FULLSTRIPE_A_STREAM_DISK] = TEXT,
	[DM_FULLSTRIPE_A_STREAM_POSITION_BYTES] = NUMBER64,
	[DM_FULLSTRIPE_A_STREAM_DIRECTION] = NUMBER32,
	[DM_FULLSTRIPE_A_STREAM_STRIDE_BYTES] = NUMBER64,
	[DM_FULLSTRIPE_A_STREAM_RUN_BYTES] = NUMBER64,
	[DM_FULLSTRIPE_A_STREAM_DEGREE] = NUMBER32,
	[DM_FULLSTRIPE_A_STREAM_TRIGGER] = NUMBER32,
	[DM_FULLSTRIPE_A_STREAM_AHEAD_BYTES] = NUMBER64,
	[DM_FULLSTRIPE_A_STREAM_READ_BYTES] = NUMBER64,
	[DM_FULLSTRIPE_A_STREAM_IDLE_MS] = NUMBER32,
};

static int parse_stream(struct nlmsghdr *header, void *data)
{
	struct nlattr *attrs[DM_FULLSTRIPE_A_STREAM_MAX + 1];
	struct stream_view *ret = data;

	if (genlmsg_parse(header, 0, attrs, DM_FULLSTRIPE_A_STREAM_MAX, stream_policy) < 0)
		return -EBADMSG;
	*ret = (struct stream_view) {
		.position = get_u64(attrs, DM_FULLSTRIPE_A_STREAM_POSITION_BYTES),
		.direction = get_u32(attrs, DM_FULLSTRIPE_A_STREAM_DIRECTION),
		.stride = (int64_t)get_u64(attrs, DM_FULLSTRIPE_A_STREAM_STRIDE_BYTES),
		.run = get_u64(attrs, DM_FULLSTRIPE_A_STREAM_RUN_BYTES),
		.degree = get_u32(attrs, DM_FULLSTRIPE_A_STREAM_DEGREE),
		.trigger = get_u32(attrs, DM_FULLSTRIPE_A_STREAM_TRIGGER),
		.ahead = get_u64(attrs, DM_FULLSTRIPE_A_STREAM_AHEAD_BYTES),
		.read = get_u64(attrs, DM_FULLSTRIPE_A_STREAM_READ_BYTES),
		.idle_ms = get_u32(attrs, DM_FULLSTRIPE_A_STREAM_IDLE_MS),
	};
	get_disk(attrs, ret->disk);
	return 0;
}

static struct nla_policy failure_policy[DM_FULLSTRIPE_A_FAILURE_MAX + 1] = {
	[DM_FULLSTRIPE_A_FAILURE_DISK] = TEXT,
	[DM_FULLSTRIPE_A_FAILURE_SECTOR] = NUMBER64,
	[DM_FULLSTRIPE_A_FAILURE_SECTORS] = NUMBER32,
	[DM_FULLSTRIPE_A_FAILURE_DIRTY_SECTORS] = NUMBER32,
	[DM_FULLSTRIPE_A_FAILURE_ERROR] = NUMBER32,
};

static int parse_failure(struct nlmsghdr *header, struct event_view *ret)
{
	struct nlattr *attrs[DM_FULLSTRIPE_A_FAILURE_MAX + 1];

	if (genlmsg_parse(header, 0, attrs, DM_FULLSTRIPE_A_FAILURE_MAX, failure_policy) < 0)
		return -EBADMSG;
	ret->sector = get_u64(attrs, DM_FULLSTRIPE_A_FAILURE_SECTOR);
	ret->sectors = get_u32(attrs, DM_FULLSTRIPE_A_FAILURE_SECTORS);
	ret->dirty_sectors = get_u32(attrs, DM_FULLSTRIPE_A_FAILURE_DIRTY_SECTORS);
	ret->error = get_u32(attrs, DM_FULLSTRIPE_A_FAILURE_ERROR);
	get_disk(attrs, ret->disk);
	return 0;
}

static struct nla_policy device_policy[DM_FULLSTRIPE_A_DEVICE_MAX + 1] = {
	[DM_FULLSTRIPE_A_DEVICE_DISK] = TEXT,
	[DM_FULLSTRIPE_A_DEVICE_STRIPE_BYTES] = NUMBER64,
	[DM_FULLSTRIPE_A_DEVICE_CHUNK_BYTES] = NUMBER64,
	[DM_FULLSTRIPE_A_DEVICE_DATA_MEMBERS] = NUMBER32,
};

static int parse_geometry(struct nlmsghdr *header, struct event_view *ret)
{
	struct nlattr *attrs[DM_FULLSTRIPE_A_DEVICE_MAX + 1];

	if (genlmsg_parse(header, 0, attrs, DM_FULLSTRIPE_A_DEVICE_MAX, device_policy) < 0)
		return -EBADMSG;
	ret->stripe_bytes = get_u64(attrs, DM_FULLSTRIPE_A_DEVICE_STRIPE_BYTES);
	ret->chunk_bytes = get_u64(attrs, DM_FULLSTRIPE_A_DEVICE_CHUNK_BYTES);
	ret->data_members = get_u32(attrs, DM_FULLSTRIPE_A_DEVICE_DATA_MEMBERS);
	get_disk(attrs, ret->disk);
	return 0;
}

static int parse_throttle(struct nlmsghdr *header, struct event_view *ret)
{
	int r = parse_file(header, &ret->file);

	snprintf(ret->disk, sizeof(ret->disk), "%s", ret->file.disk);
	return r;
}

/* -ENOMSG: it is none that is known here. */
static int parse_event(struct nlmsghdr *header, struct event_view *ret)
{
	static const struct {
		uint8_t command;
		enum view_event event;
		int (*parse)(struct nlmsghdr *header, struct event_view *ret);
	} known[] = {
		{ DM_FULLSTRIPE_CMD_THROTTLE_START_NTF, EVENT_THROTTLE_START, parse_throttle },
		{ DM_FULLSTRIPE_CMD_THROTTLE_STOP_NTF, EVENT_THROTTLE_STOP, parse_throttle },
		{ DM_FULLSTRIPE_CMD_WRITE_ERROR_NTF, EVENT_WRITE_ERROR, parse_failure },
		{ DM_FULLSTRIPE_CMD_WRITE_RECOVERED_NTF, EVENT_WRITE_RECOVERED, parse_failure },
		{ DM_FULLSTRIPE_CMD_GEOMETRY_NTF, EVENT_GEOMETRY, parse_geometry },
	};
	uint8_t command = genlmsg_hdr(header)->cmd;

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (known[i].command != command)
			continue;
		*ret = (struct event_view) { .event = known[i].event };
		return known[i].parse(header, ret);
	}
	return -ENOMSG;
}

/*
 * Lists
 */

/**
 * struct listing - a list that is being read
 * @parse: of a message
 * @size: of an entry
 * @entries: of what @parse makes, one after the other
 * @n: how many
 * @r: what went wrong first
 */
struct listing {
	int (*parse)(struct nlmsghdr *header, void *ret);
	size_t size;
	void *entries;
	size_t n;
	int r;
};

static int take_entry(struct nl_msg *message, void *data)
{
	struct listing *listing = data;
	void *more = reallocarray(listing->entries, listing->n + 1, listing->size);
	int r = -ENOMEM;

	if (more) {
		listing->entries = more;
		r = listing->parse(nlmsg_hdr(message), more + listing->n * listing->size);
	}
	if (r == 0)
		listing->n++;
	if (r < 0 && listing->r == 0)
		listing->r = r;
	/* To the end, even so: what is left would be taken for the next list's. */
	return NL_OK;
}

/* A list that fails has its errno in its last message, where libnl does not look. */
static int take_end(struct nl_msg *message, void *data)
{
	struct listing *listing = data;
	struct nlmsghdr *header = nlmsg_hdr(message);
	int error = 0;

	if (nlmsg_datalen(header) >= (int)sizeof(error))
		memcpy(&error, nlmsg_data(header), sizeof(error));
	if (error < 0 && listing->r == 0)
		listing->r = error;
	return NL_STOP;
}

static int request(struct link *link, uint8_t command, const char *disk)
{
	_cleanup_(nlmsg_freep) struct nl_msg *message = nlmsg_alloc();

	if (!message || !genlmsg_put(message, NL_AUTO_PORT, NL_AUTO_SEQ, link->family, 0,
				     NLM_F_DUMP, command, DM_FULLSTRIPE_FAMILY_VERSION))
		return -NLE_NOMEM;
	if (disk && nla_put_string(message, DM_FULLSTRIPE_A_DEVICE_DISK, disk) < 0)
		return -NLE_NOMEM;
	return nl_send_auto(link->socket, message);
}

static int log_list(int r, const char *disk)
{
	if (r == -EPERM || r == -EACCES)
		return log_errno(r, "what others write and read is shown to who has CAP_NET_ADMIN, such as root");
	if (r == -ENODEV && disk)
		return log_errno(r, "%s is no fullstripe device that is active", disk);
	if (r < 0)
		return log_errno(r, "what the module lists cannot be read");
	return 0;
}

/* What has gone wrong was logged, and there is no list then. */
static int read_list(struct link *link, uint8_t command, const char *disk,
		     struct listing *listing)
{
	int r;

	nl_socket_modify_cb(link->socket, NL_CB_VALID, NL_CB_CUSTOM, take_entry, listing);
	nl_socket_modify_cb(link->socket, NL_CB_FINISH, NL_CB_CUSTOM, take_end, listing);
	r = request(link, command, disk);
	if (r >= 0)
		r = nl_recvmsgs_default(link->socket);
	/* A device came or went: all that is listed is right even so. */
	r = r < 0 && r != -NLE_DUMP_INTR ? to_errno(r) : listing->r;
	if (r < 0)
		free(listing->entries);
	return log_list(r, disk);
}

/**
 * link_list_files() - the files that have something outstanding, or were held
 * @link: the connection
 * @disk: only of this device, as in /sys/block; NULL: of all
 * @ret: the files, for view_free_files()
 * @ret_n: how many
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int link_list_files(struct link *link, const char *disk, struct file_view **ret, size_t *ret_n)
{
	struct listing listing = { .parse = parse_file, .size = sizeof(**ret) };
	int r = read_list(link, DM_FULLSTRIPE_CMD_FILE_GET, disk, &listing);

	if (r < 0)
		return r;
	*ret = listing.entries;
	*ret_n = listing.n;
	return 0;
}

/**
 * link_list_streams() - the streams of reads
 * @link: the connection
 * @disk: only of this device, as in /sys/block; NULL: of all
 * @ret: the streams, to be freed
 * @ret_n: how many
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int link_list_streams(struct link *link, const char *disk, struct stream_view **ret, size_t *ret_n)
{
	struct listing listing = { .parse = parse_stream, .size = sizeof(**ret) };
	int r = read_list(link, DM_FULLSTRIPE_CMD_STREAM_GET, disk, &listing);

	if (r < 0)
		return r;
	*ret = listing.entries;
	*ret_n = listing.n;
	return 0;
}

/*
 * Events
 */

/**
 * struct listener - who is told of an event
 * @fn: what is called
 * @data: its argument
 * @r: what it said
 */
struct listener {
	link_event_fn fn;
	void *data;
	int r;
};

static int take_event(struct nl_msg *message, void *data)
{
	struct listener *listener = data;
	struct event_view event;
	int r = parse_event(nlmsg_hdr(message), &event);

	/* A newer module may have others. */
	if (r == 0)
		r = listener->fn(&event, listener->data);
	if (r < 0 && r != -ENOMSG && listener->r == 0)
		listener->r = r;
	return NL_OK;
}

/* Events answer nothing, so they have no sequence. */
static int take_any_sequence(struct nl_msg *message, void *data)
{
	(void)message;
	(void)data;
	return NL_OK;
}

/**
 * link_listen() - have events sent
 * @link: the connection; for events alone from now on
 * @ret_fd: becomes readable when there are some; @link's
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int link_listen(struct link *link, int *ret_fd)
{
	int group = genl_ctrl_resolve_grp(link->socket, DM_FULLSTRIPE_FAMILY_NAME,
					  DM_FULLSTRIPE_MCGRP_EVENTS);
	int r;

	if (group < 0)
		return log_errno(to_errno(group), "the module has no events");
	nl_socket_disable_seq_check(link->socket);
	nl_socket_modify_cb(link->socket, NL_CB_SEQ_CHECK, NL_CB_CUSTOM, take_any_sequence, NULL);
	r = nl_socket_add_membership(link->socket, group);
	if (r < 0)
		return log_list(to_errno(r), NULL);
	nl_socket_set_buffer_size(link->socket, EVENTS_BYTES, 0);
	nl_socket_set_nonblocking(link->socket);
	*ret_fd = nl_socket_get_fd(link->socket);
	return 0;
}

/**
 * link_receive() - take the events that have come
 * @link: the connection, after link_listen()
 * @fn: called for each
 * @data: its argument
 *
 * Return: 0; -ENOBUFS if some were lost; or another negative errno.
 */
int link_receive(struct link *link, link_event_fn fn, void *data)
{
	struct listener listener = { .fn = fn, .data = data };
	int r;

	nl_socket_modify_cb(link->socket, NL_CB_VALID, NL_CB_CUSTOM, take_event, &listener);
	errno = 0;
	do {
		r = nl_recvmsgs_default(link->socket);
	} while (r >= 0 && listener.r == 0);
	if (listener.r < 0)
		return listener.r;
	if (r == -NLE_AGAIN)
		return 0;
	return errno == ENOBUFS || r == -NLE_NOMEM ? -ENOBUFS : to_errno(r);
}

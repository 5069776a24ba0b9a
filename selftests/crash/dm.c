// SPDX-License-Identifier: GPL-2.0
/*
 * The device-mapper ioctls that the crash tests need.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include <linux/dm-ioctl.h>

#include "dm.h"

#define TEXT_MAX	1024
#define LINES_MAX	2

struct line {
	struct dm_target_spec spec;
	char text[TEXT_MAX];
};

/* What follows the head is a message or the lines of a table. */
struct request {
	struct dm_ioctl head;
	union {
		struct {
			struct dm_target_msg msg;
			char text[TEXT_MAX];
		};
		struct line lines[LINES_MAX];
	};
};

static int request(int control, unsigned long number, const char *device, unsigned int flags,
		   struct request *req)
{
	/* Anew, as a device is named in one way only. The version: the oldest with these calls. */
	req->head = (struct dm_ioctl) {
		.version = { 4 },
		.data_size = sizeof(*req),
		.data_start = offsetof(struct request, lines),
		.target_count = req->head.target_count,
		.flags = flags,
	};
	snprintf(req->head.name, sizeof(req->head.name), "%s", device);
	return ioctl(control, number, req);
}

int dm_open(void)
{
	return open("/dev/mapper/control", O_RDWR);
}

int dm_message(int control, const char *device, const char *text)
{
	struct request req = { };

	snprintf(req.text, sizeof(req.text), "%s", text);
	return request(control, DM_TARGET_MSG, device, 0, &req);
}

int dm_suspend(int control, const char *device, bool noflush)
{
	struct request req = { };

	return request(control, DM_DEV_SUSPEND, device,
		       DM_SUSPEND_FLAG | (noflush ? DM_NOFLUSH_FLAG : 0), &req);
}

int dm_resume(int control, const char *device)
{
	struct request req = { };

	return request(control, DM_DEV_SUSPEND, device, 0, &req);
}

/* It takes effect at the next resume. */
int dm_load(int control, const char *device, const struct dm_line *lines, unsigned int nr)
{
	struct request req = { .head.target_count = nr };
	uint64_t at = 0;
	unsigned int i;

	if (nr > LINES_MAX) {
		errno = EINVAL;
		return -1;
	}
	for (i = 0; i < nr; i++) {
		struct line *line = &req.lines[i];

		line->spec.sector_start = at;
		line->spec.length = lines[i].sectors;
		line->spec.next = sizeof(*line);
		snprintf(line->spec.target_type, sizeof(line->spec.target_type), "%s",
			 lines[i].type);
		snprintf(line->text, sizeof(line->text), "%s", lines[i].arguments);
		at += lines[i].sectors;
	}
	return request(control, DM_TABLE_LOAD, device, 0, &req);
}

/* The table that it has, of one line, for the next resume. */
int dm_load_again(int control, const char *device)
{
	struct request req = { };

	if (request(control, DM_TABLE_STATUS, device, DM_STATUS_TABLE_FLAG, &req))
		return -1;
	if (req.head.flags & DM_BUFFER_FULL_FLAG || req.head.target_count != 1) {
		errno = E2BIG;
		return -1;
	}
	return request(control, DM_TABLE_LOAD, device, 0, &req);
}

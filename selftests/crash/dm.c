// SPDX-License-Identifier: GPL-2.0
/*
 * The device-mapper ioctls that the crash tests need.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include <linux/dm-ioctl.h>

#include "dm.h"

#define TEXT_MAX 128

/* What follows the head is a message or a table of one line, and a text in either. */
struct request {
	struct dm_ioctl head;
	union {
		struct dm_target_msg msg;
		struct dm_target_spec spec;
	};
	char text[TEXT_MAX];
};

static int request(int control, unsigned long number, const char *device, unsigned int flags,
		   struct request *req)
{
	/* The oldest version that these calls exist in. */
	req->head.version[0] = 4;
	req->head.data_size = sizeof(*req);
	req->head.data_start = offsetof(struct request, msg);
	req->head.flags = flags;
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

	snprintf((char *)&req.msg + sizeof(req.msg), TEXT_MAX, "%s", text);
	return request(control, DM_TARGET_MSG, device, 0, &req);
}

int dm_suspend(int control, const char *device, bool suspend)
{
	struct request req = { };

	return request(control, DM_DEV_SUSPEND, device, suspend ? DM_SUSPEND_FLAG : 0, &req);
}

/* It takes effect at the next resume. */
int dm_load(int control, const char *device, uint64_t sectors, const char *type,
	    const char *arguments)
{
	struct request req = { .head.target_count = 1, .spec.length = sectors };

	snprintf(req.spec.target_type, sizeof(req.spec.target_type), "%s", type);
	snprintf(req.text, sizeof(req.text), "%s", arguments);
	return request(control, DM_TABLE_LOAD, device, 0, &req);
}

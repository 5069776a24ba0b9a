// SPDX-License-Identifier: GPL-2.0
/*
 * The two device-mapper ioctls that the crash tests need.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include <linux/dm-ioctl.h>

#include "dm.h"

#define MESSAGE_MAX 128

struct request {
	struct dm_ioctl head;
	struct dm_target_msg msg;
	char text[MESSAGE_MAX];
};

static int request(int control, unsigned long number, const char *device, unsigned int flags,
		   const char *text)
{
	struct request req = {
		.head = {
			/* The oldest that both calls exist in. */
			.version = { 4, 0, 0 },
			.data_size = sizeof(req),
			.data_start = offsetof(struct request, msg),
			.flags = flags,
		},
	};

	snprintf(req.head.name, sizeof(req.head.name), "%s", device);
	/* The message is what follows the struct, which ends in padding or not. */
	snprintf((char *)&req.msg + sizeof(req.msg), MESSAGE_MAX, "%s", text);
	return ioctl(control, number, &req);
}

int dm_open(void)
{
	return open("/dev/mapper/control", O_RDWR);
}

int dm_message(int control, const char *device, const char *text)
{
	return request(control, DM_TARGET_MSG, device, 0, text);
}

int dm_suspend(int control, const char *device, bool suspend)
{
	return request(control, DM_DEV_SUSPEND, device, suspend ? DM_SUSPEND_FLAG : 0, "");
}

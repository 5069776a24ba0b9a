/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the rooms of the module tell listeners on generic netlink; and what they are asked
 * there. Numbers only, which say what was the case.
 */
#ifndef FULLSTRIPE_NETLINK_H
#define FULLSTRIPE_NETLINK_H

#include <linux/types.h>

struct file_info;
struct fullstripe;

int netlink_init(void);
void netlink_exit(void);
void netlink_add(struct fullstripe *fs);
void netlink_remove(struct fullstripe *fs);

bool netlink_listens(void);
void netlink_throttle(struct fullstripe *fs, const struct file_info *info);
void netlink_write_error(struct fullstripe *fs, u64 sector, u32 sectors, u32 dirty, int error);
void netlink_recovered(struct fullstripe *fs);
void netlink_geometry(struct fullstripe *fs);

#endif

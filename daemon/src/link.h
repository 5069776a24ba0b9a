/* SPDX-License-Identifier: GPL-2.0 */
/* What the module tells by generic netlink: lists of files and streams, and events. */
#ifndef FULLSTRIPE_LINK_H
#define FULLSTRIPE_LINK_H

#include "lib/view.h"

struct link;

typedef int (*link_event_fn)(const struct event_view *event, void *data);

int link_open(struct link **ret);
void link_close(struct link *link);
int link_list_files(struct link *link, const char *disk, struct file_view **ret, size_t *ret_n);
int link_list_streams(struct link *link, const char *disk, struct stream_view **ret, size_t *ret_n);
int link_listen(struct link *link, int *ret_fd);
int link_receive(struct link *link, link_event_fn fn, void *data);

#endif

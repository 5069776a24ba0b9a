/* SPDX-License-Identifier: GPL-2.0 */
/* What the module tells by generic netlink: lists of files and streams, and events. */
#ifndef FULLSTRIPE_LINK_H
#define FULLSTRIPE_LINK_H

#include "lib/view.h"

struct link;

/* Returns 0, or a negative errno, which ends the list. */
typedef int (*link_file_fn)(const struct file_view *file, void *data);
typedef int (*link_stream_fn)(const struct stream_view *stream, void *data);
typedef int (*link_event_fn)(const struct event_view *event, void *data);

int link_open(struct link **ret);
void link_close(struct link *link);
int link_list_files(struct link *link, const char *disk, link_file_fn fn, void *data);
int link_list_streams(struct link *link, const char *disk, link_stream_fn fn, void *data);
int link_listen(struct link *link, int *ret_fd);
int link_receive(struct link *link, link_event_fn fn, void *data);

#endif

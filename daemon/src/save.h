/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file that is there as a whole or not at all: what was there before stays until then.
 * It may be anywhere, several processes may write it, and it can be made again; what has
 * to survive a crash of the machine is in the state directory, see store.h.
 */
#ifndef FULLSTRIPE_SAVE_H
#define FULLSTRIPE_SAVE_H

#include <stddef.h>

/**
 * struct save - a file being written
 * @fd: where to; standard output if the path is "-"
 * @path: what it will be
 * @temporary: what it is until then; NULL if it is written in place, as a pipe is
 */
struct save {
	int fd;
	char *path;
	char *temporary;
};

int save_begin(struct save *s, const char *path);
int save_write(const struct save *s, const char *data, size_t len);
int save_commit(struct save *s);
void save_end(struct save *s);

#endif

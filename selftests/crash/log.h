/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The log of dm-log-writes: a superblock, then entries, each a sector followed
 * by the data it is about. A write is in it when it has become stable: with FUA
 * at its completion, else before the flush that was submitted after it.
 */
#ifndef LOG_H
#define LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

enum log_flag {
	LOG_FLUSH = 1,
	LOG_FUA = 2,
	LOG_DISCARD = 4,
	LOG_MARK = 8,
};

struct log {
	const char *path;
	const uint8_t *map;
	uint64_t bytes;
	uint64_t entries;
	uint64_t at;		/* byte of the next entry */
	uint64_t next;		/* number of the next entry */
	uint32_t block;		/* bytes that places and sizes are counted in */
};

/**
 * struct log_entry - one entry.
 * @sector: first sector.
 * @sectors: how many; 0 for an empty flush and for a mark.
 * @flags: of enum log_flag.
 * @data: what was written; NULL for a discard.
 * @mark: the text of a mark.
 */
struct log_entry {
	uint64_t sector;
	uint64_t sectors;
	uint32_t flags;
	const uint8_t *data;
	char mark[64];
};

void log_open(struct log *log, const char *path);
void log_rewind(struct log *log);
bool log_next(struct log *log, struct log_entry *entry);
const char *log_describe(const struct log_entry *entry);

#endif

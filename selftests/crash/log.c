// SPDX-License-Identifier: GPL-2.0
/*
 * Reading the log of dm-log-writes, from a file or from the device itself.
 */
#include <endian.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "log.h"

#define LOG_MAGIC	0x6a736677736872ULL
#define LOG_VERSION	1
#define SECTOR_BYTES	512

struct disk_super {
	uint64_t magic;
	uint64_t version;
	uint64_t entries;
	uint32_t block;
};

struct disk_entry {
	uint64_t sector;
	uint64_t sectors;
	uint64_t flags;
	uint64_t data_bytes;
	char data[SECTOR_BYTES - 32];
};

static void read_at(const struct log *log, uint64_t at, void *data, size_t bytes)
{
	if (at + bytes > log->bytes)
		errx(2, "%s: the log ends at byte %llu, in the middle of entry %llu: it was not copied whole", log->path,
		     (unsigned long long)log->bytes, (unsigned long long)log->next);
	memcpy(data, log->map + at, bytes);
}

/* A failure ends the program with status 2 and says why. */
void log_open(struct log *log, const char *path)
{
	struct disk_super super;
	int fd;

	memset(log, 0, sizeof(*log));
	log->path = path;
	fd = open(path, O_RDONLY);
	if (fd < 0)
		err(2, "%s", path);
	/* The size of a device is found in the same way. */
	log->bytes = lseek(fd, 0, SEEK_END);
	log->map = mmap(NULL, log->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	if (log->map == MAP_FAILED)
		err(2, "%s", path);
	close(fd);
	read_at(log, 0, &super, sizeof(super));
	if (le64toh(super.magic) != LOG_MAGIC || le64toh(super.version) != LOG_VERSION)
		errx(2, "%s: is no log of dm-log-writes", log->path);
	log->entries = le64toh(super.entries);
	log->block = le32toh(super.block);
	if (log->block < SECTOR_BYTES || log->block % SECTOR_BYTES)
		errx(2, "%s: has blocks of %u bytes, which is no multiple of 512", log->path, log->block);
	log_rewind(log);
}

void log_rewind(struct log *log)
{
	log->at = log->block;
	log->next = 0;
}

bool log_next(struct log *log, struct log_entry *entry)
{
	struct disk_entry disk;
	uint64_t bytes;

	if (log->next == log->entries)
		return false;
	read_at(log, log->at, &disk, sizeof(disk));
	memset(entry, 0, sizeof(*entry));
	entry->flags = le64toh(disk.flags);
	entry->sector = le64toh(disk.sector) * (log->block / SECTOR_BYTES);
	entry->sectors = le64toh(disk.sectors) * (log->block / SECTOR_BYTES);
	log->at += log->block;
	if (entry->flags & LOG_MARK) {
		bytes = le64toh(disk.data_bytes);
		if (bytes >= sizeof(entry->mark))
			errx(2, "%s: entry %llu has a mark of %llu bytes", log->path, (unsigned long long)log->next,
			     (unsigned long long)bytes);
		memcpy(entry->mark, disk.data, bytes);
	} else if (!(entry->flags & LOG_DISCARD) && entry->sectors) {
		bytes = entry->sectors * SECTOR_BYTES;
		if (bytes > log->bytes || log->at > log->bytes - bytes)
			errx(2, "%s: entry %llu is cut short: the log was not copied whole", log->path,
			     (unsigned long long)log->next);
		entry->data = log->map + log->at;
		log->at += bytes;
	}
	log->next++;
	return true;
}

/* In words; good until the next call. */
const char *log_describe(const struct log_entry *entry)
{
	static char text[128];

	if (entry->flags & LOG_MARK)
		snprintf(text, sizeof(text), "mark '%s'", entry->mark);
	else if (!entry->sectors)
		snprintf(text, sizeof(text), "flush");
	else
		snprintf(text, sizeof(text), "%s%s of %llu sectors at %llu",
			 entry->flags & LOG_DISCARD ? "discard" : "write",
			 entry->flags & LOG_FUA ? " with FUA" : "",
			 (unsigned long long)entry->sectors, (unsigned long long)entry->sector);
	return text;
}

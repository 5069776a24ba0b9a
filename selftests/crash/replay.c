// SPDX-License-Identifier: GPL-2.0
/*
 * The log of dm-log-writes as a tool: how long it is, where one can crash, and
 * what a disk holds after a crash there.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

#define SECTOR_BYTES	512
#define COPY_BYTES	(1 << 20)

static void show_help(void)
{
	printf("Usage: replay COMMAND LOG [ARGUMENT]...\n"
	       "\n"
	       "  copy LOG FILE            copy LOG, a device, as far as it is used\n"
	       "  points LOG               print where one can crash: the number of entries before\n"
	       "                           it, and flush, fua or 'mark TEXT' for the last of them\n"
	       "  write LOG FROM TO FILE   write to FILE what entries FROM to TO - 1 wrote\n"
	       "\n"
	       "Exit status: 0 done, 2 it cannot be done.\n");
}

static void copy(struct log *log, const char *path)
{
	struct log_entry entry;
	uint64_t at;
	int file;

	while (log_next(log, &entry))
		;
	file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (file < 0)
		err(2, "%s", path);
	for (at = 0; at < log->at; at += COPY_BYTES) {
		size_t bytes = log->at - at < COPY_BYTES ? log->at - at : COPY_BYTES;

		if (write(file, log->map + at, bytes) != (ssize_t)bytes)
			err(2, "%s", path);
	}
	if (close(file))
		err(2, "%s", path);
}

static void points(struct log *log)
{
	struct log_entry entry;

	while (log_next(log, &entry)) {
		if (entry.flags & LOG_MARK)
			printf("%llu mark %s\n", (unsigned long long)log->next, entry.mark);
		else if (entry.flags & LOG_FLUSH)
			printf("%llu flush\n", (unsigned long long)log->next);
		else if (entry.flags & LOG_FUA)
			printf("%llu fua\n", (unsigned long long)log->next);
	}
}

static void write_entries(struct log *log, uint64_t from, uint64_t to, const char *path)
{
	int file = open(path, O_WRONLY);
	struct log_entry entry;

	if (file < 0)
		err(2, "%s", path);
	while (log->next < to && log_next(log, &entry)) {
		size_t bytes = entry.sectors * SECTOR_BYTES;

		if (log->next <= from || entry.flags & LOG_MARK || !bytes)
			continue;
		if (!entry.data) {
			errx(2, "entry %llu is a discard, which is not to be judged by this",
			     (unsigned long long)log->next - 1);
		}
		if (pwrite(file, entry.data, bytes, entry.sector * SECTOR_BYTES) != (ssize_t)bytes)
			err(2, "%s", path);
	}
	if (close(file))
		err(2, "%s", path);
}

int main(int argc, char **argv)
{
	struct log log;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		show_help();
		return 0;
	}
	if (argc >= 3)
		log_open(&log, argv[2]);
	if (argc == 4 && !strcmp(argv[1], "copy"))
		copy(&log, argv[3]);
	else if (argc == 3 && !strcmp(argv[1], "points"))
		points(&log);
	else if (argc == 6 && !strcmp(argv[1], "write"))
		write_entries(&log, strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10),
			      argv[5]);
	else
		errx(2, "this is no command, see --help");
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * A workload on a file system that writes down which files must be there after a
 * power cut, and the check of what is. Each thread writes files that it never
 * touches again, and writes over parts of one that stays; fsync follows each, and
 * a mark in the log of writes follows that, or else the power is cut at some time.
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dm.h"
#include "log.h"
#include "sector.h"

#define THREADS		4
#define FILE_SECTORS	768	/* the longest file */
#define KEPT_SECTORS	512	/* the one that stays */

/*
 * The journal: a line for each write that is about to be made, "write FILE SECTOR
 * SECTORS GENERATION", and one for each fsync that has returned, "synced FILE
 * SECTORS GENERATION MARK": at that mark the file has this length, and its writes
 * up to this generation are stable. Under its lock the power is cut: what is in it by
 * then had returned.
 */
static FILE *journal;
static pthread_mutex_t journal_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int marks;
static atomic_bool cut;	/* from then on everything may fail */

static const char *folder, *log_name;
static uint32_t seed;
static unsigned int rounds;
static int control;

/* File 0 of a thread is the one that stays. */
static uint32_t file_number(unsigned int thread, unsigned int i)
{
	return thread << 16 | i;
}

static void file_path(char *path, size_t bytes, uint32_t file)
{
	snprintf(path, bytes, "%s/%u/%u", folder, file >> 16, file & 0xffff);
}

static uint64_t file_sector(uint32_t file, uint32_t sector)
{
	return (uint64_t)file << 32 | sector;
}

/*
 * Writing
 */

/* A thread ends with the first error after the power cut. */
static void fail(const char *what)
{
	if (!cut)
		err(2, "%s", what);
	pthread_exit(NULL);
}

static void write_some(int fd, uint32_t file, uint32_t sector, uint32_t sectors,
		       uint32_t generation)
{
	char buffer[FILE_SECTORS * SECTOR_BYTES];
	size_t bytes = sectors * SECTOR_BYTES;
	uint32_t i;

	pthread_mutex_lock(&journal_lock);
	fprintf(journal, "write %u %u %u %u\n", file, sector, sectors, generation);
	pthread_mutex_unlock(&journal_lock);
	for (i = 0; i < sectors; i++)
		sector_fill(buffer + i * SECTOR_BYTES, seed, file_sector(file, sector + i),
			    generation);
	if (pwrite(fd, buffer, bytes, (off_t)sector * SECTOR_BYTES) != (ssize_t)bytes)
		fail("write");
}

static void note_synced(uint32_t file, uint32_t sectors, uint32_t generation)
{
	unsigned int mark;
	char text[32];

	pthread_mutex_lock(&journal_lock);
	mark = marks;
	if (!cut) {
		fprintf(journal, "synced %u %u %u %u\n", file, sectors, generation, mark);
		marks++;
	}
	pthread_mutex_unlock(&journal_lock);
	if (!log_name)
		return;
	snprintf(text, sizeof(text), "mark %u", mark);
	if (dm_message(control, log_name, text))
		err(2, "%s", text);
}

static int open_file(uint32_t file, int flags)
{
	char path[256];
	int fd;

	file_path(path, sizeof(path), file);
	fd = open(path, flags, 0644);
	if (fd < 0)
		fail(path);
	return fd;
}

static void *run_thread(void *data)
{
	unsigned int thread = (uintptr_t)data;
	uint64_t random = ((uint64_t)seed << 8 | thread) * 0x9e3779b97f4a7c15ULL;
	uint32_t kept = file_number(thread, 0);
	uint32_t generation = 0;
	unsigned int i;
	int kept_fd;

	kept_fd = open_file(kept, O_RDWR | O_CREAT | O_EXCL);
	write_some(kept_fd, kept, 0, KEPT_SECTORS, ++generation);
	if (fsync(kept_fd))
		fail("fsync");
	note_synced(kept, KEPT_SECTORS, generation);

	for (i = 1; i <= rounds; i++) {
		uint32_t file = file_number(thread, i);
		uint32_t sectors = 1 + random_below(&random, i % 4 ? 64 : FILE_SECTORS);
		uint32_t at = random_below(&random, KEPT_SECTORS);
		int fd = open_file(file, O_RDWR | O_CREAT | O_EXCL);

		write_some(fd, file, 0, sectors, ++generation);
		if (fsync(fd) || close(fd))
			fail("fsync");
		note_synced(file, sectors, generation);

		sectors = 1 + random_below(&random, 64);
		if (sectors > KEPT_SECTORS - at)
			sectors = KEPT_SECTORS - at;
		write_some(kept_fd, kept, at, sectors, ++generation);
		if (i % 2)
			continue;
		if (fdatasync(kept_fd))
			fail("fdatasync");
		note_synced(kept, KEPT_SECTORS, generation);
	}
	close(kept_fd);
	return NULL;
}

/* At some time, but not among the first files. @disk is one of dm-forget, @how what it is told. */
static void cut_power(const char *disk, const char *how)
{
	uint64_t random = (uint64_t)seed * 0x9e3779b97f4a7c15ULL;
	unsigned int until, noted;

	random_next(&random);
	until = THREADS + random_below(&random, THREADS * rounds);
	do {
		usleep(1000);
		pthread_mutex_lock(&journal_lock);
		noted = marks;
		pthread_mutex_unlock(&journal_lock);
	} while (noted < until);
	/* Just when somebody has synced the members often have all of it stable. */
	usleep(random_below(&random, 50000));
	pthread_mutex_lock(&journal_lock);
	if (dm_message(control, disk, how))
		err(2, "'%s' does not take '%s'", disk, how);
	cut = true;
	pthread_mutex_unlock(&journal_lock);
	if (dm_message(control, disk, "fail"))
		err(2, "'%s' does not take 'fail'", disk);
}

static void run(const char *journal_path, const char *disk, const char *how)
{
	pthread_t threads[THREADS];
	char path[256];
	uintptr_t i;

	control = dm_open();
	journal = fopen(journal_path, "w");
	if (control < 0 || !journal)
		err(2, "%s", journal ? "the device-mapper's control node" : journal_path);
	for (i = 0; i < THREADS; i++) {
		snprintf(path, sizeof(path), "%s/%u", folder, (unsigned int)i);
		if (mkdir(path, 0755))
			err(2, "%s", path);
	}
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run_thread, (void *)i))
			err(2, "cannot start a thread");
	if (disk)
		cut_power(disk, how);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	if (fclose(journal))
		err(2, "%s", journal_path);
}

/*
 * Checking
 */

static bool *read_marks(const char *log_path, uint64_t entries)
{
	bool *there = calloc(1 << 20, sizeof(*there));
	struct log_entry entry;
	unsigned long mark;
	struct log log;
	char *end;

	if (!there)
		err(2, "marks");
	log_open(&log, log_path);
	while (log.next < entries && log_next(&log, &entry)) {
		if (!(entry.flags & LOG_MARK))
			continue;
		mark = strtoul(entry.mark, &end, 10);
		if (*entry.mark && !*end && mark < 1 << 20)
			there[mark] = true;
	}
	return there;
}

/* What the journal says of one file: generations by sector. */
struct expected {
	uint32_t owed[FILE_SECTORS];
	uint32_t pending[FILE_SECTORS];
	uint32_t sectors;
	bool synced;
};

/* Whether the first sectors of a file are what was written there. Of what was not synced there may be nothing. */
static bool check_sectors(const char *path, uint32_t file, const char *data, uint32_t sectors,
			  const struct expected *want)
{
	for (uint32_t i = 0; i < sectors; i++) {
		uint32_t generation = 0;
		enum sector_kind kind = sector_read(data + i * SECTOR_BYTES, seed,
						    file_sector(file, i), &generation);

		if (kind == SECTOR_EMPTY && !want->synced)
			continue;
		if (kind != SECTOR_OURS || generation < want->owed[i] || generation > want->pending[i]) {
			printf("  %s: sector %u was synced with generation %u and written with %u, and is %s, generation %u\n",
			       path, i, want->owed[i], want->pending[i], sector_kind_name(kind),
			       generation);
			return false;
		}
	}
	return true;
}

static bool check_file(uint32_t file, const struct expected *want)
{
	char buffer[FILE_SECTORS * SECTOR_BYTES];
	char path[256];
	ssize_t bytes;
	int fd;

	file_path(path, sizeof(path), file);
	fd = open(path, O_RDONLY);
	if (fd < 0 && !want->synced)
		return true;
	if (fd < 0) {
		printf("  %s: was synced, and is not there\n", path);
		return false;
	}
	bytes = read(fd, buffer, sizeof(buffer));
	close(fd);
	if (bytes < 0 || (want->synced && bytes != (ssize_t)want->sectors * SECTOR_BYTES)) {
		printf("  %s: was synced with %u bytes, and has %zd\n", path,
		       want->sectors * SECTOR_BYTES, bytes);
		return false;
	}
	return check_sectors(path, file, buffer, bytes / SECTOR_BYTES, want);
}

static void read_journal(const char *path, const bool *there, struct expected *all,
			 unsigned int per_thread)
{
	unsigned int file, sector, sectors, generation, mark, i;
	struct expected *want;
	char line[128];

	journal = fopen(path, "r");
	if (!journal)
		err(2, "%s", path);
	while (fgets(line, sizeof(line), journal)) {
		if (sscanf(line, "write %u %u %u %u", &file, &sector, &sectors, &generation) == 4) {
			want = &all[(file >> 16) * per_thread + (file & 0xffff)];
			for (i = sector; i < sector + sectors; i++)
				want->pending[i] = generation;
		} else if (sscanf(line, "synced %u %u %u %u", &file, &sectors, &generation,
				  &mark) == 4) {
			want = &all[(file >> 16) * per_thread + (file & 0xffff)];
			if (there && !there[mark])
				continue;
			want->synced = true;
			want->sectors = sectors;
			memcpy(want->owed, want->pending, sizeof(want->owed));
		}
	}
	fclose(journal);
}

/* @there: marks before the end of the log, or NULL for all. */
static int check(const bool *there, const char *journal_path)
{
	unsigned int per_thread = rounds + 1, synced_files = 0;
	struct expected *all = calloc(THREADS * per_thread, sizeof(*all));
	unsigned int thread, i;
	bool good = true;

	if (!all)
		err(2, "files");
	read_journal(journal_path, there, all, per_thread);
	for (thread = 0; thread < THREADS; thread++) {
		for (i = 0; i < per_thread; i++) {
			const struct expected *want = &all[thread * per_thread + i];

			synced_files += want->synced;
			good &= check_file(file_number(thread, i), want);
		}
	}
	printf("%u files were synced: %s\n", synced_files, good ? "all there" : "SOME ARE LOST");
	return !good;
}

static void show_help(void)
{
	printf("Usage: files write FOLDER SEED ROUNDS JOURNAL LOGNAME\n"
	       "       files cut   FOLDER SEED ROUNDS JOURNAL DISK HOW\n"
	       "       files check FOLDER SEED ROUNDS JOURNAL [LOG ENTRIES]\n"
	       "\n"
	       "'write' writes files to FOLDER, and to JOURNAL which must survive; with a mark to\n"
	       "the log-writes device LOGNAME after each fsync. 'cut' does without, and at some time\n"
	       "has the power cut by the message HOW to DISK, of dm-forget. 'check' says whether\n"
	       "FOLDER, of a disk that was replayed from the first ENTRIES of LOG, or that has its\n"
	       "power back, has all that was synced, and nothing that was not written.\n"
	       "\n"
	       "Exit status: 0 done, 1 something is lost, 2 it cannot be done.\n");
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--help")) {
		show_help();
		return 0;
	}
	if (argc >= 6) {
		folder = argv[2];
		seed = strtoul(argv[3], NULL, 10);
		rounds = strtoul(argv[4], NULL, 10);
	}
	if (argc == 7 && !strcmp(argv[1], "write")) {
		log_name = argv[6];
		run(argv[5], NULL, NULL);
		return 0;
	}
	if (argc == 8 && !strcmp(argv[1], "cut")) {
		run(argv[5], argv[6], argv[7]);
		return 0;
	}
	if (argc == 6 && !strcmp(argv[1], "check"))
		return check(NULL, argv[5]);
	if (argc == 8 && !strcmp(argv[1], "check"))
		return check(read_marks(argv[6], strtoull(argv[7], NULL, 10)), argv[5]);
	errx(2, "this is no command, see --help");
}

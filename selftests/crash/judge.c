// SPDX-License-Identifier: GPL-2.0
/*
 * Judges what one crash left on a device, by the journal of the writer that ran until
 * then. For each sector,
 *
 *	the last generation that had to be stable <= what it holds <= the last submitted
 *
 * where stable had to be what was there before the run, was completed with FUA, or
 * completed before a flush was submitted that has completed. Nothing may be torn,
 * misplaced or invented, and nothing may return that an earlier crash took.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "journal.h"
#include "sector.h"

#define COMPLAINTS_MAX	5
#define READ_SECTORS	2048

struct write {
	uint64_t sector;
	uint64_t sectors;
};

static struct journal_header journal;
static struct journal_event *events;
static uint32_t first, last;		/* generations of the journal, and one before */
static struct write *writes;		/* by generation less first */
static uint32_t nr_flushes;

/* By sector: generations. */
static uint32_t *before;
static uint32_t *owed;
static uint32_t *holds;

static struct {
	uint64_t owed, lost, newer, wrong;
} found;

static void *allocate(uint64_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size);

	if (!p)
		errx(2, "no memory for %llu items of %zu bytes", (unsigned long long)count, size);
	return p;
}

#define complain(format, ...) do { \
	if (found.lost + found.wrong <= COMPLAINTS_MAX) \
		printf("  " format "\n", ##__VA_ARGS__); \
} while (0)

/* A machine that is killed may leave half an event at the end. */
static void read_journal(const char *path)
{
	FILE *file = fopen(path, "r");
	struct stat st;
	uint64_t i;

	if (!file || fread(&journal, sizeof(journal), 1, file) != 1 ||
	    journal.magic != JOURNAL_MAGIC)
		errx(2, "'%s' is no journal", path);
	if (journal.events == JOURNAL_STREAM) {
		if (fstat(fileno(file), &st))
			err(2, "%s", path);
		journal.events = (st.st_size - sizeof(journal)) / sizeof(*events);
	}
	events = allocate(journal.events, sizeof(*events));
	if (fread(events, sizeof(*events), journal.events, file) != journal.events)
		errx(2, "the journal '%s' is cut short", path);
	fclose(file);

	for (i = 0; i < journal.events; i++) {
		if (events[i].type == EVENT_FLUSH)
			nr_flushes++;
		if (events[i].type != EVENT_SUBMIT)
			continue;
		if (!last)
			first = events[i].id - 1;
		last = events[i].id;
	}
	writes = allocate(last - first + 1, sizeof(*writes));
	for (i = 0; i < journal.events; i++)
		if (events[i].type == EVENT_SUBMIT)
			writes[events[i].id - first] =
				(struct write) { events[i].sector, events[i].sectors };
}

/* The first word is the last generation that was ever used. */
static void read_contents(const char *path)
{
	FILE *file = fopen(path, "r");
	uint32_t used;

	if (!file && errno == ENOENT)
		return;
	if (!file || fread(&used, sizeof(used), 1, file) != 1 ||
	    fread(before, sizeof(*before), journal.sectors, file) != journal.sectors)
		err(2, "cannot read the contents '%s'", path);
	fclose(file);
	if (last && used > first)
		errx(2, "'%s' goes up to generation %u, and the journal begins with %u", path, used,
		     first + 1);
	if (!last)
		first = last = used;
}

static void write_contents(const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file || fwrite(&last, sizeof(last), 1, file) != 1 ||
	    fwrite(holds, sizeof(*holds), journal.sectors, file) != journal.sectors || fclose(file))
		err(2, "cannot write the contents '%s'", path);
}

static void owe(uint32_t generation)
{
	const struct write *write = &writes[generation - first];
	uint64_t sector;

	for (sector = write->sector; sector < write->sector + write->sectors; sector++)
		if (owed[sector] < generation)
			owed[sector] = generation;
}

/* @all: whatever completed is owed. */
static void work_out_debt(bool all)
{
	uint32_t *completed = allocate(last - first, sizeof(*completed));
	uint64_t *covers = allocate(nr_flushes, sizeof(*covers));
	uint64_t i, nr_completed = 0, nr_stable = 0;

	memcpy(owed, before, journal.sectors * sizeof(*owed));
	for (i = 0; i < journal.events; i++) {
		const struct journal_event *event = &events[i];

		switch (event->type) {
		case EVENT_COMPLETE_FUA:
			owe(event->id);
			/* fallthrough */
		case EVENT_COMPLETE:
			completed[nr_completed++] = event->id;
			break;
		case EVENT_FLUSH:
			covers[event->id] = nr_completed;
			break;
		case EVENT_FLUSHED:
			for (; nr_stable < covers[event->id]; nr_stable++)
				owe(completed[nr_stable]);
			break;
		}
	}
	while (all && nr_stable < nr_completed)
		owe(completed[nr_stable++]);
	free(completed);
	free(covers);
}

static void judge_sector(const void *data, uint64_t sector)
{
	enum sector_kind kind = sector_read(data, journal.seed, sector, &holds[sector]);
	uint32_t generation = holds[sector];
	const struct write *write;

	found.owed += owed[sector] > before[sector];
	if (kind > SECTOR_OURS) {
		found.wrong++;
		complain("sector %llu is %s", (unsigned long long)sector, sector_kind_name(kind));
		return;
	}
	if (generation < owed[sector]) {
		found.lost++;
		complain("sector %llu holds generation %u, and %u is owed",
			 (unsigned long long)sector, generation, owed[sector]);
		return;
	}
	if (generation == before[sector])
		return;
	write = generation > first && generation <= last ? &writes[generation - first] : NULL;
	if (!write || sector < write->sector || sector >= write->sector + write->sectors) {
		found.wrong++;
		complain("sector %llu holds generation %u, which was not written there in this run",
			 (unsigned long long)sector, generation);
		return;
	}
	found.newer += generation > owed[sector];
}

static void judge_device(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECT);
	uint64_t at, i;
	char *data;

	if (fd < 0)
		err(2, "%s", path);
	if (posix_memalign((void **)&data, 4096, READ_SECTORS * SECTOR_BYTES))
		errx(2, "no memory");
	for (at = 0; at < journal.sectors; at += READ_SECTORS) {
		uint64_t sectors = journal.sectors - at < READ_SECTORS ? journal.sectors - at :
				   READ_SECTORS;

		if (pread(fd, data, sectors * SECTOR_BYTES, (journal.start + at) * SECTOR_BYTES) !=
		    (ssize_t)(sectors * SECTOR_BYTES))
			err(2, "%s: cannot read %llu sectors at %llu", path,
			    (unsigned long long)sectors, (unsigned long long)(journal.start + at));
		for (i = 0; i < sectors; i++)
			judge_sector(data + i * SECTOR_BYTES, at + i);
	}
	free(data);
	close(fd);
}

static void show_help(void)
{
	printf("Usage: judge [OPTION]... DEVICE JOURNAL\n"
	       "\n"
	       "Judges by JOURNAL, made by 'writer', what a crash left on DEVICE, the lower device\n"
	       "of the target that the writer wrote to.\n"
	       "\n"
	       "  --contents FILE  what was there before (default: zeroes), if there is such a\n"
	       "                   file; then it is written, for 'writer' and the next time\n"
	       "  --all            whatever completed is owed, be it flushed or not\n"
	       "  --help           this text\n"
	       "\n"
	       "Exit status: 0 nothing is lost, 1 something is, 2 it cannot be judged.\n");
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "contents", required_argument, NULL, 'c' },
		{ "all", no_argument, NULL, 'a' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	const char *contents = NULL;
	bool all = false;
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (option) {
		case 'c':
			contents = optarg;
			break;
		case 'a':
			all = true;
			break;
		case 'h':
			show_help();
			return 0;
		default:
			return 2;
		}
	}
	if (argc - optind != 2)
		errx(2, "give a device and a journal, see --help");

	read_journal(argv[optind + 1]);
	before = allocate(journal.sectors, sizeof(*before));
	owed = allocate(journal.sectors, sizeof(*owed));
	holds = allocate(journal.sectors, sizeof(*holds));
	if (contents)
		read_contents(contents);
	work_out_debt(all);
	judge_device(argv[optind]);
	if (contents)
		write_contents(contents);

	printf("%u writes, %u flushes: %llu sectors owed, %llu newer, %llu lost, %llu wrong\n",
	       last - first, nr_flushes, (unsigned long long)found.owed,
	       (unsigned long long)found.newer, (unsigned long long)found.lost,
	       (unsigned long long)found.wrong);
	return found.lost || found.wrong;
}

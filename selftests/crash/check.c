// SPDX-License-Identifier: GPL-2.0
/*
 * Judges every crash point of a recorded run: each prefix of the log of writes is
 * what a power cut may have left. For each sector of it,
 *
 *	the last generation that had to be stable <= what it holds <= the last submitted
 *
 * where stable had to be what was completed with FUA, or completed before a flush
 * was submitted that has completed. Nothing may be torn, misplaced or invented. The
 * zeros that a discard leaves have a generation like what is written; but nobody owes them.
 *
 * Log and journal are two records of one run, tied by marks: what the journal has
 * before mark N was put into the log, the prefix that ends with mark N must hold;
 * what it has after the next mark, no prefix before that can hold.
 *
 * The state is carried from entry to entry; at random points it is worked out
 * anew, in the plainest way, and must be the same.
 */
#include <endian.h>
#include <err.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "journal.h"
#include "log.h"
#include "sector.h"

/*
 * dm-log-writes puts a FUA write into its log at once, but an older write without
 * FUA only before the next flush: replayed in the log's order, the older one would
 * win. No more flushes than this can be between the two. Whether it did win, what the
 * device has at the end tells: see judge_device().
 */
#define LATE_FLUSHES	16

#define COMPLAINTS_MAX	10
#define NONE		UINT64_MAX

struct write {
	uint64_t sector;
	uint64_t sectors;
	uint64_t submitted;	/* place in the journal */
	bool discard;
};

static struct journal_header journal;
static struct journal_event *events;
static struct write *writes;		/* by generation */
static uint64_t *mark_before;		/* by mark: place of EVENT_MARK */
static uint64_t *mark_after;		/* by mark: place of EVENT_MARKED */

static struct log log_file;
static uint64_t *latest_after;		/* by entry: journal events that may precede it */

/* Sectors of the target, as the prefix has them. */
static uint32_t *holds;			/* generation */
static uint32_t *owed;			/* generation */
static uint64_t *fua_at;		/* flushes before it was set by a FUA write; or NONE */
static uint64_t nr_bad;			/* sectors that hold less than is owed */

static uint8_t *image;
static uint64_t image_sectors;

/* An array under which the log was taken: member by member on one disk. */
static struct {
	unsigned int members;
	uint64_t member_sectors;
	bool known;
	uint64_t data_offset;
	uint64_t data_sectors;
	uint32_t chunk;
	unsigned int role[32];		/* by member */
	unsigned int member[32];	/* by role */
	uint8_t *mismatch;		/* by row of sectors */
	uint32_t *mismatches;		/* by stripe */
	uint64_t stripes_open;
	uint64_t stripes_open_max;
	uint64_t stripes_open_sum;
} array;

static struct {
	uint64_t points, flushes, fuas, marks, discards, bad_points, late, anew, differing;
	unsigned int complaints;
} found;

static void *allocate(uint64_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size);

	if (!p)
		errx(2, "no memory for %llu items of %zu bytes", (unsigned long long)count, size);
	return p;
}

#define complain(format, ...) do { \
	if (found.complaints++ < COMPLAINTS_MAX) \
		printf("  " format "\n", ##__VA_ARGS__); \
} while (0)

/*
 * The journal
 */

/*
 * Into each completion of a flush, as its sector: how many completions of writes
 * are stable from there on, namely those before the flush was submitted.
 *
 * Of flushes that overlap, the credit comes when all that are still under way have
 * completed too: dm-log-writes logs a write with the first flush submitted after
 * it, which may be the last of them to complete.
 */
static void credit_flushes(void)
{
	uint64_t *begin = allocate(journal.flushes, sizeof(*begin));
	uint64_t *end = allocate(journal.flushes, sizeof(*end));
	uint64_t *covers = allocate(journal.flushes, sizeof(*covers));
	uint64_t i, completed = 0;
	uint32_t f, g;

	for (i = 0; i < journal.events; i++) {
		const struct journal_event *event = &events[i];

		if (event->type == EVENT_COMPLETE || event->type == EVENT_COMPLETE_FUA)
			completed++;
		if (event->type == EVENT_FLUSH) {
			begin[event->id] = i;
			covers[event->id] = completed;
		}
		if (event->type == EVENT_FLUSHED)
			end[event->id] = i;
	}
	for (f = 0; f < journal.flushes; f++) {
		uint64_t credit = end[f];

		/* It failed. */
		if (!credit)
			continue;
		for (g = 0; g < journal.flushes; g++)
			if (begin[g] < end[f] && end[g] > credit)
				credit = end[g];
		if (events[credit].sector < covers[f])
			events[credit].sector = covers[f];
	}
	free(begin);
	free(end);
	free(covers);
}

static void read_journal(const char *path)
{
	FILE *file = fopen(path, "r");
	uint64_t i;

	if (!file || fread(&journal, sizeof(journal), 1, file) != 1 ||
	    journal.magic != JOURNAL_MAGIC)
		errx(2, "'%s' is no journal: was the writer stopped before its end?", path);
	if (journal.events == JOURNAL_STREAM)
		errx(2, "the journal '%s' is a stream, which is for 'judge'", path);
	events = allocate(journal.events, sizeof(*events));
	if (fread(events, sizeof(*events), journal.events, file) != journal.events)
		errx(2, "the journal '%s' is cut short", path);
	fclose(file);

	writes = allocate(journal.generations + 1, sizeof(*writes));
	mark_before = allocate(journal.marks, sizeof(*mark_before));
	mark_after = allocate(journal.marks, sizeof(*mark_after));
	for (i = 0; i < journal.events; i++) {
		const struct journal_event *event = &events[i];

		if (event->type == EVENT_SUBMIT || event->type == EVENT_DISCARD)
			writes[event->id] = (struct write) {
				event->sector, event->sectors, i, event->type == EVENT_DISCARD
			};
		else if (event->type == EVENT_MARK)
			mark_before[event->id] = i;
		else if (event->type == EVENT_MARKED)
			mark_after[event->id] = i;
	}
	credit_flushes();
}

/* What is owed after some events of the journal: read from the start, or on. */
struct debt {
	uint64_t at;		/* next event */
	uint32_t *completed;	/* generations, in the order of completion */
	uint64_t nr_completed;
	uint64_t nr_stable;	/* of these */
	uint32_t *owed;		/* by sector */
	void (*pay)(uint64_t sector, uint32_t generation);
};

static void owe(struct debt *debt, uint32_t generation)
{
	const struct write *write = &writes[generation];
	uint64_t sector;

	for (sector = write->sector; sector < write->sector + write->sectors; sector++) {
		if (debt->owed[sector] >= generation)
			continue;
		if (debt->pay)
			debt->pay(sector, generation);
		debt->owed[sector] = generation;
	}
}

static void advance(struct debt *debt, uint64_t end)
{
	for (; debt->at < end; debt->at++) {
		const struct journal_event *event = &events[debt->at];

		switch (event->type) {
		case EVENT_COMPLETE_FUA:
			owe(debt, event->id);
			/* fallthrough */
		case EVENT_COMPLETE:
			debt->completed[debt->nr_completed++] = event->id;
			break;
		case EVENT_FLUSHED:
			while (debt->nr_stable < event->sector)
				owe(debt, debt->completed[debt->nr_stable++]);
			break;
		}
	}
}

/*
 * The log
 */

/* The journal's events before which a mark of the log was put there, or NONE. */
static bool mark_number(const struct log_entry *entry, uint32_t *number)
{
	char *end;

	if (!(entry->flags & LOG_MARK) || !*entry->mark)
		return false;
	*number = strtoul(entry->mark, &end, 10);
	return !*end && *number < journal.marks;
}

/* The mark that is put when the target is gone: all that completed is stable. */
static bool is_mark_all(const struct log_entry *entry)
{
	return (entry->flags & LOG_MARK) && !strcmp(entry->mark, "all");
}

/* An entry of the log was there before the next mark was: so was its write's submission. */
static void bound_entries(void)
{
	uint64_t i, bound = journal.events;
	struct log_entry entry;
	uint32_t mark;

	latest_after = allocate(log_file.entries, sizeof(*latest_after));
	for (i = 0; log_next(&log_file, &entry); i++)
		latest_after[i] = mark_number(&entry, &mark) ? mark_after[mark] : NONE;
	while (i--) {
		if (latest_after[i] < bound)
			bound = latest_after[i];
		latest_after[i] = bound;
	}
	log_rewind(&log_file);
}

/*
 * Where the target's sectors are
 */

/* Left-symmetric RAID5: where a sector of the array's data is on the disk. */
static uint64_t array_place(uint64_t sector)
{
	uint32_t data = array.members - 1;
	uint64_t chunk = sector / array.chunk;
	uint64_t stripe = chunk / data;
	unsigned int parity = data - stripe % array.members;
	unsigned int role = (parity + 1 + chunk % data) % array.members;

	return array.member[role] * array.member_sectors + array.data_offset +
	       stripe * array.chunk + sector % array.chunk;
}

/* And back; false if it holds parity or none of the array's data. */
static bool array_sector(uint64_t place, uint64_t *row, uint64_t *sector)
{
	uint32_t data = array.members - 1;
	unsigned int role, parity;
	uint64_t stripe;

	*row = NONE;
	if (!array.known || place % array.member_sectors < array.data_offset)
		return false;
	*row = place % array.member_sectors - array.data_offset;
	if (*row >= array.data_sectors) {
		*row = NONE;
		return false;
	}
	role = array.role[place / array.member_sectors];
	stripe = *row / array.chunk;
	parity = data - stripe % array.members;
	if (role == parity)
		return false;
	*sector = (stripe * data + (role + array.members - parity - 1) % array.members) *
		  array.chunk + *row % array.chunk;
	return true;
}

/* Place in the image of a sector of the target. */
static uint64_t place_of(uint64_t sector)
{
	return array.members ? array_place(journal.start + sector) : journal.start + sector;
}

/* The target's sector at a place of the image; false if there is none. */
static bool sector_at(uint64_t place, uint64_t *row, uint64_t *sector)
{
	*row = NONE;
	*sector = place;
	if (array.members && !array_sector(place, row, sector))
		return false;
	if (*sector < journal.start || *sector - journal.start >= journal.sectors)
		return false;
	*sector -= journal.start;
	return true;
}

/* Superblocks of version 1.2 lie 4 KiB into a member. */
static uint64_t super_field(const uint8_t *super, unsigned int at, unsigned int bytes)
{
	uint64_t value = 0;

	memcpy(&value, super + at, bytes);
	return le64toh(value);
}

static void find_array(void)
{
	unsigned int i, role;

	for (i = 0; i < array.members; i++) {
		const uint8_t *super = image + (i * array.member_sectors + 8) * SECTOR_BYTES;

		if (super_field(super, 0, 4) != 0xa92b4efc)
			errx(2, "member %u has no superblock when the writer starts", i);
		if (super_field(super, 72, 4) != 5 || super_field(super, 76, 4) != 2 ||
		    super_field(super, 92, 4) != array.members)
			errx(2, "member %u is not of a RAID5 of %u members, left-symmetric", i,
			     array.members);
		array.chunk = super_field(super, 88, 4);
		array.data_offset = super_field(super, 128, 8);
		array.data_sectors = super_field(super, 80, 8) / array.chunk * array.chunk;
		role = super_field(super, 256 + 2 * super_field(super, 160, 4), 2);
		if (role >= array.members)
			errx(2, "member %u has the role %u in an array of %u", i, role, array.members);
		array.role[i] = role;
		array.member[role] = i;
	}
	array.mismatch = allocate(array.data_sectors, 1);
	array.mismatches = allocate(array.data_sectors / array.chunk, sizeof(uint32_t));
	array.known = true;
}

/* Whether the members' sectors of a row add up to zero. */
static void judge_parity(uint64_t row)
{
	uint32_t *mismatches = &array.mismatches[row / array.chunk];
	uint64_t sum[SECTOR_BYTES / 8] = { };
	uint8_t mismatch = 0;
	unsigned int i, j;

	for (i = 0; i < array.members; i++) {
		uint64_t place = i * array.member_sectors + array.data_offset + row;
		const uint64_t *word = (const uint64_t *)(image + place * SECTOR_BYTES);

		for (j = 0; j < SECTOR_BYTES / 8; j++)
			sum[j] ^= word[j];
	}
	for (j = 0; j < SECTOR_BYTES / 8; j++)
		mismatch |= !!sum[j];
	if (mismatch == array.mismatch[row])
		return;
	array.mismatch[row] = mismatch;
	if (mismatch)
		array.stripes_open += !(*mismatches)++;
	else
		array.stripes_open -= !--(*mismatches);
}

/*
 * Crash points
 */

static bool is_bad(uint64_t sector)
{
	return holds[sector] < owed[sector];
}

static void pay(uint64_t sector, uint32_t generation)
{
	nr_bad += holds[sector] < generation && !is_bad(sector);
}

/* What a sector holds, from its contents; they must be possible at entry @at. */
static bool read_sector(const uint8_t *data, uint64_t sector, uint64_t at, uint32_t *generation)
{
	enum sector_kind kind = sector_read(data, journal.seed, sector, generation);
	const struct write *write;

	if (kind == SECTOR_EMPTY) {
		/* Zeros that are written where a discard made some leave these. */
		*generation = writes[holds[sector]].discard ? holds[sector] : 0;
		return true;
	}
	if (kind != SECTOR_OURS) {
		complain("entry %llu: sector %llu is %s", (unsigned long long)at,
			 (unsigned long long)sector, sector_kind_name(kind));
		return false;
	}
	if (!*generation || *generation > journal.generations) {
		complain("entry %llu: sector %llu has generation %u, which nobody wrote",
			 (unsigned long long)at, (unsigned long long)sector, *generation);
		return false;
	}
	write = &writes[*generation];
	if (sector < write->sector || sector >= write->sector + write->sectors) {
		complain("entry %llu: sector %llu has generation %u, which wrote %llu sectors at %llu",
			 (unsigned long long)at, (unsigned long long)sector, *generation,
			 (unsigned long long)write->sectors, (unsigned long long)write->sector);
		return false;
	}
	if (write->submitted >= latest_after[at]) {
		complain("entry %llu: sector %llu has generation %u, which was submitted later",
			 (unsigned long long)at, (unsigned long long)sector, *generation);
		return false;
	}
	return true;
}

/* Which discard an entry at @at is of: the newest that there can be. */
static bool find_discard(uint64_t sector, uint64_t at, uint32_t *generation)
{
	uint32_t g;

	for (g = journal.generations; g; g--) {
		const struct write *write = &writes[g];

		if (write->discard && write->submitted < latest_after[at] &&
		    sector >= write->sector && sector < write->sector + write->sectors) {
			*generation = g;
			return true;
		}
	}
	complain("entry %llu: sector %llu is discarded, which nobody asked for",
		 (unsigned long long)at, (unsigned long long)sector);
	return false;
}

/* Write one sector of an entry to the image; false if it cannot be right. */
static bool apply_sector(const struct log_entry *entry, uint64_t i, uint64_t at)
{
	static const uint8_t zero[SECTOR_BYTES];
	const uint8_t *data = entry->data ? entry->data + i * SECTOR_BYTES : zero;
	uint8_t *to = image + (entry->sector + i) * SECTOR_BYTES;
	bool fua = entry->flags & LOG_FUA;
	uint32_t generation = 0;
	uint64_t row, sector;
	bool good = true;

	if (sector_at(entry->sector + i, &row, &sector)) {
		good = entry->data ? read_sector(data, sector, at, &generation) :
				     find_discard(sector, at, &generation);
		if (good) {
			if (!fua && generation < holds[sector] && fua_at[sector] != NONE &&
			    found.flushes - fua_at[sector] <= LATE_FLUSHES) {
				found.late++;
				return true;
			}
			nr_bad -= is_bad(sector);
			holds[sector] = generation;
			nr_bad += is_bad(sector);
			fua_at[sector] = fua ? found.flushes : NONE;
		}
	} else if (!array.members) {
		complain("entry %llu: sector %llu of the lower device is not the target's",
			 (unsigned long long)at, (unsigned long long)(entry->sector + i));
		good = false;
	}
	memcpy(to, data, SECTOR_BYTES);
	if (row != NONE)
		judge_parity(row);
	return good;
}

static bool apply(const struct log_entry *entry, uint64_t at)
{
	bool good = true;
	uint64_t i;

	if (entry->sector + entry->sectors > image_sectors) {
		complain("entry %llu: a %s, which is not on the device", (unsigned long long)at,
			 log_describe(entry));
		return false;
	}
	for (i = 0; i < entry->sectors; i++)
		good &= apply_sector(entry, i, at);
	return good;
}

static void tell_of_loss(const struct log_entry *entry, uint64_t at)
{
	unsigned int told = 0;
	uint64_t sector;

	complain("crash after entry %llu (%s): %llu sectors hold less than was stable",
		 (unsigned long long)at, log_describe(entry), (unsigned long long)nr_bad);
	for (sector = 0; sector < journal.sectors && told < 2; sector++) {
		const struct write *write = &writes[owed[sector]];

		if (!is_bad(sector))
			continue;
		complain("  sector %llu: generation %u was stable (%llu sectors at %llu), it holds %u",
			 (unsigned long long)sector, owed[sector],
			 (unsigned long long)write->sectors, (unsigned long long)write->sector,
			 holds[sector]);
		told++;
	}
}

/* All of a crash point worked out from the image and the journal alone. */
static void judge_anew(uint64_t at, uint64_t end)
{
	static uint32_t *due, *completed;
	struct debt debt = { };
	uint64_t sector, bad = 0;
	uint32_t generation;

	if (!due) {
		due = allocate(journal.sectors, sizeof(*due));
		completed = allocate(journal.generations, sizeof(*completed));
	}
	memset(due, 0, journal.sectors * sizeof(*due));
	debt.owed = due;
	debt.completed = completed;
	advance(&debt, end);
	for (sector = 0; sector < journal.sectors; sector++) {
		if (!read_sector(image + place_of(sector) * SECTOR_BYTES, sector, at, &generation))
			continue;
		bad += generation < due[sector];
	}
	if (bad != nr_bad)
		errx(2, "entry %llu: %llu sectors are bad when worked out anew, and %llu were carried on",
		     (unsigned long long)at, (unsigned long long)bad, (unsigned long long)nr_bad);
	found.anew++;
}

/* Choose @count entries at random; a byte for each entry. */
static uint8_t *choose_anew(unsigned long count)
{
	uint8_t *chosen = allocate(log_file.entries, 1);
	uint64_t random = journal.seed;

	while (count-- && log_file.entries)
		chosen[random_below(&random, log_file.entries)] = 1;
	return chosen;
}

static void judge_all(unsigned long anew)
{
	uint8_t *chosen = choose_anew(anew);
	struct debt debt = {
		.owed = owed,
		.completed = allocate(journal.generations, sizeof(uint32_t)),
		.pay = pay,
	};
	struct log_entry entry;
	bool begun = false;
	uint64_t at;
	uint32_t mark;

	for (at = 0; log_next(&log_file, &entry); at++) {
		bool good;

		good = entry.flags & LOG_MARK || apply(&entry, at);
		if (entry.flags & LOG_FLUSH)
			found.flushes++;
		if (mark_number(&entry, &mark)) {
			if (!begun && array.members)
				find_array();
			begun = true;
			if (mark_before[mark] > debt.at)
				advance(&debt, mark_before[mark]);
		}
		if (is_mark_all(&entry)) {
			uint64_t i;

			advance(&debt, journal.events);
			for (i = 0; i < debt.nr_completed; i++)
				owe(&debt, debt.completed[i]);
		}
		if (!begun)
			continue;
		found.points++;
		found.fuas += !!(entry.flags & LOG_FUA);
		found.marks += !!(entry.flags & LOG_MARK);
		found.discards += !!(entry.flags & LOG_DISCARD);
		if (nr_bad || !good) {
			if (nr_bad && !found.bad_points)
				tell_of_loss(&entry, at);
			found.bad_points++;
		} else if (chosen[at]) {
			judge_anew(at, debt.at);
		}
		if (array.stripes_open > array.stripes_open_max)
			array.stripes_open_max = array.stripes_open;
		array.stripes_open_sum += array.stripes_open;
	}
	if (!begun)
		errx(2, "the log has none of the journal's marks: it is of another run");
}

/* What the lower device has after all of it must be what the log made of it. */
static void judge_device(const char *path)
{
	FILE *file = fopen(path, "r");
	uint8_t data[SECTOR_BYTES];
	uint64_t sector;

	if (!file)
		err(2, "%s", path);
	for (sector = 0; sector < image_sectors; sector++) {
		if (fread(data, sizeof(data), 1, file) != 1)
			errx(2, "'%s' is cut short", path);
		if (memcmp(data, image + sector * SECTOR_BYTES, sizeof(data))) {
			complain("sector %llu of the lower device is not what was written to it last",
				 (unsigned long long)sector);
			found.differing++;
		}
	}
	fclose(file);
}

/*
 * Command line
 */

static void show_help(void)
{
	printf("Usage: check [OPTION]... LOG JOURNAL\n"
	       "\n"
	       "Replays LOG, made by dm-log-writes under the target, and judges each prefix of it\n"
	       "by JOURNAL, made by 'writer'.\n"
	       "\n"
	       "  --members N,SECTORS  LOG was made under an array: of a disk that holds its N\n"
	       "                       members of SECTORS each, one after the other\n"
	       "  --device FILE        what the device below the log has in the end is in FILE\n"
	       "  --anew N             work out N random points anew, from nothing (default 100)\n"
	       "  --help               this text\n"
	       "\n"
	       "Exit status: 0 nothing is lost at any point, 1 something is, 2 it cannot be judged.\n");
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "members", required_argument, NULL, 'm' },
		{ "device", required_argument, NULL, 'd' },
		{ "anew", required_argument, NULL, 'a' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	const char *device = NULL;
	unsigned long anew = 100;
	int option;
	char *end;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (option) {
		case 'm':
			array.members = strtoul(optarg, &end, 10);
			if (*end == ',')
				array.member_sectors = strtoul(end + 1, &end, 10);
			if (*end || array.members < 3 || array.members > 32 || !array.member_sectors)
				errx(2, "--members '%s' is not N,SECTORS with 3 to 32 members", optarg);
			break;
		case 'd':
			device = optarg;
			break;
		case 'a':
			anew = strtoul(optarg, &end, 10);
			if (*end)
				errx(2, "--anew '%s' is no number", optarg);
			break;
		case 'h':
			show_help();
			return 0;
		default:
			return 2;
		}
	}
	if (argc - optind != 2)
		errx(2, "give a log and a journal, see --help");

	log_open(&log_file, argv[optind]);
	read_journal(argv[optind + 1]);
	bound_entries();
	image_sectors = array.members ? array.members * array.member_sectors :
			journal.start + journal.sectors;
	image = allocate(image_sectors, SECTOR_BYTES);
	holds = allocate(journal.sectors, sizeof(*holds));
	owed = allocate(journal.sectors, sizeof(*owed));
	fua_at = allocate(journal.sectors, sizeof(*fua_at));
	memset(fua_at, 0xff, journal.sectors * sizeof(*fua_at));

	judge_all(anew);
	if (device)
		judge_device(device);

	printf("%llu crash points (%llu flushes, %llu FUA writes, %llu discards, %llu marks), %llu of them worked out anew: ",
	       (unsigned long long)found.points, (unsigned long long)found.flushes,
	       (unsigned long long)found.fuas, (unsigned long long)found.discards,
	       (unsigned long long)found.marks,
	       (unsigned long long)found.anew);
	if (found.bad_points || found.complaints)
		printf("%llu LOSE DATA\n", (unsigned long long)found.bad_points);
	else
		printf("nothing lost\n");
	if (found.differing)
		printf("%llu sectors of the lower device differ from the log's end\n",
		       (unsigned long long)found.differing);
	if (found.late)
		printf("%llu sectors were logged later than a newer FUA write\n",
		       (unsigned long long)found.late);
	if (array.members)
		printf("stripes with a parity mismatch: at most %llu, %.2f in the mean\n",
		       (unsigned long long)array.stripes_open_max,
		       (double)array.stripes_open_sum / found.points);
	return found.bad_points || found.complaints;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * A workload on a raw device that writes down what it may expect of the device
 * after a power cut (journal.h), and meanwhile reads back what it wrote. Runs in
 * the test machine.
 *
 * At no time are two requests of it under way to one sector: only then is it
 * known which of two writes is the later one. A request whose range is taken
 * waits, so that writes often follow each other immediately on the same sectors.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <linux/aio_abi.h>
#include <linux/fs.h>

#include "dm.h"
#include "journal.h"
#include "sector.h"

#define THREADS_MAX	64
#define HOT_STRIPES	6
#define PAGE_SECTORS	(4096 / SECTOR_BYTES)

static struct {
	const char *device;
	const char *target;
	const char *log;
	const char *journal;
	const char *contents;
	const char *freeze;
	const char *how;
	bool stream;
	uint32_t seed;
	unsigned long operations;
	unsigned int threads;
	uint32_t stripe;	/* sectors */
	uint64_t start;		/* sectors */
	unsigned int area;	/* stripes that are used; 0: all */
	unsigned int write_back;	/* of 1000 writes */
	unsigned int fua;	/* of 1000 operations */
	unsigned int flush;
	unsigned int suspend;
	unsigned int reload;	/* of 1000 suspends */
	unsigned int read;
	unsigned int change;
	unsigned int fault;
	unsigned int discard;
	const char *lower;
	uint64_t lower_sectors;
} set = {
	.seed = 1, .operations = 1000, .threads = 8,
	.fua = 40, .flush = 25, .suspend = 10, .reload = 500, .read = 100,
};

struct thread {
	pthread_t id;
	unsigned int number;
	uint64_t random;
	aio_context_t aio;
	char *buffer;
	uint64_t run_at;	/* the sequential run: its next sector */
	uint64_t run_left;	/* and what is left of it */
	uint64_t sector;	/* the range in use; no sectors: none */
	uint32_t sectors;
};

static struct thread threads[THREADS_MAX];
static int device, cached, control;	/* the device twice: past the page cache and through it */
static uint64_t device_sectors, used_sectors;

/* All below. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t range_freed = PTHREAD_COND_INITIALIZER;
static struct journal_event *events;
static uint64_t nr_events, max_events;
static int stream = -1;		/* the journal, when it is written as it goes */
static uint64_t nr_streamed;
static uint32_t generations, flushes, marks;
static uint32_t *latest;	/* by sector: generation of the last write that succeeded */
static bool *discarded;		/* by sector: it may be zero since then */
static unsigned long operations_left;
static unsigned int faults;	/* of 1000 operations; what fails meanwhile is no wonder */
static bool frozen;		/* nor is it when the power was cut, or is about to be */
static bool thrown_away;	/* what was staged then, with a table that another replaced */
static bool freeze_when_flushed;	/* the moment at which most is owed */

/* One at a time changes tables and keys, or suspends. */
static pthread_mutex_t control_lock = PTHREAD_MUTEX_INITIALIZER;

/* Lock held. */
static void stream_out(void)
{
	const char *from = (const char *)&events[nr_streamed];
	size_t bytes = (nr_events - nr_streamed) * sizeof(*events);

	if (write(stream, from, bytes) != (ssize_t)bytes)
		err(1, "cannot write the journal '%s'", set.journal);
	nr_streamed = nr_events;
}

/*
 * The journal of a machine that will be killed is outside of it before the event can
 * have an effect; completions follow with the next event, as they only add to what is
 * owed. Lock held.
 */
static void note(enum event_type type, uint32_t id, uint64_t sector, uint64_t sectors)
{
	if (nr_events == max_events) {
		max_events = max_events ? 2 * max_events : 4096;
		events = realloc(events, max_events * sizeof(*events));
		if (!events)
			errx(1, "no memory for %llu events", (unsigned long long)max_events);
	}
	events[nr_events++] = (struct journal_event) { type, id, sector, sectors };
	if (stream >= 0 && type != EVENT_COMPLETE)
		stream_out();
}

/*
 * Ranges
 */

static bool is_taken(const struct thread *me)
{
	unsigned int i;

	for (i = 0; i < set.threads; i++) {
		const struct thread *other = &threads[i];

		if (other != me && other->sectors &&
		    other->sector < me->sector + me->sectors &&
		    me->sector < other->sector + other->sectors)
			return true;
	}
	return false;
}

/* Wait until nobody uses the range; lock held. */
static void take_range(struct thread *me, uint64_t sector, uint32_t sectors)
{
	struct thread wanted = { .sector = sector, .sectors = sectors };

	while (is_taken(&wanted))
		pthread_cond_wait(&range_freed, &lock);
	me->sector = sector;
	me->sectors = sectors;
}

/* Lock held. */
static void free_range(struct thread *me)
{
	me->sectors = 0;
	pthread_cond_broadcast(&range_freed);
}

/* Sizes: many below a page, most below a stripe, some whole stripes and more. */
static uint32_t choose_size(struct thread *me)
{
	uint32_t kind = random_below(&me->random, 100);

	if (kind < 30)
		return 1 + random_below(&me->random, 8);
	if (kind < 75)
		return 8 * (1 + random_below(&me->random, 8));
	if (kind < 90)
		return 1 + random_below(&me->random, set.stripe);
	return set.stripe + (kind < 95 ? 0 : random_below(&me->random, set.stripe + 1));
}

static void choose_range(struct thread *me, uint64_t *sector, uint32_t *sectors)
{
	uint32_t kind = random_below(&me->random, 100);
	uint64_t area = used_sectors;
	uint64_t into;

	*sectors = choose_size(me);
	if (kind < 30) {
		/* On: runs make whole stripes out of small writes. */
		if (!me->run_left) {
			me->run_left = set.stripe * (1 + random_below(&me->random, 4));
			me->run_at = random_below(&me->random, used_sectors);
		}
		if (*sectors > me->run_left)
			*sectors = me->run_left;
		*sector = me->run_at;
		me->run_at += *sectors;
		me->run_left -= *sectors;
		if (me->run_at >= used_sectors)
			me->run_left = 0;
	} else {
		if (kind < 70 && area > HOT_STRIPES * set.stripe)
			area = HOT_STRIPES * set.stripe;
		*sector = random_below(&me->random, area);
		/* Half of the long ones exactly on stripes: these are not staged. */
		if (*sectors >= set.stripe && kind % 2) {
			into = (*sector + set.start) % set.stripe;
			*sector = *sector > into ? *sector - into : 0;
		}
	}
	if (set.write_back) {
		/* The page cache has whole pages, and no two requests may share one. */
		*sectors += *sector % PAGE_SECTORS;
		*sectors += (PAGE_SECTORS - *sectors % PAGE_SECTORS) % PAGE_SECTORS;
		*sector -= *sector % PAGE_SECTORS;
	}
	if (*sector + *sectors > used_sectors) {
		if (*sectors > used_sectors)
			*sectors = used_sectors;
		*sector = used_sectors - *sectors;
	}
}

/*
 * Operations
 */

/*
 * Asynchronous I/O is the one way to FUA without a flush: a synchronous write
 * with RWF_DSYNC is followed by one.
 */
static bool write_aio(struct thread *me, uint64_t sector, uint32_t sectors, bool fua)
{
	struct iocb cb = {
		.aio_fildes = device,
		.aio_lio_opcode = IOCB_CMD_PWRITE,
		.aio_buf = (uintptr_t)me->buffer,
		.aio_nbytes = (uint64_t)sectors * SECTOR_BYTES,
		.aio_offset = sector * SECTOR_BYTES,
		.aio_rw_flags = fua ? RWF_DSYNC : 0,
	};
	struct iocb *list = &cb;
	struct io_event event;
	long r;

	if (syscall(SYS_io_submit, me->aio, 1, &list) != 1)
		err(1, "cannot submit a write of %u sectors at %llu", sectors,
		    (unsigned long long)sector);
	do {
		r = syscall(SYS_io_getevents, me->aio, 1, 1, &event, NULL);
	} while (r < 0 && errno == EINTR);
	if (r == 1 && event.res == (int64_t)cb.aio_nbytes)
		return true;
	if (r != 1 || (!faults && !frozen))
		errx(1, "a write of %u sectors at %llu%s ended with %lld: see the kernel's log", sectors,
		     (unsigned long long)sector, fua ? ", FUA," : "",
		     r == 1 ? (long long)event.res : -errno);
	return false;
}

/* As the kernel writes pages back by itself: without a sign that anybody waits for them. */
static bool write_back(struct thread *me, uint64_t sector, uint32_t sectors)
{
	off_t at = sector * SECTOR_BYTES;
	size_t bytes = (size_t)sectors * SECTOR_BYTES;

	if (pwrite(cached, me->buffer, bytes, at) != (ssize_t)bytes)
		err(1, "cannot write %u sectors at %llu to the page cache", sectors,
		    (unsigned long long)sector);
	if (!sync_file_range(cached, at, bytes, SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER))
		return true;
	if (!faults && !frozen)
		err(1, "%u sectors at %llu cannot be written back", sectors, (unsigned long long)sector);
	return false;
}

static void put_mark(void)
{
	char text[32];
	uint32_t id;

	if (!set.log)
		return;
	pthread_mutex_lock(&lock);
	id = marks++;
	note(EVENT_MARK, id, 0, 0);
	pthread_mutex_unlock(&lock);

	snprintf(text, sizeof(text), "mark %u", id);
	if (dm_message(control, set.log, text))
		err(1, "'%s' does not take '%s'", set.log, text);

	pthread_mutex_lock(&lock);
	note(EVENT_MARKED, id, 0, 0);
	pthread_mutex_unlock(&lock);
}

static void write_range(struct thread *me, uint64_t sector, uint32_t sectors, bool fua)
{
	bool cached_write = set.write_back && !fua &&
			    random_below(&me->random, 1000) < set.write_back;
	uint32_t generation, i;
	bool good;

	pthread_mutex_lock(&lock);
	take_range(me, sector, sectors);
	generation = ++generations;
	note(EVENT_SUBMIT, generation, sector, sectors);
	pthread_mutex_unlock(&lock);

	for (i = 0; i < sectors; i++)
		sector_fill(me->buffer + i * SECTOR_BYTES, set.seed, sector + i, generation);
	good = cached_write ? write_back(me, sector, sectors) : write_aio(me, sector, sectors, fua);

	pthread_mutex_lock(&lock);
	if (good)
		note(fua ? EVENT_COMPLETE_FUA : EVENT_COMPLETE, generation, sector, sectors);
	for (i = 0; good && i < sectors; i++) {
		latest[sector + i] = generation;
		discarded[sector + i] = false;
	}
	free_range(me);
	pthread_mutex_unlock(&lock);
	if (good && fua)
		put_mark();
}

static void do_write(struct thread *me)
{
	bool fua = random_below(&me->random, 1000) < set.fua;
	uint32_t sectors;
	uint64_t sector;

	choose_range(me, &sector, &sectors);
	write_range(me, sector, sectors, fua);
}

/*
 * What was written last is what is read; a write that failed later may be there or
 * not. The range is in use by this thread.
 */
static void verify(struct thread *me, uint64_t sector, uint32_t sectors)
{
	ssize_t bytes = (ssize_t)sectors * SECTOR_BYTES;
	enum sector_kind kind;
	uint32_t generation, i;

	if (pread(device, me->buffer, bytes, sector * SECTOR_BYTES) != bytes) {
		if (faults || frozen)
			return;
		err(1, "cannot read %u sectors at %llu", sectors, (unsigned long long)sector);
	}
	for (i = 0; i < sectors; i++) {
		generation = 0;
		kind = sector_read(me->buffer + i * SECTOR_BYTES, set.seed, sector + i, &generation);
		if (kind == SECTOR_OURS && (set.lower || frozen) && generation > latest[sector + i])
			continue;
		if (kind == SECTOR_EMPTY && discarded[sector + i])
			continue;
		/* What md still has in its cache it gives to readers. */
		if (thrown_away && kind <= SECTOR_OURS && generation < latest[sector + i])
			continue;
		if (kind > SECTOR_OURS || generation != latest[sector + i])
			errx(1, "sector %llu was written by generation %u and reads as %s, generation %u",
			     (unsigned long long)sector + i, latest[sector + i],
			     sector_kind_name(kind), generation);
	}
}

static void do_read(struct thread *me)
{
	uint32_t sectors;
	uint64_t sector;

	choose_range(me, &sector, &sectors);
	pthread_mutex_lock(&lock);
	take_range(me, sector, sectors);
	pthread_mutex_unlock(&lock);

	verify(me, sector, sectors);

	pthread_mutex_lock(&lock);
	free_range(me);
	pthread_mutex_unlock(&lock);
}

/* Its zeros have a generation, too, by which they are told from those that were there before. */
static void do_discard(struct thread *me)
{
	uint32_t sectors, i;
	uint64_t sector;

	choose_range(me, &sector, &sectors);
	pthread_mutex_lock(&lock);
	take_range(me, sector, sectors);
	note(EVENT_DISCARD, ++generations, sector, sectors);
	pthread_mutex_unlock(&lock);

	if (ioctl(device, BLKDISCARD, (uint64_t[]){ sector * SECTOR_BYTES,
						    (uint64_t)sectors * SECTOR_BYTES }))
		err(1, "cannot discard %u sectors at %llu", sectors, (unsigned long long)sector);

	pthread_mutex_lock(&lock);
	for (i = 0; i < sectors; i++)
		discarded[sector + i] = true;
	free_range(me);
	pthread_mutex_unlock(&lock);
}

static struct journal_header header_now(void)
{
	return (struct journal_header) {
		.magic = JOURNAL_MAGIC,
		.seed = set.seed,
		.generations = generations,
		.flushes = flushes,
		.marks = marks,
		.sectors = device_sectors,
		.start = set.start,
		.events = nr_events,
	};
}

static void begin_stream(void)
{
	struct journal_header header = header_now();

	header.events = JOURNAL_STREAM;
	stream = open(set.journal, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (stream < 0 || write(stream, &header, sizeof(header)) != sizeof(header))
		err(1, "cannot write the journal '%s'", set.journal);
}

static void save_journal(void)
{
	struct journal_header header = header_now();
	FILE *file;

	if (stream >= 0) {
		stream_out();
		return;
	}
	file = fopen(set.journal, "w");
	if (!file || fwrite(&header, sizeof(header), 1, file) != 1 ||
	    fwrite(events, sizeof(*events), nr_events, file) != nr_events || fclose(file))
		err(1, "cannot write the journal '%s'", set.journal);
}

/* Cut the power of the disks, once; the run ends with that. */
static void cut_power(void)
{
	pthread_mutex_lock(&lock);
	if (frozen) {
		pthread_mutex_unlock(&lock);
		return;
	}
	frozen = true;
	pthread_mutex_unlock(&lock);
	if (dm_message(control, set.freeze, set.how))
		err(1, "'%s' does not take '%s'", set.freeze, set.how);
	pthread_mutex_lock(&lock);
	/* What anybody learns from now on is learnt without power. */
	save_journal();
	operations_left = 0;
	pthread_mutex_unlock(&lock);
	if (dm_message(control, set.freeze, "fail"))
		err(1, "'%s' does not take 'fail'", set.freeze);
}

static uint32_t flush_begin(void)
{
	uint32_t id;

	pthread_mutex_lock(&lock);
	id = flushes++;
	note(EVENT_FLUSH, id, 0, 0);
	pthread_mutex_unlock(&lock);
	return id;
}

static void flush_end(uint32_t id)
{
	pthread_mutex_lock(&lock);
	note(EVENT_FLUSHED, id, 0, 0);
	pthread_mutex_unlock(&lock);
	put_mark();
	if (freeze_when_flushed)
		cut_power();
}

static void do_flush(void)
{
	uint32_t id = flush_begin();

	if (!fdatasync(device))
		flush_end(id);
	else if (!faults && !frozen)
		err(1, "fdatasync");
}

/*
 * A suspended target has nothing staged, and what it wrote is stable; with noflush, too,
 * and where another one takes its place.
 */
static void do_suspend(struct thread *me)
{
	bool reload = random_below(&me->random, 1000) < set.reload;
	uint32_t id;

	pthread_mutex_lock(&control_lock);
	if (reload && dm_load_again(control, set.target))
		err(1, "'%s' does not take the table that it has", set.target);
	id = flush_begin();
	if (dm_suspend(control, set.target, random_below(&me->random, 2)))
		err(1, "'%s' cannot be suspended", set.target);
	/* It cannot fail; but what it could not write any more is not stable. */
	if (!frozen)
		flush_end(id);
	else if (reload)
		thrown_away = true;
	if (dm_resume(control, set.target))
		err(1, "'%s' cannot be resumed", set.target);
	pthread_mutex_unlock(&control_lock);
}

/* Change a key of the target while I/O goes on; the table's values come back. */
static void do_change(struct thread *me)
{
	char text[64];

	switch (random_below(&me->random, 4)) {
	case 0:
		snprintf(text, sizeof(text), "set stripe_bytes %u", set.stripe * SECTOR_BYTES / 2);
		break;
	case 1:
		snprintf(text, sizeof(text), "set stripe_bytes %u", set.stripe * SECTOR_BYTES);
		break;
	case 2:
		snprintf(text, sizeof(text), "set hold_ms %u", 1 + random_below(&me->random, 500));
		break;
	default:
		snprintf(text, sizeof(text), "set mode %s",
			 random_below(&me->random, 4) ? "writebehind" : "writethrough");
		break;
	}
	/* Suspend and messages exclude each other in dm core; a suspended target waits. */
	pthread_mutex_lock(&control_lock);
	if (dm_message(control, set.target, text))
		err(1, "'%s' does not take '%s'", set.target, text);
	pthread_mutex_unlock(&control_lock);
}

static void load_lower(const struct dm_line *lines, unsigned int nr)
{
	if (dm_load(control, set.lower, lines, nr) ||
	    dm_suspend(control, set.lower, false) || dm_resume(control, set.lower))
		err(1, "'%s' does not take a table that begins with '%s %s'", set.lower,
		    lines->type, lines->arguments);
}

/* The lower device as it should be, from @from on. */
static void linear(struct dm_line *line, uint64_t from)
{
	line->sectors = set.lower_sectors - from;
	line->type = "linear";
	snprintf(line->arguments, sizeof(line->arguments), "/dev/mapper/%s %llu", set.log,
		 (unsigned long long)from);
}

/* All of it refuses writes and flushes. */
static void break_all(void)
{
	struct dm_line line = { .sectors = set.lower_sectors, .type = "flakey" };

	snprintf(line.arguments, sizeof(line.arguments), "/dev/mapper/%s 0 0 1 1 error_writes",
		 set.log);
	load_lower(&line, 1);
}

/*
 * The first stripes refuse everything; a flush of the rest succeeds. But not of the
 * target, which was given something for the first ones.
 */
static void break_begin(struct thread *me)
{
	struct dm_line lines[2] = { { .sectors = set.start + 3 * set.stripe, .type = "error" } };

	write_range(me, random_below(&me->random, 2 * set.stripe), 8, false);
	linear(&lines[1], lines[0].sectors);
	load_lower(lines, 2);
	do_flush();
}

/*
 * Let the device under the target fail for a while, and be repaired. What was
 * acknowledged must survive that.
 */
static void do_fault(struct thread *me)
{
	struct dm_line line = { };
	unsigned long until;
	unsigned int naps = 0;

	pthread_mutex_lock(&control_lock);
	if (random_below(&me->random, 2))
		break_all();
	else
		break_begin(me);
	pthread_mutex_lock(&lock);
	until = operations_left - random_below(&me->random, operations_left < 50 ?
					       operations_left + 1 : 50);
	/* The others may be stuck until it is repaired, as they may be for memory. */
	while (operations_left > until && naps++ < 100) {
		pthread_mutex_unlock(&lock);
		usleep(10000);
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
	linear(&line, 0);
	load_lower(&line, 1);
	if (dm_message(control, set.target, "retry"))
		err(1, "'%s' does not take 'retry'", set.target);
	pthread_mutex_unlock(&control_lock);
}

static bool next_operation(void)
{
	bool more;

	pthread_mutex_lock(&lock);
	more = operations_left;
	operations_left -= more;
	pthread_mutex_unlock(&lock);
	return more;
}

static void *run_thread(void *data)
{
	const uint32_t suspend = set.flush + set.suspend;
	const uint32_t change = suspend + set.change;
	const uint32_t fault = change + faults;
	const uint32_t discard = fault + set.discard;
	const uint32_t read = discard + set.read;
	struct thread *me = data;

	while (next_operation()) {
		uint32_t kind = random_below(&me->random, 1000);

		if (kind < set.flush)
			do_flush();
		else if (kind < suspend)
			do_suspend(me);
		else if (kind < change)
			do_change(me);
		else if (kind < fault)
			do_fault(me);
		else if (kind < discard)
			do_discard(me);
		else if (kind < read)
			do_read(me);
		else
			do_write(me);
	}
	return NULL;
}

static void verify_all(void)
{
	uint32_t step = 2 * set.stripe;
	uint64_t at;

	for (at = 0; at < device_sectors; at += step)
		verify(&threads[0], at, device_sectors - at < step ? device_sectors - at : step);
}

/* What the device holds since the power was cut: a number more than was used, then sectors. */
static void read_contents(void)
{
	FILE *file = fopen(set.contents, "r");

	if (!file || fread(&generations, sizeof(generations), 1, file) != 1 ||
	    fread(latest, sizeof(*latest), device_sectors, file) != device_sectors)
		err(1, "cannot read the contents '%s'", set.contents);
	fclose(file);
}

/*
 * Command line
 */

static void show_help(void)
{
	printf("Usage: writer --device DEV --target NAME --journal FILE --stripe BYTES [OPTION]...\n"
	       "\n"
	       "Writes to DEV at random, and to FILE what must be on it after a power cut.\n"
	       "\n"
	       "  --device DEV      the device to write to\n"
	       "  --target NAME     its device-mapper name, for suspends and messages\n"
	       "  --journal FILE    what was done; for 'check' or 'judge'\n"
	       "  --stream          write it as it goes: for a machine that will be killed\n"
	       "  --log NAME        the device-mapper name of a log-writes device, to put marks there\n"
	       "  --contents FILE   what DEV holds, from 'judge' (default: all of it is zero)\n"
	       "  --freeze NAME --how TEXT\n"
	       "                    some time into the run, send NAME the message TEXT, write\n"
	       "                    the journal, send 'fail', and end\n"
	       "  --stripe BYTES    stripe width; sizes and places are chosen by it\n"
	       "  --start SECTORS   where DEV begins on the device under it (default 0)\n"
	       "  --area N          use the first N stripes only (default all)\n"
	       "  --seed N          of the random choices (default 1)\n"
	       "  --operations N    how many (default 1000)\n"
	       "  --threads N       how many at a time (default 8)\n"
	       "  --write-back N    so many of 1000 writes go through the page cache, which writes them\n"
	       "                    back at once (default 0)\n"
	       "  --fua N           so many of 1000 writes have FUA (default 40)\n"
	       "  --flush N         so many of 1000 operations are flushes (default 25)\n"
	       "  --suspend N       ... a suspend and a resume (default 10)\n"
	       "  --reload N        of 1000 of these, with a table that is loaded anew (default 500)\n"
	       "  --change N        ... a message that changes a key (default 0)\n"
	       "  --fault N         ... a failure of the lower device for a while (default 0)\n"
	       "  --lower NAME      its device-mapper name; a linear mapping of all of the log\n"
	       "  --discard N       ... a discard (default 0)\n"
	       "  --read N          ... a read that is checked (default 100)\n"
	       "\n"
	       "Exit status: 0 done, 1 an operation failed or read something wrong, 2 wrong usage.\n");
}

static unsigned long parse_number(const char *option, const char *text, unsigned long max)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || value > max)
		errx(2, "--%s '%s' is no number up to %lu, see --help", option, text, max);
	return value;
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "target", required_argument, NULL, 't' },
		{ "log", required_argument, NULL, 'l' },
		{ "journal", required_argument, NULL, 'j' },
		{ "stream", no_argument, NULL, 'S' },
		{ "contents", required_argument, NULL, 'C' },
		{ "freeze", required_argument, NULL, 'z' },
		{ "how", required_argument, NULL, 'Z' },
		{ "stripe", required_argument, NULL, 'w' },
		{ "start", required_argument, NULL, 'b' },
		{ "area", required_argument, NULL, 'x' },
		{ "seed", required_argument, NULL, 's' },
		{ "operations", required_argument, NULL, 'o' },
		{ "threads", required_argument, NULL, 'n' },
		{ "write-back", required_argument, NULL, 'B' },
		{ "fua", required_argument, NULL, 'u' },
		{ "flush", required_argument, NULL, 'f' },
		{ "suspend", required_argument, NULL, 'p' },
		{ "reload", required_argument, NULL, 'R' },
		{ "change", required_argument, NULL, 'c' },
		{ "read", required_argument, NULL, 'r' },
		{ "fault", required_argument, NULL, 'e' },
		{ "lower", required_argument, NULL, 'm' },
		{ "discard", required_argument, NULL, 'D' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int option, index;

	while ((option = getopt_long(argc, argv, "h", options, &index)) != -1) {
		const char *name = option == '?' ? "" : options[index].name;

		switch (option) {
		case 'd':
			set.device = optarg;
			break;
		case 't':
			set.target = optarg;
			break;
		case 'l':
			set.log = optarg;
			break;
		case 'j':
			set.journal = optarg;
			break;
		case 'S':
			set.stream = true;
			break;
		case 'C':
			set.contents = optarg;
			break;
		case 'z':
			set.freeze = optarg;
			break;
		case 'Z':
			set.how = optarg;
			break;
		case 'w':
			set.stripe = parse_number(name, optarg, 64 << 20) / SECTOR_BYTES;
			break;
		case 'b':
			set.start = parse_number(name, optarg, UINT32_MAX);
			break;
		case 'x':
			set.area = parse_number(name, optarg, UINT16_MAX);
			break;
		case 's':
			set.seed = parse_number(name, optarg, UINT32_MAX);
			break;
		case 'o':
			set.operations = parse_number(name, optarg, UINT32_MAX);
			break;
		case 'n':
			set.threads = parse_number(name, optarg, THREADS_MAX);
			break;
		case 'B':
			set.write_back = parse_number(name, optarg, 1000);
			break;
		case 'u':
			set.fua = parse_number(name, optarg, 1000);
			break;
		case 'f':
			set.flush = parse_number(name, optarg, 1000);
			break;
		case 'p':
			set.suspend = parse_number(name, optarg, 1000);
			break;
		case 'R':
			set.reload = parse_number(name, optarg, 1000);
			break;
		case 'c':
			set.change = parse_number(name, optarg, 1000);
			break;
		case 'r':
			set.read = parse_number(name, optarg, 1000);
			break;
		case 'e':
			set.fault = parse_number(name, optarg, 1000);
			break;
		case 'm':
			set.lower = optarg;
			break;
		case 'D':
			set.discard = parse_number(name, optarg, 1000);
			break;
		case 'h':
			show_help();
			exit(0);
		default:
			exit(2);
		}
	}
	/* What could not be written back the page cache says once, not to each who waits. */
	if (set.write_back && (set.fault || set.freeze))
		errx(2, "--write-back does not go with --fault and --freeze");
	if (set.discard && (set.fault || set.freeze || set.write_back))
		errx(2, "--discard does not go with --fault, --freeze and --write-back");
	if (!set.device || !set.target || !set.journal || !set.stripe ||
	    !set.threads || optind != argc || !set.fault != !set.lower ||
	    !set.freeze != !set.how)
		errx(2, "give --device, --target, --journal and --stripe, --lower with --fault and --how with --freeze, see --help");
}

static void start(void)
{
	size_t buffer_bytes = (2UL * set.stripe + PAGE_SECTORS) * SECTOR_BYTES;
	unsigned int i;
	uint64_t bytes;

	device = open(set.device, O_RDWR | O_DIRECT);
	cached = open(set.device, O_RDWR);
	if (device < 0 || cached < 0 || ioctl(device, BLKGETSIZE64, &bytes))
		err(1, "cannot open '%s'", set.device);
	control = dm_open();
	if (control < 0)
		err(1, "cannot open the device-mapper's control node");
	device_sectors = bytes / SECTOR_BYTES;
	used_sectors = device_sectors;
	if (set.area && used_sectors > (uint64_t)set.area * set.stripe)
		used_sectors = (uint64_t)set.area * set.stripe;
	if (set.write_back)
		used_sectors -= used_sectors % PAGE_SECTORS;
	set.lower_sectors = set.start + device_sectors;
	latest = calloc(device_sectors, sizeof(*latest));
	discarded = calloc(device_sectors, sizeof(*discarded));
	if (!latest || !discarded)
		errx(1, "no memory for %llu sectors", (unsigned long long)device_sectors);
	if (set.contents)
		read_contents();
	if (set.stream)
		begin_stream();

	for (i = 0; i < set.threads; i++) {
		threads[i].number = i;
		threads[i].random = ((uint64_t)set.seed << 8 | i) * 0x9e3779b97f4a7c15ULL +
				    ((uint64_t)generations << 40);
		if (syscall(SYS_io_setup, 1, &threads[i].aio))
			err(1, "io_setup");
		if (posix_memalign((void **)&threads[i].buffer, 4096, buffer_bytes))
			errx(1, "no memory for a buffer of %zu bytes", buffer_bytes);
	}
}

/* At some time during the run, or with the end of the first flush after it. */
static void freeze_in_time(unsigned long operations)
{
	uint64_t random = set.seed * 0x9e3779b97f4a7c15ULL + generations;
	unsigned long until;

	random_next(&random);
	/* Never among the first, when hardly anything is owed. */
	until = random_below(&random, operations * 9 / 10);
	pthread_mutex_lock(&lock);
	while (operations_left > until) {
		pthread_mutex_unlock(&lock);
		usleep(1000);
		pthread_mutex_lock(&lock);
	}
	freeze_when_flushed = random_below(&random, 4);
	while (freeze_when_flushed && operations_left) {
		pthread_mutex_unlock(&lock);
		usleep(1000);
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
	cut_power();
}

static void run(unsigned long operations, unsigned int with_faults)
{
	unsigned int i;

	operations_left = operations;
	faults = with_faults;
	for (i = 0; i < set.threads; i++)
		if (pthread_create(&threads[i].id, NULL, run_thread, &threads[i]))
			errx(1, "cannot start a thread");
	if (set.freeze)
		freeze_in_time(operations);
	for (i = 0; i < set.threads; i++)
		pthread_join(threads[i].id, NULL);
	faults = 0;
}

int main(int argc, char **argv)
{
	parse(argc, argv);
	start();
	/* The first mark: everything is in place, and nothing written. */
	put_mark();
	run(set.operations, set.fault);
	if (!frozen) {
		/*
		 * The next flush may still have to tell of one of the target's own. And where one failed
		 * writes with FUA do, too, until one has succeeded, a second later.
		 */
		if (set.fault) {
			faults = 1;
			do_flush();
			faults = 0;
			sleep(2);
			do_flush();
		}
		verify_all();
		/* What is staged when the target is removed must not get lost either. */
		run(5 * set.threads, 0);
	}
	if (!frozen)
		save_journal();
	printf("seed %u: %u writes, %u flushes, %u marks\n", set.seed, generations, flushes, marks);
	return 0;
}

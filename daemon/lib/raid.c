// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <linux/bitmap.h>

#include "macros.h"
#include "members.h"
#include "raid.h"

#define BLOCK			4096
#define BLOCK_SECTORS		(BLOCK / SECTOR)

/* A row that md remembers. */
struct row {
	TAILQ_ENTRY(row) age;
	LIST_ENTRY(row) bucket;
	uint64_t number;
	/* For each block, data first, whether md has it. */
	bool *fresh;
};

TAILQ_HEAD(rows, row);
LIST_HEAD(bucket, row);

enum phase {
	STRAIGHT,	/* reads that do not pass through md's thread, before all else */
	READ,
	WRITE,
};

/* A row to be written, or the straight reads of an io. */
struct job {
	TAILQ_ENTRY(job) all;
	TAILQ_ENTRY(job) link;	/* in one list, if it is not all under way */
	struct raid_io *io;
	enum phase phase;
	bool preread;		/* counts in raid.prereads */
	bool sent;		/* all of its phase is under way */
	unsigned int pending;	/* what of it is */
	unsigned int left;	/* members that its phase has not come to; from the last to the first */
	uint64_t row;
	struct sender *sender;	/* of straight reads, of which it has sent @nr_sent */
	size_t nr_sent;
	/* Of each member, a bit for READ and one for WRITE. */
	unsigned char wants[];
};

TAILQ_HEAD(jobs, job);
TAILQ_HEAD(raid_ios, raid_io);

struct raid {
	struct raid_shape shape;
	unsigned int nr_members;
	uint64_t chunk_rows;
	struct members *members;
	struct raid_counts counts;	/* of rows */
	struct rows rows;	/* the latest last */
	struct bucket buckets[RAID_CACHE_ROWS];
	struct row cache[RAID_CACHE_ROWS];
	bool *fresh;
	struct raid_ios ios, ended;

	/*
	 * md's thread, with the names that raid5.c has: it goes through @batch, and takes the
	 * next rows from @handle or, if that is empty, @hold. Rows that have to be read for and that
	 * nobody waits for it puts off, into @delayed, until no row that may be read for is left
	 * that was not written (preread_active_stripes).
	 */
	struct sender thread;
	struct jobs batch, handle, hold, delayed;
	unsigned int prereads;
	struct jobs all;
};

struct raid_io {
	TAILQ_ENTRY(raid_io) link;
	struct raid *raid;
	void *token;
	bool sync;
	struct jobs jobs;	/* that are not md's yet */
	unsigned int nr_jobs;	/* that have not ended */
	uint64_t done_at;
	size_t nr_reads, room;
	struct member_bio *reads;
};

/**
 * raid_new() - an array of which md remembers nothing
 * @shape: copied
 * @ret: the array
 *
 * Return: 0 or -ENOMEM.
 */
int raid_new(const struct raid_shape *shape, struct raid **ret)
{
	struct raid *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->shape = *shape;
	r->nr_members = shape->data_members + shape->parity;
	r->chunk_rows = shape->chunk_bytes / BLOCK;
	TAILQ_INIT(&r->rows);
	TAILQ_INIT(&r->ios);
	TAILQ_INIT(&r->ended);
	sender_init(&r->thread, NULL);
	TAILQ_INIT(&r->batch);
	TAILQ_INIT(&r->handle);
	TAILQ_INIT(&r->hold);
	TAILQ_INIT(&r->delayed);
	TAILQ_INIT(&r->all);
	r->fresh = calloc(RAID_CACHE_ROWS, r->nr_members);
	if (!r->fresh || members_new(r->nr_members, shape->service_ns, shape->queue_requests,
				     &r->members) < 0) {
		raid_free(r);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < RAID_CACHE_ROWS; i++) {
		r->cache[i].number = UINT64_MAX;
		r->cache[i].fresh = r->fresh + i * r->nr_members;
		TAILQ_INSERT_TAIL(&r->rows, &r->cache[i], age);
	}
	*ret = r;
	return 0;
}

static void io_free(struct raid_ios *list, struct raid_io *io)
{
	TAILQ_REMOVE(list, io, link);
	free(io->reads);
	free(io);
}

static void job_free(struct raid *r, struct job *job)
{
	TAILQ_REMOVE(&r->all, job, all);
	if (job->sender)
		sender_free(job->sender);
	free(job->sender);
	free(job);
}

/**
 * raid_free() - free an array and what is under way
 * @r: the array or NULL
 *
 * Return: NULL.
 */
struct raid *raid_free(struct raid *r)
{
	if (!r)
		return NULL;
	while (!TAILQ_EMPTY(&r->ios))
		io_free(&r->ios, TAILQ_FIRST(&r->ios));
	while (!TAILQ_EMPTY(&r->ended))
		io_free(&r->ended, TAILQ_FIRST(&r->ended));
	while (!TAILQ_EMPTY(&r->all))
		job_free(r, TAILQ_FIRST(&r->all));
	sender_free(&r->thread);
	members_free(r->members);
	free(r->fresh);
	free(r);
	return NULL;
}

/* md's default layout (left-symmetric): parity moves down, data begins behind it. */
static unsigned int member_of(const struct raid *r, uint64_t stripe, unsigned int block)
{
	unsigned int parity = r->nr_members - 1 - stripe % r->nr_members;

	if (block >= r->shape.data_members)
		return (parity + block - r->shape.data_members) % r->nr_members;
	return (parity + r->shape.parity + block) % r->nr_members;
}

/* The row, as md has it; what it has had the longest makes room for it. */
static struct row *take_row(struct raid *r, uint64_t number)
{
	struct bucket *bucket = &r->buckets[number % RAID_CACHE_ROWS];
	struct row *row;

	LIST_FOREACH(row, bucket, bucket)
		if (row->number == number)
			break;
	if (!row) {
		row = TAILQ_FIRST(&r->rows);
		if (row->number != UINT64_MAX)
			LIST_REMOVE(row, bucket);
		row->number = number;
		memset(row->fresh, 0, r->nr_members);
		LIST_INSERT_HEAD(bucket, row, bucket);
	}
	TAILQ_REMOVE(&r->rows, row, age);
	TAILQ_INSERT_TAIL(&r->rows, row, age);
	return row;
}

/**
 * raid_io_new() - begin to collect what leaves in one plug
 * @r: the array
 * @sync: somebody waits (REQ_SYNC): md puts nothing off
 * @token: what raid_advance() gives back when it is done
 *
 * Return: the new one, NULL if there is no memory.
 */
struct raid_io *raid_io_new(struct raid *r, bool sync, void *token)
{
	struct raid_io *io = calloc(1, sizeof(*io));

	if (!io)
		return NULL;
	io->raid = r;
	io->token = token;
	io->sync = sync;
	TAILQ_INIT(&io->jobs);
	TAILQ_INSERT_TAIL(&r->ios, io, link);
	return io;
}

static int add_read(struct raid_io *io, const struct member_bio *bio)
{
	if (io->nr_reads == io->room) {
		size_t room = io->room ? 2 * io->room : 4;
		struct member_bio *reads = reallocarray(io->reads, room, sizeof(reads[0]));

		if (!reads)
			return -ENOMEM;
		io->reads = reads;
		io->room = room;
	}
	io->reads[io->nr_reads++] = *bio;
	return 0;
}

static struct job *add_job(struct raid_io *io, enum phase phase)
{
	struct raid *r = io->raid;
	struct job *job = calloc(1, sizeof(*job) + r->nr_members);

	if (!job)
		return NULL;
	job->io = io;
	job->phase = phase;
	job->left = r->nr_members;
	io->nr_jobs++;
	TAILQ_INSERT_TAIL(&r->all, job, all);
	return job;
}

/**
 * raid_io_read() - read sectors of a stripe
 * @io: part of this
 * @stripe: number of the stripe
 * @first: first sector in the stripe
 * @sectors: how many, not beyond the stripe
 *
 * md reads straight from the members, each chunk by itself; the block layer cuts what is longer
 * than a request.
 *
 * Return: 0 or -ENOMEM.
 */
int raid_io_read(struct raid_io *io, uint64_t stripe, uint32_t first, uint32_t sectors)
{
	const struct raid *r = io->raid;
	uint64_t chunk = r->chunk_rows * BLOCK_SECTORS;
	uint64_t at = first, end = (uint64_t)first + sectors;

	while (at < end) {
		uint64_t chunk_end = (at / chunk + 1) * chunk;
		uint64_t bio_end = (at / BLOCK_SECTORS + REQUEST_BLOCKS) * BLOCK_SECTORS;
		uint64_t whole = chunk_end < bio_end ? chunk_end : bio_end;
		uint64_t stop = whole < end ? whole : end;
		uint64_t from = at % chunk / BLOCK_SECTORS;
		uint64_t to = ((stop - 1) % chunk) / BLOCK_SECTORS + 1;
		int k = add_read(io, &(struct member_bio) {
			.member = member_of(r, stripe, at / chunk),
			.first = stripe * r->chunk_rows + from,
			.blocks = to - from,
		});

		if (k < 0)
			return k;
		at = stop;
	}
	return 0;
}

/* What a write does to a block. */
enum touch { UNTOUCHED, IN_PART, WHOLE };

static enum touch touch_of(const struct raid *r, const unsigned long *dirty, unsigned int block,
			   uint64_t row)
{
	u32 first = (block * r->chunk_rows + row) * BLOCK_SECTORS;
	u32 end = first + BLOCK_SECTORS;

	if (find_next_bit(dirty, end, first) == end)
		return UNTOUCHED;
	return find_next_zero_bit(dirty, end, first) == end ? WHOLE : IN_PART;
}

/* One row: @dirty says what is new of its stripe. */
static int write_row(struct raid_io *io, uint64_t stripe, uint64_t in_chunk,
		     const unsigned long *dirty)
{
	struct raid *r = io->raid;
	unsigned int data = r->shape.data_members, rmw = 0, rcw = 0, touched = 0;
	uint64_t number = stripe * r->chunk_rows + in_chunk;
	struct row *row;
	struct job *job;
	bool reads, modify;

	for (unsigned int i = 0; i < data; i++)
		touched += touch_of(r, dirty, i, in_chunk) != UNTOUCHED;
	if (touched == 0)
		return 0;
	row = take_row(r, number);
	for (unsigned int i = 0; i < r->nr_members; i++) {
		enum touch touch = i < data ? touch_of(r, dirty, i, in_chunk) : UNTOUCHED;

		if (row->fresh[i])
			continue;
		rmw += i >= data || touch != UNTOUCHED;
		rcw += i < data && touch != WHOLE;
	}
	modify = rmw < rcw;
	reads = modify ? rmw > 0 : rcw > 0;
	r->counts.rmw += reads && modify;
	r->counts.rcw += reads && !modify;

	job = add_job(io, reads ? READ : WRITE);
	if (!job)
		return -ENOMEM;
	job->row = number;
	TAILQ_INSERT_TAIL(&io->jobs, job, link);
	for (unsigned int i = 0; i < r->nr_members; i++) {
		enum touch touch = i < data ? touch_of(r, dirty, i, in_chunk) : UNTOUCHED;
		bool wanted = modify ? i >= data || touch != UNTOUCHED : i < data && touch != WHOLE;
		unsigned char *wants = &job->wants[member_of(r, stripe, i)];

		if (reads && wanted && !row->fresh[i]) {
			*wants |= 1 << READ;
			row->fresh[i] = true;
		}
		if (i >= data || touch != UNTOUCHED) {
			*wants |= 1 << WRITE;
			row->fresh[i] = true;
		}
	}
	return 0;
}

/**
 * raid_io_write() - write sectors of a stripe
 * @io: part of this; stripes in ascending order
 * @stripe: number of the stripe
 * @dirty: a bit for each sector of the stripe: it is written
 *
 * Return: 0 or -ENOMEM.
 */
int raid_io_write(struct raid_io *io, uint64_t stripe, const unsigned long *dirty)
{
	for (uint64_t row = 0; row < io->raid->chunk_rows; row++) {
		int k = write_row(io, stripe, row, dirty);

		if (k < 0)
			return k;
	}
	return 0;
}

static void end_one_of(struct raid_io *io, uint64_t now)
{
	if (--io->nr_jobs > 0)
		return;
	io->done_at = now;
	TAILQ_REMOVE(&io->raid->ios, io, link);
	TAILQ_INSERT_TAIL(&io->raid->ended, io, link);
}

/* Give md the rows of an io. */
static void hand_over(struct raid_io *io)
{
	struct raid *r = io->raid;
	struct job *job;

	while ((job = TAILQ_FIRST(&io->jobs))) {
		TAILQ_REMOVE(&io->jobs, job, link);
		job->preread = io->sync;
		r->prereads += job->preread;
		TAILQ_INSERT_TAIL(&r->handle, job, link);
	}
}

/* What of a phase was sent is done. */
static void end_phase(struct raid *r, struct job *job, uint64_t now)
{
	struct raid_io *io = job->io;

	switch (job->phase) {
	case READ:
		job->phase = WRITE;
		job->sent = false;
		job->left = r->nr_members;
		TAILQ_INSERT_TAIL(&r->handle, job, link);
		return;
	case STRAIGHT:
		hand_over(io);
		break;
	case WRITE:
		break;
	}
	job_free(r, job);
	end_one_of(io, now);
}

/* Send what a phase of a row wants. Return: 1, 0 if that has to wait, or -ENOMEM. */
static int send_row(struct raid *r, struct job *job, uint64_t now)
{
	/*
	 * md goes through the members from the last to the first. Of two stripes, neighbours are
	 * seldom joined where chunks are as large as what a plug holds back: the first stripe has
	 * left by then.
	 */
	for (; job->left > 0; job->left--) {
		struct member_bio bio = {
			.member = job->left - 1,
			.write = job->phase == WRITE,
			.apart = r->chunk_rows >= PLUG_BLOCKS && job->row % r->chunk_rows == 0,
			.first = job->row,
			.blocks = 1,
		};
		int k;

		if (!(job->wants[bio.member] & 1 << job->phase))
			continue;
		k = members_send(r->members, &r->thread, &bio, job, now);
		if (k <= 0)
			return k;
		job->pending++;
	}
	return 1;
}

/* md's thread has come to a row. Return: as send_row(). */
static int handle(struct raid *r, struct job *job, uint64_t now)
{
	int k;

	if (job->phase == READ && !job->preread) {
		TAILQ_REMOVE(&r->batch, job, link);
		TAILQ_INSERT_TAIL(&r->delayed, job, link);
		return 1;
	}
	k = send_row(r, job, now);
	if (k <= 0)
		return k;
	TAILQ_REMOVE(&r->batch, job, link);
	job->sent = true;
	if (job->phase == WRITE) {
		r->prereads -= job->preread;
		job->preread = false;
	}
	return 1;
}

static void take_up_delayed(struct raid *r)
{
	struct job *job;

	if (r->prereads > 0)
		return;
	while ((job = TAILQ_FIRST(&r->delayed))) {
		TAILQ_REMOVE(&r->delayed, job, link);
		job->preread = true;
		r->prereads++;
		TAILQ_INSERT_TAIL(&r->hold, job, link);
	}
}

static void take_batch(struct raid *r)
{
	for (unsigned int n = 0; n < RAID_BATCH_ROWS; n++) {
		struct jobs *from = TAILQ_EMPTY(&r->handle) ? &r->hold : &r->handle;
		struct job *job = TAILQ_FIRST(from);

		if (!job)
			return;
		TAILQ_REMOVE(from, job, link);
		TAILQ_INSERT_TAIL(&r->batch, job, link);
	}
}

/* md's thread goes on, until it has to wait or has nothing to do: raid5d(). */
static int run(struct raid *r, uint64_t now)
{
	if (r->thread.waits)
		return 0;
	for (;;) {
		struct job *job;

		while ((job = TAILQ_FIRST(&r->batch))) {
			int k = handle(r, job, now);

			if (k <= 0)
				return k;
		}
		take_up_delayed(r);
		take_batch(r);
		if (TAILQ_EMPTY(&r->batch))
			break;
	}
	members_unplug(r->members, &r->thread, now);
	return 0;
}

/* Who reads straight goes on. */
static int run_straight(struct raid *r, struct job *job, uint64_t now)
{
	struct raid_io *io = job->io;

	for (; job->nr_sent < io->nr_reads; job->nr_sent++) {
		int k = members_send(r->members, job->sender, &io->reads[job->nr_sent], job, now);

		if (k <= 0)
			return k;
		job->pending++;
	}
	members_unplug(r->members, job->sender, now);
	job->sent = true;
	return 0;
}

/* All who can go on. */
static int run_all(struct raid *r, uint64_t now)
{
	struct sender *s;

	while ((s = members_granted(r->members))) {
		int k = s->owner ? run_straight(r, s->owner, now) : run(r, now);

		if (k < 0)
			return k;
	}
	return run(r, now);
}

/**
 * raid_io_submit() - let go what was collected: of each row first the reads, then the writes
 * @io: no longer the caller's
 * @now: when
 *
 * If nothing was collected its token is not given back.
 *
 * Return: 0 or -ENOMEM.
 */
int raid_io_submit(struct raid_io *io, uint64_t now)
{
	struct raid *r = io->raid;
	struct job *job;

	if (!io->nr_reads && !io->nr_jobs) {
		io_free(&r->ios, io);
		return 0;
	}
	if (!io->nr_reads) {
		hand_over(io);
		return run(r, now);
	}
	job = add_job(io, STRAIGHT);
	if (!job)
		return -ENOMEM;
	job->sender = malloc(sizeof(*job->sender));
	if (!job->sender)
		return -ENOMEM;
	sender_init(job->sender, job);
	return run_straight(r, job, now);
}

/**
 * raid_next() - when something changes next
 * @r: the array
 *
 * Return: the time, UINT64_MAX if nothing is under way.
 */
uint64_t raid_next(const struct raid *r)
{
	const struct raid_io *ended = TAILQ_FIRST(&r->ended);

	return ended ? ended->done_at : members_next(r->members);
}

/* A request of a member ends. */
static void end_request(struct raid *r, uint64_t now)
{
	void **tokens;
	size_t n = members_end(r->members, &tokens);

	for (size_t i = 0; i < n; i++) {
		struct job *job = tokens[i];

		if (--job->pending == 0 && job->sent)
			end_phase(r, job, now);
	}
}

/**
 * raid_advance() - go on to a time
 * @r: the array
 * @now: the time
 * @token: set to that of what has ended, if something has
 *
 * Return: 1 if something given to raid_io_submit() has ended by then, and there may be
 * more; 0 if not; or -ENOMEM.
 */
int raid_advance(struct raid *r, uint64_t now, void **token)
{
	struct raid_io *io;
	uint64_t next;
	int k = 0;

	while (k == 0 && TAILQ_EMPTY(&r->ended) && (next = members_next(r->members)) <= now &&
	       next != UINT64_MAX) {
		/* What ends at one time ends before the thread goes on. */
		while (members_next(r->members) == next)
			end_request(r, next);
		k = run_all(r, next);
	}
	io = TAILQ_FIRST(&r->ended);
	if (k < 0 || !io)
		return k;
	*token = io->token;
	io_free(&r->ended, io);
	return 1;
}

/**
 * raid_counts() - what was done so far
 * @r: the array
 */
struct raid_counts raid_counts(const struct raid *r)
{
	struct member_counts members = members_counts(r->members);
	struct raid_counts counts = r->counts;

	counts.reads = members.reads;
	counts.writes = members.writes;
	return counts;
}

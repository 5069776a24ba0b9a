// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <linux/bitmap.h>

#include "macros.h"
#include "raid.h"

#define BLOCK			4096
#define BLOCK_SECTORS		(BLOCK / SECTOR)
/* No request is longer: max_sectors_kb as the kernel sets it for disks, 1280. */
#define REQUEST_BLOCKS		320
/* The block layer sends a plug's requests off when one of so much, 128 KiB, is followed by another. */
#define PLUG_BLOCKS		32
/* md puts rows off for which it has to read, if nobody waits, and then takes up so many. */
#define ROWS_AT_A_TIME		8
#define NONE			SIZE_MAX

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

/* Neighbouring blocks of a member: a request. */
struct piece {
	unsigned int member;
	uint64_t first, blocks;
};

struct pieces {
	size_t n, room;
	struct piece *list;
};

struct raid {
	struct raid_shape shape;
	unsigned int members;
	uint64_t chunk_rows;
	uint64_t *busy_until;	/* of each member */
	uint64_t rows_put_off;	/* since there was last nothing to do */
	struct raid_counts counts;
	struct rows rows;	/* the latest last */
	struct bucket buckets[RAID_CACHE_ROWS];
	struct row cache[RAID_CACHE_ROWS];
	bool *fresh;
	TAILQ_HEAD(raid_ios, raid_io) ios;
};

struct raid_io {
	TAILQ_ENTRY(raid_io) link;
	struct raid *raid;
	void *token;
	bool sync;
	uint64_t done_at;	/* the reads, or when they are done the writes */
	struct pieces reads, writes;
	/* For each member its latest piece of @reads and of @writes. */
	size_t latest[];
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
	r->members = shape->data_members + shape->parity;
	r->chunk_rows = shape->chunk_bytes / BLOCK;
	TAILQ_INIT(&r->rows);
	TAILQ_INIT(&r->ios);
	r->fresh = calloc(RAID_CACHE_ROWS, r->members);
	r->busy_until = calloc(r->members, sizeof(r->busy_until[0]));
	if (!r->fresh || !r->busy_until) {
		raid_free(r);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < RAID_CACHE_ROWS; i++) {
		r->cache[i].number = UINT64_MAX;
		r->cache[i].fresh = r->fresh + i * r->members;
		TAILQ_INSERT_TAIL(&r->rows, &r->cache[i], age);
	}
	*ret = r;
	return 0;
}

static void io_free(struct raid_io *io)
{
	TAILQ_REMOVE(&io->raid->ios, io, link);
	free(io->reads.list);
	free(io->writes.list);
	free(io);
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
		io_free(TAILQ_FIRST(&r->ios));
	free(r->busy_until);
	free(r->fresh);
	free(r);
	return NULL;
}

/* md's default layout (left-symmetric): parity moves down, data begins behind it. */
static unsigned int member_of(const struct raid *r, uint64_t stripe, unsigned int block)
{
	unsigned int parity = r->members - 1 - stripe % r->members;

	if (block >= r->shape.data_members)
		return (parity + block - r->shape.data_members) % r->members;
	return (parity + r->shape.parity + block) % r->members;
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
		memset(row->fresh, 0, r->members);
		LIST_INSERT_HEAD(bucket, row, bucket);
	}
	TAILQ_REMOVE(&r->rows, row, age);
	TAILQ_INSERT_TAIL(&r->rows, row, age);
	return row;
}

static void forget_latest(struct raid_io *io)
{
	for (unsigned int i = 0; i < 2 * io->raid->members; i++)
		io->latest[i] = NONE;
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
	struct raid_io *io = calloc(1, sizeof(*io) + 2 * r->members * sizeof(io->latest[0]));

	if (!io)
		return NULL;
	io->raid = r;
	io->token = token;
	io->sync = sync;
	forget_latest(io);
	io->done_at = UINT64_MAX;
	if (TAILQ_EMPTY(&r->ios))
		r->rows_put_off = 0;
	TAILQ_INSERT_TAIL(&r->ios, io, link);
	return io;
}

static int add_piece(struct pieces *pieces, const struct piece *piece)
{
	if (pieces->n == pieces->room) {
		size_t room = pieces->room ? 2 * pieces->room : 16;
		struct piece *list = reallocarray(pieces->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		pieces->list = list;
		pieces->room = room;
	}
	pieces->list[pieces->n++] = *piece;
	return 0;
}

/*
 * Of two stripes, neighbours join where each member's part of one is still in the plug
 * when the next comes.
 */
static bool joins(const struct raid *r, const struct piece *piece, uint64_t block)
{
	return piece->first + piece->blocks == block && piece->blocks < REQUEST_BLOCKS &&
	       (block % r->chunk_rows || r->chunk_rows < PLUG_BLOCKS);
}

/*
 * A block of a member; if it goes on with the latest piece of that, it is one request with
 * it. Among the requests of rows that were put off the block layer looks at each member's
 * first one only.
 */
static int add_block(struct raid_io *io, bool put_off, unsigned int member, bool write,
		     uint64_t block)
{
	struct pieces *pieces = write ? &io->writes : &io->reads;
	size_t *latest = &io->latest[write * io->raid->members + member];

	if (*latest != NONE) {
		struct piece *piece = &pieces->list[*latest];

		if (joins(io->raid, piece, block)) {
			piece->blocks++;
			return 0;
		}
	}
	if (*latest == NONE || !put_off)
		*latest = pieces->n;
	return add_piece(pieces, &(struct piece) { .member = member, .first = block, .blocks = 1 });
}

/**
 * raid_io_read() - read sectors of a stripe
 * @io: part of this
 * @stripe: number of the stripe
 * @first: first sector in the stripe
 * @sectors: how many, not beyond the stripe
 *
 * md reads straight from the members, each chunk by itself.
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
		uint64_t stop = chunk_end < end ? chunk_end : end;
		uint64_t from = at % chunk / BLOCK_SECTORS;
		uint64_t to = ((stop - 1) % chunk) / BLOCK_SECTORS + 1;
		int k = add_piece(&io->reads, &(struct piece) {
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
	bool reads, modify, put_off;
	int k = 0;

	for (unsigned int i = 0; i < data; i++)
		touched += touch_of(r, dirty, i, in_chunk) != UNTOUCHED;
	if (touched == 0)
		return 0;
	row = take_row(r, number);
	for (unsigned int i = 0; i < r->members; i++) {
		enum touch touch = i < data ? touch_of(r, dirty, i, in_chunk) : UNTOUCHED;

		if (row->fresh[i])
			continue;
		rmw += i >= data || touch != UNTOUCHED;
		rcw += i < data && touch != WHOLE;
	}
	modify = rmw < rcw;
	reads = modify ? rmw > 0 : rcw > 0;
	put_off = reads && !io->sync;
	if (put_off && r->rows_put_off++ % ROWS_AT_A_TIME == 0)
		forget_latest(io);
	r->counts.rmw += reads && modify;
	r->counts.rcw += reads && !modify;

	for (unsigned int i = 0; i < r->members && k == 0; i++) {
		enum touch touch = i < data ? touch_of(r, dirty, i, in_chunk) : UNTOUCHED;
		unsigned int member = member_of(r, stripe, i);
		bool wanted = modify ? i >= data || touch != UNTOUCHED : i < data && touch != WHOLE;

		if (reads && wanted && !row->fresh[i]) {
			k = add_block(io, put_off, member, false, number);
			row->fresh[i] = true;
		}
		if (k == 0 && (i >= data || touch != UNTOUCHED)) {
			k = add_block(io, put_off, member, true, number);
			row->fresh[i] = true;
		}
	}
	return k;
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

/* Hand the pieces to the members, which do one after the other. */
static void send(struct raid_io *io, struct pieces *pieces, uint64_t *count, uint64_t now)
{
	struct raid *r = io->raid;

	io->done_at = now;
	for (size_t i = 0; i < pieces->n; i++) {
		uint64_t *until = &r->busy_until[pieces->list[i].member];

		*until = (*until > now ? *until : now) + r->shape.service_ns;
		if (*until > io->done_at)
			io->done_at = *until;
	}
	*count += pieces->n;
	pieces->n = 0;
}

/**
 * raid_io_submit() - let go what was collected: first the reads, behind them the writes
 * @io: no longer the caller's
 * @now: when
 *
 * If nothing was collected its token is not given back.
 */
void raid_io_submit(struct raid_io *io, uint64_t now)
{
	struct raid_counts *counts = &io->raid->counts;

	if (io->reads.n)
		send(io, &io->reads, &counts->reads, now);
	else if (io->writes.n)
		send(io, &io->writes, &counts->writes, now);
	else
		io_free(io);
}

/* Among those that end at one time the first to have begun. */
static struct raid_io *next_io(const struct raid *r)
{
	struct raid_io *next = TAILQ_FIRST(&r->ios), *io;

	TAILQ_FOREACH(io, &r->ios, link)
		if (io->done_at < next->done_at)
			next = io;
	return next;
}

/**
 * raid_next() - when something changes next
 * @r: the array
 *
 * Return: the time, UINT64_MAX if nothing is under way.
 */
uint64_t raid_next(const struct raid *r)
{
	const struct raid_io *io = next_io(r);

	return io ? io->done_at : UINT64_MAX;
}

/**
 * raid_advance() - go on to a time
 * @r: the array
 * @now: the time
 * @token: set to that of what has ended, if something has
 *
 * Return: whether something given to raid_io_submit() has ended by then. There may
 * be more.
 */
bool raid_advance(struct raid *r, uint64_t now, void **token)
{
	struct raid_io *io;

	while ((io = next_io(r)) && io->done_at <= now) {
		if (io->writes.n > 0) {
			send(io, &io->writes, &r->counts.writes, io->done_at);
			continue;
		}
		*token = io->token;
		io_free(io);
		return true;
	}
	return false;
}

/**
 * raid_counts() - what was done so far
 * @r: the array
 */
struct raid_counts raid_counts(const struct raid *r)
{
	return r->counts;
}

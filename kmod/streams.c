// SPDX-License-Identifier: GPL-2.0
/*
 * A table of addresses at which reads are expected finds streams among any number of
 * others before anything is read for them (TaP: Li, Shah, Zhou, FAST'08). A stream is
 * confirmed by its fourth read, as by chance alone some three of a random load on a small
 * device go on with each other; until then it is a candidate, of which a random load
 * makes many: these replace each other, and no stream.
 *
 * How much is read ahead adapts to each stream (AMP: Gill and Bathen, FAST'07): more
 * at a time when what was read is consumed in time, more and sooner when its reader had
 * to wait, less when it was not wanted. Other than there it doubles and halves, and no
 * more is ahead of a reader than it has read so far, but for a step.
 *
 * A stream may be a row of runs with a constant stride from each to the next. A new
 * stream is taken for the next run of the one that was read last before it began, and
 * believed to be one when the same stride has been seen twice.
 */
#include <linux/hash.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "streams.h"

#define CONFIRM_READS	4
#define CONFIRM_STRIDES	2

/* Keys of an entry: where the next read is expected, and where else. */
enum key {
	KEY_NEXT,
	KEY_OTHER,
};

static bool is_candidate(const struct streams *table, const struct stream *stream)
{
	return stream >= table->entry + STREAMS_MAX;
}

/**
 * stream_is_strided() - whether a stream is a row of runs.
 * @stream: the stream.
 *
 * Return: true if so, as far as is known.
 */
bool stream_is_strided(const struct stream *stream)
{
	return stream->strides >= CONFIRM_STRIDES;
}

/*
 * A candidate of one read is expected to go on behind it, or before it. A strided
 * stream is expected to go on, or to jump.
 */
static bool has_other(const struct stream *stream)
{
	return stream->reads == 1 || stream_is_strided(stream);
}

static u64 key_of(const struct stream *stream, enum key key)
{
	if (key == KEY_NEXT)
		return stream->next;
	return stream_is_strided(stream) ? stream->jump : stream->start;
}

static u16 *bucket_of(struct streams *table, u64 address)
{
	return &table->bucket[hash_64(address, STREAM_BUCKET_BITS)];
}

static void link_key(struct streams *table, struct stream *stream, enum key key)
{
	u16 *bucket = bucket_of(table, key_of(stream, key));

	stream->link[key] = *bucket;
	*bucket = 2 * (stream - table->entry) + key;
}

static void unlink_key(struct streams *table, struct stream *stream, enum key key)
{
	u16 self = 2 * (stream - table->entry) + key;
	u16 *at = bucket_of(table, key_of(stream, key));

	while (*at != self)
		at = &table->entry[*at / 2].link[*at % 2];
	*at = stream->link[key];
}

static void link_stream(struct streams *table, struct stream *stream)
{
	link_key(table, stream, KEY_NEXT);
	if (has_other(stream))
		link_key(table, stream, KEY_OTHER);
}

static void unlink_stream(struct streams *table, struct stream *stream)
{
	unlink_key(table, stream, KEY_NEXT);
	if (has_other(stream))
		unlink_key(table, stream, KEY_OTHER);
}

/* The entry that expects a read of these sectors, and how it comes to that. */
static struct stream *find(struct streams *table, u64 sector, u64 end, enum key *key,
			   bool *backward)
{
	unsigned int side;

	for (side = 0; side < 2; side++) {
		u64 address = side ? end : sector;
		u16 at = *bucket_of(table, address);

		while (at != STREAM_NONE) {
			struct stream *stream = &table->entry[at / 2];

			*key = at % 2;
			*backward = stream->backward ||
				    (stream->reads == 1 && *key == KEY_OTHER);
			if (key_of(stream, *key) == address && *backward == side)
				return stream;
			at = stream->link[*key];
		}
	}
	return NULL;
}

static void drop(struct streams *table, struct stream *stream)
{
	unlink_stream(table, stream);
	stream->live = false;
	if (!is_candidate(table, stream))
		table->nr--;
}

/* Another entry that expects the same next read. */
static struct stream *find_twin(struct streams *table, const struct stream *stream)
{
	u16 at = *bucket_of(table, stream->next);

	while (at != STREAM_NONE) {
		struct stream *twin = &table->entry[at / 2];

		if (at % 2 == KEY_NEXT && twin->next == stream->next &&
		    twin->backward == stream->backward)
			return twin;
		at = twin->link[at % 2];
	}
	return NULL;
}

/*
 * Two that expect the same read are one stream: what is read in a loop, or by several
 * readers at a time, would fill the table otherwise, and a bucket with what is there twice.
 * Return: the other one if it stays and @stream, unlinked, is gone; NULL if @stream stays.
 */
static struct stream *join_twin(struct streams *table, struct stream *stream)
{
	struct stream *twin = find_twin(table, stream);

	if (!twin)
		return NULL;
	if (is_candidate(table, twin) && twin->reads <= stream->reads) {
		drop(table, twin);
		return NULL;
	}
	twin->last = stream->last;
	twin->turn = stream->turn;
	stream->live = false;
	if (!is_candidate(table, stream))
		table->nr--;
	return twin;
}

static bool is_expired(const struct stream *stream, unsigned long expired)
{
	return (long)(stream->last - expired) < 0;
}

static struct stream *free_stream(struct streams *table, unsigned long expired)
{
	struct stream *oldest = NULL;
	unsigned int i;

	for (i = 0; i < table->max; i++) {
		struct stream *stream = &table->entry[i];

		if (!stream->live)
			return stream;
		if (!oldest || stream->turn < oldest->turn)
			oldest = stream;
	}
	if (!oldest || !is_expired(oldest, expired))
		return NULL;
	drop(table, oldest);
	return oldest;
}

/* The stream whose next run a new one may be. */
static struct stream *find_last_run(struct streams *table, const struct stream *stream)
{
	struct stream *best = NULL;
	unsigned int i;

	for (i = 0; i < table->max; i++) {
		struct stream *other = &table->entry[i];

		if (!other->live || other->backward || other->turn >= stream->born)
			continue;
		if (other->strides && other->start + other->stride == stream->start)
			return other;
		if (!best || other->turn > best->turn)
			best = other;
	}
	return best;
}

static void learn_stride(struct streams *table, struct stream *stream)
{
	struct stream *last = stream->backward ? NULL : find_last_run(table, stream);
	u64 run_length;
	s64 stride;

	if (!last)
		return;
	run_length = last->next - last->start;
	stride = stream->start - last->start;
	if ((u64)(stride < 0 ? -stride : stride) < run_length)
		return;
	stream->strides = last->strides && last->stride == stride &&
			  last->run_length == run_length ? last->strides + 1 : 1;
	stream->stride = stride;
	stream->run_length = run_length;
	stream->jump = stream->start + stride;
	if (!stream_is_strided(stream))
		return;
	stream->read_sectors += last->read_sectors;
	stream->degree = last->degree;
	stream->trigger = last->trigger;
	drop(table, last);
}

/* A candidate that was read often enough; unlinked. */
static struct stream *confirm(struct streams *table, struct stream *candidate,
			      unsigned long expired)
{
	struct stream *stream = free_stream(table, expired);
	u16 generation;

	if (!stream) {
		/* It may be the next time. */
		candidate->reads--;
		link_stream(table, candidate);
		return NULL;
	}
	generation = stream->generation + 1;
	*stream = *candidate;
	stream->generation = generation;
	stream->degree = 2;
	stream->trigger = 1;
	stream->ahead_sectors = 0;
	candidate->live = false;
	learn_stride(table, stream);
	link_stream(table, stream);
	table->nr++;
	return stream;
}

static void add_candidate(struct streams *table, u64 sector, u64 end, unsigned long now)
{
	struct stream *stream = &table->entry[STREAMS_MAX + table->hand++ % STREAM_CANDIDATES];

	if (stream->live)
		drop(table, stream);
	memset(stream, 0, sizeof(*stream));
	stream->live = true;
	stream->start = sector;
	stream->next = end;
	stream->read_sectors = end - sector;
	stream->last = now;
	stream->born = table->turn;
	stream->turn = table->turn;
	stream->reads = 1;
	if (!join_twin(table, stream))
		link_stream(table, stream);
}

/* The next run of a strided stream begins. */
static void take_jump(struct stream *stream)
{
	stream->start = stream->jump;
	stream->jump += stream->stride;
}

static void take_read(struct stream *stream, u64 sector, u64 end)
{
	u64 sectors = end - sector;

	stream->next = stream->backward ? sector : end;
	/* Longer than its runs were: it is strided no more. */
	if (stream->strides && end - stream->start > stream->run_length)
		stream->strides = 0;
	stream->read_sectors += sectors;
	stream->ahead_sectors -= min(stream->ahead_sectors, sectors);
}

/**
 * streams_init() - make an empty table.
 * @table: the table.
 * @max: streams that may be confirmed, up to STREAMS_MAX.
 */
void streams_init(struct streams *table, unsigned int max)
{
	memset(table, 0, sizeof(*table));
	memset(table->bucket, 0xff, sizeof(table->bucket));
	table->max = max;
}

/**
 * streams_note() - take note of a read.
 * @table: the table.
 * @sector: its first sector.
 * @sectors: how many.
 * @now: the time, in any unit that wraps as jiffies do.
 * @expired: who was last read before this time may be replaced.
 *
 * Return: the confirmed stream that it is of, or NULL.
 */
struct stream *streams_note(struct streams *table, u64 sector, u32 sectors, unsigned long now,
			    unsigned long expired)
{
	u64 end = sector + sectors;
	struct stream *stream, *twin;
	bool backward;
	enum key key;

	table->turn++;
	stream = find(table, sector, end, &key, &backward);
	if (!stream) {
		add_candidate(table, sector, end, now);
		return NULL;
	}
	unlink_stream(table, stream);
	stream->last = now;
	stream->turn = table->turn;
	if (backward && !stream->backward) {
		stream->backward = true;
		stream->start = stream->next;
	} else if (key == KEY_OTHER) {
		take_jump(stream);
	}
	take_read(stream, sector, end);
	twin = join_twin(table, stream);
	if (twin)
		return is_candidate(table, twin) ? NULL : twin;
	if (is_candidate(table, stream) && ++stream->reads >= CONFIRM_READS)
		return confirm(table, stream, expired);
	link_stream(table, stream);
	return is_candidate(table, stream) ? NULL : stream;
}

/**
 * streams_expire() - forget streams.
 * @table: the table.
 * @expired: those that were last read before this time.
 */
void streams_expire(struct streams *table, unsigned long expired)
{
	unsigned int i;

	for (i = 0; i < table->max && table->nr; i++)
		if (table->entry[i].live && is_expired(&table->entry[i], expired))
			drop(table, &table->entry[i]);
}

/* Steps that may be ahead of the reader for the sake of what it has read so far. */
static u64 earned_steps(const struct stream *stream, u32 step)
{
	return 1 + div64_u64(stream->read_sectors, step);
}

/**
 * stream_steps() - how many steps to plan now.
 * @stream: the stream.
 * @step: sectors that are read at a time.
 * @most: no more than this.
 *
 * Return: at least 1; few for a stream that is short so far.
 */
unsigned int stream_steps(const struct stream *stream, u32 step, unsigned int most)
{
	u64 ahead = div64_u64(stream->ahead_sectors, step);
	u64 earned = earned_steps(stream, step);

	earned -= min(earned, ahead);
	most = min_t(unsigned int, most, stream->degree);
	return max_t(u64, min_t(u64, earned, most), 1);
}

/**
 * stream_wants_more() - whether it is time to plan more of a stream.
 * @stream: the stream.
 * @step: sectors that are read at a time.
 * @most: not while so many of them, or more, are still to be read.
 *
 * Return: true if so.
 */
bool stream_wants_more(const struct stream *stream, u32 step, unsigned int most)
{
	u64 steps = min_t(u64, min_t(unsigned int, most, stream->trigger),
			  earned_steps(stream, step));

	return stream->ahead_sectors < steps * step;
}

/**
 * stream_goes_on() - whether what will be read next is what follows.
 * @stream: the stream.
 *
 * Return: true if so, as far as is known.
 */
bool stream_goes_on(const struct stream *stream)
{
	return !stream->backward && !stream_is_strided(stream);
}

/**
 * stream_plan() - what of a stream is to be read next.
 * @stream: the stream; moves on.
 * @step: sectors that are read at a time: from one multiple of them to the next, or
 *	to where the stream's run ends.
 * @begin: sectors before are not to be read.
 * @end: nor are these and what follows.
 * @from: set to the first sector.
 * @to: set to the one behind the last.
 *
 * Return: false if there is nothing.
 */
bool stream_plan(struct stream *stream, u32 step, u64 begin, u64 end, u64 *from, u64 *to)
{
	u64 run_end = U64_MAX;
	u64 rest;

	if (!stream->ahead_sectors) {
		stream->ahead = stream->next;
		stream->ahead_start = stream->start;
	}
	if (stream_is_strided(stream)) {
		run_end = stream->ahead_start + stream->run_length;
		if (stream->ahead >= run_end) {
			stream->ahead_start += stream->stride;
			stream->ahead = stream->ahead_start;
			run_end = stream->ahead + stream->run_length;
		}
	}
	if (stream->backward) {
		if (stream->ahead <= begin || stream->ahead > end)
			return false;
		div64_u64_rem(stream->ahead - 1, step, &rest);
		*to = stream->ahead;
		*from = max(stream->ahead - 1 - rest, begin);
		stream->ahead = *from;
	} else {
		if (stream->ahead < begin || stream->ahead >= end)
			return false;
		div64_u64_rem(stream->ahead, step, &rest);
		*from = stream->ahead;
		*to = min(stream->ahead - rest + step, min(run_end, end));
		stream->ahead = *to;
	}
	stream->ahead_sectors += *to - *from;
	return true;
}

/**
 * stream_was_late() - a reader had to wait for what was being read ahead.
 * @stream: the stream.
 * @most: its degree shall not be more than this.
 */
void stream_was_late(struct stream *stream, unsigned int most)
{
	stream_was_in_time(stream, most);
	stream->trigger = min_t(unsigned int, stream->trigger + 1, stream->degree);
}

/**
 * stream_was_in_time() - all that was planned at a time has been read.
 * @stream: the stream.
 * @most: its degree shall not be more than this.
 */
void stream_was_in_time(struct stream *stream, unsigned int most)
{
	stream->degree = max(min(2U * stream->degree, most), 1U);
	stream->trigger = min(stream->trigger, stream->degree);
}

/**
 * stream_was_wasted() - something was read ahead and then not wanted.
 * @stream: the stream.
 */
void stream_was_wasted(struct stream *stream)
{
	stream->degree = max(stream->degree / 2, 1);
	stream->trigger = min(stream->trigger, stream->degree);
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which reads go on with each other, and what of a stream is to be read next. Free of
 * bios and locks: unit tests compile it in user space.
 */
#ifndef FULLSTRIPE_STREAMS_H
#define FULLSTRIPE_STREAMS_H

#include <linux/types.h>

#define STREAMS_MAX		1024
#define STREAM_CANDIDATES	1024
#define STREAM_BUCKET_BITS	10

/* No entry. */
#define STREAM_NONE		0xffff

/**
 * struct stream - reads each of which begins where the last one ended.
 * @next: where the next one begins; backward: where it ends.
 * @start: where its run of reads began, in the same sense.
 * @jump: where the next run begins, while @strides say that there is one.
 * @stride: from the begin of a run to the begin of the next.
 * @run_length: sectors of a run.
 * @ahead: all of the stream up to there has been planned.
 * @ahead_start: begin of the run that @ahead is in.
 * @ahead_sectors: planned and not yet read.
 * @read_sectors: read.
 * @last: when it was last read, in the caller's unit.
 * @turn: of the table, at its last read.
 * @born: turn of the table at its first read.
 * @degree: steps that are planned at a time.
 * @trigger: so many steps before the end of what is planned, more is.
 * @link: next entries in the buckets of @next and of the other key.
 * @generation: how often the entry was used for another stream.
 * @reads: how many there were; no more than are needed to confirm it.
 * @strides: how often the same stride was seen.
 * @backward: addresses descend.
 * @live: the entry is used.
 */
struct stream {
	u64 next;
	u64 start;
	u64 jump;
	s64 stride;
	u64 run_length;
	u64 ahead;
	u64 ahead_start;
	u64 ahead_sectors;
	u64 read_sectors;
	unsigned long last;
	u64 turn;
	u64 born;
	u16 degree;
	u16 trigger;
	u16 link[2];
	u16 generation;
	u8 reads;
	u8 strides;
	bool backward;
	bool live;
};

/**
 * struct streams - the table of them.
 * @bucket: first entries, by address.
 * @entry: confirmed streams, then candidates.
 * @max: how many may be confirmed.
 * @nr: how many are.
 * @hand: the candidate that is replaced next.
 * @turn: counts reads.
 */
struct streams {
	u16 bucket[1 << STREAM_BUCKET_BITS];
	struct stream entry[STREAMS_MAX + STREAM_CANDIDATES];
	unsigned int max;
	unsigned int nr;
	unsigned int hand;
	u64 turn;
};

void streams_init(struct streams *table, unsigned int max);
struct stream *streams_note(struct streams *table, u64 sector, u32 sectors, unsigned long now,
			    unsigned long expired);
void streams_expire(struct streams *table, unsigned long expired);

bool stream_wants_more(const struct stream *stream, u32 step, unsigned int most);
unsigned int stream_steps(const struct stream *stream, u32 step, unsigned int most);
bool stream_is_strided(const struct stream *stream);
bool stream_goes_on(const struct stream *stream);
bool stream_plan(struct stream *stream, u32 step, u64 begin, u64 end, u64 *from, u64 *to);
void stream_was_late(struct stream *stream, unsigned int most);
void stream_was_in_time(struct stream *stream, unsigned int most);
void stream_was_wasted(struct stream *stream);

#endif

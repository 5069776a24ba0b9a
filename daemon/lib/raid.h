/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of md RAID5 and RAID6: which blocks it reads before it writes, which it
 * still has in its stripe cache, and what that is in requests to the members.
 *
 * What is given to it in one plug is one raid_io. For every row of it md compares what
 * it would have to read to modify the parity (rmw: the old data and the parity) with
 * what it would have to read to make it anew (rcw: the data that stays), takes the
 * less, rcw if they are equal, and reads nothing that it still has. The array is clean
 * and complete.
 *
 * One thread of md sends the rows of all raid_ios, one after the other, with one plug as long as
 * it has something to send. What is only to be read does not pass through it: who wants it sends
 * it, with a plug of its own. What becomes of plugs is the model of members.h.
 */
#ifndef FULLSTRIPE_RAID_H
#define FULLSTRIPE_RAID_H

#include <stdbool.h>
#include <stdint.h>

/* md's default stripe cache. */
#define RAID_CACHE_ROWS		256

/* md's thread takes up so many rows before it looks again what there is to do. */
#define RAID_BATCH_ROWS		8

/**
 * struct raid_shape - the array
 * @data_members: members less parity
 * @parity: blocks of parity in a row: 1 or 2
 * @chunk_bytes: what lies together on one member; whole rows
 * @service_ns: what a member takes for a request
 * @queue_requests: how many requests a member's queue takes (nr_requests); not 0
 */
struct raid_shape {
	unsigned int data_members;
	unsigned int parity;
	uint64_t chunk_bytes;
	uint64_t service_ns;
	unsigned int queue_requests;
};

/**
 * struct raid_counts - what was done so far
 * @rmw: rows that were read to modify them
 * @rcw: rows that were read to complete them
 * @reads: requests of members
 * @writes: the same
 */
struct raid_counts {
	uint64_t rmw, rcw;
	uint64_t reads, writes;
};

struct raid;
struct raid_io;

int raid_new(const struct raid_shape *shape, struct raid **ret);
struct raid *raid_free(struct raid *r);

struct raid_io *raid_io_new(struct raid *r, bool sync, void *token);
int raid_io_read(struct raid_io *io, uint64_t stripe, uint32_t first, uint32_t sectors);
int raid_io_write(struct raid_io *io, uint64_t stripe, const unsigned long *dirty);
int raid_io_submit(struct raid_io *io, uint64_t now);

uint64_t raid_next(const struct raid *r);
int raid_advance(struct raid *r, uint64_t now, void **token);
struct raid_counts raid_counts(const struct raid *r);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of an array's members and of the block layer above them: which bios become one
 * request, and when each request ends.
 *
 * Who sends bios has a plug. A bio joins the request before it in the plug, or the last one
 * that waits in the member's queue, if it goes on where that ends; else it needs a place in that
 * queue. If there is none, what is in the plug leaves, and the sender waits, behind those who
 * already do. A member does one request after the other, each in the same time whatever its
 * size.
 */
#ifndef FULLSTRIPE_MEMBERS_H
#define FULLSTRIPE_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

/**
 * struct member_bio - neighbouring blocks
 * @member: whose
 * @write: or read
 * @first: number of the first block of the member, of 4 KiB
 * @blocks: how many, REQUEST_BLOCKS at most
 * @apart: it does not join what is before it
 */
struct member_bio {
	unsigned int member;
	bool write, apart;
	uint64_t first, blocks;
};

/**
 * struct member_counts - what there was
 * @reads: requests
 * @writes: the same
 */
struct member_counts {
	uint64_t reads, writes;
};

/* No request is longer: max_sectors_kb as the kernel sets it for disks, 1280. */
#define REQUEST_BLOCKS		320
/* The block layer sends a plug's requests off when one of so much, 128 KiB, is followed by another. */
#define PLUG_BLOCKS		32

struct request;

TAILQ_HEAD(requests, request);

/**
 * struct sender - who sends bios; see sender_init()
 * @link: while it waits, or may go on
 * @plug: what it has not let go
 * @nr_plugged: how many
 * @waits: for a place
 * @granted: the member whose queue has one for it, or -1
 * @owner: whose it is
 */
struct sender {
	TAILQ_ENTRY(sender) link;
	struct requests plug;
	unsigned int nr_plugged;
	bool waits;
	int granted;
	void *owner;
};

struct members;

void sender_init(struct sender *s, void *owner);
void sender_free(struct sender *s);

int members_new(unsigned int n, uint64_t service_ns, unsigned int queue_requests,
		struct members **ret);
struct members *members_free(struct members *ms);

int members_send(struct members *ms, struct sender *s, const struct member_bio *bio, void *token,
		 uint64_t now);
void members_unplug(struct members *ms, struct sender *s, uint64_t now);
struct sender *members_granted(struct members *ms);

uint64_t members_next(const struct members *ms);
size_t members_end(struct members *ms, void ***tokens);
struct member_counts members_counts(const struct members *ms);

#endif

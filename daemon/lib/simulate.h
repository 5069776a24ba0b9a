/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a fullstripe device would have made of a recorded workload, and what md would
 * have done with it alone. The rules are those of the module: see kmod/staging.c for
 * what is accepted and kmod/destage.c for what is written next. What md makes of it is
 * the model of raid.h, and what its members do that of members.h.
 *
 * Requests come at the times of the recording, whatever they would have waited for.
 */
#ifndef FULLSTRIPE_SIMULATE_H
#define FULLSTRIPE_SIMULATE_H

#include <stdbool.h>
#include <stdint.h>

#include "raid.h"

/**
 * struct simulate_options - one combination
 * @raw: md alone: each request by itself; of the rest only @shape, @alignment_offset and
 *	@size mean something then
 * @shape: the array
 * @alignment_offset: from the last stripe border of the array to the device's first byte
 * @size: bytes of the device; 0 if there is no end
 * @cluster_bytes: what is written at a time; whole stripes
 * @hold_ms: how long it waits for the rest of its stripe
 * @high_water_bytes: memory for what is accepted
 * @low_water_bytes: where accepting begins again
 * @seek_bytes: what a member transfers in the time that a request takes; 0: nothing is filled
 */
struct simulate_options {
	bool raw;
	struct raid_shape shape;
	uint64_t alignment_offset;
	uint64_t size;
	uint64_t cluster_bytes;
	uint64_t hold_ms;
	uint64_t high_water_bytes, low_water_bytes;
	uint64_t seek_bytes;
};

/**
 * struct simulate_time - of many
 * @n: how many
 * @mean: nanoseconds
 * @p99: what 99 in 100 did not exceed
 */
struct simulate_time {
	uint64_t n;
	uint64_t mean;
	uint64_t p99;
};

/**
 * struct simulate_result - what came of it
 * @writes: requests with data that came
 * @whole: stripes that were staged and left whole
 * @filled: the same, after what they lacked was read
 * @partial: stripes that were staged and left in part
 * @passed_whole: stripes that were not staged, as they came whole
 * @passed_partial: pieces of stripes that were not staged: with FUA, or at the
 *	device's ends; of md alone, all pieces
 * @full_stripe_ratio: stripes that md got whole, of all that it got
 * @md: what md and the members did
 * @parked: writes that found no memory
 * @wait: of writes and flushes for the device
 * @held: of stripes, from the first write to the end of writing them down
 */
struct simulate_result {
	uint64_t writes;
	uint64_t whole, filled, partial, passed_whole, passed_partial;
	double full_stripe_ratio;
	struct raid_counts md;
	uint64_t parked;
	struct simulate_time wait, held;
};

/**
 * struct simulate_request - what comes
 * @time: when, in nanoseconds; never before the one before
 * @sector: first sector of the device
 * @sectors: length
 * @write: or read
 * @flush: all that was written before must be stable when it ends; it may have no data
 * @fua: its own data must
 */
struct simulate_request {
	uint64_t time;
	uint64_t sector;
	uint32_t sectors;
	bool write, flush, fua;
};

struct simulation;

int simulation_new(const struct simulate_options *options, struct simulation **ret);
struct simulation *simulation_free(struct simulation *s);
int simulation_add(struct simulation *s, const struct simulate_request *request);
int simulation_finish(struct simulation *s, struct simulate_result *ret);

#endif

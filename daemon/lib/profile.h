/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The profile of a workload, from trace events, as they come and in constant
 * memory: the five characteristics of McDougall's table (SunWorld, June 1999),
 * for each device.
 *
 * An I/O is what a device is given: a bio (Q) where the device takes bios, as
 * device-mapper and md do; a request (D) where bios are first made into requests,
 * as disks do. It counts when it comes; its bytes count towards bandwidth when
 * it is completed. On a device with a volatile write cache that is when the
 * cache has taken it: the bandwidth is what the device's users got.
 */
#ifndef FULLSTRIPE_PROFILE_H
#define FULLSTRIPE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "obstacle.h"
#include "ping_pong.h"
#include "streams.h"
#include "trace.h"

/* Further devices in one set of traces are counted, and left alone. */
#define PROFILE_DEVICES_MAX	32
#define PROFILE_SIZE_CLASSES	33

/* The class of a size: more than 2^(class - 1) bytes, and up to 2^class. */
static inline unsigned int profile_size_class(uint64_t bytes)
{
	return bytes <= 1 ? 0 : 64 - __builtin_clzll(bytes - 1);
}

/* The bandwidth's peak is the highest of this time, in steps of a tenth of it. */
#define PROFILE_PEAK_NS		1000000000ull

enum profile_access {
	ACCESS_UNKNOWN,		/* fewer than two I/Os that have a place */
	ACCESS_RANDOM,
	ACCESS_SEQUENTIAL,
	ACCESS_STRIDED,
};

enum profile_content {
	CONTENT_UNKNOWN,
	CONTENT_DATA,
	CONTENT_ATTRIBUTES,
};

/**
 * struct profile_latency - of the I/Os of one kind that were completed
 * @n: how many
 * @p50: nanoseconds that half of them did not exceed
 * @p99: nanoseconds that 99 in 100 did not exceed
 */
struct profile_latency {
	uint64_t n;
	uint64_t p50;
	uint64_t p99;
};

/**
 * struct profile_summary - what is known of a device's workload
 * @device: major << 20 | minor
 * @obstacle: why it is from counters, and not from a trace: shares that are not known are
 *	negative then, and sizes but the average, streams, zones, errors and md's
 *	pre-reads are not known
 * @events: records about it
 * @ios: reads and writes that came
 * @reads: of these
 * @writes: of these
 * @flushes: empty flushes
 * @discards: discards and write-zeroes
 * @completed: reads and writes that were joined to their completion
 * @partial_completions: of parts that were split off
 * @never_completed: I/Os whose completion was not seen in time
 * @errors: completions with an error
 * @duration: how long was recorded, or where that is not known from the first event to the last,
 *	nanoseconds
 * @content: data or attribute intensive
 * @meta_ios: share of the I/Os that were marked as metadata
 * @meta_bytes: share of their bytes
 * @access: access pattern
 * @direction: of sequential access: 1 up, -1 down; else 0
 * @sequential: share of the I/Os that went on with a stream
 * @strided: share that began a run at the stream's stride
 * @random: share that went on with nothing
 * @streams: most streams at once
 * @returns: share that went back to the other of two zones, see profile_is_ping_pong()
 * @low_zone: where these are: bytes from the device's beginning
 * @high_zone: the same
 * @average_rate: bytes per second completed
 * @peak_rate: the same in the best second
 * @read_rate: average, reads
 * @write_rate: average, writes
 * @size_mode: the commonest size, by power of two: the largest I/O seen in that class
 * @size_mode_share: share of the I/Os in that class
 * @size_average: bytes
 * @size_min: bytes
 * @size_max: bytes
 * @sizes: I/Os of more than 2^(i-1) and up to 2^i bytes
 * @latency_sensitive: at least half of the I/Os have somebody waiting
 * @sync: share of I/Os and flushes that somebody waits for: SYNC, FUA, flush
 * @fua: share of the writes
 * @flush: flushes (empty, or with a write) for each write
 * @read_latency: from Q (or D, see @by_request) to C
 * @write_latency: the same
 * @flush_latency: the same
 * @by_request: the device builds requests, and an I/O is one of these
 * @unaligned: share of the writes that do not begin and end on stripe borders;
 *	negative if no stripe width was given
 * @rmw: stripes that md had to read and modify before writing
 * @rcw: stripes that md had to complete by reading
 * @confidence: 0 to 1
 */
struct profile_summary {
	uint32_t device;
	enum obstacle obstacle;
	uint64_t events;
	uint64_t ios, reads, writes, flushes, discards;
	uint64_t completed, partial_completions, never_completed, errors;
	uint64_t duration;

	enum profile_content content;
	double meta_ios, meta_bytes;

	enum profile_access access;
	int direction;
	double sequential, strided, random;
	unsigned int streams;
	double returns;
	uint64_t low_zone, high_zone;

	uint64_t average_rate, peak_rate, read_rate, write_rate;

	uint64_t size_mode;
	double size_mode_share;
	double size_average;
	uint64_t size_min, size_max;
	uint64_t sizes[PROFILE_SIZE_CLASSES];

	bool latency_sensitive;
	double sync, fua, flush;
	struct profile_latency read_latency, write_latency, flush_latency;
	bool by_request;

	double unaligned;
	uint64_t rmw, rcw;
	double confidence;
};

/* Back and forth between two zones, as with a log and the data. */
static inline bool profile_is_ping_pong(const struct profile_summary *s)
{
	return s->returns >= PING_PONG_SHARE;
}

/* From counters: see @obstacle of struct profile_summary. */
static inline bool profile_is_counted(const struct profile_summary *s)
{
	return s->obstacle != OBSTACLE_NONE;
}

/**
 * struct profile_options - how to look at it
 * @stripe_bytes: stripe width; 0 if there is none
 * @offset_bytes: from a stripe border to the device's first byte
 */
struct profile_options {
	uint64_t stripe_bytes;
	uint64_t offset_bytes;
};

struct profile;

int profile_new(const struct profile_options *options, struct profile **ret);
struct profile *profile_free(struct profile *p);
int profile_add(struct profile *p, const struct trace_event *event);
void profile_add_lost(struct profile *p, uint64_t records);
void profile_set_recorded(struct profile *p, uint64_t ns);
uint64_t profile_lost(const struct profile *p);
unsigned int profile_devices(const struct profile *p);
uint64_t profile_events_elsewhere(const struct profile *p);
void profile_summarise(const struct profile *p, unsigned int index, struct profile_summary *ret);
unsigned int profile_streams(const struct profile *p, uint32_t device,
			     struct stream_head ret[static STREAMS_KEPT]);
bool profile_find(const struct profile *p, uint32_t device, struct profile_summary *ret);
double profile_confidence(uint64_t ios, uint64_t duration);
double profile_in_flight(const struct profile *p, uint32_t device);

const char *profile_access_name(enum profile_access access);
const char *profile_content_name(enum profile_content content);

#endif

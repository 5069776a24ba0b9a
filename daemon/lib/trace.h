/* SPDX-License-Identifier: GPL-2.0 */
/*
 * blktrace records in, events out. Pure: no system calls, no allocation.
 *
 * A decoder is a window on one stream of bytes (one CPU's relay file, or one
 * file on disk). Its user puts bytes in and takes events out:
 *
 *	space = trace_decoder_space(d, &room);
 *	n = read(fd, space, room);
 *	trace_decoder_commit(d, n);
 *	while (trace_decoder_next(d, &event))
 *		...
 *
 * Nothing in the stream is trusted. Bytes that are no record are passed over up
 * to the next one, counted, and the first such place is kept for the report.
 */
#ifndef FULLSTRIPE_TRACE_H
#define FULLSTRIPE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No kernel writes a longer pdu; a longer one is garbage that happens to begin with the magic. */
#define TRACE_PDU_MAX	4096
#define TRACE_WINDOW	65536

/* An EiB, and 31 years of nanoseconds since the boot: no device has as much, no machine runs so long. */
#define TRACE_SECTORS_MAX	(1ull << 51)
#define TRACE_TIME_MAX		1000000000000000000ull

/* What happened to a request; the numbers are those of the format. */
enum trace_action {
	TRACE_QUEUE = 1,
	TRACE_BACK_MERGE,
	TRACE_FRONT_MERGE,
	TRACE_GET_REQUEST,
	TRACE_SLEEP_REQUEST,
	TRACE_REQUEUE,
	TRACE_ISSUE,
	TRACE_COMPLETE,
	TRACE_PLUG,
	TRACE_UNPLUG_IO,
	TRACE_UNPLUG_TIMER,
	TRACE_INSERT,
	TRACE_SPLIT,
	TRACE_BOUNCE,
	TRACE_REMAP,
	TRACE_ABORT,
	TRACE_DRIVER_DATA,
	TRACE_ZONE_PLUG,
	TRACE_ZONE_UNPLUG,
	TRACE_ACTION_MAX,

	/* Not about a request; see struct trace_event. */
	TRACE_NOTE_PROCESS = 256,
	TRACE_NOTE_TIMESTAMP,
	TRACE_NOTE_MESSAGE,
};

/**
 * struct trace_event - one record, in this machine's byte order
 * @action: what happened
 * @categories: BLKTRACE_READ, BLKTRACE_WRITE, ... of blktrace_format.h
 * @time: nanoseconds of CLOCK_MONOTONIC
 * @sector: first sector, in units of 512 bytes
 * @bytes: length; 0 for an empty flush
 * @pid: who asked
 * @device: major << 20 | minor
 * @cpu: where
 * @sequence: number of the record on its CPU; meaningless in notes
 * @error: of a completion
 * @cgroup: id of the cgroup, 0 if the record has none
 * @text: TRACE_NOTE_MESSAGE and TRACE_NOTE_PROCESS: not terminated, and valid
 *	until the decoder is asked for space
 * @text_len: length of @text
 * @from_device: TRACE_REMAP: the device above
 * @from_sector: TRACE_REMAP: the sector there; TRACE_SPLIT: where it was cut
 * @unplugged: TRACE_UNPLUG_*: how many requests went
 * @wall_seconds: TRACE_NOTE_TIMESTAMP: CLOCK_REALTIME at @time
 * @wall_nanoseconds: the same
 */
struct trace_event {
	enum trace_action action;
	uint32_t categories;
	uint64_t time;
	uint64_t sector;
	uint32_t bytes;
	uint32_t pid;
	uint32_t device;
	uint32_t cpu;
	uint32_t sequence;
	uint16_t error;
	uint64_t cgroup;
	union {
		struct {
			const char *text;
			size_t text_len;
		};
		struct {
			uint32_t from_device;
			uint64_t from_sector;
		};
		uint64_t unplugged;
		struct {
			uint32_t wall_seconds;
			uint32_t wall_nanoseconds;
		};
	};
};

static inline uint32_t trace_device_major(uint32_t device)
{
	return device >> 20;
}

static inline uint32_t trace_device_minor(uint32_t device)
{
	return device & ((1u << 20) - 1);
}

bool trace_device_parse(const char *text, uint32_t *ret);

enum trace_problem {
	TRACE_SOUND,
	TRACE_GARBAGE,		/* value: the word found where a magic should be */
	TRACE_UNKNOWN_VERSION,	/* value: the version */
	TRACE_LONG_PDU,		/* value: the length */
	TRACE_BEYOND,
	TRACE_TRUNCATED,	/* value: the bytes that are there of the last record */
};

/**
 * struct trace_decoder - one stream of records
 * @records: decoded so far, of any kind
 * @unknown_actions: records of a kind that this reader does not know; passed over
 * @skipped_bytes: bytes that belong to no record
 * @lost: records that the kernel had to drop, as v2's sequence numbers tell
 * @version: of the latest record, 0 before the first
 * @problem: the first thing that was wrong
 * @problem_offset: where in the stream it begins
 * @problem_value: what was found there
 */
struct trace_decoder {
	uint64_t records;
	uint64_t unknown_actions;
	uint64_t skipped_bytes;
	uint64_t lost;
	unsigned int version;
	enum trace_problem problem;
	uint64_t problem_offset;
	uint32_t problem_value;

	/* private: */
	uint64_t offset;	/* of window[head] in the stream */
	size_t head, tail;
	bool astray;		/* looking for the next magic */
	bool sequence_known;
	uint32_t sequence;
	uint32_t sequence_cpu;
	unsigned char window[TRACE_WINDOW];
};

/**
 * typedef trace_event_fn - takes an event; events come in the order of time
 * @data: whose it is
 * @event: the event
 *
 * Return: 0 or a negative errno, which ends the reading.
 */
typedef int (*trace_event_fn)(void *data, const struct trace_event *event);

void trace_decoder_init(struct trace_decoder *d);
unsigned char *trace_decoder_space(struct trace_decoder *d, size_t *room);
void trace_decoder_commit(struct trace_decoder *d, size_t bytes);
bool trace_decoder_next(struct trace_decoder *d, struct trace_event *event);
void trace_decoder_finish(struct trace_decoder *d);

bool trace_says(const struct trace_event *event, const char *prefix);
int trace_problem_describe(const struct trace_decoder *d, char *text, size_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the writer did, in the order in which it knew of it: a header, then
 * events. Written in the test machine, read on the host; both little endian.
 */
#ifndef JOURNAL_H
#define JOURNAL_H

#include <stdint.h>

#define JOURNAL_MAGIC 0x6c6e72756f6a7366ULL

/* Instead of a number of events: as many as there are, for nobody came to count them. */
#define JOURNAL_STREAM UINT64_MAX

/**
 * enum event_type - what happened.
 * @EVENT_SUBMIT: a write of generation @id to a range is about to be submitted.
 * @EVENT_COMPLETE: it has completed.
 * @EVENT_COMPLETE_FUA: it has completed and had FUA.
 * @EVENT_FLUSH: flush @id (or what else must leave all stable: a suspend) is
 *	about to be submitted.
 * @EVENT_FLUSHED: it has completed.
 * @EVENT_MARK: mark @id is about to be put into the log of writes.
 * @EVENT_MARKED: it is there.
 * @EVENT_DISCARD: as EVENT_SUBMIT, of a discard, which leaves what was there, or zeros; nobody
 *	may expect either, so there is no completion of it.
 */
enum event_type {
	EVENT_SUBMIT,
	EVENT_COMPLETE,
	EVENT_COMPLETE_FUA,
	EVENT_FLUSH,
	EVENT_FLUSHED,
	EVENT_MARK,
	EVENT_MARKED,
	EVENT_DISCARD,
};

/**
 * struct journal_header - begins the file.
 * @magic: JOURNAL_MAGIC.
 * @seed: of the run; part of every sector.
 * @generations: how many writes were submitted; they are numbered from 1. In a stream:
 *	the number before the first.
 * @flushes: how many flushes; numbered from 0.
 * @marks: how many marks; numbered from 0.
 * @sectors: size of the target.
 * @start: where the target begins on the lower device, in sectors.
 * @events: how many follow.
 */
struct journal_header {
	uint64_t magic;
	uint32_t seed;
	uint32_t generations;
	uint32_t flushes;
	uint32_t marks;
	uint64_t sectors;
	uint64_t start;
	uint64_t events;
};

struct journal_event {
	uint32_t type;
	uint32_t id;
	uint64_t sector;
	uint64_t sectors;
};

#endif

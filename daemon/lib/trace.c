// SPDX-License-Identifier: GPL-2.0
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "blktrace_format.h"
#include "trace.h"

static uint32_t host_magic(const unsigned char *bytes)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

static bool is_magic(uint32_t word)
{
	return (word & BLKTRACE_MAGIC_MASK) == BLKTRACE_MAGIC;
}

/* One record's header, whatever its version and byte order. */
struct header {
	size_t size;
	unsigned int version;
	bool swapped;
	uint32_t sequence;
	uint64_t time;
	uint64_t sector;
	uint32_t bytes;
	uint64_t action;
	uint32_t pid;
	uint32_t device;
	uint32_t cpu;
	uint16_t error;
	uint16_t pdu_len;
};

static uint16_t order16(bool swapped, uint16_t v)
{
	return swapped ? __builtin_bswap16(v) : v;
}

static uint32_t order32(bool swapped, uint32_t v)
{
	return swapped ? __builtin_bswap32(v) : v;
}

static uint64_t order64(bool swapped, uint64_t v)
{
	return swapped ? __builtin_bswap64(v) : v;
}

/* The two layouts name their fields alike, so one body serves both. */
#define READ_FIELDS(h, r)						\
	do {								\
		(h)->sequence = order32((h)->swapped, (r)->sequence);	\
		(h)->time = order64((h)->swapped, (r)->time);		\
		(h)->sector = order64((h)->swapped, (r)->sector);	\
		(h)->bytes = order32((h)->swapped, (r)->bytes);		\
		(h)->pid = order32((h)->swapped, (r)->pid);		\
		(h)->device = order32((h)->swapped, (r)->device);	\
		(h)->cpu = order32((h)->swapped, (r)->cpu);		\
		(h)->error = order16((h)->swapped, (r)->error);		\
		(h)->pdu_len = order16((h)->swapped, (r)->pdu_len);	\
	} while (0)

static void read_header(struct header *h, const unsigned char *bytes)
{
	if (h->version == BLKTRACE_VERSION_2) {
		const struct blktrace_record_v2 *r = (const void *)bytes;

		READ_FIELDS(h, r);
		h->action = order64(h->swapped, r->action);
	} else {
		const struct blktrace_record_v1 *r = (const void *)bytes;

		READ_FIELDS(h, r);
		h->action = order32(h->swapped, r->action);
	}
}

static uint64_t pdu_be64(const unsigned char *pdu)
{
	uint64_t v;

	memcpy(&v, pdu, sizeof(v));
	return be64toh(v);
}

static uint32_t pdu_be32(const unsigned char *pdu)
{
	uint32_t v;

	memcpy(&v, pdu, sizeof(v));
	return be32toh(v);
}

/* The part of an event that its pdu holds. False: the pdu is too short for what it should hold. */
static bool read_pdu(const struct header *h, const unsigned char *pdu, size_t len,
		     struct trace_event *e)
{
	uint32_t word;

	switch (e->action) {
	case TRACE_REMAP:
		if (len < 16)
			return false;
		e->from_device = pdu_be32(pdu);
		e->from_sector = pdu_be64(pdu + 8);
		return true;
	case TRACE_SPLIT:
		if (len < 8)
			return false;
		e->from_sector = pdu_be64(pdu);
		return true;
	case TRACE_UNPLUG_IO:
	case TRACE_UNPLUG_TIMER:
		if (len < 8)
			return false;
		e->unplugged = pdu_be64(pdu);
		return true;
	case TRACE_NOTE_TIMESTAMP:
		if (len < 8)
			return false;
		memcpy(&word, pdu, sizeof(word));
		e->wall_seconds = order32(h->swapped, word);
		memcpy(&word, pdu + 4, sizeof(word));
		e->wall_nanoseconds = order32(h->swapped, word);
		return true;
	case TRACE_NOTE_PROCESS:
	case TRACE_NOTE_MESSAGE:
		e->text = (const char *)pdu;
		e->text_len = strnlen(e->text, len);
		return true;
	default:
		return true;
	}
}

static bool is_note(const struct header *h)
{
	return (h->action >> BLKTRACE_CATEGORY_SHIFT) & BLKTRACE_NOTIFY;
}

/*
 * What claims that is damaged: sums would overflow, and all else would come before it. A note
 * has no place: the kernel leaves there what the buffer had.
 */
static bool is_beyond(const struct header *h)
{
	return h->time > TRACE_TIME_MAX ||
	       (!is_note(h) && h->bytes > 0 && h->sector >= TRACE_SECTORS_MAX);
}

static bool header_to_event(const struct header *h, const unsigned char *pdu, struct trace_event *e)
{
	unsigned int action = h->action & BLKTRACE_ACTION_MASK;
	size_t len = h->pdu_len;

	*e = (struct trace_event) {
		.categories = h->action >> BLKTRACE_CATEGORY_SHIFT,
		.time = h->time,
		.sector = h->sector,
		.bytes = h->bytes,
		.pid = h->pid,
		.device = h->device,
		.cpu = h->cpu,
		.sequence = h->sequence,
		.error = h->error,
	};

	if (is_note(h)) {
		if (action > BLKTRACE_NOTE_MESSAGE)
			return false;
		e->action = TRACE_NOTE_PROCESS + action;
		e->sector = 0;
		e->bytes = 0;
		e->error = 0;
	} else {
		if (action == 0 || action >= TRACE_ACTION_MAX)
			return false;
		e->action = action;
	}

	if (h->action & BLKTRACE_ACTION_CGROUP) {
		uint64_t id;

		if (len < sizeof(id))
			return false;
		memcpy(&id, pdu, sizeof(id));
		e->cgroup = order64(h->swapped, id);
		pdu += sizeof(id);
		len -= sizeof(id);
	}

	return read_pdu(h, pdu, len, e);
}

static void note_problem(struct trace_decoder *d, enum trace_problem problem, uint32_t value)
{
	if (d->problem != TRACE_SOUND)
		return;
	d->problem = problem;
	d->problem_offset = d->offset;
	d->problem_value = value;
}

static void consume(struct trace_decoder *d, size_t bytes)
{
	d->head += bytes;
	d->offset += bytes;
}

static void skip(struct trace_decoder *d, size_t bytes)
{
	d->skipped_bytes += bytes;
	consume(d, bytes);
	d->astray = true;
}

/* v1 counts a record only once it is stored, so only v2 shows a loss as a gap. */
static void count_lost(struct trace_decoder *d, const struct header *h)
{
	if (h->version != BLKTRACE_VERSION_2 || is_note(h))
		return;
	if (d->sequence_known && d->sequence_cpu == h->cpu && h->sequence > d->sequence)
		d->lost += h->sequence - d->sequence - 1;
	d->sequence_known = true;
	d->sequence_cpu = h->cpu;
	d->sequence = h->sequence;
}

/**
 * trace_decoder_init() - begin a stream
 * @d: the decoder
 */
void trace_decoder_init(struct trace_decoder *d)
{
	memset(d, 0, offsetof(struct trace_decoder, window));
}

/**
 * trace_decoder_space() - where the next bytes of the stream go
 * @d: the decoder
 * @room: how many fit; never 0 after trace_decoder_next() has returned false
 *
 * The texts of events decoded before are gone after this.
 */
unsigned char *trace_decoder_space(struct trace_decoder *d, size_t *room)
{
	if (d->head > 0) {
		memmove(d->window, d->window + d->head, d->tail - d->head);
		d->tail -= d->head;
		d->head = 0;
	}
	*room = TRACE_WINDOW - d->tail;
	return d->window + d->tail;
}

/**
 * trace_decoder_commit() - bytes were put where trace_decoder_space() said
 * @d: the decoder
 * @bytes: how many
 */
void trace_decoder_commit(struct trace_decoder *d, size_t bytes)
{
	d->tail += bytes;
}

/**
 * trace_decoder_next() - take the next event
 * @d: the decoder
 * @event: set when there is one
 *
 * Return: false if more bytes are needed first.
 */
bool trace_decoder_next(struct trace_decoder *d, struct trace_event *event)
{
	while (d->tail - d->head >= sizeof(uint32_t)) {
		const unsigned char *bytes = d->window + d->head;
		size_t have = d->tail - d->head;
		uint32_t word = host_magic(bytes);
		struct header h = { .swapped = !is_magic(word) };

		if (h.swapped && !is_magic(__builtin_bswap32(word))) {
			note_problem(d, TRACE_GARBAGE, word);
			skip(d, 1);
			continue;
		}
		h.version = order32(h.swapped, word) & ~BLKTRACE_MAGIC_MASK;
		if (h.version == BLKTRACE_VERSION_1) {
			h.size = sizeof(struct blktrace_record_v1);
		} else if (h.version == BLKTRACE_VERSION_2) {
			h.size = sizeof(struct blktrace_record_v2);
		} else {
			note_problem(d, TRACE_UNKNOWN_VERSION, h.version);
			skip(d, 1);
			continue;
		}
		if (have < h.size)
			return false;
		read_header(&h, bytes);
		if (h.pdu_len > TRACE_PDU_MAX) {
			note_problem(d, TRACE_LONG_PDU, h.pdu_len);
			skip(d, 1);
			continue;
		}
		if (have < h.size + h.pdu_len)
			return false;
		if (is_beyond(&h)) {
			note_problem(d, TRACE_BEYOND, 0);
			skip(d, 1);
			continue;
		}

		d->astray = false;
		d->records++;
		d->version = h.version;
		count_lost(d, &h);
		consume(d, h.size + h.pdu_len);
		if (header_to_event(&h, bytes + h.size, event))
			return true;
		d->unknown_actions++;
	}
	return false;
}

/**
 * trace_decoder_finish() - the stream has ended
 * @d: the decoder
 *
 * What is left in the window is a record cut short, or the end of garbage.
 */
void trace_decoder_finish(struct trace_decoder *d)
{
	size_t left = d->tail - d->head;

	if (left == 0)
		return;
	if (!d->astray || left >= sizeof(uint32_t))
		note_problem(d, TRACE_TRUNCATED, left);
	skip(d, left);
}

/**
 * trace_device_parse() - "254:0"
 * @text: major and minor number
 * @ret: as events have it
 *
 * Return: whether it is a device number.
 */
bool trace_device_parse(const char *text, uint32_t *ret)
{
	unsigned int major, minor;
	int end = 0;

	if (sscanf(text, "%4u:%7u%n", &major, &minor, &end) != 2 || text[end] ||
	    major >= 1 << 12 || minor >= 1 << 20)
		return false;
	*ret = major << 20 | minor;
	return true;
}

/**
 * trace_says() - whether a message begins with a text
 * @event: of action TRACE_NOTE_MESSAGE
 * @prefix: the text
 */
bool trace_says(const struct trace_event *event, const char *prefix)
{
	size_t len = strlen(prefix);

	return event->text_len >= len && memcmp(event->text, prefix, len) == 0;
}

/**
 * trace_problem_describe() - say what was wrong with a stream
 * @d: the decoder
 * @text: where the sentence goes
 * @size: of @text
 *
 * Return: 0, -EBADMSG if there was something wrong.
 */
int trace_problem_describe(const struct trace_decoder *d, char *text, size_t size)
{
	unsigned long long offset = d->problem_offset, skipped = d->skipped_bytes;
	unsigned long long records = d->records;

	switch (d->problem) {
	case TRACE_SOUND:
		snprintf(text, size, "%llu records", records);
		return 0;
	case TRACE_GARBAGE:
		if (d->records == 0)
			snprintf(text, size,
				 "is no blktrace recording: no record in %llu bytes, offset 0 has 0x%08x where 0x%06x?? should be",
				 skipped, d->problem_value, BLKTRACE_MAGIC >> 8);
		else
			snprintf(text, size,
				 "offset %llu: 0x%08x is no record's magic; %llu bytes passed over, %llu records read",
				 offset, d->problem_value, skipped, records);
		return -EBADMSG;
	case TRACE_UNKNOWN_VERSION:
		snprintf(text, size,
			 "offset %llu: unknown version %u of the trace format (known: 7, 8); %llu bytes passed over, %llu records read",
			 offset, d->problem_value, skipped, records);
		return -EBADMSG;
	case TRACE_LONG_PDU:
		snprintf(text, size,
			 "offset %llu: a record claims %u bytes after it (at most %u); %llu bytes passed over, %llu records read",
			 offset, d->problem_value, TRACE_PDU_MAX, skipped, records);
		return -EBADMSG;
	case TRACE_BEYOND:
		snprintf(text, size,
			 "offset %llu: a record claims a time or sector that there is not; %llu bytes passed over, %llu records read",
			 offset, skipped, records);
		return -EBADMSG;
	case TRACE_TRUNCATED:
		snprintf(text, size,
			 "offset %llu: the last record is cut short after %u bytes; %llu records read",
			 offset, d->problem_value, records);
		return -EBADMSG;
	}
	return -EBADMSG;
}

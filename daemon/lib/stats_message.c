// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "macros.h"
#include "stats_message.h"

/* Of the latency's buckets: from 8 us to 17 s, which are known as in a trace. */
#define FIRST_BOUND	160
#define BOUNDS		336

/**
 * stats_message_create() - ask for an area as large as the device
 * @owner: the process
 * @ret: the message; all of it has room
 */
void stats_message_create(long owner, char ret[static STATS_MESSAGE])
{
	size_t len = snprintf(ret, STATS_MESSAGE, "@stats_create - /1 2 precise_timestamps histogram");

	for (unsigned int i = 0; i < BOUNDS; i++)
		len += snprintf(ret + len, STATS_MESSAGE - len, "%c%llu", i ? ',' : ':',
				(unsigned long long)histogram_lower(FIRST_BOUND + i));
	snprintf(ret + len, STATS_MESSAGE - len, " " STATS_PROGRAM " %ld", owner);
}

/* The first number has all that is shorter than its bound. */
static bool read_latency(const char *text, struct histogram *ret)
{
	for (unsigned int i = 0; i <= BOUNDS; i++) {
		char *end;
		uint64_t n = strtoull(text, &end, 10);

		if (end == text || *end != (i < BOUNDS ? ':' : '\n'))
			return false;
		ret->buckets[FIRST_BOUND - 1 + i] = n;
		ret->n += n;
		text = end + 1;
	}
	return true;
}

/**
 * stats_message_counters() - what an area has counted
 * @text: the answer to @stats_print
 * @ret: those fields that it tells are set
 *
 * Return: 0 or -EBADMSG.
 */
int stats_message_counters(const char *text, struct counted_reading *ret)
{
	unsigned long long reads, read_sectors, read_ns, writes, written_sectors, write_ns;
	struct histogram latency = { .n = 0 };
	int histogram = 0;

	/* Reads, merged, sectors, time; the same of writes; in flight; and four times more. */
	if (sscanf(text, "%*u+%*u %llu %*u %llu %llu %llu %*u %llu %llu %*u %*u %*u %*u %*u %n",
		   &reads, &read_sectors, &read_ns, &writes, &written_sectors, &write_ns,
		   &histogram) != 6 || histogram == 0 || !read_latency(text + histogram, &latency))
		return -EBADMSG;
	ret->reads = reads;
	ret->writes = writes;
	ret->read_bytes = read_sectors * SECTOR;
	ret->written_bytes = written_sectors * SECTOR;
	ret->busy_ns = read_ns + write_ns;
	ret->latency = latency;
	return 0;
}

/**
 * stats_message_area() - the next area of ours
 * @text: the answer to @stats_list, or what is left of it; is set behind the area
 * @ret_area: its number
 * @ret_owner: the process that it belongs to
 *
 * Return: false if there is none.
 */
bool stats_message_area(const char **text, unsigned int *ret_area, long *ret_owner)
{
	while (**text) {
		const char *line = *text, *end = strchrnul(line, '\n');
		char program[sizeof(STATS_PROGRAM) + 1];
		unsigned int area;
		long owner;

		*text = *end ? end + 1 : end;
		if (sscanf(line, "%u: %*u+%*u %*u %11s %ld", &area, program, &owner) == 3 &&
		    strcmp(program, STATS_PROGRAM) == 0) {
			*ret_area = area;
			*ret_owner = owner;
			return true;
		}
	}
	return false;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What fullstripe devices do now: rates out of two readings of their counters, in an order,
 * on a screen or as JSON.
 */
#ifndef FULLSTRIPE_TOP_H
#define FULLSTRIPE_TOP_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "screen.h"
#include "view.h"

#define TOP_NAME	128

/* What only grows, until the device is made anew or its counters are reset. */
enum top_counter {
	TOP_READS,
	TOP_READ_SECTORS,
	TOP_WRITES,
	TOP_WRITTEN_SECTORS,
	TOP_BYPASSED_BYTES,
	TOP_STAGED_READ_BYTES,
	TOP_WHOLE_STRIPES,
	TOP_FILLED_STRIPES,
	TOP_PARTIAL_STRIPES,
	TOP_FLUSHES,
	TOP_FLUSH_US,
	TOP_PARKED,
	TOP_THROTTLED,
	TOP_PREFETCHED_BYTES,
	TOP_PREFETCH_HIT_BYTES,
	TOP_ARRAY_READ_SECTORS,
	TOP_ARRAY_WRITTEN_SECTORS,
	TOP_MEMBERS_READ_SECTORS,
	N_TOP_COUNTERS,
};

/* What a device is set to, and what it has now. */
enum top_value {
	TOP_STRIPE_BYTES,
	TOP_CHUNK_BYTES,
	TOP_DATA_MEMBERS,
	TOP_CLUSTER_BYTES,
	TOP_HIGH_WATER,
	TOP_LOW_WATER,
	TOP_FILE_HIGH_WATER,
	TOP_FILE_LOW_WATER,
	TOP_HOLD_MS,
	TOP_STAGED_BYTES,
	TOP_DIRTY_FILES,
	TOP_HELD_FILES,
	TOP_FAILING_STRIPES,
	TOP_ACTIVE_STREAMS,
	N_TOP_VALUES,
};

/**
 * enum top_array - whether what the members read beyond what the array was asked for is pre-reads
 * @TOP_ARRAY_NONE: no array with parity is known below
 * @TOP_ARRAY_BUSY: it is rebuilt or checked, or lacks a member
 * @TOP_ARRAY_WELL: it is
 */
enum top_array {
	TOP_ARRAY_NONE,
	TOP_ARRAY_BUSY,
	TOP_ARRAY_WELL,
};

/**
 * struct top_reading - a device at one moment
 * @time_us: when
 * @name: what people call it
 * @disk: as in /sys/block
 * @lower: the device below it
 * @array: the array below; empty if there is none
 * @state: of the array
 * @mode: when a write completes
 * @counters: by enum top_counter
 * @values: by enum top_value
 */
struct top_reading {
	uint64_t time_us;
	char name[TOP_NAME];
	char disk[VIEW_DISK];
	char lower[VIEW_DISK];
	char array[VIEW_DISK];
	enum top_array state;
	char mode[16];
	uint64_t counters[N_TOP_COUNTERS];
	uint64_t values[N_TOP_VALUES];
};

/**
 * struct top_device - what a device does; NAN is what is not known
 * @now: the newer reading
 * @read_bytes: a second
 * @written_bytes: a second
 * @reads: a second
 * @writes: a second
 * @whole: stripes that were written whole, a second; so are those that bypassed
 * @filled: stripes that were filled, a second
 * @partial: stripes that were written in part, a second
 * @full: share of the stripes that were written whole
 * @pre_reads: blocks of 4 KiB that md read in order to write, for each MiB written
 * @staged: share of the memory for staged data
 * @flushes: a second
 * @flush_us: what one took, on average
 * @waits: writes that had to wait, a second
 * @hits: share of what was read that had been read ahead
 */
struct top_device {
	struct top_reading now;
	double read_bytes;
	double written_bytes;
	double reads;
	double writes;
	double whole;
	double filled;
	double partial;
	double full;
	double pre_reads;
	double staged;
	double flushes;
	double flush_us;
	double waits;
	double hits;
};

enum top_sort {
	TOP_BY_NAME,
	TOP_BY_READ,
	TOP_BY_WRITE,
	TOP_BY_FULL,
	TOP_BY_PRE_READS,
	TOP_BY_STAGED,
	TOP_BY_FLUSH,
	TOP_BY_HELD,
	TOP_BY_STREAMS,
	N_TOP_SORTS,
};

/**
 * struct top_view - all that is shown
 * @devices: in their order
 * @n_devices: how many
 * @files: those with something outstanding, in their order
 * @n_files: how many
 * @streams: of reads, in their order
 * @n_streams: how many
 * @no_lists: why there are no files and no streams; NULL if there are
 * @seconds: from one reading to the next
 * @sort: what @devices are sorted by
 * @reverse: in the opposite order
 * @paused: it stands still
 * @selected: the device that is looked at
 * @keys: say which keys there are
 */
struct top_view {
	const struct top_device *devices;
	size_t n_devices;
	const struct file_view *files;
	size_t n_files;
	const struct stream_view *streams;
	size_t n_streams;
	const char *no_lists;
	double seconds;
	enum top_sort sort;
	bool reverse;
	bool paused;
	size_t selected;
	bool keys;
};

void top_compute(const struct top_reading *before, const struct top_reading *now,
		 struct top_device *ret);
const char *top_device_name(const struct top_view *view, const char *disk);
const char *top_sort_name(enum top_sort sort);
int top_sort_parse(const char *text, enum top_sort *ret);
void top_sort(struct top_device *devices, size_t n, enum top_sort sort, bool reverse);
void top_sort_files(struct file_view *files, size_t n);
void top_sort_streams(struct stream_view *streams, size_t n);
unsigned int top_rows(const struct top_view *view);
void top_draw(struct screen *screen, const struct top_view *view);
struct json_object *top_json(const struct top_view *view);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files, streams and events of fullstripe devices as the module tells them, and as they
 * are shown.
 */
#ifndef FULLSTRIPE_VIEW_H
#define FULLSTRIPE_VIEW_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VIEW_DISK	32
#define VIEW_TEXT	32

/**
 * struct file_view - a file, or a process that does direct I/O
 * @disk: the device, as in /sys/block
 * @tgid: the process; 0 if it is a file
 * @inode: its number
 * @generation: of the inode
 * @fs_major: of the file system's device
 * @fs_minor: of the file system's device
 * @outstanding: bytes taken and not yet on the lower device
 * @staged: what of that is staged
 * @held: its next writes wait
 * @over_mark: it reached its high water mark; else they wait for a flush
 * @parked: writes that wait
 * @parked_bytes: bytes of these
 * @times_held: how often it was held
 * @wait_us: what the first that waits has waited
 * @longest_wait_us: what one waited at the most
 * @path: where the file is, or the process's name; NULL if that is not known
 */
struct file_view {
	char disk[VIEW_DISK];
	uint32_t tgid;
	uint64_t inode;
	uint32_t generation;
	uint32_t fs_major;
	uint32_t fs_minor;
	uint64_t outstanding;
	uint64_t staged;
	bool held;
	bool over_mark;
	uint32_t parked;
	uint64_t parked_bytes;
	uint32_t times_held;
	uint64_t wait_us;
	uint64_t longest_wait_us;
	char *path;
};

enum stream_direction {
	STREAM_FORWARD,
	STREAM_BACKWARD,
	STREAM_STRIDED,
};

/**
 * struct stream_view - a stream of reads; bytes
 * @disk: the device, as in /sys/block
 * @position: where its next read is expected
 * @direction: enum stream_direction
 * @stride: from run to run, if strided
 * @run: length of a run, if strided
 * @degree: read clusters that are read ahead at a time
 * @trigger: so many before the end, more is
 * @ahead: read ahead and not yet asked for
 * @read: what was read
 * @idle_ms: since its last read
 */
struct stream_view {
	char disk[VIEW_DISK];
	uint64_t position;
	uint32_t direction;
	int64_t stride;
	uint64_t run;
	uint32_t degree;
	uint32_t trigger;
	uint64_t ahead;
	uint64_t read;
	uint32_t idle_ms;
};

enum view_event {
	EVENT_THROTTLE_START,
	EVENT_THROTTLE_STOP,
	EVENT_WRITE_ERROR,
	EVENT_WRITE_RECOVERED,
	EVENT_GEOMETRY,
	N_EVENTS,
};

/**
 * struct event_view - something that happened to a device
 * @event: what
 * @disk: the device, as in /sys/block
 * @file: throttle: the file
 * @sector: write error: where the stripe begins
 * @sectors: write error: how long it is
 * @dirty_sectors: write error: what of it was to be written
 * @error: write error: the errno
 * @stripe_bytes: geometry: the stripe width
 * @chunk_bytes: geometry: bytes that lie together on one member
 * @data_members: geometry: members less parity
 */
struct event_view {
	enum view_event event;
	char disk[VIEW_DISK];
	struct file_view file;
	uint64_t sector;
	uint32_t sectors;
	uint32_t dirty_sectors;
	uint32_t error;
	uint64_t stripe_bytes;
	uint64_t chunk_bytes;
	uint32_t data_members;
};

const char *view_direction(uint32_t direction);
const char *view_time(uint64_t us, char text[static VIEW_TEXT]);
char *view_whose(const struct file_view *file);
void view_free_files(struct file_view *files, size_t n);
char *view_event(const struct event_view *event);
struct json_object *view_file_json(const struct file_view *file);
struct json_object *view_stream_json(const struct stream_view *stream);
struct json_object *view_event_json(const struct event_view *event);

#endif

// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "macros.h"
#include "markup.h"
#include "render.h"
#include "units.h"
#include "view.h"

/**
 * view_direction() - a word for it
 * @direction: enum stream_direction
 */
const char *view_direction(uint32_t direction)
{
	static const char * const names[] = {
		[STREAM_FORWARD] = "forward",
		[STREAM_BACKWARD] = "backward",
		[STREAM_STRIDED] = "strided",
	};

	return direction < ARRAY_SIZE(names) ? names[direction] : "unknown";
}

/**
 * view_time() - "350 us", "12.5 ms", "3.2 s"
 * @us: microseconds
 * @text: where it goes
 *
 * Return: @text.
 */
const char *view_time(uint64_t us, char text[static VIEW_TEXT])
{
	if (us < 1000)
		snprintf(text, VIEW_TEXT, "%u us", (unsigned int)us);
	else if (us < 1000000)
		snprintf(text, VIEW_TEXT, "%.1f ms", (double)us / 1000);
	else
		snprintf(text, VIEW_TEXT, "%.1f s", (double)us / 1000000);
	return text;
}

/**
 * view_whose() - which file it is, for a person
 * @file: the file
 *
 * Names are made by others: what they hold must not command the terminal.
 *
 * Return: a text to be freed, or NULL if there is no memory.
 */
char *view_whose(const struct file_view *file)
{
	char *path = file->path ? markup_text(file->path) : NULL;
	char *text = NULL;
	int n;

	if (file->tgid && path)
		n = asprintf(&text, "process %u (%s)", file->tgid, path);
	else if (file->tgid)
		n = asprintf(&text, "process %u (gone)", file->tgid);
	else if (path)
		n = asprintf(&text, "%s", path);
	else if (file->fs_major == 0)
		/* Then stat(2) has other device numbers: those of a subvolume. */
		n = asprintf(&text, "inode %llu of %u:%u (path not known: its file system, as btrfs, does not show this number)",
			     (unsigned long long)file->inode, file->fs_major, file->fs_minor);
	else
		n = asprintf(&text, "inode %llu of %u:%u (path not known: no process has it open)",
			     (unsigned long long)file->inode, file->fs_major, file->fs_minor);
	g_free(path);
	return n < 0 ? NULL : text;
}

/**
 * view_free_files() - a list of files, with their paths
 * @files: the list, or NULL
 * @n: how many
 */
void view_free_files(struct file_view *files, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(files[i].path);
	free(files);
}

/**
 * view_event() - an event, for a person
 * @event: the event
 *
 * Return: a line to be freed, or NULL if there is no memory.
 */
char *view_event(const struct event_view *event)
{
	char size[UNITS_TEXT], chunk[UNITS_TEXT], wait[VIEW_TEXT];
	const struct file_view *file = &event->file;
	char *text = NULL, *whose;
	int n = -1;

	switch (event->event) {
	case EVENT_THROTTLE_START:
	case EVENT_THROTTLE_STOP:
		whose = view_whose(file);
		if (!whose)
			return NULL;
		n = asprintf(&text, "%s: %s: %s, %s outstanding, held %u times since last told, longest wait %s",
			     event->disk,
			     event->event == EVENT_THROTTLE_STOP ? "goes on" :
			     file->over_mark ? "held, over its mark" : "held for a flush", whose,
			     units_format_size(file->outstanding, size), file->times_held,
			     view_time(file->longest_wait_us, wait));
		free(whose);
		break;
	case EVENT_WRITE_ERROR:
		n = asprintf(&text, "%s: cannot be written: sectors %llu + %u, %u of them dirty: %s",
			     event->disk, (unsigned long long)event->sector, event->sectors,
			     event->dirty_sectors, strerror((int)event->error));
		break;
	case EVENT_WRITE_RECOVERED:
		n = asprintf(&text, "%s: all that could not be written has been", event->disk);
		break;
	case EVENT_GEOMETRY:
		n = asprintf(&text, "%s: stripes of %s: %u data members x %s", event->disk,
			     units_format_size(event->stripe_bytes, size), event->data_members,
			     units_format_size(event->chunk_bytes, chunk));
		break;
	default:
		break;
	}
	return n < 0 ? NULL : text;
}

/* A name may have any bytes, but JSON is UTF-8; its control characters are escaped there. */
static void add_name(struct json_object *o, const char *key, const char *name)
{
	char *valid = name ? g_utf8_make_valid(name, -1) : NULL;

	render_add_text(o, key, valid);
	g_free(valid);
}

/**
 * view_file_json() - a file, for a program
 * @file: the file
 */
struct json_object *view_file_json(const struct file_view *file)
{
	struct json_object *o = json_object_new_object();

	render_add_text(o, "disk", file->disk);
	if (file->tgid) {
		render_add_number(o, "tgid", file->tgid);
		add_name(o, "command", file->path);
	} else {
		render_add_number(o, "inode", file->inode);
		render_add_number(o, "generation", file->generation);
		render_add_number(o, "fs_major", file->fs_major);
		render_add_number(o, "fs_minor", file->fs_minor);
		add_name(o, "path", file->path);
	}
	render_add_number(o, "outstanding_bytes", file->outstanding);
	render_add_number(o, "staged_bytes", file->staged);
	json_object_object_add(o, "held", json_object_new_boolean(file->held));
	json_object_object_add(o, "over_mark", json_object_new_boolean(file->over_mark));
	render_add_number(o, "parked", file->parked);
	render_add_number(o, "parked_bytes", file->parked_bytes);
	render_add_number(o, "times_held", file->times_held);
	render_add_number(o, "wait_us", file->wait_us);
	render_add_number(o, "longest_wait_us", file->longest_wait_us);
	return o;
}

/**
 * view_stream_json() - a stream, for a program
 * @stream: the stream
 */
struct json_object *view_stream_json(const struct stream_view *stream)
{
	struct json_object *o = json_object_new_object();

	render_add_text(o, "disk", stream->disk);
	render_add_number(o, "position_bytes", stream->position);
	render_add_text(o, "direction", view_direction(stream->direction));
	if (stream->direction == STREAM_STRIDED) {
		json_object_object_add(o, "stride_bytes", json_object_new_int64(stream->stride));
		render_add_number(o, "run_bytes", stream->run);
	}
	render_add_number(o, "degree", stream->degree);
	render_add_number(o, "trigger", stream->trigger);
	render_add_number(o, "ahead_bytes", stream->ahead);
	render_add_number(o, "read_bytes", stream->read);
	render_add_number(o, "idle_ms", stream->idle_ms);
	return o;
}

/**
 * view_event_json() - an event, for a program
 * @event: the event
 */
struct json_object *view_event_json(const struct event_view *event)
{
	static const char * const names[N_EVENTS] = {
		[EVENT_THROTTLE_START] = "throttle-start",
		[EVENT_THROTTLE_STOP] = "throttle-stop",
		[EVENT_WRITE_ERROR] = "write-error",
		[EVENT_WRITE_RECOVERED] = "write-recovered",
		[EVENT_GEOMETRY] = "geometry",
	};
	struct json_object *o = json_object_new_object();

	render_add_text(o, "event", names[event->event]);
	render_add_text(o, "disk", event->disk);
	switch (event->event) {
	case EVENT_THROTTLE_START:
	case EVENT_THROTTLE_STOP:
		json_object_object_add(o, "file", view_file_json(&event->file));
		break;
	case EVENT_WRITE_ERROR:
		render_add_number(o, "sector", event->sector);
		render_add_number(o, "sectors", event->sectors);
		render_add_number(o, "dirty_sectors", event->dirty_sectors);
		render_add_number(o, "error", event->error);
		break;
	case EVENT_GEOMETRY:
		render_add_number(o, "stripe_bytes", event->stripe_bytes);
		render_add_number(o, "chunk_bytes", event->chunk_bytes);
		render_add_number(o, "data_members", event->data_members);
		break;
	default:
		break;
	}
	return o;
}

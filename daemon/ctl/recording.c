// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/merge.h"
#include "option.h"
#include "recording.h"
#include "src/cleanup.h"
#include "src/log.h"
#include "src/progress.h"

DEFINE_CLEANUP(struct recording *, recording_close)

/* A day. */
#define SECONDS_MAX		86400

enum {
	OPTION_SECONDS = 1280,
	OPTION_RECORD,
	OPTION_DEVICE,
};

static const struct argp_option option_list[] = {
	{ "seconds", OPTION_SECONDS, "N", 0, "Record DEV now, for so long", 0 },
	{ "record", OPTION_RECORD, "DIR", 0, "Keep that recording in DIR, as blktrace does", 0 },
	{ "device", OPTION_DEVICE, "MAJ:MIN", 0, "Only this device of those in FILEs", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct recording_options *o = state->input;

	switch (key) {
	case OPTION_SECONDS:
		o->seconds = option_number("seconds", arg, 1, SECONDS_MAX, state);
		return 0;
	case OPTION_RECORD:
		o->folder = arg;
		return 0;
	case OPTION_DEVICE:
		o->device = option_device(arg, state);
		o->has_device = true;
		return 0;
	case ARGP_KEY_END:
		if (o->folder && !o->seconds)
			argp_error(state, "--record needs --seconds");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp recording_argp = {
	.options = option_list,
	.parser = parse_option,
};

/* How far it has come may be told each time that so many were read. */
#define PROGRESS_EVENTS		16384

struct file {
	struct recording *recording;
	const char *name;
	int fd;
};

struct recording {
	struct merge *merge;
	uint64_t bytes, bytes_read, events;
	struct progress progress;
	size_t n;
	struct file files[];
};

static ssize_t fill_from_file(void *source, void *space, size_t room)
{
	const struct file *file = source;
	ssize_t n;

	do {
		n = read(file->fd, space, room);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	file->recording->bytes_read += n;
	return n;
}

static int add_file(struct recording *r, const char *name)
{
	struct file *file = &r->files[r->n];
	struct stat st;
	int error;

	*file = (struct file) { .recording = r, .name = name };
	file->fd = open(name, O_RDONLY | O_CLOEXEC);
	if (file->fd < 0)
		return log_errno(errno, "%s", name);
	r->n++;
	if (fstat(file->fd, &st) == 0 && S_ISREG(st.st_mode))
		r->bytes += st.st_size;
	error = merge_add(r->merge, file);
	return error < 0 ? log_errno(error, "%s", name) : 0;
}

/**
 * recording_open() - open files to be merged by time
 * @files: their names
 * @n: how many
 * @ret: the recording
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int recording_open(char **files, size_t n, struct recording **ret)
{
	struct recording *r = calloc(1, sizeof(*r) + n * sizeof(r->files[0]));
	int error;

	if (!r)
		return log_errno(ENOMEM, "the recording");
	error = merge_new(fill_from_file, &r->merge);
	if (error < 0)
		log_errno(error, "the recording");
	for (size_t i = 0; i < n && error == 0; i++)
		error = add_file(r, files[i]);
	if (error < 0) {
		recording_close(r);
		return error;
	}
	progress_begin(&r->progress);
	*ret = r;
	return 0;
}

/**
 * recording_close() - close the files
 * @r: the recording or NULL
 *
 * Return: NULL.
 */
struct recording *recording_close(struct recording *r)
{
	if (!r)
		return NULL;
	merge_free(r->merge);
	for (size_t i = 0; i < r->n; i++)
		close(r->files[i].fd);
	free(r);
	return NULL;
}

/**
 * recording_next() - the next event
 * @r: the recording
 * @ret: the event, valid until the next call
 *
 * A terminal on standard error is told how far it has come, if that takes long.
 *
 * Return: 1, 0 at the end, or a negative errno, which has been logged.
 */
int recording_next(struct recording *r, const struct trace_event **ret)
{
	int more = merge_next(r->merge, UINT64_MAX, ret);

	if (more > 0 && ++r->events % PROGRESS_EVENTS == 0 && r->bytes > 0)
		progress_tell(&r->progress, "%.0f %% of the recording read",
			      100.0 * r->bytes_read / r->bytes);
	if (more <= 0)
		progress_end(&r->progress);
	return more < 0 ? log_errno(more, "the recording cannot be read") : more;
}

/**
 * recording_is_sound() - say of each file what was wrong with it
 * @r: the recording, read to its end
 * @lost: records that the kernel had to drop
 *
 * Return: whether all was right.
 */
bool recording_is_sound(const struct recording *r, uint64_t *lost)
{
	bool sound = true;
	char text[512];

	*lost = 0;
	for (size_t i = 0; i < r->n; i++) {
		const struct trace_decoder *d = merge_decoder(r->merge, i);

		*lost += d->lost;
		if (trace_problem_describe(d, text, sizeof(text)) < 0) {
			log_warning("%s: %s", r->files[i].name, text);
			sound = false;
		}
	}
	return sound;
}

/**
 * recording_profile() - all of a recording, into a profile
 * @files: their names
 * @n: how many
 * @device: only what is of this one; NULL: all
 * @profile: takes the events
 * @ret_sound: whether nothing was wrong with the files; else that was logged
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int recording_profile(char **files, size_t n, const uint32_t *device, struct profile *profile,
		      bool *ret_sound)
{
	_cleanup_(recording_closep) struct recording *recording = NULL;
	const struct trace_event *event;
	uint64_t lost;
	int r;

	r = recording_open(files, n, &recording);
	if (r < 0)
		return r;
	while ((r = recording_next(recording, &event)) > 0) {
		if (device && event->device != *device)
			continue;
		r = profile_add(profile, event);
		if (r < 0)
			return log_errno(r, "the recording cannot be read");
	}
	if (r < 0)
		return r;
	*ret_sound = recording_is_sound(recording, &lost);
	profile_add_lost(profile, lost);
	return 0;
}

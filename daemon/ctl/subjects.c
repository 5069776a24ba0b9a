// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>

#include "lib/exit_codes.h"
#include "lib/markup.h"
#include "option.h"
#include "recording.h"
#include "src/cleanup.h"
#include "src/log.h"
#include "subjects.h"

DEFINE_CLEANUP(struct profile *, profile_free)
DEFINE_CLEANUP(struct recording *, recording_close)

/* The files of a recording; they are merged by time. */
struct recording_files {
	const char *label;
	GPtrArray *names;
};

/*
 * Options
 */

enum {
	OPTION_LABEL = 1024,
	OPTION_DEVICE,
};

static const struct argp_option option_list[] = {
	{ "label", OPTION_LABEL, "NAME", 0, "The files that follow are a recording of this name", 0 },
	{ "device", OPTION_DEVICE, "MAJ:MIN", 0, "Only this device", 0 },
	{ 0 },
};

static struct recording_files *latest(struct subject_options *o)
{
	return o->recordings->len ? &g_array_index(o->recordings, struct recording_files,
						   o->recordings->len - 1) : NULL;
}

static void begin_recording(struct subject_options *o, const char *label,
			    const struct argp_state *state)
{
	struct recording_files new = { .label = label, .names = g_ptr_array_new() };
	const struct recording_files *before = latest(o);

	if (before && before->names->len == 0)
		argp_error(state, "--label '%s': its files have to follow it", before->label);
	g_array_append_val(o->recordings, new);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct subject_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		array_options_init(&o->array);
		o->recordings = g_array_new(FALSE, FALSE, sizeof(struct recording_files));
		state->child_inputs[0] = &o->array;
		return 0;
	case OPTION_LABEL:
		begin_recording(o, arg, state);
		return 0;
	case OPTION_DEVICE:
		o->device = option_device(arg, state);
		o->has_device = true;
		return 0;
	case ARGP_KEY_ARG:
		if (!latest(o))
			begin_recording(o, NULL, state);
		g_ptr_array_add(latest(o)->names, arg);
		return 0;
	case ARGP_KEY_END:
		if (!latest(o) || latest(o)->names->len == 0)
			option_no_files(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* A child of a verb's parser, which takes arguments in order and hands it its struct subject_options. */
const struct argp subjects_argp = {
	.options = option_list,
	.parser = parse_option,
	.children = (const struct argp_child[]) { { &array_argp, 0, NULL, 0 }, { 0 } },
};

/*
 * Labels
 */

static char *base_of(const char *path)
{
	char *name = g_path_get_basename(path), *end = strstr(name, ".blktrace");

	if (end)
		*end = '\0';
	return name;
}

/* "md0" of "x/md0.blktrace.0"; of files with several such names, "x". */
static char *label_of(const struct recording_files *files)
{
	char *label, *text;
	bool same = true;

	if (files->label)
		return markup_text(files->label);
	label = base_of(files->names->pdata[0]);
	for (guint i = 1; i < files->names->len && same; i++) {
		char *other = base_of(files->names->pdata[i]);

		same = strcmp(label, other) == 0;
		g_free(other);
	}
	if (!same) {
		char *folder = g_path_get_dirname(files->names->pdata[0]);

		g_free(label);
		label = g_path_get_basename(folder);
		g_free(folder);
	}
	text = markup_text(label);
	g_free(label);
	return text;
}

/*
 * Reading
 */

static struct subject *find(struct subjects *s, unsigned int first, uint32_t device)
{
	for (unsigned int i = first; i < s->n; i++)
		if (s->list[i].device == device)
			return &s->list[i];
	return NULL;
}

/* Return: 0 or a negative errno, which has been logged. */
static int add_subject(struct subjects *s, const struct subject_options *o, uint32_t device,
		       uint64_t origin, struct subject **ret)
{
	struct subject *new = &s->list[s->n];
	int r;

	if (s->n == SUBJECTS_MAX) {
		log_warning("more than %d devices: choose one with --device", SUBJECTS_MAX);
		return -ENOTUNIQ;
	}
	r = series_new(&(struct series_options) {
		.device = device,
		.origin = origin,
		.stripe_bytes = s->stripe_bytes,
		.offset_bytes = rule_misaligned_by(o->array.array.offset_bytes, s->stripe_bytes),
	}, &new->series);
	if (r < 0)
		return log_errno(r, "the recording");
	new->device = device;
	s->n++;
	*ret = new;
	return 0;
}

static int read_events(struct subjects *s, const struct subject_options *o,
		       struct recording *recording, struct profile *profile)
{
	unsigned int first = s->n;
	struct trace_event event;
	uint64_t origin = 0;
	bool begun = false;
	int r;

	while ((r = recording_next(recording, &event)) > 0) {
		struct subject *subject;

		if (event.action == TRACE_NOTE_PROCESS || event.action == TRACE_NOTE_TIMESTAMP ||
		    (o->has_device && event.device != o->device))
			continue;
		if (!begun)
			origin = event.time;
		begun = true;
		subject = find(s, first, event.device);
		if (!subject) {
			r = add_subject(s, o, event.device, origin, &subject);
			if (r < 0)
				return r;
		}
		r = series_add(subject->series, &event);
		if (r == 0)
			r = profile_add(profile, &event);
		if (r < 0)
			return log_errno(r, "the recording cannot be read");
	}
	return r;
}

static void complete(struct subject *subject, const char *label, bool several,
		     const struct profile *profile)
{
	series_finish(subject->series);
	profile_find(profile, subject->device, &subject->profile);
	subject->n_streams = profile_streams(profile, subject->device, subject->streams);
	subject->label = several ? g_strdup_printf("%s %u:%u", label,
						   trace_device_major(subject->device),
						   trace_device_minor(subject->device)) :
				   g_strdup(label);
}

static int read_recording(struct subjects *s, const struct subject_options *o,
			  const struct recording_files *files)
{
	_cleanup_(recording_closep) struct recording *recording = NULL;
	_cleanup_(profile_freep) struct profile *profile = NULL;
	const struct profile_options options = {
		.stripe_bytes = s->stripe_bytes,
		.offset_bytes = rule_misaligned_by(o->array.array.offset_bytes, s->stripe_bytes),
	};
	unsigned int first = s->n;
	uint64_t lost;
	char *label;
	int r;

	r = profile_new(&options, &profile);
	if (r < 0)
		return log_errno(r, "the recording");
	r = recording_open((char **)files->names->pdata, files->names->len, &recording);
	if (r == 0)
		r = read_events(s, o, recording, profile);
	if (r < 0)
		return r;
	s->sound &= recording_is_sound(recording, &lost);
	s->lost += lost;
	profile_add_lost(profile, lost);
	label = label_of(files);
	for (unsigned int i = first; i < s->n; i++)
		complete(&s->list[i], label, s->n > first + 1, profile);
	g_free(label);
	return 0;
}

/* Return: 0, -EINVAL or -ENOTUNIQ if the options cannot be, or another negative errno; logged. */
static int read_all(struct subjects *s, const struct subject_options *o)
{
	struct rule_sum sum = { .n = 0 };
	int r;

	s->sound = true;
	r = array_stripe_bytes(&o->array, &s->stripe_bytes, &sum);
	if (r < 0)
		return -EINVAL;
	for (guint i = 0; i < o->recordings->len && r == 0; i++)
		r = read_recording(s, o, &g_array_index(o->recordings, struct recording_files, i));
	for (guint i = 0; i < o->recordings->len; i++)
		g_ptr_array_unref(g_array_index(o->recordings, struct recording_files, i).names);
	g_array_unref(o->recordings);
	for (unsigned int i = 0; i < s->n; i++)
		s->plots[i] = (struct plot_subject) { s->list[i].label, s->list[i].series };
	return r;
}

static int exit_code(const struct subjects *s)
{
	if (s->lost > 0)
		log_warning("%llu records had no room when this was recorded and are missing",
			    (unsigned long long)s->lost);
	if (!s->sound)
		return EXIT_BAD_TRACE;
	if (s->n == 0) {
		log_warning("nothing was recorded");
		return EXIT_NOTHING;
	}
	return EXIT_DONE;
}

/**
 * subjects_read() - read all recordings
 * @o: which, and how; the files' names are forgotten then
 * @ret: the subjects; NULL if there is nothing to show
 *
 * Return: what the program ends with, if it can show them. What was wrong has been logged.
 */
int subjects_read(const struct subject_options *o, struct subjects **ret)
{
	struct subjects *s = g_new0(struct subjects, 1);
	int code, r = read_all(s, o);

	if (r < 0)
		code = r == -EINVAL || r == -ENOTUNIQ ? EXIT_USAGE : EXIT_FAILED;
	else
		code = exit_code(s);
	if (r < 0 || s->n == 0) {
		subjects_free(s);
		s = NULL;
	}
	*ret = s;
	return code;
}

/**
 * subjects_free() - forget them
 * @s: the subjects or NULL
 */
void subjects_free(struct subjects *s)
{
	for (unsigned int i = 0; s && i < s->n; i++) {
		g_free(s->list[i].label);
		series_free(s->list[i].series);
	}
	g_free(s);
}

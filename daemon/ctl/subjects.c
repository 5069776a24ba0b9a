// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>

#include "from.h"
#include "lib/exit_codes.h"
#include "lib/macros.h"
#include "lib/markup.h"
#include "option.h"
#include "src/cleanup.h"
#include "src/log.h"
#include "src/record.h"
#include "subjects.h"
#include "workload.h"

DEFINE_CLEANUP(struct profile *, profile_free)
DEFINE_CLEANUP(struct recording *, recording_close)
DEFINE_CLEANUP(struct tuning *, tuning_free)

/* The files of a recording; they are merged by time. Without any it is the one that is made now. */
struct recording_files {
	const char *label;
	GPtrArray *names;
};

/*
 * Options
 */

enum {
	OPTION_LABEL = 1024,
	OPTION_FROM,
};

static const struct argp_option option_list[] = {
	{ "label", OPTION_LABEL, "NAME", 0, "What follows is a recording of this name", 0 },
	{ "from", OPTION_FROM, "DEV", 0, "The array is the one that DEV lies on", 0 },
	{ 0 },
};

static struct recording_files *latest(const struct subject_options *o)
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

static void check(const struct subject_options *o, const struct argp_state *state)
{
	const struct recording_files *last = latest(o);

	if (o->recording.seconds && !o->from)
		argp_error(state, "--seconds needs --from DEV, which is recorded");
	if (last && last->names->len == 0 && !o->recording.seconds)
		argp_error(state, "--label '%s': its files have to follow it", last->label);
	if (last || o->recording.seconds)
		return;
	if (!o->from)
		option_no_files(state);
	if (!o->state_folder)
		argp_error(state, "recordings of '%s' are needed, or --seconds N to record it now",
			   o->from);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct subject_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		array_options_init(&o->array);
		o->recordings = g_array_new(FALSE, FALSE, sizeof(struct recording_files));
		state->child_inputs[0] = &o->array;
		state->child_inputs[1] = &o->recording;
		return 0;
	case OPTION_LABEL:
		begin_recording(o, arg, state);
		return 0;
	case OPTION_FROM:
		o->from = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (!latest(o))
			begin_recording(o, NULL, state);
		g_ptr_array_add(latest(o)->names, arg);
		return 0;
	case ARGP_KEY_END:
		check(o, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* A child of a verb's parser, which takes arguments in order and hands it its struct subject_options. */
const struct argp subjects_argp = {
	.options = option_list,
	.parser = parse_option,
	.children = (const struct argp_child[]) {
		{ &array_argp, 0, NULL, 0 },
		{ &recording_argp, 0, NULL, 0 },
		{ 0 }
	},
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

/* One recording while it is read: its devices are the subjects from @first on. */
struct reader {
	struct subjects *subjects;
	const struct subject_options *options;
	const uint32_t *only;		/* this device; NULL: all */
	struct profile *profile;
	unsigned int first;
	uint64_t origin;
	bool begun;
};

static int begin_reading(struct subjects *s, const struct subject_options *o, struct reader *ret)
{
	const struct profile_options options = {
		.stripe_bytes = s->stripe_bytes,
		.offset_bytes = rule_misaligned_by(o->array.array.offset_bytes, s->stripe_bytes),
	};
	int r;

	*ret = (struct reader) { .subjects = s, .options = o, .first = s->n };
	r = profile_new(&options, &ret->profile);
	return r < 0 ? log_errno(r, "the recording") : 0;
}

static int read_event(void *data, const struct trace_event *event)
{
	struct reader *reader = data;
	struct subject *subject;
	int r;

	if (event->action == TRACE_NOTE_PROCESS || event->action == TRACE_NOTE_TIMESTAMP ||
	    (reader->only && event->device != *reader->only))
		return 0;
	if (!reader->begun)
		reader->origin = event->time;
	reader->begun = true;
	subject = find(reader->subjects, reader->first, event->device);
	if (!subject) {
		r = add_subject(reader->subjects, reader->options, event->device, reader->origin,
				&subject);
		if (r < 0)
			return r;
	}
	r = series_add(subject->series, event);
	if (r == 0)
		r = profile_add(reader->profile, event);
	return r < 0 ? log_errno(r, "the recording cannot be read") : 0;
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

/* All of it was read, but for so many records that were lost. */
static void end_reading(const struct reader *reader, const char *label, uint64_t lost)
{
	struct subjects *s = reader->subjects;

	s->lost += lost;
	profile_add_lost(reader->profile, lost);
	for (unsigned int i = reader->first; i < s->n; i++)
		complete(&s->list[i], label, s->n > reader->first + 1, reader->profile);
}

static int read_files(struct reader *reader, const struct recording_files *files)
{
	const struct recording_options *o = &reader->options->recording;
	_cleanup_(recording_closep) struct recording *recording = NULL;
	const struct trace_event *event;
	uint64_t lost;
	char *label;
	int r;

	r = recording_open((char **)files->names->pdata, files->names->len, &recording);
	if (r < 0)
		return r;
	reader->only = o->has_device ? &o->device : NULL;
	while ((r = recording_next(recording, &event)) > 0) {
		r = read_event(reader, event);
		if (r < 0)
			break;
	}
	if (r < 0)
		return r;
	reader->subjects->sound &= recording_is_sound(recording, &lost);
	label = label_of(files);
	end_reading(reader, label, lost);
	g_free(label);
	return 0;
}

static char *label_of_device(const struct from *from, const char *given)
{
	return markup_text(given ?: from->is_target ? from->target.dm_name : from->device.name);
}

static int read_now(struct reader *reader, const struct from *from, const char *given)
{
	const struct recording_options *o = &reader->options->recording;
	struct capture_extent extent;
	char *label;
	int r;

	reader->only = &from->device.device;
	r = record(&from->device, o->folder, o->seconds, read_event, reader, &extent);
	if (r < 0)
		return r;
	profile_set_recorded(reader->profile, extent.ns);
	label = label_of_device(from, given);
	end_reading(reader, label, extent.lost);
	g_free(label);
	return 0;
}

static int read_recording(struct subjects *s, const struct subject_options *o,
			  const struct recording_files *files, const struct from *from)
{
	struct reader reader;
	int r;

	r = begin_reading(s, o, &reader);
	if (r < 0)
		return r;
	r = files && files->names->len > 0 ? read_files(&reader, files) :
	    read_now(&reader, from, files ? files->label : NULL);
	profile_free(reader.profile);
	return r;
}

/* What fullstriped or plan --seconds recorded of it last. Of that there is the profile alone. */
static int read_kept(struct subjects *s, const struct subject_options *o, const struct from *from)
{
	_cleanup_(tuning_freep) struct tuning *tuning = NULL;
	struct profile_summary profile;
	struct subject *subject;
	int r;

	if (!from->is_target) {
		log_warning("%s is no fullstripe device, so nothing is kept of its workload: record it with --seconds N, or name recordings",
			    from->device.node);
		return -ENODATA;
	}
	r = tuning_new(o->from, &tuning);
	if (r == 0)
		r = workload_profile(&(struct workload) { .n_files = 0 }, tuning, o->state_folder,
				     &profile);
	if (r == 0)
		r = add_subject(s, o, profile.device, 0, &subject);
	if (r != 0)
		return r;
	subject->label = label_of_device(from, NULL);
	subject->profile = profile;
	series_finish(subject->series);
	s->kept = true;
	return 0;
}

static int read_each(struct subjects *s, const struct subject_options *o, const struct from *from)
{
	const struct recording_files *last = latest(o);
	int r = 0;

	for (guint i = 0; i < o->recordings->len && r == 0; i++)
		r = read_recording(s, o, &g_array_index(o->recordings, struct recording_files, i),
				   from);
	if (r < 0 || (last && last->names->len == 0))
		return r;
	if (o->recording.seconds)
		return read_recording(s, o, NULL, from);
	return last || !from ? 0 : read_kept(s, o, from);
}

/* Return: 0, -EINVAL or -ENOTUNIQ if the options cannot be, or another negative errno; logged. */
static int read_all(struct subjects *s, struct subject_options *o)
{
	_cleanup_free_ struct from *from = NULL;
	struct rule_sum sum = { .n = 0 };
	int r = 0;

	s->sound = true;
	if (o->from)
		r = from_find(o->from, &from);
	if (r == 0 && from)
		r = from_take_array(from, &o->array);
	if (r < 0)
		return r;
	if (array_stripe_bytes(&o->array, &s->stripe_bytes, &sum) < 0)
		return -EINVAL;
	r = read_each(s, o, from);
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
 * subjects_read() - read all recordings, and make the one that is to be made
 * @o: which, and how; gets the array that --from says; the files' names are forgotten then
 * @ret: the subjects; NULL if there is nothing to show
 *
 * Return: what the program ends with, if it can show them. What was wrong has been logged.
 */
int subjects_read(struct subject_options *o, struct subjects **ret)
{
	struct subjects *s = g_new0(struct subjects, 1);
	int code, r = read_all(s, o);

	switch (r) {
	case 0:
		code = exit_code(s);
		break;
	case -EINVAL:
	case -ENOTUNIQ:
		code = EXIT_USAGE;
		break;
	case -ENODATA:
		code = EXIT_NOTHING;
		break;
	case -EBADMSG:
		code = EXIT_BAD_TRACE;
		break;
	default:
		code = EXIT_FAILED;
	}
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

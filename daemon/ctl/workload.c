// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/saved.h"
#include "lib/trace.h"
#include "src/cleanup.h"
#include "src/log.h"
#include "src/record.h"
#include "workload.h"

DEFINE_CLEANUP(struct profile *, profile_free)

enum {
	OPTION_PROFILE = 768,
};

static const struct argp_option option_list[] = {
	{ "profile", OPTION_PROFILE, "FILE", 0, "The workload that fullstripectl profile --json printed", 0 },
	{ 0 },
};

static void check(const struct workload *w, struct argp_state *state)
{
	if (!!w->n_files + !!w->profile + !!w->recording.seconds > 1)
		argp_error(state, "recordings, --profile and --seconds exclude each other");
	if (w->recording.has_device && !w->n_files && !w->profile)
		argp_error(state, "--device says which device of a recording, and there is none");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct workload *w = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &w->recording;
		return 0;
	case OPTION_PROFILE:
		w->profile = arg;
		return 0;
	case ARGP_KEY_END:
		check(w, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp workload_argp = {
	.options = option_list,
	.parser = parse_option,
	.children = (const struct argp_child[]) { { &recording_argp, 0, NULL, 0 }, { 0 } },
};

/* That which was named; else that of the device itself; else the only one. */
static int choose(const struct workload *w, const struct tuning *t, const struct saved *saved,
		  struct profile_summary *ret)
{
	const struct recording_options *o = &w->recording;
	uint32_t wanted = o->has_device ? o->device : t->device.device;

	for (size_t i = 0; i < saved->n; i++)
		if (saved->devices[i].device == wanted) {
			*ret = saved->devices[i];
			return 0;
		}
	if (o->has_device) {
		log_warning("nothing was recorded of the device %u:%u", trace_device_major(wanted),
			    trace_device_minor(wanted));
		return -ENODATA;
	}
	if (saved->n == 0) {
		log_warning("%s: nothing was read or written", t->device.node);
		return -ENODATA;
	}
	if (saved->n > 1) {
		log_warning("%zu devices were recorded, and none is %s: say which with --device",
			    saved->n, t->device.node);
		return -ENOTUNIQ;
	}
	*ret = saved->devices[0];
	return 0;
}

static int record_now(const struct workload *w, const struct tuning *t, struct saved *ret)
{
	struct recorded recorded;
	int r = record_workload(t, w->recording.folder, w->recording.seconds, &recorded);

	if (r < 0)
		return r;
	ret->n = recorded.any;
	ret->devices[0] = recorded.profile;
	return 0;
}

static void summarise(const struct profile *profile, struct saved *ret)
{
	ret->n = profile_devices(profile);
	for (size_t i = 0; i < ret->n; i++)
		profile_summarise(profile, i, &ret->devices[i]);
}

static int read_recordings(const struct workload *w, const struct tuning *t, struct saved *ret)
{
	_cleanup_(profile_freep) struct profile *profile = NULL;
	struct profile_options options;
	bool sound;
	int r;

	r = tuning_profile_options(t, &options);
	if (r < 0)
		return r;
	r = profile_new(&options, &profile);
	if (r < 0)
		return log_errno(r, "%s", t->device.node);
	r = recording_profile(w->files, w->n_files, NULL, profile, &sound);
	if (r < 0)
		return r;
	if (!sound)
		return log_errno(EBADMSG, "nothing is decided from a damaged recording");
	summarise(profile, ret);
	return 0;
}

static int parse_saved(const char *name, const char *text, size_t len, struct saved *ret)
{
	char why[FIELDS_WHY];
	int r = saved_parse(text, len, ret, why);

	return r < 0 ? log_errno(r, "%s is no profile: %s", name, why) : 0;
}

static int read_profile_file(const char *name, struct saved *ret)
{
	/* To be read as those in the state directory are. */
	const struct store here = { .path = ".", .folder_fd = AT_FDCWD, .lock_fd = -1 };
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	r = store_read(&here, name, &text, &len);
	return r < 0 ? log_errno(r, "%s", name) : parse_saved(name, text, len, ret);
}

/* What was recorded last, by the daemon or with --seconds. */
static int read_last(const struct tuning *t, const char *state_folder, struct saved *ret)
{
	_cleanup_(store_close) struct store store = STORE_NONE;
	_cleanup_free_ char *text = NULL;
	char name[STORE_NAME];
	size_t len = 0;
	int r;

	store_file_name("profile", t->target.id, name);
	r = store_open(state_folder, STORE_LOOK, &store);
	if (r == 0)
		r = store_read(&store, name, &text, &len);
	if (r == -ENOENT) {
		log_warning("nothing is known of the workload of %s: record it with --seconds N, or name recordings",
			    t->device.node);
		return -ENODATA;
	}
	return r < 0 ? log_errno(r, "%s/%s", state_folder, name) :
		       parse_saved(name, text, len, ret);
}

static int save_last(const struct tuning *t, const char *state_folder, const struct saved *saved)
{
	_cleanup_(store_close) struct store store = STORE_NONE;
	int r = store_open(state_folder, STORE_CHANGE, &store);

	return r < 0 ? r : store_save_profile(&store, t->target.id, saved);
}

/**
 * workload_profile() - the profile of the workload that was asked for
 * @w: the options
 * @t: the device
 * @state_folder: where what was recorded last is kept
 * @ret: the profile
 *
 * Return: 0 or a negative errno, which has been logged: -ENODATA if there was no workload,
 * -EBADMSG if a file is damaged.
 */
int workload_profile(const struct workload *w, const struct tuning *t, const char *state_folder,
		     struct profile_summary *ret)
{
	_cleanup_free_ struct saved *saved = calloc(1, sizeof(*saved));
	int r;

	if (!saved)
		return log_errno(ENOMEM, "%s", t->device.node);
	if (w->profile)
		r = read_profile_file(w->profile, saved);
	else if (w->n_files)
		r = read_recordings(w, t, saved);
	else if (w->recording.seconds)
		r = record_now(w, t, saved);
	else
		r = read_last(t, state_folder, saved);
	if (r < 0)
		return r;
	r = choose(w, t, saved, ret);
	return r == 0 && w->recording.seconds ? save_last(t, state_folder, saved) : r;
}

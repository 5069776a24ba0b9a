// SPDX-License-Identifier: GPL-2.0
/* fullstripectl refresh: a device follows what lies below it, which grew or got another shape. */
#include <argp.h>
#include <errno.h>
#include <libdevmapper.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "ctl.h"
#include "device.h"
#include "lib/exit_codes.h"
#include "lib/macros.h"
#include "lib/render.h"
#include "src/apply.h"
#include "src/cleanup.h"
#include "src/log.h"
#include "src/tuning.h"

/* As what was read, with another number in it. */
#define NEW_PARAMS	(DM_TABLE_PARAMS + 32)

/* The least that the kernel reads ahead of a device by itself. */
#define LEAST_READ_AHEAD	(128u << 10)

DEFINE_CLEANUP(struct dm_task *, dm_task_destroy)
DEFINE_CLEANUP(struct json_object *, json_object_put)

static const struct argp parser = {
	.options = DEVICE_LOOK_OPTIONS,
	.parser = device_parse_option,
	.args_doc = "DEV",
	.doc = "Give the fullstripe device DEV the stripe width, the place on the stripes and the size that the array below it has now, while DEV is in use: after members were added and the array was reshaped, or after it grew. What is on DEV stays.\vExit status: 0 done, or nothing was to be done, 1 failed and nothing is changed but maybe the stripe width, 2 wrong usage.",
};

/* What is shown of a device, and whether a new table is needed for it. */
enum {
	STRIPE,
	ALIGNMENT,
	SIZE,
	LIMIT,
	N_VALUES,
};

static const char * const names[N_VALUES] = {
	[STRIPE] = "stripe_bytes",
	[ALIGNMENT] = "alignment_offset",
	[SIZE] = "size_bytes",
	[LIMIT] = "optimal_io_size",
};

/**
 * struct refresh - what there is and what it is to be
 * @t: the device
 * @plan: its stripe width
 * @old: each value as it is
 * @new: and as it is to be
 */
struct refresh {
	struct tuning *t;
	struct plan plan;
	uint64_t old[N_VALUES];
	uint64_t new[N_VALUES];
};

static int read_size(const char *name, uint64_t *ret)
{
	uint64_t sectors;
	int r = sysfs_read_number(&sectors, SYSFS_ROOT "/class/block/%s/size", name);

	if (r < 0)
		return log_errno(r, SYSFS_ROOT "/class/block/%s/size", name);
	*ret = sectors * SECTOR;
	return 0;
}

/* What a live change cannot do for a device in use. */
static int check(const struct refresh *rf)
{
	const struct tuning *t = rf->t;
	uint64_t chunk;
	int r;

	r = sysfs_read_number(&chunk, "%s/chunk_bytes", t->target.folder);
	if (r < 0)
		return log_errno(r, "%s/chunk_bytes", t->target.folder);
	if (rf->plan.n > 0 && chunk != t->topology.array.chunk_bytes)
		return log_errno(EOPNOTSUPP, "%s: the chunk of %s is %llu bytes now and was %llu: remove the device and create it anew",
				 t->device.node, t->topology.array_name,
				 (unsigned long long)t->topology.array.chunk_bytes,
				 (unsigned long long)chunk);
	if (rf->new[SIZE] < rf->old[SIZE])
		return log_errno(ENOSPC, "%s: %s has become smaller than what lies on it, by %llu bytes: let it be as large as it was, or remove the device and create it anew",
				 t->device.node, t->target.lower,
				 (unsigned long long)(rf->old[SIZE] - rf->new[SIZE]));
	return 0;
}

static int look(struct refresh *rf)
{
	struct tuning *t = rf->t;
	uint64_t lower = 0;
	int r;

	r = target_read_settings(&t->target, &t->current);
	if (r == 0)
		r = topology_read(SYSFS_ROOT, t->target.lower, dm_read_table_of, &t->topology);
	if (r == 0)
		r = read_size(t->device.name, &rf->old[SIZE]);
	if (r == 0)
		r = read_size(t->target.lower, &lower);
	if (r < 0)
		return r;
	r = sysfs_read_number(&rf->old[LIMIT], SYSFS_ROOT "/class/block/%s/queue/optimal_io_size",
			      t->device.name);
	if (r < 0)
		return log_errno(r, SYSFS_ROOT "/class/block/%s/queue/optimal_io_size", t->device.name);
	r = rule_plan_array(&t->topology.array, &t->current, &rf->plan);
	if (r < 0)
		return log_errno(r, "%s: nothing can be decided from %s", t->device.node,
				 t->topology.array_name);

	rf->old[STRIPE] = rf->new[STRIPE] = t->current.stripe_bytes;
	rf->old[ALIGNMENT] = rf->new[ALIGNMENT] = t->current.alignment_offset;
	if (rf->plan.n > 0) {
		rf->new[STRIPE] = rf->plan.items[0].new;
		rf->new[ALIGNMENT] = rule_misaligned_by(t->topology.array.offset_bytes,
							rf->new[STRIPE]);
	}
	rf->new[SIZE] = lower - t->target.lower_start * SECTOR;
	rf->new[LIMIT] = rf->new[STRIPE];
	return check(rf);
}

/* As a change of settings, which others find in the state, and can tell from their own. */
static int set_stripe(struct refresh *rf)
{
	struct tuning *t = rf->t;
	struct transaction change;
	int r;

	if (rf->old[STRIPE] == rf->new[STRIPE])
		return 0;
	r = apply_prepare(&t->place, &rf->plan, &change);
	return r < 0 ? r : apply_run(&t->place, &t->store, &t->state, &change);
}

/* The table as it is, with another place on the stripes. */
static int make_params(const struct refresh *rf, char ret[static NEW_PARAMS])
{
	static const char key[] = " alignment_offset ";
	struct dm_table_line line;
	char *at, *rest;
	int r;

	r = dm_read_table(rf->t->target.dm_name, &line);
	if (r < 0)
		return log_errno(r, "the table of %s cannot be read", rf->t->target.dm_name);
	at = strstr(line.params, key);
	if (!at)
		return log_errno(EBADMSG, "the table of %s: '%s'", rf->t->target.dm_name, line.params);
	*at = '\0';
	rest = at + strlen(key);
	rest += strcspn(rest, " ");
	snprintf(ret, NEW_PARAMS, "%s%s%llu%s", line.params, key,
		 (unsigned long long)rf->new[ALIGNMENT], rest);
	return 0;
}

/* One step of the device: an ioctl without further arguments. */
static int step(const char *name, int what)
{
	_cleanup_(dm_task_destroyp) struct dm_task *task = dm_task_create(what);
	uint32_t cookie = 0;
	bool done;

	if (!task || !dm_task_set_name(task, name) ||
	    (what == DM_DEVICE_RESUME && !dm_task_set_cookie(task, &cookie, 0)))
		return -ENOMEM;
	done = dm_task_run(task);
	if (what == DM_DEVICE_RESUME)
		dm_udev_wait(cookie);
	return done ? 0 : -(dm_task_get_errno(task) ?: EIO);
}

static int load(const struct refresh *rf, const char *params)
{
	_cleanup_(dm_task_destroyp) struct dm_task *task = dm_task_create(DM_DEVICE_RELOAD);

	if (!task || !dm_task_set_name(task, rf->t->target.dm_name) ||
	    !dm_task_add_target(task, 0, rf->new[SIZE] / SECTOR, TARGET_TYPE, params))
		return -ENOMEM;
	return dm_task_run(task) ? 0 : -(dm_task_get_errno(task) ?: EIO);
}

/* Whether all was written and flushed; what was not would go with the old table, and who is to be told of it. */
static int check_written(const char *name)
{
	struct dm_state state;
	int r = dm_read_state(name, &state);

	return r < 0 ? r : state.failing ? -EIO : 0;
}

/* Suspended, the device answers nobody: not whom it would have to bring from there either. */
static int swap_tables(const struct refresh *rf)
{
	const char *name = rf->t->target.dm_name;
	int locked, suspended, written = 0, resumed;
	sigset_t all, before;

	locked = mlockall(MCL_CURRENT | MCL_FUTURE) < 0 ? -errno : 0;
	if (locked < 0) {
		step(name, DM_DEVICE_CLEAR);
		return log_errno(locked, "%s goes on with its old table, as the memory of fullstripectl cannot be locked",
				 name);
	}
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	suspended = step(name, DM_DEVICE_SUSPEND);
	if (suspended == 0)
		written = check_written(name);
	if (suspended < 0 || written < 0)
		step(name, DM_DEVICE_CLEAR);
	resumed = step(name, DM_DEVICE_RESUME);
	sigprocmask(SIG_SETMASK, &before, NULL);
	munlockall();
	if (resumed < 0)
		return log_errno(resumed, "%s stays suspended; dmsetup resume %s tries it again",
				 name, name);
	if (suspended < 0)
		return log_errno(suspended, "%s goes on with its old table, as it cannot be suspended",
				 name);
	if (written < 0)
		return log_errno(written, "%s goes on with its old table, as not everything could be written to %s and flushed there; repair that, send 'dmsetup message %s 0 retry', call 'sync /dev/mapper/%s' until it succeeds, and try again",
				 name, rf->t->target.lower, name, name);
	return 0;
}

/*
 * With a new table the kernel sets read_ahead_kb anew, by what those above are told (newer ones
 * raise it only). What was set otherwise comes back, whoever did it. So does what was set from
 * here to what the kernel would have: it would seem to be somebody else's now.
 */
static int keep_read_ahead(const struct refresh *rf, uint64_t before)
{
	static const char name[] = "read_ahead_kb";
	uint64_t kernels = MAX(2 * rf->old[LIMIT], LEAST_READ_AHEAD) / 1024;
	uint64_t now;
	int r = setting_read(&rf->t->place, name, &now);

	if (r < 0 || now == before ||
	    (before == kernels && !state_is_foreign(&rf->t->state, name, now)))
		return r;
	return setting_write(&rf->t->place, name, before);
}

/* What only a new table has: the size, and what those above are told. */
static int replace_table(const struct refresh *rf)
{
	const char *name = rf->t->target.dm_name;
	char params[NEW_PARAMS];
	uint64_t read_ahead;
	int r;

	if (rf->old[ALIGNMENT] == rf->new[ALIGNMENT] && rf->old[SIZE] == rf->new[SIZE] &&
	    rf->old[LIMIT] == rf->new[LIMIT])
		return 0;
	r = setting_read(&rf->t->place, "read_ahead_kb", &read_ahead);
	if (r == 0)
		r = make_params(rf, params);
	if (r < 0)
		return r;
	r = load(rf, params);
	if (r < 0)
		return log_errno(r, "%s does not take the table '0 %llu " TARGET_TYPE " %s'; the kernel's log says why",
				 name, (unsigned long long)(rf->new[SIZE] / SECTOR), params);
	r = swap_tables(rf);
	if (r < 0)
		return r;
	return keep_read_ahead(rf, read_ahead);
}

static void print_text(const struct refresh *rf)
{
	bool nothing = true;

	for (size_t i = 0; i < N_VALUES; i++) {
		if (rf->old[i] == rf->new[i])
			continue;
		nothing = false;
		printf("%s %llu -> %llu\n", names[i], (unsigned long long)rf->old[i],
		       (unsigned long long)rf->new[i]);
	}
	if (nothing)
		printf("%s is as what lies below it\n", rf->t->device.node);
}

static void print_json(const struct refresh *rf)
{
	_cleanup_(json_object_putp) struct json_object *o = json_object_new_object();
	struct json_object *values = json_object_new_array();

	render_add_text(o, "device", rf->t->device.node);
	json_object_object_add(o, "values", values);
	for (size_t i = 0; i < N_VALUES; i++) {
		struct json_object *value = json_object_new_object();

		render_add_text(value, "name", names[i]);
		render_add_number(value, "old", rf->old[i]);
		render_add_number(value, "new", rf->new[i]);
		json_object_array_add(values, value);
	}
	puts(render_text(o));
}

static int refresh(const struct device_options *o, struct refresh *rf)
{
	int r;

	r = tuning_new(o->device, &rf->t);
	if (r == 0)
		r = tuning_open_state(rf->t, o->state_folder, STORE_CHANGE);
	if (r == 0)
		r = look(rf);
	if (r == 0)
		r = set_stripe(rf);
	if (r == 0)
		r = replace_table(rf);
	if (r < 0)
		return r;
	if (o->json)
		print_json(rf);
	else
		print_text(rf);
	return 0;
}

int verb_refresh(int argc, char **argv)
{
	struct device_options o = { .json = false };
	struct refresh rf = { .t = NULL };
	int r;

	argp_parse(&parser, argc, argv, 0, NULL, &o);
	r = refresh(&o, &rf);
	tuning_free(rf.t);
	return r < 0 ? EXIT_FAILED : EXIT_DONE;
}

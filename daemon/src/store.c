// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "lib/render.h"
#include "log.h"
#include "store.h"

#define LOCK_FILE	"lock"

/**
 * store_default_path() - the state directory, unless another one was asked for
 *
 * Return: what systemd gave the service, or STORE_FOLDER.
 */
const char *store_default_path(void)
{
	const char *given = getenv("STATE_DIRECTORY");

	/* The unit has one; several would be separated by colons. */
	return given && given[0] == '/' && !strchr(given, ':') ? given : STORE_FOLDER;
}

/* Return: 0, -EWOULDBLOCK, not logged, if it is not to @wait, or another negative errno. */
static int take_lock(struct store *store, bool wait)
{
	store->lock_fd = openat(store->folder_fd, LOCK_FILE, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (store->lock_fd < 0)
		return log_errno(errno, "%s/" LOCK_FILE, store->path);
	if (flock(store->lock_fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return log_errno(errno, "%s/" LOCK_FILE, store->path);
	if (!wait)
		return -EWOULDBLOCK;
	log_warning("another process changes settings, waiting for it (%s/" LOCK_FILE ")", store->path);
	while (flock(store->lock_fd, LOCK_EX) < 0)
		if (errno != EINTR)
			return log_errno(errno, "%s/" LOCK_FILE, store->path);
	return 0;
}

/**
 * store_open() - open the state directory
 * @path: which
 * @access: to change something: make it if it is missing, and keep everybody else from that
 * @ret: the directory
 *
 * Return: 0; -EWOULDBLOCK, not logged, if others change something now and @access is STORE_TRY;
 * or another negative errno, which has been logged.
 */
int store_open(const char *path, enum store_access access, struct store *ret)
{
	struct store store = STORE_NONE;
	bool change = access != STORE_LOOK;
	int r = 0;

	store.path = path;
	if (change && mkdir(path, 0755) < 0 && errno != EEXIST)
		return log_errno(errno, "the state directory %s cannot be made", path);
	store.folder_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (store.folder_fd < 0 && (change || errno != ENOENT))
		return log_errno(errno, "the state directory %s", path);
	if (change)
		r = take_lock(&store, access == STORE_CHANGE);
	if (r < 0) {
		store_close(&store);
		return r;
	}
	*ret = store;
	return 0;
}

/**
 * store_is_busy() - whether a process changes something now
 * @store: the directory, open to look
 *
 * Return: 1 if one does, 0 if none, or a negative errno, which has been logged.
 */
int store_is_busy(const struct store *store)
{
	_cleanup_close_ int fd = openat(store->folder_fd, LOCK_FILE, O_RDONLY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0)
		return 0;
	if (fd >= 0 && errno == EWOULDBLOCK)
		return 1;
	return log_errno(errno, "whether a change is being made cannot be told from %s/" LOCK_FILE,
			 store->path);
}

/**
 * store_close() - let others change something
 * @store: the directory
 */
void store_close(struct store *store)
{
	if (store->lock_fd >= 0)
		close(store->lock_fd);
	if (store->folder_fd >= 0)
		close(store->folder_fd);
	*store = STORE_NONE;
}

/**
 * store_read() - read a file
 * @store: the directory
 * @name: of the file
 * @ret: all of it; to be freed
 * @ret_len: its length
 *
 * Return: 0, -ENOENT if there is none, -EFBIG if it is larger than any of ours, or another
 * negative errno. Nothing has been logged.
 */
int store_read(const struct store *store, const char *name, char **ret, size_t *ret_len)
{
	_cleanup_free_ char *text = malloc(STATE_BYTES_MAX);
	_cleanup_close_ int fd = -1;
	size_t len = 0;
	ssize_t n;

	if (store->folder_fd == -1)
		return -ENOENT;
	if (!text)
		return -ENOMEM;
	fd = openat(store->folder_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((n = read(fd, text + len, STATE_BYTES_MAX - len)) > 0)
		len += n;
	if (n < 0)
		return -errno;
	if (len == STATE_BYTES_MAX)
		return -EFBIG;
	*ret = text;
	*ret_len = len;
	text = NULL;
	return 0;
}

static int write_file(const struct store *store, const char *name, struct json_object *object)
{
	_cleanup_close_ int fd = -1;

	fd = openat(store->folder_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		    0644);
	if (fd < 0)
		return -errno;
	if (json_object_to_fd(fd, object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
			      JSON_C_TO_STRING_NOSLASHESCAPE) < 0)
		return -(errno ?: EIO);
	return fsync(fd) < 0 ? -errno : 0;
}

/**
 * store_replace() - write a file anew, all of it or nothing, and to stable storage
 * @store: the directory, open for changes
 * @name: of the file
 * @object: what it holds then
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int store_replace(const struct store *store, const char *name, struct json_object *object)
{
	char temporary[STORE_NAME + 8];
	int r;

	snprintf(temporary, sizeof(temporary), "%s.new", name);
	r = write_file(store, temporary, object);
	if (r < 0)
		return log_errno(r, "%s/%s cannot be written", store->path, temporary);
	if (renameat(store->folder_fd, temporary, store->folder_fd, name) < 0)
		return log_errno(errno, "%s/%s cannot be replaced", store->path, name);
	if (fsync(store->folder_fd) < 0)
		return log_errno(errno, "%s cannot be made durable", store->path);
	return 0;
}

static int set_aside(const struct store *store, const char *name, const char *why)
{
	char corrupt[STATE_NAME + 16];

	if (store->lock_fd < 0)
		return log_errno(EUCLEAN, "%s/%s is damaged: %s; the next apply or rollback sets it aside",
				 store->path, name, why);
	snprintf(corrupt, sizeof(corrupt), "%s.corrupt", name);
	if (renameat(store->folder_fd, name, store->folder_fd, corrupt) < 0)
		return log_errno(errno, "%s/%s is damaged (%s) and cannot be set aside", store->path,
				 name, why);
	log_warning("%s/%s is damaged: %s; it is %s now, and what it said of this device is not used",
		    store->path, name, why, corrupt);
	return 0;
}

/**
 * store_load() - what is known of a device
 * @store: the directory
 * @device: which, as struct state has it
 * @ret: what is known, which is nothing where there is no file
 *
 * A file that is damaged is set aside, if @store is open for changes.
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int store_load(const struct store *store, const char *device, struct state *ret)
{
	_cleanup_free_ char *text = NULL;
	char name[STATE_NAME], why[FIELDS_WHY];
	size_t len;
	int r;

	state_file_name(device, name);
	r = store_read(store, name, &text, &len);
	if (r == -EFBIG)
		snprintf(why, sizeof(why), "it is larger than %u bytes", STATE_BYTES_MAX);
	else if (r < 0 && r != -ENOENT)
		return log_errno(r, "%s/%s", store->path, name);
	else if (r == 0)
		r = state_parse(text, len, ret, why);
	if (r == 0 && strcmp(ret->device, device) != 0) {
		snprintf(why, sizeof(why), "it is about %.120s", ret->device);
		r = -EBADMSG;
	}
	if (r == 0)
		return 0;
	if (r != -ENOENT) {
		r = set_aside(store, name, why);
		if (r < 0)
			return r;
	}
	*ret = (struct state) { .n_values = 0 };
	snprintf(ret->device, sizeof(ret->device), "%s", device);
	return 0;
}

/**
 * store_save() - keep what is known of a device
 * @store: the directory, open for changes
 * @s: what is known
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int store_save(const struct store *store, const struct state *s)
{
	struct json_object *object = state_render(s);
	char name[STATE_NAME];
	int r;

	state_file_name(s->device, name);
	r = store_replace(store, name, object);
	json_object_put(object);
	return r;
}

/**
 * store_file_name() - the file that something about a device is kept in, beside its state
 * @kind: "profile", the newest one of its workload; "samples", what changes are judged by
 * @device: which, as struct state has it
 * @ret: its name
 */
void store_file_name(const char *kind, const char *device, char ret[static STORE_NAME])
{
	char name[STATE_NAME];

	state_file_name(device, name);
	snprintf(ret, STORE_NAME, "%s-%s", kind, name);
}

/**
 * store_save_profile() - keep the newest profile of a device's workload
 * @store: the directory, open for changes
 * @device: which, as struct state has it
 * @saved: the profile
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int store_save_profile(const struct store *store, const char *device, const struct saved *saved)
{
	struct json_object *object = saved_render(saved);
	char name[STORE_NAME];
	int r;

	store_file_name("profile", device, name);
	r = store_replace(store, name, object);
	json_object_put(object);
	return r;
}

/**
 * store_save_samples() - keep what changes of a device are judged by
 * @store: the directory, open for changes
 * @device: which, as struct state has it
 * @samples: the samples
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int store_save_samples(const struct store *store, const char *device,
		       const struct samples *samples)
{
	struct json_object *object = samples_render(samples);
	char name[STORE_NAME];
	int r;

	store_file_name("samples", device, name);
	r = store_replace(store, name, object);
	json_object_put(object);
	return r;
}

/**
 * store_load_samples() - what changes of a device are judged by
 * @store: the directory
 * @device: which, as struct state has it
 * @ret: the samples; untouched on failure
 *
 * Return: 0, -ENOENT if there are none, or another negative errno, which has been logged:
 * they are made anew then.
 */
int store_load_samples(const struct store *store, const char *device, struct samples *ret)
{
	_cleanup_free_ char *text = NULL;
	char name[STORE_NAME], why[FIELDS_WHY];
	size_t len = 0;
	int r;

	store_file_name("samples", device, name);
	r = store_read(store, name, &text, &len);
	if (r == -ENOENT)
		return r;
	if (r < 0)
		return log_errno(r, "%s/%s", store->path, name);
	r = samples_parse(text, len, ret, why);
	if (r < 0)
		log_warning("%s/%s is damaged: %s; it is made anew", store->path, name, why);
	return r;
}

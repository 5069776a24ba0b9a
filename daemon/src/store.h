/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state directory: a file for each device, which is replaced as a whole. A crash
 * leaves the old one or the new one.
 */
#ifndef FULLSTRIPE_STORE_H
#define FULLSTRIPE_STORE_H

#include "lib/samples.h"
#include "lib/saved.h"
#include "lib/state.h"

#define STORE_FOLDER	"/var/lib/fullstripe"
#define STORE_NAME	(STATE_NAME + 8)

/**
 * struct store - the state directory
 * @path: as it was named
 * @folder_fd: the directory; -1 if there is none, and nothing is known of any device
 * @lock_fd: held by the one process that changes anything; -1 in those that only look
 */
struct store {
	const char *path;
	int folder_fd;
	int lock_fd;
};

/**
 * enum store_access - what the directory is opened for
 * @STORE_LOOK: nothing is changed
 * @STORE_CHANGE: changes; if another process makes some, that is waited for
 * @STORE_TRY: changes, if no other process makes some now
 */
enum store_access {
	STORE_LOOK,
	STORE_CHANGE,
	STORE_TRY,
};

#define STORE_NONE	((struct store) { .folder_fd = -1, .lock_fd = -1 })

const char *store_default_path(void);
int store_open(const char *path, enum store_access access, struct store *ret);
int store_is_busy(const struct store *store);
void store_close(struct store *store);
int store_read(const struct store *store, const char *name, char **ret, size_t *ret_len);
int store_replace(const struct store *store, const char *name, struct json_object *object);
int store_load(const struct store *store, const char *device, struct state *ret);
int store_save(const struct store *store, const struct state *s);
void store_file_name(const char *kind, const char *device, char ret[static STORE_NAME]);
int store_save_profile(const struct store *store, const char *device, const struct saved *saved);
int store_save_samples(const struct store *store, const char *device,
		       const struct samples *samples);
int store_load_samples(const struct store *store, const char *device, struct samples *ret);

#endif

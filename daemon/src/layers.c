// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "layers.h"
#include "log.h"

/**
 * struct finding - disks, as they are found
 * @root: of sysfs
 * @layers: those that were found
 * @n: how many
 */
struct finding {
	const char *root;
	struct state_layer *layers;
	size_t n;
};

static bool is_known(const struct finding *f, const char *disk)
{
	for (size_t i = 0; i < f->n; i++)
		if (strcmp(f->layers[i].disk, disk) == 0)
			return true;
	return false;
}

/* What tells it from others whatever the kernel calls it; its name, if it has no such thing. */
static void read_id(const char *root, const char *disk, char ret[static STATE_DEVICE])
{
	static const char * const attributes[] = {
		"dm/uuid", "md/uuid", "wwid", "device/wwid", "serial",
	};
	char value[STATE_DEVICE - 16];

	for (size_t i = 0; i < ARRAY_SIZE(attributes); i++)
		if (sysfs_read_text(value, sizeof(value), "%s/class/block/%s/%s", root, disk,
				    attributes[i]) == 0 && value[0]) {
			snprintf(ret, STATE_DEVICE, "%s:%s", attributes[i], value);
			return;
		}
	snprintf(ret, STATE_DEVICE, "name:%s", disk);
}

/* Return: as sysfs_read_instance(), or -ENAMETOOLONG; not logged. */
static int read_layer(const char *root, const char *disk, struct state_layer *ret)
{
	if (snprintf(ret->disk, sizeof(ret->disk), "%s", disk) >= (int)sizeof(ret->disk))
		return -ENAMETOOLONG;
	read_id(root, disk, ret->id);
	return sysfs_read_instance(root, disk, ret->instance, sizeof(ret->instance));
}

static int add_disk(struct finding *f, const char *disk)
{
	int r;

	if (f->n == STATE_LAYERS_MAX)
		return log_errno(E2BIG, "%s: more than %d layers below", disk, STATE_LAYERS_MAX);
	r = read_layer(f->root, disk, &f->layers[f->n]);
	if (r < 0)
		return log_errno(r, "%s/class/block/%s", f->root, disk);
	f->n++;
	return 0;
}

/* A device and all below it, each once: so no loop can lead anywhere. */
static int add_all(struct finding *f, const char *name)
{
	_cleanup_closedir_ DIR *dir = NULL;
	char disk[SYSFS_NAME], path[PATH_MAX];
	struct dirent *entry;
	int r;

	r = sysfs_disk_of(f->root, name, disk);
	if (r < 0)
		return log_errno(r, "%s/class/block/%s", f->root, name);
	if (is_known(f, disk))
		return 0;
	r = add_disk(f, disk);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s/class/block/%s/slaves", f->root, disk);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? 0 : log_errno(errno, "%s", path);
	while (r == 0 && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			r = add_all(f, entry->d_name);
	return r;
}

/**
 * layers_find() - the disks below a device
 * @root: of sysfs, usually SYSFS_ROOT
 * @lower: the device that it lies on, as in /sys/class/block
 * @ret: that, and all below
 * @ret_n: how many
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int layers_find(const char *root, const char *lower, struct state_layer ret[static STATE_LAYERS_MAX],
		size_t *ret_n)
{
	struct finding f = { .root = root, .layers = ret };
	int r = add_all(&f, lower);

	if (r == 0)
		*ret_n = f.n;
	return r;
}

/**
 * layers_add_earlier() - the disks that were below a device, and are somewhere else now
 * @root: of sysfs, usually SYSFS_ROOT
 * @earlier: those that were below it
 * @n_earlier: how many
 * @layers: those that are, to which they are added while there is room
 * @n: how many
 *
 * What was set in them is still there, and theirs to have back, as of a member that was taken out
 * of its array for a while. One that was made anew has nothing of it.
 */
void layers_add_earlier(const char *root, const struct state_layer *earlier, size_t n_earlier,
			struct state_layer layers[static STATE_LAYERS_MAX], size_t *n)
{
	struct finding f = { .root = root, .layers = layers, .n = *n };

	for (size_t i = 0; i < n_earlier && f.n < STATE_LAYERS_MAX; i++) {
		struct state_layer now;

		if (!is_known(&f, earlier[i].disk) &&
		    read_layer(root, earlier[i].disk, &now) == 0 &&
		    strcmp(now.id, earlier[i].id) == 0 &&
		    strcmp(now.instance, earlier[i].instance) == 0)
			layers[f.n++] = now;
	}
	*n = f.n;
}

static bool lies_on(const char *root, const char *name, const char *disk)
{
	struct state_layer layers[STATE_LAYERS_MAX];
	size_t n = 0;

	/* What is not known may be. */
	if (layers_find(root, name, layers, &n) < 0)
		return true;
	for (size_t i = 0; i < n; i++)
		if (strcmp(layers[i].disk, disk) == 0)
			return true;
	return false;
}

/**
 * layers_carry_target() - whether any fullstripe device lies on a disk
 * @root: of sysfs, usually SYSFS_ROOT
 * @disk: the disk
 */
bool layers_carry_target(const char *root, const char *disk)
{
	_cleanup_closedir_ DIR *dir = NULL;
	struct dirent *entry;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/class/block", root);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (sysfs_has(root, entry->d_name, "fullstripe") &&
		    lies_on(root, entry->d_name, disk))
			return true;
	return false;
}

/* How much of the machine's memory may be dirty. Return: bytes, or 0 if that is not known. */
static uint64_t read_dirty_bytes(void)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/vmstat", "re");
	unsigned long long pages;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "nr_dirty_threshold %llu", &pages) == 1)
			return pages * sysconf(_SC_PAGESIZE);
	return 0;
}

/* LVM's arrays have their stripe cache in their table, where it cannot be set alive. */
static int read_stripe_cache(const struct setting_place *place, const char *array,
			     struct layer_settings *s)
{
	char name[SETTING_NAME], path[PATH_MAX];

	if (!array[0])
		return 0;
	setting_of_disk(name, array, "stripe_cache_size");
	if (access(setting_path(place, name, path), F_OK) < 0)
		return 0;
	snprintf(s->array, sizeof(s->array), "%.*s", SETTING_DISK - 1, array);
	return setting_read(place, name, &s->stripe_cache_size);
}

/**
 * layers_read() - what the layers of a device are set to
 * @place: of the device
 * @topology: what lies below it
 * @ret: what they are set to
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int layers_read(const struct setting_place *place, const struct topology *topology,
		struct layer_settings *ret)
{
	struct layer_settings s = {
		.ram_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE),
		.dirty_bytes = read_dirty_bytes(),
	};
	char path[PATH_MAX];
	int r;

	r = setting_read(place, "read_ahead_kb", &s.read_ahead_kb);
	if (r == 0)
		r = setting_read(place, "min_ratio", &s.min_ratio);
	if (r == 0)
		r = setting_read(place, "max_ratio", &s.max_ratio);
	/* From 6.2 on. */
	s.has_strict_limit = access(setting_path(place, "strict_limit", path), F_OK) == 0;
	if (r == 0 && s.has_strict_limit)
		r = setting_read(place, "strict_limit", &s.strict_limit);
	if (r == 0)
		r = read_stripe_cache(place, topology->array_name, &s);
	if (r == 0)
		*ret = s;
	return r;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/block/dm-N/fullstripe/: the keys, and stats/ with one counter a file.
 *
 * The folder is there while the table is active: two tables exist during a reload,
 * but only one of them is resumed. Suspend waits for handlers that are running, so
 * these take nothing that suspend holds.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "fullstripe.h"

/*
 * The folder's own object, as it can outlive the target: a process may hold a file
 * of it open. @fs is used only by handlers, which are over when the folder is gone.
 */
struct folder {
	struct kobject kobj;
	struct fullstripe *fs;
};

static struct fullstripe *fs_of(struct kobject *kobj)
{
	return container_of(kobj, struct folder, kobj)->fs;
}

struct key_attribute {
	struct kobj_attribute attr;
	enum setting key;
};

static ssize_t key_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	enum setting key = container_of(attr, struct key_attribute, attr)->key;
	u64 value = setting(fs_of(kobj), key);

	if (key == SETTING_MODE)
		return sysfs_emit(buf, "%s\n", setting_mode_name(value));
	return sysfs_emit(buf, "%llu\n", value);
}

static ssize_t key_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			 size_t size)
{
	enum setting key = container_of(attr, struct key_attribute, attr)->key;
	struct fullstripe *fs = fs_of(kobj);
	const char *error;
	char *text;
	int r;

	/* Suspend waits for this handler: reclaim must not wait for the device. */
	text = kstrndup(buf, size, GFP_NOIO);
	if (!text)
		return -ENOMEM;
	r = fullstripe_set(fs, key, strim(text), &error);
	if (r)
		DMWARN_LIMIT("%s: sysfs: %s", dm_table_device_name(fs->ti->table), error);
	kfree(text);
	return r ? r : size;
}

#define KEY_RO(_name, _key)							\
	static struct key_attribute key_##_name = {				\
		.attr = __ATTR(_name, 0444, key_show, NULL), .key = _key,	\
	}
#define KEY_RW(_name, _key)							\
	static struct key_attribute key_##_name = {				\
		.attr = __ATTR(_name, 0644, key_show, key_store), .key = _key,	\
	}

KEY_RO(chunk_bytes, SETTING_CHUNK_BYTES);
KEY_RO(data_members, SETTING_DATA_MEMBERS);
KEY_RW(stripe_bytes, SETTING_STRIPE_BYTES);
KEY_RO(alignment_offset, SETTING_ALIGNMENT_OFFSET);
KEY_RW(cluster_bytes, SETTING_CLUSTER_BYTES);
KEY_RW(high_water_bytes, SETTING_HIGH_WATER_BYTES);
KEY_RW(low_water_bytes, SETTING_LOW_WATER_BYTES);
KEY_RW(file_high_water_bytes, SETTING_FILE_HIGH_WATER_BYTES);
KEY_RW(file_low_water_bytes, SETTING_FILE_LOW_WATER_BYTES);
KEY_RW(hold_ms, SETTING_HOLD_MS);
KEY_RW(seek_bytes, SETTING_SEEK_BYTES);
KEY_RW(streams, SETTING_STREAMS);
KEY_RW(read_pref_io, SETTING_READ_PREF_IO);
KEY_RW(read_nstream, SETTING_READ_NSTREAM);
KEY_RW(prefetch_bytes, SETTING_PREFETCH_BYTES);
KEY_RW(mode, SETTING_MODE);

static struct attribute *key_attrs[] = {
	&key_chunk_bytes.attr.attr,
	&key_data_members.attr.attr,
	&key_stripe_bytes.attr.attr,
	&key_alignment_offset.attr.attr,
	&key_cluster_bytes.attr.attr,
	&key_high_water_bytes.attr.attr,
	&key_low_water_bytes.attr.attr,
	&key_file_high_water_bytes.attr.attr,
	&key_file_low_water_bytes.attr.attr,
	&key_hold_ms.attr.attr,
	&key_seek_bytes.attr.attr,
	&key_streams.attr.attr,
	&key_read_pref_io.attr.attr,
	&key_read_nstream.attr.attr,
	&key_prefetch_bytes.attr.attr,
	&key_mode.attr.attr,
	NULL,
};

static const struct attribute_group key_group = {
	.attrs = key_attrs,
};

struct stat_attribute {
	struct kobj_attribute attr;
	enum counter counter;
};

static ssize_t stat_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	enum counter counter = container_of(attr, struct stat_attribute, attr)->counter;

	return sysfs_emit(buf, "%llu\n", fullstripe_counter(fs_of(kobj), counter));
}

static ssize_t staged_bytes_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", staging_staged_bytes(fs_of(kobj)));
}

static ssize_t memory_bytes_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct fullstripe *fs = fs_of(kobj);

	return sysfs_emit(buf, "%llu\n", staging_memory_bytes(fs) + fills_bytes(&fs->geo) +
			  prefetch_memory_bytes(fs));
}

static ssize_t failing_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", destager_is_failing(&fs_of(kobj)->destager));
}

static ssize_t failing_stripes_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", atomic_read(&fs_of(kobj)->destager.failing));
}

static ssize_t active_streams_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", prefetch_active_streams(fs_of(kobj)));
}

static ssize_t prefetching_bytes_show(struct kobject *kobj, struct kobj_attribute *attr,
				      char *buf)
{
	return sysfs_emit(buf, "%llu\n", prefetch_reading_bytes(fs_of(kobj)));
}

static ssize_t dirty_files_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", atomic_read(&fs_of(kobj)->throttle.nr_files));
}

static ssize_t held_files_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", atomic_read(&fs_of(kobj)->throttle.nr_held));
}

static ssize_t file_peak_bytes_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", (u64)atomic64_read(&fs_of(kobj)->throttle.peak));
}

#define STAT(_name, _counter)							\
	static struct stat_attribute stat_##_name = {				\
		.attr = __ATTR(_name, 0444, stat_show, NULL), .counter = _counter, \
	}

STAT(accepted_bytes, COUNT_ACCEPTED_BYTES);
STAT(held_bytes, COUNT_HELD_BYTES);
STAT(bypassed_bytes, COUNT_BYPASSED_BYTES);
STAT(edge_bytes, COUNT_EDGE_BYTES);
STAT(staged_read_bytes, COUNT_STAGED_READ_BYTES);
STAT(destaged_bytes, COUNT_DESTAGED_BYTES);
STAT(whole_stripes, COUNT_WHOLE_STRIPES);
STAT(filled_stripes, COUNT_FILLED_STRIPES);
STAT(partial_stripes, COUNT_PARTIAL_STRIPES);
STAT(flushes, COUNT_FLUSHES);
STAT(fua_writes, COUNT_FUA_WRITES);
STAT(parked, COUNT_PARKED);
STAT(destage_errors, COUNT_DESTAGE_ERRORS);
STAT(prefetched_bytes, COUNT_PREFETCHED_BYTES);
STAT(prefetch_hit_bytes, COUNT_PREFETCH_HIT_BYTES);
STAT(prefetch_wasted_bytes, COUNT_PREFETCH_WASTED_BYTES);
STAT(throttled, COUNT_THROTTLED);
STAT(answered_flushes, COUNT_ANSWERED_FLUSHES);
STAT(flush_us, COUNT_FLUSH_US);

static struct kobj_attribute stat_staged_bytes = __ATTR_RO(staged_bytes);
static struct kobj_attribute stat_memory_bytes = __ATTR_RO(memory_bytes);
static struct kobj_attribute stat_failing = __ATTR_RO(failing);
static struct kobj_attribute stat_failing_stripes = __ATTR_RO(failing_stripes);
static struct kobj_attribute stat_active_streams = __ATTR_RO(active_streams);
static struct kobj_attribute stat_prefetching_bytes = __ATTR_RO(prefetching_bytes);
static struct kobj_attribute stat_dirty_files = __ATTR_RO(dirty_files);
static struct kobj_attribute stat_held_files = __ATTR_RO(held_files);
static struct kobj_attribute stat_file_peak_bytes = __ATTR_RO(file_peak_bytes);

static struct attribute *stat_attrs[] = {
	&stat_accepted_bytes.attr.attr,
	&stat_held_bytes.attr.attr,
	&stat_bypassed_bytes.attr.attr,
	&stat_edge_bytes.attr.attr,
	&stat_staged_read_bytes.attr.attr,
	&stat_destaged_bytes.attr.attr,
	&stat_whole_stripes.attr.attr,
	&stat_filled_stripes.attr.attr,
	&stat_partial_stripes.attr.attr,
	&stat_flushes.attr.attr,
	&stat_fua_writes.attr.attr,
	&stat_parked.attr.attr,
	&stat_destage_errors.attr.attr,
	&stat_prefetched_bytes.attr.attr,
	&stat_prefetch_hit_bytes.attr.attr,
	&stat_prefetch_wasted_bytes.attr.attr,
	&stat_throttled.attr.attr,
	&stat_answered_flushes.attr.attr,
	&stat_flush_us.attr.attr,
	&stat_staged_bytes.attr,
	&stat_memory_bytes.attr,
	&stat_failing.attr,
	&stat_failing_stripes.attr,
	&stat_active_streams.attr,
	&stat_prefetching_bytes.attr,
	&stat_dirty_files.attr,
	&stat_held_files.attr,
	&stat_file_peak_bytes.attr,
	NULL,
};

static const struct attribute_group stat_group = {
	.name = "stats",
	.attrs = stat_attrs,
};

static const struct attribute_group *folder_groups[] = {
	&key_group,
	&stat_group,
	NULL,
};

static void folder_release(struct kobject *kobj)
{
	kfree(container_of(kobj, struct folder, kobj));
}

static const struct kobj_type folder_type = {
	.release = folder_release,
	.sysfs_ops = &kobj_sysfs_ops,
	.default_groups = folder_groups,
};

/**
 * fullstripe_sysfs_add() - make the folder.
 * @fs: the target.
 *
 * Context: .preresume.
 * Return: 0 or a negative errno.
 */
int fullstripe_sysfs_add(struct fullstripe *fs)
{
	struct gendisk *disk = dm_disk(dm_table_get_md(fs->ti->table));
	struct folder *folder;
	unsigned int noio;
	int r;

	if (fs->kobj)
		return 0;
	folder = kzalloc(sizeof(*folder), GFP_NOIO);
	if (!folder)
		return -ENOMEM;
	folder->fs = fs;
	/* The device is suspended: reclaim must not wait for it. */
	noio = memalloc_noio_save();
	r = kobject_init_and_add(&folder->kobj, &folder_type, &disk_to_dev(disk)->kobj,
				 "fullstripe");
	memalloc_noio_restore(noio);
	if (r) {
		kobject_put(&folder->kobj);
		return r;
	}
	fs->kobj = &folder->kobj;
	return 0;
}

/**
 * fullstripe_sysfs_remove() - remove the folder, if there is one.
 * @fs: the target.
 *
 * Context: .postsuspend and .dtr; waits for running handlers.
 */
void fullstripe_sysfs_remove(struct fullstripe *fs)
{
	if (!fs->kobj)
		return;
	kobject_del(fs->kobj);
	kobject_put(fs->kobj);
	fs->kobj = NULL;
}

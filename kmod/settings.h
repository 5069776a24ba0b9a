/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The keys of the table line, the messages and the sysfs folder: their names,
 * ranges, defaults and how they depend on each other. Free of bios and locks:
 * unit tests compile it in user space.
 */
#ifndef FULLSTRIPE_SETTINGS_H
#define FULLSTRIPE_SETTINGS_H

#include <linux/types.h>

enum setting {
	SETTING_CHUNK_BYTES,
	SETTING_DATA_MEMBERS,
	SETTING_STRIPE_BYTES,
	SETTING_ALIGNMENT_OFFSET,
	SETTING_CLUSTER_BYTES,
	SETTING_HIGH_WATER_BYTES,
	SETTING_LOW_WATER_BYTES,
	SETTING_FILE_HIGH_WATER_BYTES,
	SETTING_FILE_LOW_WATER_BYTES,
	SETTING_HOLD_MS,
	SETTING_SEEK_BYTES,
	SETTING_STREAMS,
	SETTING_READ_PREF_IO,
	SETTING_READ_NSTREAM,
	SETTING_PREFETCH_BYTES,
	SETTING_MODE,
	NR_SETTINGS,
};

/**
 * enum staging_mode - when a write completes.
 * @MODE_WRITEBEHIND: when it is copied into staging (a volatile cache).
 * @MODE_WRITETHROUGH: when the lower device has completed it.
 */
enum staging_mode {
	MODE_WRITEBEHIND,
	MODE_WRITETHROUGH,
};

#define STRIPE_BYTES_MAX	(64U << 20)

/**
 * struct settings - one value for each key.
 * @value: bytes, milliseconds or an enum, by enum setting.
 * @given: bit by enum setting: the value was set and is not a default.
 */
struct settings {
	u64 value[NR_SETTINGS];
	unsigned long given;
};

/**
 * struct surroundings - what defaults and limits are taken from.
 * @ram_bytes: memory of the machine.
 * @block_bytes: logical block size of the lower device.
 * @found_chunk_bytes: chunk found on the lower device, 0 if none was.
 * @found_data_members: data members found on the lower device, 0 if none were.
 * @partition_bytes: where the lower device begins on its disk.
 * @rotational: its members are disks that seek.
 */
struct surroundings {
	u64 ram_bytes;
	u32 block_bytes;
	u64 found_chunk_bytes;
	u32 found_data_members;
	u64 partition_bytes;
	bool rotational;
};

/* What is read ahead at a time. */
static inline u64 settings_read_cluster(const struct settings *s)
{
	return s->value[SETTING_READ_PREF_IO] * s->value[SETTING_READ_NSTREAM];
}

const char *setting_name(enum setting key);
const char *setting_mode_name(u64 mode);
int settings_find(const char *name);
int settings_set(struct settings *s, enum setting key, const char *text, const char **error);
int settings_complete(struct settings *s, const struct surroundings *around, const char **error);
int settings_change(struct settings *s, enum setting key, const char *text,
		    const struct surroundings *around, const char **error);

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * Parsing and checking of the keys. Every refusal is a sentence that begins with
 * the key's name: it is what dmsetup(8) and the kernel log show.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "settings.h"
#include "streams.h"

/* Rows of RAID5 are 4 KiB of each member: a chunk is made of whole ones. */
#define ROW_BYTES		4096U
/* More than any array: md itself takes 384 members. */
#define DATA_MEMBERS_MAX	1024U
#define CLUSTER_BYTES_MAX	(64U << 20)
#define HOLD_MS_MAX		3600000U
/* What is accepted and volatile when nobody asks for a flush is younger than this. */
#define HOLD_MS_WRITEBEHIND	5000U
/* A held bio is not completed: its writer waits this long for its neighbours. */
#define HOLD_MS_WRITETHROUGH	10U
#define SEEK_BYTES_MAX		(64U << 20)
/* 200 I/Os a second at 200 MB/s; and some 30 000 at 500 MB/s. */
#define SEEK_BYTES_ROTATING	(1024U << 10)
#define SEEK_BYTES_SOLID	(16U << 10)
#define STREAMS_DEFAULT		128
#define READ_CLUSTER_MAX	(64U << 20)
/* The most that is read ahead and kept unless it is told otherwise. */
#define PREFETCH_DEFAULT_MAX	(512ULL << 20)
/* The most that staging takes, and one file of it, unless it is told otherwise. */
#define HIGH_WATER_DEFAULT_MAX	(256ULL << 20)
#define FILE_HIGH_WATER_DEFAULT_MAX (128ULL << 20)

static const struct {
	const char *name;
	const char *expect;
	u64 min;
	u64 max;
} keys[NR_SETTINGS] = {
	[SETTING_CHUNK_BYTES] = {
		"chunk_bytes",
		"chunk_bytes: not a multiple of 4096 from 4096 to 67108864",
		ROW_BYTES, STRIPE_BYTES_MAX,
	},
	[SETTING_DATA_MEMBERS] = {
		"data_members",
		"data_members: not a number from 1 to 1024",
		1, DATA_MEMBERS_MAX,
	},
	[SETTING_STRIPE_BYTES] = {
		"stripe_bytes",
		"stripe_bytes: not a multiple of 4096 from 4096 to 67108864",
		ROW_BYTES, STRIPE_BYTES_MAX,
	},
	[SETTING_ALIGNMENT_OFFSET] = {
		"alignment_offset",
		"alignment_offset: not a multiple of the block size below one stripe",
		0, STRIPE_BYTES_MAX - 512,
	},
	[SETTING_CLUSTER_BYTES] = {
		"cluster_bytes",
		"cluster_bytes: not a number of bytes from one stripe to 67108864",
		ROW_BYTES, CLUSTER_BYTES_MAX,
	},
	[SETTING_HIGH_WATER_BYTES] = {
		"high_water_bytes",
		"high_water_bytes: not a number of bytes from two stripes to half of the memory",
		2 * ROW_BYTES, 1ULL << 50,
	},
	[SETTING_LOW_WATER_BYTES] = {
		"low_water_bytes",
		"low_water_bytes: not a number of bytes below high_water_bytes",
		0, 1ULL << 50,
	},
	[SETTING_FILE_HIGH_WATER_BYTES] = {
		"file_high_water_bytes",
		"file_high_water_bytes: neither 0 nor a number of bytes from two stripes to half of the memory",
		0, 1ULL << 50,
	},
	[SETTING_FILE_LOW_WATER_BYTES] = {
		"file_low_water_bytes",
		"file_low_water_bytes: not a number of bytes below file_high_water_bytes",
		0, 1ULL << 50,
	},
	[SETTING_HOLD_MS] = {
		"hold_ms",
		"hold_ms: not a number of milliseconds from 1 to 3600000",
		1, HOLD_MS_MAX,
	},
	[SETTING_SEEK_BYTES] = {
		"seek_bytes",
		"seek_bytes: not a number of bytes from 0 to 67108864",
		0, SEEK_BYTES_MAX,
	},
	[SETTING_STREAMS] = {
		"streams",
		"streams: not a number from 0 to 1024",
		0, STREAMS_MAX,
	},
	[SETTING_READ_PREF_IO] = {
		"read_pref_io",
		"read_pref_io: not a multiple of 4096 from 4096 to 67108864",
		ROW_BYTES, READ_CLUSTER_MAX,
	},
	[SETTING_READ_NSTREAM] = {
		"read_nstream",
		"read_nstream: not a number from 1 to 1024",
		1, DATA_MEMBERS_MAX,
	},
	[SETTING_PREFETCH_BYTES] = {
		"prefetch_bytes",
		"prefetch_bytes: not a number of bytes from two read clusters to half of the memory",
		2 * ROW_BYTES, 1ULL << 50,
	},
	[SETTING_MODE] = {
		"mode",
		"mode: neither writebehind nor writethrough",
		MODE_WRITEBEHIND, MODE_WRITETHROUGH,
	},
};

static const char * const mode_names[] = {
	[MODE_WRITEBEHIND] = "writebehind",
	[MODE_WRITETHROUGH] = "writethrough",
};

/**
 * setting_name() - the name of a key.
 * @key: the key.
 *
 * Return: its name in table line, messages and sysfs.
 */
const char *setting_name(enum setting key)
{
	return keys[key].name;
}

/**
 * setting_mode_name() - the name of a mode.
 * @mode: an enum staging_mode.
 *
 * Return: its name in table line, messages and sysfs.
 */
const char *setting_mode_name(u64 mode)
{
	return mode_names[mode];
}

/**
 * settings_find() - find a key by its name.
 * @name: the name.
 *
 * Return: the enum setting, or -ENOENT.
 */
int settings_find(const char *name)
{
	int key;

	for (key = 0; key < NR_SETTINGS; key++)
		if (!strcmp(keys[key].name, name))
			return key;
	return -ENOENT;
}

static int parse_mode(const char *text, u64 *value)
{
	int mode = match_string(mode_names, ARRAY_SIZE(mode_names), text);

	if (mode < 0)
		return -EINVAL;
	*value = mode;
	return 0;
}

/**
 * settings_set() - set one value from its text.
 * @s: the settings; untouched on failure.
 * @key: which one.
 * @text: its value: a plain number, or the name of a mode.
 * @error: set to a sentence on failure.
 *
 * Return: 0, -EINVAL for what is no value of the key, -ERANGE for one out of range.
 */
int settings_set(struct settings *s, enum setting key, const char *text, const char **error)
{
	u64 value;
	int r;

	r = key == SETTING_MODE ? parse_mode(text, &value) : kstrtou64(text, 10, &value);
	if (!r && (value < keys[key].min || value > keys[key].max))
		r = -ERANGE;
	if (r) {
		*error = keys[key].expect;
		return r;
	}
	s->value[key] = value;
	s->given |= 1UL << key;
	return 0;
}

static bool given(const struct settings *s, enum setting key)
{
	return s->given & (1UL << key);
}

static bool divides(u64 divisor, u64 value)
{
	u64 rest;

	div64_u64_rem(value, divisor, &rest);
	return !rest;
}

static int complete_geometry(struct settings *s, const struct surroundings *around,
			     const char **error)
{
	u64 *v = s->value;

	if (!given(s, SETTING_CHUNK_BYTES))
		v[SETTING_CHUNK_BYTES] = around->found_chunk_bytes;
	if (!v[SETTING_CHUNK_BYTES]) {
		*error = "chunk_bytes: give it, as dev is no striped md array";
		return -EINVAL;
	}
	if (!divides(ROW_BYTES, v[SETTING_CHUNK_BYTES])) {
		*error = keys[SETTING_CHUNK_BYTES].expect;
		return -EINVAL;
	}
	if (!given(s, SETTING_DATA_MEMBERS)) {
		if (given(s, SETTING_STRIPE_BYTES)) {
			if (!divides(v[SETTING_CHUNK_BYTES], v[SETTING_STRIPE_BYTES])) {
				*error = "stripe_bytes: not a multiple of chunk_bytes";
				return -EINVAL;
			}
			v[SETTING_DATA_MEMBERS] = div64_u64(v[SETTING_STRIPE_BYTES],
							    v[SETTING_CHUNK_BYTES]);
		} else {
			v[SETTING_DATA_MEMBERS] = around->found_data_members;
		}
	}
	if (!v[SETTING_DATA_MEMBERS]) {
		*error = "data_members: give them, as dev is no striped md array";
		return -EINVAL;
	}
	if (v[SETTING_DATA_MEMBERS] > DATA_MEMBERS_MAX) {
		*error = keys[SETTING_DATA_MEMBERS].expect;
		return -ERANGE;
	}
	if (given(s, SETTING_STRIPE_BYTES) &&
	    v[SETTING_STRIPE_BYTES] != v[SETTING_CHUNK_BYTES] * v[SETTING_DATA_MEMBERS]) {
		*error = "stripe_bytes: contradicts chunk_bytes times data_members";
		return -EINVAL;
	}
	v[SETTING_STRIPE_BYTES] = v[SETTING_CHUNK_BYTES] * v[SETTING_DATA_MEMBERS];
	if (v[SETTING_STRIPE_BYTES] > STRIPE_BYTES_MAX) {
		*error = "data_members: chunk_bytes times data_members is over 67108864";
		return -ERANGE;
	}

	if (!given(s, SETTING_ALIGNMENT_OFFSET))
		div64_u64_rem(around->partition_bytes, v[SETTING_STRIPE_BYTES],
			      &v[SETTING_ALIGNMENT_OFFSET]);
	if (v[SETTING_ALIGNMENT_OFFSET] >= v[SETTING_STRIPE_BYTES] ||
	    !divides(around->block_bytes, v[SETTING_ALIGNMENT_OFFSET])) {
		*error = "alignment_offset: not a multiple of the block size below one stripe";
		return -EINVAL;
	}
	return 0;
}

static int complete_cluster(struct settings *s, const char **error)
{
	u64 stripe = s->value[SETTING_STRIPE_BYTES];

	if (!given(s, SETTING_CLUSTER_BYTES))
		s->value[SETTING_CLUSTER_BYTES] = stripe;
	if (s->value[SETTING_CLUSTER_BYTES] < stripe ||
	    s->value[SETTING_CLUSTER_BYTES] > CLUSTER_BYTES_MAX) {
		*error = keys[SETTING_CLUSTER_BYTES].expect;
		return -ERANGE;
	}
	if (!divides(stripe, s->value[SETTING_CLUSTER_BYTES])) {
		*error = "cluster_bytes: not a multiple of the stripe width";
		return -EINVAL;
	}
	return 0;
}

static int complete_water_marks(struct settings *s, const struct surroundings *around,
				const char **error)
{
	u64 stripe = s->value[SETTING_STRIPE_BYTES];
	u64 *high = &s->value[SETTING_HIGH_WATER_BYTES];
	u64 *low = &s->value[SETTING_LOW_WATER_BYTES];

	if (!given(s, SETTING_HIGH_WATER_BYTES))
		*high = max(min(around->ram_bytes / 32, HIGH_WATER_DEFAULT_MAX), 4 * stripe);
	if (*high < 2 * stripe || *high > around->ram_bytes / 2) {
		*error = keys[SETTING_HIGH_WATER_BYTES].expect;
		return -ERANGE;
	}
	if (!given(s, SETTING_LOW_WATER_BYTES))
		*low = *high / 2;
	if (*low >= *high) {
		*error = keys[SETTING_LOW_WATER_BYTES].expect;
		return -EINVAL;
	}
	/* What waits for the low water mark can be a whole stripe: it must fit then. */
	if (*high - *low < stripe) {
		*error = "low_water_bytes: less than one stripe below high_water_bytes";
		return -EINVAL;
	}
	return 0;
}

/*
 * As Solaris had them for UFS, but no more than an array writes in a moment: 1/64 of
 * 64 GiB takes 5 s.
 */
static int complete_file_water_marks(struct settings *s, const struct surroundings *around,
				     const char **error)
{
	u64 stripe = s->value[SETTING_STRIPE_BYTES];
	u64 *high = &s->value[SETTING_FILE_HIGH_WATER_BYTES];
	u64 *low = &s->value[SETTING_FILE_LOW_WATER_BYTES];

	if (!given(s, SETTING_FILE_HIGH_WATER_BYTES))
		*high = max(min(around->ram_bytes / 64, FILE_HIGH_WATER_DEFAULT_MAX), 2 * stripe);
	if (*high && (*high < 2 * stripe || *high > around->ram_bytes / 2)) {
		*error = keys[SETTING_FILE_HIGH_WATER_BYTES].expect;
		return -ERANGE;
	}
	if (!given(s, SETTING_FILE_LOW_WATER_BYTES))
		*low = *high / 2;
	/* Without a high water mark nothing waits for the low one. */
	if (*high && *low >= *high) {
		*error = keys[SETTING_FILE_LOW_WATER_BYTES].expect;
		return -EINVAL;
	}
	return 0;
}

/* VxFS has it so: what its readers prefer, times how much of that at once. */
static int complete_prefetch(struct settings *s, const struct surroundings *around,
			     const char **error)
{
	u64 *v = s->value;

	if (!given(s, SETTING_STREAMS))
		v[SETTING_STREAMS] = STREAMS_DEFAULT;
	if (!given(s, SETTING_READ_PREF_IO))
		v[SETTING_READ_PREF_IO] = v[SETTING_CHUNK_BYTES];
	if (!given(s, SETTING_READ_NSTREAM))
		v[SETTING_READ_NSTREAM] = v[SETTING_DATA_MEMBERS];
	if (!divides(ROW_BYTES, v[SETTING_READ_PREF_IO])) {
		*error = keys[SETTING_READ_PREF_IO].expect;
		return -EINVAL;
	}
	if (settings_read_cluster(s) > READ_CLUSTER_MAX) {
		*error = "read_nstream: times read_pref_io it is over 67108864";
		return -ERANGE;
	}
	if (!divides(v[SETTING_STRIPE_BYTES], settings_read_cluster(s))) {
		*error = "read_nstream: times read_pref_io it is no multiple of the stripe width";
		return -EINVAL;
	}
	if (!given(s, SETTING_PREFETCH_BYTES))
		v[SETTING_PREFETCH_BYTES] = max(min(around->ram_bytes / 8, PREFETCH_DEFAULT_MAX),
						2 * settings_read_cluster(s));
	if (v[SETTING_PREFETCH_BYTES] < 2 * settings_read_cluster(s) ||
	    v[SETTING_PREFETCH_BYTES] > around->ram_bytes / 2) {
		*error = keys[SETTING_PREFETCH_BYTES].expect;
		return -ERANGE;
	}
	return 0;
}

/**
 * settings_complete() - fill in what was not given and check it all together.
 * @s: the settings; what was not given is overwritten, also on failure.
 * @around: where defaults and limits come from.
 * @error: set to a sentence on failure.
 *
 * Return: 0, -EINVAL for a contradiction or a missing value, -ERANGE for one out of range.
 */
int settings_complete(struct settings *s, const struct surroundings *around, const char **error)
{
	int r;

	r = complete_geometry(s, around, error);
	if (!r)
		r = complete_cluster(s, error);
	if (!r)
		r = complete_water_marks(s, around, error);
	if (!r)
		r = complete_file_water_marks(s, around, error);
	if (!r)
		r = complete_prefetch(s, around, error);
	if (r)
		return r;
	if (!given(s, SETTING_HOLD_MS))
		s->value[SETTING_HOLD_MS] = s->value[SETTING_MODE] == MODE_WRITETHROUGH ?
			HOLD_MS_WRITETHROUGH : HOLD_MS_WRITEBEHIND;
	if (!given(s, SETTING_SEEK_BYTES))
		s->value[SETTING_SEEK_BYTES] = around->rotational ?
			SEEK_BYTES_ROTATING : SEEK_BYTES_SOLID;
	return 0;
}

/**
 * settings_change() - change one value of complete settings.
 * @s: the settings; undefined on failure.
 * @key: which one.
 * @text: its new value.
 * @around: where defaults and limits come from.
 * @error: set to a sentence on failure.
 *
 * A new stripe width keeps the chunk, changes the number of data members, and takes
 * the cluster up to a multiple of itself, or down to one where that is over the most.
 * What is read ahead becomes one stripe again where it is no multiple of it.
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int settings_change(struct settings *s, enum setting key, const char *text,
		    const struct surroundings *around, const char **error)
{
	u64 *cluster = &s->value[SETTING_CLUSTER_BYTES];
	u64 stripe;
	int r;

	r = settings_set(s, key, text, error);
	if (r)
		return r;
	if (key == SETTING_STRIPE_BYTES) {
		stripe = s->value[key];
		s->given &= ~(1UL << SETTING_DATA_MEMBERS);
		*cluster = min(DIV64_U64_ROUND_UP(*cluster, stripe),
			       div64_u64(CLUSTER_BYTES_MAX, stripe)) * stripe;
		if (!divides(stripe, settings_read_cluster(s)))
			s->given &= ~(1UL << SETTING_READ_PREF_IO | 1UL << SETTING_READ_NSTREAM);
	}
	return settings_complete(s, around, error);
}

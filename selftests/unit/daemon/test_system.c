// SPDX-License-Identifier: GPL-2.0
/*
 * What touches the system, on a folder of plain files that stands for sysfs:
 * the walk down to an array, attributes, and what was counted.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"
#include "lib/dm_table.h"
#include "lib/macros.h"
#include "src/counters.h"
#include "src/layers.h"
#include "src/sysfs.h"
#include "src/topology.h"

/* A disk of its own, or with @disk, the partition @name of that. */
static void put_disk(const char *name, const char *disk, const char *max_sectors_kb)
{
	char file[256], from[512], to[512];

	if (disk) {
		snprintf(file, sizeof(file), "devices/%s/%s/partition", disk, name);
		put(file, "1");
		snprintf(to, sizeof(to), "../../devices/%s/%s", disk, name);
	} else {
		snprintf(file, sizeof(file), "devices/%s/queue/max_sectors_kb", name);
		put(file, max_sectors_kb);
		snprintf(file, sizeof(file), "devices/%s/queue/max_hw_sectors_kb", name);
		put(file, "2048");
		snprintf(to, sizeof(to), "../../devices/%s", name);
	}
	snprintf(from, sizeof(from), "%s/class/block/%s", root, name);
	make_folders(from);
	assert_int_equal(symlink(to, from), 0);
}

static void put_attribute(const char *name, const char *attribute, const char *value)
{
	char file[256];

	snprintf(file, sizeof(file), "class/block/%s/%s", name, attribute);
	put(file, value);
}

static void put_slave(const char *name, const char *slave)
{
	char attribute[256];

	snprintf(attribute, sizeof(attribute), "slaves/%s/there", slave);
	put_attribute(name, attribute, "");
}

static void put_array(const char *level, const char *members, const char *chunk, unsigned int disks)
{
	put_disk("md0", NULL, "1024");
	put_attribute("md0", "md/level", level);
	put_attribute("md0", "md/raid_disks", members);
	put_attribute("md0", "md/chunk_size", chunk);
	for (unsigned int i = 0; i < disks; i++) {
		char name[16];

		snprintf(name, sizeof(name), "sd%c", 'a' + i);
		put_disk(name, NULL, i == 1 ? "512" : "1280");
		put_slave("md0", name);
	}
}

static int no_dm(const char *name, struct dm_table_line *ret)
{
	(void)name;
	(void)ret;
	return -EOPNOTSUPP;
}

static int dm_at_2056(const char *name, struct dm_table_line *ret)
{
	assert_string_equal(name, "dm-3");
	*ret = (struct dm_table_line) { .type = "linear", .params = "253:1 2056" };
	return 0;
}

/* LUKS with its header of 16 MiB; the key may look like anything. */
static int dm_crypt(const char *name, struct dm_table_line *ret)
{
	assert_string_equal(name, "dm-3");
	*ret = (struct dm_table_line) {
		.type = "crypt",
		.params = "aes-xts-plain64 :64:logon:cryptsetup:77-d0 0 9:0 32768 1 allow_discards",
	};
	return 0;
}

static int dm_crypt_cut_short(const char *name, struct dm_table_line *ret)
{
	(void)name;
	*ret = (struct dm_table_line) { .type = "crypt", .params = "aes-xts-plain64 00ff 0 9:0" };
	return 0;
}

/* A piece, 1280 sectors in, of LVM's array of five. */
static int dm_of_lvm(const char *name, struct dm_table_line *ret)
{
	if (strcmp(name, "dm-4") == 0)
		*ret = (struct dm_table_line) { .type = "linear", .params = "253:3 1280" };
	else
		*ret = (struct dm_table_line) {
			.type = "raid",
			.params = "raid5_ls 3 128 region_size 1024 5 253:5 253:6 253:7 253:8 253:9 253:10 253:11 253:12 253:13 253:14",
		};
	return 0;
}

static void test_raid5(void **state)
{
	struct topology *t = calloc(1, sizeof(*t));
	uint64_t cluster;

	(void)state;
	put_array("raid5", "5", "65536", 5);
	assert_int_equal(topology_read(root, "md0", no_dm, t), 0);
	assert_string_equal(t->array_name, "md0");
	assert_int_equal(t->array.level, 5);
	assert_int_equal(t->array.members, 5);
	assert_int_equal(t->array.chunk_bytes, 65536);
	assert_int_equal(t->array.offset_bytes, 0);
	assert_int_equal(t->n_limits, 6);
	assert_string_equal(t->limits[0].name, "md0 max_sectors_kb");
	assert_int_equal(t->limits[0].bytes, 1 << 20);
	assert_int_equal(t->limits[0].share, 1);
	assert_string_equal(t->limits[0].disk, "md0");
	assert_int_equal(t->limits[0].soft_bytes, 1 << 20);
	assert_int_equal(t->limits[0].hard_bytes, 2 << 20);
	for (size_t i = 1; i < 6; i++)
		assert_int_equal(t->limits[i].share, 4);
	/* The chain's tightest is md's own 1 MiB, as four parts of 512 KiB are 2 MiB. */
	cluster = rule_cluster_bytes(1ull << 30, 262144, t->limits, t->n_limits, NULL);
	assert_int_equal(cluster, 1 << 20);
	free(t);
}

/* What a SCSI disk says of itself, as sysfs shows it; a page that is cut short says nothing. */
static void put_block_limits(const char *disk, uint32_t blocks, size_t size)
{
	uint8_t page[64] = { [1] = 0xb0, [3] = 60 };
	char file[256];

	put_attribute(disk, "queue/logical_block_size", "4096");
	blocks = htobe32(blocks);
	memcpy(page + 8, &blocks, sizeof(blocks));
	snprintf(file, sizeof(file), "class/block/%s/device/vpd_pgb0", disk);
	put_bytes(file, page, size);
}

/* It bounds what the disk takes, and what lies above it; other disks have their own. */
static void test_block_limits(void **state)
{
	struct topology *t = calloc(1, sizeof(*t));

	(void)state;
	put_array("raid5", "5", "65536", 5);
	put_block_limits("sda", 0, 64);
	put_block_limits("sdb", 1024, 64);
	put_block_limits("sdc", 128, 64);
	put_block_limits("sdd", 64, 15);
	put_disk("dm-3", NULL, "1024");
	put_attribute("dm-3", "dm/name", "piece");
	put_slave("dm-3", "md0");
	assert_int_equal(topology_read(root, "dm-3", dm_at_2056, t), 0);
	assert_int_equal(t->n_limits, 7);
	for (size_t i = 0; i < t->n_limits; i++) {
		const struct rule_limit *l = &t->limits[i];
		bool least = i < 2 || strcmp(l->disk, "sdc") == 0;

		assert_int_equal(l->hard_bytes, 2 << 20);
		if (strcmp(l->disk, "sdb") == 0)
			assert_int_equal(l->disk_bytes, 4 << 20);
		else
			assert_int_equal(l->disk_bytes, least ? 512 << 10 : 0);
	}
	free(t);
}

static struct state_layer *layer(struct state_layer *layers, size_t n, const char *disk)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(layers[i].disk, disk) == 0)
			return &layers[i];
	return NULL;
}

/* A piece of an array of three, one of them a partition of a disk that another one lies on, too. */
static void test_layers(void **state)
{
	struct state_layer layers[STATE_LAYERS_MAX], again[STATE_LAYERS_MAX];
	size_t n = 0, n_again = 0;

	(void)state;
	put_array("raid5", "4", "65536", 2);
	put_attribute("md0", "md/uuid", "e4c5");
	put_attribute("sdb", "device/wwid", "t10.ATA b");
	put_disk("sdx", NULL, "1280");
	put_disk("sdx1", "sdx", NULL);
	put_disk("sdx2", "sdx", NULL);
	put_slave("md0", "sdx1");
	put_slave("md0", "sdx2");
	put_disk("dm-3", NULL, "1024");
	put_attribute("dm-3", "dm/uuid", "LVM-1");
	put_slave("dm-3", "md0");
	assert_int_equal(layers_find(root, "dm-3", layers, &n), 0);
	assert_int_equal(n, 5);
	assert_string_equal(layer(layers, n, "dm-3")->id, "dm/uuid:LVM-1");
	assert_string_equal(layer(layers, n, "md0")->id, "md/uuid:e4c5");
	assert_string_equal(layer(layers, n, "sda")->id, "name:sda");
	assert_string_equal(layer(layers, n, "sdb")->id, "device/wwid:t10.ATA b");
	assert_non_null(layer(layers, n, "sdx"));
	assert_string_not_equal(layer(layers, n, "sda")->instance, layer(layers, n, "sdb")->instance);
	assert_int_equal(layers_find(root, "dm-3", again, &n_again), 0);
	assert_string_equal(layer(layers, n, "sda")->instance, layer(again, n, "sda")->instance);
	assert_int_equal(layers_find(root, "md7", again, &n_again), -ENOENT);
}

/* A member that is out of its array for a while, and others that are no more what they were. */
static void test_earlier_layers(void **state)
{
	struct state_layer before[STATE_LAYERS_MAX], now[STATE_LAYERS_MAX];
	size_t n = 0, n_now = 0;

	(void)state;
	put_array("raid5", "4", "65536", 4);
	put_disk("sdy", NULL, "1280");
	assert_int_equal(layers_find(root, "md0", before, &n), 0);
	assert_int_equal(n, 5);
	assert_int_equal(layers_find(root, "sdy", now, &n_now), 0);
	snprintf(layer(before, n, "sdb")->instance, STATE_INSTANCE, "another making");
	snprintf(layer(before, n, "sdc")->id, STATE_DEVICE, "wwid:c");
	snprintf(layer(before, n, "sdd")->disk, SETTING_DISK, "sdz");
	layers_add_earlier(root, before, n, now, &n_now);
	assert_int_equal(n_now, 3);
	assert_string_equal(layer(now, n_now, "sda")->instance, layer(before, n, "sda")->instance);
	assert_non_null(layer(now, n_now, "md0"));
	assert_non_null(layer(now, n_now, "sdy"));
	layers_add_earlier(root, before, n, now, &n_now);
	assert_int_equal(n_now, 3);
	n_now = STATE_LAYERS_MAX;
	layers_add_earlier(root, before, n, now, &n_now);
	assert_int_equal(n_now, STATE_LAYERS_MAX);
}

static void test_hardware_limit(void **state)
{
	struct topology *t = calloc(1, sizeof(*t));

	(void)state;
	put_disk("sda", NULL, "4096");
	assert_int_equal(topology_read(root, "sda", no_dm, t), 0);
	assert_int_equal(t->array.level, RULE_LEVEL_NONE);
	assert_string_equal(t->array_name, "");
	assert_int_equal(t->n_limits, 1);
	assert_string_equal(t->limits[0].name, "sda max_hw_sectors_kb");
	assert_int_equal(t->limits[0].bytes, 2 << 20);
	free(t);
}

/* A logical volume at 2056 sectors of a partition that starts at 2048 of an array. */
static void test_offsets_add_up(void **state)
{
	struct topology *t = calloc(1, sizeof(*t));

	(void)state;
	put_array("raid6", "8", "131072", 8);
	put_disk("md0p1", "md0", NULL);
	put_attribute("md0p1", "start", "2048");
	put_disk("dm-3", NULL, "1280");
	put_attribute("dm-3", "dm/name", "vg-lv");
	put_slave("dm-3", "md0p1");
	assert_int_equal(topology_read(root, "dm-3", dm_at_2056, t), 0);
	assert_string_equal(t->array_name, "md0");
	assert_int_equal(t->array.level, 6);
	assert_int_equal(t->array.offset_bytes, (2048 + 2056) * 512);
	/* dm-3, the partition's disk, and eight members */
	assert_int_equal(t->n_limits, 10);
	assert_string_equal(t->limits[0].name, "dm-3 max_sectors_kb");
	assert_string_equal(t->limits[1].name, "md0 max_sectors_kb");
	assert_int_equal(t->limits[9].share, 6);
	free(t);
}

static void test_encrypted(void **state)
{
	struct topology *t = calloc(1, sizeof(*t));

	(void)state;
	put_array("raid5", "5", "65536", 5);
	put_disk("dm-3", NULL, "1280");
	put_attribute("dm-3", "dm/name", "luks");
	put_slave("dm-3", "md0");
	assert_int_equal(topology_read(root, "dm-3", dm_crypt_cut_short, t), -EBADMSG);
	assert_int_equal(topology_read(root, "dm-3", dm_crypt, t), 0);
	assert_string_equal(t->array_name, "md0");
	assert_int_equal(t->array.members, 5);
	assert_int_equal(t->array.offset_bytes, 16 << 20);
	/* dm-3, md0 and five members */
	assert_int_equal(t->n_limits, 7);
	free(t);
}

static void test_members_on_partitions(void **state)
{
	struct topology *t = calloc(1, sizeof(*t));

	(void)state;
	put_disk("sdx", NULL, "256");
	put_disk("sdx1", "sdx", NULL);
	put_array("raid0", "1", "65536", 0);
	put_slave("md0", "sdx1");
	assert_int_equal(topology_read(root, "md0", no_dm, t), 0);
	assert_int_equal(t->n_limits, 2);
	assert_string_equal(t->limits[1].name, "sdx max_sectors_kb");
	free(t);
}

static void test_raid10_copies(void **state)
{
	struct topology *t = calloc(1, sizeof(*t));
	uint64_t stripe;

	(void)state;
	put_array("raid10", "8", "131072", 8);
	put_attribute("md0", "md/layout", "258");
	assert_int_equal(topology_read(root, "md0", no_dm, t), 0);
	assert_int_equal(t->array.copies, 2);
	assert_int_equal(rule_stripe_bytes(&t->array, &stripe, NULL), 0);
	assert_int_equal(stripe, 524288);
	free(t);
}

/* The members of LVM's arrays are devices as others; those for metadata count as well. */
static void test_lvm(void **state)
{
	struct topology *t = calloc(1, sizeof(*t));

	(void)state;
	put_disk("dm-4", NULL, "1280");
	put_attribute("dm-4", "dm/name", "piece");
	put_disk("dm-3", NULL, "1280");
	put_attribute("dm-3", "dm/name", "vg-lv");
	put_slave("dm-4", "dm-3");
	put_disk("sda", NULL, "1280");
	put_disk("sdb", NULL, "1280");
	put_slave("dm-3", "sda");
	put_slave("dm-3", "sdb");
	assert_int_equal(topology_read(root, "dm-4", dm_of_lvm, t), 0);
	assert_string_equal(t->array_name, "dm-3");
	assert_int_equal(t->array.level, 5);
	assert_int_equal(t->array.members, 5);
	assert_int_equal(t->array.chunk_bytes, 65536);
	assert_int_equal(t->array.offset_bytes, 1280 * 512);
	assert_int_equal(t->n_limits, 4);
	assert_int_equal(t->limits[3].share, 4);
	free(t);
}

static void test_lvm_tables(void **state)
{
	static const struct {
		const char *params;
		int result, level;
		unsigned int members, copies;
		uint64_t chunk;
	} cases[] = {
		{ "raid6_zr 1 128 4 - 8:0 - 8:16 - 8:32 - 8:48", 0, 6, 4, 0, 65536 },
		{ "raid4 2 64 nosync 3 - 8:0 - 8:16 - 8:32", 0, 4, 3, 0, 32768 },
		{ "raid0_meta 1 128 2 - 8:0 - 8:16", 0, 0, 2, 0, 65536 },
		{ "raid1 2 0 nosync 2 - 8:0 - 8:16", 0, 1, 2, 0, 0 },
		{ "raid10 4 128 region_size 8 nosync 4 - - - -", 0, 10, 4, 2, 65536 },
		{ "raid10 3 128 raid10_copies 3 6 -", 0, 10, 6, 3, 65536 },
		{ "raid5_ls 3 128 delta_disks 1 5 -", -EBUSY, 0, 0, 0, 0 },
		{ "raid5_ls 5 128 nosync", -EBADMSG, 0, 0, 0, 0 },
		{ "raid10 3 128 raid10_copies", -EBADMSG, 0, 0, 0, 0 },
		{ "raid5_ls 1 128", -EBADMSG, 0, 0, 0, 0 },
		{ "raid5_ls 0 3 -", -EBADMSG, 0, 0, 0, 0 },
		{ "raid50 1 128 4 -", -EBADMSG, 0, 0, 0, 0 },
		{ "", -EBADMSG, 0, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct dm_table_line line = { .type = "raid" };
		struct rule_array a = { .level = 77 };

		snprintf(line.params, sizeof(line.params), "%s", cases[i].params);
		assert_int_equal(dm_table_parse_raid(&line, &a), cases[i].result);
		assert_int_equal(a.level, cases[i].result ? 77 : cases[i].level);
		if (cases[i].result == 0) {
			assert_int_equal(a.members, cases[i].members);
			assert_int_equal(a.copies, cases[i].copies);
			assert_int_equal(a.chunk_bytes, cases[i].chunk);
		}
	}
}

/* What is no plain piece of one device ends the walk, and is no array. */
static void test_dm_of_several(void **state)
{
	struct topology *t = calloc(1, sizeof(*t));

	(void)state;
	put_array("raid5", "3", "65536", 3);
	put_disk("sdz", NULL, "1280");
	put_disk("dm-3", NULL, "1280");
	put_attribute("dm-3", "dm/name", "two");
	put_slave("dm-3", "md0");
	put_slave("dm-3", "sdz");
	assert_int_equal(topology_read(root, "dm-3", dm_at_2056, t), 0);
	assert_int_equal(t->array.level, RULE_LEVEL_NONE);
	/* Its limits count all the same: itself, md0 and three members, sdz. */
	assert_int_equal(t->n_limits, 6);
	free(t);
}

static void test_arrays_refused(void **state)
{
	struct topology *t = calloc(1, sizeof(*t));

	(void)state;
	t->n_limits = 42;
	put_array("raid5", "6 (5)", "65536", 6);
	assert_int_equal(topology_read(root, "md0", no_dm, t), -EBUSY);
	put_attribute("md0", "md/raid_disks", "6");
	put_attribute("md0", "md/chunk_size", "131072 (65536)");
	assert_int_equal(topology_read(root, "md0", no_dm, t), -EBUSY);
	put_attribute("md0", "md/chunk_size", "65536");
	put_attribute("md0", "md/level", "multipath");
	assert_int_equal(topology_read(root, "md0", no_dm, t), -EOPNOTSUPP);
	put_attribute("md0", "md/level", "raid6");
	put_attribute("md0", "md/raid_disks", "3");
	assert_int_equal(topology_read(root, "md0", no_dm, t), -EINVAL);
	assert_int_equal(topology_read(root, "md7", no_dm, t), -ENOENT);
	assert_int_equal(t->n_limits, 42);
	free(t);
}

static void test_attributes(void **state)
{
	uint64_t number = 42;
	char text[8];

	(void)state;
	put("a", "12");
	put("b", "12 apples");
	put("c", "-1");
	put("d", "");
	put("e", "99999999999999999999");
	put("f", "a long value");
	assert_int_equal(sysfs_read_number(&number, "%s/b", root), -EBADMSG);
	assert_int_equal(sysfs_read_number(&number, "%s/c", root), -EBADMSG);
	assert_int_equal(sysfs_read_number(&number, "%s/d", root), -EBADMSG);
	assert_int_equal(sysfs_read_number(&number, "%s/e", root), -EBADMSG);
	assert_int_equal(sysfs_read_number(&number, "%s/g", root), -ENOENT);
	assert_int_equal(number, 42);
	assert_int_equal(sysfs_read_number(&number, "%s/a", root), 0);
	assert_int_equal(number, 12);
	assert_int_equal(sysfs_read_text(text, sizeof(text), "%s/f", root), -ENOBUFS);
	assert_int_equal(sysfs_read_text(text, sizeof(text), "%s/a", root), 0);
	assert_string_equal(text, "12");
}

/* @user lies on @name, as both say. */
static void put_user(const char *name, const char *user)
{
	char attribute[256];

	put_slave(user, name);
	snprintf(attribute, sizeof(attribute), "holders/%s/there", user);
	put_attribute(name, attribute, "");
}

/* A device, and an array of two members, one of which is a partition. */
static struct topology put_counters(void)
{
	struct topology t = { .array.level = 5, .array_name = "md0" };

	put_attribute("dm-0", "stat", "5 0 2048 9 7 0 8192 3 0 4 12 0 0 0 0 0 0");
	put_attribute("dm-0", "fullstripe/stats/staged_read_bytes", "111");
	put_attribute("dm-0", "fullstripe/stats/prefetch_hit_bytes", "222");
	put_attribute("dm-0", "fullstripe/stats/prefetched_bytes", "333");
	put_attribute("md0", "md/sync_action", "idle");
	put_attribute("md0", "md/degraded", "0");
	put_slave("md0", "sda");
	put_slave("md0", "sdb1");
	put_attribute("sda", "stat", "     100        0      10       0        0        0       99        0 0 0 0 1 0 7 0 0 0");
	put_attribute("sdb1", "stat", "100 0 20 0 0 0 99 0 0 0 0 1 0 7 0 0 0");
	return t;
}

static void test_counters(void **state)
{
	const struct topology t = put_counters(), none = { .array.level = RULE_LEVEL_NONE };
	struct harm_counters c;

	(void)state;
	put_user("md0", "dm-0");
	assert_int_equal(counters_read(root, "dm-0", &t, &c), 0);
	assert_int_equal(c.read, 2048 * 512);
	assert_int_equal(c.written, 8192 * 512);
	assert_int_equal(c.staged_read, 111);
	assert_int_equal(c.prefetch_hit, 222);
	assert_int_equal(c.prefetched, 333);
	assert_true(c.has_members);
	assert_int_equal(c.members_read, 30 * 512);
	assert_false(c.busy);
	assert_int_equal(c.degraded, 0);
	assert_int_equal(counters_read(root, "dm-0", &none, &c), 0);
	assert_false(c.has_members);
}

static void test_counters_of_array(void **state)
{
	struct topology t = put_counters();
	struct harm_counters c;

	(void)state;
	put_user("md0", "dm-0");
	put_attribute("md0", "md/sync_action", "recover");
	put_attribute("md0", "md/degraded", "1");
	assert_int_equal(counters_read(root, "dm-0", &t, &c), 0);
	assert_true(c.busy);
	assert_int_equal(c.degraded, 1);
	/* Without parity nothing is read for writes. */
	t.array.level = 10;
	assert_int_equal(counters_read(root, "dm-0", &t, &c), 0);
	assert_true(c.busy);
	assert_false(c.has_members);
	t.array.level = 6;
	assert_int_equal(counters_read(root, "dm-0", &t, &c), 0);
	assert_true(c.has_members);
	/* What others have the members read is not known. */
	put_user("md0", "dm-1");
	assert_int_equal(counters_read(root, "dm-0", &t, &c), 0);
	assert_false(c.has_members);
	put_attribute("dm-0", "stat", "5 0");
	assert_int_equal(counters_read(root, "dm-0", &t, &c), -EBADMSG);
}

/* Whoever may read another partition has the members read, too. */
static void test_counters_of_partition(void **state)
{
	struct harm_counters c;
	struct topology t;

	(void)state;
	put_disk("md0", NULL, "1024");
	put_disk("md0p1", "md0", NULL);
	put_user("md0p1", "dm-0");
	t = put_counters();
	assert_int_equal(counters_read(root, "dm-0", &t, &c), 0);
	assert_true(c.has_members);
	put("devices/md0/md0p2/partition", "2");
	assert_int_equal(counters_read(root, "dm-0", &t, &c), 0);
	assert_false(c.has_members);
}

/* The array, a partition, LUKS, a volume, the device; then there is another volume. */
static void test_counters_of_volume(void **state)
{
	struct harm_counters c;
	struct topology t;

	(void)state;
	put_disk("md0", NULL, "1024");
	put_disk("md0p1", "md0", NULL);
	put_user("md0p1", "dm-1");
	put_user("dm-1", "dm-2");
	put_user("dm-2", "dm-0");
	t = put_counters();
	assert_int_equal(counters_read(root, "dm-0", &t, &c), 0);
	assert_true(c.has_members);
	put_user("dm-1", "dm-3");
	assert_int_equal(counters_read(root, "dm-0", &t, &c), 0);
	assert_false(c.has_members);
}

static void test_settings(void **state)
{
	static const char * const names[] = {
		"fullstripe/stripe_bytes", "fullstripe/cluster_bytes", "fullstripe/high_water_bytes",
		"fullstripe/low_water_bytes", "fullstripe/file_high_water_bytes",
		"fullstripe/file_low_water_bytes", "fullstripe/hold_ms", "fullstripe/seek_bytes",
		"fullstripe/streams", "fullstripe/read_pref_io", "fullstripe/read_nstream",
		"fullstripe/prefetch_bytes", "fullstripe/mode", "queue/read_ahead_kb", "bdi/max_ratio",
	};
	char before[SAMPLES_SETTINGS] = "", after[SAMPLES_SETTINGS] = "";

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		put_attribute("dm-0", names[i], "18446744073709551615");
	assert_int_equal(counters_read_settings(root, "dm-0", before), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		put_attribute("dm-0", names[i], "1");
		assert_int_equal(counters_read_settings(root, "dm-0", after), 0);
		assert_string_not_equal(before, after);
		memcpy(before, after, sizeof(before));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		in_root(test_raid5),
		in_root(test_block_limits),
		in_root(test_layers),
		in_root(test_earlier_layers),
		in_root(test_hardware_limit),
		in_root(test_offsets_add_up),
		in_root(test_encrypted),
		in_root(test_members_on_partitions),
		in_root(test_raid10_copies),
		in_root(test_lvm),
		cmocka_unit_test(test_lvm_tables),
		in_root(test_dm_of_several),
		in_root(test_arrays_refused),
		in_root(test_attributes),
		in_root(test_counters),
		in_root(test_counters_of_array),
		in_root(test_counters_of_partition),
		in_root(test_counters_of_volume),
		in_root(test_settings),
	};

	return cmocka_run_group_tests_name("system", tests, NULL, NULL);
}

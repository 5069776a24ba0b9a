// SPDX-License-Identifier: GPL-2.0
/*
 * What touches the system, on a folder of plain files that stands for sysfs:
 * the walk down to an array, and attributes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"
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

static int no_dm(const char *name, uint64_t *ret)
{
	(void)name;
	(void)ret;
	return -EOPNOTSUPP;
}

static int dm_at_2056(const char *name, uint64_t *ret)
{
	assert_string_equal(name, "dm-3");
	*ret = 2056;
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
	for (size_t i = 1; i < 6; i++)
		assert_int_equal(t->limits[i].share, 4);
	/* The chain's tightest is md's own 1 MiB, as four parts of 512 KiB are 2 MiB. */
	cluster = rule_cluster_bytes(1ull << 30, 262144, t->limits, t->n_limits, NULL);
	assert_int_equal(cluster, 1 << 20);
	free(t);
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		in_root(test_raid5),
		in_root(test_hardware_limit),
		in_root(test_offsets_add_up),
		in_root(test_members_on_partitions),
		in_root(test_raid10_copies),
		in_root(test_dm_of_several),
		in_root(test_arrays_refused),
		in_root(test_attributes),
	};

	return cmocka_run_group_tests_name("system", tests, NULL, NULL);
}

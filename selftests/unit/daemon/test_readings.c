// SPDX-License-Identifier: GPL-2.0
/* Counters of devices, in a folder that stands for sysfs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fixture.h"
#include "lib/macros.h"
#include "src/readings.h"

static void link_to(const char *from, const char *to)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", root, from);
	make_folders(path);
	assert_int_equal(symlink(to, path), 0);
}

static void put_in(const char *folder, const char *file, const char *value)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	put(path, value);
}

/* A disk with its statistics: sectors read and written. */
static void put_disk(const char *name, unsigned int read, unsigned int written)
{
	char from[64], to[64], stat[128];

	snprintf(from, sizeof(from), "class/block/%s", name);
	snprintf(to, sizeof(to), "../../devices/%s", name);
	snprintf(stat, sizeof(stat), "%8u 2 %8u 4 %8u 6 %8u 8 0 10 11 12 13 14 15 16 17", read / 8,
		 read, written / 8, written);
	link_to(from, to);
	snprintf(from, sizeof(from), "devices/%s", name);
	put_in(from, "stat", stat);
}

/* dm-0 lies on dm-1, that on a partition of md0, which has two members. */
static void put_device(void)
{
	static const char * const numbers[] = {
		"stripe_bytes", "chunk_bytes", "data_members", "cluster_bytes", "high_water_bytes",
		"low_water_bytes", "file_high_water_bytes", "file_low_water_bytes", "hold_ms",
		"stats/bypassed_bytes", "stats/staged_read_bytes", "stats/whole_stripes",
		"stats/filled_stripes", "stats/partial_stripes", "stats/answered_flushes",
		"stats/flush_us", "stats/parked", "stats/throttled", "stats/prefetched_bytes",
		"stats/prefetch_hit_bytes", "stats/staged_bytes", "stats/dirty_files",
		"stats/held_files", "stats/failing_stripes", "stats/active_streams",
	};

	put_disk("dm-0", 80, 160);
	put_disk("dm-1", 800, 1600);
	put_disk("md0", 240, 320);
	put_disk("sda", 400, 8);
	put_disk("sdb", 480, 8);
	put_disk("sdc", 1, 1);
	link_to("block/dm-0", "../devices/dm-0");
	link_to("block/dm-1", "../devices/dm-1");
	put("devices/dm-0/dm/name", "data");
	put("devices/dm-0/slaves/dm-1/x", "");
	put("devices/dm-1/dm/name", "below");
	put("devices/dm-1/slaves/md0p1/x", "");
	put("devices/md0/md0p1/partition", "1");
	link_to("class/block/md0p1", "../../devices/md0/md0p1");
	put("devices/md0/md/level", "raid5");
	put("devices/md0/md/sync_action", "idle");
	put("devices/md0/md/degraded", "0");
	put("devices/md0/slaves/sda/x", "");
	put("devices/md0/slaves/sdb/x", "");
	put("devices/dm-0/fullstripe/mode", "writethrough");
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		char value[16];

		snprintf(value, sizeof(value), "%zu", 100 + i);
		put_in("devices/dm-0/fullstripe", numbers[i], value);
	}
}

static struct top_reading read_one(void)
{
	struct top_reading t;

	assert_int_equal(readings_read(root, "dm-0", &t), 0);
	return t;
}

static void test_device(void **state)
{
	struct top_reading t;

	(void)state;
	put_device();
	t = read_one();
	assert_string_equal(t.name, "data");
	assert_string_equal(t.disk, "dm-0");
	assert_string_equal(t.lower, "dm-1");
	assert_string_equal(t.mode, "writethrough");
	assert_true(t.time_us > 0);
	assert_int_equal(t.counters[TOP_READS], 10);
	assert_int_equal(t.counters[TOP_READ_SECTORS], 80);
	assert_int_equal(t.counters[TOP_WRITES], 20);
	assert_int_equal(t.counters[TOP_WRITTEN_SECTORS], 160);
	assert_int_equal(t.values[TOP_STRIPE_BYTES], 100);
	assert_int_equal(t.values[TOP_HIGH_WATER], 104);
	assert_int_equal(t.values[TOP_LOW_WATER], 105);
	assert_int_equal(t.counters[TOP_BYPASSED_BYTES], 109);
	assert_int_equal(t.counters[TOP_WHOLE_STRIPES], 111);
	assert_int_equal(t.counters[TOP_FLUSHES], 114);
	assert_int_equal(t.counters[TOP_FLUSH_US], 115);
	assert_int_equal(t.values[TOP_HELD_FILES], 122);
	assert_int_equal(t.values[TOP_ACTIVE_STREAMS], 124);
}

/* Through a volume and a partition. */
static void test_array(void **state)
{
	struct top_reading t;

	(void)state;
	put_device();
	t = read_one();
	assert_string_equal(t.array, "md0");
	assert_int_equal(t.state, TOP_ARRAY_WELL);
	assert_int_equal(t.counters[TOP_ARRAY_READ_SECTORS], 240);
	assert_int_equal(t.counters[TOP_ARRAY_WRITTEN_SECTORS], 320);
	assert_int_equal(t.counters[TOP_MEMBERS_READ_SECTORS], 880);
}

static void test_array_state(void **state)
{
	static const struct {
		const char *file;
		const char *value;
		enum top_array state;
	} changes[] = {
		{ "devices/md0/md/sync_action", "check", TOP_ARRAY_BUSY },
		{ "devices/md0/md/sync_action", "frozen", TOP_ARRAY_WELL },
		{ "devices/md0/md/degraded", "1", TOP_ARRAY_BUSY },
		{ "devices/md0/md/level", "raid6", TOP_ARRAY_BUSY },
		{ "devices/md0/md/level", "raid0", TOP_ARRAY_NONE },
	};
	struct top_reading t;

	(void)state;
	put_device();
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		put(changes[i].file, changes[i].value);
		t = read_one();
		assert_int_equal(t.state, changes[i].state);
	}
}

static void test_no_array(void **state)
{
	char path[256];
	struct top_reading t;

	(void)state;
	put_device();
	snprintf(path, sizeof(path), "%s/class/block/md0p1", root);
	assert_int_equal(unlink(path), 0);
	t = read_one();
	assert_string_equal(t.array, "");
	assert_int_equal(t.state, TOP_ARRAY_NONE);
	assert_int_equal(t.counters[TOP_READS], 10);
}

static void test_all(void **state)
{
	struct top_reading *t;
	size_t n;

	(void)state;
	put_device();
	assert_int_equal(readings_read_all(root, NULL, &t, &n), 0);
	assert_int_equal(n, 1);
	assert_string_equal(t[0].name, "data");
	free(t);
	assert_int_equal(readings_read_all(root, "dm-1", &t, &n), 0);
	assert_int_equal(n, 0);
	free(t);
	assert_int_equal(readings_read(root, "dm-1", &(struct top_reading) { 0 }), -ENOENT);
	put("devices/dm-0/fullstripe/stats/parked", "many");
	assert_int_equal(readings_read_all(root, NULL, &t, &n), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_root(test_device),
		in_root(test_array),
		in_root(test_array_state),
		in_root(test_no_array),
		in_root(test_all),
	};

	return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/* What top computes and how it looks, in a terminal of any size. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "lib/macros.h"
#include "lib/top.h"

#define KIB	1024ULL
#define MIB	(1024 * KIB)
#define GIB	(1024 * MIB)
#define SECTORS	2048	/* a MiB */

/*
 * A recorded state: an array that is written well, one that is not, and one that cannot be
 * written.
 */

static struct top_reading new_reading(const char *name, const char *disk)
{
	struct top_reading t = {
		.time_us = 1000000, .mode = "writebehind", .state = TOP_ARRAY_WELL,
		.values = {
			[TOP_STRIPE_BYTES] = 256 * KIB, [TOP_CHUNK_BYTES] = 64 * KIB,
			[TOP_DATA_MEMBERS] = 4, [TOP_CLUSTER_BYTES] = MIB,
			[TOP_HIGH_WATER] = 64 * MIB, [TOP_LOW_WATER] = 32 * MIB,
			[TOP_FILE_HIGH_WATER] = 8 * MIB, [TOP_FILE_LOW_WATER] = 4 * MIB,
			[TOP_HOLD_MS] = 5000,
		},
	};

	snprintf(t.name, sizeof(t.name), "%s", name);
	snprintf(t.disk, sizeof(t.disk), "%s", disk);
	snprintf(t.lower, sizeof(t.lower), "md%c", disk[3]);
	snprintf(t.array, sizeof(t.array), "md%c", disk[3]);
	return t;
}

/* Two seconds later. */
static struct top_reading good_after(struct top_reading t)
{
	t.time_us += 2000000;
	t.counters[TOP_READS] += 240;
	t.counters[TOP_READ_SECTORS] += 30 * SECTORS;
	t.counters[TOP_WRITES] += 4000;
	t.counters[TOP_WRITTEN_SECTORS] += 250 * SECTORS;
	t.counters[TOP_BYPASSED_BYTES] += 200 * 256 * KIB;
	t.counters[TOP_WHOLE_STRIPES] += 780;
	t.counters[TOP_FILLED_STRIPES] += 10;
	t.counters[TOP_PARTIAL_STRIPES] += 10;
	t.counters[TOP_FLUSHES] += 4;
	t.counters[TOP_FLUSH_US] += 50000;
	t.counters[TOP_PARKED] += 1;
	t.counters[TOP_THROTTLED] += 2;
	t.counters[TOP_PREFETCH_HIT_BYTES] += 24 * MIB;
	t.counters[TOP_ARRAY_READ_SECTORS] += 30 * SECTORS;
	t.counters[TOP_ARRAY_WRITTEN_SECTORS] += 250 * SECTORS;
	t.counters[TOP_MEMBERS_READ_SECTORS] += 30 * SECTORS + 1000;
	t.values[TOP_STAGED_BYTES] = 42 * MIB;
	t.values[TOP_DIRTY_FILES] = 12;
	t.values[TOP_HELD_FILES] = 1;
	t.values[TOP_ACTIVE_STREAMS] = 2;
	return t;
}

static struct top_device good(void)
{
	struct top_reading before = new_reading("data", "dm-0"), now = good_after(before);
	struct top_device d;

	top_compute(&before, &now, &d);
	return d;
}

static struct top_device bad(void)
{
	struct top_reading before = new_reading("database-of-the-others", "dm-1"), now = before;
	struct top_device d;

	now.time_us += 2000000;
	now.counters[TOP_WRITES] = 600;
	now.counters[TOP_WRITTEN_SECTORS] = 600 * 8;
	now.counters[TOP_PARTIAL_STRIPES] = 590;
	now.counters[TOP_WHOLE_STRIPES] = 10;
	now.counters[TOP_ARRAY_WRITTEN_SECTORS] = 2 * SECTORS;
	now.counters[TOP_MEMBERS_READ_SECTORS] = 4 * SECTORS;
	now.counters[TOP_FLUSHES] = 300;
	now.counters[TOP_FLUSH_US] = 300 * 3200;
	now.values[TOP_STAGED_BYTES] = 300 * KIB;
	now.values[TOP_DIRTY_FILES] = 3;
	top_compute(&before, &now, &d);
	return d;
}

static struct top_device failing(void)
{
	struct top_reading now = new_reading("old", "dm-2");
	struct top_device d;

	snprintf(now.mode, sizeof(now.mode), "writethrough");
	now.values[TOP_STAGED_BYTES] = 64 * MIB;
	now.values[TOP_FAILING_STRIPES] = 3;
	top_compute(NULL, &now, &d);
	return d;
}

static struct file_view files[] = {
	{ .disk = "dm-1", .inode = 4711, .fs_major = 254, .fs_minor = 1, .outstanding = 300 * KIB },
	{ .disk = "dm-0", .tgid = 1234, .outstanding = 8 * MIB, .path = (char *)"postgres",
	  .times_held = 3, .longest_wait_us = 812000 },
	{ .disk = "dm-0", .inode = 12, .outstanding = 8 * MIB + 64 * KIB, .held = true, .parked = 9,
	  .parked_bytes = 9 * MIB, .times_held = 41, .wait_us = 3210000, .longest_wait_us = 12345678,
	  .path = (char *)"/srv/media/2026/november/incoming/camera-4/take-17.mov" },
};

static struct stream_view streams[] = {
	{ .disk = "dm-0", .position = 3 * GIB + 700 * MIB, .direction = STREAM_STRIDED, .stride = -4LL * (long long)MIB,
	  .run = MIB, .degree = 2, .ahead = 2 * MIB, .read = 100 * MIB, .idle_ms = 2500 },
	{ .disk = "dm-0", .position = 120 * GIB, .direction = STREAM_FORWARD, .degree = 4,
	  .ahead = 7 * MIB, .read = 11 * GIB, .idle_ms = 12 },
};

static struct top_device devices[3];

static struct top_view recorded(void)
{
	devices[0] = failing();
	devices[1] = good();
	devices[2] = bad();
	top_sort(devices, ARRAY_SIZE(devices), TOP_BY_WRITE, false);
	top_sort_files(files, ARRAY_SIZE(files));
	top_sort_streams(streams, ARRAY_SIZE(streams));
	return (struct top_view) {
		.devices = devices, .n_devices = ARRAY_SIZE(devices),
		.files = files, .n_files = ARRAY_SIZE(files),
		.streams = streams, .n_streams = ARRAY_SIZE(streams),
		.seconds = 2, .sort = TOP_BY_WRITE, .keys = true,
	};
}

static struct screen *drawn(const struct top_view *view, unsigned int rows, unsigned int columns)
{
	struct screen *screen = screen_new(rows, columns);

	assert_non_null(screen);
	top_draw(screen, view);
	return screen;
}

/* Without the empty rows at its end. */
static void assert_looks(const struct top_view *view, unsigned int rows, unsigned int columns,
			 const char * const *expected, size_t n)
{
	struct screen *screen = drawn(view, rows, columns);

	for (unsigned int i = 0; i < rows; i++) {
		char *row = screen_row(screen, i);

		assert_string_equal(row, i < n ? expected[i] : "");
		free(row);
	}
	free(screen);
}

static void test_80x24(void **state)
{
	static const char * const expected[] = {
		"fullstripe: 3 devices                                        by write, every 2 s",
		"",
		"DEVICE        READ/s  WRITE/s FULL PRE/MiB STAGED              FLUSH  HELD STRMS",
		"data          15 MiB  125 MiB  99%     0.5 [#####|#...]  65% 12.5 ms  1/12     2",
		"database-of      0 B  1.2 MiB   1%     512 [.....|....]   1%  3.2 ms   0/3     0",
		"old                -        -    -       - [#####|####] 100%       -   0/0     0",
		"",
		"data on md0: stripes 4 x 64 KiB, clusters 1 MiB, writebehind",
		"staged 42 MiB (low water 32 MiB, high 64 MiB; of a file 4 MiB, 8 MiB)",
		"stripes/s: 490 whole, 5 filled, 5 partial; flushes/s: 2",
		"",
		"   HELD OUTSTANDING   PARKED TIMES LONGEST DEVICE   FILE",
		"  3.2 s     8.1 MiB    9 MiB    41  12.3 s data     ...ming/camera-4/take-17.mov",
		"      -       8 MiB      0 B     3  812 ms data     process 1234 (postgres)",
		"      -     300 KiB      0 B     0       - database inode 4711 of 254:1",
		"",
		"POSITION DIRECTION    STRIDE DEGREE    AHEAD     READ    IDLE DEVICE",
		" 120 GiB forward           -      4    7 MiB   11 GiB 12.0 ms data",
		" 3.7 GiB strided      -4 MiB      2    2 MiB  100 MiB   2.5 s data",
		"",
		"",
		"",
		"",
		"q quit  space pause  <> sort  r reverse  up/down device  +- interval",
	};
	struct top_view view = recorded();

	(void)state;
	assert_looks(&view, 24, 80, expected, ARRAY_SIZE(expected));
}

static void test_60x15(void **state)
{
	static const char * const expected[] = {
		"fullstripe: 3 devices                    by write, every 2 s",
		"DEVICE     READ/s  WRITE/s FULL PRE/MiB STAGED   FLUSH  HELD",
		"data       15 MiB  125 MiB  99%     0.5    65% 12.5 ms  1/12",
		"database      0 B  1.2 MiB   1%     512     1%  3.2 ms   0/3",
		"old             -        -    -       -   100%       -   0/0",
		"   HELD OUTSTANDING LONGEST DEVICE   FILE",
		"  3.2 s     8.1 MiB  12.3 s data     ...camera-4/take-17.mov",
		"      -       8 MiB  812 ms data     process 1234 (postgres)",
		"      -     300 KiB       - database inode 4711 of 254:1",
		"POSITION DIRECTION DEGREE    AHEAD     READ    IDLE DEVICE",
		" 120 GiB forward        4    7 MiB   11 GiB 12.0 ms data",
		" 3.7 GiB strided        2    2 MiB  100 MiB   2.5 s data",
		"",
		"",
		"q quit  space pause  <> sort  r reverse  up/down device",
	};
	struct top_view view = recorded();

	(void)state;
	assert_looks(&view, 15, 60, expected, ARRAY_SIZE(expected));
}

/* All there is, and names as they are. */
static void test_120x40(void **state)
{
	static const struct {
		unsigned int row;
		const char *text;
	} expected[] = {
		{ 2, "DEVICE                   READ/s  WRITE/s    R/s    W/s FULL PRE/MiB STAGED                FLUSH  HELD STRMS HITS WAITS/s" },
		{ 3, "data                     15 MiB  125 MiB    120   2000  99%     0.5 [######|#....]  65% 12.5 ms  1/12     2  80%     1.5" },
		{ 4, "database-of-the-others      0 B  1.2 MiB      0    300   1%     512 [......|.....]   1%  3.2 ms   0/3     0    -       0" },
		{ 12, "  3.2 s     8.1 MiB    9 MiB    41  12.3 s data             /srv/media/2026/november/incoming/camera-4/take-17.mov" },
		{ 39, "q quit  space pause  <> sort  r reverse  up/down device  +- interval" },
	};
	struct top_view view = recorded();
	struct screen *screen = drawn(&view, 40, 120);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		char *row = screen_row(screen, expected[i].row);

		assert_string_equal(row, expected[i].text);
		free(row);
	}
	free(screen);
}

/* Nothing is written outside, which the sanitizers would see; and the title is always there. */
static void test_all_sizes(void **state)
{
	struct top_view view = recorded();

	(void)state;
	for (unsigned int rows = 1; rows <= 30; rows++) {
		for (unsigned int columns = 1; columns <= 150; columns += rows < 4 ? 1 : 7) {
			struct screen *screen = drawn(&view, rows, columns);
			char *row = screen_row(screen, 0);

			assert_int_equal(row[0], 'f');
			free(row);
			free(screen);
		}
	}
}

/* More of everything than there is room for. */
static void test_crowded(void **state)
{
	static const char * const expected[] = {
		"fullstripe: 20 devices           PAUSED  by name reversed, every 0.5 s",
		"DEVICE     READ/s  WRITE/s FULL PRE/MiB STAGED   FLUSH  HELD STRMS",
		"d7         15 MiB  125 MiB  99%     0.5    65% 12.5 ms  1/12     2",
		"d8         15 MiB  125 MiB  99%     0.5    65% 12.5 ms  1/12     2",
		"d9         15 MiB  125 MiB  99%     0.5    65% 12.5 ms  1/12     2",
		"and 17 more",
		"   HELD OUTSTANDING   PARKED LONGEST DEVICE   FILE",
		"  3.2 s     8.1 MiB    9 MiB  12.3 s dm-0     .../camera-4/take-17.mov",
		"      -       8 MiB      0 B  812 ms dm-0     process 1234 (postgres)",
		"      -     300 KiB      0 B       - dm-1     inode 4711 of 254:1",
		"",
		"q quit  space pause  <> sort  r reverse  up/down device  +- interval",
	};
	struct top_device many[20];
	struct top_view view = recorded();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(many); i++) {
		many[i] = good();
		snprintf(many[i].now.name, sizeof(many[i].now.name), "d%zu", i);
		snprintf(many[i].now.disk, sizeof(many[i].now.disk), "dm-%zu", i + 10);
	}
	view.devices = many;
	view.n_devices = ARRAY_SIZE(many);
	view.selected = 9;
	view.paused = true;
	view.sort = TOP_BY_NAME;
	view.reverse = true;
	view.seconds = 0.5;
	assert_looks(&view, 12, 70, expected, ARRAY_SIZE(expected));
}

static void test_nothing(void **state)
{
	static const char * const none[] = {
		"fullstripe: 0 devices                    by write, every 1 s",
		"There is no fullstripe device that is active.",
	};
	static const char * const refused[] = {
		"fullstripe: 1 device                     by write, every 1 s",
		"DEVICE     READ/s  WRITE/s FULL PRE/MiB STAGED   FLUSH  HELD",
		"data       15 MiB  125 MiB  99%     0.5    65% 12.5 ms  1/12",
		"Not for everybody.",
	};
	struct top_device device = good();
	struct top_view view = { .seconds = 1, .sort = TOP_BY_WRITE, .no_lists = "Not for everybody." };

	(void)state;
	assert_looks(&view, 10, 60, none, ARRAY_SIZE(none));
	view.devices = &device;
	view.n_devices = 1;
	assert_looks(&view, 10, 60, refused, ARRAY_SIZE(refused));
}

/* The style of the first character of a text on the screen. */
static enum screen_style style_of(const struct screen *screen, const char *text)
{
	for (unsigned int i = 0; i < screen->rows; i++) {
		char *row = screen_row(screen, i);
		const char *at = strstr(row, text);
		size_t column = at ? (size_t)(at - row) : screen->columns;

		free(row);
		if (column < screen->columns)
			return screen->cells[i * screen->columns + column].style;
	}
	fail_msg("'%s' is not there", text);
	return N_STYLES;
}

static void test_styles(void **state)
{
	struct top_view view = recorded();
	struct screen *screen;

	(void)state;
	view.selected = 1;
	screen = drawn(&view, 24, 80);
	assert_int_equal(style_of(screen, "WRITE/s"), STYLE_SORTED);
	assert_int_equal(style_of(screen, "READ/s"), STYLE_HEADER);
	assert_int_equal(style_of(screen, "99%"), STYLE_GOOD);
	assert_int_equal(style_of(screen, "512"), STYLE_SELECTED);
	assert_int_equal(style_of(screen, "[#####|#"), STYLE_WARNING);
	assert_int_equal(style_of(screen, "1/12"), STYLE_WARNING);
	assert_int_equal(style_of(screen, "old"), STYLE_BAD);
	assert_int_equal(style_of(screen, "3.2 s"), STYLE_WARNING);
	free(screen);
	view.selected = 2;
	screen = drawn(&view, 24, 80);
	assert_int_equal(style_of(screen, "3 stripes cannot be written"), STYLE_BAD);
	free(screen);
}

/*
 * Numbers
 */

static void test_rates(void **state)
{
	struct top_device d = good();

	(void)state;
	assert_true(d.read_bytes == 15.0 * MIB && d.written_bytes == 125.0 * MIB);
	assert_true(d.reads == 120 && d.writes == 2000);
	/* 780 and 200 that bypassed, in two seconds */
	assert_true(d.whole == 490 && d.filled == 5 && d.partial == 5);
	assert_true(fabs(d.full - 0.99) < 1e-9);
	/* 1000 sectors for 250 MiB */
	assert_true(d.pre_reads == 0.5);
	assert_true(d.flushes == 2 && d.flush_us == 12500);
	assert_true(d.waits == 1.5);
	assert_true(d.hits == 0.8);
	assert_true(d.staged == 42.0 / 64);
}

static void test_no_rates(void **state)
{
	struct top_reading before = new_reading("data", "dm-0"), now = good_after(before);
	struct top_device d;

	(void)state;
	top_compute(NULL, &now, &d);
	assert_true(isnan(d.read_bytes) && isnan(d.full) && isnan(d.flush_us) && d.staged == 42.0 / 64);
	/* reset, or made anew */
	before.counters[TOP_FLUSHES] = 5;
	top_compute(&before, &now, &d);
	assert_true(isnan(d.read_bytes) && isnan(d.writes) && isnan(d.flush_us));
	before.counters[TOP_FLUSHES] = 4;
	top_compute(&before, &now, &d);
	assert_true(d.writes == 2000 && isnan(d.flush_us) && d.flushes == 0);
	before.time_us = now.time_us;
	top_compute(&before, &now, &d);
	assert_true(isnan(d.writes));
	/* nothing was written */
	before = now;
	now.time_us++;
	top_compute(&before, &now, &d);
	assert_true(d.writes == 0 && isnan(d.full) && isnan(d.pre_reads) && isnan(d.hits));
}

static void test_pre_reads(void **state)
{
	struct top_reading before = new_reading("data", "dm-0"), now = good_after(before);
	struct top_device d;

	(void)state;
	/* read between two counters */
	now.counters[TOP_MEMBERS_READ_SECTORS] = 100;
	top_compute(&before, &now, &d);
	assert_true(d.pre_reads == 0);
	now.state = TOP_ARRAY_BUSY;
	top_compute(&before, &now, &d);
	assert_true(isnan(d.pre_reads));
	now.state = TOP_ARRAY_WELL;
	before.state = TOP_ARRAY_BUSY;
	top_compute(&before, &now, &d);
	assert_true(isnan(d.pre_reads));
}

static void assert_order(enum top_sort sort, bool reverse, const char *names)
{
	struct top_device d[3] = { bad(), failing(), good() };
	char have[256];

	top_sort(d, 3, sort, reverse);
	snprintf(have, sizeof(have), "%.4s %.4s %.4s", d[0].now.name, d[1].now.name, d[2].now.name);
	assert_string_equal(have, names);
}

/* What is not known comes last, in either direction. */
static void test_sort(void **state)
{
	enum top_sort sort;

	(void)state;
	assert_order(TOP_BY_NAME, false, "data data old");
	assert_order(TOP_BY_NAME, true, "old data data");
	assert_order(TOP_BY_READ, false, "data data old");
	assert_order(TOP_BY_WRITE, true, "data data old");
	assert_order(TOP_BY_STAGED, false, "old data data");
	assert_order(TOP_BY_STAGED, true, "data data old");
	assert_int_equal(top_sort_parse("Pre-Reads", &sort), 0);
	assert_int_equal(sort, TOP_BY_PRE_READS);
	assert_true(top_sort_parse("size", &sort) < 0);
	for (size_t i = 0; i < N_TOP_SORTS; i++) {
		assert_int_equal(top_sort_parse(top_sort_name(i), &sort), 0);
		assert_int_equal(sort, i);
	}
}

/* Who of the good and the bad one is first. */
static void test_sort_keys(void **state)
{
	static const struct {
		enum top_sort sort;
		const char *first;
	} wanted[] = {
		{ TOP_BY_READ, "data" }, { TOP_BY_WRITE, "data" }, { TOP_BY_FULL, "database-of-the-others" },
		{ TOP_BY_PRE_READS, "database-of-the-others" }, { TOP_BY_STAGED, "data" },
		{ TOP_BY_FLUSH, "data" }, { TOP_BY_HELD, "data" }, { TOP_BY_STREAMS, "data" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		struct top_device d[2] = { bad(), good() };

		top_sort(d, 2, wanted[i].sort, false);
		assert_string_equal(d[0].now.name, wanted[i].first);
		top_sort(d, 2, wanted[i].sort, true);
		assert_string_not_equal(d[0].now.name, wanted[i].first);
	}
}

static void test_json(void **state)
{
	struct top_view view = recorded();
	struct json_object *o = top_json(&view), *list, *d;

	(void)state;
	assert_true(json_object_object_get_ex(o, "devices", &list));
	assert_int_equal(json_object_array_length(list), 3);
	d = json_object_array_get_idx(list, 0);
	assert_string_equal(vector_text(d, "name"), "data");
	assert_int_equal(vector_int(d, "high_water_bytes"), 64 * MIB);
	assert_true(json_object_get_double(json_object_object_get(d, "full_stripe_ratio")) == view.devices[0].full);
	d = json_object_array_get_idx(list, 2);
	assert_string_equal(vector_text(d, "name"), "old");
	assert_true(json_object_object_get_ex(d, "flush_us", &d) && !d);
	assert_true(json_object_object_get_ex(o, "files", &list));
	assert_string_equal(vector_text(json_object_array_get_idx(list, 0), "device"), "data");
	assert_int_equal(vector_int(json_object_array_get_idx(list, 0), "times_held"), 41);
	assert_true(json_object_object_get_ex(o, "streams", &list));
	assert_string_equal(vector_text(json_object_array_get_idx(list, 1), "direction"), "strided");
	json_object_put(o);
	view.no_lists = "no";
	o = top_json(&view);
	assert_true(json_object_object_get_ex(o, "files", &list) && !list);
	assert_true(json_object_object_get_ex(o, "streams", &list) && !list);
	json_object_put(o);
}

/*
 * The screen
 */

static void assert_row(const struct screen *screen, const char *text)
{
	char *row = screen_row(screen, 0);

	assert_string_equal(row, text);
	free(row);
}

/* What others named must not command the terminal. */
static void test_screen(void **state)
{
	struct screen *screen = screen_new(1, 10);

	(void)state;
	screen_put(screen, 0, 0, 10, STYLE_PLAIN, "a\033[2Jb\n\x7f\xff\xc2\233c");
	assert_row(screen, "a?[2Jb????");
	screen_put(screen, 0, 0, 10, STYLE_PLAIN, "h\xc3\xa9\xe6\x97\xa5x\xcc\x81");
	assert_row(screen, "h\xc3\xa9\xe6\x97\xa5x?");
	assert_int_equal(screen_width("h\xc3\xa9\xe6\x97\xa5"), 4);
	/* half a wide character is none */
	screen_put(screen, 0, 8, 9, STYLE_PLAIN, "x\xe6\x97\xa5");
	assert_row(screen, "h\xc3\xa9\xe6\x97\xa5x?  x");
	screen_put(screen, 0, 0, 10, STYLE_PLAIN, "");
	screen_put_right(screen, 0, 2, 5, STYLE_PLAIN, "abc");
	assert_row(screen, "    abc");
	screen_put_right(screen, 0, 0, 3, STYLE_PLAIN, "abcdef");
	assert_row(screen, "abc abc");
	screen_put_end(screen, 0, 0, 10, STYLE_PLAIN, "/one/two/three");
	assert_row(screen, "...o/three");
	screen_put_end(screen, 0, 0, 10, STYLE_PLAIN, "/one/two/3");
	assert_row(screen, "/one/two/3");
	screen_put_end(screen, 0, 0, 10, STYLE_PLAIN, "/one/\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5xy");
	assert_row(screen, "...\xe6\x97\xa5\xe6\x97\xa5xy");
	screen_put(screen, 1, 0, 10, STYLE_PLAIN, "below");
	screen_put(screen, 0, 10, 10, STYLE_PLAIN, "beside");
	screen_put(screen, 0, 4000000000u, 10, STYLE_PLAIN, "far");
	assert_row(screen, "...\xe6\x97\xa5\xe6\x97\xa5xy");
	free(screen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_80x24),
		cmocka_unit_test(test_60x15),
		cmocka_unit_test(test_120x40),
		cmocka_unit_test(test_all_sizes),
		cmocka_unit_test(test_crowded),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_styles),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_no_rates),
		cmocka_unit_test(test_pre_reads),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_sort_keys),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_screen),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests_name("top", tests, NULL, NULL);
}

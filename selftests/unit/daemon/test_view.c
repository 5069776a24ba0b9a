// SPDX-License-Identifier: GPL-2.0
/* What is shown of files, streams and events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/view.h"

static void assert_text(char *text, const char *want)
{
	assert_non_null(text);
	assert_string_equal(text, want);
	free(text);
}

static void assert_json(struct json_object *o, const char *want)
{
	assert_string_equal(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
							   JSON_C_TO_STRING_NOSLASHESCAPE), want);
	json_object_put(o);
}

static void test_times(void **state)
{
	char text[VIEW_TEXT];

	(void)state;
	assert_string_equal(view_time(0, text), "0 us");
	assert_string_equal(view_time(999, text), "999 us");
	assert_string_equal(view_time(1000, text), "1.0 ms");
	assert_string_equal(view_time(12500, text), "12.5 ms");
	assert_string_equal(view_time(1000000, text), "1.0 s");
	assert_string_equal(view_time(3600000000, text), "3600.0 s");
}

static void test_whose(void **state)
{
	struct file_view file = { .inode = 12, .fs_major = 253, .fs_minor = 2 };

	(void)state;
	assert_text(view_whose(&file),
		    "inode 12 of 253:2 (path not known: no process has it open)");
	file.path = (char *)"/srv/a b";
	assert_text(view_whose(&file), "/srv/a b");
	file = (struct file_view) { .inode = 257, .fs_minor = 41 };
	assert_text(view_whose(&file), "inode 257 of 0:41 (path not known: its file system, as btrfs, does not show this number)");
	file = (struct file_view) { .tgid = 77 };
	assert_text(view_whose(&file), "process 77 (gone)");
	file.path = (char *)"fio";
	assert_text(view_whose(&file), "process 77 (fio)");
}

/* Invalid UTF-8, an escape that sets the title, and CSI in one character of two bytes. */
#define HOSTILE	"x\n\xff\x1b]0;\xc2\x9b\xc3\xa4"

static void test_hostile_names(void **state)
{
	struct event_view event = {
		.event = EVENT_THROTTLE_START, .disk = "dm-3",
		.file = { .inode = 12, .path = (char *)HOSTILE },
	};
	struct json_object *o = view_event_json(&event);
	const char *json = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);

	(void)state;
	assert_text(view_whose(&event.file), "x?\xef\xbf\xbd?]0;??\xc3\xa4");
	assert_text(view_event(&event), "dm-3: held for a flush: x?\xef\xbf\xbd?]0;??\xc3\xa4, 0 B outstanding, held 0 times since last told, longest wait 0 us");
	assert_non_null(strstr(json, "\"path\":\"x\\n\xef\xbf\xbd\\u001b]0;\xc2\x9b\xc3\xa4\","));
	json_object_put(o);

	event.file = (struct file_view) { .tgid = 77, .path = (char *)HOSTILE };
	o = view_file_json(&event.file);
	json = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);
	assert_text(view_whose(&event.file), "process 77 (x?\xef\xbf\xbd?]0;??\xc3\xa4)");
	assert_non_null(strstr(json, "\"command\":\"x\\n\xef\xbf\xbd\\u001b]0;\xc2\x9b\xc3\xa4\","));
	json_object_put(o);
}

static void test_file_json(void **state)
{
	struct file_view file = {
		.disk = "dm-3", .inode = 12, .generation = 4000000000, .fs_major = 253,
		.fs_minor = 2, .outstanding = 1048576, .staged = 4096, .held = true,
		.over_mark = true, .parked = 3,
		.parked_bytes = 12288, .times_held = 7, .wait_us = 5, .longest_wait_us = 60,
	};

	(void)state;
	assert_json(view_file_json(&file), "{\"disk\":\"dm-3\",\"inode\":12,\"generation\":4000000000,\"fs_major\":253,\"fs_minor\":2,\"path\":null,\"outstanding_bytes\":1048576,\"staged_bytes\":4096,\"held\":true,\"over_mark\":true,\"parked\":3,\"parked_bytes\":12288,\"times_held\":7,\"wait_us\":5,\"longest_wait_us\":60}");
	file = (struct file_view) { .disk = "dm-3", .tgid = 77, .path = (char *)"fio" };
	assert_json(view_file_json(&file), "{\"disk\":\"dm-3\",\"tgid\":77,\"command\":\"fio\",\"outstanding_bytes\":0,\"staged_bytes\":0,\"held\":false,\"over_mark\":false,\"parked\":0,\"parked_bytes\":0,\"times_held\":0,\"wait_us\":0,\"longest_wait_us\":0}");
}

static void test_stream_json(void **state)
{
	struct stream_view stream = {
		.disk = "dm-3", .position = 4096, .direction = STREAM_STRIDED, .stride = -65536,
		.run = 8192, .degree = 2, .trigger = 1, .ahead = 512, .read = 1024, .idle_ms = 9,
	};

	(void)state;
	assert_json(view_stream_json(&stream), "{\"disk\":\"dm-3\",\"position_bytes\":4096,\"direction\":\"strided\",\"stride_bytes\":-65536,\"run_bytes\":8192,\"degree\":2,\"trigger\":1,\"ahead_bytes\":512,\"read_bytes\":1024,\"idle_ms\":9}");
	assert_string_equal(view_direction(STREAM_FORWARD), "forward");
	assert_string_equal(view_direction(STREAM_BACKWARD), "backward");
	assert_string_equal(view_direction(17), "unknown");
}

static void test_events(void **state)
{
	struct event_view event = {
		.event = EVENT_THROTTLE_START, .disk = "dm-3",
		.file = {
			.disk = "dm-3", .tgid = 77, .outstanding = 2097152, .held = true,
			.times_held = 4, .longest_wait_us = 1500,
		},
	};

	(void)state;
	assert_text(view_event(&event), "dm-3: held for a flush: process 77 (gone), 2 MiB outstanding, held 4 times since last told, longest wait 1.5 ms");
	event.file.over_mark = true;
	assert_text(view_event(&event), "dm-3: held, over its mark: process 77 (gone), 2 MiB outstanding, held 4 times since last told, longest wait 1.5 ms");
	event.event = EVENT_THROTTLE_STOP;
	assert_text(view_event(&event), "dm-3: goes on: process 77 (gone), 2 MiB outstanding, held 4 times since last told, longest wait 1.5 ms");
	event = (struct event_view) {
		.event = EVENT_WRITE_ERROR, .disk = "dm-3", .sector = 1024, .sectors = 512,
		.dirty_sectors = 8, .error = 5,
	};
	assert_text(view_event(&event), "dm-3: cannot be written: sectors 1024 + 512, 8 of them dirty: Input/output error");
	assert_json(view_event_json(&event), "{\"event\":\"write-error\",\"disk\":\"dm-3\",\"sector\":1024,\"sectors\":512,\"dirty_sectors\":8,\"error\":5}");
	event.event = EVENT_WRITE_RECOVERED;
	assert_text(view_event(&event), "dm-3: all that could not be written has been");
	assert_json(view_event_json(&event), "{\"event\":\"write-recovered\",\"disk\":\"dm-3\"}");
	event = (struct event_view) {
		.event = EVENT_GEOMETRY, .disk = "dm-3", .stripe_bytes = 917504,
		.chunk_bytes = 131072, .data_members = 7,
	};
	assert_text(view_event(&event), "dm-3: stripes of 896 KiB: 7 data members x 128 KiB");
	assert_json(view_event_json(&event), "{\"event\":\"geometry\",\"disk\":\"dm-3\",\"stripe_bytes\":917504,\"chunk_bytes\":131072,\"data_members\":7}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_whose),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_file_json),
		cmocka_unit_test(test_stream_json),
		cmocka_unit_test(test_events),
	};

	return cmocka_run_group_tests_name("view", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/* Metrics: what the file says, that it is what Prometheus reads, and that it is whole. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "lib/macros.h"
#include "lib/metrics.h"
#include "src/metrics_file.h"

/* Two devices: one with all there is, and one that is suspended, of which little is known. */
static struct metrics_device *two_devices(void)
{
	struct metrics_device *d = calloc(2, sizeof(*d));
	struct metrics_watch *w = &d[0].watch;

	assert_non_null(d);
	d[0] = (struct metrics_device) { .name = "data", .block = "dm-3", .mode = "writebehind" };
	for (size_t i = 0; metrics_attribute(i); i++) {
		d[0].known[i] = true;
		d[0].values[i] = 1000 * (i + 1);
	}
	*w = (struct metrics_watch) {
		.recordings = 12,
		.lost = 3,
		.applied = 2,
		.taken_back = 1,
		.verdicts = { [HARM_UNHARMED] = 1, [HARM_HARMED] = 1 },
		.has_profile = true,
		.profile = {
			.read_rate = 1000, .write_rate = 1ull << 40, .peak_rate = 5000000000,
			.read_latency = { .n = 7, .p99 = 1500000 },
			.write_latency = { .n = 7, .p99 = 2000000000 },
			.sequential = 0.75, .random = 0.25, .unaligned = 0.5,
		},
		.pre_reads = 0.125,
		.has_plan = true,
		.plan = { .n = 2, .items = {
			{ .attribute = "stripe_bytes", .new = 262144 },
			{ .attribute = "cluster_bytes", .new = 1048576 },
		} },
	};
	d[1] = (struct metrics_device) {
		.name = "a\"b\\c\nd",
		.block = "dm-4",
		.watch = {
			.has_profile = true,
			.profile = { .write_rate = 7, .random = 1, .unaligned = -1 },
			.pre_reads = -1,
		},
	};
	return d;
}

static char *text_of(size_t n)
{
	struct metrics_device *devices = two_devices();
	const struct metrics m = { .version = "v1", .apply = true, .n = n, .devices = devices };
	char *text;

	assert_int_equal(metrics_render(&m, &text), 0);
	free(devices);
	return text;
}

/* The whole file; a name or a unit that changes breaks what people have built on it. */
static void test_golden(void **state)
{
	struct bytes golden = read_fixture("daemon/metrics.prom");
	char *text = text_of(2);

	(void)state;
	golden.data[golden.len] = '\0';
	assert_string_equal(text, (char *)golden.data);
	free(golden.data);
	free(text);
}

static void test_labels_are_escaped(void **state)
{
	char *text = text_of(2);

	(void)state;
	assert_non_null(strstr(text, "\nfullstripe_recordings_total{device=\"a\\\"b\\\\c\\nd\"} 0\n"));
	free(text);
}

/* Return: the length of a metric's or a label's name. */
static size_t name_length(const char *text)
{
	size_t len = 0;

	while (islower((unsigned char)text[len]) || isdigit((unsigned char)text[len]) ||
	       text[len] == '_')
		len++;
	return len;
}

/* Behind the labels, if there are any. */
static const char *skip_labels(const char *at)
{
	if (*at != '{')
		return at;
	do {
		at++;
		at += name_length(at);
		assert_true(strncmp(at, "=\"", 2) == 0);
		for (at += 2; *at != '"'; at++) {
			assert_true(*at != '\0' && *at != '\n');
			if (*at == '\\')
				assert_true(strchr("\\\"n", *++at) && *at != '\0');
		}
		at++;
	} while (*at == ',');
	assert_int_equal(*at, '}');
	return at + 1;
}

/* HELP, TYPE and then all samples of that name, once each; counters, and only they, are totals. */
static void check_family(char **line, char *seen, size_t room)
{
	char name[96], type[16], *end;
	size_t len;

	assert_int_equal(sscanf(*line, "# HELP %95s", name), 1);
	assert_null(strchr(*line, '\\'));
	assert_true((*line)[strlen(*line) - 1] == '.');
	len = strlen(name);
	assert_int_equal(name_length(name), len);
	assert_true(strncmp(name, "fullstripe_", 11) == 0);
	strcat(name, "\n");
	assert_null(strstr(seen, name));
	assert_true(strlen(seen) + len + 2 < room);
	strcat(seen, name);
	name[len] = '\0';

	*line = strtok(NULL, "\n");
	assert_true(strncmp(*line, "# TYPE ", 7) == 0 && strncmp(*line + 7, name, len) == 0);
	assert_int_equal(sscanf(*line + 7 + len, " %15s", type), 1);
	assert_true((strcmp(type, "counter") == 0) ==
		    (len > 6 && strcmp(name + len - 6, "_total") == 0));
	assert_true(strcmp(type, "counter") == 0 || strcmp(type, "gauge") == 0);

	while ((*line = strtok(NULL, "\n")) && **line != '#') {
		const char *at;

		assert_int_equal(name_length(*line), len);
		assert_true(strncmp(*line, name, len) == 0);
		at = skip_labels(*line + len);
		assert_int_equal(*at, ' ');
		strtod(at + 1, &end);
		assert_true(end > at + 1 && *end == '\0');
	}
}

static void test_format(void **state)
{
	(void)state;
	for (size_t n = 0; n <= 2; n++) {
		char *text = text_of(n), *line, seen[8192] = "\n";

		assert_true(text[strlen(text) - 1] == '\n');
		line = strtok(text, "\n");
		while (line)
			check_family(&line, seen, sizeof(seen));
		free(text);
	}
}

static struct metrics_device *read_device(void)
{
	static const struct metrics_watch watch = { .recordings = 7 };
	struct metrics_device *d = calloc(1, sizeof(*d));

	assert_int_equal(metrics_read_device(root, "dm-0", &watch, d), 0);
	return d;
}

static void test_read_device(void **state)
{
	struct metrics_device *d;
	char file[128];

	(void)state;
	assert_int_equal(metrics_read_device(root, "dm-0", &(struct metrics_watch) { .lost = 0 },
					     &(struct metrics_device) { .mode = "" }), -ENOENT);
	put("class/block/dm-0/dm/name", "data");
	d = read_device();
	assert_string_equal(d->name, "data");
	assert_string_equal(d->block, "dm-0");
	assert_string_equal(d->mode, "");
	for (size_t i = 0; metrics_attribute(i); i++)
		assert_false(d->known[i]);
	free(d);

	put("class/block/dm-0/fullstripe/mode", "writethrough");
	for (size_t i = 0; metrics_attribute(i); i++) {
		snprintf(file, sizeof(file), "class/block/dm-0/fullstripe/%s", metrics_attribute(i));
		put(file, "42");
	}
	d = read_device();
	assert_string_equal(d->mode, "writethrough");
	for (size_t i = 0; metrics_attribute(i); i++)
		assert_true(d->known[i] && d->values[i] == 42);
	assert_int_equal(d->watch.recordings, 7);
	free(d);
}

static void test_write(void **state)
{
	const struct metrics m = { .version = "v2" };
	char path[128], text[128] = "";
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/a.prom", root);
	put("a.prom", "what was there before");
	assert_int_equal(metrics_write(path, &m), 0);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	assert_true(strncmp(text, "# HELP fullstripe_daemon_info", 29) == 0);
	metrics_remove(path);
	assert_int_equal(access(path, F_OK), -1);
	snprintf(path, sizeof(path), "%s/no/a.prom", root);
	assert_int_equal(metrics_write(path, &m), -ENOENT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_labels_are_escaped),
		cmocka_unit_test(test_format),
		in_root(test_read_device),
		in_root(test_write),
	};

	return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/* Charts: numbers that are known at places that are known, and markup that holds whatever it is given. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "lib/blktrace_format.h"
#include "lib/chart.h"
#include "lib/macros.h"
#include "lib/markup.h"
#include "lib/plot.h"

#define KIB	1024ull
#define MS	1000000ull

/* Whether it is one well-formed element. */
static void check_markup(const char *text)
{
	static const GMarkupParser parser;
	GMarkupParseContext *context = g_markup_parse_context_new(&parser, 0, NULL, NULL);
	GError *error = NULL;

	if (!g_markup_parse_context_parse(context, text, -1, &error) ||
	    !g_markup_parse_context_end_parse(context, &error))
		fail_msg("%s: %s", error->message, text);
	g_markup_parse_context_free(context);
}

static void check_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in %s", part, text);
}

static unsigned int occurrences(const char *text, const char *part)
{
	unsigned int n = 0;

	for (; (text = strstr(text, part)); text++)
		n++;
	return n;
}

/* What @make makes of a chart; freed by the caller. */
static char *text_of(const struct chart *c, void (*make)(GString *out, const struct chart *c))
{
	GString *out = g_string_new(NULL);

	make(out, c);
	check_markup(out->str);
	return g_string_free(out, FALSE);
}

static void test_format(void **state)
{
	static const struct {
		enum chart_unit unit;
		double value;
		const char *text;
	} cases[] = {
		{ CHART_NUMBER, 0, "0" },
		{ CHART_NUMBER, 12345678, "12345678" },
		{ CHART_NUMBER, 1.5, "1.50" },
		{ CHART_BYTES, 0, "0 B" },
		{ CHART_BYTES, 4096, "4 KiB" },
		{ CHART_BYTES, 1048575, "1024 KiB" },
		{ CHART_BYTES, 0x1p60, "1 EiB" },
		{ CHART_RATE, 200 * 0x1p20, "200 MiB/s" },
		{ CHART_SECONDS, 0, "0 ns" },
		{ CHART_SECONDS, 7.93e-6, "7.93 µs" },
		{ CHART_SECONDS, 0.2, "200 ms" },
		{ CHART_SECONDS, 3600, "3600 s" },
		{ CHART_SHARE, 0.03125, "3.12 %" },
		{ CHART_SHARE, 1, "100 %" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = chart_format(cases[i].unit, cases[i].value);

		assert_string_equal(text, cases[i].text);
		g_free(text);
	}
}

static void test_hostile_text(void **state)
{
	char *text = markup_text("a<script>\x01\x1b[31m\xff&\"'\n\x7f\xc2\x9b");
	GString *out = g_string_new(NULL);

	(void)state;
	assert_string_equal(text, "a<script>??[31m\xef\xbf\xbd&\"'????");
	markup_add(out, "<p title=\"%s\">%s</p>", text, text);
	check_markup(out->str);
	assert_null(strstr(out->str, "<script>"));
	g_string_free(out, TRUE);
	g_free(text);
}

/* Three seconds: 0, nothing known, 100. The picture is 644 wide and 226 high within its margins. */
static void test_line(void **state)
{
	struct chart *c = chart_new("A & B", CHART_NUMBER);
	struct chart_line line = { .label = g_strdup("<x>"), .width = 1, .n = 3 };
	double *values = chart_add_line(c, &line);
	char *svg, *table;

	(void)state;
	values[0] = 0;
	values[2] = 100;
	svg = text_of(c, chart_svg);
	check_has(svg, "d=\"M169.3 262.0h0M598.7 36.0h0\"");
	check_has(svg, "aria-label=\"A &amp; B; &lt;x&gt;: up to 100\"");
	check_has(svg, "<title>0 ns\n&lt;x&gt;: 0</title>");
	check_has(svg, "<title>1 s</title>");
	check_has(svg, "<title>2 s\n&lt;x&gt;: 100</title>");
	assert_int_equal(occurrences(svg, "class=\"hit\""), 3);
	check_has(svg, ">20</text>");
	check_has(svg, ">100</text>");
	assert_null(strstr(svg, ">120</text>"));
	assert_null(strstr(svg, "-0"));
	table = text_of(c, chart_table);
	check_has(table, "<tr><th scope=\"row\">1 s</th><td>–</td></tr>");
	check_has(table, "<tr><th scope=\"row\">2 s</th><td>100</td></tr>");
	g_free(table);
	g_free(svg);
	chart_free(c);
}

/* Of a line with narrower steps the table has the mean of those that are known. */
static void test_different_steps(void **state)
{
	struct chart *c = chart_new("x", CHART_NUMBER);
	double *wide = chart_add_line(c, &(struct chart_line) { .label = g_strdup("w"), .width = 2, .n = 2 });
	double *narrow = chart_add_line(c, &(struct chart_line) { .label = g_strdup("n"), .width = 0.5, .n = 6 });
	char *table;

	(void)state;
	wide[0] = 1;
	wide[1] = 2;
	narrow[0] = 10;
	narrow[2] = 20;
	narrow[5] = 7;
	table = text_of(c, chart_table);
	check_has(table, "<th scope=\"row\">0 ns</th><td>1</td><td>15</td>");
	check_has(table, "<th scope=\"row\">2 s</th><td>2</td><td>7</td>");
	g_free(table);
	chart_free(c);
}

/* Steps of sizes are powers of two, and a quarter has two digits. */
static void test_binary_axis(void **state)
{
	struct chart *c = chart_new("x", CHART_BYTES);
	double *values = chart_add_line(c, &(struct chart_line) { .label = g_strdup("l"), .width = 1, .n = 1 });
	char *svg;

	(void)state;
	values[0] = 0x1p30;
	svg = text_of(c, chart_svg);
	check_has(svg, ">0.25</text>");
	check_has(svg, ">1.00</text>");
	check_has(svg, ">GiB</text>");
	g_free(svg);
	chart_free(c);
}

static void test_log_axis(void **state)
{
	struct chart *c = chart_new("x", CHART_SECONDS);
	double *values = chart_add_line(c, &(struct chart_line) { .label = g_strdup("l"), .width = 1, .n = 2 });
	char *svg;

	(void)state;
	c->log = true;
	values[0] = 20e-6;
	values[1] = 10e-3;
	svg = text_of(c, chart_svg);
	/* From 10 us to 10 ms: three decades */
	check_has(svg, ">0.01</text>");
	check_has(svg, ">0.1</text>");
	check_has(svg, ">10</text>");
	check_has(svg, "M223.0 239.3h0L545.0 36.0\"");
	g_free(svg);
	chart_free(c);
}

static struct chart *draw(const char *kind, const struct series *s)
{
	const struct plot_kind *k = plot_kind_find(kind);

	assert_non_null(k);
	return k->draw(k, &(struct plot_subject) { "it", s }, 1);
}

/* Two writes of a row each, one above the other, and a read over both of them. */
static void test_seek_plot(void **state)
{
	struct series *s = new_series(0, 64 * KIB);
	struct chart *c;
	char *svg, *table;

	(void)state;
	add_event(s, TRACE_QUEUE, 0, BLKTRACE_WRITE, 1600, 4 * KIB);
	add_event(s, TRACE_QUEUE, 512, BLKTRACE_WRITE, 1608, 4 * KIB);
	add_event(s, TRACE_QUEUE, 2047, BLKTRACE_READ, 1600, 8 * KIB);
	series_finish(s);
	c = draw("seek", s);
	svg = text_of(c, chart_svg);
	/* Four columns; the second row is drawn above the first */
	check_has(svg, "translate(62 36) scale(161.00000 113.00000)");
	check_has(svg, "<path class=\"c0 d4\" d=\"M0 0m3 1h1m-1 -1h1\"/>");
	check_has(svg, "<path class=\"c1 d4\" d=\"M0 0m0 1h1m0 -1h1\"/>");
	check_has(svg, "800 KiB to 804 KiB\nread: 0 B\nwritten: 4 KiB");
	table = text_of(c, chart_table);
	check_has(table, "<tr><th scope=\"row\">804 KiB</th><td>808 KiB</td><td>4 KiB</td><td>4 KiB</td></tr>");
	g_free(table);
	g_free(svg);
	chart_free(c);
	series_free(s);
}

/* 256 KiB in one second at a queue depth of 1, half of it in whole stripes. */
static void test_kinds(void **state)
{
	static const struct {
		const char *kind, *row;
	} cases[] = {
		{ "tput", "<td>256 KiB/s</td>" },
		{ "IOPS", "<td>9</td>" },
		{ "Q2C", "<td>10.49 ms</td><td>10.49 ms</td>" },
		{ "queue_depth", "<td>0.090</td><td>1</td>" },
		{ "size", "<tr><th scope=\"row\">16 KiB</th><td>88.89 %</td></tr>" },
		{ "size", "<tr><th scope=\"row\">128 KiB</th><td>11.11 %</td></tr>" },
		{ "seek-distance", "<tr><th scope=\"row\">0</th><td>87.50 %</td></tr>" },
		{ "seek-distance", "<tr><th scope=\"row\">−64 KiB</th><td>12.50 %</td></tr>" },
		{ "seeks", "<td>1</td>" },
		{ "stripe-fill", "<td>40 %</td><td>20 %</td>" },
	};
	struct series *s = new_series(0, 64 * KIB);

	(void)state;
	for (unsigned int i = 0; i < 8; i++) {
		add_event(s, TRACE_QUEUE, i * 100 * MS, BLKTRACE_WRITE, i * 32, 16 * KIB);
		add_event(s, TRACE_COMPLETE, (i * 100 + 10) * MS, BLKTRACE_WRITE, i * 32, 16 * KIB);
	}
	add_event(s, TRACE_QUEUE, 900 * MS, BLKTRACE_WRITE, 128, 128 * KIB);
	add_event(s, TRACE_COMPLETE, 910 * MS, BLKTRACE_WRITE, 128, 128 * KIB);
	while (s->width < 1000 * MS)
		add_event(s, TRACE_NOTE_MESSAGE, s->width * SERIES_BUCKETS, 0, 0, 0);
	series_finish(s);
	/* The first bucket has everything in it: as if it were a second */
	s->width = 1000 * MS;
	s->end = 1000 * MS;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct chart *c = draw(cases[i].kind, s);
		char *table;

		assert_non_null(c);
		table = text_of(c, chart_table);
		check_has(table, cases[i].row);
		g_free(table);
		chart_free(c);
	}
	assert_null(draw("d2c", s));
	assert_null(draw("pre-reads", s));
	assert_null(plot_kind_find("nothing"));
	series_free(s);
}

/* Nothing was recorded: no kind draws anything, and none fails. */
static void test_empty(void **state)
{
	struct series *s = new_series(0, 64 * KIB);

	(void)state;
	series_finish(s);
	for (unsigned int i = 0; plot_kind_at(i); i++) {
		assert_null(draw(plot_kind_at(i)->name, s));
		assert_non_null(plot_kind_at(i)->missing);
	}
	series_free(s);
}

/* Real ones, one above the other; and as files, which have their own style. */
static void test_recordings(void **state)
{
	struct series *before = new_series(0, 64 * KIB), *after = new_series(0, 64 * KIB);
	const struct plot_subject subjects[] = { { "before <1>", before }, { "after", after } };
	unsigned int drawn = 0;

	(void)state;
	add_recorded("linux-6.12-v1/md0", before);
	add_recorded("linux-7.2-v2/md0", after);
	for (unsigned int i = 0; plot_kind_at(i); i++) {
		const struct plot_kind *kind = plot_kind_at(i);
		struct chart *c = kind->draw(kind, subjects, ARRAY_SIZE(subjects));
		GString *file = g_string_new(NULL);
		char *text;

		if (!c) {
			assert_string_equal(kind->name, "d2c");
			g_string_free(file, TRUE);
			continue;
		}
		drawn++;
		g_free(text_of(c, chart_svg));
		g_free(text_of(c, chart_table));
		text = text_of(c, chart_legend);
		if (!kind->each)
			check_has(text, "before &lt;1&gt;");
		g_free(text);
		chart_svg_file(file, c, ".chart { }");
		check_markup(file->str);
		check_has(file->str, "<style>\n.chart { }</style>");
		assert_null(strstr(file->str, "nan"));
		assert_null(strstr(file->str, "inf"));
		g_string_free(file, TRUE);
		chart_free(c);
	}
	assert_int_equal(drawn, 10);
	series_free(before);
	series_free(after);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_hostile_text),
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_different_steps),
		cmocka_unit_test(test_binary_axis),
		cmocka_unit_test(test_log_axis),
		cmocka_unit_test(test_seek_plot),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_recordings),
	};

	return cmocka_run_group_tests_name("chart", tests, NULL, NULL);
}

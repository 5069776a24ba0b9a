// SPDX-License-Identifier: GPL-2.0
/* fullstripectl report: all that is known of recorded workloads, as one page. */
#include <math.h>
#include <string.h>

#include "ctl.h"
#include "embedded.h"
#include "lib/describe.h"
#include "lib/exit_codes.h"
#include "lib/macros.h"
#include "lib/markup.h"
#include "lib/plot.h"
#include "lib/units.h"
#include "src/cleanup.h"
#include "src/log.h"
#include "src/save.h"
#include "src/store.h"
#include "subjects.h"

DEFINE_CLEANUP(struct subjects *, subjects_free)

struct options {
	struct subject_options subjects;
	const char *output;
};

enum {
	OPTION_STATE_DIR = 256,
};

static const struct argp_option option_list[] = {
	{ "state-dir", OPTION_STATE_DIR, "DIR", 0, "Where what is known of devices is kept", 0 },
	{ "output", 'o', "FILE", 0, "The page; - is standard output", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		o->subjects.state_folder = store_default_path();
		state->child_inputs[0] = &o->subjects;
		return 0;
	case OPTION_STATE_DIR:
		o->subjects.state_folder = arg;
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->output)
			argp_error(state, "--output is missing");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
	.options = option_list,
	.parser = parse_option,
	.args_doc = "[--label NAME] FILE...\n--from DEV [--seconds N]",
	.doc = "Write a page about blktrace recordings, or about DEV. FILEs are merged by time; those behind a --label are a recording of their own: two are compared.\vExit status: 0 done, 1 failed, 2 wrong usage, 3 a file is damaged (what could be read was used), 4 nothing was recorded.",
	.children = (const struct argp_child[]) { { &subjects_argp, 0, NULL, 0 }, { 0 } },
};

/* What a part of the page is made from. */
struct page {
	const struct subjects *subjects;
	const struct array_options *array;
};

/* Begin a table, of which the columns from @numbers on are numbers. */
static void begin_table(GString *out, unsigned int numbers, const char *const *names)
{
	g_string_append(out, "<div class=\"scroll all\" tabindex=\"0\"><table>\n<thead><tr>");
	for (unsigned int i = 0; names[i]; i++)
		markup_add(out, "<th scope=\"col\" class=\"%s\">%s</th>", i < numbers ? "t" : "n",
			   names[i]);
	g_string_append(out, "</tr></thead>\n<tbody>\n");
}

static void end_table(GString *out)
{
	g_string_append(out, "</tbody></table></div>\n");
}

/*
 * Summary
 */

/* A number that recordings are compared by. */
struct measure {
	const char *name;
	enum chart_unit unit;
	int better;		/* 1: more is better, -1: less is; 0: neither */
	double (*value)(const struct subject *s);
	bool if_any;		/* it is not told that none has it */
};

static double known_if(bool known, double value)
{
	return known ? value : NAN;
}

static double seconds(const struct subject *s)
{
	return s->profile.duration / 1e9;
}

static double n_reads(const struct subject *s)
{
	return s->profile.reads;
}

static double n_writes(const struct subject *s)
{
	return s->profile.writes;
}

static double average_rate(const struct subject *s)
{
	return s->profile.average_rate;
}

static double peak_rate(const struct subject *s)
{
	return s->profile.peak_rate;
}

static double iops(const struct subject *s)
{
	return known_if(s->profile.duration > 0, s->profile.completed / seconds(s));
}

static double size_average(const struct subject *s)
{
	return known_if(s->profile.ios > 0, s->profile.size_average);
}

static double read_p99(const struct subject *s)
{
	return known_if(s->profile.read_latency.n > 0, s->profile.read_latency.p99 / 1e9);
}

static double write_p50(const struct subject *s)
{
	return known_if(s->profile.write_latency.n > 0, s->profile.write_latency.p50 / 1e9);
}

static double write_p99(const struct subject *s)
{
	return known_if(s->profile.write_latency.n > 0, s->profile.write_latency.p99 / 1e9);
}

static double flush_p99(const struct subject *s)
{
	return known_if(s->profile.flush_latency.n > 0, s->profile.flush_latency.p99 / 1e9);
}

static double sequential(const struct subject *s)
{
	return known_if(s->profile.ios > 1 && s->profile.sequential >= 0, s->profile.sequential);
}

static double stripe_fill(const struct subject *s)
{
	uint64_t written = 0, touched = 0;

	for (unsigned int i = 0; i < SERIES_BUCKETS; i++) {
		written += s->series->buckets[i].written;
		touched += s->series->buckets[i].touched;
	}
	return known_if(touched > 0, (double)written / touched / s->series->options.stripe_bytes);
}

static double unaligned(const struct subject *s)
{
	return known_if(s->profile.unaligned >= 0 && s->profile.writes > 0, s->profile.unaligned);
}

static double pre_reads(const struct subject *s)
{
	return known_if(!profile_is_counted(&s->profile), s->profile.rmw + s->profile.rcw);
}

static const struct measure measures[] = {
	{ "Duration", CHART_SECONDS, 0, seconds, false },
	{ "Reads", CHART_NUMBER, 0, n_reads, false },
	{ "Writes", CHART_NUMBER, 0, n_writes, false },
	{ "Bandwidth, average", CHART_RATE, 1, average_rate, false },
	{ "Bandwidth, best second", CHART_RATE, 1, peak_rate, false },
	{ "IOPS, average", CHART_NUMBER, 0, iops, false },
	{ "I/O size, average", CHART_BYTES, 0, size_average, false },
	{ "Latency of reads, p99", CHART_SECONDS, -1, read_p99, false },
	{ "Latency of writes, p50", CHART_SECONDS, -1, write_p50, false },
	{ "Latency of writes, p99", CHART_SECONDS, -1, write_p99, false },
	{ "Latency of flushes, p99", CHART_SECONDS, -1, flush_p99, false },
	{ "Sequential I/Os", CHART_SHARE, 0, sequential, false },
	{ "Stripe fill of the writes", CHART_SHARE, 1, stripe_fill, false },
	{ "Unaligned writes", CHART_SHARE, -1, unaligned, false },
	{ "Rows read before writing", CHART_NUMBER, -1, pre_reads, true },
};

static void add_change(GString *out, const struct measure *m, double before, double after)
{
	bool more = after > before;
	const char *class = m->better == 0 || before == after ? "" :
			    more == (m->better > 0) ? " good" : " bad";
	const char *arrow = before == after ? "=" : more ? "▲" : "▼";

	if (isnan(before) || isnan(after) || before <= 0)
		g_string_append(out, "<td class=\"n\">–</td>");
	else
		markup_add(out, "<td class=\"n%s\">%s × %.3g</td>", class, arrow, after / before);
}

static void add_measure(GString *out, const struct subjects *s, const struct measure *m)
{
	double values[SUBJECTS_MAX];
	bool any = false;

	for (unsigned int i = 0; i < s->n; i++) {
		values[i] = m->value(&s->list[i]);
		any |= !isnan(values[i]) && (values[i] > 0 || !m->if_any);
	}
	if (!any)
		return;
	markup_add(out, "<tr><th scope=\"row\">%s</th>", m->name);
	for (unsigned int i = 0; i < s->n; i++) {
		char *text = isnan(values[i]) ? g_strdup("–") : chart_format(m->unit, values[i]);

		markup_add(out, "<td class=\"n\">%s</td>", text);
		g_free(text);
	}
	if (s->n == 2)
		add_change(out, m, values[0], values[1]);
	g_string_append(out, "</tr>\n");
}

static void add_summary(GString *out, const struct page *page)
{
	const struct subjects *s = page->subjects;
	const char *names[SUBJECTS_MAX + 3] = { NULL };

	names[0] = "Measure";
	for (unsigned int i = 0; i < s->n; i++)
		names[i + 1] = s->list[i].label;
	if (s->n == 2)
		names[3] = "Change";
	begin_table(out, 1, names);
	for (size_t i = 0; i < ARRAY_SIZE(measures); i++)
		add_measure(out, s, &measures[i]);
	end_table(out);
	if (s->kept)
		g_string_append(out, "<p>Of this workload its profile was kept, and not its I/Os: there are no pictures. fullstripectl report --from DEV --seconds N records it anew.</p>\n");
	if (s->lost > 0)
		markup_add(out, "<p class=\"bad\">%llu records had no room when this was recorded: all numbers are too low.</p>\n",
			   (unsigned long long)s->lost);
	if (!s->sound)
		g_string_append(out, "<p class=\"bad\">A file is damaged or no recording: what could be read of it is here.</p>\n");
}

/*
 * Pictures
 */

static void add_figure(GString *out, const struct plot_kind *kind, const struct plot_subject *subjects,
		       unsigned int n, const char *caption)
{
	struct chart *c = kind->draw(kind, subjects, n);

	if (!c) {
		markup_add(out, "<p class=\"none\">None%s%s: %s.</p>\n", caption ? " of " : "",
			   caption ?: "", kind->missing);
		return;
	}
	g_string_append(out, "<figure>\n");
	if (caption)
		markup_add(out, "<figcaption>%s</figcaption>\n", caption);
	chart_legend(out, c);
	chart_svg(out, c);
	g_string_append(out, "<details><summary>The numbers</summary><div class=\"scroll\" tabindex=\"0\">\n");
	chart_table(out, c);
	g_string_append(out, "</div></details>\n</figure>\n");
	chart_free(c);
}

static void add_plot(GString *out, const struct page *page, const char *name)
{
	const struct plot_kind *kind = plot_kind_find(name);
	const struct subjects *s = page->subjects;

	if (!kind->each) {
		add_figure(out, kind, s->plots, s->n, NULL);
		return;
	}
	g_string_append(out, "<div class=\"pair\">\n");
	for (unsigned int i = 0; i < s->n; i++)
		add_figure(out, kind, &s->plots[i], 1, s->n > 1 ? s->list[i].label : NULL);
	g_string_append(out, "</div>\n");
}

/*
 * Tables
 */

/* Begin what is of one of several recordings. */
static void begin_of(GString *out, const struct subjects *s, unsigned int i)
{
	g_string_append(out, "<div>\n");
	if (s->n > 1)
		markup_add(out, "<h3>%s</h3>\n", s->list[i].label);
}

static void add_stream(GString *out, const struct stream_head *h, const struct subject *s)
{
	char first[UNITS_TEXT], bytes[UNITS_TEXT], average[UNITS_TEXT];
	uint64_t origin = s->series->options.origin;
	char *began = chart_format(CHART_SECONDS, (MAX(h->began, origin) - origin) / 1e9);
	char *ended = chart_format(CHART_SECONDS, (MAX(h->last_used, origin) - origin) / 1e9);

	markup_add(out, "<tr><th scope=\"row\">%s</th><td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">%llu</td><td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td></tr>\n",
		   h->kind == STREAM_WRITE ? "write" : "read",
		   units_format_size(h->first * SECTOR, first),
		   units_format_size(h->sectors * SECTOR, bytes), (unsigned long long)h->steps + 1,
		   units_format_size(h->sectors * SECTOR / (h->steps + 1), average), began, ended);
	g_free(began);
	g_free(ended);
}

static void add_streams(GString *out, const struct page *page)
{
	static const char *const columns[] = {
		"Stream", "From", "Bytes", "I/Os", "Each", "Began", "Ended", NULL,
	};
	const struct subjects *s = page->subjects;

	g_string_append(out, "<div class=\"pair\">\n");
	for (unsigned int i = 0; i < s->n; i++) {
		const struct subject *subject = &s->list[i];

		begin_of(out, s, i);
		if (subject->n_streams == 0) {
			g_string_append(out, "<p class=\"none\">None: no four I/Os went on with each other.</p></div>\n");
			continue;
		}
		begin_table(out, 1, columns);
		for (unsigned int k = 0; k < subject->n_streams; k++)
			add_stream(out, &subject->streams[k], subject);
		end_table(out);
		g_string_append(out, "</div>\n");
	}
	g_string_append(out, "</div>\n");
}

static void add_characteristic(void *out, const char *name, const char *value)
{
	markup_add(out, "<tr><th scope=\"row\">%s</th><td>%s</td></tr>\n", name, value);
}

static void add_profile(GString *out, const struct page *page)
{
	static const char *const columns[] = { "Characteristic", "Value", NULL };
	const struct subjects *s = page->subjects;

	g_string_append(out, "<div class=\"pair\">\n");
	for (unsigned int i = 0; i < s->n; i++) {
		begin_of(out, s, i);
		begin_table(out, 2, columns);
		describe_profile(&s->list[i].profile, add_characteristic, out);
		end_table(out);
		g_string_append(out, "</div>\n");
	}
	g_string_append(out, "</div>\n");
}

static void add_plan_items(GString *out, const struct plan *plan)
{
	static const char *const columns[] = { "Attribute", "Value", "Scenario", "Reason", NULL };

	begin_table(out, 4, columns);
	for (size_t i = 0; i < plan->n; i++) {
		const struct plan_item *item = &plan->items[i];
		char size[UNITS_TEXT];

		markup_add(out, "<tr><th scope=\"row\">%s</th><td>%llu (%s)</td><td>%s</td><td>%s</td></tr>\n",
			   item->attribute, (unsigned long long)item->new,
			   units_format_size(item->new, size), rule_scenario_name(item->scenario),
			   item->reason);
	}
	end_table(out);
	g_string_append(out, "<h4>The sum</h4>\n<ol>\n");
	for (size_t i = 0; i < plan->sum.n; i++)
		markup_add(out, "<li>%s</li>\n", plan->sum.lines[i]);
	g_string_append(out, "</ol>\n");
}

static void add_plan(GString *out, const struct page *page)
{
	const struct subjects *s = page->subjects;
	const struct array_options *a = page->array;

	if (s->stripe_bytes == 0) {
		g_string_append(out, "<p class=\"none\">None: which array this is of was not said (--from, or --level, --members, --chunk).</p>\n");
		return;
	}
	for (unsigned int i = 0; i < s->n; i++) {
		const struct rule_settings current = { .stripe_bytes = s->stripe_bytes };
		struct plan plan;

		begin_of(out, s, i);
		if (rule_plan(&s->list[i].profile, &a->array, a->limits, a->n_limits, &current,
			      &plan) < 0)
			markup_add(out, "<p class=\"none\">None: %llu reads and writes, %llu of them completed, are too few to decide from (at least %d).</p>\n",
				   (unsigned long long)s->list[i].profile.ios,
				   (unsigned long long)s->list[i].profile.completed, RULE_LEAST_IOS);
		else
			add_plan_items(out, &plan);
		g_string_append(out, "</div>\n");
	}
}

/*
 * The page
 */

static void add_title(GString *out, const struct page *page)
{
	const struct subjects *s = page->subjects;

	for (unsigned int i = 0; i < s->n; i++)
		markup_add(out, "%s%s", i == 0 ? "" : i + 1 < s->n ? ", " : " and ",
			   s->list[i].label);
}

static void add_style(GString *out, const struct page *page)
{
	(void)page;
	g_string_append_len(out, _binary_chart_css_start, EMBEDDED_LEN(chart_css));
}

static void add_version(GString *out, const struct page *page)
{
	(void)page;
	markup_add(out, "%s", FULLSTRIPE_VERSION);
}

static const struct part {
	const char *name;
	void (*add)(GString *out, const struct page *page);
} parts[] = {
	{ "title", add_title },
	{ "style", add_style },
	{ "version", add_version },
	{ "summary", add_summary },
	{ "streams", add_streams },
	{ "profile", add_profile },
	{ "plan", add_plan },
};

static void add_part(GString *out, const struct page *page, const char *name)
{
	if (g_str_has_prefix(name, "plot ")) {
		add_plot(out, page, name + strlen("plot "));
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (strcmp(name, parts[i].name) == 0)
			parts[i].add(out, page);
}

/* From "@{if recorded}" to "@{end}" is what only a recording has. */
static GString *make_page(const struct page *page)
{
	char *html = EMBEDDED_TEXT(report_html), *at = html, *name;
	GString *out = g_string_new(NULL);
	bool skips = false;

	while ((name = strstr(at, "@{"))) {
		char *end = strchr(name, '}');

		if (!skips)
			g_string_append_len(out, at, name - at);
		*end = '\0';
		if (strcmp(name + 2, "end") == 0)
			skips = false;
		else if (strcmp(name + 2, "if recorded") == 0)
			skips = page->subjects->kept;
		else if (!skips)
			add_part(out, page, name + 2);
		at = end + 1;
	}
	g_string_append(out, at);
	g_free(html);
	return out;
}

static int write_page(const char *path, const GString *html)
{
	_cleanup_(save_end) struct save save;
	int r = save_begin(&save, path);

	if (r == 0)
		r = save_write(&save, html->str, html->len);
	return r < 0 ? r : save_commit(&save);
}

int verb_report(int argc, char **argv)
{
	_cleanup_(subjects_freep) struct subjects *subjects = NULL;
	struct options o = { .output = NULL };
	GString *html;
	int r, code;

	argp_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, &o);
	code = subjects_read(&o.subjects, &subjects);
	if (!subjects)
		return code;
	html = make_page(&(struct page) { .subjects = subjects, .array = &o.subjects.array });
	r = write_page(o.output, html);
	g_string_free(html, TRUE);
	return r < 0 ? EXIT_FAILED : code;
}

// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <string.h>

#include "macros.h"
#include "plot.h"
#include "units.h"

static const char * const kind_names[] = { "read", "write" };

/* One line of a chart, of one subject: which one it is decides its colour and stroke. */
struct variant {
	const char *name;	/* NULL: the kind alone says it */
	bool has_kinds;
	bool even_zero;		/* there is a line even if it never is more */
	unsigned int number;
};

/*
 * Of a single subject reads and writes have colours; of several each has its own,
 * and reads and writes have strokes.
 */
static struct chart_line line_of(const struct plot_subject *subject, unsigned int n,
				 unsigned int index, const struct variant *v, unsigned int kind)
{
	struct chart_line line = {
		.width = subject->series->width / 1e9,
		.n = series_n_buckets(subject->series),
	};
	const char *const words[] = {
		n > 1 ? subject->label : NULL, v->has_kinds ? kind_names[kind] : NULL, v->name,
	};
	GString *label = g_string_new(NULL);

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i])
			g_string_append_printf(label, "%s%s", label->len ? " " : "", words[i]);
	line.label = g_string_free(label, FALSE);
	if (n > 1) {
		line.colour = index % CHART_COLOURS;
		line.stroke = v->has_kinds && kind == SERIES_READ ? 2 + v->number : v->number;
	} else {
		line.colour = v->has_kinds ? kind : 2 + v->number;
		line.stroke = v->has_kinds ? v->number : 0;
	}
	return line;
}

/* Seconds of a bucket. The last one ends with the recording; too little of it would say nothing. */
static double seconds_of(const struct series *s, unsigned int bucket)
{
	uint64_t ns = s->width;

	if (bucket + 1 == series_n_buckets(s))
		ns = MAX(s->end - bucket * s->width, s->width / 8);
	return ns / 1e9;
}

typedef double (*value_fn)(const struct series *s, unsigned int bucket, unsigned int kind);

/* Lines of all subjects. A kind of which nothing is known, or which never was, has none. */
static void add_lines(struct chart *c, const struct plot_subject *subjects, unsigned int n,
		      const struct variant *v, value_fn value)
{
	for (unsigned int i = 0; i < n; i++) {
		const struct series *s = subjects[i].series;

		for (unsigned int kind = 0; kind < (v->has_kinds ? SERIES_KINDS : 1); kind++) {
			struct chart_line line;
			double *values;
			bool any = false;

			for (unsigned int k = 0; k < series_n_buckets(s) && !any; k++)
				any = value(s, k, kind) > 0 ||
				      (v->even_zero && !isnan(value(s, k, kind)));
			if (!any)
				continue;
			line = line_of(&subjects[i], n, i, v, kind);
			values = chart_add_line(c, &line);
			for (unsigned int k = 0; k < line.n; k++)
				values[k] = value(s, k, kind);
		}
	}
}

/* A chart without lines is none. */
static struct chart *unless_empty(struct chart *c)
{
	if (c->lines->len > 0)
		return c;
	chart_free(c);
	return NULL;
}

static double bandwidth(const struct series *s, unsigned int bucket, unsigned int kind)
{
	return s->buckets[bucket].bytes[kind] / seconds_of(s, bucket);
}

static struct chart *draw_bandwidth(const struct plot_kind *kind,
				    const struct plot_subject *subjects, unsigned int n)
{
	struct chart *c = chart_new(kind->title, CHART_RATE);

	add_lines(c, subjects, n, &(struct variant) { .has_kinds = true }, bandwidth);
	return unless_empty(c);
}

static double iops(const struct series *s, unsigned int bucket, unsigned int kind)
{
	return s->buckets[bucket].completed[kind] / seconds_of(s, bucket);
}

static struct chart *draw_iops(const struct plot_kind *kind, const struct plot_subject *subjects,
			       unsigned int n)
{
	struct chart *c = chart_new(kind->title, CHART_NUMBER);

	add_lines(c, subjects, n, &(struct variant) { .has_kinds = true }, iops);
	return unless_empty(c);
}

static double depth(const struct series *s, unsigned int bucket, unsigned int kind)
{
	(void)kind;
	return s->buckets[bucket].depth_ns / 1e9 / seconds_of(s, bucket);
}

static double depth_max(const struct series *s, unsigned int bucket, unsigned int kind)
{
	(void)kind;
	return s->buckets[bucket].depth_max;
}

static struct chart *draw_depth(const struct plot_kind *kind, const struct plot_subject *subjects,
				unsigned int n)
{
	struct chart *c = chart_new(kind->title, CHART_NUMBER);

	add_lines(c, subjects, n, &(struct variant) { .name = "on average" }, depth);
	add_lines(c, subjects, n, &(struct variant) { .name = "at most", .number = 1 }, depth_max);
	return unless_empty(c);
}

static double percentile(const struct series_latencies *l, unsigned int bucket, unsigned int kind,
			 unsigned int percent)
{
	if (!l || l->of[kind][bucket].n == 0)
		return NAN;
	return histogram_percentile(&l->of[kind][bucket], percent) / 1e9;
}

static double q2c_p50(const struct series *s, unsigned int bucket, unsigned int kind)
{
	return percentile(s->q2c, bucket, kind, 50);
}

static double q2c_p99(const struct series *s, unsigned int bucket, unsigned int kind)
{
	return percentile(s->q2c, bucket, kind, 99);
}

static double d2c_p50(const struct series *s, unsigned int bucket, unsigned int kind)
{
	return percentile(s->d2c, bucket, kind, 50);
}

static double d2c_p99(const struct series *s, unsigned int bucket, unsigned int kind)
{
	return percentile(s->d2c, bucket, kind, 99);
}

static struct chart *draw_latency(const struct plot_kind *kind, value_fn p50, value_fn p99,
				  const struct plot_subject *subjects, unsigned int n)
{
	struct chart *c = chart_new(kind->title, CHART_SECONDS);

	c->log = true;
	add_lines(c, subjects, n, &(struct variant) { .name = "p99", .has_kinds = true }, p99);
	add_lines(c, subjects, n, &(struct variant) { .name = "p50", .has_kinds = true, .number = 1 },
		  p50);
	return unless_empty(c);
}

static struct chart *draw_q2c(const struct plot_kind *kind, const struct plot_subject *subjects,
			      unsigned int n)
{
	return draw_latency(kind, q2c_p50, q2c_p99, subjects, n);
}

static struct chart *draw_d2c(const struct plot_kind *kind, const struct plot_subject *subjects,
			      unsigned int n)
{
	return draw_latency(kind, d2c_p50, d2c_p99, subjects, n);
}

static double seeks(const struct series *s, unsigned int bucket, unsigned int kind)
{
	(void)kind;
	return s->buckets[bucket].seeks / seconds_of(s, bucket);
}

static struct chart *draw_seek_count(const struct plot_kind *kind,
				     const struct plot_subject *subjects, unsigned int n)
{
	struct chart *c = chart_new(kind->title, CHART_NUMBER);

	add_lines(c, subjects, n, &(struct variant) { .name = "seeks" }, seeks);
	return unless_empty(c);
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / whole : NAN;
}

static double fill(const struct series *s, unsigned int bucket, unsigned int kind)
{
	const struct series_bucket *b = &s->buckets[bucket];

	(void)kind;
	return share(b->written, b->touched * s->options.stripe_bytes);
}

static double whole(const struct series *s, unsigned int bucket, unsigned int kind)
{
	(void)kind;
	return share(s->buckets[bucket].whole, s->buckets[bucket].touched);
}

static struct chart *draw_stripe_fill(const struct plot_kind *kind,
				      const struct plot_subject *subjects, unsigned int n)
{
	struct chart *c = chart_new(kind->title, CHART_SHARE);

	add_lines(c, subjects, n, &(struct variant) { .name = "filled" }, fill);
	add_lines(c, subjects, n, &(struct variant) { .name = "whole", .even_zero = true, .number = 1 },
		  whole);
	return unless_empty(c);
}

static double rmw(const struct series *s, unsigned int bucket, unsigned int kind)
{
	(void)kind;
	return s->buckets[bucket].rmw / seconds_of(s, bucket);
}

static double rcw(const struct series *s, unsigned int bucket, unsigned int kind)
{
	(void)kind;
	return s->buckets[bucket].rcw / seconds_of(s, bucket);
}

static struct chart *draw_pre_reads(const struct plot_kind *kind,
				    const struct plot_subject *subjects, unsigned int n)
{
	struct chart *c = chart_new(kind->title, CHART_NUMBER);

	add_lines(c, subjects, n, &(struct variant) { .name = "rmw" }, rmw);
	add_lines(c, subjects, n, &(struct variant) { .name = "rcw", .number = 1 }, rcw);
	return unless_empty(c);
}

/*
 * Histograms
 */

typedef uint64_t (*class_fn)(const struct series *s, unsigned int kind, int class);

/* Bars of the classes from @first to @last, in shares of all: subjects differ in length. */
static void add_bars(struct chart *c, const struct plot_subject *subjects, unsigned int n,
		     const struct variant *v, class_fn count, int first, int last)
{
	for (unsigned int i = 0; i < n; i++) {
		uint64_t all[SERIES_KINDS] = { 0 };

		for (unsigned int kind = 0; kind < SERIES_KINDS; kind++)
			for (int class = first; class <= last; class++)
				all[kind] += count(subjects[i].series, kind, class);
		for (unsigned int kind = 0; kind < SERIES_KINDS; kind++) {
			struct chart_line line;
			double *values;

			if (all[kind] == 0)
				continue;
			line = line_of(&subjects[i], n, i, v, kind);
			/* Bars have no strokes: those of reads are paler. */
			line.stroke = n > 1 && v->has_kinds && kind == SERIES_READ ? 1 : 0;
			line.width = 1;
			line.n = last - first + 1;
			values = chart_add_line(c, &line);
			for (int class = first; class <= last; class++)
				values[class - first] =
					share(count(subjects[i].series, kind, class),
					      all[SERIES_READ] + all[SERIES_WRITE]);
		}
	}
}

/* The classes that are in use. Return: whether any is. */
static bool find_classes(const struct plot_subject *subjects, unsigned int n, class_fn count,
			 int *first, int *last)
{
	int low = *last + 1, high = *first - 1;

	for (unsigned int i = 0; i < n; i++) {
		for (unsigned int kind = 0; kind < SERIES_KINDS; kind++) {
			for (int class = *first; class <= *last; class++) {
				if (!count(subjects[i].series, kind, class))
					continue;
				low = MIN(low, class);
				high = MAX(high, class);
			}
		}
	}
	*first = low;
	*last = high;
	return low <= high;
}

static uint64_t of_size(const struct series *s, unsigned int kind, int class)
{
	return s->sizes[kind][class];
}

static struct chart *draw_sizes(const struct plot_kind *kind, const struct plot_subject *subjects,
				unsigned int n)
{
	int first = 0, last = PROFILE_SIZE_CLASSES - 1;
	struct chart *c;

	if (!find_classes(subjects, n, of_size, &first, &last))
		return NULL;
	c = chart_new(kind->title, CHART_SHARE);
	c->x_name = "I/O size, up to";
	c->categories = g_ptr_array_new_with_free_func(g_free);
	for (int class = first; class <= last; class++) {
		char text[UNITS_TEXT];

		g_ptr_array_add(c->categories, g_strdup(units_format_size(1ull << class, text)));
	}
	add_bars(c, subjects, n, &(struct variant) { .has_kinds = true }, of_size, first, last);
	return c;
}

/* Backward distances have negative classes; class 0 is none. Both kinds are in the first. */
static uint64_t of_distance(const struct series *s, unsigned int kind, int class)
{
	if (kind > 0)
		return 0;
	return class < 0 ? s->backward[-class] : s->forward[class];
}

static struct chart *draw_distances(const struct plot_kind *kind,
				    const struct plot_subject *subjects, unsigned int n)
{
	int first = 1 - SERIES_SEEK_CLASSES, last = SERIES_SEEK_CLASSES - 1;
	struct chart *c;

	if (!find_classes(subjects, n, of_distance, &first, &last))
		return NULL;
	c = chart_new(kind->title, CHART_SHARE);
	c->x_name = "Distance from the end of the I/O before, up to";
	c->named = MAX(-first, 0);
	c->categories = g_ptr_array_new_with_free_func(g_free);
	for (int class = first; class <= last; class++) {
		/* Sectors; what is farther than there are bytes to count is of no disk. */
		uint64_t bytes = (uint64_t)SECTOR << CLAMP(ABS(class) - 1, 0, 54);
		char text[UNITS_TEXT];

		g_ptr_array_add(c->categories, class == 0 ? g_strdup("0") :
				g_strdup_printf("%s%s", class < 0 ? "−" : "+",
						units_format_size(bytes, text)));
	}
	add_bars(c, subjects, n, &(struct variant) { .name = "I/Os" }, of_distance, first, last);
	return c;
}

static struct chart *draw_seeks(const struct plot_kind *kind, const struct plot_subject *subjects,
				unsigned int n)
{
	struct chart *c;

	if (n == 0 || subjects[0].series->seeks->low > subjects[0].series->seeks->high)
		return NULL;
	c = chart_new(kind->title, CHART_BYTES);
	c->seeks = subjects[0].series;
	return c;
}

/* Names are those of the pictures in the field; aliases of iowatcher, seekwatcher and btt. */
static const struct plot_kind kinds[] = {
	{ "seek", "io", "Seek plot: address over time", "nothing was read or written", true,
	  draw_seeks },
	{ "bandwidth", "tput", "Bandwidth", "nothing was completed", false, draw_bandwidth },
	{ "iops", NULL, "IOPS: I/Os completed per second", "nothing was completed", false,
	  draw_iops },
	{ "latency", "q2c", "Latency, Q2C: from queueing to completion", "nothing was completed",
	  false, draw_q2c },
	{ "d2c", NULL, "Latency, D2C: from issuing to completion",
	  "the device builds no requests: bios are not issued, so Q2C is all there is", false,
	  draw_d2c },
	{ "queue-depth", "queue_depth", "Queue depth: in flight", "nothing was in flight", false,
	  draw_depth },
	{ "size", "bsize", "I/O sizes", "nothing was read or written", false, draw_sizes },
	{ "seek-distance", "distance", "Seek distances", "there were no two I/Os", false,
	  draw_distances },
	{ "seeks", "seek-count", "Seeks per second", "nothing was sought", false, draw_seek_count },
	{ "stripe-fill", "fill", "Stripe fill of the writes",
	  "there were no writes, or the stripe width is not known (--from, or --level, --members, --chunk)",
	  false, draw_stripe_fill },
	{ "pre-reads", "rmw", "Rows that md read before writing, per second",
	  "md said of none: the recording is not of an array, or all stripes were written whole",
	  false, draw_pre_reads },
};

/**
 * plot_kind_find() - a kind of picture by name
 * @name: its name or alias, in any case
 *
 * Return: NULL if there is no such kind.
 */
const struct plot_kind *plot_kind_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (g_ascii_strcasecmp(name, kinds[i].name) == 0 ||
		    (kinds[i].alias && g_ascii_strcasecmp(name, kinds[i].alias) == 0))
			return &kinds[i];
	return NULL;
}

/**
 * plot_kind_at() - all kinds, one after the other
 * @i: from 0 on
 *
 * Return: NULL behind the last one.
 */
const struct plot_kind *plot_kind_at(unsigned int i)
{
	return i < ARRAY_SIZE(kinds) ? &kinds[i] : NULL;
}

// SPDX-License-Identifier: GPL-2.0
#include <math.h>

#include "chart.h"
#include "macros.h"
#include "markup.h"

/* The picture and the margins around what is drawn: room for text that a phone makes larger. */
#define WIDTH		720
#define HEIGHT		310
#define LEFT		62
#define RIGHT		14
#define TOP		36
#define BOTTOM		48
#define PLOT_WIDTH	(WIDTH - LEFT - RIGHT)
#define PLOT_HEIGHT	(HEIGHT - TOP - BOTTOM)

/* Of a picture that is a file of its own: its title, and its legend's rows. */
#define TITLE_HEIGHT	28
#define LEGEND_HEIGHT	20
#define LETTER_WIDTH	7.2
#define KEY_WIDTH	26

#define LABELS_MAX	7
#define SHADES		4
/* A seek plot of fewer cells than this has larger ones, as they could not be seen. */
#define FEW_CELLS	8000
/* Parts of the seek plot that say what is in them, and rows of its table. */
#define PARTS_ACROSS	32
#define PARTS_UP	16

/**
 * chart_new() - a chart of nothing yet
 * @title: what it shows; not copied
 * @unit: of its values
 */
struct chart *chart_new(const char *title, enum chart_unit unit)
{
	struct chart *c = g_new0(struct chart, 1);

	c->title = title;
	c->unit = unit;
	c->lines = g_array_new(FALSE, FALSE, sizeof(struct chart_line));
	return c;
}

/**
 * chart_free() - free a chart
 * @c: the chart or NULL
 */
void chart_free(struct chart *c)
{
	if (!c)
		return;
	for (guint i = 0; i < c->lines->len; i++) {
		g_free(g_array_index(c->lines, struct chart_line, i).label);
		g_free(g_array_index(c->lines, struct chart_line, i).values);
	}
	g_array_unref(c->lines);
	if (c->categories)
		g_ptr_array_unref(c->categories);
	g_free(c);
}

/**
 * chart_add_line() - add a line
 * @c: the chart
 * @line: all but its values; the chart owns the label then
 *
 * Return: its values, none of them known yet, for the caller to fill in.
 */
double *chart_add_line(struct chart *c, const struct chart_line *line)
{
	struct chart_line new = *line;

	new.values = g_new(double, new.n);
	for (unsigned int i = 0; i < new.n; i++)
		new.values[i] = NAN;
	g_array_append_val(c->lines, new);
	return new.values;
}

static const struct chart_line *line_at(const struct chart *c, guint i)
{
	return &g_array_index(c->lines, struct chart_line, i);
}

/*
 * Numbers
 */

struct scale {
	double divisor;
	const char *unit;
};

/* The unit in which the largest value is at least 1. */
static struct scale scale_for(enum chart_unit unit, double largest)
{
	static const struct scale numbers[] = {
		{ 1e9, "billion" }, { 1e6, "million" }, { 1e3, "thousand" }, { 1, "" },
	};
	static const struct scale bytes[] = {
		{ 0x1p60, "EiB" }, { 0x1p50, "PiB" }, { 0x1p40, "TiB" }, { 0x1p30, "GiB" },
		{ 0x1p20, "MiB" }, { 0x1p10, "KiB" }, { 1, "B" },
	};
	static const struct scale rates[] = {
		{ 0x1p40, "TiB/s" }, { 0x1p30, "GiB/s" }, { 0x1p20, "MiB/s" },
		{ 0x1p10, "KiB/s" }, { 1, "B/s" },
	};
	static const struct scale seconds[] = {
		{ 1, "s" }, { 1e-3, "ms" }, { 1e-6, "µs" }, { 1e-9, "ns" },
	};
	static const struct scale shares[] = { { 0.01, "%" } };
	static const struct {
		const struct scale *scales;
		size_t n;
	} all[] = {
		[CHART_NUMBER] = { numbers, ARRAY_SIZE(numbers) },
		[CHART_BYTES] = { bytes, ARRAY_SIZE(bytes) },
		[CHART_RATE] = { rates, ARRAY_SIZE(rates) },
		[CHART_SECONDS] = { seconds, ARRAY_SIZE(seconds) },
		[CHART_SHARE] = { shares, ARRAY_SIZE(shares) },
	};
	size_t i = 0;

	while (i + 1 < all[unit].n && largest < all[unit].scales[i].divisor)
		i++;
	return all[unit].scales[i];
}

/**
 * chart_format() - a value with its unit
 * @unit: its unit
 * @value: the value
 *
 * Return: the text, to be freed with g_free().
 */
char *chart_format(enum chart_unit unit, double value)
{
	/* Numbers are written out: only an axis has thousands. */
	struct scale scale = scale_for(unit, unit == CHART_NUMBER ? 0 : fabs(value));
	double scaled = value / scale.divisor;
	int digits = scaled == floor(scaled) || fabs(scaled) >= 1000 ? 0 :
		     fabs(scaled) >= 100 ? 1 : fabs(scaled) >= 1 ? 2 : 3;

	return g_strdup_printf("%.*f%s%s", digits, scaled, *scale.unit ? " " : "", scale.unit);
}

/* 1, 2 or 5 times a power of ten, so that at most so many steps fit. */
static double nice_step(double span, unsigned int steps)
{
	double power = pow(10, floor(log10(span / steps)));
	double rest = span / steps / power;

	return power * (rest <= 1 ? 1 : rest <= 2 ? 2 : rest <= 5 ? 5 : 10);
}

/* Powers of two, as sizes are. */
static double binary_step(double span, unsigned int steps)
{
	return exp2(ceil(log2(span / steps)));
}

/* An axis: its values from @min to @max lie between @from and @to in the picture. */
struct axis {
	double min, max;
	double from, to;
	bool log;
	struct scale scale;
	double step;
};

static double place(const struct axis *a, double value)
{
	double share = a->log ? log(value / a->min) / log(a->max / a->min) :
				(value - a->min) / (a->max - a->min);

	return a->from + (a->to - a->from) * CLAMP(share, 0, 1);
}

static struct axis linear_axis(enum chart_unit unit, double min, double max)
{
	struct axis a = { .min = min, .max = max > min ? max : min + 1 };

	a.scale = scale_for(unit, a.max);
	a.step = (unit == CHART_BYTES ? binary_step : nice_step)
		 ((a.max - a.min) / a.scale.divisor, LABELS_MAX - 1) * a.scale.divisor;
	return a;
}

/* As many digits as tell a step's multiples apart. */
static int digits_of(double step)
{
	int digits = 0;

	while (digits < 9 && fabs(step - round(step)) > 1e-6 * step) {
		step *= 10;
		digits++;
	}
	return digits;
}

static void add_tick(GString *out, const struct axis *a, bool is_x, double value)
{
	double at = place(a, value);
	char *text = a->log ? g_strdup_printf("%.6g", value / a->scale.divisor) :
		     g_strdup_printf("%.*f", digits_of(a->step / a->scale.divisor),
				     value / a->scale.divisor);

	if (is_x) {
		markup_add(out, "<path class=\"tick\" d=\"M%.1f %dv5\"/>", at, HEIGHT - BOTTOM);
		markup_add(out, "<text class=\"mid\" x=\"%.1f\" y=\"%d\">%s</text>\n", at,
			   HEIGHT - BOTTOM + 20, text);
	} else {
		markup_add(out, "<path class=\"grid\" d=\"M%d %.1fh%d\"/>", LEFT, at, PLOT_WIDTH);
		markup_add(out, "<text class=\"end\" x=\"%d\" y=\"%.1f\">%s</text>\n", LEFT - 7,
			   at + 4, text);
	}
	g_free(text);
}

static void add_axis(GString *out, const struct axis *a, bool is_x, const char *name)
{
	if (a->log) {
		for (double value = a->min; value < a->max * 1.5; value *= 10)
			add_tick(out, a, is_x, value);
	} else {
		double first = ceil(a->min / a->step - 1e-9) + 0.0;	/* no -0 */

		for (double i = first; i * a->step <= a->max + a->step * 1e-9; i++)
			add_tick(out, a, is_x, i * a->step);
	}
	if (is_x)
		markup_add(out, "<text class=\"mid\" x=\"%d\" y=\"%d\">%s (%s)</text>\n",
			   LEFT + PLOT_WIDTH / 2, HEIGHT - 4, name, a->scale.unit);
	else
		markup_add(out, "<text x=\"%d\" y=\"16\">%s</text>\n", 4, a->scale.unit);
}

/*
 * Lines
 */

static bool is_known(double value)
{
	return !isnan(value);
}

/* The widest step of all lines: what hovering tells and the table has a row for. */
static double widest(const struct chart *c)
{
	double width = 0;

	for (guint i = 0; i < c->lines->len; i++)
		width = MAX(width, line_at(c, i)->width);
	return width;
}

static double longest(const struct chart *c)
{
	double end = 0;

	for (guint i = 0; i < c->lines->len; i++)
		end = MAX(end, line_at(c, i)->width * line_at(c, i)->n);
	return end;
}

/* The mean of what is known of a line in one of these steps. */
static double value_in(const struct chart_line *l, double width, unsigned int step)
{
	unsigned int n = MAX(lround(width / l->width), 1), known = 0;
	double sum = 0;

	for (unsigned int i = step * n; i < (step + 1) * n && i < l->n; i++) {
		if (is_known(l->values[i])) {
			sum += l->values[i];
			known++;
		}
	}
	return known ? sum / known : NAN;
}

static void extremes(const struct chart *c, double *least, double *most)
{
	*least = INFINITY;
	*most = 0;
	for (guint i = 0; i < c->lines->len; i++) {
		const struct chart_line *l = line_at(c, i);

		for (unsigned int k = 0; k < l->n; k++) {
			if (!is_known(l->values[k]))
				continue;
			*most = MAX(*most, l->values[k]);
			if (l->values[k] > 0)
				*least = MIN(*least, l->values[k]);
		}
	}
}

static struct axis value_axis(const struct chart *c)
{
	double least, most;
	struct axis a;

	extremes(c, &least, &most);
	if (c->log && isfinite(least)) {
		a = (struct axis) {
			.min = pow(10, floor(log10(least))),
			.max = pow(10, ceil(log10(most))),
			.log = true,
			.scale = scale_for(c->unit, most),
		};
		if (a.max <= a.min)
			a.max = a.min * 10;
	} else {
		a = linear_axis(c->unit, 0, most);
		a.max = ceil(a.max / a.step - 1e-9) * a.step;
	}
	a.from = HEIGHT - BOTTOM;
	a.to = TOP;
	return a;
}

/* A dot where a value stands alone: a line of no length with round ends. */
static void add_line(GString *out, const struct chart_line *l, const struct axis *x,
		     const struct axis *y)
{
	bool drawing = false;

	markup_add(out, "<path class=\"line c%u s%u\" d=\"", l->colour, l->stroke);
	for (unsigned int i = 0; i < l->n; i++) {
		if (is_known(l->values[i]) && !(y->log && l->values[i] <= 0)) {
			g_string_append_printf(out, "%s%.1f %.1f", drawing ? "L" : "M",
					       place(x, (i + 0.5) * l->width),
					       place(y, l->values[i]));
			if (!drawing)
				g_string_append(out, "h0");
			drawing = true;
		} else {
			drawing = false;
		}
	}
	g_string_append(out, "\"/>\n");
}

/* What all lines are at one place, for whoever points there. */
static void add_values(GString *out, const struct chart *c, double width, unsigned int step)
{
	for (guint i = 0; i < c->lines->len; i++) {
		double value = value_in(line_at(c, i), width, step);
		char *text;

		if (!is_known(value))
			continue;
		text = chart_format(c->unit, value);
		markup_add(out, "\n%s: %s", line_at(c, i)->label, text);
		g_free(text);
	}
}

static void add_hit(GString *out, double left, double right, const char *where)
{
	markup_add(out, "<g class=\"hit\"><path d=\"M%.1f %dh%.1fv%dH%.1fz\"/><title>%s", left, TOP,
		   right - left, PLOT_HEIGHT, left, where);
}

static void add_lines(GString *out, const struct chart *c)
{
	double width = widest(c);
	struct axis x = linear_axis(CHART_SECONDS, 0, longest(c)), y = value_axis(c);

	x.from = LEFT;
	x.to = WIDTH - RIGHT;
	add_axis(out, &y, false, c->title);
	add_axis(out, &x, true, "Time");
	for (guint i = 0; i < c->lines->len; i++)
		add_line(out, line_at(c, i), &x, &y);
	for (unsigned int step = 0; step * width < x.max; step++) {
		char *where = chart_format(CHART_SECONDS, step * width);

		add_hit(out, place(&x, step * width), place(&x, (step + 1) * width), where);
		add_values(out, c, width, step);
		g_string_append(out, "</title></g>\n");
		g_free(where);
	}
}

/*
 * Bars
 */

static void add_bar(GString *out, const struct chart_line *l, double left, double width,
		    double top)
{
	markup_add(out, "<path class=\"bar c%u s%u\" d=\"M%.1f %dV%.1fh%.1fV%dz\"/>", l->colour,
		   l->stroke, left, HEIGHT - BOTTOM, top, width, HEIGHT - BOTTOM);
}

static void add_bars(GString *out, const struct chart *c)
{
	struct axis y = value_axis(c);
	unsigned int n = c->categories->len, every = (n + LABELS_MAX - 1) / LABELS_MAX;
	double slot = (double)PLOT_WIDTH / n, bar = slot * 0.84 / c->lines->len;

	add_axis(out, &y, false, c->title);
	for (unsigned int i = 0; i < n; i++) {
		const char *name = c->categories->pdata[i];
		double left = LEFT + i * slot;

		for (guint k = 0; k < c->lines->len; k++)
			if (line_at(c, k)->values[i] > 0)
				add_bar(out, line_at(c, k), left + slot * 0.08 + k * bar, bar,
					place(&y, line_at(c, k)->values[i]));
		if (i % every == c->named % every)
			markup_add(out, "<text class=\"mid\" x=\"%.1f\" y=\"%d\">%s</text>\n",
				   left + slot / 2, HEIGHT - BOTTOM + 20, name);
		add_hit(out, left, left + slot, name);
		add_values(out, c, 1, i);
		g_string_append(out, "</title></g>\n");
	}
	markup_add(out, "<text class=\"mid\" x=\"%d\" y=\"%d\">%s</text>\n",
		   LEFT + PLOT_WIDTH / 2, HEIGHT - 4, c->x_name);
}

/*
 * Seek plot
 */

/* What of the grid is in use: rows and columns from the first to the last one. */
struct part {
	unsigned int row, rows;
	unsigned int column, columns;
};

static struct part used_part(const struct series *s)
{
	unsigned int row = (s->seeks->low >> s->seeks->row_shift) - s->seeks->first_row;

	return (struct part) {
		.row = row,
		.rows = (s->seeks->high >> s->seeks->row_shift) - s->seeks->first_row - row + 1,
		.columns = s->end / (s->width / 2) + 1,
	};
}

static double bytes_in(const struct series *s, enum series_kind kind, const struct part *p)
{
	double sum = 0;

	for (unsigned int row = p->row; row < p->row + p->rows; row++)
		for (unsigned int i = p->column; i < p->column + p->columns; i++)
			sum += s->seeks->cells[kind][row][i];
	return sum * SECTOR;
}

static double address_of(const struct series *s, unsigned int row)
{
	return ((s->seeks->first_row + row) * SECTOR) * (double)(1ull << s->seeks->row_shift);
}

static unsigned int shade_of(uint32_t n, uint32_t most)
{
	return n == 0 ? 0 : 1 + (unsigned int)((SHADES - 1) * log2(n) / MAX(log2(most), 1) + 0.5);
}

/* Runs of cells of one shade, as strokes: each goes on from where the last one ended. */
static void add_shade(GString *out, const struct series *s, enum series_kind kind,
		      unsigned int shade, uint32_t most)
{
	struct part p = used_part(s);
	int x = 0, y = 0;

	markup_add(out, "<path class=\"c%u d%u\" d=\"M0 0", kind, shade);
	for (unsigned int row = 0; row < p.rows; row++) {
		const uint32_t *cells = s->seeks->cells[kind][p.row + row];
		int up = p.rows - 1 - row;

		for (unsigned int i = 0; i < p.columns; i++) {
			int from = i;

			while (i < p.columns && shade_of(cells[i], most) == shade)
				i++;
			if ((int)i == from)
				continue;
			g_string_append_printf(out, "m%d %dh%d", from - x, up - y, (int)i - from);
			x = i;
			y = up;
		}
	}
	g_string_append(out, "\"/>\n");
}

static void add_seek_hit(GString *out, const struct series *s, const struct part *p,
			 const struct axis *x, const struct axis *y, double reads, double writes)
{
	double low = address_of(s, p->row), high = address_of(s, p->row + p->rows);
	double since = p->column * s->width * 0.5e-9;
	double until = (p->column + p->columns) * s->width * 0.5e-9;
	char *const texts[] = {
		chart_format(CHART_SECONDS, since), chart_format(CHART_BYTES, low),
		chart_format(CHART_BYTES, high), chart_format(CHART_BYTES, reads),
		chart_format(CHART_BYTES, writes),
	};

	markup_add(out, "<g class=\"hit\"><path d=\"M%.1f %.1fH%.1fV%.1fH%.1fz\"/><title>%s\n%s to %s\nread: %s\nwritten: %s</title></g>\n",
		   place(x, since), place(y, high), place(x, until), place(y, low), place(x, since),
		   texts[0], texts[1], texts[2], texts[3], texts[4]);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		g_free(texts[i]);
}

static void add_seek_hits(GString *out, const struct series *s, const struct axis *x,
			  const struct axis *y)
{
	struct part used = used_part(s);
	unsigned int columns = MAX(used.columns / PARTS_ACROSS, 1);
	unsigned int rows = MAX(used.rows / PARTS_UP, 1);

	for (unsigned int row = 0; row < used.rows; row += rows) {
		for (unsigned int i = 0; i < used.columns; i += columns) {
			struct part p = {
				.row = used.row + row, .rows = MIN(rows, used.rows - row),
				.column = i, .columns = MIN(columns, used.columns - i),
			};
			double reads = bytes_in(s, SERIES_READ, &p);
			double writes = bytes_in(s, SERIES_WRITE, &p);

			if (reads + writes > 0)
				add_seek_hit(out, s, &p, x, y, reads, writes);
		}
	}
}

static void add_seeks(GString *out, const struct series *s)
{
	struct part p = used_part(s);
	struct axis x = linear_axis(CHART_SECONDS, 0, p.columns * s->width * 0.5e-9);
	struct axis y = linear_axis(CHART_BYTES, address_of(s, p.row), address_of(s, p.row + p.rows));
	uint32_t most = 1;
	unsigned int cells = 0;

	x.from = LEFT;
	x.to = WIDTH - RIGHT;
	y.from = HEIGHT - BOTTOM;
	y.to = TOP;
	for (unsigned int kind = 0; kind < SERIES_KINDS; kind++) {
		for (unsigned int row = p.row; row < p.row + p.rows; row++) {
			for (unsigned int i = 0; i < p.columns; i++) {
				cells += s->seeks->cells[kind][row][i] > 0;
				most = MAX(most, s->seeks->cells[kind][row][i]);
			}
		}
	}
	add_axis(out, &y, false, "Address");
	add_axis(out, &x, true, "Time");
	markup_add(out, "<g class=\"cells%s\" transform=\"translate(%d %d) scale(%.5f %.5f) translate(0 .5)\">\n",
		   cells < FEW_CELLS && p.rows > SERIES_ROWS / 4 ? " few" : "", LEFT, TOP,
		   (double)PLOT_WIDTH / p.columns, (double)PLOT_HEIGHT / p.rows);
	for (unsigned int kind = 0; kind < SERIES_KINDS; kind++)
		for (unsigned int shade = 1; shade <= SHADES; shade++)
			add_shade(out, s, kind, shade, most);
	g_string_append(out, "</g>\n");
	add_seek_hits(out, s, &x, &y);
}

static void add_seek_rows(GString *out, const struct series *s)
{
	struct part used = used_part(s);
	unsigned int rows = (used.rows + PARTS_UP - 1) / PARTS_UP;

	g_string_append(out, "<thead><tr><th scope=\"col\">From</th><th scope=\"col\">To</th><th scope=\"col\">Read</th><th scope=\"col\">Written</th></tr></thead>\n<tbody>\n");
	for (unsigned int row = 0; row < used.rows; row += rows) {
		struct part p = {
			.row = used.row + row, .rows = MIN(rows, used.rows - row),
			.columns = used.columns,
		};
		char *const texts[] = {
			chart_format(CHART_BYTES, address_of(s, p.row)),
			chart_format(CHART_BYTES, address_of(s, p.row + p.rows)),
			chart_format(CHART_BYTES, bytes_in(s, SERIES_READ, &p)),
			chart_format(CHART_BYTES, bytes_in(s, SERIES_WRITE, &p)),
		};

		markup_add(out, "<tr><th scope=\"row\">%s</th><td>%s</td><td>%s</td><td>%s</td></tr>\n",
			   texts[0], texts[1], texts[2], texts[3]);
		for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
			g_free(texts[i]);
	}
}

/*
 * The whole
 */

static void add_frame(GString *out, const struct chart *c)
{
	markup_add(out, "<path class=\"frame\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP, HEIGHT - BOTTOM,
		   WIDTH - RIGHT);
	if (c->seeks)
		add_seeks(out, c->seeks);
	else if (c->categories)
		add_bars(out, c);
	else
		add_lines(out, c);
}

/* What a reader who does not see it should know: the highest of each line. */
static void add_label(GString *out, const struct chart *c)
{
	markup_add(out, " role=\"img\" aria-label=\"%s", c->title);
	for (guint i = 0; i < c->lines->len; i++) {
		const struct chart_line *l = line_at(c, i);
		double most = 0;
		char *text;

		for (unsigned int k = 0; k < l->n; k++)
			if (is_known(l->values[k]))
				most = MAX(most, l->values[k]);
		text = chart_format(c->unit, most);
		markup_add(out, "; %s: up to %s", l->label, text);
		g_free(text);
	}
	g_string_append(out, "\"");
}

/**
 * chart_svg() - a chart within a page
 * @out: where it goes; the page has chart.css
 * @c: the chart
 */
void chart_svg(GString *out, const struct chart *c)
{
	markup_add(out, "<svg class=\"chart\" viewBox=\"0 0 %d %d\"", WIDTH, HEIGHT);
	add_label(out, c);
	g_string_append(out, ">\n");
	add_frame(out, c);
	g_string_append(out, "</svg>\n");
}

typedef void (*key_fn)(GString *out, const char *label, unsigned int colour, unsigned int stroke,
		       void *data);

static void take_keys(const struct chart *c, key_fn take, GString *out, void *data)
{
	if (c->seeks) {
		take(out, "reads", SERIES_READ, 0, data);
		take(out, "writes", SERIES_WRITE, 0, data);
	}
	for (guint i = 0; i < c->lines->len; i++)
		take(out, line_at(c, i)->label, line_at(c, i)->colour, line_at(c, i)->stroke, data);
}

struct legend {
	double x, y;
};

static void file_key(GString *out, const char *label, unsigned int colour, unsigned int stroke,
		     void *data)
{
	struct legend *at = data;
	double width = KEY_WIDTH + g_utf8_strlen(label, -1) * LETTER_WIDTH + 14;

	if (at->x > LEFT && at->x + width > WIDTH - RIGHT) {
		at->x = LEFT;
		at->y += LEGEND_HEIGHT;
	}
	if (out) {
		markup_add(out, "<path class=\"key c%u s%u\" d=\"M%.0f %.0fh18\"/>", colour,
			   stroke, at->x, at->y - 4);
		markup_add(out, "<text x=\"%.0f\" y=\"%.0f\">%s</text>\n", at->x + KEY_WIDTH, at->y,
			   label);
	}
	at->x += width;
}

/**
 * chart_svg_file() - a chart as a file of its own
 * @out: where it goes
 * @c: the chart
 * @css: chart.css
 */
void chart_svg_file(GString *out, const struct chart *c, const char *css)
{
	struct legend end = { .x = LEFT, .y = TITLE_HEIGHT + 12 };
	struct legend begin = end;
	int above;

	take_keys(c, file_key, NULL, &end);
	above = end.y + 8;
	markup_add(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart file\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\"",
		   WIDTH, HEIGHT + above, WIDTH, HEIGHT + above);
	add_label(out, c);
	markup_add(out, ">\n<title>%s</title>\n<style>\n", c->title);
	g_string_append(out, css);
	markup_add(out, "</style>\n<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", WIDTH,
		   HEIGHT + above);
	markup_add(out, "<text class=\"title\" x=\"%d\" y=\"22\">%s</text>\n", LEFT, c->title);
	take_keys(c, file_key, out, &begin);
	markup_add(out, "<g transform=\"translate(0 %d)\">\n", above);
	add_frame(out, c);
	g_string_append(out, "</g>\n</svg>\n");
}

static void page_key(GString *out, const char *label, unsigned int colour, unsigned int stroke,
		     void *data)
{
	(void)data;
	markup_add(out, "<li><svg class=\"chart\" width=\"22\" height=\"8\" aria-hidden=\"true\"><path class=\"key c%u s%u\" d=\"M2 4h18\"/></svg> %s</li>\n",
		   colour, stroke, label);
}

/**
 * chart_legend() - what each line is of, as a list of a page
 * @out: where it goes
 * @c: the chart
 */
void chart_legend(GString *out, const struct chart *c)
{
	g_string_append(out, "<ul class=\"legend\">\n");
	take_keys(c, page_key, out, NULL);
	g_string_append(out, "</ul>\n");
}

static void add_table_head(GString *out, const struct chart *c)
{
	markup_add(out, "<thead><tr><th scope=\"col\">%s</th>", c->categories ? c->x_name : "Time");
	for (guint i = 0; i < c->lines->len; i++)
		markup_add(out, "<th scope=\"col\">%s</th>", line_at(c, i)->label);
	g_string_append(out, "</tr></thead>\n<tbody>\n");
}

static void add_table_row(GString *out, const struct chart *c, double width, unsigned int step,
			  const char *name)
{
	markup_add(out, "<tr><th scope=\"row\">%s</th>", name);
	for (guint i = 0; i < c->lines->len; i++) {
		double value = value_in(line_at(c, i), width, step);
		char *text = is_known(value) ? chart_format(c->unit, value) : g_strdup("–");

		markup_add(out, "<td>%s</td>", text);
		g_free(text);
	}
	g_string_append(out, "</tr>\n");
}

/**
 * chart_table() - the numbers of a chart, as a table of a page
 * @out: where it goes
 * @c: the chart
 */
void chart_table(GString *out, const struct chart *c)
{
	double width = widest(c);

	markup_add(out, "<table><caption>%s</caption>\n", c->title);
	if (c->seeks) {
		add_seek_rows(out, c->seeks);
	} else if (c->categories) {
		add_table_head(out, c);
		for (guint i = 0; i < c->categories->len; i++)
			add_table_row(out, c, 1, i, c->categories->pdata[i]);
	} else {
		add_table_head(out, c);
		for (unsigned int step = 0; step * width < longest(c); step++) {
			char *when = chart_format(CHART_SECONDS, step * width);

			add_table_row(out, c, width, step, when);
			g_free(when);
		}
	}
	g_string_append(out, "</tbody></table>\n");
}

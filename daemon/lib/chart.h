/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A chart: lines over time, bars, or a seek plot; as SVG and as a table of the same
 * numbers. How it looks is in chart.css: the SVG has classes only. Pure.
 */
#ifndef FULLSTRIPE_CHART_H
#define FULLSTRIPE_CHART_H

#include <glib.h>
#include <stdbool.h>

#include "series.h"

enum chart_unit {
	CHART_NUMBER,
	CHART_BYTES,
	CHART_RATE,	/* bytes per second */
	CHART_SECONDS,
	CHART_SHARE,	/* 0 to 1 */
};

/* Colours and strokes that chart.css has. */
#define CHART_COLOURS	8
#define CHART_STROKES	4

/**
 * struct chart_line - a line, or the bars of one colour
 * @label: what it is of
 * @colour: below CHART_COLOURS
 * @stroke: below CHART_STROKES
 * @width: seconds from one value to the next; of bars 1
 * @values: NAN where there is none
 * @n: how many
 */
struct chart_line {
	char *label;
	unsigned int colour, stroke;
	double width;
	double *values;
	unsigned int n;
};

/**
 * struct chart - what is to be drawn
 * @title: what it shows
 * @unit: of the values
 * @log: they are drawn by their logarithm
 * @categories: what each bar is of; NULL if these are no bars
 * @x_name: what the categories are
 * @named: one of them that has its name below it, where not all have room
 * @lines: struct chart_line
 * @seeks: the series of a seek plot, not owned; there are no lines then
 */
struct chart {
	const char *title;
	enum chart_unit unit;
	bool log;
	GPtrArray *categories;
	const char *x_name;
	unsigned int named;
	GArray *lines;
	const struct series *seeks;
};

struct chart *chart_new(const char *title, enum chart_unit unit);
void chart_free(struct chart *c);
double *chart_add_line(struct chart *c, const struct chart_line *line);
void chart_svg(GString *out, const struct chart *c);
void chart_svg_file(GString *out, const struct chart *c, const char *css);
void chart_legend(GString *out, const struct chart *c);
void chart_table(GString *out, const struct chart *c);
char *chart_format(enum chart_unit unit, double value);

#endif

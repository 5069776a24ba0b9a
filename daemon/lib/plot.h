/* SPDX-License-Identifier: GPL-2.0 */
/* What there is to see of devices over time: each kind of picture, from series to a chart. Pure. */
#ifndef FULLSTRIPE_PLOT_H
#define FULLSTRIPE_PLOT_H

#include "chart.h"
#include "series.h"

/**
 * struct plot_subject - a device of a recording
 * @label: as people call it
 * @series: what it did
 */
struct plot_subject {
	const char *label;
	const struct series *series;
};

/**
 * struct plot_kind - a kind of picture
 * @name: as the command line has it
 * @alias: what iowatcher or btt calls it
 * @title: what it shows
 * @missing: why there is none, if there is none
 * @each: every subject has a picture of its own
 * @draw: draws it; NULL if the subjects have nothing of it
 */
struct plot_kind {
	const char *name;
	const char *alias;
	const char *title;
	const char *missing;
	bool each;
	struct chart *(*draw)(const struct plot_kind *kind, const struct plot_subject *subjects,
			      unsigned int n);
};

const struct plot_kind *plot_kind_find(const char *name);
const struct plot_kind *plot_kind_at(unsigned int i);

#endif

// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>

#include "describe.h"
#include "macros.h"
#include "units.h"

struct rows {
	describe_fn add;
	void *data;
};

__printf(3, 4)
static void add_row(const struct rows *rows, const char *name, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	rows->add(rows->data, name, text);
}

static void add_latency(const struct rows *rows, const char *name,
			const struct profile_latency *l)
{
	if (l->n > 0)
		add_row(rows, name, "half within %.3f ms, 99 %% within %.3f ms", l->p50 / 1e6,
			l->p99 / 1e6);
}

static void add_sizes(const struct rows *rows, const struct profile_summary *s)
{
	char size[UNITS_TEXT], least[UNITS_TEXT], most[UNITS_TEXT], average[UNITS_TEXT];

	if (profile_is_counted(s)) {
		add_row(rows, "I/O size", "%s on average",
			units_format_size(s->size_average + 0.5, average));
		return;
	}
	add_row(rows, "I/O size", "typically %s (%.0f %%), %s on average, %s to %s",
		units_format_size(s->size_mode, size), s->size_mode_share * 100,
		units_format_size(s->size_average + 0.5, average),
		units_format_size(s->size_min, least), units_format_size(s->size_max, most));
	for (unsigned int i = 0; i < PROFILE_SIZE_CLASSES; i++) {
		char label[UNITS_TEXT + 8];

		if (s->sizes[i] == 0)
			continue;
		snprintf(label, sizeof(label), "  up to %s", units_format_size(1ull << i, size));
		add_row(rows, label, "%llu (%.1f %%)", (unsigned long long)s->sizes[i],
			100.0 * s->sizes[i] / s->ios);
	}
}

static void add_access(const struct rows *rows, const struct profile_summary *s)
{
	static const char * const directions[] = { " down", "", " up" };

	if (profile_is_counted(s)) {
		add_row(rows, "access pattern", "%s", profile_access_name(s->access));
		return;
	}
	add_row(rows, "access pattern", "%s%s (%.0f %% sequential, %.0f %% strided, %.0f %% random), %u %s at once",
		profile_access_name(s->access), directions[s->direction + 1], s->sequential * 100,
		s->strided * 100, s->random * 100, s->streams,
		s->streams == 1 ? "stream" : "streams");
}

static void add_zones(const struct rows *rows, const struct profile_summary *s)
{
	char low[UNITS_TEXT], high[UNITS_TEXT];

	if (profile_is_ping_pong(s))
		add_row(rows, "ping-pong", "%.0f %% of the I/Os go back to the other of two zones, as between log and data: at %s and %s on average",
			s->returns * 100, units_format_size(s->low_zone, low),
			units_format_size(s->high_zone, high));
}

static void add_bandwidth(const struct rows *rows, const struct profile_summary *s)
{
	char average[UNITS_TEXT], peak[UNITS_TEXT], reads[UNITS_TEXT], writes[UNITS_TEXT];

	add_row(rows, "bandwidth", "%s on average (read %s, write %s), %s in the best second",
		units_format_rate(s->average_rate, average), units_format_rate(s->read_rate, reads),
		units_format_rate(s->write_rate, writes), units_format_rate(s->peak_rate, peak));
}

/**
 * describe_profile() - a device's workload, row by row
 * @s: what is known of it
 * @add: takes a row
 * @data: handed to @add
 */
void describe_profile(const struct profile_summary *s, describe_fn add, void *data)
{
	const struct rows rows_to_add = { .add = add, .data = data }, *rows = &rows_to_add;

	add_row(rows, "recorded", "%llu reads, %llu writes, %llu flushes, %llu discards in %.3f s",
		(unsigned long long)s->reads, (unsigned long long)s->writes,
		(unsigned long long)s->flushes, (unsigned long long)s->discards, s->duration / 1e9);
	if (profile_is_counted(s))
		add_row(rows, "source", "counters, as %s", obstacle_reason(s->obstacle));
	if (s->meta_ios >= 0)
		add_row(rows, "data or attribute", "%s intensive (%.0f %% of the I/Os are metadata)",
			profile_content_name(s->content), s->meta_ios * 100);
	add_access(rows, s);
	add_zones(rows, s);
	add_bandwidth(rows, s);
	add_sizes(rows, s);
	if (s->sync < 0)
		add_row(rows, "latency", "flushes for each write: %.2f; FUA: %.0f %%", s->flush,
			s->fua * 100);
	else
		add_row(rows, "latency", "%s (%.0f %% are waited for; flushes for each write: %.2f; FUA: %.0f %%)",
			s->latency_sensitive ? "sensitive" : "not sensitive", s->sync * 100,
			s->flush, s->fua * 100);
	add_latency(rows, "  read", &s->read_latency);
	add_latency(rows, "  write", &s->write_latency);
	add_latency(rows, "  flush", &s->flush_latency);
	if (s->unaligned >= 0)
		add_row(rows, "unaligned writes", "%.1f %%", s->unaligned * 100);
	if (s->rmw || s->rcw)
		add_row(rows, "md pre-reads", "%llu stripes rmw, %llu stripes rcw",
			(unsigned long long)s->rmw, (unsigned long long)s->rcw);
	if (s->never_completed || s->errors)
		add_row(rows, "incomplete", "%llu never completed, %llu with an error",
			(unsigned long long)s->never_completed, (unsigned long long)s->errors);
	add_row(rows, "confidence", "%.2f", s->confidence);
}

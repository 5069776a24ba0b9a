// SPDX-License-Identifier: GPL-2.0
/* What devices do, as a screen of any size. */
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "macros.h"
#include "top.h"

#define CELL		64
/* Less than so many rows, and no empty ones are between the parts. */
#define ROWS_AIRY	20

/*
 * Numbers of a few characters
 */

static void put_number(char text[static CELL], double value)
{
	if (isnan(value))
		snprintf(text, CELL, "-");
	else if (value < 9.95 && value != floor(value))
		snprintf(text, CELL, "%.1f", value);
	else
		snprintf(text, CELL, "%.0f", value);
}

/* At most eight characters, and a sign. */
static void put_size(char text[static CELL], double bytes)
{
	static const char * const names[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	const char *sign = bytes < 0 ? "-" : "";
	size_t power = 0;

	if (isnan(bytes)) {
		snprintf(text, CELL, "-");
		return;
	}
	bytes = fabs(bytes);
	while (bytes >= 1023.5 && power + 1 < ARRAY_SIZE(names)) {
		bytes /= 1024;
		power++;
	}
	snprintf(text, CELL, "%s%.*f %s", sign, power && bytes < 99.95 && bytes != floor(bytes), bytes,
		 names[power]);
}

/* At most seven. */
static void put_time(char text[static CELL], double us)
{
	static const struct {
		const char *name;
		double us;
	} units[] = { { "us", 1 }, { "ms", 1e3 }, { "s", 1e6 }, { "min", 60e6 }, { "h", 3600e6 } };
	size_t i = 0;

	if (isnan(us)) {
		snprintf(text, CELL, "-");
		return;
	}
	while (i + 1 < ARRAY_SIZE(units) && us >= (i == 2 ? 999.5e6 : 0.9995 * units[i + 1].us))
		i++;
	us /= units[i].us;
	snprintf(text, CELL, i && us < 99.95 ? "%.1f %s" : "%.0f %s", us, units[i].name);
}

/* All of it only if it is really all. */
static void put_share(char text[static CELL], double share)
{
	if (isnan(share))
		snprintf(text, CELL, "-");
	else
		snprintf(text, CELL, "%.0f%%", share > 0 && share < 0.01 ? 1 : floor(share * 100));
}

/* "[####|...]  42%": how full, with a mark at the low water. */
static void put_bar(char text[static CELL], unsigned int width, double share, double mark)
{
	unsigned int inner = MIN(width, (unsigned int)CELL - 1) - strlen("[] 100%");
	unsigned int at = mark * inner, end = lround(share * inner);
	char percent[CELL];

	put_share(percent, share);
	text[0] = '[';
	for (unsigned int i = 0; i < inner; i++)
		text[1 + i] = i == at ? '|' : i < end ? '#' : '.';
	snprintf(text + 1 + inner, CELL - 1 - inner, "]%5s", percent);
}

/*
 * Tables
 */

/**
 * struct cell - one place in a table
 * @view: all that is shown
 * @width: its width
 * @text: what is in it
 * @whole: that instead, if it is not NULL
 * @style: how it looks
 */
struct cell {
	const struct top_view *view;
	unsigned int width;
	char text[CELL];
	const char *whole;
	enum screen_style style;
};

/**
 * struct column - of a table
 * @title: its header
 * @least: its width at least
 * @most: and at most, where there is room and something to fill it
 * @weight: those of the smallest are left out where there is not; no two have the same
 * @flags: COLUMN_LEFT, COLUMN_END, COLUMN_INSTEAD
 * @sort: devices: which order it is, plus 1
 * @put: says what is in it, for an item
 * @put_real: if there is no @put: prints the double which is
 * @at: at this offset of an item
 */
struct column {
	const char *title;
	unsigned int least;
	unsigned int most;
	unsigned int weight;
	unsigned int flags;
	unsigned int sort;
	void (*put)(const void *item, struct cell *cell);
	void (*put_real)(char text[static CELL], double value);
	size_t at;
};

#define COLUMN_LEFT	1
/* What is too long loses its beginning. */
#define COLUMN_END	2
/* Is there only if the one before is left out. */
#define COLUMN_INSTEAD	4
#define COLUMNS_MAX	16

/**
 * struct list - a table to be drawn
 * @columns: its columns
 * @n_columns: how many
 * @items: what is in it
 * @size: of one
 * @n: how many
 * @selected: one of them; @n if none is
 */
struct list {
	const struct column *columns;
	size_t n_columns;
	const void *items;
	size_t size;
	size_t n;
	size_t selected;
};

static const void *item_of(const struct list *list, size_t i)
{
	return (const char *)list->items + i * list->size;
}

static struct cell cell_of(const struct top_view *view, const struct column *column,
			   const void *item, unsigned int width)
{
	struct cell cell = { .view = view, .width = width, .style = STYLE_PLAIN };

	if (column->put)
		column->put(item, &cell);
	else
		column->put_real(cell.text, *(const double *)((const char *)item + column->at));
	return cell;
}

static const char *text_of(const struct cell *cell)
{
	return cell->whole ?: cell->text;
}

/* How wide a column would like to be. */
static unsigned int wanted(const struct top_view *view, const struct list *list,
			   const struct column *column)
{
	unsigned int width = column->least;

	for (size_t i = 0; i < list->n && column->most > column->least; i++) {
		struct cell cell = cell_of(view, column, item_of(list, i), column->most);
		unsigned int takes = screen_width(text_of(&cell));

		width = takes > width ? takes : width;
	}
	return MIN(width, column->most);
}

/* Who has more weight takes first what it would like to have. */
static void grow(const struct top_view *view, const struct list *list, unsigned int room,
		 unsigned int widths[static COLUMNS_MAX])
{
	unsigned int below = UINT_MAX;

	for (size_t turn = 0; turn < list->n_columns; turn++) {
		size_t next = list->n_columns;
		unsigned int more;

		for (size_t i = 0; i < list->n_columns; i++)
			if (list->columns[i].weight < below &&
			    (next == list->n_columns ||
			     list->columns[i].weight > list->columns[next].weight))
				next = i;
		if (next == list->n_columns)
			return;
		below = list->columns[next].weight;
		if (!widths[next])
			continue;
		more = MIN(room, wanted(view, list, &list->columns[next]) - widths[next]);
		widths[next] += more;
		room -= more;
	}
}

/* Widths; 0 is left out. */
static void fit(const struct top_view *view, const struct list *list, unsigned int room,
		unsigned int widths[static COLUMNS_MAX])
{
	const struct column *columns = list->columns;
	size_t n = list->n_columns;
	unsigned int all = 0;

	for (size_t i = 0; i < n; i++) {
		widths[i] = columns[i].flags & COLUMN_INSTEAD ? 0 : columns[i].least;
		all += widths[i] ? widths[i] + 1 : 0;
	}
	while (all > room + 1) {
		size_t least = n;

		for (size_t i = 0; i < n; i++)
			if (widths[i] && (least == n || columns[i].weight < columns[least].weight))
				least = i;
		if (least == n)
			return;
		all -= widths[least] + 1;
		widths[least] = 0;
		if (least + 1 < n && columns[least + 1].flags & COLUMN_INSTEAD) {
			widths[least + 1] = columns[least + 1].least;
			all += widths[least + 1] + 1;
		}
	}
	grow(view, list, room + 1 - all, widths);
}

static void put_cell(struct screen *screen, unsigned int row, unsigned int at, unsigned int width,
		     unsigned int flags, enum screen_style style, const char *text)
{
	if (flags & COLUMN_END)
		screen_put_end(screen, row, at, width, style, text);
	else if (flags & COLUMN_LEFT)
		screen_put(screen, row, at, width, style, text);
	else
		screen_put_right(screen, row, at, width, style, text);
}

static void draw_header(struct screen *screen, unsigned int row, const struct top_view *view,
			const struct list *list, const unsigned int *widths)
{
	unsigned int at = 0;

	screen_put(screen, row, 0, screen->columns, STYLE_HEADER, "");
	for (size_t i = 0; i < list->n_columns; i++) {
		const struct column *column = &list->columns[i];
		bool sorted = column->sort && column->sort - 1 == view->sort;

		if (!widths[i])
			continue;
		put_cell(screen, row, at, widths[i], column->flags & COLUMN_LEFT,
			 sorted ? STYLE_SORTED : STYLE_HEADER, column->title);
		at += widths[i] + 1;
	}
}

static void draw_item(struct screen *screen, unsigned int row, const struct top_view *view,
		      const struct list *list, const unsigned int *widths, size_t item)
{
	bool selected = item == list->selected;
	unsigned int at = 0;

	if (selected)
		screen_put(screen, row, 0, screen->columns, STYLE_SELECTED, "");
	for (size_t i = 0; i < list->n_columns; i++) {
		struct cell cell;

		if (!widths[i])
			continue;
		cell = cell_of(view, &list->columns[i], item_of(list, item), widths[i]);
		if (selected && cell.style == STYLE_PLAIN)
			cell.style = STYLE_SELECTED;
		put_cell(screen, row, at, widths[i], list->columns[i].flags, cell.style,
			 text_of(&cell));
		at += widths[i] + 1;
	}
}

/* Its header, and as many items as there is room for. Return: the row below. */
static unsigned int draw_list(struct screen *screen, unsigned int row, unsigned int rows,
			      const struct top_view *view, const struct list *list)
{
	unsigned int widths[COLUMNS_MAX];
	size_t first = 0, shown = list->n;
	char text[CELL];

	if (rows < 2)
		return row;
	fit(view, list, screen->columns, widths);
	draw_header(screen, row++, view, list, widths);
	if (shown > --rows) {
		shown = rows - 1;
		if (list->selected < list->n && list->selected >= shown)
			first = MIN(list->selected - shown + 1, list->n - shown);
	}
	for (size_t i = first; i < first + shown; i++)
		draw_item(screen, row++, view, list, widths, i);
	if (shown < list->n) {
		snprintf(text, sizeof(text), "and %zu more", list->n - shown);
		screen_put(screen, row++, 0, screen->columns, STYLE_FAINT, text);
	}
	return row;
}

/*
 * Devices
 */

static void put_name(const void *item, struct cell *cell)
{
	const struct top_device *d = item;

	cell->whole = d->now.name;
	if (d->now.values[TOP_FAILING_STRIPES])
		cell->style = STYLE_BAD;
}

static void put_full(const void *item, struct cell *cell)
{
	double full = ((const struct top_device *)item)->full;

	put_share(cell->text, full);
	if (full >= 0.9)
		cell->style = STYLE_GOOD;
	else if (full < 0.5)
		cell->style = STYLE_WARNING;
}

static double low_water(const struct top_device *d)
{
	double low = d->now.values[TOP_LOW_WATER], high = d->now.values[TOP_HIGH_WATER];

	return high > 0 ? low / high : 0;
}

static enum screen_style staged_style(const struct top_device *d)
{
	if (d->staged >= 1)
		return STYLE_BAD;
	return d->staged > low_water(d) ? STYLE_WARNING : STYLE_PLAIN;
}

static void put_staged_bar(const void *item, struct cell *cell)
{
	const struct top_device *d = item;

	put_bar(cell->text, cell->width, isnan(d->staged) ? 0 : d->staged, low_water(d));
	cell->style = staged_style(d);
}

static void put_staged(const void *item, struct cell *cell)
{
	const struct top_device *d = item;

	put_share(cell->text, d->staged);
	cell->style = staged_style(d);
}

static void put_held(const void *item, struct cell *cell)
{
	const uint64_t *values = ((const struct top_device *)item)->now.values;

	snprintf(cell->text, CELL, "%llu/%llu", (unsigned long long)values[TOP_HELD_FILES],
		 (unsigned long long)values[TOP_DIRTY_FILES]);
	if (values[TOP_HELD_FILES])
		cell->style = STYLE_WARNING;
}

static void put_streams(const void *item, struct cell *cell)
{
	put_number(cell->text, ((const struct top_device *)item)->now.values[TOP_ACTIVE_STREAMS]);
}

#define REAL(_put, _field)	.put_real = _put, .at = offsetof(struct top_device, _field)

static const struct column device_columns[] = {
	{ "DEVICE", 8, 24, 99, COLUMN_LEFT, TOP_BY_NAME + 1, .put = put_name },
	{ "READ/s", 8, 8, 50, 0, TOP_BY_READ + 1, REAL(put_size, read_bytes) },
	{ "WRITE/s", 8, 8, 60, 0, TOP_BY_WRITE + 1, REAL(put_size, written_bytes) },
	{ "R/s", 6, 6, 11, 0, 0, REAL(put_number, reads) },
	{ "W/s", 6, 6, 12, 0, 0, REAL(put_number, writes) },
	{ "FULL", 4, 4, 59, 0, TOP_BY_FULL + 1, .put = put_full },
	{ "PRE/MiB", 7, 7, 40, 0, TOP_BY_PRE_READS + 1, REAL(put_number, pre_reads) },
	{ "STAGED", 17, 27, 20, COLUMN_LEFT, TOP_BY_STAGED + 1, .put = put_staged_bar },
	{ "STAGED", 6, 6, 58, COLUMN_INSTEAD, TOP_BY_STAGED + 1, .put = put_staged },
	{ "FLUSH", 7, 7, 30, 0, TOP_BY_FLUSH + 1, REAL(put_time, flush_us) },
	{ "HELD", 5, 7, 57, 0, TOP_BY_HELD + 1, .put = put_held },
	{ "STRMS", 5, 5, 25, 0, TOP_BY_STREAMS + 1, .put = put_streams },
	{ "HITS", 4, 4, 9, 0, 0, REAL(put_share, hits) },
	{ "WAITS/s", 7, 7, 10, 0, 0, REAL(put_number, waits) },
};

/*
 * Files and streams
 */

static void put_file_wait(const void *item, struct cell *cell)
{
	const struct file_view *file = item;

	put_time(cell->text, file->held ? file->wait_us : NAN);
	if (file->held)
		cell->style = STYLE_WARNING;
}

static void put_file_outstanding(const void *item, struct cell *cell)
{
	put_size(cell->text, ((const struct file_view *)item)->outstanding);
}

static void put_file_parked(const void *item, struct cell *cell)
{
	put_size(cell->text, ((const struct file_view *)item)->parked_bytes);
}

static void put_file_times(const void *item, struct cell *cell)
{
	put_number(cell->text, ((const struct file_view *)item)->times_held);
}

static void put_file_longest(const void *item, struct cell *cell)
{
	const struct file_view *file = item;

	put_time(cell->text, file->times_held ? file->longest_wait_us : NAN);
}

static void put_file_device(const void *item, struct cell *cell)
{
	cell->whole = top_device_name(cell->view, ((const struct file_view *)item)->disk);
}

static void put_file_path(const void *item, struct cell *cell)
{
	const struct file_view *file = item;

	if (file->tgid)
		snprintf(cell->text, CELL, "process %u (%.16s)", file->tgid, file->path ?: "gone");
	else if (file->path)
		cell->whole = file->path;
	else
		snprintf(cell->text, CELL, "inode %llu of %u:%u", (unsigned long long)file->inode,
			 file->fs_major, file->fs_minor);
}

static const struct column file_columns[] = {
	{ "HELD", 7, 7, 70, .put = put_file_wait },
	{ "OUTSTANDING", 11, 11, 80, .put = put_file_outstanding },
	{ "PARKED", 8, 8, 30, .put = put_file_parked },
	{ "TIMES", 5, 5, 20, .put = put_file_times },
	{ "LONGEST", 7, 7, 40, .put = put_file_longest },
	{ "DEVICE", 8, 16, 50, COLUMN_LEFT, .put = put_file_device },
	{ "FILE", 20, 400, 99, COLUMN_LEFT | COLUMN_END, .put = put_file_path },
};

static void put_stream_device(const void *item, struct cell *cell)
{
	cell->whole = top_device_name(cell->view, ((const struct stream_view *)item)->disk);
}

static void put_stream_position(const void *item, struct cell *cell)
{
	put_size(cell->text, ((const struct stream_view *)item)->position);
}

static void put_stream_direction(const void *item, struct cell *cell)
{
	cell->whole = view_direction(((const struct stream_view *)item)->direction);
}

static void put_stream_stride(const void *item, struct cell *cell)
{
	const struct stream_view *stream = item;

	put_size(cell->text, stream->direction == STREAM_STRIDED ? (double)stream->stride : NAN);
}

static void put_stream_degree(const void *item, struct cell *cell)
{
	put_number(cell->text, ((const struct stream_view *)item)->degree);
}

static void put_stream_ahead(const void *item, struct cell *cell)
{
	put_size(cell->text, ((const struct stream_view *)item)->ahead);
}

static void put_stream_read(const void *item, struct cell *cell)
{
	put_size(cell->text, ((const struct stream_view *)item)->read);
}

static void put_stream_idle(const void *item, struct cell *cell)
{
	put_time(cell->text, 1e3 * ((const struct stream_view *)item)->idle_ms);
}

static const struct column stream_columns[] = {
	{ "POSITION", 8, 8, 80, .put = put_stream_position },
	{ "DIRECTION", 9, 9, 70, COLUMN_LEFT, .put = put_stream_direction },
	{ "STRIDE", 9, 9, 20, .put = put_stream_stride },
	{ "DEGREE", 6, 6, 30, .put = put_stream_degree },
	{ "AHEAD", 8, 8, 60, .put = put_stream_ahead },
	{ "READ", 8, 8, 50, .put = put_stream_read },
	{ "IDLE", 7, 7, 40, .put = put_stream_idle },
	{ "DEVICE", 8, 24, 90, COLUMN_LEFT, .put = put_stream_device },
};

/*
 * The whole
 */

static void put_line(struct screen *screen, unsigned int row, enum screen_style style,
		     const char *format, ...) __printf(4, 5);

static void put_line(struct screen *screen, unsigned int row, enum screen_style style,
		     const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	screen_put(screen, row, 0, screen->columns, style, text);
}

static void draw_title(struct screen *screen, const struct top_view *view)
{
	char text[CELL * 2], seconds[CELL];
	unsigned int width;

	put_number(seconds, view->seconds);
	snprintf(text, sizeof(text), "fullstripe: %zu device%s", view->n_devices,
		 view->n_devices == 1 ? "" : "s");
	screen_put(screen, 0, 0, screen->columns, STYLE_TITLE, text);
	snprintf(text, sizeof(text), "%sby %s%s, every %s s", view->paused ? "PAUSED  " : "",
		 top_sort_name(view->sort), view->reverse ? " reversed" : "", seconds);
	width = screen_width(text);
	if (width + 24 < screen->columns)
		screen_put(screen, 0, screen->columns - width, width,
			   view->paused ? STYLE_WARNING : STYLE_FAINT, text);
}

#define DETAILS	3

/* Of the device that is looked at. */
static unsigned int draw_details(struct screen *screen, unsigned int row,
				 const struct top_view *view)
{
	const struct top_device *d = &view->devices[MIN(view->selected, view->n_devices - 1)];
	const uint64_t *v = d->now.values;
	static const enum top_value sizes[] = {
		TOP_CHUNK_BYTES, TOP_CLUSTER_BYTES, TOP_STAGED_BYTES, TOP_LOW_WATER, TOP_HIGH_WATER,
		TOP_FILE_LOW_WATER, TOP_FILE_HIGH_WATER,
	};
	char size[ARRAY_SIZE(sizes)][CELL], rate[4][CELL];

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		put_size(size[i], v[sizes[i]]);
	put_number(rate[0], d->whole);
	put_number(rate[1], d->filled);
	put_number(rate[2], d->partial);
	put_number(rate[3], d->flushes);
	put_line(screen, row++, STYLE_PLAIN, "%s on %s: stripes %llu x %s, clusters %s, %s%s", d->now.name,
		 d->now.lower, (unsigned long long)v[TOP_DATA_MEMBERS], size[0], size[1], d->now.mode,
		 d->now.state == TOP_ARRAY_BUSY ? "; the array is busy, or lacks a member" : "");
	put_line(screen, row++, STYLE_PLAIN, "staged %s (low water %s, high %s; of a file %s, %s)", size[2],
		 size[3], size[4], size[5], size[6]);
	if (v[TOP_FAILING_STRIPES])
		put_line(screen, row++, STYLE_BAD, "%llu stripe%s cannot be written: see the kernel's log; dmsetup message %s 0 retry",
			 (unsigned long long)v[TOP_FAILING_STRIPES],
			 v[TOP_FAILING_STRIPES] == 1 ? "" : "s", d->now.name);
	else
		put_line(screen, row++, STYLE_PLAIN, "stripes/s: %s whole, %s filled, %s partial; flushes/s: %s",
			 rate[0], rate[1], rate[2], rate[3]);
	return row;
}

static const char * const keys[] = {
	"q quit", "space pause", "<> sort", "r reverse", "up/down device", "+- interval",
};

/* Those that there is room for; a key without its word would say nothing. */
static void draw_keys(struct screen *screen, unsigned int row)
{
	unsigned int column = 0;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		unsigned int width = strlen(keys[i]);

		if (column + width > screen->columns)
			return;
		screen_put(screen, row, column, width, STYLE_FAINT, keys[i]);
		column += width + 2;
	}
}

static size_t gap(const struct screen *screen)
{
	return screen->rows >= ROWS_AIRY;
}

/**
 * top_rows() - the height at which everything is seen
 * @view: what is to be seen
 */
unsigned int top_rows(const struct top_view *view)
{
	size_t rows = 2 + (2 + view->n_devices) + (DETAILS + 1) + 2 + view->n_files + 2 +
		      view->n_streams + 2;

	return rows < ROWS_AIRY ? ROWS_AIRY : rows;
}

/**
 * top_draw() - what the devices do
 * @screen: an empty screen
 * @view: what is to be seen
 */
void top_draw(struct screen *screen, const struct top_view *view)
{
	const struct list devices = {
		.columns = device_columns, .n_columns = ARRAY_SIZE(device_columns),
		.items = view->devices, .size = sizeof(*view->devices), .n = view->n_devices,
		.selected = view->keys && view->n_devices > 1 ? view->selected : view->n_devices,
	};
	const struct list files = {
		.columns = file_columns, .n_columns = ARRAY_SIZE(file_columns),
		.items = view->files, .size = sizeof(*view->files), .n = view->n_files,
		.selected = view->n_files,
	};
	const struct list streams = {
		.columns = stream_columns, .n_columns = ARRAY_SIZE(stream_columns),
		.items = view->streams, .size = sizeof(*view->streams), .n = view->n_streams,
		.selected = view->n_streams,
	};
	unsigned int end = screen->rows, row = 1, rows, air = gap(screen);

	draw_title(screen, view);
	if (view->keys && end > 4)
		draw_keys(screen, --end);
	row += air;
	if (!view->n_devices) {
		put_line(screen, row, STYLE_PLAIN, "There is no fullstripe device that is active.");
		return;
	}
	/* Half of the room at the most, if there is something else to see. */
	rows = end - row;
	if (view->keys && view->n_files + view->n_streams && rows > 8)
		rows /= 2;
	row = draw_list(screen, row, rows, view, &devices);
	if (air && end - row >= DETAILS + 6)
		row = draw_details(screen, row + air, view);
	row += air;
	if (view->no_lists) {
		if (row < end)
			put_line(screen, row, STYLE_FAINT, "%s", view->no_lists);
		return;
	}
	if (row >= end)
		return;
	rows = end - row;
	/* Streams get what files leave, and a third at least. */
	if (view->n_streams && view->n_files)
		rows -= MIN(rows / 3, view->n_streams + 1 + air);
	if (view->n_files)
		row = draw_list(screen, row, rows, view, &files) + air;
	if (view->n_streams && row < end)
		draw_list(screen, row, end - row, view, &streams);
}

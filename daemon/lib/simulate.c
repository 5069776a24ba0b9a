// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <linux/bitmap.h>

#include "blockmap.h"
#include "geometry.h"
#include "histogram.h"
#include "macros.h"
#include "simulate.h"

#define PAGE_BYTES		4096
#define PAGE_SECTORS		(PAGE_BYTES / SECTOR)
#define MS			1000000ull

/* As in kmod/: staging.c, destage.c, fill.c, fullstripe.h. */
#define GROUPS_PER_STRIPE	16
#define BYPASS_STRIPES_MAX	4
#define MD_ROWS			(RAID_CACHE_ROWS * 3 / 4)
#define IDLE_SHARE		5
#define NR_FILLS		4
#define FILL_BYTES_MAX		(4u << 20)

/* What md takes in one bio. */
#define MD_BIO_SECTORS		(256 * PAGE_SECTORS)

/* A piece of a write that lies in one stripe, or a flush. */
struct piece {
	TAILQ_ENTRY(piece) link;
	uint64_t since;
	uint64_t stripe;
	uint32_t first, sectors;
	bool fua;
};

TAILQ_HEAD(pieces, piece);

/* What is staged of a stripe: in @open, or in @older while it is being written. */
struct group {
	TAILQ_ENTRY(group) live, full, urgent, batch;
	uint64_t stripe;
	bool is_full, is_urgent, is_old, recent;
	uint32_t nr_dirty;
	uint64_t pages;
	uint64_t epoch, born, whole_since;
	struct pieces waiting;
	unsigned long dirty[];
};

TAILQ_HEAD(groups, group);

/* Groups by stripe. */
struct stripes {
	size_t n, room;
	struct group **list;
};

/* What the array is doing: writing a batch of groups, or @n stripes that passed. */
struct job {
	TAILQ_ENTRY(job) link;
	struct groups batch;
	bool fill;
	uint64_t since, first, n;
};

TAILQ_HEAD(jobs, job);

struct times {
	uint64_t sum;
	struct histogram histogram;
};

struct simulation {
	struct simulate_options options;
	struct geometry geo;
	struct raid *raid;
	uint64_t now, alarm, last_io;
	unsigned int bypass_stripes;
	uint64_t cluster_stripes;

	struct stripes open, older;
	struct groups live, full, urgent;
	struct jobs jobs;
	struct pieces parked;
	bool stalled;
	uint64_t nr_pages, free_pages, nr_groups, used;

	unsigned int inflight, inflight_whole, inflight_old, inflight_max, free_fills;
	uint64_t cursor;
	uint64_t epoch, flush_epoch;
	bool flushing;
	struct pieces flushes, answering;

	unsigned long *map;	/* a stripe's, all clear between uses */
	unsigned long *all;	/* a stripe's, all set */
	size_t map_bytes;
	struct simulate_result result;
	struct times wait, held;
};

static uint64_t div_up(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

static uint64_t max_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t min_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void set_staging_up(struct simulation *s)
{
	const struct simulate_options *o = &s->options;
	uint64_t width = s->geo.stripe_sectors;
	uint64_t stripe_pages = div_up(width, PAGE_SECTORS);

	s->nr_pages = o->high_water_bytes / PAGE_BYTES;
	s->free_pages = s->nr_pages;
	s->nr_groups = max_of(s->nr_pages / max_of(stripe_pages / GROUPS_PER_STRIPE, 1),
			      2 * BYPASS_STRIPES_MAX);
	s->bypass_stripes = min_of(MD_BIO_SECTORS / width, BYPASS_STRIPES_MAX);
	s->cluster_stripes = max_of(o->cluster_bytes / (width * SECTOR), 1);
	s->inflight_max = max_of(MD_ROWS / (s->geo.chunk_sectors / ROW_SECTORS), 1);
	s->free_fills = min_of(max_of(FILL_BYTES_MAX / PAGE_BYTES / stripe_pages, 1), NR_FILLS);
}

/**
 * simulation_new() - a device that nothing was written to
 * @options: copied; what the module would refuse is the caller's to refuse
 * @ret: the simulation
 *
 * Return: 0 or -ENOMEM.
 */
int simulation_new(const struct simulate_options *options, struct simulation **ret)
{
	struct simulation *s = calloc(1, sizeof(*s));
	uint64_t len = options->size ? options->size / SECTOR : 1ull << 62;

	if (!s)
		return -ENOMEM;
	s->options = *options;
	geometry_init(&s->geo, options->shape.chunk_bytes, options->shape.data_members,
		      options->alignment_offset, 0, len);
	TAILQ_INIT(&s->live);
	TAILQ_INIT(&s->full);
	TAILQ_INIT(&s->urgent);
	TAILQ_INIT(&s->jobs);
	TAILQ_INIT(&s->parked);
	TAILQ_INIT(&s->flushes);
	TAILQ_INIT(&s->answering);
	s->alarm = UINT64_MAX;
	set_staging_up(s);
	s->map_bytes = div_up(s->geo.stripe_sectors, 8 * sizeof(long)) * sizeof(long);
	s->map = calloc(1, s->map_bytes);
	s->all = calloc(1, s->map_bytes);
	if (!s->map || !s->all || raid_new(&options->shape, &s->raid) < 0) {
		simulation_free(s);
		return -ENOMEM;
	}
	bitmap_set(s->all, 0, s->geo.stripe_sectors);
	*ret = s;
	return 0;
}

static void free_pieces(struct pieces *pieces)
{
	struct piece *p;

	while ((p = TAILQ_FIRST(pieces))) {
		TAILQ_REMOVE(pieces, p, link);
		free(p);
	}
}

/**
 * simulation_free() - free a simulation
 * @s: the simulation or NULL
 *
 * Return: NULL.
 */
struct simulation *simulation_free(struct simulation *s)
{
	struct group *g;
	struct job *job;

	if (!s)
		return NULL;
	while ((job = TAILQ_FIRST(&s->jobs))) {
		TAILQ_REMOVE(&s->jobs, job, link);
		free(job);
	}
	while ((g = TAILQ_FIRST(&s->live))) {
		TAILQ_REMOVE(&s->live, g, live);
		free_pieces(&g->waiting);
		free(g);
	}
	free(s->open.list);
	free(s->older.list);
	free_pieces(&s->parked);
	free_pieces(&s->flushes);
	free_pieces(&s->answering);
	raid_free(s->raid);
	free(s->map);
	free(s->all);
	free(s);
	return NULL;
}

static void times_add(struct times *t, uint64_t ns)
{
	t->sum += ns;
	histogram_add(&t->histogram, ns);
}

static struct simulate_time times_sum_up(const struct times *t)
{
	return (struct simulate_time) {
		.n = t->histogram.n,
		.mean = t->histogram.n ? t->sum / t->histogram.n : 0,
		.p99 = histogram_percentile(&t->histogram, 99),
	};
}

/*
 * Groups by stripe
 */

/* The place of the first one at or behind a stripe. */
static size_t place_of(const struct stripes *stripes, uint64_t stripe)
{
	size_t from = 0, to = stripes->n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (stripes->list[middle]->stripe < stripe)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static struct group *group_at(const struct stripes *stripes, size_t place)
{
	return place < stripes->n ? stripes->list[place] : NULL;
}

static struct group *find_group(const struct stripes *stripes, uint64_t stripe)
{
	struct group *g = group_at(stripes, place_of(stripes, stripe));

	return g && g->stripe == stripe ? g : NULL;
}

static int insert_group(struct stripes *stripes, struct group *g)
{
	size_t place = place_of(stripes, g->stripe);

	if (stripes->n == stripes->room) {
		size_t room = stripes->room ? 2 * stripes->room : 64;
		struct group **list = reallocarray(stripes->list, room, sizeof(struct group *));

		if (!list)
			return -ENOMEM;
		stripes->list = list;
		stripes->room = room;
	}
	memmove(&stripes->list[place + 1], &stripes->list[place],
		(stripes->n - place) * sizeof(stripes->list[0]));
	stripes->list[place] = g;
	stripes->n++;
	return 0;
}

static void remove_group(struct stripes *stripes, const struct group *g)
{
	size_t place = place_of(stripes, g->stripe);

	stripes->n--;
	memmove(&stripes->list[place], &stripes->list[place + 1],
		(stripes->n - place) * sizeof(stripes->list[0]));
}

static bool is_whole(const struct simulation *s, const struct group *g)
{
	return g->nr_dirty == s->geo.stripe_sectors;
}

/*
 * Starting: see "Starting" in kmod/destage.c
 */

/* Whether the flush that is under way waits for more than one group. */
static bool are_owed(const struct simulation *s)
{
	const struct group *first = TAILQ_FIRST(&s->live);
	const struct group *second = first ? TAILQ_NEXT(first, live) : NULL;

	return s->flushing && second && second->epoch <= s->flush_epoch;
}

/* Whether the members do something else while a group is written. */
static bool is_beside(const struct simulation *s)
{
	const struct job *job;

	if (s->inflight > 0 || are_owed(s))
		return true;
	TAILQ_FOREACH(job, &s->jobs, link)
		if (job->n > 0)
			return true;
	return false;
}

static bool wants_fill(const struct simulation *s, const struct group *g)
{
	return s->options.seek_bytes && !g->is_urgent && !is_whole(s, g) &&
	       blockmap_fill_pays(g->dirty, s->geo.chunk_sectors, s->geo.stripe_sectors,
				  s->options.seek_bytes / SECTOR,
				  is_beside(s) ? RAID_BATCH_ROWS : UINT32_MAX);
}

static bool awaits_fill(const struct simulation *s, const struct group *g)
{
	return s->free_fills == 0 && wants_fill(s, g);
}

static bool is_bypassed(const struct simulation *s, uint64_t stripe)
{
	const struct job *job;

	TAILQ_FOREACH(job, &s->jobs, link)
		if (stripe - job->first < job->n)
			return true;
	return false;
}

static bool seal(struct simulation *s, struct group *g)
{
	if (find_group(&s->older, g->stripe) || is_bypassed(s, g->stripe))
		return false;
	remove_group(&s->open, g);
	if (g->is_full)
		TAILQ_REMOVE(&s->full, g, full);
	if (g->is_urgent)
		TAILQ_REMOVE(&s->urgent, g, urgent);
	g->is_full = false;
	return true;
}

static bool joins(const struct simulation *s, const struct group *g, const struct group *other,
		  int64_t distance)
{
	return other && other->stripe == g->stripe + distance &&
	       other->stripe / s->cluster_stripes == g->stripe / s->cluster_stripes &&
	       is_whole(s, other);
}

/* Take whole neighbours of the same cluster along, on one side of @leader. */
static void gather(struct simulation *s, struct job *job, struct group *leader, int64_t direction)
{
	struct group *last = leader, *g;

	for (;;) {
		g = find_group(&s->open, last->stripe + direction);
		if (!joins(s, last, g, direction) || !seal(s, g))
			return;
		if (direction < 0)
			TAILQ_INSERT_HEAD(&job->batch, g, batch);
		else
			TAILQ_INSERT_TAIL(&job->batch, g, batch);
		last = g;
	}
}

static int read_holes(struct simulation *s, struct raid_io *io, const struct group *g)
{
	u32 chunk = s->geo.chunk_sectors;
	u32 first, end;
	int r = 0;

	for (u32 at = 0; at < s->geo.stripe_sectors && r == 0; at += chunk)
		if (blockmap_hole_span(g->dirty, at, at + chunk, &first, &end))
			r = raid_io_read(io, g->stripe, first, end - first);
	return r;
}

/* Whether somebody waits for a group: then it has REQ_SYNC, which matters if it is partial. */
static bool is_awaited(const struct simulation *s, const struct group *g)
{
	return g->is_urgent || (s->flushing && g->epoch <= s->flush_epoch);
}

static int send_batch(struct simulation *s, struct job *job)
{
	struct raid_io *io = raid_io_new(s->raid, is_awaited(s, TAILQ_FIRST(&job->batch)), job);
	struct group *g;
	int r = 0;

	if (!io)
		return -ENOMEM;
	TAILQ_FOREACH(g, &job->batch, batch) {
		r = insert_group(&s->older, g);
		if (r == 0 && job->fill)
			r = read_holes(s, io, g);
		if (r == 0)
			r = raid_io_write(io, g->stripe, job->fill ? s->all : g->dirty);
		if (r < 0)
			return r;
		s->inflight++;
		s->inflight_whole += is_whole(s, g);
	}
	return raid_io_submit(io, s->now);
}

/* Return: 1 if it was started, 0 if something else must end first, or -ENOMEM. */
static int start(struct simulation *s, struct group *g)
{
	struct job *job;
	int r;

	if (awaits_fill(s, g))
		return 0;
	job = calloc(1, sizeof(*job));
	if (!job)
		return -ENOMEM;
	if (!seal(s, g)) {
		free(job);
		return 0;
	}
	TAILQ_INIT(&job->batch);
	TAILQ_INSERT_TAIL(&s->jobs, job, link);
	TAILQ_INSERT_TAIL(&job->batch, g, batch);
	if (is_whole(s, g)) {
		gather(s, job, g, -1);
		gather(s, job, g, 1);
	} else if (wants_fill(s, g)) {
		job->fill = true;
		s->free_fills--;
	}
	r = send_batch(s, job);
	return r < 0 ? r : 1;
}

/*
 * What is written next: see "What is written next" in kmod/destage.c
 */

static bool has_room(const struct simulation *s, unsigned int max)
{
	return s->inflight - s->inflight_old < max;
}

static uint64_t deadline(const struct simulation *s, uint64_t since)
{
	return since + s->options.hold_ms * MS;
}

static uint64_t idle_at(const struct simulation *s)
{
	return s->last_io + div_up(s->options.hold_ms, IDLE_SHARE) * MS;
}

/* How much of the high water mark is used, without so many whole stripes. */
static uint64_t occupied_bytes(const struct simulation *s, unsigned int leaving)
{
	return max_of((s->nr_pages - s->free_pages) * PAGE_BYTES -
			      leaving * s->geo.stripe_sectors * SECTOR,
		      s->options.high_water_bytes / s->nr_groups * (s->used - leaving));
}

static int start_urgent(struct simulation *s)
{
	struct group *g;
	int r = 1;

	while (r > 0) {
		r = 0;
		TAILQ_FOREACH(g, &s->urgent, urgent) {
			if (!has_room(s, s->inflight_max))
				return 0;
			r = start(s, g);
			if (r != 0)
				break;
		}
	}
	return r;
}

static int sweep(struct simulation *s, uint64_t epoch, bool pass_recent, unsigned int most)
{
	size_t place = place_of(&s->open, s->cursor);
	uint64_t begin = s->cursor;
	bool wrapped = false;

	while (has_room(s, most)) {
		struct group *g = group_at(&s->open, place);
		int r;

		if (!g) {
			if (wrapped)
				return 0;
			wrapped = true;
			place = 0;
			continue;
		}
		if (wrapped && g->stripe >= begin)
			return 0;
		s->cursor = g->stripe;
		if (g->epoch > epoch || (pass_recent && g->recent)) {
			g->recent = false;
			place++;
			continue;
		}
		if (awaits_fill(s, g))
			return 0;
		s->cursor++;
		r = start(s, g);
		if (r < 0)
			return r;
		place = place_of(&s->open, s->cursor);
	}
	return 0;
}

static bool cluster_is_whole(const struct simulation *s, const struct group *g)
{
	uint64_t stripe = g->stripe / s->cluster_stripes * s->cluster_stripes;
	size_t place = place_of(&s->open, stripe);

	for (uint64_t i = 0; i < s->cluster_stripes; i++) {
		const struct group *other = group_at(&s->open, place + i);

		if (!other || other->stripe != stripe + i || !is_whole(s, other))
			return false;
	}
	return true;
}

static int start_whole(struct simulation *s, bool above_low_water)
{
	struct group *g;
	int r = 1;

	while (r > 0) {
		r = 0;
		TAILQ_FOREACH(g, &s->full, full) {
			if (!has_room(s, s->inflight_max))
				return 0;
			if (!above_low_water && s->now < deadline(s, g->whole_since) &&
			    !cluster_is_whole(s, g))
				continue;
			r = start(s, g);
			if (r != 0)
				break;
		}
	}
	return r;
}

static bool is_open(const struct simulation *s, const struct group *g)
{
	return find_group(&s->open, g->stripe) == g;
}

static int start_old(struct simulation *s)
{
	struct group *g;

	TAILQ_FOREACH(g, &s->live, live) {
		bool has_place = has_room(s, s->inflight_max);
		int r;

		/* There may always be more whole ones than can be in flight: one always can. */
		if ((!has_place && s->inflight_old) || s->now < deadline(s, g->born))
			return 0;
		if (!is_open(s, g) || (!has_place && is_whole(s, g)))
			continue;
		if (awaits_fill(s, g))
			return 0;
		r = start(s, g);
		if (r < 0)
			return r;
		if (r > 0 && !has_place) {
			g->is_old = true;
			s->inflight_old++;
		}
	}
	return 0;
}

static bool is_above_low_water(const struct simulation *s)
{
	return s->stalled || occupied_bytes(s, 0) > s->options.low_water_bytes;
}

static int start_pressed(struct simulation *s)
{
	uint64_t high = s->options.high_water_bytes, low = s->options.low_water_bytes;
	uint64_t occupied = occupied_bytes(s, s->inflight_whole);
	unsigned int max = s->inflight_max;
	int r;

	if (occupied <= low && (!s->stalled || s->inflight_whole))
		return 0;
	if (!s->stalled && occupied < high)
		max = 1 + (s->inflight_max - 1) * (occupied - low) / (high - low);
	r = sweep(s, UINT64_MAX, true, max);
	if (r == 0 && s->inflight == 0)
		r = sweep(s, UINT64_MAX, false, 1);
	return r;
}

static int start_some(struct simulation *s)
{
	int r;

	r = start_urgent(s);
	if (r == 0 && s->flushing)
		r = sweep(s, s->flush_epoch, false, s->inflight_max);
	if (r == 0)
		r = start_whole(s, is_above_low_water(s));
	if (r == 0)
		r = start_old(s);
	if (r == 0 && s->now >= idle_at(s))
		r = sweep(s, UINT64_MAX, false, s->inflight_max);
	return r < 0 ? r : start_pressed(s);
}

/*
 * Writes
 */

/* Sectors of a stripe that are not staged. */
static int write_sectors(struct simulation *s, struct raid_io *io, uint64_t stripe, uint32_t first,
			 uint32_t sectors)
{
	int r;

	if (sectors == s->geo.stripe_sectors) {
		s->result.passed_whole++;
		return raid_io_write(io, stripe, s->all);
	}
	s->result.passed_partial++;
	bitmap_set(s->map, first, sectors);
	r = raid_io_write(io, stripe, s->map);
	memset(s->map, 0, s->map_bytes);
	return r;
}

/* Give the array something that is not staged: sectors of a stripe, or whole stripes. */
static int pass(struct simulation *s, uint64_t since, uint64_t stripe, uint64_t n, uint32_t first,
		uint32_t sectors)
{
	struct job *job = calloc(1, sizeof(*job));
	struct raid_io *io = job ? raid_io_new(s->raid, true, job) : NULL;
	int r = 0;

	if (!io) {
		free(job);
		return -ENOMEM;
	}
	TAILQ_INIT(&job->batch);
	TAILQ_INSERT_TAIL(&s->jobs, job, link);
	job->since = since;
	job->first = stripe;
	job->n = n;
	for (uint64_t i = 0; i < n && r == 0; i++)
		r = write_sectors(s, io, stripe + i, first, sectors);
	return r < 0 ? r : raid_io_submit(io, s->now);
}

/* Pages of a stripe that hold nothing yet of what a write brings. */
static uint64_t missing_pages(const struct simulation *s, const struct group *g, uint32_t first,
			      uint32_t sectors)
{
	uint32_t from = first / PAGE_SECTORS, to = div_up(first + sectors, PAGE_SECTORS);
	uint64_t missing = 0;

	for (; from < to; from++) {
		u32 at = from * PAGE_SECTORS;
		u32 end = min_of(at + PAGE_SECTORS, s->geo.stripe_sectors);

		missing += !g || find_next_bit(g->dirty, end, at) == end;
	}
	return missing;
}

static int new_group(struct simulation *s, uint64_t stripe, struct group **ret)
{
	struct group *g = calloc(1, sizeof(*g) + s->map_bytes);

	if (!g)
		return -ENOMEM;
	g->stripe = stripe;
	g->epoch = s->epoch;
	g->born = s->now;
	TAILQ_INIT(&g->waiting);
	if (insert_group(&s->open, g) < 0) {
		free(g);
		return -ENOMEM;
	}
	TAILQ_INSERT_TAIL(&s->live, g, live);
	s->used++;
	*ret = g;
	return 0;
}

static void mark_dirty(struct simulation *s, struct group *g, const struct piece *p)
{
	g->nr_dirty += blockmap_set(g->dirty, p->first, p->sectors);
	g->recent = true;
	if (is_whole(s, g) && !g->is_full) {
		g->is_full = true;
		g->whole_since = s->now;
		TAILQ_INSERT_TAIL(&s->full, g, full);
	}
	if (p->fua && !g->is_urgent) {
		g->is_urgent = true;
		TAILQ_INSERT_TAIL(&s->urgent, g, urgent);
	}
}

/*
 * Return: 1 if a piece was taken (it is gone, or waits in its group); or it is still the
 * caller's: 0 if there is no memory for it, or -ENOMEM if there is none for the simulation.
 */
static int write_in_stripe(struct simulation *s, struct piece *p, bool *news)
{
	struct group *g = find_group(&s->open, p->stripe);
	uint64_t missing = missing_pages(s, g, p->first, p->sectors);
	int r;

	if (!g && p->fua && !find_group(&s->older, p->stripe)) {
		r = pass(s, p->since, p->stripe, 1, p->first, p->sectors);
		if (r < 0)
			return r;
		free(p);
		return 1;
	}
	if ((missing && (s->stalled || missing > s->free_pages)) ||
	    (!g && s->used == s->nr_groups))
		return 0;
	*news = !g || p->fua;
	if (!g) {
		r = new_group(s, p->stripe, &g);
		if (r < 0)
			return r;
	}
	s->free_pages -= missing;
	g->pages += missing;
	mark_dirty(s, g, p);
	*news |= is_whole(s, g);
	if (p->fua) {
		TAILQ_INSERT_TAIL(&g->waiting, p, link);
		return 1;
	}
	times_add(&s->wait, s->now - p->since);
	free(p);
	return 1;
}

/* Let those go on that waited for memory, if there is some again. */
static int unstall(struct simulation *s)
{
	struct piece *p;
	bool news;

	if (!s->stalled || occupied_bytes(s, 0) > s->options.low_water_bytes)
		return 0;
	s->stalled = false;
	while ((p = TAILQ_FIRST(&s->parked))) {
		int r;

		TAILQ_REMOVE(&s->parked, p, link);
		r = write_in_stripe(s, p, &news);
		if (r > 0)
			continue;
		TAILQ_INSERT_HEAD(&s->parked, p, link);
		s->stalled = true;
		return r;
	}
	return 0;
}

/*
 * What happens when something has happened
 */

static void set_alarm(struct simulation *s)
{
	const struct group *g;

	s->alarm = UINT64_MAX;
	TAILQ_FOREACH(g, &s->live, live) {
		if (s->now >= deadline(s, g->born) || !is_open(s, g))
			continue;
		s->alarm = deadline(s, g->born);
		break;
	}
	if (s->alarm != UINT64_MAX && s->now < idle_at(s))
		s->alarm = min_of(s->alarm, idle_at(s));
}

static void end_pieces(struct simulation *s, struct pieces *pieces)
{
	struct piece *p;

	TAILQ_FOREACH(p, pieces, link)
		times_add(&s->wait, s->now - p->since);
	free_pieces(pieces);
}

/* The flushes that came while others were being answered are answered together. */
static void begin_flush(struct simulation *s)
{
	if (s->flushing || TAILQ_EMPTY(&s->flushes))
		return;
	TAILQ_CONCAT(&s->answering, &s->flushes, link);
	s->flushing = true;
	s->flush_epoch = s->epoch++;
	s->cursor = 0;
}

static bool end_flush(struct simulation *s)
{
	const struct group *oldest = TAILQ_FIRST(&s->live);

	if (!s->flushing || (oldest && oldest->epoch <= s->flush_epoch))
		return false;
	end_pieces(s, &s->answering);
	s->flushing = false;
	return !TAILQ_EMPTY(&s->flushes);
}

static int work(struct simulation *s)
{
	int r;

	do {
		begin_flush(s);
		r = unstall(s);
		if (r == 0)
			r = start_some(s);
	} while (r == 0 && end_flush(s));
	set_alarm(s);
	return r;
}

static void end_group(struct simulation *s, struct group *g, bool filled)
{
	uint64_t *count = is_whole(s, g) ? &s->result.whole :
			  filled ? &s->result.filled : &s->result.partial;

	++*count;
	times_add(&s->held, s->now - g->born);
	end_pieces(s, &g->waiting);
	remove_group(&s->older, g);
	TAILQ_REMOVE(&s->live, g, live);
	s->free_pages += g->pages;
	s->used--;
	s->inflight--;
	s->inflight_old -= g->is_old;
	s->inflight_whole -= is_whole(s, g);
	free(g);
}

static void end_job(struct simulation *s, struct job *job)
{
	struct group *g;

	while ((g = TAILQ_FIRST(&job->batch))) {
		TAILQ_REMOVE(&job->batch, g, batch);
		end_group(s, g, job->fill);
	}
	s->free_fills += job->fill;
	if (job->n > 0)
		times_add(&s->wait, s->now - job->since);
	TAILQ_REMOVE(&s->jobs, job, link);
	free(job);
}

/* Go on to a time, and through all that happens until then. */
static int advance(struct simulation *s, uint64_t until)
{
	for (;;) {
		uint64_t next = min_of(raid_next(s->raid), s->alarm);
		void *ended = NULL;
		int r;

		if (next == UINT64_MAX || next > until)
			break;
		s->now = max_of(s->now, next);
		r = raid_advance(s->raid, s->now, &ended);
		if (r < 0)
			return r;
		if (ended)
			end_job(s, ended);
		else if (r > 0 || s->alarm > s->now)
			continue;
		r = work(s);
		if (r < 0)
			return r;
	}
	if (until != UINT64_MAX)
		s->now = max_of(s->now, until);
	return 0;
}

/*
 * What comes
 */

/* How many stripes from @stripe on a write may pass, of @most. */
static unsigned int free_stripes(const struct simulation *s, uint64_t stripe, unsigned int most)
{
	unsigned int n = 0;

	while (n < most && geometry_is_whole(&s->geo, stripe + n) &&
	       !find_group(&s->open, stripe + n) && !find_group(&s->older, stripe + n))
		n++;
	return n;
}

static int stage(struct simulation *s, const struct piece *piece)
{
	struct piece *p = malloc(sizeof(*p));
	bool news = false;
	int r;

	if (!p)
		return -ENOMEM;
	*p = *piece;
	r = write_in_stripe(s, p, &news);
	if (r < 0) {
		free(p);
		return r;
	}
	if (r == 0) {
		TAILQ_INSERT_TAIL(&s->parked, p, link);
		s->stalled = true;
		s->result.parked++;
		news = true;
	}
	return news ? work(s) : 0;
}

static int write_some(struct simulation *s, const struct simulate_request *q, uint64_t sector,
		      uint32_t sectors, uint32_t *done)
{
	uint32_t width = s->geo.stripe_sectors, first;
	uint64_t stripe = geometry_stripe(&s->geo, sector, &first);
	bool staged = geometry_is_whole(&s->geo, stripe);

	*done = min_of(sectors, width - first);
	if (staged && first == 0 && sectors >= width) {
		uint64_t most = min_of(sectors / width, max_of(s->bypass_stripes, 1));
		unsigned int n = free_stripes(s, stripe, most);

		if (n > 0) {
			*done = n * width;
			return pass(s, q->time, stripe, n, 0, width);
		}
	}
	if (!staged)
		return pass(s, q->time, stripe, 1, first, *done);
	return stage(s, &(struct piece) {
		.since = q->time,
		.stripe = stripe,
		.first = first,
		.sectors = *done,
		.fua = q->fua,
	});
}

/* What is staged is not read from the members. */
static int read_some(struct simulation *s, struct raid_io *io, uint64_t sector, uint32_t sectors,
		     uint32_t *done)
{
	u32 first, run;
	uint64_t stripe = geometry_stripe(&s->geo, sector, &first);
	const struct group *open = find_group(&s->open, stripe);
	const struct group *older = find_group(&s->older, stripe);
	uint32_t left = min_of(sectors, s->geo.stripe_sectors - first);
	enum block_source source = blockmap_source(open ? open->dirty : NULL,
						   older ? older->dirty : NULL,
						   first, left, &run);

	*done = run;
	return source == SOURCE_LOWER ? raid_io_read(io, stripe, first, run) : 0;
}

static int add_read(struct simulation *s, const struct simulate_request *q)
{
	struct raid_io *io = raid_io_new(s->raid, true, NULL);
	uint32_t at = 0, done;
	int r = 0;

	if (!io)
		return -ENOMEM;
	for (; at < q->sectors && r == 0; at += done)
		r = read_some(s, io, q->sector + at, q->sectors - at, &done);
	return r < 0 ? r : raid_io_submit(io, s->now);
}

/* A write as it is. */
static int add_raw_write(struct simulation *s, const struct simulate_request *q)
{
	struct raid_io *io = raid_io_new(s->raid, true, NULL);
	uint32_t at = 0, done;
	int r = 0;

	if (!io)
		return -ENOMEM;
	for (; at < q->sectors && r == 0; at += done) {
		uint32_t first;
		uint64_t stripe = geometry_stripe(&s->geo, q->sector + at, &first);

		done = min_of(q->sectors - at, s->geo.stripe_sectors - first);
		r = write_sectors(s, io, stripe, first, done);
	}
	return r < 0 ? r : raid_io_submit(io, s->now);
}

static int add_write(struct simulation *s, const struct simulate_request *q)
{
	uint32_t at = 0, done;
	int r = 0;

	for (; at < q->sectors && r == 0; at += done)
		r = write_some(s, q, q->sector + at, q->sectors - at, &done);
	return r;
}

static int add_flush(struct simulation *s, const struct simulate_request *q)
{
	struct piece *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->since = q->time;
	TAILQ_INSERT_TAIL(&s->flushes, p, link);
	return work(s);
}

/**
 * simulation_add() - something comes
 * @s: the simulation
 * @request: what
 *
 * Return: 0 or -ENOMEM.
 */
int simulation_add(struct simulation *s, const struct simulate_request *request)
{
	struct simulate_request q = *request;
	int r;

	/* Alone, md does one thing after the other. */
	r = advance(s, s->options.raw ? UINT64_MAX : q.time);
	q.time = s->now = max_of(s->now, q.time);
	if (r == 0 && q.sectors > 0)
		s->last_io = s->now;
	if (r == 0 && q.flush && !s->options.raw)
		r = add_flush(s, &q);
	if (r < 0 || q.sectors == 0)
		return r;
	if (!q.write)
		return add_read(s, &q);
	s->result.writes++;
	return s->options.raw ? add_raw_write(s, &q) : add_write(s, &q);
}

/**
 * simulation_finish() - nothing more comes
 * @s: the simulation; not to be added to any more
 * @ret: what came of it, when all is written
 *
 * Return: 0 or -ENOMEM.
 */
int simulation_finish(struct simulation *s, struct simulate_result *ret)
{
	struct simulate_result *result = &s->result;
	uint64_t whole, all;
	int r = advance(s, UINT64_MAX);

	if (r < 0)
		return r;
	whole = result->whole + result->filled + result->passed_whole;
	all = whole + result->partial + result->passed_partial;
	result->full_stripe_ratio = all ? (double)whole / all : 0;
	result->md = raid_counts(s->raid);
	result->wait = times_sum_up(&s->wait);
	result->held = times_sum_up(&s->held);
	*ret = *result;
	return 0;
}

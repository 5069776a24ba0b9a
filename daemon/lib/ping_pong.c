// SPDX-License-Identifier: GPL-2.0
#include "macros.h"
#include "ping_pong.h"

/* 1 MiB, in sectors: so far a disk's head hardly moves. */
#define ALWAYS_NEAR	2048

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * An eighth of the way to the other zone is near: zones are small beside the way between
 * them, and of requests anywhere few are near to where the one before the last was.
 */
static bool is_near(const struct ping_pong *p, uint64_t sector, uint64_t zone)
{
	uint64_t near = ALWAYS_NEAR;

	if (p->zones == 2)
		near = MAX(near, distance(p->here, p->there) / 8);
	return distance(sector, zone) <= near;
}

/**
 * ping_pong_add() - take a request in
 * @p: of its device
 * @start: first sector
 * @end: first sector behind it
 */
void ping_pong_add(struct ping_pong *p, uint64_t start, uint64_t end)
{
	p->requests++;
	if (p->zones == 0) {
		p->zones = 1;
	} else if (!is_near(p, start, p->here)) {
		uint64_t left = p->here;

		if (p->zones == 2 && is_near(p, start, p->there)) {
			p->returns++;
			p->low += MIN(start, left);
			p->high += MAX(start, left);
		}
		/* Where it now is not near either, that is the other zone from here on. */
		p->there = left;
		p->zones = 2;
	}
	p->here = end;
}

/**
 * ping_pong_share() - which share of the requests went back to the other zone
 * @p: of their device
 */
double ping_pong_share(const struct ping_pong *p)
{
	return p->requests ? (double)p->returns / p->requests : 0;
}

/**
 * ping_pong_low() - where the lower zone is
 * @p: of the device
 *
 * Return: a sector, the mean of all returns; 0 without any.
 */
uint64_t ping_pong_low(const struct ping_pong *p)
{
	return p->returns ? p->low / p->returns : 0;
}

/**
 * ping_pong_high() - where the higher zone is
 * @p: of the device
 *
 * Return: as ping_pong_low().
 */
uint64_t ping_pong_high(const struct ping_pong *p)
{
	return p->returns ? p->high / p->returns : 0;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether a device goes back and forth between two zones, as one does on which a file
 * system writes to its log for each write of data (McDougall, SunWorld, June 1999,
 * Figure 3). Each zone has a head, which moves on with it: a zone is where requests come
 * near to the one before, and what is near depends on how far away the other zone is.
 */
#ifndef FULLSTRIPE_PING_PONG_H
#define FULLSTRIPE_PING_PONG_H

#include <stdbool.h>
#include <stdint.h>

/* So large a share of the requests has to go back; of random ones it is a tenth. */
#define PING_PONG_SHARE		0.25

/**
 * struct ping_pong - of a device, all zero at first
 * @requests: taken in
 * @returns: of these, went back to the other zone
 * @zones: known by now: 0, 1 or 2
 * @here: sector behind the latest request
 * @there: sector behind the latest request in the other zone
 * @low: sum of the lower zone's sectors at all returns
 * @high: of the higher zone's
 */
struct ping_pong {
	uint64_t requests;
	uint64_t returns;
	unsigned int zones;
	uint64_t here, there;
	double low, high;
};

void ping_pong_add(struct ping_pong *p, uint64_t start, uint64_t end);
double ping_pong_share(const struct ping_pong *p);
uint64_t ping_pong_low(const struct ping_pong *p);
uint64_t ping_pong_high(const struct ping_pong *p);

#endif

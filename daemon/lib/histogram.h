/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A histogram of numbers of any size in constant memory: each power of two is
 * cut into 16, so what it gives back is at most 1/16 too large.
 */
#ifndef FULLSTRIPE_HISTOGRAM_H
#define FULLSTRIPE_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BUCKETS	(61 * 16)

struct histogram {
	uint64_t n;
	uint64_t buckets[HISTOGRAM_BUCKETS];
};

uint64_t histogram_lower(unsigned int bucket);
void histogram_add(struct histogram *h, uint64_t value);
void histogram_merge(struct histogram *h, const struct histogram *other);
uint64_t histogram_percentile(const struct histogram *h, unsigned int percent);

#endif

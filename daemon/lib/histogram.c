// SPDX-License-Identifier: GPL-2.0
#include "histogram.h"

#define SUB_BITS	4
#define SUB		(1u << SUB_BITS)

/* Numbers below 16 have a bucket each; above, the top five bits name the bucket. */
static unsigned int bucket_of(uint64_t value)
{
	unsigned int shift;

	if (value < SUB)
		return value;
	shift = 63 - __builtin_clzll(value) - SUB_BITS;
	return (shift << SUB_BITS) + (value >> shift);
}

static uint64_t largest_in(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < SUB)
		return bucket;
	shift = (bucket >> SUB_BITS) - 1;
	return (((uint64_t)(bucket & (SUB - 1)) + SUB + 1) << shift) - 1;
}

/**
 * histogram_lower() - the smallest number that a bucket holds
 * @bucket: below HISTOGRAM_BUCKETS
 */
uint64_t histogram_lower(unsigned int bucket)
{
	return bucket ? largest_in(bucket - 1) + 1 : 0;
}

/**
 * histogram_add() - count a number
 * @h: the histogram; all zero at first
 * @value: the number
 */
void histogram_add(struct histogram *h, uint64_t value)
{
	h->n++;
	h->buckets[bucket_of(value)]++;
}

/**
 * histogram_merge() - count all that another one has
 * @h: the histogram
 * @other: the other one
 */
void histogram_merge(struct histogram *h, const struct histogram *other)
{
	if (other->n == 0)
		return;
	h->n += other->n;
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		h->buckets[i] += other->buckets[i];
}

/**
 * histogram_percentile() - the number that so many percent do not exceed
 * @h: the histogram
 * @percent: 1 to 100
 *
 * Return: the upper end of the bucket that holds it; 0 if nothing was counted.
 */
uint64_t histogram_percentile(const struct histogram *h, unsigned int percent)
{
	uint64_t rank = h->n / 100 * percent + (h->n % 100 * percent + 99) / 100;
	uint64_t seen = 0;

	if (h->n == 0)
		return 0;
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += h->buckets[i];
		if (seen >= rank)
			return largest_in(i);
	}
	return UINT64_MAX;
}

// SPDX-License-Identifier: GPL-2.0
/* Recordings: what is drawn of them, wherever and whenever their records say that they were. */
#include "fuzz.h"
#include "lib/macros.h"
#include "lib/series.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_decoder *d = malloc(sizeof(*d));
	struct series *series = NULL;
	struct trace_event e;
	size_t room;
	void *space;

	check(d);
	trace_decoder_init(d);
	space = trace_decoder_space(d, &room);
	memcpy(space, data, MIN(size, room));
	trace_decoder_commit(d, MIN(size, room));
	while (trace_decoder_next(d, &e)) {
		if (!series)
			check(series_new(&(struct series_options) {
				.device = e.device,
				.origin = e.time,
				.stripe_bytes = 786432,
			}, &series) == 0);
		check(series_add(series, &e) == 0);
	}
	if (series)
		series_finish(series);
	series_free(series);
	free(d);
	return 0;
}

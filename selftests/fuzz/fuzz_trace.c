// SPDX-License-Identifier: GPL-2.0
/* Recordings: decoded, merged by time, and made a profile of. */
#include <errno.h>
#include <sys/types.h>

#include "fuzz.h"
#include "lib/macros.h"
#include "lib/merge.h"
#include "lib/profile.h"
#include "lib/render.h"
#include "lib/saved.h"

#define STREAMS	4

/* One CPU's part, of which so much is read at a time. */
struct source {
	const uint8_t *data;
	size_t len, at, step;
};

static ssize_t fill(void *data, void *space, size_t room)
{
	struct source *s = data;
	size_t n = MIN(MIN(s->len - s->at, room), s->step);

	memcpy(space, s->data + s->at, n);
	s->at += n;
	return n;
}

/* What was made of it can be printed, and what was printed can be read. */
static void check_profile(const struct profile *profile)
{
	struct saved *saved = calloc(1, sizeof(*saved)), *again = calloc(1, sizeof(*again));
	struct json_object *object;
	char why[FIELDS_WHY];
	const char *text;

	check(saved && again);
	saved->n = profile_devices(profile);
	check(saved->n <= PROFILE_DEVICES_MAX);
	for (size_t i = 0; i < saved->n; i++)
		profile_summarise(profile, i, &saved->devices[i]);
	object = saved_render(saved);
	text = render_text(object);
	if (saved_parse(text, strlen(text), again, why) < 0) {
		fprintf(stderr, "%s\n%s\n", why, text);
		abort();
	}
	check(again->n == saved->n);
	json_object_put(object);
	free(again);
	free(saved);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* The last byte says into how many parts it is cut, and how they are read. */
	uint8_t how = size ? data[size - 1] : 0;
	size_t n = 1 + how % STREAMS, part = size / n;
	struct source sources[STREAMS];
	struct profile *profile;
	struct merge *m;
	const struct trace_event *e;
	uint64_t records = 0, events = 0;

	check(profile_new(&(struct profile_options) { .stripe_bytes = 786432 }, &profile) == 0);
	check(merge_new(fill, &m) == 0);
	for (size_t i = 0; i < n; i++) {
		sources[i] = (struct source) {
			.data = data + i * part,
			.len = i + 1 < n ? part : size - i * part,
			.step = how & 0x80 ? 1 + how : SIZE_MAX,
		};
		check(merge_add(m, &sources[i]) == 0);
	}
	while (merge_next(m, UINT64_MAX, &e) > 0) {
		events++;
		check(profile_add(profile, e) == 0);
	}
	for (size_t i = 0; i < n; i++) {
		const struct trace_decoder *d = merge_decoder(m, i);
		char text[512];

		records += d->records;
		check(d->records * 48 + d->skipped_bytes <= sources[i].len);
		check(d->problem == TRACE_SOUND || d->problem_offset < sources[i].len);
		check((trace_problem_describe(d, text, sizeof(text)) == 0) == (d->skipped_bytes == 0));
	}
	check(events <= records);
	check_profile(profile);
	merge_free(m);
	profile_free(profile);
	return 0;
}

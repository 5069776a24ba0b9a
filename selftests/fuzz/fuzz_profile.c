// SPDX-License-Identifier: GPL-2.0
/* Profiles that were saved: refused with a reason, or they can be written, and planned for. */
#include "fuzz.h"
#include "lib/render.h"
#include "lib/rule.h"
#include "lib/saved.h"

static int parse(const char *text, size_t len, struct saved *ret)
{
	char why[FIELDS_WHY] = "";
	int r = saved_parse(text, len, ret, why);

	check((r < 0) == (why[0] != '\0'));
	return r;
}

/* Whatever it says, what is planned is whole stripes. */
static void plan(const struct profile_summary *profile)
{
	static const struct rule_array array = { .level = 5, .members = 5, .chunk_bytes = 65536 };
	const struct rule_settings current = { .stripe_bytes = 262144, .cluster_bytes = 262144 };
	struct plan *p = calloc(1, sizeof(*p));

	check(p);
	if (rule_plan(profile, &array, NULL, 0, &current, p) == 0)
		for (size_t i = 0; i < p->n; i++)
			if (strcmp(p->items[i].attribute, "cluster_bytes") == 0)
				check(p->items[i].new >= 262144 && p->items[i].new % 262144 == 0);
	free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct saved *s = calloc(1, sizeof(*s)), *again = calloc(1, sizeof(*again));

	check(s && again);
	if (parse((const char *)data, size, s) == 0) {
		struct json_object *object = saved_render(s);
		const char *text = render_text(object);

		check(parse(text, strlen(text), again) == 0 && again->n == s->n);
		for (size_t i = 0; i < s->n; i++)
			plan(&s->devices[i]);
		json_object_put(object);
	}
	free(again);
	free(s);
	return 0;
}

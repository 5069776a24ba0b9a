// SPDX-License-Identifier: GPL-2.0
/* What is kept of a device: refused with a reason, or it can be written and read again. */
#include "fuzz.h"
#include "lib/render.h"
#include "lib/state.h"

static int parse(const char *text, size_t len, struct state *ret)
{
	char why[FIELDS_WHY] = "";
	int r = state_parse(text, len, ret, why);

	check((r < 0) == (why[0] != '\0'));
	return r;
}

/* What is done with it goes on from there. */
static void use(struct state *s)
{
	static const struct state_layer layers[] = { { "md0", "md-uuid-0", "boot:1" } };
	struct transaction t = { .kind = TRANSACTION_APPLY };

	state_see(s, "boot:2", layers, 1);
	state_is_foreign(s, "cluster_bytes", 1);
	state_last_applied(s);
	if (s->under_way || s->last_id == UINT64_MAX)
		return;
	check(transaction_add(&t, "cluster_bytes", 1, 2));
	state_begin(s, &t, 1);
	state_end(s, OUTCOME_DONE, &(uint64_t) { 2 });
	check(s->n_history > 0 && s->n_history <= STATE_HISTORY_MAX && s->n_values <= STATE_VALUES_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct state *s = calloc(1, sizeof(*s)), *again = calloc(1, sizeof(*again));

	check(s && again);
	if (parse((const char *)data, size, s) == 0) {
		struct json_object *object = state_render(s), *second;
		const char *text = render_text(object);

		check(parse(text, strlen(text), again) == 0);
		second = state_render(again);
		check(strcmp(text, render_text(second)) == 0);
		json_object_put(second);
		json_object_put(object);
		use(s);
	}
	free(again);
	free(s);
	return 0;
}

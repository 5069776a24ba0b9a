// SPDX-License-Identifier: GPL-2.0
/* What changes are judged by: refused with a reason, or it can be written, read and judged. */
#include "fuzz.h"
#include "lib/render.h"
#include "lib/samples.h"

static int parse(const char *text, size_t len, struct samples *ret)
{
	char why[FIELDS_WHY] = "";
	int r = samples_parse(text, len, ret, why);

	check((r < 0) == (why[0] != '\0'));
	return r;
}

static void use(struct harm *h)
{
	char text[RULE_SENTENCE];
	struct harm_finding finding;
	struct harm_sample sample = h->before[0];
	enum harm_verdict verdict = harm_judge(h, &finding);

	check(verdict < HARM_VERDICTS);
	if (verdict == HARM_HARMED)
		harm_describe(&finding, text);
	harm_add(h, &sample);
	check(h->n_before <= HARM_SAMPLES && h->n_after <= HARM_SAMPLES);
	harm_end(h, verdict);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct samples s, again;

	if (parse((const char *)data, size, &s) == 0) {
		struct json_object *object = samples_render(&s), *second;
		const char *text = render_text(object);

		check(parse(text, strlen(text), &again) == 0);
		second = samples_render(&again);
		check(strcmp(text, render_text(second)) == 0);
		json_object_put(second);
		json_object_put(object);
		use(&s.harm);
	}
	return 0;
}

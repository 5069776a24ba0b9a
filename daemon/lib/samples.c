// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>

#include "render.h"
#include "samples.h"

/* More than any device can do or have; nothing that is computed from it overflows. */
#define MOST	1e18

static void add_real(struct json_object *o, const char *key, double value)
{
	json_object_object_add(o, key, value < 0 ? NULL : json_object_new_double(value));
}

static struct json_object *render_sample(const struct harm_sample *s)
{
	struct json_object *o = json_object_new_object();

	add_real(o, "reads", s->reads);
	add_real(o, "sequential", s->sequential);
	add_real(o, "strided", s->strided);
	add_real(o, "sync", s->sync);
	add_real(o, "meta", s->meta);
	add_real(o, "size", s->size);
	render_add_number(o, "streams", s->streams);
	render_add_number(o, "degraded", s->degraded);
	add_real(o, "in_flight", s->in_flight);
	for (enum harm_measure m = 0; m < HARM_MEASURES; m++)
		add_real(o, harm_measure_name(m), s->values[m]);
	return o;
}

static struct json_object *render_list(const struct harm_sample *samples, size_t n)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < n; i++)
		json_object_array_add(list, render_sample(&samples[i]));
	return list;
}

static void read_sample(const struct fields *f, struct harm_sample *s)
{
	s->reads = fields_share(f, "reads", 1);
	s->sequential = fields_share(f, "sequential", 1);
	s->strided = fields_share(f, "strided", 1);
	s->sync = fields_share(f, "sync", 1);
	s->meta = fields_share(f, "meta", 1);
	s->size = fields_share(f, "size", MOST);
	s->streams = fields_number(f, "streams", UINT32_MAX);
	s->degraded = fields_number(f, "degraded", INT64_MAX);
	s->in_flight = fields_share(f, "in_flight", MOST);
	for (enum harm_measure m = 0; m < HARM_MEASURES; m++)
		s->values[m] = fields_share(f, harm_measure_name(m), MOST);
}

static size_t read_list(const struct fields *f, const char *key,
			struct harm_sample samples[static HARM_SAMPLES])
{
	struct json_object *list = fields_list(f, key, HARM_SAMPLES);
	size_t n = list ? json_object_array_length(list) : 0;

	for (size_t i = 0; i < n; i++)
		read_sample(&(struct fields) { json_object_array_get_idx(list, i), f->why },
			    &samples[i]);
	return n;
}

/**
 * samples_render() - as they are kept
 * @samples: the samples
 */
struct json_object *samples_render(const struct samples *samples)
{
	const struct harm *h = &samples->harm;
	struct json_object *o = json_object_new_object();

	render_add_text(o, "instance", samples->instance);
	render_add_text(o, "settings", samples->settings);
	render_add_number(o, "change", h->change);
	render_add_number(o, "unlike", h->unlike);
	json_object_object_add(o, "before", render_list(h->before, h->n_before));
	json_object_object_add(o, "after", render_list(h->after, h->n_after));
	return o;
}

/**
 * samples_parse() - read what samples_render() made
 * @text: all of it
 * @len: its length
 * @ret: the samples
 * @why: what is wrong with it, on failure
 *
 * Return: 0 or -EBADMSG.
 */
int samples_parse(const char *text, size_t len, struct samples *ret, char why[static FIELDS_WHY])
{
	struct samples s = { .instance = "" };
	struct fields f = { .why = why };

	why[0] = '\0';
	f.object = fields_parse(text, len, why);
	if (!f.object)
		return -EBADMSG;
	fields_text(&f, "instance", s.instance, sizeof(s.instance));
	fields_text(&f, "settings", s.settings, sizeof(s.settings));
	s.harm.change = fields_number(&f, "change", INT64_MAX);
	s.harm.unlike = fields_number(&f, "unlike", INT64_MAX);
	s.harm.n_before = read_list(&f, "before", s.harm.before);
	s.harm.n_after = read_list(&f, "after", s.harm.after);
	if (!why[0])
		*ret = s;
	json_object_put(f.object);
	return why[0] ? -EBADMSG : 0;
}

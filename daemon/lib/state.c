// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "macros.h"
#include "render.h"
#include "state.h"

#define OUTCOMES	(OUTCOME_TAKEN_BACK + 1)
#define KINDS		(TRANSACTION_RESTORE + 1)

static struct json_object *render_change(const struct change *c)
{
	struct json_object *o = json_object_new_object();

	render_add_text(o, "name", c->name);
	render_add_number(o, "old", c->old);
	render_add_number(o, "new", c->new);
	json_object_object_add(o, "follows", json_object_new_boolean(c->follows));
	json_object_object_add(o, "gone", json_object_new_boolean(c->gone));
	render_add_text(o, "reason", c->reason);
	return o;
}

/**
 * state_render_transaction() - a transaction, as it is kept and printed
 * @t: the transaction
 */
struct json_object *state_render_transaction(const struct transaction *t)
{
	struct json_object *o = json_object_new_object();
	struct json_object *changes = json_object_new_array();

	render_add_number(o, "id", t->id);
	render_add_number(o, "time", t->time);
	render_add_text(o, "kind", transaction_kind_name(t->kind));
	render_add_text(o, "outcome", transaction_outcome_name(t->outcome));
	json_object_object_add(o, "undoing", json_object_new_boolean(t->undoing));
	json_object_object_add(o, "interrupted", json_object_new_boolean(t->interrupted));
	for (size_t i = 0; i < t->n; i++)
		json_object_array_add(changes, render_change(&t->changes[i]));
	json_object_object_add(o, "changes", changes);
	return o;
}

static struct json_object *render_layers(const struct state *s)
{
	struct json_object *layers = json_object_new_array();

	for (size_t i = 0; i < s->n_layers; i++) {
		struct json_object *layer = json_object_new_object();

		render_add_text(layer, "disk", s->layers[i].disk);
		render_add_text(layer, "id", s->layers[i].id);
		render_add_text(layer, "instance", s->layers[i].instance);
		json_object_array_add(layers, layer);
	}
	return layers;
}

/**
 * state_render() - as it is kept
 * @s: what is known
 */
struct json_object *state_render(const struct state *s)
{
	struct json_object *o = json_object_new_object();
	struct json_object *values = json_object_new_array();
	struct json_object *history = json_object_new_array();

	render_add_number(o, "version", STATE_VERSION);
	render_add_text(o, "device", s->device);
	render_add_text(o, "instance", s->instance);
	json_object_object_add(o, "layers", render_layers(s));
	render_add_number(o, "last_id", s->last_id);
	json_object_object_add(o, "under_way",
			       s->under_way ? state_render_transaction(&s->now) : NULL);
	for (size_t i = 0; i < s->n_values; i++) {
		struct json_object *value = json_object_new_object();

		render_add_text(value, "name", s->values[i].name);
		render_add_number(value, "value", s->values[i].value);
		render_add_number(value, "before", s->values[i].before);
		json_object_array_add(values, value);
	}
	json_object_object_add(o, "values", values);
	for (size_t i = 0; i < s->n_history; i++)
		json_object_array_add(history, state_render_transaction(&s->history[i]));
	json_object_object_add(o, "history", history);
	return o;
}

/* It becomes part of a path. */
static void read_name(const struct fields *f, char ret[static SETTING_NAME])
{
	fields_text(f, "name", ret, SETTING_NAME);
	if (f->why[0])
		return;
	if (!ret[0])
		fields_refuse(f, "a setting has no name");
	else if (!setting_is_valid(ret))
		fields_refuse(f, "\"%s\" is no name of a setting", ret);
}

static void read_change(const struct fields *f, struct transaction *t)
{
	char name[SETTING_NAME] = "";
	struct change *c;

	read_name(f, name);
	if (f->why[0])
		return;
	c = transaction_add(t, name, fields_number(f, "old", INT64_MAX),
			    fields_number(f, "new", INT64_MAX));
	if (!c) {
		fields_refuse(f, "\"%s\" is changed twice", name);
		return;
	}
	c->follows = fields_flag(f, "follows");
	c->gone = fields_flag(f, "gone");
	fields_text(f, "reason", c->reason, sizeof(c->reason));
}

static void read_transaction(const struct fields *f, struct transaction *t)
{
	const char *outcomes[OUTCOMES], *kinds[KINDS];
	struct json_object *changes;

	for (size_t i = 0; i < OUTCOMES; i++)
		outcomes[i] = transaction_outcome_name(i);
	for (size_t i = 0; i < KINDS; i++)
		kinds[i] = transaction_kind_name(i);
	t->id = fields_number(f, "id", INT64_MAX);
	t->time = fields_number(f, "time", INT64_MAX);
	t->kind = fields_choice(f, "kind", kinds, KINDS);
	t->outcome = fields_choice(f, "outcome", outcomes, OUTCOMES);
	t->undoing = fields_flag(f, "undoing");
	t->interrupted = fields_flag(f, "interrupted");
	changes = fields_list(f, "changes", TRANSACTION_CHANGES_MAX);
	for (size_t i = 0; changes && i < json_object_array_length(changes); i++)
		read_change(&(struct fields) { json_object_array_get_idx(changes, i), f->why }, t);
}

static void read_layers(const struct fields *f, struct state *s)
{
	struct json_object *layers = fields_list(f, "layers", STATE_LAYERS_MAX);

	for (size_t i = 0; layers && i < json_object_array_length(layers); i++) {
		const struct fields layer = { json_object_array_get_idx(layers, i), f->why };
		struct state_layer *l = &s->layers[s->n_layers++];

		fields_text(&layer, "disk", l->disk, sizeof(l->disk));
		fields_text(&layer, "id", l->id, sizeof(l->id));
		fields_text(&layer, "instance", l->instance, sizeof(l->instance));
	}
}

static void read_values(const struct fields *f, struct state *s)
{
	struct json_object *values = fields_list(f, "values", STATE_VALUES_MAX);

	for (size_t i = 0; values && i < json_object_array_length(values); i++) {
		const struct fields value = { json_object_array_get_idx(values, i), f->why };
		struct state_value *v = &s->values[s->n_values++];

		read_name(&value, v->name);
		v->value = fields_number(&value, "value", INT64_MAX);
		v->before = fields_number(&value, "before", INT64_MAX);
	}
}

static void read_state(const struct fields *f, struct state *s)
{
	struct json_object *history, *now;

	if (fields_number(f, "version", INT64_MAX) != STATE_VERSION)
		fields_refuse(f, "its version is not %d", STATE_VERSION);
	fields_text(f, "device", s->device, sizeof(s->device));
	fields_text(f, "instance", s->instance, sizeof(s->instance));
	read_layers(f, s);
	s->last_id = fields_number(f, "last_id", INT64_MAX - 1);
	if (!json_object_object_get_ex(f->object, "under_way", &now))
		fields_refuse(f, "\"under_way\" is missing");
	else if (now) {
		const struct fields object = fields_object(f, "under_way");

		s->under_way = true;
		read_transaction(&object, &s->now);
	}
	read_values(f, s);
	history = fields_list(f, "history", STATE_HISTORY_MAX);
	for (size_t i = 0; history && i < json_object_array_length(history); i++) {
		const struct fields object = { json_object_array_get_idx(history, i), f->why };

		read_transaction(&object, &s->history[s->n_history++]);
	}
}

/**
 * state_parse() - read what was kept
 * @text: of the file
 * @len: its length
 * @ret: what is known
 * @why: what is wrong with it, on failure
 *
 * Return: 0, -EBADMSG or -ENOMEM.
 */
int state_parse(const char *text, size_t len, struct state *ret, char why[static FIELDS_WHY])
{
	struct state *s = calloc(1, sizeof(*s));
	struct fields f = { .why = why };
	int r = -EBADMSG;

	if (!s)
		return -ENOMEM;
	f.object = fields_parse(text, len, why);
	if (f.object) {
		read_state(&f, s);
		json_object_put(f.object);
		if (!why[0]) {
			*ret = *s;
			r = 0;
		}
	}
	free(s);
	return r;
}

/**
 * state_file_name() - the file that a device's state is kept in
 * @device: which
 * @ret: its name; what could be part of a path, or hide, is %XX there
 */
void state_file_name(const char *device, char ret[static STATE_NAME])
{
	char *at = ret;

	for (const unsigned char *c = (const unsigned char *)device; *c; c++) {
		if (at - ret + 3 + sizeof(".json") > STATE_NAME)
			break;
		if (isalnum(*c) || strchr("-_+", *c) || (*c == '.' && at != ret))
			*at++ = *c;
		else
			at += sprintf(at, "%%%02X", *c);
	}
	snprintf(at, sizeof(".json"), ".json");
}

static void remember(struct state *s, const struct transaction *t)
{
	if (s->n_history == STATE_HISTORY_MAX)
		memmove(s->history, s->history + 1, --s->n_history * sizeof(s->history[0]));
	s->history[s->n_history++] = *t;
}

static const struct state_layer *find_layer(const struct state_layer *layers, size_t n,
					    const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (setting_is_of_disk(name, layers[i].disk))
			return &layers[i];
	return NULL;
}

/* The disk that was called so then, as it is called now; several paths to one have one id. */
static const struct state_layer *find_again(const struct state_layer *was,
					    const struct state_layer *layers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(layers[i].id, was->id) == 0 && strcmp(layers[i].disk, was->disk) == 0)
			return &layers[i];
	for (size_t i = 0; i < n; i++)
		if (strcmp(layers[i].id, was->id) == 0)
			return &layers[i];
	return NULL;
}

/* What is there now, to tell what was made anew since, or is gone. */
struct sight {
	const struct state *before;
	bool own_is_anew;
	const struct state_layer *layers;
	size_t n;
};

static bool is_anew(const struct sight *sight, const char *name)
{
	const struct state_layer *was, *is;

	if (!setting_is_of_layer(name))
		return sight->own_is_anew;
	was = find_layer(sight->before->layers, sight->before->n_layers, name);
	is = was ? find_again(was, sight->layers, sight->n) : NULL;
	return !is || strcmp(was->instance, is->instance) != 0;
}

static void forget_values(struct state *s, const struct sight *sight)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_values; i++)
		if (!is_anew(sight, s->values[i].name))
			s->values[n++] = s->values[i];
	s->n_values = n;
}

/* Return: how many of its changes are of what is still there. */
static size_t mark_gone(struct transaction *t, const struct sight *sight)
{
	size_t left = 0;

	for (size_t i = 0; i < t->n; i++) {
		t->changes[i].gone |= is_anew(sight, t->changes[i].name);
		left += !t->changes[i].gone;
	}
	return left;
}

/* It was decided for all of them: what is left of it goes back. */
static void see_under_way(struct state *s, const struct sight *sight)
{
	struct transaction *t = &s->now;
	size_t left = mark_gone(t, sight), n = 0;

	if (left == t->n)
		return;
	t->interrupted = true;
	if (left == 0) {
		t->outcome = OUTCOME_VOID;
		remember(s, t);
		s->under_way = false;
		return;
	}
	t->undoing = true;
	for (size_t i = 0; i < t->n; i++)
		if (!t->changes[i].gone)
			t->changes[n++] = t->changes[i];
	t->n = n;
}

static bool is_twice(const struct transaction *t)
{
	for (size_t i = 0; i < t->n; i++)
		for (size_t j = 0; j < i; j++)
			if (strcmp(t->changes[i].name, t->changes[j].name) == 0)
				return true;
	return false;
}

/*
 * The kernel may call the same disks otherwise after a reboot. If one has the name now of
 * another that is no longer there, the old names tell more.
 */
static void rename_changes(const struct sight *sight, struct transaction *t)
{
	char old[TRANSACTION_CHANGES_MAX][SETTING_NAME];

	for (size_t i = 0; i < t->n; i++) {
		char *name = memcpy(old[i], t->changes[i].name, SETTING_NAME);
		const struct state_layer *was, *is;

		was = find_layer(sight->before->layers, sight->before->n_layers, name);
		is = was ? find_again(was, sight->layers, sight->n) : NULL;
		if (is)
			setting_of_disk(t->changes[i].name, is->disk, setting_attribute(name));
	}
	if (is_twice(t))
		for (size_t i = 0; i < t->n; i++)
			memcpy(t->changes[i].name, old[i], SETTING_NAME);
}

/**
 * state_see() - take note of what is there
 * @s: what is known
 * @instance: which making of the device
 * @layers: the disks below it
 * @n: how many, no more than STATE_LAYERS_MAX
 *
 * What was made anew, as all is after a reboot, has values of its own: those of the device's
 * table, or the kernel's. What was set in an earlier making says nothing about it, and what
 * was under way there is void. Where only the device was made anew, what was set in the
 * layers below is still there, and can be taken back.
 */
void state_see(struct state *s, const char *instance, const struct state_layer *layers, size_t n)
{
	const struct sight sight = {
		.before = s,
		.own_is_anew = strcmp(s->instance, instance) != 0,
		.layers = layers,
		.n = n,
	};

	forget_values(s, &sight);
	if (s->under_way)
		see_under_way(s, &sight);
	for (size_t i = 0; i < s->n_history; i++) {
		struct transaction *t = &s->history[i];

		if (t->outcome == OUTCOME_DONE && mark_gone(t, &sight) == 0)
			t->outcome = OUTCOME_VOID;
		rename_changes(&sight, t);
	}
	snprintf(s->instance, sizeof(s->instance), "%s", instance);
	s->n_layers = n;
	for (size_t i = 0; i < n; i++)
		s->layers[i] = layers[i];
}

static struct state_value *find_value(struct state *s, const char *name)
{
	for (size_t i = 0; i < s->n_values; i++)
		if (strcmp(s->values[i].name, name) == 0)
			return &s->values[i];
	return NULL;
}

/**
 * state_is_foreign() - whether somebody else set a value since it was set from here
 * @s: what is known
 * @name: of the setting
 * @found: what it is now
 */
bool state_is_foreign(const struct state *s, const char *name, uint64_t found)
{
	const struct state_value *value = find_value((struct state *)s, name);

	return value && value->value != found;
}

/**
 * state_mark_foreign() - leave alone what somebody else set
 * @s: what is known
 * @plan: what would change such values no longer does
 */
void state_mark_foreign(const struct state *s, struct plan *plan)
{
	for (size_t i = 0; i < plan->n; i++) {
		struct plan_item *item = &plan->items[i];

		item->left_alone = item->old != item->new &&
				   state_is_foreign(s, item->attribute, item->old);
	}
}

/**
 * state_begin() - a transaction is under way
 * @s: what is known; nothing may be under way
 * @t: its kind and its changes
 * @time: seconds since 1970
 */
void state_begin(struct state *s, const struct transaction *t, uint64_t time)
{
	s->now = *t;
	s->now.id = ++s->last_id;
	s->now.time = time;
	s->now.outcome = OUTCOME_UNDER_WAY;
	s->under_way = true;
}

static void set_value(struct state *s, const struct change *c, bool applied, uint64_t set)
{
	struct state_value *value = find_value(s, c->name);

	if (!value && s->n_values < STATE_VALUES_MAX) {
		value = &s->values[s->n_values++];
		snprintf(value->name, sizeof(value->name), "%s", c->name);
		value->value = value->before = c->old;
	}
	if (!value)
		return;
	/* What somebody else had set meanwhile is to come back, and not what was before that. */
	if (applied && value->value != c->old)
		value->before = c->old;
	value->value = set;
}

/* What the device moves counts if it was set once, as when an earlier move was taken back. */
static bool is_set(struct state *s, const struct change *c)
{
	return !transaction_is_kept(c) && (!c->follows || find_value(s, c->name));
}

static bool is_in_force(const struct transaction *t)
{
	return t->kind == TRANSACTION_APPLY && t->outcome == OUTCOME_DONE;
}

static void take_back(struct state *s)
{
	struct transaction *t = (struct transaction *)state_last_applied(s);

	if (t)
		t->outcome = OUTCOME_TAKEN_BACK;
}

/* Of a device that is gone nothing is in force; it was not that its plans were no good. */
static void void_applied(struct state *s)
{
	for (size_t i = 0; i < s->n_history; i++)
		if (is_in_force(&s->history[i]))
			s->history[i].outcome = OUTCOME_VOID;
}

/**
 * state_end() - the transaction that is under way is over
 * @s: what is known
 * @outcome: what became of it
 * @found: what its settings are now
 */
void state_end(struct state *s, enum transaction_outcome outcome, const uint64_t *found)
{
	struct transaction *t = &s->now;

	if (outcome == OUTCOME_DONE) {
		for (size_t i = 0; i < t->n; i++)
			if (is_set(s, &t->changes[i]))
				set_value(s, &t->changes[i], t->kind == TRANSACTION_APPLY, found[i]);
		transaction_settle(t, found);
		if (t->kind == TRANSACTION_ROLLBACK)
			take_back(s);
		else if (t->kind == TRANSACTION_RESTORE)
			void_applied(s);
	}
	t->outcome = outcome;
	t->undoing = false;
	remember(s, t);
	s->under_way = false;
}

/**
 * state_last_applied() - the newest plan that is in force
 * @s: what is known
 *
 * Return: the transaction, or NULL if nothing was applied that was not taken back.
 */
const struct transaction *state_last_applied(const struct state *s)
{
	for (size_t i = s->n_history; i-- > 0;)
		if (is_in_force(&s->history[i]))
			return &s->history[i];
	return NULL;
}

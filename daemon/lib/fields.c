// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fields.h"

/* Deeper than anything that is read here. */
#define DEPTH_MAX	16

/**
 * fields_parse() - read JSON
 * @text: all of it; a text that goes on behind the value is no JSON
 * @len: its length
 * @why: what is wrong with it, on failure; else empty
 *
 * Return: the object, which is the caller's; NULL on failure.
 */
struct json_object *fields_parse(const char *text, size_t len, char why[static FIELDS_WHY])
{
	struct json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
	struct json_object *object;
	enum json_tokener_error error;

	why[0] = '\0';
	if (!tokener) {
		snprintf(why, FIELDS_WHY, "no memory");
		return NULL;
	}
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
	object = json_tokener_parse_ex(tokener, text, len);
	error = json_tokener_get_error(tokener);
	if (error == json_tokener_success && json_object_is_type(object, json_type_object)) {
		json_tokener_free(tokener);
		return object;
	}
	if (error == json_tokener_continue)
		snprintf(why, FIELDS_WHY, "it ends in the middle, after %zu bytes", len);
	else if (error == json_tokener_success)
		snprintf(why, FIELDS_WHY, "it is no JSON object");
	else
		snprintf(why, FIELDS_WHY, "it is no JSON at byte %zu: %s",
			 json_tokener_get_parse_end(tokener), json_tokener_error_desc(error));
	json_object_put(object);
	json_tokener_free(tokener);
	return NULL;
}

/**
 * fields_refuse() - say what is wrong, unless something else was before
 * @f: the object
 * @format: a sentence
 */
void fields_refuse(const struct fields *f, const char *format, ...)
{
	va_list args;

	if (f->why[0])
		return;
	va_start(args, format);
	vsnprintf(f->why, FIELDS_WHY, format, args);
	va_end(args);
}

static struct json_object *find(const struct fields *f, const char *key, enum json_type type)
{
	struct json_object *value;

	if (f->why[0])
		return NULL;
	if (!json_object_object_get_ex(f->object, key, &value)) {
		fields_refuse(f, "\"%s\" is missing", key);
		return NULL;
	}
	if (!json_object_is_type(value, type)) {
		fields_refuse(f, "\"%s\" is no %s", key, json_type_to_name(type));
		return NULL;
	}
	return value;
}

/**
 * fields_number() - a number that is not negative
 * @f: the object
 * @key: the field
 * @most: the largest that it may be
 */
uint64_t fields_number(const struct fields *f, const char *key, uint64_t most)
{
	struct json_object *value = find(f, key, json_type_int);
	uint64_t number;

	if (!value)
		return 0;
	number = json_object_get_uint64(value);
	/* A negative one reads as 0 there, and as what it is only here. */
	if (json_object_get_int64(value) < 0 || number > most) {
		fields_refuse(f, "\"%s\" is %s, and must be from 0 to %llu", key,
			      json_object_get_string(value), (unsigned long long)most);
		return 0;
	}
	return number;
}

/**
 * fields_share() - a fraction, or null, which is -1: not known
 * @f: the object
 * @key: the field
 * @most: the largest that it may be
 */
double fields_share(const struct fields *f, const char *key, double most)
{
	struct json_object *value;
	double share;

	if (f->why[0])
		return 0;
	if (!json_object_object_get_ex(f->object, key, &value)) {
		fields_refuse(f, "\"%s\" is missing", key);
		return 0;
	}
	if (!value)
		return -1;
	if (!json_object_is_type(value, json_type_double) &&
	    !json_object_is_type(value, json_type_int)) {
		fields_refuse(f, "\"%s\" is no number", key);
		return 0;
	}
	share = json_object_get_double(value);
	/* Written so that what is no number at all is refused too. */
	if (!(share >= 0 && share <= most)) {
		fields_refuse(f, "\"%s\" is %s, and must be from 0 to %g", key,
			      json_object_get_string(value), most);
		return 0;
	}
	return share;
}

/**
 * fields_flag() - true or false
 * @f: the object
 * @key: the field
 */
bool fields_flag(const struct fields *f, const char *key)
{
	return json_object_get_boolean(find(f, key, json_type_boolean));
}

/**
 * fields_text() - a text
 * @f: the object
 * @key: the field
 * @ret: the text
 * @size: of @ret; a text that does not fit is refused
 */
void fields_text(const struct fields *f, const char *key, char *ret, size_t size)
{
	struct json_object *value = find(f, key, json_type_string);

	if (!value)
		return;
	if ((size_t)json_object_get_string_len(value) >= size ||
	    strlen(json_object_get_string(value)) != (size_t)json_object_get_string_len(value)) {
		fields_refuse(f, "\"%s\" is no text of less than %zu bytes", key, size);
		return;
	}
	snprintf(ret, size, "%s", json_object_get_string(value));
}

/**
 * fields_choice() - one of several names
 * @f: the object
 * @key: the field
 * @names: the names
 * @n: how many
 *
 * Return: which one.
 */
size_t fields_choice(const struct fields *f, const char *key, const char * const *names, size_t n)
{
	struct json_object *value = find(f, key, json_type_string);

	if (!value)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (strcmp(json_object_get_string(value), names[i]) == 0)
			return i;
	fields_refuse(f, "\"%s\" is '%.64s', which is not known", key,
		      json_object_get_string(value));
	return 0;
}

/**
 * fields_object() - an object in the object
 * @f: the object
 * @key: the field
 */
struct fields fields_object(const struct fields *f, const char *key)
{
	return (struct fields) { .object = find(f, key, json_type_object), .why = f->why };
}

/**
 * fields_list() - a list
 * @f: the object
 * @key: the field
 * @most: how many there may be in it
 *
 * Return: the list, or NULL.
 */
struct json_object *fields_list(const struct fields *f, const char *key, size_t most)
{
	struct json_object *list = find(f, key, json_type_array);

	if (list && json_object_array_length(list) > most) {
		fields_refuse(f, "\"%s\" has %zu entries, and may have %zu", key,
			      json_object_array_length(list), most);
		return NULL;
	}
	return list;
}

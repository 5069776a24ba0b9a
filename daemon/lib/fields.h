/* SPDX-License-Identifier: GPL-2.0 */
/*
 * JSON that comes from a file, which anybody may have written to: a field is taken
 * only if it is what it should be.
 */
#ifndef FULLSTRIPE_FIELDS_H
#define FULLSTRIPE_FIELDS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "macros.h"

#define FIELDS_WHY	256

/**
 * struct fields - an object that is being read
 * @object: the object
 * @why: what is wrong with it, a sentence; empty as long as nothing is
 *
 * After the first field that is wrong the others are no longer looked at, so it is
 * enough to ask once, at the end.
 */
struct fields {
	struct json_object *object;
	char *why;
};

struct json_object *fields_parse(const char *text, size_t len, char why[static FIELDS_WHY]);
void fields_refuse(const struct fields *f, const char *format, ...) __printf(2, 3);
uint64_t fields_number(const struct fields *f, const char *key, uint64_t most);
double fields_share(const struct fields *f, const char *key, double most);
bool fields_flag(const struct fields *f, const char *key);
void fields_text(const struct fields *f, const char *key, char *ret, size_t size);
size_t fields_choice(const struct fields *f, const char *key, const char * const *names, size_t n);
struct fields fields_object(const struct fields *f, const char *key);
struct json_object *fields_list(const struct fields *f, const char *key, size_t most);

#endif

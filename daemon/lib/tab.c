// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "macros.h"
#include "tab.h"

#define BLANKS		" \t\r\n"
#define LETTERS		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS		"0123456789"
/* What udev does not replace in names of links; so it is the same there and in device-mapper. */
#define NAME_CHARS	LETTERS DIGITS "#+-.:=@_"

static int set_name(struct tab_entry *e, const char *name, char why[static TAB_WHY])
{
	if (name[strspn(name, NAME_CHARS)] || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    strcmp(name, "control") == 0) {
		snprintf(why, TAB_WHY,
			 "the name '%.60s': must be of letters, digits and #+-.:=@_, and not 'control'",
			 name);
		return -EINVAL;
	}
	if (strlen(name) >= TAB_NAME) {
		snprintf(why, TAB_WHY, "the name '%.60s...' is longer than %d characters", name,
			 TAB_NAME - 1);
		return -ENAMETOOLONG;
	}
	snprintf(e->name, TAB_NAME, "%s", name);
	return 0;
}

/* A link of udev's, in whose name it replaces what could be misread. */
static int set_link(struct tab_entry *e, const char *folder, const char *value,
		    char why[static TAB_WHY])
{
	size_t at = snprintf(e->lower, TAB_LOWER, "/dev/disk/%s/", folder);

	for (const char *c = value; *c; c++) {
		bool plain = strchr(NAME_CHARS, *c) || (unsigned char)*c >= 0x80;

		if (at + 5 > TAB_LOWER) {
			snprintf(why, TAB_WHY, "the device '%.60s...' is too long", value);
			return -ENAMETOOLONG;
		}
		at += sprintf(e->lower + at, plain ? "%c" : "\\x%02x", (unsigned char)*c);
	}
	return 0;
}

static bool is_path(const char *text)
{
	return strncmp(text, "/dev/", 5) == 0 && text[5] && text[strlen(text) - 1] != '/' &&
	       text[strlen(text) - 1] != '\\' && !text[strspn(text, NAME_CHARS "/\\")] &&
	       !strstr(text, "/../") && !strstr(text, "/./") && !strstr(text, "//");
}

/* What is on the device below is found on the fullstripe device, too. */
static bool names_contents(const char *text)
{
	static const char * const names[] = {
		"UUID=", "LABEL=", "/dev/disk/by-uuid/", "/dev/disk/by-label/",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strncmp(text, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static int set_lower(struct tab_entry *e, const char *text, char why[static TAB_WHY])
{
	if (strncmp(text, "PARTUUID=", 9) == 0 && text[9])
		return set_link(e, "by-partuuid", text + 9, why);
	if (strncmp(text, "PARTLABEL=", 10) == 0 && text[10])
		return set_link(e, "by-partlabel", text + 10, why);
	if (names_contents(text)) {
		snprintf(why, TAB_WHY,
			 "the device '%.60s': what is on the device below is found on the fullstripe device too, so this names both; give a path such as /dev/md/NAME or /dev/disk/by-id/md-uuid-..., or PARTUUID=",
			 text);
		return -EINVAL;
	}
	if (!is_path(text)) {
		snprintf(why, TAB_WHY,
			 "the device '%.60s': must be a path in /dev, PARTUUID= or PARTLABEL=", text);
		return -EINVAL;
	}
	if (strlen(text) >= TAB_LOWER) {
		snprintf(why, TAB_WHY, "the device '%.60s...' is too long", text);
		return -ENAMETOOLONG;
	}
	snprintf(e->lower, TAB_LOWER, "%s", text);
	return 0;
}

static int set_timeout(struct tab_entry *e, const char *text, char why[static TAB_WHY])
{
	if (!text[0] || text[strspn(text, LETTERS DIGITS)] || strlen(text) >= TAB_TIMEOUT) {
		snprintf(why, TAB_WHY,
			 "x-systemd.device-timeout '%.60s': must be a time, such as 90s or 5min", text);
		return -EINVAL;
	}
	snprintf(e->device_timeout, TAB_TIMEOUT, "%s", text);
	return 0;
}

static int set_option(struct tab_entry *e, const char *option, char why[static TAB_WHY])
{
	static const char timeout[] = "x-systemd.device-timeout=";
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{ "noauto", &e->noauto },
		{ "nofail", &e->nofail },
		{ "_netdev", &e->netdev },
		{ "x-initrd.attach", &e->initrd },
		{ "force", &e->force },
	};
	char key_why[TARGET_KEYS_WHY];
	int r;

	if (strcmp(option, "defaults") == 0 || strcmp(option, "none") == 0 ||
	    strcmp(option, "-") == 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		if (strcmp(option, flags[i].name) == 0) {
			*flags[i].flag = true;
			return 0;
		}
	}
	if (strncmp(option, timeout, strlen(timeout)) == 0)
		return set_timeout(e, option + strlen(timeout), why);
	if (!strchr(option, '=')) {
		snprintf(why, TAB_WHY,
			 "the option '%.60s': must be noauto, nofail, _netdev, x-initrd.attach, force, x-systemd.device-timeout=TIME or a key of fullstripectl create as KEY=VALUE",
			 option);
		return -EINVAL;
	}
	r = target_keys_set(&e->keys, option, key_why);
	if (r < 0)
		snprintf(why, TAB_WHY, "the option %s", key_why);
	return r;
}

static int set_options(struct tab_entry *e, char *text, char why[static TAB_WHY])
{
	char *option;
	int r = 0;

	while (r == 0 && (option = strsep(&text, ",")))
		if (option[0])
			r = set_option(e, option, why);
	return r;
}

static int check_unique(const struct tab *t, const struct tab_entry *e, char why[static TAB_WHY])
{
	for (size_t i = 0; i < t->n; i++) {
		const struct tab_entry *other = &t->entries[i];

		if (strcmp(other->name, e->name) == 0) {
			snprintf(why, TAB_WHY, "the name '%.60s' is that of line %u already", e->name,
				 other->line);
			return -EEXIST;
		}
		if (strcmp(other->lower, e->lower) == 0) {
			snprintf(why, TAB_WHY, "the device '%.60s' is that of line %u already",
				 e->lower, other->line);
			return -EEXIST;
		}
	}
	return 0;
}

static int parse(struct tab_entry *e, char *text, char why[static TAB_WHY])
{
	char *save = NULL, *name = strtok_r(text, BLANKS, &save);
	char *lower = strtok_r(NULL, BLANKS, &save);
	char *options = strtok_r(NULL, BLANKS, &save);
	char *more = strtok_r(NULL, BLANKS, &save);
	int r;

	if (!lower || more) {
		snprintf(why, TAB_WHY, "must be NAME DEVICE [OPTION,...], and has %s",
			 lower ? "more than three fields" : "no device");
		return -EINVAL;
	}
	r = set_name(e, name, why);
	if (r == 0)
		r = set_lower(e, lower, why);
	if (r == 0 && options)
		r = set_options(e, options, why);
	return r;
}

/**
 * tab_add_line() - one more line
 * @t: the file; untouched on failure
 * @line: its number
 * @text: the line
 * @why: what is wrong, and what is allowed, on failure
 *
 * Return: 0, also for a comment or an empty line, or a negative errno.
 */
int tab_add_line(struct tab *t, unsigned int line, const char *text, char why[static TAB_WHY])
{
	struct tab_entry e = { .line = line }, *entries;
	char *copy;
	int r;

	text += strspn(text, BLANKS);
	if (!*text || *text == '#')
		return 0;
	copy = strdup(text);
	r = copy ? parse(&e, copy, why) : -ENOMEM;
	free(copy);
	if (r == 0)
		r = check_unique(t, &e, why);
	if (r < 0 && r != -ENOMEM)
		return r;
	entries = r < 0 ? NULL : reallocarray(t->entries, t->n + 1, sizeof(*entries));
	if (!entries) {
		snprintf(why, TAB_WHY, "there is no memory for it");
		return -ENOMEM;
	}
	t->entries = entries;
	t->entries[t->n++] = e;
	return 0;
}

/**
 * tab_free() - free what the lines of a file are in
 * @t: the file
 */
void tab_free(struct tab *t)
{
	free(t->entries);
	*t = (struct tab) { .n = 0 };
}

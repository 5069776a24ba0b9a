// SPDX-License-Identifier: GPL-2.0
/* fullstripe-generator: units, and rules for udev, out of fullstripetab(5); systemd starts it. */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/exit_codes.h"
#include "lib/macros.h"
#include "lib/tab.h"
#include "lib/tab_units.h"
#include "src/cleanup.h"
#include "src/log.h"

#define TAB_FILE	"/etc/fullstripetab"
/* After those that give a device its links, and before the one that takes some away. */
#define RULES_FILE	"/run/udev/rules.d/64-fullstripe-tab.rules"

const char *argp_program_version = "fullstripe-generator " FULLSTRIPE_VERSION;

struct options {
	const char *folder;
	const char *root;
	bool check;
};

enum {
	OPTION_ROOT = 256,
	OPTION_CHECK,
};

static const struct argp_option option_list[] = {
	{ "check", OPTION_CHECK, NULL, 0, "Say what is wrong in " TAB_FILE ", and write nothing", 0 },
	{ "root", OPTION_ROOT, "DIR", 0, "Look for " TAB_FILE " and /run in DIR", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case OPTION_CHECK:
		o->check = true;
		return 0;
	case OPTION_ROOT:
		o->root = arg;
		return 0;
	case ARGP_KEY_ARG:
		/* systemd gives three folders, for units before and behind an administrator's too. */
		if (state->arg_num == 0)
			o->folder = arg;
		else if (state->arg_num > 2)
			argp_error(state, "'%s' is one argument too many", arg);
		return 0;
	case ARGP_KEY_END:
		if (!o->folder && !o->check)
			argp_error(state, "a DIR for the units, or --check");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
	.options = option_list,
	.parser = parse_option,
	.args_doc = "DIR [DIR DIR]",
	.doc = "Write into the first DIR the units for the devices of " TAB_FILE ". systemd starts this at boot and when it is told to reload.",
};

/*
 * What is wrong in one line does not keep the other devices from being there.
 * Return: 0, or a negative errno of the first that was wrong; all was logged.
 */
static int read_tab(const char *root, struct tab *t)
{
	_cleanup_fclose_ FILE *file = NULL;
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX], why[TAB_WHY];
	unsigned int line = 0;
	size_t size = 0;
	int first = 0;

	snprintf(path, sizeof(path), "%s" TAB_FILE, root);
	file = fopen(path, "re");
	if (!file)
		return errno == ENOENT ? 0 : log_errno(errno, "%s", path);
	while (getline(&text, &size, file) >= 0) {
		int r = tab_add_line(t, ++line, text, why);

		if (r < 0)
			log_warning("%s:%u: %s; the line is ignored", path, line, why);
		if (r < 0 && first == 0)
			first = r;
	}
	return ferror(file) ? log_errno(EIO, "%s cannot be read", path) : first;
}

static FILE *create_file(const char *path)
{
	FILE *file = fopen(path, "we");

	if (!file)
		log_errno(errno, "%s", path);
	return file;
}

static int close_file(FILE *file, const char *path)
{
	int bad = ferror(file);

	return fclose(file) < 0 || bad ? log_errno(bad ? EIO : errno, "%s", path) : 0;
}

static int make_folder(const char *path)
{
	return mkdir(path, 0755) < 0 && errno != EEXIST ? log_errno(errno, "%s", path) : 0;
}

static int write_service(const char *folder, const struct tab_entry *e, const char *service)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, service);
	f = create_file(path);
	if (!f)
		return -EIO;
	tab_write_service(f, e, TAB_FILE, FULLSTRIPECTL);
	return close_file(f, path);
}

/* UNIT.KIND/SERVICE, a link: what "systemctl add-requires" would make. */
static int write_link(const char *folder, const char *unit, const char *kind, const char *service)
{
	char path[PATH_MAX], target[PATH_MAX];
	int r;

	snprintf(path, sizeof(path), "%s/%s.%s", folder, unit, kind);
	r = make_folder(path);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s/%s.%s/%s", folder, unit, kind, service);
	snprintf(target, sizeof(target), "../%s", service);
	return symlink(target, path) < 0 ? log_errno(errno, "%s", path) : 0;
}

static int write_timeout(const char *folder, const char *unit, const char *timeout)
{
	char path[PATH_MAX];
	FILE *f;
	int r;

	snprintf(path, sizeof(path), "%s/%s.d", folder, unit);
	r = make_folder(path);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s/%s.d/40-fullstripe.conf", folder, unit);
	f = create_file(path);
	if (!f)
		return -EIO;
	tab_write_timeout(f, timeout);
	return close_file(f, path);
}

static int write_entry(const char *folder, const struct tab_entry *e)
{
	char service[TAB_UNIT], device[TAB_UNIT], lower[TAB_UNIT];
	const char *target = tab_wanted_by(e);
	int r;

	tab_service_name(e, service);
	tab_device_name(e, device);
	tab_lower_name(e, lower);
	r = write_service(folder, e, service);
	if (r == 0)
		r = write_link(folder, device, "requires", service);
	/* How long it takes is for the device below to say. */
	if (r == 0)
		r = write_timeout(folder, device, "infinity");
	if (r == 0 && e->device_timeout[0])
		r = write_timeout(folder, lower, e->device_timeout);
	if (r == 0 && target)
		r = write_link(folder, target, "wants", service);
	return r;
}

/* Those of an earlier run go if there is nothing to say any more. */
static int write_rules(const char *root, const struct tab *t)
{
	static const char * const folders[] = { "/run", "/run/udev", "/run/udev/rules.d" };
	char path[PATH_MAX], new[PATH_MAX];
	FILE *f;
	int r;

	if (t->n == 0) {
		snprintf(path, sizeof(path), "%s" RULES_FILE, root);
		return unlink(path) < 0 && errno != ENOENT ? log_errno(errno, "%s", path) : 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		snprintf(path, sizeof(path), "%s%s", root, folders[i]);
		r = make_folder(path);
		if (r < 0)
			return r;
	}
	snprintf(path, sizeof(path), "%s" RULES_FILE, root);
	snprintf(new, sizeof(new), "%s" RULES_FILE ".new", root);
	/* udevd may read it at any time. */
	f = create_file(new);
	if (!f)
		return -EIO;
	fputs("# Made by fullstripe-generator of " TAB_FILE ".\n", f);
	for (size_t i = 0; i < t->n; i++)
		tab_write_rule(f, &t->entries[i]);
	r = close_file(f, new);
	return r == 0 && rename(new, path) < 0 ? log_errno(errno, "%s", path) : r;
}

/* systemd gives its generators no standard error that anybody would see. */
static void log_to_kernel(void)
{
	if (getenv("SYSTEMD_SCOPE") && freopen("/dev/kmsg", "we", stderr))
		setvbuf(stderr, NULL, _IOLBF, 0);
}

int main(int argc, char **argv)
{
	_cleanup_(tab_free) struct tab t = { .n = 0 };
	struct options o = { .root = "" };
	int first, r = 0;

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&parser, argc, argv, 0, NULL, &o);
	log_to_kernel();
	first = read_tab(o.root, &t);
	for (size_t i = 0; i < t.n && !o.check;) {
		r = write_entry(o.folder, &t.entries[i]);
		if (r < 0 && first == 0)
			first = r;
		/* A device below that waits for one which does not come would be nobody's. */
		if (r < 0)
			memmove(&t.entries[i], &t.entries[i + 1],
				(--t.n - i) * sizeof(t.entries[0]));
		else
			i++;
	}
	if (!o.check)
		r = write_rules(o.root, &t);
	return first < 0 || r < 0 ? EXIT_FAILED : EXIT_DONE;
}

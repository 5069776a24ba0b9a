// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <ini.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "config_files.h"
#include "lib/macros.h"
#include "log.h"

#define MAIN_FILE	"/etc/fullstripe/fullstriped.conf"
#define DROP_INS	"fullstripe/fullstriped.conf.d"

/* Of two files of one name the later folder's counts. */
static const char * const folders[] = { "/usr/lib/" DROP_INS, "/run/" DROP_INS, "/etc/" DROP_INS };

/**
 * struct drop_in - a file of a folder
 * @name: without the folder
 * @path: with it
 */
struct drop_in {
	char *name;
	char *path;
};

struct drop_ins {
	size_t n;
	struct drop_in *files;
};

static void free_drop_ins(struct drop_ins *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->files[i].name);
		free(d->files[i].path);
	}
	free(d->files);
}

/* A file that is being read: inih does not tell its handler of lines. */
struct reading {
	FILE *file;
	const char *path;
	unsigned int line;
	bool at_start;
	struct config *config;
	int error;
};

static char *read_line(char *text, int size, void *data)
{
	struct reading *r = data;
	char *got = fgets(text, size, r->file);

	/* A long line comes in several parts. */
	if (got && r->at_start)
		r->line++;
	r->at_start = got && strchr(got, '\n');
	return got;
}

/* inih goes on after what is wrong, so all of it is told. */
static int take_key(void *data, const char *section, const char *key, const char *value)
{
	struct reading *r = data;
	char why[CONFIG_WHY];
	int e = config_set(r->config, section, key, value, why);

	if (e == -ENOENT) {
		log_warning("%s:%u: %s; it is ignored, see fullstriped.conf(5)", r->path, r->line, why);
		return 1;
	}
	if (e < 0) {
		log_warning("%s:%u: %s", r->path, r->line, why);
		r->error = e;
	}
	return 1;
}

/* Return: 0, -ENOENT if there is no such file, or another negative errno, which was logged. */
static int read_file(const char *path, struct config *c)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	struct reading r = { .file = file, .path = path, .at_start = true, .config = c };
	int bad;

	if (!file)
		return errno == ENOENT ? -ENOENT : log_errno(errno, "%s", path);
	bad = ini_parse_stream(read_line, &r, take_key, &r);
	if (bad > 0) {
		log_warning("%s:%d: neither [section] nor key = value", path, bad);
		return -EINVAL;
	}
	if (bad < 0 || ferror(file))
		return log_errno(EIO, "%s cannot be read", path);
	return r.error;
}

static bool is_drop_in(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return entry->d_name[0] != '.' && len > 5 && strcmp(entry->d_name + len - 5, ".conf") == 0;
}

static struct drop_in *find_file(struct drop_ins *d, const char *name)
{
	struct drop_in *files;

	for (size_t i = 0; i < d->n; i++)
		if (strcmp(d->files[i].name, name) == 0)
			return &d->files[i];
	files = reallocarray(d->files, d->n + 1, sizeof(*files));
	if (!files)
		return NULL;
	d->files = files;
	d->files[d->n] = (struct drop_in) { .name = strdup(name) };
	return &d->files[d->n++];
}

static int list_folder(const char *root, const char *folder, struct drop_ins *d)
{
	_cleanup_closedir_ DIR *dir = NULL;
	char path[PATH_MAX];
	struct dirent *entry;

	snprintf(path, sizeof(path), "%s%s", root, folder);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? 0 : log_errno(errno, "%s", path);
	while ((entry = readdir(dir))) {
		struct drop_in *file;

		if (!is_drop_in(entry))
			continue;
		file = find_file(d, entry->d_name);
		if (!file || !file->name)
			return log_errno(ENOMEM, "%s", path);
		free(file->path);
		if (asprintf(&file->path, "%s/%s", path, entry->d_name) < 0) {
			file->path = NULL;
			return log_errno(ENOMEM, "%s", path);
		}
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct drop_in *)a)->name, ((const struct drop_in *)b)->name);
}

static int read_drop_ins(const char *root, struct config *c)
{
	_cleanup_(free_drop_ins) struct drop_ins d = { .n = 0 };
	int first = 0, r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(folders) && r == 0; i++)
		r = list_folder(root, folders[i], &d);
	if (r < 0)
		return r;
	if (d.n > 0)
		qsort(d.files, d.n, sizeof(d.files[0]), by_name);
	for (size_t i = 0; i < d.n; i++) {
		r = read_file(d.files[i].path, c);
		if (r < 0 && first == 0)
			first = r;
	}
	return first;
}

/**
 * config_read() - the configuration
 * @root: of the folders, usually ""
 * @ret: what all files together say; untouched on failure
 *
 * Return: 0 or a negative errno; all that was wrong has been logged, with file and line.
 */
int config_read(const char *root, struct config *ret)
{
	struct config c = config_default;
	char path[PATH_MAX], why[CONFIG_WHY];
	int r, drop_ins;

	snprintf(path, sizeof(path), "%s" MAIN_FILE, root);
	r = read_file(path, &c);
	if (r == -ENOENT)
		r = 0;
	drop_ins = read_drop_ins(root, &c);
	if (r < 0 || drop_ins < 0)
		return r < 0 ? r : drop_ins;
	r = config_check(&c, why);
	if (r < 0) {
		log_warning("the configuration of %s/ and what is dropped in: %s", root, why);
		return r;
	}
	*ret = c;
	return 0;
}

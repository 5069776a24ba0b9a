// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "save.h"

/* What is created gets the rights that any new file gets. */
static int open_temporary(struct save *s)
{
	mode_t mask = umask(0);

	umask(mask);
	if (asprintf(&s->temporary, "%s.XXXXXX", s->path) < 0) {
		s->temporary = NULL;
		return log_errno(ENOMEM, "%s", s->path);
	}
	s->fd = mkostemp(s->temporary, O_CLOEXEC);
	if (s->fd < 0) {
		int r = log_errno(errno, "%s", s->path);

		free(s->temporary);
		s->temporary = NULL;
		return r;
	}
	fchmod(s->fd, 0666 & ~mask);
	return 0;
}

/**
 * save_begin() - begin to write a file
 * @s: the file; save_end() must follow, whatever this returns
 * @path: its path, or "-" for standard output
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int save_begin(struct save *s, const char *path)
{
	struct stat st;
	int fd;

	*s = (struct save) { .fd = -1 };
	if (strcmp(path, "-") == 0) {
		s->fd = STDOUT_FILENO;
		return 0;
	}
	/* What may not be written is not replaced: the kernel decides, as of links of others in /tmp. */
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 && errno != ENOENT)
		return log_errno(errno, "%s", path);
	/* Through a link it is the file that is replaced, not the link. */
	s->path = realpath(path, NULL) ?: strdup(path);
	if (fd >= 0 && s->path && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)) {
		s->fd = fd;
		return 0;
	}
	if (fd >= 0)
		close(fd);
	return s->path ? open_temporary(s) : log_errno(ENOMEM, "%s", path);
}

/**
 * save_write() - write to it
 * @s: the file
 * @data: what is written
 * @len: its length
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int save_write(const struct save *s, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(s->fd, data, len);

		if (n < 0 && errno != EINTR)
			return log_errno(errno, "%s", s->path ?: "standard output");
		if (n > 0) {
			data += n;
			len -= n;
		}
	}
	return 0;
}

/**
 * save_commit() - all of it was written: it is there now
 * @s: the file
 *
 * Return: 0 or a negative errno, which has been logged.
 */
int save_commit(struct save *s)
{
	if (!s->temporary)
		return 0;
	if (rename(s->temporary, s->path) < 0)
		return log_errno(errno, "%s", s->path);
	free(s->temporary);
	s->temporary = NULL;
	return 0;
}

/**
 * save_end() - close it; what was not committed is gone
 * @s: the file
 */
void save_end(struct save *s)
{
	if (s->temporary)
		unlink(s->temporary);
	if (s->path && s->fd >= 0)
		close(s->fd);
	free(s->temporary);
	free(s->path);
}

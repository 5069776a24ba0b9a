// SPDX-License-Identifier: GPL-2.0
/*
 * To be preloaded: kills its process with SIGKILL before the call KILL_CALL is made for the
 * KILL_AT-th time. What strace does by stopping at every call, and so takes seconds.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void count(const char *call)
{
	static unsigned long calls;
	const char *which = getenv("KILL_CALL"), *at = getenv("KILL_AT");

	if (which && at && strcmp(which, call) == 0 && ++calls == strtoul(at, NULL, 10))
		kill(getpid(), SIGKILL);
}

ssize_t write(int fd, const void *data, size_t len)
{
	count("write");
	return syscall(SYS_write, fd, data, len);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	count("renameat");
	return syscall(SYS_renameat2, from_fd, from, to_fd, to, 0);
}

int fsync(int fd)
{
	count("fsync");
	return syscall(SYS_fsync, fd);
}

static int open_file(int folder, const char *path, int flags, va_list args)
{
	count("openat");
	return syscall(SYS_openat, folder, path, flags, flags & O_CREAT ? va_arg(args, int) : 0);
}

int open(const char *path, int flags, ...)
{
	va_list args;
	int fd;

	va_start(args, flags);
	fd = open_file(AT_FDCWD, path, flags, args);
	va_end(args);
	return fd;
}

int openat(int folder, const char *path, int flags, ...)
{
	va_list args;
	int fd;

	va_start(args, flags);
	fd = open_file(folder, path, flags, args);
	va_end(args);
	return fd;
}

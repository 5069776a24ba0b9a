// SPDX-License-Identifier: GPL-2.0
/*
 * Two threads write to one extent at a time, each its own byte, while a third one reads it: of
 * requests that are under way together either may be the last, but a sector is of one of them,
 * whoever reads it, and at the end.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECTOR 512
#define EXTENT (64 << 10)

static int fd;
static atomic_bool over;
static atomic_ulong writes;

static unsigned char *buffer(int byte)
{
	void *data;

	if (posix_memalign(&data, 4096, EXTENT))
		errx(2, "no memory");
	return memset(data, byte, EXTENT);
}

static void *write_all_the_time(void *byte)
{
	const unsigned char *data = buffer(*(const char *)byte);

	while (!atomic_load(&over)) {
		if (pwrite(fd, data, EXTENT, 0) != EXTENT)
			err(2, "write");
		atomic_fetch_add(&writes, 1);
	}
	return NULL;
}

static void read_and_check(const char *when)
{
	static unsigned char *data;
	size_t sector;

	if (!data)
		data = buffer(0);
	if (pread(fd, data, EXTENT, 0) != EXTENT)
		err(2, "read");
	for (sector = 0; sector < EXTENT; sector += SECTOR)
		if (memcmp(data + sector, data + sector + 1, SECTOR - 1))
			errx(1, "sector %zu is of both writers, %s, after %lu writes", sector / SECTOR,
			     when, atomic_load(&writes));
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	unsigned long wanted;
	int i;

	if (argc != 3)
		errx(2, "usage: overlap DEVICE WRITES");
	wanted = strtoul(argv[2], NULL, 0);
	fd = open(argv[1], O_RDWR | O_DIRECT);
	if (fd < 0)
		err(2, "%s", argv[1]);
	for (i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, write_all_the_time, "ab" + i))
			errx(2, "no thread");
	while (atomic_load(&writes) < wanted)
		read_and_check("while they write");
	atomic_store(&over, true);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	read_and_check("at the end");
	return 0;
}

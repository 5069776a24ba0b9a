// SPDX-License-Identifier: GPL-2.0
/*
 * Random writes, reads, discards, flushes and FUA writes from many threads, each read checked
 * against a model of the contents, sector by sector. Extents that are under way
 * never overlap, so what a sector must hold is known; but they do share stripes and
 * pages, which is where the races of a write cache are.
 *
 * At the end all of the device is read and compared; with --lower the same is read
 * from the device below, where it must be after the last flush. SIGTERM ends it early.
 *
 * With --streams so many more threads read as those do that read ahead is for: small
 * reads one after the other, up, down, or in runs with a constant stride.
 *
 * With --insist an operation that fails is done again until it succeeds: what a
 * failed write leaves is not defined, but the same write done again defines it.
 */
#define _GNU_SOURCE
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define SECTOR 512
#define MAX_THREADS 64

static struct {
	const char *device;
	const char *lower;
	unsigned long ops;
	unsigned int threads;
	unsigned int streams;
	unsigned long seed;
	size_t block;
	size_t largest;
	uint64_t size;
	bool discard;
	unsigned int insist;
} options = {
	.ops = 4000, .threads = 8, .seed = 1, .block = SECTOR, .largest = 512 << 10,
	.size = 32 << 20,
};

/* What is under way, by thread; and the model. Under @lock, but that an extent's
 * part of the model belongs to the thread that has it under way.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static struct extent {
	uint64_t first;
	uint64_t sectors;
} busy[MAX_THREADS];
static unsigned long ops_left;
/* None begins before all are there: by what they do a test knows that memory may be made to fail now. */
static pthread_barrier_t all_there;
static uint32_t *generation;	/* of each sector; 0: as the device was made, all zero */
static bool *discarded;		/* since it was written: may be zero too */
static int fd;
static int ended;
static unsigned long repeated;

static void on_end(int signal)
{
	(void)signal;
	__atomic_store_n(&ended, 1, __ATOMIC_RELAXED);
}

__attribute__((format(printf, 1, 2), noreturn))
static void die(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	fputs("stress: ", stderr);
	vfprintf(stderr, format, list);
	fputc('\n', stderr);
	exit(1);
}

static void fill(uint64_t *data, uint64_t sector, uint32_t gen)
{
	uint64_t word = gen ? (sector << 24) ^ gen * 0x9e3779b97f4a7c15ULL : 0;
	unsigned int i;

	for (i = 0; i < SECTOR / sizeof(*data); i++)
		data[i] = gen ? word + i : 0;
}

/* What a sector holds that should hold something else, to say so: of which sector and
 * generation it is, none if it is torn or nobody here wrote it.
 */
static void identify(const char *data, char *said, size_t size)
{
	uint64_t want[SECTOR / sizeof(uint64_t)];
	uint64_t sector;
	uint32_t gen;

	fill(want, 0, 0);
	if (!memcmp(want, data, SECTOR)) {
		snprintf(said, size, "zeroes");
		return;
	}
	for (sector = 0; sector < options.size / SECTOR; sector++)
		for (gen = 1; gen <= generation[sector]; gen++) {
			fill(want, sector, gen);
			if (!memcmp(want, data, SECTOR)) {
				snprintf(said, size, "generation %u of sector %llu", gen,
					 (unsigned long long)sector);
				return;
			}
		}
	snprintf(said, size, "what no write brought as a whole: %016llx %016llx",
		 (unsigned long long)((const uint64_t *)data)[0],
		 (unsigned long long)((const uint64_t *)data)[1]);
}

/* The first of sectors that does not hold what it must, or -1. */
static int64_t first_wrong(const char *data, uint64_t first, uint64_t sectors)
{
	static const char zero[SECTOR];
	uint64_t want[SECTOR / sizeof(uint64_t)];
	uint64_t i;

	for (i = 0; i < sectors; i++) {
		fill(want, first + i, generation[first + i]);
		if (discarded[first + i] && !memcmp(data + i * SECTOR, zero, SECTOR))
			continue;
		if (memcmp(want, data + i * SECTOR, SECTOR))
			return first + i;
	}
	return -1;
}

static bool overlaps(const struct extent *a, const struct extent *b)
{
	return a->sectors && b->sectors && a->first < b->first + b->sectors &&
	       b->first < a->first + a->sectors;
}

static bool is_free(const struct extent *extent)
{
	unsigned int i;

	for (i = 0; i < options.threads + options.streams; i++)
		if (overlaps(extent, &busy[i]))
			return false;
	return true;
}

static bool begin(unsigned int thread, const struct extent *extent)
{
	bool more;

	pthread_mutex_lock(&lock);
	while (!is_free(extent))
		pthread_cond_wait(&released, &lock);
	busy[thread] = *extent;
	more = ops_left > 0 && !__atomic_load_n(&ended, __ATOMIC_RELAXED);
	ops_left -= more;
	pthread_mutex_unlock(&lock);
	return more;
}

static void end(unsigned int thread)
{
	pthread_mutex_lock(&lock);
	busy[thread].sectors = 0;
	pthread_cond_broadcast(&released);
	pthread_mutex_unlock(&lock);
}

/* Mostly small, now and then up to the largest; threads walk or jump. */
static struct extent pick(unsigned int *rand, uint64_t *walk)
{
	uint64_t blocks = options.size / options.block;
	uint64_t most = options.largest / options.block;
	uint64_t n = 1 + rand_r(rand) % (rand_r(rand) % 4 ? 16 : most);
	uint64_t first = rand_r(rand) % 3 ? *walk : rand_r(rand) % blocks;

	if (n > most)
		n = most;
	if (first + n > blocks)
		first = blocks - n;
	*walk = (first + n) % blocks;
	return (struct extent) { first * (options.block / SECTOR), n * (options.block / SECTOR) };
}

/* Whether to do again what failed with errno; waits a little before that. */
static bool again(time_t begin)
{
	if (!options.insist || (errno != EIO && errno != ENOMEM) ||
	    time(NULL) - begin > (time_t)options.insist)
		return false;
	__atomic_add_fetch(&repeated, 1, __ATOMIC_RELAXED);
	usleep(20000);
	return true;
}

static void do_sync(void)
{
	time_t begin = time(NULL);

	while (fdatasync(fd))
		if (!again(begin))
			die("fdatasync: %m");
}

static void do_write(const struct extent *extent, char *data, int flags)
{
	struct iovec iov = { data, extent->sectors * SECTOR };
	time_t begin = time(NULL);
	ssize_t wrote;
	uint64_t i;

	for (i = 0; i < extent->sectors; i++) {
		fill((uint64_t *)(data + i * SECTOR), extent->first + i,
		     ++generation[extent->first + i]);
		discarded[extent->first + i] = false;
	}
	do {
		wrote = pwritev2(fd, &iov, 1, extent->first * SECTOR, flags);
		/* It was cut short by what the next try will be told. */
		if (wrote >= 0 && wrote < (ssize_t)iov.iov_len)
			errno = EIO;
	} while (wrote != (ssize_t)iov.iov_len && again(begin));
	if (wrote != (ssize_t)iov.iov_len)
		die("write of %llu sectors at %llu: %m", (unsigned long long)extent->sectors,
		    (unsigned long long)extent->first);
}

static void do_discard(const struct extent *extent)
{
	uint64_t range[2] = { extent->first * SECTOR, extent->sectors * SECTOR };

	memset(discarded + extent->first, true, extent->sectors);
	if (ioctl(fd, BLKDISCARD, range))
		die("discard of %llu sectors at %llu: %m", (unsigned long long)extent->sectors,
		    (unsigned long long)extent->first);
}

static void read_once(int from, const char *what, uint64_t first, uint64_t sectors, char *data)
{
	time_t begin = time(NULL);
	ssize_t got;

	do {
		got = pread(from, data, sectors * SECTOR, first * SECTOR);
		if (got >= 0 && got < (ssize_t)(sectors * SECTOR))
			errno = EIO;
	} while (got != (ssize_t)(sectors * SECTOR) && again(begin));
	if (got != (ssize_t)(sectors * SECTOR))
		die("%s: read of %llu sectors at %llu: %m", what, (unsigned long long)sectors,
		    (unsigned long long)first);
}

static void do_read(int from, const char *what, uint64_t first, uint64_t sectors, char *data)
{
	char seen[SECTOR], said[80];
	int64_t wrong;
	bool lasting;

	read_once(from, what, first, sectors, data);
	wrong = first_wrong(data, first, sectors);
	if (wrong < 0)
		return;
	memcpy(seen, data + (wrong - first) * SECTOR, SECTOR);
	/* Whether it is lost, or was only read wrong. */
	sleep(1);
	read_once(from, what, first, sectors, data);
	lasting = first_wrong(data, first, sectors) >= 0;
	identify(seen, said, sizeof(said));
	die("%s: sector %lld does not hold generation %u but %s, a second later %s (of %llu at %llu, seed %lu)",
	    what, (long long)wrong, generation[wrong], said, lasting ? "too" : "it does",
	    (unsigned long long)sectors, (unsigned long long)first, options.seed);
}

static char *buffer(void)
{
	void *data;

	if (posix_memalign(&data, 4096, options.largest))
		die("no memory");
	return data;
}

static void *run(void *arg)
{
	unsigned int thread = (uintptr_t)arg;
	unsigned int rand = options.seed * MAX_THREADS + thread;
	uint64_t walk = 0;
	char *data = buffer();

	pthread_barrier_wait(&all_there);
	for (;;) {
		struct extent extent = pick(&rand, &walk);
		unsigned int dice = rand_r(&rand) % 100;

		if (!begin(thread, &extent)) {
			end(thread);
			break;
		}
		if (dice < 8 && options.discard)
			do_discard(&extent);
		else if (dice < 56)
			do_write(&extent, data, 0);
		else if (dice < 59)
			do_write(&extent, data, RWF_DSYNC);
		else if (dice < 99)
			do_read(fd, options.device, extent.first, extent.sectors, data);
		else
			do_sync();
		end(thread);
	}
	free(data);
	return NULL;
}

/* Read a stream to its end; false when all is over. */
static bool read_stream(unsigned int thread, unsigned int *rand, char *data)
{
	int64_t blocks = options.size / options.block;
	int64_t n = 1 + rand_r(rand) % (8192 / options.block ?: 1);
	int64_t run = n * (8 + rand_r(rand) % 64);
	int64_t gap = rand_r(rand) % 3 ? 0 : rand_r(rand) % (2 * run);
	int64_t at = rand_r(rand) % blocks;
	int64_t left = rand_r(rand) % 4096;
	bool down = rand_r(rand) % 3 == 0;
	int64_t done = 0;

	while (left-- > 0 && at >= 0 && at + n <= blocks) {
		struct extent extent = {
			at * (options.block / SECTOR), n * (options.block / SECTOR),
		};

		if (!begin(thread, &extent)) {
			end(thread);
			return false;
		}
		do_read(fd, options.device, extent.first, extent.sectors, data);
		end(thread);
		done += n;
		at += down ? -n : n;
		if (gap && done % run == 0)
			at += gap;
	}
	return true;
}

static void *run_streams(void *arg)
{
	unsigned int thread = (uintptr_t)arg;
	unsigned int rand = options.seed * MAX_THREADS + thread;
	char *data = buffer();

	pthread_barrier_wait(&all_there);
	while (read_stream(thread, &rand, data))
		;
	free(data);
	return NULL;
}

static void read_all(int from, const char *what)
{
	uint64_t total = options.size / SECTOR;
	uint64_t step = options.largest / SECTOR;
	char *data = buffer();
	uint64_t first;

	for (first = 0; first < total; first += step)
		do_read(from, what, first, step < total - first ? step : total - first, data);
	free(data);
}

static int open_direct(const char *path, int flags)
{
	int opened = open(path, flags | O_DIRECT | O_CLOEXEC);

	if (opened < 0)
		die("%s: %m", path);
	return opened;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'l':
		options.lower = arg;
		break;
	case 'n':
		options.ops = strtoul(arg, NULL, 0);
		break;
	case 't':
		options.threads = strtoul(arg, NULL, 0);
		break;
	case 'r':
		options.streams = strtoul(arg, NULL, 0);
		break;
	case 's':
		options.seed = strtoul(arg, NULL, 0);
		break;
	case 'b':
		options.block = strtoul(arg, NULL, 0);
		break;
	case 'm':
		options.largest = strtoul(arg, NULL, 0);
		break;
	case 'z':
		options.size = strtoull(arg, NULL, 0);
		break;
	case 'd':
		options.discard = true;
		break;
	case 'i':
		options.insist = strtoul(arg, NULL, 0);
		break;
	case ARGP_KEY_ARG:
		options.device = arg;
		break;
	case ARGP_KEY_END:
		if (!options.device)
			argp_error(state, "no device given");
		if (!options.threads || options.threads > MAX_THREADS ||
		    options.streams > MAX_THREADS - options.threads)
			argp_error(state, "threads and streams: not 1 to %d", MAX_THREADS);
		if (!options.block || options.block % SECTOR || options.largest < options.block ||
		    options.size < options.largest)
			argp_error(state, "block, largest and size do not fit each other");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct argp_option list[] = {
		{"lower", 'l', "DEV", 0, "compare what is on DEV at the end", 0},
		{"ops", 'n', "N", 0, "operations in all", 0},
		{"threads", 't', "N", 0, "threads", 0},
		{"streams", 'r', "N", 0, "more threads, that read in streams", 0},
		{"seed", 's', "N", 0, "seed of what is random", 0},
		{"block", 'b', "BYTES", 0, "smallest unit", 0},
		{"largest", 'm', "BYTES", 0, "largest operation", 0},
		{"discard", 'd', NULL, 0, "discard too", 0},
		{"size", 'z', "BYTES", 0, "part of the device to use, from its start", 0},
		{"insist", 'i', "SECONDS", 0, "do again for so long what fails for I/O or memory", 0},
		{}
	};
	static const struct argp argp = {
		.options = list, .parser = parse, .args_doc = "DEVICE",
		.doc = "Write and read DEVICE, which must be all zero, and check what is read.",
	};
	pthread_t threads[MAX_THREADS];
	unsigned int i;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	signal(SIGTERM, on_end);
	fd = open_direct(options.device, O_RDWR);
	generation = calloc(options.size / SECTOR, sizeof(*generation));
	discarded = calloc(options.size / SECTOR, sizeof(*discarded));
	if (!generation || !discarded)
		die("no memory");
	/* A page fault cannot be done again where memory is made to fail. */
	if (options.insist && mlockall(MCL_CURRENT | MCL_FUTURE))
		die("mlockall: %m");
	ops_left = options.ops;
	pthread_barrier_init(&all_there, NULL, options.threads + options.streams);
	for (i = 0; i < options.threads + options.streams; i++)
		if (pthread_create(&threads[i], NULL, i < options.threads ? run : run_streams,
				   (void *)(uintptr_t)i))
			die("cannot start a thread");
	for (i = 0; i < options.threads + options.streams; i++)
		pthread_join(threads[i], NULL);

	read_all(fd, options.device);
	do_sync();
	read_all(fd, options.device);
	if (options.lower)
		read_all(open_direct(options.lower, O_RDONLY), options.lower);
	if (options.insist)
		printf("%lu operations were done again\n", repeated);
	return 0;
}

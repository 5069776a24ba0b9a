// SPDX-License-Identifier: GPL-2.0
/*
 * Use more memory than there is: map it, visit its pages, unless told so in an order
 * that no read-ahead guesses, and check at each visit that a page holds what the visit
 * before left there. Anonymous memory then goes through swap; a file's, through
 * writeback.
 */
#include <argp.h>
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096
#define WORDS (PAGE / sizeof(uint64_t))

static struct {
	const char *file;
	size_t size;
	unsigned long rounds;
	bool check;
	bool in_order;
} options = { .size = 64 << 20, .rounds = 3 };

/* Round 0 is memory as it was mapped: all zero. */
static uint64_t word(size_t page, unsigned long round, size_t i)
{
	return round ? (page << 32 ^ i << 20 ^ round) * 0x9e3779b97f4a7c15ULL : 0;
}

static void check(const uint64_t *data, size_t page, unsigned long round)
{
	size_t i;

	for (i = 0; i < WORDS; i++)
		if (data[i] != word(page, round, i))
			errx(1, "page %zu does not hold round %lu: word %zu is %llx", page, round, i,
			     (unsigned long long)data[i]);
}

static void visit(uint64_t *map, unsigned long round, bool write)
{
	size_t pages = options.size / PAGE;
	size_t n, i;

	/* An odd step visits each page of a power of two once: see parse(). */
	for (n = 0; n < pages; n++) {
		size_t page = (options.in_order ? n : n * 0x9e3779b1UL + round) & (pages - 1);
		uint64_t *data = map + page * WORDS;

		check(data, page, round);
		for (i = 0; write && i < WORDS; i++)
			data[i] = word(page, round + 1, i);
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'f':
		options.file = arg;
		break;
	case 'z':
		options.size = strtoull(arg, NULL, 0);
		break;
	case 'r':
		options.rounds = strtoul(arg, NULL, 0);
		break;
	case 'o':
		options.in_order = true;
		break;
	case 'c':
		options.check = true;
		break;
	case ARGP_KEY_END:
		if (options.size < PAGE || options.size & (options.size - 1))
			argp_error(state, "the size is no power of two of at least a page");
		if (options.check && !options.file)
			argp_error(state, "only a file keeps what can be checked later");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct argp_option list[] = {
		{"file", 'f', "FILE", 0, "map FILE, made anew, instead of anonymous memory", 0},
		{"size", 'z', "BYTES", 0, "how much, a power of two", 0},
		{"rounds", 'r', "N", 0, "how often each page is visited", 0},
		{"in-order", 'o', NULL, 0, "visit the pages from first to last", 0},
		{"check", 'c', NULL, 0, "only check that FILE holds what N rounds left", 0},
		{}
	};
	static const struct argp argp = {
		.options = list, .parser = parse, .doc = "Use memory, and check what it holds.",
	};
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	unsigned long round;
	uint64_t *map;
	int fd = -1;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if (options.file) {
		flags = MAP_SHARED;
		fd = open(options.file, options.check ? O_RDWR : O_RDWR | O_CREAT | O_TRUNC, 0600);
		if (fd < 0)
			err(1, "%s", options.file);
		if (!options.check && posix_fallocate(fd, 0, options.size))
			errx(1, "%s: no room for %zu bytes", options.file, options.size);
	}
	map = mmap(NULL, options.size, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (map == MAP_FAILED)
		err(1, "mmap of %zu bytes", options.size);
	for (round = 0; !options.check && round < options.rounds; round++)
		visit(map, round, true);
	visit(map, options.rounds, false);
	if (fd >= 0 && fsync(fd))
		err(1, "fsync of %s", options.file);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0 */
/* What several of the tests need: recorded bytes, events made by hand, the vectors. */
#ifndef FULLSTRIPE_FIXTURE_H
#define FULLSTRIPE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <cmocka.h>
#include <json-c/json.h>

#include "lib/profile.h"
#include "lib/series.h"
#include "lib/trace.h"

/* Whose add_io()'s requests are. */
#define DEVICE	((254u << 20) | 3)

struct bytes {
	unsigned char *data;
	size_t len;
};

struct bytes read_fixture(const char *name);
struct bytes copy_of(const struct bytes *bytes);
void swap_byte_order(struct bytes *trace);
size_t record_starts(const struct bytes *trace, size_t *starts, size_t max);

/* A stream for merge_new() that is read from memory, at most @step bytes at a time. */
struct memory_stream {
	const struct bytes *bytes;
	size_t at;
	size_t step;
};

ssize_t fill_from_memory(void *source, void *space, size_t room);

/* All events of a recording of two CPUs, such as "linux-6.12-v1/md0". */
void take_recorded(const char *name, void (*take)(void *data, const struct trace_event *e),
		   void *data);

struct json_object *vectors(const char *name);
int64_t vector_int(struct json_object *vector, const char *key);
const char *vector_text(struct json_object *vector, const char *key);

/* One I/O of a made-up workload: queued at @time, completed 1 ms later. */
void add_io(struct profile *p, uint64_t time, uint32_t categories, uint64_t offset, uint32_t bytes);
struct profile_summary summary_of(struct profile *p);
struct profile *new_profile(void);

/* A device over time: of DEVICE, event by event; or of the first device of a recording, to its end. */
struct series *new_series(uint64_t origin, uint64_t stripe_bytes);
void add_event(struct series *s, enum trace_action action, uint64_t time, uint32_t categories,
	       uint64_t sector, uint32_t bytes);
void add_recorded(const char *name, struct series *s);

/* A few random changes of a text, of @room bytes with its end: bytes that become others, go, or come twice. */
void spoil(char *text, size_t room, uint64_t *seed);

/* A folder of plain files that stands for one of sysfs, for the time of one test. */
#define in_root(test)	cmocka_unit_test_setup_teardown(test, make_root, remove_root)

extern char root[64];

int make_root(void **state);
int remove_root(void **state);
void make_folders(char *path);
void put(const char *file, const char *value);
void put_bytes(const char *file, const void *bytes, size_t size);
uint64_t value_of(const char *file);

#endif

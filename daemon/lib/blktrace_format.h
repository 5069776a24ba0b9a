/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The format of blktrace records and the ioctls that make them, v1 and v2.
 *
 * The header installed by a distribution may know v1 only, so both layouts are
 * stated here. Fields are in the byte order of the machine that recorded them;
 * what follows a record (its "pdu") is big-endian where it holds numbers, but
 * for the cgroup id and the time stamp.
 */
#ifndef FULLSTRIPE_BLKTRACE_FORMAT_H
#define FULLSTRIPE_BLKTRACE_FORMAT_H

#include <stdint.h>
#include <linux/ioctl.h>

/* The upper 24 bits of a record's first word; the lowest byte is the version. */
#define BLKTRACE_MAGIC		0x65617400u
#define BLKTRACE_MAGIC_MASK	0xffffff00u

enum {
	BLKTRACE_VERSION_1 = 7,
	BLKTRACE_VERSION_2 = 8,
};

/* Both are read where they lie: at any address, among bytes. */
struct __attribute__((packed, may_alias)) blktrace_record_v1 {
	uint32_t magic;
	uint32_t sequence;
	uint64_t time;
	uint64_t sector;
	uint32_t bytes;
	uint32_t action;
	uint32_t pid;
	uint32_t device;
	uint32_t cpu;
	uint16_t error;
	uint16_t pdu_len;
};

struct __attribute__((packed, may_alias)) blktrace_record_v2 {
	uint32_t magic;
	uint32_t sequence;
	uint64_t time;
	uint64_t sector;
	uint32_t bytes;
	uint32_t pid;
	uint64_t action;
	uint32_t device;
	uint32_t cpu;
	uint16_t error;
	uint16_t pdu_len;
	uint8_t pad[12];
};

_Static_assert(sizeof(struct blktrace_record_v1) == 48, "a v1 record is 48 bytes");
_Static_assert(sizeof(struct blktrace_record_v2) == 64, "a v2 record is 64 bytes");

/* The low 16 bits of an action: what happened, and whether a cgroup id comes first in the pdu. */
#define BLKTRACE_ACTION_MASK	0xffu
#define BLKTRACE_ACTION_CGROUP	0x100u
#define BLKTRACE_CATEGORY_SHIFT	16

/* The bits above that. */
enum {
	BLKTRACE_READ		= 1 << 0,
	BLKTRACE_WRITE		= 1 << 1,
	BLKTRACE_FLUSH		= 1 << 2,
	BLKTRACE_SYNC		= 1 << 3,
	BLKTRACE_NOTIFY		= 1 << 10,
	BLKTRACE_AHEAD		= 1 << 11,
	BLKTRACE_META		= 1 << 12,
	BLKTRACE_DISCARD	= 1 << 13,
	BLKTRACE_FUA		= 1 << 15,
	BLKTRACE_WRITE_ZEROES	= 1 << 22,	/* v2 only */
};

/* What a record with the NOTIFY bit says. */
enum {
	BLKTRACE_NOTE_PROCESS	= 0,
	BLKTRACE_NOTE_TIMESTAMP	= 1,
	BLKTRACE_NOTE_MESSAGE	= 2,
};

struct blktrace_setup_v1 {
	char name[32];		/* out: the folder's name in debugfs */
	uint16_t act_mask;
	uint32_t buf_size;
	uint32_t buf_nr;
	uint64_t start_lba;
	uint64_t end_lba;
	uint32_t pid;
};

struct blktrace_setup_v2 {
	char name[64];		/* out: the folder's name in debugfs */
	uint64_t act_mask;
	uint32_t buf_size;
	uint32_t buf_nr;
	uint64_t start_lba;
	uint64_t end_lba;
	uint32_t pid;
	uint32_t flags;
	uint64_t reserved[11];
};

_Static_assert(sizeof(struct blktrace_setup_v2) == 192, "the v2 setup is 192 bytes");

#define BLKTRACE_IOC_SETUP_V1	_IOWR(0x12, 115, struct blktrace_setup_v1)
#define BLKTRACE_IOC_START	_IO(0x12, 116)
#define BLKTRACE_IOC_STOP	_IO(0x12, 117)
#define BLKTRACE_IOC_TEARDOWN	_IO(0x12, 118)
#define BLKTRACE_IOC_SETUP_V2	_IOWR(0x12, 142, struct blktrace_setup_v2)

#endif

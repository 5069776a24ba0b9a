/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Devices and the daemon in Prometheus' text format, as node_exporter's textfile collector
 * reads it. Names are stable; fullstriped(8) lists them.
 */
#ifndef FULLSTRIPE_METRICS_H
#define FULLSTRIPE_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harm.h"
#include "profile.h"
#include "rule.h"

#define METRICS_ATTRIBUTES	48
#define METRICS_LABEL		128

/**
 * struct metrics_watch - what the daemon knows of a device since it began to watch it
 * @recordings: that were made to their end
 * @lost: records that were missing in them
 * @applied: changes that were made
 * @taken_back: of these, because they did harm
 * @verdicts: on these
 * @has_profile: there was enough to record at least once:
 * @profile: of the newest recording
 * @pre_reads: of that, bytes for each byte written; negative if not known
 * @has_plan: there is a plan:
 * @plan: the newest one
 */
struct metrics_watch {
	uint64_t recordings;
	uint64_t lost;
	uint64_t applied, taken_back;
	uint64_t verdicts[HARM_VERDICTS];
	bool has_profile;
	struct profile_summary profile;
	double pre_reads;
	bool has_plan;
	struct plan plan;
};

/**
 * struct metrics_device - one device
 * @name: its device-mapper name
 * @block: as in sysfs
 * @mode: writebehind or writethrough; empty if not known, as while it is suspended
 * @known: which of its attributes could be read
 * @values: these, in the order of metrics_attribute()
 * @watch: what the daemon knows
 */
struct metrics_device {
	char name[METRICS_LABEL];
	char block[METRICS_LABEL];
	char mode[METRICS_LABEL];
	bool known[METRICS_ATTRIBUTES];
	uint64_t values[METRICS_ATTRIBUTES];
	struct metrics_watch watch;
};

/**
 * struct metrics - all there is
 * @version: of the daemon
 * @apply: its mode is auto
 * @n: devices
 * @devices: these
 */
struct metrics {
	const char *version;
	bool apply;
	size_t n;
	const struct metrics_device *devices;
};

const char *metrics_attribute(size_t index);
int metrics_render(const struct metrics *metrics, char **ret);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* What the daemon may be told: keys, ranges, defaults. Reading the files is src/config_files. */
#ifndef FULLSTRIPE_CONFIG_H
#define FULLSTRIPE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#define CONFIG_WHY	160
#define CONFIG_PATH	256

/**
 * struct config - how the daemon works
 * @apply: mode is auto: plans are applied; else it only says what it would do
 * @layers: plans are also about the layers below, and the kernel's settings of the device
 * @record_seconds: how long a workload is recorded
 * @interval_seconds: from the beginning of one recording to the next
 * @dead_band_percent: a setting that would change by no more is right as it is
 * @dwell_seconds: no change sooner after the last one
 * @changes_per_hour: no more changes of a device
 * @metrics_file: where metrics are written to; empty: nowhere
 */
struct config {
	bool apply;
	bool layers;
	uint64_t record_seconds;
	uint64_t interval_seconds;
	uint64_t dead_band_percent;
	uint64_t dwell_seconds;
	uint64_t changes_per_hour;
	char metrics_file[CONFIG_PATH];
};

extern const struct config config_default;

int config_set(struct config *c, const char *section, const char *key, const char *value,
	       char why[static CONFIG_WHY]);
int config_check(const struct config *c, char why[static CONFIG_WHY]);
const char *config_mode_name(bool apply);

#endif

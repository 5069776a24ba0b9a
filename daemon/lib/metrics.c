// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "config.h"
#include "macros.h"
#include "metrics.h"

#define COUNTER	"counter"
#define GAUGE	"gauge"

/**
 * struct attribute - a metric that is a file of the device's folder in sysfs
 * @path: in that folder
 * @name: of the metric
 * @type: what it is to Prometheus
 * @per_unit: how much of the attribute is one of the metric
 * @help: what it says, in a sentence
 */
static const struct attribute {
	const char *path;
	const char *name;
	const char *type;
	unsigned int per_unit;
	const char *help;
} attributes[] = {
	{ "stats/accepted_bytes", "fullstripe_accepted_bytes_total", COUNTER, 1,
	  "Bytes of writes that were copied into memory." },
	{ "stats/held_bytes", "fullstripe_held_bytes_total", COUNTER, 1,
	  "Bytes of writes that were held back without a copy." },
	{ "stats/bypassed_bytes", "fullstripe_bypassed_bytes_total", COUNTER, 1,
	  "Bytes of writes that went straight to the lower device." },
	{ "stats/edge_bytes", "fullstripe_edge_bytes_total", COUNTER, 1,
	  "Bytes of writes to a first or last stripe that the device holds only a part of." },
	{ "stats/staged_read_bytes", "fullstripe_staged_read_bytes_total", COUNTER, 1,
	  "Bytes of reads that were answered from staged writes." },
	{ "stats/destaged_bytes", "fullstripe_destaged_bytes_total", COUNTER, 1,
	  "Bytes that were written to the lower device from memory or from held writes." },
	{ "stats/whole_stripes", "fullstripe_whole_stripes_total", COUNTER, 1,
	  "Stripes that were written whole." },
	{ "stats/filled_stripes", "fullstripe_filled_stripes_total", COUNTER, 1,
	  "Stripes that were written whole after what they lacked had been read." },
	{ "stats/partial_stripes", "fullstripe_partial_stripes_total", COUNTER, 1,
	  "Stripes that were written in part." },
	{ "stats/flushes", "fullstripe_flushes_total", COUNTER, 1, "Flush requests." },
	{ "stats/fua_writes", "fullstripe_fua_writes_total", COUNTER, 1, "Writes with FUA." },
	{ "stats/parked", "fullstripe_parked_writes_total", COUNTER, 1,
	  "Writes that had to wait for memory." },
	{ "stats/throttled", "fullstripe_throttled_writes_total", COUNTER, 1,
	  "Writes that had to wait as their file had too much outstanding, or for a flush." },
	{ "stats/destage_errors", "fullstripe_destage_errors_total", COUNTER, 1,
	  "Stripes that could not be written to the lower device." },
	{ "stats/prefetched_bytes", "fullstripe_prefetched_bytes_total", COUNTER, 1,
	  "Bytes that were read ahead." },
	{ "stats/prefetch_hit_bytes", "fullstripe_prefetch_hit_bytes_total", COUNTER, 1,
	  "Bytes of reads that were answered from what was read ahead." },
	{ "stats/prefetch_wasted_bytes", "fullstripe_prefetch_wasted_bytes_total", COUNTER, 1,
	  "Bytes that were read ahead and given up before anybody had read them." },
	{ "stats/staged_bytes", "fullstripe_staged_bytes", GAUGE, 1,
	  "Memory that staged data takes." },
	{ "stats/memory_bytes", "fullstripe_memory_bytes", GAUGE, 1,
	  "Memory that the device has, be it in use or free." },
	{ "stats/file_peak_bytes", "fullstripe_file_peak_bytes", GAUGE, 1,
	  "The most that one file had outstanding." },
	{ "stats/dirty_files", "fullstripe_dirty_files", GAUGE, 1,
	  "Files with something outstanding." },
	{ "stats/held_files", "fullstripe_held_files", GAUGE, 1, "Files that wait." },
	{ "stats/failing", "fullstripe_failing", GAUGE, 1,
	  "1 where something could not be written, or was lost by a flush, so that the next flush fails." },
	{ "stats/failing_stripes", "fullstripe_failing_stripes", GAUGE, 1,
	  "Stripes that could not be written and are not yet written; flushes fail while there are any." },
	{ "stats/active_streams", "fullstripe_active_streams", GAUGE, 1,
	  "Streams that were read in the last five seconds." },
	{ "stats/prefetching_bytes", "fullstripe_prefetching_bytes", GAUGE, 1,
	  "Bytes that are being read ahead." },
	{ "chunk_bytes", "fullstripe_chunk_bytes", GAUGE, 1,
	  "Bytes that lie together on one member." },
	{ "data_members", "fullstripe_data_members", GAUGE, 1, "Members less parity." },
	{ "alignment_offset", "fullstripe_alignment_offset_bytes", GAUGE, 1,
	  "From the last stripe border of the array to the first byte of the lower device." },
	{ "stripe_bytes", "fullstripe_stripe_bytes", GAUGE, 1, "Setting: the stripe width." },
	{ "cluster_bytes", "fullstripe_cluster_bytes", GAUGE, 1,
	  "Setting: how much is written at a time." },
	{ "high_water_bytes", "fullstripe_high_water_bytes", GAUGE, 1,
	  "Setting: memory for staged data." },
	{ "low_water_bytes", "fullstripe_low_water_bytes", GAUGE, 1,
	  "Setting: above it partial stripes are written at once." },
	{ "file_high_water_bytes", "fullstripe_file_high_water_bytes", GAUGE, 1,
	  "Setting: how much one file may have outstanding; 0 is no limit." },
	{ "file_low_water_bytes", "fullstripe_file_low_water_bytes", GAUGE, 1,
	  "Setting: a file that waits goes on when it has no more outstanding." },
	{ "hold_ms", "fullstripe_hold_seconds", GAUGE, 1000,
	  "Setting: how long a stripe may wait to become whole." },
	{ "seek_bytes", "fullstripe_seek_bytes", GAUGE, 1,
	  "Setting: what a member could transfer in the time that one more request takes." },
	{ "streams", "fullstripe_streams_limit", GAUGE, 1,
	  "Setting: streams that are read ahead for." },
	{ "read_pref_io", "fullstripe_read_pref_io_bytes", GAUGE, 1,
	  "Setting: what one member is asked for at a time when reading ahead." },
	{ "read_nstream", "fullstripe_read_nstream", GAUGE, 1,
	  "Setting: how many times that is read at a time." },
	{ "prefetch_bytes", "fullstripe_prefetch_limit_bytes", GAUGE, 1,
	  "Setting: the most memory for what is read ahead." },
	{ "stats/answered_flushes", "fullstripe_answered_flushes_total", COUNTER, 1,
	  "Flush requests that were answered." },
	{ "stats/flush_us", "fullstripe_flush_seconds_total", COUNTER, 1000000,
	  "Seconds that flush requests took until they were answered." },
};

_Static_assert(ARRAY_SIZE(attributes) <= METRICS_ATTRIBUTES, "there is room for all of them");

/**
 * metrics_attribute() - which attributes are to be read
 * @index: from 0
 *
 * Return: the attribute's path in the device's folder, or NULL if there are no more.
 */
const char *metrics_attribute(size_t index)
{
	return index < ARRAY_SIZE(attributes) ? attributes[index].path : NULL;
}

static void begin_family(FILE *f, const char *name, const char *type, const char *help)
{
	fprintf(f, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* A name may hold anything: these three end or change what a label's value is. */
static void put_label(FILE *f, const char *label, const char *value)
{
	fprintf(f, "%s=\"", label);
	for (; *value; value++) {
		if (*value == '\\' || *value == '"')
			fputc('\\', f);
		if (*value == '\n')
			fputs("\\n", f);
		else
			fputc(*value, f);
	}
	fputc('"', f);
}

/* A sample of a device, with one more label if @label is not NULL. */
static void put_sample(FILE *f, const char *name, const struct metrics_device *d,
		       const char *label, const char *value, double sample)
{
	fprintf(f, "%s{", name);
	put_label(f, "device", d->name);
	if (label) {
		fputc(',', f);
		put_label(f, label, value);
	}
	/* Numbers up to 2^53 come out as they are. */
	fprintf(f, "} %.16g\n", sample);
}

static void put_attributes(FILE *f, const struct metrics *m)
{
	for (size_t i = 0; i < ARRAY_SIZE(attributes); i++) {
		const struct attribute *a = &attributes[i];

		begin_family(f, a->name, a->type, a->help);
		for (size_t n = 0; n < m->n; n++)
			if (m->devices[n].known[i])
				put_sample(f, a->name, &m->devices[n], NULL, NULL,
					   (double)m->devices[n].values[i] / a->per_unit);
	}
}

/**
 * struct family - a metric that the daemon knows of each device
 * @name: of the metric
 * @type: what it is to Prometheus
 * @help: what it says, in a sentence
 * @put: writes the samples of a device
 */
struct family {
	const char *name;
	const char *type;
	const char *help;
	void (*put)(FILE *f, const struct family *family, const struct metrics_device *d);
};

static void put_info(FILE *f, const struct family *family, const struct metrics_device *d)
{
	fprintf(f, "%s{", family->name);
	put_label(f, "device", d->name);
	fputc(',', f);
	put_label(f, "block_device", d->block);
	fputc(',', f);
	put_label(f, "mode", d->mode);
	fputs("} 1\n", f);
}

static void put_recordings(FILE *f, const struct family *family, const struct metrics_device *d)
{
	put_sample(f, family->name, d, NULL, NULL, d->watch.recordings);
}

static void put_lost(FILE *f, const struct family *family, const struct metrics_device *d)
{
	put_sample(f, family->name, d, NULL, NULL, d->watch.lost);
}

static void put_changes(FILE *f, const struct family *family, const struct metrics_device *d)
{
	put_sample(f, family->name, d, "kind", "apply", d->watch.applied);
	put_sample(f, family->name, d, "kind", "rollback", d->watch.taken_back);
}

static void put_verdicts(FILE *f, const struct family *family, const struct metrics_device *d)
{
	for (enum harm_verdict v = HARM_PENDING + 1; v < HARM_VERDICTS; v++)
		put_sample(f, family->name, d, "verdict", harm_verdict_name(v),
			   d->watch.verdicts[v]);
}

static void put_plan(FILE *f, const struct family *family, const struct metrics_device *d)
{
	for (size_t i = 0; d->watch.has_plan && i < d->watch.plan.n; i++)
		put_sample(f, family->name, d, "setting", d->watch.plan.items[i].attribute,
			   d->watch.plan.items[i].new);
}

static void put_rate(FILE *f, const struct family *family, const struct metrics_device *d)
{
	if (!d->watch.has_profile)
		return;
	put_sample(f, family->name, d, "direction", "read", d->watch.profile.read_rate);
	put_sample(f, family->name, d, "direction", "write", d->watch.profile.write_rate);
}

static void put_peak(FILE *f, const struct family *family, const struct metrics_device *d)
{
	if (d->watch.has_profile)
		put_sample(f, family->name, d, NULL, NULL, d->watch.profile.peak_rate);
}

static void put_p99(FILE *f, const struct family *family, const struct metrics_device *d)
{
	const struct profile_summary *p = &d->watch.profile;
	const struct {
		const char *kind;
		const struct profile_latency *latency;
	} kinds[] = {
		{ "read", &p->read_latency },
		{ "write", &p->write_latency },
		{ "flush", &p->flush_latency },
	};

	for (size_t i = 0; d->watch.has_profile && i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].latency->n > 0)
			put_sample(f, family->name, d, "kind", kinds[i].kind,
				   kinds[i].latency->p99 / 1e9);
}

static void put_access(FILE *f, const struct family *family, const struct metrics_device *d)
{
	if (!d->watch.has_profile || d->watch.profile.sequential < 0)
		return;
	put_sample(f, family->name, d, "access", "sequential", d->watch.profile.sequential);
	put_sample(f, family->name, d, "access", "strided", d->watch.profile.strided);
	put_sample(f, family->name, d, "access", "random", d->watch.profile.random);
}

static void put_unaligned(FILE *f, const struct family *family, const struct metrics_device *d)
{
	if (d->watch.has_profile && d->watch.profile.unaligned >= 0)
		put_sample(f, family->name, d, NULL, NULL, d->watch.profile.unaligned);
}

static void put_pre_reads(FILE *f, const struct family *family, const struct metrics_device *d)
{
	if (d->watch.has_profile && d->watch.pre_reads >= 0)
		put_sample(f, family->name, d, NULL, NULL, d->watch.pre_reads);
}

static const struct family families[] = {
	{ "fullstripe_device_info", GAUGE,
	  "Always 1: the device's name in sysfs, and its mode.", put_info },
	{ "fullstripe_recordings_total", COUNTER,
	  "Recordings of the workload since fullstriped began to watch the device.",
	  put_recordings },
	{ "fullstripe_trace_dropped_records_total", COUNTER,
	  "Trace records that had no room and are missing in these.", put_lost },
	{ "fullstripe_changes_total", COUNTER,
	  "Changes that fullstriped made: plans applied, and those taken back as they did harm.",
	  put_changes },
	{ "fullstripe_verdicts_total", COUNTER, "What was found of these changes.", put_verdicts },
	{ "fullstripe_planned_setting", GAUGE,
	  "What a setting should be by the newest plan, in the unit of the setting in sysfs.",
	  put_plan },
	{ "fullstripe_workload_bytes_per_second", GAUGE,
	  "Average bandwidth in the newest recording.", put_rate },
	{ "fullstripe_workload_peak_bytes_per_second", GAUGE,
	  "Bandwidth in its best second, reads and writes.", put_peak },
	{ "fullstripe_workload_latency_p99_seconds", GAUGE,
	  "Time that 99 in 100 requests did not exceed in it, from queue to completion.", put_p99 },
	{ "fullstripe_workload_access_ratio", GAUGE, "Share of its reads and writes.", put_access },
	{ "fullstripe_workload_unaligned_ratio", GAUGE,
	  "Share of its writes that do not begin and end on stripe borders.", put_unaligned },
	{ "fullstripe_workload_pre_read_ratio", GAUGE,
	  "Bytes that the members read for writes, for each byte written in it.", put_pre_reads },
};

static void put_families(FILE *f, const struct metrics *m)
{
	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		begin_family(f, families[i].name, families[i].type, families[i].help);
		for (size_t n = 0; n < m->n; n++)
			families[i].put(f, &families[i], &m->devices[n]);
	}
}

static void put_daemon(FILE *f, const struct metrics *m)
{
	begin_family(f, "fullstripe_daemon_info", GAUGE,
		     "Always 1: the version of fullstriped, and its mode.");
	fputs("fullstripe_daemon_info{", f);
	put_label(f, "version", m->version);
	fputc(',', f);
	put_label(f, "mode", config_mode_name(m->apply));
	fputs("} 1\n", f);
	begin_family(f, "fullstripe_daemon_devices", GAUGE, "Devices that are watched.");
	fprintf(f, "fullstripe_daemon_devices %zu\n", m->n);
}

/**
 * metrics_render() - as a text
 * @metrics: all there is
 * @ret: the text, which is the caller's
 *
 * Return: 0 or -ENOMEM.
 */
int metrics_render(const struct metrics *metrics, char **ret)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	bool failed;

	if (!f)
		return -ENOMEM;
	put_daemon(f, metrics);
	put_attributes(f, metrics);
	put_families(f, metrics);
	failed = ferror(f);
	if (fclose(f) != 0 || failed) {
		free(text);
		return -ENOMEM;
	}
	*ret = text;
	return 0;
}

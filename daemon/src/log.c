// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <systemd/sd-journal.h>

#include "log.h"

/* It is a macro to the analyzer. */
#undef log_errno

static void say(int error, const char *format, va_list args)
{
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, format, args);
	if (error)
		fprintf(stderr, ": %s", strerror(error));
	fputc('\n', stderr);
}

/**
 * log_errno() - tell of an error
 * @error: errno, of either sign; its text is added
 * @format: what was tried, on what, and what to do about it
 *
 * Return: the negative errno.
 */
int log_errno(int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(abs(error), format, args);
	va_end(args);
	return -abs(error);
}

/**
 * log_warning() - tell of something that needs no errno
 * @format: what it is
 */
void log_warning(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(0, format, args);
	va_end(args);
}

/**
 * log_change() - tell of a setting that is, or would be, changed
 * @change: the setting
 *
 * Where standard error is the journal, its fields go there; else it is a line as all others.
 */
void log_change(const struct log_change *change)
{
	if (!getenv("JOURNAL_STREAM")) {
		log_warning("%s: %s %llu -> %llu: %s", change->device, change->setting,
			    (unsigned long long)change->old, (unsigned long long)change->new,
			    change->sentence);
		return;
	}
	sd_journal_send("MESSAGE_ID=%s", change->id,
			"MESSAGE=%s: %s %llu -> %llu: %s", change->device, change->setting,
			(unsigned long long)change->old, (unsigned long long)change->new,
			change->sentence,
			"PRIORITY=%d", LOG_NOTICE,
			"FULLSTRIPE_DEVICE=%s", change->device,
			"FULLSTRIPE_SETTING=%s", change->setting,
			"FULLSTRIPE_OLD=%llu", (unsigned long long)change->old,
			"FULLSTRIPE_NEW=%llu", (unsigned long long)change->new,
			"FULLSTRIPE_SCENARIO=%s", change->scenario, NULL);
}

/**
 * log_verdict() - tell what a change did
 * @verdict: that
 *
 * To where log_change() tells.
 */
void log_verdict(const struct log_verdict *verdict)
{
	if (!getenv("JOURNAL_STREAM")) {
		log_warning("%s: change %llu: %s: %s", verdict->device,
			    (unsigned long long)verdict->change, verdict->verdict,
			    verdict->sentence);
		return;
	}
	sd_journal_send("MESSAGE_ID=" EVENT_VERDICT,
			"MESSAGE=%s: change %llu: %s: %s", verdict->device,
			(unsigned long long)verdict->change, verdict->verdict, verdict->sentence,
			"PRIORITY=%d", LOG_NOTICE,
			"FULLSTRIPE_DEVICE=%s", verdict->device,
			"FULLSTRIPE_CHANGE=%llu", (unsigned long long)verdict->change,
			"FULLSTRIPE_VERDICT=%s", verdict->verdict,
			"FULLSTRIPE_MEASURE=%s", verdict->measure, NULL);
}

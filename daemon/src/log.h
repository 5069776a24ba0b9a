/* SPDX-License-Identifier: GPL-2.0 */
/* What a person is told, on standard error, with the program's name before it; and the journal. */
#ifndef FULLSTRIPE_LOG_H
#define FULLSTRIPE_LOG_H

#include <stdint.h>

#include "lib/macros.h"

/* What the daemon did or would do, for who looks for it in the journal; fullstriped(8) lists them. */
#define EVENT_ADVICE	"76f31da9769744038ff28821200a3a6e"
#define EVENT_CHANGE	"6a362daa733a4812b6feb53fa11e25bb"
#define EVENT_HANDS_OFF	"78d502b7064b4f26a1233014b34c7396"
#define EVENT_VERDICT	"19b71b9db0be47ee9b68086458678e55"
#define EVENT_TAKEN_BACK	"4a630de944aa4cf29fd51cc09778167b"

/**
 * struct log_change - one setting, as fields of the journal
 * @id: which event
 * @device: the device's device-mapper name
 * @setting: the setting
 * @old: its value
 * @new: what it becomes, or would become
 * @scenario: the code of why
 * @sentence: for people
 */
struct log_change {
	const char *id;
	const char *device;
	const char *setting;
	uint64_t old;
	uint64_t new;
	const char *scenario;
	const char *sentence;
};

/**
 * struct log_verdict - what a change did, as fields of the journal
 * @device: the device's device-mapper name
 * @change: its number in the history
 * @verdict: whether it did harm
 * @measure: by which measure; empty if it did none
 * @sentence: for people
 */
struct log_verdict {
	const char *device;
	uint64_t change;
	const char *verdict;
	const char *measure;
	const char *sentence;
};

int log_errno(int error, const char *format, ...) __printf(2, 3);
void log_warning(const char *format, ...) __printf(1, 2);
void log_change(const struct log_change *change);
void log_verdict(const struct log_verdict *verdict);

/* What the analyzer does not see, as it looks at one file at a time: it never returns 0. */
#ifdef __clang_analyzer__
#define log_errno(...)	(log_errno(__VA_ARGS__), -1)
#endif

#endif

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

int log_errno(int error, const char *format, ...) __printf(2, 3);
void log_warning(const char *format, ...) __printf(1, 2);
void log_change(const struct log_change *change);

#endif

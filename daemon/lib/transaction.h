/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changing several settings of a fullstripe device as one: what is written next, given
 * what is found; and what becomes of it if the process was killed in between. Pure: who
 * uses it reads and writes the settings, and keeps the transaction in a file meanwhile.
 *
 * Nothing depends on where the last process was. What is found in the device tells, so a
 * transaction is gone on with in the same way in which it is begun.
 */
#ifndef FULLSTRIPE_TRANSACTION_H
#define FULLSTRIPE_TRANSACTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rule.h"
#include "setting.h"

/* A plan, what moves with the stripe width, and a read_ahead_kb beside each max_sectors_kb. */
#define TRANSACTION_CHANGES_MAX	160

/**
 * struct change - one setting
 * @name: its name, as lib/setting.h has them
 * @old: value before
 * @new: value that it should have; the same, if it is only kept as it is: the kernel may
 *	move a read_ahead_kb when max_sectors_kb of the device is written
 * @follows: it is not changed by itself: the device moves it with the stripe width. It
 *	is here so that taking the stripe width back brings it back too; @new counts only
 *	when the transaction is over.
 * @gone: its device was made anew since, and has values of its own
 * @reason: why, in a sentence
 */
struct change {
	char name[SETTING_NAME];
	uint64_t old;
	uint64_t new;
	bool follows;
	bool gone;
	char reason[RULE_SENTENCE];
};

enum transaction_kind {
	TRANSACTION_APPLY,	/* a plan */
	TRANSACTION_ROLLBACK,	/* takes an earlier one back */
	TRANSACTION_RESTORE,	/* takes all of them back, of the layers below, as the device is gone */
};

enum transaction_outcome {
	OUTCOME_UNDER_WAY,
	OUTCOME_DONE,
	OUTCOME_UNDONE,		/* could not be done: all has its old value */
	OUTCOME_VOID,		/* the device was removed or made anew meanwhile */
	OUTCOME_TAKEN_BACK,	/* was done, and then taken back */
};

/**
 * struct transaction - changes that are made all or not at all
 * @id: counts from 1 for each device
 * @time: when it was begun, in seconds since 1970
 * @kind: what for
 * @outcome: what became of it
 * @undoing: it could not be done, and goes back
 * @interrupted: whoever began it did not end it
 * @n: changes
 * @changes: in any order
 */
struct transaction {
	uint64_t id;
	uint64_t time;
	enum transaction_kind kind;
	enum transaction_outcome outcome;
	bool undoing;
	bool interrupted;
	size_t n;
	struct change changes[TRANSACTION_CHANGES_MAX];
};

/**
 * struct transaction_write - what to write next
 * @index: which change
 * @value: what to write; on the way to another one, if two settings exclude each other
 */
struct transaction_write {
	size_t index;
	uint64_t value;
};

extern const char * const transaction_followers[];

struct change *transaction_add(struct transaction *t, const char *name, uint64_t old, uint64_t new);
bool transaction_is_kept(const struct change *c);
bool transaction_foreign(const struct transaction *t, size_t index, uint64_t found);
bool transaction_next(const struct transaction *t, const uint64_t *found,
		      struct transaction_write *ret);
void transaction_settle(struct transaction *t, const uint64_t *found);
const char *transaction_outcome_name(enum transaction_outcome outcome);
const char *transaction_kind_name(enum transaction_kind kind);

#endif

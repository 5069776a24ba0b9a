/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is known of a fullstripe device from one run to the next: the transaction that is
 * under way, what was set, and what happened. It is kept as JSON; what reads it trusts
 * nothing that it says before all of it was looked at.
 */
#ifndef FULLSTRIPE_STATE_H
#define FULLSTRIPE_STATE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fields.h"
#include "transaction.h"

#define STATE_VERSION		3
#define STATE_HISTORY_MAX	32
#define STATE_VALUES_MAX	TRANSACTION_CHANGES_MAX
#define STATE_LAYERS_MAX	RULE_LAYERS_MAX
#define STATE_DEVICE		160
#define STATE_INSTANCE		96
#define STATE_NAME		(3 * STATE_DEVICE + 8)
/* More than all of it at its longest. */
#define STATE_BYTES_MAX		(8u << 20)

/**
 * struct state_value - a setting that was set from here
 * @name: of the setting
 * @value: what it was set to
 * @before: what it was before that, and before all that was set from here since
 */
struct state_value {
	char name[SETTING_NAME];
	uint64_t value;
	uint64_t before;
};

/**
 * struct state_layer - a disk below the device
 * @disk: its name in the kernel, this time
 * @id: which: survives renumbering, where the disk has such a thing
 * @instance: which making of it: it has other values of its own when it is made anew
 */
struct state_layer {
	char disk[SETTING_DISK];
	char id[STATE_DEVICE];
	char instance[STATE_INSTANCE];
};

/**
 * struct state - what is known of one device
 * @device: which: dm-uuid-UUID, or dm-name-NAME where it has none; survives renumbering
 * @instance: which making of it: it has other values of its own when it is made anew
 * @n_layers: how many
 * @layers: the disks below it
 * @last_id: of the newest transaction
 * @under_way: @now counts
 * @now: the transaction that is under way
 * @n_values: how many
 * @values: what was set in this making, and not by somebody else
 * @n_history: how many
 * @history: transactions that are over, the oldest first
 */
struct state {
	char device[STATE_DEVICE];
	char instance[STATE_INSTANCE];
	size_t n_layers;
	struct state_layer layers[STATE_LAYERS_MAX];
	uint64_t last_id;
	bool under_way;
	struct transaction now;
	size_t n_values;
	struct state_value values[STATE_VALUES_MAX];
	size_t n_history;
	struct transaction history[STATE_HISTORY_MAX];
};

int state_parse(const char *text, size_t len, struct state *ret, char why[static FIELDS_WHY]);
struct json_object *state_render(const struct state *s);
struct json_object *state_render_transaction(const struct transaction *t);
void state_file_name(const char *device, char ret[static STATE_NAME]);

void state_see(struct state *s, const char *instance, const struct state_layer *layers, size_t n);
bool state_is_foreign(const struct state *s, const char *name, uint64_t found);
void state_mark_foreign(const struct state *s, struct plan *plan);
void state_begin(struct state *s, const struct transaction *t, uint64_t time);
void state_end(struct state *s, enum transaction_outcome outcome, const uint64_t *found);
const struct transaction *state_last_applied(const struct state *s);

#endif

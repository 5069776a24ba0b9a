/* SPDX-License-Identifier: GPL-2.0 */
/* A fullstripe device that is to be set for a workload: from what is there to a plan. */
#ifndef FULLSTRIPE_TUNING_H
#define FULLSTRIPE_TUNING_H

#include "lib/layer_rule.h"
#include "lib/state.h"
#include "settings.h"
#include "store.h"
#include "target.h"
#include "topology.h"

/**
 * struct tuning - all that is known of the device
 * @device: its node and number
 * @target: what it is
 * @place: where its settings are, and those of the layers below
 * @store: the state directory; open after tuning_open_state()
 * @state: what is known from earlier; read there
 * @current: what it is set to; read by tuning_decide()
 * @topology: what lies below; read there
 * @profile: its workload, as it was given there
 * @plan: what it should be set to, decided there
 */
struct tuning {
	struct block_device device;
	struct target target;
	struct setting_place place;
	struct store store;
	struct state state;
	struct rule_settings current;
	struct topology topology;
	struct profile_summary profile;
	struct plan plan;
};

/**
 * struct tuning_options - how to decide
 * @force: as if nobody else had set anything
 * @layers: also what the layers below, and the kernel above, should be set to
 */
struct tuning_options {
	bool force;
	bool layers;
};

int tuning_new(const char *text, struct tuning **ret);
struct tuning *tuning_free(struct tuning *t);
int tuning_open_state(struct tuning *t, const char *folder, enum store_access access);
int tuning_profile_options(const struct tuning *t, struct profile_options *ret);
int tuning_decide(struct tuning *t, const struct profile_summary *profile,
		  const struct tuning_options *options);
struct json_object *tuning_render(const struct tuning *t);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Settings into a device, as transactions: all of one or nothing, whatever happens to the
 * process meanwhile. The state on disk says what is under way before anything is written.
 */
#ifndef FULLSTRIPE_APPLY_H
#define FULLSTRIPE_APPLY_H

#include "lib/rule.h"
#include "lib/state.h"
#include "settings.h"
#include "store.h"

int apply_prepare(const struct setting_place *place, const struct plan *plan, struct transaction *ret);
int apply_prepare_rollback(const struct setting_place *place, const struct state *s, bool force,
			   struct transaction *ret);
int apply_prepare_restore(const struct setting_place *place, const struct state *s,
			  struct transaction *ret);
int apply_run(const struct setting_place *place, const struct store *store, struct state *s,
	      const struct transaction *t);
int apply_recover(const struct setting_place *place, const struct store *store, struct state *s);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Whether a plan is applied now, as nothing is gained by settings that never rest. Pure. */
#ifndef FULLSTRIPE_PACE_H
#define FULLSTRIPE_PACE_H

#include <stdint.h>

#include "config.h"
#include "harm.h"
#include "rule.h"
#include "state.h"

enum pace {
	PACE_GO,
	PACE_RIGHT,	/* nothing is to be changed, or it is left alone */
	PACE_DEAD_BAND,	/* nothing is to be changed by enough */
	PACE_DWELL,	/* the last change is too recent */
	PACE_BUDGET,	/* there were too many in the last hour */
	PACE_TAKEN_BACK, /* this value, or one as near as the dead band, was taken back */
	PACE_JUDGED,	/* whether the last change did harm is not known yet */
	PACE_SAMPLES,	/* nobody could judge whether it does harm */
};

enum pace pace_decide(const struct config *c, const struct plan *plan, const struct state *s,
		      uint64_t now);
enum pace pace_judgeable(const struct harm *h);
const char *pace_reason(enum pace pace);

#endif

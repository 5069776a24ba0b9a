/* SPDX-License-Identifier: GPL-2.0 */
/* The disks below a fullstripe device, and what they are set to. */
#ifndef FULLSTRIPE_LAYERS_H
#define FULLSTRIPE_LAYERS_H

#include "lib/layer_rule.h"
#include "lib/state.h"
#include "settings.h"
#include "topology.h"

int layers_find(const char *root, const char *lower, struct state_layer ret[static STATE_LAYERS_MAX],
		size_t *ret_n);
void layers_add_earlier(const char *root, const struct state_layer *earlier, size_t n_earlier,
			struct state_layer layers[static STATE_LAYERS_MAX], size_t *n);
bool layers_carry_target(const char *root, const char *disk);
int layers_read(const struct setting_place *place, const struct topology *topology,
		struct layer_settings *ret);

#endif

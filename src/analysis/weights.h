/* SPDX-License-Identifier: Apache-2.0 */
/* weights.h - what the numbers of the weights look like. */
#ifndef SL_WEIGHTS_H
#define SL_WEIGHTS_H

#include "cost/parameters.h"

/*
 * A row per weight, in the order of the file.  Reads every number twice, in
 * pieces, and lets their pages go.  Numbers that cannot be had are absent
 * with the reason.
 */
enum sl_status sl__weights_of(const struct sl_weight_row **out, size_t *n,
			      const struct sl_graph *graph,
			      const struct sl__roles *roles,
			      struct sl__arena *arena,
			      struct sl_error *err) SL_CHECKED;

/* One tensor. */
void sl__weight_describe(struct sl_weight_row *out,
			 const struct sl__tensor *tensor);

#endif

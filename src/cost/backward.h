/* SPDX-License-Identifier: Apache-2.0 */
/* backward.h - what training would compute and keep. */
#ifndef SL_BACKWARD_H
#define SL_BACKWARD_H

#include "cost/attention.h"
#include "cost/liveness.h"

/*
 * One step of training.  A weight needs a gradient; so does what is computed
 * from one.  The backward pass of a product is one product of the same size
 * per operand that needs a gradient.  Everything is counted for the whole
 * batch.
 */
enum sl_status sl__training_of(struct sl_training *out,
			       const struct sl__cost_analysis_inputs *forward,
			       const struct sl__attentions *attentions,
			       const struct sl__liveness *liveness,
			       struct sl__arena *arena,
			       struct sl_error *err) SL_CHECKED;

#endif

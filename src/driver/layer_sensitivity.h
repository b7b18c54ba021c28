/* SPDX-License-Identifier: Apache-2.0 */
/* layer_sensitivity.h - what 8 bits cost each layer, and which stay in f32. */
#ifndef SL_LAYER_SENSITIVITY_H
#define SL_LAYER_SENSITIVITY_H

#include "base/arena.h"
#include "transform/quantize.h"
#include "sleuth/variants.h"

struct sl__sensitivity_options {
	const struct sl__quantize_options *quantize; /* is_kept: as asked for */
	const struct sl__value_range *ranges; /* with no further layer kept */
	const struct sl_plan_options *plan;
	const struct sl_variant_options *how; /* defaults filled in; data and
						 accuracy_drop count */
};

/*
 * Quantizes each layer alone, then all of them and, where that costs more
 * accuracy than how->accuracy_drop, all but the most sensitive ones: the fewest
 * that doubling and then halving their number finds to stay within it.  Marks
 * these in is_kept[] (by node, beside those marked already) and fills the
 * sensitivities and drops of the change, with texts from 'arena'.
 *
 * Accuracy is that on samples of the training split, 1,024 at most, so that the
 * test split stays unseen; without data it is the agreement with the model as
 * it is on synthetic inputs.  SL_E_DATA where no choice of layers is within the
 * limit, with what came closest, and where nothing tells two outputs apart.
 */
enum sl_status
sl__sensitivity_choose(struct sl_variant_change *change, unsigned char *is_kept,
		       const struct sl__sensitivity_options *what,
		       struct sl__arena *arena,
		       struct sl_error *err) SL_CHECKED;

#endif

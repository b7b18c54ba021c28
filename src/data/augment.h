/* SPDX-License-Identifier: Apache-2.0 */
/* augment.h - random changes to a sample. */
#ifndef SL_AUGMENT_H
#define SL_AUGMENT_H

#include "base/rng.h"
#include "sleuth/data_sets.h"

/*
 * Changes one sample of an input, in place; the last two of its dimensions are
 * rows and columns.  Integers stay as they are.  'scratch' has room for one
 * sample.
 */
void sl__augment(float *sample, float *scratch,
		 const struct sl_data_input *input,
		 const struct sl_augmentation *how, struct sl__rng *rng);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* trained_model.h - a model with the parameters that training found. */
#ifndef SL_TRAINED_MODEL_H
#define SL_TRAINED_MODEL_H

#include "transform/training.h"

/*
 * The model, for inference, with what the states of its training step hold:
 * 'states' has the bytes of each, which are copied.  Weights that are copies of
 * trained ones follow them.  What is not trained stays the model's, which must
 * outlive the new one.
 */
enum sl_status sl__trained_model_new(struct sl_graph **out,
				     const struct sl_graph *model,
				     const struct sl__training_graph *training,
				     const void *const *states,
				     struct sl_error *err) SL_CHECKED;

#endif

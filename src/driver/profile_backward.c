/* SPDX-License-Identifier: Apache-2.0 */
/* profile_backward.c - a training step without its update, profiled. */
#include "base/option_struct.h"
#include "sleuth/profiling.h"

#include "base/banned.h"

enum sl_status
sl_profile_backward(struct sl_profile **out, const struct sl_graph *graph,
		    const struct sl_training_options *training,
		    const struct sl_profile_options *options,
		    struct sl_error *err)
{
	struct sl_training_options gradients;
	enum sl_status rc = sl__options_copy(&gradients, sizeof(gradients),
					     training, "sl_training_options",
					     err);

	*out = NULL;
	if (rc)
		return rc;
	gradients.struct_size = sizeof(gradients);
	gradients.flags |= SL_TRAINING_NO_UPDATE;
	return sl_profile_training(out, graph, &gradients, options, err);
}

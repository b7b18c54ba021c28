/* SPDX-License-Identifier: Apache-2.0 */
/* request.c - what was asked for, kept with its result. */
#include "result/request.h"
#include "base/status.h"

#include <string.h>

#include "base/banned.h"

static int
copy_dims(struct sl_sizes *out, const struct sl_sizes *from,
	  struct sl__arena *arena)
{
	struct sl_dim_size *dims =
		sl__arena_array(arena, from->n_dims, sizeof(*dims));

	for (size_t i = 0; dims && i < from->n_dims; i++) {
		dims[i].name = sl__arena_string(arena, from->dims[i].name);
		dims[i].size = from->dims[i].size;
		if (!dims[i].name)
			return 0;
	}
	out->dims = dims;
	return dims != NULL;
}

static int
copy_shapes(struct sl_sizes *out, const struct sl_sizes *from,
	    struct sl__arena *arena)
{
	struct sl_input_shape *shapes =
		sl__arena_array(arena, from->n_shapes, sizeof(*shapes));

	for (size_t i = 0; shapes && i < from->n_shapes; i++) {
		const struct sl_input_shape *s = &from->shapes[i];
		int64_t *dims = sl__arena_array(arena, s->rank, sizeof(*dims));

		shapes[i].input = sl__arena_string(arena, s->input);
		shapes[i].rank = s->rank;
		shapes[i].dims = dims;
		if (!dims || !shapes[i].input)
			return 0;
		if (s->rank)
			memcpy(dims, s->dims, s->rank * sizeof(*dims));
	}
	out->shapes = shapes;
	return shapes != NULL;
}

static int
copy_sizes(struct sl_sizes *out, const struct sl_sizes *from,
	   struct sl__arena *arena)
{
	*out = *from;
	out->inputs_folder = sl__arena_string(arena, from->inputs_folder);
	return copy_dims(out, from, arena) && copy_shapes(out, from, arena) &&
	       (out->inputs_folder || !from->inputs_folder);
}

enum sl_status
sl__request_from_options(struct sl_request *out, const char *model,
			 const char *layer, const struct sl_plan_options *plan,
			 struct sl__arena *arena, struct sl_error *err)
{
	*out = (struct sl_request){.model = sl__arena_string(arena, model),
				   .layer = sl__arena_string(arena, layer)};
	if (!out->model || (layer && !out->layer))
		return sl__fail_nomem(err);
	if (!plan)
		return SL_OK;
	out->n_threads = plan->n_threads;
	out->dtype = plan->dtype;
	out->algorithms = plan->algorithms;
	out->nan_policy = plan->nan_policy;
	out->flags = plan->flags;
	if (plan->sizes && !copy_sizes(&out->sizes, plan->sizes, arena))
		return sl__fail_nomem(err);
	return SL_OK;
}

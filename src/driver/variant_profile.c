/* SPDX-License-Identifier: Apache-2.0 */
/* variant_profile.c - the profile of a model that says what to try on it. */
#include "driver/variant_profile.h"
#include "base/status.h"
#include "experiment/output_check.h"
#include "graph/graph.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* Of the time for measuring, on top of it; more seconds tell a profile little
 * that matters here. */
static const double time_share = 0.125, most_s = 2.5;

static int
has_node(const struct sl_graph *graph, const char *type)
{
	for (size_t i = 0; i < graph->n_nodes; i++) {
		if (!strcmp(graph->nodes[i].type, type))
			return 1;
	}
	return 0;
}

/* Which needs the model, the machine and the data meet. */
static unsigned
needs_met(const struct sl__variant_profile *v)
{
	const struct sl_machine *m = v->how->machine;
	unsigned met = v->plan->n_threads == 1 ? 0 : SL__NEEDS_THREADS;

	if (m && sl_machine_peak_flops_per_s(m, SL_DTYPE_BF16, 1) >
			 sl_machine_peak_flops_per_s(m, SL_DTYPE_F32, 1))
		met |= SL__NEEDS_BF16;
	if (v->making->data)
		met |= SL__NEEDS_DATA;
	if (sl__model_precision(v->graph).is_quantized)
		return met;
	if (has_node(v->graph, "Conv"))
		met |= SL__NEEDS_CONV | SL__NEEDS_MATMUL;
	if (has_node(v->graph, "MatMul") || has_node(v->graph, "Gemm"))
		met |= SL__NEEDS_LINEAR | SL__NEEDS_MATMUL;
	return met;
}

static enum sl_status
profile(struct sl__variant_profile *v, struct sl_error *err)
{
	double time_s = v->how->time_s > 0 ? v->how->time_s : 20;
	const struct sl_sizes *sizes = v->plan->sizes;
	const struct sl_profile_options how = {
		.struct_size = sizeof(how),
		.plan = v->plan,
		.inputs_folder = sizes ? sizes->inputs_folder : NULL,
		.seed = v->making->seed,
		.time_s = fmin(time_share * time_s, most_s),
		.progress = v->making->progress,
		.progress_ctx = v->making->progress_ctx,
		.interrupt = v->making->interrupt,
		.allocator = v->making->allocator};

	return sl_profile_forward(&v->profile, v->graph, &how, err);
}

/* What is not tried, by the names of its changes. */
static enum sl_status
tell_left_out(struct sl_optimization *out,
	      const struct sl__variant_candidates *found,
	      struct sl__arena *arena, struct sl_error *err)
{
	const char **names =
		sl__arena_array(arena, found->n_left_out, sizeof(*names));
	enum sl_status rc = names ? SL_OK : sl__fail_nomem(err);

	for (size_t i = 0; !rc && i < found->n_left_out; i++)
		rc = sl__arena_copy_text(arena, &names[i],
					 found->list[found->n + i].changes,
					 err);
	out->left_out = names;
	out->n_left_out = rc ? 0 : found->n_left_out;
	return rc;
}

enum sl_status
sl__variant_profile_run(struct sl__variant_profile *v,
			struct sl__variant_candidates *found,
			struct sl_optimization *out, struct sl__arena *arena,
			struct sl_error *err)
{
	enum sl_status rc = profile(v, err);

	if (rc)
		return rc;
	sl__variant_candidates(found, v->profile, needs_met(v),
			       v->how->objective);
	out->bottleneck = v->profile->verdict.bottleneck;
	out->cause = v->profile->verdict.cause;
	out->confidence = v->profile->verdict.confidence;
	return tell_left_out(out, found, arena, err);
}

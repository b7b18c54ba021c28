/* SPDX-License-Identifier: Apache-2.0 */
/* arm_checks.c - whether models that are compared can be, and are as right. */
#include "driver/arm_checks.h"
#include "base/arena.h"
#include "base/status.h"
#include "graph/graph.h"
#include "stats/paired_accuracy.h"

#include <math.h>
#include <stdio.h>

#include "base/banned.h"

enum { SHAPE_MOST = 64 };

static const char *
shape_text(char *out, const struct sl_array *a)
{
	size_t at = 0;

	out[0] = '\0';
	for (size_t i = 0; i < a->rank && at < SHAPE_MOST; i++)
		at += (size_t)snprintf(out + at, SHAPE_MOST - at, "%s%lld",
				       i ? "x" : "", (long long)a->dims[i]);
	return out;
}

enum sl_status
sl__arm_inputs_check(struct sl_plan *a, struct sl_plan *b, int64_t batch_a,
		     int64_t batch_b, struct sl_error *err)
{
	const struct sl_graph *of_a = a->graph, *of_b = b->graph;
	char shape_a[SHAPE_MOST], shape_b[SHAPE_MOST];
	enum sl_status rc = SL_OK;

	if (of_a == of_b || sl_graph_has_past(of_a) != sl_graph_has_past(of_b))
		return SL_OK;
	for (size_t i = 0; !rc && i < sl_graph_n_inputs(of_a); i++) {
		const char *name =
			sl_graph_value_name(of_a, sl_graph_input(of_a, i));
		size_t other = sl_graph_find_input(of_b, name);
		struct sl_array x, y;
		void *data;

		if (other == SL_NO_VALUE && i < sl_graph_n_inputs(of_b))
			other = sl_graph_input(of_b, i);
		if (other == SL_NO_VALUE)
			return sl__fail(err, SL_E_DATA,
					"cannot be compared: it has no input "
					"for '%.100s' of the first",
					name);
		rc = sl_plan_input(a, name, &x, &data, err);
		if (!rc)
			rc = sl_plan_input(b, sl_graph_value_name(of_b, other),
					   &y, &data, err);
		if (!rc && x.n_elements * (uint64_t)batch_b !=
				   y.n_elements * (uint64_t)batch_a)
			rc = sl__fail(err, SL_E_DATA,
				      "cannot be compared: input '%.100s' is "
				      "%s, that of the first %s",
				      sl_graph_value_name(of_b, other),
				      shape_text(shape_b, &y),
				      shape_text(shape_a, &x));
	}
	return rc;
}

static enum sl_status
evaluate(struct sl_evaluation **out, const struct sl_model_arm *arm,
	 const struct sl_model_comparison_options *how, struct sl_error *err)
{
	const struct sl_evaluate_options options = {
		.struct_size = sizeof(options),
		.plan = arm->plan,
		.progress = how->progress,
		.progress_ctx = how->progress_ctx,
		.interrupt = how->interrupt,
		.allocator = how->allocator};
	enum sl_status rc =
		sl_evaluate(out, arm->graph, how->data, &options, err);

	if (!rc && (*out)->is_partial)
		rc = sl__fail(err, SL_E_INTERRUPTED, "interrupted");
	return sl__error_prefix(
		err, rc, arm->name ? arm->name : sl_graph_name(arm->graph));
}

enum sl_status
sl__arms_evaluate(struct sl_model_arm_result *sides,
		  struct sl_arm_comparison *pairs,
		  const struct sl_model_arm *arms, size_t n,
		  const struct sl_model_comparison_options *how,
		  struct sl_error *err)
{
	struct sl_evaluation *first = NULL, *e = NULL;
	struct sl__arena scratch;
	enum sl_status rc = SL_OK;

	sl__arena_init(&scratch, how->allocator);
	for (size_t i = 0; !rc && i < n; i++) {
		double *room;

		e = NULL;
		rc = evaluate(i ? &e : &first, &arms[i], how, err);
		if (rc)
			break;
		sides[i].accuracy = (i ? e : first)->accuracy;
		sides[i].accuracy_kind = (i ? e : first)->kind;
		if (!i)
			continue;
		room = sl__arena_array(&scratch, e->accuracy.n, sizeof(*room));
		if (!room)
			rc = sl__fail_nomem(err);
		else
			pairs[i - 1].accuracy = sl__paired_accuracy(
				first->by_sample, e->by_sample, e->accuracy.n,
				how->alpha / (double)(n - 1), room);
		sl_evaluation_free(e);
		e = NULL;
	}
	sl_evaluation_free(e);
	sl_evaluation_free(first);
	sl__arena_release(&scratch);
	return rc;
}

void
sl__arm_withdraw_verdicts(struct sl_arm_comparison *pair, int has_same_threads)
{
	struct sl_comparison *c = &pair->comparison;

	if (!has_same_threads)
		pair->wall_verdict = SL_VERDICT_UNDECIDED;
	if (!has_same_threads || c->verdict == SL_VERDICT_SAME)
		c->verdict = SL_VERDICT_UNDECIDED;
	if (c->verdict != SL_VERDICT_UNDECIDED)
		return;
	if (!has_same_threads || c->gate == SL_GATE_OK)
		c->gate = SL_GATE_UNDECIDED;
	c->decided_after_s = (double)NAN;
}

static enum sl_verdict
without_difference(enum sl_verdict verdict)
{
	return verdict == SL_VERDICT_SAME ? verdict : SL_VERDICT_UNDECIDED;
}

/* The change of an iteration without the layers of other algorithms: from the
 * least that they may have made of it to the most. */
static void
change_without(const struct sl_arm_comparison *pair, double *lo_ns,
	       double *hi_ns)
{
	*lo_ns = pair->change_ns.lo;
	*hi_ns = pair->change_ns.hi;
	for (size_t i = 0; i < pair->n_layers; i++) {
		const struct sl_compared_layer *l = &pair->layers[i];

		if (!l->has_other_kernel)
			continue;
		*lo_ns -= l->change_ns.hi;
		*hi_ns -= l->change_ns.lo;
	}
}

void
sl__arm_withdraw_choices(struct sl_arm_comparison *pair, double baseline_ns)
{
	struct sl_comparison *c = &pair->comparison;
	double lo_ns, hi_ns;

	if (!pair->n_other_kernels)
		return;
	change_without(pair, &lo_ns, &hi_ns);
	if ((c->verdict == SL_VERDICT_FASTER && hi_ns < 0) ||
	    (c->verdict == SL_VERDICT_SLOWER && lo_ns > 0)) {
		if (c->gate == SL_GATE_REGRESSED &&
		    !(lo_ns > c->margin * baseline_ns))
			c->gate = SL_GATE_UNDECIDED;
		return;
	}
	pair->wall_verdict = without_difference(pair->wall_verdict);
	pair->cpu.verdict = without_difference(pair->cpu.verdict);
	if (without_difference(c->verdict) == c->verdict)
		return;
	c->verdict = SL_VERDICT_UNDECIDED;
	c->gate = SL_GATE_UNDECIDED;
	c->decided_after_s = (double)NAN;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traffic_plan.c - what the steps of a plan touch, for traffic.h.
 *
 * A step names its operands, not what it does with them.  It writes a buffer
 * that no step names before it, and one that holds an output of its node; it
 * reads what was there before.
 */
#include "analysis/made_buffers.h"
#include "base/status.h"
#include "cost/traffic.h"
#include "engine/plan.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

static const char NOT_READ[] = "no counter was read";

struct reader {
	const struct sl__program *program;
	struct sl__arena *arena;
	struct sl__made_buffers made;
};

static struct sl__traffic_operand
operand_of(const struct reader *r, size_t step, uint32_t k)
{
	const struct sl__step *s = &r->program->steps[step];
	const struct sl__buffer *b = &r->program->buffers[s->operands[k]];
	const struct sl__buffer *base = &r->program->buffers[b->base];
	struct sl__traffic_operand out = {.start = (uintptr_t)s->at[k],
					  .n_bytes = s->at[k] ? b->n_bytes : 0};
	int is_new = base->first == step;

	if (base->category == SL__CATEGORY_CONSTANT ||
	    base->category == SL__CATEGORY_INPUT) {
		out.is_read = 1;
		return out;
	}
	out.is_written = is_new ||
			 sl__made_buffers_has(&r->made, b->base, s->node);
	out.is_read = !is_new;
	return out;
}

/*
 * A step that moves less than its operands hold looks up some rows of the
 * largest one that it only reads.  Which ones does not matter: iterations that
 * repeat look up the same.
 */
static void
take_rows_only(struct sl__traffic_operand *operands, size_t n, uint64_t n_bytes)
{
	struct sl__traffic_operand *table = NULL;
	uint64_t sum = 0;

	for (size_t k = 0; k < n; k++) {
		sum += operands[k].n_bytes;
		if (!operands[k].is_written &&
		    (!table || operands[k].n_bytes > table->n_bytes))
			table = &operands[k];
	}
	if (table && sum > n_bytes && table->n_bytes > sum - n_bytes)
		table->n_bytes -= sum - n_bytes;
}

/* A slice reads as much as it writes. */
static uint64_t
moved_bytes(const struct sl__step *step, const char *type,
	    const struct sl__traffic_operand *operands)
{
	if (strcmp(type, "Slice") != 0 || step->n_operands != 2 ||
	    operands[0].n_bytes < operands[1].n_bytes)
		return step->n_bytes;
	return 2 * operands[1].n_bytes;
}

static int
is_one_of(const char *type, const char *const *types)
{
	for (; *types; types++) {
		if (!strcmp(type, *types))
			return 1;
	}
	return 0;
}

/* NULL: there is none of known sizes. */
static const struct sl__type *
sized(const struct sl__program *p, const uint32_t *values, uint32_t n,
      uint32_t i)
{
	const struct sl__type *t;

	if (i >= n || values[i] == SL__NONE)
		return NULL;
	t = &p->shapes->types[values[i]];
	if (t->kind != SL__TYPE_TENSOR || t->rank < 1)
		return NULL;
	for (int d = 0; d < t->rank; d++) {
		if (t->dims[d] < 1)
			return NULL;
	}
	return t;
}

/* How often windows cover an input, on the average, in all directions. */
static double
n_covers(const struct sl__type *in, const struct sl__type *weight,
	 const struct sl__type *out)
{
	double n = 1;

	for (int d = 2; d < in->rank; d++)
		n *= (double)weight->dims[d] * (double)out->dims[d] /
		     (double)in->dims[d];
	return fmax(1, n);
}

static struct sl__matmuls
products_of(const struct sl__program *p, const struct sl__step *step,
	    enum sl_dtype dtype)
{
	static const char *const convolutions[] = {"Conv", "FusedConv", NULL};
	static const char *const products[] = {"MatMul", "Gemm", "FusedMatMul",
					       "FusedGemm", NULL};
	const struct sl__node *node =
		step->node == SL__NONE ? NULL : &p->graph->nodes[step->node];
	const struct sl__type *in, *weight, *out;
	unsigned bits = dtype == SL_DTYPE_NONE ? 8 : sl_dtype_bits(dtype);
	struct sl__matmuls made = {
		.n = 1, .n_covers = 1, .element_bytes = bits / 8.0};

	if (!node)
		return made;
	in = sized(p, node->inputs, node->n_inputs, 0);
	weight = sized(p, node->inputs, node->n_inputs, 1);
	out = sized(p, node->outputs, node->n_outputs, 0);
	if (!in || !weight || !out)
		return made;
	if (is_one_of(node->type, convolutions) && in->rank > 2 &&
	    weight->rank == in->rank && out->rank == in->rank) {
		made.n = (double)in->dims[1] / (double)weight->dims[1];
		made.n_covers = n_covers(in, weight, out);
	} else if (is_one_of(node->type, products)) {
		for (int d = 0; d + 2 < weight->rank; d++)
			made.n *= (double)weight->dims[d];
	} else {
		return made;
	}
	made.n_multiply_adds = (double)step->executed_flops / 2;
	return made;
}

static enum sl_status
read_step(const struct reader *r, const struct sl_operation *op,
	  struct sl__traffic_step *out, struct sl_error *err)
{
	const struct sl__step *step = &r->program->steps[op->step];
	struct sl__traffic_operand *operands =
		sl__arena_array(r->arena, step->n_operands, sizeof(*operands));

	if (!operands)
		return sl__fail_nomem(err);
	for (uint32_t k = 0; k < step->n_operands; k++)
		operands[k] = operand_of(r, op->step, k);
	take_rows_only(operands, step->n_operands,
		       moved_bytes(step, op->type, operands));
	out->operands = operands;
	out->n_operands = step->n_operands;
	out->products = products_of(r->program, step, op->dtype);
	return SL_OK;
}

/* The last cache of three or more is shared by all threads; a nearer one is a
 * core's own. */
static size_t
list_boundaries(const struct sl_ceilings *c, struct sl__cache_boundary *out)
{
	size_t n = c->n_levels ? c->n_levels - 1 : 0;

	if (n > SL_TRAFFIC_MOST)
		n = SL_TRAFFIC_MOST;
	for (size_t i = 0; i < n; i++) {
		double own = (double)c->levels[i].size_bytes;
		double all = own * (double)(c->n_threads ? c->n_threads : 1);

		out[i].capacity_bytes = all;
		out[i].own_bytes = i >= 2 ? all : own;
	}
	return n;
}

static void
put(struct sl_operation *op, const struct sl__cache_traffic *c, size_t n,
    const struct sl_ceilings *ceilings)
{
	/* What a step-wise operation touches is the evaluator's own. */
	int is_seen = op->path != SL_PATH_STEPWISE;

	op->n_traffic = n;
	for (size_t k = 0; k < n; k++)
		op->traffic[k] = (struct sl_traffic){
			.level = ceilings->levels[k + 1].level,
			.predicted_bytes =
				is_seen ? round(c[k].in_bytes + c[k].back_bytes)
					: (double)NAN,
			.least_bytes = is_seen ? c[k].least_bytes : (double)NAN,
			.measured_bytes = {(double)NAN, NOT_READ},
		};
}

/* A step of the plan, that ran. */
static int
is_step(const struct sl_operation *op)
{
	return op->n_calls > 0 && op->phase != SL_PHASE_DATA;
}

enum sl_status
sl__profile_predict_traffic(struct sl_profile *profile,
			    const struct sl_plan *plan,
			    struct sl__arena *scratch, struct sl_error *err)
{
	struct sl_operation *ops = profile->operations;
	struct sl__cache_boundary boundaries[SL_TRAFFIC_MOST];
	size_t n = list_boundaries(&profile->ceilings, boundaries);
	struct reader r = {.program = plan->current, .arena = scratch};
	size_t n_ops = profile->n_operations, n_run = 0;
	struct sl__traffic_step *steps =
		sl__arena_array(scratch, n_ops, sizeof(*steps));
	struct sl__cache_traffic *out =
		sl__arena_array(scratch, n_ops, n * sizeof(*out));
	enum sl_status rc;

	if (!n)
		return SL_OK;
	if (!steps || !out)
		return sl__fail_nomem(err);
	rc = sl__made_buffers_list(&r.made, r.program, scratch, err);
	for (size_t i = 0; !rc && i < n_ops; i++) {
		if (is_step(&ops[i]))
			rc = read_step(&r, &ops[i], &steps[n_run++], err);
	}
	if (rc)
		return rc;
	if (sl__traffic_predict(out, steps, n_run, boundaries, n, scratch))
		return sl__fail_nomem(err);
	n_run = 0;
	for (size_t i = 0; i < n_ops; i++) {
		if (is_step(&ops[i]))
			put(&ops[i], &out[n_run++ * n], n, &profile->ceilings);
	}
	return SL_OK;
}

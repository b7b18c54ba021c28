/* SPDX-License-Identifier: Apache-2.0 */
/* planned_graph.h - graphs from lines of text, as plans and by the evaluator.
 */
#ifndef SL_TEST_PLANNED_GRAPH_H
#define SL_TEST_PLANNED_GRAPH_H

#include "graph_run.h"
#include "engine/plan.h"
#include "plan_input.h"

/*
 * A graph, a plan of it, and the evaluator, which runs the same nodes one by
 * one and is the oracle.  Inputs are set by name in both.
 */
struct planned {
	struct graph_text *g;
	struct sl_plan *plan;
	struct sl__evaluator *ev;
	struct sl__runtime_value inputs[16]; /* by input of the model */
};

static inline void
planned_start(struct planned *p, const char *text, int n_threads,
	      unsigned flags)
{
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = n_threads,
				      .algorithms = SL_ALGORITHMS_FIXED,
				      .flags = flags | SL_PLAN_NO_CACHE};
	struct sl_error err;

	memset(p, 0, sizeof(*p));
	p->g = graph_text_with(text, NULL);
	if (sl_plan_new(&p->plan, p->g->graph, &how, &err))
		fail_msg("%s", err.text);
	assert_int_equal(sl__evaluator_new(&p->ev, p->g->graph, NULL, &err),
			 SL_OK);
}

static inline void
planned_finish(struct planned *p)
{
	sl_plan_free(p->plan);
	sl__evaluator_free(p->ev);
	for (int i = 0; i < 16; i++)
		sl__runtime_value_clear(&p->inputs[i], NULL);
	graph_text_free(p->g);
}

/* Sets an input, in the plan and for the oracle, to numbers of its type. */
static inline void
planned_set(struct planned *p, const char *name, size_t rank,
	    const int64_t *dims, const double *numbers)
{
	size_t i = sl__plan_find_input(p->plan, name, NULL);
	struct sl__runtime_value *d = &p->inputs[i];
	enum sl_dtype dtype;
	struct sl_array a;
	struct sl_error err;

	assert_true(i < 16);
	dtype = p->g->graph->values[p->g->graph->blocks[0].inputs[i]]
			.declared.dtype;
	assert_int_equal(sl__runtime_value_alloc_tensor(d, dtype, rank, dims,
							NULL, &err),
			 SL_OK);
	sl__store_doubles(d->bytes, dtype, 0, (size_t)d->tensor.n_elements,
			  numbers);
	a = (struct sl_array){
		.dtype = dtype, .rank = rank, .dims = dims, .data = d->bytes};
	if (sl_plan_set_input(p->plan, name, &a, &err))
		fail_msg("%s: %s", name, err.text);
}

/* Numbers from -2 to 2, by the seed. */
static inline void
planned_fill(struct planned *p, const char *name, size_t rank,
	     const int64_t *dims, uint64_t seed)
{
	static double numbers[8192];
	uint64_t n = 1;

	for (size_t i = 0; i < rank; i++)
		n *= (uint64_t)dims[i];
	assert_true(n <= 8192);
	for (uint64_t i = 0; i < n; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		numbers[i] = (double)(seed >> 33) / 2147483648.0 * 4 - 2;
	}
	planned_set(p, name, rank, dims, numbers);
}

static inline void
planned_compare(const char *name, const struct sl__runtime_value *got,
		const struct sl__runtime_value *want)
{
	const struct sl__tensor *a = &got->tensor, *b = &want->tensor;
	double x, y, most = 1;

	assert_int_equal(got->kind, want->kind);
	assert_int_equal(got->n_items, want->n_items);
	for (size_t i = 0; i < got->n_items; i++)
		planned_compare(name, &got->items[i], &want->items[i]);
	if (got->kind != SL__TYPE_TENSOR)
		return;
	assert_int_equal(a->dtype, b->dtype);
	assert_int_equal(a->rank, b->rank);
	for (size_t d = 0; d < a->rank; d++)
		assert_int_equal(a->dims[d], b->dims[d]);
	for (uint64_t i = 0; i < b->n_elements; i++) {
		assert_true(sl__tensor_doubles(b, i, 1, &y));
		most = fabs(y) > most ? fabs(y) : most;
	}
	/* Some 80 roundings of f32, of the inputs where the result is near 0;
	 * whole numbers are far apart. */
	for (uint64_t i = 0; i < a->n_elements; i++) {
		assert_true(sl__tensor_doubles(a, i, 1, &x));
		assert_true(sl__tensor_doubles(b, i, 1, &y));
		if (!(fabs(x - y) <= 1e-5 * most) && !(isnan(x) && isnan(y)))
			fail_msg("'%s': element %llu is %.9g, expected %.9g",
				 name, (unsigned long long)i, x, y);
	}
}

/* Runs both and compares all outputs. */
static inline void
planned_check(struct planned *p)
{
	const struct sl__block *model = &p->g->graph->blocks[0];
	struct sl_error err;

	sl__evaluator_clear_values(p->ev);
	for (size_t i = 0; i < model->n_inputs; i++)
		sl__evaluator_set_tensor(p->ev, model->inputs[i],
					 &p->inputs[i].tensor);
	if (sl_plan_run(p->plan, &err) || sl__evaluate_block(p->ev, 0, &err))
		fail_msg("%s", err.text);
	for (size_t k = 0; k < model->n_outputs; k++) {
		struct sl__runtime_value got;
		const struct sl__runtime_value *want;

		assert_int_equal(sl__plan_output_value(p->plan, k, &got, &err),
				 SL_OK);
		assert_int_equal(sl__evaluator_value(p->ev, model->outputs[k],
						     &want, &err),
				 SL_OK);
		planned_compare(p->g->graph->values[model->outputs[k]].name,
				&got, want);
	}
}

/* How many steps have that kernel; and how many are on that path. */
static inline size_t
planned_n_kernel(const struct planned *p, const char *kernel)
{
	struct sl_step step;
	size_t n = 0;

	for (size_t i = 0; sl_plan_step(p->plan, i, &step); i++)
		n += !strcmp(step.kernel, kernel);
	return n;
}

static inline size_t
planned_n_path(const struct planned *p, enum sl_path path)
{
	struct sl_step step;
	size_t n = 0;

	for (size_t i = 0; sl_plan_step(p->plan, i, &step); i++)
		n += step.path == path;
	return n;
}

#endif

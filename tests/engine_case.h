/* SPDX-License-Identifier: Apache-2.0 */
/* engine_case.h - fast kernels against the reference kernels. */
#ifndef SL_TEST_ENGINE_CASE_H
#define SL_TEST_ENGINE_CASE_H

#include "node_text.h"
#include "engine/compile.h"
#include "engine/plan.h"
#include "machine/isa.h"
#include "plan_input.h"

/*
 * Each check takes the line that node_text.h describes; inputs without
 * contents are filled with seeded numbers:
 *
 *	check_kernel("Relu 14 (f32[2,3,5])");
 *	check_case(&(struct engine_case){"Log 13 (f32[7])", .low = 0.1,
 *					 .high = 9});
 *
 * The node runs on the reference kernels and as the engine would run it, on
 * one thread and on three, twice each, and the outputs must be alike.  Fields
 * that are 0 have the values said here.
 */
struct engine_case {
	const char *text;
	double low, high;    /* of inputs; both 0: -2 to 2 */
	double share;        /* of the largest expected element that may differ;
			     0: 1e-5, some 80 roundings of f32.  Whole types
			     must be equal. */
	int has_ends;        /* some inputs are infinite, not a number, or -0 */
	int is_reference;    /* the reference kernel is the one to run it */
	int is_either;       /* whichever runs it */
	enum sl_dtype dtype; /* of the plan; NONE: f32 */
};

/* Flags of the plans that are compared with reference kernels. */
#ifndef ENGINE_CASE_FLAGS
#ifdef SL_WITHOUT_DNNL
#define ENGINE_CASE_FLAGS SL__PLAN_NO_DNNL
#else
#define ENGINE_CASE_FLAGS 0
#endif
#endif

/* How they choose algorithms. */
#ifndef ENGINE_CASE_ALGORITHMS
#define ENGINE_CASE_ALGORITHMS SL_ALGORITHMS_FIXED
#endif

static inline struct sl_graph *
engine_case_graph(const char *text)
{
	struct node_text r = {.at = text};
	uint32_t given[NODE_TEXT_MOST], n_given = 0, id;
	struct sl_error err = {0};

	assert_int_equal(sl__graph_new(&r.graph, NULL, &err), SL_OK);
	node_text_read(&r);
	for (uint32_t i = 0; i < r.node.n_inputs; i++) {
		if (r.inputs[i] != SL__NONE &&
		    !r.graph->values[r.inputs[i]].tensor)
			given[n_given++] = r.inputs[i];
	}
	assert_int_equal(sl__graph_set_inputs(r.graph, 0, given, n_given, &err),
			 SL_OK);
	assert_int_equal(sl__graph_add_node(r.graph, &id, &r.node, &err),
			 SL_OK);
	assert_int_equal(sl__graph_set_outputs(r.graph, 0, r.outputs,
					       r.node.n_outputs, &err),
			 SL_OK);
	assert_int_equal(sl__graph_freeze(r.graph, &err), SL_OK);
	return r.graph;
}

/* Numbers between low and high, the same for the same input. */
static inline void
engine_case_fill(struct sl_plan *plan, const struct engine_case *c)
{
	const struct sl__block *block = &plan->graph->blocks[0];
	int is_usual = c->low == 0 && c->high == 0;
	double low = is_usual ? -2 : c->low, high = is_usual ? 2 : c->high;
	const double ends[] = {(double)INFINITY, -(double)INFINITY, (double)NAN,
			       -0.0};
	uint64_t state = 1;

	for (size_t i = 0; i < block->n_inputs; i++) {
		const struct sl__value *value =
			&plan->graph->values[block->inputs[i]];
		enum sl_dtype dtype = value->declared.dtype;
		unsigned char *to = input_data(plan, value->name);
		uint64_t n = 1;

		for (int d = 0; d < value->declared.rank; d++)
			n *= (uint64_t)value->declared.dims[d];
		assert_true(to || !n);
		for (uint64_t k = 0; k < n; k++) {
			double x;

			state = state * 6364136223846793005u +
				1442695040888963407u;
			x = low +
			    (high - low) * (double)(state >> 33) / 2147483648.0;
			if (sl__dtype_family(dtype) == SL__DTYPE_INTEGER)
				x = floor(x);
			else if (c->has_ends && (state >> 40) % 5 == 0)
				x = ends[(state >> 50) % 4];
			if (dtype == SL_DTYPE_BOOL)
				x = (double)((state >> 40) & 1);
			sl__store_doubles(to, dtype, k, 1, &x);
		}
	}
}

static inline struct sl_plan *
engine_case_plan(const struct sl_graph *graph, const struct engine_case *c,
		 unsigned flags, int n_threads)
{
	struct sl_plan_options options = {.struct_size = sizeof(options),
					  .n_threads = n_threads,
					  .algorithms = ENGINE_CASE_ALGORITHMS,
					  .dtype = c->dtype,
					  .flags = flags};
	struct sl_error err = {0};
	struct sl_plan *plan;

	if (!options.dtype)
		options.dtype = SL_DTYPE_F32;
	if (sl_plan_new(&plan, graph, &options, &err))
		fail_msg("%s: %s", c->text, err.text);
	engine_case_fill(plan, c);
	for (int i = 0; i < 2; i++) {
		if (sl_plan_run(plan, &err))
			fail_msg("%s: %s", c->text, err.text);
	}
	return plan;
}

static inline int
engine_case_is_near(double a, double expected, double most)
{
	return (isnan(a) && isnan(expected)) || a == expected ||
	       fabs(a - expected) <= most;
}

static inline void
engine_case_compare(const struct engine_case *c, const struct sl__tensor *a,
		    const struct sl__tensor *expected)
{
	double share = c->share > 0 ? c->share : 1e-5, most = 0, x, y;

	assert_int_equal(a->dtype, expected->dtype);
	assert_int_equal(a->n_elements, expected->n_elements);
	for (uint64_t i = 0; i < a->n_elements; i++) {
		assert_true(sl__tensor_doubles(expected, i, 1, &y));
		if (!isinf(y) && fabs(y) > most)
			most = fabs(y);
	}
	if (sl__dtype_family(a->dtype) == SL__DTYPE_INTEGER)
		share = 0;
	for (uint64_t i = 0; i < a->n_elements; i++) {
		assert_true(sl__tensor_doubles(a, i, 1, &x));
		assert_true(sl__tensor_doubles(expected, i, 1, &y));
		if (!engine_case_is_near(x, y, share * most))
			fail_msg("%s: element %llu is %.9g, expected %.9g",
				 c->text, (unsigned long long)i, x, y);
	}
}

static inline void
engine_case_paths(const struct engine_case *c, const struct sl_plan *plan)
{
	struct sl_step step;
	int n_slow = 0;

	for (size_t i = 0; sl_plan_step(plan, i, &step); i++)
		n_slow += step.path == SL_PATH_REFERENCE ||
			  step.path == SL_PATH_STEPWISE;
	/* Where oneDNN is not used, others take its place: slow ones too. */
	if (c->is_either)
		return;
	if (n_slow > 0 ? !c->is_reference && !sl__isa_is_scalar()
		       : c->is_reference)
		fail_msg("%s: %d steps on reference kernels", c->text, n_slow);
}

/* A whole graph in both ways; c->text is its name. */
static inline void
check_graph(const struct sl_graph *graph, const struct engine_case *c)
{
	struct sl_plan *plain =
		engine_case_plan(graph, c, SL_PLAN_REFERENCE, 1);

	for (int n_threads = 1; n_threads <= 3; n_threads += 2) {
		struct sl_plan *fast = engine_case_plan(
			graph, c, ENGINE_CASE_FLAGS, n_threads);

		engine_case_paths(c, fast);
		for (size_t k = 0; k < graph->blocks[0].n_outputs; k++) {
			struct sl__runtime_value a, expected;
			struct sl_error err = {0};

			assert_int_equal(
				sl__plan_output_value(fast, k, &a, &err),
				SL_OK);
			assert_int_equal(sl__plan_output_value(plain, k,
							       &expected, &err),
					 SL_OK);
			engine_case_compare(c, &a.tensor, &expected.tensor);
		}
		sl_plan_free(fast);
	}
	sl_plan_free(plain);
}

static inline void
check_case(const struct engine_case *c)
{
	struct sl_graph *graph = engine_case_graph(c->text);

	check_graph(graph, c);
	sl_graph_free(graph);
}

static inline void
check_kernel(const char *text)
{
	check_case(&(struct engine_case){.text = text});
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* matmul_case.h - products with constant matrices and chains of operations. */
#ifndef SL_TEST_MATMUL_CASE_H
#define SL_TEST_MATMUL_CASE_H

#include "engine_case.h"
#include "ops/post_op.h"

/*
 * 'text' as in node_text.h; inputs whose bit is set in 'constants' are
 * parameters with normal numbers.  'post_ops' are the words of a chain, with
 * blanks between them; the first has the parameters alpha and beta, each that
 * follows has both larger by 'more'.  'kernel' is how the name of the
 * product's kernel begins, or "oneDNN": which of its kernels depends on the
 * CPU; NULL: whatever it is.
 */
struct matmul_case {
	const char *text;
	unsigned constants;
	const char *post_ops;
	float alpha, beta, more;
	const char *kernel;
	enum sl_dtype dtype;
	double share;
};

static inline void
matmul_case_constant(struct node_text *r, uint32_t id)
{
	struct sl__value *value = &r->graph->values[id];
	struct sl__tensor_generator g = {.kind = SL__TENSOR_GENERATOR_NORMAL,
					 .seed = 17 + id,
					 .scale = 1};
	struct sl__tensor t = {.dtype = value->declared.dtype,
			       .rank = (size_t)value->declared.rank,
			       .dims = value->declared.dims};

	assert_true(sl__tensor_compute_size(&t));
	t.generator = node_text_copy(r, &g, sizeof(g));
	value->kind = SL_VALUE_PARAMETER;
	value->tensor = node_text_copy(r, &t, sizeof(t));
}

static inline void
matmul_case_posts(struct node_text *r, const struct matmul_case *c)
{
	const char *words[SL__POST_OPS_MAX];
	float alpha[SL__POST_OPS_MAX], beta[SL__POST_OPS_MAX];
	const char *at = c->post_ops;
	size_t n = 0;
	struct sl__attribute *a = &r->attributes[r->node.n_attributes];

	for (; *at; at += strspn(at, " ")) {
		size_t length = strcspn(at, " ");
		char *word = node_text_copy(r, at, length + 1);

		word[length] = '\0';
		words[n] = word;
		alpha[n] = c->alpha + (float)n * c->more;
		beta[n] = c->beta + (float)n * c->more;
		n++;
		at += length;
	}
	a[0] = (struct sl__attribute){
		.name = "post",
		.kind = SL__ATTRIBUTE_STRINGS,
		.n = n,
		.strings = node_text_copy(r, words, n * sizeof(*words))};
	a[1] = (struct sl__attribute){
		.name = "post_alpha",
		.kind = SL__ATTRIBUTE_FLOATS,
		.n = n,
		.floats = node_text_copy(r, alpha, n * sizeof(*alpha))};
	a[2] = (struct sl__attribute){
		.name = "post_beta",
		.kind = SL__ATTRIBUTE_FLOATS,
		.n = n,
		.floats = node_text_copy(r, beta, n * sizeof(*beta))};
	r->node.n_attributes += 3;
	r->node.attributes =
		node_text_copy(r, r->attributes, sizeof(r->attributes));
}

static inline struct sl_graph *
matmul_case_graph(const struct matmul_case *c)
{
	struct node_text r = {.at = c->text};
	uint32_t given[NODE_TEXT_MOST], n_given = 0, id;
	struct sl_error err = {0};

	assert_int_equal(sl__graph_new(&r.graph, NULL, &err), SL_OK);
	node_text_read(&r);
	if (c->post_ops)
		matmul_case_posts(&r, c);
	for (uint32_t i = 0; i < r.node.n_inputs; i++) {
		if (r.inputs[i] == SL__NONE)
			continue;
		if (c->constants >> i & 1)
			matmul_case_constant(&r, r.inputs[i]);
		else
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

/* Some product of the plan is by that kernel. */
static inline void
matmul_case_kernel(const struct sl_graph *graph, const struct matmul_case *c)
{
	struct engine_case e = {.text = c->text, .dtype = c->dtype};
	struct sl_plan *plan =
		engine_case_plan(graph, &e, ENGINE_CASE_FLAGS, 1);
	const char *path = ENGINE_CASE_FLAGS & SL__PLAN_NO_DNNL &&
					   !strcmp(c->kernel, "oneDNN")
				   ? "native"
				   : c->kernel;
	struct sl_step step;
	int n = 0;

	for (size_t i = 0; sl_plan_step(plan, i, &step); i++)
		n += step.core_flops > 0 &&
		     (!strncmp(step.kernel, c->kernel, strlen(c->kernel)) ||
		      !strcmp(sl_path_text(step.path), path));
	/* Where oneDNN is not used, others take its place. */
	if (n == 0 && !sl__isa_is_scalar())
		fail_msg("%s: no kernel %s", c->text, c->kernel);
	sl_plan_free(plan);
}

static inline void
check_product(const struct matmul_case *c)
{
	struct sl_graph *graph = matmul_case_graph(c);
	struct engine_case e = {
		.text = c->text, .dtype = c->dtype, .share = c->share};

	check_graph(graph, &e);
	if (c->kernel)
		matmul_case_kernel(graph, c);
	sl_graph_free(graph);
}

#endif

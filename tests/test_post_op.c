/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_post_op.c - proves that each operation at the end of a fused node is the
 * function it names, that lists are read as written, and that lists which
 * make no sense are refused.
 */
#include "harness.h"
#include "ops/post_op.h"

static double
apply(enum sl__post_op_kind kind, double alpha, double beta, double x)
{
	struct sl__post_op post_op = {
		.kind = kind, .alpha = (float)alpha, .beta = (float)beta};

	return sl__post_op_apply(&post_op, x, 3);
}

static void
are_the_functions_they_name(void **state)
{
	(void)state;
	assert_near(apply(SL__POST_OP_ADD, 0, 0, 2), 5, 0);
	assert_near(apply(SL__POST_OP_MUL, 0, 0, 2), 6, 0);
	assert_near(apply(SL__POST_OP_RELU, 0, 0, -2), 0, 0);
	assert_near(apply(SL__POST_OP_RELU, 0, 0, 2), 2, 0);
	assert_near(apply(SL__POST_OP_LEAKY_RELU, .25, 0, -2), -.5, 0);
	assert_near(apply(SL__POST_OP_LEAKY_RELU, .25, 0, 2), 2, 0);
	assert_near(apply(SL__POST_OP_CLIP, -1, 6, -2), -1, 0);
	assert_near(apply(SL__POST_OP_CLIP, -1, 6, 7), 6, 0);
	assert_near(apply(SL__POST_OP_CLIP, -1, 6, .5), .5, 0);
	assert_near(apply(SL__POST_OP_LINEAR, 2, -1, 3), 5, 0);
	assert_near(apply(SL__POST_OP_HARD_SIGMOID, .25, .5, 1), .75, 0);
	assert_near(apply(SL__POST_OP_HARD_SIGMOID, .25, .5, 9), 1, 0);
	assert_near(apply(SL__POST_OP_HARD_SIGMOID, .25, .5, -9), 0, 0);
	assert_near(apply(SL__POST_OP_HARD_SWISH, 0, 0, 1.5), 1.5 * .75, 1e-15);
	assert_near(apply(SL__POST_OP_HARD_SWISH, 0, 0, -4), 0, 0);
	assert_near(apply(SL__POST_OP_HARD_SWISH, 0, 0, 4), 4, 0);
	/* From tables: sigmoid, tanh, exp, erf. */
	assert_near(apply(SL__POST_OP_SIGMOID, 0, 0, 1), .7310585786300049,
		    1e-15);
	assert_near(apply(SL__POST_OP_TANH, 0, 0, 1), .7615941559557649, 1e-15);
	assert_near(apply(SL__POST_OP_ELU, 2, 0, -1),
		    2 * (0.36787944117144233 - 1), 1e-15);
	assert_near(apply(SL__POST_OP_ELU, 2, 0, 1), 1, 0);
	assert_near(apply(SL__POST_OP_SILU, 1, 0, 1), .7310585786300049, 1e-15);
	/* With 2 in it: x sigmoid(2 x). */
	assert_near(apply(SL__POST_OP_SILU, 2, 0, 1), .8807970779778823, 1e-15);
	/* Phi(1) = .8413447460685429 */
	assert_near(apply(SL__POST_OP_GELU, 0, 0, 1), .8413447460685429, 1e-15);
	assert_near(apply(SL__POST_OP_GELU, 0, 0, -1), -1 + .8413447460685429,
		    1e-15);
	/* tanh(sqrt(2 / pi) 1.044715) = .68238396... */
	assert_near(apply(SL__POST_OP_GELU_TANH, 0, 0, 1), .8411919906082768,
		    1e-14);
}

/* Whatever is not a number stays so: none of them hides a failure. */
static void
keep_nan(void **state)
{
	(void)state;
	for (int kind = 0; kind < SL__N_POST_OPS; kind++)
		assert_true(isnan(
			apply((enum sl__post_op_kind)kind, 1, 2, (double)NAN)));
}

static void
reach_their_limits(void **state)
{
	(void)state;
	assert_near(apply(SL__POST_OP_SIGMOID, 0, 0, -1e4), 0, 0);
	assert_near(apply(SL__POST_OP_SIGMOID, 0, 0, 1e4), 1, 0);
	assert_near(apply(SL__POST_OP_SILU, 1, 0, -1e4), 0, 0);
	assert_near(apply(SL__POST_OP_GELU, 0, 0, -1e4), 0, 0);
	assert_near(apply(SL__POST_OP_GELU_TANH, 0, 0, 1e4), 1e4, 0);
	assert_near(apply(SL__POST_OP_ELU, 1.5, 0, -1e4), -1.5, 0);
	/* A gate that is shut stops infinity too. */
	assert_near(apply(SL__POST_OP_SILU, 1, 0, -(double)INFINITY), 0, 0);
	assert_near(apply(SL__POST_OP_GELU, 0, 0, -(double)INFINITY), 0, 0);
	assert_near(apply(SL__POST_OP_GELU_TANH, 0, 0, -(double)INFINITY), 0,
		    0);
	assert_near(apply(SL__POST_OP_HARD_SWISH, 0, 0, -(double)INFINITY), 0,
		    0);
}

static void
words_are_all_different(void **state)
{
	(void)state;
	for (int a = 0; a < SL__N_POST_OPS; a++) {
		assert_non_null(sl__post_op_name((enum sl__post_op_kind)a));
		for (int b = 0; b < a; b++)
			assert_string_not_equal(
				sl__post_op_name((enum sl__post_op_kind)a),
				sl__post_op_name((enum sl__post_op_kind)b));
	}
}

enum { WORDS_MOST = 12 };

struct list {
	const char *words[WORDS_MOST];
	float alpha[WORDS_MOST], beta[WORDS_MOST];
	struct sl__attribute attributes[3];
	struct sl__node node;
};

static void
make_list(struct list *l, const char *const *words, size_t n, uint32_t n_inputs)
{
	memset(l, 0, sizeof(*l));
	for (size_t i = 0; i < n; i++) {
		l->words[i] = words[i];
		l->alpha[i] = (float)(i + 1);
		l->beta[i] = -(float)(i + 1);
	}
	l->attributes[0] = (struct sl__attribute){.name = "post",
						  .kind = SL__ATTRIBUTE_STRINGS,
						  .n = n,
						  .strings = l->words};
	l->attributes[1] = (struct sl__attribute){.name = "post_alpha",
						  .kind = SL__ATTRIBUTE_FLOATS,
						  .n = n,
						  .floats = l->alpha};
	l->attributes[2] = (struct sl__attribute){.name = "post_beta",
						  .kind = SL__ATTRIBUTE_FLOATS,
						  .n = n,
						  .floats = l->beta};
	l->node.name = l->node.type = "Conv";
	l->node.domain = "sleuth";
	l->node.n_inputs = n_inputs;
	l->node.n_attributes = 3;
	l->node.attributes = l->attributes;
}

static void
lists_are_read_as_written(void **state)
{
	static const char *const words[] = {"relu", "add", "clip", "mul"};
	struct sl__post_op post_ops[SL__POST_OPS_MAX];
	struct list l;

	(void)state;
	make_list(&l, words, 4, 5);
	assert_int_equal(sl__post_ops_read(&l.node, post_ops), 4);
	assert_int_equal(post_ops[0].kind, SL__POST_OP_RELU);
	assert_int_equal(post_ops[1].kind, SL__POST_OP_ADD);
	assert_int_equal(post_ops[1].input, SL__POST_OP_FIRST_INPUT);
	assert_int_equal(post_ops[2].kind, SL__POST_OP_CLIP);
	assert_true(post_ops[2].alpha == 3 && post_ops[2].beta == -3);
	assert_int_equal(post_ops[3].kind, SL__POST_OP_MUL);
	assert_int_equal(post_ops[3].input, SL__POST_OP_FIRST_INPUT + 1);
	l.node.n_attributes = 0;
	assert_int_equal(sl__post_ops_read(&l.node, post_ops), 0);
	for (int kind = 0; kind < SL__N_POST_OPS; kind++) {
		const char *word =
			sl__post_op_name((enum sl__post_op_kind)kind);

		make_list(&l, &word, 1, 4);
		assert_int_equal(sl__post_ops_read(&l.node, post_ops), 1);
		assert_int_equal(post_ops[0].kind, kind);
	}
}

static void
lists_without_sense_are_refused(void **state)
{
	static const char *const words[WORDS_MOST] = {
		"relu", "add",  "relu", "relu", "relu", "relu",
		"relu", "relu", "relu", "relu", "relu", "relu"};
	static const char *const odd[] = {"relu", "flux"};
	struct sl__post_op post_ops[SL__POST_OPS_MAX];
	struct list l;

	(void)state;
	make_list(&l, words, 2, 4);
	assert_int_equal(sl__post_ops_read(&l.node, post_ops), 2);
	/* An operand that is not there. */
	make_list(&l, words, 2, 3);
	assert_int_equal(sl__post_ops_read(&l.node, post_ops), -1);
	/* Nodes without operands may have fewer than three inputs. */
	make_list(&l, words, 1, 2);
	assert_int_equal(sl__post_ops_read(&l.node, post_ops), 1);
	make_list(&l, words, SL__POST_OPS_MAX, 4);
	assert_int_equal(sl__post_ops_read(&l.node, post_ops),
			 SL__POST_OPS_MAX);
	make_list(&l, words, SL__POST_OPS_MAX + 1, 4);
	assert_int_equal(sl__post_ops_read(&l.node, post_ops), -1);
	make_list(&l, odd, 2, 4);
	assert_int_equal(sl__post_ops_read(&l.node, post_ops), -1);
	make_list(&l, words, 2, 4);
	l.attributes[1].n = 1;
	assert_int_equal(sl__post_ops_read(&l.node, post_ops), -1);
	make_list(&l, words, 2, 4);
	l.attributes[2].kind = SL__ATTRIBUTE_INTS;
	assert_int_equal(sl__post_ops_read(&l.node, post_ops), -1);
	make_list(&l, words, 2, 4);
	l.attributes[0].kind = SL__ATTRIBUTE_STRING;
	assert_int_equal(sl__post_ops_read(&l.node, post_ops), -1);
	make_list(&l, words, 2, 4);
	l.node.n_attributes = 2;
	assert_int_equal(sl__post_ops_read(&l.node, post_ops), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(are_the_functions_they_name),
		cmocka_unit_test(keep_nan),
		cmocka_unit_test(reach_their_limits),
		cmocka_unit_test(words_are_all_different),
		cmocka_unit_test(lists_are_read_as_written),
		cmocka_unit_test(lists_without_sense_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

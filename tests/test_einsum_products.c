/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_einsum_products.c - an Einsum becomes matrix products that compute
 * what its reference kernel computes; what is no product stays.
 */
#include "engine/plan.h"
#include "rewritten.h"

#define A "in a f32 2,3,4,5\n"

/* So many products do the work of the Einsum. */
static void
check_products(const char *text, size_t n)
{
	struct rewritten r = rewritten_with(text, 0);
	size_t n_products = 0;

	for (size_t i = 0; i < r.made->n_nodes; i++) {
		const struct sl__node *node = &r.made->nodes[i];

		assert_false(sl__is_op(node, SL__OP_ONNX_Einsum));
		n_products += !strcmp(node->type, "MatMul");
		for (size_t k = 0; k < r.covers[i].n; k++)
			assert_int_equal(r.covers[i].nodes[k], 0);
	}
	assert_int_equal(n_products, n);
	rewritten_evaluate(&r, 1e-6);
	rewritten_free(&r);
}

/* Of two dimensions each: no label numbers matrices. */
static void
multiplies_matrices(void **state)
{
	(void)state;
	check_products("in a f32 3,4\nin b f32 4,5\n"
		       "y = Einsum a b equation='ij,jk->ik'\nout y\n",
		       1);
	/* The result turned: the operands change places. */
	check_products("in a f32 3,4\nin b f32 4,5\n"
		       "y = Einsum a b equation='ij,jk->ki'\nout y\n",
		       1);
	/* No sum, and nothing but one. */
	check_products("in a f32 3\nin b f32 4\n"
		       "y = Einsum a b equation='i,j->ij'\nout y\n",
		       1);
	check_products("in a f32 3,4\nin b f32 3,4\n"
		       "y = Einsum a b equation='ij,ij->i'\nout y\n",
		       1);
}

/* Scores and mixing of attention, as several libraries write them. */
static void
multiplies_stacks(void **state)
{
	(void)state;
	check_products(A "in b f32 2,3,6,5\n"
			 "y = Einsum a b equation='bhid,bhjd->bhij'\nout y\n",
		       1);
	check_products(A "in b f32 2,6,4,5\n"
			 "y = Einsum a b equation='binh,bjnh->bnij'\nout y\n",
		       1);
	check_products(A "in b f32 5,7\n"
			 "y = Einsum a b equation='...c,cd'\nout y\n",
		       1);
	check_products(A "in b f32 3,4,6\n"
			 "y = Einsum a b equation='bhwc,hwk->bkhwc'\nout y\n",
		       1);
}

static void
sums_and_turns(void **state)
{
	(void)state;
	check_products(A "y = Einsum a equation='bhwc->bchw'\nout y\n", 0);
	check_products(A "y = Einsum a equation='bhwc->cb'\nout y\n", 0);
	/* A label of one operand alone. */
	check_products(A "in b f32 5,7\n"
			 "y = Einsum a b equation='bhwc,cd->bd'\nout y\n",
		       1);
}

static void
takes_pairs(void **state)
{
	(void)state;
	check_products("in a f32 3,4\nin b f32 4,5\nin c f32 5,6\n"
		       "y = Einsum a b c equation='ij,jk,kl->il'\nout y\n",
		       2);
	check_products("in a f32 2,3\nin b f32 2,4\nin c f32 2,3,4\n"
		       "y = Einsum a b c equation='bi,bj,bij->b'\nout y\n",
		       2);
}

static void
leaves_the_rest(void **state)
{
	(void)state;
	/* A diagonal, broadcasting, a scalar, another type. */
	check_rewritten("in a f32 3,3\ny = Einsum a equation='ii->i'\nout y\n",
			"Einsum");
	check_rewritten("in a f32 6,2,3\nin b f32 1,3,4\n"
			"y = Einsum a b equation='...ij,...jk'\nout y\n",
			"Einsum");
	check_rewritten("in a f32 3\nin b f32 3\n"
			"y = Einsum a b equation='i,i'\nout y\n",
			"Einsum");
	check_rewritten("in a f64 3,4\nin b f64 4,5\n"
			"y = Einsum a b equation='ij,jk->ik'\nout y\n",
			"Einsum");
	/* One step for each node. */
	check_rewritten_with("in a f32 3,4\nin b f32 4,5\n"
			     "y = Einsum a b equation='ij,jk->ik'\nout y\n",
			     SL__OPTIMIZE_NO_FUSION, "Einsum");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(multiplies_matrices),
		cmocka_unit_test(multiplies_stacks),
		cmocka_unit_test(sums_and_turns),
		cmocka_unit_test(takes_pairs),
		cmocka_unit_test(leaves_the_rest),
	};

	return cmocka_run_group_tests_name("einsum_products", tests, NULL,
					   NULL);
}

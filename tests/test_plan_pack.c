/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_plan_pack.c - proves that weights which several nodes want packed alike
 * are packed once, and those wanted otherwise each on their own.
 */
#include "planned_graph.h"
#include "needs_dnnl.h"

static uint64_t
packed_bytes(const char *text)
{
	struct planned p;
	uint64_t n;

	planned_start(&p, text, 1, 0);
	n = p.plan->current->constant_bytes;
	for (size_t i = 0; i < p.g->graph->blocks[0].n_inputs; i++) {
		uint32_t id = p.g->graph->blocks[0].inputs[i];
		const struct sl__value *v = &p.g->graph->values[id];

		planned_fill(&p, v->name, (size_t)v->declared.rank,
			     v->declared.dims, 3 + i);
	}
	planned_check(&p);
	planned_finish(&p);
	return n;
}

/* 'second' is another node, of the result 'z'; how often the weights are
 * packed for both is what is returned. */
static uint64_t
times_packed(const char *start, const char *first, const char *second)
{
	char one[1024], two[1024];
	uint64_t n_one, n_two;

	snprintf(one, sizeof(one), "opset 13\n%s%sout y\n", start, first);
	snprintf(two, sizeof(two), "opset 13\n%s%s%sout z\n", start, first,
		 second);
	n_one = packed_bytes(one);
	n_two = packed_bytes(two);
	assert_true(n_one > 0);
	assert_int_equal(n_two % n_one, 0);
	return n_two / n_one;
}

static void
convolutions_share(void **state)
{
	const char *start = "in x f32 1,16,6,6\n"
			    "const w f32 16,16,3,3 = random\n";
	const char *first = "y = Conv x w pads=[1,1,1,1]\n";

	(void)state;
	needs_dnnl();
	assert_int_equal(
		times_packed(start, first, "z = Conv y w pads=[1,1,1,1]\n"), 1);
	/* Half of the channels from each half. */
	assert_int_equal(times_packed("in x f32 1,32,6,6\n"
				      "const w f32 32,16,3,3 = random\n",
				      "y = Conv x w pads=[1,1,1,1] group=2\n",
				      "z = Conv y w pads=[1,1,1,1] group=2\n"),
			 1);
}

static void
products_share(void **state)
{
	const char *start = "in x f32 9,64\n"
			    "const w f32 64,64 = random\n";
	const char *first = "y = MatMul x w\n";

	(void)state;
	needs_dnnl();
	assert_int_equal(times_packed(start, first, "z = MatMul y w\n"), 1);
	/* The same bytes and the same form, but the other way round. */
	assert_int_equal(times_packed(start, first, "z = Gemm y w transB=1\n"),
			 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(convolutions_share),
		cmocka_unit_test(products_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

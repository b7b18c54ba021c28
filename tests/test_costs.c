/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves how often each node is said to run and on what basis: once; as often
 * as loops around it say, multiplied; in the dearer branch where the
 * condition is not known, then estimated; not known in a loop of unknown
 * length, and in what an unknown operator holds.
 */
#include "graph_text.h"

static void
check_node(struct graph_text *g, const char *value, uint64_t n_calls,
	   enum sl_basis basis, const char *why)
{
	uint32_t node = maker_of(g, value);

	if (g->costs.n_calls[node] != n_calls ||
	    g->costs.basis[node] != basis ||
	    (why ? !g->costs.why[node] || strcmp(g->costs.why[node], why) != 0
		 : g->costs.why[node] != NULL))
		fail_msg("'%s' runs %llu times, basis %d, '%s'", value,
			 (unsigned long long)g->costs.n_calls[node],
			 (int)g->costs.basis[node],
			 g->costs.why[node] ? g->costs.why[node] : "(null)");
}

static void
test_plain_nodes_run_once(void **state)
{
	struct graph_text *g = graph_text("in x f32 2,3\ny = Relu x\nout y\n");

	(void)state;
	check_node(g, "y", 1, SL_BASIS_COUNTED, NULL);
	assert_int_equal(g->costs.per_call[maker_of(g, "y")].cmp, 6);
	graph_text_free(g);
}

/* 2x3 times 3x4 against 2x3 elements: 24 products against 6 comparisons. */
#define DEAR  "block dear\na = MatMul x w\nout a\nend\n"
#define CHEAP "block cheap\nb = Relu x\nout b\nend\n"
#define ONE_BRANCH                                                          \
	"one branch of 'y': the dearer is taken, its condition depends on " \
	"data"

static void
test_dearer_branch_is_taken(void **state)
{
	static const char *const orders[] = {
		"in c bool -\nin x f32 2,3\nin w f32 3,4\n" DEAR CHEAP
		"y = If c then_branch=@dear else_branch=@cheap\nout y\n",
		"in c bool -\nin x f32 2,3\nin w f32 3,4\n" DEAR CHEAP
		"y = If c then_branch=@cheap else_branch=@dear\nout y\n"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct graph_text *g = graph_text(orders[i]);

		check_node(g, "a", 1, SL_BASIS_ESTIMATED, ONE_BRANCH);
		check_node(g, "b", 0, SL_BASIS_COUNTED, NULL);
		check_node(g, "y", 1, SL_BASIS_COUNTED, NULL);
		graph_text_free(g);
	}
}

/* Without operations bytes decide: Transpose moves, Identity does not. */
static void
test_bytes_decide_between_equals(void **state)
{
	struct graph_text *g =
		graph_text("in c bool -\nin x f32 3,3\n"
			   "block p\na = Identity x\nout a\nend\n"
			   "block q\nb = Transpose x\nout b\nend\n"
			   "y = If c then_branch=@p else_branch=@q\nout y\n");

	(void)state;
	check_node(g, "b", 1, SL_BASIS_ESTIMATED, ONE_BRANCH);
	check_node(g, "a", 0, SL_BASIS_COUNTED, NULL);
	graph_text_free(g);
}

/* What an unknown operator would add may be more than the branch taken. */
static void
test_branch_of_unknown_cost_is_told(void **state)
{
	struct graph_text *g =
		graph_text("in c bool -\nin x f32 2,3\nin w f32 3,3\n"
			   "block p\na = MatMul x w\nout a\nend\n"
			   "block q\nb = Whatever x\nd = Relu x\nout b\nend\n"
			   "y = If c then_branch=@p else_branch=@q\nout y\n");

	(void)state;
	check_node(g, "a", 1, SL_BASIS_ESTIMATED, ONE_BRANCH);
	check_node(g, "b", 0, SL_BASIS_UNKNOWN,
		   "one branch of 'y' has an unknown cost");
	check_node(g, "d", 0, SL_BASIS_COUNTED, NULL);
	graph_text_free(g);
}

static void
test_known_branch_is_counted(void **state)
{
	struct graph_text *g = graph_text(
		"const c bool - = 0\nin x f32 2,3\nin w f32 3,4\n" DEAR CHEAP
		"y = If c then_branch=@dear else_branch=@cheap\nout y\n");

	(void)state;
	check_node(g, "b", 1, SL_BASIS_COUNTED, NULL);
	check_node(g, "a", 0, SL_BASIS_COUNTED, NULL);
	graph_text_free(g);
}

/* The branch counts as often as the loop around it runs; a cheap node in a
 * long loop beats a dear one outside. */
static void
test_loops_multiply_and_are_compared(void **state)
{
	struct graph_text *g = graph_text(
		"in c bool -\nin x f32 2,3\nin w f32 3,4\nin v f32 2,4\n"
		"const m i64 - = 100\n"
		"block body\nin i i64 -\nin go bool -\nin p f32 ?\n"
		"stay = Identity go\nq = Relu p\nout stay\nout q\nend\n"
		"block once\na = MatMul x w\nout a\nend\n"
		"block often\nb = Loop m - v body=@body\nout b\nend\n"
		"y = If c then_branch=@once else_branch=@often\nout y\n");

	(void)state;
	check_node(g, "q", 100, SL_BASIS_ESTIMATED, ONE_BRANCH);
	check_node(g, "b", 1, SL_BASIS_ESTIMATED, ONE_BRANCH);
	check_node(g, "a", 0, SL_BASIS_COUNTED, NULL);
	graph_text_free(g);
}

static void
test_loop_of_unknown_length(void **state)
{
	struct graph_text *g = graph_text(
		"in m i64 -\nin x f32 2,3\n"
		"block body\nin i i64 -\nin go bool -\nin p f32 ?\n"
		"stay = Identity go\nq = Relu p\nout stay\nout q\nend\n"
		"y = Loop m - x body=@body\nz = Neg y\nout z\n");

	(void)state;
	check_node(g, "q", 0, SL_BASIS_UNKNOWN, "a loop of unknown length");
	check_node(g, "y", 1, SL_BASIS_COUNTED, NULL);
	check_node(g, "z", 1, SL_BASIS_COUNTED, NULL);
	graph_text_free(g);
}

/* Which branch is dearer is asked of one run where their number is open. */
static void
test_branches_in_a_loop_of_unknown_length(void **state)
{
	struct graph_text *g = graph_text(
		"in m i64 -\nin c bool -\nin x f32 2,3\nin w f32 3,3\n"
		"block body\nin i i64 -\nin go bool -\nin p f32 ?\n"
		"stay = Identity go\n"
		"block dear\na = MatMul p w\nout a\nend\n"
		"block cheap\nb = Relu p\nout b\nend\n"
		"q = If c then_branch=@cheap else_branch=@dear\n"
		"out stay\nout q\nend\n"
		"y = Loop m - x body=@body\nout y\n");

	(void)state;
	check_node(g, "a", 0, SL_BASIS_UNKNOWN, "a loop of unknown length");
	check_node(g, "b", 0, SL_BASIS_COUNTED, NULL);
	graph_text_free(g);
}

static void
test_inside_of_an_unknown_operator(void **state)
{
	struct graph_text *g =
		graph_text("in x f32 2,3\nblock body\na = Relu x\nout a\nend\n"
			   "y = Whatever x body=@body\nout y\n");

	(void)state;
	check_node(g, "a", 0, SL_BASIS_UNKNOWN,
		   "inside an operator that is not known");
	check_node(g, "y", 1, SL_BASIS_UNKNOWN, "the operator is not known");
	graph_text_free(g);
}

/* Views cost nothing, whatever their shape turns out to be. */
static void
test_views_of_unknown_shape_are_counted(void **state)
{
	struct graph_text *g = graph_text(
		"in x f32 2,3\nin s i64 2\ny = Reshape x s\nz = Relu y\n"
		"out z\n");

	(void)state;
	check_node(g, "y", 1, SL_BASIS_COUNTED, NULL);
	check_node(g, "z", 1, SL_BASIS_UNKNOWN, "a shape depends on data");
	graph_text_free(g);
}

/* 2^40 times 2^40 runs: a number, but none of 64 bits. */
static void
test_loops_beyond_counting(void **state)
{
	struct graph_text *g = graph_text(
		"in x f32 2,3\nconst m i64 - = 1099511627776\n"
		"block inner\nin j i64 -\nin on bool -\nin a f32 ?\n"
		"more = Identity on\nb = Relu a\nout more\nout b\nend\n"
		"block outer\nin i i64 -\nin go bool -\nin p f32 ?\n"
		"stay = Identity go\nq = Loop m - p body=@inner\n"
		"out stay\nout q\nend\n"
		"y = Loop m - x body=@outer\nout y\n");

	(void)state;
	assert_int_equal(g->rc, SL_OK);
	check_node(g, "b", 0, SL_BASIS_UNKNOWN, "more than 64 bits can count");
	check_node(g, "q", UINT64_C(1) << 40, SL_BASIS_COUNTED, NULL);
	graph_text_free(g);
}

/* 2^62 products are 2^63 FLOPs, of which training takes three times; 2^61
 * products are counted. */
static void
test_sums_beyond_counting_are_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{"in x f32 2097152,1048576\nin w f32 1048576,2097152\n"
		 "y = MatMul x w\nout y\n",
		 "the FLOPs of these sizes are beyond 64 bits"},
		{"in x f32 4194304,4194304\nin w f32 4194304,4194304\n"
		 "y = MatMul x w\nout y\n",
		 "node 'y' (MatMul): the FLOPs or bytes of these sizes are "
		 "beyond 64 bits"},
		{"in x f32 1073741824,1073741824\ny = Relu x\nout y\n",
		 "the bytes of these sizes are beyond 64 bits"},
		{"in x f32 4611686018427387904\ny = Relu x\nout y\n",
		 "input 'x' has more than 2^63 bytes"},
		{"in x f32 2\nconst m i64 - = 9223372036854775807\n"
		 "block body\nin i i64 -\nin go bool -\nin p f32 ?\n"
		 "stay = Identity go\nq = Relu p\nout stay\nout q\nend\n"
		 "y = Loop m - x body=@body\nout y\n",
		 "the FLOPs of these sizes are beyond 64 bits"},
	};
	struct graph_text *g;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		g = graph_text_with(rows[i].text, NULL);
		assert_int_equal(g->rc, SL_E_DATA);
		assert_string_equal(g->err.text, rows[i].why);
		graph_text_free(g);
	}
	g = graph_text("in x f32 1048576,1048576\nin w f32 1048576,2097152\n"
		       "y = MatMul x w\nout y\n");
	assert_int_equal(g->rc, SL_OK);
	assert_int_equal(g->costs.per_call[maker_of(g, "y")].macs,
			 UINT64_C(1) << 61);
	graph_text_free(g);
}

static void
test_an_output_beyond_counting_is_refused(void **state)
{
	struct graph_text *g =
		graph_text_with("in x f32 1,4\n"
				"const s i64 2 = 1099511627776,1099511627776\n"
				"y = Tile x s\nout y\n",
				NULL);

	(void)state;
	assert_int_equal(g->rc, SL_E_DATA);
	assert_string_equal(g->err.text, "node 'y' (Tile): its output has more "
					 "than 2^63 bytes");
	graph_text_free(g);
}

static void
test_conditions_are_boolean(void **state)
{
	static const char *const texts[] = {
		"in c f32 -\nin x f32 2\nblock p\na = Relu x\nout a\nend\n"
		"block q\nb = Neg x\nout b\nend\n"
		"y = If c then_branch=@p else_branch=@q\nout y\n",
		"in m i64 -\nin c i64 -\nin x f32 2\n"
		"block body\nin i i64 -\nin go bool -\nin v f32 ?\n"
		"stay = Identity go\nw = Relu v\nout stay\nout w\nend\n"
		"y = Loop m c x body=@body\nout y\n"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct graph_text *g = graph_text_with(texts[i], NULL);

		assert_int_equal(g->rc, SL_E_DATA);
		assert_non_null(
			strstr(g->err.text, "its condition is of type"));
		graph_text_free(g);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_nodes_run_once),
		cmocka_unit_test(test_dearer_branch_is_taken),
		cmocka_unit_test(test_bytes_decide_between_equals),
		cmocka_unit_test(test_branch_of_unknown_cost_is_told),
		cmocka_unit_test(test_known_branch_is_counted),
		cmocka_unit_test(test_loops_multiply_and_are_compared),
		cmocka_unit_test(test_loop_of_unknown_length),
		cmocka_unit_test(test_branches_in_a_loop_of_unknown_length),
		cmocka_unit_test(test_inside_of_an_unknown_operator),
		cmocka_unit_test(test_views_of_unknown_shape_are_counted),
		cmocka_unit_test(test_loops_beyond_counting),
		cmocka_unit_test(test_sums_beyond_counting_are_refused),
		cmocka_unit_test(test_an_output_beyond_counting_is_refused),
		cmocka_unit_test(test_conditions_are_boolean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

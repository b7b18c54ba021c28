/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that control flow is followed: the branch that is known to be taken
 * alone, both where it is not known; a loop's body as often as it runs, with
 * sizes that change from run to run left open; and that looking at a body
 * again leaves nothing behind of the first look.
 */
#include "graph_text.h"

static uint64_t
calls_of(struct graph_text *g, const char *block)
{
	return g->shapes->block_calls[graph_text_block(g, block)];
}

static const struct sl__known_contents *
known_of(struct graph_text *g, const char *name)
{
	return g->shapes->known[graph_text_value(g, name)];
}

#define BRANCHES                                      \
	"in x f32 2,3\n"                              \
	"block yes\n"                                 \
	"const two i64 1 = 1\n"                       \
	"a = Squeeze x two\n"                         \
	"out a\n"                                     \
	"end\n"                                       \
	"block no\n"                                  \
	"b = Transpose x\n"                           \
	"out b\n"                                     \
	"end\n"                                       \
	"y = If c then_branch=@yes else_branch=@no\n" \
	"z = Relu y\n"                                \
	"out z\n"

static void
test_known_branch_is_taken(void **state)
{
	/* The other one could not even be run: 3 is not 1. */
	struct graph_text *g = graph_text("const c bool - = 0\n" BRANCHES);

	(void)state;
	assert_string_equal(shape_of(g, "z"), "3x2");
	assert_int_equal(calls_of(g, "no"), 1);
	assert_int_equal(calls_of(g, "yes"), 0);
	graph_text_free(g);
}

static void
test_branch_that_cannot_run_is_not_taken(void **state)
{
	struct graph_text *g = graph_text("opset 13\nin c bool -\n" BRANCHES);

	(void)state;
	assert_string_equal(shape_of(g, "z"), "3x2");
	assert_int_equal(calls_of(g, "yes"), 0);
	graph_text_free(g);
}

static void
test_open_branches_are_merged(void **state)
{
	struct graph_text *g = graph_text(
		"in c bool -\nin x f32 2,3\nin w f32 4,3\n"
		"const at i64 1 = 0\n"
		"block yes\np = Concat x w axis=0\nq = Relu x\n"
		"r = Unsqueeze x at\nout p\nout q\nout r\nend\n"
		"block no\np2 = Relu x\nq2 = Neg x\nr2 = Relu x\n"
		"out p2\nout q2\nout r2\nend\n"
		"y,same,rank = If c then_branch=@yes else_branch=@no\n"
		"out y\nout same\nout rank\n");

	(void)state;
	assert_string_equal(shape_of(g, "y"), "?x3");
	assert_string_equal(shape_of(g, "same"), "2x3");
	assert_string_equal(shape_of(g, "rank"), "?");
	assert_int_equal(calls_of(g, "yes"), 1);
	assert_int_equal(calls_of(g, "no"), 1);
	graph_text_free(g);
}

static void
test_contents_pass_through_a_branch(void **state)
{
	struct graph_text *g =
		graph_text("in x f32 n,3\nconst c bool - = 1\n"
			   "block yes\ns = Shape x\nout s\nend\n"
			   "block no\nt = Shape x\nout t\nend\n"
			   "y = If c then_branch=@yes else_branch=@no\n"
			   "z = ConstantOfShape y\nout z\n");

	(void)state;
	assert_string_equal(shape_of(g, "z"), "n,3");
	graph_text_free(g);
}

/* A body that appends x to what it is handed and collects x. */
#define APPENDING                                              \
	"in x f32 2,3\nin start f32 0,3\n"                     \
	"block body\nin i i64 -\nin go bool -\nin old f32 ?\n" \
	"stay = Identity go\n"                                 \
	"new = Concat old x axis=0\n"                          \
	"each = Relu x\n"                                      \
	"out stay\nout new\nout each\nend\n"

static void
test_loop_of_known_length(void **state)
{
	struct graph_text *g =
		graph_text(APPENDING "const m i64 - = 5\n"
				     "end_,all = Loop m - start body=@body\n"
				     "out end_\nout all\n");

	(void)state;
	assert_int_equal(calls_of(g, "body"), 5);
	assert_string_equal(shape_of(g, "end_"), "?x3");
	assert_string_equal(shape_of(g, "all"), "5x2x3");
	graph_text_free(g);
}

static void
test_loop_of_unknown_length(void **state)
{
	struct graph_text *g =
		graph_text(APPENDING "in m i64 -\n"
				     "end_,all = Loop m - start body=@body\n"
				     "out end_\nout all\n");

	(void)state;
	assert_true(calls_of(g, "body") == UINT64_MAX);
	assert_string_equal(shape_of(g, "end_"), "?x3");
	assert_string_equal(shape_of(g, "all"), "?x2x3");
	graph_text_free(g);
}

static void
test_loop_that_runs_once_or_never(void **state)
{
	struct graph_text *g =
		graph_text(APPENDING "const m i64 - = 1\n"
				     "end_,all = Loop m - start body=@body\n"
				     "out end_\nout all\n");

	(void)state;
	assert_string_equal(shape_of(g, "end_"), "2x3");
	assert_string_equal(shape_of(g, "all"), "1x2x3");
	graph_text_free(g);
	g = graph_text(APPENDING "const m i64 - = 9\nconst c bool - = 0\n"
				 "end_,all = Loop m c start body=@body\n"
				 "out end_\nout all\n");
	assert_string_equal(shape_of(g, "end_"), "0x3");
	assert_string_equal(shape_of(g, "all"), "0x2x3");
	assert_int_equal(calls_of(g, "body"), 0);
	graph_text_free(g);
}

/* The body decides from data whether to go on. */
static void
test_loop_that_may_stop(void **state)
{
	struct graph_text *g = graph_text(
		"in x f32 2,3\nin stop bool -\nconst m i64 - = 7\n"
		"block body\nin i i64 -\nin go bool -\nin old f32 ?\n"
		"stay = And go stop\nnew = Relu old\nout stay\nout new\nend\n"
		"y = Loop m - x body=@body\nout y\n");

	(void)state;
	assert_true(calls_of(g, "body") == UINT64_MAX);
	assert_string_equal(shape_of(g, "y"), "2x3");
	graph_text_free(g);
}

/*
 * A counter that starts at 0 is not 0 in the second run: contents of the
 * first look must not survive.  What is handed on as it is stays known.
 */
static void
test_contents_of_carried_values(void **state)
{
	struct graph_text *g = graph_text(
		"const zero i64 - = 0\nconst one i64 - = 1\n"
		"const shape i64 2 = 4,5\nconst m i64 - = 3\n"
		"block body\nin i i64 -\nin go bool -\nin n i64 -\n"
		"in s i64 2\n"
		"stay = Identity go\nnext = Add n one\nsame = Identity s\n"
		"made = ConstantOfShape s\n"
		"out stay\nout next\nout same\nout made\nend\n"
		"count,kept,all = Loop m - zero shape body=@body\n"
		"z = ConstantOfShape kept\n"
		"out count\nout kept\nout all\nout z\n");

	(void)state;
	assert_null(known_of(g, "count"));
	assert_null(known_of(g, "next"));
	assert_string_equal(shape_of(g, "all"), "3x4x5");
	assert_string_equal(shape_of(g, "z"), "4x5");
	graph_text_free(g);
}

/* x[i:i+1] in run i is one row. */
static void
test_run_number_is_a_symbol(void **state)
{
	struct graph_text *g = graph_text(
		"in x f32 8,3\nconst m i64 - = 8\nconst one i64 - = 1\n"
		"const at i64 1 = 0\n"
		"block body\nin i i64 -\nin go bool -\n"
		"stay = Identity go\nj = Add i one\n"
		"from = Unsqueeze i at\nto = Unsqueeze j at\n"
		"row = Slice x from to at\nout stay\nout row\nend\n"
		"all = Loop m - body=@body\nout all\n");

	(void)state;
	assert_string_equal(shape_of(g, "all"), "8x1x3");
	graph_text_free(g);
}

static void
test_nested_loops_multiply(void **state)
{
	struct graph_text *g = graph_text(
		"in x f32 2,3\nconst m i64 - = 5\nconst k i64 - = 4\n"
		"block outer\nin i i64 -\nin go bool -\nin a f32 ?\n"
		"stay = Identity go\n"
		"block inner\nin i2 i64 -\nin go2 bool -\nin b f32 ?\n"
		"stay2 = Identity go2\nnext2 = Relu b\nout stay2\nout next2\n"
		"end\n"
		"next = Loop k - a body=@inner\n"
		"out stay\nout next\nend\n"
		"y = Loop m - x body=@outer\nout y\n");

	(void)state;
	assert_int_equal(calls_of(g, "outer"), 5);
	assert_int_equal(calls_of(g, "inner"), 20);
	assert_string_equal(shape_of(g, "y"), "2x3");
	graph_text_free(g);
}

static void
test_scan(void **state)
{
	struct graph_text *g = graph_text(
		"in h f32 2\nin x f32 7,2\nin t f32 5,7\n"
		"block body\nin h1 f32 ?\nin x1 f32 ?\nin t1 f32 ?\n"
		"h2 = Add h1 x1\no = Identity t1\nout h2\nout o\nend\n"
		"last,all = Scan h x t body=@body num_scan_inputs=2 "
		"scan_input_axes=[0,1] scan_output_axes=[1]\n"
		"out last\nout all\n");

	(void)state;
	assert_int_equal(calls_of(g, "body"), 7);
	assert_string_equal(shape_of(g, "x1"), "2");
	assert_string_equal(shape_of(g, "t1"), "5");
	assert_string_equal(shape_of(g, "last"), "2");
	assert_string_equal(shape_of(g, "all"), "5x7");
	graph_text_free(g);
}

/* The first version: lengths of sequences first, and a batch ahead. */
static void
test_scan_8(void **state)
{
	struct graph_text *g = graph_text(
		"opset 8\nin h f32 3,2\nin x f32 3,7,2\n"
		"block body\nin h1 f32 ?\nin x1 f32 ?\n"
		"h2 = Add h1 x1\no = Identity h2\nout h2\nout o\nend\n"
		"last,all = Scan - h x body=@body num_scan_inputs=1\n"
		"out last\nout all\n");

	(void)state;
	assert_int_equal(calls_of(g, "body"), 21);
	assert_string_equal(shape_of(g, "h1"), "2");
	assert_string_equal(shape_of(g, "x1"), "2");
	assert_string_equal(shape_of(g, "last"), "3x2");
	assert_string_equal(shape_of(g, "all"), "3x7x2");
	graph_text_free(g);
}

static void
check_refused(const char *text, const char *why)
{
	struct graph_text *g = graph_text_with(text, NULL);

	assert_int_equal(g->rc, SL_E_DATA);
	if (!strstr(g->err.text, why))
		fail_msg("'%s', expected '%s'", g->err.text, why);
	graph_text_free(g);
}

static void
test_bodies_that_do_not_fit_are_refused(void **state)
{
	(void)state;
	check_refused("in c bool -\nblock b\nx = Identity c\nout x\nend\n"
		      "y = If c then_branch=@b\nout y\n",
		      "node 'y' (If): it has no else_branch");
	check_refused("in c bool -\nblock b\nx = Identity c\nout x\nend\n"
		      "block d\nx2 = Identity c\nout x2\nend\n"
		      "y,z = If c then_branch=@b else_branch=@d\nout y\n",
		      "its then_branch gives 1 values, the node 2");
	check_refused("in m i64 -\nblock b\nin i i64 -\nx = Identity i\n"
		      "out x\nend\ny = Loop m - body=@b\nout y\n",
		      "its body takes 1 values, 2 are handed in");
	check_refused("in a f32 3,2\nin b f32 4,2\n"
		      "block s\nin x f32 ?\nin y f32 ?\nz = Add x y\nout z\n"
		      "end\no = Scan a b body=@s num_scan_inputs=2\nout o\n",
		      "inputs of 3 and 4 elements are scanned together");
	check_refused("in a f32 -\nblock s\nin x f32 ?\nz = Relu x\nout z\n"
		      "end\no = Scan a body=@s num_scan_inputs=1\nout o\n",
		      "axis 0 lies outside of 0 dimensions");
	check_refused("in a f32 3,2\nblock s\nin x f32 ?\nz = Relu x\nout z\n"
		      "end\no = Scan a body=@s num_scan_inputs=2\nout o\n",
		      "2 inputs to scan, of 1");
}

static void
test_every_allocation_may_fail(void **state)
{
	struct counting c = {0};
	struct sl_allocator allocator = counting_allocator(&c);
	int n_failed = 0;

	(void)state;
	for (c.fail_at = 1;; c.fail_at++) {
		struct graph_text *g;
		enum sl_status rc;

		c.n_requests = 0;
		g = graph_text_with(
			APPENDING "in m i64 -\nin c bool -\n"
				  "block no\nno_ = Identity start\nout no_\n"
				  "end\n"
				  "block yes\n"
				  "end_,all = Loop m - start body=@body\n"
				  "out end_\nend\n"
				  "y = If c then_branch=@yes else_branch=@no\n"
				  "out y\n",
			&allocator);
		rc = g->rc;
		graph_text_free(g);
		assert_int_equal(c.n_out, 0);
		if (c.n_requests < c.fail_at) {
			assert_int_equal(rc, SL_OK);
			break;
		}
		assert_int_equal(rc, SL_E_NOMEM);
		n_failed++;
	}
	assert_true(n_failed > 1);
}

/* What moves from value to value takes more turns to come around than there
 * are looks at a body: after the last one ranks are open. */
static void
test_ranks_that_come_around(void **state)
{
	struct graph_text *g = graph_text(
		"in x f32 2\nconst m i64 - = 10\nconst ax i64 1 = 0\n"
		"block body\nin i i64 -\nin go bool -\nin a f32 ?\n"
		"in b f32 ?\nin c f32 ?\nin d f32 ?\nin e f32 ?\n"
		"stay = Identity go\na1 = Identity b\nb1 = Identity c\n"
		"c1 = Identity d\nd1 = Identity e\ne1 = Unsqueeze e ax\n"
		"out stay\nout a1\nout b1\nout c1\nout d1\nout e1\nend\n"
		"oa,ob,oc,od,oe = Loop m - x x x x x body=@body\n"
		"out oa\nout oe\n");

	(void)state;
	assert_string_equal(shape_of(g, "oa"), "?");
	assert_string_equal(shape_of(g, "oe"), "?");
	graph_text_free(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_branch_is_taken),
		cmocka_unit_test(test_branch_that_cannot_run_is_not_taken),
		cmocka_unit_test(test_open_branches_are_merged),
		cmocka_unit_test(test_contents_pass_through_a_branch),
		cmocka_unit_test(test_loop_of_known_length),
		cmocka_unit_test(test_loop_of_unknown_length),
		cmocka_unit_test(test_loop_that_runs_once_or_never),
		cmocka_unit_test(test_loop_that_may_stop),
		cmocka_unit_test(test_ranks_that_come_around),
		cmocka_unit_test(test_contents_of_carried_values),
		cmocka_unit_test(test_run_number_is_a_symbol),
		cmocka_unit_test(test_nested_loops_multiply),
		cmocka_unit_test(test_scan),
		cmocka_unit_test(test_scan_8),
		cmocka_unit_test(test_bodies_that_do_not_fit_are_refused),
		cmocka_unit_test(test_every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

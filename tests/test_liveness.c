/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_liveness.c - the largest live set, worked out by hand for small graphs:
 * chains, branches that wait, views, outputs, bodies.  Every x is 1 KB.
 */
#include "surveyed.h"

static void
check(const char *text, uint64_t peak_bytes, uint64_t activation_bytes,
      const char *at)
{
	struct surveyed *s = survey(text);
	const struct sl__liveness *live = &s->liveness;

	assert_int_equal(live->peak_bytes, peak_bytes);
	assert_int_equal(live->activation_bytes, activation_bytes);
	assert_string_equal(
		s->text->graph->nodes[s->steps.rows[live->peak_step].node].name,
		at);
	surveyed_free(s);
}

static void
test_chain(void **state)
{
	(void)state;
	/* A node needs its input and its output. */
	check("in x f32 256\n"
	      "a = Relu x\n"
	      "b = Relu a\n"
	      "c = Relu b\n"
	      "out c\n",
	      2048, 3072, "a");
	/* a waits for the sum. */
	check("in x f32 256\n"
	      "a = Relu x\n"
	      "b = Relu a\n"
	      "c = Relu b\n"
	      "d = Add a c\n"
	      "out d\n",
	      3072, 4096, "c");
	/* An output stays to the end; an input that is never used lives only
	 * at the start. */
	check("in x f32 256\n"
	      "in idle f32 256\n"
	      "a = Relu x\n"
	      "b = Relu a\n"
	      "c = Relu b\n"
	      "d = Relu c\n"
	      "out a\n"
	      "out d\n",
	      3072, 4096, "a");
}

static void
test_views(void **state)
{
	(void)state;
	/* Reshape and Squeeze move nothing and keep what they view. */
	check("in x f32 256\n"
	      "const shape i64 2 = 16,16\n"
	      "const again i64 1 = 256\n"
	      "a = Relu x\n"
	      "v = Reshape a shape\n"
	      "w = Reshape v again\n"
	      "b = Relu w\n"
	      "out b\n",
	      2048, 2048, "a");
	/* A view of a parameter is no activation. */
	check("in x f32 256\n"
	      "const p f32 1,1 = 3\n"
	      "const one i64 1 = 1\n"
	      "v = Reshape p one\n"
	      "a = Mul x v\n"
	      "out a\n",
	      2048, 1024, "a");
}

/* A branch's values come on top of those that wait outside; the branch that
 * does not run is not counted. */
static void
test_branch(void **state)
{
	(void)state;
	check("in x f32 256\n"
	      "const c bool - = 1\n"
	      "w = Relu x\n"
	      "block yes\n"
	      "a = Relu w\n"
	      "b = Relu a\n"
	      "out b\n"
	      "end\n"
	      "block no\n"
	      "const n i64 1 = 4\n"
	      "d = Concat w w w w axis=0\n"
	      "e = Slice d n n\n"
	      "out e\n"
	      "end\n"
	      "y = If c then_branch=@yes else_branch=@no\n"
	      "z = Add y w\n"
	      "out z\n",
	      /* w, a and b while b runs; w, b (= y) and z at the end */
	      3072, 4096, "b");
}

/* What a loop uses from outside stays until it is left, although its body
 * uses it early. */
static void
test_loop(void **state)
{
	struct surveyed *s = survey("in x f32 256\n"
				    "const n i64 - = 3\n"
				    "const go bool - = 1\n"
				    "k = Relu x\n"
				    "block body\n"
				    "in i i64 -\n"
				    "in more bool -\n"
				    "in h f32 256\n"
				    "still = Identity more\n"
				    "a = Add h k\n"
				    "b = Relu a\n"
				    "c = Relu b\n"
				    "out still\n"
				    "out c\n"
				    "end\n"
				    "y = Loop n go x body=@body\n"
				    "out y\n");
	const struct sl__liveness *live = &s->liveness;
	uint32_t k = graph_text_value(s->text, "k");
	uint32_t h = graph_text_value(s->text, "h");
	uint32_t x = graph_text_value(s->text, "x");

	(void)state;
	assert_int_equal(live->storage[h], x);
	assert_int_equal(s->steps.rows[live->death[k]].kind,
			 SL__NODE_VISIT_LEAVE);
	/* k, x, a and b together, and the number of the turn. */
	assert_true(live->peak_bytes >= 4096);
	assert_true(live->peak_bytes <= 4096 + 16);
	surveyed_free(s);
}

/* A size that depends on data is said to be missing, not taken for 0. */
static void
test_unknown_sizes(void **state)
{
	struct surveyed *s = survey("in x f32 256\n"
				    "n = NonZero x\n"
				    "a = Relu x\n"
				    "out n\n"
				    "out a\n");

	(void)state;
	assert_int_equal(s->liveness.n_unknown, 1);
	assert_int_equal(s->liveness.peak_bytes, 2048);
	surveyed_free(s);
	s = survey("in x f32 256\n"
		   "a = Relu x\n"
		   "out a\n");
	assert_int_equal(s->liveness.n_unknown, 0);
	surveyed_free(s);
}

static void
check_once(const char *text, uint64_t n_bytes)
{
	struct surveyed *s = survey(text);
	uint64_t once;

	assert_int_equal(sl__compulsory_bytes(&once, &s->forward, &s->liveness,
					      &s->arena, NULL),
			 0);
	assert_int_equal(once, n_bytes);
	surveyed_free(s);
}

/* What must be moved: inputs, outputs and weights once, and of a table the
 * rows that are taken. */
static void
test_once(void **state)
{
	(void)state;
	/* a stays inside. */
	check_once("in x f32 256\n"
		   "a = Relu x\n"
		   "b = Relu a\n"
		   "out b\n",
		   1024 + 1024);
	/* A weight used twice is read once. */
	check_once("in x f32 1,2\n"
		   "const w f32 2,2 = 1,2,3,4\n"
		   "a = MatMul x w\n"
		   "b = MatMul a w\n"
		   "out b\n",
		   8 + 16 + 8);
	/* Two rows of three, and two indices. */
	check_once("in i i64 2\n"
		   "const t f32 3,2 = 1,2,3,4,5,6\n"
		   "r = Gather t i\n"
		   "out r\n",
		   16 + 16 + 16);
	/* A view moves nothing, nor does an input that nobody reads. */
	check_once("in x f32 256\n"
		   "in idle f32 256\n"
		   "const shape i64 2 = 16,16\n"
		   "v = Reshape x shape\n"
		   "out v\n",
		   0);
}

/* A loop of unknown length has results, which need room like others. */
static void
test_loop_of_unknown_length(void **state)
{
	struct surveyed *s = survey("in x f32 256\n"
				    "in n i64 -\n"
				    "const go bool - = 1\n"
				    "block body\n"
				    "in i i64 -\n"
				    "in more bool -\n"
				    "in h f32 256\n"
				    "still = Identity more\n"
				    "c = Relu h\n"
				    "out still\n"
				    "out c\n"
				    "end\n"
				    "y = Loop n go x body=@body\n"
				    "z = Relu y\n"
				    "out z\n");
	uint32_t y = graph_text_value(s->text, "y");

	(void)state;
	assert_int_equal(s->liveness.storage[y], y);
	assert_int_equal(s->liveness.n_bytes[y], 1024);
	assert_int_equal(s->liveness.peak_bytes, 2048 + 8);
	surveyed_free(s);
}

/* A sequence holds what was put into it: a and b wait for the end. */
static void
test_sequences_hold_their_elements(void **state)
{
	struct surveyed *s = survey("in x f32 256\n"
				    "a = Relu x\n"
				    "b = Neg x\n"
				    "s = SequenceConstruct a\n"
				    "t = SequenceInsert s b\n"
				    "c = Relu x\n"
				    "d = Relu c\n"
				    "out d\n"
				    "out t\n");
	const struct sl__liveness *live = &s->liveness;

	(void)state;
	assert_int_equal(live->death[graph_text_value(s->text, "a")],
			 s->steps.n - 1);
	assert_int_equal(live->death[graph_text_value(s->text, "b")],
			 s->steps.n - 1);
	surveyed_free(s);
}

/* A graph of nothing. */
static void
test_empty(void **state)
{
	struct surveyed *s = survey("in x f32 256\n"
				    "out x\n");

	(void)state;
	assert_int_equal(s->liveness.peak_bytes, 1024);
	assert_int_equal(s->liveness.activation_bytes, 0);
	surveyed_free(s);
}

/* The largest of running sums is found where it is reached first. */
static void
test_peak(void **state)
{
	const int64_t change[] = {5, -2, 4, 0, -7, 7};
	size_t at;

	(void)state;
	assert_int_equal(sl__running_sum_peak(change, 6, &at), 7);
	assert_int_equal(at, 2);
	assert_int_equal(sl__running_sum_peak(change, 0, &at), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_views),
		cmocka_unit_test(test_branch),
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_loop_of_unknown_length),
		cmocka_unit_test(test_sequences_hold_their_elements),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_peak),
		cmocka_unit_test(test_unknown_sizes),
		cmocka_unit_test(test_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

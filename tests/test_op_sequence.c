/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that lists of tensors keep what their elements share and how many
 * they are, through splitting, joining, loops and maps, and that optionals
 * know whether they hold something.
 */
#include "graph_text.h"

static int64_t
number(struct graph_text *g, const char *name)
{
	const struct sl__known_contents *known =
		g->shapes->known[graph_text_value(g, name)];

	assert_non_null(known);
	assert_int_equal(known->n, 1);
	return known->ints[0];
}

static const char *
element_of(struct graph_text *g, const char *name)
{
	const struct sl__type *type =
		&g->shapes->types[graph_text_value(g, name)];

	assert_int_equal(type->kind, SL__TYPE_SEQUENCE);
	assert_non_null(type->element);
	return sl__type_text(g->shapes, type->element);
}

static void
test_construction_and_access(void **state)
{
	struct graph_text *g =
		graph_text("in a f32 2,3\nin b f32 4,3\nconst i i64 - = 0\n"
			   "s = SequenceConstruct a b\nx = SequenceAt s i\n"
			   "n = SequenceLength s\n"
			   "t = SequenceInsert s a\nn2 = SequenceLength t\n"
			   "u = SequenceErase t i\nn3 = SequenceLength u\n"
			   "e = SequenceEmpty\nf = SequenceInsert e b\n"
			   "y = SequenceAt f i\nz = SequenceAt e i\n"
			   "out x\nout n\nout n2\nout n3\nout y\nout z\n");

	(void)state;
	assert_string_equal(element_of(g, "s"), "?x3");
	assert_string_equal(shape_of(g, "x"), "?x3");
	assert_int_equal(number(g, "n"), 2);
	assert_int_equal(number(g, "n2"), 3);
	assert_int_equal(number(g, "n3"), 2);
	assert_string_equal(shape_of(g, "y"), "4x3");
	assert_string_equal(shape_of(g, "z"), "?");
	graph_text_free(g);
}

static void
test_split_and_join(void **state)
{
	struct graph_text *g = graph_text(
		"in x f32 6,4\nconst two i64 - = 2\nconst four i64 - = 4\n"
		"const parts i64 2 = 1,5\n"
		"a = SplitToSequence x two\njoin = ConcatFromSequence a "
		"axis=0\n"
		"stack = ConcatFromSequence a axis=0 new_axis=1\n"
		"b = SplitToSequence x four\nc = SplitToSequence x parts\n"
		"d = SplitToSequence x keepdims=0 axis=1\n"
		"e = SplitToSequence x axis=1\n"
		"out join\nout stack\nout b\nout c\nout d\nout e\n");

	(void)state;
	assert_string_equal(element_of(g, "a"), "2x4");
	assert_string_equal(shape_of(g, "join"), "6x4");
	assert_string_equal(shape_of(g, "stack"), "3x2x4");
	assert_string_equal(element_of(g, "b"), "?x4"); /* 4 and 2 */
	assert_int_equal(number(g, "b"), 2);
	assert_string_equal(element_of(g, "c"), "?x4");
	assert_string_equal(element_of(g, "d"), "6");
	assert_int_equal(number(g, "d"), 4);
	assert_string_equal(element_of(g, "e"), "6x1");
	/* Everything is copied once, and back. */
	assert_int_equal(g->costs.per_call[maker_of(g, "a")].written_bytes, 96);
	assert_int_equal(g->costs.per_call[maker_of(g, "join")].read_bytes, 96);
	assert_int_equal(g->costs.per_call[maker_of(g, "join")].work,
			 SL_WORK_MOVEMENT);
	graph_text_free(g);
}

/* A list that a loop fills starts without elements, not with unknown ones. */
static void
test_list_that_a_loop_fills(void **state)
{
	struct graph_text *g = graph_text(
		"in x f32 2,3\nconst m i64 - = 4\ne = SequenceEmpty\n"
		"block body\nin i i64 -\nin go bool -\nin s f32 ?\n"
		"stay = Identity go\nt = SequenceInsert s x\nout stay\nout t\n"
		"end\n"
		"y = Loop m - e body=@body\nz = ConcatFromSequence y axis=0\n"
		"out z\n");

	(void)state;
	assert_string_equal(element_of(g, "y"), "2x3");
	assert_string_equal(shape_of(g, "z"), "?x3");
	graph_text_free(g);
}

static void
test_map_runs_for_each_element(void **state)
{
	struct graph_text *g = graph_text(
		"opset 17\nin a f32 2,3\nin b f32 2,3\nin w f32 3,5\n"
		"s = SequenceConstruct a b\n"
		"block body\nin p f32 ?\nin q f32 ?\nr = MatMul p q\nout r\n"
		"end\n"
		"t = SequenceMap s w body=@body\nn = SequenceLength t\n"
		"out n\n");

	(void)state;
	assert_string_equal(element_of(g, "t"), "2x5");
	assert_int_equal(number(g, "n"), 2);
	assert_int_equal(g->costs.n_calls[maker_of(g, "r")], 2);
	graph_text_free(g);
}

static void
test_optionals(void **state)
{
	struct graph_text *g = graph_text(
		"opset 18\nin x f32 2,3\no = Optional x\nn = Optional\n"
		"x2 = OptionalGetElement o\nx3 = OptionalGetElement x\n"
		"has = OptionalHasElement o\nhasnt = OptionalHasElement n\n"
		"is = OptionalHasElement x\n"
		"out x2\nout x3\nout has\nout hasnt\nout is\n");

	(void)state;
	assert_string_equal(shape_of(g, "x2"), "2x3");
	assert_string_equal(shape_of(g, "x3"), "2x3");
	assert_int_equal(number(g, "has"), 1);
	assert_int_equal(number(g, "hasnt"), 0);
	assert_int_equal(number(g, "is"), 1);
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
test_nonsense_is_refused(void **state)
{
	(void)state;
	check_refused("in x f32 2,3\ns = SplitToSequence x axis=2\nout s\n",
		      "axis 2 lies outside of 2 dimensions");
	check_refused("in x f32 2,3\ns = SequenceConstruct x\n"
		      "y = ConcatFromSequence s axis=2\nout y\n",
		      "axis 2 lies outside of 2 dimensions");
	check_refused("opset 17\nin x f32 2,3\ns = SequenceConstruct x\n"
		      "t = SequenceMap s\nout t\n",
		      "it has no body");
}

/* Types are followed by recursion: a file cannot make it deep. */
static void
test_containers_of_containers(void **state)
{
	char text[8192];
	size_t n = 0;

	(void)state;
	n += (size_t)snprintf(text, sizeof(text), "in s0 f32 2\n");
	for (int i = 0; i < 70; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "s%d = SequenceConstruct s%d s%d\n",
				      i + 1, i, i);
	snprintf(text + n, sizeof(text) - n, "out s70\n");
	check_refused(text, "more than 64 sequences");
}

static void
test_what_moves_is_not_known(void **state)
{
	struct graph_text *g =
		graph_text("in x f32 2,3\nconst k i64 - = 0\n"
			   "s = SequenceConstruct x x\nn = SequenceLength s\n"
			   "y = SequenceAt s k\nout y\nout n\n");

	(void)state;
	assert_int_equal(g->costs.basis[maker_of(g, "s")], SL_BASIS_UNKNOWN);
	assert_int_equal(g->costs.per_call[maker_of(g, "s")].work,
			 SL_WORK_VIEW);
	assert_int_equal(g->costs.per_call[maker_of(g, "s")].read_bytes, 0);
	assert_int_equal(g->costs.per_call[maker_of(g, "s")].written_bytes, 0);
	assert_string_equal(g->costs.why[maker_of(g, "y")],
			    "the contents of a sequence are not followed");
	assert_int_equal(g->costs.basis[maker_of(g, "n")], SL_BASIS_COUNTED);
	graph_text_free(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_construction_and_access),
		cmocka_unit_test(test_split_and_join),
		cmocka_unit_test(test_list_that_a_loop_fills),
		cmocka_unit_test(test_map_runs_for_each_element),
		cmocka_unit_test(test_optionals),
		cmocka_unit_test(test_nonsense_is_refused),
		cmocka_unit_test(test_containers_of_containers),
		cmocka_unit_test(test_what_moves_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

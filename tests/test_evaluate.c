/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_evaluate.c - proves that values go after their last use and not
 * before, that bound outputs are written where they should be or refused,
 * that failures name their node, that shapes are as before after every node,
 * and that failing allocations leak nothing.
 */
#include "graph_run.h"

static const char chain[] = "const x f32 2 = 1,-2\n"
			    "a = Relu x\n"
			    "b = Neg a\n"
			    "c = Add a b\n"
			    "d = Exp c\n"
			    "out d\n";

static enum sl__type_kind
kind_of(struct course *c, const char *name)
{
	return c->ev->values[graph_text_value(c->g, name)].kind;
}

static void
step(struct course *c, const char *name)
{
	if (sl__evaluate_node(c->ev, maker_of(c->g, name), &c->err))
		fail_msg("%s", c->err.text);
}

static void
values_go_after_their_last_use(void **state)
{
	struct course c;

	(void)state;
	course_start(&c, chain, NULL);
	step(&c, "a");
	step(&c, "b");
	assert_int_equal(kind_of(&c, "a"), SL__TYPE_TENSOR);
	step(&c, "c");
	assert_int_equal(kind_of(&c, "a"), SL__TYPE_UNKNOWN);
	assert_int_equal(kind_of(&c, "b"), SL__TYPE_UNKNOWN);
	check_value(&c, "c", "[2]={0,0}");
	step(&c, "d");
	assert_int_equal(kind_of(&c, "c"), SL__TYPE_UNKNOWN);
	check_value(&c, "d", "[2]={1,1}");
	check_value(&c, "x", "[2]={1,-2}"); /* parameters stay */
	sl__evaluator_clear_values(c.ev);
	assert_int_equal(kind_of(&c, "d"), SL__TYPE_UNKNOWN);
	assert_int_equal(kind_of(&c, "x"), SL__TYPE_TENSOR);
	course_finish(&c);
}

static void
all_are_kept_on_request(void **state)
{
	struct course c;

	(void)state;
	course_start(&c, chain, NULL);
	c.ev->keeps_all = 1;
	assert_int_equal(sl__evaluate_block(c.ev, 0, &c.err), SL_OK);
	check_value(&c, "a", "[2]={1,0}");
	check_value(&c, "b", "[2]={-1,-0}");
	check_value(&c, "c", "[2]={0,0}");
	sl__evaluator_clear_values(c.ev);
	assert_int_equal(kind_of(&c, "a"), SL__TYPE_UNKNOWN);
	course_finish(&c);
}

/* The order in which nodes run is what counts, not that of the file. */
static void
the_last_use_is_by_order(void **state)
{
	struct course c;

	(void)state;
	course_run(&c, "const x f32 2 = 1,-2\n"
		       "d = Add a b\n"
		       "b = Neg a\n"
		       "a = Relu x\n"
		       "out d\n");
	check_value(&c, "d", "[2]={0,0}");
	course_finish(&c);
}

static struct sl__tensor
floats(const float *x, const int64_t *dims, size_t rank)
{
	struct sl__tensor t = {.dtype = SL_DTYPE_F32,
			       .rank = rank,
			       .dims = dims,
			       .bytes = (const unsigned char *)x};

	assert_true(sl__tensor_compute_size(&t));
	return t;
}

static const char product[] = "in x f32 n\n"
			      "in w f32 n\n"
			      "a = Mul x w\n"
			      "y = Relu a\n"
			      "out y\n";

static void
lend(struct course *c, const char *name, const struct sl__tensor *t)
{
	sl__evaluator_set_tensor(c->ev, graph_text_value(c->g, name), t);
}

/* Sizes are those of what is lent, each time anew. */
static void
sizes_are_found_each_time(void **state)
{
	const float x[] = {1, -2, 3}, w[] = {2, 2, 2};
	struct course c;

	(void)state;
	course_start(&c, product, NULL);
	for (int64_t n = 3; n >= 1; n--) {
		struct sl__tensor tx = floats(x, &n, 1), tw = floats(w, &n, 1);

		lend(&c, "x", &tx);
		lend(&c, "w", &tw);
		assert_int_equal(sl__evaluate_block(c.ev, 0, &c.err), SL_OK);
		check_value(&c, "y",
			    n == 3   ? "[3]={2,0,6}"
			    : n == 2 ? "[2]={2,0}"
				     : "[1]={2}");
		sl__evaluator_clear_values(c.ev);
	}
	course_finish(&c);
}

static void
bound_outputs_are_written_where_they_lie(void **state)
{
	const float x[] = {1, -2, 3}, w[] = {2, 2, 2};
	const int64_t three = 3;
	struct sl__tensor tx = floats(x, &three, 1), tw = floats(w, &three, 1);
	float place[4] = {7, 7, 7, 7};
	struct sl__runtime_value storage = {.kind = SL__TYPE_TENSOR,
					    .tensor = floats(place, &three, 1),
					    .bytes = (unsigned char *)place};
	struct course c;

	(void)state;
	course_start(&c, product, NULL);
	for (int round = 0; round < 3; round++) {
		lend(&c, "x", &tx);
		lend(&c, "w", &tw);
		memset(place, 0x7f, sizeof(place));
		sl__evaluator_bind_storage(c.ev, graph_text_value(c.g, "y"),
					   &storage);
		assert_int_equal(sl__evaluate_block(c.ev, 0, &c.err), SL_OK);
		assert_true(place[0] == 2 && place[1] == 0 && place[2] == 6);
		/* It is the caller's: forgetting leaves it. */
		sl__evaluator_clear_values(c.ev);
		check_value(&c, "y", "[3]={2,0,6}");
	}
	course_finish(&c);
}

/* Room for two is no room for three. */
static void
bound_outputs_of_other_sizes_are_refused(void **state)
{
	const float x[] = {1, -2, 3}, w[] = {2, 2, 2};
	const int64_t two = 2, three = 3;
	struct sl__tensor tx = floats(x, &three, 1), tw = floats(w, &three, 1);
	float place[3] = {7, 7, 7};
	struct sl__runtime_value storage = {.kind = SL__TYPE_TENSOR,
					    .tensor = floats(place, &two, 1),
					    .bytes = (unsigned char *)place};
	struct course c;

	(void)state;
	course_start(&c, product, NULL);
	lend(&c, "x", &tx);
	lend(&c, "w", &tw);
	sl__evaluator_bind_storage(c.ev, graph_text_value(c.g, "y"), &storage);
	assert_int_equal(sl__evaluate_block(c.ev, 0, &c.err), SL_E_DATA);
	assert_non_null(strstr(c.err.text, "node 'y'"));
	assert_true(place[0] == 7 && place[1] == 7 && place[2] == 7);
	course_finish(&c);
}

/* What is bound belongs to somebody else, items of sequences too. */
static void
bound_sequences_are_not_released(void **state)
{
	struct counting n = {0};
	struct sl_allocator allocator = counting_allocator(&n);
	const int64_t two = 2;
	struct sl__runtime_value list = {0};
	struct course c;

	(void)state;
	assert_int_equal(sl__runtime_value_alloc_list(&list, SL__TYPE_SEQUENCE,
						      SL_DTYPE_F32, 1, NULL,
						      NULL),
			 SL_OK);
	assert_int_equal(sl__runtime_value_alloc_tensor(&list.items[0],
							SL_DTYPE_F32, 1, &two,
							NULL, NULL),
			 SL_OK);
	memset(list.items[0].bytes, 0, 8);
	course_start(&c,
		     "in s f32 ?\n"
		     "const at i64 - = 0\n"
		     "y = SequenceAt s at\n"
		     "out y\n",
		     &allocator);
	for (int round = 0; round < 3; round++) {
		sl__evaluator_bind_storage(c.ev, graph_text_value(c.g, "s"),
					   &list);
		if (sl__evaluate_block(c.ev, 0, &c.err))
			fail_msg("%s", c.err.text);
		check_value(&c, "y", "[2]={0,0}");
		sl__evaluator_clear_values(c.ev);
	}
	course_finish(&c);
	assert_int_equal(n.n_out, 0);
	assert_int_equal(list.items[0].tensor.n_elements, 2);
	sl__runtime_value_clear(&list, NULL);
}

static void
check_failure(const char *text, enum sl_status expected, const char *said)
{
	struct course c;

	course_start(&c, text, NULL);
	assert_int_equal(sl__evaluate_block(c.ev, 0, &c.err), expected);
	if (!strstr(c.err.text, said))
		fail_msg("'%s' does not say '%s'", c.err.text, said);
	course_finish(&c);
}

static void
failures_name_the_node(void **state)
{
	(void)state;
	check_failure("in x f32 2\n"
		      "y = Relu x\n"
		      "out y\n",
		      SL_E_DATA, "node 'y' (Relu): value 'x' holds nothing");
	check_failure("const x f32 2 = 1,2\n"
		      "const i i64 1 = 5\n"
		      "y = Gather x i\n"
		      "out y\n",
		      SL_E_DATA, "node 'y' (Gather)");
	check_failure("const x f32 2 = 1,2\n"
		      "const w f32 3 = 1,2,3\n"
		      "y = Add x w\n"
		      "out y\n",
		      SL_E_DATA, "node 'y' (Add)");
	check_failure("const x f32 2 = 1,2\n"
		      "h = FluxCapacitor x\n"
		      "out h\n",
		      SL_E_ABSENT, "FluxCapacitor");
	/* Inside a body: both are named. */
	check_failure("const yes bool - = 1\n"
		      "const x f32 2 = 1,2\n"
		      "const i i64 1 = 5\n"
		      "block then\n"
		      "t = Gather x i\n"
		      "out t\n"
		      "end\n"
		      "block else\n"
		      "out x\n"
		      "end\n"
		      "y = If yes then_branch=@then else_branch=@else\n"
		      "out y\n",
		      SL_E_DATA, "node 't' (Gather)");
}

static void
failing_memory_leaks_nothing(void **state)
{
	static const char text[] =
		"const x f32 2,2 = 1,2,3,4\n"
		"const yes bool - = 1\n"
		"a = MatMul x x\n"
		"m,i = TopK a k\n"
		"const k i64 1 = 1\n"
		"s = SequenceConstruct a m\n"
		"block then\n"
		"t = Relu a\n"
		"out t\n"
		"end\n"
		"block else\n"
		"out a\n"
		"end\n"
		"y = If yes then_branch=@then else_branch=@else\n"
		"out y\n"
		"out s\n";

	(void)state;
	for (int fail_at = 1;; fail_at++) {
		struct counting n = {.fail_at = fail_at};
		struct sl_allocator allocator = counting_allocator(&n);
		struct course c;

		course_start(&c, text, &allocator);
		if (!c.rc)
			c.rc = sl__evaluate_block(c.ev, 0, &c.err);
		if (!c.rc)
			check_value(&c, "y", "[2,2]={7,10,15,22}");
		sl__evaluator_free(c.ev);
		graph_text_free(c.g);
		assert_int_equal(n.n_out, 0);
		if (n.n_requests < fail_at) {
			assert_int_equal(c.rc, SL_OK);
			break;
		}
		assert_true(c.rc == SL_E_NOMEM || c.rc == SL_OK);
	}
}

/* So many values that each of its lists is a request of its own: the evaluator
 * that could make some of them only is freed. */
static void
failing_memory_while_it_is_made(void **state)
{
	struct graph_text *g;
	char text[8192];
	size_t n = 0;

	(void)state;
	n += (size_t)snprintf(text, sizeof(text), "in v0 f32 2\n");
	for (int i = 0; i < 300; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "v%d = Relu v%d\n", i + 1, i);
	snprintf(text + n, sizeof(text) - n, "out v300\n");
	g = graph_text(text);
	for (int fail_at = 1;; fail_at++) {
		struct counting c = {.fail_at = fail_at};
		struct sl_allocator allocator = counting_allocator(&c);
		struct sl__evaluator *ev;
		enum sl_status rc =
			sl__evaluator_new(&ev, g->graph, &allocator, NULL);

		assert_int_equal(rc,
				 c.n_requests < fail_at ? SL_OK : SL_E_NOMEM);
		sl__evaluator_free(ev);
		assert_int_equal(c.n_out, 0);
		if (!rc) {
			assert_true(fail_at > 5);
			break;
		}
	}
	graph_text_free(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_go_after_their_last_use),
		cmocka_unit_test(all_are_kept_on_request),
		cmocka_unit_test(the_last_use_is_by_order),
		cmocka_unit_test(sizes_are_found_each_time),
		cmocka_unit_test(bound_outputs_are_written_where_they_lie),
		cmocka_unit_test(bound_outputs_of_other_sizes_are_refused),
		cmocka_unit_test(bound_sequences_are_not_released),
		cmocka_unit_test(failures_name_the_node),
		cmocka_unit_test(failing_memory_leaks_nothing),
		cmocka_unit_test(failing_memory_while_it_is_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Freezing a graph: nodes out of order are sorted, cycles, undefined values,
 * second producers and wrong arities are refused by name, captures of a body
 * wait for their producer, and states are found.
 */
#include "graph/graph_construction.h"
#include "counting.h"
#include "harness.h"
#include "graph/op_rules.h"

static uint32_t
value(struct sl_graph *g, const char *name, uint32_t block)
{
	uint32_t id;

	assert_int_equal(sl__graph_add_value(g, &id, name, block, NULL), 0);
	return id;
}

static uint32_t
input(struct sl_graph *g, const char *name)
{
	uint32_t id = value(g, name, 0);

	g->values[id].kind = SL_VALUE_INPUT;
	return id;
}

static enum sl_status
try_node(struct sl_graph *g, const char *type, const uint32_t *inputs,
	 uint32_t n_inputs, uint32_t output, struct sl_error *err)
{
	struct sl__node node = {.name = type,
				.domain = "",
				.type = type,
				.n_inputs = n_inputs,
				.inputs = inputs,
				.n_outputs = 1,
				.outputs = &output};
	uint32_t id;

	return sl__graph_add_node(g, &id, &node, err);
}

static void
node(struct sl_graph *g, const char *type, uint32_t a, uint32_t b,
     uint32_t output)
{
	const uint32_t inputs[] = {a, b};

	assert_int_equal(
		try_node(g, type, inputs, b == SL__NONE ? 1 : 2, output, NULL),
		0);
}

static struct sl_graph *
new_graph(void)
{
	struct sl_graph *g;

	assert_int_equal(sl__graph_new(&g, NULL, NULL), 0);
	return g;
}

static void
check_frozen(struct sl_graph *g, const char *message)
{
	struct sl_error err = {0};
	enum sl_status rc = sl__graph_freeze(g, &err);

	if (!message) {
		assert_string_equal(err.text, "");
		assert_int_equal(rc, SL_OK);
	} else {
		assert_int_equal(rc, SL_E_DATA);
		if (!strstr(err.text, message))
			fail_msg("'%s' does not say '%s'", err.text, message);
		sl_graph_free(g);
	}
}

static void
test_sorts_nodes(void **state)
{
	struct sl_graph *g = new_graph();
	uint32_t x = input(g, "x"), a = value(g, "a", 0), b = value(g, "b", 0),
		 c = value(g, "c", 0);

	(void)state;
	node(g, "Relu", b, SL__NONE, c);
	node(g, "Abs", a, SL__NONE, b);
	node(g, "Exp", x, SL__NONE, a);
	check_frozen(g, NULL);
	assert_int_equal(g->blocks[0].nodes[0], 2);
	assert_int_equal(g->blocks[0].nodes[1], 1);
	assert_int_equal(g->blocks[0].nodes[2], 0);
	sl_graph_free(g);
}

/* An order that works is left alone, whatever else would work too. */
static void
test_keeps_a_good_order(void **state)
{
	struct sl_graph *g = new_graph();
	uint32_t x = input(g, "x"), a = value(g, "a", 0), b = value(g, "b", 0),
		 c = value(g, "c", 0);

	(void)state;
	node(g, "Relu", x, SL__NONE, a);
	node(g, "Abs", a, SL__NONE, b);
	node(g, "Exp", x, SL__NONE, c);
	check_frozen(g, NULL);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(g->blocks[0].nodes[i], i);
	sl_graph_free(g);
}

static void
test_refuses_cycles(void **state)
{
	struct sl_graph *g = new_graph();
	uint32_t a = value(g, "a", 0), b = value(g, "b", 0);

	(void)state;
	node(g, "Relu", a, SL__NONE, b);
	node(g, "Abs", b, SL__NONE, a);
	check_frozen(g, "node 'Relu' (Relu): uses its own result");
	g = new_graph();
	a = value(g, "a", 0);
	node(g, "Exp", a, SL__NONE, a);
	check_frozen(g, "node 'Exp'");
}

static void
test_refuses_what_nothing_makes(void **state)
{
	struct sl_graph *g = new_graph();
	uint32_t a = value(g, "ghost", 0), b = value(g, "b", 0);

	(void)state;
	node(g, "Relu", a, SL__NONE, b);
	check_frozen(g, "nothing makes its input 'ghost'");
	g = new_graph();
	a = value(g, "ghost", 0);
	assert_int_equal(sl__graph_set_outputs(g, 0, &a, 1, NULL), 0);
	check_frozen(g, "nothing makes the output 'ghost'");
}

static void
test_refuses_arity_and_second_producers(void **state)
{
	struct sl_graph *g = new_graph();
	uint32_t x = input(g, "x"), b = value(g, "b", 0);
	struct sl_error err;

	(void)state;
	node(g, "Relu", x, x, b);
	assert_int_equal(try_node(g, "Abs", &x, 1, b, &err), SL_E_DATA);
	assert_non_null(strstr(err.text, "'b' is defined elsewhere too"));
	assert_int_equal(try_node(g, "Abs", &b, 1, x, &err), SL_E_DATA);
	check_frozen(g, "has 2 inputs, Relu takes 1");
}

/* What is required is there, or the node is refused: outputs without a name
 * get a value, lists of any length have no holes.  Optional outputs that are
 * left out at the end do not count. */
static void
test_completes_or_refuses(void **state)
{
	static const struct {
		const char *domain, *type;
		uint32_t n_inputs, hole, n_outputs, n_left;
		const char *message;
	} cases[] = {
		{"", "Relu", 1, 9, 1, 1, NULL},
		{"", "Relu", 1, 9, 3, 1, NULL},
		{"", "TopK", 2, 9, 2, 2, NULL},
		{"", "TopK", 2, 9, 1, 0,
		 "has 0 outputs, TopK gives at least 2"},
		{"", "Concat", 3, 1, 1, 0, "its input 1 is left out"},
		{"", "Concat", 3, 2, 1, 0, "its input 2 is left out"},
		{"", "Clip", 3, 1, 1, 1, NULL},
		{"com.microsoft", "QLinearAdd", 8, 2, 1, 1, NULL},
		{"com.microsoft", "QLinearAdd", 8, 1, 1, 0,
		 "its input 1 is left out"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_graph *g = new_graph();
		uint32_t x = input(g, "x"), inputs[8], id;
		const uint32_t outputs[] = {SL__NONE, SL__NONE, SL__NONE};
		struct sl__node node = {.name = "n",
					.domain = cases[i].domain,
					.type = cases[i].type,
					.n_inputs = cases[i].n_inputs,
					.inputs = inputs,
					.n_outputs = cases[i].n_outputs,
					.outputs = outputs};

		for (uint32_t k = 0; k < 8; k++)
			inputs[k] = k == cases[i].hole ? SL__NONE : x;
		assert_int_equal(sl__graph_add_node(g, &id, &node, NULL), 0);
		check_frozen(g, cases[i].message);
		if (cases[i].message)
			continue;
		assert_int_equal(g->nodes[0].n_outputs, cases[i].n_left);
		for (uint32_t k = 0; k < cases[i].n_left; k++)
			assert_int_equal(
				g->values[g->nodes[0].outputs[k]].producer, 0);
		sl_graph_free(g);
	}
}

/* The body of an If uses a value that is made later in the file. */
static void
test_bodies_wait_for_captures(void **state)
{
	struct sl_graph *g = new_graph();
	uint32_t c = input(g, "c"), late = value(g, "late", 0),
		 out = value(g, "out", 0), body, in_body, id;
	struct sl__attribute branches[2] = {
		{.name = "then_branch", .kind = SL__ATTRIBUTE_BLOCK},
		{.name = "else_branch", .kind = SL__ATTRIBUTE_BLOCK}};
	struct sl__node choice = {.name = "choice",
				  .domain = "",
				  .type = "If",
				  .n_inputs = 1,
				  .inputs = &c,
				  .n_outputs = 1,
				  .outputs = &out,
				  .n_attributes = 2,
				  .attributes = branches};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct sl__node inner = {.name = "inner",
					 .domain = "",
					 .type = "Relu",
					 .n_inputs = 1,
					 .inputs = &late,
					 .n_outputs = 1,
					 .outputs = &in_body};

		assert_int_equal(sl__graph_add_block(g, &body, "b", NULL), 0);
		in_body = value(g, "y", body);
		inner.block = body;
		assert_int_equal(sl__graph_add_node(g, &id, &inner, NULL), 0);
		assert_int_equal(
			sl__graph_set_outputs(g, body, &in_body, 1, NULL), 0);
		branches[i].block = body;
	}
	assert_int_equal(sl__graph_add_node(g, &id, &choice, NULL), 0);
	node(g, "Neg", c, SL__NONE, late);
	check_frozen(g, NULL);
	assert_string_equal(g->nodes[g->blocks[0].nodes[0]].type, "Neg");
	assert_string_equal(g->nodes[g->blocks[0].nodes[1]].type, "If");
	sl_graph_free(g);
}

static void
test_finds_states(void **state)
{
	static const struct {
		const char *in, *out;
		int is_state;
	} pairs[] = {{"past_3", "present_3", 1},
		     {"past_key_values.0.key", "present.0.key", 1},
		     {"state", "stateN", 1},
		     {"h", "new_h", 1},
		     {"h0", "hn", 1},
		     {"c0", "cn", 1},
		     {"h0", "cn", 0},
		     {"h_in", "h_out", 0},
		     {"x", "y", 0},
		     {"past_3", "present_4", 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct sl_graph *g = new_graph();
		uint32_t in = input(g, pairs[i].in),
			 out = value(g, pairs[i].out, 0);

		node(g, "Relu", in, SL__NONE, out);
		assert_int_equal(sl__graph_set_inputs(g, 0, &in, 1, NULL), 0);
		assert_int_equal(sl__graph_set_outputs(g, 0, &out, 1, NULL), 0);
		check_frozen(g, NULL);
		assert_int_equal(g->values[in].kind == SL_VALUE_STATE,
				 pairs[i].is_state);
		assert_int_equal(g->values[out].old_state == in,
				 pairs[i].is_state);
		sl_graph_free(g);
	}
}

/* A state keeps its sizes, or one of them grows. */
static void
test_states_keep_their_sizes(void **state)
{
	static const int64_t old[] = {1, 3, 4}, same[] = {1, 3, 4},
			     longer[] = {1, 5, 4}, shorter[] = {1, 2, 4},
			     other[] = {2, 3, 5};
	static const struct {
		const int64_t *dims;
		int is_state;
	} rows[] = {{same, 1}, {longer, 1}, {shorter, 0}, {other, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_graph *g = new_graph();
		uint32_t in = input(g, "past_0"),
			 out = value(g, "present_0", 0);

		g->values[in].declared = (struct sl__type){
			SL__TYPE_TENSOR, SL_DTYPE_F32, 3, old, NULL};
		g->values[out].declared = (struct sl__type){
			SL__TYPE_TENSOR, SL_DTYPE_F32, 3, rows[i].dims, NULL};
		node(g, "Relu", in, SL__NONE, out);
		assert_int_equal(sl__graph_set_inputs(g, 0, &in, 1, NULL), 0);
		assert_int_equal(sl__graph_set_outputs(g, 0, &out, 1, NULL), 0);
		check_frozen(g, NULL);
		assert_int_equal(g->values[in].kind == SL_VALUE_STATE,
				 rows[i].is_state);
		sl_graph_free(g);
	}
}

/* A chain of n nodes; used to fail every allocation once. */
static enum sl_status
build_chain(const struct sl_allocator *allocator, int n)
{
	struct sl_graph *g;
	uint32_t from, to;
	enum sl_status rc = sl__graph_new(&g, allocator, NULL);

	if (rc)
		return rc;
	rc = sl__graph_add_value(g, &from, "x", 0, NULL);
	if (!rc)
		g->values[from].kind = SL_VALUE_INPUT;
	for (int i = 0; !rc && i < n; i++) {
		rc = sl__graph_add_value(g, &to, "v", 0, NULL);
		if (!rc)
			rc = try_node(g, "Relu", &from, 1, to, NULL);
		from = to;
	}
	if (!rc)
		rc = sl__graph_freeze(g, NULL);
	sl_graph_free(g);
	return rc;
}

static void
test_survives_every_failed_allocation(void **state)
{
	enum sl_status rc = SL_E_NOMEM;

	(void)state;
	for (int i = 1; rc; i++) {
		struct counting c = {.fail_at = i};
		struct sl_allocator allocator = counting_allocator(&c);

		rc = build_chain(&allocator, 50);
		assert_true(c.n_requests > 0);
		assert_int_equal(rc, c.n_requests < i ? SL_OK : SL_E_NOMEM);
		assert_int_equal(c.n_out, 0);
		assert_true(i < 10000);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorts_nodes),
		cmocka_unit_test(test_keeps_a_good_order),
		cmocka_unit_test(test_refuses_cycles),
		cmocka_unit_test(test_refuses_what_nothing_makes),
		cmocka_unit_test(test_refuses_arity_and_second_producers),
		cmocka_unit_test(test_completes_or_refuses),
		cmocka_unit_test(test_bodies_wait_for_captures),
		cmocka_unit_test(test_finds_states),
		cmocka_unit_test(test_states_keep_their_sizes),
		cmocka_unit_test(test_survives_every_failed_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

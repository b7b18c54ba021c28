/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_planner_by_hand.c - what a planner remembers of values in the middle of
 * a graph, how constants reach what packs them, and what it does after a
 * failure.
 */
#include "planned_graph.h"
#include "engine/constants.h"
#include "engine/planner.h"

enum { N_VALUES = 8 };

/* A planner in the middle of a graph, all of whose values are two floats. */
struct by_hand {
	struct graph_text *g;
	struct sl__program program;
	struct sl__shapes shapes;
	struct sl__type types[N_VALUES];
	struct sl__planned_value held[N_VALUES];
	struct sl__planner pl;
};

static void
by_hand_start(struct by_hand *h, const char *text)
{
	static const int64_t two[] = {2};

	memset(h, 0, sizeof(*h));
	h->g = graph_text_with(text, NULL);
	assert_true(h->g->graph->n_values <= N_VALUES);
	for (int i = 0; i < N_VALUES; i++)
		h->types[i] = (struct sl__type){.kind = SL__TYPE_TENSOR,
						.dtype = SL_DTYPE_F32,
						.rank = 1,
						.dims = two};
	sl__arena_init(&h->program.arena, NULL);
	h->shapes.types = h->types;
	h->pl.program = &h->program;
	h->pl.graph = h->g->graph;
	h->pl.shapes = &h->shapes;
	h->pl.held = h->held;
	for (size_t k = 0; k < h->g->graph->blocks[0].n_outputs; k++)
		h->held[h->g->graph->blocks[0].outputs[k]].is_output = 1;
}

static void
by_hand_finish(struct by_hand *h)
{
	sl__arena_release(&h->program.arena);
	graph_text_free(h->g);
}

/* However many readers want forms of their own, each gets one, and the output
 * lasts to the end. */
static void
a_value_may_have_many_forms(void **state)
{
	struct by_hand h;
	uint32_t y, buffer, last = SL__NONE;

	(void)state;
	by_hand_start(&h, "in x f32 2\n"
			  "y = Neg x\n"
			  "out y\n");
	y = graph_text_value(h.g, "y");
	for (int i = 0; i < 3 * SL__VERSIONS_MOST; i++) {
		buffer = sl__plan_output_buffer(&h.pl, y, NULL);
		assert_int_equal(h.pl.rc, SL_OK);
		assert_true(buffer != last);
		assert_int_equal(h.program.buffers[buffer].category,
				 SL__CATEGORY_OUTPUT);
		last = buffer;
	}
	assert_int_equal(h.held[y].n_versions, SL__VERSIONS_MOST);
	by_hand_finish(&h);
}

/* The first output that nobody uses leaves no trace in the counts. */
static void
one_output_takes_the_place_of_an_input(void **state)
{
	struct by_hand h;
	uint32_t x, in, a, b;

	(void)state;
	by_hand_start(&h, "in w f32 2\n"
			  "x = Neg w\n"
			  "a,b = Split x axis=0\n"
			  "y = Neg b\n"
			  "out y\n");
	x = graph_text_value(h.g, "x");
	h.held[x].uses_left = 1;
	h.held[graph_text_value(h.g, "b")].uses_left = 1;
	in = sl__plan_output_buffer(&h.pl, x, NULL);
	h.pl.node = h.g->graph->values[graph_text_value(h.g, "a")].producer;
	a = sl__plan_output_in_place(&h.pl, graph_text_value(h.g, "a"), NULL,
				     in);
	b = sl__plan_output_in_place(&h.pl, graph_text_value(h.g, "b"), NULL,
				     in);
	assert_int_equal(h.pl.rc, SL_OK);
	assert_int_equal(a, in);
	assert_true(b != in);
	by_hand_finish(&h);
}

static int
pack_aligned(struct sl__planner *pl, const void *how, const void *from,
	     void *to)
{
	(void)pl;
	(void)how;
	assert_int_equal((uintptr_t)from % sizeof(float), 0);
	memcpy(to, from, 2 * sizeof(float));
	return 1;
}

/* In a file elements lie at any address; what packs them reads floats. */
static void
constants_are_aligned_when_they_are_packed(void **state)
{
	static const int how = 1;
	const struct sl__packing packing = {pack_aligned, NULL, &how,
					    sizeof(how), 2 * sizeof(float)};
	struct sl_plan_options options = {0};
	_Alignas(16) unsigned char file[16];
	struct sl__tensor stored;
	struct sl_error err;
	struct by_hand h;
	float packed[2];
	uint32_t w;

	(void)state;
	by_hand_start(&h, "const w f32 2 = 3,4\n"
			  "y = Neg w\n"
			  "out y\n");
	w = graph_text_value(h.g, "w");
	stored = *h.g->graph->values[w].tensor;
	memcpy(file + 1, stored.bytes, 2 * sizeof(float));
	stored.bytes = file + 1;
	h.g->graph->values[w].tensor = &stored;
	h.pl.options = &options;
	h.pl.err = &err;
	assert_int_equal(
		sl__evaluator_new(&h.program.evaluator, h.g->graph, NULL, &err),
		SL_OK);
	assert_int_equal(sl__plan_weights_new(&h.program.weights, h.g->graph,
					      NULL, &err),
			 SL_OK);
	memcpy(packed,
	       sl__plan_buffer_data(
		       &h.pl, sl__plan_constant_packed_by(&h.pl, w, &packing)),
	       sizeof(packed));
	assert_int_equal(h.pl.rc, SL_OK);
	assert_true(packed[0] == 3 && packed[1] == 4);
	sl__plan_weights_free(h.program.weights);
	sl__evaluator_free(h.program.evaluator);
	by_hand_finish(&h);
}

/* After a failure nothing is added, answers can be handed on, and the first
 * text stays. */
static void
the_first_failure_sticks(void **state)
{
	struct by_hand h;
	struct sl_error err;
	uint32_t x, at[2];
	struct sl__step *step;
	void *data;

	(void)state;
	by_hand_start(&h, "in x f32 2\n"
			  "y = Neg x\n"
			  "out y\n");
	h.pl.err = &err;
	x = graph_text_value(h.g, "x");
	assert_int_equal(sl__planner_fail_internal(&h.pl, "first"), 0);
	assert_int_equal(sl__planner_fail_internal(&h.pl, "second"), 0);
	assert_int_equal(sl__planner_keep_status(&h.pl, SL_E_NOMEM), 0);
	at[0] = sl__plan_input_buffer(&h.pl, x, NULL);
	at[1] = sl__plan_output_in_place(&h.pl, x, NULL, at[0]);
	assert_int_equal(at[0], SL__NONE);
	assert_int_equal(at[1], SL__NONE);
	assert_int_equal(sl__plan_workspace(&h.pl, 8), SL__NONE);
	assert_int_equal(sl__plan_persistent_buffer(&h.pl, 8, &data), SL__NONE);
	assert_null(data);
	assert_null(sl__plan_alloc_state(&h.pl, 8));
	sl__plan_view(&h.pl, x, at[0], 0);
	step = sl__plan_add_step(&h.pl, at, 2, "none", NULL, NULL);
	assert_ptr_equal(step, &h.pl.spare);
	assert_int_equal(h.program.n_steps, 0);
	assert_int_equal(h.program.n_buffers, 0);
	assert_int_equal(h.held[x].n_versions, 0);
	assert_int_equal(h.pl.rc, SL_E_BUG);
	assert_string_equal(err.text, "first");
	by_hand_finish(&h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_may_have_many_forms),
		cmocka_unit_test(one_output_takes_the_place_of_an_input),
		cmocka_unit_test(constants_are_aligned_when_they_are_packed),
		cmocka_unit_test(the_first_failure_sticks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

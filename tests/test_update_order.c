/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_update_order.c - a parameter is updated where its gradient and the loss
 * are known and nobody reads its old numbers any more, a view of them included;
 * clipping keeps updates at the end; the others keep their order, and the most
 * memory of a step is that of its last gradients.
 */
#include "transform/update_order.h"
#include "engine/training_plan.h"
#include "graph_text.h"

/* Two products; the gradient of h reads v, whose own gradient comes before. */
static const char two_layers[] = "in x f32 8,6\n"
				 "const w f32 6,5 = random\n"
				 "const v f32 5,3 = random\n"
				 "h = MatMul x w\n"
				 "y = MatMul h v\n"
				 "out y\n";

/* The table is read again, transposed, at the end. */
static const char tied[] = "in i i64 4,6\n"
			   "const t f32 7,16 = random\n"
			   "const w f32 16,16 = random\n"
			   "e = Gather t i\n"
			   "h = MatMul e w\n"
			   "u = Transpose t perm=[1,0]\n"
			   "y = MatMul h u\n"
			   "out y\n";

struct step {
	struct graph_text *text;
	struct sl__training_graph *t;
};

static struct step
begin(const char *text, enum sl_optimizer optimizer, double max_norm)
{
	const struct sl__training_options options = {.optimizer = optimizer,
						     .max_norm = max_norm};
	struct step s = {.text = graph_text(text)};
	struct sl_error err = {0};

	if (sl__training_graph_new(&s.t, s.text->graph, s.text->shapes,
				   &options, &err) ||
	    sl__updates_move_early(s.t->graph, s.t->loss, &err))
		fail_msg("%s", err.text);
	return s;
}

static void
end(struct step *s)
{
	sl__training_graph_free(s->t);
	graph_text_free(s->text);
}

static size_t
place(const struct step *s, uint32_t node)
{
	const struct sl__block *main = &s->t->graph->blocks[0];

	for (size_t i = 0; i < main->n_nodes; i++) {
		if (main->nodes[i] == node)
			return i;
	}
	fail_msg("node %u is gone", node);
	return 0;
}

static const struct sl__trained_parameter *
parameter(const struct step *s, const char *name)
{
	for (size_t i = 0; i < s->t->n_parameters; i++) {
		if (!strcmp(s->t->parameters[i].name, name))
			return &s->t->parameters[i];
	}
	fail_msg("no parameter '%s'", name);
	return s->t->parameters;
}

static int
reads(const struct sl__node *node, uint32_t value)
{
	for (uint32_t k = 0; k < node->n_inputs; k++) {
		if (node->inputs[k] == value)
			return 1;
	}
	return 0;
}

/* Of the node that renews a parameter. */
static size_t
update_of(const struct step *s, const char *name)
{
	uint32_t value = parameter(s, name)->value;

	for (size_t i = 0; i < s->t->n_states; i++) {
		if (s->t->states[i].old == value)
			return place(
				s, s->t->graph->values[s->t->states[i].renewed]
					   .producer);
	}
	fail_msg("'%s' is not renewed", name);
	return 0;
}

static size_t
gradient_of(const struct step *s, const char *name)
{
	uint32_t gradient = parameter(s, name)->gradient;

	return place(s, s->t->graph->values[gradient].producer);
}

/* The last node but its update that reads a value. */
static size_t
last_reader(const struct step *s, uint32_t value)
{
	const struct sl__block *main = &s->t->graph->blocks[0];

	for (size_t i = main->n_nodes; i-- > 0;) {
		const struct sl__node *node =
			&s->t->graph->nodes[main->nodes[i]];

		if (node->phase != SL_PHASE_UPDATE && reads(node, value))
			return i;
	}
	fail_msg("nobody reads it");
	return 0;
}

static void
test_updates_come_as_soon_as_they_can(void **state)
{
	struct step s = begin(two_layers, SL_OPTIMIZER_SGD, 0);
	size_t n = s.t->graph->blocks[0].n_nodes, gradient, reader;

	(void)state;
	assert_true(update_of(&s, "v") < gradient_of(&s, "w"));
	gradient = gradient_of(&s, "v");
	reader = last_reader(&s, parameter(&s, "v")->value);
	assert_int_equal(update_of(&s, "v"),
			 1 + (gradient > reader ? gradient : reader));
	assert_int_equal(update_of(&s, "w"), n - 1);
	assert_int_equal(update_of(&s, "w"), gradient_of(&s, "w") + 1);
	end(&s);
}

/* Adam's updates read the count of steps, which is renewed first. */
static void
test_what_updates_read_moves_with_them(void **state)
{
	struct step s = begin(two_layers, SL_OPTIMIZER_ADAM, 0);
	const struct sl__block *main = &s.t->graph->blocks[0];
	size_t loss = place(&s, s.t->graph->values[s.t->loss].producer);

	(void)state;
	assert_int_equal(s.t->graph->nodes[main->nodes[loss + 1]].phase,
			 SL_PHASE_UPDATE);
	for (size_t i = 0; i < main->n_nodes; i++) {
		const struct sl__node *node =
			&s.t->graph->nodes[main->nodes[i]];

		for (uint32_t k = 0; k < node->n_inputs; k++) {
			uint32_t maker =
				node->inputs[k] == SL__NONE
					? SL__NONE
					: s.t->graph->values[node->inputs[k]]
						  .producer;

			assert_true(maker == SL__NONE || place(&s, maker) < i);
		}
		assert_true(node->phase != SL_PHASE_UPDATE || i > loss);
	}
	end(&s);
}

static void
test_views_of_a_parameter_are_waited_for(void **state)
{
	struct step s = begin(tied, SL_OPTIMIZER_SGD, 0);
	const struct sl_graph *graph = s.t->graph;
	uint32_t t = parameter(&s, "t")->value;

	(void)state;
	for (uint32_t i = 0; i < graph->n_nodes; i++) {
		const struct sl__node *node = &graph->nodes[i];

		if (sl__is_op(node, SL__OP_ONNX_Transpose) && reads(node, t))
			assert_true(last_reader(&s, node->outputs[0]) <
				    update_of(&s, "t"));
	}
	assert_true(gradient_of(&s, "t") < update_of(&s, "t"));
	end(&s);
}

static void
test_clipping_keeps_updates_at_the_end(void **state)
{
	struct step s = begin(two_layers, SL_OPTIMIZER_SGD, 1);
	const struct sl__block *main = &s.t->graph->blocks[0];

	(void)state;
	/* The scale of all gradients, and both updates. */
	for (size_t i = 0; i < main->n_nodes; i++)
		assert_int_equal(s.t->graph->nodes[main->nodes[i]].phase ==
					 SL_PHASE_UPDATE,
				 i + 3 >= main->n_nodes);
	end(&s);
}

static uint64_t
live_bytes(double max_norm)
{
	const struct sl__training_options training = {
		.optimizer = SL_OPTIMIZER_SGD, .max_norm = max_norm};
	const struct sl_plan_options options = {.struct_size = sizeof(options),
						.n_threads = 1,
						.dtype = SL_DTYPE_F32,
						.algorithms =
							SL_ALGORITHMS_FIXED};
	/* Two gradients of 256 x 256, beside which the rest is small. */
	struct graph_text *text = graph_text("in x f32 4,256\n"
					     "const w f32 256,256 = random\n"
					     "const v f32 256,256 = random\n"
					     "h = MatMul x w\n"
					     "y = MatMul h v\n"
					     "out y\n");
	struct sl__training_plan *p;
	struct sl_error err = {0};
	uint64_t bytes;

	if (sl__training_plan_new(&p, text->graph, NULL, &training, &options,
				  &err))
		fail_msg("%s", err.text);
	bytes = p->plan->current->bound_bytes;
	sl__training_plan_free(p);
	graph_text_free(text);
	return bytes;
}

static void
test_gradients_share_their_memory(void **state)
{
	const uint64_t weight = 256 * 256 * sizeof(float);

	(void)state;
	assert_in_range(live_bytes(0), 3 * weight, 3 * weight + weight / 4);
	assert_in_range(live_bytes(1), 4 * weight, 4 * weight + weight / 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_updates_come_as_soon_as_they_can),
		cmocka_unit_test(test_what_updates_read_moves_with_them),
		cmocka_unit_test(test_views_of_a_parameter_are_waited_for),
		cmocka_unit_test(test_clipping_keeps_updates_at_the_end),
		cmocka_unit_test(test_gradients_share_their_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

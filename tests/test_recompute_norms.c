/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_recompute_norms.c - layer normalizations that run again for the backward
 * pass: losses and states of three steps are those of steps that keep their
 * results, to the bit; what is kept is a result less, to the byte; a result that
 * is the model's output, and one whose gradient needs nothing of it, stay.
 */
#include "engine/program.h"
#include "engine/training_plan.h"
#include "graph_text.h"

/* Two blocks of [64][32]: what comes out of a norm goes into a product. */
static const char blocks[] = "in x f32 64,32\n"
			     "const s f32 32 = random\n"
			     "const z f32 32 = random\n"
			     "const w f32 32,32 = random\n"
			     "const v f32 32,32 = random\n"
			     "const u f32 32,32 = random\n"
			     "const h f32 32,5 = random\n"
			     "a = MatMul x w\n"
			     "b = LayerNormalization a s z\n"
			     "c = MatMul b v\n"
			     "d = Tanh c\n"
			     "e = Add d b\n"
			     "f = LayerNormalization e s z\n"
			     "g = MatMul f u\n"
			     "i = Tanh g\n"
			     "y = MatMul i h\n"
			     "out y\n";

/* The second norm takes what the first one made. */
static const char twice[] = "in x f32 64,32\n"
			    "const s f32 32 = random\n"
			    "const z f32 32 = random\n"
			    "const w f32 32,32 = random\n"
			    "const h f32 32,5 = random\n"
			    "a = MatMul x w\n"
			    "b = LayerNormalization a s z\n"
			    "c = LayerNormalization b s z\n"
			    "y = MatMul c h\n"
			    "out y\n";

/* Nothing of the backward pass reads the result: it is the output. */
static const char last[] = "in x f32 64,32\n"
			   "const s f32 32 = random\n"
			   "const z f32 32 = random\n"
			   "const w f32 32,32 = random\n"
			   "a = MatMul x w\n"
			   "y = LayerNormalization a s z\n"
			   "out y\n";

struct run {
	struct graph_text *text;
	struct sl__training_plan *p;
};

static void
fill_inputs(struct run *r)
{
	const struct sl_graph *graph = r->p->training->graph;
	const struct sl__block *main = &graph->blocks[0];
	struct sl_error err = {0};

	for (size_t i = 0; i < main->n_inputs; i++) {
		const struct sl__value *v = &graph->values[main->inputs[i]];
		struct sl_array array;
		void *data;

		if (v->kind != SL_VALUE_INPUT)
			continue;
		if (sl_plan_input(r->p->plan, v->name, &array, &data, &err))
			fail_msg("%s", err.text);
		for (uint64_t k = 0; k < array.n_elements; k++) {
			double x = array.dtype == SL_DTYPE_I64
					   ? (double)(k % 5)
					   : graph_text_random(v->name, k);

			sl__store_doubles(data, array.dtype, k, 1, &x);
		}
	}
}

static struct run
begin(const char *model, int keeps_norms, uint64_t n_micro)
{
	const struct sl__training_options training = {
		.optimizer = SL_OPTIMIZER_ADAM,
		.keeps_norms = keeps_norms,
		.n_micro = n_micro};
	const struct sl_plan_options options = {.struct_size = sizeof(options),
						.n_threads = 1,
						.dtype = SL_DTYPE_F32,
						.algorithms =
							SL_ALGORITHMS_FIXED};
	struct run r = {.text = graph_text(model)};
	struct sl_error err = {0};

	if (sl__training_plan_new(&r.p, r.text->graph, NULL, &training,
				  &options, &err))
		fail_msg("%s", err.text);
	fill_inputs(&r);
	return r;
}

static void
end(struct run *r)
{
	sl__training_plan_free(r->p);
	graph_text_free(r->text);
}

static size_t
n_again(const struct run *r)
{
	const struct sl_graph *graph = r->p->training->graph;
	size_t n = 0;

	for (uint32_t i = 0; i < graph->n_nodes; i++)
		n += graph->nodes[i].phase == SL_PHASE_RECOMPUTE;
	return n;
}

static void
check_states(struct run *a, struct run *b)
{
	struct sl_error err = {0};

	assert_int_equal(a->p->training->n_states, b->p->training->n_states);
	for (size_t i = 0; i < a->p->training->n_states; i++) {
		struct sl_array x, y;
		void *p, *q;

		if (sl__training_plan_state(a->p, i, &x, &p, &err) ||
		    sl__training_plan_state(b->p, i, &y, &q, &err))
			fail_msg("%s", err.text);
		assert_int_equal(x.n_bytes, y.n_bytes);
		assert_memory_equal(p, q, (size_t)x.n_bytes);
	}
}

static void
check_steps(const char *model, size_t n_norms, uint64_t n_micro)
{
	struct run keeps = begin(model, 1, n_micro);
	struct run again = begin(model, 0, n_micro);
	struct sl_error err = {0};

	assert_int_equal(n_again(&keeps), 0);
	assert_int_equal(n_again(&again), n_norms * n_micro);
	for (int i = 0; i < 3; i++) {
		double loss[2];

		if (sl__training_plan_step(keeps.p, 0.01, &loss[0], NULL,
					   &err) ||
		    sl__training_plan_step(again.p, 0.01, &loss[1], NULL, &err))
			fail_msg("%s", err.text);
		assert_memory_equal(&loss[0], &loss[1], sizeof(loss[0]));
	}
	check_states(&keeps, &again);
	end(&keeps);
	end(&again);
}

static void
test_same_bits(void **state)
{
	(void)state;
	check_steps(blocks, 2, 1);
	check_steps(blocks, 2, 2);
	check_steps(twice, 1, 1);
	check_steps(last, 0, 1);
}

/* Bytes of activations that are alive when the backward pass begins. */
static uint64_t
kept_bytes(const struct run *r)
{
	const struct sl__program *program = r->p->plan->current;
	const struct sl_graph *graph = r->p->training->graph;
	uint64_t n_bytes = 0;
	struct sl_step step;
	size_t first = 0;

	while (sl_plan_step(r->p->plan, first, &step) &&
	       (!step.n_covers ||
		graph->nodes[step.covers[0]].phase == SL_PHASE_FORWARD ||
		graph->nodes[step.covers[0]].phase == SL_PHASE_LOSS))
		first++;
	for (uint32_t b = 0; b < program->n_buffers; b++) {
		const struct sl__buffer *buffer = &program->buffers[b];

		if (buffer->base == b &&
		    buffer->category == SL__CATEGORY_ACTIVATION &&
		    buffer->first < first && buffer->last >= first)
			n_bytes += buffer->n_bytes;
	}
	return n_bytes;
}

static void
test_what_is_kept(void **state)
{
	const uint64_t result = 64 * 32 * 4;
	struct run keeps = begin(blocks, 1, 1), again = begin(blocks, 0, 1);

	(void)state;
	assert_int_equal(kept_bytes(&again) + 2 * result, kept_bytes(&keeps));
	assert_true(again.p->plan->current->bound_bytes <
		    keeps.p->plan->current->bound_bytes);
	end(&keeps);
	end(&again);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_bits),
		cmocka_unit_test(test_what_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_training_plan.c - training steps by the engine: the same as by the
 * reference kernels, the same bits every time, every step with its phase,
 * states in one place and the same with and without watching, and an end
 * where the loss is not a number.
 */
#include "engine/observer.h"
#include "engine/training_plan.h"
#include "graph_text.h"

static const char image_model[] =
	"in x f32 4,3,9,9\n"
	"const w1 f32 8,3,3,3 = random\n"
	"const s f32 8 = 1,1,1,1,1,1,1,1\n"
	"const o f32 8 = 0,0,0,0,0,0,0,0\n"
	"const m f32 8 = 0,0,0,0,0,0,0,0\n"
	"const v f32 8 = 1,1,1,1,1,1,1,1\n"
	"const w2 f32 8,4,3,3 = random\n"
	"const w3 f32 5,8 = random\n"
	"const b3 f32 5 = random\n"
	"a = Conv x w1 pads=[1,1,1,1]\n"
	"b = BatchNormalization a s o m v\n"
	"c = Relu b\n"
	"d = MaxPool c kernel_shape=[3,3] strides=[2,2]\n"
	"e = Conv d w2 group=2 pads=[1,1,1,1]\n"
	"f = Add e d\n"
	"g = GlobalAveragePool f\n"
	"h = Flatten g\n"
	"y = Gemm h w3 b3 transB=1\n"
	"out y\n";

static const char text_model[] = "in i i64 2,6\n"
				 "const t f32 7,16 = random\n"
				 "const q f32 16,16 = random\n"
				 "const k f32 16,16 = random\n"
				 "const s f32 16 = random\n"
				 "const z f32 16 = random\n"
				 "const u f32 16,7 = random\n"
				 "e = Gather t i\n"
				 "n = LayerNormalization e s z\n"
				 "a = MatMul n q\n"
				 "b = MatMul n k\n"
				 "c = Transpose b perm=[0,2,1]\n"
				 "d = MatMul a c\n"
				 "p = Softmax d axis=2\n"
				 "v = MatMul p n\n"
				 "w = Gelu v\n"
				 "r = Add w e\n"
				 "y = MatMul r u\n"
				 "out y\n";

struct run {
	struct graph_text *text;
	struct sl__training_plan *p;
	double losses[4];
};

static void
fill_inputs(struct run *r)
{
	const struct sl_graph *graph = r->p->training->graph;
	const struct sl__block *main = &graph->blocks[0];
	struct sl_array array;
	struct sl_error err = {0};
	void *data;

	for (size_t i = 0; i < main->n_inputs; i++) {
		const struct sl__value *v = &graph->values[main->inputs[i]];

		if (v->kind != SL_VALUE_INPUT)
			continue;
		if (sl_plan_input(r->p->plan, v->name, &array, &data, &err))
			fail_msg("%s", err.text);
		for (uint64_t k = 0; k < array.n_elements; k++) {
			double x = graph_text_random(v->name, k);

			if (array.dtype == SL_DTYPE_I64)
				x = (double)(k % 5);
			sl__store_doubles(data, array.dtype, k, 1, &x);
		}
	}
}

static struct run *
begin(const char *text, enum sl_optimizer optimizer, unsigned flags,
      int n_threads)
{
	struct sl__training_options training = {
		.optimizer = optimizer, .max_norm = 5, .keeps_gradients = 1};
	struct sl_plan_options options = {.struct_size = sizeof(options),
					  .n_threads = n_threads,
					  .dtype = SL_DTYPE_F32,
					  .algorithms = SL_ALGORITHMS_FIXED,
					  .flags = flags};
	struct run *r = calloc(1, sizeof(*r));
	struct sl_error err = {0};

	assert_non_null(r);
	r->text = graph_text(text);
	if (sl__training_plan_new(&r->p, r->text->graph, NULL, &training,
				  &options, &err))
		fail_msg("%s", err.text);
	fill_inputs(r);
	return r;
}

static struct run *
run(const char *text, enum sl_optimizer optimizer, unsigned flags,
    int n_threads)
{
	struct run *r = begin(text, optimizer, flags, n_threads);
	struct sl_error err = {0};

	for (int i = 0; i < 4; i++) {
		if (sl__training_plan_step(r->p, 0.01, &r->losses[i], NULL,
					   &err))
			fail_msg("%s", err.text);
	}
	return r;
}

static void
run_free(struct run *r)
{
	sl__training_plan_free(r->p);
	graph_text_free(r->text);
	free(r);
}

/* The largest difference of a value of two runs, in shares of the largest
 * element. */
static double
difference(struct run *a, struct run *b, uint32_t value)
{
	struct sl__tensor x, y;
	double most = 0, largest = 1e-6, p, q;
	struct sl_error err = {0};

	assert_int_equal(sl__training_plan_value(a->p, value, &x, &err), SL_OK);
	assert_int_equal(sl__training_plan_value(b->p, value, &y, &err), SL_OK);
	assert_true(sl__tensor_has_type_of(&x, &y));
	for (uint64_t i = 0; i < x.n_elements; i++) {
		assert_true(sl__tensor_doubles(&x, i, 1, &p));
		assert_true(sl__tensor_doubles(&y, i, 1, &q));
		most = fmax(most, fabs(p - q));
		largest = fmax(largest, fabs(q));
	}
	return most / largest;
}

/* Reference kernels round to f32 once for each node, others sum in it: 1e-4 is
 * some 800 roundings, which four steps take. */
static void
check_model(const char *text, enum sl_optimizer optimizer)
{
	struct run *fast = run(text, optimizer, 0, 2);
	struct run *same = run(text, optimizer, 0, 2);
	struct run *plain = run(text, optimizer, SL_PLAN_REFERENCE, 1);
	const struct sl__training_graph *t = fast->p->training;

	for (int i = 0; i < 4; i++) {
		assert_true(fabs(fast->losses[i] - plain->losses[i]) < 1e-4);
		assert_true(fast->losses[i] == same->losses[i]);
	}
	assert_true(plain->losses[3] < plain->losses[0]);
	for (size_t i = 0; i < t->n_states; i++) {
		uint32_t value = t->states[i].renewed;

		if (t->graph->values[value].declared.dtype == SL_DTYPE_I64)
			continue;
		if (difference(fast, plain, value) > 1e-4)
			fail_msg("%s: %g", t->graph->values[value].name,
				 difference(fast, plain, value));
		assert_true(difference(fast, same, value) == 0);
	}
	run_free(plain);
	run_free(same);
	run_free(fast);
}

static void
test_steps_are_those_of_reference_kernels(void **state)
{
	(void)state;
	check_model(image_model, SL_OPTIMIZER_MOMENTUM);
	check_model(text_model, SL_OPTIMIZER_SGD);
	check_model(text_model, SL_OPTIMIZER_ADAMW);
}

/* Every step of the plan but reorders covers nodes of one phase, in order. */
static void
test_steps_have_phases(void **state)
{
	struct run *r = begin(image_model, SL_OPTIMIZER_ADAM, 0, 1);
	const struct sl_graph *graph = r->p->training->graph;
	size_t n[4] = {0}, n_of_conv = 0;
	struct sl_step step;

	(void)state;
	for (size_t i = 0; sl_plan_step(r->p->plan, i, &step); i++) {
		for (size_t k = 0; k < step.n_covers; k++) {
			const struct sl__node *node =
				&graph->nodes[step.covers[k]];

			n[node->phase]++;
			n_of_conv += node->phase == SL_PHASE_BACKWARD &&
				     node->forward == maker_of(r->text, "e");
			assert_int_equal(node->phase,
					 graph->nodes[step.covers[0]].phase);
		}
	}
	assert_true(n[SL_PHASE_FORWARD] && n[SL_PHASE_LOSS]);
	assert_int_equal(n[SL_PHASE_UPDATE], 6 + 2);
	assert_true(n_of_conv >= 2);
	run_free(r);
}

/* Updates need no second place for what they renew. */
static void
test_updates_are_made_in_place(void **state)
{
	struct run *r = run(image_model, SL_OPTIMIZER_ADAM, 0, 1);
	const struct sl__training_graph *t = r->p->training;
	struct sl_error err = {0};
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < t->n_states; i++) {
		const char *name = t->graph->values[t->states[i].old].name;
		struct sl__tensor to;
		struct sl_array from;

		if (t->states[i].renewed == SL__NONE)
			continue;
		assert_int_equal(sl__training_plan_value(
					 r->p, t->states[i].renewed, &to, &err),
				 SL_OK);
		assert_int_equal(
			sl_plan_input(r->p->plan, name, &from, NULL, &err),
			SL_OK);
		n += to.bytes == from.data;
	}
	assert_int_equal(n, 3 * t->n_parameters);
	run_free(r);
}

/* The weights do not take in what is not a number. */
static void
test_a_loss_that_is_no_number_ends_it(void **state)
{
	struct run *r = begin(image_model, SL_OPTIMIZER_SGD, 0, 1);
	struct sl_error err = {0};
	struct sl_array array, weights;
	float before[5 * 8];
	void *data;

	(void)state;
	assert_int_equal(sl__training_plan_step(r->p, 0.01, NULL, NULL, &err),
			 SL_OK);
	assert_int_equal(sl_plan_input(r->p->plan, "w3", &weights, NULL, &err),
			 SL_OK);
	assert_int_equal(weights.n_bytes, sizeof(before));
	memcpy(before, weights.data, sizeof(before));
	assert_int_equal(sl_plan_input(r->p->plan, "x", &array, &data, &err),
			 SL_OK);
	*(float *)data = (float)NAN;
	assert_int_equal(sl__training_plan_step(r->p, 0.01, NULL, NULL, &err),
			 SL_E_DATA);
	assert_string_equal(err.text, "step 2: the loss is not a number: "
				      "input 'x' holds NaN");
	assert_int_equal(r->p->n_steps, 1);
	assert_memory_equal(before, weights.data, sizeof(before));
	fill_inputs(r);
	assert_int_equal(sl__training_plan_step(r->p, 0.01, NULL, NULL, &err),
			 SL_OK);
	run_free(r);
}

/* The weights and moments that a step starts from are the same bits. */
static void
assert_same_states(struct run *a, struct run *b)
{
	const struct sl__training_graph *t = a->p->training;
	struct sl_error err = {0};
	struct sl_array x, y;

	for (size_t i = 0; i < t->n_states; i++) {
		const char *name = t->graph->values[t->states[i].old].name;

		assert_int_equal(
			sl_plan_input(a->p->plan, name, &x, NULL, &err), SL_OK);
		assert_int_equal(
			sl_plan_input(b->p->plan, name, &y, NULL, &err), SL_OK);
		assert_memory_equal(x.data, y.data, (size_t)x.n_bytes);
	}
}

/* All states of this model are renewed where they lie, so that a run of the
 * plan is a whole step. */
static void
test_watching_changes_no_bit(void **state)
{
	enum { STEPS = 20 };
	struct run *bare = begin(text_model, SL_OPTIMIZER_MOMENTUM, 0, 2);
	struct run *watched = begin(text_model, SL_OPTIMIZER_MOMENTUM, 0, 2);
	size_t cap = SL__STAMPS_PER_STEP * bare->p->plan->current->n_steps + 1;
	struct sl__event_buffer events = {
		.stamps = calloc(cap, sizeof(*events.stamps)), .cap = cap};
	struct sl_error err = {0};

	(void)state;
	assert_non_null(events.stamps);
	assert_int_equal(sl__training_plan_set_rate(watched->p, 0.01, &err),
			 SL_OK);
	for (int i = 0; i < STEPS; i++) {
		if (sl__training_plan_step(bare->p, 0.01, NULL, NULL, &err) ||
		    sl__plan_record(watched->p->plan, &events, &err))
			fail_msg("%s", err.text);
	}
	assert_true(events.n_stamps > 1);
	assert_same_states(bare, watched);
	free(events.stamps);
	run_free(watched);
	run_free(bare);
}

/* A logarithm of what is below 0: that node is named, and no later one.  An
 * update that overflows is found by the step after it. */
static void
test_the_first_nan_is_named(void **state)
{
	struct run *r = begin("in x f32 4,3\nconst w f32 3,5 = random\n"
			      "const k f32 - = -9\na = MatMul x w\n"
			      "b = Add a k\nc = Log b\nd = Exp c\n"
			      "const u f32 5,5 = random\ny = MatMul d u\n"
			      "out y\n",
			      SL_OPTIMIZER_SGD, 0, 1);
	struct sl_error err = {0};

	(void)state;
	assert_int_equal(sl__training_plan_step(r->p, 0.01, NULL, NULL, &err),
			 SL_E_DATA);
	assert_non_null(strstr(err.text, "step 1: the loss is not a number: "
					 "the first NaN comes from Log '"));
	assert_non_null(strstr(err.text, "of the forward phase"));
	run_free(r);
	r = begin(text_model, SL_OPTIMIZER_SGD, 0, 1);
	assert_int_equal(
		sl__training_plan_step(r->p, (double)NAN, NULL, NULL, &err),
		SL_OK);
	assert_int_equal(sl__training_plan_step(r->p, 0.01, NULL, NULL, &err),
			 SL_E_DATA);
	assert_non_null(strstr(err.text, "step 2: the loss is not a number: "
					 "after the update before it, '"));
	run_free(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps_are_those_of_reference_kernels),
		cmocka_unit_test(test_steps_have_phases),
		cmocka_unit_test(test_updates_are_made_in_place),
		cmocka_unit_test(test_a_loss_that_is_no_number_ends_it),
		cmocka_unit_test(test_the_first_nan_is_named),
		cmocka_unit_test(test_watching_changes_no_bit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_accumulate.c - micro-batches of a training step: the same loss,
 * gradients and parameters as of one batch of all of them, as many FLOPs, less
 * memory; statistics of a BatchNormalization by the closed form; and what has no
 * micro-batches.
 */
#include "engine/training_plan.h"
#include "engine/program.h"
#include "trained.h"

/* Six samples, or three micro-batches of two. */
#define CLASSIFIER(dtype, batch)                \
	"in x " dtype " " batch ",2,4,4\n"      \
	"in m " dtype " 4,4\n"                  \
	"const w1 " dtype " 3,2,3,3 = random\n" \
	"const w2 " dtype " 3,12 = random\n"    \
	"const b2 " dtype " 3 = random\n"       \
	"const s " dtype " 12 = random\n"       \
	"n = Add x m\n"                         \
	"a = Conv n w1\n"                       \
	"c = Tanh a\n"                          \
	"d = Flatten c\n"                       \
	"e = Mul d s\n"                         \
	"y = Gemm e w2 b2 transB=1\n"           \
	"out y\n"

static const struct sl__training_options adam = {
	.optimizer = SL_OPTIMIZER_ADAM, .max_norm = 0.5, .keeps_gradients = 1};

static struct sl__training_options
in_parts(uint64_t n)
{
	struct sl__training_options options = adam;

	options.n_micro = n;
	return options;
}

static void
check_same(struct trained *a, struct trained *b, double tolerance)
{
	assert_int_equal(a->t->n_parameters, b->t->n_parameters);
	for (size_t i = 0; i < a->t->n_parameters; i++) {
		const struct sl__trained_parameter *p = &a->t->parameters[i];
		const struct sl__trained_parameter *q = &b->t->parameters[i];

		assert_string_equal(p->name, q->name);
		for (uint64_t k = 0; k < a->tensors[p->value].n_elements; k++) {
			double x, y;

			assert_near(trained_number(a, p->gradient, k),
				    trained_number(b, q->gradient, k),
				    tolerance);
			assert_true(sl__tensor_doubles(&a->tensors[p->value], k,
						       1, &x));
			assert_true(sl__tensor_doubles(&b->tensors[q->value], k,
						       1, &y));
			assert_near(x, y, tolerance);
		}
	}
	assert_near(trained_number(a, a->t->loss, 0),
		    trained_number(b, b->t->loss, 0), tolerance);
}

/* In f64 sums in another order differ by some 1e-16; Adam's quotient of two
 * small numbers makes them larger. */
static void
test_same_as_one_batch(void **state)
{
	struct sl__training_options options = in_parts(3);
	struct trained *whole = trained(CLASSIFIER("f64", "6"), &adam);
	struct trained *parts = trained(CLASSIFIER("f64", "2"), &options);

	(void)state;
	if (whole->rc || parts->rc)
		fail_msg("%s%s", whole->err.text, parts->err.text);
	for (int i = 0; i < 3; i++) {
		trained_step(whole);
		trained_step(parts);
		check_same(whole, parts, 1e-11);
	}
	trained_free(whole);
	trained_free(parts);
}

/* 'm' has another first dimension: it is the same for all. */
static void
test_inputs(void **state)
{
	struct sl__training_options options = in_parts(3);
	struct trained *s = trained(CLASSIFIER("f64", "2"), &options);
	const struct sl_graph *graph = s->t->graph;
	const struct sl__block *main = &graph->blocks[0];

	(void)state;
	assert_string_equal(graph->values[main->inputs[0]].name, "x");
	assert_int_equal(graph->values[main->inputs[0]].declared.dims[0], 6);
	assert_string_equal(graph->values[main->inputs[1]].name, "m");
	assert_int_equal(graph->values[main->inputs[1]].declared.dims[0], 4);
	assert_int_equal(graph->values[s->t->target].declared.dims[0], 6);
	assert_string_equal(graph->values[s->t->target].name, "target");
	assert_int_equal(s->t->n_outputs, 1);
	trained_free(s);
	options.keeps_outputs = 1;
	s = trained(CLASSIFIER("f64", "2"), &options);
	assert_int_equal(s->t->n_outputs, 3);
	trained_free(s);
}

static uint64_t
macs(const struct trained *s, enum sl_phase phase)
{
	struct sl__shapes_options none = {0};
	struct sl__shapes *shapes;
	uint64_t sum = 0;

	assert_int_equal(sl__shapes_new(&shapes, s->t->graph, &none, NULL),
			 SL_OK);
	for (uint32_t i = 0; i < s->t->graph->n_nodes; i++) {
		struct sl_cost cost;

		sl__cost_node(shapes, i, &cost);
		if (s->t->graph->nodes[i].phase == phase)
			sum += cost.macs;
	}
	sl__shapes_free(shapes);
	return sum;
}

/* Of a sample: 3 channels of 2 x 2 by 18, and 12 by 3; backwards the weights of
 * both and the input of the second. */
static void
test_flops(void **state)
{
	struct sl__training_options options = in_parts(3);
	struct trained *s = trained(CLASSIFIER("f64", "2"), &options);

	(void)state;
	assert_int_equal(macs(s, SL_PHASE_FORWARD), 6 * (216 + 36));
	assert_int_equal(macs(s, SL_PHASE_BACKWARD), 6 * (216 + 2 * 36));
	trained_free(s);
}

/* The mean m_k and variance v_k of each micro-batch are moved to one after the
 * other: r := 0.75 r + 0.25 m_k. */
static void
test_statistics(void **state)
{
	static const char text[] = "in x f64 3,1\n"
				   "const s f64 1 = 1\n"
				   "const o f64 1 = 0\n"
				   "const m f64 1 = 2\n"
				   "const v f64 1 = 3\n"
				   "y = BatchNormalization x s o m v "
				   "momentum=0.75\n"
				   "out y\n";
	struct sl__training_options options = {.loss = SL_LOSS_MSE,
					       .optimizer = SL_OPTIMIZER_SGD,
					       .n_micro = 2};
	struct trained *s = trained(text, &options);
	double mean = 2, variance = 3;

	(void)state;
	if (s->rc)
		fail_msg("%s", s->err.text);
	trained_step(s);
	for (uint64_t k = 0; k < 2; k++) {
		double sum = 0, squares = 0;

		for (uint64_t i = 0; i < 3; i++) {
			double x = graph_text_random("x", 3 * k + i);

			sum += x;
			squares += x * x;
		}
		mean = 0.75 * mean + 0.25 * sum / 3;
		variance =
			0.75 * variance + 0.25 * (squares / 3 - sum * sum / 9);
	}
	for (size_t i = 0; i < s->t->n_states; i++) {
		uint32_t old = s->t->states[i].old;
		const char *name = s->t->graph->values[old].name;
		double x;

		assert_true(sl__tensor_doubles(&s->tensors[old], 0, 1, &x));
		if (!strcmp(name, "m"))
			assert_near(x, mean, 1e-12);
		if (!strcmp(name, "v"))
			assert_near(x, variance, 1e-12);
	}
	trained_free(s);
}

static struct sl__training_plan *
planned(struct graph_text *text, uint64_t n_micro)
{
	struct sl__training_options training = in_parts(n_micro);
	struct sl_plan_options options = {.struct_size = sizeof(options),
					  .n_threads = 1,
					  .dtype = SL_DTYPE_F32,
					  .algorithms = SL_ALGORITHMS_FIXED};
	struct sl__training_plan *p;
	struct sl_error err = {0};
	const struct sl__block *main;

	if (sl__training_plan_new(&p, text->graph, NULL, &training, &options,
				  &err))
		fail_msg("%s", err.text);
	main = &p->training->graph->blocks[0];
	for (size_t i = 0; i < main->n_inputs; i++) {
		const struct sl__value *v =
			&p->training->graph->values[main->inputs[i]];
		struct sl_array array;
		void *data;

		if (v->kind != SL_VALUE_INPUT)
			continue;
		assert_int_equal(
			sl_plan_input(p->plan, v->name, &array, &data, &err),
			SL_OK);
		for (uint64_t k = 0; k < array.n_elements; k++) {
			double x = array.dtype == SL_DTYPE_I64
					   ? (double)(k % 3)
					   : graph_text_random(v->name, k);

			sl__store_doubles(data, array.dtype, k, 1, &x);
		}
	}
	return p;
}

/* By the engine, in f32; and activations of one micro-batch at a time. */
static void
test_engine(void **state)
{
	struct graph_text *texts[] = {graph_text(CLASSIFIER("f32", "48")),
				      graph_text(CLASSIFIER("f32", "16"))};
	struct sl__training_plan *whole = planned(texts[0], 1);
	struct sl__training_plan *parts = planned(texts[1], 3);
	struct sl_error err = {0};
	double loss[2];

	(void)state;
	for (int i = 0; i < 3; i++) {
		if (sl__training_plan_step(whole, 0.01, &loss[0], NULL, &err) ||
		    sl__training_plan_step(parts, 0.01, &loss[1], NULL, &err))
			fail_msg("%s", err.text);
		assert_near(loss[0], loss[1], 1e-6);
	}
	for (size_t i = 0; i < whole->training->n_parameters; i++) {
		struct sl__tensor x, y;
		double p, q;

		assert_int_equal(
			sl__training_plan_value(
				whole, whole->training->parameters[i].gradient,
				&x, &err),
			SL_OK);
		assert_int_equal(
			sl__training_plan_value(
				parts, parts->training->parameters[i].gradient,
				&y, &err),
			SL_OK);
		for (uint64_t k = 0; k < x.n_elements; k++) {
			assert_true(sl__tensor_doubles(&x, k, 1, &p));
			assert_true(sl__tensor_doubles(&y, k, 1, &q));
			assert_near(p, q, 1e-6);
		}
	}
	assert_true(parts->plan->current->block_bytes <
		    whole->plan->current->block_bytes);
	sl__training_plan_free(whole);
	sl__training_plan_free(parts);
	graph_text_free(texts[0]);
	graph_text_free(texts[1]);
}

static void
check_refused(const char *text, enum sl_status status, const char *why)
{
	struct sl__training_options options = in_parts(2);
	struct trained *s = trained(text, &options);

	assert_int_equal(s->rc, status);
	if (!strstr(s->err.text, why))
		fail_msg("%s", s->err.text);
	trained_free(s);
}

static void
test_refusals(void **state)
{
	(void)state;
	check_refused("in x f64 -\n"
		      "in z f64 2,3\n"
		      "const w f64 3,3 = random\n"
		      "m = Mul z x\n"
		      "y = MatMul m w\n"
		      "out y\n",
		      SL_E_DATA, "no batch");
	check_refused("in x f64 2,3\n"
		      "const w f64 3,3 = random\n"
		      "const z f64 - = 0\n"
		      "s = ReduceSum x keepdims=0\n"
		      "b = Greater s z\n"
		      "block t\n"
		      "const one f64 - = 1\n"
		      "k = Identity one\n"
		      "out k\n"
		      "end\n"
		      "block e\n"
		      "const two f64 - = 2\n"
		      "l = Identity two\n"
		      "out l\n"
		      "end\n"
		      "f = If b then_branch=@t else_branch=@e\n"
		      "g = Mul x f\n"
		      "y = MatMul g w\n"
		      "out y\n",
		      SL_E_ABSENT, "has a body");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_as_one_batch),
		cmocka_unit_test(test_inputs),
		cmocka_unit_test(test_flops),
		cmocka_unit_test(test_statistics),
		cmocka_unit_test(test_engine),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

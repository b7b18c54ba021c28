/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_whole_models.c - three training steps of ResNet-18, ViT, BERT and GPT-2
 * at small sizes against PyTorch's (oracles/whole_models.py) from the same
 * weights: gradients, weights and losses by the reference kernels in f64, losses
 * by the engine in f32.
 *
 * Attributes of nodes are floats: rates and betas have an error of 1e-8, and
 * 1 - 0.999 one of 1e-5, which Adam's quotients keep; so gradients and first
 * losses agree to 1e-6, later ones and weights to 1e-5.
 */
#include "engine/training_plan.h"
#include "trained.h"
#include "whole_models.h"

static const struct model {
	const char *name;
	void (*say)(struct model_text *);
	double rate;
	struct sl__training_options options;
} models[] = {
	{"resnet18",
	 say_resnet18,
	 0.1,
	 {.optimizer = SL_OPTIMIZER_MOMENTUM, .weight_decay = 0.01}},
	{"vit",
	 say_vit,
	 0.01,
	 {.optimizer = SL_OPTIMIZER_ADAMW,
	  .weight_decay = 0.1,
	  .smoothing = 0.1}},
	{"bert",
	 say_bert,
	 0.01,
	 {.optimizer = SL_OPTIMIZER_ADAM, .weight_decay = 0.01}},
	{"gpt2",
	 say_gpt2,
	 0.01,
	 {.optimizer = SL_OPTIMIZER_ADAMW, .weight_decay = 0.1, .max_norm = 1}},
};

enum { STEPS = 3 };

struct sums {
	double sum, size; /* of absolute values */
};

static const struct loss {
	const char *model;
	int step;
	double value;
} losses[] = {
#define LOSS(model, step, value) {model, step, value},
#define PARAMETER(model, name, g, g_size, w, w_size)
#include "whole_models.def"
#undef LOSS
#undef PARAMETER
};

static const struct parameter {
	const char *model, *name;
	struct sums gradient, weight;
} parameters[] = {
#define LOSS(model, step, value)
#define PARAMETER(model, name, g, g_size, w, w_size) \
	{model, name, {g, g_size}, {w, w_size}},
#include "whole_models.def"
};

static double
expected_loss(const struct model *m, int step)
{
	for (size_t i = 0; i < sizeof(losses) / sizeof(*losses); i++) {
		if (!strcmp(losses[i].model, m->name) && losses[i].step == step)
			return losses[i].value;
	}
	fail_msg("%s: no loss of step %d", m->name, step);
	return 0;
}

static void
check_loss(const struct model *m, int step, double is, double share)
{
	double expected = expected_loss(m, step);

	if (!(fabs(is - expected) <= share * (1 + expected)))
		fail_msg("%s, step %d: loss %.12g, expected %.12g", m->name,
			 step, is, expected);
}

static void
check_sums(const struct parameter *row, const struct sl__tensor *t,
	   const struct sums *expected, double share)
{
	double sum = 0, size = 0, x;

	for (uint64_t i = 0; i < t->n_elements; i++) {
		assert_true(sl__tensor_doubles(t, i, 1, &x));
		sum += x;
		size += fabs(x);
	}
	if (!(fabs(sum - expected->sum) <= share * (1 + expected->size)) ||
	    !(fabs(size - expected->size) <= share * (1 + expected->size)))
		fail_msg("%s %s: %.12g (%.12g), expected %.12g (%.12g)",
			 row->model, row->name, sum, size, expected->sum,
			 expected->size);
}

/* How many parameters of the model there are rows for. */
static size_t
check_parameters(struct trained *s, const struct model *m, int is_gradient)
{
	size_t n = 0;

	for (size_t i = 0; i < sizeof(parameters) / sizeof(*parameters); i++) {
		const struct parameter *row = &parameters[i];
		const struct sl__trained_parameter *p;

		if (strcmp(row->model, m->name) != 0)
			continue;
		p = trained_parameter(s, row->name);
		if (!p)
			fail_msg("%s: '%s' is not trained", m->name, row->name);
		else if (is_gradient)
			check_sums(row, trained_value(s, p->gradient),
				   &row->gradient, 1e-6);
		else
			check_sums(row, &s->tensors[p->value], &row->weight,
				   1e-5);
		n++;
	}
	return n;
}

static void
test_steps_are_those_of_pytorch(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++) {
		const struct model *m = &models[i];
		struct model_text text = {.real = "f64"};
		struct trained *s;

		m->say(&text);
		s = trained(text.text, &m->options);
		if (!s->t)
			fail_msg("%s: %s", m->name, s->err.text);
		s->rate = m->rate;
		for (int step = 0; step < STEPS; step++) {
			trained_step(s);
			check_loss(m, step, trained_number(s, s->t->loss, 0),
				   step ? 1e-5 : 1e-6);
			if (step == 0)
				check_parameters(s, m, 1);
		}
		assert_int_equal(check_parameters(s, m, 0), s->t->n_parameters);
		trained_free(s);
	}
}

static void
fill_inputs(struct sl__training_plan *p)
{
	const struct sl_graph *graph = p->training->graph;
	const struct sl__block *main = &graph->blocks[0];
	struct sl_error err = {0};

	for (size_t i = 0; i < main->n_inputs; i++) {
		const struct sl__value *v = &graph->values[main->inputs[i]];
		struct sl_array array;
		void *data;

		if (v->kind != SL_VALUE_INPUT)
			continue;
		if (sl_plan_input(p->plan, v->name, &array, &data, &err))
			fail_msg("%s", err.text);
		for (uint64_t k = 0; k < array.n_elements; k++) {
			double x = array.dtype == SL_DTYPE_I64
					   ? (double)(k % 3)
					   : graph_text_random(v->name, k);

			sl__store_doubles(data, array.dtype, k, 1, &x);
		}
	}
}

/* A number of f32 is off by 6e-8 of itself, and some thousand roundings lead to
 * a loss. */
static void
test_losses_of_the_engine(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++) {
		const struct model *m = &models[i];
		const struct sl_plan_options options = {
			.struct_size = sizeof(options),
			.n_threads = 2,
			.dtype = SL_DTYPE_F32,
			.algorithms = SL_ALGORITHMS_FIXED};
		struct model_text text = {.real = "f32"};
		struct sl__training_plan *p;
		struct graph_text *g;
		struct sl_error err = {0};
		double loss;

		m->say(&text);
		g = graph_text(text.text);
		if (sl__training_plan_new(&p, g->graph, NULL, &m->options,
					  &options, &err))
			fail_msg("%s: %s", m->name, err.text);
		fill_inputs(p);
		for (int step = 0; step < STEPS; step++) {
			if (sl__training_plan_step(p, m->rate, &loss, NULL,
						   &err))
				fail_msg("%s: %s", m->name, err.text);
			check_loss(m, step, loss, 1e-4);
		}
		sl__training_plan_free(p);
		graph_text_free(g);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps_are_those_of_pytorch),
		cmocka_unit_test(test_losses_of_the_engine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_training.c - the graph of a training step: gradients of whole models
 * against finite differences, optimizers against their formulas, phases, and
 * what cannot be trained.
 */
#include "trained.h"

static const char mlp[] = "in x f64 4,5\n"
			  "const w1 f64 5,6 = random\n"
			  "const b1 f64 6 = random\n"
			  "const w2 f64 3,6 = random\n"
			  "const b2 f64 3 = random\n"
			  "h = MatMul x w1\n"
			  "a = Add h b1\n"
			  "r = Relu a\n"
			  "y = Gemm r w2 b2 transB=1\n"
			  "out y\n";

static void
check_loss(const char *text, const struct sl__training_options *options)
{
	struct trained *s = trained(text, options);

	check_trained_gradients(s);
	trained_free(s);
}

static void
test_gradients_of_each_loss(void **state)
{
	(void)state;
	check_loss(mlp, &(struct sl__training_options){0});
	check_loss(mlp, &(struct sl__training_options){.has_ignored = 1,
						       .ignored = 1});
	check_loss(mlp, &(struct sl__training_options){.smoothing = 0.2});
	check_loss(mlp, &(struct sl__training_options){.smoothing = 0.2,
						       .has_ignored = 1,
						       .ignored = 2});
	check_loss(mlp, &(struct sl__training_options){.loss = SL_LOSS_MSE});
	check_loss(mlp, &(struct sl__training_options){.loss = SL_LOSS_BCE});
}

/* Classes are last in text, second in images; a softmax or sigmoid at the end
 * is the loss's own. */
static void
test_gradients_of_each_ending(void **state)
{
	(void)state;
	check_loss("in x f64 2,3,4\nconst w f64 4,5 = random\n"
		   "s = MatMul x w\ny = Softmax s axis=2\nout y\n",
		   &(struct sl__training_options){0});
	check_loss("in x f64 2,3,4\nconst w f64 4,5 = random\n"
		   "s = MatMul x w\ny = LogSoftmax s axis=2\nout y\n",
		   &(struct sl__training_options){.loss = SL_LOSS_NLL});
	check_loss("in x f64 1,2,3,3\nconst w f64 3,2,2,2 = random\n"
		   "y = Conv x w\nout y\n",
		   &(struct sl__training_options){0});
	check_loss("in x f64 2,3\nconst w f64 3,2 = random\n"
		   "s = MatMul x w\ny = Sigmoid s\nout y\n",
		   &(struct sl__training_options){.loss = SL_LOSS_BCE});
}

/* A value with three uses, a weight with two, one that is written twice. */
static void
test_gradients_are_summed(void **state)
{
	static const char tied[] = "in i f64 2,4\n"
				   "const t f64 4,3 = 1,2,3,4,5,6,7,8,9,1,2,4\n"
				   "const u f64 3,4 = 1,4,7,1,2,5,8,2,3,6,9,4\n"
				   "const b f64 3 = random\n"
				   "e = MatMul i t\n"
				   "f = Add e b\n"
				   "g = Tanh f\n"
				   "k = Mul g f\n"
				   "l = Sub k f\n"
				   "y = MatMul l u\n"
				   "out y\n";
	struct trained *s = trained(
		tied, &(struct sl__training_options){.loss = SL_LOSS_MSE});

	(void)state;
	check_trained_gradients(s);
	assert_int_equal(s->t->n_parameters, 2);
	assert_non_null(trained_parameter(s, "t"));
	trained_free(s);
}

/* Normalized by the batch; the running statistics are ONNX's mixture. */
static void
test_batch_norm_trains(void **state)
{
	static const char text[] =
		"in x f64 4,2\nconst s f64 2 = 1,0.5\nconst b f64 2 = 0,1\n"
		"const m f64 2 = 0.25,0.5\nconst v f64 2 = 1,2\n"
		"n = BatchNormalization x s b m v\n"
		"const w f64 2,3 = random\ny = MatMul n w\nout y\n";
	struct trained *s = trained(
		text,
		&(struct sl__training_options){.optimizer = SL_OPTIMIZER_SGD});
	double mean = 0;
	uint32_t x, m;

	(void)state;
	check_trained_gradients(s);
	assert_int_equal(s->t->n_parameters, 3);
	assert_int_equal(s->t->n_states, 5);
	x = graph_text_value(s->text, "x");
	m = graph_text_value(s->text, "m");
	trained_step(s);
	for (uint64_t i = 0; i < 4; i++)
		mean += trained_number(s, x, 2 * i) / 4;
	/* ONNX's momentum is a float: 0.9 to 8 digits. */
	assert_true(
		fabs(((const double *)(const void *)s->tensors[m].bytes)[0] -
		     (0.9 * 0.25 + 0.1 * mean)) < 1e-7);
	trained_free(s);
}

/* One weight under the loss (w - t)^2, whose gradient is 2 (w - t). */
static const char line[] = "in x f64 1,1\nconst w f64 1,1 = 2\n"
			   "y = MatMul x w\nout y\n";

struct formula {
	struct sl__training_options options;
	double x, t, w, v, h;
	int n;
};

/* One step of each optimizer as its paper, or PyTorch where it differs, has
 * it. */
static void
formula_step(struct formula *f, double rate)
{
	const struct sl__training_options *o = &f->options;
	double g = 2 * f->x * (f->x * f->w - f->t);
	int is_adamw = o->optimizer == SL_OPTIMIZER_ADAMW;

	f->n++;
	if (o->max_norm > 0 && fabs(g) > o->max_norm)
		g *= o->max_norm / (fabs(g) + 1e-6);
	if (is_adamw)
		f->w -= rate * o->weight_decay * f->w;
	else
		g += o->weight_decay * f->w;
	if (o->optimizer == SL_OPTIMIZER_SGD) {
		f->w -= rate * g;
	} else if (o->optimizer == SL_OPTIMIZER_MOMENTUM) {
		f->v = 0.9 * f->v + g;
		f->w -= rate * (o->is_nesterov ? g + 0.9 * f->v : f->v);
	} else {
		f->v = 0.9 * f->v + 0.1 * g;
		f->h = 0.999 * f->h + 0.001 * g * g;
		f->w -= rate * (f->v / (1 - pow(0.9, f->n))) /
			(sqrt(f->h / (1 - pow(0.999, f->n))) + 1e-8);
	}
}

static void
check_optimizer(struct sl__training_options options)
{
	struct formula f = {.w = 2};
	struct trained *s;

	options.loss = SL_LOSS_MSE;
	f.options = options;
	s = trained(line, &options);
	if (!s->t)
		fail_msg("%s", s->err.text);
	f.x = graph_text_random("x", 0);
	f.t = graph_text_random("target", 0);
	for (int i = 0; i < 5; i++) {
		uint32_t w = s->t->parameters[0].value;

		trained_step(s);
		formula_step(&f, (double)0.1F);
		/* Attributes are floats: 1 - 0.999 has an error of 1e-5. */
		if (!(fabs(((const double *)(const void *)s->tensors[w]
				    .bytes)[0] -
			   f.w) <= 1e-6))
			fail_msg("%s: step %d",
				 sl_optimizer_text(options.optimizer), i);
	}
	trained_free(s);
}

#define OPTIMIZER(...) \
	check_optimizer((struct sl__training_options){__VA_ARGS__})

static void
test_optimizers_follow_their_formulas(void **state)
{
	(void)state;
	OPTIMIZER(.optimizer = SL_OPTIMIZER_SGD);
	OPTIMIZER(.optimizer = SL_OPTIMIZER_SGD, .weight_decay = 0.1,
		  .max_norm = 0.5);
	OPTIMIZER(.optimizer = SL_OPTIMIZER_MOMENTUM);
	OPTIMIZER(.optimizer = SL_OPTIMIZER_MOMENTUM, .is_nesterov = 1);
	OPTIMIZER(.optimizer = SL_OPTIMIZER_ADAM);
	OPTIMIZER(.optimizer = SL_OPTIMIZER_ADAM, .weight_decay = 0.1);
	OPTIMIZER(.optimizer = SL_OPTIMIZER_ADAMW, .weight_decay = 0.1,
		  .max_norm = 0.5);
}

/* Every phase stands together, and backward nodes know their layer. */
static void
test_phases_stand_together(void **state)
{
	static const int places[] = {[SL_PHASE_FORWARD] = 0,
				     [SL_PHASE_LOSS] = 1,
				     [SL_PHASE_BACKWARD] = 2,
				     [SL_PHASE_UPDATE] = 3};
	struct trained *s = trained(
		mlp, &(struct sl__training_options){
			     .optimizer = SL_OPTIMIZER_ADAM, .max_norm = 1});
	const struct sl__block *main = &s->t->graph->blocks[0];
	int last = 0, n_updates = 0, n_of_gemm = 0;

	(void)state;
	for (size_t i = 0; i < main->n_nodes; i++) {
		const struct sl__node *node =
			&s->t->graph->nodes[main->nodes[i]];

		assert_true(places[node->phase] >= last);
		last = places[node->phase];
		n_updates += sl__is_op(node, SL__OP_SLEUTH_Adam);
		n_of_gemm += node->phase == SL_PHASE_BACKWARD &&
			     node->forward == maker_of(s->text, "y");
	}
	assert_int_equal(last, 3);
	assert_int_equal(n_updates, 4);
	/* By input, by weight, by bias. */
	assert_int_equal(n_of_gemm, 3);
	assert_int_equal(s->t->n_states, 4 * 3 + 1);
	trained_free(s);
}

/* Neither gradient nor moment of what is frozen, nor what only it needs. */
static void
test_frozen_parameters_are_left_out(void **state)
{
	struct graph_text *g = graph_text(mlp);
	unsigned char is_frozen[16] = {0};
	struct sl__training_options options = {
		.optimizer = SL_OPTIMIZER_MOMENTUM, .is_frozen = is_frozen};
	struct trained *s;

	(void)state;
	is_frozen[graph_text_value(g, "w1")] = 1;
	is_frozen[graph_text_value(g, "b1")] = 1;
	s = trained(mlp, &options);
	assert_int_equal(s->t->n_parameters, 2);
	assert_null(trained_parameter(s, "w1"));
	check_trained_gradients(s);
	for (size_t i = 0; i < s->t->graph->n_nodes; i++) {
		const struct sl__node *node = &s->t->graph->nodes[i];

		assert_false(node->phase == SL_PHASE_BACKWARD &&
			     node->forward == maker_of(g, "r"));
	}
	trained_free(s);
	graph_text_free(g);
}

static void
check_untrainable(const char *text, struct sl__training_options options,
		  const char *why)
{
	struct trained *s = trained(text, &options);

	assert_null(s->t);
	if (!strstr(s->err.text, why))
		fail_msg("'%s', expected '%s'", s->err.text, why);
	trained_free(s);
}

static void
test_what_cannot_be_trained(void **state)
{
	static const unsigned char all[16] = {1, 1, 1, 1, 1, 1, 1, 1,
					      1, 1, 1, 1, 1, 1, 1, 1};

	(void)state;
	check_untrainable("in x f64 2,3\ny = Relu x\nout y\n",
			  (struct sl__training_options){0},
			  "no parameters to train");
	check_untrainable(mlp, (struct sl__training_options){.is_frozen = all},
			  "frozen");
	check_untrainable("in x f64 2,3\nconst w f64 3,4 = random\n"
			  "h = MatMul x w\nz = Floor h\nout z\n",
			  (struct sl__training_options){0},
			  "nothing leads from a parameter to output 'z'");
	check_untrainable("in x f64 2,2\nconst w f64 2,2 = random\n"
			  "h = MatMul x w\nd = Det h\nout d\n",
			  (struct sl__training_options){.loss = SL_LOSS_MSE},
			  "node 'd' (Det): there is no gradient");
	check_untrainable(mlp, (struct sl__training_options){.output = "q"},
			  "no output 'q'");
	check_untrainable("in x f64 2,3\nconst w f64 3,4 = random\n"
			  "h = MatMul x w\na = ArgMax h\nout a\n",
			  (struct sl__training_options){0},
			  "holds no real numbers");
	check_untrainable("in x f64 2,3\nconst w f64 3,4 = random\n"
			  "s = MatMul x w\np = Softmax s\nout p\n",
			  (struct sl__training_options){.loss = SL_LOSS_NLL},
			  "nll takes logarithms of probabilities");
	check_untrainable("in x f64 3\nconst w f64 3 = random\n"
			  "y = Mul x w\nout y\n",
			  (struct sl__training_options){0}, "without classes");
}

static void
test_labels_out_of_range_are_refused(void **state)
{
	struct trained *s = trained(mlp, &(struct sl__training_options){0});

	(void)state;
	s->n_classes = 4;
	trained_run(s);
	assert_int_equal(s->rc, SL_E_DATA);
	assert_non_null(strstr(s->err.text, "class 3 of 3"));
	trained_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gradients_of_each_loss),
		cmocka_unit_test(test_gradients_of_each_ending),
		cmocka_unit_test(test_gradients_are_summed),
		cmocka_unit_test(test_batch_norm_trains),
		cmocka_unit_test(test_optimizers_follow_their_formulas),
		cmocka_unit_test(test_phases_stand_together),
		cmocka_unit_test(test_frozen_parameters_are_left_out),
		cmocka_unit_test(test_what_cannot_be_trained),
		cmocka_unit_test(test_labels_out_of_range_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_torch_training.c - three training steps of small models against
 * PyTorch's (oracles/training.py), in f64 from the same weights.
 *
 * Attributes of nodes are floats: rates and betas have an error of 1e-8, and
 * 1 - 0.999 one of 1e-5, which Adam's quotients keep; so gradients and first
 * losses agree to 1e-6, weights after three steps to 1e-5.
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

#define NORM(i)                           \
	"const s" #i " f64 4 = 1,1,1,1\n" \
	"const o" #i " f64 4 = 0,0,0,0\n" \
	"const m" #i " f64 4 = 0,0,0,0\n" \
	"const v" #i " f64 4 = 1,1,1,1\n"

static const char resnet[] =
	"in x f64 2,3,8,8\n"
	"const w1 f64 4,3,3,3 = random\n" NORM(
		1) "const w2 f64 4,2,3,3 = random\n" NORM(2) "const w3 f64 3,4 "
							     "= random\n"
							     "const b3 f64 3 = "
							     "random\n"
							     "a = Conv x w1 "
							     "pads=[1,1,1,1]\n"
							     "b = "
							     "BatchNormalizatio"
							     "n a s1 o1 m1 v1\n"
							     "c = Relu b\n"
							     "d = MaxPool c "
							     "kernel_shape=[3,"
							     "3] strides=[2,2] "
							     "pads=[1,1,1,1]\n"
							     "e = Conv d w2 "
							     "pads=[1,1,1,1] "
							     "group=2\n"
							     "f = "
							     "BatchNormalizatio"
							     "n e s2 o2 m2 v2\n"
							     "g = Add f d\n"
							     "h = Relu g\n"
							     "i = "
							     "GlobalAveragePool"
							     " h\n"
							     "j = Flatten i\n"
							     "y = Gemm j w3 b3 "
							     "transB=1\n"
							     "out y\n";

static const char encoder[] = "in i i64 2,5\n"
			      "const t f64 7,8 = random\n"
			      "const q f64 8,8 = random\n"
			      "const k f64 8,8 = random\n"
			      "const v f64 8,8 = random\n"
			      "const o f64 8,8 = random\n"
			      "const s1 f64 8 = 1,1,1,1,1,1,1,1\n"
			      "const z1 f64 8 = 0,0,0,0,0,0,0,0\n"
			      "const s2 f64 8 = 1,1,1,1,1,1,1,1\n"
			      "const z2 f64 8 = 0,0,0,0,0,0,0,0\n"
			      "const u f64 8,16 = random\n"
			      "const c f64 16 = random\n"
			      "const d f64 16,8 = random\n"
			      "const half f64 - = 0.5\n"
			      "const to_heads i64 4 = 2,5,2,4\n"
			      "const to_rows i64 3 = 2,5,8\n"
			      "e = Gather t i\n"
			      "n = LayerNormalization e s1 z1\n"
			      "nq = MatMul n q\n"
			      "nk = MatMul n k\n"
			      "nv = MatMul n v\n"
			      "rq = Reshape nq to_heads\n"
			      "rk = Reshape nk to_heads\n"
			      "rv = Reshape nv to_heads\n"
			      "hq = Transpose rq perm=[0,2,1,3]\n"
			      "hk = Transpose rk perm=[0,2,3,1]\n"
			      "hv = Transpose rv perm=[0,2,1,3]\n"
			      "qk = MatMul hq hk\n"
			      "sc = Mul qk half\n"
			      "sm = Softmax sc axis=3\n"
			      "at = MatMul sm hv\n"
			      "ta = Transpose at perm=[0,2,1,3]\n"
			      "ra = Reshape ta to_rows\n"
			      "pa = MatMul ra o\n"
			      "r1 = Add pa e\n"
			      "m = LayerNormalization r1 s2 z2\n"
			      "mu = MatMul m u\n"
			      "mc = Add mu c\n"
			      "ge = Gelu mc\n"
			      "md = MatMul ge d\n"
			      "r2 = Add md r1\n"
			      "tt = Transpose t perm=[1,0]\n"
			      "y = MatMul r2 tt\n"
			      "out y\n";

static const char lstm[] = "in x f64 4,2,3\n"
			   "const w f64 1,12,3 = random\n"
			   "const r f64 1,12,3 = random\n"
			   "const b f64 1,24 = random\n"
			   "const l f64 3,3 = random\n"
			   "const axis i64 1 = 1\n"
			   "h = LSTM x w r b hidden_size=3\n"
			   "s = Squeeze h axis\n"
			   "y = MatMul s l\n"
			   "out y\n";

static const struct model {
	const char *name, *text;
	double rate;
	struct sl__training_options options;
} models[] = {
	{"mlp",
	 mlp,
	 0.1,
	 {.optimizer = SL_OPTIMIZER_MOMENTUM,
	  .is_nesterov = 1,
	  .weight_decay = 0.01,
	  .smoothing = 0.1}},
	{"resnet", resnet, 0.01, {.optimizer = SL_OPTIMIZER_ADAM}},
	{"encoder",
	 encoder,
	 0.01,
	 {.optimizer = SL_OPTIMIZER_ADAMW,
	  .weight_decay = 0.1,
	  .max_norm = 0.5}},
	{"lstm", lstm, 0.1, {.optimizer = SL_OPTIMIZER_SGD}},
};

enum what { A_LOSS, A_GRADIENT, A_WEIGHT };

static const struct row {
	enum what what;
	const char *model, *name;
	int step;
	double value, magnitude;
} rows[] = {
#define LOSS(model, step, value) {A_LOSS, model, "", step, value, 0},
#define GRADIENT(model, name, sum, size) \
	{A_GRADIENT, model, name, 0, sum, size},
#define WEIGHT(model, name, sum, size) {A_WEIGHT, model, name, 2, sum, size},
#include "torch_training.def"
};

static void
check_row(struct trained *s, const struct row *row, double share)
{
	const struct sl__trained_parameter *p = trained_parameter(s, row->name);
	const struct sl__tensor *t;
	double sum = 0, magnitude = 0, x;

	if (row->what == A_LOSS) {
		sum = trained_number(s, s->t->loss, 0);
	} else {
		assert_non_null(p);
		t = row->what == A_WEIGHT ? &s->tensors[p->value]
					  : trained_value(s, p->gradient);
		for (uint64_t i = 0; i < t->n_elements; i++) {
			assert_true(sl__tensor_doubles(t, i, 1, &x));
			sum += x;
			magnitude += fabs(x);
		}
	}
	if (!(fabs(sum - row->value) <= share * (1 + row->magnitude)) ||
	    !(fabs(magnitude - row->magnitude) <= share * (1 + row->magnitude)))
		fail_msg("%s %s, step %d: %.12g (%.12g), expected %.12g "
			 "(%.12g)",
			 row->model, row->name, row->step, sum, magnitude,
			 row->value, row->magnitude);
}

static void
check_model(const struct model *m)
{
	struct trained *s = trained(m->text, &m->options);
	size_t n = 0, n_parameters = 0;

	if (!s->t)
		fail_msg("%s: %s", m->name, s->err.text);
	s->rate = m->rate;
	for (int step = 0; step < 3; step++) {
		trained_step(s);
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			if (strcmp(rows[i].model, m->name) != 0 ||
			    rows[i].step != step)
				continue;
			check_row(s, &rows[i], step ? 1e-5 : 1e-6);
			n_parameters += rows[i].what == A_WEIGHT;
			n++;
		}
	}
	assert_int_equal(n_parameters, s->t->n_parameters);
	assert_int_equal(n, 3 + 2 * n_parameters);
	trained_free(s);
}

static void
test_steps_are_those_of_pytorch(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		check_model(&models[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps_are_those_of_pytorch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

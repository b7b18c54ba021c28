/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_layer_sensitivity.c - a layer that 8 bits spoil is found, and it alone
 * stays in f32.
 *
 * Layer "bad" is the identity but for a last row of 1000, which an input of 0
 * meets: its scale is 1000/127, so that 1 rounds to 0 and all of its results
 * are 0.  Hence its output error is 1, and a model that has it in 8 bits calls
 * every sample class 0.
 */
#include "graph_text.h"
#include "sleuth.h"

#define MASK                                                    \
	"opset 13\nin x f32 n,6\nconst m f32 6 = 1,1,1,1,1,0\n" \
	"k = Mul x m\n"
#define EYE "1,0,0,0,0,0,0,1,0,0,0,0,0,0,1,0,0,0,0,0,0,1,0,0,0,0,0,0,1,0,"
#define BAD                                                              \
	"const v f32 6,6 = " EYE "1000,1000,1000,1000,1000,1000\nbad = " \
	"MatMul k v\n"
#define GOOD(name, from)                                      \
	"const w" name " f32 6,6 = " EYE "0,0,0,0,0,1\n" name \
	" = MatMul " from " w" name "\n"

struct planted {
	struct graph_text *g;
	struct sl__opset opset;
	struct sl_variant *v;
	struct sl_error err;
};

static void
begin(struct planted *p, const char *text)
{
	memset(p, 0, sizeof(*p));
	p->g = graph_text(text);
	p->opset = (struct sl__opset){"", p->g->version};
	p->g->graph->opsets = &p->opset;
	p->g->graph->n_opsets = 1;
}

static enum sl_status
make(struct planted *p, const struct sl_variant_options *how)
{
	return sl_variant_new(&p->v, p->g->graph, "int8", how, &p->err);
}

static void
end(struct planted *p)
{
	sl_variant_free(p->v);
	graph_text_free(p->g);
}

/* Each sample is 1 in one of five places, which is its class. */
static enum sl_status
fill(void *ctx, enum sl_split split, size_t index, void *const *inputs,
     int64_t *labels, struct sl_error *err)
{
	float *x = inputs[0];

	(void)ctx;
	(void)err;
	/* The test split is for the result, not for choices. */
	assert_int_equal(split, SL_SPLIT_TRAIN);
	for (size_t i = 0; i < 6; i++)
		x[i] = i == index % 5 ? 1.0f : 0.0f;
	labels[0] = (int64_t)(index % 5);
	return SL_OK;
}

static struct sl_dataset *
open_data(void)
{
	static const int64_t dims[] = {6};
	static const struct sl_data_input inputs[] = {
		{"x", SL_DTYPE_F32, 1, dims}};
	const struct sl_data_source source = {.struct_size = sizeof(source),
					      .name = "places",
					      .inputs = inputs,
					      .n_inputs = 1,
					      .n_labels = 1,
					      .n_classes = 6,
					      .n_samples = {100, 0, 10},
					      .fill = fill};
	struct sl_dataset *data;

	assert_int_equal(sl_dataset_new(&data, &source, NULL, NULL), SL_OK);
	return data;
}

static void
check_choice(const struct sl_variant_change *c, double most)
{
	assert_int_equal(c->n_sensitivities, 3);
	assert_string_equal(c->sensitivities[0].layer, "bad");
	assert_string_equal(c->sensitivities[0].type, "MatMul");
	assert_float_equal(c->sensitivities[0].output_error, 1, 1e-6);
	assert_true(c->sensitivities[0].is_kept);
	for (size_t i = 1; i < 3; i++) {
		assert_true(c->sensitivities[i].output_error < most);
		assert_false(c->sensitivities[i].is_kept);
	}
	assert_int_equal(c->n_layers, 2);
}

/* One in five samples is class 0, which all become. */
static void
by_accuracy(void **state)
{
	struct sl_variant_options how = {.struct_size = sizeof(how),
					 .accuracy_drop = 0.005};
	struct sl_dataset *data = open_data();
	struct planted p;

	(void)state;
	how.data = data;
	begin(&p, MASK BAD GOOD("a", "bad") GOOD("b", "a") "out b\n");
	if (make(&p, &how))
		fail_msg("%s", p.err.text);
	check_choice(&p.v->changes[0], 0.02);
	assert_float_equal(p.v->changes[0].drop_of_all, 0.8, 1e-9);
	assert_float_equal(p.v->changes[0].drop, 0, 1e-9);
	assert_non_null(strstr(p.v->changes[0].text,
			       "1 of 3 layers left in f32: all in 8 bits lose "
			       "80 points on the training split, these 0"));
	sl_dataset_close(data);
	end(&p);
}

/* Without labels the model itself says what is right.  Synthetic numbers beyond
 * those that calibrated are clipped, which costs the good layers more. */
static void
by_agreement(void **state)
{
	const struct sl_variant_options how = {.struct_size = sizeof(how),
					       .accuracy_drop = 0.1};
	struct planted p;

	(void)state;
	begin(&p,
	      MASK GOOD("a", "k") GOOD(
		      "b",
		      "a") "const v f32 6,6 = " EYE
			   "1000,1000,1000,1000,1000,1000\nbad = MatMul b v\n"
			   "out bad\n");
	if (make(&p, &how))
		fail_msg("%s", p.err.text);
	check_choice(&p.v->changes[0], 0.2);
	assert_true(p.v->changes[0].drop_of_all > 0.5);
	assert_true(p.v->changes[0].drop <= 0.1);
	assert_non_null(strstr(p.v->changes[0].text, "on synthetic inputs"));
	end(&p);
}

/* A layer that is kept anyway is not looked at; where all is well, all are
 * int8, and without a limit nothing is measured. */
static void
as_asked(void **state)
{
	static const char *const keep[] = {"bad"};
	struct sl_variant_options how = {.struct_size = sizeof(how),
					 .accuracy_drop = 0.1,
					 .keep = keep,
					 .n_keep = 1};
	struct planted p;

	(void)state;
	begin(&p, MASK BAD GOOD("a", "bad") "out a\n");
	if (make(&p, &how))
		fail_msg("%s", p.err.text);
	assert_int_equal(p.v->changes[0].n_sensitivities, 1);
	assert_string_equal(p.v->changes[0].sensitivities[0].layer, "a");
	assert_false(p.v->changes[0].sensitivities[0].is_kept);
	assert_int_equal(p.v->changes[0].n_layers, 1);
	sl_variant_free(p.v);

	how.accuracy_drop = 0;
	how.n_keep = 0;
	assert_int_equal(make(&p, &how), SL_OK);
	assert_int_equal(p.v->changes[0].n_sensitivities, 0);
	assert_int_equal(p.v->changes[0].n_layers, 2);
	end(&p);
}

/* What came closest is told where nothing is within the limit. */
static void
refused(void **state)
{
	volatile sig_atomic_t stop = 1;
	struct sl_variant_options how = {.struct_size = sizeof(how),
					 .accuracy_drop = 0.005};
	struct sl_dataset *data = open_data();
	struct planted p;

	(void)state;
	how.data = data;
	begin(&p, MASK BAD "out bad\n");
	assert_int_equal(make(&p, &how), SL_E_DATA);
	assert_non_null(strstr(p.err.text,
			       "no choice of layers loses at most 0.5 points; "
			       "the closest, with 0 of 1 left in f32, loses "
			       "80"));
	how.interrupt = &stop;
	assert_int_equal(make(&p, &how), SL_E_INTERRUPTED);
	end(&p);
	how.interrupt = NULL;
	how.data = NULL;
	begin(&p, "opset 13\nin x f32 n,6\nconst w f32 6,1 = 1,1,1,1,1,1\n"
		  "y = MatMul x w\nout y\n");
	assert_int_equal(make(&p, &how), SL_E_DATA);
	assert_non_null(strstr(p.err.text, "one number for each sample"));
	end(&p);
	sl_dataset_close(data);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_accuracy),
		cmocka_unit_test(by_agreement),
		cmocka_unit_test(as_asked),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

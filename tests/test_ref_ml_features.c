/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ref_ml_features.c - proves what is done to features by numbers that can
 * be checked by hand; tests/oracles/ml_cases.py compares with ONNX Runtime.
 */
#include "evaluated.h"

static void
scales_and_imputes(void **state)
{
	(void)state;
	check_evaluated("ai.onnx.ml.Scaler 1 (f32[2,2]={1,2,3,4}) "
			"offset=[1.0,2.0] scale=[0.5,4.0]",
			"f32[2,2]={0,0,1,8}");
	check_evaluated("ai.onnx.ml.Scaler 1 (i64[3]={1,2,3}) offset=[1.0] "
			"scale=[0.5]",
			"f32[3]={0,0.5,1}");
	check_fails("ai.onnx.ml.Scaler 1 (f32[2,3]={1,2,3,4,5,6}) "
		    "offset=[1.0,2.0] scale=[0.5]",
		    "'offset' has 2 numbers for 3 features");
	check_evaluated("ai.onnx.ml.Imputer 1 (f32[2,2]={nan,2,3,nan}) "
			"imputed_value_floats=[7.0,8.0] "
			"replaced_value_float=nan",
			"f32[2,2]={7,2,3,8}");
	check_evaluated("ai.onnx.ml.Imputer 1 (f32[1,3]={0.5,nan,2}) "
			"imputed_value_floats=[9.0] replaced_value_float=0.5",
			"f32[1,3]={9,nan,2}");
	check_evaluated("ai.onnx.ml.Imputer 1 (i64[1,3]={5,-1,2}) "
			"imputed_value_int64s=[1,2,3] replaced_value_int64=-1",
			"i64[1,3]={5,2,2}");
}

static void
normalizes_rows(void **state)
{
	(void)state;
	check_evaluated("ai.onnx.ml.Normalizer 1 (f32[2,2]={3,-4,0,0}) norm=L2",
			"f32[2,2]={0.6,-0.8,0,0}");
	check_evaluated("ai.onnx.ml.Normalizer 1 (f32[2,2]={3,-1,0,2}) norm=L1",
			"f32[2,2]={0.75,-0.25,0,1}");
	check_evaluated(
		"ai.onnx.ml.Normalizer 1 (f32[2,2]={2,-4,1,4}) norm=MAX",
		"f32[2,2]={1,-2,0.25,1}");
}

static void
encodes_categories(void **state)
{
	(void)state;
	check_evaluated("ai.onnx.ml.OneHotEncoder 1 (i64[3]={7,5,6}) "
			"cats_int64s=[5,7]",
			"f32[3,2]={0,1,1,0,0,0}");
	check_evaluated("ai.onnx.ml.OneHotEncoder 1 (string[2,1]={'b','a'}) "
			"cats_strings=['a','b','c']",
			"f32[2,1,3]={0,1,0,1,0,0}");
	check_fails("ai.onnx.ml.OneHotEncoder 1 (i64[1]={6}) "
		    "cats_int64s=[5,7] zeros=0",
		    "element 0 is no category");
	check_evaluated("ai.onnx.ml.FeatureVectorizer 1 (f32[2,2]={1,2,3,4}, "
			"f32[2,1]={5,6}) inputdimensions=[2,1]",
			"f32[2,3]={1,2,5,3,4,6}");
}

/* A table for each row: classes, then scores. */
static void
zips_scores(void **state)
{
	struct evaluated *e = evaluated("ai.onnx.ml.ZipMap 1 "
					"(f32[2,2]={0.25,0.75,1,0}) "
					"classlabels_strings=['no','yes']");
	const struct sl__runtime_value *out = evaluated_out(e, 0);

	(void)state;
	assert_int_equal(out->kind, SL__TYPE_SEQUENCE);
	assert_int_equal(out->n_items, 2);
	assert_int_equal(out->items[1].kind, SL__TYPE_MAP);
	e->text[0] = '\0';
	evaluated_add_tensor(e, &out->items[0].items[0].tensor);
	evaluated_add_tensor(e, &out->items[0].items[1].tensor);
	assert_string_equal(e->text,
			    "string[2]={'no','yes'}f32[2]={0.25,0.75}");
	evaluated_free(e);
	check_fails("ai.onnx.ml.ZipMap 1 (f32[1,2]={1,0}) "
		    "classlabels_int64s=[1,2,3]",
		    "does not name 2 classes");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scales_and_imputes),
		cmocka_unit_test(normalizes_rows),
		cmocka_unit_test(encodes_categories),
		cmocka_unit_test(zips_scores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

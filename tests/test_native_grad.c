/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_native_grad.c - kernels of training steps against the reference
 * kernels: slopes, softmax, norms, embeddings, convolutions, updates.
 */
#include "engine_case.h"

static void
test_slopes(void **state)
{
	static const char *const functions[] = {
		"Clip",        "Elu",   "Exp",     "Gelu",      "GeluTanh",
		"HardSwish",   "Relu",  "Sigmoid", "LeakyRelu", "Softplus",
		"HardSigmoid", "Swish", "Tanh",    "Reciprocal"};
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		snprintf(text, sizeof(text),
			 "sleuth.UnaryGrad 1 (f32[7,143], f32[7,143]) "
			 "function=%s alpha=0.3 beta=0.5",
			 functions[i]);
		check_kernel(text);
	}
	check_case(&(struct engine_case){
		.text = "sleuth.UnaryGrad 1 (f32[99], f32[99]) function=Sqrt",
		.low = 0.1,
		.high = 2});
	check_case(&(struct engine_case){
		.text = "sleuth.UnaryGrad 1 (f32[99], f32[99]) function=Log",
		.low = 0.1,
		.high = 2});
	/* One without a kernel of its own. */
	check_case(&(struct engine_case){
		.text = "sleuth.UnaryGrad 1 (f32[9], f32[9]) function=Cos",
		.is_reference = 1});
}

static void
test_softmax(void **state)
{
	(void)state;
	check_kernel("sleuth.SoftmaxGrad 1 (f32[5,7,67], f32[5,7,67])");
	check_kernel("sleuth.SoftmaxGrad 1 (f32[3,5,1], f32[3,5,1]) axis=1");
	check_kernel("sleuth.LogSoftmaxGrad 1 (f32[40,33], f32[40,33])");
	check_case(&(struct engine_case){
		.text = "sleuth.SoftmaxGrad 1 (f32[3,5,2], f32[3,5,2]) axis=1",
		.is_reference = 1});
}

static void
test_norms(void **state)
{
	(void)state;
	check_kernel("sleuth.LayerNormGrad 1 (f32[9,5,77], f32[9,5,77], "
		     "f32[77]) axis=2 centred=1 -> 3");
	check_kernel("sleuth.LayerNormGrad 1 (f32[9,5,7], f32[9,5,7], "
		     "f32[5,7]) axis=1 centred=0 epsilon=0.01 -> 2");
	check_kernel("sleuth.LayerNormGrad 1 (f32[9,65], f32[9,65], f32[65]) "
		     "axis=1 centred=1 -> 1");
	check_case(&(struct engine_case){
		.text = "sleuth.BatchNormGrad 1 (f32[4,5,9,7], f32[4,5,9,7], "
			"f32[5], f32[5], f32[5]) training_mode=1 -> 3",
		.low = 0.2,
		.high = 2});
	check_case(&(struct engine_case){
		.text = "sleuth.BatchNormGrad 1 (f32[4,5], f32[4,5], f32[5], "
			"f32[5], f32[5]) -> 3",
		.low = 0.2,
		.high = 2});
}

static void
test_batch_norm_in_training(void **state)
{
	(void)state;
	check_case(&(struct engine_case){
		.text = "BatchNormalization 15 (f32[4,5,9,7], f32[5], f32[5], "
			"f32[5], f32[5]) training_mode=1 -> 5",
		.low = 0.2,
		.high = 2});
	check_case(&(struct engine_case){
		.text = "BatchNormalization 15 (f32[8,3], f32[3], f32[3], "
			"f32[3], f32[3]) training_mode=1 momentum=0.5 -> 3",
		.low = 0.2,
		.high = 2});
}

static void
test_pools(void **state)
{
	(void)state;
	check_kernel("sleuth.MaxPoolGrad 1 (f32[2,3,5,4], f32[2,3,9,9]) "
		     "shape=[2,3,9,9] kernel_shape=[3,2] strides=[2,3] "
		     "pads=[1,1,1,1]");
	check_kernel("sleuth.MaxPoolGrad 1 (f32[2,3,4], f32[2,3,9]) "
		     "shape=[2,3,9] kernel_shape=[3] strides=[2] "
		     "dilations=[2] pads=[1,1]");
	check_kernel("sleuth.AveragePoolGrad 1 (f32[2,3,2,3,3]) "
		     "shape=[2,3,4,5,5] kernel_shape=[2,3,3] strides=[2,2,2] "
		     "pads=[0,1,1,0,1,1]");
	check_kernel("sleuth.AveragePoolGrad 1 (f32[2,3,4,4]) "
		     "shape=[2,3,6,6] kernel_shape=[3,3] strides=[2,2] "
		     "pads=[1,1,1,1] count_include_pad=1");
}

static void
test_losses(void **state)
{
	static const char *const lines[] = {
		"SoftmaxCrossEntropyLoss 13 (f32[7,45], i64[7]) -> 2",
		"SoftmaxCrossEntropyLoss 13 (f32[7,45], i64[7]) "
		"reduction=sum ignore_index=3",
		"sleuth.SoftmaxLossGrad 1 (f32[], i64[7], f32[7,45]) "
		"shape=[7,45] ignore_index=2",
		"sleuth.SoftmaxLossGrad 1 (f32[], i64[7], f32[7,45]) "
		"shape=[7,45] reduction=sum"};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		check_case(&(struct engine_case){
			.text = lines[i], .low = 0, .high = 5});
	check_case(&(struct engine_case){
		.text = "SoftmaxCrossEntropyLoss 13 (f32[7,4], i64[7]) "
			"reduction=none",
		.low = 0,
		.high = 4,
		.is_reference = 1});
}

static void
test_embeddings(void **state)
{
	(void)state;
	check_case(&(struct engine_case){
		.text = "sleuth.GatherGrad 1 (f32[6,4,33], i64[6,4]) axis=0 "
			"shape=[9,33]",
		.low = -9,
		.high = 9});
	check_case(&(struct engine_case){
		.text = "sleuth.GatherGrad 1 (f32[3,7,2], i64[7]) axis=1 "
			"shape=[3,5,2]",
		.low = 0,
		.high = 5});
}

#define WINDOW         "kernel_shape=[3,2] strides=[2,1] dilations=[1,2] pads=[1,0,1,2]"
#define CONV_CASE(...) check_case(&(struct engine_case){__VA_ARGS__})

static void
test_convolutions(void **state)
{
#ifdef SL_WITHOUT_DNNL
	const int is_reference = 1;
#else
	const int is_reference = 0;
#endif

	(void)state;
	CONV_CASE(.text = "sleuth.ConvGradInput 1 (f32[2,6,5,9], "
			  "f32[6,4,3,2]) shape=[2,4,9,9] " WINDOW,
		  .is_reference = is_reference);
	CONV_CASE(.text = "sleuth.ConvGradWeight 1 (f32[2,4,9,9], "
			  "f32[2,6,5,9]) shape=[6,4,3,2] " WINDOW " -> 2",
		  .is_reference = is_reference);
	CONV_CASE(.text = "sleuth.ConvGradInput 1 (f32[2,6,5,9], "
			  "f32[6,2,3,2]) group=2 shape=[2,4,9,9] " WINDOW,
		  .is_reference = is_reference);
	CONV_CASE(.text = "sleuth.ConvGradWeight 1 (f32[2,4,9,9], "
			  "f32[2,6,5,9]) group=2 shape=[6,2,3,2] " WINDOW,
		  .is_reference = is_reference);
	CONV_CASE(.text = "sleuth.ConvGradWeight 1 (f32[3,32,14,14], "
			  "f32[3,32,14,14]) group=32 shape=[32,1,3,3] "
			  "kernel_shape=[3,3] pads=[1,1,1,1] -> 2",
		  .is_reference = is_reference);
	CONV_CASE(.text = "sleuth.ConvGradInput 1 (f32[1,16,14,14], "
			  "f32[16,32,3,3]) shape=[1,32,14,14] "
			  "kernel_shape=[3,3] pads=[1,1,1,1]",
		  .is_reference = is_reference);
}

static void
test_updates(void **state)
{
	const double low = 0.1, high = 1;

	(void)state;
#define UPDATE(line) CONV_CASE(.text = line, .low = low, .high = high)
	UPDATE("sleuth.Sgd 1 (f32[], f32[7,99], f32[7,99])");
	UPDATE("sleuth.Sgd 1 (f32[], f32[999], f32[999], f32[]) "
	       "weight_decay=0.1");
	UPDATE("sleuth.Sgd 1 (f32[], f32[999], f32[999], _, f32[999]) "
	       "momentum=0.9 -> 2");
	UPDATE("sleuth.Sgd 1 (f32[], f32[999], f32[999], f32[], f32[999]) "
	       "momentum=0.9 nesterov=1 weight_decay=0.1 -> 2");
	UPDATE("sleuth.Adam 1 (f32[], i64[]={3}, f32[999], f32[999], "
	       "f32[999], f32[999])");
	UPDATE("sleuth.Adam 1 (f32[], i64[]={1}, f32[999], f32[999], "
	       "f32[999], f32[999], f32[]) weight_decay=0.1");
	UPDATE("sleuth.Adam 1 (f32[], i64[]={2}, f32[999], f32[999], "
	       "f32[999], f32[999]) weight_decay=0.1 decoupled=1");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slopes),
		cmocka_unit_test(test_softmax),
		cmocka_unit_test(test_norms),
		cmocka_unit_test(test_batch_norm_in_training),
		cmocka_unit_test(test_pools),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_embeddings),
		cmocka_unit_test(test_convolutions),
		cmocka_unit_test(test_updates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

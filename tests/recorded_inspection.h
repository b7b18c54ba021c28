/* SPDX-License-Identifier: Apache-2.0 */
/* recorded_inspection.h - a small network as inspected, for tests of pages. */
#ifndef SL_TEST_RECORDED_INSPECTION_H
#define SL_TEST_RECORDED_INSPECTION_H

#include "sleuth.h"

#include <math.h>

/*
 * A 3x3 convolution from 3 to 16 channels over 32x32 (442,368 MACs), a
 * BatchNorm, a lookalike of another domain whose cost is not known, and a
 * product of 16 with 10 (160 MACs): 442,528 MACs in all.
 */
static const struct sl_layer recorded_layers[] = {
	{.name = "features.0",
	 .type = "Conv",
	 .domain = "",
	 .node_id = 0,
	 .path = "features",
	 .n_calls = 1,
	 .cost = {.fma = 442368,
		  .macs = 442368,
		  .weight_bytes = 1728,
		  .read_bytes = 12288,
		  .written_bytes = 65536,
		  .work = SL_WORK_CONVOLUTION},
	 .parameters = 432,
	 .dtype = SL_DTYPE_F32,
	 .output_shape = "1x16x32x32",
	 .output_bytes = 65536,
	 .intensity = 884736.0 / 79552,
	 .share = 442368.0 / 442528},
	{.name = "features.1",
	 .type = "BatchNormalization",
	 .domain = "",
	 .node_id = 1,
	 .path = "features",
	 .n_calls = 1,
	 .cost = {.fma = 16384,
		  .weight_bytes = 256,
		  .read_bytes = 65536,
		  .written_bytes = 65536,
		  .work = SL_WORK_BATCH_NORM},
	 .parameters = 32,
	 .dtype = SL_DTYPE_F32,
	 .output_shape = "1x16x32x32",
	 .output_bytes = 65536,
	 .intensity = 32768.0 / 131328,
	 .share = 0},
	{.name = "odd, \"one\"",
	 .type = "Squash",
	 .domain = "org.example",
	 .node_id = 2,
	 .path = "",
	 .n_calls = 1,
	 .cost = {.read_bytes = 65536,
		  .written_bytes = 64,
		  .basis = SL_BASIS_UNKNOWN,
		  .why = "no rule for org.example"},
	 .dtype = SL_DTYPE_F32,
	 .output_shape = "1x16",
	 .output_bytes = 64,
	 .intensity = (double)NAN,
	 .share = (double)NAN},
	{.name = "classifier.fc",
	 .type = "Gemm",
	 .domain = "",
	 .node_id = 3,
	 .path = "classifier",
	 .n_calls = 1,
	 .cost = {.fma = 160,
		  .add = 10,
		  .macs = 160,
		  .weight_bytes = 680,
		  .read_bytes = 64,
		  .written_bytes = 40,
		  .work = SL_WORK_LINEAR},
	 .parameters = 170,
	 .dtype = SL_DTYPE_F32,
	 .output_shape = "1x10",
	 .output_bytes = 40,
	 .intensity = 330.0 / 784,
	 .share = 160.0 / 442528},
};

static const struct sl_layer_group recorded_types[] = {
	{"Conv", 1, 432, 442368, 884736, 79552, 442368.0 / 442528},
	{"Gemm", 1, 170, 160, 330, 784, 160.0 / 442528},
	{"BatchNormalization", 1, 32, 0, 32768, 131328, 0},
	{"Squash", 1, 0, 0, 0, 65600, 0},
};
static const struct sl_layer_group recorded_paths[] = {
	{"features.a", 1, 432, 442368, 884736, 79552, 442368.0 / 442528},
	{"classifier", 1, 170, 160, 330, 784, 160.0 / 442528},
	{"features.b", 1, 32, 0, 32768, 131328, 0},
	{"", 1, 0, 0, 0, 65600, 0},
};

static const int64_t recorded_dims[] = {16, 3, 3, 3};
static const struct sl_parameter_row recorded_tensors[] = {
	{"features.0.weight", 1, SL_ROLE_WEIGHT, SL_DTYPE_F32, 4, recorded_dims,
	 432, 1728, NULL, NULL},
	{"copy", 2, SL_ROLE_TIED, SL_DTYPE_F32, 4, recorded_dims, 432, 1728,
	 "features.0.weight", "weights.bin"},
	{"epsilon", 3, SL_ROLE_CONSTANT, SL_DTYPE_F32, 0, NULL, 1, 4, NULL,
	 NULL},
};
static const struct sl_dtype_total recorded_dtypes[] = {
	{SL_DTYPE_F32, 1099, 4396}};

static const char *const recorded_reasons[] = {
	"Squash (org.example): no rule for org.example"};

static const struct sl_live_value recorded_alive[] = {
	{"features.0_out", 65536}, {"features.1_out", 65536}};

static const struct sl_growth recorded_growth[] = {
	{SL_GROWTH_BATCH, SL_GROWTH_FLOPS, 1, 0, 885056, 0, 1, 1, 1, NULL},
	{SL_GROWTH_SEQ, SL_GROWTH_FLOPS, 128, 0, 1e6, 4e3, 1.339, 2, 1, NULL},
	{SL_GROWTH_BATCH, SL_GROWTH_LIVE, 1, 4396, 131072, 0, 0.968, 1, 1,
	 NULL},
	{SL_GROWTH_SEQ, SL_GROWTH_LIVE, 128, 0, 0, 0, 0, 0, 0,
	 "no such dimension"},
};

static const struct sl_difference recorded_items[] = {
	{"BatchNorm, 1 layer: 2 x 16,384 elements", 32768},
	{"attention matmuls, 2 layers", -1000},
};
static const struct sl_explanation recorded_explanations[] = {
	{SL_CONVENTION_CORE, SL_CONVENTION_FVCORE, 442528, 474296,
	 recorded_items, 2}};

static const struct sl_weight_row recorded_weights[] = {
	{.name = "features.0.weight",
	 .n_elements = 432,
	 .mean = 0.01,
	 .std = 0.25,
	 .min = -0.75,
	 .max = 0.5,
	 .zero_share = 0.125,
	 .small_share = 0.25,
	 .n_channels = 16,
	 .n_dead_channels = 2,
	 .n_odd = 3,
	 .histogram = {1, 2, 4, 8, 16, 8, 4, 2, 1}},
	{.name = "packed", .n_elements = 7, .absent = "int4 is not read"},
};

/* All of it read-only and never freed. */
static inline struct sl_inspection
recorded_inspection(void)
{
	struct sl_inspection i = {
		.name = "tiny <net>",
		.source = "folder/tiny.onnx",
		.producer = "a test",
		.ir_version = 8,
		.opset = 17,
		.n_nodes = 4,
		.inputs = "x 1x3x32x32 f32",
		.outputs = "scores 1x10 f32",
		.batch = 1,
		.sizes = "batch 1",
		.parameters = {.trainable = 634,
			       .statistics = 32,
			       .constants = 1,
			       .tied = 432,
			       .n_bytes = 4396,
			       .trainable_bytes = 2536,
			       .by_dtype = recorded_dtypes,
			       .n_dtypes = 1,
			       .rows = recorded_tensors,
			       .n_rows = 3,
			       .n_batch_norms = 1},
		.cost = {.fma = 458912,
			 .add = 10,
			 .macs = 442528,
			 .weight_bytes = 2664,
			 .read_bytes = 143424,
			 .written_bytes = 131176},
		.flops = 885056,
		.flops_per_sample = 885056,
		.n_bytes = 277264,
		.intensity = 917834.0 / 277264,
		.conventions = {442528, 885056, 474296, 507000, 917834, 442528},
		.coverage = {.counted = {3, 211664},
			     .unknown = {1, 65600},
			     .names = recorded_reasons,
			     .n_names = 1},
		.layers = recorded_layers,
		.n_layers = 4,
		.by_type = recorded_types,
		.by_path = recorded_paths,
		.n_types = 4,
		.n_paths = 4,
		.memory = {.parameter_bytes = 4396,
			   .live_bytes = 131072,
			   .activation_bytes = 131176,
			   .peak_layer = "features.1",
			   .alive = recorded_alive,
			   .n_alive = 2,
			   .kv_bytes_per_token = {(double)NAN, "no attention"},
			   .kv_elements_per_token = {(double)NAN, "none"},
			   .kv_bytes = {(double)NAN, "no attention"}},
		.training = {.forward_flops = 885056,
			     .backward_flops = 1000000,
			     .total_flops = 1885056,
			     .backward_to_forward = 1000000.0 / 885056,
			     .parameter_bytes = 2536,
			     .gradient_bytes = 2536,
			     .activation_bytes = 77824,
			     .optimizer_bytes = {0, 0, 2536, 5072, 5072},
			     .peak_phase = SL_PHASE_BACKWARD,
			     .phase_bytes = {{0},
					     {70000, 140000, 5072},
					     {75000, 145000, 7608},
					     {80000, 150000, 10144},
					     {80000, 150000, 10144}},
			     .peak_bytes = {0, 140000, 145000, 150000, 150000},
			     .total_bytes = {0, 82896, 85432, 87968, 87968}},
		.growth = recorded_growth,
		.n_growth = 4,
		.explanations = recorded_explanations,
		.n_explanations = 1,
		.weights = recorded_weights,
		.n_weights = 2};

	return i;
}

#endif

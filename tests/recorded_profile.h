/* SPDX-License-Identifier: Apache-2.0 */
/* recorded_profile.h - a small network as profiled, for tests of pages. */
#ifndef SL_TEST_RECORDED_PROFILE_H
#define SL_TEST_RECORDED_PROFILE_H

#include "recorded_inspection.h"

#include <string.h>

enum { RECORDED_OPERATIONS = 24 };

static const char *const recorded_covers[] = {"stage.conv", "stage.relu"};
static const struct sl_fact recorded_evidence[] = {
	{SL_FACT_TIME_SHARE, {0.91, SL_BOUND_COMPUTE}, {NULL}},
	{SL_FACT_TIME_SHARE, {0.07, SL_BOUND_DRAM}, {NULL}}};
static const struct sl_fact recorded_against[] = {
	{SL_FACT_TIME_SHARE, {0.04, SL_BOUND_UNKNOWN}, {NULL}}};
static const struct sl_fact recorded_impossible[] = {
	{SL_FACT_MEMORY_PARTS, {2e6, 1e6}, {NULL}}};
static const struct sl_fact recorded_remarks[] = {
	{SL_FACT_NOT_HOGGED, {0}, {"not permitted"}}};

static const struct sl_operation_group recorded_parts[] = {
	{"convolution", 22, 22e6, 22.0 / 24, 660000000, 680000000, 440000000,
	 22000000, 22000},
	{"head", 2, 2e6, 2.0 / 24, 40000000, 40000000, 40000000, 2000000,
	 2000}};

static const struct sl_amdahl recorded_amdahl[] = {
	{.operation = 0,
	 .is_type = 1,
	 .n_operations = 22,
	 .share = 0.9,
	 .at_2 = 1.82,
	 .at_4 = 3.08,
	 .at_10 = 5.26,
	 .limit = 10,
	 .measured_limit = {9.5, 9.25, 9.75, 40, 0, SL_METHOD_ORDER}},
	{.operation = 0,
	 .n_operations = 1,
	 .share = 1.0 / 24,
	 .at_2 = 1.02,
	 .at_4 = 1.03,
	 .at_10 = 1.04,
	 .limit = 24.0 / 23,
	 .measured_limit = {.value = (double)NAN},
	 .absent = "no time for it"}};

static const struct sl_advice recorded_advice[] = {
	{.what = {.kind = SL_FACT_COMPUTE_BF16},
	 .least = 1,
	 .most = 1.9,
	 .now_ns = 25e6,
	 .basis = {SL_FACT_NARROWED,
		   {22, 0.9, 22e6, 11e6, 80e9, SL_DTYPE_BF16},
		   {NULL}},
	 .trial = {.action = SL_TRIAL_DTYPE, .dtype = SL_DTYPE_BF16}},
	{.what = {.kind = SL_FACT_QUANTISE_INT8},
	 .least = (double)NAN,
	 .most = (double)NAN,
	 .now_ns = 25e6,
	 .basis = {SL_FACT_NARROWED_ONLY,
		   {22, 0.9, 22e6, 11e6, 160e9, SL_DTYPE_I8},
		   {NULL}}}};

static const struct sl_memory_moment recorded_timeline[] = {
	{0, 1000}, {1, 4000}, {2, 2000}};

/* What a test may change; 'profile' points into it. */
struct recorded_profile {
	struct sl_profile profile;
	struct sl_inspection model;
	struct sl_operation operations[RECORDED_OPERATIONS];
	size_t by_time[RECORDED_OPERATIONS];
};

static inline struct sl_estimate
recorded_time(double ns)
{
	struct sl_estimate e = {ns,  0.98 * ns, 1.02 * ns,
				100, 0,         SL_METHOD_ORDER};

	return e;
}

static inline void
record_operations(struct recorded_profile *r)
{
	for (size_t i = 0; i < RECORDED_OPERATIONS; i++) {
		r->by_time[i] = i;
		r->operations[i] = (struct sl_operation){
			.name = i ? "stage.1.conv" : "stage.0.conv",
			.type = i < 22 ? "Conv" : "MatMul",
			.kernel = "jit:avx512_core",
			.module = i < 22 ? "stage" : "head",
			.part = i < 22 ? SL_PART_CONVOLUTION : SL_PART_HEAD,
			.step = i,
			.covers = recorded_covers,
			.n_covers = 2,
			.n_calls = 1,
			.parameters = 1000,
			.output_shape = "1x16x32x32",
			.memory_bytes = {4096, NULL},
			.self_ns = 1e6,
			.share = 1.0 / RECORDED_OPERATIONS,
			.median_ns = recorded_time(1e6),
			.min_ns = 0.9e6,
			.max_ns = 3e6,
			.core_flops = 20000000,
			.nominal_flops = 21000000,
			.executed_flops = 20000000,
			.n_bytes = 1000000,
			.flops_per_s = 20e9,
			.executed_flops_per_s = 20e9,
			.bytes_per_s = 1e9,
			.intensity = 20,
			.working_set_bytes = 1000000,
			.level = SL_LEVEL_L2,
			.bound_ns = 0.5e6,
			.ceiling_share = 0.5,
			.roof = SL_LEVEL_COMPUTE,
			.judgement = {.bound = SL_BOUND_COMPUTE,
				      .confidence = 0.75,
				      .evidence = recorded_evidence,
				      .n_evidence = 2}};
	}
}

static inline void
record_memory(struct sl_memory_use *m)
{
	static const struct sl_reading not_seen = {(double)NAN, "not seen"};

	*m = (struct sl_memory_use){.parameters_bytes = 4396,
				    .activations_bytes = 4000,
				    .live_bytes = 4000,
				    .tracked_bytes = {4000, NULL},
				    .path_bytes = 4000,
				    .planned_bytes = 4096,
				    .reserved_bytes = 9000,
				    .packed_bytes = 4400,
				    .rounding_bytes = 504,
				    .values_bytes = 4000,
				    .resident_base_bytes = {1000000, NULL},
				    .resident_bytes = {1010000, NULL},
				    .resident_peak_bytes = {1012000, NULL},
				    .touched_bytes = {10000, NULL},
				    .file_bytes = not_seen,
				    .is_peak_reset = 1,
				    .library_bytes = 700,
				    .predicted_bytes = 9500,
				    .predicted_least_bytes = 9000,
				    .peak_moment = SL_PEAK_RUNNING,
				    .efficiency = 0.7,
				    .timeline = recorded_timeline,
				    .n_timeline = 3,
				    .alive = recorded_alive,
				    .n_alive = 2,
				    .peak_operation = 1};
}

static inline void
record_machine(struct sl_profile *p)
{
	p->ceilings = (struct sl_ceilings){
		.dtype = SL_DTYPE_F32,
		.n_threads = 2,
		.flops_per_s = recorded_time(40e9),
		.levels = {{SL_LEVEL_L2, 1048576, recorded_time(200e9)},
			   {SL_LEVEL_DRAM, UINT64_MAX, recorded_time(10e9)}},
		.n_levels = 2,
		.ridge = 4,
		.step_ns = recorded_time(100)};
	p->rates = (struct sl_rates){.samples_per_s = 40,
				     .tokens_per_s = {(double)NAN, "no tokens"},
				     .flops_per_s = 19.2e9,
				     .executed_flops_per_s = 19.2e9,
				     .bytes_per_s = 0.96e9,
				     .compute_efficiency = 0.48,
				     .bandwidth_efficiency = 0.096,
				     .bound_ns = 12.5e6};
}

static inline void
record_findings(struct sl_profile *p)
{
	p->verdict = (struct sl_finding){.bottleneck = SL_BOTTLENECK_COMPUTE,
					 .confidence = 0.75,
					 .shares = {0.04, 0.91, 0, 0, 0.05},
					 .evidence = recorded_evidence,
					 .n_evidence = 2,
					 .against = recorded_against,
					 .n_against = 1};
	p->by_part = recorded_parts;
	p->n_parts = 2;
	p->amdahl = recorded_amdahl;
	p->n_amdahl = 2;
	p->advice = recorded_advice;
	p->n_advice = 2;
	p->request.model = "tiny.onnx";
	p->impossible = recorded_impossible;
	p->n_impossible = 1;
	p->remarks = recorded_remarks;
	p->n_remarks = 1;
}

/* 24 operations of 1 ms in an iteration of 25 ms: times that add up. */
static inline void
record_profile(struct recorded_profile *r)
{
	struct sl_profile *p = &r->profile;
	static const struct sl_reading zero = {0, NULL};

	memset(r, 0, sizeof(*r));
	r->model = recorded_inspection();
	record_operations(r);
	*p = (struct sl_profile){
		.name = r->model.name,
		.source = r->model.source,
		.model = &r->model,
		.batch = 1,
		.dtype = SL_DTYPE_F32,
		.n_threads = 2,
		.seed = 7,
		.plan_ns = 12.5e6,
		.n_nodes = 48,
		.latency = {.n = 100,
			    .min_ns = 24e6,
			    .max_ns = 40e6,
			    .std_ns = 1e6,
			    .mad_ns = 0.5e6,
			    .skewness = 1,
			    .mean = recorded_time(25.5e6),
			    .median = recorded_time(25e6),
			    .p90 = recorded_time(27e6),
			    .p95 = recorded_time(28e6),
			    .p99 = {(double)NAN, (double)NAN, (double)NAN, 100,
				    368, SL_METHOD_NONE},
			    .first_ns = 60e6,
			    .warmup = SL_WARMUP_WARMING,
			    .n_warmup = 3,
			    .minimum_detectable = 0.01},
		.calls_per_sample = 1,
		.n_timed = 103,
		.sample_stride = 1,
		.noise = {100, 5, zero, zero, zero, zero, zero, zero, zero},
		.elapsed_s = 3.5,
		.stopped_by = SL_STOP_PRECISION,
		.ledger = {.wall_ns = 25e6,
			   .operations_ns = 24e6,
			   .gaps_ns = 0.5e6,
			   .residual_ns = 0.25e6,
			   .overhead_ns = recorded_time(0.25e6),
			   .overhead_share = 0.01,
			   .residual_share = 0.01,
			   .n_iterations = 100,
			   .is_closed = 1},
		.operations = r->operations,
		.n_operations = RECORDED_OPERATIONS,
		.by_time = r->by_time,
		.n_hot = 20,
		.n_for_80 = 20};
	record_memory(&p->memory);
	record_machine(p);
	record_findings(p);
}

#endif

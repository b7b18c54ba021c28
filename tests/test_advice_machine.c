/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_advice_machine.c - proves on synthetic profiles that advice on threads,
 * batches, types and caches bounds its gain by the ceilings and responses that
 * were measured, and keeps silent without them.
 */
#include "advised.h"

static void
respond(struct advised *m, size_t i, double one_ns, double all_ns)
{
	for (int k = 0; k < SL_N_CONDITIONS; k++)
		m->responses[i].at[k].ns = (double)NAN;
	m->responses[i].at[SL_CONDITION_ALONE].ns = one_ns;
	m->responses[i].at[SL_CONDITION_IN_PLACE].ns = all_ns;
	m->ops[i].response = &m->responses[i];
}

static void
threads(void **state)
{
	const struct sl_advice *a;
	struct advised m;

	(void)state;
	advised_start(&m);
	advised_add(&m, "s", "Softmax", 400);
	advised_add(&m, "t", "Softmax", 400);
	respond(&m, 0, 250, 400);
	respond(&m, 1, 350, 400);
	advised_advise(&m);
	/* 1000 ns, of which at least 600 remain. */
	a = advised_must_find(&m, "one thread", 1000.0 / 600);
	assert_string_equal(advised_command(&m, a),
			    "sleuth sweep resnet50 --threads 1..2");
	/* No layer can be swept. */
	m.how.layer = "layer1";
	advised_advise(&m);
	a = advised_must_find(&m, "one thread", 1000.0 / 600);
	assert_string_equal(advised_command(&m, a),
			    "sleuth profile resnet50 --layer "
			    "layer1 --threads 1");
	m.how.layer = NULL;
	/* The roofline lets no iteration be shorter than 800 ns. */
	m.p.rates.bound_ns = 800;
	advised_advise(&m);
	advised_must_find(&m, "one thread", 1000.0 / 800);
	m.p.rates.bound_ns = 0;
	/* Others had CPUs that the threads waited for. */
	m.p.others_share = 0.2;
	advised_advise(&m);
	assert_null(advised_find(&m, "one thread"));
	m.p.others_share = (double)NAN;
	m.p.noise.run_delay_share.value = 0.2;
	advised_advise(&m);
	assert_null(advised_find(&m, "one thread"));
	m.p.noise.run_delay_share.value = 0.1;
	advised_advise(&m);
	assert_non_null(advised_find(&m, "one thread"));
	/* No clear difference, no advice. */
	respond(&m, 0, 395, 400);
	respond(&m, 1, 395, 400);
	advised_advise(&m);
	assert_null(advised_find(&m, "one thread"));
	/* Four CPUs: what gained from two threads may gain twice, what did
	 * not gains nothing; what was not timed may. */
	respond(&m, 0, 700, 400);
	advised_add(&m, "u", "Softmax", 100);
	m.how.n_cpus = 4;
	advised_advise(&m);
	a = advised_must_find(&m, "Run on 4 threads, not 2", 1000.0 / 750);
	assert_string_equal(advised_fact(&m, &a->basis),
			    "1 of 2 operations are faster on 2 "
			    "threads than on one");
	/* What one thread does says nothing of four, nor does an operation
	 * that two threads do not help. */
	m.p.n_threads = 1;
	advised_advise(&m);
	assert_null(advised_find(&m, "Run on 4 threads"));
	m.p.n_threads = 2;
	respond(&m, 0, 395, 400);
	advised_advise(&m);
	assert_null(advised_find(&m, "Run on 4 threads"));
	advised_finish(&m);
}

static void
batch(void **state)
{
	const struct sl_advice *a;
	struct sl_operation *op;
	const double most = 1000 / (100 + 500.0 / 16);
	struct advised m;

	(void)state;
	advised_start(&m);
	op = advised_add(&m, "fc", "MatMul", 500);
	op->parameters = 1000;
	op->n_bytes = 2100;
	op->executed_flops = 2000;
	op->roof = SL_LEVEL_DRAM;
	advised_advise(&m);
	assert_null(advised_find(&m, "batch size"));
	/* 2000 FLOPs at 2e10 / s take 100 ns; of the rest nothing is known but
	 * that sixteen samples take no less than one. */
	m.p.ceilings.flops_per_s = (struct sl_estimate){
		.value = 1.9e10, .lo = 1.8e10, .hi = 2e10, .n = 36};
	advised_advise(&m);
	a = advised_must_find(&m, "batch size from 1 to up to 16", most);
	assert_string_equal(advised_expected(&m, a),
			    "at most 7.62 × samples per second");
	assert_string_equal(advised_command(&m, a),
			    "sleuth sweep resnet50 --batch 1..16");
	/* No arithmetic to speak of: sixteen samples take one's time. */
	op->executed_flops = 2;
	advised_advise(&m);
	advised_must_find(&m, "batch size", 16);
	op->executed_flops = 2000;
	/* The second half of twice the batch took half as long as the first:
	 * further samples take as much, but for a fifth of it. */
	respond(&m, 0, NAN, 400);
	m.responses[0].at[SL_CONDITION_DOUBLED].ns = 600;
	advised_advise(&m);
	advised_must_find(&m, "batch size", 1000 / (0.8 * 250 + 500.0 / 16));
	op->response = NULL;
	/* The batch is in the shapes: no sweep changes it. */
	m.how.plan = &m.plan;
	m.plan.sizes = &m.sizes;
	m.sizes.inputs_folder = "data";
	advised_advise(&m);
	a = advised_must_find(&m, "batch size", most);
	assert_null(advised_command(&m, a));
	m.how.plan = NULL;
	/* The model takes no other. */
	m.how.has_fixed_batch = 1;
	advised_advise(&m);
	assert_null(advised_find(&m, "batch size"));
	m.how.has_fixed_batch = 0;
	/* Bound by arithmetic, or mostly by what is not weights. */
	op->roof = SL_LEVEL_COMPUTE;
	advised_advise(&m);
	assert_null(advised_find(&m, "batch size"));
	op->roof = SL_LEVEL_DRAM;
	op->n_bytes = 9000;
	advised_advise(&m);
	assert_null(advised_find(&m, "batch size"));
	advised_finish(&m);
}

static struct sl_estimate
about(double value)
{
	return (struct sl_estimate){
		.value = 0.8 * value, .lo = 0.7 * value, .hi = value, .n = 36};
}

static void
add_peak(struct advised *m, enum sl_dtype dtype, double rate)
{
	m->p.ceilings.peaks[m->p.ceilings.n_peaks++] = (struct sl_ceiling_peak){
		.dtype = dtype, .flops_per_s = about(rate)};
}

/* Two products that take 800 of 1000 ns. */
static void
start_matmuls(struct advised *m)
{
	struct sl_operation *op;

	advised_start(m);
	m->p.dtype = SL_DTYPE_F32;
	op = advised_add(m, "c", "Conv", 600);
	op->executed_flops = 30000;
	op->n_bytes = 100;
	op = advised_add(m, "g", "MatMul", 200);
	op->executed_flops = 100;
	op->n_bytes = 4000;
}

static void
narrower_types(void **state)
{
	const struct sl_advice *a;
	struct advised m;

	(void)state;
	start_matmuls(&m);
	advised_advise(&m);
	/* Nothing is known of bf16 here, nor of int8. */
	assert_null(advised_find(&m, "in bf16"));
	assert_null(advised_find(&m, "int8"));
	add_peak(&m, SL_DTYPE_F32, 1e11);
	advised_advise(&m);
	assert_null(advised_find(&m, "in bf16"));
	add_peak(&m, SL_DTYPE_BF16, 3e11);
	add_peak(&m, SL_DTYPE_I8, 6e11);
	m.p.ceilings.n_threads = 2;
	m.p.ceilings.n_levels = 2;
	m.p.ceilings.levels[0] = (struct sl_ceiling_level){
		.size_bytes = 4000, .bytes_per_s = about(4e10)};
	m.p.ceilings.levels[1] = (struct sl_ceiling_level){
		.size_bytes = UINT64_MAX, .bytes_per_s = about(1e10)};
	advised_advise(&m);
	/* 30,000 at 3e11 / s, 2000 bytes at 4e10 / s, and 200 stay. */
	a = advised_must_find(&m, "in bf16", 1000.0 / (100 + 50 + 200));
	assert_string_equal(advised_command(&m, a),
			    "sleuth profile resnet50 --dtype bf16");
	a = advised_must_find(&m, "int8", 1000.0 / (50 + 25 + 200));
	assert_null(advised_command(&m, a));
	assert_non_null(strstr(advised_fact(&m, &a->basis), "operator set 13"));
	/* What cannot be tried comes last, whatever its gain. */
	assert_ptr_equal(&m.p.advice[m.p.n_advice - 1], a);
	assert_true(m.p.advice[0].most < a->most);
	/* Leaving them out gained less than 1 / (1 - 0.6) and 1 / (1 - 0.2):
	 * 1 - 1 / 1.25 and 1 - 1 / 1.5 of an iteration go, no more. */
	advised_measured(&m, 1, 1, 1.2, 1.25);
	advised_measured(&m, 0, 1, 1.45, 1.5);
	advised_advise(&m);
	advised_must_find(&m, "in bf16", 1 / (1 / 1.25 + 1 / 1.5 - 1));
	advised_must_find(&m, "int8", 1 / (1 / 1.25 + 1 / 1.5 - 1));
	/* Of one that was not left out the share counts. */
	m.p.n_amdahl = 0;
	advised_measured(&m, 1, 1, 1.05, 1.1);
	advised_advise(&m);
	advised_must_find(&m, "int8", 1 / (1 / 1.1 - 0.6));
	m.p.n_amdahl = 0;
	/* A step takes 80 ns, whatever it does. */
	m.p.ceilings.step_ns =
		(struct sl_estimate){.value = 90, .lo = 80, .hi = 100, .n = 36};
	advised_advise(&m);
	advised_must_find(&m, "int8", 1000.0 / (80 + 80 + 200));
	m.p.ceilings.step_ns.n = 0;
	/* 12,000 bytes of weights in bf16: 8000 stay in the caches. */
	m.ops[1].parameters = 6000;
	advised_advise(&m);
	advised_must_find(&m, "in bf16", 1000.0 / (400 + 200));
	advised_must_find(&m, "int8", 1000.0 / (50 + 25 + 200));
	/* Never slower than now. */
	m.ops[1].parameters = 600000;
	advised_advise(&m);
	assert_null(advised_find(&m, "in bf16"));
	advised_finish(&m);
}

/* A model of an operator set with scales along an axis is made int8 and
 * measured; a layer of it, or one that is trained, is not. */
static void
int8_is_tried(void **state)
{
	struct sl_inspection model = {.opset = 13};
	const struct sl_training_profile training = {0};
	const struct sl_advice *a;
	struct advised m;

	(void)state;
	start_matmuls(&m);
	add_peak(&m, SL_DTYPE_F32, 1e11);
	add_peak(&m, SL_DTYPE_I8, 6e11);
	m.p.model = &model;
	advised_advise(&m);
	a = advised_find(&m, "int8");
	assert_non_null(a);
	assert_string_equal(advised_command(&m, a),
			    "sleuth optimize resnet50 --try int8");
	assert_null(strstr(advised_fact(&m, &a->basis), "operator set"));
	model.opset = 12;
	advised_advise(&m);
	assert_null(advised_command(&m, advised_find(&m, "int8")));
	model.opset = 13;
	m.how.layer = "c";
	advised_advise(&m);
	assert_null(advised_command(&m, advised_find(&m, "int8")));
	m.how.layer = NULL;
	m.p.training = &training;
	advised_advise(&m);
	if (advised_find(&m, "int8"))
		assert_null(advised_command(&m, advised_find(&m, "int8")));
	advised_finish(&m);
}

static void
types_that_are_narrow_already(void **state)
{
	struct advised m;

	(void)state;
	start_matmuls(&m);
	add_peak(&m, SL_DTYPE_BF16, 3e11);
	advised_advise(&m);
	assert_non_null(advised_find(&m, "in bf16"));
	advised_add(&m, "q", "QLinearConv", 1);
	advised_advise(&m);
	assert_null(advised_find(&m, "in bf16"));
	m.p.n_operations--;
	m.p.dtype = SL_DTYPE_BF16;
	advised_advise(&m);
	assert_null(advised_find(&m, "in bf16"));
	advised_finish(&m);
}

static void
a_cache_of_keys_and_values(void **state)
{
	struct advised m;

	(void)state;
	advised_start(&m);
	m.p.name = "gpt2";
	advised_add(&m, "s", "Softmax", 900);
	m.model.layers = &m.layer;
	m.model.n_layers = 1;
	m.layer.is_causal = 1;
	m.model.seq = 128;
	m.model.past = -1;
	m.model.memory.once_bytes = 10000;
	advised_advise(&m);
	assert_null(advised_find(&m, "cache"));
	/* 10,000 bytes at 1e11 / s take 100 ns. */
	m.p.ceilings.n_threads = 1;
	m.p.ceilings.n_levels = 2;
	m.p.ceilings.levels[0] = (struct sl_ceiling_level){
		.level = SL_LEVEL_L2,
		.size_bytes = 4096,
		.bytes_per_s = {.value = 1e12, .hi = 1e12, .n = 36}};
	m.p.ceilings.levels[1] = (struct sl_ceiling_level){
		.level = SL_LEVEL_DRAM,
		.size_bytes = UINT64_MAX,
		.bytes_per_s = {.value = 9e10, .hi = 1e11, .n = 36}};
	advised_advise(&m);
	advised_must_find(&m, "128 tokens", 10);
	m.model.seq = 4;
	advised_advise(&m);
	advised_must_find(&m, "4 tokens", 4);
	/* 5000 bytes at 1e12 / s take 5 ns, and the sequence is shorter: a factor of 128 says less than the time. */
	m.model.seq = 128;
	m.model.memory.once_bytes = 5000;
	m.p.ceilings.levels[0].size_bytes = 5000;
	advised_advise(&m);
	assert_string_equal(
		advised_expected(&m, advised_must_find(&m, "128 tokens", 128)),
		"no faster than 7.81 ns for each further token; 1 "
		"µs now");
	m.model.seq = 1;
	m.model.past = 128;
	advised_advise(&m);
	assert_null(advised_find(&m, "cache"));
	advised_finish(&m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads),
		cmocka_unit_test(batch),
		cmocka_unit_test(narrower_types),
		cmocka_unit_test(int8_is_tried),
		cmocka_unit_test(types_that_are_narrow_already),
		cmocka_unit_test(a_cache_of_keys_and_values),
	};

	return cmocka_run_group_tests_name("advice_machine", tests, NULL, NULL);
}

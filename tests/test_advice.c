/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_advice.c - proves on synthetic profiles that rules about operations fire
 * where they should, bound their gain by the share or, better, by an ablation
 * of these very operations; that there are five at most, largest gain first;
 * and that commands name the model and the sizes.
 */
#include "advised.h"

static void
nothing_to_say(void **state)
{
	struct advised m;

	(void)state;
	advised_start(&m);
	advised_advise(&m);
	assert_int_equal(m.p.n_advice, 0);
	advised_add(&m, "s", "Softmax", 900);
	advised_advise(&m);
	assert_int_equal(m.p.n_advice, 0);
	advised_finish(&m);
}

static void
slow_paths(void **state)
{
	const struct sl_advice *a;
	struct advised m;

	(void)state;
	advised_start(&m);
	advised_add(&m, "top", "TopK", 200)->path = SL_PATH_REFERENCE;
	advised_add(&m, "s", "Softmax", 700);
	advised_advise(&m);
	a = advised_must_find(&m, "'top' (TopK)", 1 / 0.8);
	assert_string_equal(advised_expected(&m, a), "at most 1.25 ×");
	assert_string_equal(advised_fact(&m, &a->basis),
			    "it takes 20 % of the time");
	assert_string_equal(advised_command(&m, a),
			    "sleuth profile resnet50 --layer top");
	assert_near(a->least, 1, 0);
	/* An ablation of it says more than its share. */
	advised_measured(&m, 0, 1, 1.10, 1.20);
	advised_advise(&m);
	a = advised_must_find(&m, "'top'", 1.20);
	assert_string_equal(advised_fact(&m, &a->basis),
			    "it takes 20 % of the time; ablated: "
			    "1.15 [1.10, 1.20]");
	/* One that is hardly known does not, nor one without an interval. */
	m.rows[0].measured_limit.hi = 1.5;
	advised_advise(&m);
	advised_must_find(&m, "'top'", 1 / 0.8);
	m.rows[0].measured_limit.hi = 1.2;
	m.rows[0].measured_limit.needs_n = 6;
	advised_advise(&m);
	advised_must_find(&m, "'top'", 1 / 0.8);
	advised_add(&m, "loop", "Loop", 100)->path = SL_PATH_STEPWISE;
	advised_advise(&m);
	advised_must_find(&m, "2 operations that run on reference kernels",
			  1 / 0.7);
	m.plan.flags = SL_PLAN_REFERENCE;
	m.how.plan = &m.plan;
	advised_advise(&m);
	a = advised_must_find(&m, "Leave out --reference", 1 / 0.7);
	assert_string_equal(advised_command(&m, a), "sleuth profile resnet50");
	advised_finish(&m);
}

static void
reorders_and_movement(void **state)
{
	const struct sl_advice *a;
	struct advised m;

	(void)state;
	advised_start(&m);
	advised_add(&m, "reorder x", "Reorder", 60)->part = SL_PART_MOVEMENT;
	advised_add(&m, "reorder y", "Reorder", 40)->part = SL_PART_MOVEMENT;
	advised_add(&m, "t", "Transpose", 300)->part = SL_PART_MOVEMENT;
	advised_advise(&m);
	a = advised_must_find(&m, "2 layout changes, 'reorder x'", 1 / 0.9);
	assert_string_equal(advised_command(&m, a),
			    "sleuth profile resnet50 --algorithms fixed");
	advised_must_find(&m, "only moves data, 't' (Transpose)", 1 / 0.7);
	advised_measured(&m, 0, 2, 1.05, 1.08);
	advised_advise(&m);
	advised_must_find(&m, "layout changes", 1.08);
	/* A group of another size is not these operations. */
	m.rows[0].n_operations = 3;
	advised_advise(&m);
	advised_must_find(&m, "layout changes", 1 / 0.9);
	advised_finish(&m);
}

static void
fusion(void **state)
{
	const struct sl_advice *a;
	struct advised m;

	(void)state;
	advised_start(&m);
	advised_add(&m, "r", "Relu", 100);
	advised_add(&m, "b", "BatchNormalization", 100);
	advised_add(&m, "s", "Softmax", 600);
	advised_advise(&m);
	advised_must_find(&m, "Fuse 2 element-wise operations", 1 / 0.8);
	m.plan.flags = SL_PLAN_NO_FUSION;
	m.how.plan = &m.plan;
	m.plan.n_threads = 2;
	m.plan.sizes = &m.sizes;
	m.sizes.batch = 8;
	advised_advise(&m);
	a = advised_must_find(&m, "Leave out --no-fusion", 1 / 0.8);
	assert_string_equal(advised_command(&m, a),
			    "sleuth profile resnet50 --batch 8 --threads 2");
	advised_finish(&m);
}

static void
head_and_pruning(void **state)
{
	struct sl_operation *op;
	struct advised m;

	(void)state;
	advised_start(&m);
	op = advised_add(&m, "fc", "Gemm", 250);
	op->part = SL_PART_HEAD;
	op->parameters = 38600000;
	advised_add(&m, "c", "Conv", 500)->parameters = 1000000;
	advised_advise(&m);
	advised_must_find(&m, "head smaller: 'fc' has 38.6 M parameters",
			  1 / 0.75);
	advised_must_find(&m, "Prune 'c' (Conv, 1 M parameters)", 2);
	op->parameters = 208;
	advised_advise(&m);
	advised_must_find(&m, "head smaller: 'fc' has 208 parameters",
			  1 / 0.75);
	op->parameters = 0;
	advised_advise(&m);
	advised_must_find(&m, "head smaller: 'fc'", 1 / 0.75);
	advised_finish(&m);
}

/* What the user said is said again, quoted as a shell needs it. */
static void
commands_repeat_the_options(void **state)
{
	static const int64_t dims[] = {1, 3, 8};
	static const struct sl_dim_size named[] = {{"n", 5}, {"a b", 6}};
	static const struct sl_input_shape shapes[] = {{"x", dims, 3}};
	struct advised m;

	(void)state;
	advised_start(&m);
	m.how.model = "it's.onnx";
	advised_add(&m, "c'1", "Conv", 500)->parameters = 1000000;
	advised_add(&m, "reorder", "Reorder", 200);
	m.how.plan = &m.plan;
	m.plan.sizes = &m.sizes;
	m.plan.dtype = SL_DTYPE_BF16;
	m.plan.algorithms = SL_ALGORITHMS_FIXED;
	m.plan.nan_policy = SL_NAN_REFUSED;
	m.plan.flags = SL_PLAN_NO_FUSION;
	m.sizes.seq = 4;
	m.sizes.has_past = 1;
	m.sizes.dims = named;
	m.sizes.n_dims = 2;
	m.sizes.shapes = shapes;
	m.sizes.n_shapes = 1;
	m.sizes.inputs_folder = "data/0";
	advised_advise(&m);
	assert_string_equal(
		advised_command(&m, advised_must_find(&m, "Prune", 2)),
		"sleuth profile 'it'\\''s.onnx' --seq 4 --past 0 "
		"--dim n=5 --dim 'a b=6' --shape x=1,3,8 --inputs "
		"data/0 --dtype bf16 --algorithms fixed "
		"--no-fusion --nan refuse --layer 'c'\\''1'");
	memset(&m.sizes, 0, sizeof(m.sizes));
	/* Fixed ones make these layout changes, so others are tried. */
	advised_advise(&m);
	assert_string_equal(
		advised_command(&m, advised_must_find(&m, "layout", 1 / 0.8)),
		"sleuth profile 'it'\\''s.onnx' --dtype bf16 "
		"--no-fusion --nan refuse");
	advised_finish(&m);
}

/* A layer is named by its model; what is within it by itself. */
static void
commands_of_layers(void **state)
{
	struct advised m;

	(void)state;
	advised_start(&m);
	m.p.name = "resnet18:layer2.0";
	m.how.model = "resnet18";
	m.how.layer = "layer2.0";
	m.how.plan = &m.plan;
	m.plan.sizes = &m.sizes;
	m.sizes.batch = 2;
	advised_add(&m, "layer2.0.conv1", "Conv", 500)->parameters = 1000000;
	advised_add(&m, "reorder", "Reorder", 200);
	advised_advise(&m);
	assert_string_equal(
		advised_command(&m, advised_must_find(&m, "Prune", 2)),
		"sleuth profile resnet18 --batch 2 --layer "
		"layer2.0.conv1");
	assert_string_equal(
		advised_command(&m, advised_must_find(&m, "layout", 1 / 0.8)),
		"sleuth profile resnet18 --batch 2 --layer "
		"layer2.0 --algorithms fixed");
	advised_finish(&m);
}

/* Preemption makes one mean ten times what a call takes: medians decide, and
 * the iteration is the bare one. */
static void
medians_bound_gains(void **state)
{
	struct sl_operation *op;
	struct advised m;

	(void)state;
	advised_start(&m);
	m.p.ledger.wall_ns = m.p.ledger.operations_ns = 10000;
	m.p.latency.median = (struct sl_estimate){.value = 1000, .n = 36};
	op = advised_add(&m, "top", "TopK", 9000);
	op->path = SL_PATH_REFERENCE;
	advised_median(op, 400);
	advised_median(advised_add(&m, "s", "Softmax", 1000), 400);
	advised_advise(&m);
	/* Half of all. */
	advised_must_find(&m, "'top'", 2);
	/* Gaps are a fifth of the iteration. */
	m.p.ledger.operations_ns = 8000;
	advised_advise(&m);
	advised_must_find(&m, "'top'", 1 / 0.6);
	/* Its work takes 100 ns on this machine at least. */
	op->bound_ns = 100;
	advised_advise(&m);
	advised_must_find(&m, "'top'", 1000.0 / 700);
	advised_finish(&m);
}

/* An iteration of which next to nothing would remain. */
static void
far_bounds_are_times(void **state)
{
	struct advised m;

	(void)state;
	advised_start(&m);
	m.p.ledger.operations_ns = 990;
	advised_add(&m, "top", "TopK", 980)->path = SL_PATH_REFERENCE;
	advised_advise(&m);
	assert_string_equal(
		advised_expected(&m, advised_must_find(&m, "'top'", 50)),
		"no faster than 20 ns; 1 µs now");
	advised_finish(&m);
}

/* Six have something to gain; the five largest are given, in order. */
static void
the_five_largest(void **state)
{
	struct sl_operation *op;
	struct advised m;

	(void)state;
	advised_start(&m);
	m.how.model = "/tmp/my models/a.onnx";
	m.p.dtype = SL_DTYPE_F32;
	advised_add(&m, "reorder x", "Reorder", 50)->part = SL_PART_MOVEMENT;
	advised_add(&m, "t", "Transpose", 60)->part = SL_PART_MOVEMENT;
	advised_add(&m, "r", "Relu", 70);
	advised_add(&m, "k", "TopK", 80)->path = SL_PATH_REFERENCE;
	op = advised_add(&m, "fc", "Gemm", 90);
	op->part = SL_PART_HEAD;
	op = advised_add(&m, "c", "Conv", 400);
	op->parameters = 10;
	advised_advise(&m);
	assert_int_equal(m.p.n_advice, 5);
	for (size_t i = 1; i < 5; i++)
		assert_true(m.p.advice[i - 1].most >= m.p.advice[i].most);
	assert_null(advised_find(&m, "layout"));
	assert_string_equal(advised_command(&m, &m.p.advice[0]),
			    "sleuth profile '/tmp/my models/a.onnx' --layer "
			    "c");
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(m.p.advice[i].basis.kind, SL_FACT_PASS_SHARE);
		assert_true(m.p.advice[i].most >= SL__ADVICE_LEAST);
	}
	advised_finish(&m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_to_say),
		cmocka_unit_test(slow_paths),
		cmocka_unit_test(reorders_and_movement),
		cmocka_unit_test(fusion),
		cmocka_unit_test(head_and_pruning),
		cmocka_unit_test(commands_repeat_the_options),
		cmocka_unit_test(commands_of_layers),
		cmocka_unit_test(medians_bound_gains),
		cmocka_unit_test(far_bounds_are_times),
		cmocka_unit_test(the_five_largest),
	};

	return cmocka_run_group_tests_name("advice", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* test_traffic_plan.c - what steps of plans read and write. */
#include "planned_graph.h"
#include "cost/traffic.h"

/* A plan as a profile lists it. */
struct listed {
	struct planned planned;
	struct sl__arena arena;
	struct sl_profile profile;
	struct sl_operation ops[8];
};

static void
start(struct listed *l, const char *text)
{
	struct sl_step step;

	memset(l, 0, sizeof(*l));
	planned_start(&l->planned, text, 1, SL_PLAN_NO_FUSION);
	sl__arena_init(&l->arena, NULL);
	for (size_t i = 0; sl_plan_step(l->planned.plan, i, &step); i++) {
		assert_true(i < 8);
		l->ops[i] = (struct sl_operation){
			.name = step.name,
			.type = step.type,
			.path = step.path,
			.dtype = SL_DTYPE_F32,
			.step = i,
			.n_calls = 1,
			.n_bytes = step.n_bytes,
		};
		l->profile.n_operations++;
	}
	l->profile.operations = l->ops;
}

/* With one cache of so many bytes before memory. */
static void
predict(struct listed *l, uint64_t cache_bytes)
{
	struct sl_error err;

	l->profile.ceilings = (struct sl_ceilings){
		.n_threads = 1,
		.n_levels = 2,
		.levels = {{.level = SL_LEVEL_L1, .size_bytes = cache_bytes},
			   {.level = SL_LEVEL_DRAM, .size_bytes = UINT64_MAX}},
	};
	if (sl__profile_predict_traffic(&l->profile, l->planned.plan, &l->arena,
					&err))
		fail_msg("%s", err.text);
}

static void
finish(struct listed *l)
{
	sl__arena_release(&l->arena);
	planned_finish(&l->planned);
}

static const char forked[] = "in x f32 1024\na = Relu x\nb = Tanh a\n"
			     "c = Exp x\nd = Add b c\ne = Neg d\nout e\n";

static void
test_small_cache_moves_all_operands(void **state)
{
	struct listed l;

	(void)state;
	start(&l, forked);
	assert_int_equal(l.profile.n_operations, 5);
	predict(&l, 64);
	for (size_t i = 0; i < 5; i++) {
		const struct sl_traffic *t = l.ops[i].traffic;

		assert_int_equal(l.ops[i].n_traffic, 1);
		assert_int_equal(t->level, SL_LEVEL_DRAM);
		assert_near(t->predicted_bytes, (double)l.ops[i].n_bytes, 0);
		assert_true(isnan(t->measured_bytes.value));
		assert_string_equal(t->measured_bytes.absent,
				    "no counter was read");
	}
	predict(&l, 1 << 20);
	for (size_t i = 0; i < 5; i++)
		assert_near(l.ops[i].traffic[0].predicted_bytes, 0, 0);
	finish(&l);
}

/* Tanh and Neg work in place.  A cache of one tensor holds what Tanh has left;
 * what Tanh finds was touched beside the input, and is gone. */
static void
test_what_is_in_place_stays(void **state)
{
	struct listed l;

	(void)state;
	start(&l, "in x f32 1024\na = Relu x\nb = Tanh a\nc = Neg b\n"
		  "d = Abs c\nout d\n");
	predict(&l, 4096);
	assert_string_equal(l.ops[1].type, "Tanh");
	assert_near(l.ops[1].traffic[0].predicted_bytes, 4096, 0);
	assert_string_equal(l.ops[2].type, "Neg");
	assert_near(l.ops[2].traffic[0].predicted_bytes, 0, 0);
	finish(&l);
}

static void
test_lookup_touches_its_rows_only(void **state)
{
	struct listed l;

	(void)state;
	start(&l, "in x f32 1000,16\nin i i64 4\ny = Gather x i\nout y\n");
	predict(&l, 64);
	assert_int_equal(l.profile.n_operations, 1);
	assert_near(l.ops[0].traffic[0].predicted_bytes, 2 * 4 * 16 * 4 + 4 * 8,
		    0);
	finish(&l);
}

static void
test_slice_reads_what_it_writes(void **state)
{
	struct listed l;

	(void)state;
	start(&l, "in x f32 64,1024\nconst st i64 1 = 0\n"
		  "const en i64 1 = 2\nconst ax i64 1 = 1\n"
		  "y = Slice x st en ax\nout y\n");
	predict(&l, 64);
	assert_near(l.ops[0].traffic[0].predicted_bytes, 2 * 64 * 2 * 4, 0);
	finish(&l);
}

/* 2 n / sqrt(S) - 2 S elements, for each product of a batch. */
static void
test_products_fetch_again(void **state)
{
	double bound = 4 * (2.0 * 64 * 64 * 64 / 16 - 2 * 256);
	struct listed l;

	(void)state;
	start(&l, "in a f32 64,64\nin b f32 64,64\nc = MatMul a b\nout c\n");
	predict(&l, 256 * 4);
	assert_near(l.ops[0].traffic[0].predicted_bytes, bound, 1e-6);
	finish(&l);
	start(&l, "in a f32 2,64,64\nin b f32 2,64,64\nc = MatMul a b\n"
		  "out c\n");
	predict(&l, 256 * 4);
	assert_near(l.ops[0].traffic[0].predicted_bytes, 2 * bound, 1e-6);
	finish(&l);
}

static void
test_what_did_not_run_moves_nothing(void **state)
{
	struct listed l;

	(void)state;
	start(&l, forked);
	l.ops[1].n_calls = 0;
	predict(&l, 64);
	assert_int_equal(l.ops[1].n_traffic, 0);
	assert_int_equal(l.ops[2].n_traffic, 1);
	finish(&l);
}

static void
test_without_ceilings_nothing_is_said(void **state)
{
	struct listed l;
	struct sl_error err;

	(void)state;
	start(&l, forked);
	assert_int_equal(sl__profile_predict_traffic(&l.profile, l.planned.plan,
						     &l.arena, &err),
			 SL_OK);
	assert_int_equal(l.ops[0].n_traffic, 0);
	finish(&l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_cache_moves_all_operands),
		cmocka_unit_test(test_what_is_in_place_stays),
		cmocka_unit_test(test_lookup_touches_its_rows_only),
		cmocka_unit_test(test_slice_reads_what_it_writes),
		cmocka_unit_test(test_products_fetch_again),
		cmocka_unit_test(test_what_did_not_run_moves_nothing),
		cmocka_unit_test(test_without_ceilings_nothing_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_variant_candidates.c - what is tried on a model acts on what bounds it,
 * or is what its profile advises, with the bound of that; and a gain breaks a
 * promise only with all of its interval.
 */
#include "harness.h"
#include "analysis/variant_candidates.h"

#include <math.h>
#include <string.h>

static const unsigned ALL = SL__NEEDS_MATMUL | SL__NEEDS_CONV |
			    SL__NEEDS_LINEAR | SL__NEEDS_DATA | SL__NEEDS_BF16 |
			    SL__NEEDS_THREADS;

/* The place among what is tried; -1: it is not. */
static int
place_of(const struct sl__variant_candidates *c, const char *changes)
{
	for (size_t i = 0; i < c->n; i++) {
		if (!strcmp(c->list[i].changes, changes))
			return (int)i;
	}
	return -1;
}

static int
is_left_out(const struct sl__variant_candidates *c, const char *changes)
{
	for (size_t i = c->n; i < c->n + c->n_left_out; i++) {
		if (!strcmp(c->list[i].changes, changes))
			return c->list[i].reason == SL_VARIANT_LEFT_OUT;
	}
	return 0;
}

static struct sl__variant_candidates
chosen_for(enum sl_bottleneck bottleneck, unsigned met)
{
	const struct sl_profile p = {.verdict = {.bottleneck = bottleneck}};
	struct sl__variant_candidates c;

	sl__variant_candidates(&c, &p, met, SL_OBJECTIVE_LATENCY);
	return c;
}

static void
by_verdict(void **state)
{
	struct sl__variant_candidates c =
		chosen_for(SL_BOTTLENECK_COMPUTE, ALL);

	(void)state;
	assert_int_equal(place_of(&c, "int8"), 0);
	assert_true(place_of(&c, "bf16") > 0);
	assert_int_equal(c.list[0].reason, SL_VARIANT_VERDICT);
	assert_true(isnan(c.list[0].promised));
	assert_true(is_left_out(&c, "threads=1"));
	assert_true(is_left_out(&c, "int4-weights"));

	c = chosen_for(SL_BOTTLENECK_MEMORY, ALL);
	assert_true(place_of(&c, "int4-weights") > 0);
	assert_true(is_left_out(&c, "threads=1"));

	c = chosen_for(SL_BOTTLENECK_OVERHEAD, ALL);
	assert_int_equal(c.n, 1);
	assert_int_equal(place_of(&c, "threads=1"), 0);
	assert_true(is_left_out(&c, "int8"));

	c = chosen_for(SL_BOTTLENECK_MIXED, ALL);
	assert_true(place_of(&c, "int8") >= 0);
	assert_true(place_of(&c, "threads=1") >= 0);
}

/* Without a verdict, and without a profile, nothing is left out but what one
 * bound alone calls for. */
static void
undecided(void **state)
{
	struct sl__variant_candidates c = chosen_for(SL_BOTTLENECK_INCONCLUSIVE,
						     ALL),
				      without;

	(void)state;
	assert_int_equal(c.list[0].reason, SL_VARIANT_USUAL);
	assert_true(place_of(&c, "int8") >= 0);
	assert_true(place_of(&c, "threads=1") >= 0);
	assert_true(is_left_out(&c, "int8-weights"));
	sl__variant_candidates(&without, NULL, ALL, SL_OBJECTIVE_LATENCY);
	assert_int_equal(without.n, c.n);
	assert_int_equal(without.n_left_out, c.n_left_out);
}

/* What model, machine or data do not allow is not even left out. */
static void
needs(void **state)
{
	struct sl__variant_candidates c =
		chosen_for(SL_BOTTLENECK_COMPUTE, SL__NEEDS_THREADS);

	(void)state;
	assert_int_equal(c.n, 0);
	assert_int_equal(c.n_left_out, 1);
	assert_true(is_left_out(&c, "threads=1"));
	c = chosen_for(SL_BOTTLENECK_COMPUTE, ALL - SL__NEEDS_DATA);
	assert_int_equal(place_of(&c, "prune-channels=0.5,fine-tune=10"), -1);
	assert_false(is_left_out(&c, "prune-channels=0.5,fine-tune=10"));
}

/* Where a smaller model is wanted, the verdict on time does not matter. */
static void
by_objective(void **state)
{
	const struct sl_profile p = {
		.verdict = {.bottleneck = SL_BOTTLENECK_OVERHEAD}};
	struct sl__variant_candidates c;

	(void)state;
	sl__variant_candidates(&c, &p, ALL, SL_OBJECTIVE_SIZE);
	assert_true(place_of(&c, "int8") >= 0);
	assert_true(place_of(&c, "int4-weights") >= 0);
	assert_true(is_left_out(&c, "bf16"));
	assert_true(is_left_out(&c, "threads=1"));
}

/* Advice comes first, once, with its bound: what was tried, or the most. */
static void
advised(void **state)
{
	const struct sl_advice advice[] = {
		{.what = {.kind = SL_FACT_USE_LARGER_BATCH},
		 .most = 9,
		 .trial = {.action = SL_TRIAL_BATCH, .value = 16}},
		{.what = {.kind = SL_FACT_USE_ONE_THREAD},
		 .most = 1.25,
		 .trial = {.action = SL_TRIAL_THREADS, .value = 1},
		 .measured = {.value = 1.2, .lo = 1.1, .hi = 1.3, .n = 9}},
		{.what = {.kind = SL_FACT_QUANTISE_INT8},
		 .most = 5.5,
		 .trial = {.action = SL_TRIAL_VARIANT, .changes = "int8"}},
		{.what = {.kind = SL_FACT_USE_THREADS},
		 .most = 2,
		 .trial = {.action = SL_TRIAL_THREADS, .value = 2}}};
	const struct sl_profile p = {
		.verdict = {.bottleneck = SL_BOTTLENECK_COMPUTE},
		.advice = advice,
		.n_advice = 4};
	struct sl__variant_candidates c;

	(void)state;
	sl__variant_candidates(&c, &p, SL__NEEDS_MATMUL | SL__NEEDS_BF16,
			       SL_OBJECTIVE_LATENCY);
	assert_int_equal(c.n, 3);
	assert_string_equal(c.list[0].changes, "threads=1");
	assert_int_equal(c.list[0].reason, SL_VARIANT_ADVICE);
	assert_float_equal(c.list[0].promised, 1.3, 0);
	assert_string_equal(c.list[1].changes, "int8");
	assert_float_equal(c.list[1].promised, 5.5, 0);
	assert_string_equal(c.list[2].changes, "bf16");
	assert_int_equal(c.list[2].reason, SL_VARIANT_VERDICT);
}

static void
promises(void **state)
{
	struct sl_variant_result v = {
		.promised = 2,
		.ratio = {.value = 0.45, .lo = 0.4, .hi = 0.52, .n = 20}};

	(void)state;
	assert_false(sl__variant_breaks_promise(&v)); /* 2.2 [1.9, 2.5] */
	v.ratio.hi = 0.49;
	assert_true(sl__variant_breaks_promise(&v)); /* 2.2 [2.04, 2.5] */
	v.promised = (double)NAN;
	assert_false(sl__variant_breaks_promise(&v));
	v.promised = 2;
	v.ratio.n = 0;
	assert_false(sl__variant_breaks_promise(&v));
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_verdict), cmocka_unit_test(undecided),
		cmocka_unit_test(needs),      cmocka_unit_test(by_objective),
		cmocka_unit_test(advised),    cmocka_unit_test(promises),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

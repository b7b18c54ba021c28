/* SPDX-License-Identifier: Apache-2.0 */
/* test_hog.c - what a hog does to pure work, and why it is not known. */
#define _GNU_SOURCE
#include "harness.h"
#include "base/status.h"
#include "machine/ceiling_probes_state.h"

#include <math.h>
#include <sched.h>
#include <string.h>

/* On one CPU there is no room for a hog, and the effect says so. */
static void
without_an_effect_there_is_a_reason(void **state)
{
	struct sl__ceiling_probes_options options = {.n_threads = 1};
	struct sl__hog_effect first, second;
	struct sl__ceiling_probes *probes;
	cpu_set_t all, one;
	size_t cpu = 0;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(sl__ceiling_probes_open(&probes, &options, NULL),
			 SL_OK);
	sl__hog_effect(probes, &first);
	sl__hog_effect(probes, &second);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	assert_true(isnan(first.dram) && isnan(first.l3) && isnan(first.l2) &&
		    isnan(first.compute));
	assert_non_null(first.absent);
	assert_non_null(strstr(first.absent, "to spare"));
	assert_ptr_equal(first.absent, second.absent);
	sl__ceiling_probes_close(probes);
}

/* A machine that gets slower with each probe, and a hog that makes the kinds
 * take 1, 2, 3 and 4 times as long. */
struct slowing {
	double now, factor;
	int has_hog;
	size_t n_starts, n_stops, n_probes, n_hog_first;
	size_t n_starts_most; /* then there are no more threads */
};

static void
slowing_probe(void *ctx, double ns[SL__HOG_KINDS])
{
	struct slowing *s = ctx;

	s->n_hog_first += s->has_hog && s->n_probes % 2 == 0;
	s->n_probes++;
	for (size_t k = 0; k < SL__HOG_KINDS; k++)
		ns[k] = s->now * (s->has_hog ? (double)(k + 1) : 1);
	s->now *= s->factor;
}

static enum sl_status
slowing_start(void *ctx, struct sl_error *err)
{
	struct slowing *s = ctx;

	assert_false(s->has_hog);
	if (s->n_starts == s->n_starts_most)
		return sl__fail(err, SL_E_NOMEM, "no more threads");
	s->n_starts++;
	s->has_hog = 1;
	return SL_OK;
}

static void
slowing_stop(void *ctx)
{
	struct slowing *s = ctx;

	assert_true(s->has_hog);
	s->n_stops++;
	s->has_hog = 0;
}

/* Half of the ratios are too large by the factor and half too small by it; in
 * one order all of them would be wrong to the same side. */
static void
a_slowing_machine_is_not_the_hog(void **state)
{
	struct slowing s = {.now = 100, .factor = 1.25, .n_starts_most = 1000};
	struct sl__hog_trial trial = {slowing_probe, slowing_start,
				      slowing_stop, &s};
	double both = (s.factor + 1 / s.factor) / 2;
	struct sl__hog_effect effect = {.absent = "never asked"};

	(void)state;
	assert_int_equal(sl__hog_compare(&trial, &effect, NULL), SL_OK);
	assert_null(effect.absent);
	assert_near(effect.compute, both, 1e-9);
	assert_near(effect.l2, 2 * both, 1e-9);
	assert_near(effect.l3, 3 * both, 1e-9);
	assert_near(effect.dram, 4 * both, 1e-9);
	assert_int_equal(s.n_starts, s.n_stops);
	assert_int_equal(s.n_probes, 2 * s.n_starts);
	assert_int_equal(2 * s.n_hog_first, s.n_starts);
}

static void
a_hog_that_fails_leaves_no_figures(void **state)
{
	struct slowing s = {.now = 100, .factor = 1, .n_starts_most = 4};
	struct sl__hog_trial trial = {slowing_probe, slowing_start,
				      slowing_stop, &s};
	struct sl__hog_effect effect = {.compute = -7, .dram = -8};
	struct sl_error err;

	(void)state;
	assert_int_equal(sl__hog_compare(&trial, &effect, &err), SL_E_NOMEM);
	assert_string_equal(err.text, "no more threads");
	assert_near(effect.compute, -7, 0);
	assert_near(effect.dram, -8, 0);
	assert_int_equal(s.n_starts, 4);
	assert_int_equal(s.n_stops, 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_an_effect_there_is_a_reason),
		cmocka_unit_test(a_slowing_machine_is_not_the_hog),
		cmocka_unit_test(a_hog_that_fails_leaves_no_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

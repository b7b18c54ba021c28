/* SPDX-License-Identifier: Apache-2.0 */
/* test_rate_schedule.c - learning rates by step, against closed forms. */
#include "harness.h"
#include "sleuth.h"

static void
assert_rate(double x, double y)
{
	assert_true(x - y < 1e-15 && y - x < 1e-15);
}

/* A line from peak / n to the peak. */
static void
warm_up_is_a_line(void **state)
{
	struct sl_rate r = {.peak = 0.8, .n_steps = 40, .n_warmup = 8};

	(void)state;
	for (int s = SL_SCHEDULE_COSINE; s < SL_N_SCHEDULES; s++) {
		r.schedule = (enum sl_schedule)s;
		r.n_between = 4;
		r.factor = 0.5;
		for (uint64_t k = 0; k < 8; k++)
			assert_rate(sl_rate_at(&r, k), 0.1 * (double)(k + 1));
		assert_rate(sl_rate_at(&r, 8), 0.8);
	}
}

/* cos 0, pi/3, pi/2, 2 pi/3, pi are 1, 1/2, 0, -1/2, -1. */
static void
cosine_at_known_angles(void **state)
{
	const struct sl_rate r = {
		.peak = 1, .n_steps = 112, .n_warmup = 100, .final_share = 0.2};

	(void)state;
	assert_rate(sl_rate_at(&r, 100), 1);
	assert_rate(sl_rate_at(&r, 104), 0.2 + 0.8 * 0.75);
	assert_rate(sl_rate_at(&r, 106), 0.2 + 0.8 * 0.5);
	assert_rate(sl_rate_at(&r, 108), 0.2 + 0.8 * 0.25);
	assert_rate(sl_rate_at(&r, 112), 0.2);
	assert_rate(sl_rate_at(&r, 1000), 0.2);
}

static void
steps_and_constants(void **state)
{
	struct sl_rate r = {.schedule = SL_SCHEDULE_STEP,
			    .peak = 8,
			    .n_steps = 100,
			    .n_warmup = 2,
			    .n_between = 10,
			    .factor = 0.5};

	(void)state;
	assert_rate(sl_rate_at(&r, 11), 8);
	assert_rate(sl_rate_at(&r, 12), 4);
	assert_rate(sl_rate_at(&r, 31), 2);
	assert_rate(sl_rate_at(&r, 32), 1);
	r.schedule = SL_SCHEDULE_CONSTANT;
	assert_rate(sl_rate_at(&r, 99), 8);
	assert_string_equal(sl_schedule_text(SL_SCHEDULE_STEP), "step");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(warm_up_is_a_line),
		cmocka_unit_test(cosine_at_known_angles),
		cmocka_unit_test(steps_and_constants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

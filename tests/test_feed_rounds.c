/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_feed_rounds.c - what feeding costs is found to the nanosecond by a
 * scripted clock; what was made ahead is used up off the clock.
 */
#include "iterations_scene.h"
#include "base/status.h"
#include "experiment/feed_rounds.h"

/* Feeds that take so long, but for those that were made ahead. */
struct made {
	struct taken *t;
	uint64_t ns;
	size_t n_ahead, n_ready; /* at most; now */
	size_t n_fed, n_settled;
};

static enum sl_status
feed(void *ctx, struct sl_error *err)
{
	struct made *m = ctx;

	(void)err;
	m->n_fed++;
	if (m->n_ready)
		m->n_ready--;
	else
		m->t->script.time.now_ns += m->ns;
	return SL_OK;
}

static enum sl_status
feed_nothing(void *ctx, struct sl_error *err)
{
	(void)ctx;
	return sl__fail(err, SL_E_DATA, "no more of it");
}

static void
settle(void *ctx)
{
	struct made *m = ctx;

	m->n_ready = m->n_ahead;
	m->n_settled++;
}

static double
steps_ns(const struct taken *t)
{
	return STEP_NS * (double)sl_plan_n_steps(t->plan);
}

static struct sl__feed_rounds_options
options_of(const struct taken *t, double time_s)
{
	return (struct sl__feed_rounds_options){.plan = t->plan,
						.time_s = time_s,
						.iteration_ns = steps_ns(t),
						.seed = 5,
						.control = t->how.control};
}

static void
ratios_are_those_of_the_script(void **state)
{
	struct taken t;
	struct made slow = {.t = &t, .ns = 4 * STEP_NS, .n_ahead = 2},
		    fast = {.t = &t};
	struct sl__feed_rounds_options how;
	struct sl_estimate ratios[2];
	const struct sl__feed_arm arms[2] = {{feed, settle, &slow, 2, 3, NULL},
					     {feed, NULL, &fast, 0, 0, NULL}};
	double whole;

	(void)state;
	open_model(&t, 1);
	settle(&slow);
	how = options_of(&t, 1);
	assert_false(
		sl__feed_rounds_run(ratios, arms, 2, &how, &t.arena, NULL));
	whole = steps_ns(&t);
	assert_int_equal(ratios[0].n, 0);
	assert_true(ratios[1].n >= 6 && !ratios[1].needs_n);
	assert_near(ratios[1].value, whole / (whole + 4 * STEP_NS), 1e-4);
	assert_near(ratios[1].lo, ratios[1].value, 1e-4);
	assert_near(ratios[1].hi, ratios[1].value, 1e-4);
	/* Three on the clock, after the two that were ready. */
	assert_int_equal(slow.n_fed, 5 * (slow.n_settled - 1));
	assert_int_equal(slow.n_settled - 1, ratios[1].n);
	assert_int_equal(fast.n_fed, ratios[1].n);
	close_model(&t);
}

static void
too_few_rounds_say_nothing(void **state)
{
	struct taken t;
	struct made any = {.t = &t};
	const struct sl__feed_arm arms[2] = {{feed, NULL, &any, 0, 0, NULL},
					     {feed, NULL, &any, 0, 0, NULL}};
	struct sl__feed_rounds_options how;
	struct sl_estimate ratios[2];

	(void)state;
	open_model(&t, 1);
	how = options_of(&t, 5 * 2 * steps_ns(&t) / 1e9);
	assert_false(
		sl__feed_rounds_run(ratios, arms, 2, &how, &t.arena, NULL));
	assert_true(any.n_fed > 0);
	assert_int_equal(ratios[1].n, 0);
	close_model(&t);
}

static void
failing_feed_ends_it(void **state)
{
	struct taken t;
	struct made any = {.t = &t};
	const struct sl__feed_arm arms[2] = {
		{feed, NULL, &any, 0, 0, NULL},
		{feed_nothing, NULL, NULL, 0, 0, NULL}};
	struct sl__feed_rounds_options how;
	struct sl_estimate ratios[2];
	struct sl_error err;

	(void)state;
	open_model(&t, 1);
	how = options_of(&t, 1);
	assert_int_equal(
		sl__feed_rounds_run(ratios, arms, 2, &how, &t.arena, &err),
		SL_E_DATA);
	assert_string_equal(err.text, "no more of it");
	close_model(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ratios_are_those_of_the_script),
		cmocka_unit_test(too_few_rounds_say_nothing),
		cmocka_unit_test(failing_feed_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

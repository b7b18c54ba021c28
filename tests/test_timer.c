/* SPDX-License-Identifier: Apache-2.0 */
/* test_timer.c - stretches of calls on a scripted clock. */
#include "harness.h"
#include "scripted.h"
#include "timing/timer.h"

struct scene {
	struct scripted_time time;
	struct scripted_work work;
	struct sl_clock clock;
	struct sl_candidate what;
	struct sl__timer timer;
};

static void
set_scene(struct scene *s, double call_ns)
{
	memset(s, 0, sizeof(*s));
	s->time.reading_ns = 20;
	sl__rng_init(&s->time.rng, 1);
	s->work.time = &s->time;
	s->work.base_ns = call_ns;
	s->clock.now_ns = scripted_now;
	s->clock.ctx = &s->time;
	s->what.name = "work";
	s->what.fn = scripted_call;
	s->what.ctx = &s->work;
	sl__timer_init(&s->timer, &s->clock);
}

static void
the_reading_is_taken_off(void **state)
{
	struct scene s;
	double took_ns;

	(void)state;
	set_scene(&s, 300);
	assert_near(sl__timer_shortest_ns(&s.timer), 2000, 0);
	assert_int_equal(sl__timer_time_calls(&s.timer, s.what.fn, s.what.ctx,
					      7, &took_ns),
			 0);
	assert_near(took_ns, 2100, 0);
	assert_int_equal(s.work.n_calls, 7);
}

static void
calibration_doubles_and_confirms(void **state)
{
	struct scene s;
	size_t n_calls;
	double call_ns;

	(void)state;
	set_scene(&s, 300);
	assert_int_equal(sl__timer_choose_n_calls(&s.timer, &s.what, 2000,
						  &n_calls, &call_ns),
			 0);
	assert_int_equal(n_calls, 8);
	assert_near(call_ns, 300, 0);
	assert_int_equal(s.work.n_calls, 1 + 2 + 4 + 8 + 8);
}

static void
a_long_call_is_made_once(void **state)
{
	struct scene s;
	size_t n_calls;
	double call_ns;

	(void)state;
	set_scene(&s, 20000);
	assert_int_equal(sl__timer_choose_n_calls(&s.timer, &s.what, 2000,
						  &n_calls, &call_ns),
			 0);
	assert_int_equal(n_calls, 1);
	assert_int_equal(s.work.n_calls, 1);
}

static void
failures_end_it_at_once(void **state)
{
	struct scene s;
	size_t n_calls;
	double ns = -1;

	(void)state;
	set_scene(&s, 300);
	s.work.fail_at = 3;
	assert_int_equal(
		sl__timer_time_calls(&s.timer, s.what.fn, s.what.ctx, 7, &ns),
		7);
	assert_int_equal(s.work.n_calls, 3);
	assert_near(ns, -1, 0);
	set_scene(&s, 300);
	s.work.fail_at = 6;
	assert_int_equal(sl__timer_choose_n_calls(&s.timer, &s.what, 2000,
						  &n_calls, &ns),
			 7);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reading_is_taken_off),
		cmocka_unit_test(calibration_doubles_and_confirms),
		cmocka_unit_test(a_long_call_is_made_once),
		cmocka_unit_test(failures_end_it_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_clock.c - calibration finds what a scripted clock was made to cost,
 * and the system's clocks never run backwards.  No time is asserted.
 */
#include "harness.h"
#include "base/clock.h"

/* Each reading costs 'cost_ns' and shows the time rounded down to 'step_ns';
 * every 'every'-th reading is interrupted for 'pause_ns'. */
struct script {
	uint64_t now_ns, cost_ns, step_ns;
	uint64_t every, pause_ns;
	uint64_t n_readings;
};

static uint64_t
scripted_now_ns(void *ctx)
{
	struct script *s = ctx;

	s->n_readings++;
	s->now_ns += s->cost_ns;
	if (s->every && s->n_readings % s->every == 0)
		s->now_ns += s->pause_ns;
	return s->now_ns - s->now_ns % s->step_ns;
}

static struct sl__clock_cost
calibrate(struct script script)
{
	struct sl_clock clock = {scripted_now_ns, &script};
	struct sl__clock_cost cost = {-1, -1};

	sl__clock_calibrate(&cost, &clock);
	assert_true(script.n_readings > 1000);
	assert_true(cost.reading_ns > 0);
	assert_true(cost.resolution_ns > 0);
	return cost;
}

static void
a_fine_clock_shows_its_cost(void **state)
{
	struct sl__clock_cost cost =
		calibrate((struct script){.cost_ns = 25, .step_ns = 1});

	(void)state;
	assert_near(cost.reading_ns, 25, 1e-9);
	assert_near(cost.resolution_ns, 25, 1e-9);
}

/* One group of readings in five is hit: the median does not see it. */
static void
interrupts_do_not_count(void **state)
{
	struct sl__clock_cost cost = calibrate((struct script){
		.cost_ns = 25, .step_ns = 1, .every = 50, .pause_ns = 10000});

	(void)state;
	assert_near(cost.reading_ns, 25, 1e-9);
	assert_near(cost.resolution_ns, 25, 1e-9);
}

static void
a_coarse_clock_shows_its_step(void **state)
{
	struct sl__clock_cost cost =
		calibrate((struct script){.cost_ns = 25, .step_ns = 1000});

	(void)state;
	assert_near(cost.resolution_ns, 1000, 1e-9);
	assert_true(cost.reading_ns < 1000);
}

/* Both figures are promised to be above zero, whatever the clock does. */
static void
a_stopped_clock_still_has_a_cost(void **state)
{
	(void)state;
	(void)calibrate((struct script){.cost_ns = 0, .step_ns = 1});
}

/*
 * One time that a clock and a counter of three ticks a nanosecond show, 20 ns
 * after each reading of either.  A reading whose number is in [from, to)
 * is followed by 'pause_ns' of preemption.
 */
struct shared_time {
	uint64_t now_ns, n_readings;
	uint64_t every, from, to, pause_ns;
};

static uint64_t
pass_time(struct shared_time *t)
{
	uint64_t shown_ns = t->now_ns;

	t->now_ns += 20;
	t->n_readings++;
	if ((t->n_readings >= t->from && t->n_readings < t->to) ||
	    (t->every && t->n_readings % t->every == 0))
		t->now_ns += t->pause_ns;
	return shown_ns;
}

static uint64_t
shared_now_ns(void *ctx)
{
	return pass_time(ctx);
}

static uint64_t
shared_ticks(void *ctx)
{
	return 3 * pass_time(ctx);
}

static double
rate_over(struct shared_time t)
{
	struct sl_clock clock = {shared_now_ns, &t};
	struct sl_clock counter = {shared_ticks, &t};

	return sl__clock_rate(&counter, &clock);
}

/* Preempted for 1 ms, half of the window, between clock and counter. */
static void
preemption_does_not_falsify_a_rate(void **state)
{
	(void)state;
	assert_near(rate_over((struct shared_time){0}), 3, 1e-9);
	for (uint64_t n = 1; n <= 12; n++) {
		struct shared_time t = {
			.from = n, .to = n + 1, .pause_ns = 1000000};

		assert_near(rate_over(t), 3, 1e-9);
	}
	assert_near(rate_over((struct shared_time){.every = 4,
						   .pause_ns = 1000000}),
		    3, 1e-9);
}

/* Never left alone, it ends all the same, as well as it can: 2.5 us of error
 * at each end of at least 2 ms. */
static void
a_busy_machine_still_has_a_rate(void **state)
{
	struct shared_time t = {.to = UINT64_MAX, .pause_ns = 5000};

	(void)state;
	assert_near(rate_over(t), 3, 3 * 2 * 2500.0 / 2e6);
}

static void
a_clock_given_is_the_clock_read(void **state)
{
	struct script script = {.now_ns = 40, .cost_ns = 2, .step_ns = 1};
	struct sl_clock clock = {scripted_now_ns, &script};

	(void)state;
	assert_int_equal(sl__clock_now_ns(&clock), 42);
	assert_int_equal(sl__clock_now_ns(&clock), 44);
	assert_int_equal(script.n_readings, 2);
}

static void
system_clocks_never_run_backwards(void **state)
{
	const struct sl_clock *monotonic = sl__clock_monotonic();
	uint64_t last_ns = sl__clock_now_ns(NULL);
	uint64_t last_cpu_ns = sl__clock_thread_cpu_ns();

	(void)state;
	assert_true(sl__ticks_per_ns() > 0);
	uint64_t last_ticks = sl__ticks();

	for (int i = 0; i < 10000; i++) {
		uint64_t now_ns = sl__clock_now_ns(i % 2 ? monotonic : NULL);
		uint64_t cpu_ns = sl__clock_thread_cpu_ns();
		uint64_t ticks = sl__ticks();

		assert_true(now_ns >= last_ns);
		assert_true(cpu_ns >= last_cpu_ns);
		assert_true(ticks >= last_ticks);
		last_ns = now_ns;
		last_cpu_ns = cpu_ns;
		last_ticks = ticks;
	}
}

/* Work moves both clocks; the loop ends because they do. */
static void
work_takes_time(void **state)
{
	uint64_t cpu_ns = sl__clock_thread_cpu_ns();
	uint64_t now_ns = sl__clock_now_ns(NULL);
	uint64_t ticks;
	double rate = sl__ticks_per_ns();

	(void)state;
	ticks = sl__ticks();
	while (sl__clock_thread_cpu_ns() == cpu_ns ||
	       sl__clock_now_ns(NULL) == now_ns || sl__ticks() == ticks)
		continue;
	assert_true(sl__clock_thread_cpu_ns() > cpu_ns);
	assert_near(sl__ticks_per_ns(), rate, 0); /* measured once */
}

static void
the_real_clock_calibrates(void **state)
{
	struct sl__clock_cost cost = {-1, -1};

	(void)state;
	sl__clock_calibrate(&cost, NULL);
	assert_true(cost.reading_ns > 0);
	assert_true(cost.resolution_ns > 0);
}

static void
ticks_have_a_cost_and_a_rate(void **state)
{
	struct sl__ticker ticker;

	(void)state;
	sl__ticker_init(&ticker, NULL);
	assert_null(ticker.clock);
	assert_true(ticker.reading_ns > 0);
	assert_near(ticker.per_ns, sl__ticks_per_ns(), 0);
	assert_near(sl__ticker_span_ns(&ticker, 100, 1100),
		    1000 / ticker.per_ns, 1e-9);
}

/* A clock in their place counts nanoseconds, and what interrupts some runs of
 * readings is not in their cost. */
static void
a_clock_may_take_the_place_of_ticks(void **state)
{
	struct script script = {
		.cost_ns = 25, .step_ns = 1, .every = 200, .pause_ns = 10000};
	struct sl_clock clock = {scripted_now_ns, &script};
	struct sl__ticker ticker;

	(void)state;
	sl__ticker_init(&ticker, &clock);
	assert_near(ticker.per_ns, 1, 0);
	assert_near(ticker.reading_ns, 25, 0);
	script = (struct script){.now_ns = 40, .cost_ns = 2, .step_ns = 1};
	assert_int_equal(sl__ticks_read(ticker.clock), 42);
	assert_near(sl__ticker_span_ns(&ticker, 42, 62), 20, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fine_clock_shows_its_cost),
		cmocka_unit_test(interrupts_do_not_count),
		cmocka_unit_test(a_coarse_clock_shows_its_step),
		cmocka_unit_test(a_stopped_clock_still_has_a_cost),
		cmocka_unit_test(preemption_does_not_falsify_a_rate),
		cmocka_unit_test(a_busy_machine_still_has_a_rate),
		cmocka_unit_test(a_clock_given_is_the_clock_read),
		cmocka_unit_test(system_clocks_never_run_backwards),
		cmocka_unit_test(work_takes_time),
		cmocka_unit_test(the_real_clock_calibrates),
		cmocka_unit_test(ticks_have_a_cost_and_a_rate),
		cmocka_unit_test(a_clock_may_take_the_place_of_ticks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

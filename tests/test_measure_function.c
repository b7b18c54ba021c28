/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_measure_function.c - sl_measure() finds what a scripted clock says.
 *
 * Time is data here: every expected figure is known from the script.
 */
#include "harness.h"
#include "counting.h"
#include "scripted.h"
#include "timing/measure_function.h"

struct scene {
	struct scripted_time time;
	struct scripted_work work;
	struct sl_clock clock;
	struct sl_measure_options how;
};

/* A call of 10 us behind a clock that takes 20 ns to read. */
static void
set_scene(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	s->time.reading_ns = 20;
	sl__rng_init(&s->time.rng, 1);
	s->work.time = &s->time;
	s->work.base_ns = 10000;
	s->clock.now_ns = scripted_now;
	s->clock.ctx = &s->time;
	s->how.struct_size = sizeof(s->how);
	s->how.clock = &s->clock;
	s->how.time_s = 0.1;
}

static void
constant_function_is_read_exactly(void **state)
{
	struct sl_measurement *m;
	struct scene s;

	(void)state;
	set_scene(&s);
	s.work.first_ns = 50000;
	s.how.name = "constant";
	assert_int_equal(sl_measure(&m, scripted_call, &s.work, &s.how, NULL),
			 SL_OK);
	assert_string_equal(m->name, "constant");
	assert_near(m->clock_cost_ns, 20, 0);
	assert_near(m->clock_resolution_ns, 20, 0);
	assert_int_equal(m->calls_per_sample, 1);
	assert_near(m->wall.first_ns, 50000, 0);
	assert_near(m->wall.median.value, 10000, 0);
	assert_near(m->wall.median.lo, 10000, 0);
	assert_near(m->wall.median.hi, 10000, 0);
	assert_near(m->wall.min_ns, 10000, 0);
	assert_near(m->wall.max_ns, 10000, 0);
	assert_near(m->wall.std_ns, 0, 1e-9);
	assert_int_equal(m->wall.warmup, SL_WARMUP_FLAT);
	assert_int_equal(m->stopped_by, SL_STOP_PRECISION);
	/* Not before a tenth of the budget: 10 ms of 10 us calls. */
	assert_true(m->n_samples >= 990);
	sl_measurement_free(m);
}

static void
short_function_is_batched(void **state)
{
	struct sl_measurement *m;
	struct scene s;

	(void)state;
	set_scene(&s);
	s.work.base_ns = 5;
	assert_int_equal(sl_measure(&m, scripted_call, &s.work, &s.how, NULL),
			 SL_OK);
	/* 100 readings of 20 ns are 2,000 ns: 400 calls at least. */
	assert_true(m->calls_per_sample >= 400);
	assert_near(m->wall.median.value, 5, 1e-9);
	sl_measurement_free(m);
}

static void
warm_up_is_found_and_left_out(void **state)
{
	struct sl_measurement *m;
	struct scene s;

	(void)state;
	set_scene(&s);
	s.work.n_early = 2000;
	s.work.early_factor = 2;
	s.work.noise = 0.02;
	s.how.precision = 1e-6;
	assert_int_equal(sl_measure(&m, scripted_call, &s.work, &s.how, NULL),
			 SL_OK);
	assert_int_equal(m->stopped_by, SL_STOP_TIME);
	assert_int_equal(m->wall.warmup, SL_WARMUP_WARMING);
	/* A slot of 1 ms holds 100 samples: found to within two slots. */
	assert_near((double)m->wall.n_warmup, 2000, 200);
	assert_true(m->wall.max_ns < 10300);
	assert_near(m->wall.median.value, 10100, 20);
	sl_measurement_free(m);
}

static void
number_of_runs_is_exact(void **state)
{
	struct sl_measurement *m;
	struct scene s;

	(void)state;
	set_scene(&s);
	s.how.n_runs = 123;
	s.how.n_warmup = 10;
	assert_int_equal(sl_measure(&m, scripted_call, &s.work, &s.how, NULL),
			 SL_OK);
	assert_int_equal(m->n_samples, 133);
	assert_int_equal(m->wall.n, 123);
	assert_int_equal(m->wall.n_warmup, 10);
	assert_int_equal(m->stopped_by, SL_STOP_RUNS);
	sl_measurement_free(m);
}

/* p99 needs 368 independent samples; fewer must say so. */
static void
percentile_without_support_is_refused(void **state)
{
	struct sl_measurement *m;
	struct scene s;

	(void)state;
	set_scene(&s);
	s.work.noise = 0.1;
	s.how.n_runs = 100;
	assert_int_equal(sl_measure(&m, scripted_call, &s.work, &s.how, NULL),
			 SL_OK);
	assert_int_equal(m->wall.p99.needs_n, 368);
	assert_true(isnan(m->wall.p99.hi));
	assert_int_equal(m->wall.median.needs_n, 0);
	sl_measurement_free(m);
}

static void
failing_function_ends_with_its_error(void **state)
{
	static const size_t fail_at[] = {1, 3, 500};
	struct sl_measurement *m = (struct sl_measurement *)8;
	struct sl_error err;
	struct scene s;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		set_scene(&s);
		s.work.fail_at = fail_at[i];
		s.how.name = "broken";
		assert_int_equal(
			sl_measure(&m, scripted_call, &s.work, &s.how, &err),
			SL_E_MEASURE);
		assert_null(m);
		assert_string_equal(err.text, "broken failed: it returned 7");
		assert_int_equal(s.work.n_calls, fail_at[i]);
	}
}

static void
interrupt_keeps_what_was_measured(void **state)
{
	struct sl_measurement *m;
	struct sl_error err;
	struct scene s;

	(void)state;
	set_scene(&s);
	s.work.interrupt_at = 400;
	s.how.interrupt = &s.work.interrupted;
	assert_int_equal(sl_measure(&m, scripted_call, &s.work, &s.how, NULL),
			 SL_OK);
	assert_int_equal(m->stopped_by, SL_STOP_INTERRUPT);
	assert_in_range(m->n_samples, 300, 500);
	sl_measurement_free(m);

	set_scene(&s);
	s.work.interrupt_at = 1;
	s.how.interrupt = &s.work.interrupted;
	assert_int_equal(sl_measure(&m, scripted_call, &s.work, &s.how, &err),
			 SL_E_INTERRUPTED);
	assert_null(m);

	/* In a warm-up that was asked for, too. */
	set_scene(&s);
	s.how.n_warmup = 10000;
	s.work.interrupt_at = 400;
	s.how.interrupt = &s.work.interrupted;
	assert_int_equal(sl_measure(&m, scripted_call, &s.work, &s.how, &err),
			 SL_E_INTERRUPTED);
	assert_string_equal(err.text, "interrupted before the first sample");
}

/* A fixed warm-up that the time does not hold is no usage error. */
static void
warm_up_beyond_the_budget_is_told(void **state)
{
	struct sl_measurement *m;
	struct sl_error err;
	struct scene s;

	(void)state;
	set_scene(&s);
	s.work.base_ns = 3e6;
	s.how.n_warmup = 500;
	s.how.time_s = 0.5;
	assert_int_equal(sl_measure(&m, scripted_call, &s.work, &s.how, &err),
			 SL_E_MEASURE);
	assert_string_equal(err.text, "function: 0.5 s do not suffice for "
				      "more than its warm-up");
	/* With enough of it, precision is not judged on warm-up samples. */
	set_scene(&s);
	s.work.base_ns = 3e6;
	s.how.n_warmup = 500;
	s.how.time_s = 5;
	assert_int_equal(sl_measure(&m, scripted_call, &s.work, &s.how, &err),
			 SL_OK);
	assert_int_equal(m->wall.n_warmup, 500);
	assert_true(m->wall.n >= 32);
	sl_measurement_free(m);
}

/* The budget holds everything, the calibration too. */
static void
long_function_keeps_the_budget(void **state)
{
	struct sl_measurement *m;
	struct scene s;

	(void)state;
	set_scene(&s);
	s.work.base_ns = 240e6;
	s.how.time_s = 1;
	assert_int_equal(sl_measure(&m, scripted_call, &s.work, &s.how, NULL),
			 SL_OK);
	assert_true(m->elapsed_s <= 1.3);
	sl_measurement_free(m);
}

/* Calls of 3 ms are slots of their own.  The cold call and one that calibrates
 * take 3 ms each: 98 more begin within 300 ms. */
static void
time_ends_it(void **state)
{
	struct sl_measurement *m;
	struct scene s;

	(void)state;
	set_scene(&s);
	s.work.base_ns = 3e6;
	s.how.time_s = 0.3;
	s.how.n_warmup = 90;
	assert_int_equal(sl_measure(&m, scripted_call, &s.work, &s.how, NULL),
			 SL_OK);
	assert_int_equal(m->stopped_by, SL_STOP_TIME);
	assert_int_equal(s.work.n_calls, 100);
	assert_int_equal(m->n_samples, 98);
	sl_measurement_free(m);
}

/* Samples of disturbed slots are kept, and the slots are counted. */
static void
disturbed_slots_are_told(void **state)
{
	struct scripted_instruments script;
	struct sl_measurement *m;
	struct scene s;

	(void)state;
	set_scene(&s);
	script_instruments(&script, 20);
	script.disturbed = 1u << 3 | 1u << 7;
	s.work.time = &script.time;
	s.work.base_ns = 1e6;
	s.how.clock = &script.clock;
	s.how.n_runs = 50;
	assert_int_equal(sl__measure_function(&m, scripted_call, &s.work,
					      &s.how, &script.source, NULL),
			 SL_OK);
	assert_int_equal(m->n_samples, 50);
	assert_int_equal(m->noise.n_slots, 50);
	assert_int_equal(m->noise.n_disturbed, 2);
	assert_near(m->noise.involuntary_switches.value, 2, 0);
	/* CPU time is scripted time here, two readings off for each slot. */
	assert_near(m->cpu.value, 1e6, 20);
	sl_measurement_free(m);
}

static void
absurd_options_are_refused(void **state)
{
	struct sl_measurement *m;
	struct scene s;

	(void)state;
	for (int i = 0; i < 6; i++) {
		set_scene(&s);
		if (i == 0)
			s.how.struct_size = 3;
		if (i == 1)
			s.how.time_s = -1;
		if (i == 2)
			s.how.time_s = 1e99;
		if (i == 3)
			s.how.precision = 1;
		if (i == 4)
			s.how.time_s = (double)NAN;
		if (i == 5)
			s.how.n_runs = SIZE_MAX;
		assert_int_equal(
			sl_measure(&m, scripted_call, &s.work, &s.how, NULL),
			SL_E_USAGE);
		assert_null(m);
		assert_int_equal(s.work.n_calls, 0);
	}
}

static void
every_failed_allocation_is_told_and_leaks_nothing(void **state)
{
	static char name[100000]; /* so long that it is a block of its own */
	int n_failed = 0;

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	for (int fail_at = 1;; fail_at++) {
		struct counting counting = {.fail_at = fail_at};
		struct sl_allocator allocator = counting_allocator(&counting);
		struct sl_measurement *m;
		struct sl_error err;
		struct scene s;
		enum sl_status rc;

		set_scene(&s);
		s.how.allocator = &allocator;
		s.how.name = name;
		s.work.noise = 0.1;
		rc = sl_measure(&m, scripted_call, &s.work, &s.how, &err);
		if (rc == SL_OK) {
			sl_measurement_free(m);
			assert_int_equal(counting.n_out, 0);
			break;
		}
		assert_int_equal(rc, SL_E_NOMEM);
		assert_string_equal(err.text, "out of memory");
		assert_null(m);
		assert_int_equal(counting.n_out, 0);
		n_failed++;
	}
	assert_true(n_failed >= 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constant_function_is_read_exactly),
		cmocka_unit_test(short_function_is_batched),
		cmocka_unit_test(warm_up_is_found_and_left_out),
		cmocka_unit_test(number_of_runs_is_exact),
		cmocka_unit_test(percentile_without_support_is_refused),
		cmocka_unit_test(failing_function_ends_with_its_error),
		cmocka_unit_test(interrupt_keeps_what_was_measured),
		cmocka_unit_test(warm_up_beyond_the_budget_is_told),
		cmocka_unit_test(long_function_keeps_the_budget),
		cmocka_unit_test(time_ends_it),
		cmocka_unit_test(disturbed_slots_are_told),
		cmocka_unit_test(absurd_options_are_refused),
		cmocka_unit_test(
			every_failed_allocation_is_told_and_leaks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_selfcheck.c - the bookkeeping of sl_selfcheck().
 *
 * The work is a script in which a step takes a nanosecond, so that what was
 * planted is found every time; real rates are measurements of a machine and
 * are not asserted anywhere.
 */
#include "harness.h"
#include "counting.h"
#include "scripted.h"
#include "driver/selfcheck.h"

struct scene {
	struct scripted_instruments script;
	struct sl__selfcheck_test_hooks with;
	struct sl_selfcheck_options how;
	volatile sig_atomic_t interrupted;
	size_t n_calls, interrupt_at; /* the n-th call of the work; 0: none */
	struct sl_progress told[64];
	size_t n_told, n_calls_first; /* calls when a round was over */
};

static struct scene *scene; /* of the work, which knows its steps alone */

static int
scripted_steps(void *ctx)
{
	const struct sl__steps_work *work = ctx;

	scene->script.time.now_ns += work->n_steps;
	if (++scene->n_calls == scene->interrupt_at)
		scene->interrupted = 1;
	return 0;
}

static void
tell(const struct sl_progress *now, void *ctx)
{
	struct scene *s = ctx;

	if (s->n_told == 1)
		s->n_calls_first = s->n_calls;
	if (s->n_told < 64)
		s->told[s->n_told++] = *now;
}

/* Work of 20 us and 20 ms a verdict. */
static void
set_scene(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	scene = s;
	script_instruments(&s->script, 1);
	s->with.with = s->script.with;
	s->with.work = scripted_steps;
	s->how = (struct sl_selfcheck_options){.struct_size = sizeof(s->how),
					       .time_s = 0.3,
					       .budget_s = 0.02,
					       .function_ns = 20000,
					       .seed = 5,
					       .progress = tell,
					       .progress_ctx = s,
					       .interrupt = &s->interrupted};
}

static struct sl_selfcheck *
check(struct scene *s)
{
	struct sl_selfcheck *out;
	struct sl_error err = {0};

	if (sl__selfcheck(&out, &s->how, &s->with, &err))
		fail_msg("%s", err.text);
	return out;
}

static void
rows_count_what_was_planted(void **state)
{
	static const double planted[] = {0, 0.01, 0.02, 0.05};
	struct sl_selfcheck *s;
	struct scene scripted;

	(void)state;
	set_scene(&scripted);
	s = check(&scripted);
	assert_int_equal(s->n_rows, 4);
	assert_int_equal(s->seed, 5);
	assert_int_equal(s->stopped_by, SL_STOP_TIME);
	for (size_t i = 0; i < 4; i++) {
		const struct sl_selfcheck_row *r = &s->rows[i];

		assert_near(r->planted, planted[i], 0);
		/* One step of 20,000. */
		assert_near(r->planted_real, planted[i], 0.00005);
		assert_true(r->n_verdicts >= 4);
		assert_int_equal(r->n_verdicts, s->rows[0].n_verdicts);
		assert_true(r->n_right <= r->n_different);
		assert_true(r->n_different <= r->n_verdicts);
		assert_near(r->rate.value * (double)r->n_verdicts,
			    (double)(i ? r->n_right : r->n_different), 1e-9);
		assert_true(r->rate.lo <= r->rate.value &&
			    r->rate.value <= r->rate.hi);
		if (!i)
			continue;
		/* B takes longer in each round: seven decide. */
		assert_int_equal(r->n_right, r->n_verdicts);
		assert_true(r->seconds.value < 0.02);
	}
	sl_selfcheck_free(s);
}

/* The round under way when time is up is ended, and there is one. */
static void
time_ends_it_after_a_round(void **state)
{
	struct sl_selfcheck *s;
	struct scene scripted;

	(void)state;
	set_scene(&scripted);
	scripted.how.time_s = scripted.how.budget_s;
	s = check(&scripted);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(s->rows[i].n_verdicts, 1);
	assert_true(s->elapsed_s >= 0.02 && s->elapsed_s < 0.1);
	assert_int_equal(scripted.n_told, 2);
	assert_string_equal(scripted.told[0].what, "checking");
	assert_int_equal(scripted.told[0].n_done, 0);
	assert_int_equal(scripted.told[1].n_done, 4);
	assert_near(scripted.told[1].share, 1, 0);
	sl_selfcheck_free(s);
}

/* What was decided before it stands; what it fell into does not count. */
static void
an_interrupt_keeps_what_was_decided(void **state)
{
	struct sl_selfcheck *s, *whole;
	struct scene scripted;
	size_t first, n_calls;

	(void)state;
	set_scene(&scripted);
	whole = check(&scripted);
	first = scripted.n_calls_first;
	n_calls = scripted.n_calls - first;
	for (size_t k = 1; k < 8; k++) {
		set_scene(&scripted);
		scripted.interrupt_at = first + n_calls * k / 8;
		s = check(&scripted);
		assert_int_equal(s->stopped_by, SL_STOP_INTERRUPT);
		for (size_t i = 0; i < 4; i++) {
			assert_true(s->rows[i].n_verdicts > 0);
			assert_true(s->rows[i].n_verdicts <
				    whole->rows[i].n_verdicts);
			assert_in_range(s->rows[0].n_verdicts -
						s->rows[i].n_verdicts,
					0, 1);
		}
		sl_selfcheck_free(s);
	}
	sl_selfcheck_free(whole);
}

/* Whether it falls before everything or into the first round. */
static void
interrupted_at_once_is_an_error(void **state)
{
	static const size_t at[] = {0, 1, 200};
	struct sl_selfcheck *s;
	struct sl_error err;
	struct scene scripted;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		set_scene(&scripted);
		scripted.interrupt_at = at[i];
		scripted.interrupted = !at[i];
		assert_int_equal(
			sl__selfcheck(&s, &scripted.how, &scripted.with, &err),
			SL_E_INTERRUPTED);
		assert_null(s);
		assert_string_equal(
			err.text,
			"interrupted before the first verdict on each");
	}
}

static void
disturbed_slots_are_added_up(void **state)
{
	struct sl_selfcheck *s;
	struct scene scripted;

	(void)state;
	set_scene(&scripted);
	scripted.script.disturbed = 1u << 2 | 1u << 30;
	s = check(&scripted);
	assert_int_equal(s->noise.n_disturbed, 2);
	assert_true(s->noise.n_slots > 64);
	assert_near(s->noise.involuntary_switches.value, 2, 0);
	sl_selfcheck_free(s);
}

static void
absurd_options_are_refused(void **state)
{
	struct sl_selfcheck *s;

	(void)state;
	for (int i = 0; i < 5; i++) {
		struct sl_selfcheck_options how = {.struct_size = sizeof(how)};

		if (i == 0)
			how.struct_size = 1;
		if (i == 1)
			how.time_s = -1;
		if (i == 2)
			how.budget_s = 100;
		if (i == 3)
			how.function_ns = 10;
		if (i == 4)
			how.function_ns = 5e6; /* 20 in a budget of 0.1 s */
		assert_int_equal(sl_selfcheck(&s, &how, NULL), SL_E_USAGE);
		assert_null(s);
	}
}

static void
every_failed_allocation_is_told_and_leaks_nothing(void **state)
{
	(void)state;
	for (int fail_at = 1; fail_at < 12; fail_at++) {
		struct counting counting = {.fail_at = fail_at};
		struct sl_allocator allocator = counting_allocator(&counting);
		struct sl_selfcheck_options how = {.struct_size = sizeof(how),
						   .time_s = 0.01,
						   .budget_s = 0.002,
						   .function_ns = 1000,
						   .allocator = &allocator};
		struct sl_selfcheck *s;
		struct scene scripted;
		enum sl_status rc;

		set_scene(&scripted);
		rc = sl__selfcheck(&s, &how, &scripted.with, NULL);

		assert_true(counting.n_requests > 0);
		assert_int_equal(
			rc, counting.n_requests < fail_at ? SL_OK : SL_E_NOMEM);
		if (rc == SL_OK)
			sl_selfcheck_free(s);
		assert_int_equal(counting.n_out, 0);
	}
}

/* For real, once: the work is there and ends. */
static void
real_work_is_checked(void **state)
{
	struct sl_selfcheck_options how = {.struct_size = sizeof(how),
					   .time_s = 0.02,
					   .budget_s = 0.002,
					   .function_ns = 1000};
	struct sl_selfcheck *s;

	(void)state;
	assert_int_equal(sl_selfcheck(&s, &how, NULL), SL_OK);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(s->rows[i].n_verdicts, s->rows[0].n_verdicts);
	assert_true(s->rows[0].n_verdicts > 0);
	sl_selfcheck_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_count_what_was_planted),
		cmocka_unit_test(time_ends_it_after_a_round),
		cmocka_unit_test(an_interrupt_keeps_what_was_decided),
		cmocka_unit_test(interrupted_at_once_is_an_error),
		cmocka_unit_test(disturbed_slots_are_added_up),
		cmocka_unit_test(absurd_options_are_refused),
		cmocka_unit_test(
			every_failed_allocation_is_told_and_leaks_nothing),
		cmocka_unit_test(real_work_is_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_timed_rounds.c - what ends rounds of iterations, what an interrupt and
 * what disturbs them leave, and what marks cost where they are felt.
 */
#include "iterations_scene.h"

/* A round takes two iterations of n steps, two looks of the runner and all
 * other readings; iterations before the rounds take two more. */
static double
round_s(const struct taken *t)
{
	double n = (double)t->steps.n;

	return (2 * n * t->steps.ns[0] + (n + 1 + 6) * READING_NS) / 1e9;
}

static void
precision_ends_it(void **state)
{
	struct taken t;

	(void)state;
	/* Nothing varies: known from the sixth round on, and a third of the
	 * time is spent much later. */
	open_model(&t, 0);
	t.how.time_s = 3;
	take(&t);
	assert_int_equal(t.iterations.stopped_by, SL_STOP_PRECISION);
	assert_near((double)t.iterations.n_rounds, 1 / round_s(&t), 2);
	close_model(&t);
	/* Where a third is soon spent, eight rounds after warm-up. */
	open_model(&t, 0);
	t.how.time_s = 25 * round_s(&t);
	t.how.n_warmup = 5;
	take(&t);
	assert_int_equal(t.iterations.n_rounds, 5 + 8);
	assert_int_equal(t.iterations.stopped_by, SL_STOP_PRECISION);
	close_model(&t);
}

static void
time_ends_it(void **state)
{
	struct taken t;

	(void)state;
	/* What recording costs is known, what an iteration takes is not. */
	open_model(&t, 0);
	t.steps.noise = 0.001;
	t.how.precision = 1e-9;
	t.how.time_s = 1;
	take(&t);
	assert_int_equal(t.iterations.stopped_by, SL_STOP_TIME);
	assert_near((double)t.iterations.n_rounds, 1 / round_s(&t), 2);
	assert_near(t.iterations.elapsed_s, 1, 2 * round_s(&t));
	close_model(&t);
}

/* Iterations of a second: two before the rounds, and rounds of two. */
static void
few_rounds_are_worth_more_time(void **state)
{
	static const struct {
		double noise;
		size_t n_rounds;
	} rows[] = {
		/* The time is up after four; six are the fewest whose median
		 * has an interval, and that is narrow enough. */
		{0, 6},
		/* Or it is not: another round would end beyond 20 s. */
		{0.5, 8},
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct taken t;

		open_model(&t, 0);
		for (size_t k = 0; k < t.steps.n; k++)
			t.steps.ns[k] = 1e9 / (double)t.steps.n /
					(1 + rows[i].noise / 2);
		t.steps.noise = rows[i].noise;
		t.how.time_s = 10;
		take(&t);
		assert_int_equal(t.iterations.stopped_by, SL_STOP_TIME);
		assert_int_equal(t.iterations.n_rounds, rows[i].n_rounds);
		close_model(&t);
	}
}

/* Two rounds after warm-up in any case. */
static void
the_least_number_holds(void **state)
{
	struct taken t;

	(void)state;
	open_model(&t, 0);
	t.how.time_s = 1e-9;
	take(&t);
	assert_int_equal(t.iterations.stopped_by, SL_STOP_TIME);
	assert_int_equal(t.iterations.n_rounds, 2);
	close_model(&t);
}

static enum sl_status
take_interrupted(struct taken *t)
{
	struct sl_error err;
	enum sl_status rc = sl__timed_iterations_run(&t->iterations, t->plan,
						     &t->how, &t->arena, &err);

	if (rc)
		assert_string_equal(err.text,
				    "interrupted before the first iteration");
	return rc;
}

static void
an_interrupt_in_each_phase(void **state)
{
	struct taken t;

	(void)state;
	/* Before the first round. */
	open_model(&t, 1000);
	t.interrupt_when_told = 1;
	assert_int_equal(take_interrupted(&t), SL_E_INTERRUPTED);
	assert_int_equal(t.steps.n_all, 2 * t.steps.n);
	close_model(&t);
	/* Before any iteration that counts. */
	open_model(&t, 1000);
	t.how.n_warmup = 10;
	t.interrupt_when_told = 4;
	assert_int_equal(take_interrupted(&t), SL_E_INTERRUPTED);
	assert_int_equal(t.iterations.n_rounds, 3);
	close_model(&t);
	/* Between rounds. */
	open_model(&t, 1000);
	t.interrupt_when_told = 4;
	assert_int_equal(take_interrupted(&t), SL_OK);
	assert_int_equal(t.iterations.stopped_by, SL_STOP_INTERRUPT);
	assert_int_equal(t.iterations.n_rounds, 3);
	assert_int_equal(n_taken(&t.iterations), 3);
	close_model(&t);
	/* In the first iteration of the fourth round: it is cut short, and whether
	 * it was a recorded one or not nothing of it is in time accounting. */
	for (uint64_t seed = 1; seed < 9; seed++) {
		open_model(&t, 1000);
		t.how.seed = seed;
		t.steps.interrupt_at = (2 + 3 * 2) * t.steps.n + 1;
		assert_int_equal(take_interrupted(&t), SL_OK);
		assert_int_equal(t.steps.n_all, (2 + 3 * 2 + 1) * t.steps.n);
		assert_int_equal(t.iterations.n_rounds, 3);
		assert_int_equal(t.iterations.n_recorded, 3);
		assert_int_equal(t.iterations.bare.n_seen, 3);
		assert_int_equal(t.iterations.cpu.n_seen, 3);
		assert_int_equal(t.iterations.kept.n_seen,
				 n_taken(&t.iterations));
		close_model(&t);
	}
}

static void
a_failing_step_ends_it(void **state)
{
	struct sl_error err;
	struct taken t;

	(void)state;
	for (size_t iteration = 0; iteration < 6; iteration++) {
		open_model(&t, 1000);
		t.steps.fail_at = iteration * t.steps.n + 1;
		assert_int_equal(sl__timed_iterations_run(&t.iterations, t.plan,
							  &t.how, &t.arena,
							  &err),
				 SL_E_DATA);
		assert_non_null(strstr(err.text, "broken"));
		close_model(&t);
	}
}

/* Hits passes with marks, or those without: fewer readings lie between the
 * two of a slot. */
static struct taken *hit;
static int hits_recorded, n_hits_left;

static void
read_hit(struct sl__covariates *now, void *ctx)
{
	struct scripted_instruments *s = ctx;
	int is_after = s->n_reads % 2;
	int is_recorded = s->time.n_readings - hit->n_readings > 2;

	scripted_covariates(now, ctx);
	hit->n_readings = s->time.n_readings;
	if (is_after && is_recorded == hits_recorded && n_hits_left > 0) {
		n_hits_left--;
		now->n_involuntary = ++s->now.n_involuntary;
	}
}

/* Time accounting leaves out the rounds whose recorded iteration was hit, as
 * long as these are less than half; never the first.  Bare iterations that were
 * hit do not count. */
static void
disturbed_rounds_are_left_out(void **state)
{
	static const struct {
		int hits_recorded, n_hits;
		size_t n_left_out;
	} rows[] = {{1, 1, 0}, {0, 20, 0}, {1, 20, 0}};
	struct taken t;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		open_model(&t, 20);
		hit = &t;
		hits_recorded = rows[i].hits_recorded;
		n_hits_left = rows[i].n_hits;
		t.script.source.read = read_hit;
		take(&t);
		assert_int_equal(t.iterations.n_left_out, rows[i].n_left_out);
		assert_int_equal(t.iterations.n_recorded, 20);
		assert_int_equal(t.iterations.noise.n_disturbed,
				 rows[i].n_hits);
		assert_int_equal(t.iterations.noise.n_slots, 40);
		close_model(&t);
	}
	/* Both slots of rounds 3 and 8. */
	open_model(&t, 20);
	t.steps.noise = 0.5;
	t.script.disturbed = 3u << 6 | 3u << 16;
	take(&t);
	assert_int_equal(t.iterations.n_left_out, 2);
	assert_int_equal(t.iterations.n_recorded, 18);
	assert_int_equal(t.iterations.n_rounds, 20);
	for (size_t s = 0; s < t.iterations.n_steps; s++)
		assert_int_equal(t.iterations.n_calls[s], 18);
	/* Their rows stay. */
	assert_int_equal(t.iterations.n_rows, 20);
	close_model(&t);
}

/* Marks of a reading each are a tenth of steps of a microsecond: every other
 * round has two more iterations that tell what they cost. */
static void
marks_that_are_felt_are_measured(void **state)
{
	const struct sl__timed_iterations *p;
	struct taken t;

	(void)state;
	open_model(&t, 64);
	for (size_t i = 0; i < t.steps.n; i++)
		t.steps.ns[i] = 10 * READING_NS;
	p = take(&t);
	assert_true(p->calls_per_sample > 1);
	assert_int_equal(p->mark.more.n_seen, 32);
	assert_near(p->mark.more.min, READING_NS, 1e-9);
	assert_near(p->mark.more.max, READING_NS, 1e-9);
	assert_near(p->reading_ns, READING_NS, 1e-9);
	assert_int_equal(p->n_recorded, 64 * p->calls_per_sample);
	for (size_t s = 0; s < p->n_steps; s++)
		assert_close(p->step_ns[s],
			     10.0 * READING_NS * (double)p->n_recorded, 1e-9);
	close_model(&t);
}

/* By ticks, for real: nothing is asked of times but that they are there. */
static void
real_passes_take_time(void **state)
{
	struct taken t;

	(void)state;
	open_model(&t, 5);
	for (size_t i = 0; i < t.steps.n; i++)
		t.steps.steps[i].run = t.steps.originals[i];
	t.how.control = (struct sl__runner_hooks){0};
	take(&t);
	assert_true(t.iterations.first_ns > 0);
	assert_true(t.iterations.bare.min > 0);
	assert_true(n_taken(&t.iterations) >= 5);
	assert_int_equal(t.iterations.n_rounds, 5);
	close_model(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(precision_ends_it),
		cmocka_unit_test(time_ends_it),
		cmocka_unit_test(few_rounds_are_worth_more_time),
		cmocka_unit_test(the_least_number_holds),
		cmocka_unit_test(an_interrupt_in_each_phase),
		cmocka_unit_test(a_failing_step_ends_it),
		cmocka_unit_test(disturbed_rounds_are_left_out),
		cmocka_unit_test(marks_that_are_felt_are_measured),
		cmocka_unit_test(real_passes_take_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

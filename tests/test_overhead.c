/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_overhead.c - proves how the overhead study is made: rounds, events,
 * what a cost is fit for, what ends it.
 *
 * A reading of the clock takes 1 us and nothing else takes time.  So a bare
 * iteration takes one reading, one with marks as many more as it has marks, and
 * every other way to watch costs nothing.
 */
#include "harness.h"
#include "scripted.h"
#include "driver/overhead.h"

enum {
	READING_NS = 1000,
	ARMS = SL_N_INSTRUMENTATIONS + 1,
	CALIBRATION = 64 * 65
};

static enum sl_status
try_study(struct sl_overhead_study **out, struct scripted_instruments *script,
	  struct sl_profile_options how, struct sl_error *err)
{
	struct sl_graph *graph;
	enum sl_status rc;

	if (sl_graph_open(&graph, "mlp:16-8-4", NULL, err))
		fail_msg("%s", err->text);
	how.struct_size = sizeof(how);
	how.interrupt = &script->time.interrupted;
	rc = sl__study_overhead(out, graph, &how, &script->clock, err);
	sl_graph_free(graph);
	return rc;
}

static struct sl_overhead_study *
study(size_t n_rounds, double time_s)
{
	struct sl_profile_options how = {.n_runs = n_rounds, .time_s = time_s};
	struct scripted_instruments script;
	struct sl_overhead_study *s;
	struct sl_error err = {0};

	script_instruments(&script, READING_NS);
	if (try_study(&s, &script, how, &err))
		fail_msg("%s", err.text);
	return s;
}

static void
test_rounds_and_events(void **state)
{
	struct sl_overhead_study *s = study(20, 0);

	(void)state;
	assert_int_equal(s->n_rounds, 20);
	assert_int_equal(s->bare_ns.n, 20);
	assert_int_equal(s->stopped_by, SL_STOP_RUNS);
	assert_near(s->bare_ns.value, READING_NS, 0);
	assert_true(s->n_steps > 0);
	for (int w = 0; w < SL_N_INSTRUMENTATIONS; w++) {
		const struct sl_overhead_row *r = &s->rows[w];
		size_t n = w <= SL_INSTRUMENTATION_RESOURCES ? 1
			   : w == SL_INSTRUMENTATION_TIMESTAMPS
				   ? s->n_steps + 1
				   : 2 * s->n_steps;

		assert_int_equal(r->instrumentation, w);
		assert_int_equal(r->n_events, n);
		assert_int_equal(r->extra_ns.n, 20);
		assert_near(r->event_ns,
			    w == SL_INSTRUMENTATION_TIMESTAMPS ? READING_NS : 0,
			    0);
		assert_near(r->share * s->bare_ns.value, r->extra_ns.value, 0);
		/* The class follows from the bounds. */
		assert_int_equal(r->fitness, w == SL_INSTRUMENTATION_TIMESTAMPS
						     ? SL_FITNESS_INVESTIGATION
						     : SL_FITNESS_ALWAYS);
	}
	sl_overhead_study_free(s);
}

/* Three rounds cannot support an interval, and so no class. */
static void
test_too_few_rounds(void **state)
{
	struct sl_overhead_study *s = study(3, 0);

	(void)state;
	assert_int_equal(s->n_rounds, 3);
	for (int w = 0; w < SL_N_INSTRUMENTATIONS; w++) {
		assert_true(s->rows[w].extra_ns.needs_n > 3);
		assert_int_equal(s->rows[w].fitness, SL_FITNESS_UNKNOWN);
	}
	sl_overhead_study_free(s);
}

/* Two readings a slot, the marks, and two looks of the runner. */
static double
round_ns(const struct sl_overhead_study *s)
{
	return READING_NS * (double)(2 * ARMS + s->n_steps + 1 + 2);
}

static void
test_time(void **state)
{
	struct sl_overhead_study *s = study(0, 0.01);
	double warmup_ns = 2 * round_ns(s);

	(void)state;
	assert_int_equal(s->stopped_by, SL_STOP_TIME);
	/* The round under way is ended; phases look a few times, too. */
	assert_near((double)s->n_rounds, (0.01e9 - warmup_ns) / round_ns(s), 1);
	sl_overhead_study_free(s);
	/* Eight in any case. */
	s = study(0, 1e-9);
	assert_int_equal(s->stopped_by, SL_STOP_TIME);
	assert_int_equal(s->n_rounds, 8);
	sl_overhead_study_free(s);
}

/* Three seconds where nothing is said: with a slow clock, some 3000 readings,
 * of which those before the rounds calibrate it. */
static void
test_default_time(void **state)
{
	const uint64_t reading_ns = 1000000;
	struct sl_profile_options how = {0};
	struct scripted_instruments script;
	struct sl_overhead_study *s;
	struct sl_error err;
	double took_ns;

	(void)state;
	script_instruments(&script, reading_ns);
	if (try_study(&s, &script, how, &err))
		fail_msg("%s", err.text);
	assert_int_equal(s->stopped_by, SL_STOP_TIME);
	took_ns =
		(double)script.time.now_ns - (double)(CALIBRATION * reading_ns);
	/* The round under way is ended. */
	assert_near(took_ns, 3e9, 2 * round_ns(s) * 1000);
	sl_overhead_study_free(s);
}

/* In the second round of the warm-up, and in the fourth that counts. */
static void
test_interrupts(void **state)
{
	struct sl_profile_options how = {.n_runs = 100};
	struct scripted_instruments script;
	struct sl_overhead_study *s = study(1, 0);
	size_t per_round = (size_t)(round_ns(s) / READING_NS);
	struct sl_error err;

	(void)state;
	sl_overhead_study_free(s);
	script_instruments(&script, READING_NS);
	script.time.interrupt_at = CALIBRATION + per_round * 3 / 2;
	assert_int_equal(try_study(&s, &script, how, &err), SL_E_INTERRUPTED);
	assert_null(s);
	assert_string_equal(err.text, "interrupted before the cost was known");
	script_instruments(&script, READING_NS);
	script.time.interrupt_at = CALIBRATION + per_round * 11 / 2;
	assert_int_equal(try_study(&s, &script, how, &err), SL_OK);
	assert_int_equal(s->stopped_by, SL_STOP_INTERRUPT);
	assert_int_equal(s->n_rounds, 3);
	assert_int_equal(s->bare_ns.n, 3);
	sl_overhead_study_free(s);
}

/* One round of nine moves no median, whatever it hit. */
static void
test_disturbed_round(void **state)
{
	struct sl_profile_options how = {.n_runs = 9};
	struct scripted_instruments script;
	struct sl_overhead_study *calm = study(9, 0), *s;
	size_t per_round = (size_t)(round_ns(calm) / READING_NS);
	struct sl_error err;

	(void)state;
	for (size_t i = 0; i < per_round; i++) {
		script_instruments(&script, READING_NS);
		script.time.slow_at = CALIBRATION + 5 * per_round + i;
		assert_int_equal(try_study(&s, &script, how, &err), SL_OK);
		assert_true(s->elapsed_s > SLOW_NS / 1e9);
		assert_int_equal(s->n_rounds, 9);
		assert_near(s->bare_ns.value, calm->bare_ns.value, 0);
		for (int w = 0; w < SL_N_INSTRUMENTATIONS; w++)
			assert_near(s->rows[w].extra_ns.value,
				    calm->rows[w].extra_ns.value, 0);
		sl_overhead_study_free(s);
	}
	sl_overhead_study_free(calm);
}

/* By ticks, for real: whatever the times are, the class follows from their
 * bounds. */
static void
test_real_time(void **state)
{
	struct sl_profile_options how = {.struct_size = sizeof(how),
					 .n_runs = 30};
	struct sl_overhead_study *s;
	struct sl_graph *graph;
	struct sl_error err;

	(void)state;
	if (sl_graph_open(&graph, "mlp:16-8-4", NULL, &err) ||
	    sl_study_overhead(&s, graph, &how, &err))
		fail_msg("%s", err.text);
	assert_true(s->bare_ns.value > 0);
	for (int w = 0; w < SL_N_INSTRUMENTATIONS; w++) {
		const struct sl_overhead_row *r = &s->rows[w];
		double lo = r->extra_ns.lo / s->bare_ns.value;
		double hi = r->extra_ns.hi / s->bare_ns.value;
		enum sl_fitness expected = hi <= 0.01   ? SL_FITNESS_ALWAYS
					   : hi <= 0.05 ? SL_FITNESS_DEVELOPMENT
					   : lo > 0.05
						   ? SL_FITNESS_INVESTIGATION
						   : SL_FITNESS_UNKNOWN;

		assert_true(isfinite(r->extra_ns.value));
		assert_int_equal(r->fitness, expected);
	}
	sl_overhead_study_free(s);
	sl_graph_free(graph);
}

static void
test_words(void **state)
{
	(void)state;
	assert_string_equal(
		sl_instrumentation_text(SL_INSTRUMENTATION_TIMESTAMPS),
		"timestamps per step");
	assert_string_equal(
		sl_instrumentation_text((enum sl_instrumentation)99), "none");
	assert_string_equal(sl_fitness_text(SL_FITNESS_INVESTIGATION),
			    "investigation only");
	assert_string_equal(sl_fitness_text((enum sl_fitness)99), "unknown");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rounds_and_events),
		cmocka_unit_test(test_too_few_rounds),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_default_time),
		cmocka_unit_test(test_interrupts),
		cmocka_unit_test(test_disturbed_round),
		cmocka_unit_test(test_real_time),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_overhead.c - proves how the study of watching is made: rounds,
 * events, what a cost is fit for; never how much it is.
 */
#include "harness.h"
#include "sleuth.h"

static struct sl_overhead_study *
study(size_t n_rounds)
{
	struct sl_profile_options how = {.struct_size = sizeof(how),
					 .n_runs = n_rounds};
	struct sl_overhead_study *s = NULL;
	struct sl_graph *graph;
	struct sl_error err = {0};

	if (sl_graph_open(&graph, "mlp:16-8-4", NULL, &err) ||
	    sl_study_overhead(&s, graph, &how, &err))
		fail_msg("%s", err.text);
	sl_graph_free(graph);
	return s;
}

static void
test_rounds_and_events(void **state)
{
	struct sl_overhead_study *s = study(20);

	(void)state;
	assert_int_equal(s->n_rounds, 20);
	assert_int_equal(s->bare_ns.n, 20);
	assert_int_equal(s->stopped_by, SL_STOP_RUNS);
	assert_true(s->bare_ns.value > 0);
	assert_true(s->n_steps > 0);
	for (int w = 0; w < SL_N_WATCHINGS; w++) {
		const struct sl_overhead_row *r = &s->rows[w];
		size_t n = w <= SL_WATCHING_RESOURCES ? 1
			   : w == SL_WATCHING_MARKS   ? s->n_steps + 1
						      : 2 * s->n_steps;

		assert_int_equal(r->watching, w);
		assert_int_equal(r->n_events, n);
		assert_int_equal(r->extra_ns.n, 20);
		assert_close(r->event_ns * (double)n, r->extra_ns.value, 1e-12);
		assert_close(r->share * s->bare_ns.value, r->extra_ns.value,
			     1e-12);
	}
	sl_overhead_study_free(s);
}

/* The class follows from the bounds. */
static void
test_fitness(void **state)
{
	struct sl_overhead_study *s = study(30);

	(void)state;
	for (int w = 0; w < SL_N_WATCHINGS; w++) {
		const struct sl_overhead_row *r = &s->rows[w];
		double lo = r->extra_ns.lo / s->bare_ns.value;
		double hi = r->extra_ns.hi / s->bare_ns.value;
		enum sl_fitness expected = hi <= 0.01   ? SL_FITNESS_ALWAYS
					   : hi <= 0.05 ? SL_FITNESS_DEVELOPMENT
					   : lo > 0.05
						   ? SL_FITNESS_INVESTIGATION
						   : SL_FITNESS_UNKNOWN;

		assert_int_equal(r->fitness, expected);
	}
	sl_overhead_study_free(s);
}

/* Three rounds cannot support an interval, and so no class. */
static void
test_too_few_rounds(void **state)
{
	struct sl_overhead_study *s = study(3);

	(void)state;
	assert_int_equal(s->n_rounds, 3);
	for (int w = 0; w < SL_N_WATCHINGS; w++) {
		assert_true(s->rows[w].extra_ns.needs_n > 3);
		assert_int_equal(s->rows[w].fitness, SL_FITNESS_UNKNOWN);
	}
	sl_overhead_study_free(s);
}

static void
test_words(void **state)
{
	(void)state;
	assert_string_equal(sl_watching_text(SL_WATCHING_MARKS),
			    "marks between steps");
	assert_string_equal(sl_watching_text((enum sl_watching)99), "none");
	assert_string_equal(sl_fitness_text(SL_FITNESS_INVESTIGATION),
			    "investigation only");
	assert_string_equal(sl_fitness_text((enum sl_fitness)99), "unknown");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rounds_and_events),
		cmocka_unit_test(test_fitness),
		cmocka_unit_test(test_too_few_rounds),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

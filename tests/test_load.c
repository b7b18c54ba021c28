/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_load.c - a small model in every scenario: counts and rates agree with
 * each other, whatever the clock says; a limit of an hour holds and one of a
 * nanosecond fails; wrong options are refused; the result reads back.
 */
#include "harness.h"
#include "reads_back.h"

static struct sl_load_options
options(enum sl_scenario scenario)
{
	static const struct sl_plan_options plan = {.struct_size = sizeof(plan),
						    .n_threads = 1,
						    .algorithms =
							    SL_ALGORITHMS_FIXED,
						    .flags = SL_PLAN_NO_CACHE};

	return (struct sl_load_options){.struct_size =
						sizeof(struct sl_load_options),
					.scenario = scenario,
					.plan = &plan,
					.time_s = .02};
}

static struct sl_graph *
model(void)
{
	struct sl_graph *graph;

	assert_int_equal(sl_graph_open(&graph, "mlp:4-8-2", NULL, NULL), SL_OK);
	return graph;
}

static struct sl_load *
load(const struct sl_load_options *how)
{
	struct sl_graph *graph = model();
	struct sl_load *out;
	struct sl_error err;

	if (sl_load(&out, graph, how, &err))
		fail_msg("%s", err.text);
	sl_graph_free(graph);
	return out;
}

static enum sl_status
render(const void *result, const struct sl_render_options *how,
       struct sl_buf *out, struct sl_error *err)
{
	return sl_load_render(result, how, out, err);
}

static void
every_scenario_serves(void **state)
{
	static const size_t samples[] = {1, 8, 1, 16};

	(void)state;
	for (int i = 0; i < SL_N_SCENARIOS; i++) {
		struct sl_load_options how = options((enum sl_scenario)i);
		struct sl_load *l;
		size_t n = 0;

		how.rate_per_s = i == SL_SCENARIO_SERVER ? 2000 : 0;
		l = load(&how);
		assert_int_equal(l->n_samples, samples[i]);
		assert_int_equal(l->latency.n, l->n_served);
		assert_true(l->n_served > 0);
		for (size_t k = 0; k < l->n_over_time; k++)
			n += l->over_time[k].n;
		assert_int_equal(n, l->n_served);
		assert_close(l->achieved_per_s * l->load_s, (double)l->n_served,
			     1e-9);
		assert_true(l->busy_share > 0 && l->busy_share <= 1);
		assert_int_equal(l->rules.has_duration, 0);
		if (i != SL_SCENARIO_SERVER)
			assert_int_equal(l->verdict, SL_LOAD_UNLIMITED);
		assert_renders_back(render, l);
		sl_load_free(l);
	}
}

static void
limits_are_decided(void **state)
{
	struct sl_load_options how = options(SL_SCENARIO_SINGLE);
	struct sl_load *l;

	(void)state;
	how.time_s = .2;
	how.limit_s = 3600;
	l = load(&how);
	assert_int_equal(l->verdict, SL_LOAD_HOLDS);
	assert_int_equal(l->n_late, 0);
	assert_renders_back(render, l);
	sl_load_free(l);

	how.limit_s = 1e-9;
	l = load(&how);
	assert_int_equal(l->verdict, SL_LOAD_FAILS);
	assert_int_equal(l->n_late, l->n_served);
	assert_renders_back(render, l);
	sl_load_free(l);
}

/* A search for a limit that nothing holds, and for one that all do. */
static void
a_search_tries_rates(void **state)
{
	struct sl_load_options how = options(SL_SCENARIO_SERVER);
	struct sl_load *l;

	(void)state;
	how.limit_s = 1e-9;
	how.time_s = .2;
	l = load(&how);
	assert_true(l->n_probes > 2);
	assert_true(l->verdict != SL_LOAD_HOLDS);
	for (size_t i = 1; i < l->n_probes; i++)
		assert_true(l->probes[i].rate_per_s <=
			    l->probes[i - 1].rate_per_s);
	assert_renders_back(render, l);
	sl_load_free(l);

	how.limit_s = 3600;
	how.batch_most = 4;
	l = load(&how);
	assert_int_equal(l->n_batches, 3);
	assert_true(l->n_probes > 2);
	/* The last is the one that is reported. */
	assert_near(l->probes[l->n_probes - 1].rate_per_s, l->rate_per_s, 0);
	assert_renders_back(render, l);
	sl_load_free(l);
}

static void
refuse(struct sl_load_options how, const char *part)
{
	struct sl_graph *graph = model();
	struct sl_load *out = (struct sl_load *)graph;
	struct sl_error err;

	assert_int_equal(sl_load(&out, graph, &how, &err), SL_E_USAGE);
	assert_null(out);
	if (!strstr(err.text, part))
		fail_msg("'%s' does not say '%s'", err.text, part);
	sl_graph_free(graph);
}

static void
wrong_options_are_refused(void **state)
{
	struct sl_load_options how = options(SL_SCENARIO_SERVER);

	(void)state;
	refuse(how, "needs a rate");
	how.rate_per_s = -1;
	refuse(how, "limit or rate");
	how.rate_per_s = 1;
	how.percentile = .3;
	refuse(how, "percentile");
	how = options(SL_SCENARIO_SINGLE);
	how.rate_per_s = 5;
	refuse(how, "server scenario");
	how.rate_per_s = 0;
	how.time_s = -1;
	refuse(how, "time");
	how = options((enum sl_scenario)9);
	refuse(how, "scenario 9");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_scenario_serves),
		cmocka_unit_test(limits_are_decided),
		cmocka_unit_test(a_search_tries_rates),
		cmocka_unit_test(wrong_options_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

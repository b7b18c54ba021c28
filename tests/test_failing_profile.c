/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that measurements of models and functions, and the pages that show
 * them, survive the want of memory: it is told as what it is, and nothing is
 * left behind.  A measurement takes time, so of its requests every so many-th
 * fails; of the pages' every one.
 */
#include "fail_each.h"
#include "tiny_decoder.h"

static const struct sl_plan_options plan = {
	.struct_size = sizeof(plan),
	.n_threads = 1,
	.algorithms = SL_ALGORITHMS_FIXED,
	.flags = SL_PLAN_NO_CACHE,
};

static struct sl_plan_options
plan_from(const struct sl_allocator *allocator)
{
	struct sl_plan_options how = plan;

	how.allocator = allocator;
	return how;
}

static struct sl_profile_options
profile_options(const struct sl_plan_options *how,
		const struct sl_allocator *allocator)
{
	return (struct sl_profile_options){
		.struct_size = sizeof(struct sl_profile_options),
		.plan = how,
		.n_warmup = 1,
		.n_runs = 2,
		.flags = SL_PROFILE_BRIEF,
		.allocator = allocator};
}

static enum sl_status
profile(void *ctx, const struct sl_allocator *allocator, struct sl_error *err)
{
	struct sl_plan_options own = plan_from(allocator);
	struct sl_profile_options how = profile_options(&own, allocator);
	struct sl_profile *p;
	enum sl_status rc = sl_profile_forward(&p, ctx, &how, err);

	sl_profile_free(p);
	return rc;
}

static enum sl_status
profile_layer(void *ctx, const struct sl_allocator *allocator,
	      struct sl_error *err)
{
	struct sl_plan_options own = plan_from(allocator);
	struct sl_profile_options how = profile_options(&own, allocator);
	struct sl_layer_profile *p;
	enum sl_status rc = sl_profile_layer(&p, ctx, "linear", &how, err);

	sl_layer_profile_free(p);
	return rc;
}

static enum sl_status
measure_memory(void *ctx, const struct sl_allocator *allocator,
	       struct sl_error *err)
{
	struct sl_plan_options own = plan_from(allocator);
	struct sl_memory_use *use;
	enum sl_status rc = sl_measure_memory(&use, ctx, &own, err);

	sl_memory_use_free(use);
	return rc;
}

static enum sl_status
study_overhead(void *ctx, const struct sl_allocator *allocator,
	       struct sl_error *err)
{
	struct sl_plan_options own = plan_from(allocator);
	struct sl_profile_options how = profile_options(&own, allocator);
	struct sl_overhead_study *study;
	enum sl_status rc = sl_study_overhead(&study, ctx, &how, err);

	sl_overhead_study_free(study);
	return rc;
}

static enum sl_status
compare_models(void *ctx, const struct sl_allocator *allocator,
	       struct sl_error *err)
{
	struct sl_plan_options own = plan_from(allocator);
	const struct sl_model_arm sides[] = {{.graph = ctx, .plan = &own},
					     {.graph = ctx, .plan = &own}};
	struct sl_model_comparison_options how = {.struct_size = sizeof(how),
						  .time_s = 0.001,
						  .min_rounds = 1,
						  .allocator = allocator};
	struct sl_model_comparison *comparison;
	enum sl_status rc = sl_compare_models(&comparison, sides, 2, &how, err);

	sl_model_comparison_free(comparison);
	return rc;
}

static enum sl_status
sweep(void *ctx, const struct sl_allocator *allocator, struct sl_error *err)
{
	struct sl_plan_options own = plan_from(allocator);
	const struct sl_sweep_model model = {.name = "mlp", .graph = ctx};
	const int64_t values[] = {1, 2};
	struct sl_sweep_options how = {.struct_size = sizeof(how),
				       .values = values,
				       .n_values = 2,
				       .plan = &own,
				       .n_visits = 1,
				       .n_warmup = 1,
				       .n_runs = 1,
				       .flags = SL_PROFILE_NO_CEILINGS,
				       .allocator = allocator};
	struct sl_sweep *found;
	enum sl_status rc = sl_sweep(&found, &model, 1, &how, err);

	sl_sweep_free(found);
	return rc;
}

static enum sl_status
generate(void *ctx, const struct sl_allocator *allocator, struct sl_error *err)
{
	struct sl_plan_options own = plan_from(allocator);
	struct sl_generate_options how = {.struct_size = sizeof(how),
					  .plan = &own,
					  .prompt = 2,
					  .n_tokens = 2,
					  .n_rounds = 1,
					  .flags = SL_PROFILE_NO_CEILINGS,
					  .allocator = allocator};
	struct sl_generation *g;
	enum sl_status rc = sl_generate(&g, ctx, &how, err);

	sl_generation_free(g);
	return rc;
}

/* Requests that fail are 'step' apart. */
static void
models_are_measured(void **state)
{
	static const struct {
		const char *name;
		attempt *try;
		long step;
	} ways[] = {{"profile", profile, 11},
		    {"layer", profile_layer, 41},
		    {"memory", measure_memory, 11},
		    {"overhead", study_overhead, 11},
		    {"compare", compare_models, 23},
		    {"sweep", sweep, 41}};
	struct sl_graph *graph;

	(void)state;
	assert_int_equal(sl_graph_open(&graph, "mlp:8-8-4", NULL, NULL), SL_OK);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		assert_true(fail_from(ways[i].try, graph, ways[i].name, 1,
				      ways[i].step) > 0);
	sl_graph_free(graph);
	graph = tiny_decoder(TINY_CACHED);
	assert_true(fail_from(generate, graph, "generate", 1, 97) > 0);
	sl_graph_free(graph);
}

static int
do_nothing(void *ctx)
{
	(void)ctx;
	return 0;
}

static enum sl_status
measure(void *ctx, const struct sl_allocator *allocator, struct sl_error *err)
{
	struct sl_measure_options how = {.struct_size = sizeof(how),
					 .n_warmup = 1,
					 .n_runs = 5,
					 .allocator = allocator};
	struct sl_measurement *m;
	enum sl_status rc = sl_measure(&m, do_nothing, NULL, &how, err);

	(void)ctx;
	sl_measurement_free(m);
	return rc;
}

static enum sl_status
compare(void *ctx, const struct sl_allocator *allocator, struct sl_error *err)
{
	const struct sl_candidate sides[] = {{.fn = do_nothing},
					     {.fn = do_nothing}};
	struct sl_compare_options how = {.struct_size = sizeof(how),
					 .time_s = 0.001,
					 .min_rounds = 1,
					 .allocator = allocator};
	struct sl_comparisons *c;
	enum sl_status rc = sl_compare(&c, sides, 2, &how, err);

	(void)ctx;
	sl_comparisons_free(c);
	return rc;
}

static void
functions_are_measured(void **state)
{
	(void)state;
	fail_each(measure, NULL, "measure");
	fail_each(compare, NULL, "compare");
}

/* A profile as a page, as a trace and as stacks. */
struct shown {
	const struct sl_profile *profiles[2];
	size_t n; /* 0: trace and stacks */
	struct sl_render_options how;
	struct sl_profile_view view;
};

static enum sl_status
show(void *ctx, const struct sl_allocator *allocator, struct sl_error *err)
{
	const struct shown *s = ctx;
	struct sl_buf out = {0};
	enum sl_status rc;

	(void)allocator;
	if (s->n) {
		rc = sl_profile_render(s->profiles, s->n, &s->view, &s->how,
				       &out, err);
	} else {
		rc = sl_profile_trace(s->profiles[0], NULL, &out, err);
		if (!rc)
			rc = sl_profile_folded(s->profiles[0], &out, err);
	}
	sl_buf_release(&out);
	return rc;
}

static void
profiles_are_shown(void **state)
{
	struct sl_profile_options how = profile_options(&plan, NULL);
	struct sl_profile *p;
	struct sl_graph *graph;
	struct shown s = {.n = 0};

	(void)state;
	assert_int_equal(sl_graph_open(&graph, "mlp:8-8-4", NULL, NULL), SL_OK);
	assert_int_equal(sl_profile_forward(&p, graph, &how, NULL), SL_OK);
	s.profiles[0] = s.profiles[1] = p;
	s.how.struct_size = sizeof(s.how);
	s.view.struct_size = sizeof(s.view);
	s.view.explain = 1;
	fail_each(show, &s, "trace");
	for (int f = SL_FORMAT_TEXT; f <= SL_FORMAT_MARKDOWN; f++) {
		s.how.format = (enum sl_format)f;
		s.n = 1;
		fail_each(show, &s, "profile");
		s.n = 2;
		fail_each(show, &s, "profiles");
	}
	sl_profile_free(p);
	sl_graph_free(graph);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(models_are_measured),
		cmocka_unit_test(functions_are_measured),
		cmocka_unit_test(profiles_are_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

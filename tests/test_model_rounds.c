/* SPDX-License-Identifier: Apache-2.0 */
/* test_model_rounds.c - rounds of models: counts, and figures that agree. */
#include "harness.h"
#include "counting.h"
#include "graph_text.h"
#include "experiment/model_rounds.h"
#include "base/status.h"

#include <signal.h>

static const char three[] = "opset 13\n"
			    "in x f32 n,8\n"
			    "const w f32 8,8 = random\n"
			    "const b f32 8 = random\n"
			    "const v f32 8,8 = random\n"
			    "h = MatMul x w\n"
			    "s = Add h b\n"
			    "r = Relu s\n"
			    "y = MatMul r v\n"
			    "out y\n";

static struct sl_model_comparison *
compare_for(double time_s, const struct sl_graph *a, unsigned a_flags,
	    const struct sl_graph *b, unsigned b_flags, int64_t b_batch)
{
	struct sl_sizes sizes = {.struct_size = sizeof(sizes),
				 .batch = b_batch};
	struct sl_plan_options plans[2];
	struct sl_model_arm sides[2] = {{.graph = a, .plan = &plans[0]},
					{.graph = b, .plan = &plans[1]}};
	struct sl_model_comparison_options how = {.struct_size = sizeof(how),
						  .time_s = time_s};
	struct sl_model_comparison *comparison;
	struct sl_error err;

	for (int i = 0; i < 2; i++)
		plans[i] = (struct sl_plan_options){
			.struct_size = sizeof(plans[i]),
			.n_threads = 1,
			.flags = (i ? b_flags : a_flags) | SL_PLAN_NO_CACHE};
	if (b_batch)
		plans[1].sizes = &sizes;
	if (sl_compare_models(&comparison, sides, 2, &how, &err))
		fail_msg("%s", err.text);
	return comparison;
}

static struct sl_model_comparison *
compare(const struct sl_graph *a, unsigned a_flags, const struct sl_graph *b,
	unsigned b_flags)
{
	return compare_for(.2, a, a_flags, b, b_flags, 0);
}

/* What holds in every result. */
static void
check_result(const struct sl_model_comparison *v)
{
	const struct sl_arm_comparison *p = &v->pairs[0];
	const struct sl_comparison *c = &p->comparison;
	size_t n_named = 0, n_a = 0, n_b = 0;

	assert_int_equal(v->n, 2);
	assert_true(c->n_rounds > 0);
	assert_int_equal(c->n_rounds, p->cpu.n_rounds);
	assert_true(v->noise.n_slots >= 2 * c->n_rounds);
	assert_true(c->ratio.value > 0);
	assert_near(c->ratio.value * c->speedup, 1, 1e-12);
	assert_int_equal(isnan(c->decided_after_s),
			 c->verdict == SL_VERDICT_UNDECIDED);
	for (size_t i = 0; i < p->n_layers; i++) {
		const struct sl_compared_layer *l = &p->layers[i];

		n_named += (size_t)l->is_named;
		n_a += l->n_a;
		n_b += l->n_b;
		assert_int_equal(isnan(l->a_ns), l->n_a == 0);
		assert_int_equal(isnan(l->b_ns), l->n_b == 0);
		assert_true(!l->is_named || l->is_tested);
		assert_int_equal(isnan(l->log_e), !l->is_tested);
	}
	assert_int_equal(n_named, p->n_named);
	assert_int_equal(n_a, v->sides[0].n_steps);
	assert_int_equal(n_b, v->sides[1].n_steps);
	for (size_t i = 0; i < p->n_named; i++)
		assert_int_equal(p->layers[p->by_change[i]].is_named, 1);
}

static void
a_model_against_itself_has_all_layers_in_common(void **state)
{
	struct sl_graph *graph;
	struct sl_model_comparison *v;
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_graph_open(&graph, "mlp:64-32-10", NULL, &err), 0);
	v = compare(graph, 0, graph, 0);
	check_result(v);
	assert_int_equal(v->pairs[0].n_layers, v->sides[0].n_steps);
	assert_int_equal(v->pairs[0].n_only_a + v->pairs[0].n_only_b, 0);
	assert_int_equal(v->pairs[0].n_other_kernels, 0);
	assert_null(v->pairs[0].absent[SL_COMPARISON_BASIS_CPU]);
	assert_null(v->pairs[0].absent[SL_COMPARISON_BASIS_LAYERS]);
	assert_near(v->pairs[0].comparison.memory_ratio.value, 1, 0);
	assert_int_equal(v->sides[0].nominal_flops, v->sides[1].nominal_flops);
	assert_int_equal(v->is_per_sample, 0);
	assert_true(v->n_placements >= 1);
	assert_null(v->renewal_absent);
	sl_model_comparison_free(v);
	sl_graph_free(graph);
}

static void
check_shape(double fastest, double slowest, size_t n_calls, size_t n_sub_slots)
{
	struct sl__slot_repeats s =
		sl__slot_repeats_choose(fastest, slowest, 20);

	assert_int_equal(s.n_calls, n_calls);
	assert_int_equal(s.n_sub_slots, n_sub_slots);
}

static void
short_passes_share_a_slot(void **state)
{
	(void)state;
	check_shape(10, 1e6, 1, 1);    /* the slowest is a slot by itself */
	check_shape(3e5, 3e5, 1, 3);   /* three fill a millisecond */
	check_shape(4e5, 4e5, 1, 1);   /* two would; an odd number */
	check_shape(1e4, 1e4, 5, 11);  /* 50 us, and no more than 11 */
	check_shape(1e3, 4e5, 2, 1);   /* 100 readings in the fastest */
	check_shape(100, 100, 64, 11); /* no more than 64 iterations */
}

/* Medians over one round are its times, of an iteration; ratios are per sample.
 */
static void
check_one_round(const struct sl_model_comparison *v, double n_b)
{
	const struct sl_arm_comparison *p = &v->pairs[0];
	const struct sl_model_arm_result *a = &v->sides[0], *b = &v->sides[1];
	double wall = b->wall_ns.value / a->wall_ns.value / n_b;
	double cpu = b->cpu_ns.value / a->cpu_ns.value / n_b;

	assert_int_equal(p->comparison.n_rounds, 1);
	assert_near(p->comparison.ratio.value, wall, 1e-12 * wall);
	assert_near(p->cpu.ratio.value, cpu, 1e-12 * cpu);
	for (size_t i = 0; i < p->n_layers; i++) {
		const struct sl_compared_layer *l = &p->layers[i];
		double ratio = l->b_ns / l->a_ns / n_b;

		if (l->ratio.n)
			assert_near(l->ratio.value, ratio, 1e-12 * ratio);
	}
}

static void
batches_that_differ_are_compared_per_sample(void **state)
{
	struct sl_graph *graph;
	struct sl_model_comparison *v;
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_graph_open(&graph, "mlp:64-32-10", NULL, &err), 0);
	/* The first round is played whatever the time, and no other. */
	v = compare_for(1e-9, graph, 0, graph, 0, 4);
	check_result(v);
	check_one_round(v, 4);
	assert_int_equal(v->is_per_sample, 1);
	assert_int_equal(v->sides[0].batch, 1);
	assert_int_equal(v->sides[1].batch, 4);
	assert_int_equal(v->sides[1].nominal_flops,
			 4 * v->sides[0].nominal_flops);
	sl_model_comparison_free(v);
	sl_graph_free(graph);
}

static struct sl_plan *
plan_of(const struct sl_graph *graph, unsigned flags)
{
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1,
				      .algorithms = SL_ALGORITHMS_FIXED,
				      .flags = flags | SL_PLAN_NO_CACHE};
	struct sl_plan *plan;
	struct sl_error err;

	if (sl_plan_new(&plan, graph, &how, &err) ||
	    sl_plan_fill_inputs(plan, 1, &err))
		fail_msg("%s", err.text);
	return plan;
}

enum { ROUNDS = 40 };

/* Renews nothing; fails from the second time on, with one of two renewed. */
struct renewer {
	int n_times;
	size_t n_renewed;
};

static enum sl_status
pretend(struct sl__model_arm *arms, size_t n, size_t *n_renewed, void *ctx,
	struct sl_error *err)
{
	struct renewer *r = ctx;

	(void)arms;
	r->n_times++;
	*n_renewed = r->n_times == 1 ? n : r->n_renewed;
	return r->n_times == 1 ? SL_OK
			       : sl__fail(err, SL_E_NOMEM, "no memory for it");
}

/* A test of a model with itself that cannot be decided, stopped by the
 * progress after so many rounds. */
static volatile sig_atomic_t is_over;

static void
end_it(const struct sl_progress *now, void *ctx)
{
	(void)ctx;
	is_over = now->n_done >= ROUNDS;
}

static void
test_with(struct renewer *r, double renew_ns, struct sl__model_rounds *out)
{
	struct graph_text *text = graph_text_with(three, NULL);
	struct sl__model_arm sides[2] = {{.n_samples = 1}, {.n_samples = 1}};
	struct sl__model_rounds_options how = {
		.time_s = 1e5,
		.margin = .01,
		.alpha = 1e-300,
		.min_rounds = 12,
		.seed = 1,
		.control = {.interrupt = &is_over, .progress = end_it},
		.renew = pretend,
		.renew_ctx = r,
		.renew_ns = renew_ns};
	struct sl__arena arena;
	struct sl_error err;

	is_over = 0;
	sl__arena_init(&arena, NULL);
	for (int i = 0; i < 2; i++) {
		sides[i].plan = plan_of(text->graph, 0);
		sides[i].side.plan = sides[i].plan;
		sides[i].side.graph = text->graph;
	}
	if (sl__model_rounds(out, sides, 2, &how, &arena, &err))
		fail_msg("%s", err.text);
	for (int i = 0; i < 2; i++)
		sl_plan_free(sides[i].plan);
	sl__arena_release(&arena);
	graph_text_free(text);
}

static void
rounds_go_on_where_plans_cannot_be_renewed(void **state)
{
	struct renewer none = {.n_renewed = 0}, one = {.n_renewed = 1};
	struct sl__model_rounds test;

	(void)state;
	test_with(&none, 0, &test);
	assert_int_equal(test.n_counted, ROUNDS);
	assert_int_equal(none.n_times, 2);
	assert_int_equal(test.n_placements, 2);
	assert_string_equal(test.renewal.text, "no memory for it");
	test_with(&one, 0, &test);
	assert_int_equal(test.n_placements, 3);
}

static void
the_first_renewal_keeps_to_its_share_too(void **state)
{
	struct renewer r = {0};
	struct sl__model_rounds test;

	(void)state;
	test_with(&r, .41 * 1e5 * 1e9, &test);
	assert_int_equal(r.n_times, 0);
	assert_int_equal(test.n_placements, 1);
}

static void
models_without_common_layers_are_judged_by_their_totals(void **state)
{
	static const char alien[] = "opset 13\n"
				    "in x f32 n,8\n"
				    "const m f32 8,8 = random\n"
				    "k = MatMul x m\n"
				    "out k\n";
	struct graph_text *a = graph_text_with(three, NULL);
	struct graph_text *b = graph_text_with(alien, NULL);
	struct sl_model_comparison *v =
		compare(a->graph, 0, b->graph, SL_PLAN_NO_FUSION);
	const struct sl_arm_comparison *p = &v->pairs[0];

	(void)state;
	check_result(v);
	assert_non_null(p->absent[SL_COMPARISON_BASIS_LAYERS]);
	assert_true(isnan(p->log_e_of[SL_COMPARISON_BASIS_LAYERS]));
	assert_int_equal(p->n_only_a, v->sides[0].n_steps);
	assert_int_equal(p->n_only_b, v->sides[1].n_steps);
	assert_int_equal(p->n_named, 0);
	assert_near(exp(p->log_e),
		    (exp(p->log_e_of[SL_COMPARISON_BASIS_WALL]) +
		     exp(p->log_e_of[SL_COMPARISON_BASIS_CPU])) /
			    2,
		    1e-9 * exp(p->log_e));
	sl_model_comparison_free(v);
	graph_text_free(a);
	graph_text_free(b);
}

static void
wrong_use_is_told(void **state)
{
	static const volatile sig_atomic_t stopped = 1;
	struct sl_model_comparison_options how = {.struct_size = sizeof(how),
						  .interrupt = &stopped};
	struct sl_model_arm sides[2] = {{.name = "x"}, {.name = "y"}};
	struct sl_model_comparison *comparison;
	struct sl_graph *graph;
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_compare_models(&comparison, sides, 1, &how, &err),
			 SL_E_USAGE);
	assert_int_equal(sl_compare_models(&comparison, sides, 9, &how, &err),
			 SL_E_USAGE);
	assert_int_equal(sl_compare_models(&comparison, sides, 2, &how, &err),
			 SL_E_USAGE);
	assert_string_equal(err.text, "arm 1 has no graph");
	how.time_s = -1;
	assert_int_equal(sl_compare_models(&comparison, sides, 2, &how, &err),
			 SL_E_USAGE);
	how.time_s = 1;
	assert_int_equal(sl_graph_open(&graph, "mlp:4-2", NULL, &err), 0);
	sides[0].graph = sides[1].graph = graph;
	assert_int_equal(sl_compare_models(&comparison, sides, 2, &how, &err),
			 SL_E_INTERRUPTED);
	assert_null(comparison);
	sl_graph_free(graph);
}

static void
want_of_memory_is_told_and_leaves_nothing(void **state)
{
	struct counting count = {0};
	struct sl_allocator allocator = counting_allocator(&count);
	struct sl_model_comparison_options how = {.struct_size = sizeof(how),
						  .time_s = .01,
						  .min_rounds = 1,
						  .allocator = &allocator};
	struct sl_model_arm sides[2] = {{0}, {0}};
	struct sl_model_comparison *comparison = NULL;
	struct sl_graph *graph;
	struct sl_error err;
	enum sl_status rc = SL_E_NOMEM;

	(void)state;
	assert_int_equal(sl_graph_open(&graph, "mlp:4-2", NULL, &err), 0);
	sides[0].graph = sides[1].graph = graph;
	for (int k = 1; rc == SL_E_NOMEM; k++) {
		count = (struct counting){.fail_at = k};
		rc = sl_compare_models(&comparison, sides, 2, &how, &err);
		assert_true(count.n_requests > 0);
		/* Without memory to make plans anew, rounds go on. */
		assert_true((rc == SL_OK) == (count.n_requests < k) ||
			    (comparison && comparison->renewal_absent));
		assert_true(rc == SL_OK || (count.n_out == 0 && k < 1000));
	}
	sl_model_comparison_free(comparison);
	assert_int_equal(count.n_out, 0);
	sl_graph_free(graph);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_model_against_itself_has_all_layers_in_common),
		cmocka_unit_test(short_passes_share_a_slot),
		cmocka_unit_test(batches_that_differ_are_compared_per_sample),
		cmocka_unit_test(
			models_without_common_layers_are_judged_by_their_totals),
		cmocka_unit_test(rounds_go_on_where_plans_cannot_be_renewed),
		cmocka_unit_test(the_first_renewal_keeps_to_its_share_too),
		cmocka_unit_test(wrong_use_is_told),
		cmocka_unit_test(want_of_memory_is_told_and_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

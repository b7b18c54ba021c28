/* SPDX-License-Identifier: Apache-2.0 */
/* test_generate.c - the loop of a decoder: structure, counts, refusals. */
#include "tiny_decoder.h"
#include "sleuth.h"
#include "json_check.h"

#include "experiment/decode_loop.h"

enum { PROMPT = 5, TOKENS = 4 };

static struct sl_generate_options
short_loop(const struct sl_graph *cached)
{
	return (struct sl_generate_options){
		.struct_size = sizeof(struct sl_generate_options),
		.cached = cached,
		.prompt = PROMPT,
		.n_tokens = TOKENS,
		.n_rounds = 3,
		.flags = SL_PROFILE_NO_CEILINGS,
	};
}

static struct sl_generation *
generation_of(const struct sl_graph *graph,
	      const struct sl_generate_options *how)
{
	struct sl_generation *g;
	struct sl_error err = {0};

	if (sl_generate(&g, graph, how, &err))
		fail_msg("%s", err.text);
	return g;
}

static void
assert_fails(const struct sl_graph *graph,
	     const struct sl_generate_options *how, enum sl_status status,
	     const char *words)
{
	struct sl_generation *g;
	struct sl_error err = {0};

	assert_int_equal(sl_generate(&g, graph, how, &err), status);
	assert_null(g);
	if (!strstr(err.text, words))
		fail_msg("'%s' has no '%s'", err.text, words);
}

static void
assert_estimate(const struct sl_estimate *e)
{
	assert_true(e->n > 0);
	assert_true(e->value > 0);
	assert_true(e->lo <= e->value && e->value <= e->hi);
}

static void
assert_without(const struct sl_decoding *d)
{
	assert_false(d->has_cache);
	assert_false(d->is_by_token);
	assert_true(d->is_complete);
	assert_false(d->total_is_fitted);
	assert_int_equal(d->n_steps, TOKENS);
	for (int64_t i = 0; i < TOKENS; i++) {
		const struct sl_decode_step *s = &d->steps[i];

		assert_int_equal(s->nth, i + 1);
		assert_int_equal(s->context, PROMPT + i);
		assert_int_equal(s->n_new, PROMPT + i);
		assert_int_equal(s->n_visits, 3);
		assert_true(s->n_iterations >= 18);
		assert_true(s->plan_ns > 0);
		assert_estimate(&s->time_ns);
		assert_near(s->flops.value, tiny_pass((double)s->context), 0);
	}
	assert_near(d->flops.value,
		    tiny_pass(5) + tiny_pass(6) + tiny_pass(7) + tiny_pass(8),
		    0);
	assert_near(d->cache_bytes, 0, 0);
}

static void
assert_with(const struct sl_decoding *d)
{
	const int64_t contexts[] = {1, 3, 5, 6, 7, 8};
	const int64_t tokens[] = {0, 0, 1, 2, 3, 4};

	assert_true(d->has_cache);
	assert_true(d->is_by_token);
	assert_true(d->is_complete);
	assert_true(d->first_is_fitted);
	assert_int_equal(d->n_steps, 6);
	for (size_t i = 0; i < 6; i++) {
		const struct sl_decode_step *s = &d->steps[i];

		assert_int_equal(s->nth, tokens[i]);
		assert_int_equal(s->context, contexts[i]);
		assert_int_equal(s->n_new, 1);
		assert_int_equal(s->n_visits, 3);
		assert_near(s->flops.value, tiny_step((double)s->context), 0);
	}
	/* The last iteration takes the states of all tokens but its own. */
	assert_near(d->cache_bytes, 7.0 * TINY_KV_BYTES, 0);
	assert_true((double)d->memory_bytes > d->cache_bytes);
}

static void
assert_times(const struct sl_decoding *d)
{
	double sum = 0;

	assert_true(d->first_ns.lo <= d->first_ns.hi);
	assert_estimate(&d->further_ns);
	assert_true(d->total_ns.lo <= d->total_ns.hi);
	assert_true(d->tokens_per_s.lo <= d->tokens_per_s.hi);
	for (size_t i = 0; i < d->n_steps; i++) {
		if (d->steps[i].nth > 1)
			sum += d->steps[i].time_ns.value;
	}
	assert_close(d->further_ns.value, sum / (TOKENS - 1), 1e-12);
	assert_close(d->total_ns.value, d->first_ns.value + sum, 1e-12);
	assert_close(d->tokens_per_s.value, TOKENS * 1e9 / d->total_ns.value,
		     1e-12);
	assert_close(d->steady_per_s.value, 1e9 / d->further_ns.value, 1e-12);
	assert_null(d->growth_absent);
	assert_int_equal(d->growth_ns.n, 3 * d->n_steps);
}

static void
assert_cache(const struct sl_cache_effect *c)
{
	double without =
		tiny_pass(5) + tiny_pass(6) + tiny_pass(7) + tiny_pass(8);
	double newest = tiny_step(6) + tiny_step(7) + tiny_step(8);

	assert_null(c->absent);
	assert_near(c->flops_without, without, 0);
	assert_close(c->repeated_share,
		     (without - tiny_pass(5) - newest) / without, 1e-12);
	assert_close(c->most_arithmetic, (without - tiny_pass(5)) / newest,
		     1e-12);
	assert_true(isnan(c->most_roofline));
	assert_string_equal(c->roofline_absent, "not asked for");
	assert_near(c->bytes_per_token.value, TINY_KV_BYTES, 0);
}

/* Whichever is asked for, the one without a cache comes first. */
static void
test_twins(void **state)
{
	struct sl_graph *plain = tiny_decoder(TINY_PLAIN);
	struct sl_graph *step = tiny_decoder(TINY_STEP);

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct sl_generate_options how = short_loop(i ? plain : step);
		struct sl_generation *g = generation_of(i ? step : plain, &how);

		assert_int_equal(g->n_loops, 2);
		assert_int_equal(g->n_rounds, 3);
		assert_int_equal(g->stopped_by, SL_STOP_RUNS);
		assert_without(&g->loops[0]);
		assert_with(&g->loops[1]);
		assert_times(&g->loops[0]);
		assert_times(&g->loops[1]);
		assert_cache(&g->cache);
		assert_true(g->cache.is_counted);
		assert_near(g->cache.flops_with, g->loops[1].flops.value, 0);
		assert_close(g->cache.measured.value,
			     g->loops[0].further_ns.value /
				     g->loops[1].further_ns.value,
			     1e-12);
		assert_estimate(&g->cache.measured);
		sl_generation_free(g);
	}
	sl_graph_free(plain);
	sl_graph_free(step);
}

/* What a cache would save is known from the model alone. */
static void
test_without_twin(void **state)
{
	struct sl_graph *plain = tiny_decoder(TINY_PLAIN);
	struct sl_generate_options how = short_loop(NULL);
	struct sl_generation *g = generation_of(plain, &how);

	(void)state;
	assert_int_equal(g->n_loops, 1);
	assert_without(&g->loops[0]);
	assert_cache(&g->cache);
	assert_false(g->cache.is_counted);
	assert_int_equal(g->cache.measured.n, 0);
	assert_non_null(g->cache.measured_absent);
	sl_generation_free(g);
	sl_graph_free(plain);
}

/* A cache and a prompt in one iteration; a mask and positions follow. */
static void
test_prompt_at_once(void **state)
{
	struct sl_graph *cached = tiny_decoder(TINY_CACHED);
	struct sl_generate_options how = short_loop(NULL);
	struct sl_generation *g = generation_of(cached, &how);
	const struct sl_decoding *d = &g->loops[0];

	(void)state;
	assert_int_equal(g->n_loops, 1);
	assert_true(d->has_cache);
	assert_false(d->is_by_token);
	assert_false(d->first_is_fitted);
	assert_int_equal(d->n_steps, TOKENS);
	assert_int_equal(d->steps[0].n_new, PROMPT);
	assert_near(d->steps[0].flops.value, tiny_pass(PROMPT), 0);
	assert_int_equal(d->steps[1].n_new, 1);
	assert_near(d->steps[1].flops.value, tiny_step(PROMPT + 1), 0);
	assert_near(d->flops.value,
		    tiny_pass(5) + tiny_step(6) + tiny_step(7) + tiny_step(8),
		    0);
	assert_close(d->first_ns.value, d->steps[0].time_ns.value, 1e-12);
	assert_string_equal(g->cache.absent, "nothing was run without a cache");
	sl_generation_free(g);
	sl_graph_free(cached);
}

/* Of a long loop some iterations are measured, the ends among them. */
static void
test_sampled(void **state)
{
	struct sl_graph *plain = tiny_decoder(TINY_PLAIN);
	struct sl_generate_options how = short_loop(NULL);
	struct sl_generation *g;
	const struct sl_decoding *d;

	(void)state;
	how.n_tokens = 21;
	how.n_positions = 5;
	g = generation_of(plain, &how);
	d = &g->loops[0];
	assert_false(d->is_complete);
	assert_true(d->total_is_fitted);
	assert_int_equal(d->n_steps, 5);
	for (int64_t i = 0; i < 5; i++)
		assert_int_equal(d->steps[i].nth, 1 + 5 * i);
	assert_int_equal(d->further_ns.n, 15);
	assert_true(isfinite(d->further_ns.value));
	sl_generation_free(g);
	sl_graph_free(plain);
}

static void
test_no_decoder(void **state)
{
	struct sl_generate_options how = short_loop(NULL);
	struct sl_graph *both = tiny_decoder(TINY_BOTH_WAYS);
	struct sl_graph *plain = tiny_decoder(TINY_PLAIN), *mlp;

	(void)state;
	assert_int_equal(sl_graph_open(&mlp, "mlp:8-4", NULL, NULL), SL_OK);
	assert_fails(mlp, &how, SL_E_USAGE, "no input takes tokens");
	assert_fails(both, &how, SL_E_USAGE, "no attention here is causal");
	how.cached = plain;
	assert_fails(plain, &how, SL_E_USAGE, "these both have none");
	sl_graph_free(mlp);
	sl_graph_free(both);
	sl_graph_free(plain);
}

static void
test_wrong_options(void **state)
{
	struct sl_graph *plain = tiny_decoder(TINY_PLAIN);
	struct sl_generate_options how = short_loop(NULL);
	volatile sig_atomic_t stop = 1;

	(void)state;
	how.interrupt = &stop;
	assert_fails(plain, &how, SL_E_INTERRUPTED, "interrupted");
	how = short_loop(NULL);
	how.n_tokens = 0;
	assert_fails(plain, &how, SL_E_USAGE, "tokens");
	how = short_loop(NULL);
	how.n_rounds = SL__LOOP_ROUNDS_MOST + 1;
	assert_fails(plain, &how, SL_E_USAGE, "rounds");
	how = short_loop(NULL);
	how.time_s = -1;
	assert_fails(plain, &how, SL_E_USAGE, "time");
	how.struct_size = 1;
	assert_fails(plain, &how, SL_E_USAGE, "struct_size");
	sl_graph_free(plain);
}

static void
test_pages(void **state)
{
	struct sl_graph *plain = tiny_decoder(TINY_PLAIN);
	struct sl_graph *step = tiny_decoder(TINY_STEP);
	struct sl_generate_options how = short_loop(step);
	struct sl_generation *g = generation_of(plain, &how);
	struct sl_render_options page = {.struct_size = sizeof(page)};
	struct sl_buf out = {0};

	(void)state;
	for (int f = SL_FORMAT_TEXT; f <= SL_FORMAT_MARKDOWN; f++) {
		page.format = (enum sl_format)f;
		assert_int_equal(sl_generation_render(g, &page, &out, NULL),
				 SL_OK);
		if (f == SL_FORMAT_JSON)
			assert_true(json_valid(out.data));
		if (f == SL_FORMAT_TEXT) {
			assert_non_null(strstr(out.data, "Measured: "));
			assert_non_null(
				strstr(out.data, "and synthetic otherwise"));
		}
		sl_buf_release(&out);
	}
	sl_generation_free(g);
	sl_graph_free(plain);
	sl_graph_free(step);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_twins),
		cmocka_unit_test(test_without_twin),
		cmocka_unit_test(test_prompt_at_once),
		cmocka_unit_test(test_sampled),
		cmocka_unit_test(test_no_decoder),
		cmocka_unit_test(test_wrong_options),
		cmocka_unit_test(test_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

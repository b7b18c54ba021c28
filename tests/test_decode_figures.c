/* SPDX-License-Identifier: Apache-2.0 */
/* test_decode_figures.c - figures of a decoding loop from numbers that are
 * known: repeated work, lines, and what a cache is worth. */
#include "experiment/decode_loop.h"
#include "tiny_decoder.h"

#include "analysis/generation.h"
#include "base/reading.h"

static void
test_law(void **state)
{
	const double flops[4] = {tiny_pass(9), tiny_pass(10), tiny_pass(11),
				 tiny_pass(12)};
	double iterations = 0, newests = 0;
	struct sl__work_law law;

	(void)state;
	assert_true(sl__work_law_fit(&law, flops, 9));
	assert_near(law.constant, 0, 0);
	assert_near(law.linear, TINY_LINEAR, 0);
	assert_near(law.quadratic, TINY_QUADRATIC, 0);
	for (int64_t n = 3; n <= 40; n++) {
		iterations += tiny_pass((double)n);
		newests += tiny_step((double)n);
	}
	assert_near(sl__work_passes(&law, 3, 40), iterations, 0);
	assert_near(sl__flops_of_new_tokens(&law, 3, 40), newests, 0);
	assert_near(sl__work_passes(&law, 4, 3), 0, 0);
	/* All is done for tokens or pairs of them: of n, n - 1 parts go. */
	assert_close(sl__flops_of_new_tokens(&law, 16, 16) /
			     sl__work_passes(&law, 16, 16),
		     1.0 / 16, 1e-15);
}

static void
test_no_law(void **state)
{
	const double flops[4] = {1, 8, 27, 64};
	struct sl__work_law law;

	(void)state;
	assert_false(sl__work_law_fit(&law, flops, 1));
}

enum { PROMPT = 10, TOKENS = 101 };

/* Every visit of an iteration at a context takes fixed + slope x context. */
static void
plant(struct sl__decode_loop *loop, double fixed, double slope)
{
	for (size_t i = 0; i < loop->raw.n_points; i++) {
		struct sl__loop_point *p = &loop->raw.points[i];
		double ns = fixed + slope * (double)(p->n_past + p->n_new);

		for (int k = 0; k < 2; k++)
			p->visits[p->n_visits++] = (struct sl_estimate){
				ns, ns, ns, 6, 0, SL_METHOD_ORDER};
		p->plan_ns = 1;
	}
}

static struct sl_decoding
settled(struct sl__decode_loop *loop, int64_t n_tokens, struct sl__arena *arena)
{
	struct sl_decoding d = {0};

	assert_int_equal(
		sl__decoding_summarize(&d, sl__decode_loop_measurements(loop),
				       PROMPT, n_tokens, arena, NULL),
		SL_OK);
	return d;
}

/* What is not measured follows from the line through what is. */
static void
test_fitted(void **state)
{
	struct sl_graph *graph = tiny_decoder(TINY_STEP);
	struct sl__decode_loop loop = {0};
	struct sl__arena arena;
	struct sl_decoding d;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(
		sl__decoder_open(&loop.decoder, graph, 0, 1, &arena, NULL),
		SL_OK);
	loop.raw.points = sl__arena_array(&arena, 67, sizeof(*loop.raw.points));
	sl__decode_loop_choose_points(&loop, PROMPT, TOKENS, 6);
	assert_int_equal(loop.raw.n_points, 3 + 5);
	assert_int_equal(loop.raw.n_further, 5);
	plant(&loop, 1000, 3);
	d = settled(&loop, TOKENS, &arena);
	assert_true(d.first_is_fitted && d.total_is_fitted);
	/* Contexts 1 to 10, and 11 to 110. */
	assert_close(d.first_ns.value, 10 * 1000 + 3 * 55.0, 1e-9);
	assert_close(d.further_ns.value, 1000 + 3 * 60.5, 1e-9);
	assert_close(d.total_ns.value, 110 * 1000 + 3 * 110 * 111 / 2.0, 1e-9);
	assert_close(d.growth_ns.value, 3.0, 1e-9);
	assert_int_equal(d.further_ns.n, 16);
	/* A visit that was disturbed badly hardly moves it. */
	loop.raw.points[6].visits[1].value *= 20;
	d = settled(&loop, TOKENS, &arena);
	assert_close(d.further_ns.value, 1000 + 3 * 60.5, 0.1);
	assert_true(d.further_ns.lo < d.further_ns.value);
	assert_true(d.further_ns.lo >= 0);
	sl__decoder_close(&loop.decoder);
	sl__arena_release(&arena);
	sl_graph_free(graph);
}

/* A line that says that an iteration takes no time is none. */
static void
test_no_line(void **state)
{
	struct sl_graph *graph = tiny_decoder(TINY_STEP);
	struct sl__decode_loop loop = {0};
	struct sl__arena arena;
	struct sl_decoding d;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(
		sl__decoder_open(&loop.decoder, graph, 0, 1, &arena, NULL),
		SL_OK);
	loop.raw.points = sl__arena_array(&arena, 67, sizeof(*loop.raw.points));
	sl__decode_loop_choose_points(&loop, PROMPT, TOKENS, 6);
	plant(&loop, -1000, 100);
	for (size_t i = 0; i < 3; i++)
		loop.raw.points[i].n_visits = 0;
	d = settled(&loop, TOKENS, &arena);
	assert_int_equal(d.n_missed, 3);
	assert_int_equal(d.first_ns.n, 0);
	assert_int_equal(d.total_ns.n, 0);
	assert_true(d.further_ns.value > 0);
	sl__decoder_close(&loop.decoder);
	sl__arena_release(&arena);
	sl_graph_free(graph);
}

/* One token has no further one, and one iteration no line. */
static void
test_single(void **state)
{
	struct sl_graph *graph = tiny_decoder(TINY_PLAIN);
	struct sl__decode_loop loop = {0};
	struct sl__arena arena;
	struct sl_decoding d;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(
		sl__decoder_open(&loop.decoder, graph, 0, 1, &arena, NULL),
		SL_OK);
	loop.raw.points = sl__arena_array(&arena, 67, sizeof(*loop.raw.points));
	sl__decode_loop_choose_points(&loop, PROMPT, 1, 4);
	assert_int_equal(loop.raw.n_points, 1);
	plant(&loop, 1000, 0);
	d = settled(&loop, 1, &arena);
	assert_true(d.is_complete);
	assert_close(d.first_ns.value, 1000.0, 1e-12);
	assert_close(d.total_ns.value, 1000.0, 1e-12);
	assert_int_equal(d.further_ns.n, 0);
	assert_int_equal(d.steady_per_s.n, 0);
	assert_non_null(d.growth_absent);
	sl__decoder_close(&loop.decoder);
	sl__arena_release(&arena);
	sl_graph_free(graph);
}

static struct sl_estimate
exactly(double x)
{
	return (struct sl_estimate){x, x, x, 9, 0, SL_METHOD_STUDENT};
}

/* A model whose iteration takes 1000 FLOPs a token, on a machine of 1 GFLOP/s
 * and 1 GB/s. */
struct known {
	struct sl_decoding without, with;
	struct sl__decode_flops_growth work;
	struct sl_ceilings ceilings;
	struct sl__kv_cache_effect_sources sources;
};

static void
make_known(struct known *k)
{
	memset(k, 0, sizeof(*k));
	k->without.further_ns = k->without.total_ns = exactly(1e6);
	k->with.further_ns = k->with.total_ns = exactly(2e5);
	k->with.flops = sl__present(1);
	k->work.law.linear = 1000;
	k->ceilings.dtype = SL_DTYPE_F32;
	k->ceilings.n_threads = 1;
	k->ceilings.flops_per_s = exactly(1e9);
	k->ceilings.peaks[0].dtype = SL_DTYPE_F32;
	k->ceilings.peaks[0].flops_per_s = exactly(1e9);
	k->ceilings.n_peaks = 1;
	k->ceilings.levels[0].level = SL_LEVEL_DRAM;
	k->ceilings.levels[0].size_bytes = UINT64_MAX;
	k->ceilings.levels[0].bytes_per_s = exactly(1e9);
	k->ceilings.n_levels = 1;
	k->sources = (struct sl__kv_cache_effect_sources){
		.without = &k->without,
		.work_without = &k->work,
		.ceilings = &k->ceilings,
		.dtype = SL_DTYPE_F32,
		.batch = 1,
		.prompt = 9,
		.n_tokens = 2,
		.once_bytes = sl__present(99000),
		.bytes_per_token = sl__present(100),
	};
}

/* One further token, the tenth: it reads 100 kB, which takes 100 us of the
 * 1,000 that it took, and computes a tenth. */
static void
test_bounds(void **state)
{
	struct sl_cache_effect c;
	struct known k;

	(void)state;
	make_known(&k);
	sl__kv_cache_effect_of(&c, &k.sources);
	assert_null(c.absent);
	assert_close(c.flops_without, 19000.0, 1e-12);
	assert_close(c.repeated_share, 9.0 / 19, 1e-12);
	assert_close(c.most_arithmetic, 10.0, 1e-12);
	assert_close(c.step_bytes, 100000.0, 1e-12);
	assert_close(c.most_roofline, 10.0, 1e-12);
	k.sources.once_bytes.value = 199000;
	sl__kv_cache_effect_of(&c, &k.sources);
	assert_close(c.most_roofline, 5.0, 1e-12);
	assert_close(c.most, 5.0, 1e-12);
	/* Arithmetic may be the slower one: 1000 FLOPs take 500 us. */
	k.ceilings.peaks[0].flops_per_s = exactly(2e6);
	sl__kv_cache_effect_of(&c, &k.sources);
	assert_close(c.most, 2.0, 1e-12);
	assert_int_equal(c.measured.n, 0);
}

static void
test_measured(void **state)
{
	struct sl_cache_effect c;
	struct known k;

	(void)state;
	make_known(&k);
	k.with.further_ns.lo = 1e5;
	k.with.further_ns.hi = 4e5;
	k.sources.with = &k.with;
	sl__kv_cache_effect_of(&c, &k.sources);
	assert_null(c.measured_absent);
	assert_close(c.measured.value, 5.0, 1e-12);
	assert_close(c.measured.lo, 2.5, 1e-12);
	assert_close(c.measured.hi, 10.0, 1e-12);
	assert_close(c.measured_total.value, 5.0, 1e-12);
}

static void
test_absent(void **state)
{
	struct sl_cache_effect c;
	struct known k;

	(void)state;
	make_known(&k);
	k.ceilings.n_levels = 0;
	sl__kv_cache_effect_of(&c, &k.sources);
	assert_non_null(c.roofline_absent);
	assert_true(isnan(c.most_roofline));
	assert_close(c.most, 10.0, 1e-12);
	k.work.absent = "unknown";
	sl__kv_cache_effect_of(&c, &k.sources);
	assert_string_equal(c.absent, "unknown");
	assert_true(isnan(c.repeated_share) && isnan(c.most));
	k.sources.without = NULL;
	sl__kv_cache_effect_of(&c, &k.sources);
	assert_non_null(c.absent);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_law),    cmocka_unit_test(test_no_law),
		cmocka_unit_test(test_fitted), cmocka_unit_test(test_no_line),
		cmocka_unit_test(test_single),

		cmocka_unit_test(test_bounds), cmocka_unit_test(test_measured),
		cmocka_unit_test(test_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* test_generation_narrative.c - sentences about decoding loops that are made
 * up: what is predicted, measured, fitted, and what is not known. */
#include "harness.h"

#include "report/generation_narrative.h"

#include <stdio.h>
#include <string.h>

enum { STEPS = 3 };

struct made {
	struct sl_decode_step steps[2][STEPS];
	struct sl_decoding loops[2];
	struct sl_generation of;
};

static struct sl_estimate
about(double value)
{
	return (struct sl_estimate){.value = value,
				    .lo = 0.9 * value,
				    .hi = 1.1 * value,
				    .n = 5,
				    .method = SL_METHOD_STUDENT};
}

/* A model without and with a cache; of three tokens two were measured. */
static void
make(struct made *m)
{
	memset(m, 0, sizeof(*m));
	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < STEPS; i++)
			m->steps[k][i] =
				(struct sl_decode_step){.nth = 1 + 10 * i,
							.context = 32 + 10 * i,
							.n_new = 1,
							.n_visits = i < 2,
							.time_ns = about(1e6)};
		m->loops[k] =
			(struct sl_decoding){.name = k ? "gpt2@kv" : "gpt2",
					     .has_cache = k,
					     .is_by_token = k,
					     .steps = m->steps[k],
					     .n_steps = STEPS,
					     .first_ns = about(k ? 64e6 : 5e6),
					     .total_ns = about(k ? 1e8 : 4e8),
					     .growth_ns = about(k ? 2e3 : 3e4),
					     .growth_at_ns = k ? 2e6 : 6e6};
	}
	m->of = (struct sl_generation){
		.name = "gpt2",
		.batch = 2,
		.prompt = 32,
		.n_tokens = 21,
		.loops = m->loops,
		.n_loops = 2,
		.cache = {
			.repeated_share = 0.9,
			.flops_without = 2e12,
			.flops_with = 1e11,
			.is_counted = 1,
			.most_arithmetic = 40,
			.most_roofline = 12,
			.most = 12,
			.step_bytes = 5e8,
			.bytes_per_s = 2e10,
			.measured = {.value = 6, .lo = 5.5, .hi = 6.5, .n = 5},
			.measured_total =
				{.value = 4, .lo = 3, .hi = 5, .n = 5},
			.bytes_per_token = {73728, NULL}}};
}

#define STATES                                                               \
	"With a cache, keys and values are those that the previous step "    \
	"returned where it ran just before, and synthetic otherwise; times " \
	"do not depend on them."

static void
assert_told(const struct made *m, const char *const *expected, size_t n)
{
	struct sl__narrative told;

	sl__narrative_init(&told, NULL);
	sl__generation_narrate(&told, &m->of);
	assert_false(told.has_failed);
	assert_int_equal(told.n, n);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(told.list[i], expected[i]);
	sl__narrative_release(&told);
}

static void
both_loops(void **state)
{
	static const char *const expected[] = {
		"Overall, the loop with a cache is 4.00 [3.00, 5.00] × as "
		"fast: 100 ms with, 400 ms without.",
		"gpt2@kv takes one token at a time, so the first token waits "
		"for 32 steps: 64 ms, where gpt2 computes the "
		"prompt in one step of 5 ms.",
		"Without a cache, 90.0 % of the FLOPs recompute what the "
		"previous decode step had: 1.8 TFLOPs of 2 TFLOPs (by the "
		"counts of both models).",
		"Predicted: with a cache a decode step is at most 12.0 × as "
		"fast, because it still reads 500 MB: at least 25 ms at the 20 "
		"GB/s measured here. By its FLOPs alone it would be 40.0 ×.",
		"Measured: a decode step is 6.00 [5.50, 6.50] × as fast, 50 % "
		"of the predicted maximum.",
		"The cache takes 73.7 kB per token and sample.",
		"Without a cache, a decode step takes 30 µs more for each "
		"token of context [27 µs, 33 µs]: over the loop that is 10 % "
		"of the 6 ms at its middle.",
		"With a cache, a decode step takes 2 µs more for each token of "
		"context [1.8 µs, 2.2 µs]: over the loop that is 2 % of the 2 "
		"ms at its middle.",
		"Measured, of 21 tokens: 2 without a cache, 2 with a cache. "
		"Extrapolated figures come from a line over the context length "
		"through these.",
		STATES};
	struct made m;

	(void)state;
	make(&m);
	assert_told(&m, expected, sizeof(expected) / sizeof(expected[0]));
}

/* No ceilings, no growth that is proved, more than predicted. */
static void
less_is_known(void **state)
{
	static const char *const expected[] = {
		"gpt2@kv takes one token at a time, so the first token waits "
		"for 32 steps: 64 ms.",
		"Without a cache, 90.0 % of the FLOPs recompute what the "
		"previous decode step had: 1.8 TFLOPs of 2 TFLOPs (from "
		"how the model's FLOPs grow).",
		"Predicted: with a cache a decode step is at most 12.0 × as "
		"fast, by its arithmetic; the memory bound is not known: no "
		"ceilings.",
		"Measured: a decode step is 13.00 [5.50, 6.50] × as fast, more "
		"than predicted.",
		"Without a cache, a decode step takes 30 µs less for each "
		"token of context [-40 µs, -20 µs]: over the loop that is 10 % "
		"of the 6 ms at its middle.",
		"With a cache, a decode step does not take significantly "
		"longer with more context: 10 ns [-100 ns, 120 ns] per token.",
		STATES};
	struct made m;

	(void)state;
	make(&m);
	m.loops[0].growth_ns = (struct sl_estimate){
		.value = -3e4, .lo = -4e4, .hi = -2e4, .n = 5};
	m.loops[1].growth_ns = (struct sl_estimate){
		.value = 10, .lo = -100, .hi = 120, .n = 5};
	m.loops[0].is_complete = m.loops[1].is_complete = 1;
	m.loops[0].first_ns.n = 0;
	m.of.cache.is_counted = 0;
	m.of.cache.roofline_absent = "no ceilings";
	m.of.cache.measured.value = 13;
	m.of.cache.measured_total.n = 0;
	m.of.cache.bytes_per_token.absent = "not known";
	assert_told(&m, expected, sizeof(expected) / sizeof(expected[0]));
}

/* An interval that contains 1, or none, decides nothing. */
static void
assert_undecided(struct made *m, struct sl_estimate total, const char *ratio)
{
	struct sl__narrative told;
	char text[256];

	m->of.cache.measured_total = total;
	m->loops[1].total_is_fitted = 1;
	snprintf(text, sizeof(text),
		 "Overall, not decided whether a cache pays: 100 ms with "
		 "(extrapolated), 400 ms without; the ratio is %s",
		 ratio);
	sl__narrative_init(&told, NULL);
	sl__generation_narrate(&told, &m->of);
	assert_string_equal(told.list[0], text);
	sl__narrative_release(&told);
}

static void
a_slower_loop_says_so_first(void **state)
{
	struct sl__narrative told;
	struct made m;

	(void)state;
	make(&m);
	m.of.cache.measured_total = (struct sl_estimate){
		.value = 0.25, .lo = 0.2, .hi = 0.5, .n = 5};
	sl__narrative_init(&told, NULL);
	sl__generation_narrate(&told, &m.of);
	assert_string_equal(told.list[0],
			    "Overall, the loop with a cache takes 4.00 [2.00, "
			    "5.00] × as long: 100 ms with, 400 ms without.");
	sl__narrative_release(&told);
	assert_undecided(
		&m,
		(struct sl_estimate){.value = 0.5, .lo = 0.25, .hi = 2, .n = 5},
		"2.00 [0.50, 4.00].");
	assert_undecided(&m,
			 (struct sl_estimate){.value = 4, .n = 1, .needs_n = 6},
			 "4.00, without an interval.");
}

static void
one_loop_alone(void **state)
{
	static const char *const expected[] = {
		"Measured: a decode step is 2.00 × as fast (not significant), "
		"with no prediction to compare."};
	struct made m;

	(void)state;
	make(&m);
	m.loops[0].growth_absent = "fewer than three contexts were measured";
	m.loops[0].is_complete = 1;
	m.of.n_loops = 1;
	m.of.cache = (struct sl_cache_effect){
		.absent = "nothing was run without a cache",
		.most = (double)NAN,
		.measured = {.value = 2, .n = 1, .needs_n = 6},
		.bytes_per_token = {(double)NAN, "no cache"}};
	assert_told(&m, expected, sizeof(expected) / sizeof(expected[0]));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_loops),
		cmocka_unit_test(less_is_known),
		cmocka_unit_test(a_slower_loop_says_so_first),
		cmocka_unit_test(one_loop_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

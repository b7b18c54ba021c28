/* SPDX-License-Identifier: Apache-2.0 */
/* generation_table.c - fields of decoders that make one token after another. */
#include "result/profile_tables.h"
#include "result/words.h"
#include "sleuth/generating.h"

#include "base/banned.h"

#define MS .unit = SL__NS_PER_MS

/* A time that may not be known, and a rate or ratio of such times: without a
 * value neither its interval nor its samples are there. */
#define TIME(s, m, stem, what, ...)                                         \
	SL__F(NUMBER, s, m.value, stem "_ms", what, MS, __VA_ARGS__),       \
		SL__F(INTERVAL, s, m, stem "_ci95_ms", "its 95 % interval", \
		      MS, __VA_ARGS__, .is_left_out = 1),                   \
		SL__F(WHOLE, s, m.n, stem "_n", "samples behind it",        \
		      __VA_ARGS__, .is_left_out = 1)
#define RATE(s, m, name, what, ...)                                           \
	SL__F(NUMBER, s, m.value, name, what, __VA_ARGS__),                   \
		SL__F(INTERVAL, s, m, name "_ci95", "its 95 % interval",      \
		      .absent = "the time's interval reaches 0", __VA_ARGS__, \
		      .is_left_out = 1),                                      \
		SL__F(WHOLE, s, m.n, name "_n", "samples behind it",          \
		      __VA_ARGS__, .is_left_out = 1)

SL__WHY(not_visited, sl_decode_step, s,
	s->n_visits ? NULL : "interrupted before it was measured")

static const struct sl__field step_fields[] = {
	SL__F(SIGNED, sl_decode_step, nth, "token", "that it yields, from 1",
	      .absent = "it reads the prompt"),
	SL__F(SIGNED, sl_decode_step, context, "context",
	      "tokens that it attends to"),
	SL__F(SIGNED, sl_decode_step, n_new, "computed_tokens",
	      "of these, computed in it"),
	SL__F(WHOLE, sl_decode_step, n_visits, "visits", "made"),
	SL__F(WHOLE, sl_decode_step, n_iterations, "iterations",
	      "of these visits"),
	SL__F(WHOLE, sl_decode_step, n_disturbed, "disturbed",
	      "visits disturbed by background load"),
	TIME(sl_decode_step, time_ns, "median",
	     "the median of the visits' medians", .why = not_visited),
	SL__F(NUMBER, sl_decode_step, plan_ns, "plan_ms",
	      "making the plan, the longest time", MS, .why = not_visited,
	      .is_left_out = 1),
	SL__F(READING, sl_decode_step, flops, "flops", "of the whole batch"),
};
static SL__RECORD(step, "generation.loops.steps", sl_decode_step, step_fields,
		  0);

#define NO_LINE SL__REASON(sl_decoding, growth_absent)

static const struct sl__field growth_fields[] = {
	TIME(sl_decoding, growth_ns, "slope", "of a step, per token of context",
	     NO_LINE),
	SL__F(NUMBER, sl_decoding, growth_at_ns, "middle_ms",
	      "the line in the middle of the loop", MS, NO_LINE,
	      .is_left_out = 1),
};
static SL__RECORD(growth, "generation.loops.growth", sl_decoding, growth_fields,
		  0);

static const char too_few[] = "too few steps were measured";

static const char *
no_further(const struct sl_estimate *e, const struct sl_generation *g)
{
	return e->n ? NULL : g->n_tokens < 2 ? "no decode step" : too_few;
}

SL__WHY(no_first, sl_decoding, d, d->first_ns.n ? NULL : too_few)
SL__WHY(no_total, sl_decoding, d, d->total_ns.n ? NULL : too_few)
SL__WHY(no_rate, sl_decoding, d, d->tokens_per_s.n ? NULL : too_few)
SL__WHY(no_further_time, sl_decoding, d, no_further(&d->further_ns, parent))
SL__WHY(no_further_rate, sl_decoding, d, no_further(&d->steady_per_s, parent))

static const struct sl__field loop_fields[] = {
	SL__F(TEXT, sl_decoding, name, "name", "of the model"),
	SL__F(TEXT, sl_decoding, source, "source", "path, or zoo"),
	SL__F(BOOLEAN, sl_decoding, has_cache, "cache",
	      "it keeps keys and values"),
	SL__F(BOOLEAN, sl_decoding, is_by_token, "prompt_by_token",
	      "the model takes one token at a time, the prompt's too"),
	SL__F(BOOLEAN, sl_decoding, is_complete, "complete",
	      "every step that yields a token was measured"),
	TIME(sl_decoding, first_ns, "first_token", "to the first token",
	     .why = no_first),
	SL__F(BOOLEAN, sl_decoding, first_is_fitted, "first_token_fitted",
	      "by a line through the measured steps"),
	TIME(sl_decoding, further_ns, "further_token",
	     "mean of the decode steps after the first token",
	     .why = no_further_time),
	TIME(sl_decoding, total_ns, "total", "the whole loop", .why = no_total),
	SL__F(BOOLEAN, sl_decoding, total_is_fitted, "total_fitted",
	      "by the line, and so is further_token_ms"),
	RATE(sl_decoding, tokens_per_s, "tokens_per_s",
	     "whole loop, whole batch", .why = no_rate),
	RATE(sl_decoding, steady_per_s, "steady_tokens_per_s",
	     "decode steps alone", .why = no_further_rate),
	SL__F_GROUP(&growth, "growth", "of a step with its context"),
	SL__F(READING, sl_decoding, flops, "flops", "of the whole loop"),
	SL__F(WHOLE, sl_decoding, memory_bytes, "memory_bytes",
	      "block and weights, with the longest context"),
	SL__F(NUMBER, sl_decoding, cache_bytes, "cache_bytes",
	      "of that, states at the end, as handed in"),
	SL__F(NUMBER, sl_decoding, plan_ns, "plan_ms",
	      "all plans that were made", MS),
	SL__F_LIST(LIST, sl_decoding, steps, n_steps, "steps",
		   "ascending by context", .of = &step),
};

static void
settle_loop(void *record)
{
	struct sl_decoding *d = record;

	for (size_t i = 0; i < d->n_steps; i++)
		d->n_missed += !d->steps[i].n_visits;
}

static SL__RECORD(loop, "generation.loops", sl_decoding, loop_fields,
		  .settle = settle_loop);

#define ONE_TOKEN .absent = "no decode step"

SL__WHY(no_roofline, sl_cache_effect, c,
	c->roofline_absent ? c->roofline_absent : "no decode step")

static const struct sl__field work_fields[] = {
	SL__F(NUMBER, sl_cache_effect, flops_without, "flops_without",
	      "of the loop without cache"),
	SL__F(NUMBER, sl_cache_effect, flops_with, "flops_with",
	      "of the loop with one"),
	SL__F(WORD, sl_cache_effect, is_counted, "flops_basis",
	      "counted in both models, or derived from the growth of FLOPs",
	      .words = &sl__words_counted),
	SL__F(NUMBER, sl_cache_effect, most, "most_speedup",
	      "of each decode step: the smaller of the next two", ONE_TOKEN),
	SL__F(NUMBER, sl_cache_effect, most_arithmetic,
	      "most_speedup_arithmetic", "were FLOP/s the same", ONE_TOKEN),
	SL__F(NUMBER, sl_cache_effect, most_roofline, "most_speedup_roofline",
	      "measured time / the least that this machine needs",
	      .because = no_roofline),
	SL__F(REASON, sl_cache_effect, roofline_absent,
	      "most_speedup_roofline_absent", "why there is none"),
	SL__F(NUMBER, sl_cache_effect, step_bytes, "step_bytes",
	      "that a step with cache reads at least", .because = no_roofline),
	SL__F(NUMBER, sl_cache_effect, bytes_per_s, "gbytes_per_s",
	      "the bandwidth for these", .unit = 1e9, .because = no_roofline),
};
static SL__RECORD(work, "generation.cache", sl_cache_effect, work_fields, 0);

#define NO_WORK SL__REASON(sl_cache_effect, absent)

SL__WHY(not_measured, sl_cache_effect, c,
	c->measured.n        ? NULL
	: c->measured_absent ? c->measured_absent
			     : "not measured")
SL__WHY(no_measured_total, sl_cache_effect, c,
	c->measured_total.n  ? NULL
	: c->measured_absent ? c->measured_absent
			     : "not measured")

static const struct sl__field cache_fields[] = {
	SL__F(NUMBER, sl_cache_effect, repeated_share, "repeated_share",
	      "share of the FLOPs without cache that repeat the previous step",
	      NO_WORK),
	SL__F_GROUP(&work, NULL, "where a loop without cache was run", NO_WORK),
	RATE(sl_cache_effect, measured, "measured_speedup",
	     "of each decode step", .why = not_measured),
	SL__F(REASON, sl_cache_effect, measured_absent,
	      "measured_speedup_absent", "why it is not known"),
	RATE(sl_cache_effect, measured_total, "measured_speedup_total",
	     "of the whole loop", .why = no_measured_total),
	SL__F(READING, sl_cache_effect, bytes_per_token, "bytes_per_token",
	      "keys and values of one token of one sample"),
};
static SL__RECORD(cache, "generation.cache", sl_cache_effect, cache_fields, 0);

static const struct sl__field model_fields[] = {
	SL__F(TEXT, sl_generation, name, "name", "of the model asked for"),
	SL__F(TEXT, sl_generation, source, "source", "path, or zoo"),
};
static SL__RECORD(model, "model", sl_generation, model_fields, 0);

static const struct sl__field plan_fields[] = {
	SL__F(WORD, sl_generation, dtype, "dtype", "that it computes in",
	      .words = &sl__words_dtype),
	SL__F(WHOLE, sl_generation, n_threads, "threads", "that it runs on"),
};
static SL__RECORD(plan, "plan", sl_generation, plan_fields, 0);

static const struct sl__field made_fields[] = {
	SL__F(SIGNED, sl_generation, batch, "batch", "samples"),
	SL__F(SIGNED, sl_generation, prompt, "prompt",
	      "tokens before the first"),
	SL__F(SIGNED, sl_generation, n_tokens, "tokens", "to be made"),
	SL__F(WHOLE, sl_generation, n_rounds, "rounds",
	      "in each of which every step was measured"),
	SL__F_LIST(LIST, sl_generation, loops, n_loops, "loops",
		   "without cache first", .of = &loop),
	SL__F(OBJECT, sl_generation, cache, "cache",
	      "what one does, or would do", .of = &cache),
	SL__F(TOLD, sl_generation, loops, "sentences", "what that means"),
};
static SL__RECORD(made, "generation", sl_generation, made_fields, 0);

static const struct sl__field generation_fields[] = {
	SL__F_GROUP(&model, "model", "that was run"),
	SL__F_GROUP(&plan, "plan", "how it was run"),
	SL__F(OBJECT, sl_generation, ceilings, "roofline",
	      "what the machine reached meanwhile", .of = &sl__table_ceilings),
	SL__F_GROUP(&made, "generation", "loops that make tokens"),
	SL__F(OBJECT, sl_generation, noise, "noise",
	      "what disturbed the measurement", .of = &sl__table_noise),
	SL__F_ENDING(sl_generation),
};
static const char *
check_generation(const void *record)
{
	const struct sl_generation *g = record;

	return g->n_loops == 1 || (g->n_loops == 2 && !g->loops[0].has_cache)
		       ? NULL
		       : "neither one loop nor one without and one with cache";
}

SL__RECORD(sl__table_generation, "generation", sl_generation, generation_fields,
	   .check = check_generation);

/* SPDX-License-Identifier: Apache-2.0 */
/* generation_json.c - a decoding loop for programs: JSON and CSV. */
#include "base/buf.h"
#include "report/generation_narrative.h"
#include "report/generation_page.h"
#include "report/result_csv.h"
#include "report/result_json.h"
#include "report/section.h"

#include <math.h>
#include <stdio.h>

#include "base/banned.h"

static void
write_step(struct sl__json *json, const struct sl_decode_step *s)
{
	sl__json_object(json, NULL);
	if (s->nth)
		sl__json_integer(json, "token", (uint64_t)s->nth);
	else
		sl__json_absent(json, "token", "it reads the prompt");
	sl__json_integer(json, "context", (uint64_t)s->context);
	sl__json_integer(json, "computed_tokens", (uint64_t)s->n_new);
	sl__json_integer(json, "visits", s->n_visits);
	sl__json_integer(json, "passes", s->n_passes);
	sl__json_integer(json, "disturbed", s->n_disturbed);
	if (s->n_visits) {
		sl__json_time(json, "median", &s->time_ns);
		sl__json_number(json, "plan_ms", s->plan_ns / SL__NS_PER_MS);
	} else {
		sl__json_absent(json, "median_ms",
				"interrupted before it was measured");
	}
	sl__json_reading(json, "flops", s->flops);
	sl__json_end_object(json);
}

/* A time, or why it is not there. */
static void
write_time(struct sl__json *json, const char *stem, const char *key,
	   const struct sl_estimate *e, const char *absent)
{
	if (e->n)
		sl__json_time(json, stem, e);
	else
		sl__json_absent(json, key, absent);
}

static void
write_rate(struct sl__json *json, const char *key, const struct sl_estimate *e,
	   const char *absent)
{
	char bounds[64];

	snprintf(bounds, sizeof(bounds), "%s_ci95", key);
	if (!e->n) {
		sl__json_absent(json, key, absent);
	} else if (!e->needs_n && isinf(e->hi)) {
		sl__json_number(json, key, e->value);
		sl__json_absent(json, bounds, "the time's interval reaches 0");
	} else {
		sl__json_estimate(json, key, e);
	}
}

static void
write_growth(struct sl__json *json, const struct sl_decoding *d)
{
	sl__json_object(json, "growth");
	if (d->growth_absent) {
		sl__json_absent(json, "slope_ms", d->growth_absent);
	} else {
		sl__json_time(json, "slope", &d->growth_ns);
		sl__json_number(json, "middle_ms",
				d->growth_at_ns / SL__NS_PER_MS);
	}
	sl__json_end_object(json);
}

static void
write_loop(struct sl__json *json, const struct sl_generation *g,
	   const struct sl_decoding *d)
{
	const char *absent = g->n_tokens < 2 ? "no further token"
					     : "too few passes were measured";

	sl__json_object(json, NULL);
	sl__json_text(json, "name", d->name);
	sl__json_text(json, "source", d->source);
	sl__json_boolean(json, "cache", d->has_cache);
	sl__json_boolean(json, "prompt_by_token", d->is_by_token);
	sl__json_boolean(json, "complete", d->is_complete);
	write_time(json, "first_token", "first_token_ms", &d->first_ns,
		   "too few passes were measured");
	sl__json_boolean(json, "first_token_fitted", d->first_is_fitted);
	write_time(json, "further_token", "further_token_ms", &d->further_ns,
		   absent);
	write_time(json, "total", "total_ms", &d->total_ns,
		   "too few passes were measured");
	sl__json_boolean(json, "total_fitted", d->total_is_fitted);
	write_rate(json, "tokens_per_s", &d->tokens_per_s,
		   "too few passes were measured");
	write_rate(json, "steady_tokens_per_s", &d->steady_per_s, absent);
	write_growth(json, d);
	sl__json_reading(json, "flops", d->flops);
	sl__json_integer(json, "memory_bytes", d->memory_bytes);
	sl__json_number(json, "cache_bytes", d->cache_bytes);
	sl__json_number(json, "plan_ms", d->plan_ns / SL__NS_PER_MS);
	sl__json_array(json, "passes");
	for (size_t i = 0; i < d->n_steps; i++)
		write_step(json, &d->steps[i]);
	sl__json_end_array(json);
	sl__json_end_object(json);
}

static void
write_work(struct sl__json *json, const struct sl_cache_effect *c)
{
	static const char no_further[] = "no further token";

	sl__json_number(json, "repeated_share", c->repeated_share);
	sl__json_number(json, "flops_without", c->flops_without);
	sl__json_number(json, "flops_with", c->flops_with);
	sl__json_text(json, "flops_basis",
		      c->is_counted ? "counted" : "derived");
	sl__json_finite(json, "most_speedup", c->most, no_further);
	sl__json_finite(json, "most_speedup_arithmetic", c->most_arithmetic,
			no_further);
	sl__json_finite(json, "most_speedup_roofline", c->most_roofline,
			c->roofline_absent ? c->roofline_absent : no_further);
	sl__json_finite(json, "step_bytes", c->step_bytes,
			c->roofline_absent ? c->roofline_absent : no_further);
	sl__json_finite(json, "gbytes_per_s", c->bytes_per_s / 1e9,
			c->roofline_absent ? c->roofline_absent : no_further);
}

static void
write_cache(struct sl__json *json, const struct sl_cache_effect *c)
{
	const char *absent = c->measured_absent ? c->measured_absent
						: "not measured";

	sl__json_object(json, "cache");
	if (c->absent)
		sl__json_absent(json, "repeated_share", c->absent);
	else
		write_work(json, c);
	write_rate(json, "measured_speedup", &c->measured, absent);
	write_rate(json, "measured_speedup_total", &c->measured_total, absent);
	sl__json_reading(json, "bytes_per_token", c->bytes_per_token);
	sl__json_end_object(json);
}

static void
write_sentences(struct sl__json *json, const struct sl_generation *g)
{
	struct sl__narrative narrative;

	sl__narrative_init(&narrative, NULL);
	sl__generation_narrate(&narrative, g);
	sl__narrative_json(json, &narrative);
	sl__narrative_release(&narrative);
}

void
sl__generation_json(struct sl__json *json, const void *result)
{
	const struct sl_generation *g = result;

	sl__json_object(json, "model");
	sl__json_text(json, "name", g->name);
	sl__json_text(json, "source", g->source);
	sl__json_end_object(json);
	sl__json_object(json, "plan");
	sl__json_text(json, "dtype", sl_dtype_text(g->dtype));
	sl__json_integer(json, "threads", (uint64_t)g->n_threads);
	sl__json_end_object(json);
	sl__json_object(json, "generation");
	sl__json_integer(json, "batch", (uint64_t)g->batch);
	sl__json_integer(json, "prompt", (uint64_t)g->prompt);
	sl__json_integer(json, "tokens", (uint64_t)g->n_tokens);
	sl__json_integer(json, "rounds", g->n_rounds);
	sl__json_array(json, "loops");
	for (size_t i = 0; i < g->n_loops; i++)
		write_loop(json, g, &g->loops[i]);
	sl__json_end_array(json);
	write_cache(json, &g->cache);
	write_sentences(json, g);
	sl__json_end_object(json);
	sl__json_noise(json, &g->noise);
	sl__json_ending(json, g->elapsed_s, g->stopped_by, g->seed);
}

static void
add_line(struct sl_buf *out, const struct sl_decoding *d,
	 const struct sl_decode_step *s)
{
	sl__csv_text(out, d->name);
	sl__csv_text(out, d->has_cache ? "with" : "without");
	sl__csv_number(out, s->nth ? (double)s->nth : (double)NAN);
	sl__csv_number(out, (double)s->context);
	sl__csv_number(out, (double)s->n_new);
	sl__csv_number(out, (double)s->n_visits);
	sl__csv_number(out, (double)s->n_passes);
	sl__csv_number(out, s->time_ns.value / SL__NS_PER_MS);
	sl__csv_number(out, s->time_ns.lo / SL__NS_PER_MS);
	sl__csv_number(out, s->time_ns.hi / SL__NS_PER_MS);
	sl__csv_number(out, s->plan_ns / SL__NS_PER_MS);
	sl__csv_number(out, s->flops.value);
	sl__csv_end(out);
}

void
sl__generation_csv(struct sl_buf *out, const void *result)
{
	const struct sl_generation *g = result;

	sl__buf_text(out, "model,cache,token,context,computed_tokens,visits,"
			  "passes,median_ms,ci95_lo_ms,ci95_hi_ms,plan_ms,"
			  "flops\n");
	for (size_t i = 0; i < g->n_loops; i++) {
		for (size_t k = 0; k < g->loops[i].n_steps; k++)
			add_line(out, &g->loops[i], &g->loops[i].steps[k]);
	}
}

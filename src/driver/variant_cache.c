/* SPDX-License-Identifier: Apache-2.0 */
/*
 * variant_cache.c - a decoder with a cache, checked against the one without.
 *
 * Whether attention looks ahead cannot be seen from every graph.  So both run
 * over a few tokens: one at once, the other in two goes, and the scores of the
 * last token of each go must be the same but for rounding.
 *
 * A run of the one with a cache is a run for one further token.
 */
#include "base/status.h"
#include "driver/variant_rules.h"
#include "experiment/decoder.h"
#include "graph/shapes.h"
#include "transform/kv_cache.h"

#include <math.h>

#include "base/banned.h"

/* Tokens of the check: those that the cache holds, and the others. */
enum { N_PAST = 3, N_NEW = 2 };
/* Rounding of f32 in layers after layers; another result differs by as much as
 * the scores do. */
static const double tolerance = 0.01;

/* Runs n tokens after n_past; the scores of the last one are the last elements
 * of *scores. */
static enum sl_status
run_tokens(struct sl__decoder *d, struct sl_plan **plan, int64_t n_past,
	   int64_t n, struct sl__runtime_value *scores, struct sl_error *err)
{
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .algorithms = SL_ALGORITHMS_FIXED};
	struct sl_sizes sizes;
	enum sl_status rc = sl__decoder_sizes(d, n_past, n, &sizes, err);

	how.sizes = &sizes;
	sl_plan_free(*plan);
	*plan = NULL;
	if (!rc)
		rc = sl_plan_new(plan, d->graph, &how, err);
	if (!rc)
		rc = sl__decoder_set_inputs(d, *plan, n_past, err);
	if (!rc)
		rc = sl_plan_run(*plan, err);
	if (!rc)
		rc = sl__plan_output_value(*plan, 0, scores, err);
	if (!rc && d->has_cache)
		rc = sl__decoder_keep_state(d, *plan, n_past + n, err);
	return rc;
}

/* The last scores of b are those of as many tokens before the last of a; there
 * is nothing to compare where a has those of the last token only. */
static enum sl_status
compare(const struct sl__tensor *a, const struct sl__tensor *b, uint64_t before,
	struct sl_error *err)
{
	uint64_t n = a->rank ? (uint64_t)a->dims[a->rank - 1] : 1;
	double x, y, most = 0, worst = 0;

	if (before && (a->rank < 2 || a->dims[a->rank - 2] != N_PAST + N_NEW))
		return SL_OK;

	for (uint64_t i = 1; i <= n && i <= b->n_elements; i++) {
		if (!sl__tensor_doubles(a, a->n_elements - before * n - i, 1,
					&x) ||
		    !sl__tensor_doubles(b, b->n_elements - i, 1, &y))
			return sl__fail(err, SL_E_DATA,
					"its first output is no scores");
		most = fmax(most, fabs(x));
		worst = fmax(worst, isnan(y) ? HUGE_VAL : fabs(x - y));
	}
	if (worst <= tolerance * most)
		return SL_OK;
	return sl__fail(err, SL_E_DATA,
			"a cache would change its scores: tokens see later "
			"ones, or something else depends on the whole text");
}

/* The same tokens for both: they follow from the seed and their places. */
static enum sl_status
check(const struct sl_graph *whole, const struct sl_graph *cached,
      struct sl__variant_build *b, struct sl_error *err)
{
	struct sl__decoder one, two = {0};
	struct sl_plan *plan = NULL, *other = NULL;
	struct sl__runtime_value scores, again;
	enum sl_status rc =
		sl__decoder_open(&one, whole, 0, b->how.seed, b->arena, err);

	if (!rc)
		rc = sl__decoder_open(&two, cached, 0, b->how.seed, b->arena,
				      err);
	if (!rc)
		rc = run_tokens(&one, &plan, 0, N_PAST + N_NEW, &scores, err);
	if (!rc)
		rc = run_tokens(&two, &other, 0, N_PAST, &again, err);
	if (!rc)
		rc = compare(&scores.tensor, &again.tensor, N_NEW, err);
	if (!rc)
		rc = run_tokens(&two, &other, N_PAST, N_NEW, &again, err);
	if (!rc)
		rc = compare(&scores.tensor, &again.tensor, 0, err);
	sl_plan_free(plan);
	sl_plan_free(other);
	sl__decoder_close(&one);
	sl__decoder_close(&two);
	return rc;
}

/* Where the whole model runs n tokens, the one with a cache runs the last of
 * them; sizes that are not known yet are left to whoever runs it. */
static enum sl_status
shrink_to_step(struct sl__variant_build *b, const struct sl_graph *whole,
	       struct sl_error *err)
{
	const struct sl__shapes_options how = {.sizes = &b->out->sizes,
					       .free_sizes = SL__UNBOUND_KEEP,
					       .allocator = b->how.allocator};
	struct sl__decoder one, step = {0};
	struct sl__shapes *shapes = NULL;
	const struct sl__type *tokens;
	enum sl_status rc =
		sl__decoder_open(&one, whole, 0, b->how.seed, b->arena, err);

	if (!rc)
		rc = sl__shapes_new(&shapes, whole, &how, err);
	if (!rc) {
		tokens = &shapes->types[one.inputs[one.tokens].value];
		if (tokens->dims[0] > 0 && tokens->dims[tokens->rank - 1] > 1) {
			rc = sl__decoder_open(&step, b->graph,
					      tokens->rank > 1 ? tokens->dims[0]
							       : 0,
					      b->how.seed, b->arena, err);
			if (!rc)
				rc = sl__decoder_sizes(
					&step,
					tokens->dims[tokens->rank - 1] - 1, 1,
					&b->out->sizes, err);
		}
	}
	sl__shapes_free(shapes);
	sl__decoder_close(&one);
	sl__decoder_close(&step);
	return rc;
}

enum sl_status
sl__variant_kv_cache(struct sl__variant_build *b, const char *value,
		     struct sl_error *err)
{
	const struct sl_graph *whole = b->graph;
	struct sl_graph *cached;
	enum sl_status rc =
		sl__kv_cache(&cached, &b->change->n_layers, whole, err);

	(void)value;
	if (rc)
		return rc;
	sl__variant_take_graph(b, cached);
	b->change->text = sl__arena_format(b->arena,
					   "%zu attentions keep the keys and "
					   "values of tokens; a run is one "
					   "further token",
					   b->change->n_layers);
	if (!b->change->text)
		return sl__fail_nomem(err);
	rc = check(whole, cached, b, err);
	return rc ? rc : shrink_to_step(b, whole, err);
}

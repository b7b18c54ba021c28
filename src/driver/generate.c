/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generate.c - the loop in which a decoder makes tokens, measured with and
 * without a cache of keys and values.
 */
#include "analysis/generation.h"
#include "base/clock.h"
#include "base/reading.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "base/thread.h"
#include "experiment/decode_loop.h"
#include "machine/ceiling_probes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

enum {
	LOOPS_MOST = 2,
	USUAL_PROMPT = 32,
	USUAL_TIME_S = 20,
	TOKENS_MOST = 1000000,
	N_PROBE_RUNS = 6 /* before the loops, and as often after */
};

struct generator {
	struct sl_generate_options how; /* defaults filled in */
	struct sl_plan_options plan;
	struct sl_sizes sizes;   /* that it names */
	struct sl__arena *arena; /* of the result */
	struct sl__arena scratch;
	struct sl_generation *out;
	struct sl_decoding *decodings;
	struct sl__decode_loop loops[LOOPS_MOST]; /* without cache first */
	struct sl__decode_flops_growth work[LOOPS_MOST];
	size_t n_loops;
	struct sl_reading once_bytes, bytes_per_token;
	struct sl__ceiling_probes *probes; /* NULL: no ceilings */
	uint64_t start_ns;
};

static enum sl_status
check_numbers(const struct sl_generate_options *how, struct sl_error *err)
{
	if (how->n_tokens < 1 || how->n_tokens > TOKENS_MOST ||
	    how->prompt < 1 || how->prompt > TOKENS_MOST)
		return sl__fail(err, SL_E_USAGE,
				"1 to %d tokens are generated, from a prompt "
				"of as many",
				TOKENS_MOST);
	if (!(how->time_s > 0) || how->time_s > 1e6)
		return sl__fail(err, SL_E_USAGE,
				"time of %g s: must be above 0, at most 1e6",
				how->time_s);
	if (how->n_rounds > SL__LOOP_ROUNDS_MOST)
		return sl__fail(err, SL_E_USAGE, "at most %d rounds, not %zu",
				SL__LOOP_ROUNDS_MOST, how->n_rounds);
	return SL_OK;
}

static enum sl_status
take_options(struct generator *g, const struct sl_generate_options *options,
	     struct sl_error *err)
{
	enum sl_status rc = sl__options_copy(&g->how, sizeof(g->how), options,
					     "sl_generate_options", err);

	if (!rc)
		rc = sl__options_copy(&g->plan, sizeof(g->plan), g->how.plan,
				      "sl_plan_options", err);
	if (!rc)
		rc = sl__sizes_copy(&g->sizes, &g->plan.sizes, err);
	if (rc)
		return rc;
	if (!g->how.prompt)
		g->how.prompt = USUAL_PROMPT;
	if (g->how.time_s == 0)
		g->how.time_s = USUAL_TIME_S;
	if (!g->how.seed)
		g->how.seed = 1;
	if (g->how.interrupt)
		g->plan.interrupt = g->how.interrupt;
	return check_numbers(&g->how, err);
}

static enum sl_status
open_loop(struct generator *g, const struct sl_graph *graph,
	  struct sl_error *err)
{
	const struct sl_sizes *sizes = g->plan.sizes;
	struct sl__decode_loop *loop = &g->loops[g->n_loops++];

	return sl__decoder_open(&loop->decoder, graph, sizes ? sizes->batch : 0,
				g->how.seed, &g->scratch, err);
}

static enum sl_status
open_loops(struct generator *g, const struct sl_graph *graph,
	   struct sl_error *err)
{
	const struct sl_graph *cached = g->how.cached;
	enum sl_status rc = open_loop(g, graph, err);

	if (!rc && cached)
		rc = sl__error_prefix(err, open_loop(g, cached, err),
				      cached->name);
	if (rc || !cached)
		return rc;
	if (g->loops[0].decoder.has_cache == g->loops[1].decoder.has_cache)
		return sl__fail(err, SL_E_USAGE,
				"of two models that generate, one has a cache "
				"and one has none; these both have %s",
				g->loops[0].decoder.has_cache ? "one" : "none");
	if (g->loops[0].decoder.has_cache) {
		struct sl__decode_loop swap = g->loops[0];

		g->loops[0] = g->loops[1];
		g->loops[1] = swap;
	}
	return SL_OK;
}

/* The step of a loop at a context, as sizes. */
static enum sl_status
sizes_at(struct sl__decode_loop *loop, int64_t context, struct sl_sizes *sizes,
	 struct sl_error *err)
{
	int64_t n_past = loop->decoder.has_cache ? context - 1 : 0;

	return sl__decoder_sizes(&loop->decoder, n_past, context - n_past,
				 sizes, err);
}

/* Costs that are not known leave FLOPs out; nothing else fails for it. */
static enum sl_status
count_at(struct generator *g, struct sl__decode_loop *loop,
	 const struct sl_sizes *sizes, double *flops, const char **absent)
{
	struct sl_counts counts;
	struct sl_error why;

	*flops = (double)NAN;
	if (sl_count_flops(&counts, loop->decoder.graph, sizes, &why)) {
		*absent = sl__arena_string(g->arena, why.text);
		return *absent ? SL_OK : SL_E_NOMEM;
	}
	*flops = (double)counts.flops;
	return SL_OK;
}

static enum sl_status
count_loop(struct generator *g, size_t i, struct sl_error *err)
{
	struct sl__decode_loop *loop = &g->loops[i];
	struct sl__decode_flops_growth *work = &g->work[i];
	int64_t first = g->how.prompt + 1;
	double flops[4];
	struct sl_sizes sizes;
	enum sl_status rc = SL_OK;

	work->prompt = (double)NAN;
	for (int k = 0; !rc && !work->absent && k < 4; k++) {
		rc = sizes_at(loop, first + k, &sizes, err);
		if (!rc && count_at(g, loop, &sizes, &flops[k], &work->absent))
			rc = sl__fail_nomem(err);
	}
	if (rc || work->absent)
		return rc;
	if (!sl__work_law_fit(&work->law, flops, first))
		work->absent = "FLOPs are no polynomial in the context";
	if (!loop->decoder.has_cache ||
	    !sl__decoder_takes_whole_prompt(&loop->decoder))
		return SL_OK;
	rc = sl__decoder_sizes(&loop->decoder, 0, g->how.prompt, &sizes, err);
	if (!rc && count_at(g, loop, &sizes, &work->prompt, &work->absent))
		rc = sl__fail_nomem(err);
	return rc;
}

static enum sl_status
inspect_at(struct generator *g, struct sl__decode_loop *loop, int64_t context,
	   struct sl_inspection **out, struct sl_error *err)
{
	struct sl_sizes sizes;
	struct sl_inspect_options how = {
		.struct_size = sizeof(how),
		.brief = 1,
		.sizes = &sizes,
		.allocator = g->how.allocator,
	};
	enum sl_status rc = sizes_at(loop, context, &sizes, err);
	char where[64];

	if (!rc)
		rc = sl_inspect(out, loop->decoder.graph, &how, err);
	(void)snprintf(where, sizeof(where), "with %lld tokens",
		       (long long)context);
	(void)sl__error_prefix(err, rc, where);
	return rc;
}

/* A token that sees those after it cannot be made before them. */
static enum sl_status
check_decoder(struct generator *g, struct sl__decode_loop *loop,
	      struct sl_error *err)
{
	struct sl_inspection *found;
	struct sl_reading kv;
	enum sl_status rc = inspect_at(g, loop, g->how.prompt, &found, err);

	if (rc)
		return rc;
	kv = found->memory.kv_bytes_per_token;
	if (kv.absent && !loop->decoder.has_cache)
		rc = sl__fail(err, SL_E_USAGE, "it is no decoder: %s",
			      kv.absent);
	g->bytes_per_token = kv;
	if (kv.absent)
		g->bytes_per_token =
			sl__present(sl__decoder_state_bytes(&loop->decoder, 1) /
				    (double)loop->decoder.batch);
	sl_inspection_free(found);
	return rc;
}

/* What a step of one token reads and writes, keys and values left out: there
 * are none yet. */
static enum sl_status
find_once_bytes(struct generator *g, struct sl_error *err)
{
	struct sl_inspection *found;
	struct sl_error why;
	const char *text;

	g->once_bytes = sl__absent("nothing was run without a cache");
	if (g->loops[0].decoder.has_cache)
		return SL_OK;
	if (!inspect_at(g, &g->loops[0], 1, &found, &why)) {
		g->once_bytes = sl__present((double)found->memory.once_bytes);
		sl_inspection_free(found);
		return SL_OK;
	}
	text = sl__arena_string(g->arena, why.text);
	g->once_bytes = sl__absent(text);
	return text ? SL_OK : sl__fail_nomem(err);
}

static enum sl_status
look_at(struct generator *g, const struct sl_graph *graph, struct sl_error *err)
{
	enum sl_status rc = open_loops(g, graph, err);

	for (size_t i = g->n_loops; !rc && i > 0; i--)
		rc = check_decoder(g, &g->loops[i - 1], err);
	for (size_t i = 0; !rc && i < g->n_loops; i++)
		rc = count_loop(g, i, err);
	return rc ? rc : find_once_bytes(g, err);
}

/* A machine that cannot be probed has no ceilings, and says why. */
static enum sl_status
open_background(struct generator *g, struct sl_error *err)
{
	struct sl__ceiling_probes_options how = {
		.dtype = g->plan.dtype == SL_DTYPE_NONE ? SL_DTYPE_F32
							: g->plan.dtype,
		.n_threads = g->plan.n_threads > 0 ? (size_t)g->plan.n_threads
						   : sl__thread_n_cpus(),
		.allocator = g->how.allocator,
	};
	const char **absent = &g->out->ceilings.absent;
	struct sl_error why;

	if (g->how.flags & SL_PROFILE_NO_CEILINGS) {
		*absent = "not asked for";
		return SL_OK;
	}
	if (!sl__ceiling_probes_open(&g->probes, &how, &why))
		return SL_OK;
	return sl__arena_copy_text(g->arena, absent, why.text, err);
}

static void
probe_background(struct generator *g)
{
	for (int i = 0; g->probes && i < N_PROBE_RUNS; i++) {
		if (!g->how.interrupt || !*g->how.interrupt)
			sl__ceiling_probes_run(g->probes);
	}
}

static enum sl_status
measure(struct generator *g, struct sl_error *err)
{
	struct sl__decode_loop_options how = {
		.plan = g->plan,
		.prompt = g->how.prompt,
		.n_tokens = g->how.n_tokens,
		.time_s = g->how.time_s,
		.n_rounds = g->how.n_rounds,
		.n_positions = g->how.n_positions,
		.seed = g->how.seed,
		.control = {.interrupt = g->how.interrupt,
			    .progress = g->how.progress,
			    .progress_ctx = g->how.progress_ctx},
	};
	struct sl__decode_loop_outcome outcome;
	enum sl_status rc;

	probe_background(g);
	rc = sl__decode_loops_measure(g->loops, g->n_loops, &how, &g->scratch,
				      &outcome, err);
	if (rc)
		return rc;
	probe_background(g);
	if (g->probes)
		sl__ceiling_probes_ceilings(g->probes, &g->out->ceilings);
	g->out->n_rounds = outcome.n_rounds;
	g->out->noise = outcome.noise;
	g->out->stopped_by = outcome.stopped_by;
	return SL_OK;
}

static enum sl_status
settle_loops(struct generator *g, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	g->decodings =
		sl__arena_array(g->arena, g->n_loops, sizeof(*g->decodings));
	if (!g->decodings)
		return sl__fail_nomem(err);
	for (size_t i = 0; !rc && i < g->n_loops; i++) {
		struct sl_decoding *d = &g->decodings[i];
		const struct sl_graph *graph = g->loops[i].decoder.graph;

		d->name = sl__arena_string(g->arena, graph->name);
		d->source = sl__arena_string(g->arena, graph->source);
		if (!d->name || !d->source)
			return sl__fail_nomem(err);
		rc = sl__decoding_summarize(
			d, sl__decode_loop_measurements(&g->loops[i]),
			g->how.prompt, g->how.n_tokens, g->arena, err);
		if (!rc)
			sl__decoding_count_flops(d, &g->work[i], g->how.prompt,
						 g->how.n_tokens);
	}
	g->out->loops = g->decodings;
	g->out->n_loops = g->n_loops;
	return rc;
}

static void
settle_cache(struct generator *g)
{
	size_t with = g->n_loops - 1;
	int has_both = g->n_loops == 2;
	int has_without = !g->decodings[0].has_cache;
	struct sl__kv_cache_effect_sources s = {
		.without = has_without ? &g->decodings[0] : NULL,
		.work_without = has_without ? &g->work[0] : NULL,
		.with = has_both ? &g->decodings[with] : NULL,
		.work_with = has_both ? &g->work[with] : NULL,
		.ceilings = &g->out->ceilings,
		.dtype = g->out->dtype,
		.batch = g->out->batch,
		.prompt = g->how.prompt,
		.n_tokens = g->how.n_tokens,
		.once_bytes = g->once_bytes,
		.bytes_per_token = g->bytes_per_token,
	};

	sl__kv_cache_effect_of(&g->out->cache, &s);
}

static enum sl_status
generate(struct generator *g, const struct sl_graph *graph,
	 struct sl_error *err)
{
	struct sl_generation *out = g->out;
	enum sl_status rc = look_at(g, graph, err);

	out->name = sl__arena_string(g->arena, graph->name);
	out->source = sl__arena_string(g->arena, graph->source);
	if (!rc && (!out->name || !out->source))
		rc = sl__fail_nomem(err);
	if (!rc)
		rc = open_background(g, err);
	if (!rc)
		rc = measure(g, err);
	if (rc)
		return rc;
	out->batch = g->loops[0].decoder.batch;
	out->prompt = g->how.prompt;
	out->n_tokens = g->how.n_tokens;
	out->dtype = g->loops[0].raw.dtype;
	out->n_threads = g->loops[0].raw.n_threads;
	out->seed = g->how.seed;
	rc = settle_loops(g, err);
	if (rc)
		return rc;
	settle_cache(g);
	out->elapsed_s = (double)(sl__clock_now_ns(NULL) - g->start_ns) / 1e9;
	return SL_OK;
}

enum sl_status
sl_generate(struct sl_generation **out, const struct sl_graph *graph,
	    const struct sl_generate_options *options, struct sl_error *err)
{
	struct generator g = {.n_loops = 0};
	enum sl_status rc;

	*out = NULL;
	rc = take_options(&g, options, err);
	if (rc)
		return rc;
	g.start_ns = sl__clock_now_ns(NULL);
	g.out = sl__arena_object_new(&g.arena, g.how.allocator, sizeof(*g.out));
	if (!g.out)
		return sl__fail_nomem(err);
	sl__arena_init(&g.scratch, g.how.allocator);
	rc = generate(&g, graph, err);
	sl__ceiling_probes_close(g.probes);
	for (size_t i = 0; i < g.n_loops; i++)
		sl__decoder_close(&g.loops[i].decoder);
	sl__arena_release(&g.scratch);
	*out = sl__arena_object_free_on_error(g.out, rc);
	return rc;
}

void
sl_generation_free(struct sl_generation *generation)
{
	sl__arena_object_free(generation);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* generating.h - decoders that make one token after another, measured. */
#ifndef SLEUTH_GENERATING_H
#define SLEUTH_GENERATING_H

#include "sleuth/profiling.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A step of the decoding loop that was measured.  Without a cache it computes
 * the whole context again; with one, the newest token.  Times are of the step
 * alone: planning for its sizes is apart, and so is handing the states on.
 */
struct sl_decode_step {
	int64_t nth;     /* token that it yields, from 1; 0: it reads a token
			    of the prompt, and yields none */
	int64_t context; /* tokens that it attends to, its own included */
	int64_t n_new;   /* of these, computed in it */
	size_t n_visits, n_iterations;
	size_t n_disturbed; /* of n_visits: others used more than 15 % of the
			       CPUs meanwhile */

	/* The median of the visits' medians.  The interval is Student's over
	 * visits, on logarithms; of less than three it spans their own. */
	struct sl_estimate time_ns;
	double plan_ns; /* making the plan, the longest time; NaN: no visit */
	struct sl_reading flops; /* of the whole batch, counted */
};

/*
 * The loop in one way: the model computes all tokens in every step, or keeps
 * keys and values.  A figure is fitted where not every step was measured: by
 * a line in the context through the steps that were, with its interval.
 */
struct sl_decoding {
	const char *name, *source;
	int has_cache;
	int is_by_token; /* the prompt goes in one token at a time: the model
			    takes no more */
	struct sl_decode_step *steps; /* ascending by context */
	size_t n_steps;
	size_t n_missed; /* of these, not measured: interrupted */
	int is_complete; /* every step of the loop was measured */

	struct sl_estimate first_ns; /* to the first token; n 0: not known */
	int first_is_fitted;
	struct sl_estimate further_ns;   /* mean of each further token; n 0: not
					  known, or no further token */
	struct sl_estimate total_ns;     /* the whole loop; n 0 */
	int total_is_fitted;             /* and so is further_ns */
	struct sl_estimate tokens_per_s; /* whole loop, whole batch */
	struct sl_estimate steady_per_s; /* further tokens alone */

	struct sl_estimate growth_ns; /* of a step, by one more token of
					 context: slope of the line; n 0 */
	double growth_at_ns;          /* the line in the middle of the loop */
	const char *growth_absent;    /* why there is no line; NULL */

	struct sl_reading flops; /* of the whole loop */
	uint64_t memory_bytes;   /* block for activations and weights, with the
				    longest context that was measured; 0 */
	double cache_bytes;      /* of that, states at the end, as handed in;
				    whole batch */
	double plan_ns;          /* all plans that were made */
};

/* What a cache does, or would do. */
struct sl_cache_effect {
	const char *absent; /* why there is no telling: nothing was run
			       without a cache; NULL */
	/* Of the arithmetic of the loop without cache, what the step before
	 * had done already. */
	double repeated_share;
	double flops_without, flops_with; /* whole loop */
	int is_counted; /* flops_with are the cached model's own; else from how the
			   model's grow */

	/* Of each further token: how many times faster it can be at most. */
	double most_arithmetic; /* were FLOP/s the same as without cache */
	double most_roofline;   /* measured time / the least that this machine
				   needs; NaN: no ceilings */
	double most;            /* the smaller one; NaN: one token alone */
	double step_bytes;      /* that a step with cache reads at least */
	double bytes_per_s;     /* at which the roofline lets it; NaN */
	const char *roofline_absent; /* why there is none; NULL */

	struct sl_estimate measured;       /* of each further token; n 0: not
					measured */
	struct sl_estimate measured_total; /* of the whole loop; n 0 */
	const char *measured_absent;       /* why; NULL */

	struct sl_reading bytes_per_token; /* memory, of each sample */
};

/* Owns all it points to; graphs and options may go before it. */
struct sl_generation {
	const char *name, *source; /* of the model that was asked for */
	int64_t batch, prompt, n_tokens;
	enum sl_dtype dtype;
	int n_threads;
	uint64_t seed;
	size_t n_rounds; /* in which every step was visited */
	struct sl_noise noise;
	double elapsed_s;
	enum sl_stop stopped_by;         /* RUNS, TIME or INTERRUPT */
	const struct sl_decoding *loops; /* without cache first */
	size_t n_loops;
	struct sl_cache_effect cache;
	struct sl_ceilings ceilings;
};

struct sl_generate_options {
	size_t struct_size;
	const struct sl_plan_options *plan; /* of its sizes, the batch counts;
					       NULL: defaults */
	const struct sl_graph *cached;      /* the same model with a cache where
					'graph' has none, or without; NULL */
	int64_t prompt;                     /* tokens; default 32 */
	int64_t n_tokens; /* to be generated, 1 to 1,000,000 */
	double time_s;   /* for all of it, planning included; default 20.  Every
			  step that is measured at all is visited once, however
			  long it takes */
	size_t n_rounds; /* a fixed number, in place of time */
	size_t n_positions; /* tokens at which to measure, at most; 0: as the
			       time allows */
	uint64_t seed;      /* of tokens, states and the order; 0: 1 */
	unsigned flags;     /* enum sl_profile_flags, NO_CEILINGS alone
			       counts */
	void (*progress)(const struct sl_progress *now, void *ctx);
	void *progress_ctx;
	const volatile sig_atomic_t *interrupt;
	const struct sl_allocator *allocator;
};
#define SL_GENERATE_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_generate_options)

/*
 * Measures the loop in which a decoder makes n_tokens, one after another, from
 * a prompt: without cache where the model takes all tokens every time, with one
 * where it takes keys and values as inputs and hands them back longer by its
 * own.  SL_E_USAGE for a model that is no decoder, with the reason, for a
 * cached model that is not the same decoder, and options that make no sense;
 * SL_E_DATA for an input that is none of tokens, positions, a mask or a state;
 * SL_E_INTERRUPTED before the first step was measured; else fails as sl_run()
 * does.  Measures the whole process: one at a time.
 */
SL_API enum sl_status sl_generate(struct sl_generation **out,
				  const struct sl_graph *graph,
				  const struct sl_generate_options *options,
				  struct sl_error *err) SL_CHECKED;
SL_API void sl_generation_free(struct sl_generation *g); /* NULL is fine */

/* TEXT, JSON, CSV, MARKDOWN. */
SL_API enum sl_status sl_generation_render(const struct sl_generation *g,
					   const struct sl_render_options *how,
					   struct sl_buf *out,
					   struct sl_error *err) SL_CHECKED;

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* optimizing.h - what changes of a model are worth. */
#ifndef SLEUTH_OPTIMIZING_H
#define SLEUTH_OPTIMIZING_H

#include "sleuth/comparing.h"
#include "sleuth/evaluating.h"
#include "sleuth/machines.h"
#include "sleuth/profiling.h"
#include "sleuth/rendering.h"
#include "sleuth/variants.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the recommended variant has the best of. */
enum sl_objective {
	SL_OBJECTIVE_LATENCY = 0,
	SL_OBJECTIVE_MEMORY,
	SL_OBJECTIVE_ACCURACY,
	SL_OBJECTIVE_SIZE
};
enum { SL_N_OBJECTIVES = SL_OBJECTIVE_SIZE + 1 };

/* "latency", "memory", "accuracy", "size"; never NULL. */
SL_API const char *sl_objective_text(enum sl_objective objective);

/* What a variant may take at most, by objective: nanoseconds of an iteration
 * and bytes; of accuracy the least share.  0: no limit. */
struct sl_variant_limits {
	double of[SL_N_OBJECTIVES];
};

struct sl_optimize_options {
	size_t struct_size;
	const struct sl_variant_options *variant; /* how variants are made and
						     run; NULL: defaults */
	const char *apply; /* changes of the one variant that is made and not
			      measured, as sl_variant_new() takes them; NULL:
			      variants are measured */
	const char *onnx;  /* file that the variant, or the recommended one, is
			      written to; NULL: none */
	const char *const *candidates; /* changes of each variant to measure,
					  SL_MODEL_ARMS_MAX - 1 at most; NULL:
					  the model is profiled first, and
					  those that suit what bounds it are
					  measured */
	size_t n_candidates;
	enum sl_objective objective;
	struct sl_variant_limits limits;
	double accuracy_drop; /* that the recommended variant may have, as a
				 share; default 0.005.  Given, it is also that
				 of 'variant': layers of int8 are chosen by it
				 */
	double time_s;        /* for measuring times; default 20.  The profile
				 takes an eighth of it on top, 2.5 s at most */
	const struct sl_machine *machine; /* whose peaks a speedup must not
					     exceed; NULL: not checked */
};
#define SL_OPTIMIZE_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_optimize_options)

/* Why a variant is measured. */
enum sl_variant_reason {
	SL_VARIANT_ASKED = 0, /* for by the caller; the baseline, too */
	SL_VARIANT_USUAL,     /* the model allows it, and nothing is known of
				 what bounds the model */
	SL_VARIANT_VERDICT,   /* it acts on what bounds the model */
	SL_VARIANT_ADVICE,    /* the model's profile advises it */
	SL_VARIANT_LEFT_OUT   /* it is not: it acts on something else */
};
enum { SL_N_VARIANT_REASONS = SL_VARIANT_LEFT_OUT + 1 };

/* "asked", "usual", "verdict", "advice", "left out"; never NULL. */
SL_API const char *sl_variant_reason_text(enum sl_variant_reason reason);

/* One variant; what was not measured has n 0 or is NaN. */
struct sl_variant_result {
	const char *name; /* its changes, or "baseline" */
	const struct sl_variant_change *changes;
	size_t n_changes;
	const char *refused; /* why it could not be made or run; NULL */
	enum sl_variant_reason reason;
	double promised;       /* the most that the profile says it gains, as
				     a speed-up; NaN: it does not say */
	int is_promise_broken; /* all of the interval is beyond that */

	int64_t batch;
	struct sl_estimate time_ns; /* median of an iteration */
	struct sl_estimate ratio;   /* to the baseline's, per sample */
	enum sl_verdict verdict;    /* of that */
	double most_speedup;   /* that fewer operations, faster arithmetic and
				fewer bytes explain, and half as much again; NaN
				where no peaks are known or the number of
				threads is another */
	int is_implausible;    /* faster than that, or than the peak allows: one
				of the two does not do the same work */
	uint64_t memory_bytes; /* planned and weights; 0: not planned */
	uint64_t size_bytes;   /* of the model as an ONNX file, with its weights
			      */
	uint64_t executed_flops; /* of an iteration */

	struct sl_estimate accuracy;
	enum sl_accuracy_kind accuracy_kind;
	const char *accuracy_absent;              /* why there is none; NULL */
	struct sl_accuracy_difference difference; /* to the baseline's; none of
						     an agreement */
	double output_error; /* of the first output, over its root mean square;
				NaN where data has labels */

	int is_pareto;    /* no other is as good in every respect and better in
			    one; times that are not proved to differ from the
			    baseline's count as the same */
	int is_within;    /* the limits */
	int is_accurate;  /* loses no more than it may */
	const char *file; /* that it was written to; NULL: none */
};

/* Owns all it points to; graph, data set and options may go before it. */
struct sl_optimization {
	const char *name, *source; /* of the model */
	const char *data;          /* of the data set; NULL: synthetic inputs */
	const struct sl_variant_result *variants; /* the first is the baseline
						   */
	size_t n_variants;
	int is_applied; /* one variant was made, nothing measured */
	/* What bounds the model as it is, by a profile that chose what to try;
	 * NOT_ASKED: the caller chose. */
	enum sl_bottleneck bottleneck;
	enum sl_bound cause;         /* that makes most of it */
	double confidence;           /* of that; NaN: not asked */
	const char *const *left_out; /* changes that act on something else */
	size_t n_left_out;
	enum sl_objective objective;
	struct sl_variant_limits limits;
	double accuracy_drop;
	size_t recommended; /* of the variants; SIZE_MAX: none is within the
			       limits */
	size_t closest;     /* to the limits, then; SIZE_MAX: none */
	size_t n_rounds;
	struct sl_noise noise;
	double elapsed_s; /* measuring times */
	enum sl_stop stopped_by;
	uint64_t seed;
};

/*
 * Profiles the model to choose what to try, unless candidates are given.  Then
 * makes variants, measures the model and all of them in rounds in random order,
 * and compares their accuracy: on the test split of the data set, over the same
 * samples; without data, the agreement with the model on synthetic inputs.
 * Among those that are within the limits and lose no more accuracy than they
 * may, the best by the objective is recommended; the model as it is where no
 * gain is proved.  A candidate that was not asked for and cannot be made is
 * listed with the reason.  When interrupted, what is known so far is the
 * result.
 *
 * With 'apply' the variant is made and written, and nothing measured.
 * SL_E_USAGE where there is a file to write and no change is to the model
 * itself; otherwise fails as sl_variant_new(), sl_evaluate(),
 * sl_compare_models() and sl_graph_write() do.  Measures the whole process: one
 * at a time.
 */
SL_API enum sl_status sl_optimize(struct sl_optimization **out,
				  const struct sl_graph *graph,
				  const struct sl_optimize_options *options,
				  struct sl_error *err) SL_CHECKED;
SL_API void sl_optimization_free(struct sl_optimization *o); /* NULL is fine */

/* TEXT, JSON, CSV, MARKDOWN, HTML, SVG. */
SL_API enum sl_status
sl_optimization_render(const struct sl_optimization *o,
		       const struct sl_render_options *how, struct sl_buf *out,
		       struct sl_error *err) SL_CHECKED;

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* gating.h - a result against results before it, within limits. */
#ifndef SLEUTH_GATING_H
#define SLEUTH_GATING_H

#include "sleuth/comparing.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What may have become worse. */
enum sl_gate_metric {
	SL_GATE_TIME = 0, /* median latency */
	SL_GATE_MEMORY,   /* planned and parameters, or the peak of a command */
	SL_GATE_FLOPS,
	SL_GATE_SIZE,    /* bytes of the stored parameters */
	SL_GATE_ACCURACY /* worse when it is lower; the limit is a difference */
};
enum { SL_N_GATE_METRICS = SL_GATE_ACCURACY + 1 };

/* "time", "memory", "flops", "size" or "accuracy"; never NULL. */
SL_API const char *sl_gate_metric_text(enum sl_gate_metric metric);

struct sl_gate_limit {
	enum sl_gate_metric metric;
	double share;      /* by which it may be worse, 0.01 for 1 % */
	const char *layer; /* whose TIME is limited, in a comparison of models;
			      NULL: the whole model */
};

/* One figure of one model or command. */
struct sl_gate_row {
	enum sl_gate_metric metric;
	const char *name, *settings; /* settings NULL: none */
	const char *layer;           /* NULL: all of it */
	double limit;
	double before, now;       /* in ns, bytes, FLOPs or a share; NaN where
				     'invalid' says why */
	struct sl_estimate ratio; /* now / before; of accuracy now - before.
				     Its interval is exact for all but time */
	enum sl_gate verdict;
	const char *invalid; /* why there is nothing to judge; NULL */
};

struct sl_gate_check {
	size_t n_baselines; /* results that stand for the baseline */
	const struct sl_gate_row *rows;
	size_t n_rows;
	enum sl_gate verdict; /* of all: regressed before undecided */
	int is_invalid;       /* a row is, or there is none */
	int is_fresh;     /* both sides were measured now, in the same rounds */
	int is_disturbed; /* so often that times within their limit are
			     undecided */
};

struct sl_gate_options {
	size_t struct_size;
	const struct sl_buf *now;       /* the document of the result */
	const struct sl_buf *baselines; /* of its baseline, the newest last */
	size_t n_baselines;             /* at least 1 */
	const struct sl_gate_limit *limits; /* default: time 2 %, and memory,
					       FLOPs and size 0 %, as far as
					       they are there */
	size_t n_limits;
};
#define SL_GATE_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_gate_options)

/*
 * Judges the document of a result by those of its baseline.  Figures of the
 * same model and settings are compared.  With five baselines or more, the
 * interval of the ratio of times is Student's prediction interval, which covers
 * how results differ from run to run; with fewer it covers what happened within
 * each run only.  A limit on a figure that either side lacks is invalid.
 */
SL_API enum sl_status sl_gate_documents(struct sl_gate_check **out,
					const struct sl_gate_options *options,
					struct sl_error *err) SL_CHECKED;

/*
 * Judges side 1 of a fresh comparison by side 0, which is the baseline, models
 * or commands that ran in the same rounds.  The limit of the whole time is the
 * comparison's margin, whatever 'share' says.  Where most slots were disturbed,
 * a time within its limit is undecided.  SL_E_USAGE without two sides.
 */
SL_API enum sl_status
sl_gate_models(struct sl_gate_check **out,
	       const struct sl_model_comparison *comparison,
	       const struct sl_gate_limit *limits, size_t n_limits,
	       struct sl_error *err) SL_CHECKED;
SL_API enum sl_status sl_gate_commands(struct sl_gate_check **out,
				       const struct sl_bench *bench,
				       const struct sl_gate_limit *limits,
				       size_t n_limits,
				       struct sl_error *err) SL_CHECKED;
SL_API void sl_gate_check_free(struct sl_gate_check *check);
SL_API enum sl_status sl_gate_check_render(const struct sl_gate_check *check,
					   const struct sl_render_options *how,
					   struct sl_buf *out,
					   struct sl_error *err) SL_CHECKED;

#ifdef __cplusplus
}
#endif

#endif

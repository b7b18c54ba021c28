/* SPDX-License-Identifier: Apache-2.0 */
/* sweeping.h - models measured over a range of sizes: what grows how. */
#ifndef SLEUTH_SWEEPING_H
#define SLEUTH_SWEEPING_H

#include "sleuth/profiling.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What changes from point to point. */
enum sl_axis {
	SL_AXIS_BATCH = 0,
	SL_AXIS_SEQ,
	SL_AXIS_THREADS,
	SL_AXIS_WIDTH /* sizes of layers, of built-in families that have them */
};
enum { SL_N_AXES = SL_AXIS_WIDTH + 1 };

/* "batch", "seq", "threads", "width". */
SL_API const char *sl_axis_text(enum sl_axis axis);

enum { SL_SWEEP_VALUES_MOST = 64 };

/* Ascending, each once. */
struct sl_sweep_values {
	int64_t values[SL_SWEEP_VALUES_MOST];
	size_t n;
};

/*
 * Reads what a user writes for an axis: "1..64" doubles from 1 and ends with
 * 64, "64..512:64" goes in steps of 64, "1,3,8" is a list, and "1,2,8..64"
 * all of it.  "N" for a number of threads is the CPUs this process may use.
 * SL_E_USAGE with the reason for words that are none of these, more than
 * SL_SWEEP_VALUES_MOST values, and more threads than there are CPUs.
 */
SL_API enum sl_status sl_sweep_read(struct sl_sweep_values *out,
				    enum sl_axis axis, const char *text,
				    struct sl_error *err) SL_CHECKED;

/*
 * One size of one model.  Every point is visited several times, all points in
 * a new random order each time, so that a machine that slows down meanwhile
 * does not look like growth.
 */
struct sl_sweep_point {
	int64_t value;
	const char *absent; /* why it was not measured; NULL.  All below is
			       NaN or 0 then */
	const char *note;   /* why it was visited less often; NULL */
	size_t n_visits;
	size_t n_iterations; /* of these visits; not of any that a repeat
			       replaced */
	size_t n_repeated;   /* visits made again, having been disturbed */
	size_t n_disturbed;  /* of n_visits: others used more than 15 % of the
			       CPUs, or it waited for one as long */
	double plan_ns;      /* making the plan, the longest time */

	/* Of an iteration.  The median of the visits' medians.  The interval is
	 * Student's over visits, on logarithms, or what the visits' own
	 * intervals, of those that have one, leave when that is wider; of
	 * less than three visits it spans their intervals. */
	struct sl_estimate latency_ns;
	struct sl_estimate rate_per_s; /* in the sweep's unit of rate */
	double samples_per_s, sample_ns;

	uint64_t parameters, flops;      /* trainable; 2 x core, whole batch */
	double flops_per_s;              /* of these */
	double compute_efficiency;       /* least time of the arithmetic, each
					   operation at the peak of its own
					   type / median; NaN: no ceilings */
	double roof_share;               /* roofline's least time / median; NaN:
					   no ceilings */
	uint64_t memory_bytes;           /* block for activations, and weights;
					   0: not known */
	struct sl_reading touched_bytes; /* resident growth while it ran */
	double samples_per_s_per_mb;     /* of memory_bytes */
	enum sl_bottleneck verdict; /* COMPUTE, MEMORY, MIXED: the side of the
					ridge on which operations lie that take
					60 % of the time; by the roofline, which
					proves nothing.  INCONCLUSIVE: none */
	const char *verdict_absent; /* why there is none; NULL */
	struct sl_estimate
		energy_j; /* of an iteration, the whole package, over the
					n visits that have a reading; n 0:
					none */
	const char *energy_absent; /* why there is none; NULL */
};

/* What a law is of. */
enum sl_sweep_figure {
	SL_SWEEP_TIME = 0, /* of an iteration */
	SL_SWEEP_KIND,     /* of the operations of a kind in it */
	SL_SWEEP_MEMORY,
	SL_SWEEP_FLOPS
};

/* Operations that are looked at together. */
enum sl_sweep_kind {
	SL_SWEEP_KIND_TYPE = 0,  /* those of a type */
	SL_SWEEP_KIND_ATTENTION, /* products of activations, whatever type */
	SL_SWEEP_KIND_OTHERS     /* of the types beyond those that are kept */
};

/* "type", "attention", "others". */
SL_API const char *sl_sweep_kind_text(enum sl_sweep_kind kind);

/*
 * A figure's law over the points: offset + scale n^exponent.  The fixed part
 * is there only where leaving it out is proved worse; else it is 0.
 */
struct sl_sweep_exponent {
	enum sl_sweep_figure figure;
	enum sl_sweep_kind kind; /* where the figure is KIND */
	const char *type;        /* of a kind that is a type, "MatMul"; NULL */
	double share_first, share_last; /* of a kind, of the operations' time */
	struct sl_estimate exponent;    /* n 0: absent.  flops and memory are
					   counted: no interval */
	double offset, scale;           /* ns or bytes */
	double deviation;               /* largest |point / law - 1| */
	double formula; /* exponent of the FLOPs of the same operations over the
			   same points; of memory, of the live set and the
			   parameters; NaN: none */
	/* Where a fixed part is under a tenth from some point on: the law from
	 * there, without it.  n 0: no such point, or it is the first. */
	int64_t tail_from;
	struct sl_estimate tail;
	const char *absent; /* why there is no law; NULL */
};

/* Where twice the size raises the rate by no more than 10 % any longer. */
struct sl_sweep_knee {
	int64_t at;              /* 0: not within the points */
	int is_proved;           /* by intervals */
	struct sl_estimate gain; /* of the rate, by doubling from there; where
				    at is 0, by the last doubling; n 0: none */
	const char *absent;      /* why there is no telling; NULL */
};

/* The highest rate within the limits. */
struct sl_sweep_best {
	size_t point;         /* SIZE_MAX: none */
	int64_t at;           /* its value */
	int64_t as_good;      /* the smallest value that may be as fast */
	size_t n_over_memory; /* points that the limit excludes */
	size_t n_over_latency;
	int is_disturbed;   /* others disturbed most visits: none is named */
	const char *absent; /* why there is none; NULL */
};

/* One model. */
struct sl_sweep_series {
	const char *name, *source;
	int64_t batch; /* of the points, unless that is the axis */
	const struct sl_sweep_point *points; /* ascending */
	size_t n_points;
	size_t n_measured;
	const struct sl_sweep_exponent *exponents; /* time first */
	size_t n_exponents;
	struct sl_sweep_knee knee;
	struct sl_sweep_best best;
};

/* What rates count. */
enum sl_rate_unit {
	SL_RATE_SAMPLES = 0,
	SL_RATE_TOKENS, /* along seq */
	SL_RATE_FLOPS   /* along width */
};

/* "samples/s", "tokens/s", "FLOP/s". */
SL_API const char *sl_rate_unit_text(enum sl_rate_unit unit);

/* Owns all it points to; graphs and options may go before it. */
struct sl_sweep {
	enum sl_axis axis;
	enum sl_rate_unit rate_unit;
	enum sl_dtype dtype;
	int n_threads; /* of the points, unless that is the axis */
	size_t n_visits;
	double memory_bytes, latency_s; /* limits; 0: none */
	uint64_t seed;
	double elapsed_s;
	enum sl_stop stopped_by; /* RUNS or INTERRUPT */
	const struct sl_sweep_series *series;
	size_t n_series;
	enum sl_optimizer optimizer; /* of the training steps that iterations
					are; NONE: inference */
};

struct sl_sweep_model {
	const char *name; /* as the user knows it; along width: a name of the
			     zoo with sizes, of which those of layers are
			     replaced */
	const struct sl_graph *graph; /* NULL along width */
	const struct sl_sizes *sizes; /* of all points but for the axis; NULL:
					 the usual ones */
};

struct sl_sweep_options {
	size_t struct_size;
	enum sl_axis axis;
	const int64_t *values; /* ascending, above 0 */
	size_t n_values;
	const struct sl_plan_options *plan; /* sizes are the models'; NULL:
					       defaults */
	const char *inputs_folder;          /* NULL: synthetic inputs */
	uint64_t seed; /* of synthetic inputs, built-in weights along width and
			    the order of points; 0: 1 */
	double time_s; /* for iterations at a point, all visits; default 1 */
	size_t n_visits;         /* of every point; default 3 */
	size_t n_warmup, n_runs; /* fixed numbers of iterations of a visit */
	unsigned flags; /* enum sl_profile_flags, NO_CEILINGS alone counts */
	double memory_bytes, latency_s; /* limits for the best; 0: none */
	void (*progress)(const struct sl_progress *now, void *ctx);
	void *progress_ctx;
	const volatile sig_atomic_t *interrupt;
	const struct sl_allocator *allocator;
	/* Iterations are training steps with it, as sl_profile_training() has
	 * them, without inputs_folder; NONE: inference. */
	enum sl_optimizer optimizer;
};
#define SL_SWEEP_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_sweep_options)

/*
 * Profiles every model at every point.  A point that does not fit into memory
 * or fails is recorded with the reason and the sweep goes on; once interrupted
 * it ends with what was measured.  SL_E_USAGE for options that make no sense,
 * SL_E_DATA where a model has no such axis, SL_E_INTERRUPTED before the first
 * visit ended.  Measures the whole process: one at a time.
 */
SL_API enum sl_status sl_sweep(struct sl_sweep **out,
			       const struct sl_sweep_model *models, size_t n,
			       const struct sl_sweep_options *options,
			       struct sl_error *err) SL_CHECKED;
SL_API void sl_sweep_free(struct sl_sweep *sweep); /* NULL is fine */

/* TEXT, JSON, CSV, MARKDOWN. */
SL_API enum sl_status sl_sweep_render(const struct sl_sweep *sweep,
				      const struct sl_render_options *how,
				      struct sl_buf *out,
				      struct sl_error *err) SL_CHECKED;

#ifdef __cplusplus
}
#endif

#endif

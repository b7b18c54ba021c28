/* SPDX-License-Identifier: Apache-2.0 */
/* microbenchmarks.h - single operations over sizes: what bounds each, and where
 * that changes. */
#ifndef SLEUTH_MICROBENCHMARKS_H
#define SLEUTH_MICROBENCHMARKS_H

#include "sleuth/profiling.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where an operation stands under the roofs of the machine. */
enum sl_micro_class {
	SL_MICRO_UNKNOWN = 0, /* no ceilings, an impossible rate, or too much
				 disturbed by others to say */
	SL_MICRO_COMPUTE,     /* 70 % or more of the peak of arithmetic */
	SL_MICRO_MEMORY,      /* likewise, of the bandwidth of its memory */
	SL_MICRO_OVERHEAD,    /* less, in no more than three empty steps */
	SL_MICRO_BELOW        /* less: neither roof explains the time */
};
enum { SL_N_MICRO_CLASSES = SL_MICRO_BELOW + 1 };

/* "unknown", "compute", "memory", "overhead", "below both roofs". */
SL_API const char *sl_micro_class_text(enum sl_micro_class micro_class);

/*
 * One size.  The operation is run over and over on the same data, so that
 * these lie in the nearest memory that holds them all.
 */
struct sl_micro_point {
	int64_t value;      /* along the axis of the series */
	const char *shape;  /* of the operands: "256x256 * 256x256" */
	const char *absent; /* why it was not measured; NULL.  All below is
			       NaN, 0 or NULL then */
	const char *kernel;
	size_t n_operations; /* that do its work; changes of layout around it
				are left out */
	size_t n_iterations;
	double disturbance; /* of CPU time, taken by others; 0: none seen */

	struct sl_estimate median_ns; /* of the operation; the interval is no
					 narrower than a step of the clock */
	double fastest_ns;            /* of all calls */
	uint64_t flops, n_bytes;      /* executed; of operands and workspace,
					 each once */
	uint64_t working_set_bytes;
	double intensity; /* flops per byte */
	double flops_per_s, bytes_per_s;

	enum sl_level level; /* smallest memory that holds the working set */
	double level_ns;     /* its bytes at the bandwidth of that; more than
				the median where nearer memory serves a part */
	enum sl_level roof;  /* the lower one: COMPUTE or a memory */
	double bound_ns;     /* least time under it; NaN: no ceilings */
	double roof_share, roof_share_lo, roof_share_hi; /* bound / median */
	enum sl_micro_class micro_class;
	int is_sure; /* the same at both ends of the interval */
	const struct sl_fact *impossible; /* a rate above what the machine does;
					     NULL */
};

enum sl_micro_crossover_kind {
	SL_MICRO_CROSSOVER_CLASS = 0, /* of the verdict */
	SL_MICRO_CROSSOVER_ROOF, /* from memory's to arithmetic's, or back */
	SL_MICRO_CROSSOVER_LEVEL /* what it touches leaves a memory */
};

/* "verdict", "roof", "level". */
SL_API const char *
sl_micro_crossover_kind_text(enum sl_micro_crossover_kind kind);

/* Between two neighbouring sizes that were measured. */
struct sl_micro_crossover {
	enum sl_micro_crossover_kind what;
	size_t before, at; /* points */
	double rate_ratio; /* of bytes a second, or of FLOP/s where the roof
			      after it is arithmetic: after / before */
	int is_sure;       /* the two verdicts are; of others: the intervals
			      of the two rates do not meet */
};

/* What grows from size to size. */
enum sl_micro_axis {
	SL_MICRO_AXIS_ELEMENTS = 0,
	SL_MICRO_AXIS_N, /* sides of a matrix */
	SL_MICRO_AXIS_SEQ,
	SL_MICRO_AXIS_CHANNELS
};
enum { SL_N_MICRO_AXES = SL_MICRO_AXIS_CHANNELS + 1 };

/* "elements", "N", "seq", "channels". */
SL_API const char *sl_micro_axis_text(enum sl_micro_axis axis);

/* What to optimise at the largest size, from its class and from whether it
 * matters where data lie. */
enum sl_micro_focus {
	SL_MICRO_FOCUS_NONE = 0,     /* unknown, or not measured */
	SL_MICRO_FOCUS_PRECISION,    /* at the arithmetic's roof */
	SL_MICRO_FOCUS_BYTES,        /* at a memory's */
	SL_MICRO_FOCUS_CALLS,        /* overhead: fewer, larger ones */
	SL_MICRO_FOCUS_KERNEL,       /* neither roof explains the time */
	SL_MICRO_FOCUS_INSTRUCTIONS, /* likewise; as fast from nearer memory */
	SL_MICRO_FOCUS_BOTH          /* likewise; faster from nearer memory:
					 bytes and kernel */
};
enum { SL_N_MICRO_FOCUSES = SL_MICRO_FOCUS_BOTH + 1 };

/* One operation. */
struct sl_micro_series {
	const char *name;  /* "add" */
	const char *kind;  /* "element-wise", "GEMM", ... */
	const char *about; /* "y = a + b" */
	enum sl_micro_axis axis;
	const struct sl_micro_point *points; /* ascending */
	size_t n_points, n_measured;
	const struct sl_micro_crossover
		*crossovers; /* by kind, then ascending */
	size_t n_crossovers;
	size_t reached; /* the first of the measured points from which on
			       all have 80 % of their roof; SIZE_MAX: none */
	size_t largest; /* the last measured one; SIZE_MAX: none */
	enum sl_micro_focus focus; /* there */
};

/* Owns all it points to. */
struct sl_microbench {
	int is_all;
	enum sl_dtype dtype;
	int n_threads;
	uint64_t seed;
	double elapsed_s;
	enum sl_stop stopped_by;     /* TIME, RUNS or INTERRUPT */
	struct sl_ceilings ceilings; /* probed before, between and after */
	const struct sl_micro_series *series;
	size_t n_series;
	/* By the share of the roof at the largest size; SIZE_MAX: fewer than
	 * two series have one. */
	size_t most_efficient, least_efficient;
};

struct sl_microbench_options {
	size_t struct_size;
	const struct sl_plan_options *plan; /* threads, type, ...; its sizes
					       are not looked at; NULL */
	const int64_t *values; /* ascending, above 0; NULL: the operation's
				  own range.  Not for "all" */
	size_t n_values;       /* at most 64 */
	uint64_t seed;         /* of synthetic operands; 0: 1 */
	double time_s; /* for everything; default 6, of "all" 10.  Making
			  operands and the least number of iterations may take
			  longer */
	size_t n_runs; /* rounds of iterations at each size, in place of time */
	void (*progress)(const struct sl_progress *now, void *ctx);
	void *progress_ctx;
	const volatile sig_atomic_t *interrupt;
	const struct sl_allocator *allocator;
};
#define SL_MICROBENCH_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_microbench_options)

/* The name of the i-th operation: "add", "matmul", ...; NULL beyond. */
SL_API const char *sl_microbench_op(size_t i);

/*
 * Runs one operation, or with "all" one of each kind, as a model of its own at
 * growing sizes, and says what bounds it at each and where that changes.
 * 'options' may be NULL.  A size that does not fit into memory or fails is
 * recorded with the reason; once interrupted, it ends with what was measured.
 * SL_E_USAGE names all operations where 'op' is none; SL_E_INTERRUPTED before
 * the first size.  Measures the whole process: one at a time.
 */
SL_API enum sl_status sl_microbench(struct sl_microbench **out, const char *op,
				    const struct sl_microbench_options *options,
				    struct sl_error *err) SL_CHECKED;
SL_API void sl_microbench_free(struct sl_microbench *m); /* NULL is fine */

/* One or several in turn.  TEXT, JSON, CSV, MARKDOWN. */
SL_API enum sl_status
sl_microbench_render(const struct sl_microbench *const *found, size_t n,
		     const struct sl_render_options *how, struct sl_buf *out,
		     struct sl_error *err) SL_CHECKED;

#ifdef __cplusplus
}
#endif

#endif

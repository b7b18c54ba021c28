/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - what was found, in numbers and names. */
#ifndef SLEUTH_FACTS_H
#define SLEUTH_FACTS_H

#include "sleuth/basics.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What a fact says.  Behind each kind stand its values, in order, then its
 * names after a bar.  Times are nanoseconds, rates a second, shares 0 to 1,
 * ratios new / old; dtype, bound and level are values of those enums.  "?"
 * marks a value that may be NaN: that part is not said.
 */
enum sl_fact_kind {
	SL_FACT_NONE = 0,

	/* What an operation answered to experiments. */
	SL_FACT_ARITHMETIC_RATE, /* share of the ceiling, dtype */
	SL_FACT_BYTES_RATE,      /* bytes, share of what it gives, level */
	SL_FACT_STEP_SIZE,       /* time, least time of any step */
	SL_FACT_WARM,            /* how many times as fast */
	SL_FACT_COLD,            /* time ratio; as below */
	SL_FACT_HOGGED,          /* ratio, of a pure stream, of arithmetic */
	SL_FACT_THREADS,         /* threads, how many times as fast as one */
	SL_FACT_DOUBLED,         /* ratio of time, of arithmetic?, of bytes */
	SL_FACT_UNEXPLAINED,     /* the nearest two bounds */
	SL_FACT_UNDECIDED,       /* bound, probability, bound, probability */
	SL_FACT_PLAIN_LOOPS,     /* it runs on them */
	SL_FACT_NO_CEILINGS,     /* nothing can be said without */

	/* What hardware counters say of a verdict: level, bytes? from there,
	 * share of what it gives, stalled share? of cycles, instructions? a
	 * cycle. */
	SL_FACT_COUNTERS_AGREE,
	SL_FACT_COUNTERS_OBJECT,     /* they speak against it */
	SL_FACT_COUNTERS_CONTRADICT, /* so that it is withdrawn; and the bound
					that experiments gave */

	/* What bounds the model. */
	SL_FACT_TIME_SHARE,   /* of the operations of a bound: share, bound */
	SL_FACT_NOT_MEASURED, /* the ceilings | why */

	/* Why time accounting does not close: share? that is not accounted for,
	 * and then */
	SL_FACT_OPEN,      /* (nothing is known) */
	SL_FACT_OPEN_FEW,  /* pairs, pairs needed, disturbed share? */
	SL_FACT_OPEN_WIDE, /* overhead from, to (shares of an iteration), pairs,
			       disturbed share? */
	SL_FACT_OPEN_SHORT, /* overhead by experiment, by calibration (shares),
			       mean time of an operation, disturbed share? */

	/* What cannot be. */
	SL_FACT_ARITHMETIC_IMPOSSIBLE, /* operations, time, rate, peak, dtype |
					  operation, type, kernel */
	SL_FACT_BYTES_IMPOSSIBLE,      /* bytes, time, rate, bandwidth |
					  operation, type */
	SL_FACT_SUM_IMPOSSIBLE,        /* time of operations, of an iteration */
	SL_FACT_MEMORY_NESTING,        /* live, planned, reserved bytes */
	SL_FACT_MEMORY_PARTS,          /* reserved bytes, sum of their parts */
	SL_FACT_MEMORY_HELD,           /* bytes that a run held, bound */
	SL_FACT_MEMORY_GROWTH,         /* bytes of growth, bytes needed */
	SL_FACT_MEMORY_EFFICIENCY,     /* a ratio above 1 */

	/* What was left out, or looks odd. */
	SL_FACT_NOT_ALONE,   /* | why nothing was timed on one thread */
	SL_FACT_NOT_COLD,    /* | why not from empty caches */
	SL_FACT_NOT_HOGGED,  /* | why not beside a memory hog */
	SL_FACT_NOT_DOUBLED, /* | why not at twice the batch */
	SL_FACT_TRIED,       /* rounds, speed-up, its least, its most */
	SL_FACT_NO_TIME,     /* seconds of measuring in which experiments fit */
	SL_FACT_IN_VAIN,     /* NaN but for what was tried and not faster: one
				thread, more threads, bf16, fixed algorithms */
	SL_FACT_COVERAGE,    /* share of time in experiments, operations */
	SL_FACT_WINOGRAD,    /* operations that do less than the model asks */
	SL_FACT_PADDING,     /* likewise, because windows reach beyond */
	SL_FACT_MASKED,      /* likewise, because scores are masked */

	/* What would help; of advice that is worth the same, in this order.
	 * Operations are how many, and the one that takes longest. */
	SL_FACT_AVOID_LAYOUTS,    /* changes | operation */
	SL_FACT_AVOID_MOVES,      /* operations | operation, type */
	SL_FACT_FIX_ALGORITHMS,   /* instead of measuring which is fastest */
	SL_FACT_COMPUTE_BF16,     /* convolutions and matmuls */
	SL_FACT_FUSE,             /* operations | operation, type */
	SL_FACT_KEEP_KEYS,        /* tokens that are computed to make one */
	SL_FACT_ALLOW_FUSION,     /* operations */
	SL_FACT_ALLOW_KERNELS,    /* operations, all on plain loops */
	SL_FACT_SHRINK_HEAD,      /* parameters? | operation */
	SL_FACT_PRUNE,            /* parameters | operation, type */
	SL_FACT_QUANTISE_INT8,    /* convolutions and matmuls */
	SL_FACT_REPLACE_LOOPS,    /* operations | operation, type */
	SL_FACT_USE_ONE_THREAD,   /* threads, operations they slow down */
	SL_FACT_USE_THREADS,      /* threads, threads now */
	SL_FACT_USE_LARGER_BATCH, /* batch, batch now, operations, their share of
				     the time | operation */

	/* What bounds the gain. */
	SL_FACT_PASS_SHARE,     /* operations, share; limit? by ablation, from,
				   to */
	SL_FACT_THREAD_TIMES,   /* time on one thread, on all, threads */
	SL_FACT_THREAD_GAINS,   /* operations that gain, of, threads */
	SL_FACT_WEIGHTS_SHARED, /* operations, share, times the samples,
				   operations a second */
	SL_FACT_NARROWED,       /* operations, share, time now, at least,
				   operations a second, dtype */
	SL_FACT_NARROWED_ONLY,  /* likewise, of a type that this model cannot be
				   made of */
	SL_FACT_WEIGHTS_READ,   /* bytes, time, bytes a second */

	/* How a layer differs within its model. */
	SL_FACT_LAYER_UNKNOWN, /* rounds that it takes to tell */
	SL_FACT_LAYER_SAME,    /* as far as can be told */
	SL_FACT_LAYER_SLOWER,  /* time ratio, within / alone */
	SL_FACT_LAYER_FASTER,  /* likewise */

	/* A shape that is not known | value, node that makes it, type, why. */
	SL_FACT_SHAPE_UNDECLARED, /* nobody knows the operator */
	SL_FACT_SHAPE_OF_INPUTS,  /* contents of inputs may settle it */
	SL_FACT_SHAPE_OPEN,       /* nothing does */

	/* CPU or GPU on paper; by price (1) or by time (0), and then */
	SL_FACT_CPU_WINS, /* up to this batch | the CPU, the GPU there */
	SL_FACT_GPU_FROM, /* from this batch on, to that one | GPU, CPU */
	SL_FACT_GPU_AT,   /* at this batch, and (1) at every larger one | GPU,
				CPU */

	/* Of a training step. */
	SL_FACT_FED_FROM_MEMORY,  /* time ratio to steps as they are fed, its
				     least, its most, rounds */
	SL_FACT_PREFETCH_IN_VAIN, /* threads, speed-up, its least, its most */
	SL_FACT_PHASE_SHARE,      /* share of a step, phase */
	SL_FACT_SLOW_BACKWARD,    /* backward / forward in time, in FLOPs?,
				     share of a step | layer, type */
	SL_FACT_OPTIMIZER_SHARE,  /* share of a step, bytes of its state |
				     optimizer */
	SL_FACT_ACTIVATION_HELD,  /* bytes, share of all that are kept until
				     the backward pass | layer */
	/* And what would help it. */
	SL_FACT_USE_PREFETCH,    /* threads */
	SL_FACT_CHEAPER_SAMPLES, /* (nothing) */
	SL_FACT_RECOMPUTE_SAVES  /* bytes saved, of, time more a step, its
				    least, its most, rounds */
};
enum { SL_N_FACT_KINDS = SL_FACT_RECOMPUTE_SAVES + 1 };

/* The name of a kind in documents, "bytes-rate"; never NULL. */
SL_API const char *sl_fact_kind_text(enum sl_fact_kind kind);

enum { SL_FACT_VALUES = 6, SL_FACT_NAMES = 4 };

/* Names live as long as the result that the fact is in. */
struct sl_fact {
	enum sl_fact_kind kind;
	double values[SL_FACT_VALUES];
	const char *names[SL_FACT_NAMES];
};

/* Appends what the fact says, in English, without a full stop. */
SL_API enum sl_status sl_fact_text(const struct sl_fact *fact,
				   struct sl_buf *out,
				   struct sl_error *err) SL_CHECKED;

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* comparing.h - models against each other: which is faster, and where. */
#ifndef SLEUTH_COMPARING_H
#define SLEUTH_COMPARING_H

#include "sleuth/evaluating.h"
#include "sleuth/measuring.h"
#include "sleuth/running.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SL_MODEL_ARMS_MAX = 8 };

/* A model and the way in which it is run.  Arms may share a graph: one
 * model under two settings. */
struct sl_model_arm {
	const char *name; /* for reports; NULL: the model's */
	const struct sl_graph *graph;
	const struct sl_plan_options *plan; /* NULL: defaults */
	const struct sl_input_file *inputs; /* as in struct sl_run_options */
	size_t n_inputs;
	const char *inputs_folder;
};

struct sl_model_comparison_options {
	size_t struct_size;
	double time_s;     /* for rounds, after planning; default 5, or for
			      models too long for it up to 20 */
	double margin;     /* default 0.01; negative means 0: any difference */
	double alpha;      /* error rate; default 0.05 */
	size_t min_rounds; /* after the verdict, for the interval; default 50 */
	uint64_t seed;     /* of the coin and of synthetic inputs; default 1 */
	void (*progress)(const struct sl_progress *now, void *ctx);
	void *progress_ctx;
	const volatile sig_atomic_t *interrupt;
	const struct sl_allocator *allocator; /* of the result */
	const struct sl_dataset *data; /* whose test split tells accuracies;
					  NULL: none */
};
#define SL_MODEL_COMPARISON_OPTIONS_INIT \
	SL_OPTIONS_INIT(struct sl_model_comparison_options)

/* What a verdict may rest on. */
enum sl_comparison_basis {
	SL_COMPARISON_BASIS_WALL = 0, /* wall time of the whole iteration */
	SL_COMPARISON_BASIS_CPU,      /* its CPU time, all threads together */
	SL_COMPARISON_BASIS_LAYERS    /* the median over layers of ln(B / A) */
};
enum { SL_N_COMPARISON_BASES = SL_COMPARISON_BASIS_LAYERS + 1 };

/* "wall time", "CPU time", "typical layer". */
SL_API const char *sl_comparison_basis_text(enum sl_comparison_basis basis);

/* One arm; times are medians over the rounds that count. */
struct sl_model_arm_result {
	const char *name, *model, *source;
	enum sl_dtype dtype;
	int n_threads;
	const char *choices; /* a hash of what computes each step */
	int64_t batch;
	double plan_ns;
	size_t n_steps;
	struct sl_estimate wall_ns, cpu_ns; /* of an iteration */
	struct sl_plan_memory memory;
	uint64_t memory_bytes;                  /* planned and weights */
	uint64_t nominal_flops, executed_flops; /* of an iteration */
	struct sl_estimate accuracy;            /* n 0: no data */
	enum sl_accuracy_kind accuracy_kind;
};

/*
 * A layer: the steps of both sides that cover the same nodes, by name; several
 * where one side fuses what the other does not.  Times are medians, of an
 * iteration; the ratio is per sample where the comparison is.
 */
struct sl_compared_layer {
	const char *name, *type;
	size_t n_a, n_b;      /* steps; 0: only on the other side */
	const char *a_kernel; /* of the first step; NULL: none */
	const char *b_kernel;
	double a_ns, b_ns;        /* NaN where there are no steps */
	struct sl_estimate ratio; /* B / A; NaN and n 0: only on one side */
	double log_e;             /* against "within the margin"; NaN: not
					 tested */
	int is_tested;            /* on both sides, and not too short for
					 the clock */
	int is_named; /* differs by more than the margin: e-BH over all layers
			  that were tested, in 3 of 4 placements at least and
			  in none the other way; where placements are few, by
			  more than their reach */
	struct sl_estimate change_ns; /* B - A, mean over rounds; per sample
					 where the comparison is; a layer of one
					 side is all change */
	int has_other_kernel; /* same settings and same work, but another
				 algorithm */
};

/*
 * An arm against the first.  Three e-processes watch every round: total
 * wall time, total CPU time, and the median over layers of ln(B / A).  The
 * average of those that have something to say decides "faster" and "slower",
 * as long as the total leans that way; "same" and the gate's "ok" need the
 * total alone, which takes back what the others said where it proves the
 * contrary.  CPU time says nothing of time where the numbers of threads
 * differ, nor layers where those of the same name make less than half of a
 * iteration: 'absent' says so.
 */
struct sl_arm_comparison {
	struct sl_comparison comparison; /* ratios of wall time; the verdict,
					    the gate and when it was decided
					    are by all evidence */
	enum sl_verdict wall_verdict;    /* by wall time alone */
	struct sl_comparison cpu;        /* the same of CPU time, alone; its
					    verdict is none where absent[]
					    says so */
	struct sl_estimate layers_ratio; /* of the typical layer; n 0: none */
	double log_e; /* ln of the average e-value against "no change" */
	double log_e_of[SL_N_COMPARISON_BASES]; /* NaN: absent[] says why */
	const char *absent[SL_N_COMPARISON_BASES];
	enum sl_comparison_basis decided_by;    /* the largest e-value when the
					    verdict fell */
	const struct sl_compared_layer *layers; /* in the order of A, then those
						 of B alone */
	size_t n_layers;
	const size_t *by_change; /* layers: named first, then by |B - A| */
	size_t n_named;
	size_t n_only_a, n_only_b;
	double only_a_ns, only_b_ns; /* sums of medians */
	size_t n_other_kernels;      /* layers of another algorithm; above 0: no
					layer is named, and B is faster or
					slower only where it is so without
					them */
	struct sl_estimate change_ns; /* wall time B - A, mean over the rounds
					 of which layers are kept */
	double rest_change_ns; /* of that, outside of layers: with the layers'
				  changes it is all of it */
	struct sl_accuracy_difference accuracy; /* its value's n 0: no data */
	double output_error;  /* of the first output on the inputs that are
				  timed, over its root mean square */
	double largest_error; /* the same of the largest difference, over the
				  largest number; NaN: 'outputs_absent' */
	const char *outputs_absent; /* why outputs are not compared; NULL */
};

struct sl_model_comparison {
	const struct sl_model_arm_result *sides; /* in the caller's order */
	size_t n;
	const struct sl_arm_comparison *pairs; /* each against side 0 */
	size_t n_pairs;                        /* n - 1 */
	int is_per_sample;          /* batches differ: ratios are of time per
				   sample */
	size_t iterations_per_slot; /* above 1 for short iterations */
	size_t n_placements; /* plans were made so often, to lie elsewhere in
				   memory, and played a round */
	size_t placements_enough; /* with fewer, only layers that differ by more
				     than 'placement_reach' are named */
	double placement_reach;   /* relative change; 0.1 is 10 % */
	const char *renewal_absent; /* why plans were no longer made anew
				       though there was time; NULL */
	struct sl_noise noise;
	int is_disturbed; /* others had more than 15 % of the CPUs, or of the
			     time that it waited for one: "same" and "not
			     slower" are not claimed, and nothing between
			     different numbers of threads */
	double elapsed_s; /* rounds alone */
	enum sl_stop stopped_by;
	uint64_t seed;
};

/*
 * Plans the arms and runs them in rounds, each round in a fresh random
 * order, until every one is decided against the first or the time is spent.
 * The error rate holds however often it looks and is divided by n - 1 where
 * there are several.  Arms of the same settings run the same algorithms:
 * choices that one measures are the others' too, and where most of their work
 * is the same, so is the layout of images.  Where that fails, n_other_kernels
 * counts it, and no difference is claimed.  n from 2 to
 * SL_MODEL_ARMS_MAX.  SL_E_DATA for models whose inputs differ in more than
 * the batch, but for decoders with and without a cache.  Fails as sl_run() and
 * sl_evaluate() do; SL_E_INTERRUPTED before the first round.  Measures the whole process: one at a time.
 */
SL_API enum sl_status
sl_compare_models(struct sl_model_comparison **out,
		  const struct sl_model_arm *arms, size_t n,
		  const struct sl_model_comparison_options *options,
		  struct sl_error *err) SL_CHECKED;
SL_API void sl_model_comparison_free(
	struct sl_model_comparison *comparison); /* NULL is fine */

/* TEXT, JSON, CSV, MARKDOWN. */
SL_API enum sl_status
sl_model_comparison_render(const struct sl_model_comparison *comparison,
			   const struct sl_render_options *how,
			   struct sl_buf *out, struct sl_error *err) SL_CHECKED;

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* profiling.h - models run, measured and explained. */
#ifndef SLEUTH_PROFILING_H
#define SLEUTH_PROFILING_H

#include "sleuth/data_sets.h"
#include "sleuth/facts.h"
#include "sleuth/inspecting.h"
#include "sleuth/training_steps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What keeps an operation from being faster. */
enum sl_bound {
	SL_BOUND_UNKNOWN = 0, /* not looked at, or the evidence does not say */
	SL_BOUND_COMPUTE,     /* arithmetic, as fast as it can be */
	SL_BOUND_L2,          /* bytes between the second cache and the core */
	SL_BOUND_L3,
	SL_BOUND_DRAM,
	SL_BOUND_OVERHEAD,     /* it is too small: starting it takes the time */
	SL_BOUND_IMBALANCE,    /* threads wait for one of them */
	SL_BOUND_REFERENCE,    /* it runs on plain loops */
	SL_BOUND_INSTRUCTIONS, /* other than multiply-adds, on cached data */
	SL_BOUND_LATENCY,      /* each of its steps waits for the one before */
	SL_BOUND_LAYOUT        /* it moves elements one by one: strided or
				  scattered access */
};
enum { SL_N_BOUNDS = SL_BOUND_LAYOUT + 1 };

/* "unknown", "compute", "l2", "l3", "dram", "overhead", "imbalance",
 * "reference", "instructions", "latency", "layout". */
SL_API const char *sl_bound_text(enum sl_bound bound);

/* What an operation is for in its network, from the structure. */
enum sl_part {
	SL_PART_OTHER = 0,
	SL_PART_ATTENTION,    /* projections, products, softmax */
	SL_PART_FEED_FORWARD, /* linear layers outside attention */
	SL_PART_EMBEDDING,
	SL_PART_NORMALIZATION,
	SL_PART_CONVOLUTION,
	SL_PART_RECURRENT,
	SL_PART_HEAD,    /* the last linear layer and what follows it */
	SL_PART_MOVEMENT /* reorders, copies, transposes, gathers of no table */
};
enum { SL_N_PARTS = SL_PART_MOVEMENT + 1 };

/* "other", "attention", "feed-forward", "embedding", "normalisation",
 * "convolution", "recurrent", "head", "data movement". */
SL_API const char *sl_part_text(enum sl_part part);

/* What is different while an operation is timed. */
enum sl_condition {
	SL_CONDITION_IN_PLACE = 0, /* nothing: as in any iteration */
	SL_CONDITION_WARM,   /* it has just run: all it touches lies as near as
			       it can */
	SL_CONDITION_COLD,   /* no cache holds anything of it */
	SL_CONDITION_ALONE,  /* in place, on one thread */
	SL_CONDITION_HOGGED, /* likewise, while another CPU streams from
				memory */
	SL_CONDITION_DOUBLED /* in place, of a plan for twice the batch */
};
enum { SL_N_CONDITIONS = SL_CONDITION_DOUBLED + 1 };

/* "in place", "warm", "cold", "alone", "hogged", "doubled"; never NULL. */
SL_API const char *sl_condition_text(enum sl_condition condition);

struct sl_timed {
	double ns;     /* of a call, lower quartile: what disturbs it only makes
			  it longer; NaN: not measured */
	double spread; /* from there to the median, as a share of it */
	size_t n;      /* calls */
	const char *absent; /* why it was not measured; NULL */
};

/* How an operation answers experiments. */
struct sl_response {
	size_t step; /* of the plan */
	struct sl_timed at[SL_N_CONDITIONS];
	int is_same_alone; /* one thread does the same work with the same
			      kernel, so that the two can be compared */
	/* Work of a call at twice the batch; NaN where nothing was timed. */
	double doubled_flops, doubled_bytes;
	double n_dependent; /* steps of a recurrence, each of which waits for
			       the one before; 1: none */
};

/* What counters of the CPU count. */
enum sl_event {
	SL_EVENT_CYCLES = 0,
	SL_EVENT_INSTRUCTIONS,
	SL_EVENT_STALLS,    /* cycles in which nothing could be retired for
			       want of data or units */
	SL_EVENT_L1_MISSES, /* lines of data; as are the next two */
	SL_EVENT_L2_MISSES,
	SL_EVENT_L3_MISSES
};
enum { SL_N_EVENTS = SL_EVENT_L3_MISSES + 1 };

/* "cycles", "instructions", "stalls", "L1 misses", "L2 misses", "L3 misses";
 * never NULL. */
SL_API const char *sl_event_text(enum sl_event event);

/* A counter and how it was used. */
struct sl_counter_use {
	const char *counter;  /* as the kernel or libpfm4 name it; NULL */
	double running_share; /* of the time in which it was wanted: below 1
				 the kernel took turns, and counts are scaled
				 up; NaN: absent */
	const char *absent;   /* why it was not counted; NULL */
};

/* What an operation made the counters count, all threads. */
struct sl_operation_counts {
	double of[SL_N_EVENTS];          /* a call, mean; NaN: not counted */
	const char *absent[SL_N_EVENTS]; /* and why; NULL */
	size_t n_calls;
};

/* Bytes that come into a memory's nearer neighbour from there, or go back, in
 * one call. */
struct sl_traffic {
	enum sl_level level;    /* where they come from: L2, L3, DRAM */
	double predicted_bytes; /* from sizes, and from what ran before */
	double least_bytes;     /* of these, one way, what no cache can have
				   kept; NaN where the others are */
	struct sl_reading measured_bytes; /* by counters: lines that missed */
};
enum { SL_TRAFFIC_MOST = 3 };

/* How much longer pure work of one thread takes beside a memory hog, as
 * ratios; NaN where there was none. */
struct sl_hog_effect {
	double dram, l3, l2, compute;
};

/* A conclusion, what speaks for it and what against it. */
struct sl_judgement {
	enum sl_bound bound;
	double confidence; /* 0 to 1; 0 where unknown */
	const struct sl_fact *evidence;
	size_t n_evidence;
	const struct sl_fact *against;
	size_t n_against;
	/* The two likeliest answers and their probabilities, decided or not;
	 * UNKNOWN is none of the others.  0 where nothing was judged. */
	enum sl_bound nearest[2];
	double likelihood[2];
};

/*
 * One step of the plan, over all iterations that were recorded.  Fused nodes
 * are one operation, with the names they cover.
 */
struct sl_operation {
	const char *name, *type, *kernel;
	const char *module; /* path in the model from node names; "" for none */
	enum sl_path path;
	enum sl_part part;
	enum sl_dtype dtype; /* whose arithmetic it does: f32, bf16, i8; none:
				not known */
	size_t step;         /* of the plan; behind its last one: what feeds
				the others (phase DATA) */
	const char *const *covers;
	size_t n_covers;
	double n_calls; /* per iteration; below 1 in a branch */
	uint64_t parameters;
	const char *output_shape;       /* "1x64x112x112"; "" for none */
	struct sl_reading memory_bytes; /* live while it runs */

	double self_ns;               /* mean per iteration */
	double share;                 /* of the self time of all */
	struct sl_estimate median_ns; /* of a call; over a sample of them */
	double min_ns, max_ns;

	/* Of a call: 2 x the multiply-adds of convolutions and matmuls, as
	 * sl_inspect() counts; all arithmetic that the model asks for; what
	 * the kernel does; operands. */
	uint64_t core_flops, nominal_flops, executed_flops, n_bytes;
	const char *uncounted; /* why it does more than these say; NULL: they
				  are all */
	/* At the median of a call, as ceiling_share is: core_flops (NaN where
	 * there are none), executed_flops, n_bytes. */
	double flops_per_s, executed_flops_per_s, bytes_per_s;
	double intensity; /* executed operations per byte; NaN: no bytes */

	uint64_t working_set_bytes; /* that one call touches */
	enum sl_level level;        /* smallest memory that holds it */
	double bound_ns;            /* the roofline's least time for a call */
	double ceiling_share; /* bound_ns of median_ns, 0 to 1; NaN: no ceiling */
	enum sl_level roof;   /* that bounds it: COMPUTE or a memory */
	const struct sl_fact *impossible;   /* a rate above what the machine
					     does, and the likely cause; NULL:
					     none */
	const struct sl_response *response; /* NULL: not experimented on */
	const struct sl_operation_counts *counts;   /* NULL: not counted */
	struct sl_traffic traffic[SL_TRAFFIC_MOST]; /* nearest first */
	size_t n_traffic; /* 0: no ceilings, so that caches are not known */
	struct sl_judgement judgement;
	enum sl_phase phase; /* of a training step; FORWARD of inference */
};

/* One operation uses what another makes. */
struct sl_operation_edge {
	size_t from, to; /* operations */
};

/* Operations summed up by type, module or part. */
struct sl_operation_group {
	const char *name;
	size_t n_operations;
	double self_ns, share;
	uint64_t core_flops, nominal_flops, executed_flops, n_bytes, parameters;
};

/*
 * wall = operations + gaps + overhead + residual, means per iteration over
 * the recorded iterations.  Operations and gaps come from marks between steps
 * less the cost of making them; overhead is recorded minus bare, the median
 * of pairs; the residual is what remains, signed.
 */
struct sl_ledger {
	double wall_ns, operations_ns, gaps_ns, residual_ns;
	struct sl_estimate overhead_ns;
	double overhead_share, residual_share; /* of wall */
	size_t n_iterations;                   /* that the means are over */
	size_t n_left_out;   /* further ones, of disturbed rounds */
	int is_closed;       /* |residual| at most 2 % of wall */
	struct sl_fact open; /* which entry is uncertain where it is not closed:
				SL_FACT_OPEN_FEW, OPEN_WIDE, OPEN_SHORT; NONE */
	const char *absent;  /* why nothing was recorded; NULL */
};

/* What is alive while a step runs. */
struct sl_memory_moment {
	size_t operation;
	uint64_t live_bytes;
};

/* What a tensor is for. */
enum sl_memory_category {
	SL_MEMORY_ACTIVATION = 0, /* a result that later operations read */
	SL_MEMORY_GRADIENT,       /* one of the backward phase */
	SL_MEMORY_STATE, /* parameters in training, moments of the optimizer,
			    caches: an input that the next iteration finds
			    changed */
	SL_MEMORY_INPUT,
	SL_MEMORY_OUTPUT,
	SL_MEMORY_WORKSPACE /* a kernel's own */
};
enum { SL_N_MEMORY_CATEGORIES = SL_MEMORY_WORKSPACE + 1 };

/* "activation", "gradient", "state", "input", "output", "workspace"; never
 * NULL. */
SL_API const char *sl_memory_category_text(enum sl_memory_category category);

/* A tensor and how long it is in memory. */
struct sl_memory_tensor {
	const char *name;
	enum sl_memory_category category;
	uint64_t n_bytes;   /* in whole lines of 64 bytes */
	size_t first, last; /* places in sl_memory_use.timeline */
};

/* When a process was largest. */
enum sl_peak_moment { SL_PEAK_UNKNOWN = 0, SL_PEAK_PLANNING, SL_PEAK_RUNNING };
enum { SL_N_PEAK_MOMENTS = SL_PEAK_RUNNING + 1 };

/* "unknown", "while it was planned", "while it ran"; never NULL. */
SL_API const char *sl_peak_moment_text(enum sl_peak_moment moment);

/*
 * live <= planned <= reserved; resident = base + touched + mapped file pages.
 * Values of the plan are counted in lines of 64 bytes, as they are placed.
 */
struct sl_memory_use {
	uint64_t parameters_bytes;  /* as the model stores them */
	uint64_t activations_bytes; /* at the peak, by category; they sum to */
	uint64_t input_bytes, output_bytes, workspace_bytes; /* tracked_bytes */
	uint64_t live_bytes;   /* the plan's bound */
	const char *unplanned; /* why it is no bound: values lie outside the
				  plan, and are in no figure of the plan or at
				  the peak; NULL: none do */
	struct sl_reading tracked_bytes; /* largest sum seen by the tracker in
					    a run; where it is absent, so is
					    all that is at the peak */
	uint64_t path_bytes;   /* the plan's bound over the steps that ran: less
				than live_bytes where a larger side of an If
				did not; 0: not tracked */
	uint64_t values_bytes; /* the bound without workspaces, of which kernels
				  may leave parts alone: what must be touched;
				  of the steps that ran, 0 where a branch was
				  not tracked */
	uint64_t planned_bytes;  /* the block for activations */
	uint64_t reserved_bytes; /* planned + packed + records + rounding */
	uint64_t packed_bytes, mapped_bytes; /* weights made; used in place */
	uint64_t records_bytes;  /* graph as it is run, steps, shapes: the
				    plan's own, beside oneDNN's */
	uint64_t rounding_bytes; /* to whole large pages */
	struct sl_reading resident_base_bytes, resident_peak_bytes;
	enum sl_peak_moment peak_moment;
	struct sl_reading resident_bytes; /* after the runs */
	struct sl_reading touched_bytes;  /* resident growth after the runs,
					     files left out */
	struct sl_reading file_bytes;     /* that of mapped files; growth is
					     absent where it was negative */
	int is_peak_reset;      /* the peak is of these runs alone: else it is
				   a lower bound where it did not rise */
	double library_bytes;   /* of what is touched, oneDNN's: objects by
				   malloc's records and compiled code; measured;
				   NaN: not counted */
	double predicted_bytes; /* touched, from the plan: pages of the block
				   and of packed weights, records, library;
				   NaN: not counted */
	double predicted_least_bytes; /* likewise, without pages that have
					 nothing but workspace */
	double efficiency; /* (live + parameters) / (peak - base); NaN: absent,
			      impossible, or live_bytes is no bound */
	const struct sl_memory_moment *timeline; /* of operations that ran; the
				plan's where tracked_bytes is absent */
	size_t n_timeline;
	const struct sl_live_value *alive; /* at the peak, largest first */
	size_t n_alive;
	size_t peak_operation;
	const struct sl_fact *impossible; /* touched below the live set, ...;
					     NULL */
	const struct sl_memory_tensor *tensors; /* at each place of the
				timeline those in memory sum to its bytes */
	size_t n_tensors;
};

/* A bandwidth measured beside the workload. */
struct sl_ceiling_level {
	enum sl_level level; /* L1 to L3, DRAM */
	uint64_t size_bytes; /* one thread's working set up to this; of DRAM
				UINT64_MAX */
	struct sl_estimate bytes_per_s; /* all threads together */
};

/* Arithmetic in one type, likewise. */
struct sl_ceiling_peak {
	enum sl_dtype dtype;
	const char *isa;
	struct sl_estimate flops_per_s; /* all threads; a multiply-add is 2 */
};

enum { SL_CEILING_LEVELS_MOST = 4, SL_CEILING_PEAKS_MOST = 3 };

/* What the machine reached while the model was measured, at its threads. */
struct sl_ceilings {
	enum sl_dtype dtype;
	size_t n_threads;
	struct sl_estimate flops_per_s; /* of dtype; n 0: not measured */
	struct sl_ceiling_peak peaks[SL_CEILING_PEAKS_MOST]; /* all types that
				operations may compute in */
	size_t n_peaks;
	struct sl_ceiling_level levels[SL_CEILING_LEVELS_MOST];
	size_t n_levels; /* the last is DRAM */
	double ridge;    /* operations per byte at which DRAM stops to bound */
	struct sl_estimate step_ns; /* the least that any step takes */
	const char *absent;         /* why there are none; NULL */
};

struct sl_rates {
	double samples_per_s;
	struct sl_reading tokens_per_s; /* of models of text */
	/* At the median: core, executed, operands. */
	double flops_per_s, executed_flops_per_s, bytes_per_s;
	/* The least time that all its arithmetic takes at the peaks, and all
	 * its bytes at the bandwidth of where they lie, each by itself, as
	 * shares of the median.  These and the next are NaN where there is no
	 * ceiling: the profile's ceilings.absent says why. */
	double compute_efficiency, bandwidth_efficiency;
	double bound_ns; /* least time by the roofline, all operations */
};

enum sl_bottleneck {
	SL_BOTTLENECK_NOT_ASKED = 0, /* no experiments were asked for:
					SL_PROFILE_NO_DIAGNOSIS or BRIEF */
	SL_BOTTLENECK_INCONCLUSIVE,
	SL_BOTTLENECK_COMPUTE,
	SL_BOTTLENECK_MEMORY,
	SL_BOTTLENECK_OVERHEAD,
	SL_BOTTLENECK_DATA,
	SL_BOTTLENECK_MIXED,
	SL_BOTTLENECK_IMBALANCE /* threads wait for one of them */
};

/* "not asked", "inconclusive", "compute", "memory", "overhead", "data",
 * "mixed", "imbalance". */
SL_API const char *sl_bottleneck_text(enum sl_bottleneck bottleneck);

struct sl_finding {
	enum sl_bottleneck bottleneck;
	enum sl_bound cause; /* that makes most of it; UNKNOWN where it is
				inconclusive, or not asked */
	double confidence;
	double shares[SL_N_BOUNDS]; /* of time, by the operations' bounds */
	const struct sl_fact *evidence;
	size_t n_evidence;
	const struct sl_fact *against;
	size_t n_against;
};

/* If only this were faster. */
struct sl_amdahl {
	size_t operation; /* the only one, or the first of its type */
	int is_type;      /* all operations of that type */
	size_t n_operations;
	double share; /* of the iteration; where a limit was measured, of
			 iterations recorded in the same rounds */
	double at_2, at_4, at_10, limit; /* predicted speed-ups of the model */
	struct sl_estimate measured_limit; /* with it replaced by its stored
					      output; n 0: not measured */
	const char *absent;                /* why it was not measured; NULL */
	double limit_lo, limit_hi; /* of the prediction, by how well the cost of
				      recording is known, and by what is not
				      attributed */
};

/* What a speed-up is of. */
enum sl_gain {
	SL_GAIN_TIME = 0, /* an iteration */
	SL_GAIN_SAMPLES,  /* samples per second */
	SL_GAIN_TOKENS    /* each further token */
};
enum { SL_N_GAINS = SL_GAIN_TOKENS + 1 };

/* "time", "samples", "tokens". */
SL_API const char *sl_gain_text(enum sl_gain gain);

/* What to run to see whether an advice is right. */
enum sl_trial_action {
	SL_TRIAL_NONE = 0,   /* nothing in this version tests it */
	SL_TRIAL_LAYER,      /* a profile of one layer alone */
	SL_TRIAL_KERNELS,    /* one without reference kernels only */
	SL_TRIAL_FUSION,     /* one with fusion */
	SL_TRIAL_ALGORITHMS, /* one with algorithms chosen the other way */
	SL_TRIAL_BY_PART,    /* one that lists parts */
	SL_TRIAL_BY_TYPE,    /* one that lists types */
	SL_TRIAL_THREADS,    /* a sweep over threads, of a layer a profile */
	SL_TRIAL_BATCH,      /* likewise over the batch */
	SL_TRIAL_DTYPE,      /* a profile in that type */
	SL_TRIAL_GENERATE,   /* a decoding loop */
	SL_TRIAL_PREFETCH,   /* training steps with prefetch threads */
	SL_TRIAL_VARIANT,    /* a changed model, made and measured */
	SL_TRIAL_RECOMPUTE   /* training steps that compute activations again */
};
enum { SL_N_TRIAL_ACTIONS = SL_TRIAL_RECOMPUTE + 1 };

/* "none", "layer", "kernels", "fusion", "algorithms", "by-part", "by-type",
 * "threads", "batch", "dtype", "generate", "prefetch", "variant",
 * "recompute". */
SL_API const char *sl_trial_action_text(enum sl_trial_action action);

struct sl_trial {
	enum sl_trial_action action;
	int64_t value;       /* threads or batch that are advised; tokens */
	int64_t from, to;    /* the range of a sweep */
	enum sl_dtype dtype; /* of DTYPE */
	const char *layer;   /* of LAYER */
	const char *changes; /* of VARIANT, as sl_variant_new() takes them */
};

struct sl_advice {
	struct sl_fact what; /* to do */
	double least, most;  /* speed-up, bounded; NaN: none */
	enum sl_gain gain;
	double now_ns;        /* an iteration takes now */
	struct sl_fact basis; /* the measurement behind it */
	struct sl_trial trial;
	struct sl_estimate measured; /* the speed-up when the profile tried it,
					with the interval in which another run
					finds it; n 0: not tried */
};

/* A moment of one iteration, for traces. */
struct sl_trace_event {
	size_t operation; /* SIZE_MAX: the end */
	double start_ns;  /* since the iteration began */
};

/* Why an iteration is kept whole. */
enum sl_kept { SL_KEPT_FIRST = 0, SL_KEPT_MEDIAN, SL_KEPT_SLOWEST };

struct sl_trace_iteration {
	enum sl_kept why;
	size_t nth;      /* iteration, recorded ones counted from 0 */
	double start_ns; /* since the first recorded one */
	double wall_ns;
	const struct sl_trace_event *events;
	size_t n_events;
};

/* A phase of a training step. */
struct sl_training_phase {
	enum sl_phase phase;
	size_t n_operations;
	struct sl_estimate ns; /* in a step, median over a sample of them */
	double share;          /* of the self time of all operations */
	uint64_t core_flops, n_bytes;
	struct sl_reading memory_bytes; /* most that is live in it */
};

/*
 * What one operation of the forward pass costs in a training step: means, as
 * self_ns of operations.  What computes gradients of inputs and of parameters
 * at once counts with the inputs.
 */
struct sl_training_layer {
	const char *name, *type;
	double forward_ns, backward_input_ns, backward_weight_ns, update_ns;
	double backward_to_forward; /* times; NaN: none in forward */
	uint64_t forward_flops, backward_flops; /* core */
	double recompute_ns;                    /* its activations again */
};

/* How training steps get their batches. */
enum sl_feed {
	SL_FEED_MEMORY = 0, /* the same batch every time, which is there */
	SL_FEED_PREFETCH    /* the loader, with prefetch threads */
};
enum { SL_N_FEEDS = SL_FEED_PREFETCH + 1 };

/* "memory", "prefetch"; never NULL. */
SL_API const char *sl_feed_text(enum sl_feed feed);

/* Steps fed in another way (B) against the way they are fed (A), in rounds of
 * random order. */
struct sl_feed_comparison {
	enum sl_feed feed;
	size_t n_prefetch;        /* threads, of PREFETCH */
	struct sl_estimate ratio; /* time of a step, B / A; n: rounds */
	enum sl_verdict verdict;  /* with a margin of 1 % */
};
enum { SL_FEED_COMPARISONS_MOST = 2 };

/* A training step.  Memory is the plan's. */
struct sl_training_profile {
	enum sl_loss loss;
	enum sl_optimizer optimizer; /* NONE: gradients only */
	int has_synthetic_target;    /* the loss says nothing of the model */
	double last_loss; /* of the last step; NaN: it was interrupted */
	/* Where steps are fed from a data set; else NULL, and no DATA phase. */
	const char *data;  /* its name */
	size_t n_prefetch; /* threads that make batches ahead */
	struct sl_augmentation augmentation;
	const struct sl_feed_comparison *comparisons;
	size_t n_comparisons; /* 0: none was asked for, or no time was left */
	const struct sl_fact *findings; /* what stands out */
	size_t n_findings;
	const struct sl_training_phase *phases; /* in order */
	size_t n_phases;
	const struct sl_training_layer *layers; /* in the order they run */
	size_t n_layers;
	double backward_to_forward; /* of the phases' times, likewise */
	double other_ns; /* of operations that belong to no layer: the loss,
			    reorders, clipping */
	uint64_t parameters_bytes; /* that are trained */
	uint64_t kept_bytes;       /* activations that are alive between forward
				      and backward pass of a micro-batch */
	uint64_t gradients_bytes;  /* of all parameters */
	/* Moments, by optimizer: of the one that runs those that there are, of
	 * the others what they would take. */
	uint64_t optimizer_bytes[SL_N_OPTIMIZERS];
	double step_ns; /* median of the whole step */
	double samples_per_s;
	uint64_t n_micro_batches; /* of a step: profile->batch is that of one */
	/* Activations that are computed again, where n_segments is above 1.
	 * Against a step that keeps them: the bound of its plan, as
	 * memory.live_bytes, and its time / that of this one, measured in turn;
	 * 0 and n 0: not compared. */
	uint64_t n_segments; /* that the forward pass is cut into */
	uint64_t keeping_live_bytes;
	struct sl_estimate keeping_ratio;
};

enum sl_profile_flags {
	SL_PROFILE_NO_CEILINGS = 1u << 0,  /* nor anything that needs them */
	SL_PROFILE_NO_DIAGNOSIS = 1u << 1, /* no experiments on operations */
	SL_PROFILE_NO_ABLATION = 1u << 2,
	SL_PROFILE_BRIEF = 7u /* times, where they go, and memory only: no
				 verdict (NOT_ASKED), no efficiency */
};

struct sl_profile_options {
	size_t struct_size;
	const struct sl_plan_options *plan; /* NULL: defaults */
	const struct sl_input_file *inputs;
	size_t n_inputs;
	const char *inputs_folder;
	uint64_t seed;    /* of synthetic inputs and the order of runs; 0: 1 */
	double time_s;    /* for all measuring after planning: iterations,
			     memory, experiments and ablation; default: 5.5
			     with planning, 2.5 for measuring at least */
	double precision; /* of the median; default 0.01 */
	size_t n_warmup, n_runs; /* fixed numbers; 0: detected, by time */
	unsigned flags;          /* enum sl_profile_flags */
	double hot_share;        /* operations that make so much of the time are
			     experimented on; default 0.9 */
	size_t trace_iterations; /* of the slowest, kept; default 3 */
	void (*progress)(const struct sl_progress *now, void *ctx);
	void *progress_ctx;
	const volatile sig_atomic_t *interrupt;
	const struct sl_allocator *allocator;
	/* Of sl_profile_training(): what steps are fed from, which must
	 * outlive the call, and how batches are made of it.  The batch is that
	 * of the sizes, else the loader's; its split is TRAIN. */
	const struct sl_dataset *data; /* NULL: the same inputs every time */
	const struct sl_loader_options *loader; /* NULL: defaults */
	const char *why; /* a node or module: what it is part of is experimented
			    on however short it is, and its page is about
			    that; NULL: about the model */
};
#define SL_PROFILE_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_profile_options)

/* What was asked for, so that it can be asked for again with a change. */
struct sl_request {
	const char *model; /* as a user names it */
	const char *layer; /* of that model; NULL: all of it */
	/* Of the model, as struct sl_plan_options had them. */
	struct sl_sizes sizes;
	int n_threads;
	enum sl_dtype dtype;
	enum sl_algorithms algorithms;
	enum sl_nan_policy nan_policy;
	unsigned flags;
};

/* Owns all it points to; graph and options may go before it. */
struct sl_profile {
	const char *name, *source;
	struct sl_request request;
	const struct sl_inspection *model; /* parameters, cost, coverage */
	const struct sl_machine *machine;  /* as it was known before; NULL: it
					      was never measured */
	int64_t batch;
	enum sl_dtype dtype;
	int n_threads;
	const char *choices; /* a hash of what computes each step: the same
				text, the same algorithms */
	uint64_t seed;
	double plan_ns;
	size_t n_nodes;

	struct sl_latency latency;        /* of bare iterations */
	size_t calls_per_sample, n_timed; /* iterations */
	size_t sample_stride;             /* every nth iteration was kept */
	struct sl_noise noise;
	double elapsed_s;
	enum sl_stop stopped_by;

	struct sl_ledger ledger;
	struct sl_operation *operations; /* in the order they run */
	size_t n_operations;
	const size_t *by_time; /* operations, longest first */
	size_t n_hot;          /* of these, experimented on */
	size_t n_for_80;       /* of these make 80 % of the time */
	const struct sl_operation_group *by_type, *by_module, *by_part;
	size_t n_types, n_modules, n_parts;    /* longest first */
	const struct sl_operation_edge *edges; /* by 'to' */
	size_t n_edges;

	struct sl_memory_use memory;
	struct sl_ceilings ceilings;
	struct sl_hog_effect hog; /* of the one beside the experiments */
	struct sl_counter_use counters[SL_N_EVENTS];
	size_t n_counted;       /* operations with counts */
	const char *no_counter; /* why none was read; NULL: some were */
	double others_share;    /* of all CPUs, taken by others or by the
				     hypervisor during experiments; NaN: none
				     made, or not known */
	struct sl_rates rates;
	struct sl_finding verdict;
	const struct sl_amdahl *amdahl;
	size_t n_amdahl;
	const struct sl_advice *advice; /* at most five, best first */
	size_t n_advice;
	const struct sl_fact *impossible; /* what the physics check found */
	size_t n_impossible;
	const struct sl_fact *remarks; /* what was left out, and why */
	size_t n_remarks;

	const struct sl_trace_iteration *iterations; /* whole timelines */
	size_t n_iterations;
	const struct sl_training_profile *training; /* NULL: inference */
	const char *why; /* the operation asked about, by its name; NULL */
};

/*
 * Plans a model, runs it over and over, and says how long it takes and how sure
 * that is, where time and memory go, what bounds each part, and what would
 * help.  To learn only how long it takes, use sl_measure_latency().  'options'
 * may be NULL.  Fails as sl_run() does, and with the failure of an iteration;
 * SL_E_INTERRUPTED before the first one.  Measures the whole process: one
 * profile at a time.
 */
SL_API enum sl_status
sl_profile_forward(struct sl_profile **out, const struct sl_graph *graph,
		   const struct sl_profile_options *options,
		   struct sl_error *err) SL_CHECKED;

/*
 * Like sl_profile_forward(), of a training step: an iteration is forward pass,
 * loss, backward pass and update, 'training' has its phases and layers, and an
 * input of options->inputs may be the target.  Every step starts from the
 * model's parameters; writing the new ones back is not timed.  There are no
 * experiments, so no verdict and no advice, and no inputs_folder.  Both options
 * may be NULL.  Fails as sl_trainer_open() and sl_train_step() do.
 */
SL_API enum sl_status
sl_profile_training(struct sl_profile **out, const struct sl_graph *graph,
		    const struct sl_training_options *training,
		    const struct sl_profile_options *options,
		    struct sl_error *err) SL_CHECKED;

/*
 * Like sl_profile_training(), but an iteration ends with the gradients: there is
 * no update, and the optimizer of 'training' does not matter.
 */
SL_API enum sl_status
sl_profile_backward(struct sl_profile **out, const struct sl_graph *graph,
		    const struct sl_training_options *training,
		    const struct sl_profile_options *options,
		    struct sl_error *err) SL_CHECKED;
SL_API void sl_profile_free(struct sl_profile *profile); /* NULL is fine */

/* Appends what an advice promises, "at most 1.9 x", or the time that remains
 * where the bound is far away. */
SL_API enum sl_status sl_advice_expected(const struct sl_advice *advice,
					 struct sl_buf *out,
					 struct sl_error *err) SL_CHECKED;

/* Appends the command of the program that makes the trial of an advice, as a
 * shell takes it; nothing for SL_TRIAL_NONE. */
SL_API enum sl_status sl_advice_command(const struct sl_profile *profile,
					const struct sl_advice *advice,
					struct sl_buf *out,
					struct sl_error *err) SL_CHECKED;

/* The n operations that take longest, n at most n_operations; fills list[]
 * and returns how many. */
SL_API size_t sl_top_operations(const struct sl_profile *profile, size_t n,
				const struct sl_operation **list);

/*
 * How long a model takes; this is the function to use for a latency.  Times
 * sl_plan_run() as sl_measure() times a function; every input must be set
 * (sl_plan_fill_inputs()).  SL_E_INTERRUPTED where the plan's own flag ends a
 * run.  Use sl_profile_forward() to know where the time goes as well, and
 * sl_measure() to time your own code together with the model; run_ns of
 * sl_run() is a single first run, with cold caches.
 */
SL_API enum sl_status
sl_measure_latency(struct sl_measurement **out, struct sl_plan *plan,
		   const struct sl_measure_options *options,
		   struct sl_error *err) SL_CHECKED;

/* What the table of a profile lists. */
enum sl_profile_by {
	SL_PROFILE_BY_OPERATION = 0,
	SL_PROFILE_BY_TYPE,
	SL_PROFILE_BY_MODULE, /* paths, cut at 'depth' parts */
	SL_PROFILE_BY_PART
};

/* A layer alone and within its model, timed in turn. */
struct sl_layer_profile {
	const char *model, *layer;
	size_t n_operations; /* of the model's plan that do its work */
	struct sl_estimate context_ns, alone_ns; /* medians of an iteration */
	struct sl_estimate ratio; /* within / alone, median of rounds */
	struct sl_fact finding;   /* what the difference means */
	const struct sl_profile *alone;
};

/*
 * Profiles one layer, a node or a module such as "layer1.0", as a model of its
 * own, and says how that differs from the layer within its model.  Nodes that
 * the plan fuses with it come along.  Fails as sl_graph_extract() and
 * sl_profile_forward() do.
 */
SL_API enum sl_status sl_profile_layer(struct sl_layer_profile **out,
				       const struct sl_graph *graph,
				       const char *layer,
				       const struct sl_profile_options *options,
				       struct sl_error *err) SL_CHECKED;
SL_API void sl_layer_profile_free(struct sl_layer_profile *p);

/*
 * What memory a model takes, without timing it; for a C function, use
 * sl_measure_function_memory().  Plans the model, runs it twice on
 * synthetic numbers (those of the sizes' folder where there is one), and
 * once more step by step for the tracker.
 * 'options' may be NULL.  Looks at the whole process, whose high-water mark it
 * sets back: nothing else should allocate meanwhile, and a plan that was made
 * before may have left room that this one then uses.  Fails as sl_run() does.
 * *out owns all it points to, and is for sl_memory_use_free().
 */
SL_API enum sl_status sl_measure_memory(struct sl_memory_use **out,
					const struct sl_graph *graph,
					const struct sl_plan_options *options,
					struct sl_error *err) SL_CHECKED;
SL_API void sl_memory_use_free(struct sl_memory_use *use); /* NULL is fine */

/* What a profile shows. */
struct sl_profile_view {
	size_t struct_size;
	size_t n_top; /* rows listed; 0: 10 */
	enum sl_profile_by by;
	size_t depth; /* of module paths; 0: as the profile has them */
	int explain;  /* plain words beside the figures */
	const struct sl_layer_profile *layer; /* whose 'alone' is shown, and
						 what it is within its model;
						 NULL: a model */
};
#define SL_PROFILE_VIEW_INIT SL_OPTIONS_INIT(struct sl_profile_view)

/* One profile, or several side by side.  TEXT, JSON, CSV, MARKDOWN.  'view'
 * NULL: defaults. */
SL_API enum sl_status
sl_profile_render(const struct sl_profile *const *profiles, size_t n,
		  const struct sl_profile_view *view,
		  const struct sl_render_options *how, struct sl_buf *out,
		  struct sl_error *err) SL_CHECKED;

/* How much of a profile goes into a trace. */
struct sl_trace_options {
	size_t struct_size;
	size_t limit;      /* events at most; 0: 100,000 */
	size_t *n_dropped; /* set to how many it left out; NULL: not wanted */
};
#define SL_TRACE_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_trace_options)

/*
 * The iterations that a profile keeps whole, the median one first, in the JSON
 * of Chrome's trace events, which ui.perfetto.dev opens: a thread for each
 * iteration, all drawn from 0, and live memory along the median one.  Events
 * beyond the limit are left out, and otherData.dropped_events says how many.
 *  'options' NULL: defaults.
 */
SL_API enum sl_status sl_profile_trace(const struct sl_profile *profile,
				       const struct sl_trace_options *options,
				       struct sl_buf *out,
				       struct sl_error *err) SL_CHECKED;

/*
 * Folded stacks for flame graphs, a line for each operation: model, modules and
 * operator with ';' between, then its mean self time in an iteration in whole
 * nanoseconds.  The operator is the last part of the operation's name where
 * that begins with its type, else the type.  Of ';', spaces and control bytes
 * in names '_' is made.
 */
SL_API enum sl_status sl_profile_folded(const struct sl_profile *profile,
					struct sl_buf *out,
					struct sl_error *err) SL_CHECKED;

#ifdef __cplusplus
}
#endif

#endif

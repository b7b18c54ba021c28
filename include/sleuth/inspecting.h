/* SPDX-License-Identifier: Apache-2.0 */
/* inspecting.h - what a model holds, costs and needs, without running it. */
#ifndef SLEUTH_INSPECTING_H
#define SLEUTH_INSPECTING_H

#include "sleuth/facts.h"
#include "sleuth/machines.h"
#include "sleuth/models.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a number of the model is for. */
enum sl_role {
	SL_ROLE_WEIGHT = 0, /* trained */
	SL_ROLE_STATISTIC,  /* BatchNorm's running mean and variance */
	SL_ROLE_CONSTANT,   /* shapes, masks, scales, zero points, windows */
	SL_ROLE_TIED        /* a copy of another weight */
};

/* "weight", "statistic", "constant", "tied copy". */
SL_API const char *sl_role_text(enum sl_role role);

struct sl_parameter_row {
	const char *name;
	size_t value_id;
	enum sl_role role;
	enum sl_dtype dtype;
	size_t rank;
	const int64_t *dims;
	uint64_t n_elements, n_bytes;
	const char *tied_to; /* of a tied copy: the weight; else NULL */
	const char *storage; /* external file, or NULL */
};

struct sl_dtype_total {
	enum sl_dtype dtype;
	uint64_t n_elements, n_bytes;
};

/* Elements by role; bytes and types of what is stored, copies included. */
struct sl_parameters {
	uint64_t trainable, statistics, constants, tied;
	uint64_t n_bytes; /* stored, all roles */
	uint64_t trainable_bytes;
	const struct sl_dtype_total *by_dtype;
	size_t n_dtypes;
	const struct sl_parameter_row *rows; /* in the order of the file */
	size_t n_rows;
	size_t n_batch_norms;        /* BatchNormalization nodes */
	size_t n_folded_batch_norms; /* convolutions whose bias is a folded
					BatchNorm, as far as names and
					structure tell */
	const char *folding;         /* that in words; NULL: nothing to say */
};

/* One node of the model, under the sizes it was inspected with. */
struct sl_layer {
	const char *name, *type, *domain;
	size_t node_id;
	const char *path;         /* module path from its name, "" for none */
	uint64_t n_calls;         /* 1; bodies of loops more, branches not taken
				   0 */
	struct sl_cost cost;      /* of all calls together */
	uint64_t parameters;      /* trainable ones it is the first to use */
	enum sl_dtype dtype;      /* that it computes in */
	const char *output_shape; /* "1x64x112x112", first output */
	uint64_t output_bytes;
	double intensity; /* operations per byte; NaN without bytes */
	double share;     /* of the model's core FLOPs; of all operations
				   where it has no core; NaN where nothing
				   computes */
	int is_causal;    /* a product of causal attention */
};

/* Layers summed up by type or by module path. */
struct sl_layer_group {
	const char *name;
	size_t n_layers;
	uint64_t parameters, macs, operations, n_bytes;
	double share;
};

struct sl_ledger_side {
	uint64_t n_nodes, n_bytes; /* bytes that the nodes read and write */
};

struct sl_coverage {
	struct sl_ledger_side counted, estimated, unknown;
	const char *const *names; /* "TYPE (domain): why", each kind once, of
				     what is estimated and unknown */
	size_t n_names;
};

struct sl_live_value {
	const char *name;
	uint64_t n_bytes;
};

enum sl_optimizer {
	SL_OPTIMIZER_NONE = 0, /* inference */
	SL_OPTIMIZER_SGD,
	SL_OPTIMIZER_MOMENTUM,
	SL_OPTIMIZER_ADAM,
	SL_OPTIMIZER_ADAMW
};
enum { SL_N_OPTIMIZERS = SL_OPTIMIZER_ADAMW + 1 };

/* "none", "sgd", "momentum", "adam", "adamw". */
SL_API const char *sl_optimizer_text(enum sl_optimizer optimizer);

/*
 * Memory of inference, from the order of the nodes: a value lives from its
 * producer to its last use, views share what they view, and the live set is
 * the largest sum.  Parameters are on top.
 */
struct sl_live_set {
	uint64_t parameter_bytes; /* stored, copies included */
	uint64_t live_bytes;      /* inputs, activations, outputs at the peak;
				     at least so much where n_unknown */
	size_t n_unknown;         /* values whose size is not known: they count
				     nothing */
	uint64_t unfused_bytes;   /* live_bytes of an engine that fuses nothing;
				     more where the model is quantized */
	uint64_t once_bytes; /* parameters, inputs and outputs that every way to
				compute the model reads or writes: of a table
				the rows that are taken */
	uint64_t interface_bytes;  /* inputs and outputs of the model */
	uint64_t activation_bytes; /* of all nodes, if none were freed */
	const char *peak_layer;
	const struct sl_live_value *alive; /* the ten largest at the peak,
					      largest first */
	size_t n_alive;                    /* of these */
	size_t n_alive_all;                /* of all at the peak */
	uint64_t others_bytes; /* of those that are not in 'alive' */
	struct sl_reading kv_bytes_per_token;    /* both caches, all layers, in
						 the model's type */
	struct sl_reading kv_elements_per_token; /* likewise; twice that are
						    the bytes in f16 */
	struct sl_reading kv_bytes; /* whole batch, at the sizes inspected */
	size_t n_attentions; /* with keys and values that a cache could hold */
};

/* Phases of a training step.  Memory is told of the first three; the loss is a
 * phase of operations alone. */
enum sl_phase {
	SL_PHASE_FORWARD = 0,
	SL_PHASE_BACKWARD,
	SL_PHASE_UPDATE,
	SL_PHASE_LOSS,
	SL_PHASE_DATA,     /* a training run waits for a batch */
	SL_PHASE_RECOMPUTE /* activations again, for the backward pass */
};
enum { SL_N_PHASES = SL_PHASE_UPDATE + 1 };

/* "forward", "backward", "update", "loss", "data", "recompute". */
SL_API const char *sl_phase_text(enum sl_phase phase);

/* What is in memory at the fullest moment of a phase, beside parameters, other
 * stored numbers and the optimizer's state, which always are. */
struct sl_phase_need {
	uint64_t gradient_bytes;   /* of weights, as far as they are there */
	uint64_t activation_bytes; /* kept and in use, and their gradients */
};

/*
 * One training step.  Activations are estimated: inputs of every node that
 * its gradient needs, kept from forward to backward.  Everything is counted
 * in the types that are stored; moments are f32.
 */
struct sl_training {
	uint64_t forward_flops, backward_flops,
		total_flops; /* core, 2 x MACs */
	double backward_to_forward;
	uint64_t parameter_bytes; /* trainable */
	uint64_t integer_bytes;   /* of these, stored as integers: training
				     would keep them in a wider type */
	uint64_t other_bytes;     /* statistics, constants and copies */
	uint64_t gradient_bytes, activation_bytes;
	uint64_t optimizer_bytes[SL_N_OPTIMIZERS];
	struct sl_phase_need needs[SL_N_PHASES];
	enum sl_phase peak_phase; /* that needs most; with any optimizer */
	uint64_t phase_bytes[SL_N_OPTIMIZERS][SL_N_PHASES]; /* all of it */
	uint64_t peak_bytes[SL_N_OPTIMIZERS]; /* the largest of the phases */
	/* Parameters, others, gradients, state and activations together; NONE
	 * is inference: what is stored and the live set. */
	uint64_t total_bytes[SL_N_OPTIMIZERS];
};

/* A size that grows. */
enum sl_growth_axis { SL_GROWTH_BATCH = 0, SL_GROWTH_SEQ, SL_GROWTH_PAST };
enum { SL_N_GROWTH_AXES = SL_GROWTH_PAST + 1 };

/* "batch", "seq", "past"; never NULL. */
SL_API const char *sl_growth_axis_text(enum sl_growth_axis axis);

/* What grows with it. */
enum sl_growth_figure {
	SL_GROWTH_FLOPS = 0,
	SL_GROWTH_ATTENTION, /* of the FLOPs, those of attention's products */
	SL_GROWTH_ACTIVATIONS,
	SL_GROWTH_LIVE, /* memory */
	SL_GROWTH_KV    /* cache of keys and values */
};
enum { SL_N_GROWTH_FIGURES = SL_GROWTH_KV + 1 };

/* "flops", "attention flops", "activations", "live memory", "kv cache"; never
 * NULL. */
SL_API const char *sl_growth_figure_text(enum sl_growth_figure figure);

/*
 * How figures grow with one size: f(n) = constant + linear n + quadratic n^2,
 * found exactly from the formulas at several n, and the local exponent
 * d log f / d log n at the sizes inspected and for large n.
 */
struct sl_growth {
	enum sl_growth_axis axis;
	enum sl_growth_figure figure;
	int64_t at;
	/* NaN where absent or no polynomial. */
	double constant, linear, quadratic;
	double exponent; /* at 'at'; NaN where absent, or the figure is 0 */
	/* For large n: the polynomial's degree.  Live memory: that of the value
	 * that grows fastest.  No polynomial: 'exponent', rounded. */
	double final_exponent;
	int is_polynomial;  /* the three coefficients give every point tried */
	const char *absent; /* why there is no telling, or NULL */
};

/* A line of the difference between two conventions. */
struct sl_difference {
	const char *text; /* "BatchNorm, 53 layers: 2 x 11,113,984 elements" */
	int64_t amount;   /* in MACs of b - a; they sum to the difference */
};

struct sl_explanation {
	enum sl_convention a, b;
	uint64_t a_count, b_count; /* in MACs where the tool prints FLOPs too */
	const struct sl_difference *rows;
	size_t n_rows;
};

struct sl_weight_row {
	const char *name;
	uint64_t n_elements;
	double mean, std, min, max;
	double zero_share;      /* exactly 0 */
	double small_share;     /* |w| < 1e-3 of the largest |w| */
	size_t n_channels;      /* of the first dimension */
	size_t n_dead_channels; /* all 0 */
	uint64_t n_odd;         /* NaN or infinite */
	const char *absent;     /* why its numbers were not read, or NULL */
	uint64_t histogram[32]; /* from min to max */
};

struct sl_inspect_options {
	size_t struct_size;
	const struct sl_sizes *sizes;
	const enum sl_convention *explain; /* compared with the first, or with
					      core when it is one */
	size_t n_explain;
	int weights; /* read all numbers and describe them */
	int brief;   /* cost, memory and training only: no growth */
	const struct sl_allocator *allocator; /* NULL: malloc and free */
};
#define SL_INSPECT_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_inspect_options)

/* Owns all it points to; graph and options may go before it. */
/*
 * Memory and traffic of a quantized model are those of an engine that makes one
 * operator of DequantizeLinear, an operator and QuantizeLinear: what lies
 * between them is integers.  How many nodes these are, and how many of both
 * kinds run by themselves.  All 0: the model has none, and each node counts as
 * it stands in the file.
 */
struct sl_fused_nodes {
	size_t n_quantize, n_dequantize, n_apart;
};

struct sl_hardware_report;

struct sl_inspection {
	const char *name, *source, *producer;
	int ir_version, opset; /* of ai.onnx; 0: none */
	size_t n_nodes;
	const char *inputs, *outputs; /* "x 1x3x224x224 f32, ..." */
	int64_t batch;
	const char *sizes; /* "batch 1, seq 128": how symbols were bound */
	int64_t seq;       /* of these, the sequence; 0: the model has none */
	int64_t past;      /* the cache; -1: it has none */
	int64_t n_tokens;  /* of an iteration, in a batch of sequences of whole
			      numbers; 0: no input is one */
	struct sl_parameters parameters;

	struct sl_cost cost;                    /* the whole model */
	uint64_t flops, flops_per_sample;       /* 2 x macs */
	uint64_t n_bytes;                       /* weights + read + written */
	double intensity;                       /* all operations per byte */
	uint64_t conventions[SL_N_CONVENTIONS]; /* whole batch */
	struct sl_coverage coverage;
	struct sl_fused_nodes fused;
	const struct sl_layer *layers; /* in the order they run */
	size_t n_layers;
	const struct sl_layer_group *by_type, *by_path; /* most work first */
	size_t n_types, n_paths;

	struct sl_live_set memory;
	struct sl_training training;
	const struct sl_growth *growth;
	size_t n_growth;
	const struct sl_explanation *explanations;
	size_t n_explanations;
	const struct sl_weight_row *weights; /* where asked for */
	size_t n_weights;
	const struct sl_hardware_report *hardware; /* what it would take on
						      machines on paper; the
						      caller's; NULL: not
						      asked */
	uint64_t seed; /* that generated weights come from; 0: none are */
	const struct sl_fact *unresolved; /* shapes that depend on data, and
					     what could settle them */
	size_t n_unresolved;
};

/*
 * Looks at a model under the given sizes.  SL_E_DATA when a dimension is left
 * free (its name and the option to bind it are in the text), when the model
 * contradicts itself (the node is named) or a size does not fit it; SL_E_USAGE
 * for a convention that is none.
 * 'options' NULL: defaults.
 */
SL_API enum sl_status sl_inspect(struct sl_inspection **out,
				 const struct sl_graph *graph,
				 const struct sl_inspect_options *options,
				 struct sl_error *err) SL_CHECKED;
SL_API void sl_inspection_free(struct sl_inspection *i);

/* How the layers are listed. */
enum sl_by {
	SL_BY_LAYER = 0,
	SL_BY_TYPE,
	SL_BY_PATH /* module paths, cut at 'depth' parts */
};

struct sl_inspect_view {
	size_t struct_size;
	enum sl_by by;
	size_t depth; /* of paths; 0: 1 */
	size_t n_top; /* rows shown on a page; 0: what fits a screen */
};
#define SL_INSPECT_VIEW_INIT SL_OPTIONS_INIT(struct sl_inspect_view)

/*
 * Appends one inspection, or several side by side.  TEXT, JSON, CSV, MARKDOWN.
 * 'view' NULL: defaults.
 */
SL_API enum sl_status
sl_inspection_render(const struct sl_inspection *const *inspections, size_t n,
		     const struct sl_inspect_view *view,
		     const struct sl_render_options *how, struct sl_buf *out,
		     struct sl_error *err) SL_CHECKED;

/* A machine on paper: what its maker says it can do. */
struct sl_hardware {
	const char *id;                     /* "h100-sxm" */
	const char *name;                   /* "NVIDIA H100 SXM" */
	const char *kind;                   /* "cpu", "gpu", "accelerator" */
	double peak_ops_per_s[SL_N_DTYPES]; /* a multiply-add is 2; 0: does not
					       compute in that type */
	double bandwidth_bytes_per_s;
	double memory_bytes;   /* 0: not given */
	double price_per_hour; /* USD; NaN when not given */
	const char *source;    /* where the figures come from, in words */
};

/*
 * Reads a description: a path to a file, an id in 'folder', or words such as
 * "peak=100G,bandwidth=50G,memory=16G,price=2".  'folder' NULL: no ids.
 * SL_E_USAGE for words that are none of these and an id that 'folder' does not
 * have, SL_E_DATA with the line for a file that is malformed, SL_E_IO for one
 * that cannot be read.
 */
SL_API enum sl_status sl_hardware_open(struct sl_hardware **out,
				       const char *folder, const char *words,
				       struct sl_error *err) SL_CHECKED;
SL_API void sl_hardware_free(struct sl_hardware *h);

/* All ids in 'folder' (not NULL), sorted, each owned by the list; SL_E_IO when
 * it cannot be read. */
struct sl_hardware_list {
	size_t n;
	const char *const *ids;
};
SL_API enum sl_status sl_hardware_list(struct sl_hardware_list **out,
				       const char *folder,
				       struct sl_error *err) SL_CHECKED;
SL_API void sl_hardware_list_free(struct sl_hardware_list *list);

struct sl_hardware_options {
	size_t struct_size;
	double rate_per_s;           /* samples wanted; 0: not asked */
	double latency_s;            /* limit on one batch; 0: none */
	double n_samples;            /* of a training run; 0: not asked */
	double n_epochs;             /* default 1 */
	enum sl_optimizer optimizer; /* default Adam for training */
	const struct sl_sizes *sizes;
	const struct sl_allocator *allocator;
};
#define SL_HARDWARE_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_hardware_options)

/* How long one layer takes at least. */
struct sl_hardware_operation {
	const char *name;
	double bound_s;
	int is_compute; /* bound by arithmetic; else by memory */
};

/*
 * Bounds by roofline, never predictions.  'bound_s' supposes that every layer
 * takes its operands from memory and leaves its results there: the sum of the
 * larger of arithmetic and traffic.  'floor_s' supposes that everything is
 * fused or cached: all arithmetic, or what any way to compute it must read and
 * write once, whichever is longer.  It is never above 'bound_s'.  Both hold for
 * the operations that were counted, at the peak of the type: a way with fewer
 * of them (Winograd), or on units of another type (TF32), may be faster.
 */
struct sl_hardware_row {
	const struct sl_hardware *hardware; /* the caller's */
	enum sl_dtype dtype;       /* that most of the arithmetic is done in;
				      NONE: it has none for the model, there is
				      no bound, and all that follows from it is
				      NaN */
	enum sl_dtype dtype_model; /* that the model has it in */
	const char *no_bound;      /* why there is none; NULL */
	double bound_s;            /* of one batch */
	double floor_s;
	double compute_share; /* of bound_s, in layers bound by arithmetic */
	const struct sl_hardware_operation *operations; /* as they run; without
							   those that take
							   nothing */
	size_t n_operations;
	double needs_bytes; /* parameters and live set; at least so much where
			       the report has n_unknown_values */
	int fits;           /* 1 yes, 0 no, -1 not known */
	const char *fits_absent; /* why, or NULL */
	double cost_per_million; /* samples at bound_s, USD; NaN: no price, no
				    room */

	/* The cheapest way to hold rate and latency; best_batch 0: none.  A
	 * batch also waits for its last sample. */
	int64_t best_batch;
	double best_bound_s, best_wait_s;
	double best_per_million; /* USD at that batch; NaN: no price */
	double n_machines, cost_per_month; /* NaN where not asked, no price */

	/* Training, by arithmetic alone, in 'dtype'. */
	double train_hours, train_cost; /* NaN where not asked, no price */
	double train_bytes;
	int train_fits; /* as 'fits' */
};

struct sl_hardware_report {
	size_t n_rows;
	const struct sl_hardware_row *rows; /* shortest bound first; then those
					       without room, then those without
					       a bound */
	int64_t batch;
	int64_t largest_batch;   /* that was looked at, for rate and crossing */
	const char *batch_limit; /* why not further; NULL: not needed */
	size_t n_unknown_nodes; /* whose cost is not known and not in a bound */
	size_t n_unknown_values; /* whose size is not known */
	double rate_per_s, latency_s, n_samples, n_epochs; /* as asked */
	enum sl_optimizer optimizer;
	const char *cheapest;    /* id that holds rate and latency at least cost
			         a month, or a sample where no rate was asked;
				 NULL: none, or not asked */
	struct sl_fact crossing; /* CPU or GPU, and at which batches; NONE:
				   there are not both, with room */
	double hours_per_month;  /* 730 */
};

SL_API enum sl_status
sl_hardware_report(struct sl_hardware_report **out,
		   const struct sl_graph *graph,
		   const struct sl_hardware *const *hardware, size_t n,
		   const struct sl_hardware_options *options,
		   struct sl_error *err) SL_CHECKED;
SL_API void sl_hardware_report_free(struct sl_hardware_report *report);

struct sl_fit_options {
	size_t struct_size;
	double memory_bytes;          /* to fit into */
	const char *axis;             /* "batch" (default) or "seq" */
	enum sl_optimizer optimizer;  /* NONE: inference */
	const struct sl_sizes *sizes; /* the others */
	const struct sl_allocator *allocator;
	int graph_only; /* plan nothing: the graph's answer, without forks */
};
#define SL_FIT_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_fit_options)

/* What processes of their own showed that had so much memory and no more. */
struct sl_fit_verified {
	size_t n_trials;  /* processes; 0: nothing was run */
	int64_t runs_at;  /* the largest size at which the model ran; 0: none */
	int64_t fails_at; /* the next larger one, where it was out of memory;
			     0: there is none, 'why' says so */
	int64_t planned_at; /* the largest size that could be planned, nothing
			       run: what the engine predicts; 0: none */
	double used_bytes;  /* of the memory, at runs_at; NaN: none */
	double weights_bytes, block_bytes; /* of these, the plan's: weights made
			       or mapped; all activations; NaN: none */
	char why[512];                     /* it failed there */
	const char *difference; /* why runs_at is not what was predicted; NULL:
				   it is */
	double optimizer_bytes; /* of used_bytes, what the optimizer keeps; NaN:
				   none */
};

struct sl_fit {
	const char *name, *source;
	enum sl_growth_axis axis; /* BATCH or SEQ */
	const char *sizes; /* all of them, at 'size': "batch 512, seq 128" */
	double memory_bytes;
	enum sl_optimizer optimizer;
	int64_t largest; /* as predicted; 0: not even the smallest fits; at
			    most so much where n_unknown.  Where the engine was
			    tried, verified.runs_at is the answer. */
	int is_planned;  /* predicted from plans of the engine; else from the
			    graph */
	const char *unplanned; /* why it is from the graph; NULL: planned */
	size_t n_plans;        /* made to find it; nothing was run */
	int64_t size;      /* that the figures below are for: 'largest', or the
			    smallest when nothing fits */
	int64_t fixed_at;  /* the one size that the model takes; 0: not fixed */
	const char *limit; /* why the model takes no more than 'largest'; NULL:
			      memory ends it */
	int is_unbounded;  /* memory does not grow along the axis */
	int is_cut;        /* larger sizes were not looked at */
	size_t n_unknown;  /* values whose size is not known */
	/* At 'size', predicted; they sum to the total.  Of a plan: weights as
	 * the engine keeps them, what it needs for itself, the block that all
	 * activations lie in, gradients (then 0 here) among them. */
	double parameters_bytes, others_bytes, activations_bytes,
		gradients_bytes, optimizer_bytes, total_bytes;
	enum sl_phase phase; /* of training that needs most */
	double next_bytes;   /* total at the next larger size; NaN: none, or
				more than can be told */
	/* From the graph, whatever was planned: an engine that fuses nothing
	 * and needs nothing for itself.  The bytes are those at graph_size. */
	int64_t graph_largest, graph_size;
	double graph_bytes;
	struct sl_fit_verified verified;
};

/*
 * Finds the largest size within options->memory_bytes.  The engine plans a few
 * sizes, without making weights or running anything, in processes of their own;
 * where that cannot be done (fit->unplanned) the answer is the graph's.  With
 * an optimizer it plans a training step, whose loss is cross-entropy.  Forks unless graph_only: a process that
 * has more than one thread, as once a plan was made, gets the graph's.
 */
SL_API enum sl_status sl_fit(struct sl_fit **out, const struct sl_graph *graph,
			     const struct sl_fit_options *options,
			     struct sl_error *err) SL_CHECKED;
SL_API void sl_fit_free(struct sl_fit *f);

/*
 * Tries what was found: plans and runs the model, or a training step, in processes
 * whose private memory is limited to options->memory_bytes beyond what Sleuth
 * itself has, and fills fit->verified.  Where another size than the one that
 * was predicted is the largest that runs, it is looked for, and
 * verified.difference says why.  Forks: no plan may have been made before in
 * the calling process, which should have one thread.  SL_E_ABSENT where the machine has less memory than is to be tried.
 */
SL_API enum sl_status sl_fit_verify(struct sl_fit *fit,
				    const struct sl_graph *graph,
				    const struct sl_fit_options *options,
				    struct sl_error *err) SL_CHECKED;
SL_API enum sl_status sl_fit_render(const struct sl_fit *f,
				    const struct sl_render_options *how,
				    struct sl_buf *out,
				    struct sl_error *err) SL_CHECKED;

struct sl_zoo_entry {
	const char *name;    /* "resnet50", or "mlp:A-B-..." with 'example' */
	const char *example; /* a name that opens */
	const char *about;
};

/* All of them; ends with a NULL name; lives for ever. */
SL_API const struct sl_zoo_entry *sl_zoo(void);

/* One of them, counted at batch 1 and the usual sizes. */
struct sl_zoo_row {
	const char *name, *example, *about;
	uint64_t parameters, flops; /* trainable; 2 x core */
};

/* Owns its rows. */
struct sl_zoo_list {
	const struct sl_zoo_row *rows;
	size_t n;
};

/* Opens and counts all of them; fails where one cannot be counted. */
SL_API enum sl_status sl_zoo_count(struct sl_zoo_list **out,
				   struct sl_error *err) SL_CHECKED;
SL_API void sl_zoo_list_free(struct sl_zoo_list *list); /* NULL is fine */

/* TEXT, JSON, CSV, MARKDOWN. */
SL_API enum sl_status sl_zoo_render(const struct sl_zoo_list *list,
				    const struct sl_render_options *how,
				    struct sl_buf *out,
				    struct sl_error *err) SL_CHECKED;

#ifdef __cplusplus
}
#endif

#endif

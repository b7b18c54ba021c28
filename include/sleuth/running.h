/* SPDX-License-Identifier: Apache-2.0 */
/* running.h - models made ready to run on this machine, and run. */
#ifndef SLEUTH_RUNNING_H
#define SLEUTH_RUNNING_H

#include <signal.h>
#include "sleuth/models.h"
#include "sleuth/rendering.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A model under one set of sizes, made ready: nodes fused, layouts chosen,
 * weights packed, memory planned.  The graph must outlive it.  A plan is used
 * by one thread at a time; several plans, of one graph too, may be made, run
 * and freed in parallel, in any order.  Those of one graph and one allocator
 * share the weights that they make: each goes with the last that uses it.
 */
struct sl_plan;

/* How the algorithm of a step is chosen where there are several. */
enum sl_algorithms {
	SL_ALGORITHMS_MEASURED = 0, /* each is tried and the fastest kept;
				       remembered per machine */
	SL_ALGORITHMS_FIXED         /* by rule: the same on every machine of
				       one kind */
};

/* What becomes of values that are not numbers. */
enum sl_nan_policy {
	SL_NAN_KEPT = 0, /* computed with, as the model does */
	SL_NAN_REFUSED   /* SL_E_DATA where an input holds one */
};

/* Fused steps round in fewer places than the nodes they cover, may turn NaN
 * into a bound of a Relu or Clip among them, and give 0 for a query of
 * attention whose keys are all hidden by -inf; single nodes do not. */
enum sl_plan_flags {
	SL_PLAN_NO_FUSION = 1u << 0,   /* one step per node */
	SL_PLAN_REFERENCE = 1u << 1,   /* reference kernels only: slow, plain */
	SL_PLAN_NO_WINOGRAD = 1u << 2, /* convolutions directly */
	SL_PLAN_NO_CACHE = 1u << 3     /* measured choices are not remembered
					  beyond the process */
};

struct sl_plan_options {
	size_t struct_size;
	const struct sl_sizes *sizes; /* NULL: the usual ones */
	int n_threads;                /* 0: as many as CPUs it may use */
	enum sl_dtype dtype; /* F32 (default) or BF16: what convolutions and
				products compute in */
	enum sl_algorithms algorithms;
	enum sl_nan_policy nan_policy;
	unsigned flags;           /* enum sl_plan_flags */
	const char *cache_folder; /* for measured choices and tried sets of
				     instructions; NULL: the user's, "": as
				     SL_PLAN_NO_CACHE */
	const struct sl_log *log; /* choices and remarks; NULL: none */
	/* Once it is set, planning ends before the next node and a run before
	 * the next step, or node of a body: SL_E_INTERRUPTED.  NULL: never. */
	const volatile sig_atomic_t *interrupt;
	const struct sl_allocator *allocator; /* NULL: malloc and free */
};
#define SL_PLAN_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_plan_options)

/*
 * 'options' may be NULL.  Fails as sl_inspect() does for sizes; SL_E_ABSENT
 * names the node whose operator nobody knows or whose type this machine lacks.
 */
SL_API enum sl_status sl_plan_new(struct sl_plan **out,
				  const struct sl_graph *graph,
				  const struct sl_plan_options *options,
				  struct sl_error *err) SL_CHECKED;
SL_API void sl_plan_free(struct sl_plan *plan); /* NULL is fine */

/*
 * Numbers in memory: packed, row-major.  Of an array that is handed in, dtype,
 * rank, dims and, by the type, data or strings are read; n_elements and
 * n_bytes follow from them.  It grows only with the major version, as do all
 * structs of this header that the library fills.
 */
struct sl_array {
	enum sl_dtype dtype; /* NONE: no tensor, see sl_plan_output() */
	size_t rank;
	const int64_t *dims;
	const void *data;           /* NULL for strings */
	const char *const *strings; /* of type STRING, else NULL */
	uint64_t n_elements, n_bytes;
};

/*
 * Copies what an input holds into the plan, where it stays for all runs until
 * it is set again.  Sizes other than the plan's are taken where the model
 * leaves them open: the next run then makes the plan anew, or takes one that
 * was made for these sizes before.  Outputs of the last run stay as they are.
 * SL_E_USAGE for no data; SL_E_DATA for a name that is no input, another type,
 * impossible sizes, or NaN that is refused.
 */
SL_API enum sl_status sl_plan_set_input(struct sl_plan *plan, const char *name,
					const struct sl_array *value,
					struct sl_error *err) SL_CHECKED;

/*
 * What type and sizes an input has in the plan, and where it lies: its numbers
 * may be written to *data in place of copying them, and count as set from then
 * on.  'data' may be NULL: then nothing counts as set.  Where sizes have been
 * set that the plan was not made for, it is made anew first.  Pointers are
 * valid until sizes change.  NaN that is written there is not refused, whatever
 * the policy.  SL_E_DATA for a name that is no input, SL_E_USAGE for what is no
 * tensor of numbers whose sizes are known; *out is zeroed then, and *data
 * NULL.
 */
SL_API enum sl_status sl_plan_input(struct sl_plan *plan, const char *name,
				    struct sl_array *out, void **data,
				    struct sl_error *err) SL_CHECKED;

/*
 * Fills inputs that were not set with seeded numbers that make sense for
 * their type: floats normal, integers within the table they index (token
 * ids), masks all ones, booleans true; states zero.
 */
SL_API enum sl_status sl_plan_fill_inputs(struct sl_plan *plan, uint64_t seed,
					  struct sl_error *err) SL_CHECKED;

/*
 * Sets inputs from a folder: input_N.pb (a TensorProto; N counts the inputs
 * from 0) or NAME.npy, '_' standing for '/' in names.  SL_E_IO names an input
 * that has neither; inputs before it are set then.
 */
SL_API enum sl_status sl_plan_load_inputs(struct sl_plan *plan,
					  const char *folder,
					  struct sl_error *err) SL_CHECKED;

/* Sets one input from a .npy or .pb file. */
SL_API enum sl_status sl_plan_load_input(struct sl_plan *plan, const char *name,
					 const char *path,
					 struct sl_error *err) SL_CHECKED;

/* Runs the model once.  Inputs that were never set are SL_E_USAGE.  A scope
 * that the calling thread has open (observing.h) gets the plan's FLOPs and
 * bytes as its work. */
SL_API enum sl_status sl_plan_run(struct sl_plan *plan,
				  struct sl_error *err) SL_CHECKED;

/*
 * An output after a run; what it points to is the plan's, and stays until the
 * next run or the plan is made anew.  An output that is no tensor (a sequence)
 * has the type NONE and, as n_elements, how many items; sl_plan_output_item()
 * gives each.  SL_E_USAGE, and *out zeroed, for a name that is no output, an
 * item that is not there, and before the first run or after one that failed.
 */
SL_API enum sl_status sl_plan_output(struct sl_plan *plan, const char *name,
				     struct sl_array *out,
				     struct sl_error *err) SL_CHECKED;
SL_API enum sl_status sl_plan_output_item(struct sl_plan *plan,
					  const char *name, size_t item,
					  struct sl_array *out,
					  struct sl_error *err) SL_CHECKED;

/* Which kernels a step runs on. */
enum sl_path {
	SL_PATH_DNNL = 0,  /* oneDNN */
	SL_PATH_NATIVE,    /* Sleuth's own */
	SL_PATH_REFERENCE, /* the plain loops: slow */
	SL_PATH_STEPWISE   /* plain loops, sizes found on the way */
};
enum { SL_N_PATHS = SL_PATH_STEPWISE + 1 };

/* "oneDNN", "native", "reference", "stepwise"; never NULL. */
SL_API const char *sl_path_text(enum sl_path path);

/* One step; strings and lists live as long as the plan, until its sizes
 * change. */
struct sl_step {
	const char *name;   /* of the first node it covers; "reorder X", "copy
			       X" where it covers none */
	const char *type;   /* "Conv", "Reorder" */
	const char *kernel; /* such as "jit:avx512_core" */
	enum sl_path path;
	const size_t *covers; /* nodes of the model that it does */
	size_t n_covers;
	uint64_t core_flops;     /* 2 x multiply-adds of convolutions and
				    products */
	uint64_t nominal_flops;  /* what the model asks for */
	uint64_t executed_flops; /* what the kernel does: Winograd does fewer,
				    padding to blocks more */
	uint64_t n_bytes;        /* of its operands, each once */
};
SL_API size_t sl_plan_n_steps(const struct sl_plan *plan);
SL_API int sl_plan_step(const struct sl_plan *plan, size_t i,
			struct sl_step *out); /* 0: no such step */

/*
 * Called right before and right after each step of sl_plan_run(), on the
 * thread that called it, for users' own tools; either may be NULL.  After a
 * step that fails nothing is called.  They must
 * not use the plan but to ask about it.
 */
struct sl_hooks {
	void (*before)(const struct sl_plan *plan, size_t step, void *ctx);
	void (*after)(const struct sl_plan *plan, size_t step, void *ctx);
	void *ctx;
};

/* From the next run on; a copy is kept.  NULL: none. */
SL_API void sl_plan_set_hooks(struct sl_plan *plan,
			      const struct sl_hooks *hooks);

/* Weights that another plan had made count like those it made itself: a plan
 * says the same, whoever is there beside it. */
struct sl_plan_memory {
	uint64_t live_bytes;    /* most that is needed at one step */
	uint64_t planned_bytes; /* the block in which activations lie */
	uint64_t weight_bytes;  /* weights that were packed or made */
	uint64_t mapped_bytes;  /* weights used where the file has them */
};
SL_API void sl_plan_memory(const struct sl_plan *plan,
			   struct sl_plan_memory *out);
SL_API int sl_plan_n_threads(const struct sl_plan *plan);

/*
 * Whether threads that wait yield to other programs.  They do where the
 * program links or preloads libsleuth-threads.  Otherwise they are those of
 * GNU's OpenMP library, which spin for milliseconds: beside others that use
 * the CPUs a plan on several threads can then take a thousand times as long.
 * OMP_WAIT_POLICY=passive, set before the program starts, avoids that too, and
 * costs some microseconds in each step.
 */
SL_API int sl_threads_yield(void);

/* A file for an input, by the input's name. */
struct sl_input_file {
	const char *input, *path; /* .npy or .pb */
};

/*
 * Inputs come from files of their own, then from a folder, which must have a
 * file for each of the others, then they are made up.  Where a folder is given
 * and a batch is said, what its files hold is repeated to that batch, which
 * must be a multiple of theirs.
 */
struct sl_run_options {
	size_t struct_size;
	const struct sl_plan_options *plan; /* its sizes are the run's, its
					       allocator too; NULL: defaults */
	const struct sl_input_file *inputs;
	size_t n_inputs;
	const char *inputs_folder; /* for inputs without a file of their own;
				      NULL: seeded numbers */
	const char *check_folder;  /* input_N.pb, in place of inputs_folder,
				      and output_N.pb to compare with; NULL:
				      nothing is compared */
	double tolerance;          /* of the comparison; 0: by the model */
	uint64_t seed;             /* of synthetic inputs; 0: 1 */
	const char *output_folder; /* NAME.npy for each output, '_' standing
				      for '/' in names; NULL: none */
};
#define SL_RUN_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_run_options)

/* How an output is compared with its reference. */
enum sl_check_rule {
	SL_CHECK_NONE = 0, /* it is not */
	SL_CHECK_LARGEST,  /* largest difference / largest |reference|; where
			      that is 0, the difference itself */
	SL_CHECK_EXACT,    /* integers, booleans, strings: how many differ */
	SL_CHECK_STEPS,    /* largest difference in steps of the output's
			      quantization, and the same top-1 */
	SL_CHECK_RMS       /* root mean square of differences / of reference;
			      where that is 0, of differences alone */
};

/* "largest difference / largest |reference|", ...; never NULL. */
SL_API const char *sl_check_rule_text(enum sl_check_rule rule);

struct sl_run_output {
	const char *name;
	enum sl_dtype dtype; /* NONE: a sequence of n_elements items */
	size_t rank;
	const int64_t *dims;
	uint64_t n_elements;
	double min, max, mean;   /* NaN where there are no numbers; of inf and
				    -inf there is no mean either */
	uint64_t n_nan;          /* left out of the three above */
	enum sl_check_rule rule; /* NONE: not compared; the four below are NaN
				    or 0 then */
	double error, limit;     /* in the rule's unit; of a sequence, those of
				    its worst item */
	double largest_error;    /* absolute; NaN: of strings there is none */
	uint64_t worst;          /* element with the largest error */
	int is_ok;
	const char *why; /* it cannot be compared, or differs though the error
			    is below the limit; NULL */
};

struct sl_run {
	const char *name, *source;
	uint64_t seed; /* 0: no input was made up */
	int n_threads;
	const char *choices; /* a hash of what computes each step */
	enum sl_dtype dtype;
	double plan_ns, run_ns; /* making the plan, the first run; once each,
				   no statistics: sl_measure_latency() */
	struct sl_plan_memory memory;
	struct sl_step *steps;
	size_t n_steps;
	size_t n_reference; /* steps on reference kernels, stepwise included */
	struct sl_run_output *outputs;
	size_t n_outputs;
	int is_checked, is_ok; /* all outputs agree */
	double tolerance;      /* that was asked for; 0: none */
};

/*
 * Plans and runs a model once, and looks at what comes out.  'options' may be
 * NULL.  An output that differs from its reference is no failure: see is_ok.
 * Fails as sl_plan_new(), setting inputs and sl_plan_run() do; SL_E_IO names a
 * file that is missing or cannot be written, SL_E_DATA a batch that is no
 * multiple of the files', or two outputs of which one file would be written.
 * *out is the caller's, for sl_run_free(), and NULL after a failure; outputs
 * that were written before it stay.  The graph is only read: several threads
 * may run one.
 */
SL_API enum sl_status sl_run(struct sl_run **out, const struct sl_graph *graph,
			     const struct sl_run_options *options,
			     struct sl_error *err) SL_CHECKED;
SL_API void sl_run_free(struct sl_run *run); /* NULL is fine */
SL_API enum sl_status sl_run_render(const struct sl_run *run,
				    const struct sl_render_options *how,
				    struct sl_buf *out,
				    struct sl_error *err) SL_CHECKED;

#ifdef __cplusplus
}
#endif

#endif

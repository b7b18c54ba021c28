/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - a model made ready to run: buffers and a list of steps. */
#ifndef SL_PROGRAM_H
#define SL_PROGRAM_H

#include "compute/parallel.h"
#include "engine/weight_cache.h"
#include "ops/evaluate.h"
#include "transform/rewrite.h"
#include "sleuth/running.h"

enum sl__memory_category {
	SL__CATEGORY_ACTIVATION =
		0,              /* in the program's block, for some steps */
	SL__CATEGORY_WORKSPACE, /* likewise, of no value */
	SL__CATEGORY_INPUT,     /* likewise, always */
	SL__CATEGORY_OUTPUT,    /* likewise, from its step to the end */
	SL__CATEGORY_CONSTANT   /* weights; 'data' is set from the start */
};

/*
 * Invariants: 'base' is the buffer in which this one lies, its own number
 * where it lies in none; offset is the place there, or in the program's
 * block.  Only bases have a room of their own.  'data' is set when the
 * program is placed.
 */
struct sl__buffer {
	enum sl__memory_category category;
	uint64_t n_bytes;
	uint32_t base;
	uint64_t offset;
	uint32_t first, last; /* steps between which it is needed */
	unsigned char *data;
	int is_stored; /* a constant, used where the model has it */
};

/* That a value lies in a buffer from this step on, not for how long. */
struct sl__buffer_label {
	uint32_t buffer, value; /* of the program's graph */
	uint32_t step;
	struct sl__buffer_label *next;
};

struct sl__step;
struct sl__choice_evidence;

/* Runs with the program's number of threads set; allocates nothing after the
 * first run where all sizes are known. */
typedef enum sl_status sl__run_function(struct sl__step *step,
					struct sl_error *err);

/* Called once, when the addresses at[] are known. */
typedef enum sl_status sl__bind_function(struct sl__step *step,
					 struct sl_error *err);
typedef void sl__release_function(struct sl__step *step);

struct sl__step {
	const char *name;   /* of the node, or "reorder VALUE" */
	const char *kernel; /* what computes: "jit:avx512_core", "softmax" */
	uint32_t node;      /* of the program's graph; SL__NONE: a reorder */
	enum sl_path path;
	sl__run_function *run;
	sl__bind_function *bind;       /* may be NULL */
	sl__release_function *release; /* may be NULL */
	void *state;                   /* the kernel's own */
	sl__parallel_function *part;   /* what threads run, or NULL */
	uint32_t n_operands;
	uint32_t n_scratch; /* the last of them: threads' own, in which each run
			       may leave something else */
	uint32_t *operands; /* buffers it reads or writes */
	unsigned char **at; /* their addresses */
	struct sl__choice_evidence *evidence; /* choice_evidence.h; or NULL */
	int n_threads;
	int is_inner; /* of a loop's body: run by the step in front of it */
	int jumps;    /* set by 'run': go on with step 'target' */
	size_t target;
	uint64_t core_flops;     /* 2 x the multiply-adds of products */
	uint64_t nominal_flops;  /* of the nodes it covers, by the model */
	uint64_t executed_flops; /* what the kernel really does */
	uint64_t n_bytes;        /* of its operands, each once */
};

struct sl__program {
	struct sl__arena arena;
	const struct sl_graph *graph; /* rewritten; owned */
	const struct sl__covered_nodes *covers;
	size_t *covered; /* by all steps, one after the other; those of step
			    i from number first_covered[i] on */
	size_t *first_covered;
	struct sl__shapes *shapes;        /* of 'graph'; owned */
	struct sl__evaluator *evaluator;  /* of 'graph': constants, and steps
					    whose sizes depend on data */
	struct sl__sized_nodes *sized;    /* that the evaluator asks; or NULL */
	struct sl__dnnl_context *dnnl;    /* oneDNN's engine and stream */
	struct sl__plan_weights *weights; /* constants that were packed */
	struct sl__buffer *buffers;
	size_t n_buffers, cap_buffers;
	struct sl__buffer_label *labels; /* newest first */
	struct sl__step *steps;
	size_t n_steps, cap_steps;
	uint32_t *inputs, *outputs; /* buffers; SL__NONE: the evaluator's */
	unsigned char *block;       /* where activations lie, aligned to 64 */
	uint64_t block_bytes;       /* planned */
	uint64_t bound_bytes;       /* most that is needed at one step */
	uint64_t constant_bytes; /* weights packed or made, by it or before */
	double all_flops, all_bytes;   /* of all steps */
	double work_flops, work_bytes; /* of the steps that ran last */
	int n_threads;
	const volatile sig_atomic_t *interrupt; /* ends a run; or NULL */
	int is_unfinished;    /* algorithms were not all measured in time */
	int image_layout;     /* settled for convolutions; 0: none was */
	uint64_t choosing_ns; /* that measuring algorithms took */
	int n_looks;          /* at what steps took, see choice_evidence.h */
	int is_stepwise;      /* the evaluator holds an input, or runs a step */
	struct sl__event_buffer *events; /* of the run under way; or NULL */
};

/* Gives every buffer its place in one block (memory.c): needs first and last
 * of bases; fills offset, block_bytes, bound_bytes. */
enum sl_status sl__program_place_buffers(struct sl__program *program,
					 struct sl_error *err) SL_CHECKED;

/* Who watches a run, see observer.h; at most one of them, the others NULL. */
struct sl__observer {
	struct sl__event_buffer *events;
	const struct sl__interceptor *interceptor;
};

/* Runs all steps once.  A failure names the node; an interrupt ends it before
 * the next step. */
enum sl_status sl__program_run(struct sl__program *program,
			       const struct sl__observer *observer,
			       struct sl_error *err) SL_CHECKED;

/* The body of a loop, from its first step to the one before 'end', is entered
 * once and then run as often as the loop wants; a recorded run adds the times
 * of later runs to those of the first. */
struct sl__body_run {
	size_t first, end;
	size_t n_stamps; /* before the first run */
};
void sl__program_enter_body(const struct sl__program *program,
			    struct sl__body_run *body, size_t first,
			    size_t end);
enum sl_status sl__program_run_body(struct sl__program *program,
				    const struct sl__body_run *body,
				    struct sl_error *err) SL_CHECKED;
void sl__program_free(struct sl__program *program); /* NULL is fine */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* planner.h - what a kernel sees while it makes itself a step. */
#ifndef SL_PLANNER_H
#define SL_PLANNER_H

#include "engine/layout.h"
#include "engine/program.h"

/* A value's elements in one layout. */
struct sl__value_version {
	const struct sl__layout *layout;
	uint32_t buffer;
};

enum { SL__VERSIONS_MOST = 4 };

/* Where a value is while the program is made. */
struct sl__planned_value {
	struct sl__value_version versions[SL__VERSIONS_MOST];
	uint32_t n_versions; /* the first is how it was made */
	uint32_t uses_left;  /* by nodes that are still to come */
	unsigned char is_dynamic, is_output; /* the evaluator's; the model's */
	struct sl__packed *packed;           /* a constant's; constants.c */
};

struct sl__planner {
	struct sl__program *program;
	const struct sl_graph *graph;   /* the program's */
	struct sl__shapes *shapes;      /* its */
	struct sl__planned_value *held; /* by value */
	uint32_t *buffer_uses; /* of a base: uses left of all values in it */
	size_t cap_buffer_uses;
	const struct sl_plan_options *options;
	enum sl_dtype dtype;         /* F32 or BF16: of conv and matmul */
	struct sl__choices *choices; /* measured algorithms; NULL: fixed */
	const struct sl_cost *costs; /* of the original graph's nodes */
	const uint32_t *n_coverers;  /* of each of these: nodes of 'graph' */
	uint32_t node;               /* that is being made */
	int is_counted;              /* a step has its nominal work */
	int n_branches;              /* around it that may not be taken */
	uint32_t *journal; /* values of versions that a body made, in order */
	size_t n_journal, cap_journal;
	enum sl_status rc;     /* of the first failure */
	struct sl_error *err;  /* what it was */
	struct sl__step spare; /* handed out after it */
};

/* The first failure sticks: functions that take a planner do nothing after
 * it, and what they return (SL__NONE, NULL, the spare step) may be handed to
 * others like them.  So a kernel asks for all that it needs without looking
 * at each answer; whoever uses one otherwise looks at 'rc' first. */

/* Notes the outcome of something else; whether all is well so far. */
int sl__planner_keep_status(struct sl__planner *pl, enum sl_status rc);

/* Notes that something is impossible that the code relies on; returns 0. */
int sl__planner_fail_internal(struct sl__planner *pl, const char *text);

/* A kernel's way into the program.  Returns 1 when it has added the step or
 * steps of the node, 0 when the node is not for it (and nothing was added).
 * All inputs and outputs of the node are tensors of known type and sizes.
 * kernels.def says who is asked, in which order. */
typedef int sl__kernel_plan_function(struct sl__planner *pl,
				     const struct sl__node *node);
#define KERNEL(domain, type, name) sl__kernel_plan_function sl__make_##name;
#define DNNL_KERNEL                KERNEL
#include "engine/kernels.def"
#undef DNNL_KERNEL
#undef KERNEL

const struct sl__type *sl__plan_value_type(const struct sl__planner *pl,
					   uint32_t value);

/* Whether a value is a tensor of known type and sizes that a buffer holds. */
int sl__plan_is_static(const struct sl__planner *pl, uint32_t value);
uint64_t sl__plan_value_n_elements(const struct sl__planner *pl,
				   uint32_t value);
uint64_t sl__plan_value_bytes(const struct sl__planner *pl, uint32_t value);

/* A tensor of the value's type and sizes that lies nowhere yet. */
void sl__plan_describe_value(const struct sl__planner *pl, uint32_t value,
			     struct sl__runtime_value *out);

/* Input i or output k of a node; SL__NONE where left out. */
uint32_t sl__plan_node_input(const struct sl__node *node, size_t i);
uint32_t sl__plan_node_output(const struct sl__node *node, size_t k);

/* The layout in which a value was made; NULL: its own, row-major. */
const struct sl__layout *sl__plan_value_layout(const struct sl__planner *pl,
					       uint32_t value);

/* The numbers of a constant (loaded where they are made when read); NULL for
 * what is none.  Valid as long as the program. */
const struct sl__tensor *sl__plan_constant_tensor(struct sl__planner *pl,
						  uint32_t value);

/* A buffer with the value in that layout: the one there is, or a new one and a
 * step that reorders into it; a constant is reordered now. */
uint32_t sl__plan_input_buffer(struct sl__planner *pl, uint32_t value,
			       const struct sl__layout *layout);

/* Like sl__plan_input_buffer() of a constant in its own layout, but in (large)
 * pages of the program's own: for weights that every run reads end to end. */
uint32_t sl__plan_constant_in_own_pages(struct sl__planner *pl, uint32_t value);

/* A constant seen through 'as' (other sizes or strides) in another layout. */
uint32_t sl__plan_packed_constant(struct sl__planner *pl, uint32_t value,
				  const struct sl__layout *as,
				  const struct sl__layout *layout);

/* A new buffer that the step under way fills with the value. */
uint32_t sl__plan_output_buffer(struct sl__planner *pl, uint32_t value,
				const struct sl__layout *layout);

/* Like sl__plan_output_buffer(), but over 'buffer', which this node reads, in
 * as many bytes, where nobody needs it after this node. */
uint32_t sl__plan_output_in_place(struct sl__planner *pl, uint32_t value,
				  const struct sl__layout *layout,
				  uint32_t over);

/* The value, in its own layout, is part of a buffer: no step. */
void sl__plan_view(struct sl__planner *pl, uint32_t value, uint32_t of,
		   uint64_t offset_bytes);
/* Like sl__plan_view(), but the whole buffer, and in that layout. */
void sl__plan_alias(struct sl__planner *pl, uint32_t value,
		    const struct sl__layout *layout, uint32_t of);

/* Storage for those steps of the node under way that name it. */
uint32_t sl__plan_workspace(struct sl__planner *pl, uint64_t n_bytes);

/* Storage that the kernel fills now, at *data, and that stays. */
uint32_t sl__plan_persistent_buffer(struct sl__planner *pl, uint64_t n_bytes,
				    void **data);
unsigned char *sl__plan_buffer_data(const struct sl__planner *pl,
				    uint32_t buffer);

/*
 * Adds a step of the node under way with these operands; the caller sets
 * executed_flops where they differ from the node's nominal ones.  The pointer
 * is valid until the next step is added; step->at stays.
 */
struct sl__step *sl__plan_add_step(struct sl__planner *pl,
				   const uint32_t *operands, uint32_t n,
				   const char *kernel, sl__run_function *run,
				   void *state);

/* Zeroed storage, as long as the program lives; NULL: a failure. */
void *sl__plan_alloc_state(struct sl__planner *pl, size_t n_bytes);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* optimize.h - a graph into one that computes the same with less. */
#ifndef SL_OPTIMIZE_H
#define SL_OPTIMIZE_H

#include "transform/rewrite.h"

enum sl__optimize_flags {
	SL__OPTIMIZE_NO_FUSION = 1u << 0,  /* fold and simplify only */
	SL__OPTIMIZE_NO_WIDENING = 1u << 1 /* half precision stays so */
};

/*
 * The graph under these sizes, rewritten by every pass of passes.def in
 * order.  The new graph refers to the old one's numbers, which outlives it.
 * covers[] says for each node of the new graph which old ones it stands for.
 */
enum sl_status sl__optimize(struct sl_graph **out,
			    const struct sl__covered_nodes **covers,
			    const struct sl_graph *graph,
			    const struct sl__shapes *shapes, unsigned flags,
			    struct sl_error *err) SL_CHECKED;

/*
 * Likewise by the pass about quantized models alone, and nothing large is
 * computed: a weight that the model quantizes from reals is a constant that
 * has no numbers.  For counting, not for running.
 */
enum sl_status sl__fuse_quantized_for_cost(
	struct sl_graph **out, const struct sl__covered_nodes **covers,
	const struct sl_graph *graph, const struct sl__shapes *shapes,
	struct sl_error *err) SL_CHECKED;

/* As the pass that folds, but only what takes few bytes. */
void sl__fold_small_constants(struct sl__rewrite *rw);

/* Each pass changes the rewrite and leaves it sound, unless it fails. */
typedef void sl__pass_function(struct sl__rewrite *rw);
#define PASS(name, unless) sl__pass_function sl__pass_##name;
#include "transform/passes.def"
#undef PASS

#endif

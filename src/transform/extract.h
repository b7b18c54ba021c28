/* SPDX-License-Identifier: Apache-2.0 */
/* extract.h - a part of a model as a model of its own. */
#ifndef SL_EXTRACT_H
#define SL_EXTRACT_H

#include "graph/shapes.h"

/*
 * The nodes whose numbers are in nodes[], of whichever block, as a model: what they take from others are its inputs, with the
 * sizes that 'shapes' has, what they give to others its outputs.  Values whose
 * contents are known become constants.  The new graph refers to the numbers
 * of the old one, which outlives it.  SL_E_ABSENT for a node with a body,
 * SL_E_DATA where the sizes of an input are not known.
 */
struct sl__extract_options {
	const struct sl_graph *graph;
	struct sl__shapes *shapes;
	const size_t *nodes;
	size_t n_nodes;
	const char *name; /* of the part; the graph is called "MODEL:NAME" */
};
enum sl_status sl__extract(struct sl_graph **out,
			   const struct sl__extract_options *what,
			   struct sl_error *err) SL_CHECKED;

/*
 * Marks the nodes of that name or, where there is none, those in a module of
 * that path; is_found[] has a place for every node.  SL_E_USAGE for neither.
 */
enum sl_status sl__extract_find_nodes(const struct sl_graph *graph,
				      const char *layer,
				      unsigned char *is_found,
				      struct sl__arena *scratch,
				      struct sl_error *err) SL_CHECKED;

#endif

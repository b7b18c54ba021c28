/* SPDX-License-Identifier: Apache-2.0 */
/* convention.h - what counting tools print, and why they differ. */
#ifndef SL_CONVENTION_H
#define SL_CONVENTION_H

#include "cost/attention.h"

/* What tools tell apart, summed over a model. */
struct sl__tally {
	struct sl__tally_work {
		size_t n_nodes;
		uint64_t macs, operations; /* operations beside the MACs */
		uint64_t in_elements, out_elements;
	} by_work[SL_N_WORKS];
	/* Layers that are one operator, for which tools have a rule of their
	 * own or none, and their MACs. */
	struct sl__tally_layers {
		size_t n;
		uint64_t macs;
	} lstm, recurrent, fused; /* LSTM; GRU and RNN; attention, whole */
	uint64_t macs;
	uint64_t product_macs;  /* of attention, whole or in pieces */
	uint64_t masked_macs;   /* of those, what causal masks make needless */
	uint64_t norm_elements; /* of norms that the tools know: not RMS */
	uint64_t gate_operations; /* of recurrent layers beside the products, as
				     thop counts them */
	size_t n_products, n_causal, n_norms;
};

/* Adds all calls of a node. */
void sl__tally_add_node(struct sl__tally *tally, const struct sl__node *node,
			const struct sl_cost *per_call, uint64_t n_calls);
void sl__tally_add_attentions(struct sl__tally *tally,
			      const struct sl__attentions *attentions,
			      const uint64_t *n_calls, size_t n_nodes);

/* The figure as the tool prints it. */
uint64_t sl__convention_count(const struct sl__tally *tally,
			      enum sl_convention convention);

/*
 * Line items that lead from a to b; their amounts sum to b_count - a_count
 * exactly.  Counts are the tools' own, except that FlopCounterMode's FLOPs
 * are halved.
 */
enum sl_status sl__convention_reconcile(struct sl_explanation *out,
					const struct sl__tally *tally,
					enum sl_convention a,
					enum sl_convention b,
					struct sl__arena *arena,
					struct sl_error *err) SL_CHECKED;

#endif

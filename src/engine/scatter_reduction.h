/* SPDX-License-Identifier: Apache-2.0 */
/* scatter_reduction.h - what becomes of a place that is updated again. */
#ifndef SL_SCATTER_REDUCTION_H
#define SL_SCATTER_REDUCTION_H

#include "graph/op_rules.h"

#include <string.h>

enum sl__scatter_reduction {
	SL__SCATTER_PUT,
	SL__SCATTER_ADD,
	SL__SCATTER_MUL,
	SL__SCATTER_MAX,
	SL__SCATTER_MIN,
	SL__N_SCATTER_REDUCTIONS
};

/* The attribute; SL__N_SCATTER_REDUCTIONS for a word that is none. */
static inline enum sl__scatter_reduction
sl__scatter_reduction_of(const struct sl__node *node)
{
	static const char *const words[] = {"none", "add", "mul", "max", "min"};
	const char *word = sl__attribute_string(node, "reduction", "none");
	int how = SL__SCATTER_PUT;

	while (how < SL__N_SCATTER_REDUCTIONS && strcmp(word, words[how]) != 0)
		how++;
	return (enum sl__scatter_reduction)how;
}

/* NaN stays. */
static inline float
sl__scatter_joined(enum sl__scatter_reduction how, float a, float b)
{
	switch (how) {
	case SL__SCATTER_ADD:
		return a + b;
	case SL__SCATTER_MUL:
		return a * b;
	case SL__SCATTER_MAX:
		return a != a || a > b ? a : b;
	case SL__SCATTER_MIN:
		return a != a || a < b ? a : b;
	case SL__SCATTER_PUT:
	case SL__N_SCATTER_REDUCTIONS:
	default:
		return b;
	}
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* element.h - arithmetic on one element of contents that are followed. */
#ifndef SL_ELEMENT_H
#define SL_ELEMENT_H

#include "graph/shapes.h"

enum sl__element_kind {
	SL__ELEMENT_ABSENT = 0, /* of an input that is left out */
	SL__ELEMENT_WHOLE,      /* an integer, a boolean, or a symbol */
	SL__ELEMENT_REAL
};

struct sl__known_element {
	enum sl__element_kind kind;
	int64_t whole;
	double real;
};

/* Whether a result follows. */
enum sl__fold_outcome {
	SL__FOLD_OUTCOME_UNKNOWN =
		0, /* a symbol decides it, or it does not fit */
	SL__FOLD_OUTCOME_KNOWN,
	SL__FOLD_OUTCOME_NO_MEMORY
};

struct sl__known_element
sl__known_element_at(const struct sl__known_contents *known, size_t i);

/* Whole and real ones from numbers. */
struct sl__known_element sl__element_from_integer(int64_t value);
struct sl__known_element sl__element_from_real(double value);

/*
 * Both operands are of one kind.  Integers are exact: where 64 bits overflow,
 * or a divisor is 0, nothing follows.  Symbols are combined where a size can
 * say it, and give a new symbol where the result is still some integer.
 * Division truncates, as ONNX's does.
 */
typedef enum sl__fold_outcome sl__element_function(
	struct sl__shapes *shapes, const struct sl__known_element *a,
	const struct sl__known_element *b, struct sl__known_element *out);
sl__element_function sl__element_add;
sl__element_function sl__element_sub;
sl__element_function sl__element_mul;
sl__element_function sl__element_div;
sl__element_function sl__element_max;
sl__element_function sl__element_min;

/* 1 or 0 where that follows for all sizes that symbols may have, else -1. */
int sl__element_proves_less(const struct sl__shapes *shapes,
			    const struct sl__known_element *a,
			    const struct sl__known_element *b);
int sl__element_proves_equal(const struct sl__shapes *shapes,
			     const struct sl__known_element *a,
			     const struct sl__known_element *b);

/* Some integer: a new symbol. */
enum sl__fold_outcome sl__element_new_symbol(struct sl__shapes *shapes,
					     struct sl__known_element *out);

/*
 * Makes 'e' an element of that type of number: reals are rounded to it or cut
 * to integers, integers become reals, anything becomes a boolean.  An integer
 * that does not fit, and a symbol that would have to be real, do not follow.
 */
enum sl__fold_outcome sl__element_convert(const struct sl__shapes *shapes,
					  struct sl__known_element *e,
					  enum sl_dtype dtype);

#endif

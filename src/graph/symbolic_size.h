/* SPDX-License-Identifier: Apache-2.0 */
/* symbolic_size.h - sizes that are no numbers: symbols, and expressions of
 * them. */
#ifndef SL_SYMBOLIC_SIZE_H
#define SL_SYMBOLIC_SIZE_H

#include "graph/graph.h"

struct sl__shapes;

enum sl__size_kind {
	SL__SIZE_SYMBOL = 0, /* a dimension of the model */
	SL__SIZE_NAMED,      /* one that a rule could not find, and named */
	SL__SIZE_UNKNOWN,    /* nothing is known, not even its sign */
	SL__SIZE_SUM,        /* a + b */
	SL__SIZE_DIFFERENCE, /* a - b */
	SL__SIZE_PRODUCT,    /* a * b */
	SL__SIZE_QUOTIENT    /* a / b, rounded down */
};

/* What a number below SL__SYMBOL_END stands for.  It never changes. */
struct sl__symbolic_size {
	enum sl__size_kind kind;
	int is_natural;   /* it is never below 0 */
	size_t n_leaves;  /* symbols and numbers in it, repeated ones too */
	const char *name; /* of SYMBOL and NAMED, else NULL */
	int64_t a, b;     /* of expressions: numbers, or sizes made before */
};

/*
 * Invariants: size i is the number SL__SYMBOL_BASE + i.  The symbols of the
 * graph come first.  Equal expressions have one number, a + b and b + a, a * b
 * and b * a too.  No expression has more than SL__SIZE_LEAVES_MOST leaves, so
 * none is deeper, and a walk over one ends soon: what would have more is
 * UNKNOWN.
 */
struct sl__size_table {
	struct sl__symbolic_size *sizes;
	size_t n, cap;
	size_t n_symbols; /* of the graph, when the table was made */
	size_t *slots;    /* 1 + the number of an expression; 0: free */
	size_t n_slots, n_expressions;
};

/* 200 letters, as wide as a report shows a size, hold fewer. */
enum { SL__SIZE_LEAVES_MOST = 64 };

/* A table with the symbols of the shapes' graph. */
enum sl_status sl__size_table_init(struct sl__shapes *shapes,
				   struct sl_error *err) SL_CHECKED;

/* Copies the table that the shapes share with others into their arena. */
enum sl_status sl__size_table_copy(struct sl__shapes *shapes,
				   struct sl_error *err) SL_CHECKED;

/* What a size is made of; NULL for numbers. */
const struct sl__symbolic_size *
sl__size_expression(const struct sl__shapes *shapes, int64_t size);
int sl__size_is_unknown(const struct sl__shapes *shapes, int64_t size);

/* Whether it cannot be below 0. */
int sl__size_is_nonnegative(const struct sl__shapes *shapes, int64_t size);

/*
 * New sizes: one that depends on data, and one that does too and is at least
 * 0, which reports call 'name'.  These and all that follow give -1 where
 * memory ends, and set is_short.
 */
int64_t sl__size_new_unknown(struct sl__shapes *shapes);
int64_t sl__size_new_named(struct sl__shapes *shapes, const char *name);

/*
 * Arithmetic: a number where both are or the result is one for all sizes, an
 * expression otherwise.  Numbers that overflow or divide by zero give -1,
 * which no output shape accepts.
 */
int64_t sl__size_add(struct sl__shapes *shapes, int64_t a, int64_t b);
int64_t sl__size_sub(struct sl__shapes *shapes, int64_t a, int64_t b);
int64_t sl__size_mul(struct sl__shapes *shapes, int64_t a, int64_t b);
int64_t sl__size_div(struct sl__shapes *shapes, int64_t a, int64_t b);

/* Product of n sizes. */
int64_t sl__size_product(struct sl__shapes *shapes, const int64_t *sizes,
			 int n);

/* a - b, also where a is b and something. */
int64_t sl__size_sub_cancelling(struct sl__shapes *shapes, int64_t a,
				int64_t b);

/*
 * a / b where both are products (of factors that may be symbols): what occurs
 * in both is cancelled first.  -1 when numbers do not divide.
 */
int64_t sl__size_div_cancelling(struct sl__shapes *shapes, const int64_t *a,
				int n_a, const int64_t *b, int n_b);

/* Two sizes that must be the same: the one that is a number, the first where
 * neither is.  -1 when they are different numbers. */
int64_t sl__size_unify(int64_t a, int64_t b);

/* Whether two sizes are certainly not the same: a symbol may be any. */
static inline int
sl__sizes_differ(int64_t a, int64_t b)
{
	return a != b && !sl__is_symbol(a) && !sl__is_symbol(b);
}

/* The one of two equal sizes that says more. */
static inline int64_t
sl__size_prefer_number(int64_t a, int64_t b)
{
	return sl__is_symbol(a) ? b : a;
}

/*
 * The text of a size, for people: "128", "batch", "(batch*seq)", "?".  Inside
 * an expression a name that reads like one is quoted, "('batch-size'+1)".
 */
void sl__size_print(struct sl_buf *text, const struct sl__shapes *shapes,
		    int64_t size);

/*
 * The text of a size where it stands for that size and no other of the model,
 * so that a file can use it as a name; 0, and nothing is printed, where there
 * is no such text or it is longer than any name should be.
 */
int sl__size_print_unique_name(struct sl_buf *text,
			       const struct sl__shapes *shapes, int64_t size);

#endif

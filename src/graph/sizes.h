/* SPDX-License-Identifier: Apache-2.0 */
/* sizes.h - questions about sizes that may be symbols. */
#ifndef SL_SIZES_H
#define SL_SIZES_H

#include "graph/infer.h"

/* Whether two sizes are certainly not the same: a symbol may be any. */
static inline int
sl__sizes_differ(int64_t a, int64_t b)
{
	return a != b && !sl__is_symbol(a) && !sl__is_symbol(b);
}

/* The one of two equal sizes that says more. */
static inline int64_t
sl__size_of_both(int64_t a, int64_t b)
{
	return sl__is_symbol(a) ? b : a;
}

/* Output k's rank is not known either: only its type of number. */
static inline enum sl_status
sl__out_rankless(const struct sl__call *call, size_t k, enum sl_dtype dtype,
		 struct sl_error *err)
{
	return sl__out(call, k, dtype, -1, NULL, err);
}

#endif

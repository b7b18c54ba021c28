/* SPDX-License-Identifier: Apache-2.0 */
/* ref_read.h - inputs of a reference kernel, with a status. */
#ifndef SL_REF_READ_H
#define SL_REF_READ_H

#include "ops/ref.h"

/* Input i as doubles; NULL where the node leaves it out. */
static inline enum sl_status
sl__ref_read(struct sl__eval *ev, size_t i, const double **out,
	     struct sl_error *err)
{
	*out = NULL;
	if (!sl__ref_in(ev, i))
		return SL_OK;
	*out = sl__ref_doubles(ev, i, err);
	return *out ? SL_OK : sl__ref_failure(ev);
}

/* The same as integers. */
static inline enum sl_status
sl__ref_read_whole(struct sl__eval *ev, size_t i, const int64_t **out,
		   struct sl_error *err)
{
	*out = NULL;
	if (!sl__ref_in(ev, i))
		return SL_OK;
	*out = sl__ref_integers(ev, i, err);
	return *out ? SL_OK : sl__ref_failure(ev);
}

/* Product of dims[first] to dims[last - 1]; it wraps around where the tensor
 * has no elements and its other sizes are beyond all bounds. */
static inline int64_t
sl__ref_product(const int64_t *dims, size_t first, size_t last)
{
	uint64_t n = 1;

	for (size_t d = first; d < last; d++)
		n *= (uint64_t)dims[d];
	return (int64_t)n;
}

#endif

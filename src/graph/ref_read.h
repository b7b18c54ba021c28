/* SPDX-License-Identifier: Apache-2.0 */
/* ref_read.h - inputs of a reference kernel, with a status. */
#ifndef SL_REF_READ_H
#define SL_REF_READ_H

#include "ref.h"

/* Input i as doubles; NULL where the node leaves it out. */
static inline enum sl_status
sl__ref_read(struct sl__eval *ev, size_t i, const double **out,
	     struct sl_error *err)
{
	struct sl_error why = {0};
	struct sl_error *where = err ? err : &why;

	*out = NULL;
	if (!sl__ref_in(ev, i))
		return SL_OK;
	*out = sl__ref_doubles(ev, i, where);
	return *out ? SL_OK : where->status;
}

/* The same as integers. */
static inline enum sl_status
sl__ref_read_whole(struct sl__eval *ev, size_t i, const int64_t **out,
		   struct sl_error *err)
{
	struct sl_error why = {0};
	struct sl_error *where = err ? err : &why;

	*out = NULL;
	if (!sl__ref_in(ev, i))
		return SL_OK;
	*out = sl__ref_integers(ev, i, where);
	return *out ? SL_OK : where->status;
}

/* Product of dims[first] to dims[last - 1]. */
static inline int64_t
sl__ref_product(const int64_t *dims, size_t first, size_t last)
{
	int64_t n = 1;

	for (size_t d = first; d < last; d++)
		n *= dims[d];
	return n;
}

#endif

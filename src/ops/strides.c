/* SPDX-License-Identifier: Apache-2.0 */
/* strides.c - walking through the elements of tensors in step. */
#include "ops/strides.h"

#include <string.h>

#include "base/banned.h"

int64_t
sl__dims_product(const int64_t *dims, size_t first, size_t last)
{
	uint64_t n = 1;

	for (size_t d = first; d < last; d++)
		n *= (uint64_t)dims[d];
	return (int64_t)n;
}

int64_t
sl__row_major_strides(int64_t *strides, size_t rank, const int64_t *dims)
{
	uint64_t step = 1;

	for (size_t d = rank; d-- > 0;) {
		strides[d] = (int64_t)step;
		step *= (uint64_t)dims[d];
	}
	return (int64_t)step;
}

void
sl__broadcast_strides(int64_t *strides, size_t out_rank, size_t rank,
		      const int64_t *dims)
{
	uint64_t step = 1;

	for (size_t d = out_rank; d-- > 0;) {
		size_t ahead = out_rank - rank;
		int64_t size = d < ahead ? 1 : dims[d - ahead];

		strides[d] = size == 1 ? 0 : (int64_t)step;
		step *= (uint64_t)size;
	}
}

int
sl__strided_position_next(int64_t *at, size_t rank, const int64_t *dims,
			  int64_t *offsets, const int64_t *const *strides,
			  size_t n)
{
	for (size_t d = rank; d-- > 0;) {
		at[d]++;
		for (size_t i = 0; i < n; i++)
			offsets[i] += strides[i][d];
		if (at[d] < dims[d])
			return 1;
		for (size_t i = 0; i < n; i++)
			offsets[i] -= strides[i][d] * dims[d];
		at[d] = 0;
	}
	return 0;
}

void
sl__strided_iterator_begin(struct sl__strided_iterator *w, size_t rank,
			   const int64_t *dims)
{
	memset(w, 0, sizeof(*w));
	w->rank = rank;
	w->dims = dims;
}

int
sl__strided_iterator_next(struct sl__strided_iterator *w)
{
	const int64_t *strides[SL__OPERANDS_MOST];

	for (size_t i = 0; i < w->n; i++)
		strides[i] = w->strides[i];
	return sl__strided_position_next(w->at, w->rank, w->dims, w->offsets,
					 strides, w->n);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* iteration_space.c - nested loops over the elements of several tensors in
 * step. */
#include "compute/iteration_space.h"

#include <string.h>

#include "base/banned.h"

void
sl__space_init(struct sl__iteration_space *l, int rank, const int64_t *dims)
{
	memset(l, 0, sizeof(*l));
	l->rank = rank;
	for (int d = 0; d < rank; d++)
		l->dims[d] = dims[d];
}

void
sl__space_block_axis(struct sl__iteration_space *l, int axis, int64_t block)
{
	l->dims[axis] /= block;
	l->dims[l->rank++] = block;
}

int
sl__space_add_operand(struct sl__iteration_space *l,
		      const struct sl__space_operand *operand, int cut,
		      int64_t block)
{
	const struct sl__strided_layout *strided = operand->strided;
	int64_t *strides = l->strides[l->n];

	if (strided->axis >= 0 &&
	    (operand->first + strided->axis != cut || strided->block != block ||
	     strided->is_padded))
		return 0;
	for (int d = 0; d < operand->rank; d++) {
		int to = operand->first + d;
		int64_t stride = strided->strides[d];
		int is_repeated = operand->dims[d] == 1;

		if (to == cut && strided->axis >= 0) {
			strides[l->rank - 1] = 1;
		} else if (to == cut) {
			strides[l->rank - 1] = is_repeated ? 0 : stride;
			stride *= block;
		}
		strides[to] = is_repeated ? 0 : stride;
	}
	l->n++;
	return 1;
}

static void
swap_dims(struct sl__iteration_space *l, int a, int b)
{
	int64_t kept = l->dims[a];

	l->dims[a] = l->dims[b];
	l->dims[b] = kept;
	for (int i = 0; i < l->n; i++) {
		kept = l->strides[i][a];
		l->strides[i][a] = l->strides[i][b];
		l->strides[i][b] = kept;
	}
}

void
sl__space_sort_loops(struct sl__iteration_space *l)
{
	for (int i = 1; i < l->rank; i++) {
		for (int k = i; k > 0; k--) {
			if (l->strides[0][k - 1] >= l->strides[0][k])
				break;
			swap_dims(l, k - 1, k);
		}
	}
}

static void
drop_loop(struct sl__iteration_space *l, int d)
{
	for (; d + 1 < l->rank; d++)
		swap_dims(l, d, d + 1);
	l->rank--;
}

static int
is_one_loop(const struct sl__iteration_space *l, int d)
{
	for (int i = 0; i < l->n; i++) {
		if (l->strides[i][d] != l->strides[i][d + 1] * l->dims[d + 1])
			return 0;
	}
	return 1;
}

void
sl__space_merge_loops(struct sl__iteration_space *l)
{
	for (int d = l->rank - 1; d >= 0; d--) {
		if (l->dims[d] == 1)
			drop_loop(l, d);
	}
	for (int d = l->rank - 2; d >= 0; d--) {
		if (!is_one_loop(l, d))
			continue;
		l->dims[d + 1] *= l->dims[d];
		drop_loop(l, d);
	}
	if (l->rank)
		return;
	l->rank = 1;
	l->dims[0] = 1;
	for (int i = 0; i < l->n; i++)
		l->strides[i][0] = 1;
}

int64_t
sl__space_n_positions(const struct sl__iteration_space *l, int n)
{
	int64_t count = 1;

	for (int d = 0; d < n; d++)
		count *= l->dims[d];
	return count;
}

void
sl__space_seek(const struct sl__iteration_space *l, int n, int64_t index,
	       struct sl__space_position *p)
{
	memset(p, 0, sizeof(*p));
	for (int d = n - 1; d >= 0; d--) {
		p->at[d] = index % l->dims[d];
		index /= l->dims[d];
		for (int i = 0; i < l->n; i++)
			p->offsets[i] += p->at[d] * l->strides[i][d];
	}
}

void
sl__space_next(const struct sl__iteration_space *l, int n,
	       struct sl__space_position *p)
{
	for (int d = n - 1; d >= 0; d--) {
		p->at[d]++;
		for (int i = 0; i < l->n; i++)
			p->offsets[i] += l->strides[i][d];
		if (p->at[d] < l->dims[d])
			return;
		for (int i = 0; i < l->n; i++)
			p->offsets[i] -= l->dims[d] * l->strides[i][d];
		p->at[d] = 0;
	}
}

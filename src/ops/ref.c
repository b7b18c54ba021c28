/* SPDX-License-Identifier: Apache-2.0 */
/* ref.c - how reference kernels read and write numbers. */
#include "ops/ref.h"
#include "base/dtype.h"
#include "base/status.h"

#include <string.h>

#include "base/banned.h"

enum sl_status
sl__ref_none(struct sl__eval *ev, struct sl_error *err)
{
	return sl__fail(err, SL_E_ABSENT, "%s%s%s cannot be run by this build",
			ev->node->domain, ev->node->domain[0] ? "." : "",
			ev->node->type);
}

/* Whether a kernel takes sequences and optionals, and looks what it gets. */
static int
takes_lists(const struct sl__op *op)
{
	static sl__ref_function *const kernels[] = {
		sl__ref_identity,
		sl__ref_if,
		sl__ref_loop,
		sl__ref_scan,
		sl__ref_sequence_map,
		sl__ref_sequence_insert,
		sl__ref_sequence_erase,
		sl__ref_sequence_at,
		sl__ref_sequence_length,
		sl__ref_concat_from_sequence,
		sl__ref_optional,
		sl__ref_optional_get,
		sl__ref_optional_has,
		sl__ref_none};

	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
		if (op->ref == kernels[i])
			return 1;
	}
	return 0;
}

/* Whether all outputs are tensors that are known to have no elements.  Loops
 * over their sizes need not end soon: another dimension may be of any size. */
static int
is_finished(const struct sl__eval *ev)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < ev->node->n_outputs; k++) {
		const struct sl__datum *out = ev->outputs[k];

		if (!out)
			continue;
		if (out->kind != SL__TYPE_TENSOR || out->tensor.n_elements)
			return 0;
		n++;
	}
	return n > 0;
}

enum sl_status
sl__ref_call(struct sl__eval *ev, struct sl_error *err)
{
	enum sl_status rc;

	for (uint32_t i = 0; i < ev->node->n_inputs; i++) {
		if (ev->inputs[i] && ev->inputs[i]->kind != SL__TYPE_TENSOR &&
		    !takes_lists(ev->node->op))
			return sl__fail(err, SL_E_DATA, "input %u is no tensor",
					i);
	}
	ev->is_lost = 0;
	if (ev->node->op->ref != sl__ref_none && is_finished(ev))
		return SL_OK;
	rc = ev->node->op->ref(ev, err);
	if (rc || !ev->is_lost)
		return rc;
	return sl__fail(err, SL_E_DATA,
			"the type of its output is not known, or holds no "
			"numbers");
}

const struct sl__datum *
sl__ref_in(const struct sl__eval *ev, size_t i)
{
	return i < ev->node->n_inputs ? ev->inputs[i] : NULL;
}

const struct sl__tensor *
sl__ref_tensor(const struct sl__eval *ev, size_t i)
{
	const struct sl__datum *in = sl__ref_in(ev, i);

	return in && in->kind == SL__TYPE_TENSOR ? &in->tensor : NULL;
}

int
sl__ref_rank(const struct sl__eval *ev, size_t i)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, i);

	return t ? (int)t->rank : 0;
}

int64_t
sl__ref_dim(const struct sl__eval *ev, size_t i, int d)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, i);
	int axis = t ? sl__axis(d, (int)t->rank) : -1;

	return axis < 0 ? 0 : t->dims[axis];
}

enum sl_dtype
sl__ref_dtype(const struct sl__eval *ev, size_t i)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, i);

	return t ? t->dtype : SL_DTYPE_NONE;
}

struct sl__datum *
sl__ref_result(const struct sl__eval *ev, size_t k)
{
	return k < ev->node->n_outputs ? ev->outputs[k] : NULL;
}

int
sl__ref_is_idle(const struct sl__eval *ev)
{
	const struct sl__datum *out = sl__ref_result(ev, 0);

	return !out ||
	       (out->kind == SL__TYPE_TENSOR && out->tensor.n_elements == 0);
}

static int
is_of(const struct sl__datum *datum, enum sl_dtype dtype, size_t rank,
      const int64_t *dims)
{
	return datum->kind == SL__TYPE_TENSOR && datum->tensor.dtype == dtype &&
	       datum->tensor.rank == rank &&
	       (rank == 0 ||
		!memcmp(datum->tensor.dims, dims, rank * sizeof(*dims)));
}

enum sl_status
sl__ref_out(struct sl__eval *ev, size_t k, enum sl_dtype dtype, size_t rank,
	    const int64_t *dims, struct sl_error *err)
{
	struct sl__datum *out = sl__ref_result(ev, k);

	if (!out || is_of(out, dtype, rank, dims))
		return SL_OK;
	return sl__datum_tensor(out, dtype, rank, dims, ev->allocator, err);
}

enum sl_status
sl__ref_out_copy(struct sl__eval *ev, size_t k, const struct sl__datum *from,
		 struct sl_error *err)
{
	struct sl__datum *out = sl__ref_result(ev, k);
	const struct sl__tensor *t = &from->tensor;

	if (!out)
		return SL_OK;
	if (from->kind != SL__TYPE_TENSOR || t->dtype == SL_DTYPE_STRING ||
	    !is_of(out, t->dtype, t->rank, t->dims))
		return sl__datum_copy(out, from, ev->allocator, err);
	if (t->n_bytes)
		memcpy(out->bytes, t->bytes, (size_t)t->n_bytes);
	return SL_OK;
}

int
sl__ref_is_whole(enum sl_dtype dtype)
{
	return sl__dtype_family(dtype) == SL__DTYPE_INTEGER;
}

static int
is_number(enum sl_dtype dtype)
{
	return sl__dtype_family(dtype) != SL__DTYPE_OTHER;
}

static int
lies_as(const struct sl__tensor *t, enum sl_dtype dtype)
{
	return t->dtype == dtype && t->bytes && (uintptr_t)t->bytes % 8 == 0;
}

static void
no_numbers(struct sl__eval *ev, const struct sl__tensor *t, size_t i,
	   struct sl_error *err)
{
	ev->failure = sl__fail(err, SL_E_DATA, "input %zu is %s, not numbers",
			       i, t ? sl_dtype_text(t->dtype) : "no tensor");
}

const double *
sl__ref_doubles(struct sl__eval *ev, size_t i, struct sl_error *err)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, i);
	double *made;

	if (t && lies_as(t, SL_DTYPE_F64))
		return (const double *)(const void *)t->bytes;
	made = t ? sl__ref_new(ev, (size_t)t->n_elements, sizeof(*made)) : NULL;
	if (t && !made) {
		ev->failure = sl__fail_nomem(err);
		return NULL;
	}
	if (t && is_number(t->dtype) &&
	    sl__tensor_doubles(t, 0, (size_t)t->n_elements, made))
		return made;
	no_numbers(ev, t, i, err);
	return NULL;
}

const int64_t *
sl__ref_integers(struct sl__eval *ev, size_t i, struct sl_error *err)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, i);
	int64_t *made;

	if (t && (lies_as(t, SL_DTYPE_I64) || lies_as(t, SL_DTYPE_U64)))
		return (const int64_t *)(const void *)t->bytes;
	made = t ? sl__ref_new(ev, (size_t)t->n_elements, sizeof(*made)) : NULL;
	if (t && !made) {
		ev->failure = sl__fail_nomem(err);
		return NULL;
	}
	if (t && is_number(t->dtype) &&
	    sl__tensor_words(t, 0, (size_t)t->n_elements, made))
		return made;
	no_numbers(ev, t, i, err);
	return NULL;
}

/* Whether there is an output to be written, and it takes numbers. */
static int
is_ready(struct sl__eval *ev, const struct sl__datum *out)
{
	if (!out)
		return 0;
	ev->is_lost |= out->kind != SL__TYPE_TENSOR ||
		       !is_number(out->tensor.dtype);
	return !ev->is_lost;
}

void
sl__ref_store_doubles(struct sl__eval *ev, size_t k, const double *from)
{
	struct sl__datum *out = sl__ref_result(ev, k);

	if (is_ready(ev, out))
		sl__store_doubles(out->bytes, out->tensor.dtype, 0,
				  (size_t)out->tensor.n_elements, from);
}

void
sl__ref_store_integers(struct sl__eval *ev, size_t k, const int64_t *from)
{
	struct sl__datum *out = sl__ref_result(ev, k);

	if (is_ready(ev, out))
		sl__store_integers(out->bytes, out->tensor.dtype, 0,
				   (size_t)out->tensor.n_elements, from);
}

void *
sl__ref_new(struct sl__eval *ev, size_t n, size_t n_bytes)
{
	return sl__arena_array(ev->scratch, n, n_bytes);
}

int64_t
sl__ref_strides(int64_t *strides, size_t rank, const int64_t *dims)
{
	uint64_t step = 1;

	for (size_t d = rank; d-- > 0;) {
		strides[d] = (int64_t)step;
		step *= (uint64_t)dims[d];
	}
	return (int64_t)step;
}

int
sl__ref_fits(const struct sl__tensor *t, size_t rank, const int64_t *dims)
{
	if (t->rank > rank)
		return 0;
	for (size_t d = 0; d < t->rank; d++) {
		if (t->dims[d] != 1 && t->dims[d] != dims[rank - t->rank + d])
			return 0;
	}
	return 1;
}

void
sl__ref_broadcast(int64_t *strides, size_t out_rank, size_t rank,
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
sl__ref_next(int64_t *at, size_t rank, const int64_t *dims, int64_t *offsets,
	     const int64_t *const *strides, size_t n)
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

enum sl_status
sl__ref_list(struct sl__eval *ev, size_t i, const char *name,
	     const int64_t **values, size_t *n, struct sl_error *err)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, i);

	*n = 0;
	*values = NULL;
	if (name && sl__attribute(ev->node, name)) {
		*n = sl__ints(ev->node, name, values);
		return SL_OK;
	}
	if (!t)
		return SL_OK;
	*values = sl__ref_integers(ev, i, err);
	if (!*values)
		return sl__ref_failure(ev);
	*n = (size_t)t->n_elements;
	return SL_OK;
}

double
sl__ref_number(const struct sl__eval *ev, size_t i, double otherwise)
{
	const struct sl__tensor *t = sl__ref_tensor(ev, i);
	double value;

	if (!t || t->n_elements == 0 || !sl__tensor_doubles(t, 0, 1, &value))
		return otherwise;
	return value;
}

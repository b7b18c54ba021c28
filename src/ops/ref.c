/* SPDX-License-Identifier: Apache-2.0 */
/* ref.c - how reference kernels read and write numbers. */
#include "ops/ref.h"
#include "base/dtype.h"
#include "base/status.h"
#include "ops/window.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

/* Says why unless an earlier failure did. */
__attribute__((format(__printf__, 3, 0))) static enum sl_status
fail(struct sl__kernel_call *ev, enum sl_status status, const char *format,
     va_list args)
{
	char text[sizeof(ev->err->text)];

	if (ev->failure)
		return ev->failure;
	vsnprintf(text, sizeof(text), format, args);
	return ev->failure = sl__fail(ev->err, status, "%s", text);
}

enum sl_status
sl__ref_fail(struct sl__kernel_call *ev, enum sl_status status,
	     const char *format, ...)
{
	va_list args;

	va_start(args, format);
	status = fail(ev, status, format, args);
	va_end(args);
	return status;
}

enum sl_status
sl__ref_reject(struct sl__kernel_call *ev, const char *format, ...)
{
	enum sl_status status;
	va_list args;

	va_start(args, format);
	status = fail(ev, SL_E_DATA, format, args);
	va_end(args);
	return status;
}

enum sl_status
sl__ref_keep_status(struct sl__kernel_call *ev, enum sl_status status)
{
	if (!ev->failure)
		ev->failure = status;
	return ev->failure;
}

enum sl_status
sl__ref_nomem(struct sl__kernel_call *ev)
{
	return sl__ref_keep_status(ev, ev->failure ? ev->failure
						   : sl__fail_nomem(ev->err));
}

enum sl_status
sl__ref_none(struct sl__kernel_call *ev)
{
	return sl__ref_fail(ev, SL_E_ABSENT,
			    "%s%s%s cannot be run by this build",
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

/* Whether nothing is to be computed: what outputs there are, are tensors that
 * are known to have no elements.  Loops over their sizes need not end soon:
 * another dimension may be of any size. */
static int
is_finished(const struct sl__kernel_call *ev)
{
	for (uint32_t k = 0; k < ev->node->n_outputs; k++) {
		const struct sl__runtime_value *out = ev->outputs[k];

		if (out &&
		    (out->kind != SL__TYPE_TENSOR || out->tensor.n_elements))
			return 0;
	}
	return 1;
}

enum sl_status
sl__ref_run_kernel(struct sl__kernel_call *ev, struct sl_error *err)
{
	ev->err = err;
	ev->failure = SL_OK;
	for (uint32_t i = 0; i < ev->node->n_inputs; i++) {
		if (ev->inputs[i] && ev->inputs[i]->kind != SL__TYPE_TENSOR &&
		    !takes_lists(ev->node->op))
			return sl__ref_reject(ev, "input %u is no tensor", i);
	}
	if (ev->node->op->ref != sl__ref_none && is_finished(ev))
		return SL_OK;
	return sl__ref_keep_status(ev, ev->node->op->ref(ev));
}

const struct sl__runtime_value *
sl__ref_input(const struct sl__kernel_call *ev, size_t i)
{
	return i < ev->node->n_inputs ? ev->inputs[i] : NULL;
}

const struct sl__tensor *
sl__ref_input_tensor(const struct sl__kernel_call *ev, size_t i)
{
	const struct sl__runtime_value *in = sl__ref_input(ev, i);

	return in && in->kind == SL__TYPE_TENSOR ? &in->tensor : NULL;
}

int
sl__ref_input_rank(const struct sl__kernel_call *ev, size_t i)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, i);

	return t ? (int)t->rank : 0;
}

int64_t
sl__ref_input_dim(const struct sl__kernel_call *ev, size_t i, int d)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, i);
	int axis = t ? sl__axis_normalize(d, (int)t->rank) : -1;

	return axis < 0 ? 0 : t->dims[axis];
}

enum sl_dtype
sl__ref_input_dtype(const struct sl__kernel_call *ev, size_t i)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, i);

	return t ? t->dtype : SL_DTYPE_NONE;
}

int
sl__ref_input_has_dims(const struct sl__kernel_call *ev, size_t i, int rank,
		       const int64_t *dims)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, i);
	int is_sized = t && t->rank == (size_t)rank;

	for (int d = 0; is_sized && d < rank; d++)
		is_sized = dims[d] == -1 || t->dims[d] == dims[d];
	return is_sized;
}

struct sl__runtime_value *
sl__ref_output(const struct sl__kernel_call *ev, size_t k)
{
	return k < ev->node->n_outputs ? ev->outputs[k] : NULL;
}

int
sl__ref_output_is_empty(const struct sl__kernel_call *ev)
{
	const struct sl__runtime_value *out = sl__ref_output(ev, 0);

	return !out ||
	       (out->kind == SL__TYPE_TENSOR && out->tensor.n_elements == 0);
}

static int
is_of(const struct sl__runtime_value *content, enum sl_dtype dtype, size_t rank,
      const int64_t *dims)
{
	return content->kind == SL__TYPE_TENSOR &&
	       content->tensor.dtype == dtype && content->tensor.rank == rank &&
	       (rank == 0 ||
		!memcmp(content->tensor.dims, dims, rank * sizeof(*dims)));
}

enum sl_status
sl__ref_value_alloc(struct sl__kernel_call *ev, struct sl__runtime_value *to,
		    enum sl_dtype dtype, size_t rank, const int64_t *dims)
{
	return is_of(to, dtype, rank, dims)
		       ? ev->failure
		       : sl__ref_keep_status(ev,
					     sl__runtime_value_alloc_tensor(
						     to, dtype, rank, dims,
						     ev->allocator, ev->err));
}

enum sl_status
sl__ref_output_alloc(struct sl__kernel_call *ev, size_t k, enum sl_dtype dtype,
		     size_t rank, const int64_t *dims)
{
	struct sl__runtime_value *out = sl__ref_output(ev, k);

	return out ? sl__ref_value_alloc(ev, out, dtype, rank, dims)
		   : ev->failure;
}

enum sl_status
sl__ref_value_copy(struct sl__kernel_call *ev, struct sl__runtime_value *to,
		   const struct sl__runtime_value *from)
{
	return sl__ref_keep_status(
		ev, sl__runtime_value_copy(to, from, ev->allocator, ev->err));
}

enum sl_status
sl__ref_value_set_strings(struct sl__kernel_call *ev,
			  struct sl__runtime_value *to, size_t rank,
			  const int64_t *dims, const char *const *strings)
{
	return sl__ref_keep_status(
		ev, sl__runtime_value_copy_strings(to, rank, dims, strings,
						   ev->allocator, ev->err));
}

enum sl_status
sl__ref_value_set_sequence(struct sl__kernel_call *ev,
			   struct sl__runtime_value *to, enum sl_dtype dtype,
			   size_t n)
{
	return sl__ref_keep_status(
		ev, sl__runtime_value_alloc_list(to, SL__TYPE_SEQUENCE, dtype,
						 n, ev->allocator, ev->err));
}

enum sl_status
sl__ref_output_copy(struct sl__kernel_call *ev, size_t k,
		    const struct sl__runtime_value *from)
{
	struct sl__runtime_value *out = sl__ref_output(ev, k);
	const struct sl__tensor *t = &from->tensor;

	if (!out)
		return SL_OK;
	if (from->kind != SL__TYPE_TENSOR || t->dtype == SL_DTYPE_STRING ||
	    !is_of(out, t->dtype, t->rank, t->dims))
		return sl__ref_keep_status(
			ev, sl__runtime_value_copy(out, from, ev->allocator,
						   ev->err));
	if (t->n_bytes)
		memcpy(out->bytes, t->bytes, (size_t)t->n_bytes);
	return SL_OK;
}

int
sl__ref_dtype_is_integer(enum sl_dtype dtype)
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

static const void *
no_numbers(struct sl__kernel_call *ev, const struct sl__tensor *t, size_t i)
{
	sl__ref_reject(ev, "input %zu is %s, not numbers", i,
		       t ? sl_dtype_text(t->dtype) : "no tensor");
	return NULL;
}

const double *
sl__ref_input_doubles(struct sl__kernel_call *ev, size_t i)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, i);
	size_t n = t ? (size_t)t->n_elements : 0;
	double *made;

	if (t && lies_as(t, SL_DTYPE_F64))
		return (const double *)(const void *)t->bytes;
	made = sl__ref_scratch(ev, n, sizeof(*made));
	if (made &&
	    (!t || !is_number(t->dtype) || !sl__tensor_doubles(t, 0, n, made)))
		return no_numbers(ev, t, i);
	return made;
}

const double *
sl__ref_optional_doubles(struct sl__kernel_call *ev, size_t i)
{
	return sl__ref_input(ev, i) ? sl__ref_input_doubles(ev, i) : NULL;
}

const int64_t *
sl__ref_input_integers(struct sl__kernel_call *ev, size_t i)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, i);
	size_t n = t ? (size_t)t->n_elements : 0;
	int64_t *made;

	if (t && (lies_as(t, SL_DTYPE_I64) || lies_as(t, SL_DTYPE_U64)))
		return (const int64_t *)(const void *)t->bytes;
	made = sl__ref_scratch(ev, n, sizeof(*made));
	if (made && (!t || !is_number(t->dtype) ||
		     !sl__tensor_integer_bits(t, 0, n, made)))
		return no_numbers(ev, t, i);
	return made;
}

const int64_t *
sl__ref_optional_integers(struct sl__kernel_call *ev, size_t i)
{
	return sl__ref_input(ev, i) ? sl__ref_input_integers(ev, i) : NULL;
}

/* Output k where there is one to be written; it must take numbers. */
static struct sl__runtime_value *
ready(struct sl__kernel_call *ev, size_t k)
{
	struct sl__runtime_value *out = sl__ref_output(ev, k);

	if (out &&
	    (out->kind != SL__TYPE_TENSOR || !is_number(out->tensor.dtype)))
		sl__ref_reject(ev, "the type of its output is not known, or "
				   "holds no numbers");
	return ev->failure ? NULL : out;
}

enum sl_status
sl__ref_output_store_doubles(struct sl__kernel_call *ev, size_t k,
			     const double *from)
{
	struct sl__runtime_value *out = ready(ev, k);

	if (out)
		sl__store_doubles(out->bytes, out->tensor.dtype, 0,
				  (size_t)out->tensor.n_elements, from);
	return ev->failure;
}

enum sl_status
sl__ref_output_store_integers(struct sl__kernel_call *ev, size_t k,
			      const int64_t *from)
{
	struct sl__runtime_value *out = ready(ev, k);

	if (out)
		sl__store_integers(out->bytes, out->tensor.dtype, 0,
				   (size_t)out->tensor.n_elements, from);
	return ev->failure;
}

enum sl_status
sl__ref_output_alloc_store(struct sl__kernel_call *ev, size_t k,
			   enum sl_dtype dtype, size_t rank,
			   const int64_t *dims, const double *from)
{
	if (sl__ref_output_alloc(ev, k, dtype, rank, dims))
		return ev->failure;
	return sl__ref_output_store_doubles(ev, k, from);
}

void *
sl__ref_scratch(struct sl__kernel_call *ev, size_t n, size_t n_bytes)
{
	void *made = sl__arena_array(ev->scratch, n, n_bytes);

	if (!made)
		sl__ref_nomem(ev);
	return made;
}

double *
sl__ref_scratch_doubles(struct sl__kernel_call *ev, int64_t n)
{
	return sl__ref_scratch(ev, (size_t)n, sizeof(double));
}

int64_t *
sl__ref_scratch_integers(struct sl__kernel_call *ev, int64_t n)
{
	return sl__ref_scratch(ev, (size_t)n, sizeof(int64_t));
}

double *
sl__ref_scratch_output(struct sl__kernel_call *ev, size_t k)
{
	const struct sl__runtime_value *out = sl__ref_output(ev, k);

	if (out && out->kind == SL__TYPE_TENSOR)
		return sl__ref_scratch(ev, (size_t)out->tensor.n_elements,
				       sizeof(double));
	sl__ref_reject(ev, "its result has no sizes");
	return NULL;
}

const int64_t *
sl__ref_integer_list(struct sl__kernel_call *ev, size_t i, const char *name,
		     size_t *n)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, i);
	const int64_t *values = NULL;

	*n = 0;
	if (name && sl__attribute_find(ev->node, name)) {
		*n = sl__attribute_ints(ev->node, name, &values);
	} else if (t) {
		values = sl__ref_input_integers(ev, i);
		*n = values ? (size_t)t->n_elements : 0;
	}
	return values;
}

int
sl__ref_attribute_choice(struct sl__kernel_call *ev, const char *name,
			 const char *const *words)
{
	const char *word = sl__attribute_string(ev->node, name, words[0]);

	for (int i = 0; words[i]; i++) {
		if (!strcmp(word, words[i]))
			return i;
	}
	sl__ref_reject(ev, "%s is '%.60s'", name, word);
	return 0;
}

double
sl__ref_input_scalar(const struct sl__kernel_call *ev, size_t i,
		     double otherwise)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, i);
	double value;

	if (!t || t->n_elements == 0 || !sl__tensor_doubles(t, 0, 1, &value))
		return otherwise;
	return value;
}

enum sl_status
sl__window_read_for_kernel(struct sl__window *out, struct sl__kernel_call *ev,
			   int n, const int64_t *weight)
{
	return sl__ref_keep_status(
		ev,
		sl__window_read_from_node(out, ev->node, n, weight, ev->err));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onnx_tensor.c - the tensors of an ONNX file.
 *
 * Numbers lie in one of three places: packed in raw_data, in a list that
 * depends on their type, or in another file.  raw_data and lists of floats
 * and doubles in one piece have the layout of memory and stay where they are;
 * other lists are unpacked.  That happens only when their length is known to
 * fit the shape, so that no shape, however large, makes Sleuth allocate.
 */
#include "base/dtype.h"
#include "base/status.h"
#include "model/external.h"
#include "model/onnx_parts.h"

#include <string.h>

#include "base/banned.h"

enum { EXTERNAL = 1 }; /* of data_location */

/* What a tensor's message says, but for the contents of its list. */
struct parts {
	int64_t dims[SL__ONNX_RANK_MOST];
	size_t rank;
	int64_t dtype, location;
	struct sl__field name, raw;
	struct sl__external external;
	const char *shown; /* the name, for errors */
};

static enum sl_status
read_dims(struct sl__onnx_reader *r, const struct sl__wire *wire,
	  const struct sl__field *f, struct parts *out)
{
	uint64_t dims[SL__ONNX_RANK_MOST];
	size_t n = 0, n_taken = 0;
	enum sl_status rc =
		sl__wire_count(wire, f, SL__WIRE_VARINT, &n, r->err);

	if (rc)
		return rc;
	if (n > SL__ONNX_RANK_MOST - out->rank)
		return sl__fail(r->err, SL_E_DATA,
				"byte %zu: a tensor with more than %d "
				"dimensions",
				f->at, SL__ONNX_RANK_MOST);
	sl__wire_take(f, SL__WIRE_VARINT, dims, n, &n_taken);
	for (size_t i = 0; i < n_taken; i++)
		out->dims[out->rank++] = (int64_t)dims[i];
	return SL_OK;
}

static enum sl_status
read_part(struct sl__onnx_reader *r, const struct sl__wire *wire,
	  const struct sl__field *f, struct parts *out)
{
	struct sl__wire inner;
	enum sl_status rc;

	switch (f->number) {
	case SL__TENSOR_DIMS:
		return read_dims(r, wire, f, out);
	case SL__TENSOR_DATA_TYPE:
		return sl__wire_integer(wire, f, &out->dtype, r->err);
	case SL__TENSOR_NAME:
		out->name = *f;
		return sl__wire_expect(wire, f, SL__WIRE_BYTES, r->err);
	case SL__TENSOR_RAW_DATA:
		out->raw = *f;
		return sl__wire_expect(wire, f, SL__WIRE_BYTES, r->err);
	case SL__TENSOR_SEGMENT:
		return sl__fail(r->err, SL_E_DATA,
				"byte %zu: a sequence, an optional or a part "
				"of a tensor, not a tensor",
				f->at);
	case SL__TENSOR_DATA_LOCATION:
		return sl__wire_integer(wire, f, &out->location, r->err);
	case SL__TENSOR_EXTERNAL_DATA:
		rc = sl__wire_enter(&inner, wire, f, "external data", r->err);
		return rc ? rc : sl__external_entry(r, inner, &out->external);
	default:
		return SL_OK;
	}
}

static enum sl_status
read_parts(struct sl__onnx_reader *r, struct sl__wire wire, struct parts *out)
{
	struct sl__field f;
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	out->external.location = "";
	out->external.n_bytes = UINT64_MAX;
	do {
		rc = sl__wire_next(&wire, &f, r->err);
		if (!rc && f.number)
			rc = read_part(r, &wire, &f, out);
	} while (!rc && f.number);
	return rc;
}

/* dtype and shape, measured. */
static enum sl_status
measure(struct sl__onnx_reader *r, const struct parts *parts,
	struct sl__tensor *out)
{
	int64_t *dims = sl__onnx_array(r, parts->rank, sizeof(*dims));

	if (!dims)
		return r->err->status;
	memcpy(dims, parts->dims, parts->rank * sizeof(*dims));
	memset(out, 0, sizeof(*out));
	out->dims = dims;
	out->rank = parts->rank;
	if (parts->dtype > 0 && parts->dtype < SL_N_DTYPES)
		out->dtype = (enum sl_dtype)parts->dtype;
	for (size_t i = 0; i < parts->rank; i++) {
		if (dims[i] < 0)
			return sl__fail(r->err, SL_E_DATA,
					"tensor '%.200s': dimension %zu is "
					"%lld",
					parts->shown, i, (long long)dims[i]);
	}
	if (!sl__tensor_measure(out))
		return sl__fail(r->err, SL_E_DATA,
				"tensor '%.200s': its dimensions multiply to "
				"more than 64 bits",
				parts->shown);
	return SL_OK;
}

/* Which list holds numbers of a type, how, and how wide in memory. */
struct list {
	uint32_t number;
	enum sl__wire_type type;
	size_t width_bytes;
};

static struct list
list_of(enum sl_dtype dtype)
{
	static const struct list floats = {SL__TENSOR_FLOAT_DATA,
					   SL__WIRE_FIXED32, 4};
	static const struct list doubles = {SL__TENSOR_DOUBLE_DATA,
					    SL__WIRE_FIXED64, 8};
	struct list list = {SL__TENSOR_INT32_DATA, SL__WIRE_VARINT, 1};
	unsigned n_bits = sl_dtype_bits(dtype);

	if (dtype == SL_DTYPE_F32 || dtype == SL_DTYPE_C64)
		return floats;
	if (dtype == SL_DTYPE_F64 || dtype == SL_DTYPE_C128)
		return doubles;
	if (dtype == SL_DTYPE_I64)
		list.number = SL__TENSOR_INT64_DATA;
	else if (dtype == SL_DTYPE_U64 || dtype == SL_DTYPE_U32)
		list.number = SL__TENSOR_UINT64_DATA;
	/* Two numbers of four bits share an element, as in memory. */
	if (n_bits > 8)
		list.width_bytes = n_bits / 8;
	return list;
}

static enum sl_status
fail_length(struct sl__onnx_reader *r, const struct parts *parts,
	    uint64_t n_bytes, const struct sl__tensor *tensor)
{
	return sl__fail(r->err, SL_E_DATA,
			"tensor '%.200s': %llu bytes of data where its shape "
			"takes %llu",
			parts->shown, (unsigned long long)n_bytes,
			(unsigned long long)tensor->n_bytes);
}

/* Unpacks one field of a list to 'to'; returns where it ends. */
static unsigned char *
unpack(const struct sl__field *f, const struct list *list, unsigned char *to)
{
	const unsigned char *at = f->bytes, *end = at + f->n_bytes;
	uint64_t value = f->value;

	if (f->type == SL__WIRE_BYTES && list->type != SL__WIRE_VARINT) {
		memcpy(to, f->bytes, f->n_bytes);
		return to + f->n_bytes;
	}
	do {
		if (f->type == SL__WIRE_BYTES &&
		    !sl__varint_read(&at, end, &value))
			break;
		for (size_t i = 0; i < list->width_bytes; i++)
			*to++ = (unsigned char)(value >> 8 * i);
	} while (f->type == SL__WIRE_BYTES);
	return to;
}

struct list_size {
	size_t n, n_fields;
	struct sl__field first;
};

static enum sl_status
size_list(struct sl__onnx_reader *r, struct sl__wire wire,
	  const struct list *list, struct list_size *out)
{
	struct sl__field f;
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	for (;;) {
		rc = sl__wire_next(&wire, &f, r->err);
		if (rc || !f.number)
			return rc;
		if (f.number != list->number)
			continue;
		if (!out->n_fields++)
			out->first = f;
		rc = sl__wire_count(&wire, &f, list->type, &out->n, r->err);
		if (rc)
			return rc;
	}
}

static enum sl_status
take_list(struct sl__onnx_reader *r, struct sl__wire wire,
	  const struct parts *parts, struct sl__tensor *out)
{
	struct list list = list_of(out->dtype);
	struct list_size size;
	struct sl__field f;
	unsigned char *bytes;
	enum sl_status rc = size_list(r, wire, &list, &size);

	if (rc)
		return rc;
	/* n is at most the length of the file, so the product fits. */
	if ((uint64_t)size.n * list.width_bytes != out->n_bytes)
		return fail_length(r, parts,
				   (uint64_t)size.n * list.width_bytes, out);
	if (!size.n)
		return SL_OK;
	if (list.type != SL__WIRE_VARINT && size.n_fields == 1 &&
	    size.first.type == SL__WIRE_BYTES) {
		out->bytes = size.first.bytes;
		out->is_mapped = r->is_mapped;
		return SL_OK;
	}
	bytes = sl__onnx_array(r, size.n, list.width_bytes);
	if (!bytes)
		return r->err->status;
	out->bytes = bytes;
	do {
		rc = sl__wire_next(&wire, &f, r->err);
		if (!rc && f.number == list.number)
			bytes = unpack(&f, &list, bytes);
	} while (!rc && f.number);
	return rc;
}

static enum sl_status
take_strings(struct sl__onnx_reader *r, struct sl__wire wire,
	     const struct parts *parts, struct sl__tensor *out)
{
	struct list list = {SL__TENSOR_STRING_DATA, SL__WIRE_BYTES, 0};
	struct list_size size;
	const char **strings;
	struct sl__field f;
	enum sl_status rc = size_list(r, wire, &list, &size);
	size_t n = 0;

	if (rc)
		return rc;
	if (size.n_fields != out->n_elements)
		return sl__fail(r->err, SL_E_DATA,
				"tensor '%.200s': %zu strings where its shape "
				"takes %llu",
				parts->shown, size.n_fields,
				(unsigned long long)out->n_elements);
	strings = sl__onnx_array(r, size.n_fields, sizeof(*strings));
	if (!strings)
		return r->err->status;
	do {
		rc = sl__wire_next(&wire, &f, r->err);
		if (rc || f.number != list.number)
			continue;
		strings[n] = sl__onnx_text(r, &wire, &f, "");
		if (!strings[n++])
			return r->err->status;
	} while (!rc && f.number);
	out->strings = strings;
	return rc;
}

static enum sl_status
take_contents(struct sl__onnx_reader *r, struct sl__wire wire,
	      const struct parts *parts, struct sl__tensor *out)
{
	if (out->dtype == SL_DTYPE_NONE) {
		if (parts->dtype == SL_DTYPE_NONE)
			return sl__fail(r->err, SL_E_DATA,
					"tensor '%.200s' (byte %zu) has no "
					"type of number",
					parts->shown, wire.at);
		if (parts->dtype < 0 || parts->dtype > SL__DTYPE_LAST)
			return sl__fail(r->err, SL_E_DATA,
					"tensor '%.200s' (byte %zu): there is "
					"no type of number %lld",
					parts->shown, wire.at,
					(long long)parts->dtype);
		out->absent = "a type of number that Sleuth does not know";
		return SL_OK;
	}
	if (out->dtype == SL_DTYPE_STRING)
		return take_strings(r, wire, parts, out);
	if (parts->location == EXTERNAL)
		return sl__external_find(r, &parts->external, parts->shown,
					 out);
	if (!parts->raw.n_bytes)
		return take_list(r, wire, parts, out);
	if (parts->raw.n_bytes != out->n_bytes)
		return fail_length(r, parts, parts->raw.n_bytes, out);
	out->bytes = parts->raw.bytes;
	out->is_mapped = r->is_mapped;
	return SL_OK;
}

enum sl_status
sl__onnx_tensor(struct sl__onnx_reader *r, struct sl__wire wire,
		struct sl__tensor *out, struct sl__field *name)
{
	struct parts parts;
	char shown[128];
	size_t n;
	enum sl_status rc = read_parts(r, wire, &parts);

	if (rc)
		return rc;
	n = parts.name.n_bytes < sizeof(shown) - 1 ? parts.name.n_bytes
						   : sizeof(shown) - 1;
	if (n)
		memcpy(shown, parts.name.bytes, n);
	shown[n] = '\0';
	parts.shown = shown;
	*name = parts.name;
	rc = measure(r, &parts, out);
	return rc ? rc : take_contents(r, wire, &parts, out);
}

struct sparse {
	struct parts parts; /* dims only */
	struct sl__tensor values, indices;
	struct sl__field name;
	int has_values;
};

static enum sl_status
read_sparse_field(struct sl__onnx_reader *r, const struct sl__wire *wire,
		  const struct sl__field *f, struct sparse *out)
{
	struct sl__field ignored;
	struct sl__wire inner;
	enum sl_status rc;

	if (f->number == SL__SPARSE_DIMS)
		return read_dims(r, wire, f, &out->parts);
	if (f->number != SL__SPARSE_VALUES && f->number != SL__SPARSE_INDICES)
		return SL_OK;
	rc = sl__wire_enter(&inner, wire, f, "tensor", r->err);
	if (rc)
		return rc;
	if (f->number == SL__SPARSE_INDICES)
		return sl__onnx_tensor(r, inner, &out->indices, &ignored);
	out->has_values = 1;
	return sl__onnx_tensor(r, inner, &out->values, &out->name);
}

/* Indices are flat, one per value, or one row of coordinates per value. */
static int
indices_fit(const struct sparse *sparse)
{
	const struct sl__tensor *indices = &sparse->indices;
	uint64_t n = sparse->values.n_elements;

	if (sparse->values.rank != 1 || sparse->values.dtype == SL_DTYPE_STRING)
		return 0;
	if (indices->dtype == SL_DTYPE_NONE) /* none given */
		return n == 0;
	if (indices->dtype != SL_DTYPE_I64)
		return 0;
	if (indices->rank == 1)
		return (uint64_t)indices->dims[0] == n;
	return indices->rank == 2 && (uint64_t)indices->dims[0] == n &&
	       (uint64_t)indices->dims[1] == sparse->parts.rank;
}

/* Whether an index, flat or a coordinate, lies inside of the tensor. */
static int
is_inside(const struct sl__tensor *dense, const struct sl__tensor *indices,
	  uint64_t i, int64_t index)
{
	uint64_t end = dense->n_elements;

	if (indices->rank == 2)
		end = (uint64_t)dense->dims[i % dense->rank];
	return index >= 0 && (uint64_t)index < end;
}

/* Indices that cannot be read, since their file is not there, are taken to be
 * right. */
static enum sl_status
check_indices(struct sl__onnx_reader *r, const struct sl__tensor *dense,
	      const struct sparse *sparse)
{
	const struct sl__tensor *indices = &sparse->indices;

	for (uint64_t i = 0; i < indices->n_elements; i++) {
		int64_t index;

		if (!sl__tensor_integers(indices, i, 1, &index))
			break;
		if (!is_inside(dense, indices, i, index))
			return sl__fail(
				r->err, SL_E_DATA,
				"tensor '%.*s': index %lld of its "
				"sparse values lies outside of it",
				(int)(sparse->name.n_bytes < 200
					      ? sparse->name.n_bytes
					      : 200),
				sparse->name.n_bytes
					? (const char *)sparse->name.bytes
					: "",
				(long long)index);
	}
	return SL_OK;
}

enum sl_status
sl__onnx_sparse(struct sl__onnx_reader *r, struct sl__wire wire,
		struct sl__tensor *out, struct sl__field *name)
{
	struct sl__tensor *indices;
	struct sparse sparse;
	size_t at = wire.at;
	struct sl__field f;
	enum sl_status rc;

	memset(&sparse, 0, sizeof(sparse));
	memset(name, 0, sizeof(*name));
	do {
		rc = sl__wire_next(&wire, &f, r->err);
		if (!rc && f.number)
			rc = read_sparse_field(r, &wire, &f, &sparse);
	} while (!rc && f.number);
	if (rc)
		return rc;
	*name = sparse.name;
	sparse.parts.shown = "of sparse values";
	sparse.parts.dtype = (int64_t)sparse.values.dtype;
	rc = measure(r, &sparse.parts, out);
	if (rc)
		return rc;
	if (!sparse.has_values || !indices_fit(&sparse) ||
	    sparse.values.n_elements > out->n_elements)
		return sl__fail(r->err, SL_E_DATA,
				"byte %zu: a sparse tensor whose values, "
				"indices and dimensions do not fit together",
				at);
	rc = check_indices(r, out, &sparse);
	if (rc)
		return rc;
	indices = sl__onnx_array(r, 1, sizeof(*indices));
	if (!indices)
		return r->err->status;
	*indices = sparse.indices;
	out->indices = indices;
	out->is_sparse = 1;
	out->n_stored = sparse.values.n_elements;
	out->n_bytes = sparse.values.n_bytes;
	out->bytes = sparse.values.bytes;
	out->absent = sparse.values.absent;
	out->is_mapped = sparse.values.is_mapped;
	out->storage = sparse.values.storage;
	return SL_OK;
}

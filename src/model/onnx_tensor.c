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
#include "model/external.h"
#include "model/onnx_parse.h"

#include <stddef.h>
#include <string.h>

#include "base/banned.h"

enum { EXTERNAL = 1 }; /* of data_location */

/* What a tensor's message says, but for the contents of its list. */
struct parts {
	int64_t dims[SL__ONNX_RANK_MOST];
	size_t rank;
	int64_t dtype, location;
	struct sl__field name, raw;
	struct sl__external_data external;
	const char *shown; /* the name, for errors */
};

static void
read_dims(struct sl__onnx_reader *r, const struct sl__wire_reader *wire,
	  const struct sl__field *f, struct parts *out)
{
	size_t n = 0;

	sl__wire_count_numbers(wire, f, SL__WIRE_VARINT, &n);
	if (n > SL__ONNX_RANK_MOST - out->rank)
		sl__wire_fail(&r->file,
			      "byte %zu: a tensor with more than %d dimensions",
			      f->at, SL__ONNX_RANK_MOST);
	sl__wire_read_numbers(f, SL__WIRE_VARINT, (uint64_t *)out->dims,
			      SL__ONNX_RANK_MOST, &out->rank);
}

static void
read_parts(struct sl__onnx_reader *r, struct sl__wire_reader wire,
	   struct parts *out)
{
	static const struct sl__wire_store_rule rows[] = {
		{SL__TENSOR_DATA_TYPE, SL__WIRE_VARINT, SL__WIRE_STORE_INTEGER,
		 offsetof(struct parts, dtype)},
		{SL__TENSOR_NAME, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD,
		 offsetof(struct parts, name)},
		{SL__TENSOR_RAW_DATA, SL__WIRE_BYTES, SL__WIRE_STORE_FIELD,
		 offsetof(struct parts, raw)},
		{SL__TENSOR_DATA_LOCATION, SL__WIRE_VARINT,
		 SL__WIRE_STORE_INTEGER, offsetof(struct parts, location)},
		{0},
	};
	struct sl__field f;

	memset(out, 0, sizeof(*out));
	out->external.location = "";
	out->external.n_bytes = UINT64_MAX;
	while (sl__wire_next(&wire, &f)) {
		sl__wire_store_field(&wire, &f, rows, out);
		if (f.number == SL__TENSOR_DIMS)
			read_dims(r, &wire, &f, out);
		else if (f.number == SL__TENSOR_EXTERNAL_DATA)
			sl__external_data_read_entry(
				r,
				sl__wire_enter_message(&wire, &f,
						       "external data"),
				&out->external);
		else if (f.number == SL__TENSOR_SEGMENT)
			sl__wire_fail(&r->file,
				      "byte %zu: a sequence, an optional or a "
				      "part of a tensor, not a tensor",
				      f.at);
	}
}

/* dtype and shape, measured. */
static void
measure(struct sl__onnx_reader *r, const struct parts *parts,
	struct sl__tensor *out)
{
	int64_t *dims = sl__onnx_alloc_in_graph(r, parts->rank, sizeof(*dims));

	memset(out, 0, sizeof(*out));
	if (!dims)
		return;
	memcpy(dims, parts->dims, parts->rank * sizeof(*dims));
	out->dims = dims;
	out->rank = parts->rank;
	if (parts->dtype > 0 && parts->dtype < SL_N_DTYPES)
		out->dtype = (enum sl_dtype)parts->dtype;
	for (size_t i = 0; i < parts->rank; i++) {
		if (dims[i] < 0)
			sl__wire_fail(&r->file,
				      "tensor '%.200s': dimension %zu is %lld",
				      parts->shown, i, (long long)dims[i]);
	}
	if (!r->file.status && !sl__tensor_compute_size(out))
		sl__wire_fail(&r->file,
			      "tensor '%.200s': its dimensions multiply to "
			      "more than 64 bits",
			      parts->shown);
}

/* Which list holds numbers of a type. */
static struct sl__onnx_number_list
list_of(enum sl_dtype dtype)
{
	static const struct sl__onnx_number_list floats = {
		SL__TENSOR_FLOAT_DATA, SL__WIRE_FIXED32, 4};
	static const struct sl__onnx_number_list doubles = {
		SL__TENSOR_DOUBLE_DATA, SL__WIRE_FIXED64, 8};
	struct sl__onnx_number_list list = {SL__TENSOR_INT32_DATA,
					    SL__WIRE_VARINT, 1};
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

static void
fail_length(struct sl__onnx_reader *r, const struct parts *parts,
	    uint64_t n_bytes, const struct sl__tensor *tensor)
{
	sl__wire_fail(&r->file,
		      "tensor '%.200s': %llu bytes of data where its shape "
		      "takes %llu",
		      parts->shown, (unsigned long long)n_bytes,
		      (unsigned long long)tensor->n_bytes);
}

/* Unpacks one field of a list to 'to'; returns where it ends. */
static unsigned char *
unpack(const struct sl__field *f, const struct sl__onnx_number_list *list,
       unsigned char *to)
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

void
sl__onnx_number_list_unpack(struct sl__wire_reader wire,
			    const struct sl__onnx_number_list *list, void *to)
{
	unsigned char *at = to;
	struct sl__field f;

	while (sl__wire_next(&wire, &f)) {
		if (f.number == list->number)
			at = unpack(&f, list, at);
	}
}

const char **
sl__onnx_parse_strings(struct sl__onnx_reader *r, struct sl__wire_reader wire,
		       uint32_t number, size_t n)
{
	const char **strings = sl__onnx_alloc_in_graph(r, n, sizeof(*strings));
	struct sl__field f;

	for (size_t i = 0; sl__wire_find_field(&wire, number, &f); i++)
		strings[i] = sl__onnx_text(r, &f, "");
	return strings;
}

struct list_size {
	size_t n, n_fields;
	struct sl__field first;
};

static struct list_size
size_list(struct sl__wire_reader wire, uint32_t number, enum sl__wire_type type)
{
	struct list_size size = {0, 0, {0}};
	struct sl__field f;

	while (sl__wire_next(&wire, &f)) {
		if (f.number != number)
			continue;
		if (!size.n_fields++)
			size.first = f;
		sl__wire_count_numbers(&wire, &f, type, &size.n);
	}
	return size;
}

static void
take_list(struct sl__onnx_reader *r, struct sl__wire_reader wire,
	  const struct parts *parts, struct sl__tensor *out)
{
	struct sl__onnx_number_list list = list_of(out->dtype);
	struct list_size size = size_list(wire, list.number, list.type);
	unsigned char *bytes;

	/* n is at most the length of the file, so the product fits. */
	if ((uint64_t)size.n * list.width_bytes != out->n_bytes)
		fail_length(r, parts, (uint64_t)size.n * list.width_bytes, out);
	if (!size.n || r->file.status)
		return;
	if (list.type != SL__WIRE_VARINT && size.n_fields == 1 &&
	    size.first.type == SL__WIRE_BYTES) {
		out->bytes = size.first.bytes;
		out->is_mapped = r->is_mapped;
		return;
	}
	out->bytes = bytes =
		sl__onnx_alloc_in_graph(r, size.n, list.width_bytes);
	sl__onnx_number_list_unpack(wire, &list, bytes);
}

static void
take_strings(struct sl__onnx_reader *r, struct sl__wire_reader wire,
	     const struct parts *parts, struct sl__tensor *out)
{
	size_t n = size_list(wire, SL__TENSOR_STRING_DATA, SL__WIRE_BYTES)
			   .n_fields;

	if (n != out->n_elements)
		sl__wire_fail(&r->file,
			      "tensor '%.200s': %zu strings where its shape "
			      "takes %llu",
			      parts->shown, n,
			      (unsigned long long)out->n_elements);
	out->strings =
		sl__onnx_parse_strings(r, wire, SL__TENSOR_STRING_DATA, n);
}

static void
take_contents(struct sl__onnx_reader *r, struct sl__wire_reader wire,
	      const struct parts *parts, struct sl__tensor *out)
{
	if (out->dtype == SL_DTYPE_NONE) {
		if (parts->dtype == SL_DTYPE_NONE)
			sl__wire_fail(&r->file,
				      "tensor '%.200s' (byte %zu) has no type "
				      "of number",
				      parts->shown, wire.at);
		else if (parts->dtype < 0 || parts->dtype > SL__DTYPE_LAST)
			sl__wire_fail(&r->file,
				      "tensor '%.200s' (byte %zu): there is no "
				      "type of number %lld",
				      parts->shown, wire.at,
				      (long long)parts->dtype);
		out->absent = "a type of number that Sleuth does not know";
	} else if (out->dtype == SL_DTYPE_STRING) {
		take_strings(r, wire, parts, out);
	} else if (parts->location == EXTERNAL) {
		sl__external_data_attach(r, &parts->external, parts->shown,
					 out);
	} else if (!parts->raw.n_bytes) {
		take_list(r, wire, parts, out);
	} else if (parts->raw.n_bytes != out->n_bytes) {
		fail_length(r, parts, parts->raw.n_bytes, out);
	} else {
		out->bytes = parts->raw.bytes;
		out->is_mapped = r->is_mapped;
	}
}

void
sl__onnx_parse_tensor(struct sl__onnx_reader *r, struct sl__wire_reader wire,
		      struct sl__tensor *out, struct sl__field *name)
{
	struct parts parts;
	char shown[128];
	size_t n;

	read_parts(r, wire, &parts);
	n = parts.name.n_bytes < sizeof(shown) - 1 ? parts.name.n_bytes
						   : sizeof(shown) - 1;
	if (n)
		memcpy(shown, parts.name.bytes, n);
	shown[n] = '\0';
	parts.shown = shown;
	*name = parts.name;
	measure(r, &parts, out);
	if (!r->file.status)
		take_contents(r, wire, &parts, out);
}

struct sparse {
	struct parts parts; /* dims only */
	struct sl__tensor values, indices;
	struct sl__field name;
	int has_values;
};

static void
read_sparse(struct sl__onnx_reader *r, struct sl__wire_reader wire,
	    struct sparse *out)
{
	struct sl__field f, ignored;

	while (sl__wire_next(&wire, &f)) {
		if (f.number == SL__SPARSE_DIMS) {
			read_dims(r, &wire, &f, &out->parts);
		} else if (f.number == SL__SPARSE_INDICES) {
			sl__onnx_parse_tensor(
				r, sl__wire_enter_message(&wire, &f, "tensor"),
				&out->indices, &ignored);
		} else if (f.number == SL__SPARSE_VALUES) {
			out->has_values = 1;
			sl__onnx_parse_tensor(
				r, sl__wire_enter_message(&wire, &f, "tensor"),
				&out->values, &out->name);
		}
	}
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
static void
check_indices(struct sl__onnx_reader *r, const struct sl__tensor *dense,
	      const struct sparse *sparse)
{
	const struct sl__tensor *indices = &sparse->indices;
	const struct sl__field *name = &sparse->name;

	for (uint64_t i = 0; i < indices->n_elements && !r->file.status; i++) {
		int64_t index;

		if (!sl__tensor_integers(indices, i, 1, &index))
			break;
		if (!is_inside(dense, indices, i, index))
			sl__wire_fail(&r->file,
				      "tensor '%.*s': index %lld of its sparse "
				      "values lies outside of it",
				      (int)(name->n_bytes < 200 ? name->n_bytes
								: 200),
				      name->n_bytes ? (const char *)name->bytes
						    : "",
				      (long long)index);
	}
}

void
sl__onnx_parse_sparse_tensor(struct sl__onnx_reader *r,
			     struct sl__wire_reader wire,
			     struct sl__tensor *out, struct sl__field *name)
{
	struct sl__tensor *indices;
	struct sparse sparse;

	memset(&sparse, 0, sizeof(sparse));
	read_sparse(r, wire, &sparse);
	*name = sparse.name;
	sparse.parts.shown = "of sparse values";
	sparse.parts.dtype = (int64_t)sparse.values.dtype;
	measure(r, &sparse.parts, out);
	if (!sparse.has_values || !indices_fit(&sparse) ||
	    sparse.values.n_elements > out->n_elements)
		sl__wire_fail(&r->file,
			      "byte %zu: a sparse tensor whose values, indices "
			      "and dimensions do not fit together",
			      wire.at);
	check_indices(r, out, &sparse);
	indices = sl__onnx_alloc_in_graph(r, 1, sizeof(*indices));
	if (!indices)
		return;
	*indices = sparse.indices;
	out->indices = indices;
	out->is_sparse = 1;
	out->n_stored = sparse.values.n_elements;
	out->n_bytes = sparse.values.n_bytes;
	out->bytes = sparse.values.bytes;
	out->absent = sparse.values.absent;
	out->is_mapped = sparse.values.is_mapped;
	out->storage = sparse.values.storage;
}

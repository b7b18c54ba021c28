/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onnx_type.c - declared types of an ONNX file.
 *
 * A dimension is a number, a name, or neither.  Exporters also write -1 for
 * "not known"; that and neither become symbols of their own, known by their
 * place, "x.0" for the first dimension of x, since nothing says that two of
 * them are the same.  A file that Sleuth wrote has the place as the name, so
 * that other values can refer to it.
 */
#include "base/status.h"
#include "model/onnx_parts.h"

#include <string.h>

#include "base/banned.h"

/* A new symbol costs memory that the file must be worth. */
static enum sl_status
charge_symbol(struct sl__onnx_reader *r, const struct sl__map *ids,
	      const char *name)
{
	if (sl__map_find(ids, name))
		return SL_OK;
	return sl__onnx_charge(r, 2 * sizeof(struct sl__symbol) +
					  4 * sizeof(struct sl__map_slot) +
					  3 * strlen(name) + 48);
}

static enum sl_status
find_named(struct sl__onnx_reader *r, const char *name, const char *place,
	   int64_t *out)
{
	struct sl_graph *graph = r->graph;
	enum sl_status rc = charge_symbol(r, &graph->symbol_ids, name);

	if (!rc)
		rc = sl__graph_symbol(graph, out, name, r->err);
	if (!rc && !strcmp(name, place))
		graph->symbols[*out - SL__SYMBOL_BASE].is_unnamed = 1;
	return rc;
}

static enum sl_status
find_unnamed(struct sl__onnx_reader *r, const char *place, int64_t *out)
{
	enum sl_status rc = charge_symbol(r, &r->graph->place_ids, place);

	return rc ? rc : sl__graph_unnamed_symbol(r->graph, out, place, r->err);
}

static enum sl_status
read_dim(struct sl__onnx_reader *r, struct sl__wire wire, const char *owner,
	 int index, int64_t *out)
{
	struct sl__field f, param = {0};
	const char *name, *place;
	enum sl_status rc;

	*out = -1;
	for (;;) {
		rc = sl__wire_next(&wire, &f, r->err);
		if (rc)
			return rc;
		if (!f.number)
			break;
		if (f.number == SL__DIM_VALUE)
			rc = sl__wire_integer(&wire, &f, out, r->err);
		else if (f.number == SL__DIM_PARAM)
			param = f;
		if (rc)
			return rc;
	}
	if (*out >= 0)
		return SL_OK;
	place = sl__arena_format(&r->scratch, "%s.%d", owner, index);
	if (!place)
		return sl__fail_nomem(r->err);
	if (!param.n_bytes)
		return find_unnamed(r, place, out);
	name = sl__onnx_key(r, &wire, &param);
	return name ? find_named(r, name, place, out) : r->err->status;
}

static enum sl_status
read_shape(struct sl__onnx_reader *r, struct sl__wire wire, const char *owner,
	   struct sl__type *out)
{
	int64_t dims[SL__ONNX_RANK_MOST], *copy;
	struct sl__wire inner;
	struct sl__field f;
	enum sl_status rc;
	int rank = 0;

	for (;;) {
		rc = sl__wire_next(&wire, &f, r->err);
		if (rc)
			return rc;
		if (!f.number)
			break;
		if (f.number != SL__SHAPE_DIM)
			continue;
		if (rank == SL__ONNX_RANK_MOST)
			return sl__fail(r->err, SL_E_DATA,
					"byte %zu: '%.200s' has more than %d "
					"dimensions",
					f.at, owner, SL__ONNX_RANK_MOST);
		rc = sl__wire_enter(&inner, &wire, &f, "dimension", r->err);
		if (!rc)
			rc = read_dim(r, inner, owner, rank, &dims[rank]);
		if (rc)
			return rc;
		rank++;
	}
	copy = sl__onnx_array(r, (size_t)rank, sizeof(*copy));
	if (!copy)
		return r->err->status;
	memcpy(copy, dims, (size_t)rank * sizeof(*copy));
	out->dims = copy;
	out->rank = rank;
	return SL_OK;
}

/* The type of a tensor's numbers, or of a map's keys. */
static enum sl_status
read_dtype(struct sl__onnx_reader *r, const struct sl__wire *wire,
	   const struct sl__field *f, struct sl__type *out)
{
	int64_t dtype = 0;
	enum sl_status rc = sl__wire_integer(wire, f, &dtype, r->err);

	if (!rc && dtype > 0 && dtype < SL_N_DTYPES)
		out->dtype = (enum sl_dtype)dtype;
	return rc;
}

/* A tensor, dense or sparse: type of number and shape. */
static enum sl_status
read_tensor_type(struct sl__onnx_reader *r, struct sl__wire wire,
		 const char *owner, struct sl__type *out)
{
	struct sl__wire inner;
	struct sl__field f;
	enum sl_status rc;

	for (;;) {
		rc = sl__wire_next(&wire, &f, r->err);
		if (rc || !f.number)
			return rc;
		if (f.number == SL__TYPE_FIELD_ELEMENT) {
			rc = read_dtype(r, &wire, &f, out);
		} else if (f.number == SL__TYPE_FIELD_SHAPE) {
			rc = sl__wire_enter(&inner, &wire, &f, "shape", r->err);
			if (!rc)
				rc = read_shape(r, inner, owner, out);
		}
		if (rc)
			return rc;
	}
}

/* What a sequence, an optional (field 1) or a map (field 2) holds; a map's
 * field 1 is the type of its keys. */
static enum sl_status
read_element(struct sl__onnx_reader *r, struct sl__wire wire, uint32_t number,
	     const char *owner, struct sl__type *out)
{
	struct sl__type *element;
	struct sl__wire inner;
	struct sl__field f;
	enum sl_status rc;

	for (;;) {
		rc = sl__wire_next(&wire, &f, r->err);
		if (rc || !f.number)
			return rc;
		if (f.number != number) {
			if (f.number == SL__TYPE_FIELD_ELEMENT)
				rc = read_dtype(r, &wire, &f, out);
			if (rc)
				return rc;
			continue;
		}
		element = sl__onnx_array(r, 1, sizeof(*element));
		if (!element)
			return r->err->status;
		rc = sl__wire_enter(&inner, &wire, &f, "type", r->err);
		if (!rc)
			rc = sl__onnx_type(r, inner, owner, element);
		if (rc)
			return rc;
		out->element = element;
	}
}

static enum sl_status
read_kind(struct sl__onnx_reader *r, const struct sl__wire *wire,
	  const struct sl__field *f, const char *owner, struct sl__type *out)
{
	struct sl__wire inner;
	enum sl_status rc;

	rc = sl__wire_enter(&inner, wire, f, "type", r->err);
	if (rc)
		return rc;
	switch (f->number) {
	case SL__TYPE_FIELD_TENSOR:
		out->kind = SL__TYPE_TENSOR;
		return read_tensor_type(r, inner, owner, out);
	case SL__TYPE_FIELD_SPARSE:
		out->kind = SL__TYPE_SPARSE;
		return read_tensor_type(r, inner, owner, out);
	case SL__TYPE_FIELD_SEQUENCE:
		out->kind = SL__TYPE_SEQUENCE;
		return read_element(r, inner, 1, owner, out);
	case SL__TYPE_FIELD_OPTIONAL:
		out->kind = SL__TYPE_OPTIONAL;
		return read_element(r, inner, 1, owner, out);
	case SL__TYPE_FIELD_MAP:
		out->kind = SL__TYPE_MAP;
		return read_element(r, inner, 2, owner, out);
	default:
		out->kind = SL__TYPE_OPAQUE;
		return SL_OK;
	}
}

enum sl_status
sl__onnx_type(struct sl__onnx_reader *r, struct sl__wire wire,
	      const char *owner, struct sl__type *out)
{
	struct sl__field f;
	enum sl_status rc = sl__onnx_descend(r, wire.at);

	if (rc)
		return rc;
	memset(out, 0, sizeof(*out));
	out->rank = -1;
	do {
		rc = sl__wire_next(&wire, &f, r->err);
		if (!rc && (f.number == SL__TYPE_FIELD_TENSOR ||
			    (f.number >= SL__TYPE_FIELD_SEQUENCE &&
			     f.number <= SL__TYPE_FIELD_MAP) ||
			    (f.number >= SL__TYPE_FIELD_OPAQUE &&
			     f.number <= SL__TYPE_FIELD_OPTIONAL)))
			rc = read_kind(r, &wire, &f, owner, out);
	} while (!rc && f.number);
	r->depth--;
	return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* request_table.c - fields of what was asked for. */
#include "base/status.h"
#include "result/profile_tables.h"
#include "result/record.h"
#include "result/words.h"

#include <stdlib.h>

#include "base/banned.h"

#define NOT_SAID .absent = "not said"

/* Names and a size each, as an object. */
static void
write_dims(struct sl__json *json, const struct sl__field *f, const void *record)
{
	const struct sl_request *r = record;

	sl__json_object(json, f->key);
	for (size_t i = 0; i < r->sizes.n_dims; i++)
		sl__json_integer(json, r->sizes.dims[i].name,
				 (uint64_t)r->sizes.dims[i].size);
	sl__json_end_object(json);
}

static enum sl_status
read_size(int64_t *out, const struct sl__json_value *v, struct sl_error *err)
{
	if (v->kind != SL__JSON_NUMBER)
		return sl__fail(err, SL_E_DATA, "no size");
	*out = strtoll(v->text, NULL, 10);
	return SL_OK;
}

static enum sl_status
read_dims(void *record, const struct sl__json_value *value,
	  struct sl__arena *arena, struct sl_error *err)
{
	struct sl_request *r = record;
	struct sl_dim_size *dim =
		sl__arena_array(arena, value->n + 1, sizeof(*dim));
	enum sl_status rc = SL_OK;

	if (!dim)
		return sl__fail_nomem(err);
	r->sizes.dims = dim;
	r->sizes.n_dims = value->n;
	for (const struct sl__json_value *v = value->first; !rc && v;
	     v = v->next) {
		dim->name = v->key;
		rc = read_size(&dim++->size, v, err);
	}
	return rc;
}

/* Names and a list of sizes each. */
static void
write_shapes(struct sl__json *json, const struct sl__field *f,
	     const void *record)
{
	const struct sl_request *r = record;

	sl__json_object(json, f->key);
	for (size_t i = 0; i < r->sizes.n_shapes; i++) {
		const struct sl_input_shape *shape = &r->sizes.shapes[i];

		sl__json_array(json, shape->input);
		for (size_t k = 0; k < shape->rank; k++)
			sl__json_integer(json, NULL, (uint64_t)shape->dims[k]);
		sl__json_end_array(json);
	}
	sl__json_end_object(json);
}

static enum sl_status
read_shape(struct sl_input_shape *out, const struct sl__json_value *list,
	   struct sl__arena *arena, struct sl_error *err)
{
	int64_t *dim = sl__arena_array(arena, list->n + 1, sizeof(*dim));
	enum sl_status rc = SL_OK;

	if (!dim)
		return sl__fail_nomem(err);
	*out = (struct sl_input_shape){list->key, dim, list->n};
	for (const struct sl__json_value *v = list->first; !rc && v;
	     v = v->next)
		rc = read_size(dim++, v, err);
	return rc;
}

static enum sl_status
read_shapes(void *record, const struct sl__json_value *value,
	    struct sl__arena *arena, struct sl_error *err)
{
	struct sl_request *r = record;
	struct sl_input_shape *shape =
		sl__arena_array(arena, value->n + 1, sizeof(*shape));
	enum sl_status rc = SL_OK;

	if (!shape)
		return sl__fail_nomem(err);
	r->sizes.shapes = shape;
	r->sizes.n_shapes = value->n;
	for (const struct sl__json_value *v = value->first; !rc && v;
	     v = v->next)
		rc = read_shape(shape++, v, arena, err);
	return rc;
}

/* 0 may be said of it. */
static void
write_past(struct sl__json *json, const struct sl__field *f, const void *record)
{
	const struct sl_sizes *s = &((const struct sl_request *)record)->sizes;

	if (s->past || s->has_past)
		sl__json_integer(json, f->key, (uint64_t)s->past);
	else
		sl__json_absent(json, f->key, f->absent);
}

static enum sl_status
read_past(void *record, const struct sl__json_value *value,
	  struct sl__arena *arena, struct sl_error *err)
{
	struct sl_request *r = record;

	(void)arena;
	r->sizes.has_past = 1;
	return read_size(&r->sizes.past, value, err);
}

/* Flags that JSON has as members of their own, most of them the other way
 * round. */
#define FLAG(id, bit, is_set)                                                 \
	static void write_##id(struct sl__json *json,                         \
			       const struct sl__field *f, const void *record) \
	{                                                                     \
		const struct sl_request *r = record;                          \
                                                                              \
		sl__json_boolean(json, f->key,                                \
				 ((r->flags & (bit)) != 0) == (is_set));      \
	}                                                                     \
	static enum sl_status read_##id(                                      \
		void *record, const struct sl__json_value *value,             \
		struct sl__arena *arena, struct sl_error *err)                \
	{                                                                     \
		struct sl_request *r = record;                                \
                                                                              \
		(void)arena;                                                  \
		if (value->kind != SL__JSON_BOOLEAN)                          \
			return sl__fail(err, SL_E_DATA, "no boolean");        \
		if ((value->number > 0) == (is_set))                          \
			r->flags |= (bit);                                    \
		return SL_OK;                                                 \
	}

FLAG(fusion, SL_PLAN_NO_FUSION, 0)
FLAG(reference, SL_PLAN_REFERENCE, 1)
FLAG(winograd, SL_PLAN_NO_WINOGRAD, 0)
FLAG(cache, SL_PLAN_NO_CACHE, 0)

#define OWN(id, k, ...)                                                        \
	{                                                                      \
		.key = #id, .kind = SL__FIELD_OWN, .made = SL__FIELD_##k,      \
		.write = write_##id, .read = read_##id, .meaning = __VA_ARGS__ \
	}

static const struct sl__field request_fields[] = {
	SL__F(TEXT, sl_request, model, "model", "as a user names it"),
	SL__F(TEXT, sl_request, layer, "layer", "of that model", NOT_SAID),
	SL__F(SIGNED, sl_request, sizes.batch, "batch", "batch size", NOT_SAID),
	SL__F(SIGNED, sl_request, sizes.seq, "seq", "length of the sequence",
	      NOT_SAID),
	OWN(past, WHOLE, "tokens in the cache", NOT_SAID),
	OWN(dims, OBJECT, "sizes of named dimensions"),
	OWN(shapes, OBJECT, "of inputs"),
	SL__F(TEXT, sl_request, sizes.inputs_folder, "inputs",
	      "folder with files of inputs", NOT_SAID),
	SL__F(SIGNED, sl_request, n_threads, "threads", "to run on", NOT_SAID),
	SL__F(WORD, sl_request, dtype, "dtype", "to compute in",
	      .words = &sl__words_dtype, NOT_SAID),
	SL__F(WORD, sl_request, algorithms, "algorithms", "how they are chosen",
	      .words = &sl__words_algorithms),
	SL__F(WORD, sl_request, nan_policy, "nan", "in inputs",
	      .words = &sl__words_nan),
	OWN(fusion, BOOLEAN, "nodes may be fused"),
	OWN(reference, BOOLEAN, "reference kernels only"),
	OWN(winograd, BOOLEAN, "convolutions may use Winograd's algorithm"),
	OWN(cache, BOOLEAN, "choices are remembered"),
};

static void
settle_request(void *record)
{
	struct sl_request *r = record;

	r->sizes.struct_size = sizeof(r->sizes);
}

SL__RECORD(sl__table_request, "request", sl_request, request_fields,
	   .settle = settle_request);

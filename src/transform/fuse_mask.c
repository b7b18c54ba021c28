/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuse_mask.c - what hides keys from queries.
 *
 * A constant that hides just the later keys makes the node causal; one that
 * hides nothing goes.  Others are added to the scores.  A choice between the
 * score and a very negative number becomes a sum where that gives the same:
 * the number is so large that no score changes it, or every query has a key
 * left, beside which what is hidden is nothing.
 *
 * Where all keys are hidden from a query by an infinite number, the node gives
 * 0 and the nodes give NaN: that is taken only where the model itself puts 0
 * in its place.
 */
#include "base/status.h"
#include "transform/fuse_attention.h"
#include "transform/matching.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* What the first replaces is nothing beside a score; adding a score to the
 * second gives the second. */
static const double hidden = -9999;
static const double endless = -1e15;

enum kind {
	KIND_NONE,   /* hides nothing */
	KIND_CAUSAL, /* hides what comes later */
	KIND_SOME,   /* hides or weighs something, but leaves a key */
	KIND_BLIND,  /* hides all keys from a query */
	KIND_ANY     /* not known */
};

/* What a mask of one number for each score adds; a choice hides. */
static int
read_row(const struct sl__mask *mask, const struct sl__tensor *t,
	 uint64_t first, size_t n, double *row)
{
	if (!sl__tensor_doubles(t, first, n, row))
		return 0;
	for (size_t i = 0; mask->is_choice && i < n; i++)
		row[i] = (row[i] != 0) == mask->is_kept_where_1 ? 0 : -HUGE_VAL;
	return 1;
}

/* Looks at one query's row: whether all, or just the first n_seen keys, are
 * seen as they are, and whether any is. */
static void
look(const double *row, int64_t n, int64_t n_seen, int *is_clear,
     int *is_causal, int *has_key)
{
	int has = 0;

	for (int64_t j = 0; j < n; j++) {
		int is_seen = fabs(row[j]) <= 0;

		*is_clear &= is_seen;
		*is_causal &= j < n_seen ? is_seen : row[j] <= endless;
		has |= row[j] > -HUGE_VAL;
	}
	*has_key &= has;
}

/* Constants of [..][queries][keys], with a query that sees the first
 * keys - queries keys and one more than the one before it, or of [..][1][keys]
 * for all queries. */
static enum kind
kind_of(const struct sl__attending *a, const struct sl__mask *mask)
{
	enum { ROW_MOST = 4096 };
	const struct sl__tensor *t =
		sl__rewrite_tensor(a->trail.rw, mask->value);
	int is_clear = 1, is_causal = a->keys >= a->queries, has_key = 1;
	double row[ROW_MOST];
	uint64_t n_rows;
	int64_t queries;

	if (!t || t->rank < 1 || t->dims[t->rank - 1] != a->keys ||
	    a->keys > ROW_MOST)
		return KIND_ANY;
	queries = t->rank < 2 ? 1 : t->dims[t->rank - 2];
	if (queries != 1 && queries != a->queries)
		return KIND_ANY;
	is_causal &= queries == a->queries;
	n_rows = t->n_elements / (uint64_t)a->keys;
	for (uint64_t r = 0; r < n_rows; r++) {
		int64_t query = (int64_t)(r % (uint64_t)a->queries);

		if (!read_row(mask, t, r * (uint64_t)a->keys, (size_t)a->keys,
			      row))
			return KIND_ANY;
		look(row, a->keys, query + 1 + a->keys - a->queries, &is_clear,
		     &is_causal, &has_key);
	}
	if (is_clear)
		return KIND_NONE;
	if (is_causal)
		return KIND_CAUSAL;
	return has_key ? KIND_SOME : KIND_BLIND;
}

/* A mask's sizes as those of [batch][heads][queries][keys], 1 where it is
 * repeated; 0 where they cannot be. */
static int
read_sizes(const struct sl__attending *a, uint32_t value, int64_t out[4])
{
	const int64_t whole[4] = {a->batch, a->heads, a->queries, a->keys};
	const struct sl__type *type = &a->trail.rw->types[value];
	int64_t dims[6] = {1, 1, 1, 1, 1, 1};
	int n = type->rank;

	if (!sl__is_sized(a->trail.rw, value) || n > 5)
		return 0;
	for (int d = 0; d < n; d++)
		dims[6 - n + d] = type->dims[d];
	/* dims[1 .. 5]: batch and two of heads, or two of batch and heads;
	 * queries; keys. */
	out[0] = dims[1] * (a->rank == 5 ? 1 : dims[2]);
	out[1] = dims[3] * (a->rank == 5 ? dims[2] : 1);
	if (n == 3 && dims[3] == a->batch * a->heads) {
		out[0] = a->batch;
		out[1] = a->heads;
	}
	out[2] = dims[4];
	out[3] = dims[5];
	for (int d = 0; d < 4; d++) {
		if (out[d] != 1 && out[d] != whole[d])
			return 0;
	}
	return 1;
}

static int
fits(const struct sl__attending *a, const struct sl__mask *mask)
{
	enum kind kind = kind_of(a, mask);
	int64_t sizes[4];

	if (kind == KIND_NONE)
		return 1;
	if (!read_sizes(a, mask->value, sizes))
		return 0;
	if (!mask->is_choice)
		return a->trail.rw->types[mask->value].dtype == SL_DTYPE_F32 &&
		       (a->is_guarded || kind != KIND_BLIND);
	if (kind == KIND_CAUSAL || kind == KIND_SOME)
		return mask->fill <= hidden;
	return mask->fill <= endless && (a->is_guarded || !isinf(mask->fill));
}

int
sl__masks_fit(const struct sl__attending *a)
{
	for (int i = 0; i < a->n_masks; i++) {
		if (!fits(a, &a->masks[i]))
			return 0;
	}
	return 1;
}

static enum sl_status
add_scalar(struct sl__rewrite *rw, uint32_t *out, double x,
	   struct sl_error *err)
{
	struct sl__tensor like = {.dtype = SL_DTYPE_F32};
	unsigned char *bytes;
	enum sl_status rc =
		sl__rewrite_add_constant(rw, out, &like, &bytes, err);

	if (!rc)
		sl__store_doubles(bytes, SL_DTYPE_F32, 0, 1, &x);
	return rc;
}

/* A new value of f32. */
static enum sl_status
add_value(struct sl__rewrite *rw, uint32_t *out, int rank, const int64_t *dims,
	  struct sl_error *err)
{
	struct sl__type type = {
		.kind = SL__TYPE_TENSOR, .dtype = SL_DTYPE_F32, .rank = rank};
	int64_t *copy =
		sl__arena_array(&rw->to->arena, (size_t)rank, sizeof(*copy));

	if (!copy)
		return sl__fail_nomem(err);
	if (rank)
		memcpy(copy, dims, (size_t)rank * sizeof(*copy));
	type.dims = copy;
	return sl__rewrite_add_value(rw, out, "mask", &type, err);
}

/* The choice between 0 and what hides any score, of the sizes of what
 * decides. */
static enum sl_status
make_sum(struct sl__attending *a, const struct sl__mask *mask, uint32_t *out,
	 struct sl_error *err)
{
	struct sl__rewrite *rw = a->trail.rw;
	const struct sl__type *type = &rw->types[mask->value];
	uint32_t zero, fill;
	struct sl__making m;
	enum sl_status rc;

	*out = mask->value;
	if (!mask->is_choice)
		return SL_OK;
	rc = add_scalar(rw, &zero, 0, err);
	if (!rc)
		rc = add_scalar(rw, &fill, fmin(mask->fill, endless), err);
	if (!rc)
		rc = add_value(rw, out, type->rank, type->dims, err);
	if (rc)
		return rc;
	sl__make_begin(&m, rw, "", "Where", 16, err);
	sl__make_input(&m, mask->value);
	sl__make_input(&m, mask->is_kept_where_1 ? zero : fill);
	sl__make_input(&m, mask->is_kept_where_1 ? fill : zero);
	sl__make_output(&m, *out);
	return sl__make_end(&m, NULL);
}

static enum sl_status
make_one(struct sl__attending *a, const struct sl__mask *mask, uint32_t *out,
	 struct sl_error *err)
{
	struct sl__rewrite *rw = a->trail.rw;
	int64_t sizes[4];
	uint32_t made;
	enum sl_status rc;

	if (!read_sizes(a, mask->value, sizes))
		return sl__fail(err, SL_E_BUG, "a mask lost its sizes");
	rc = make_sum(a, mask, &made, err);
	if (rc)
		return rc;
	*out = made;
	if (rw->types[made].rank <= 4) {
		int n = rw->types[made].rank;
		int is_same = 1;

		for (int d = 0; d < n; d++)
			is_same &= rw->types[made].dims[d] == sizes[4 - n + d];
		for (int d = 0; d < 4 - n; d++)
			is_same &= sizes[d] == 1;
		if (is_same)
			return SL_OK;
	}
	*out = SL__NONE;
	return sl__add_reshape(rw, made, 4, sizes, out, err);
}

/* The sum of two masks. */
static enum sl_status
join(struct sl__attending *a, uint32_t *mask, uint32_t other,
     struct sl_error *err)
{
	struct sl__rewrite *rw = a->trail.rw;
	int64_t x[4], y[4];
	int rank = rw->types[other].rank;
	struct sl__making m;
	uint32_t sum;
	enum sl_status rc;

	if (*mask == SL__NONE) {
		*mask = other;
		return SL_OK;
	}
	if (!read_sizes(a, *mask, x) || !read_sizes(a, other, y))
		return sl__fail(err, SL_E_BUG, "a mask lost its sizes");
	for (int d = 0; d < 4; d++)
		x[d] = x[d] > y[d] ? x[d] : y[d];
	if (rw->types[*mask].rank > rank)
		rank = rw->types[*mask].rank;
	rc = add_value(rw, &sum, rank, x + 4 - rank, err);
	if (rc)
		return rc;
	sl__make_begin(&m, rw, "", "Add", 14, err);
	sl__make_input(&m, *mask);
	sl__make_input(&m, other);
	sl__make_output(&m, sum);
	*mask = sum;
	return sl__make_end(&m, NULL);
}

enum sl_status
sl__masks_make(struct sl__attending *a, uint32_t *mask, int *is_causal,
	       struct sl_error *err)
{
	enum sl_status rc = SL_OK;
	uint32_t made;

	*mask = SL__NONE;
	*is_causal = 0;
	for (int i = 0; !rc && i < a->n_masks; i++) {
		enum kind kind = kind_of(a, &a->masks[i]);

		/* The node counts queries from the end of the past. */
		if (kind == KIND_CAUSAL &&
		    a->keys - a->queries == a->k.past_rows)
			*is_causal = 1;
		else if (kind != KIND_NONE) {
			rc = make_one(a, &a->masks[i], &made, err);
			if (!rc)
				rc = join(a, mask, made, err);
		}
	}
	return rc;
}

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
#include "transform/fuse_attention.h"
#include "transform/matching.h"
#include "transform/rewrite_values.h"

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
read_row(const struct sl__attention_mask *mask, const struct sl__tensor *t,
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
kind_of(const struct sl__attention_match *a,
	const struct sl__attention_mask *mask)
{
	enum { ROW_MOST = 4096 };
	const struct sl__tensor *t =
		sl__tensor_constant_read(a->matched.rw, mask->value);
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
read_sizes(const struct sl__attention_match *a, uint32_t value, int64_t out[4])
{
	const int64_t whole[4] = {a->batch, a->heads, a->queries, a->keys};
	const struct sl__type *type = &a->matched.rw->types[value];
	int64_t dims[6] = {1, 1, 1, 1, 1, 1};
	int n = type->rank;

	if (!sl__has_known_shape(a->matched.rw, value) || n > 5)
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
fits(const struct sl__attention_match *a, const struct sl__attention_mask *mask)
{
	enum kind kind = kind_of(a, mask);
	int64_t sizes[4];

	if (kind == KIND_NONE)
		return 1;
	if (!read_sizes(a, mask->value, sizes))
		return 0;
	if (!mask->is_choice)
		return a->matched.rw->types[mask->value].dtype ==
			       SL_DTYPE_F32 &&
		       (a->is_guarded || kind != KIND_BLIND);
	if (kind == KIND_CAUSAL || kind == KIND_SOME)
		return mask->fill <= hidden;
	return mask->fill <= endless && (a->is_guarded || !isinf(mask->fill));
}

int
sl__attention_masks_fit(const struct sl__attention_match *a)
{
	for (int i = 0; i < a->n_masks; i++) {
		if (!fits(a, &a->masks[i]))
			return 0;
	}
	return 1;
}

/* The choice between 0 and what hides any score, of the sizes of what
 * decides. */
static uint32_t
make_sum(struct sl__attention_match *a, const struct sl__attention_mask *mask)
{
	struct sl__rewrite *rw = a->matched.rw;
	const struct sl__type *type = &rw->types[mask->value];
	double fill = fmin(mask->fill, endless), none = 0;
	uint32_t zero, hide, out;
	struct sl__node_builder m;

	if (!mask->is_choice)
		return mask->value;
	zero = sl__rewrite_add_f32_constant(rw, 0, NULL, &none);
	hide = sl__rewrite_add_f32_constant(rw, 0, NULL, &fill);
	out = sl__rewrite_add_shaped_value(rw, "mask", SL_DTYPE_F32, type->rank,
					   type->dims);
	sl__node_builder_begin(&m, rw, "", "Where", 16);
	sl__node_builder_add_input(&m, mask->value);
	sl__node_builder_add_input(&m, mask->is_kept_where_1 ? zero : hide);
	sl__node_builder_add_input(&m, mask->is_kept_where_1 ? hide : zero);
	sl__node_builder_add_output(&m, out);
	sl__node_builder_finish(&m);
	return out;
}

static uint32_t
make_one(struct sl__attention_match *a, const struct sl__attention_mask *mask)
{
	struct sl__rewrite *rw = a->matched.rw;
	int64_t sizes[4];
	uint32_t made = make_sum(a, mask);
	int n = rw->types[made].rank, is_same = n <= 4;

	if (!read_sizes(a, mask->value, sizes))
		sl__rewrite_fail(rw, SL_E_BUG, "a mask lost its sizes");
	if (rw->rc)
		return made;
	for (int d = 0; is_same && d < 4; d++)
		is_same = sizes[d] ==
			  (d < 4 - n ? 1 : rw->types[made].dims[d - 4 + n]);
	return is_same ? made
		       : sl__rewrite_add_reshape(rw, made, 4, sizes, SL__NONE);
}

/* The sum of two masks; the first may be SL__NONE. */
static uint32_t
join(struct sl__attention_match *a, uint32_t mask, uint32_t other)
{
	struct sl__rewrite *rw = a->matched.rw;
	int64_t x[4], y[4];
	int rank = rw->types[other].rank;
	struct sl__node_builder m;
	uint32_t sum;

	if (mask == SL__NONE || rw->rc)
		return other;
	if (!read_sizes(a, mask, x) || !read_sizes(a, other, y)) {
		sl__rewrite_fail(rw, SL_E_BUG, "a mask lost its sizes");
		return other;
	}
	for (int d = 0; d < 4; d++)
		x[d] = x[d] > y[d] ? x[d] : y[d];
	if (rw->types[mask].rank > rank)
		rank = rw->types[mask].rank;
	sum = sl__rewrite_add_shaped_value(rw, "mask", SL_DTYPE_F32, rank,
					   x + 4 - rank);
	sl__node_builder_begin(&m, rw, "", "Add", 14);
	sl__node_builder_add_input(&m, mask);
	sl__node_builder_add_input(&m, other);
	sl__node_builder_add_output(&m, sum);
	sl__node_builder_finish(&m);
	return sum;
}

uint32_t
sl__attention_masks_merge(struct sl__attention_match *a, int *is_causal)
{
	uint32_t mask = SL__NONE;

	*is_causal = 0;
	for (int i = 0; i < a->n_masks; i++) {
		enum kind kind = kind_of(a, &a->masks[i]);

		/* The node counts queries from the end of the past. */
		if (kind == KIND_CAUSAL &&
		    a->keys - a->queries == a->k.past_rows)
			*is_causal = 1;
		else if (kind != KIND_NONE)
			mask = join(a, mask, make_one(a, &a->masks[i]));
	}
	return mask;
}

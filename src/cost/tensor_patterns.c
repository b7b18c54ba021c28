/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_patterns.c - what a tensor's numbers look like, from as few as will
 * do.
 *
 * Weights lie in a mapped file, so every number read is a page in memory.
 * Samples decide where they can; a comparison of everything walks both tensors
 * in pieces and lets the pages go behind it.
 */
#include "cost/tensor_patterns.h"
#include "base/hash.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	ROW_MOST = 1024,      /* elements looked at in one row */
	N_SAMPLES = 8,        /* of a signature */
	PIECE_BYTES = 1 << 18 /* compared between two lettings go */
};

static void
let_all_go(const struct sl__tensor *t)
{
	sl__tensor_release_pages(t, 0, t->n_bytes);
}

/* The last two dimensions; 0 where the tensor has fewer. */
static int
last_two(const struct sl__tensor *t, uint64_t *n_rows, uint64_t *n_columns)
{
	if (t->rank < 2 || t->n_elements == 0)
		return 0;
	*n_rows = (uint64_t)t->dims[t->rank - 2];
	*n_columns = (uint64_t)t->dims[t->rank - 1];
	return 1;
}

/* Whether row r is 'low' up to the diagonal and 'high' behind it. */
static int
is_step(const struct sl__tensor *t, uint64_t r, uint64_t n, double low,
	double high)
{
	double row[ROW_MOST];
	uint64_t n_seen = n < ROW_MOST ? n : ROW_MOST;
	/* A window around the diagonal, where the row is longer than that. */
	uint64_t first = r > n_seen / 2 ? r - n_seen / 2 : 0;

	if (first > n - n_seen)
		first = n - n_seen;
	if (!sl__tensor_doubles(t, r * n + first, (size_t)n_seen, row))
		return 0;
	for (uint64_t i = 0; i < n_seen; i++) {
		double expected = first + i <= r ? low : high;

		if (row[i] < expected || row[i] > expected || isnan(row[i]))
			return 0;
	}
	return 1;
}

int
sl__looks_triangular(const struct sl__tensor *t)
{
	uint64_t n_rows, n;
	double ends[2];
	int is_triangular;

	if (!last_two(t, &n_rows, &n) || n_rows != n || n < 2 ||
	    !sl__tensor_doubles(t, 0, 1, &ends[0]) ||
	    !sl__tensor_doubles(t, n - 1, 1, &ends[1]))
		return 0;
	is_triangular = (ends[0] < ends[1] || ends[0] > ends[1]) &&
			is_step(t, 0, n, ends[0], ends[1]) &&
			is_step(t, 1, n, ends[0], ends[1]) &&
			is_step(t, n / 2, n, ends[0], ends[1]) &&
			is_step(t, n - 1, n, ends[0], ends[1]);
	let_all_go(t);
	return is_triangular;
}

/* Adds the values of a row to those seen; 0 when there are more than two. */
static int
add_distinct(const struct sl__tensor *t, uint64_t at, uint64_t n, double *seen,
	     size_t *n_seen)
{
	double row[ROW_MOST];

	if (n > ROW_MOST)
		n = ROW_MOST;
	if (!sl__tensor_doubles(t, at, (size_t)n, row))
		return 0;
	for (uint64_t i = 0; i < n; i++) {
		size_t k = 0;

		if (isnan(row[i]))
			return 0;
		while (k < *n_seen && (seen[k] < row[i] || seen[k] > row[i]))
			k++;
		if (k == *n_seen) {
			if (k == 2)
				return 0;
			seen[(*n_seen)++] = row[i];
		}
	}
	return 1;
}

int
sl__looks_like_mask(const struct sl__tensor *t)
{
	uint64_t n_rows, n;
	double seen[2];
	size_t n_seen = 0;
	int is_mask;

	if (!last_two(t, &n_rows, &n) || n_rows < 2 || n < 2)
		return 0;
	is_mask =
		add_distinct(t, 0, n, seen, &n_seen) &&
		add_distinct(t, t->n_elements / n / 2 * n, n, seen, &n_seen) &&
		add_distinct(t, t->n_elements - n, n, seen, &n_seen);
	let_all_go(t);
	return is_mask && (n_seen == 2 || n_rows == n);
}

int
sl__looks_like_sinusoids(const struct sl__tensor *t)
{
	double row[ROW_MOST], second = 0;
	uint64_t n_rows, n, n_seen;
	int is_start = 1;

	if (!last_two(t, &n_rows, &n) || n_rows < 2 || n < 2)
		return 0;
	n_seen = n < ROW_MOST ? n : ROW_MOST;
	if (!sl__tensor_doubles(t, 0, (size_t)n_seen, row) ||
	    !sl__tensor_doubles(t, n, 1, &second))
		return 0;
	let_all_go(t);
	/* Row 0 is sin 0 and cos 0; row 1 begins with sin 1 or cos 1. */
	for (uint64_t i = 0; i < n_seen; i++)
		is_start = is_start &&
			   (fabs(row[i]) < 1e-6 || fabs(row[i] - 1) < 1e-6);
	return is_start &&
	       (fabs(second - sin(1)) < 2e-3 || fabs(second - cos(1)) < 2e-3);
}

uint64_t
sl__tensor_content_hash(const struct sl__tensor *t)
{
	double samples[N_SAMPLES] = {0};
	uint64_t n = t->n_elements, step = 1;
	size_t n_read = 0;

	if (t->generator) {
		const struct {
			uint64_t seed, kind;
			double mean, scale;
		} recipe = {t->generator->seed, t->generator->kind,
			    t->generator->mean, t->generator->scale};

		return sl__hash(&recipe, sizeof(recipe), 0);
	}
	/* A matrix and its transpose have the same diagonal. */
	if (t->rank == 2) {
		n = (uint64_t)(t->dims[0] < t->dims[1] ? t->dims[0]
						       : t->dims[1]);
		step = (uint64_t)t->dims[1] + 1;
	}
	while (n_read < N_SAMPLES && n_read < n) {
		uint64_t at = n <= N_SAMPLES
				      ? n_read
				      : n_read * (n - 1) / (N_SAMPLES - 1);

		if (!sl__tensor_doubles(t, at * step, 1, &samples[n_read]))
			break;
		n_read++;
	}
	let_all_go(t);
	return sl__hash(samples, n_read * sizeof(samples[0]), 0);
}

static uint64_t
bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* Whether a stretch repeats its first element and that is 'first'. */
static int
is_one_value(const unsigned char *bytes, size_t n_bytes,
	     const unsigned char *first, size_t n_element)
{
	return memcmp(bytes, first, n_element) == 0 &&
	       memcmp(bytes, bytes + n_element, n_bytes - n_element) == 0;
}

static enum sl__tensor_match
compare_bytes(const struct sl__tensor *a, const struct sl__tensor *b)
{
	size_t element = sl_dtype_bits(a->dtype) / 8;
	int is_constant = 1;

	if (element == 0)
		element = 1; /* two numbers of four bits */
	for (uint64_t at = 0; at < a->n_bytes; at += PIECE_BYTES) {
		uint64_t left = a->n_bytes - at;
		size_t n = (size_t)(left < PIECE_BYTES ? left : PIECE_BYTES);
		int same = memcmp(a->bytes + at, b->bytes + at, n) == 0;

		is_constant = is_constant &&
			      is_one_value(a->bytes + at, n, a->bytes, element);
		sl__tensor_release_pages(a, at, n);
		sl__tensor_release_pages(b, at, n);
		if (!same)
			return SL__TENSOR_MATCH_NONE;
	}
	return is_constant ? SL__TENSOR_MATCH_ONE_VALUE
			   : SL__TENSOR_MATCH_EQUAL;
}

/* Rows r .. r + n_rows - 1 of a against as many columns of b. */
static int
are_transposed(const struct sl__tensor *a, const struct sl__tensor *b,
	       uint64_t r, uint64_t n_rows)
{
	uint64_t n_columns = (uint64_t)a->dims[1];
	uint64_t b_columns = (uint64_t)b->dims[1];
	size_t element = sl_dtype_bits(a->dtype) / 8;

	for (uint64_t c = 0; c < n_columns; c++) {
		const unsigned char *from =
			a->bytes + (r * n_columns + c) * element;
		const unsigned char *to =
			b->bytes + (c * b_columns + r) * element;

		for (uint64_t i = 0; i < n_rows; i++) {
			if (memcmp(from + i * n_columns * element,
				   to + i * element, element))
				return 0;
		}
		/* Few pages of b at a time: a row each. */
		if (c % 64 == 63)
			let_all_go(b);
	}
	return 1;
}

static enum sl__tensor_match
compare_transposed(const struct sl__tensor *a, const struct sl__tensor *b)
{
	/* As many rows as make a page of each of b's. */
	const uint64_t n_tile = 1024;
	uint64_t n_rows = (uint64_t)a->dims[0];
	int same = 1;

	if (sl_dtype_bits(a->dtype) < 8)
		return SL__TENSOR_MATCH_NONE;
	for (uint64_t r = 0; same && r < n_rows; r += n_tile) {
		uint64_t left = n_rows - r;

		same = are_transposed(a, b, r, left < n_tile ? left : n_tile);
		let_all_go(a);
		let_all_go(b);
	}
	return same ? SL__TENSOR_MATCH_TRANSPOSED : SL__TENSOR_MATCH_NONE;
}

static enum sl__tensor_match
compare_generators(const struct sl__tensor *a, const struct sl__tensor *b)
{
	const struct sl__tensor_generator *g = a->generator, *h = b->generator;

	if (g->kind != h->kind || g->seed != h->seed ||
	    bits_of(g->mean) != bits_of(h->mean) ||
	    bits_of(g->scale) != bits_of(h->scale))
		return SL__TENSOR_MATCH_NONE;
	return g->kind == SL__TENSOR_GENERATOR_CONSTANT ||
			       fabs(g->scale) < 1e-300
		       ? SL__TENSOR_MATCH_ONE_VALUE
		       : SL__TENSOR_MATCH_EQUAL;
}

static int
have_same_dims(const struct sl__tensor *a, const struct sl__tensor *b)
{
	return a->rank == b->rank &&
	       (a->rank == 0 ||
		!memcmp(a->dims, b->dims, a->rank * sizeof(*a->dims)));
}

enum sl__tensor_match
sl__tensor_compare(const struct sl__tensor *a, const struct sl__tensor *b)
{
	int same_dims = have_same_dims(a, b);
	enum sl__tensor_match found = SL__TENSOR_MATCH_NONE;

	if (a->dtype != b->dtype || a->is_sparse || b->is_sparse ||
	    a->n_bytes != b->n_bytes || a->n_elements == 0)
		return SL__TENSOR_MATCH_NONE;
	if (a->generator && b->generator)
		return same_dims ? compare_generators(a, b)
				 : SL__TENSOR_MATCH_NONE;
	if (!a->bytes || !b->bytes)
		return SL__TENSOR_MATCH_NONE;
	if (same_dims)
		found = compare_bytes(a, b);
	if (found == SL__TENSOR_MATCH_NONE && a->rank == 2 && b->rank == 2 &&
	    a->dims[0] == b->dims[1] && a->dims[1] == b->dims[0])
		found = compare_transposed(a, b);
	/* One value everywhere is its own transpose. */
	if (found == SL__TENSOR_MATCH_TRANSPOSED &&
	    is_one_value(a->bytes, (size_t)a->n_bytes, a->bytes,
			 sl_dtype_bits(a->dtype) / 8))
		found = SL__TENSOR_MATCH_ONE_VALUE;
	let_all_go(a);
	let_all_go(b);
	return found;
}

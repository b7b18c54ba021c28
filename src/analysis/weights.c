/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weights.c - what the numbers of the weights look like.
 *
 * Two passes: moments, extremes and zeros, then what needs the extremes.
 * Moments are computed per piece and merged (Chan, Golub and LeVeque, 1979),
 * which keeps a billion numbers exact to many digits.
 */
#include "analysis/weights.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	PIECE = 2048, /* numbers at a time */
	N_BINS = 32,
	/* Numbers between two lettings go of pages: 4 MB of f32. */
	STRETCH = 512 * PIECE
};

struct moments {
	double n, mean, m2; /* finite numbers only */
	double min, max;
	uint64_t n_zero, n_odd;
};

static void
merge(struct moments *into, const struct moments *piece)
{
	double n = into->n + piece->n;
	double delta = piece->mean - into->mean;

	if (piece->n < 1)
		return;
	into->mean += delta * piece->n / n;
	into->m2 += piece->m2 + delta * delta * into->n * piece->n / n;
	into->n = n;
	into->min = fmin(into->min, piece->min);
	into->max = fmax(into->max, piece->max);
}

static void
add_piece(struct moments *m, const double *x, size_t n)
{
	struct moments piece = {.min = (double)INFINITY,
				.max = -(double)INFINITY};
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isfinite(x[i])) {
			m->n_odd++;
			continue;
		}
		m->n_zero += fabs(x[i]) <= 0;
		sum += x[i];
		piece.n++;
		piece.min = fmin(piece.min, x[i]);
		piece.max = fmax(piece.max, x[i]);
	}
	piece.mean = piece.n > 0 ? sum / piece.n : 0;
	for (size_t i = 0; i < n; i++) {
		if (isfinite(x[i]))
			piece.m2 += (x[i] - piece.mean) * (x[i] - piece.mean);
	}
	merge(m, &piece);
}

/* A channel is dead when all its numbers are 0. */
struct channels {
	uint64_t n_each, n_left; /* numbers of a channel, and still to come */
	int is_dead;
	size_t n_dead;
};

static void
follow_channels(struct channels *c, const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		c->is_dead = c->is_dead && fabs(x[i]) <= 0;
		if (--c->n_left == 0) {
			c->n_dead += (size_t)c->is_dead;
			c->n_left = c->n_each;
			c->is_dead = 1;
		}
	}
}

static void
let_go_behind(const struct sl__tensor *t, uint64_t at)
{
	uint64_t element = sl_dtype_bits(t->dtype) / 8;

	if (at && at % STRETCH == 0)
		sl__tensor_let_go(t, (at - STRETCH) * element,
				  STRETCH * element);
}

static void
first_pass(struct sl_weight_row *out, const struct sl__tensor *t,
	   struct moments *m)
{
	struct channels channels = {.is_dead = 1};
	double x[PIECE];

	/* A vector has a number per channel, and a bias of 0 is alive. */
	out->n_channels = t->rank >= 2 ? (size_t)t->dims[0] : 0;
	channels.n_each = channels.n_left =
		t->n_elements / (out->n_channels ? out->n_channels : 1);
	for (uint64_t at = 0; at < t->n_elements; at += PIECE) {
		uint64_t left = t->n_elements - at;
		size_t n = left < PIECE ? (size_t)left : PIECE;

		if (!sl__tensor_doubles(t, at, n, x))
			return;
		add_piece(m, x, n);
		follow_channels(&channels, x, n);
		let_go_behind(t, at);
	}
	sl__tensor_let_go(t, 0, t->n_bytes);
	out->n_dead_channels = out->n_channels ? channels.n_dead : 0;
}

static uint64_t
second_pass(struct sl_weight_row *out, const struct sl__tensor *t)
{
	double largest = fmax(fabs(out->min), fabs(out->max));
	double width = out->max - out->min;
	uint64_t n_small = 0;
	double x[PIECE];

	for (uint64_t at = 0; at < t->n_elements; at += PIECE) {
		uint64_t left = t->n_elements - at;
		size_t n = left < PIECE ? (size_t)left : PIECE;

		if (!sl__tensor_doubles(t, at, n, x))
			return n_small;
		for (size_t i = 0; i < n; i++) {
			double place = width > 0 ? (x[i] - out->min) / width
						 : 0;

			if (!isfinite(x[i]))
				continue;
			n_small += fabs(x[i]) < 1e-3 * largest;
			out->histogram[place < 1 ? (size_t)(place * N_BINS)
						 : N_BINS - 1]++;
		}
		let_go_behind(t, at);
	}
	sl__tensor_let_go(t, 0, t->n_bytes);
	return n_small;
}

static const char *
why_absent(const struct sl__tensor *t)
{
	double x;

	if (t->absent)
		return t->absent;
	if (t->n_elements == 0)
		return "it is empty";
	if (t->is_sparse)
		return "it is stored sparsely";
	return sl__tensor_doubles(t, 0, 1, &x)
		       ? NULL
		       : "its type of number is not read";
}

void
sl__weight_describe(struct sl_weight_row *out, const struct sl__tensor *t)
{
	struct moments m = {.min = (double)INFINITY, .max = -(double)INFINITY};
	uint64_t n_small;

	out->n_elements = t->n_elements;
	out->absent = why_absent(t);
	out->mean = out->std = out->min = out->max = (double)NAN;
	if (out->absent)
		return;
	first_pass(out, t, &m);
	out->n_odd = m.n_odd;
	if (m.n < 1) {
		out->absent = "none of its numbers is finite";
		return;
	}
	out->mean = m.mean;
	out->std = sqrt(m.m2 / m.n);
	out->min = m.min;
	out->max = m.max;
	n_small = second_pass(out, t);
	out->zero_share = (double)m.n_zero / (double)t->n_elements;
	out->small_share = (double)n_small / (double)t->n_elements;
}

enum sl_status
sl__weights_of(const struct sl_weight_row **out, size_t *n,
	       const struct sl_graph *graph, const struct sl__roles *roles,
	       struct sl__arena *arena, struct sl_error *err)
{
	struct sl_weight_row *rows;
	size_t n_rows = 0;

	for (size_t v = 0; v < graph->n_values; v++)
		n_rows += graph->values[v].tensor &&
			  roles->role[v] == SL_ROLE_WEIGHT;
	rows = sl__arena_array(arena, n_rows, sizeof(*rows));
	if (!rows)
		return sl__fail_nomem(err);
	*out = rows;
	*n = n_rows;
	for (size_t v = 0; v < graph->n_values; v++) {
		if (!graph->values[v].tensor ||
		    roles->role[v] != SL_ROLE_WEIGHT)
			continue;
		rows->name = sl__arena_string(arena, graph->values[v].name);
		if (!rows->name)
			return sl__fail_nomem(err);
		sl__weight_describe(rows, graph->values[v].tensor);
		if (rows->absent) {
			rows->absent = sl__arena_string(arena, rows->absent);
			if (!rows->absent)
				return sl__fail_nomem(err);
		}
		rows++;
	}
	return SL_OK;
}

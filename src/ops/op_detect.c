/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_detect.c - NonMaxSuppression: how many boxes stay depends on data.
 *
 * For each class of each image: the boxes above the threshold are tried from
 * the best score down, of equal ones the first, and one that overlaps a box
 * already chosen by more than the limit is dropped.
 */
#include "ops/ref.h"

#include <math.h>
#include <stdlib.h>

#include "base/banned.h"

enum sl_status
sl__infer_non_max_suppression(struct sl__rule_context *call)
{
	int64_t dims[2] = {sl__size_new_unknown(call->shapes), 3};

	return sl__out_set_shape(call, 0, SL_DTYPE_I64, 2, dims);
}

enum { BOXES, SCORES, MOST, OVERLAP, SCORE };

struct candidate {
	double score;
	int64_t box;
};

struct choice {
	int64_t images, classes, boxes, most;
	double overlap, score;
	int has_score, is_centered;
	const double *corners,
		*scores;              /* [image][box][4], [image][class][box] */
	struct candidate *candidates; /* [box] */
	int64_t *rows;                /* [n_rows][3] */
	size_t n_rows, cap_rows;
};

/* The best first; NaN is below all numbers. */
static int
by_score(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	double u = isnan(x->score) ? -(double)INFINITY : x->score;
	double v = isnan(y->score) ? -(double)INFINITY : y->score;

	if (u != v)
		return u > v ? -1 : 1;
	return x->box < y->box ? -1 : 1;
}

/* Left, right, top and bottom, whichever way round the box is written. */
static void
edges(const struct choice *c, const double *box, double e[4])
{
	for (int d = 0; d < 2; d++) {
		double a = box[d], b = box[d + 2];

		if (c->is_centered) {
			a = box[d] - box[d + 2] / 2;
			b = box[d] + box[d + 2] / 2;
		}
		e[2 * d] = a < b ? a : b;
		e[2 * d + 1] = a < b ? b : a;
	}
}

/* What two boxes share, as a part of what they cover together. */
static double
overlap_of(const struct choice *c, const double *a, const double *b)
{
	double p[4], q[4], shared = 1, both;

	edges(c, a, p);
	edges(c, b, q);
	for (int d = 0; d < 4; d += 2) {
		double from = p[d] > q[d] ? p[d] : q[d];
		double to = p[d + 1] < q[d + 1] ? p[d + 1] : q[d + 1];

		shared *= to > from ? to - from : 0;
	}
	both = (p[1] - p[0]) * (p[3] - p[2]) + (q[1] - q[0]) * (q[3] - q[2]) -
	       shared;
	return both > 0 ? shared / both : 0;
}

static int
is_dropped(const struct choice *c, size_t first, const double *corners,
	   int64_t box)
{
	for (size_t i = first; i < c->n_rows; i++) {
		if (overlap_of(c, corners + c->rows[3 * i + 2] * 4,
			       corners + box * 4) > c->overlap)
			return 1;
	}
	return 0;
}

static size_t
gather(struct choice *c, const double *scores)
{
	size_t n = 0;

	for (int64_t b = 0; b < c->boxes; b++) {
		if (c->has_score && !(scores[b] > c->score))
			continue;
		c->candidates[n++] = (struct candidate){scores[b], b};
	}
	qsort(c->candidates, n, sizeof(*c->candidates), by_score);
	return n;
}

/* Room for as many rows again. */
static enum sl_status
grow(struct choice *c, struct sl__kernel_call *ev)
{
	size_t cap = c->cap_rows ? 2 * c->cap_rows : 64;
	int64_t *rows = sl__ref_scratch(ev, 3 * cap, sizeof(*rows));

	if (!rows)
		return ev->failure;
	for (size_t i = 0; i < 3 * c->n_rows; i++)
		rows[i] = c->rows[i];
	c->rows = rows;
	c->cap_rows = cap;
	return SL_OK;
}

static enum sl_status
choose(struct choice *c, struct sl__kernel_call *ev, int64_t image,
       int64_t class)
{
	const double *corners = c->corners + image * c->boxes * 4;
	size_t first = c->n_rows;
	size_t n =
		gather(c, c->scores + (image * c->classes + class) * c->boxes);

	for (size_t i = 0; i < n; i++) {
		int64_t box = c->candidates[i].box;
		int64_t *row;

		if ((int64_t)(c->n_rows - first) >= c->most)
			break;
		if (is_dropped(c, first, corners, box))
			continue;
		if (c->n_rows == c->cap_rows && grow(c, ev))
			return ev->failure;
		row = c->rows + 3 * c->n_rows++;
		row[0] = image;
		row[1] = class;
		row[2] = box;
	}
	return SL_OK;
}

static enum sl_status
read_choice(struct choice *c, struct sl__kernel_call *ev)
{
	double most = sl__ref_input_scalar(ev, MOST, 0);

	if (sl__ref_input_rank(ev, BOXES) != 3 ||
	    sl__ref_input_rank(ev, SCORES) != 3 ||
	    sl__ref_input_dim(ev, BOXES, 2) != 4 ||
	    sl__ref_input_dim(ev, BOXES, 0) !=
		    sl__ref_input_dim(ev, SCORES, 0) ||
	    sl__ref_input_dim(ev, BOXES, 1) != sl__ref_input_dim(ev, SCORES, 2))
		return sl__ref_reject(ev, "the scores do not fit the boxes");
	c->images = sl__ref_input_dim(ev, SCORES, 0);
	c->classes = sl__ref_input_dim(ev, SCORES, 1);
	c->boxes = sl__ref_input_dim(ev, SCORES, 2);
	c->most = most >= (double)c->boxes ? c->boxes
		  : most > 0               ? (int64_t)most
					   : 0;
	c->overlap = sl__ref_input_scalar(ev, OVERLAP, 0);
	c->has_score = sl__ref_input_tensor(ev, SCORE) != NULL;
	c->score = sl__ref_input_scalar(ev, SCORE, 0);
	c->is_centered = sl__attribute_int(ev->node, "center_point_box", 0) !=
			 0;
	c->corners = sl__ref_input_doubles(ev, BOXES);
	c->scores = sl__ref_input_doubles(ev, SCORES);
	c->candidates =
		sl__ref_scratch(ev, (size_t)c->boxes, sizeof(*c->candidates));
	return ev->failure;
}

enum sl_status
sl__ref_non_max_suppression(struct sl__kernel_call *ev)
{
	struct choice c = {0};
	int64_t dims[2] = {0, 3};

	read_choice(&c, ev);
	for (int64_t i = 0; !ev->failure && c.boxes && i < c.images; i++) {
		for (int64_t k = 0; !ev->failure && k < c.classes; k++)
			choose(&c, ev, i, k);
	}
	dims[0] = (int64_t)c.n_rows;
	if (ev->failure || sl__ref_output_alloc(ev, 0, SL_DTYPE_I64, 2, dims))
		return ev->failure;
	return sl__ref_output_store_integers(ev, 0, c.rows);
}

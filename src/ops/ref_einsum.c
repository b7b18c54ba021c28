/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_einsum.c - Einsum computed.
 *
 * All labels of the equation span one space: first the dimensions of the
 * result in their order, then those that are summed over.  Each operand, and
 * the result, has a stride along each of them: 0 along labels that it lacks,
 * and the sum of two where a label stands twice, which is the diagonal.  One
 * walk through the space adds up all products.
 */
#include "base/status.h"
#include "graph/op_rules.h"
#include "ops/ref_read.h"

#include <string.h>

#include "base/banned.h"

enum {
	N_LETTERS = 52,
	DOTS_MOST = 32, /* dimensions that "..." may stand for */
	LABEL_MOST = N_LETTERS + DOTS_MOST,
	OPERAND_MOST = 16
};

/* Labels: 0 .. DOTS_MOST - 1 are the dimensions of "...", counted from the
 * last; letters follow. */
struct space {
	size_t n;
	int64_t dims[LABEL_MOST];
	int place[LABEL_MOST]; /* of a label among dims; -1: none yet */
	size_t n_operands;
	int64_t strides[OPERAND_MOST + 1][LABEL_MOST]; /* the result's last */
};

/* One term of the equation as labels, one for each dimension. */
struct term {
	int labels[LABEL_MOST];
	size_t n;
};

static int
label_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return DOTS_MOST + (c - 'A');
	if (c >= 'a' && c <= 'z')
		return DOTS_MOST + 26 + (c - 'a');
	return -1;
}

static size_t
count_letters(const char *text)
{
	size_t n = 0;

	for (; *text && *text != ',' && *text != '-'; text++)
		n += label_of(*text) >= 0;
	return n;
}

/* Reads a term up to its end, with n_dots dimensions for its "...". */
static const char *
read_term(struct term *t, const char *text, size_t n_dots)
{
	t->n = 0;
	for (; *text && *text != ',' && *text != '-'; text++) {
		int label = label_of(*text);

		if (label >= 0 && t->n < LABEL_MOST)
			t->labels[t->n++] = label;
		if (strncmp(text, "...", 3) != 0)
			continue;
		for (size_t d = n_dots; d-- > 0 && t->n < LABEL_MOST;)
			t->labels[t->n++] = (int)d;
		text += 2;
	}
	return text;
}

/* Gives a label a place, of the size that the operands say. */
static void
place_label(struct space *s, int label, const int64_t *sizes)
{
	if (s->place[label] >= 0)
		return;
	s->place[label] = (int)s->n;
	s->dims[s->n++] = sizes[label];
}

/* A label's size is that of the operands in which it is not 1. */
static enum sl_status
meet_sizes(int64_t *sizes, unsigned *counts, const struct term *t,
	   const struct sl__tensor *x, struct sl_error *err)
{
	if (t->n != x->rank)
		return sl__fail(err, SL_E_DATA,
				"a term of %zu labels for an operand of %zu "
				"dimensions",
				t->n, x->rank);
	for (size_t d = 0; d < t->n; d++) {
		int64_t *size = &sizes[t->labels[d]];

		if (!counts[t->labels[d]]++)
			*size = x->dims[d];
		if (*size == 1)
			*size = x->dims[d];
		if (x->dims[d] != 1 && x->dims[d] != *size)
			return sl__fail(
				err, SL_E_DATA, "a label is %lld and %lld",
				(long long)*size, (long long)x->dims[d]);
	}
	return SL_OK;
}

/* Without "->" the result has "..." and then the letters that occur once. */
static void
usual_result(struct term *t, const unsigned *counts)
{
	t->n = 0;
	for (int label = DOTS_MOST; label-- > 0;) {
		if (counts[label])
			t->labels[t->n++] = label;
	}
	for (int label = DOTS_MOST; label < LABEL_MOST; label++) {
		if (counts[label] == 1)
			t->labels[t->n++] = label;
	}
}

/* A dimension that is 1 where the label is more is repeated. */
static void
take_strides(const struct space *s, int64_t *strides, const struct term *t,
	     const int64_t *dims)
{
	int64_t step = 1;

	for (size_t d = t->n; d-- > 0;) {
		if (dims[d] != 1)
			strides[s->place[t->labels[d]]] += step;
		step *= dims[d];
	}
}

static enum sl_status
read_operands(struct space *s, struct term *terms, const char *text,
	      struct sl__eval *ev, struct sl_error *err)
{
	int64_t sizes[LABEL_MOST] = {0};
	unsigned counts[LABEL_MOST] = {0};
	size_t n_dots = 0;
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < s->n_operands; i++) {
		const struct sl__tensor *x = sl__ref_tensor(ev, i);
		size_t dots = x ? x->rank - count_letters(text) : 0;

		if (!x || dots > DOTS_MOST)
			return sl__fail(err, SL_E_DATA,
					"operand %zu does not fit its term", i);
		n_dots = dots > n_dots ? dots : n_dots;
		text = read_term(&terms[i], text, dots);
		text += *text == ',';
		rc = meet_sizes(sizes, counts, &terms[i], x, err);
	}
	if (rc)
		return rc;
	if (text[0] == '-' && text[1] == '>')
		read_term(&terms[s->n_operands], text + 2, n_dots);
	else
		usual_result(&terms[s->n_operands], counts);
	for (size_t i = s->n_operands + 1; i-- > 0;) {
		for (size_t d = 0; d < terms[i].n; d++)
			place_label(s, terms[i].labels[d], sizes);
	}
	return SL_OK;
}

/* Dimensions that the result names and no operand has stay of size 0; those
 * inference has refused. */
static enum sl_status
read_space(struct space *s, struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__tensor *out = &sl__ref_result(ev, 0)->tensor;
	struct term terms[OPERAND_MOST + 1];
	size_t n = ev->node->n_inputs;
	enum sl_status rc;

	memset(s, 0, sizeof(*s));
	memset(terms, 0, sizeof(terms));
	memset(s->place, -1, sizeof(s->place));
	s->n_operands = n;
	if (n > OPERAND_MOST)
		return sl__fail(err, SL_E_ABSENT, "more than %d operands",
				OPERAND_MOST);
	rc = read_operands(s, terms, sl__word(ev->node, "equation", ""), ev,
			   err);
	if (rc)
		return rc;
	if (terms[n].n != out->rank)
		return sl__fail(err, SL_E_DATA,
				"the result has %zu labels for %zu dimensions",
				terms[n].n, out->rank);
	for (size_t i = 0; i <= n; i++)
		take_strides(s, s->strides[i], &terms[i],
			     i < n ? sl__ref_tensor(ev, i)->dims : out->dims);
	return SL_OK;
}

/* Where each operand and the result stand; along the last dimension they are
 * stepped through by the loops below. */
struct walk {
	const struct space *s;
	int64_t at[LABEL_MOST], offsets[OPERAND_MOST + 1], n_last;
	size_t n_outer;
};

static void
walk_start(struct walk *w, const struct space *s)
{
	memset(w, 0, sizeof(*w));
	w->s = s;
	w->n_outer = s->n ? s->n - 1 : 0;
	w->n_last = s->n ? s->dims[s->n - 1] : 1;
}

static int
walk_next(struct walk *w)
{
	const int64_t *strides[OPERAND_MOST + 1];

	for (size_t i = 0; i <= w->s->n_operands; i++)
		strides[i] = w->s->strides[i];
	return sl__ref_next(w->at, w->n_outer, w->s->dims, w->offsets, strides,
			    w->s->n_operands + 1);
}

static void
sum_real(const struct space *s, const double *const *x, double *y)
{
	size_t n = s->n_operands, last = s->n ? s->n - 1 : 0;
	struct walk w;

	walk_start(&w, s);
	do {
		for (int64_t j = 0; j < w.n_last; j++) {
			double product = 1;

			for (size_t i = 0; i < n; i++)
				product *= x[i][w.offsets[i] +
						j * s->strides[i][last]];
			y[w.offsets[n] + j * s->strides[n][last]] += product;
		}
	} while (walk_next(&w));
}

static void
sum_whole(const struct space *s, const int64_t *const *x, uint64_t *y)
{
	size_t n = s->n_operands, last = s->n ? s->n - 1 : 0;
	struct walk w;

	walk_start(&w, s);
	do {
		for (int64_t j = 0; j < w.n_last; j++) {
			uint64_t product = 1;

			for (size_t i = 0; i < n; i++)
				product *=
					(uint64_t)x[i][w.offsets[i] +
						       j * s->strides[i][last]];
			y[w.offsets[n] + j * s->strides[n][last]] += product;
		}
	} while (walk_next(&w));
}

static enum sl_status
run_real(struct sl__eval *ev, const struct space *s, int is_empty,
	 struct sl_error *err)
{
	const struct sl__datum *out = sl__ref_result(ev, 0);
	const double *x[OPERAND_MOST];
	double *y = sl__ref_new(ev, (size_t)out->tensor.n_elements, sizeof(*y));
	enum sl_status rc = y ? SL_OK : sl__fail_nomem(err);

	for (size_t i = 0; !rc && i < s->n_operands; i++)
		rc = sl__ref_read(ev, i, &x[i], err);
	if (rc)
		return rc;
	if (!is_empty)
		sum_real(s, x, y);
	sl__ref_store_doubles(ev, 0, y);
	return SL_OK;
}

static enum sl_status
run_whole(struct sl__eval *ev, const struct space *s, int is_empty,
	  struct sl_error *err)
{
	const struct sl__datum *out = sl__ref_result(ev, 0);
	const int64_t *x[OPERAND_MOST];
	uint64_t *y =
		sl__ref_new(ev, (size_t)out->tensor.n_elements, sizeof(*y));
	enum sl_status rc = y ? SL_OK : sl__fail_nomem(err);

	for (size_t i = 0; !rc && i < s->n_operands; i++)
		rc = sl__ref_read_whole(ev, i, &x[i], err);
	if (rc)
		return rc;
	if (!is_empty)
		sum_whole(s, x, y);
	sl__ref_store_integers(ev, 0, (const int64_t *)y);
	return SL_OK;
}

enum sl_status
sl__ref_einsum(struct sl__eval *ev, struct sl_error *err)
{
	struct space s;
	int is_empty = 0;
	enum sl_status rc;

	if (!sl__ref_result(ev, 0))
		return SL_OK;
	rc = read_space(&s, ev, err);
	if (rc)
		return rc;
	for (size_t d = 0; d < s.n; d++)
		is_empty |= s.dims[d] == 0;
	return sl__ref_is_whole(sl__ref_dtype(ev, 0))
		       ? run_whole(ev, &s, is_empty, err)
		       : run_real(ev, &s, is_empty, err);
}

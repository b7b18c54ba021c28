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
#include "ops/ref.h"

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
meet_sizes(struct sl__eval *ev, int64_t *sizes, unsigned *counts,
	   const struct term *t, const struct sl__tensor *x)
{
	if (t->n != x->rank)
		return sl__ref_refuse(
			ev,
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
			return sl__ref_refuse(ev, "a label is %lld and %lld",
					      (long long)*size,
					      (long long)x->dims[d]);
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
	      struct sl__eval *ev)
{
	int64_t sizes[LABEL_MOST] = {0};
	unsigned counts[LABEL_MOST] = {0};
	size_t n_dots = 0;

	for (size_t i = 0; i < s->n_operands; i++) {
		const struct sl__tensor *x = sl__ref_tensor(ev, i);
		size_t dots = x ? x->rank - count_letters(text) : 0;

		if (!x || dots > DOTS_MOST)
			return sl__ref_refuse(
				ev, "operand %zu does not fit its term", i);
		n_dots = dots > n_dots ? dots : n_dots;
		text = read_term(&terms[i], text, dots);
		text += *text == ',';
		if (meet_sizes(ev, sizes, counts, &terms[i], x))
			return ev->failure;
	}
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
read_space(struct space *s, struct sl__eval *ev)
{
	const struct sl__tensor *out = &sl__ref_result(ev, 0)->tensor;
	struct term terms[OPERAND_MOST + 1];
	size_t n = ev->node->n_inputs;

	memset(s, 0, sizeof(*s));
	memset(terms, 0, sizeof(terms));
	memset(s->place, -1, sizeof(s->place));
	s->n_operands = n;
	if (n > OPERAND_MOST)
		return sl__ref_fail(ev, SL_E_ABSENT, "more than %d operands",
				    OPERAND_MOST);
	if (read_operands(s, terms, sl__word(ev->node, "equation", ""), ev))
		return ev->failure;
	if (terms[n].n != out->rank)
		return sl__ref_refuse(
			ev, "the result has %zu labels for %zu dimensions",
			terms[n].n, out->rank);
	for (size_t i = 0; i <= n; i++)
		take_strides(s, s->strides[i], &terms[i],
			     i < n ? sl__ref_tensor(ev, i)->dims : out->dims);
	return SL_OK;
}

/* The operands' elements and the result's: reals, or integers, which wrap. */
struct sums {
	const double *real[OPERAND_MOST];
	const int64_t *whole[OPERAND_MOST];
	double *real_y;
	int64_t *whole_y; /* NULL: reals */
};

/* Products along the last dimension into their sums; at[] is where each operand
 * and the result stand. */
static void
add_row(const struct space *s, const struct sums *x, const int64_t *at)
{
	size_t n = s->n_operands, last = s->n ? s->n - 1 : 0;
	int64_t n_last = s->n ? s->dims[last] : 1;

	for (int64_t j = 0; j < n_last; j++) {
		int64_t to = at[n] + j * s->strides[n][last];
		double real = 1;
		uint64_t whole = 1;

		for (size_t i = 0; i < n; i++) {
			int64_t from = at[i] + j * s->strides[i][last];

			if (x->whole_y)
				whole *= (uint64_t)x->whole[i][from];
			else
				real *= x->real[i][from];
		}
		if (x->whole_y)
			x->whole_y[to] =
				(int64_t)((uint64_t)x->whole_y[to] + whole);
		else
			x->real_y[to] += real;
	}
}

enum sl_status
sl__ref_einsum(struct sl__eval *ev)
{
	int64_t n_out = (int64_t)sl__ref_result(ev, 0)->tensor.n_elements;
	int is_whole = sl__ref_is_whole(sl__ref_dtype(ev, 0)), is_empty = 0;
	int64_t at[LABEL_MOST] = {0}, offsets[OPERAND_MOST + 1] = {0};
	const int64_t *strides[OPERAND_MOST + 1];
	struct space s;
	struct sums x = {0};

	if (read_space(&s, ev))
		return ev->failure;
	for (size_t i = 0; i < s.n_operands; i++) {
		if (is_whole)
			x.whole[i] = sl__ref_integers(ev, i);
		else
			x.real[i] = sl__ref_doubles(ev, i);
	}
	if (is_whole)
		x.whole_y = sl__ref_new_integers(ev, n_out);
	else
		x.real_y = sl__ref_new_doubles(ev, n_out);
	for (size_t i = 0; i <= s.n_operands; i++)
		strides[i] = s.strides[i];
	for (size_t d = 0; d < s.n; d++)
		is_empty |= s.dims[d] == 0;
	if (!ev->failure && !is_empty) {
		do {
			add_row(&s, &x, offsets);
		} while (sl__ref_next(at, s.n ? s.n - 1 : 0, s.dims, offsets,
				      strides, s.n_operands + 1));
	}
	return is_whole ? sl__ref_store_integers(ev, 0, x.whole_y)
			: sl__ref_store_doubles(ev, 0, x.real_y);
}

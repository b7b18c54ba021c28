/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_einsum.c - sums of products by an equation such as "bhqd,bhkd->bhqk".
 *
 * Each letter is a dimension; letters that are not in the result are summed
 * over.  "..." stands for any number of dimensions, broadcast.  Without "->"
 * the result has the "..." first and then, in alphabetical order, the letters
 * that occur once.  The products are as many as all dimensions together have
 * elements.
 *
 * Computed, all labels of the equation span one space: first the dimensions of
 * the result in their order, then those that are summed over.  Each operand,
 * and the result, has a stride along each of them: 0 along labels that it
 * lacks, and the sum of two where a label stands twice, which is the diagonal.
 * One walk through the space adds up all products.
 */
#include "ops/cost.h"
#include "ops/einsum.h"
#include "ops/ref.h"

#include <string.h>

#include "base/banned.h"

enum {
	DOTS_MOST = SL__EINSUM_DOTS,
	LABEL_MOST = SL__EINSUM_LABELS,
	OPERAND_MOST = SL__EINSUM_OPERANDS
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

/* Reads up to ',' or "->" or the end, with n_dots dimensions for "..."; NULL
 * where it is malformed. */
static const char *
read_term(struct sl__einsum_term *t, const char *text, size_t n_dots)
{
	t->n = 0;
	t->has_dots = 0;
	for (; *text && *text != ',' && strncmp(text, "->", 2) != 0; text++) {
		int label = label_of(*text);

		if (*text == ' ')
			continue;
		if (!strncmp(text, "...", 3) && !t->has_dots) {
			for (size_t d = n_dots; d-- > 0 && t->n < LABEL_MOST;)
				t->labels[t->n++] = (int)d;
			t->has_dots = 1;
			text += 2;
			continue;
		}
		if (label < 0 || t->n == LABEL_MOST)
			return NULL;
		t->labels[t->n++] = label;
	}
	return text;
}

/* A term for an operand of that rank: its "..." is what the letters leave.
 * It has as many labels unless that cannot be. */
static const char *
read_operand(struct sl__einsum_term *t, const char *text, size_t rank)
{
	const char *end = read_term(t, text, 0);

	if (end && t->has_dots && t->n < rank && rank - t->n <= DOTS_MOST)
		read_term(t, text, rank - t->n);
	return end;
}

/* Without "->" the result has "..." and then the letters that occur once. */
static void
usual_result(struct sl__einsum_term *t, const unsigned *counts)
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

int
sl__einsum_read(const char *equation, size_t n, const int *ranks,
		struct sl__einsum_term *terms)
{
	unsigned counts[LABEL_MOST] = {0};
	const char *text = equation;
	size_t n_dots = 0;

	if (n > OPERAND_MOST)
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (i && *text++ != ',')
			return 0;
		text = read_operand(&terms[i], text, (size_t)ranks[i]);
		if (!text || terms[i].n != (size_t)ranks[i])
			return 0;
		for (size_t d = 0; d < terms[i].n; d++)
			counts[terms[i].labels[d]]++;
	}
	while (n_dots < DOTS_MOST && counts[n_dots])
		n_dots++;
	if (*text == ',')
		return 0;
	if (*text)
		text = read_term(&terms[n], text + 2, n_dots);
	else
		usual_result(&terms[n], counts);
	return text && !*text;
}

/* Invariant: counts[l] > 0 where label l occurs in an operand; its size is
 * then sizes[l]. */
struct equation {
	const char *result; /* after "->", or NULL */
	int64_t sizes[LABEL_MOST];
	unsigned counts[LABEL_MOST];
	int has_rank; /* of every operand */
};

static void
take_operand(struct equation *e, struct sl__rule_context *call, size_t i,
	     const struct sl__einsum_term *t)
{
	const struct sl__type *type = sl__in_type(call, i);

	if ((int)t->n != type->rank) {
		sl__rule_reject(
			call,
			"operand %zu is %s, the equation has %zu letters "
			"for it",
			i, sl__in_shape_text(call, i), t->n);
		return;
	}
	for (size_t d = 0; d < t->n; d++) {
		int64_t *size = &e->sizes[t->labels[d]], before;

		if (!e->counts[t->labels[d]]++)
			*size = 1;
		before = *size;
		*size = sl__broadcast_size(call->shapes, before, type->dims[d]);
		if (*size == -1)
			sl__rule_reject(
				call,
				"one dimension is %lld in one operand and "
				"%lld in another",
				(long long)before, (long long)type->dims[d]);
	}
}

static enum sl_status
read_equation(struct equation *e, struct sl__rule_context *call)
{
	const char *given = sl__attribute_string(call->node, "equation", ""),
		   *text = given;
	struct sl__einsum_term term;
	size_t i = 0;

	memset(e, 0, sizeof(*e));
	e->has_rank = 1;
	for (;; text++) {
		int rank = sl__in_rank(call, i);

		text = i < call->node->n_inputs
			       ? read_operand(&term, text,
					      rank < 0 ? 0 : (size_t)rank)
			       : NULL;
		if (text && rank >= 0)
			take_operand(e, call, i, &term);
		e->has_rank &= rank >= 0;
		i++;
		if (!text || *text != ',' || call->failure)
			break;
	}
	if (!text || i != call->node->n_inputs)
		sl__rule_reject(
			call, "the equation '%.100s' does not fit %u operands",
			given, (unsigned)call->node->n_inputs);
	if (text && *text)
		e->result = text + 2;
	return call->failure;
}

enum sl_status
sl__infer_einsum(struct sl__rule_context *call)
{
	int64_t dims[LABEL_MOST];
	struct equation e;
	struct sl__einsum_term term;
	const char *end = "";
	size_t n_dots = 0;

	if (read_equation(&e, call))
		return call->failure;
	while (n_dots < DOTS_MOST && e.counts[n_dots])
		n_dots++;
	if (e.result)
		end = read_term(&term, e.result, n_dots);
	else
		usual_result(&term, e.counts);
	if (!end || *end)
		return sl__rule_reject(
			call, "the equation's result '%.60s' makes no sense",
			e.result);
	for (size_t k = 0; k < term.n; k++) {
		dims[k] = e.sizes[term.labels[k]];
		if (!e.counts[term.labels[k]] && e.has_rank)
			sl__rule_reject(
				call,
				"a letter of the equation's result '%.60s' "
				"is in no operand",
				e.result);
	}
	return e.has_rank
		       ? sl__out_set_shape(call, 0, sl__in_dtype(call, 0),
					   (int)term.n, dims)
		       : sl__out_set_dtype_only(call, 0, sl__in_dtype(call, 0));
}

void
sl__cost_einsum(struct sl__rule_context *call, struct sl_cost *cost)
{
	size_t n_operands = call->node->n_inputs;
	struct equation e;
	uint64_t n = 1;

	if (read_equation(&e, call) || !e.has_rank) {
		sl__cost_unknown(call, cost);
		return;
	}
	for (int label = 0; label < LABEL_MOST; label++) {
		if (e.counts[label])
			n = sl__saturating_mul(n, (uint64_t)e.sizes[label]);
	}
	if (n_operands == 1) { /* a transpose, a diagonal or a sum */
		cost->add = n > cost->out_elements ? n - cost->out_elements : 0;
		cost->work = cost->add ? SL_WORK_REDUCTION : SL_WORK_MOVEMENT;
		return;
	}
	sl__cost_add_macs(cost, n);
	cost->mul = sl__saturating_mul(n, n_operands - 2);
	cost->work = SL_WORK_PRODUCT;
	for (size_t i = 0; i < n_operands; i++) {
		if (sl__in_is_parameter(call, i))
			cost->work = SL_WORK_LINEAR;
	}
	if (n_operands > 2)
		sl__cost_mark_estimated(cost,
					"all operands at once; in pairs it "
					"takes less");
}

struct space {
	size_t n;
	int64_t dims[LABEL_MOST];
	int place[LABEL_MOST]; /* of a label among dims; -1: none yet */
	size_t n_operands;
	int64_t strides[OPERAND_MOST + 1][LABEL_MOST]; /* the result's last */
};

/* A label's size is that of the operands in which it is not 1. */
static enum sl_status
meet_sizes(struct sl__kernel_call *ev, int64_t *sizes, unsigned *counts,
	   const struct sl__einsum_term *t, const struct sl__tensor *x)
{
	if (t->n != x->rank)
		return sl__ref_reject(ev,
				      "a term of %zu labels for an operand of "
				      "%zu dimensions",
				      t->n, x->rank);
	for (size_t d = 0; d < t->n; d++) {
		int64_t *size = &sizes[t->labels[d]];

		if (!counts[t->labels[d]]++ || *size == 1)
			*size = x->dims[d];
		if (x->dims[d] != 1 && x->dims[d] != *size)
			return sl__ref_reject(ev, "a label is %lld and %lld",
					      (long long)*size,
					      (long long)x->dims[d]);
	}
	return SL_OK;
}

/* A dimension that is 1 where the label is more is repeated. */
static void
take_strides(const struct space *s, int64_t *strides,
	     const struct sl__einsum_term *t, const int64_t *dims)
{
	int64_t step = 1;

	for (size_t d = t->n; d-- > 0;) {
		if (dims[d] != 1)
			strides[s->place[t->labels[d]]] += step;
		step *= dims[d];
	}
}

static enum sl_status
read_terms(struct space *s, struct sl__einsum_term *terms,
	   struct sl__kernel_call *ev)
{
	const char *text = sl__attribute_string(ev->node, "equation", "");
	int64_t sizes[LABEL_MOST] = {0};
	unsigned counts[LABEL_MOST] = {0};
	size_t n_dots = 0;

	for (size_t i = 0; i < s->n_operands; i++) {
		const struct sl__tensor *x = sl__ref_input_tensor(ev, i);

		text = x ? read_operand(&terms[i], text, x->rank) : NULL;
		if (!text)
			return sl__ref_reject(
				ev, "operand %zu does not fit its term", i);
		text += *text == ',';
		if (meet_sizes(ev, sizes, counts, &terms[i], x))
			return ev->failure;
	}
	while (n_dots < DOTS_MOST && counts[n_dots])
		n_dots++;
	if (!*text)
		usual_result(&terms[s->n_operands], counts);
	else if (!read_term(&terms[s->n_operands], text + 2, n_dots))
		return sl__ref_reject(ev, "the result makes no sense");
	for (size_t i = s->n_operands + 1; i-- > 0;) {
		for (size_t d = 0; d < terms[i].n; d++) {
			int label = terms[i].labels[d];

			if (s->place[label] >= 0)
				continue;
			s->place[label] = (int)s->n;
			s->dims[s->n++] = sizes[label];
		}
	}
	return SL_OK;
}

/* Dimensions that the result names and no operand has stay of size 0; those
 * inference has refused. */
static enum sl_status
read_space(struct space *s, struct sl__kernel_call *ev)
{
	const struct sl__tensor *out = &sl__ref_output(ev, 0)->tensor;
	struct sl__einsum_term terms[OPERAND_MOST + 1];
	size_t n = ev->node->n_inputs;

	memset(s, 0, sizeof(*s));
	memset(s->place, -1, sizeof(s->place));
	s->n_operands = n;
	if (n > OPERAND_MOST)
		return sl__ref_fail(ev, SL_E_ABSENT, "more than %d operands",
				    OPERAND_MOST);
	if (read_terms(s, terms, ev))
		return ev->failure;
	if (terms[n].n != out->rank)
		return sl__ref_reject(
			ev, "the result has %zu labels for %zu dimensions",
			terms[n].n, out->rank);
	for (size_t i = 0; i <= n; i++)
		take_strides(s, s->strides[i], &terms[i],
			     i < n ? sl__ref_input_tensor(ev, i)->dims
				   : out->dims);
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
sl__ref_einsum(struct sl__kernel_call *ev)
{
	int64_t n_out = (int64_t)sl__ref_output(ev, 0)->tensor.n_elements;
	int is_whole = sl__ref_dtype_is_integer(sl__ref_input_dtype(ev, 0)),
	    is_empty = 0;
	int64_t at[LABEL_MOST] = {0}, offsets[OPERAND_MOST + 1] = {0};
	const int64_t *strides[OPERAND_MOST + 1];
	struct space s;
	struct sums x = {0};

	if (read_space(&s, ev))
		return ev->failure;
	for (size_t i = 0; i < s.n_operands; i++) {
		if (is_whole)
			x.whole[i] = sl__ref_input_integers(ev, i);
		else
			x.real[i] = sl__ref_input_doubles(ev, i);
	}
	if (is_whole)
		x.whole_y = sl__ref_scratch_integers(ev, n_out);
	else
		x.real_y = sl__ref_scratch_doubles(ev, n_out);
	for (size_t i = 0; i <= s.n_operands; i++)
		strides[i] = s.strides[i];
	for (size_t d = 0; d < s.n; d++)
		is_empty |= s.dims[d] == 0;
	if (!ev->failure && !is_empty) {
		do {
			add_row(&s, &x, offsets);
		} while (sl__strided_position_next(at, s.n ? s.n - 1 : 0,
						   s.dims, offsets, strides,
						   s.n_operands + 1));
	}
	return is_whole ? sl__ref_output_store_integers(ev, 0, x.whole_y)
			: sl__ref_output_store_doubles(ev, 0, x.real_y);
}

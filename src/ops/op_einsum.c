/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_einsum.c - sums of products by an equation such as "bhqd,bhkd->bhqk".
 *
 * Each letter is a dimension; letters that are not in the result are summed
 * over.  "..." stands for any number of dimensions, broadcast.  Without "->"
 * the result has the "..." first and then, in alphabetical order, the letters
 * that occur once.  The products are as many as all dimensions together have
 * elements.
 */
#include "graph/op_rules.h"
#include "ops/cost.h"

#include <string.h>

#include "base/banned.h"

enum { N_LETTERS = 52, RANK_MOST = 32 };

/* Invariant: counts[l] > 0 where letter l occurs in an operand; its size is
 * then sizes[l].  dots[] are the dimensions of "...", n_dots of them. */
struct equation {
	const char *result; /* after "->", or NULL */
	int64_t sizes[N_LETTERS];
	unsigned counts[N_LETTERS];
	int64_t dots[RANK_MOST];
	int n_dots;
	int has_rank; /* of every operand */
};

/* One operand's letters: those before and after its "...". */
struct term {
	int letters[RANK_MOST];
	int n, dots_at; /* dots_at -1: none */
};

static int
letter_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return 26 + c - 'a';
	return -1;
}

/* Reads up to ',' or "->" or the end; NULL where it is malformed. */
static const char *
read_term(struct term *t, const char *text)
{
	t->n = 0;
	t->dots_at = -1;
	for (; *text && *text != ','; text++) {
		int letter = letter_of(*text);

		if (*text == '-' && text[1] == '>')
			break;
		if (*text == ' ')
			continue;
		if (!strncmp(text, "...", 3) && t->dots_at < 0) {
			t->dots_at = t->n;
			text += 2;
			continue;
		}
		if (letter < 0 || t->n == RANK_MOST)
			return NULL;
		t->letters[t->n++] = letter;
	}
	return text;
}

static enum sl_status
meet_size(struct sl__shapes *shapes, int64_t *size, int64_t other,
	  struct sl_error *err)
{
	int64_t both = sl__broadcast_size(shapes, *size, other);

	if (both == -1)
		return sl__refuse(err,
				  "one dimension is %lld in one operand and "
				  "%lld in another",
				  (long long)*size, (long long)other);
	*size = both;
	return SL_OK;
}

/* Makes room for n dimensions of "...", which align at the end. */
static void
widen_dots(struct equation *e, int n)
{
	int more = n - e->n_dots;

	if (more <= 0)
		return;
	memmove(e->dots + more, e->dots, (size_t)e->n_dots * sizeof(*e->dots));
	for (int d = 0; d < more; d++)
		e->dots[d] = 1;
	e->n_dots = n;
}

static enum sl_status
take_operand(struct equation *e, const struct sl__call *call, size_t i,
	     const struct term *t, struct sl_error *err)
{
	const struct sl__type *type = sl__in(call, i);
	int n_dots = type->rank - t->n, at = 0;
	enum sl_status rc = SL_OK;

	if (n_dots < 0 || n_dots > RANK_MOST || (n_dots && t->dots_at < 0))
		return sl__refuse(err,
				  "operand %zu is %s, the equation has %d "
				  "letters for it",
				  i, sl__type_text(call->shapes, type), t->n);
	widen_dots(e, n_dots);
	for (int k = 0; !rc && k <= t->n; k++) {
		int first = e->n_dots - n_dots;

		for (int d = 0; !rc && k == t->dots_at && d < n_dots; d++)
			rc = meet_size(call->shapes, &e->dots[first + d],
				       type->dims[at++], err);
		if (rc || k == t->n)
			break;
		if (!e->counts[t->letters[k]]++)
			e->sizes[t->letters[k]] = 1;
		rc = meet_size(call->shapes, &e->sizes[t->letters[k]],
			       type->dims[at++], err);
	}
	return rc;
}

static enum sl_status
read_equation(struct equation *e, const struct sl__call *call,
	      struct sl_error *err)
{
	const char *text = sl__word(call->node, "equation", "");
	struct term term;
	enum sl_status rc = SL_OK;
	size_t i = 0;

	memset(e, 0, sizeof(*e));
	e->has_rank = 1;
	for (;; text++) {
		text = i < call->node->n_inputs ? read_term(&term, text) : NULL;
		if (!text)
			break;
		if (sl__in_rank(call, i) < 0)
			e->has_rank = 0;
		else
			rc = take_operand(e, call, i, &term, err);
		i++;
		if (rc)
			return rc;
		if (*text != ',')
			break;
	}
	if (!text || i != call->node->n_inputs)
		return sl__refuse(err,
				  "the equation '%.100s' does not fit %u "
				  "operands",
				  sl__word(call->node, "equation", ""),
				  (unsigned)call->node->n_inputs);
	if (*text)
		e->result = text + 2;
	return SL_OK;
}

/* Letters of the result as written, or those that occur once. */
static enum sl_status
result_term(struct term *t, const struct equation *e, struct sl_error *err)
{
	const char *end;

	if (!e->result) {
		t->n = t->dots_at = 0;
		for (int l = 0; l < N_LETTERS && t->n < RANK_MOST; l++) {
			if (e->counts[l] == 1)
				t->letters[t->n++] = l;
		}
		return SL_OK;
	}
	end = read_term(t, e->result);
	if (!end || *end)
		return sl__refuse(err,
				  "the equation's result '%.60s' makes no "
				  "sense",
				  e->result);
	for (int k = 0; k < t->n; k++) {
		if (!e->counts[t->letters[k]] && e->has_rank)
			return sl__refuse(err,
					  "a letter of the equation's result "
					  "'%.60s' is in no operand",
					  e->result);
	}
	return SL_OK;
}

enum sl_status
sl__infer_einsum(const struct sl__call *call, struct sl_error *err)
{
	int64_t dims[2 * RANK_MOST];
	struct equation e;
	struct term term;
	int rank = 0;
	enum sl_status rc = read_equation(&e, call, err);

	if (rc)
		return rc;
	rc = result_term(&term, &e, err);
	if (rc)
		return rc;
	if (!e.has_rank)
		return sl__out_rankless(call, 0, sl__in_dtype(call, 0), err);
	for (int k = 0; k <= term.n; k++) {
		for (int d = 0; k == term.dots_at && d < e.n_dots; d++)
			dims[rank++] = e.dots[d];
		if (k < term.n)
			dims[rank++] = e.sizes[term.letters[k]];
	}
	return sl__out(call, 0, sl__in_dtype(call, 0), rank, dims, err);
}

static uint64_t
count_points(const struct equation *e)
{
	uint64_t n = 1;

	for (int l = 0; l < N_LETTERS; l++) {
		if (e->counts[l])
			n = sl__times(n, (uint64_t)e->sizes[l]);
	}
	for (int d = 0; d < e->n_dots; d++)
		n = sl__times(n, (uint64_t)e->dots[d]);
	return n;
}

void
sl__cost_einsum(const struct sl__call *call, struct sl_cost *cost)
{
	size_t n_operands = call->node->n_inputs;
	struct equation e;
	uint64_t n;

	if (read_equation(&e, call, NULL) || !e.has_rank) {
		sl__cost_unknown(call, cost);
		return;
	}
	n = count_points(&e);
	if (n_operands == 1) { /* a transpose, a diagonal or a sum */
		cost->add = n > cost->out_elements ? n - cost->out_elements : 0;
		cost->work = cost->add ? SL_WORK_REDUCTION : SL_WORK_MOVEMENT;
		return;
	}
	cost->macs = cost->fma = n;
	cost->mul = sl__times(n, n_operands - 2);
	cost->work = SL_WORK_PRODUCT;
	for (size_t i = 0; i < n_operands; i++) {
		if (sl__in_is_parameter(call, i))
			cost->work = SL_WORK_LINEAR;
	}
	if (n_operands > 2) {
		cost->basis = SL_BASIS_ESTIMATED;
		cost->why = "all operands at once; in pairs it takes less";
	}
}

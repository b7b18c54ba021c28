/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grad_einsum.c - the gradient of Einsum, which is an Einsum: the operand gets
 * the sum over the result's gradient and all other operands.  Letters that only
 * this operand has were summed alone: its gradient is repeated along them.
 */
#include "ops/gradient.h"

#include <string.h>

#include "base/banned.h"

enum { LETTERS = 128, OPERANDS_MOST = 8 };

struct equation {
	char text[OPERANDS_MOST][LETTERS]; /* of each operand, no blanks */
	char result[LETTERS];
	uint32_t n;
};

/* 0 where the equation is longer than there is room for. */
static int
add_letter(char *term, char c)
{
	size_t n = strlen(term);

	if (n + 1 >= LETTERS)
		return 0;
	term[n] = c;
	return 1;
}

static size_t
count(const struct equation *e, char c)
{
	size_t n = 0;

	for (uint32_t i = 0; i < e->n; i++) {
		for (const char *at = e->text[i]; *at; at++)
			n += *at == c;
	}
	return n;
}

/* Without "->": all dimensions of "...", and letters that occur once. */
static void
set_usual_result(struct equation *e)
{
	if (count(e, '.'))
		memcpy(e->result, "...", 3);
	for (int c = 'A'; c <= 'z'; c++) {
		if (c != '.' && count(e, (char)c) == 1)
			(void)add_letter(e->result, (char)c);
	}
}

static int
read_equation(struct equation *e, const char *text, uint32_t n_operands)
{
	const char *arrow = strstr(text, "->");

	memset(e, 0, sizeof(*e));
	for (e->n = 1; *text && text != arrow; text++) {
		if (*text == ',' && e->n++ == OPERANDS_MOST)
			return 0;
		if (*text != ',' && *text != ' ' &&
		    !add_letter(e->text[e->n - 1], *text))
			return 0;
	}
	if (!arrow)
		set_usual_result(e);
	for (text = arrow ? arrow + 2 : ""; *text; text++) {
		if (*text != ' ' && !add_letter(e->result, *text))
			return 0;
	}
	return e->n == n_operands;
}

/* Letters of operand i that the result or another operand has too; 0 where one
 * occurs twice: a diagonal. */
static int
shared_letters(const struct equation *e, uint32_t i, char *out)
{
	memset(out, 0, LETTERS);
	for (const char *c = e->text[i]; *c; c++) {
		int is_shared = strchr(e->result, *c) != NULL;

		if (*c != '.' && strchr(c + 1, *c))
			return 0;
		for (uint32_t k = 0; k < e->n; k++)
			is_shared |= k != i && strchr(e->text[k], *c);
		if (is_shared)
			(void)add_letter(out, *c);
	}
	return 1;
}

/* The gradient in the letters that are shared, with 1 for the others, repeated
 * along these. */
static uint32_t
repeat(struct sl__gradient *g, const struct equation *e, uint32_t i,
       uint32_t value, const char *shared)
{
	struct sl__type type = sl__node_writer_type(g->w, g->node.inputs[i]);
	int64_t dims[SL__RANK_MOST];
	size_t n = strlen(e->text[i]);

	if (n == strlen(shared) || g->w->rc)
		return value;
	if (strchr(e->text[i], '.')) {
		sl__gradient_reject(g, "there is no gradient of this operator "
				       "with '...' and a letter that is "
				       "summed alone");
		return value;
	}
	for (size_t d = 0; d < n; d++)
		dims[d] = strchr(shared, e->text[i][d]) ? type.dims[d] : 1;
	value = sl__node_writer_reshape(g->w, value, dims, type.rank);
	return SL__ADD_NODE(
		g->w, ONNX_Expand, value,
		sl__node_writer_integers(g->w, type.dims, (size_t)type.rank));
}

static void
differentiate(struct sl__gradient *g, const struct equation *e, uint32_t i)
{
	uint32_t inputs[OPERANDS_MOST], n = 0;
	char shared[LETTERS];
	const char *text;

	if (!shared_letters(e, i, shared)) {
		sl__gradient_reject(g, "there is no gradient of this operator "
				       "with a diagonal");
		return;
	}
	text = e->result;
	inputs[n++] = g->dy[0];
	for (uint32_t k = 0; text && k < e->n; k++) {
		if (k == i)
			continue;
		text = sl__arena_format(&g->w->graph->arena, "%s,%s", text,
					e->text[k]);
		inputs[n++] = g->node.inputs[k];
	}
	if (text)
		text = sl__arena_format(&g->w->graph->arena, "%s->%s", text,
					shared);
	if (!text) {
		sl__node_writer_fail(g->w, SL_E_NOMEM, "out of memory");
		return;
	}
	sl__node_writer_set_string(g->w, "equation", text);
	sl__gradient_set_summed(
		g, i,
		repeat(g, e, i,
		       sl__node_writer_add(g->w, SL__OP_ONNX_Einsum, inputs, n),
		       shared));
}

void
sl__grad_einsum(struct sl__gradient *g)
{
	struct equation e;

	if (!read_equation(&e, sl__attribute_string(&g->node, "equation", ""),
			   g->node.n_inputs)) {
		sl__gradient_reject(g, "there is no gradient of this operator "
				       "with as many operands or letters");
		return;
	}
	for (uint32_t i = 0; !g->w->rc && i < e.n; i++) {
		if (sl__gradient_wants(g, i))
			differentiate(g, &e, i);
	}
}

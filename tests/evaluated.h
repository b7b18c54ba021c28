/* SPDX-License-Identifier: Apache-2.0 */
/* evaluated.h - one node, and what its reference kernel computes. */
#ifndef SL_TEST_EVALUATED_H
#define SL_TEST_EVALUATED_H

#include "ops/evaluate.h"
#include "node_text.h"

/*
 * Each check takes the line that node_text.h describes, with contents for
 * every input:
 *
 *	check_evaluated("Add 14 (i8[2]={127,1}, i8[]={1})", "i8[2]={-128,2}");
 *	check_evaluated("Where 16 (bool[1]={1}, string[1]={'a'}, "
 *			"string[1]={'b'})", "string[1]={'a'}");
 *	check_fails("Add 14 (f32[2]={1,2}, f32[3]={1,2,3})", "go together");
 *
 * Contents may be of any type; f16 and its like are written as the numbers
 * that they are nearest to.  Types of integers are called int8 to int64 or i8
 * to i64 in the line, and i8 to i64 in the answer.  Several outputs are
 * separated by a space; floats are shown with 7 digits, f16 and shorter ones
 * with 4.
 */
enum { EVALUATED_MOST = 4096 }; /* bytes of text, of one tensor */

struct evaluated {
	struct sl_graph *graph;
	struct sl__evaluator *evaluator;
	struct node_text parsed;
	struct sl__tensor tensors[NODE_TEXT_MOST];
	char line[EVALUATED_MOST]; /* without contents */
	const char *contents[NODE_TEXT_MOST];
	size_t n_contents; /* of inputs, left-out ones too */
	enum sl_status rc;
	struct sl_error err;
	char text[EVALUATED_MOST]; /* of the last answer */
};

/* Cuts "={...}" out of the line; what was in the braces is noted. */
static inline void
evaluated_cut(struct evaluated *e, const char *text)
{
	size_t used = 0;
	int depth = 0, is_input = 0;

	for (const char *at = text; *at; at++) {
		if (depth == 1 && at[0] == '=' && at[1] == '{') {
			e->contents[e->n_contents - 1] = at + 2;
			at += strcspn(at, "}");
			continue;
		}
		depth += (*at == '(') - (*at == ')');
		if (depth == 1 && !is_input && !strchr("(, ", *at)) {
			assert_true(e->n_contents < NODE_TEXT_MOST);
			e->n_contents++;
			is_input = 1;
		}
		if (*at == '[')
			depth += 100;
		if (*at == ']')
			depth -= 100;
		if (depth == 1 && *at == ',')
			is_input = 0;
		assert_true(used + 1 < sizeof(e->line));
		e->line[used++] = *at;
	}
	e->line[used] = '\0';
}

/* Words between commas, up to the closing brace; 'word' has room for 128. */
static inline const char *
evaluated_word(const char *at, char *word)
{
	size_t n;

	at += strspn(at, ", ");
	n = strcspn(at, ",}");
	assert_true(n < 128);
	memcpy(word, at, n);
	word[n] = '\0';
	return at + n;
}

static inline const char *
evaluated_string(struct evaluated *e, char *word)
{
	char *end = strrchr(word, '\'');

	assert_true(word[0] == '\'' && end && end > word);
	*end = '\0';
	return node_text_copy(&e->parsed, word + 1, strlen(word));
}

/* The tensor of input i, from the text of its contents. */
static inline void
evaluated_fill(struct evaluated *e, size_t i)
{
	struct sl__tensor *t = &e->tensors[i];
	const struct sl__value *value = &e->graph->values[e->parsed.inputs[i]];
	unsigned char bytes[EVALUATED_MOST] = {0};
	const char *strings[NODE_TEXT_MOST];
	const char *at = e->contents[i];
	char word[128];

	assert_non_null(at);
	t->dtype = value->declared.dtype;
	t->rank = (size_t)value->declared.rank;
	t->dims = value->declared.dims;
	assert_true(sl__tensor_compute_size(t) && t->n_bytes <= sizeof(bytes));
	for (uint64_t k = 0; k < t->n_elements; k++) {
		double real;
		int64_t whole;

		assert_true(*at != '}');
		at = evaluated_word(at, word);
		real = strtod(word, NULL);
		whole = word[0] == '-' ? strtoll(word, NULL, 0)
				       : (int64_t)strtoull(word, NULL, 0);
		if (t->dtype == SL_DTYPE_STRING) {
			assert_true(k < NODE_TEXT_MOST);
			strings[k] = evaluated_string(e, word);
		} else if (sl__dtype_family(t->dtype) == SL__DTYPE_INTEGER) {
			sl__store_integers(bytes, t->dtype, k, 1, &whole);
		} else {
			sl__store_doubles(bytes, t->dtype, k, 1, &real);
		}
	}
	assert_int_equal(at[strspn(at, " ")], '}');
	if (t->dtype == SL_DTYPE_STRING)
		t->strings =
			node_text_copy(&e->parsed, strings,
				       (size_t)t->n_elements * sizeof(char *));
	else
		t->bytes =
			node_text_copy(&e->parsed, bytes, (size_t)t->n_bytes);
}

static inline void
evaluated_free(struct evaluated *e)
{
	sl__evaluator_free(e->evaluator);
	sl_graph_free(e->graph);
	free(e);
}

/* Runs the line; free with evaluated_free(). */
static inline struct evaluated *
evaluated(const char *text)
{
	struct evaluated *e = calloc(1, sizeof(*e));

	assert_non_null(e);
	evaluated_cut(e, text);
	e->parsed.at = e->line;
	node_text_graph(&e->parsed);
	e->graph = e->parsed.graph;
	assert_int_equal(
		sl__evaluator_new(&e->evaluator, e->graph, NULL, &e->err),
		SL_OK);
	e->evaluator->keeps_all = 1;
	for (size_t i = 0; i < e->parsed.node.n_inputs; i++) {
		if (e->parsed.inputs[i] == SL__NONE)
			continue;
		evaluated_fill(e, i);
		sl__evaluator_set_tensor(e->evaluator, e->parsed.inputs[i],
					 &e->tensors[i]);
	}
	e->rc = sl__evaluate_node(e->evaluator, 0, &e->err);
	return e;
}

/* What output k holds; the node must have run. */
static inline const struct sl__runtime_value *
evaluated_out(struct evaluated *e, size_t k)
{
	const struct sl__runtime_value *out;

	assert_int_equal(e->rc, SL_OK);
	assert_int_equal(sl__evaluator_value(e->evaluator, e->parsed.outputs[k],
					     &out, &e->err),
			 SL_OK);
	return out;
}

static inline void evaluated_add(struct evaluated *e, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static inline void
evaluated_add(struct evaluated *e, const char *format, ...)
{
	size_t used = strlen(e->text);
	va_list args;

	va_start(args, format);
	vsnprintf(e->text + used, sizeof(e->text) - used, format, args);
	va_end(args);
}

static inline void
evaluated_add_element(struct evaluated *e, const struct sl__tensor *t,
		      uint64_t i)
{
	int64_t whole;
	double real;

	if (t->dtype == SL_DTYPE_STRING) {
		evaluated_add(e, "'%s'", t->strings[i]);
	} else if (sl__dtype_family(t->dtype) == SL__DTYPE_INTEGER) {
		assert_true(sl__tensor_integer_bits(t, i, 1, &whole));
		if (t->dtype == SL_DTYPE_U64)
			evaluated_add(e, "%llu", (unsigned long long)whole);
		else
			evaluated_add(e, "%lld", (long long)whole);
	} else {
		assert_true(sl__tensor_doubles(t, i, 1, &real));
		if (isnan(real))
			evaluated_add(e, "nan"); /* of either sign */
		else
			evaluated_add(e, "%.*g",
				      sl_dtype_bits(t->dtype) < 32 ? 4 : 7,
				      real);
	}
}

static inline void
evaluated_add_tensor(struct evaluated *e, const struct sl__tensor *t)
{
	const char *type = sl_dtype_text(t->dtype);

	if (!strncmp(type, "int", 3))
		evaluated_add(e, "i%s[", type + 3);
	else
		evaluated_add(e, "%s[", type);
	for (size_t d = 0; d < t->rank; d++)
		evaluated_add(e, "%s%lld", d ? "," : "", (long long)t->dims[d]);
	evaluated_add(e, "]={");
	for (uint64_t i = 0; i < t->n_elements; i++) {
		evaluated_add(e, "%s", i ? "," : "");
		evaluated_add_element(e, t, i);
	}
	evaluated_add(e, "}");
}

/* "f32[2]={1,2} i64[]={3}": the outputs; the message where that failed. */
static inline const char *
evaluated_text(struct evaluated *e)
{
	e->text[0] = '\0';
	if (e->rc)
		evaluated_add(e, "%s", e->err.text);
	for (size_t k = 0; !e->rc && k < e->parsed.node.n_outputs; k++) {
		const struct sl__runtime_value *out = evaluated_out(e, k);

		evaluated_add(e, "%s", k ? " " : "");
		if (out->kind == SL__TYPE_TENSOR) {
			evaluated_add_tensor(e, &out->tensor);
			continue;
		}
		evaluated_add(e, "(");
		for (size_t i = 0; i < out->n_items; i++) {
			evaluated_add(e, "%s", i ? " " : "");
			evaluated_add_tensor(e, &out->items[i].tensor);
		}
		evaluated_add(e, ")");
	}
	return e->text;
}

#define check_evaluated(text, expected) \
	check_evaluation((text), (expected), __FILE__, __LINE__)

static inline void
check_evaluation(const char *text, const char *expected, const char *file,
		 int line)
{
	struct evaluated *e = evaluated(text);

	if (e->rc || strcmp(evaluated_text(e), expected) != 0) {
		print_error("%s\n  gives    %s\n  expected %s\n", text,
			    evaluated_text(e), expected);
		_fail(file, line);
	}
	evaluated_free(e);
}

/* The node is refused, and the message says 'why' somewhere. */
#define check_fails(text, why) check_failure((text), (why), __FILE__, __LINE__)

static inline void
check_failure(const char *text, const char *why, const char *file, int line)
{
	struct evaluated *e = evaluated(text);

	if (!e->rc || !strstr(e->err.text, why)) {
		print_error("%s\n  gives    %s\n  expected '%s'\n", text,
			    evaluated_text(e), why);
		_fail(file, line);
	}
	evaluated_free(e);
}

#endif
